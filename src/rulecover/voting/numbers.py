"""Rules that vote on a number: by weighted means of the training data, or by values fitted to it.

A row of votes has three columns: weight · z, weight and weight · z² for means; what a rule adds to the base, 0 and its
mean squared error for fitted values. Sums are exact.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import scipy.sparse

from rulecover.coverage import addable
from rulecover.rules.ruleset import RuleSet
from rulecover.targets.numbers.evidence import NumberEvidence
from rulecover.targets.numbers.samples import NumberSamples
from rulecover.targets.target import Target
from rulecover.typing import Floats
from rulecover.voting.answers import Mean
from rulecover.voting.fallback import NUMERIC_FALLBACKS, Default
from rulecover.voting.ridge import GrowingRidge
from rulecover.voting.vote import Vote

MEAN_VOTES = ("equal", "support", "precision")

#: What is added to the variance of a rule, as a share of that of all samples, before it is inverted.
_FLOOR = 0.05
#: The spread of a rule is judged as if it covered this many more samples with the average spread of all others.
_PRIOR = 5.0


def mean_votes(rules: RuleSet, kind: str = "equal") -> Vote:
    """The weighted mean of the means of the covering rules.

    The weight of each rule: the same for all, the number of its samples, or one over its variance (a little raised).
    With "support" the prediction is the mean over the samples of all covering rules together, a sample counted as
    often as rules cover it.
    """
    seen = _evidence(rules)
    within = seen.within
    usual = np.average(within, weights=seen.support) if len(within) else 0.0
    within = (seen.support * within + _PRIOR * usual) / (seen.support + _PRIOR)
    mean, weight = seen.shares[:, 1], _weights(seen, kind)
    votes = np.column_stack([addable(weight * mean), addable(weight), addable(weight * (mean**2 + within))])
    answer = Mean(seen.centre, seen.unit, squares=True)
    return Vote(rules, votes, answer, _in_order(seen.totals / seen.total), NUMERIC_FALLBACKS["closest"])


def _in_order(sums: Floats) -> Floats:
    """Σ weight, Σ weight · z and Σ weight · z² in the order of the columns of votes."""
    return sums[[1, 0, 2]]


def _evidence(rules: RuleSet) -> NumberEvidence:
    assert isinstance(rules.evidence, NumberEvidence), "only rules with evidence can vote"
    return rules.evidence


def _weights(seen: NumberEvidence, kind: str) -> Floats:
    if kind == "equal":
        return np.ones(len(seen.sums))
    if kind == "support":
        return seen.support
    all_samples = seen.totals / seen.total
    # Of samples that are all alike, a difference of squares is rounding, and may be below zero.
    spread = max(0.0, float(all_samples[2] - all_samples[1] ** 2))
    return np.asarray(1.0 / (seen.within + _FLOOR * spread + 1e-9))


def added_values(rules: RuleSet, votes: Floats, target: Target) -> Vote:
    """Values that are added to a base, the first row of `votes`, (1 + rules) x 1: a mean of weight 1, the base's."""
    if rules.evidence is not None:
        rules = rules.with_evidence(replace(_evidence(rules), adds=votes[1:, 0], default=float(votes[0, 0])))
    votes = np.column_stack([votes, np.arange(len(votes)) == 0])
    return Vote(rules, votes[1:], Mean(), votes[0], Default(), base=votes[0])


def fitted_values(plain: Vote, covered: scipy.sparse.csr_array, data: NumberSamples, *, ridge: float) -> Vote:
    """A default, and what each covering rule adds to it, fitted to the training samples by ridge regression.

    Parameters
    ----------
    plain
        The means of the rules, for a fallback to vote with.
    covered
        Which rule covers which sample of the data, samples x rules.
    data
        The samples.
    ridge
        The penalty on the squares of what rules add.
    """
    seen = _evidence(plain.rules)
    fitted = addable(GrowingRidge.on(covered, data.z[:, None], data.count, strength=ridge).votes()[:, 0])
    default, adds = float(fitted[0]), fitted[1:]
    columns = covered.astype(np.float64)
    square = data.count * (data.z - default - columns @ adds) ** 2 * _optimism(len(adds), data)
    error = float(square.sum() / data.count.sum())
    errors = (np.asarray(columns.T @ square) + _PRIOR * error) / (seen.support + _PRIOR)
    return Vote(
        plain.rules.with_evidence(seen.with_fitted(adds, default)),
        np.column_stack([adds, np.zeros(len(adds)), errors]),
        plain.answer,
        totals=np.array([default, 1.0, error]),
        fallback=plain.fallback,
        base=np.array([default, 1.0, 0.0]),
        fallback_votes=plain.votes,
    )


def _optimism(n_rules: int, data: NumberSamples) -> float:
    """How much larger squared errors are on other samples than on those that rules were chosen and fitted on.

    Friedman's generalised cross-validation, in which a rule counts as three parameters: one for its value, two for
    having been searched for.
    """
    return 1.0 / (1.0 - min(0.5, (1 + 3 * n_rules) / float(data.count.sum()))) ** 2
