"""What each column of transformed data is made of, where it depends on one original column."""

from __future__ import annotations

import numbers
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import scipy.sparse

from rulecover.data.frames import missing_values
from rulecover.typing import Array, Floats, Ints

#: From numbers to numbers, one by one, never decreasing; NaN may become a number.
Step = Callable[[Floats], Floats]

#: In place of what a step makes of a missing value that it refuses.
REFUSED = object()


@dataclass(frozen=True, eq=False)
class NumberOrigin:
    """A number that never decreases with one original column.

    Parameters
    ----------
    feature
        The original column.
    gaps
        What a missing value of the original column has become, one for each of `missing_values`; `REFUSED` where a step
        raises an error for it.
    steps
        The steps that follow.
    sparse, single
        Whether it is held in a sparse matrix, or as float32: scikit-learn computes differently there.
    """

    feature: int
    gaps: tuple[Any, ...] = field(default_factory=missing_values)
    steps: tuple[Step, ...] = ()
    sparse: bool = False
    single: bool = False

    def __call__(self, values: Floats) -> Floats:
        """The transformed values of the original ones that are not missing."""
        with np.errstate(over="ignore"):
            for step in self.steps:
                values = step(values)
        return values

    def then(self, step: Step) -> NumberOrigin:
        return replace(self, steps=(*self.steps, step))

    def with_missing_kind(self, kind: int) -> NumberOrigin:
        """The same, with that kind of missing value first."""
        return replace(self, gaps=(self.gaps[kind],))

    def of_missing(self, kind: int = 0) -> float | None:
        """The number for a missing value of that kind; ``None`` where it is refused."""
        try:
            gap = np.array([self.gaps[kind]], dtype=object).astype(np.float64)
        except (TypeError, ValueError):
            return None
        return float(self(gap)[0])


@dataclass(frozen=True, eq=False)
class CategoryOrigin:
    """A number that depends on the category in one original column.

    Parameters
    ----------
    feature, labels
        The original column and its known categories, without the missing one.
    of_labels, column
        The number for each label before the steps, in a column of a sparse matrix that all columns of an encoder share.
    gaps, unseen
        The number for a missing value of each kind of `missing_values`, and for any other value; ``None`` where the
        encoder refuses it.
    steps
        The steps that follow; they are taken for `gaps` and `unseen` already.
    sparse, single
        As in `NumberOrigin`.
    named
        Whether labels are names even where they are numbers or truth values.
    """

    feature: int
    labels: tuple[Any, ...]
    of_labels: Any
    column: int
    gaps: tuple[float | None, ...]
    unseen: float | None
    steps: tuple[Step, ...] = ()
    sparse: bool = False
    single: bool = False
    named: bool = False

    @property
    def by_number(self) -> bool:
        """Whether labels are numbers that stand for themselves."""
        return not self.named and are_numbers(self.labels)

    @property
    def codes(self) -> Floats:
        """The number that stands for each label: itself, if all labels are numbers, else its place."""
        return np.array(self.labels, dtype=np.float64) if self.by_number else np.arange(float(len(self.labels)))

    @property
    def values(self) -> Floats:
        """The number for each label."""
        distinct, place = self.distinct_values
        return distinct[place]

    @property
    def distinct_values(self) -> tuple[Floats, Ints]:
        """The different numbers in ascending order, and the place of that of each label among them."""
        mine = slice(*self.of_labels.indptr[self.column : self.column + 2])
        labels, n_labels = self.of_labels.indices[mine], self.of_labels.shape[0]
        found = self.of_labels.data[mine]
        found = found if len(labels) == n_labels else np.append(found, 0.0)  # which most labels have
        for step in self.steps:
            found = step(found)
        distinct, place = np.unique(found, return_inverse=True)
        of_label = np.full(n_labels, place[-1] if len(place) else 0)
        of_label[labels] = place[: len(labels)]
        return distinct, of_label

    def then(self, step: Step) -> CategoryOrigin:
        def after(value: float | None) -> float | None:
            return None if value is None else float(step(np.array([value]))[0])

        return replace(self, steps=(*self.steps, step), gaps=tuple(map(after, self.gaps)), unseen=after(self.unseen))

    def with_labels(self, labels: tuple[Any, ...], values: Floats) -> CategoryOrigin:
        """The same, with numbers for other labels."""
        return replace(self, labels=labels, of_labels=by_label(values), column=0, steps=())

    def with_missing_kind(self, kind: int) -> CategoryOrigin:
        """As in `NumberOrigin`."""
        return replace(self, gaps=(self.gaps[kind],))

    def of_missing(self, kind: int = 0) -> float | None:
        """As in `NumberOrigin`."""
        return self.gaps[kind]


def by_label(values: Array) -> Any:
    """Numbers for labels, one column of them or several, as `CategoryOrigin` holds them."""
    rows = values if values.ndim == 2 else values[:, None]
    return scipy.sparse.csc_array(rows, dtype=np.float64)


def are_numbers(labels: Sequence[Any]) -> bool:
    """Whether all labels are numbers."""
    return all(isinstance(label, (numbers.Real, np.bool_)) for label in labels)


#: ``None`` for a column whose origin is not known.
Origin = NumberOrigin | CategoryOrigin | None


@dataclass(frozen=True)
class Scaling:
    """``(x - minus) / over``, or ``x · times + plus``, as scikit-learn's scalers compute it; then clipped."""

    minus: float = 0.0
    over: float = 1.0
    times: float = 1.0
    plus: float = 0.0
    low: float = -np.inf
    high: float = np.inf

    def __call__(self, values: Floats) -> Floats:
        # Neutral numbers change nothing: x - 0, x / 1, x · 1 and x + 0 are x (except for the sign of a zero).
        scaled = (values - self.minus) / self.over * self.times + self.plus
        return np.clip(scaled, self.low, self.high)

    def of_sparse(self) -> Scaling:
        """As it is computed in a sparse matrix: by the reciprocal of the scale."""
        return replace(self, over=1.0, times=1.0 / self.over)

    @property
    def grows(self) -> bool:
        """Whether it never decreases, and never turns a number into NaN."""
        return (
            bool(np.isfinite([self.minus, self.over, self.times, self.plus]).all()) and min(self.over, self.times) > 0
        )


def as_float32(values: Floats) -> Floats:
    """Rounds as an imputer does that was trained on float32."""
    return values.astype(np.float32).astype(np.float64)


def missing_or_not(values: Floats) -> Floats:
    """The column of an indicator: 1 for a missing value."""
    return np.isnan(values).astype(np.float64)


@dataclass(frozen=True)
class Filled:
    """A missing value replaced, after other steps."""

    fill: float

    def __call__(self, values: Floats) -> Floats:
        return np.where(np.isnan(values), self.fill, values)
