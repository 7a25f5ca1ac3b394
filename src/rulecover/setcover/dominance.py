"""Tables of samples by rules that shrink in place: what dominates what, and which rules are forced."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator

import numpy as np
import scipy.sparse

from rulecover.coverage import Block, Coverage
from rulecover.typing import Array, Bools, Floats, Ints

#: Pairs of columns, or of rows, that are compared at a time.
PAIRS_AT_A_TIME = 1_000_000
#: One row of each pair is compared at a time this often, then twice as many each time: most pairs die at once.
SINGLE_STEPS = 24
#: Bytes for each sample and tree, or each pair of a sample and a rule from none; 54 were measured.
BYTES_PER_CELL = 60


def n_cells(coverage: Coverage, n_samples: int) -> int:
    """How large the table of this many samples is: one cell per sample and tree, or per sample and rule."""
    return n_samples * (coverage.n_rules if coverage.is_sparse else len(coverage.blocks))


def n_bytes(coverage: Coverage, n_samples: int) -> float:
    """About the memory that the table takes at most while it shrinks, and the search after it."""
    if not coverage.is_sparse:
        return float(BYTES_PER_CELL * n_cells(coverage, n_samples))
    pairs = float(coverage.sizes.sum()) * n_samples / max(1, coverage.n_samples)
    # A table to look pairs up, and lists of rules that are filled up to the longest.
    return n_samples * (coverage.n_rules + 8.0 * int(coverage.degrees.max(initial=0))) + BYTES_PER_CELL * pairs


def table_of(coverage: Coverage, cost: Floats, demand: Ints, deadline: float | None) -> CoveringTable:
    kind = SparseTable if coverage.is_sparse else BlockTable
    return kind(coverage, cost, demand, deadline)


class CoveringTable(ABC):
    """Rows and columns of a covering problem, shrunk in place.

    Attributes
    ----------
    rows, need
        The samples that are left, by their place in the coverage, and how many more rules each needs.
    alive
        Which columns are left; the entry after the last, never alive, stands for no column.
    forced, forcing
        Columns that every cover needs, and the rows that force them.
    """

    def __init__(self, coverage: Coverage, cost: Floats, demand: Ints, deadline: float | None) -> None:
        self.cost, self.need, self.deadline = cost, demand.copy(), deadline
        self.rows = np.arange(coverage.n_samples)
        self.alive: Bools = np.append(coverage.sizes > 0, False)
        self.forced: set[int] = set()
        self.forcing: list[int] = []

    @abstractmethod
    def matrix(self) -> scipy.sparse.csc_array:
        """Rows that are left by all columns (of those gone nothing is left)."""

    @abstractmethod
    def degree(self) -> Array:
        """How many columns that are left each row has."""

    @abstractmethod
    def columns_of(self, rows: Ints) -> Array:
        """Every column of some of these rows, perhaps more than once, and perhaps one that is not alive."""

    @abstractmethod
    def times(self, columns: Ints) -> Array:
        """How many of these columns each row has."""

    @abstractmethod
    def select(self, rows: Ints) -> None:
        """Only these rows stay, in this order."""

    @abstractmethod
    def holds(self, rows: Ints, columns: Ints) -> Bools:
        """Whether each of the rows has the column in the same place of `columns`."""

    @abstractmethod
    def smaller_or_equal_rows(self, some: Ints, rank: Ints) -> Ints:
        """Rows k for which a row i, of `some` and before k in rank, needs as much and has only columns of k."""

    @abstractmethod
    def candidates(self, columns: Ints, matrix: scipy.sparse.csc_array, rank: Array) -> Iterator[tuple[Ints, Ints]]:
        """Pairs of a place in `columns` and another column of its first row, before it in rank, that may contain it."""

    def shrink(self) -> None:
        """Columns, then rows, then columns without choice, until nothing changes."""
        everything = True
        lost_a_row = np.zeros(len(self.alive), dtype=bool)
        while True:
            self._force()
            n_forced = len(self.forced)
            gone = self._dominated_columns(self.alive if everything else lost_a_row & self.alive)
            self.alive[gone] = False
            if self._out_of_time():
                return
            lost_a_column = self.times(gone) > 0
            rows = self._dominated_rows(np.flatnonzero(lost_a_column | everything))
            lost_a_row[:] = False
            lost_a_row[self.columns_of(rows)] = True
            self._drop(rows)
            self._force()
            everything = len(self.forced) > n_forced
            if (not everything and not len(rows)) or self._out_of_time():
                return

    def _out_of_time(self) -> bool:
        return self.deadline is not None and time.perf_counter() >= self.deadline

    def _select(self, rows: Ints) -> None:
        self.select(rows)
        self.need, self.rows = self.need[rows], self.rows[rows]

    def _drop(self, rows: Ints) -> None:
        if len(rows):
            self._select(np.delete(np.arange(len(self.rows)), rows))

    def _force(self) -> None:
        """Takes the columns of rows that have no more of them than they need."""
        while len(no_choice := np.flatnonzero(self.degree() == self.need)):
            self.forcing.extend(self.rows[no_choice].tolist())
            columns = np.unique(self.columns_of(no_choice))
            columns = columns[self.alive[columns]]
            self.forced.update(columns.tolist())
            self.need = self.need - self.times(columns)
            self.alive[columns] = False
            self._drop(np.flatnonzero(self.need <= 0))
        useful = np.zeros(len(self.alive), dtype=bool)
        useful[self.columns_of(np.arange(len(self.rows)))] = True
        self.alive &= useful

    def _dominated_columns(self, touched: Bools) -> Ints:
        """Columns with as many dominating ones as their neediest row asks for.

        A best cover with the most columns early in the order of `rank` has, with a column, all that dominate it:
        else exchange them. If these are enough for every row of the column, it is not needed: so all such columns
        can go at once.
        """
        # The first row of each column is then its row with the fewest columns, and names the fewest candidates.
        self._select(np.argsort(self.degree(), kind="stable"))
        matrix = self.matrix()
        starts, rows = matrix.indptr.astype(np.intp), matrix.indices
        sizes = np.diff(starts)
        rank = np.full(len(self.alive), len(self.alive), dtype=np.int32)
        rank[np.lexsort((-sizes, self.cost))] = np.arange(len(sizes))
        columns = np.flatnonzero(touched[:-1])
        neediest = np.zeros(len(sizes), dtype=np.intp)
        nonempty = np.flatnonzero(self.alive[:-1])
        if len(nonempty):
            neediest[nonempty] = np.maximum.reduceat(self.need[rows], starts[nonempty])
        dominators = np.zeros(len(columns), dtype=np.intp)
        for place, other in self.candidates(columns, matrix, rank):
            if self._out_of_time():
                break
            found = contained_pairs(columns[place], other, starts, rows, self.holds, known=1)
            dominators += np.bincount(place[found], minlength=len(columns))
        return columns[dominators >= neediest[columns]]

    def _dominated_rows(self, some: Ints) -> Ints:
        """Rows k for which a row i, of `some`, needs as much and has only columns that k has too."""
        degree = self.degree()
        rank = np.empty(len(degree), dtype=np.intp)
        rank[np.lexsort((-self.need, degree))] = np.arange(len(degree))
        return self.smaller_or_equal_rows(some, rank)

    def _pairs_of_rows(self, some: Ints, rarest: Ints, rank: Ints) -> Iterator[tuple[Ints, Ints]]:
        """Pairs of a row of `some` and another with its rarest column, behind it in rank and no more needy."""
        matrix = self.matrix()
        starts, rows = matrix.indptr.astype(np.intp), matrix.indices
        count = starts[rarest + 1] - starts[rarest]
        for part in _parts_of(count):
            if self._out_of_time():
                return
            own = np.repeat(some[part], count[part])
            other = rows[ragged(starts[rarest[part]], count[part])].astype(np.intp)
            fits = (rank[own] < rank[other]) & (self.need[own] >= self.need[other])
            yield own[fits], other[fits]


class BlockTable(CoveringTable):
    """The rule of each sample in each tree.

    Rule b covers row r if ``cell[r, block_of[b]] == b``: one comparison, in a table as small as the coverage itself.
    A cell that no rule covers holds the number of rules, a column that is never alive.
    """

    def __init__(self, coverage: Coverage, cost: Floats, demand: Ints, deadline: float | None) -> None:
        super().__init__(coverage, cost, demand, deadline)
        n_rules = coverage.n_rules
        self.block_of = np.zeros(n_rules, dtype=np.intp)
        self.cell: Array = np.empty((coverage.n_samples, len(coverage.blocks)), dtype=np.int32)
        for b, block in enumerate(coverage.blocks):
            assert isinstance(block, Block), "overlapping rules have a table of another kind"
            self.block_of[block.rules] = b
            self.cell[:, b] = np.concatenate([[n_rules], block.rules])[block.ids]

    def matrix(self) -> scipy.sparse.csc_array:
        lives = self.alive[self.cell]
        starts = np.concatenate([[0], np.cumsum(lives.sum(axis=1))])
        shape = (len(self.cell), len(self.alive) - 1)
        flat = self.cell[lives]
        return scipy.sparse.csr_array((np.ones(len(flat), dtype=bool), flat, starts), shape=shape).tocsc()

    def degree(self) -> Array:
        degree: Array = self.alive[self.cell].sum(axis=1)
        return degree

    def columns_of(self, rows: Ints) -> Array:
        return self.cell if len(rows) == len(self.cell) else self.cell[rows]

    def times(self, columns: Ints) -> Array:
        times: Array = np.isin(self.cell, columns).sum(axis=1)
        return times

    def select(self, rows: Ints) -> None:
        self.cell = self.cell[rows]

    def holds(self, rows: Ints, columns: Ints) -> Bools:
        there: Bools = self.cell[rows, self.block_of[columns]] == columns
        return there

    def candidates(self, columns: Ints, matrix: scipy.sparse.csc_array, rank: Array) -> Iterator[tuple[Ints, Ints]]:
        sizes = np.append(np.diff(matrix.indptr), 0)
        first = matrix.indices[matrix.indptr[columns]]
        step = max(1, PAIRS_AT_A_TIME // max(1, self.cell.shape[1]))
        for begin in range(0, len(columns), step):
            own = columns[begin : begin + step, None]
            other = self.cell[first[begin : begin + step]]
            place, slot = np.nonzero((rank[other] < rank[own]) & (sizes[other] >= sizes[own]))
            yield begin + place, other[place, slot].astype(np.intp)

    def smaller_or_equal_rows(self, some: Ints, rank: Ints) -> Ints:
        sizes = np.append(np.diff(self.matrix().indptr), np.iinfo(np.intp).max)
        sizes[~self.alive] = sizes[-1]
        rarest = self.cell[some, np.argmin(sizes[self.cell[some]], axis=1)].astype(np.intp) if len(some) else some
        gone = np.zeros(len(self.rows), dtype=bool)
        for pairs in self._pairs_of_rows(some, rarest, rank):
            own, other = pairs
            for slot in range(self.cell.shape[1]):
                mine = self.cell[own, slot]
                fits = ~self.alive[mine] | (self.cell[other, slot] == mine)
                own, other = own[fits], other[fits]
            gone[other] = True
        return np.flatnonzero(gone)


class SparseTable(CoveringTable):
    """The rules of each sample as lists, and a table of samples by rules, one byte per cell, to look pairs up."""

    def __init__(self, coverage: Coverage, cost: Floats, demand: Ints, deadline: float | None) -> None:
        super().__init__(coverage, cost, demand, deadline)
        self.by_row: scipy.sparse.csr_array = coverage.to_sparse().tocsr()
        self.present: Bools = self.by_row.toarray()

    def _keep_alive(self) -> None:
        lives = self.alive[self.by_row.indices]
        if not lives.all():
            starts = np.concatenate([[0], np.cumsum(lives)])[self.by_row.indptr]
            flat = self.by_row.indices[lives]
            self.by_row = scipy.sparse.csr_array(
                (np.ones(len(flat), dtype=bool), flat, starts), shape=self.by_row.shape
            )

    def matrix(self) -> scipy.sparse.csc_array:
        self._keep_alive()
        return self.by_row.tocsc()

    def degree(self) -> Array:
        self._keep_alive()
        return np.diff(self.by_row.indptr)

    def columns_of(self, rows: Ints) -> Array:
        self._keep_alive()
        columns: Array = self.by_row[rows].indices
        return columns

    def times(self, columns: Ints) -> Array:
        times: Array = np.count_nonzero(self.present[self.rows[:, None], columns], axis=1)
        return times

    def select(self, rows: Ints) -> None:
        self.by_row = self.by_row[rows]

    def holds(self, rows: Ints, columns: Ints) -> Bools:
        there: Bools = self.present[self.rows[rows], columns]
        return there

    def candidates(self, columns: Ints, matrix: scipy.sparse.csc_array, rank: Array) -> Iterator[tuple[Ints, Ints]]:
        starts, others = self.by_row.indptr.astype(np.intp), self.by_row.indices
        row = np.repeat(np.arange(len(self.rows)), np.diff(starts))
        by_rank = others[np.lexsort((rank[others], row))]
        # 64 bits of what a column covers: one look at them leaves few pairs to be compared row by row.
        bit = np.uint64(1) << (np.arange(len(self.rows)) % 64).astype(np.uint64)
        bits = np.zeros(len(self.alive), dtype=np.uint64)
        nonempty = np.flatnonzero(np.diff(matrix.indptr))
        bits[nonempty] = np.bitwise_or.reduceat(bit[matrix.indices], matrix.indptr[nonempty]) if len(nonempty) else 0
        first = matrix.indices[matrix.indptr[columns]].astype(np.intp)
        # Sorted by row and rank, what is before a column in its first row is found by bisection.
        keys = row * len(rank) + rank[by_rank]
        count = np.searchsorted(keys, first * len(rank) + rank[columns]) - starts[first]
        for part in _parts_of(count):
            place = np.repeat(np.arange(len(columns))[part], count[part])
            other = by_rank[ragged(starts[first[part]], count[part])]
            fits = np.flatnonzero((bits[columns[place]] & ~bits[other]) == 0)
            yield place[fits], other[fits].astype(np.intp)

    def smaller_or_equal_rows(self, some: Ints, rank: Ints) -> Ints:
        sizes = np.diff(self.matrix().indptr)
        starts, columns = self.by_row.indptr.astype(np.intp), self.by_row.indices
        order = np.lexsort((sizes[columns], np.repeat(np.arange(len(self.rows)), np.diff(starts))))
        rarest = columns[order[starts[some]]].astype(np.intp) if len(some) else some
        gone = np.zeros(len(self.rows), dtype=bool)
        for own, other in self._pairs_of_rows(some, rarest, rank):
            found = contained_pairs(own, other, starts, columns, lambda mine, row: self.holds(row, mine), known=0)
            gone[other[found]] = True
        return np.flatnonzero(gone)


def contained_pairs(
    left: Ints, right: Ints, starts: Ints, members: Array, holds: Callable[[Ints, Ints], Bools], *, known: int
) -> Ints:
    """The places of the pairs in which the right one has every member of the left one.

    `holds(members, rights)` says whether it has; it is not asked for the first `known` members.
    """
    pairs = np.arange(len(left))
    found, done, step = [np.zeros(0, dtype=np.intp)], known, 1
    sizes = starts[left + 1] - starts[left]
    for turn in range(2**31):
        ended = sizes[pairs] <= done
        found.append(pairs[ended])
        pairs = pairs[~ended]
        if not len(pairs):
            break
        step = min(step * 2, max(1, PAIRS_AT_A_TIME // len(pairs))) if turn > SINGLE_STEPS else 1
        count = np.minimum(step, sizes[pairs] - done)
        place = ragged(starts[left[pairs]] + done, count)
        has = holds(members[place], np.repeat(right[pairs], count))
        pairs = pairs[np.logical_and.reduceat(has, np.cumsum(count) - count)]
        done += step
    return np.concatenate(found)


def ragged(starts: Ints, count: Ints) -> Ints:
    """start, start + 1, ... for each start, as many as its count says, end to end."""
    ends = np.cumsum(count)
    places: Ints = np.repeat(starts - (ends - count), count) + np.arange(ends[-1] if len(ends) else 0)
    return places


def _parts_of(count: Ints) -> Iterator[slice]:
    """Runs of rows whose counts add up to about `PAIRS_AT_A_TIME`."""
    total = np.cumsum(count)
    first = 0
    while first < len(count):
        spent = total[first - 1] if first else 0
        last = max(first + 1, int(np.searchsorted(total, spent + PAIRS_AT_A_TIME, side="right")))
        yield slice(first, last)
        first = last
