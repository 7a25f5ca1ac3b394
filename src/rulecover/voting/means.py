"""Predictions of numbers from covered samples: weighted means of what the rules met, or sums of fitted values.

A row of votes, and of their sum, has three columns: how much was said, Σ say · z and Σ say · z² for means; how many
rules, Σ of what they add to a default and Σ of their mean squared errors for fitted values. Sums are exact.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
import scipy.sparse
from scipy.special import ndtri

from rulecover.coverage import addable
from rulecover.numeric import NumericData
from rulecover.rules.ruleset import RuleSet
from rulecover.targets.evidence import NumericEvidence
from rulecover.typing import Array, Bools, Floats, Ints
from rulecover.voting.ridge import GrowingRidge
from rulecover.voting.vote import Vote

MEAN_VOTES = ("equal", "support", "precision")

#: What is added to the variance of a rule, as a share of that of all samples, before it is inverted.
_FLOOR = 0.05
#: The spread of a rule is judged as if it covered so many samples more, spread like all others are on average.
_PRIOR = 5.0


@dataclass(frozen=True, eq=False)
class NumericVote(Vote):
    """Rules that vote on a number."""

    @property
    def evidence(self) -> NumericEvidence:
        assert isinstance(self.rules.evidence, NumericEvidence), "rules vote with what they met in data"
        return self.rules.evidence

    def silent(self, tally: Floats) -> Bools:
        return np.asarray(tally[:, 0] <= 0)

    @abstractmethod
    def spread(self, tally: Floats) -> Floats:
        """How far a number is from the answer for its row, as a standard deviation."""

    @abstractmethod
    def decided(self, tally: Floats) -> Floats:
        """The number for each row."""

    def interval(self, tally: Floats, coverage: float) -> Floats:
        """The answer and so many standard deviations to both sides, as if errors were normal, rows x 2."""
        if not 0 < coverage < 1:
            raise ValueError(f"coverage is {coverage}; it is a probability, above 0 and below 1, such as 0.9.")
        middle, reach = self.decided(tally), float(ndtri(0.5 + coverage / 2)) * self.spread(tally)
        return np.column_stack([middle - reach, middle + reach])


@dataclass(frozen=True, eq=False)
class MeanVote(NumericVote):
    """The weighted mean of the means of the covering rules."""

    @classmethod
    def of(cls, rules: RuleSet, kind: str = "equal") -> MeanVote:
        """Each rule's say: the same for all, the number of its samples, or one over its variance (a little raised).

        With "support" the answer is the mean over the samples of all covering rules together, a sample counted as
        often as rules cover it.
        """
        seen = rules.evidence
        assert isinstance(seen, NumericEvidence)
        within = seen.within
        usual = np.average(within, weights=seen.support) if len(within) else 0.0
        within = (seen.support * within + _PRIOR * usual) / (seen.support + _PRIOR)
        mean = seen.shares[:, 1]
        says = _says(seen, kind)
        return cls(rules, np.column_stack([addable(says), addable(says * mean), addable(says * (mean**2 + within))]))

    def decided(self, tally: Floats) -> Floats:
        """The weighted mean for each row; that of all samples where nothing was said."""
        return np.asarray(self.evidence.centre + self.evidence.unit * (tally[:, 1] / _heard(tally)))

    def spread(self, tally: Floats) -> Floats:
        """That of the numbers of all covering rules together, by their say: within the rules and between them."""
        mean, square = tally[:, 1] / _heard(tally), tally[:, 2] / _heard(tally)
        return np.asarray(self.evidence.unit * np.sqrt(np.maximum(square - mean**2, 0.0)))

    def columns(self, tally: Floats) -> dict[str, Array]:
        return {"value": self.decided(tally), "say": tally[:, 0]}

    @property
    def of_all_samples(self) -> Floats:
        return np.asarray(self.evidence.totals / self.evidence.total)

    def of_model(self, model: Any, X: Any) -> Floats:
        """The model's answer; of its error nothing is known but that of the rules."""
        z = (model.predict(X) - self.evidence.centre) / self.evidence.unit
        within = np.average(self.evidence.within, weights=self.evidence.support)
        return np.column_stack([np.ones(len(z)), z, z**2 + within])


def _heard(tally: Floats) -> Floats:
    """How much was said for each row, 1 where nothing was."""
    return np.where(tally[:, 0] > 0, tally[:, 0], 1.0)


