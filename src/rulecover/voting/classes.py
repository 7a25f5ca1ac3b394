"""Rules that vote for classes: by the class counts of the training data, or by votes fitted to it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import scipy.sparse

from rulecover.coverage import addable
from rulecover.rules.ruleset import RuleSet
from rulecover.targets.classes.evidence import ClassEvidence
from rulecover.targets.classes.samples import weights_by_class
from rulecover.targets.target import Target
from rulecover.typing import Bools, Floats, Ints
from rulecover.voting.answers import AddedClasses, Classes, LogOddsClasses
from rulecover.voting.fallback import Default
from rulecover.voting.logistic import Patterns
from rulecover.voting.ridge import ridge_towards
from rulecover.voting.vote import Vote

VOTES = ("counts", "shares")

#: The penalty on log-odds, in rows: a rule that covers this many rows has about half of the vote that it would like.
_STRENGTH = 2.0

#: Fitted votes are drawn towards the shares as strongly as this many samples of a rule draw them elsewhere.
_DRAWN = 20.0
#: The share of its plain vote that a rule keeps whatever is fitted: a rule that covers a row always adds something.
_KEPT = 0.01
#: A vote below this share of the largest is rounding.
_NOTHING = 1e-12


def class_votes(rules: RuleSet, kind: str = "counts") -> Vote:
    """Votes by class counts n_jk (paper), or by class shares, which give each covering rule the same weight."""
    seen = rules.evidence
    assert isinstance(seen, ClassEvidence), "only rules with evidence can vote"
    return Vote(rules, addable(seen.sums if kind == "counts" else seen.shares), Classes(seen.classes), seen.totals)


def added_class_votes(rules: RuleSet, votes: Floats, target: Target) -> Vote:
    """Votes that are added to a base, the first row of `votes`, (1 + rules) x classes."""
    totals = votes[0] if rules.evidence is None else rules.evidence.totals
    return Vote(rules, votes[1:], AddedClasses(target.classes), totals, Default(), base=votes[0])


def log_odds_class_votes(rules: RuleSet, votes: Floats, target: Target) -> Vote:
    """Votes that add up to log-odds, to a base that is the first row of `votes`, (1 + rules) x classes."""
    answer, seen = LogOddsClasses(target.classes), rules.evidence
    totals = answer.probabilities(votes[:1])[0] if seen is None else seen.totals
    return Vote(rules, votes[1:], answer, totals, Default(), base=votes[0])


def fitted_class_votes(
    plain: Vote, covered: Bools | scipy.sparse.csr_array, y: Ints, weight: Floats | None = None
) -> Vote:
    """The same rules with votes that add up to the right class of the samples, as nearly as least squares can.

    They are drawn towards the plain votes, divided by the mean number of rules that cover a covered sample, and none
    is negative, so that every row that is covered is still voted on.

    Parameters
    ----------
    plain
        The votes so far.
    covered
        Which rule covers which sample, samples x rules.
    y
        The class of each sample, by number.
    weight
        The weight of each sample.
    """
    covered = scipy.sparse.csr_array(covered)
    counts = np.ones(len(y)) if weight is None else weight
    rules = covered.sum(axis=1)
    often = float(counts @ rules) / float(counts @ (rules > 0))
    targets = np.eye(plain.votes.shape[1])[y]
    votes = ridge_towards(plain.votes / often, covered, targets, counts, strength=_DRAWN, floor=_KEPT)
    return replace(plain, votes=addable(np.where(votes > _NOTHING * votes.max(), votes, 0.0)))


def log_odds_votes(plain: Vote, covered: Bools | scipy.sparse.csr_array, y: Ints, weight: Floats | None = None) -> Vote:
    """The same rules with log-odds for votes, added to a base: as near to the classes as a logistic regression can.

    Rows that no rule covers count, too: they have the base. The fallback stays as it is; rules that vote there add to
    the base, as if they covered the row.

    Parameters
    ----------
    plain, covered, y, weight
        As in `fitted_class_votes`.
    """
    assert isinstance(plain.answer, Classes)
    labels = plain.answer.labels
    counts = np.ones(len(y)) if weight is None else weight
    patterns = Patterns.of_sums(covered, weights_by_class(y, counts, len(labels)))
    votes = patterns.fitted(covered.shape[1], strength=_STRENGTH).votes
    return replace(plain, votes=votes[1:], base=votes[0], answer=LogOddsClasses(labels))
