"""The numbers of the training rows that rules cover."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np

from rulecover.rules.evidence import Evidence
from rulecover.targets.numbers.view import NumberView
from rulecover.typing import Floats, Ints


@dataclass(frozen=True, eq=False)
class NumberEvidence(Evidence):
    """What numbers the samples have: `sums` has three columns, Σ weight, Σ weight · z and Σ weight · z².

    Numbers are added up as ``z = (y - centre) / unit``: sums of squares of y itself would lose what matters where all
    numbers are far from zero.

    Parameters
    ----------
    centre, unit
        The mean of all samples, and what their distance from it is measured in.
    adds, default
        Where values were fitted: what each rule adds to the prediction, and the prediction where no rule covers.
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
        # Never negative, but rounding may make the difference of two equal numbers so.
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
