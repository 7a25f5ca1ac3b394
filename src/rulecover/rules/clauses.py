"""The clauses of many rules end to end, and which rows satisfy them: whole columns, a chunk of rows at a time."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from rulecover.data.categories import CategorySet
from rulecover.data.frames import ZERO
from rulecover.rules.comparisons import Bits, Comparisons, OneOf
from rulecover.rules.rule import Clause
from rulecover.typing import Array, Bools, Floats, Ints

#: Rows are matched in chunks of at most this many, of fewer where all comparisons would take more bits than `_BITS`.
CHUNK, _BITS = 32768, 1 << 29
#: Rows become columns in blocks of this many: a block's columns stay in the processor's cache while they are compared.
_TURNED = 8192


def blank_zeros(column: Floats) -> None:
    """Replaces every 0 by NaN, in place."""
    column[np.abs(column) <= ZERO] = np.nan


def _nonzero(covered: Bools) -> Ints:
    """The places of the true entries; eight at a time, as nearly all entries are false."""
    flat = covered.reshape(-1)
    whole = flat[: len(flat) // 8 * 8]
    words = np.flatnonzero(whole.view(np.uint64))
    within = np.flatnonzero(whole.reshape(-1, 8)[words])
    rest = np.flatnonzero(flat[len(whole) :]) + len(whole)
    return np.concatenate([words[within // 8] * 8 + within % 8, rest])


@dataclass(frozen=True, eq=False)
class Clauses:
    """The clauses of all rules end to end, in arrays: rule j owns ``offset[j]:offset[j + 1]``.

    A clause means one thing everywhere: ``lower < x[feature] <= upper`` or, where `category` is not -1,
    ``x[feature] in category_sets[category]``; a missing value satisfies it where `missing` is true.

    Parameters
    ----------
    offset, feature, lower, upper, missing
        Where the clauses of each rule begin and end; the column, the interval, and whether NaN satisfies the clause.
    category, category_sets
        For each clause the place of its set of category codes, -1 for an interval; the sets, which may also be "all
        but these".

    Examples
    --------
    >>> clauses = Clauses.of_intervals([{0: (1, 2), 1: (3, 4)}, {0: (5, 6)}])
    >>> len(clauses), clauses.lengths.tolist(), clauses.columns.tolist()
    (2, [2, 1], [0, 1])
    >>> clauses.keep(np.array([False, True, True])).feature.tolist()
    [1, 0]
    """

    offset: Ints
    feature: Ints
    lower: Floats
    upper: Floats
    missing: Bools
    category: Ints
    category_sets: tuple[CategorySet, ...] = ()

    def __getstate__(self) -> dict[str, Any]:
        """The arrays alone: what was worked out from them is worked out again."""
        return {each.name: getattr(self, each.name) for each in fields(self)}

    @classmethod
    def of_intervals(cls, rules: Sequence[Mapping[int, tuple[float, float]]]) -> Clauses:
        """Clauses of rules given as mappings from a column's number to ``(lower, upper)``."""
        clauses = [(f, *interval) for rule in rules for f, interval in sorted(rule.items())]
        feature, lower, upper = zip(*clauses, strict=True) if clauses else ((), (), ())
        return cls(
            offset=offsets([len(rule) for rule in rules]),
            feature=np.array(feature, dtype=np.intp),
            lower=np.array(lower, dtype=np.float64),
            upper=np.array(upper, dtype=np.float64),
            missing=np.zeros(len(clauses), dtype=bool),
            category=np.full(len(clauses), -1, dtype=np.intp),
        )

    @classmethod
    def of_rules(cls, rules: Sequence[Sequence[Clause]]) -> Clauses:
        """Clauses of rules given as lists, at most one interval and one set per column."""
        clauses = [clause for rule in rules for clause in rule]
        category, sets = numbered([clause.categories for clause in clauses])
        return cls(
            offset=offsets([len(rule) for rule in rules]),
            feature=np.array([clause.feature for clause in clauses], dtype=np.intp),
            lower=np.array([clause.lower for clause in clauses], dtype=np.float64),
            upper=np.array([clause.upper for clause in clauses], dtype=np.float64),
            missing=np.array([clause.missing for clause in clauses], dtype=bool),
            category=category,
            category_sets=sets,
        )

    def __len__(self) -> int:
        return len(self.offset) - 1

    @property
    def lengths(self) -> Ints:
        """The number of clauses of each rule."""
        return np.diff(self.offset)

    @property
    def owner(self) -> Ints:
        """The rule of each clause."""
        return np.repeat(np.arange(len(self)), self.lengths)

    def set_of(self, clause: int) -> CategorySet | None:
        """The set of categories of a clause; ``None`` for an interval."""
        return None if self.category[clause] < 0 else self.category_sets[self.category[clause]]

    def take(self, rules: Ints) -> Clauses:
        """The clauses of some rules, in the order given."""
        first = self.offset[rules]
        lengths = self.offset[1:][rules] - first
        offset = offsets(lengths)
        places = np.arange(offset[-1]) + np.repeat(first - offset[:-1], lengths)
        return self.at(places.astype(np.intp), offset)

    def keep(self, kept: Bools) -> Clauses:
        """The same rules with some of their clauses only."""
        return self.at(np.flatnonzero(kept), np.concatenate([[0], np.cumsum(kept)])[self.offset].astype(np.intp))

    def at(self, places: Ints, offset: Ints) -> Clauses:
        """The clauses at some places, as the clauses of rules that begin and end at `offset`."""
        return replace(
            self,
            offset=offset,
            feature=self.feature[places],
            lower=self.lower[places],
            upper=self.upper[places],
            missing=self.missing[places],
            category=self.category[places],
        )

    def join(self, other: Clauses) -> Clauses:
        """These rules followed by others on the same columns."""
        shifted = np.where(other.category < 0, -1, other.category + len(self.category_sets))
        return replace(
            self,
            offset=np.concatenate([self.offset, self.offset[-1] + other.offset[1:]]),
            feature=np.concatenate([self.feature, other.feature]),
            lower=np.concatenate([self.lower, other.lower]),
            upper=np.concatenate([self.upper, other.upper]),
            missing=np.concatenate([self.missing, other.missing]),
            category=np.concatenate([self.category, shifted]),
            category_sets=self.category_sets + other.category_sets,
        )

    def on_columns(self, place: Ints) -> Clauses:
        """The same clauses where column f is column ``place[f]`` of other data."""
        return replace(self, feature=place[self.feature])

    def with_sets(self, sets: Sequence[CategorySet | None]) -> Clauses:
        """The same clauses with one of these sets each; ``None`` for an interval."""
        category, distinct = numbered(sets)
        return replace(self, category=category, category_sets=distinct)

    def first_of_equal(self) -> Ints:
        """The first rule of each group of equal ones."""
        first: dict[bytes, int] = {}
        for j, key in enumerate(self.keys({})):
            first.setdefault(key, j)
        return np.fromiter(first.values(), dtype=np.intp, count=len(first))

    def keys(self, numbers: dict[CategorySet, int]) -> list[bytes]:
        """Bytes that are equal for equal rules; `numbers` holds the numbers of the sets seen so far and is extended."""
        number = [*(numbers.setdefault(each, len(numbers)) for each in self.category_sets), -1]
        columns = self.feature, self.lower, self.upper, self.missing, np.array(number)[self.category]
        # 0 and -0 are one bound, but not the same bytes.
        table = np.column_stack(columns).astype(np.float64) + 0.0
        return [table[start:end].tobytes() for start, end in pairwise(self.offset.tolist())]

    def __eq__(self, other: object) -> bool:
        """Whether both hold the same clauses in the same order."""
        if not isinstance(other, Clauses):
            return NotImplemented
        return all(np.array_equal(a, b) for a, b in zip(self._identity(), other._identity(), strict=True))

    __hash__ = None  # type: ignore[assignment]  # equal by value, and values hold arrays

    def _identity(self) -> tuple[Array, ...]:
        sets = np.empty(len(self.category), dtype=object)
        sets[:] = [self.set_of(c) for c in range(len(self.category))]
        return self.offset, self.feature, self.lower, self.upper, self.missing, sets

    # Matching rows: 0 counts as missing in the columns `zero_missing` ---------------------------------------------

    @cached_property
    def columns(self) -> Ints:
        """The columns in use."""
        return np.unique(self.feature)

    @cached_property
    def _has_sets(self) -> bool:
        return bool((self.category >= 0).any())

    @cached_property
    def _fits_float32(self) -> bool:
        """Whether a double satisfies each clause if and only if the nearest float32 does."""
        lower, upper = (_parts_float32(self.lower) | np.isinf(self.lower), _parts_float32(self.upper))
        return not self._has_sets and bool(lower.all() and (upper | np.isposinf(self.upper)).all())

    @cached_property
    def _is_within_float32(self) -> bool:
        """Whether no bound is too low for float32: as one that is infinite it would be no bound at all."""
        return not bool(np.isinf(_down_to_float32(self.lower[np.isfinite(self.lower)])).any())

    @cached_property
    def _in_float64(self) -> Comparisons:
        return self._comparisons(self.lower, self.upper)

    @cached_property
    def _in_float32(self) -> Comparisons:
        return self._comparisons(_down_to_float32(self.lower), _down_to_float32(self.upper))

    def _comparisons(self, lower: Array, upper: Array) -> Comparisons:
        sets = [self.set_of(c) for c in range(len(self.feature))]
        return Comparisons.of(np.searchsorted(self.columns, self.feature), lower, upper, self.missing, sets)

    def covered_chunks(self, X: Any, zero_missing: Sequence[int] = ()) -> Iterator[tuple[int, Bools]]:
        """For each chunk of rows: where it starts, and which rule (first axis) covers which of its rows."""
        return _unpacked(self.bits_of_chunks(X, zero_missing))

    def bits_of_chunks(self, X: Any, zero_missing: Sequence[int] = ()) -> Iterator[tuple[range, Bits]]:
        """For each chunk of rows: its rows, and which rule covers which of them, a bit each."""
        for rows, comparisons, bits in self._compared(X, zero_missing):
            yield rows, comparisons.all_of(self.offset, bits)

    def _compared(self, X: Any, zero_missing: Sequence[int]) -> Iterator[tuple[range, Comparisons, Bits]]:
        """For each chunk of rows: its rows, the comparisons, and which row passes which of these, until the next chunk.

        All arrays are made once: memory that was never used before takes longer to write to than to compute.
        """
        comparisons, kind = self._comparison(X, zero_missing)
        zeros = np.flatnonzero(np.isin(self.columns, zero_missing))
        at_a_time = min(CHUNK, max(_TURNED, _BITS // max(1, len(comparisons)) // _TURNED * _TURNED))
        bits = np.empty((len(comparisons), -(-min(X.shape[0], at_a_time) // 8)), dtype=np.uint8)
        columns = np.empty((len(self.columns), min(X.shape[0], _TURNED)), dtype=kind)
        passed = np.empty((comparisons.n_at_a_time, columns.shape[1]), dtype=bool)
        for start in range(0, X.shape[0], at_a_time):
            end = min(start + at_a_time, X.shape[0])
            for first in range(start, end, _TURNED):
                n = min(first + _TURNED, end) - first
                self._turn(X[first : first + n], zeros, columns[:, :n])
                comparisons.write(columns[:, :n], bits[:, (first - start) // 8 :][:, : -(-n // 8)], passed[:, :n])
            yield range(start, end), comparisons, bits[:, : -(-(end - start) // 8)]

    def hits(self, X: Any, zero_missing: Sequence[int] = ()) -> tuple[Ints, Ints]:
        """All pairs (row, rule) where the rule covers the row."""
        rows, rules = [np.zeros(0, dtype=np.intp)], [np.zeros(0, dtype=np.intp)]
        for start, covered in self.covered_chunks(X, zero_missing):
            flat = _nonzero(covered)
            rule = flat // covered.shape[1]
            rows.append(flat - rule * covered.shape[1] + start)
            rules.append(rule)
        return np.concatenate(rows), np.concatenate(rules)

    def satisfied(self, X: Any, zero_missing: Sequence[int] = ()) -> Bools:
        """Which row satisfies which clause, clauses x rows: each is compared by itself, which is quick for few."""
        place, zeros = np.searchsorted(self.columns, self.feature), np.flatnonzero(np.isin(self.columns, zero_missing))
        lower, upper, missing = (each[:, None] for each in (self.lower, self.upper, self.missing))
        out = np.empty((len(self.feature), X.shape[0]), dtype=bool)
        columns = np.empty((len(self.columns), min(X.shape[0], _TURNED)))
        for first in range(0, X.shape[0], _TURNED):
            passed = out[:, first : first + _TURNED]
            mine = columns[:, : passed.shape[1]]
            self._turn(X[first : first + _TURNED], zeros, mine)
            values = mine[place]
            passed[:] = (values <= upper) & ((values > lower) | (lower == -np.inf)) | (missing & np.isnan(values))
            for c in np.flatnonzero(self.category >= 0).tolist():
                OneOf.of(self.category_sets[self.category[c]])(values[c], passed[c : c + 1])
                passed[c] |= missing[c] & np.isnan(values[c])
        return out

    def accepted(self, X: Any, zero_missing: Sequence[int] = ()) -> Floats:
        """The share of each rule's clauses that each row satisfies, rows x rules; 1 for a rule without clauses."""
        out = np.ones((len(self), X.shape[0]))
        for rows, comparisons, bits in self._compared(X, zero_missing):
            satisfied = np.unpackbits(comparisons.each(bits), axis=1, count=len(rows))
            for share, (a, b) in zip(out[:, rows.start : rows.stop], pairwise(self.offset.tolist()), strict=True):
                if b > a:
                    np.divide(satisfied[a:b].sum(axis=0, dtype=np.min_scalar_type(b - a)), float(b - a), out=share)
        return out.T

    def _comparison(self, X: Any, zero_missing: Sequence[int]) -> tuple[Comparisons, type[np.floating[Any]]]:
        """The comparisons, and the kind of float that they compare.

        It is float32, which takes half of the time, only where that decides as float64 does for every number.
        """
        exact = X.dtype == np.float32 and not self._has_sets and self._is_within_float32
        # Whether a double is so small that it counts as 0 is a matter of float64.
        if exact or (self._fits_float32 and not np.isin(self.columns, zero_missing).any()):
            return self._in_float32, np.float32
        return self._in_float64, np.float64

    def _turn(self, rows: Any, zeros: Ints, columns: Array) -> None:
        """Writes the columns in use of some rows to `columns`."""
        with np.errstate(over="ignore"):
            columns[:] = _turned(rows, None if len(self.columns) == rows.shape[1] else self.columns)
        for place in zeros:
            blank_zeros(columns[place])


def _unpacked(chunks: Iterable[tuple[range, Bits]]) -> Iterator[tuple[int, Bools]]:
    for rows, bits in chunks:
        yield rows.start, np.unpackbits(bits, axis=1, count=len(rows)).view(bool)


def _turned(rows: Any, features: Ints | None) -> Array:
    """Columns x rows; some of the columns, or all."""
    if scipy.sparse.issparse(rows):
        rows = (rows if features is None else rows[:, features]).toarray()
        features = None
    turned: Array = rows.T if features is None else rows.T[features]
    return turned


def _parts_float32(bounds: Floats) -> Bools:
    """Which bounds lie where float32 begins to round up: what is above one never rounds to what is not.

    So do the bounds of models that compare in float32, as they are read.
    """
    with np.errstate(over="ignore"):
        nearest = bounds.astype(np.float32)
        parts: Bools = nearest < np.nextafter(bounds, np.inf).astype(np.float32)
    # A number that is too low for float32 is not infinite, which would be no bound at all.
    return parts & np.isfinite(nearest)


def _down_to_float32(bounds: Floats) -> NDArray[np.float32]:
    """The largest float32 that is not above each bound: for a float32 it is the same bound."""
    with np.errstate(over="ignore"):
        nearest = bounds.astype(np.float32)
        return np.where(nearest > bounds, np.nextafter(nearest, np.float32(-np.inf)), nearest)


def offsets(lengths: Sequence[int] | Ints) -> Ints:
    """Where lists of these lengths begin, and the last one ends, when they stand end to end."""
    return np.concatenate([[0], np.cumsum(np.asarray(lengths, dtype=np.intp))]).astype(np.intp)


def numbered(sets: Sequence[CategorySet | None]) -> tuple[Ints, tuple[CategorySet, ...]]:
    """The number of each set among the distinct ones, -1 for none; and the distinct ones, in order."""
    place: dict[CategorySet | None, int] = {None: -1}
    for each in sets:
        place.setdefault(each, len(place) - 1)
    return np.array([place[each] for each in sets], dtype=np.intp), tuple(each for each in place if each is not None)
