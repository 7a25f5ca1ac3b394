"""Local search for covers: ruin and recreate, and row weighting, on arrays of a small core of columns."""

from __future__ import annotations

import math
import random
import time

import numpy as np
import scipy.sparse

from rulecover.typing import Array, Bools, Floats, Ints

#: Costs closer than this are equal: sums of floats in another order must not look like a better cover.
EPSILON = 1e-9


class Core:
    """The columns that are searched, row by row and column by column."""

    def __init__(self, matrix: scipy.sparse.csc_array, cost: Floats, demand: Ints, duals: Floats) -> None:
        self.matrix = matrix
        self.n_rows, self.n_columns = matrix.shape
        self.n_entries = matrix.nnz
        self.cost = np.append(cost, np.inf)
        self.demand = demand
        self.duals = duals
        self.rows = np.split(matrix.indices.astype(np.intp), matrix.indptr[1:-1])
        by_row = matrix.tocsr()
        degree = np.diff(by_row.indptr)
        # Rows of equal length, filled up by a column that does not exist: one gather instead of a ragged one.
        self.columns: Array = np.full((self.n_rows, int(degree.max(initial=0))), self.n_columns, dtype=np.intp)
        self.columns[np.arange(self.columns.shape[1]) < degree[:, None]] = by_row.indices

    def count(self, rows: Ints) -> Ints:
        """Per column how many of these rows it covers (and one number more, for the column that does not exist)."""
        return np.bincount(self.columns[rows].ravel(), minlength=self.n_columns + 1)

    def sums(self, rows: Ints, values: Floats) -> Floats:
        """Per column the sum of the values of these rows."""
        weights = np.repeat(values[rows], self.columns.shape[1])
        out: Array = np.bincount(self.columns[rows].ravel(), weights=weights, minlength=self.n_columns + 1)
        return out

    def total(self, chosen: list[int]) -> float:
        return math.fsum(self.cost[chosen])


class Choice:
    """Chosen columns, and how often they cover each row."""

    def __init__(self, core: Core, chosen: list[int]) -> None:
        self.core = core
        self.chosen = list(chosen)
        self.taken = np.zeros(core.n_columns + 1, dtype=bool)
        self.taken[chosen] = True
        self.times = np.zeros(core.n_rows, dtype=np.intp)
        for column in chosen:
            self.times[core.rows[column]] += 1

    def add(self, column: int) -> None:
        self.chosen.append(column)
        self.taken[column] = True
        self.times[self.core.rows[column]] += 1

    def remove(self, column: int) -> None:
        self.chosen.remove(column)
        self.taken[column] = False
        self.times[self.core.rows[column]] -= 1

    def open_rows(self) -> Ints:
        return np.flatnonzero(self.times < self.core.demand)

    def per_chosen(self, values: Array, reduce: np.ufunc) -> Array:
        """The values of the rows of each chosen column, put together by `reduce`."""
        rows = [self.core.rows[column] for column in self.chosen]
        ends = np.cumsum([len(some) for some in rows])
        out: Array = reduce.reduceat(values[np.concatenate(rows)], np.concatenate([[0], ends[:-1]]))
        return out

    def take(self, column: int) -> Ints:
        """Adds a column; returns the rows whose demand it meets."""
        self.add(column)
        rows = self.core.rows[column]
        met: Ints = rows[self.times[rows] == self.core.demand[rows]]
        return met

    def fill(self, price: Floats) -> None:
        """Adds the column of least price per open row until none is open."""
        price = np.where(self.taken, np.inf, price)
        open_rows = self.open_rows()
        gain = self.core.count(open_rows)
        n_open = len(open_rows)
        while n_open:
            # A column of no gain has an infinite ratio, and so has one that is taken.
            column = int(np.argmin(price / gain))
            settled = self.take(column)
            price[column] = np.inf
            n_open -= len(settled)
            gain -= self.core.count(settled)

    def drop_redundant(self) -> None:
        """Drops each column, the most expensive first, if the rest meets every demand."""
        cost = self.core.cost
        spare = self.per_chosen(self.times - self.core.demand, np.minimum) if self.chosen else np.zeros(0)
        candidates = [column for column, least in zip(self.chosen, spare, strict=True) if least > 0]
        for column in sorted(candidates, key=lambda j: -float(cost[j])):
            rows = self.core.rows[column]
            if (self.times[rows] > self.core.demand[rows]).all():
                self.remove(column)

    def swap(self) -> None:
        """Exchanges a column for a cheaper one that covers what it alone covers, as long as there is one."""
        cost = self.core.cost
        for column in sorted(self.chosen, key=lambda j: -float(cost[j])):
            rows = self.core.rows[column]
            alone = rows[self.times[rows] == self.core.demand[rows]]
            fits = np.flatnonzero(self.core.count(alone)[:-1] == len(alone))
            fits = fits[(cost[fits] < cost[column] - EPSILON) & ~self.taken[fits]]
            if len(fits):
                self.remove(column)
                self.add(int(fits[np.argmin(cost[fits])]))


