"""Trees without their small branches: fewer, larger leaves, and so fewer rules."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import scipy.sparse

from rulecover.clock import is_late
from rulecover.parallel import map_tasks
from rulecover.rules.clauses import blank_zeros
from rulecover.trees.tree import Tree, TreeEnsemble
from rulecover.typing import Floats, Ints


def without_small_branches(
    ensemble: TreeEnsemble,
    X: Any,
    weight: Floats | None,
    least: float,
    *,
    deadline: float | None = None,
    n_jobs: int | None = None,
) -> TreeEnsemble:
    """The same trees without the splits that would separate samples of less than this total weight.

    Where one side of a split is too small, the split is left out and all its samples continue on the larger side, so
    every tree still has one leaf for each row, and no rule has a clause that only a few rows fail. Trees that are not
    begun by the deadline, by `time.perf_counter`, are left out, but for the first.
    """
    ensemble.take(np.arange(1)).prepare(X)  # raises if the model does not take such rows
    blanked = partial(_blanked, ensemble.zero_missing)
    rows = blanked(X)

    def without(tree: int) -> Tree | None:
        return None if tree and is_late(deadline) else cut(ensemble.trees[tree], rows, weight, least)

    each = list(map_tasks(without, range(len(ensemble.trees)), n_jobs=n_jobs))
    trees = tuple(tree for tree in each if tree is not None)
    done = ensemble.take(np.flatnonzero([tree is not None for tree in each]))
    routes: tuple[Callable[[Any], Ints], ...] = tuple(tree.apply for tree in trees)
    plain = replace(done, prepare=blanked, prepare_first=None, keeps_columns=True, encodes=False)
    return replace(plain, trees=trees, routes=routes)


def _blanked(columns: tuple[int, ...], X: Any) -> Any:
    """Rows as our trees take them: NaN where 0 counts as missing."""
    if not columns:
        return X
    X = np.array(X.toarray() if scipy.sparse.issparse(X) else X, dtype=np.float64)
    for f in columns:
        blank_zeros(X[:, f])
    return X


def cut(tree: Tree, X: Any, weight: Floats | None, least: float) -> Tree:
    """The tree without splits that have less than `least` of the weight on one side; see `without_small_branches`.

    >>> ends = np.array([-1, -1])
    >>> left, right = np.append(1, ends), np.append(2, ends)
    >>> split = Tree(np.zeros(3, int), np.array([5.0, 0, 0]), left, right, np.zeros(3, bool))
    >>> X = np.arange(10.0)[:, None]
    >>> len(cut(split, X, None, 4).leaves), len(cut(split, X, None, 5).leaves)
    (2, 1)
    """
    count = np.ones(X.shape[0]) if weight is None else weight
    goes_on = np.arange(len(tree.left))  # itself where the node stays, the larger child where its split is left out
    stays = np.zeros(len(tree.left), dtype=bool)
    node = np.zeros(X.shape[0], dtype=np.intp)
    moving = np.arange(X.shape[0]) if tree.left[0] >= 0 else np.zeros(0, dtype=np.intp)
    while moving.size:
        at = node[moving]
        to_left = tree.goes_left(X, moving, at)
        total = np.bincount(at, weights=count[moving], minlength=len(stays))
        left = np.bincount(at[to_left], weights=count[moving][to_left], minlength=len(stays))
        here = np.flatnonzero(np.bincount(at, minlength=len(stays)))
        large = np.minimum(left, total - left)[here] >= least
        stays[here[large]] = True
        small = here[~large]
        goes_on[small] = np.where(2 * left[small] >= total[small], tree.left[small], tree.right[small])
        node[moving] = np.where(stays[at], np.where(to_left, tree.left[at], tree.right[at]), goes_on[at])
        moving = moving[tree.left[node[moving]] >= 0]
    return _rewired(tree, stays, _ends(goes_on))


def _ends(goes_on: Ints) -> Ints:
    """Where each chain of nodes ends."""
    while (further := goes_on[goes_on]).tolist() != goes_on.tolist():
        goes_on = further
    return goes_on


def _rewired(tree: Tree, stays: Ints, end: Ints) -> Tree:
    """The tree of the splits that stay, and the leaves that they lead to."""
    inner = np.flatnonzero(stays)
    kept = np.unique(np.concatenate([end[:1], inner, end[tree.left[inner]], end[tree.right[inner]]]))
    kept = np.concatenate([end[:1], kept[kept != end[0]]])  # the root is node 0
    place = np.full(len(end), -1, dtype=np.intp)
    place[kept] = np.arange(len(kept))
    each = {name: value[kept] for name, value in vars(tree).items() if isinstance(value, np.ndarray)}
    each["left"] = np.where(stays[kept], place[end[tree.left[kept]]], -1)
    each["right"] = np.where(stays[kept], place[end[tree.right[kept]]], -1)
    return replace(tree, **each)
