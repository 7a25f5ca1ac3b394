"""What rules met in the training data, rule by rule: the classes there, or the numbers."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np

from rulecover.typing import Array, Floats, Ints


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
    def shares(self) -> Floats:
        """The sums of each rule over its support."""
        return np.asarray(self.sums / self.support[:, None])

    @abstractmethod
    def facts(self, j: int) -> dict[str, Any]:
        """What is known of one rule, as `Rule` names it."""


@dataclass(frozen=True, eq=False)
class ClassEvidence(Evidence):
    """The (weighted) number of samples of each class: `sums` has a column a class.

    Parameters
    ----------
    classes
        The labels.
    """

    classes: Array

    @property
    def support(self) -> Floats:
        return np.asarray(self.sums.sum(axis=1))

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
            "support": float(mine.support[0]),
            "purity": float(mine.shares.max()),
            "counts": dict(zip(labels, mine.sums[0].tolist(), strict=True)),
            "impurity": float(mine.impurity[0]),
            "cost": float(mine.cost[0]),
        }
