"""The rule path: rule sets of every size from one list of candidates, each the beginning of the next."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import NamedTuple

import numpy as np

from rulecover.coverage import addable
from rulecover.rulepath.candidates import Candidates
from rulecover.rulepath.constraints import Constraints
from rulecover.rulepath.family import RuleFamily
from rulecover.rulepath.forward import ForwardPath, StartFit, forward_path, stacked
from rulecover.rulepath.logistic import LogisticFit, shares_of
from rulecover.rulepath.response import ridge_by_noise
from rulecover.rulepath.squares import ForwardFit, Terms
from rulecover.rules.ruleset import RuleSet
from rulecover.targets.classes.samples import ClassSamples
from rulecover.targets.samples import Samples
from rulecover.targets.target import Target
from rulecover.typing import Floats
from rulecover.voting.classes import log_odds_class_votes
from rulecover.voting.logistic import Patterns
from rulecover.voting.vote import Vote
from rulecover.voting.voting_on import voting_on

#: How the rules of a path vote for classes, and by which gain they are chosen.
PATH_VOTES, GAINS = ("log-odds", "fitted"), ("squares", "log-loss")
#: The usual penalty on votes that add up to shares or numbers.
_RIDGE = 5.0
#: A class is rare if its share of the rows is below this.
_RARE = 0.05


class VotesBySize(NamedTuple):
    """For each size the votes, sizes x (1 + rules) x outputs, the base first, and what they minimise."""

    votes: Floats
    loss: Floats


class PathSteps(NamedTuple):
    """How rules are chosen, and how they vote.

    Parameters
    ----------
    start
        The loss by which rules are chosen, as `forward_path` takes it.
    votes
        From the chosen rules, the samples and the response to the votes of every size.
    make_vote
        From rules, their votes (the base first) and the target to a `Vote`.
    """

    start: StartFit
    votes: Callable[[ForwardPath, Samples, Floats], VotesBySize]
    make_vote: Callable[[RuleSet, Floats, Target], Vote]


@dataclass(frozen=True, eq=False)
class PathRecipe:
    """The steps of a rule path that can be done in several ways, and its limits.

    Parameters
    ----------
    max_rules
        The size of the largest set.
    terms
        The constants of the choice.
    constraints
        What the rules must keep to.
    target
        What is predicted.
    steps
        How rules are chosen, and how they vote.
    given
        Rules that enter first, whatever they gain.
    deadline
        When the path ends wherever it is, by `time.perf_counter`.
    verbose
        Above 0 shows progress on standard error.
    """

    max_rules: int
    terms: Terms
    constraints: Constraints
    target: Target
    steps: PathSteps
    given: RuleSet | None = None
    deadline: float | None = None
    verbose: int = 0


def rule_path(samples: Samples, candidates: Candidates, response: Floats, recipe: PathRecipe) -> RuleFamily:
    """The rule sets of every size, with votes that are fitted to the response, samples x responses."""
    choice = distinct_allowed(candidates, recipe.constraints)
    path = forward_path(
        choice,
        response,
        samples.X,
        max_rules=recipe.max_rules,
        terms=recipe.terms,
        constraints=recipe.constraints,
        given=recipe.given,
        start=recipe.steps.start,
        deadline=recipe.deadline,
        verbose=recipe.verbose,
    )
    rules = path.rules if recipe.given is None else recipe.given.join(path.rules)
    votes, loss = recipe.steps.votes(path, samples, response)
    family = RuleFamily(rules, votes, loss, recipe.target, recipe.steps.make_vote, path.least, len(choice))
    return family.counted_on(samples)


def ended_in_words(largest: int, max_rules: int) -> str:
    """Where a path ended because time was up.

    >>> ended_in_words(3, 50)
    'the path ends at 3 of up to 50 rules'
    """
    return f"the path ends at {largest} of up to {max_rules} rules"


def distinct_allowed(candidates: Candidates, constraints: Constraints) -> Candidates:
    """The candidates that keep to the constraints; of those that cover the same samples, the one of fewest clauses."""
    rules = candidates.rules()
    allowed = np.flatnonzero(constraints.allows(rules))
    kept = candidates.distinct(allowed[np.argsort(rules.lengths[allowed], kind="stable")])
    return replace(candidates, source=rules).take(kept)  # which are not written out again


def ridge_votes(path: ForwardPath, samples: Samples, response: Floats, *, target: Target) -> VotesBySize:
    """The votes by which the rules were chosen, by least squares."""
    # Sums of votes are exact: they are the same in whatever order, and on whatever machine, they are added.
    return VotesBySize(np.stack([addable(votes) for votes in target.votes(path.votes)]), path.loss)


def log_odds_votes(path: ForwardPath, samples: Samples, response: Floats, *, strength: float) -> VotesBySize:
    """Votes that add up to log-odds, fitted to the response for every size by the logistic loss."""
    patterns = Patterns.of(path.covered, shares_of(response), samples.weight)
    fits = patterns.fitted_by_size(strength=strength, signs=path.signs)
    return VotesBySize(stacked([fit.votes for fit in fits]), np.array([fit.loss for fit in fits]))


def chosen_log_odds(path: ForwardPath, samples: Samples, response: Floats) -> VotesBySize:
    """The votes by which the rules were chosen, by the logistic loss."""
    return VotesBySize(path.votes, path.loss)


# How the rules vote, as it is set -------------------------------------------------------------------------------------


class PathVotes(NamedTuple):
    """How the rules of a path vote.

    Parameters
    ----------
    vote
        What votes add up to: "log-odds", or shares and numbers, "fitted" by least squares.
    gain
        By what the next rule is chosen: "squares" or "log-loss"; by default what suits the classes.
    ridge
        The penalty on the squares of the votes; by default the usual one.
    """

    vote: str
    gain: str | None
    ridge: float | None

    def steps(self, samples: Samples, target: Target, noise: float | None) -> PathSteps:
        """How rules are chosen, and how they vote; `noise` is that of a `Response`."""
        if self.vote == "fitted" or len(target.classes) < 2:
            return PathSteps(ForwardFit, partial(ridge_votes, target=target), voting_on(target).added)
        if self._by_log_loss(samples):
            return PathSteps(LogisticFit, chosen_log_odds, log_odds_class_votes)
        return PathSteps(ForwardFit, partial(log_odds_votes, strength=self._ridge(noise)), log_odds_class_votes)

    def ridge_of_choice(self, samples: Samples, noise: float | None) -> float:
        """The penalty on the votes by which rules are chosen."""
        if self.vote == "log-odds" and not self._by_log_loss(samples):
            return _RIDGE  # the votes of the choice are not those that are kept
        return self._ridge(noise)

    def ridge_of_log_odds(self, samples: Samples, target: Target, noise: float | None) -> float | None:
        """The penalty on log-odds that are fitted to chosen rules; ``None`` for votes by which the rules are chosen."""
        if self.vote != "log-odds" or len(target.classes) < 2 or self._by_log_loss(samples):
            return None
        return self._ridge(noise)

    def _ridge(self, noise: float | None) -> float:
        if self.ridge is not None:
            return self.ridge
        return ridge_by_noise(noise) if self.vote == "log-odds" else _RIDGE

    def _by_log_loss(self, samples: Samples) -> bool:
        """Whether rules are chosen by the gain of the logistic loss."""
        assert isinstance(samples, ClassSamples)
        many = len(samples.totals) > 2 or one_of_two_is_rare(samples.totals)
        gain = self.gain or ("log-loss" if many else "squares")
        return self.vote == "log-odds" and gain == "log-loss" and len(samples.totals) > 1


def one_of_two_is_rare(totals: Floats) -> bool:
    """Whether there are two classes, and one of them has hardly any of the rows."""
    return len(totals) == 2 and bool(totals.min() < _RARE * totals.sum())
