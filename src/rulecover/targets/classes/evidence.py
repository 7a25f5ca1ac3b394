"""The classes of the training rows that rules cover."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from rulecover.rules.evidence import Evidence
from rulecover.targets.classes.view import ClassView
from rulecover.typing import Array, Floats, Ints

#: Decimals of numbers of rows, once the class weights are divided out again.
_DIGITS = 6


@dataclass(frozen=True, eq=False)
class ClassEvidence(Evidence):
    """The (weighted) number of samples of each class: `sums` has one column per class.

    Parameters
    ----------
    classes
        The labels.
    class_weight
        The weight of a row of each class in the sums; ``None`` if 1.
    """

    classes: Array
    class_weight: Floats | None = None

    @property
    def support(self) -> Floats:
        return np.asarray(self.sums.sum(axis=1))

    @property
    def counts(self) -> Floats:
        """How many rows of each class each rule covers, without class weights, rules x classes."""
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
