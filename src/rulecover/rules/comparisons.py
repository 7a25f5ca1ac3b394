"""The comparisons that clauses are made of: each is made once for all clauses that need it, and takes a bit per row."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate, pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rulecover.data.categories import CategorySet, is_in
from rulecover.typing import Array, Bools, Floats, Ints

#: One bit for each row, eight to a byte: comparisons x bytes. Bits beyond the last row mean nothing.
Bits = NDArray[np.uint8]

#: At most this many comparisons are made at a time: what they find stays in the processor's cache.
_AT_A_TIME = 64
#: NumPy compares with many bounds at once only if there are this many rows: for fewer it copies every operand first.
_MANY = 4096
#: All comparisons are made at once for so few rows, and if there are no more results: calls would take longer.
_FEW, _RESULTS = 256, 1 << 17


class Bounds(NamedTuple):
    """Writes which values (second axis) are above one of the first bounds, or up to one of the others; NaN never is."""

    above: Array
    up_to: Array

    def __call__(self, values: Array, out: Bools) -> None:
        _compare(np.greater, values, self.above, out[: len(self.above)])
        _compare(np.less_equal, values, self.up_to, out[len(self.above) :])


class OneOf(NamedTuple):
    """Writes which values (second axis) are in a set; NaN never is."""

    codes: Floats
    others: bool

    @classmethod
    def of(cls, categories: CategorySet) -> OneOf:
        return cls(np.array(categories.codes, dtype=np.float64), categories.others)

    def __call__(self, values: Floats, out: Bools) -> None:
        found = values == self.codes[0] if len(self.codes) == 1 else is_in(values, self.codes)
        out[0] = ~(found | np.isnan(values)) if self.others else found


class Comparison(NamedTuple):
    """Some tests of one column; NaN passes those where `missing` is true."""

    column: int
    test: Bounds | OneOf
    missing: Bools


class _AllBounds(NamedTuple):
    """Bounds of many columns, as columns of a matrix: the column of values that each is compared with, and how."""

    column: Ints
    bound: Array
    is_above: Bools
    missing: Bools

    def __call__(self, columns: Array) -> Bools:
        """Which values pass, comparisons x rows."""
        values = columns[self.column]
        passed = np.where(self.is_above, values > self.bound, values <= self.bound)
        return np.asarray(passed | (self.missing & np.isnan(values)))


@dataclass(frozen=True, eq=False)
class Comparisons:
    """All comparisons of some clauses.

    Parameters
    ----------
    groups
        The comparisons by column.
    place, offset
        Clause c needs comparisons ``place[offset[c]:offset[c + 1]]``: one for each side of an interval, or for a set.
    """

    groups: list[Comparison]
    place: Ints
    offset: Ints

    @classmethod
    def of(
        cls, column: Ints, lower: Array, upper: Array, missing: Bools, sets: Sequence[CategorySet | None]
    ) -> Comparisons:
        """The comparisons of clauses, each of which has an interval or a set."""
        in_set = np.array([each is not None for each in sets], dtype=bool)
        is_above = ~in_set & (lower > -np.inf)
        above, up_to = np.flatnonzero(is_above), np.flatnonzero(~in_set & ((upper < np.inf) | ~is_above))
        clause, bound = np.concatenate([above, up_to]), np.concatenate([lower[above], upper[up_to]])
        side = np.arange(len(clause)) >= len(above)
        keys = np.column_stack([column[clause], side, bound.astype(np.float64), missing[clause]])
        distinct, number = np.unique(keys, axis=0, return_inverse=True)
        chosen = [
            Comparison(int(column[c]), OneOf.of(each), missing[c : c + 1])
            for c, each in enumerate(sets)
            if each is not None
        ]
        clause = np.concatenate([clause, np.flatnonzero(in_set)])
        place = np.concatenate([number.reshape(-1), len(distinct) + np.arange(len(chosen))]).astype(np.intp)
        times = np.bincount(clause, minlength=len(column))
        return cls(
            [*_with_bounds(distinct, bound.dtype), *chosen],
            place[np.argsort(clause, kind="stable")],
            np.concatenate([[0], np.cumsum(times)]).astype(np.intp),
        )

    def __len__(self) -> int:
        return self._first[-1]

    @property
    def n_at_a_time(self) -> int:
        """The most comparisons that are made at a time."""
        return max((len(group.missing) for group in self.groups), default=0)

    @cached_property
    def _first(self) -> list[int]:
        """The number of the first comparison in each group and, at the end, of all."""
        return [0, *accumulate(len(group.missing) for group in self.groups)]

    @cached_property
    def _at_once(self) -> _AllBounds | None:
        """All comparisons as one, where all of them are with bounds."""
        tests = [group.test for group in self.groups if isinstance(group.test, Bounds)]
        if not tests or len(tests) < len(self.groups):
            return None
        column = np.repeat([group.column for group in self.groups], [len(group.missing) for group in self.groups])
        bound = np.concatenate([side for test in tests for side in test])
        is_above = np.concatenate([np.arange(len(above) + len(up_to)) < len(above) for above, up_to in tests])
        missing = np.concatenate([group.missing for group in self.groups])
        return _AllBounds(column, bound[:, None], is_above[:, None], missing[:, None])

    def write(self, columns: Array, bits: Bits, passed: Bools) -> None:
        """Writes to `bits` which rows pass which comparison; `passed` holds as much as `n_at_a_time` of them take."""
        if columns.shape[1] <= min(_FEW, _RESULTS // max(1, len(self))) and self._at_once is not None:
            bits[:] = np.packbits(self._at_once(columns), axis=1)
            return
        some_are_missing = np.isnan(np.vdot(columns, columns))  # squares add up to NaN only if one of them is
        for (column, test, missing), (a, b) in zip(self.groups, pairwise(self._first), strict=True):
            test(columns[column], passed[: b - a])
            bits[a:b] = np.packbits(passed[: b - a], axis=1)
            if some_are_missing:
                bits[a:b][missing] |= np.packbits(np.isnan(columns[column]))

    def each(self, bits: Bits) -> Bits:
        """Which rows satisfy which clause: they pass its first comparison and its last, which may be the same."""
        return bits[self.place[self.offset[:-1]]] & bits[self.place[self.offset[1:] - 1]]

    def all_of(self, clauses: Ints, bits: Bits) -> Bits:
        """Which rows satisfy all clauses from ``clauses[j]`` to ``clauses[j + 1]``, for each j."""
        ends = self.offset[clauses]
        if 8 * bits.shape[1] <= _FEW and len(ends) > 1 and (np.diff(ends) > 0).all():
            return np.bitwise_and.reduceat(bits[self.place[ends[0] : ends[-1]]], ends[:-1] - ends[0], axis=0)
        out = np.full((len(clauses) - 1, bits.shape[1]), 255, dtype=np.uint8)
        for mine, (a, b) in zip(out, pairwise(ends.tolist()), strict=True):
            if b > a:
                np.bitwise_and.reduce(bits[self.place[a:b]], axis=0, out=mine)
        return out


def _compare(compare: Callable[..., Any], values: Array, bounds: Array, out: Bools) -> None:
    """Writes to `out` how all values compare with each bound."""
    if len(values) >= _MANY:
        compare(values, bounds[:, None], out=out)
        return
    for bound, passed in zip(bounds, out, strict=True):
        compare(values, bound, out=passed)


def _with_bounds(keys: Floats, kind: np.dtype[Any]) -> Iterator[Comparison]:
    """Comparisons with bounds, of the same column at a time; the keys are sorted by column and side."""
    ends = [0, *(np.flatnonzero(np.diff(keys[:, 0])) + 1).tolist(), len(keys)]
    for a, b in pairwise(ends):
        for start in range(a, b, _AT_A_TIME):
            column, side, bound, missing = keys[start : min(start + _AT_A_TIME, b)].T
            above, up_to = (bound[side == each].astype(kind) for each in (0, 1))
            yield Comparison(int(column[0]), Bounds(above, up_to), missing.astype(bool))