def _says(seen: NumericEvidence, kind: str) -> Floats:
    if kind == "equal":
        return np.ones(len(seen.sums))
    if kind == "support":
        return seen.support
    all_samples = seen.totals / seen.total
    return np.asarray(1.0 / (seen.within + _FLOOR * (all_samples[2] - all_samples[1] ** 2) + 1e-9))


@dataclass(frozen=True, eq=False)
class FittedVote(NumericVote):
    """A default, and what each covering rule adds to it: values fitted to the training samples by ridge regression.

    Parameters
    ----------
    default
        What is said where no rule covers, in units from the centre.
    error
        The mean squared error over all training samples.
    plain
        The means of the rules, for a fallback to vote with.
    """

    default: float
    error: float
    plain: MeanVote

    @classmethod
    def of(cls, plain: MeanVote, covered: scipy.sparse.csr_array, data: NumericData, *, ridge: float) -> FittedVote:
        """The vote that is fitted to these data, of which `covered` says which rule covers which sample.

        `ridge` is the penalty on the squares of what rules add.
        """
        fitted = GrowingRidge.on(covered, data.z[:, None], data.count, strength=ridge).votes()[:, 0]
        fitted = addable(fitted)
        default, adds = float(fitted[0]), fitted[1:]
        columns = covered.astype(np.float64)
        square = data.count * (data.z - default - columns @ adds) ** 2 * _optimism(len(adds), data)
        error = float(square.sum() / data.count.sum())
        errors = (np.asarray(columns.T @ square) + _PRIOR * error) / (plain.evidence.support + _PRIOR)
        votes = np.column_stack([np.ones(len(adds)), adds, errors])
        rules = plain.rules.with_evidence(plain.evidence.with_fitted(adds, default))
        return cls(rules, votes, default, error, plain)

    def decided(self, tally: Floats) -> Floats:
        """The default and all that is added, for each row."""
        return np.asarray(self.evidence.centre + self.evidence.unit * tally[:, 1])

    def tally(self, X: Any) -> tuple[Floats, Bools]:
        """How many rules cover each row, the default and all that they add, and their errors."""
        tally, missed = super().tally(X)
        tally[:, 1] += self.default
        return tally, missed

    def spread(self, tally: Floats) -> Floats:
        """The root of the mean squared error of the covering rules, the mean over the rules."""
        return np.asarray(self.evidence.unit * np.sqrt(tally[:, 2] / _heard(tally)))

    def columns(self, tally: Floats) -> dict[str, Array]:
        return {"adds": self.evidence.unit * tally[:, 1]}

    def first(self, n_rules: int) -> Self:
        return replace(super().first(n_rules), plain=self.plain.first(n_rules))

    @property
    def afar(self) -> MeanVote:
        return self.plain

    def at_distance(self, said: Floats) -> Floats:
        """The weighted mean of the rules' means: what rules add holds for the rows that they cover."""
        mean, square = said[:, 1] / _heard(said), said[:, 2] / _heard(said)
        return np.column_stack([said[:, 0], mean, said[:, 0] * np.maximum(square - mean**2, 0.0)])

    def as_one(self, tally: Floats) -> Floats:
        return np.asarray(tally - np.array([0.0, self.default, 0.0]))

    def one_by_one(self, rule: Ints, weight: Floats, afar: Bools) -> Floats:
        said = super().one_by_one(rule, weight, afar)
        said[afar, 1] = self.plain.votes[rule[afar], 1] / self.plain.votes[rule[afar], 0] - self.default
        return said

    @property
    def of_all_samples(self) -> Floats:
        return np.array([1.0, self.default, self.error])

    def of_model(self, model: Any, X: Any) -> Floats:
        z = (model.predict(X) - self.evidence.centre) / self.evidence.unit
        return np.column_stack([np.ones(len(z)), z, np.full(len(z), self.error)])


def _optimism(n_rules: int, data: NumericData) -> float:
    """How much larger squared errors are on other samples than on those that rules were chosen and fitted on.

    Friedman's generalised cross-validation, in which a rule counts as three parameters: one for its value, two for
    having been looked for.
    """
    return 1.0 / (1.0 - min(0.5, (1 + 3 * n_rules) / float(data.count.sum()))) ** 2
