"""Which rows satisfy which clauses: comparisons of whole columns, a chunk of rows at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse

from rulecover.data.categories import CategorySet, is_in
from rulecover.typing import Array, Bools, Floats, Ints

#: Rows are met in chunks of this many, so that a chunk's columns stay in the processor's cache.
CHUNK = 16384


#: Where 0 counts as missing, so does every number that is no farther from it: LightGBM's bound.
ZERO = float(np.float32(1e-35))


def blank_zeros(column: Floats) -> None:
    """Makes NaN of every 0, in place."""
    column[np.abs(column) <= ZERO] = np.nan


def _is_in(values: Floats, codes: Floats, out: Bools) -> None:
    out[:] = is_in(values, codes)


def _is_outside(values: Floats, codes: Floats, out: Bools) -> None:
    out[:] = ~(is_in(values, codes) | np.isnan(values))


class Test(NamedTuple):
    """One comparison of one of the columns in use, ``compare(column, operand)``, or its negation.

    NaN fails every comparison. So a clause that takes missing values is written as "not on the other side".
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


def _narrow(met: Bools, tests: list[Test], columns: list[Floats], scratch: Bools) -> None:
    """Leaves in `met` only the rows that pass all tests."""
    for compare, column, operand, negated in tests:
        compare(columns[column], operand, out=scratch)
        # For booleans a > b is "a and not b": the negation costs no pass of its own.
        (np.greater if negated else np.logical_and)(met, scratch, out=met)


def _nonzero(met: Bools) -> Ints:
    """The places of the true entries; eight at a time, as nearly all entries are false."""
    flat = met.reshape(-1)
    whole = flat[: len(flat) // 8 * 8]
    words = np.flatnonzero(whole.view(np.uint64))
    within = np.flatnonzero(whole.reshape(-1, 8)[words])
    rest = np.flatnonzero(flat[len(whole) :]) + len(whole)
    return np.concatenate([words[within // 8] * 8 + within % 8, rest])


@dataclass(frozen=True, eq=False)
class Matcher:
    """The clauses of all rules end to end, ready to be met by rows; see `RuleSet` for what they mean."""

    offset: Ints
    feature: Ints
    lower: Floats
    upper: Floats
    missing: Bools
    category: Ints
    category_sets: tuple[CategorySet, ...]
    zero_missing: tuple[int, ...] = ()

    @cached_property
    def columns(self) -> Ints:
        """The columns in use."""
        return np.unique(self.feature)

    @cached_property
    def clauses(self) -> list[list[list[Test]]]:
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
        return [[test for clause in rule for test in clause] for rule in self.clauses]

    def met(self, X: Any) -> Iterator[tuple[int, Bools]]:
        """For each chunk of rows: where it starts, and which rule (first axis) covers which of its rows."""
        for start, columns in self._chunks(X):
            n = columns.shape[1]
            met = np.ones((len(self._tests), n), dtype=bool)
            used, scratch = list(columns), np.empty(n, dtype=bool)
            for mine, tests in zip(met, self._tests, strict=True):
                _narrow(mine, tests, used, scratch)
            yield start, met

    def hits(self, X: Any) -> tuple[Ints, Ints]:
        """All pairs (row, rule) that meet."""
        rows, rules = [np.zeros(0, dtype=np.intp)], [np.zeros(0, dtype=np.intp)]
        for start, met in self.met(X):
            flat = _nonzero(met)
            rule = flat // met.shape[1]
            rows.append(flat - rule * met.shape[1] + start)
            rules.append(rule)
        return np.concatenate(rows), np.concatenate(rules)

    def accepted(self, X: Any) -> Floats:
        """The share of each rule's clauses that each row satisfies, rows x rules; 1 for a rule without clauses."""
        out = np.ones((X.shape[0], len(self.clauses)))
        for start, columns in self._chunks(X):
            n = columns.shape[1]
            used, scratch = list(columns), np.empty(n, dtype=bool)
            for j, clauses in enumerate(self.clauses):
                count = np.zeros(n)
                for clause in clauses:
                    satisfied = np.ones(n, dtype=bool)
                    _narrow(satisfied, clause, used, scratch)
                    count += satisfied
                if clauses:
                    out[start : start + n, j] = count / len(clauses)
        return out

    def _chunks(self, X: Any) -> Iterator[tuple[int, Floats]]:
        """The columns in use x a chunk of rows, in float64: a float64 bound is never compared in float32."""
        for start in range(0, X.shape[0], CHUNK):
            rows = X[start : start + CHUNK]
            used = rows[:, self.columns].toarray().T if scipy.sparse.issparse(rows) else rows.T[self.columns]
            values = np.ascontiguousarray(used, dtype=np.float64)
            for place in np.flatnonzero(np.isin(self.columns, self.zero_missing)):
                blank_zeros(values[place])
            yield start, values
