"""Rows as rules see them, transformed again as a model's own steps do it, so that its own code finds their leaves."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import count
from typing import Any, Protocol

import numpy as np
import scipy.sparse

from rulecover.coverage import smallest_uint
from rulecover.readers.sklearn.origins import CategoryOrigin, NumberOrigin, Origin
from rulecover.trees.tree import TreeEnsemble
from rulecover.typing import Array, Floats, Ints

#: Where one column in this many is in use, all are set to zero at once.
_MANY = 8


@dataclass(frozen=True, eq=False)
class TransformedAgain:
    """From rows as rules see them to the rows that trees were grown on, column by column.

    Parameters
    ----------
    origins
        What the transformed columns that trees use are made of, by number.
    places
        Where the others stand in the given rows: columns that are not a function of one original column.
    n_columns
        How many transformed columns there are; those that no tree uses are 0.
    kind
        The type of the transformed rows: the model may round them to it anyway.
    """

    origins: Mapping[int, NumberOrigin | CategoryOrigin]
    places: Mapping[int, int]
    n_columns: int
    kind: type[np.floating[Any]]

    @classmethod
    def of(
        cls, origins: Sequence[Origin], used: Iterable[int], places: Mapping[int, int], kind: type[np.floating[Any]]
    ) -> TransformedAgain:
        """The columns in use, by the origins of all."""
        known = {k: origin for k in used if k not in places and (origin := origins[k]) is not None}
        return cls(known, places, len(origins), kind)

    def of_columns(self, used: Iterable[int]) -> TransformedAgain:
        """The same of some columns alone."""
        wanted = set(used)
        return TransformedAgain(
            {k: origin for k, origin in self.origins.items() if k in wanted},
            {k: place for k, place in self.places.items() if k in wanted},
            self.n_columns,
            self.kind,
        )

    def blocks(self, X: Floats, n_rows: int) -> Iterator[Array]:
        """The transformed rows, this many at a time; each block is written over the one before it."""
        out = np.zeros((min(n_rows, len(X)), self.n_columns), dtype=self.kind)
        used = np.array([*self.origins, *self.places], dtype=np.intp)
        for start in range(0, len(X), n_rows):
            some = X[start : start + n_rows]
            rows = out[: len(some)]
            with np.errstate(over="ignore"):
                self._write(some, rows)
            yield rows
            if _MANY * len(used) > self.n_columns:
                rows[:] = 0.0
            else:
                rows[:, used] = 0.0

    def _write(self, X: Floats, out: Array) -> None:
        """Writes the transformed columns to rows of zeros."""
        for k, place in self.places.items():
            out[:, k] = X[:, place]
        for k, origin in self.origins.items():
            if isinstance(origin, NumberOrigin):
                out[:, k] = _numbers(origin, X[:, origin.feature].astype(np.float64))
        for encoded in self._encoded:
            encoded.write(X[:, encoded.feature].astype(np.float64), out)

    @cached_property
    def _encoded(self) -> list[_Encoded]:
        of_feature: dict[int, dict[int, CategoryOrigin]] = defaultdict(dict)
        for k, origin in self.origins.items():
            if isinstance(origin, CategoryOrigin):
                of_feature[origin.feature][k] = origin
        return [_Encoded.of(columns) for columns in of_feature.values()]


def _numbers(origin: NumberOrigin, values: Floats) -> Floats:
    gap = origin.of_missing()
    out = origin(values)
    return out if gap is None else np.where(np.isnan(values), gap, out)


@dataclass(frozen=True, eq=False)
class _Encoded:
    """The encoded columns of one original column.

    Parameters
    ----------
    feature
        The original column.
    codes, order
        The codes of the labels in ascending order, and their places; ``None`` where a code is the place.
    columns
        The encoded columns.
    table
        The numbers in them for each label, for any other value, and for a missing one, as a sparse matrix by rows.
    """

    feature: int
    codes: Floats | None
    order: Ints | None
    columns: Ints
    table: Any

    @classmethod
    def of(cls, origins: Mapping[int, CategoryOrigin]) -> _Encoded:
        first = next(iter(origins.values()))
        codes = first.codes if first.by_number else None
        order = None if codes is None else np.argsort(codes, kind="stable")
        table = _by_rows([_of_all_values(origin) for origin in origins.values()])
        return cls(first.feature, None if codes is None else codes[order], order, np.array(list(origins)), table)

    def write(self, values: Floats, out: Array) -> None:
        """Writes the encoded columns of all values to rows of zeros."""
        row = self._rows(values)
        if len(self.columns) == 1:
            out[:, self.columns[0]] = self._only_column[row]
            return
        begin, count = self.table.indptr[row], self._counts[row]
        at = np.repeat(np.arange(len(row)), count)
        entry = np.arange(len(at)) + np.repeat(begin - np.cumsum(count) + count, count)
        out[at, self.columns[self.table.indices[entry]]] = self.table.data[entry]

    def _rows(self, values: Floats) -> Ints:
        """The row of the table for each value."""
        n_labels, missing = self.table.shape[0] - 2, np.isnan(values)
        if self.codes is None or self.order is None:
            with np.errstate(invalid="ignore"):
                row = values.astype(np.intp)
            known = (row == values) & (row >= 0) & (row < n_labels)
        else:
            place = np.minimum(np.searchsorted(self.codes, values), n_labels - 1)
            row, known = self.order[place], self.codes[place] == values
        return np.where(known, row, np.where(missing, n_labels + 1, n_labels))

    @cached_property
    def _only_column(self) -> Floats:
        column: Floats = self.table.toarray()[:, 0]
        return column

    @cached_property
    def _counts(self) -> Ints:
        counts: Ints = np.diff(self.table.indptr)
        return counts


def _of_all_values(origin: CategoryOrigin) -> Floats:
    """The numbers for each label, for another value and for a missing one; 0 where the encoder refuses these."""
    others = [0.0 if value is None else value for value in (origin.unseen, origin.of_missing())]
    return np.append(origin.values, others)


def _by_rows(columns: Iterable[Floats]) -> Any:
    """Columns that are mostly zeros as a sparse matrix by rows."""
    entries, values, n_rows = [], [], 0
    for column in columns:
        entries.append(np.flatnonzero(column))
        values.append(column[entries[-1]])
        n_rows = len(column)
    ends = np.cumsum([0, *map(len, entries)])
    shape = (n_rows, len(entries))
    return scipy.sparse.csc_array((np.concatenate(values), np.concatenate(entries), ends), shape=shape).tocsr()


# Leaves ---------------------------------------------------------------------------------------------------------------


class Blocks(Protocol):
    """What makes the rows that trees were grown on of rows as rules see them."""

    def of_columns(self, used: Iterable[int]) -> Blocks:
        """The same where only some of the columns matter."""

    def blocks(self, X: Floats, n_rows: int) -> Iterator[Array]:
        """The rows, this many at a time; each is used before the next one is made."""


@dataclass(frozen=True, eq=False)
class LeavesByBlocks:
    """From rows as rules see them to their leaves, rows x trees, block by block: all rows again would take much room.

    Parameters
    ----------
    again
        What makes the rows that trees were grown on.
    inner
        The trees, on these.
    n_rows
        How many rows are made at a time.
    """

    again: Blocks
    inner: TreeEnsemble
    n_rows: int

    def __call__(self, n_trees: int, X: Floats) -> Array:
        """The leaves in the first trees."""
        inner, again = self.inner, self.again
        if n_trees < len(inner.trees):
            inner = inner.take(np.arange(n_trees))
            again = again.of_columns(inner.used_columns.tolist())
        n_nodes = max((len(tree.left) for tree in inner.trees), default=0)
        out = np.empty((len(X), n_trees), dtype=smallest_uint(n_nodes), order="F")
        for start, rows in zip(count(0, self.n_rows), again.blocks(X, self.n_rows), strict=False):
            prepared = inner.prepare(rows)
            for tree, route in enumerate(inner.routes):
                out[start : start + len(rows), tree] = route(prepared)
        return out
