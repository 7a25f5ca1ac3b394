"""Trees as the kernels read them, walked here as the kernels walk them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import tables, trees

from rulecover.exceptions import UnreadableModelError
from rulecover.gpu.launch import in_order, not_above
from rulecover.gpu.trees import PackedTrees
from rulecover.trees.tree import Tree, TreeEnsemble

KINDS = st.sampled_from([np.float32, np.float64])


def ensemble_of(several: list[Tree]) -> TreeEnsemble:
    return TreeEnsemble(tuple(several), tuple(tree.apply for tree in several), lambda X: X, n_features=3)


def walked(packed: PackedTrees, t: int, row: np.ndarray) -> int:
    """The number of the row's leaf in tree t: what the kernel does, step by step."""
    nodes = packed.nodes[packed.first[t] : packed.first[t + 1]]
    place = 0
    while nodes["feature"][place] != np.iinfo(nodes.dtype["feature"]).max:
        column, missing_left = divmod(int(nodes["feature"][place]), 2)
        x = row[packed.columns[column]]
        left = bool(missing_left) if np.isnan(x) else in_order(np.array([x]))[0] <= nodes["threshold"][place]
        place = int(nodes["child"][place]) + (not left)
    return int(nodes["child"][place])


@given(st.lists(trees(), min_size=1, max_size=3), tables(), KINDS)
def test_packed_trees_lead_to_the_same_leaves(several: list[Tree], X: np.ndarray, kind: Any) -> None:
    packed = PackedTrees.of(ensemble_of(several), kind)
    for t, tree in enumerate(several):
        leaves = tree.leaves[[walked(packed, t, row.astype(kind)) for row in X]]
        assert leaves.tolist() == tree.apply(X.astype(kind)).tolist()


@given(st.lists(trees(), min_size=1, max_size=3))
def test_leaves_are_numbered_tree_by_tree(several: list[Tree]) -> None:
    packed = PackedTrees.of(ensemble_of(several), np.float32)
    assert np.diff(packed.first_leaf).tolist() == [len(tree.leaves) for tree in several]
    assert packed.most_nodes == max(len(tree.left) for tree in several)


@given(st.floats(allow_nan=False), st.floats(width=32, allow_nan=False))
def test_bounds_of_narrower_floats_keep_their_meaning(bound: float, x: float) -> None:
    narrow = not_above(np.array([bound]), np.float32)[0]
    assert (np.float32(x) <= narrow) == (x <= bound)


@given(st.lists(st.floats(allow_nan=False), min_size=2, max_size=2), KINDS)
def test_whole_numbers_have_the_order_of_the_floats(pair: list[float], kind: Any) -> None:
    with np.errstate(over="ignore"):
        one, other = np.array(pair).astype(kind)
    first, second = in_order(np.array([one, other])).tolist()
    assert (first <= second) == (one <= other)
    assert min(first, second) > np.iinfo(np.int32 if kind is np.float32 else np.int64).min  # which is for missing ones


def test_splits_on_categories_are_refused() -> None:
    tree = Tree(
        *map(np.array, ([0, -1, -1], [np.nan] * 3, [1, -1, -1], [2, -1, -1], [False] * 3)),
        category=np.array([0, -1, -1]),
        category_sets=(np.array([1.0]),),
    )
    with pytest.raises(UnreadableModelError, match="not supported on a GPU"):
        PackedTrees.of(ensemble_of([tree]), np.float32)
