"""Which rows satisfy which clauses: comparisons of whole columns, a chunk of rows at a time."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse

from rulecover.typing import Bools, Floats, Ints

#: Rows are met in chunks of this many, so that a chunk's columns stay in the processor's cache.
CHUNK = 8192


class Comparison(NamedTuple):
    """``x > bound`` or ``x <= bound`` for one of the columns in use; NaN passes only if `missing` says so."""

    column: int
    above: bool
    bound: float
    missing: bool

    def passed(self, columns: Floats, scratch: Bools) -> Bools:
        if self.missing:  # what is not on the other side, NaN included
            other = np.less_equal if self.above else np.greater
            other(columns[self.column], self.bound, out=scratch)
            return np.logical_not(scratch, out=scratch)
        mine = np.greater if self.above else np.less_equal
        return np.asarray(mine(columns[self.column], self.bound, out=scratch))


class Membership(NamedTuple):
    """``x in codes`` for one of the columns in use; NaN passes only if `missing` says so."""

    column: int
    codes: Floats
    missing: bool

    def passed(self, columns: Floats, scratch: Bools) -> Bools:
        values = columns[self.column]
        return np.asarray(np.isin(values, self.codes) | (self.missing & np.isnan(values)))


@dataclass(frozen=True, eq=False)
class Matcher:
    """The clauses of all rules end to end, ready to be met by rows; see `RuleSet` for what they mean."""

    offset: Ints
    feature: Ints
    lower: Floats
    upper: Floats
    missing: Bools
    category: Ints
    category_sets: tuple[Floats, ...]

    @cached_property
    def columns(self) -> Ints:
        """The columns in use."""
        return np.unique(self.feature)

    @cached_property
    def clauses(self) -> list[list[list[Comparison | Membership]]]:
        """For each rule, for each of its clauses, the one or two tests that make it up."""
        places = np.searchsorted(self.columns, self.feature).tolist()
        lower, upper, missing = self.lower.tolist(), self.upper.tolist(), self.missing.tolist()

        def tests(c: int) -> list[Comparison | Membership]:
            if self.category[c] >= 0:
                return [Membership(places[c], self.category_sets[self.category[c]], missing[c])]
            sides: list[Comparison | Membership] = []
            if lower[c] > -np.inf:
                sides.append(Comparison(places[c], True, lower[c], missing[c]))
            if upper[c] < np.inf or lower[c] == -np.inf:
                sides.append(Comparison(places[c], False, upper[c], missing[c]))
            return sides

        each = [tests(c) for c in range(len(places))]
        return [each[a:b] for a, b in zip(self.offset[:-1], self.offset[1:], strict=True)]

    @cached_property
    def _tests(self) -> list[list[Comparison | Membership]]:
        return [[test for clause in rule for test in clause] for rule in self.clauses]

    def hits(self, X: Any) -> Iterator[tuple[int, int, Ints, Ints]]:
        """For each chunk of rows: where it starts and stops, and the pairs (row within the chunk, rule) that meet.

        Pairs come rule by rule, so that sums over them add in the order of the rules whatever the chunks.
        """
        for start, columns in self._chunks(X):
            n = columns.shape[1]
            met = np.ones((len(self._tests), n), dtype=bool)
            scratch = np.empty(n, dtype=bool)
            for mine, tests in zip(met, self._tests, strict=True):
                for test in tests:
                    np.logical_and(mine, test.passed(columns, scratch), out=mine)
            flat = np.flatnonzero(met)
            rule = flat // n
            yield start, start + n, flat - rule * n, rule

    def accepted(self, X: Any) -> Floats:
        """The share of each rule's clauses that each row satisfies, rows x rules; 1 for a rule without clauses."""
        out = np.ones((X.shape[0], len(self.clauses)))
        for start, columns in self._chunks(X):
            n = columns.shape[1]
            scratch = np.empty(n, dtype=bool)
            for j, clauses in enumerate(self.clauses):
                count = np.zeros(n)
                for clause in clauses:
                    whole = np.ones(n, dtype=bool)
                    for test in clause:
                        whole &= test.passed(columns, scratch)
                    count += whole
                if clauses:
                    out[start : start + n, j] = count / len(clauses)
        return out

    def _chunks(self, X: Any) -> Iterator[tuple[int, Floats]]:
        """The columns in use x a chunk of rows, in float64: a float64 bound is never compared in float32."""
        for start in range(0, X.shape[0], CHUNK):
            rows = X[start : start + CHUNK]
            used = rows[:, self.columns].toarray().T if scipy.sparse.issparse(rows) else rows.T[self.columns]
            yield start, np.ascontiguousarray(used, dtype=np.float64)