class LocalSearch:
    """A search that keeps its best cover; it repeats for equal seeds, unless the deadline ends it.

    Parameters
    ----------
    core
        Columns, rows and dual prices.
    start
        Columns that meet every demand.
    seed
        The seed of the random numbers.
    deadline
        When to stop, by `time.perf_counter`.
    """

    def __init__(self, core: Core, start: list[int], seed: int, deadline: float | None) -> None:
        self.core, self.deadline = core, deadline
        self.best, self.best_cost = list(start), core.total(start)
        self.random = random.Random(seed)
        self.noise = np.random.default_rng(seed)

    def out_of_time(self) -> bool:
        return self.deadline is not None and time.perf_counter() >= self.deadline

    def record(self, chosen: list[int]) -> bool:
        cost = self.core.total(chosen)
        if cost < self.best_cost - EPSILON:
            self.best, self.best_cost = sorted(chosen), cost
            return True
        return False

    def ruin_and_recreate(self, rounds: int) -> None:
        """Drops part of the cover and rebuilds it by a noisy greedy choice; slightly worse covers are accepted."""
        current, current_cost = self.best, self.best_cost
        for _ in range(rounds):
            if self.out_of_time():
                return
            choice = Choice(self.core, current)
            self._ruin(choice)
            if self.random.random() < 0.5:
                self._recreate_by_ratio(choice)
            else:
                self._recreate_by_duals(choice)
            choice.drop_redundant()
            cost = self.core.total(choice.chosen)
            if cost <= 1.02 * self.best_cost:
                choice.swap()
                choice.drop_redundant()
                cost = self.core.total(choice.chosen)
            self.record(choice.chosen)
            if cost < current_cost - 0.005 * self.best_cost * math.log(max(self.random.random(), 1e-12)):
                current, current_cost = sorted(choice.chosen), cost

    def _ruin(self, choice: Choice) -> None:
        """Removes two columns to 60 %: at random, or those that share most rows with the columns of some row."""
        n = len(choice.chosen)
        n_drop = min(n, self.random.randint(2, max(2, int(0.6 * n))))
        if self.random.random() < 0.5:
            dropped = self.random.sample(choice.chosen, n_drop)
        else:
            around = self.core.columns[self.random.randrange(self.core.n_rows)]
            near = np.zeros(self.core.n_rows, dtype=bool)
            for column in around[: self.core.columns.shape[1]].tolist():
                if column < self.core.n_columns:
                    near[self.core.rows[column]] = True
            shared = choice.per_chosen(near.astype(np.float64), np.add).tolist()
            jitter = [value + self.random.random() for value in shared]
            order = sorted(range(n), key=lambda place: -jitter[place])
            dropped = [choice.chosen[place] for place in order[:n_drop]]
        for column in dropped:
            choice.remove(column)

    def _recreate_by_ratio(self, choice: Choice) -> None:
        choice.fill(self.core.cost * (1 + 0.3 * self.noise.random(self.core.n_columns + 1)))

    def _recreate_by_duals(self, choice: Choice) -> None:
        """The greedy choice by reduced cost under perturbed duals of the rows still open."""
        core = self.core
        duals = core.duals * (0.5 + self.noise.random(core.n_rows))
        open_rows = choice.open_rows()
        gain = core.count(open_rows)
        reduced = core.cost - core.sums(open_rows[core.duals[open_rows] > 0], duals)
        n_open = len(open_rows)
        while n_open:
            score = np.where(reduced > 0, reduced / gain, reduced * gain)
            score[(gain == 0) | choice.taken] = np.inf
            score[-1] = np.inf
            settled = choice.take(int(np.argmin(score)))
            n_open -= len(settled)
            if n_open:
                gain -= core.count(settled)
                reduced += core.sums(settled[core.duals[settled] > 0], duals)

    def row_weighting(self, steps: int) -> None:
        """Removes and adds columns by the weights of the rows they cover; rows that stay open grow heavier."""
        core = self.core
        choice = Choice(core, self.best)
        cost = self.best_cost
        weight = np.ones(core.n_rows)
        stamp = np.zeros(core.n_columns + 1, dtype=np.intp)
        added: set[int] = set()
        n_open = 0
        for step in range(1, steps + 1):
            if self.out_of_time():
                return
            while not n_open:
                if self.record(choice.chosen):
                    cost = self.best_cost
                cost -= self._remove_lightest(choice, weight, stamp, set(), step)
                n_open = len(choice.open_rows())
            if any(column not in added for column in choice.chosen):
                cost -= self._remove_lightest(choice, weight, stamp, added, step)
            added = set()
            open_rows = choice.open_rows()
            while len(open_rows):
                row = int(open_rows[self.random.randrange(len(open_rows))])
                columns = core.columns[row]
                affordable = core.cost[columns] < self.best_cost - cost - EPSILON
                columns = columns[affordable & (stamp[columns] != step) & ~choice.taken[columns]]
                if not len(columns):
                    break
                column = self._heaviest(columns, open_rows, weight, stamp)
                choice.add(column)
                added.add(column)
                stamp[column] = step
                cost += float(core.cost[column])
                open_rows = open_rows[choice.times[open_rows] < core.demand[open_rows]]
            weight[open_rows] += 1
            n_open = len(open_rows)

    def _remove_lightest(self, choice: Choice, weight: Floats, stamp: Ints, kept: set[int], step: int) -> float:
        core = self.core
        alone = np.where(choice.times == core.demand, weight, 0.0)
        loss = choice.per_chosen(alone, np.add) / core.cost[choice.chosen]
        for place, column in enumerate(choice.chosen):
            if column in kept:
                loss[place] = np.inf
        lightest = np.flatnonzero(loss == loss.min()).tolist()
        column = min((choice.chosen[place] for place in lightest), key=lambda j: (stamp[j], j))
        choice.remove(column)
        stamp[column] = step
        return float(core.cost[column])

    def _heaviest(self, columns: Ints, open_rows: Ints, weight: Floats, stamp: Ints) -> int:
        gain = self.core.sums(open_rows, weight)[columns] / self.core.cost[columns]
        heaviest = columns[gain == gain.max()].tolist()
        return int(min(heaviest, key=lambda j: (stamp[j], j)))


def core_columns(
    matrix: scipy.sparse.csc_array,
    score: Floats,
    keep: Ints,
    *,
    per_row: int = 10,
    near: float = 0.1,
    at_least: int,
) -> Ints:
    """Columns of low score: the best few of each row, all below `near`, those to `keep`, and enough others."""
    order = np.argsort(score, kind="stable")
    by_score = matrix[:, order].tocsr()
    by_score.sort_indices()
    place = np.arange(by_score.nnz) - np.repeat(by_score.indptr[:-1], np.diff(by_score.indptr))
    chosen: Bools = score < near
    chosen[order[by_score.indices[place < per_row]]] = True
    chosen[keep] = True
    missing = at_least - int(chosen.sum())
    if missing > 0:
        chosen[order[~chosen[order]][:missing]] = True
    return np.flatnonzero(chosen)
