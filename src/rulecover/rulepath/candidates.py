"""Rules to choose from, evaluated on samples: the nodes of all trees, or rules that are there already."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse

from rulecover.clock import is_late
from rulecover.coverage import smallest_uint
from rulecover.parallel import map_tasks
from rulecover.rules.applied import applied_in_time
from rulecover.rules.ruleset import RuleSet
from rulecover.trees.tree import Leaves, Tree, TreeEnsemble
from rulecover.typing import Bools, Floats, Ints, UInts

#: (row, tree) pairs that are summed at a time: as whole numbers they stay in the processor's cache.
_PAIRS = 1 << 18
#: The same where many columns are summed at once.
_PAIRS_OF_COLUMNS = 1 << 20
#: From this many columns on they are summed at once.
_MANY_COLUMNS = 4

#: From this many rows on candidates lie deeper by default; and with fewer for more than two classes, but not for many.
_MANY_ROWS, _MANY_CLASSES = 2000, 9


@dataclass(frozen=True, eq=False)
class Candidates:
    """Rules to choose from: nodes of trees, each a range of the cells that its tree cuts the samples into.

    A rule that comes from no tree is a tree of its own with two cells, the samples that it covers and the others. A
    cell is a leaf, or a node at the depth limit. Cells are numbered from left to right, tree after tree, so that
    every node owns the cells ``first[j]:last[j]``, and sums over all nodes are differences of one running sum. Behind
    the cells of each tree there is an empty one, which takes the sum of its tree off again: the running sum begins
    every tree at zero, and stays exact.

    Parameters
    ----------
    cells
        The cell of each sample in each tree, rows x trees.
    tree, first, last
        The tree and the cells of each candidate.
    empty
        The empty cell behind each tree.
    source
        Where the candidates are in the trees, or the rules.
    weight
        What each sample counts; whole numbers, or rounded by `rulecover.coverage.addable`, so that sums are exact.
    """

    cells: UInts
    tree: Ints
    first: Ints
    last: Ints
    empty: Ints
    source: Leaves | RuleSet
    weight: Floats | None = None

    def __len__(self) -> int:
        return len(self.first)

    @property
    def n_samples(self) -> int:
        return len(self.cells)

    @property
    def n_cells(self) -> int:
        """The number of cells of all trees, the empty ones included."""
        return int(self.empty[-1]) + 1

    def take(self, rules: Ints) -> Candidates:
        """Some of the candidates, in the order given."""
        return replace(
            self,
            tree=self.tree[rules],
            first=self.first[rules],
            last=self.last[rules],
            source=self.source.take(rules),
        )

    def among(self, rows: Ints, *, min_samples: int) -> Candidates:
        """The candidates as they are on some of the samples, without those that cover too few of these, or all."""
        weight = None if self.weight is None else self.weight[rows]
        return _that_tell_apart(replace(self, cells=self.cells[rows], weight=weight), min_samples)

    @cached_property
    def total(self) -> float:
        """The (weighted) number of samples."""
        return float(self.n_samples if self.weight is None else self.weight.sum())

    @cached_property
    def sizes(self) -> Floats:
        """The (weighted) number of samples of each candidate."""
        return self.overlap(np.ones(self.n_samples, dtype=bool))

    def covered(self, rule: int) -> Bools:
        """Which samples a candidate covers."""
        mine = self.cells[:, self.tree[rule]]
        return np.asarray((mine >= self.first[rule]) & (mine < self.last[rule]))

    def overlap(self, covered: Bools) -> Floats:
        """The (weighted) number of these samples that each candidate covers."""
        count = np.zeros(self.n_cells)
        for rows in _pieces(np.flatnonzero(covered), self.cells.shape[1], _PAIRS):
            count += self._counts(self.cells[rows], None if self.weight is None else self.weight[rows])
        return self.over_nodes(count)

    def sums(self, values: Floats) -> Floats:
        """The (weighted) sum of each column of `values` over the samples of each candidate, candidates x columns."""
        weighted = values if self.weight is None else values * self.weight[:, None]
        out = np.empty((values.shape[1], len(self)))
        if values.shape[1] < _MANY_COLUMNS:
            for mine, column in zip(out, self._cell_counts(weighted), strict=True):
                mine[:] = self.over_nodes(column)
            return out.T
        # Two columns are one of complex numbers, which are added and taken as quickly as others.
        for at, pair in enumerate(self._cell_sums(weighted).view(np.complex128).T):
            both = self.over_nodes(pair)
            for mine, column in zip(out[2 * at : 2 * at + 2], (both.real, both.imag), strict=False):
                mine[:] = column
        return out.T

    def sums_of(self, rules: Ints, values: Floats) -> Floats:
        """The same for some of the candidates."""
        weighted = values if self.weight is None else values * self.weight[:, None]
        out = np.zeros((values.shape[1], len(rules)))
        first, width = (cells[rules].astype(self.cells.dtype) for cells in (self.first, self.last - self.first))
        step = max(1, _PAIRS // max(1, len(rules)))
        for start in range(0, self.n_samples, step):
            mine = self.cells[start : start + step].take(self.tree[rules], axis=1)
            inside = mine - first < width  # a cell before the first is far behind: there are no negative numbers
            out += weighted[start : start + step].T @ inside.astype(np.float64)
        return out.T

    def _cell_counts(self, values: Floats) -> Floats:
        """The sum of each column over the samples of each cell, columns x cells: column by column."""
        out = np.zeros((values.shape[1], self.n_cells))
        for rows in _pieces(np.arange(self.n_samples), self.cells.shape[1], _PAIRS):
            for k, column in enumerate(values[rows].T):
                out[k] += self._counts(self.cells[rows], column)
        return out

    def _cell_sums(self, values: Floats) -> Floats:
        """The same for all columns at once, cells x an even number of columns, the last of which may be empty.

        It is a product with the matrix of which sample is in which cells.
        """
        odd = values.shape[1] % 2
        values = np.pad(values, ((0, 0), (0, odd))) if odd else values
        if self.cells.size <= _PAIRS_OF_COLUMNS:
            return np.asarray(self._all_in_cells @ values)
        out = np.zeros((self.n_cells, values.shape[1]))
        for rows in _pieces(np.arange(self.n_samples), self.cells.shape[1], _PAIRS_OF_COLUMNS):
            out += self._in_cells(rows) @ values[rows]
        return out

    def _in_cells(self, rows: Ints | slice) -> scipy.sparse.csc_array:
        """Which of some samples is in which cells, cells x samples."""
        cells = self.cells[rows]
        starts = np.arange(0, cells.size + 1, cells.shape[1])
        numbers = cells.ravel().astype(np.int32)
        return scipy.sparse.csc_array((np.ones(cells.size), numbers, starts), shape=(self.n_cells, len(cells)))

    @cached_property
    def _all_in_cells(self) -> scipy.sparse.csc_array:
        """The same for all samples, where they are few."""
        return self._in_cells(slice(None))

    def _counts(self, cells: UInts, weight: Floats | None) -> Floats:
        each = None if weight is None else np.repeat(weight, cells.shape[1])
        return np.bincount(cells.ravel(), weights=each, minlength=self.n_cells).astype(np.float64, copy=False)

    def over_nodes(self, per_cell: Floats) -> Floats:
        """From the sum at each cell, which is changed, to the sum over each candidate."""
        per_cell[self.empty] = -per_cell[: self.empty[0]].sum()
        running = np.zeros(len(per_cell) + 1, dtype=per_cell.dtype)
        np.cumsum(per_cell, out=running[1:])
        return np.asarray(running[self.last] - running[self.first])

    def rules(self) -> RuleSet:
        """The candidates, written out."""
        return self.source if isinstance(self.source, RuleSet) else self.source.rules()

    def distinct(self, order: Ints) -> Ints:
        """One candidate of those that cover the same samples, the one that stands first in `order`."""
        bits = 52 - int(self.n_samples).bit_length()
        marks = np.random.default_rng(0).integers(0, 2**bits, size=(self.n_samples, 2)).astype(np.float64)
        sums = replace(self, weight=None).sums(marks)[order]
        alike = np.lexsort(sums.T)
        first = np.ones(len(alike), dtype=bool)
        first[1:] = (sums[alike[1:]] != sums[alike[:-1]]).any(axis=1)
        return np.sort(order[alike[first]])


def _pieces(rows: Ints, n_trees: int, pairs: int) -> Iterator[Ints]:
    step = max(1, pairs // n_trees)
    return (rows[start : start + step] for start in range(0, len(rows), step))


def node_candidates(
    ensemble: TreeEnsemble,
    X: Any,
    weight: Floats | None,
    feature_names: tuple[str, ...],
    *,
    max_depth: int,
    min_samples: int,
    deadline: float | None = None,
    n_jobs: int | None = None,
) -> Candidates:
    """Every node but the roots down to a depth that covers enough samples.

    Trees that are not begun by the deadline, by `time.perf_counter`, are left out, but for the first.
    """
    ensemble, prepared = ensemble.prepared_in_time(X, deadline)
    grid = _NodeCells.of(ensemble.trees, max_depth)
    number = smallest_uint(int(grid.empty[-1]))

    def cells_in(tree: int) -> UInts | None:
        if tree and is_late(deadline):
            return None
        column: UInts = grid.cell[grid.root[tree] + ensemble.routes[tree](prepared)].astype(number)
        return column

    cells = np.empty((X.shape[0], len(ensemble.trees)), dtype=number)
    n_read = 0
    for column in map_tasks(cells_in, range(len(ensemble.routes)), n_jobs=n_jobs):
        if column is None:
            break
        cells[:, n_read] = column
        n_read += 1
    if n_read < len(ensemble.trees):  # the cells of the first trees are the same without the others
        grid, cells = _NodeCells.of(ensemble.trees[:n_read], max_depth), cells[:, :n_read]
    all_nodes = grid.candidates(cells, ensemble, feature_names, weight)
    return _that_tell_apart(all_nodes, min_samples)


def nodes_to_choose_from(
    ensemble: TreeEnsemble, feature_names: tuple[str, ...], *, max_depth: int
) -> tuple[Candidates, Ints]:
    """Every node but the roots down to a depth, without samples; and the cell of each node of all trees."""
    grid = _NodeCells.of(ensemble.trees, max_depth)
    nothing = np.zeros((0, len(ensemble.trees)), dtype=np.uint32)
    return grid.candidates(nothing, ensemble, feature_names, None), grid.cell


def rule_candidates(
    rules: RuleSet, X: Any, weight: Floats | None, *, min_samples: int, deadline: float | None = None
) -> Candidates:
    """Rules that are there already and cover enough samples: the first ones, if there is no time to apply them all."""
    covered = _covered_in_time(rules, X, deadline)
    rules = rules.take(np.arange(min(len(rules), covered.shape[1])))
    outside = np.arange(0, 3 * covered.shape[1], 3)
    cells = covered.astype(smallest_uint(3 * covered.shape[1]))
    cells += outside.astype(cells.dtype)
    one_by_one = np.arange(len(rules))
    inside = outside[one_by_one] + 1
    candidates = Candidates(cells, one_by_one, inside, inside + 1, outside + 2, rules, weight)
    return _that_tell_apart(candidates, min_samples)


def _covered_in_time(rules: RuleSet, X: Any, deadline: float | None) -> Bools:
    """Which samples each rule covers that there is time for, samples x rules; without rules, none."""
    if not len(rules):
        return np.zeros((X.shape[0], 1), dtype=bool)
    return np.hstack([part.toarray() for part in applied_in_time(rules, X, deadline)])


def usual_depth(n_samples: float, n_classes: int) -> int:
    """How deep candidates lie: deep rules pay where there are enough rows to tell good ones from lucky ones.

    Parameters
    ----------
    n_samples
        The (weighted) number of samples.
    n_classes
        The number of classes, 0 for regression; with three to eight, or with numbers, there is more to be told apart
        than with two, and with more each class has few rows, and each candidate takes long to judge.

    >>> usual_depth(500, 2), usual_depth(5000, 2), usual_depth(500, 8), usual_depth(500, 9)
    (4, 8, 8, 6)
    """
    if round(n_samples) >= _MANY_ROWS:
        return 8
    if n_classes == 2:
        return 4
    return 6 if n_classes >= _MANY_CLASSES else 8


def _that_tell_apart(candidates: Candidates, min_samples: int) -> Candidates:
    """Those that cover enough samples, by weight, and not all of them."""
    sizes = candidates.sizes
    return candidates.take(np.flatnonzero((sizes >= min_samples) & (sizes < candidates.total)))


@dataclass(frozen=True, eq=False)
class _NodeCells:
    """The nodes of all trees in one table, each with its depth, its first cell and its number of cells.

    Parameters
    ----------
    root
        The place of each tree's root.
    inside
        Whether a node is within the depth limit; one below it has the cell of its last ancestor within.
    empty
        The empty cell behind each tree.
    """

    root: Ints
    depth: Ints
    inside: Bools
    cell: Ints
    width: Ints
    empty: Ints

    def candidates(
        self, cells: UInts, ensemble: TreeEnsemble, feature_names: tuple[str, ...], weight: Floats | None
    ) -> Candidates:
        """Every node but the roots within the depth limit, on samples that are in these cells."""
        kept = np.flatnonzero(self.inside & (self.depth > 0))
        tree = np.searchsorted(self.root, kept, side="right") - 1
        nodes = Leaves(ensemble.trees, tree, kept - self.root[tree], ensemble.columns_named(feature_names))
        first = self.cell[kept]
        return Candidates(cells, tree, first, first + self.width[kept], self.empty, nodes, weight)

    @classmethod
    def of(cls, trees: tuple[Tree, ...], max_depth: int) -> _NodeCells:
        sizes = [len(tree.left) for tree in trees]
        root = np.concatenate([[0], np.cumsum(sizes)[:-1]]).astype(np.intp)
        left = np.concatenate([np.where(t.left >= 0, t.left + at, -1) for t, at in zip(trees, root, strict=True)])
        right = np.concatenate([np.where(t.left >= 0, t.right + at, -1) for t, at in zip(trees, root, strict=True)])
        depth = np.zeros(len(left), dtype=np.intp)
        parents: list[Ints] = []
        level = root
        while (inner := level[left[level] >= 0]).size:
            parents.append(inner)
            level = np.concatenate([left[inner], right[inner]])
            depth[level] = len(parents)
        width = np.ones(len(left), dtype=np.intp)
        for inner in reversed(parents[:max_depth]):
            width[inner] = width[left[inner]] + width[right[inner]]
        cell = np.zeros(len(left), dtype=np.intp)
        empty = np.cumsum(width[root] + 1) - 1
        cell[root] = empty - width[root]
        for inner in parents:
            cell[left[inner]] = cell[inner]
            cell[right[inner]] = cell[inner] + np.where(depth[inner] < max_depth, width[left[inner]], 0)
        return cls(root, depth, depth <= max_depth, cell, width, empty)
