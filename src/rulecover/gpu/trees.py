"""Trees as the kernels read them, and the leaf of each row in each of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from rulecover.coverage import smallest_uint
from rulecover.exceptions import UnreadableModelError
from rulecover.gpu.launch import THREADS, DeviceRows, blocks_for, in_order, kernel, not_above, shared_bytes
from rulecover.rules.clauses import offsets
from rulecover.trees.tree import Tree, TreeEnsemble
from rulecover.typing import Array, Floats, Ints


@dataclass(frozen=True, eq=False)
class PackedTrees:
    """The nodes of all trees end to end, the two children of a node side by side.

    Parameters
    ----------
    nodes
        Threshold (see `in_order`), feature and child of each node, in the bytes that the kernels read.
    first, first_leaf
        Where the nodes, and the leaves, of each tree begin, and where those of the last one end.
    columns
        The columns that are split on; features are twice the place among them, plus 1 if missing values go left.
    zero_missing
        The columns in which 0 counts as missing.
    """

    nodes: Array
    first: Ints
    first_leaf: Ints
    columns: Ints
    zero_missing: tuple[int, ...] = ()

    @classmethod
    def of(cls, ensemble: TreeEnsemble, kind: Any) -> PackedTrees:
        """The trees of an ensemble, for rows of this type of float."""
        if any(tree.category is not None for tree in ensemble.trees):
            raise UnreadableModelError(
                "the model splits on categories, which is not supported on a GPU; give the rows as a NumPy array."
            )
        columns, trees = ensemble.used_columns, ensemble.trees
        largest = max([2 * len(columns), *(len(tree.left) for tree in trees)])
        index = np.uint16 if largest < np.iinfo(np.uint16).max else np.uint32
        order = np.int32 if np.dtype(kind) == np.float32 else np.int64
        node = np.dtype([("threshold", order), ("feature", index), ("child", index)], align=True)
        nodes = np.concatenate([_level_by_level(tree, columns, kind, node) for tree in trees])
        first, leaves = ([len(tree.left) for tree in trees], [len(tree.leaves) for tree in trees])
        return cls(nodes, offsets(first), offsets(leaves), columns, ensemble.zero_missing)

    @property
    def most_nodes(self) -> int:
        """The number of nodes of the largest tree."""
        return int(np.diff(self.first).max())

    @property
    def most_leaves(self) -> int:
        """The number of leaves of the tree that has most."""
        return int(np.diff(self.first_leaf).max())


def _level_by_level(tree: Tree, columns: Ints, kind: Any, node: Any) -> Array:
    """The nodes of one tree, from the root down, so that the two children of a node are side by side."""
    out = np.zeros(len(tree.left), dtype=node)
    number = np.zeros(len(tree.left), dtype=np.intp)
    number[tree.leaves] = np.arange(len(tree.leaves))
    level, first = np.zeros(1, dtype=np.intp), 0
    while level.size:
        here = slice(first, first + len(level))
        inner = tree.left[level] >= 0
        parents, places = level[inner], first + np.flatnonzero(inner)
        first += len(level)
        out["threshold"][here] = in_order(not_above(tree.threshold[level], kind))
        out["feature"][here] = np.iinfo(node["feature"]).max
        out["feature"][places] = 2 * np.searchsorted(columns, tree.feature[parents]) + tree.missing_left[parents]
        out["child"][here] = number[level]
        out["child"][places] = first + 2 * np.arange(len(parents))
        level = np.column_stack([tree.left[parents], tree.right[parents]]).ravel()
    return out


def leaves_of_rows(X: Any, packed: PackedTrees) -> Any:
    """For each tree and row the number of its leaf in the tree, from 0; trees x rows, on the device."""
    import cupy as cp

    n_trees, leaf = len(packed.first) - 1, smallest_uint(packed.most_leaves - 1)
    ids = cp.empty((n_trees, len(X)), dtype=leaf)
    if not len(X):
        return ids
    rows, size = DeviceRows(X, packed.columns, packed.zero_missing), packed.nodes.dtype.itemsize
    held = min(packed.most_nodes, (shared_bytes() - rows.tile) // size)  # larger trees are read where they are
    trees = cp.asarray(packed.nodes.view(np.uint8)), cp.asarray(packed.first.astype(np.int32)), np.int32(n_trees)
    launch = kernel("leaves_of_rows", Value=X.dtype, Index=packed.nodes.dtype["child"], Leaf=leaf)
    arguments = (*rows.arguments, *trees, np.int32(held), ids)
    launch((rows.blocks,), (rows.threads,), arguments, shared_mem=rows.tile + held * size)
    return ids


def class_sums(ids: Any, first: Any, y: Any, n_classes: int, weight: Any = None) -> Floats:
    """The number, or the weight, of the rows of each class at each leaf of every tree, leaves x classes.

    Parameters
    ----------
    ids
        The number of each row's leaf in its tree, trees x rows.
    first
        Where the leaves of each tree begin, and where those of the last one end.
    y
        The class of each row, by number.
    n_classes
        How many classes there are.
    weight
        What each row counts; 1 by default.
    """
    import cupy as cp

    kind, total = ("uint32", "uint64") if weight is None else ("float64", "float64")
    sums = cp.zeros((int(first[-1]), n_classes), dtype=total)
    here, memory = sums_per_block(int(np.diff(first).max()) * n_classes, kind)
    given = np.int64(ids.shape[1]), y, np.intp(0) if weight is None else weight, np.int32(n_classes)
    launch = kernel("class_sums", Leaf=ids.dtype, Class=y.dtype, Sum=kind, Total=total)
    grid = max(1, blocks_for(ids.shape[1]) // min(8, len(ids))), len(ids)
    launch(
        grid, (THREADS,), (ids, *given, cp.asarray(np.asarray(first, dtype=np.int32)), here, sums), shared_mem=memory
    )
    return np.asarray(sums.get(), dtype=np.float64)


def sums_per_block(entries: int, kind: str) -> tuple[Any, int]:
    """How many sums a block may keep in shared memory, and the bytes that they take; none if these are too many."""
    size = entries * np.dtype(kind).itemsize
    return (np.int32(entries), size) if size <= shared_bytes() // 2 else (np.int32(0), 0)
