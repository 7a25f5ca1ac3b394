"""What rules met in the training data, rule by rule: the classes there, or the numbers."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np

from rulecover.targets.classes.view import ClassView
from rulecover.targets.numbers.view import NumberView
from rulecover.targets.view import TargetView
from rulecover.typing import Array, Floats, Ints

#: Digits after the point of numbers of rows, once the weights of their classes are taken off again.
_DIGITS = 6


@dataclass(frozen=True, eq=False)
class Evidence(ABC):
    """What the rules met in the training data, rule by rule.

    Parameters
    ----------
    sums
        What was added up over the samples of each rule, rules x columns; what a column is, the kind of target says.
    impurity, cost
        w and 1 + w, or as the weights in the cost have it.
    totals
        The same sums over all samples of the data.
    """

    sums: Floats
    impurity: Floats
    cost: Floats
    totals: Floats

    def take(self, rules: Ints) -> Self:
        return replace(self, sums=self.sums[rules], impurity=self.impurity[rules], cost=self.cost[rules])

    def join(self, other: Evidence) -> Self:
        """What these rules met, followed by what others met in the same data."""
        return replace(
            self,
            sums=np.concatenate([self.sums, other.sums]),
            impurity=np.concatenate([self.impurity, other.impurity]),
            cost=np.concatenate([self.cost, other.cost]),
        )

    @property
    @abstractmethod
    def support(self) -> Floats:
        """The (weighted) number of samples that each rule covers."""

    @property
    @abstractmethod
    def total(self) -> float:
        """The (weighted) number of all samples."""

    @property
    def samples(self) -> Floats:
        """The same for people: class weights, which are not rows, are left out."""
        return self.support

    @property
    def n_samples(self) -> float:
        """The number of all samples, for people too."""
        return self.total

    @property
    def shares(self) -> Floats:
        """The sums of each rule over its support."""
        return np.asarray(self.sums / self.support[:, None])

    @abstractmethod
    def facts(self, j: int) -> dict[str, Any]:
        """What is known of one rule, as `Rule` names it."""

    @property
    @abstractmethod
    def view(self) -> TargetView:
        """How the views speak of it."""


@dataclass(frozen=True, eq=False)
class ClassEvidence(Evidence):
    """The (weighted) number of samples of each class: `sums` has a column a class.

    Parameters
    ----------
    classes
        The labels.
    class_weight
        What a row of each class counts in the sums; ``None`` if 1.
    """

    classes: Array
    class_weight: Floats | None = None

    @property
    def support(self) -> Floats:
        return np.asarray(self.sums.sum(axis=1))

    @property
    def counts(self) -> Floats:
        """How many rows of each class each rule covers, whatever their classes weigh, rules x classes."""
        return self._in_rows(self.sums)

    @property
    def all_counts(self) -> Floats:
        """How many rows of each class there are."""
        return self._in_rows(self.totals)

    def _in_rows(self, sums: Floats) -> Floats:
        return sums if self.class_weight is None else np.round(sums / self.class_weight, _DIGITS)

    @property
    def samples(self) -> Floats:
        return np.asarray(self.counts.sum(axis=1))

    @property
    def n_samples(self) -> float:
        return float(self.all_counts.sum())

    @property
    def purity(self) -> Floats:
        """The share of the rows of each rule that are of the class that it votes for."""
        return np.asarray(np.take_along_axis(self.counts, self.best[:, None], axis=1)[:, 0] / self.samples)

    @property
    def total(self) -> float:
        return float(self.totals.sum())

    @property
    def best(self) -> Ints:
        """The class that a rule votes for, by number; the first on ties."""
        return np.asarray(self.sums.argmax(axis=1))

    def facts(self, j: int) -> dict[str, Any]:
        mine = self.take(np.array([j]))
        labels = self.classes.tolist()
        return {
            "prediction": labels[mine.best[0]],
            "support": float(mine.samples[0]),
            "purity": float(mine.purity[0]),
            "counts": dict(zip(labels, mine.counts[0].tolist(), strict=True)),
            "impurity": float(mine.impurity[0]),
            "cost": float(mine.cost[0]),
        }

    @property
    def view(self) -> ClassView:
        return ClassView(self)


@dataclass(frozen=True, eq=False)
class NumericEvidence(Evidence):
    """What numbers the samples have: `sums` has three columns, Σ weight, Σ weight · z and Σ weight · z².

    Numbers are added up as ``z = (y - centre) / unit``: sums of squares of y itself would lose what matters where all
    numbers are far from zero.

    Parameters
    ----------
    centre, unit
        The mean of all samples, and what their distance from it is measured in.
    adds, default
        Where values were fitted: what each rule adds to the answer, and what is said where no rule covers.
    """

    centre: float
    unit: float
    adds: Floats | None = None
    default: float | None = None

    def take(self, rules: Ints) -> Self:
        return replace(super().take(rules), adds=None if self.adds is None else self.adds[rules])

    @property
    def support(self) -> Floats:
        return np.asarray(self.sums[:, 0])

    @property
    def total(self) -> float:
        return float(self.totals[0])

    def with_fitted(self, adds: Floats, default: float) -> Self:
        """The same with fitted values, given in units (what rules add) and in units from the centre (the default)."""
        return replace(self, adds=self.unit * adds, default=self.centre + self.unit * default)

    @property
    def of_all(self) -> tuple[float, float]:
        """The mean and the standard deviation of all samples."""
        _, first, second = self.totals / self.total
        return float(self.centre + self.unit * first), float(self.unit * np.sqrt(max(second - first**2, 0.0)))

    @property
    def mean(self) -> Floats:
        """The mean over the samples of each rule."""
        return np.asarray(self.centre + self.unit * self.shares[:, 1])

    @property
    def within(self) -> Floats:
        """The mean squared distance from that mean, in squared units."""
        _, first, second = self.shares.T
        # Never below 0, but the difference of two that are equal but for rounding may be.
        return np.asarray(np.maximum(second - first**2, 0.0))

    @property
    def spread(self) -> Floats:
        """The standard deviation over the samples of each rule."""
        return np.asarray(self.unit * np.sqrt(self.within))

    def facts(self, j: int) -> dict[str, Any]:
        mine = self.take(np.array([j]))
        return {
            "prediction": float(mine.mean[0]),
            "support": float(mine.support[0]),
            "spread": float(mine.spread[0]),
            "adds": None if mine.adds is None else float(mine.adds[0]),
            "impurity": float(mine.impurity[0]),
            "cost": float(mine.cost[0]),
        }

    @property
    def view(self) -> NumberView:
        return NumberView(self)
