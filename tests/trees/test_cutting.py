"""Trees without their small branches: still one leaf for each row, and none too small."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given
from hypothesis import strategies as st
from sklearn.tree import DecisionTreeRegressor
from strategies import DataSet, data_sets, trees

from rulecover.data.columns import Columns
from rulecover.readers import read_trees
from rulecover.trees.cutting import cut, without_small_branches
from rulecover.trees.tree import Leaves, Tree


def grown(seed: int, n: int = 60) -> tuple[Tree, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 8, size=(n, 3)).astype(float)
    y = rng.normal(size=n) + X[:, 0]
    tree = DecisionTreeRegressor(random_state=seed, max_features=2).fit(X, y)
    return read_trees(tree).trees[0], X, rng.integers(1, 4, n).astype(float)


def by_recursion(tree: Tree, X: np.ndarray, weight: np.ndarray, least: float) -> list[frozenset[int]]:
    """The samples of each leaf, by the rule in words."""

    def leaves(node: int, rows: np.ndarray) -> list[frozenset[int]]:
        if tree.left[node] < 0:
            return [frozenset(rows.tolist())]
        value = X[rows, tree.feature[node]]
        left = np.where(np.isnan(value), tree.missing_left[node], value <= tree.threshold[node])
        sides = weight[rows][left].sum(), weight[rows][~left].sum()
        if min(sides) >= least:
            return leaves(tree.left[node], rows[left]) + leaves(tree.right[node], rows[~left])
        return leaves(tree.left[node] if sides[0] >= sides[1] else tree.right[node], rows)

    return leaves(0, np.arange(len(X)))


@pytest.mark.slow
@given(tree=trees(), data=data_sets(), least=st.sampled_from([1, 2, 5, 11, 40]), weighted=st.booleans())
def test_a_cut_tree_has_the_leaves_of_the_rule_in_words(tree: Tree, data: DataSet, least: int, weighted: bool) -> None:
    check_cut(tree, data.X, data.weight if weighted else None, least)


@pytest.mark.slow
@given(data=data_sets(min_rows=5), least=st.sampled_from([1, 2, 5, 11, 40, 1000]), weighted=st.booleans())
def test_a_tree_that_was_grown_on_the_data_is_cut_in_the_same_way(data: DataSet, least: int, weighted: bool) -> None:
    tree = read_trees(DecisionTreeRegressor(random_state=0).fit(data.X, data.y)).trees[0]
    check_cut(tree, data.X, data.weight if weighted else None, least)


def check_cut(tree: Tree, X: np.ndarray, weight: np.ndarray | None, least: int) -> None:
    count = np.ones(len(X)) if weight is None else weight
    leaf = cut(tree, X, weight, least).apply(X)
    found = {frozenset(np.flatnonzero(leaf == node).tolist()) for node in np.unique(leaf)}
    assert found == set(by_recursion(tree, X, count, least))
    assert min(count[list(rows)].sum() for rows in found) >= min(least, count.sum())


def test_every_leaf_of_a_cut_tree_is_reached_and_its_rule_covers_what_it_holds() -> None:
    for seed in range(20):
        tree, X, _ = grown(seed)
        short = cut(tree, X, None, 7)
        leaf = short.apply(X)
        assert set(short.leaves) == set(leaf)
        nodes = short.leaves
        rules = Leaves((short,), np.zeros(len(nodes), dtype=int), nodes, Columns(("a", "b", "c"))).rules()
        np.testing.assert_array_equal(rules.apply(X).toarray(), leaf[:, None] == nodes)


def test_a_tree_without_small_branches_stays_as_it_is() -> None:
    tree, X, _ = grown(3)
    np.testing.assert_array_equal(cut(tree, X, None, 1).apply(X), tree.apply(X))
    lone = read_trees(DecisionTreeRegressor().fit(X[:1], [1.0])).trees[0]
    assert len(cut(lone, X, None, 5).left) == 1


@pytest.mark.parametrize("jobs", [None, 2])
def test_an_ensemble_is_cut_tree_by_tree_for_sparse_rows_too(jobs: int | None) -> None:
    _, X, _ = grown(4)
    model = DecisionTreeRegressor(random_state=0).fit(X, X[:, 0])
    short = without_small_branches(read_trees(model), X, None, 9, n_jobs=jobs)
    sparse = without_small_branches(read_trees(model), scipy.sparse.csr_array(X), None, 9, n_jobs=jobs)
    for one, two in zip(short.trees, sparse.trees, strict=True):
        np.testing.assert_array_equal(one.apply(X), two.apply(scipy.sparse.csr_array(X)))
