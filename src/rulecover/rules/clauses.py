"""The clauses of many rules end to end, and which rows satisfy them: whole columns, a chunk of rows at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse

from rulecover.data.categories import CategorySet, is_in
from rulecover.rules.rule import Clause
from rulecover.typing import Array, Bools, Floats, Ints

#: Rows are matched in chunks of this many, so that a chunk's columns stay in the processor's cache.
CHUNK = 16384


#: Where 0 counts as missing, so does every number this close to it: LightGBM's bound.
ZERO = float(np.float32(1e-35))


def blank_zeros(column: Floats) -> None:
    """Replaces every 0 by NaN, in place."""
    column[np.abs(column) <= ZERO] = np.nan


def _is_in(values: Floats, codes: Floats, out: Bools) -> None:
    out[:] = is_in(values, codes)


def _is_outside(values: Floats, codes: Floats, out: Bools) -> None:
    out[:] = ~(is_in(values, codes) | np.isnan(values))


class Test(NamedTuple):
    """One comparison of one of the columns in use, ``compare(column, operand)``, or its negation.

    NaN fails every comparison. So a clause that accepts missing values is written as "not on the other side".
    """

    compare: Callable[..., Any]
    column: int
    operand: Array
    negated: bool

    @classmethod
    def above(cls, column: int, bound: float, missing: bool) -> Test:
        return cls(np.less_equal if missing else np.greater, column, np.asarray(bound), missing)

    @classmethod
    def up_to(cls, column: int, bound: float, missing: bool) -> Test:
        return cls(np.greater if missing else np.less_equal, column, np.asarray(bound), missing)

    @classmethod
    def one_of(cls, column: int, categories: CategorySet, missing: bool) -> Test:
        compare = _is_in if categories.others == missing else _is_outside
        return cls(compare, column, np.array(categories.codes, dtype=np.float64), missing)


def _narrow(covered: Bools, tests: list[Test], columns: list[Floats], scratch: Bools) -> None:
    """Leaves in `covered` only the rows that pass all tests."""
    for compare, column, operand, negated in tests:
        compare(columns[column], operand, out=scratch)
        # For booleans a > b is "a and not b": the negation needs no extra pass.
        (np.greater if negated else np.logical_and)(covered, scratch, out=covered)


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
        lengths = self.lengths[rules]
        offset = offsets(lengths)
        places = np.arange(offset[-1]) + np.repeat(self.offset[rules] - offset[:-1], lengths)
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
    def _clauses(self) -> list[list[list[Test]]]:
        """For each rule, for each of its clauses, the one or two tests that make it up."""
        places = np.searchsorted(self.columns, self.feature).tolist()
        lower, upper, missing = self.lower.tolist(), self.upper.tolist(), self.missing.tolist()

        def tests(c: int) -> list[Test]:
            if self.category[c] >= 0:
                return [Test.one_of(places[c], self.category_sets[self.category[c]], missing[c])]
            sides = [Test.above(places[c], lower[c], missing[c])] if lower[c] > -np.inf else []
            if upper[c] < np.inf or not sides:
                sides.append(Test.up_to(places[c], upper[c], missing[c]))
            return sides

        each = [tests(c) for c in range(len(places))]
        return [each[a:b] for a, b in zip(self.offset[:-1], self.offset[1:], strict=True)]

    @cached_property
    def _tests(self) -> list[list[Test]]:
        return [[test for clause in rule for test in clause] for rule in self._clauses]

    def covered_chunks(self, X: Any, zero_missing: Sequence[int] = ()) -> Iterator[tuple[int, Bools]]:
        """For each chunk of rows: where it starts, and which rule (first axis) covers which of its rows."""
        for start, columns in self._chunks(X, zero_missing):
            n = columns.shape[1]
            covered = np.ones((len(self._tests), n), dtype=bool)
            used, scratch = list(columns), np.empty(n, dtype=bool)
            for mine, tests in zip(covered, self._tests, strict=True):
                _narrow(mine, tests, used, scratch)
            yield start, covered

    def hits(self, X: Any, zero_missing: Sequence[int] = ()) -> tuple[Ints, Ints]:
        """All pairs (row, rule) where the rule covers the row."""
        rows, rules = [np.zeros(0, dtype=np.intp)], [np.zeros(0, dtype=np.intp)]
        for start, covered in self.covered_chunks(X, zero_missing):
            flat = _nonzero(covered)
            rule = flat // covered.shape[1]
            rows.append(flat - rule * covered.shape[1] + start)
            rules.append(rule)
        return np.concatenate(rows), np.concatenate(rules)

    def accepted(self, X: Any, zero_missing: Sequence[int] = ()) -> Floats:
        """The share of each rule's clauses that each row satisfies, rows x rules; 1 for a rule without clauses."""
        out = np.ones((X.shape[0], len(self)))
        for start, columns in self._chunks(X, zero_missing):
            n = columns.shape[1]
            used, scratch = list(columns), np.empty(n, dtype=bool)
            for j, clauses in enumerate(self._clauses):
                count = np.zeros(n)
                for clause in clauses:
                    satisfied = np.ones(n, dtype=bool)
                    _narrow(satisfied, clause, used, scratch)
                    count += satisfied
                if clauses:
                    out[start : start + n, j] = count / len(clauses)
        return out

    def _chunks(self, X: Any, zero_missing: Sequence[int]) -> Iterator[tuple[int, Floats]]:
        """The columns in use x a chunk of rows, in float64: a float64 bound is never compared in float32."""
        for start in range(0, X.shape[0], CHUNK):
            rows = X[start : start + CHUNK]
            used = rows[:, self.columns].toarray().T if scipy.sparse.issparse(rows) else rows.T[self.columns]
            values = np.ascontiguousarray(used, dtype=np.float64)
            for place in np.flatnonzero(np.isin(self.columns, zero_missing)):
                blank_zeros(values[place])
            yield start, values


def offsets(lengths: Sequence[int] | Ints) -> Ints:
    """Where lists of these lengths begin, and the last one ends, when they stand end to end."""
    return np.concatenate([[0], np.cumsum(np.asarray(lengths, dtype=np.intp))]).astype(np.intp)


def numbered(sets: Sequence[CategorySet | None]) -> tuple[Ints, tuple[CategorySet, ...]]:
    """The number of each set among the distinct ones, -1 for none; and the distinct ones, in order."""
    place: dict[CategorySet | None, int] = {None: -1}
    for each in sets:
        place.setdefault(each, len(place) - 1)
    return np.array([place[each] for each in sets], dtype=np.intp), tuple(each for each in place if each is not None)
