"""Samples with numbers to predict."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from rulecover.coverage import addable, exact_unit, multiples_of
from rulecover.targets.numbers.evidence import NumberEvidence
from rulecover.targets.origin import Origin
from rulecover.targets.samples import Samples, repeats
from rulecover.typing import Array, Floats, Ints

#: Numbers are far from zero if their mean is this many standard deviations away: their squares lose half their digits.
_FAR = 1e4
#: Numbers are close together if their standard deviation is below this: scikit-learn splits no node of a variance of
#: 2e-16, whatever the others have.
_CLOSE = 2.0**-20


def _centre_and_spread(y: Floats, weight: Floats | None) -> tuple[float, float]:
    """The mean and the standard deviation."""
    # The mean of huge numbers may overflow where none of them does.
    size = float(np.abs(y).max()) or 1.0
    centre = _mean(y / size, weight) * size
    reach = float(np.abs(y - centre).max()) or 1.0
    if abs(centre) > _FAR * reach:  # what was rounded of the mean may be much next to the spread
        centre += _mean(y - centre, weight)
        reach = float(np.abs(y - centre).max()) or 1.0
    return centre, reach * float(np.sqrt(_mean(((y - centre) / reach) ** 2, weight)))


def _mean(values: Floats, weight: Floats | None) -> float:
    """The mean, the same in whatever order values are added."""
    if weight is None:
        return float(addable(values).sum()) / len(values)
    return float(addable(values * weight).sum() / weight.sum())


def origin_of(y: Floats, weight: Floats | None) -> Origin | None:
    """How numbers that differ are written for trees if they are all far from zero, or close together; else ``None``.

    >>> origin_of(np.array([1.0, 3.0]), None), origin_of(np.array([0.0, 0.25]), None)
    (None, None)
    >>> origin_of(np.array([1e8, 1e8 + 2]), None), origin_of(np.array([0.0, 2.0**-30]), None) == (0.0, 2.0**-31)
    (Origin(centre=100000001.0, unit=1.0), True)
    """
    centre, spread = _centre_and_spread(y, weight)
    if not np.ptp(y) > 0:
        return None
    unit = 2.0 ** np.floor(np.log2(spread)) if 0 < spread < _CLOSE else 1.0
    origin = Origin(centre if abs(centre) > _FAR * spread else 0.0, float(unit))
    return None if origin == Origin() else origin


@dataclass(frozen=True, eq=False)
class NumberSamples(Samples):
    """Samples with numbers.

    Parameters
    ----------
    X
        Rows x columns, dense or sparse.
    y
        The number of each row.
    weight
        Positive, one per row; ``None`` counts each row once.
    centre, unit
        Numbers are added up as ``(y - centre) / unit``.
    grains
        What weighted numbers and their weighted squares are rounded to before they are added, so that sums are the same
        in whatever order, also over some of the samples; by default what these samples allow.
    """

    X: Any
    y: Floats
    weight: Floats | None
    centre: float
    unit: float
    grains: tuple[float, float] | None = None

    @classmethod
    def of(cls, X: Any, y: Floats, weight: Floats | None = None, *, scale: float | None = None) -> NumberSamples:
        """Numbers around their mean, in units of √scale: of their standard deviation by default.

        So the squared error of a rule is comparable with 1: it is that of the rule that always holds.
        """
        y = np.asarray(y, dtype=np.float64)
        rows = repeats(weight)
        centre, spread = _centre_and_spread(y, weight) if rows is None else _centre_and_spread(y[rows], None)
        samples = cls(X, y, weight, centre, (spread or 1.0) if scale is None else float(np.sqrt(scale)))
        return replace(samples, grains=samples.usual_grains())

    def usual_grains(self) -> tuple[float, float]:
        """The grains for these samples."""
        size = self.count * np.abs(self.z)
        return exact_unit(float(size.sum())), exact_unit(float((size * np.abs(self.z)).sum()))

    @property
    def labels(self) -> Array:
        return self.y

    @cached_property
    def targets(self) -> Array:
        origin = origin_of(self.y, self.weight)
        return self.y if origin is None else origin.written(self.y)

    @cached_property
    def totals(self) -> Floats:
        """Σ weight, Σ weight · z and Σ weight · z² over all samples."""
        return np.array([summand.sum() for summand in self.summands()])

    @property
    def outputs(self) -> Floats:
        return self.z[:, None]

    @property
    def strata(self) -> None:
        return None

    @cached_property
    def z(self) -> Floats:
        """The numbers, in units from their mean."""
        return np.asarray((self.y - self.centre) / self.unit)

    def summands(self) -> tuple[Floats, Floats, Floats]:
        first, second = self.grains or self.usual_grains()
        return self.count, multiples_of(self.count * self.z, first), multiples_of(self.count * self.z**2, second)

    def sums(self, group: Ints, *summands: Any) -> Floats:
        return np.column_stack([np.bincount(group, weights=summand) for summand in summands])

    def counts(self, group: Ints, rows: Ints) -> Floats:
        return np.bincount(group).astype(np.float64)[:, None]

    def evidence(self, sums: Floats, impurity: Floats, cost: Floats, totals: Floats | None = None) -> NumberEvidence:
        return NumberEvidence(sums, impurity, cost, self.totals if totals is None else totals, self.centre, self.unit)
