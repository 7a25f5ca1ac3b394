"""The samples that rules are made for, for any kind of target."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import replace
from functools import cached_property
from typing import Any, Self

import numpy as np

from rulecover.rules.evidence import Evidence
from rulecover.typing import Array, Floats, Ints

#: Rows with whole-number weights are repeated if that multiplies their number by at most this.
_TIMES_AS_MANY = 5


def repeats(weight: Floats | None) -> Ints | None:
    """The place of each row, as often as it counts; ``None`` if weights are not whole numbers, or too large.

    >>> repeats(np.array([1.0, 3.0, 0.0, 2.0])), repeats(np.array([0.5, 1.5]))
    (array([0, 1, 1, 1, 3, 3]), None)
    """
    if weight is None or (weight % 1).any() or weight.sum() > _TIMES_AS_MANY * np.count_nonzero(weight):
        return None
    return np.repeat(np.arange(len(weight)), weight.astype(np.intp))


class Samples(ABC):
    """The samples (xᵢ, yᵢ) of the paper, for any kind of y."""

    X: Any
    y: Array
    weight: Floats | None

    @cached_property
    def count(self) -> Floats:
        """The weight of each sample."""
        return np.ones(len(self.y)) if self.weight is None else self.weight

    @property
    @abstractmethod
    def labels(self) -> Array:
        """What a model is trained to predict, one per row."""

    @property
    def targets(self) -> Array:
        """The same for a tree of which only the splits are used."""
        return self.labels

    @property
    @abstractmethod
    def totals(self) -> Floats:
        """The sums over all samples."""

    @property
    @abstractmethod
    def outputs(self) -> Floats:
        """What a tree of least squared error is grown on, rows x columns."""

    @property
    @abstractmethod
    def strata(self) -> Ints | None:
        """The strata of a split of the data; ``None`` if there are none."""

    def among(self, rows: Ints) -> Self:
        """Some of the samples."""
        samples: Any = self  # each kind of samples is a dataclass
        weight = None if self.weight is None else self.weight[rows]
        some: Self = replace(samples, X=self.X[rows], y=self.y[rows], weight=weight)
        return some

    def repeated(self) -> Samples:
        """The samples with each row as often as it counts, where `repeats` allows it; else as they are."""
        rows = repeats(self.weight)
        if rows is None:
            return self
        samples: Any = self.among(rows)
        repeated: Samples = replace(samples, weight=None)
        return repeated

    @abstractmethod
    def summands(self) -> tuple[Array | None, ...]:
        """What `sums` needs to know of each sample."""

    @abstractmethod
    def sums(self, group: Ints, *summands: Any) -> Floats:
        """The sums over the samples of each group, groups x columns."""

    @abstractmethod
    def counts(self, group: Ints, rows: Ints) -> Floats:
        """The number of these rows in each group, whatever they weigh: in one column, or in one for each class."""

    @abstractmethod
    def evidence(self, sums: Floats, impurity: Floats, cost: Floats, totals: Floats | None = None) -> Evidence:
        """The evidence of rules, given their sums, impurities and costs; and the totals, if there are more samples."""
