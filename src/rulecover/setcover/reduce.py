"""Exact reductions: a smaller covering problem with the same least cost."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import scipy.sparse

from rulecover.coverage import Coverage
from rulecover.setcover.problem import CoveringProblem
from rulecover.typing import Array, Bools, Floats, Ints

#: The table of samples by blocks is four bytes a cell; beyond this many cells only equal samples are merged.
MAX_CELLS = 250_000_000
#: Pairs of columns, or of rows, that are compared at a time.
PAIRS_AT_A_TIME = 1_000_000
#: One row of each pair is compared at a time this often, then twice as many each time: most pairs die at once.
SINGLE_STEPS = 24


@dataclass(frozen=True, eq=False)
class Reduced:
    """What is left of a covering problem, and the way back.

    Some best cover of the problem consists of the `forced` rules and of a best choice among `rules`.

    Parameters
    ----------
    problem
        The problem that was reduced.
    samples, rules
        Which samples and rules of the problem are left: the rows and columns of `matrix`.
    matrix
        Samples by rules, 0/1.
    cost, demand
        Of what is left; the demand is what the forced rules leave open.
    forced
        Rules that every cover of the reduced problem needs, because some sample has no choice.
    forcing
        Samples without choice, from which the need of the forced rules can be proved.

    Examples
    --------
    >>> problem = CoveringProblem(Coverage.of_masks([[1, 1, 0], [0, 1, 0], [0, 0, 1]]), cost=[1.0, 1.5, 1.0])
    >>> left = reduced(problem)
    >>> left.rules.tolist(), left.forced.tolist()
    ([], [0, 2])
    """

    problem: CoveringProblem
    samples: Ints
    rules: Ints
    matrix: scipy.sparse.csc_array
    cost: Floats
    demand: Ints
    forced: Ints
    forcing: Ints

    @property
    def shape(self) -> tuple[int, int]:
        return len(self.samples), len(self.rules)

    @property
    def forced_cost(self) -> float:
        return float(self.problem.cost[self.forced].sum())

    def lift(self, columns: Ints) -> Ints:
        """The rules of the problem that a choice of columns stands for, the forced ones with them."""
        return np.sort(np.concatenate([self.forced, self.rules[columns]])).astype(np.intp)

    def places(self, rules: Ints) -> Ints:
        """The columns that stand for those of the rules that are still there."""
        place = np.full(self.problem.n_rules, -1, dtype=np.intp)
        place[self.rules] = np.arange(len(self.rules))
        found = place[rules]
        return found[found >= 0]


def reduced(problem: CoveringProblem, *, rules: Ints | None = None, deadline: float | None = None) -> Reduced:
    """The problem after every reduction below, repeated until none applies.

    - Equal samples (the same rules cover them) are merged; the largest demand stays.
    - A rule goes if rules that cover all its samples at no higher cost are as many as its most demanding sample
      asks for. With a demand of 1 that is the dominance of one column by another; with more, one dominating rule is
      not enough, since each rule counts once and both may be needed.
    - A sample goes if another with as large a demand is covered by some of the same rules and no others.
    - The rules of a sample with no more rules than it demands are forced.

    Parameters
    ----------
    problem
        The covering problem.
    rules
        Only these rules may be chosen (all by default); they must be able to meet every demand.
    deadline
        Where `time.perf_counter` must end it; what was found until then is valid all the same.

    Notes
    -----
    The work is about one comparison for each sample and block, and for each rule and block; memory is four bytes for
    each (merged) sample and block. Where that table would have more than `MAX_CELLS` cells, only equal samples are
    merged.
    """
    allowed = np.arange(problem.n_rules) if rules is None else np.sort(np.asarray(rules, dtype=np.intp))
    coverage = problem.coverage if rules is None else problem.coverage.take(allowed)
    samples = _distinct(coverage, problem.demand)
    if len(samples) * len(coverage.blocks) > MAX_CELLS or (deadline is not None and time.perf_counter() >= deadline):
        return _merged(problem, samples, allowed, coverage)
    table = _Table(coverage.among(samples), problem.cost[allowed], problem.demand[samples], deadline)
    table.shrink()
    kept = np.flatnonzero(table.alive[:-1])
    return Reduced(
        problem=problem,
        samples=samples[table.rows],
        rules=allowed[kept],
        matrix=table.matrix()[:, kept],
        cost=problem.cost[allowed[kept]],
        demand=table.need,
        forced=allowed[np.array(sorted(table.forced), dtype=np.intp)],
        forcing=samples[np.array(table.forcing, dtype=np.intp)],
    )


def _merged(problem: CoveringProblem, samples: Ints, allowed: Ints, coverage: Coverage) -> Reduced:
    """The problem with equal samples merged, and nothing else."""
    none = np.zeros(0, dtype=np.intp)
    matrix = coverage.among(samples).to_sparse()
    kept = np.flatnonzero(np.diff(matrix.indptr))
    rules, demand = allowed[kept], problem.demand[samples]
    return Reduced(problem, samples, rules, matrix[:, kept], problem.cost[rules], demand, forced=none, forcing=none)


def _distinct(coverage: Coverage, demand: Ints) -> Ints:
    """One sample, of the largest demand, of each set of samples that the same rules cover.

    They come in the order of their hashes, which what covers them decides: so the order of the rows has no say in
    anything that follows.
    """
    rng = np.random.default_rng(0)
    keys = rng.integers(1, np.iinfo(np.uint64).max, size=coverage.n_rules, dtype=np.uint64)
    hashes = np.zeros(coverage.n_samples, dtype=np.uint64)
    for block in coverage.blocks:
        hashes += block.lookup(keys)
    order = np.lexsort((-demand, hashes))
    first = np.ones(len(order), dtype=bool)
    first[1:] = hashes[order[1:]] != hashes[order[:-1]]
    stands_for = np.empty_like(order)
    stands_for[order] = order[first][np.cumsum(first) - 1]
    # A collision of hashes is next to impossible, and a cover that misses a sample because of one must be so too.
    equal = np.ones(len(order), dtype=bool)
    for block in coverage.blocks:
        equal &= block.ids == block.ids[stands_for]
    kept = (stands_for == np.arange(len(order))) | ~equal
    distinct: Ints = order[kept[order]]
    return distinct


class _Table:
    """The rule of each sample in each block, shrunk in place.

    Rule b covers row r if ``cell[r, block_of[b]] == b``: one comparison, in a table as small as the coverage itself.
    A cell that no rule covers holds the number of rules, a column that is never alive.
    """

    def __init__(self, coverage: Coverage, cost: Floats, demand: Ints, deadline: float | None) -> None:
        n_rules = coverage.n_rules
        self.cost, self.need, self.deadline = cost, demand.copy(), deadline
        self.block_of = np.zeros(n_rules, dtype=np.intp)
        self.cell: Array = np.empty((coverage.n_samples, len(coverage.blocks)), dtype=np.int32)
        for b, block in enumerate(coverage.blocks):
            self.block_of[block.rules] = b
            self.cell[:, b] = np.concatenate([[n_rules], block.rules])[block.ids]
        self.rows = np.arange(coverage.n_samples)
        self.alive: Bools = np.append(coverage.sizes > 0, False)
        self.forced: set[int] = set()
        self.forcing: list[int] = []

    def matrix(self) -> scipy.sparse.csc_array:
        """Rows that are left by all columns (of those gone nothing is left)."""
        lives = self.alive[self.cell]
        starts = np.concatenate([[0], np.cumsum(lives.sum(axis=1))])
        shape = (len(self.cell), len(self.alive) - 1)
        flat = self.cell[lives]
        return scipy.sparse.csr_array((np.ones(len(flat), dtype=bool), flat, starts), shape=shape).tocsc()

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
            lost_a_column = np.isin(self.cell, gone).any(axis=1)
            rows = self._dominated_rows(np.flatnonzero(lost_a_column | everything))
            lost_a_row[:] = False
            lost_a_row[self.cell[rows]] = True
            self._drop(rows)
            self._force()
            everything = len(self.forced) > n_forced
            if (not everything and not len(rows)) or self._out_of_time():
                return

    def _out_of_time(self) -> bool:
        return self.deadline is not None and time.perf_counter() >= self.deadline

    def _drop(self, rows: Ints) -> None:
        if len(rows):
            self.cell = np.delete(self.cell, rows, axis=0)
            self.need, self.rows = np.delete(self.need, rows), np.delete(self.rows, rows)

    def _force(self) -> None:
        """Takes the columns of rows that have no more of them than they need."""
        while len(no_choice := np.flatnonzero(self.alive[self.cell].sum(axis=1) == self.need)):
            self.forcing.extend(self.rows[no_choice].tolist())
            columns = np.unique(self.cell[no_choice])
            columns = columns[self.alive[columns]]
            self.forced.update(columns.tolist())
            self.need = self.need - np.isin(self.cell, columns).sum(axis=1)
            self.alive[columns] = False
            self._drop(np.flatnonzero(self.need <= 0))
        useful = np.zeros(len(self.alive), dtype=bool)
        useful[self.cell] = True
        self.alive &= useful

    def _dominated_columns(self, touched: Bools) -> Ints:
        """Columns with as many dominating ones as their neediest row asks for.

        A best cover with the most columns early in the order of `rank` has, with a column, all that dominate it:
        else exchange them. If these are enough for every row of the column, it is not needed: so all such columns
        can go at once.
        """
        self._sort_rows()
        matrix = self.matrix()
        starts, rows = matrix.indptr.astype(np.intp), matrix.indices
        sizes = np.diff(starts)
        rank = np.full(len(self.alive), len(self.alive), dtype=np.int32)
        rank[np.lexsort((-sizes, self.cost))] = np.arange(len(sizes))
        sizes = np.append(sizes, 0)
        columns = np.flatnonzero(touched[:-1])
        neediest = np.zeros(len(sizes), dtype=np.intp)
        nonempty = np.flatnonzero(self.alive[:-1])
        if len(nonempty):
            neediest[nonempty] = np.maximum.reduceat(self.need[rows], starts[nonempty])
        gone = [np.zeros(0, dtype=np.intp)]
        for some in _parts(len(columns), self.cell.shape[1]):
            if self._out_of_time():
                break
            own = columns[some]
            other = self.cell[rows[starts[own]]]
            place, slot = np.nonzero((rank[other] < rank[own, None]) & (sizes[other] >= sizes[own, None]))
            left, right = own[place], other[place, slot].astype(np.intp)
            survive = self._contained(left, right, starts, rows)
            dominators = np.bincount(place[survive], minlength=len(own))
            gone.append(own[dominators >= neediest[own]])
        return np.concatenate(gone)

    def _sort_rows(self) -> None:
        # The first row of each column is then its row with the fewest columns, and names the fewest candidates.
        order = np.argsort(self.alive[self.cell].sum(axis=1), kind="stable")
        self.cell, self.need, self.rows = self.cell[order], self.need[order], self.rows[order]

    def _contained(self, left: Ints, right: Ints, starts: Ints, rows: Array) -> Ints:
        """The places of the pairs in which the right column covers every row of the left one."""
        pairs = np.arange(len(left))
        contained, done, step = [np.zeros(0, dtype=np.intp)], 1, 1
        sizes = starts[left + 1] - starts[left]
        for turn in range(2**31):
            ended = sizes[pairs] <= done
            contained.append(pairs[ended])
            pairs = pairs[~ended]
            if not len(pairs):
                break
            step = min(step * 2, max(1, PAIRS_AT_A_TIME // len(pairs))) if turn > SINGLE_STEPS else 1
            count = np.minimum(step, sizes[pairs] - done)
            ends = np.cumsum(count)
            place = np.repeat(starts[left[pairs]] + done - (ends - count), count) + np.arange(ends[-1])
            b = np.repeat(right[pairs], count)
            holds = self.cell[rows[place], self.block_of[b]] == b
            pairs = pairs[np.logical_and.reduceat(holds, ends - count)]
            done += step
        return np.concatenate(contained)

    def _dominated_rows(self, some: Ints) -> Ints:
        """Rows k for which a row i, of `some`, needs as much and has only columns that k has too."""
        matrix = self.matrix()
        starts, rows = matrix.indptr.astype(np.intp), matrix.indices
        sizes = np.append(np.diff(starts), np.iinfo(np.intp).max)
        sizes[~self.alive] = sizes[-1]
        degree = self.alive[self.cell].sum(axis=1)
        rank = np.empty(len(degree), dtype=np.intp)
        rank[np.lexsort((-self.need, degree))] = np.arange(len(degree))
        rarest = self.cell[some, np.argmin(sizes[self.cell[some]], axis=1)] if len(some) else some
        gone = np.zeros(len(degree), dtype=bool)
        count = sizes[rarest]
        for part in _parts_of(count):
            if self._out_of_time():
                break
            own = np.repeat(some[part], count[part])
            ends = np.cumsum(count[part])
            place = np.repeat(starts[rarest[part]] - (ends - count[part]), count[part]) + np.arange(len(own))
            other = rows[place].astype(np.intp)
            fits = (rank[own] < rank[other]) & (self.need[own] >= self.need[other])
            own, other = own[fits], other[fits]
            for slot in range(self.cell.shape[1]):
                mine = self.cell[own, slot]
                fits = ~self.alive[mine] | (self.cell[other, slot] == mine)
                own, other = own[fits], other[fits]
            gone[other] = True
        return np.flatnonzero(gone)


def _parts(n: int, width: int) -> Iterator[slice]:
    step = max(1, PAIRS_AT_A_TIME // max(1, width))
    return (slice(first, first + step) for first in range(0, n, step))


def _parts_of(count: Ints) -> Iterator[slice]:
    """Runs of rows whose counts add up to about `PAIRS_AT_A_TIME`."""
    total = np.cumsum(count)
    first = 0
    while first < len(count):
        spent = total[first - 1] if first else 0
        last = max(first + 1, int(np.searchsorted(total, spent + PAIRS_AT_A_TIME, side="right")))
        yield slice(first, last)
        first = last
