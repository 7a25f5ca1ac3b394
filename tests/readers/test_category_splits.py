"""Splits on sets of categories: trees, rules, paths and text say the same of every row."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import tables, trees

from rulecover.data.categories import CategorySet, HashedCategories, category_name
from rulecover.data.city_hash import category_hash
from rulecover.data.columns import Columns
from rulecover.rules.rule import Clause
from rulecover.trees.tree import Leaves, Tree

NAMES = ("age", "colour", "shape")
COLOURS = ("red", "green", "blue", "white")
#: Trees with sets of categories and without.
TREES = st.lists(trees(len(NAMES), categories=True), min_size=1, max_size=3).map(tuple)


def leaf_of(tree: Tree, row: np.ndarray) -> int:
    """The meaning of a tree, spelled out."""
    node = 0
    while tree.left[node] >= 0:
        value, k = row[tree.feature[node]], -1 if tree.category is None else tree.category[node]
        if np.isnan(value):
            goes_left = tree.missing_left[node]
        else:
            goes_left = value in tree.category_sets[k].tolist() if k >= 0 else value <= tree.threshold[node]
        node = tree.left[node] if goes_left else tree.right[node]
    return int(node)


def all_leaves(trees: tuple[Tree, ...]) -> Leaves:
    tree = np.concatenate([np.full(len(t.leaves), k) for k, t in enumerate(trees)])
    return Leaves(trees, tree, np.concatenate([t.leaves for t in trees]), Columns(NAMES, {1: COLOURS}))


@pytest.mark.slow
@given(TREES, tables(len(NAMES)), st.data())
def test_rules_paths_and_tree_send_rows_to_the_same_leaf(
    some_trees: tuple[Tree, ...], X: np.ndarray, data: Any
) -> None:
    leaves = all_leaves(some_trees)
    expected = np.array([[leaf_of(tree, row) for tree in some_trees] for row in X])
    rules = leaves.rules()
    for k, tree in enumerate(some_trees):
        np.testing.assert_array_equal(tree.apply(X), expected[:, k])
    covered = expected[:, leaves.tree] == leaves.node
    np.testing.assert_array_equal(rules.apply(X).toarray(), covered)
    np.testing.assert_array_equal(rules.accepted(X, along_paths=True) == 1, covered)
    some = np.array(data.draw(st.lists(st.integers(0, len(rules) - 1), unique=True)), dtype=np.intp)
    np.testing.assert_array_equal(rules.take(some).accepted(X, along_paths=True) == 1, covered[:, some])


@given(TREES, TREES, tables(len(NAMES)))
def test_joined_rules_keep_their_sets_and_equal_ones_are_found(
    first: tuple[Tree, ...], second: tuple[Tree, ...], X: np.ndarray
) -> None:
    one, two = all_leaves(first).rules(), all_leaves(second).rules()
    both = one.join(two)
    expected = np.hstack([one.apply(X).toarray(), two.apply(X).toarray()])
    np.testing.assert_array_equal(both.apply(X).toarray(), expected)
    np.testing.assert_array_equal(both.accepted(X, along_paths=True) == 1, expected)
    assert both.take(np.arange(len(one))) == one
    twice = both.join(both)
    assert twice.clauses.first_of_equal().max() < len(both)


@pytest.mark.parametrize(
    ("chosen", "known", "missing", "text"),
    [
        (CategorySet((0.0, 2.0)), (), False, "colour in {0, 2}"),
        (CategorySet((0.0, 2.0), others=True), (), False, "colour not in {0, 2}"),
        (CategorySet((0.0, 2.0)), COLOURS, False, "colour in {red, blue}"),
        (CategorySet((0.0, 1.0, 2.0)), COLOURS, False, "colour ≠ white"),
        (CategorySet((0.0, 1.0, 2.0), others=True), COLOURS, True, "(colour = white or missing)"),
        (CategorySet((0.0, 1.0, 2.0, 3.0)), COLOURS, False, "colour in {red, green, blue, white}"),
        (CategorySet((1.0, 9.0)), COLOURS, False, "colour in {green, 9}"),
        (CategorySet(()), COLOURS, True, "colour is missing"),
        (CategorySet((), others=True), COLOURS, False, "colour is not missing"),
        (CategorySet((), others=True), COLOURS, True, "colour is anything"),
    ],
)
def test_sets_are_said_in_the_fewest_names(chosen, known, missing, text) -> None:
    assert str(Clause(1, "colour", missing=missing, categories=chosen, known=known)) == text


@pytest.mark.parametrize(
    ("category", "name"),
    [("red", "red"), ("", '""'), ("a, b", '"a, b"'), (" x", '" x"'), (2, "2"), (2.0, "2"), (0.5, "0.5"), ("é", "é")],
)
def test_a_name_that_would_not_stand_out_is_quoted(category: object, name: str) -> None:
    assert category_name(0.0, (category,)) == name


def test_rules_of_a_tree_name_the_categories() -> None:
    tree = Tree(
        feature=np.array([1, 0, 0]),
        threshold=np.zeros(3),
        left=np.array([1, -1, -1]),
        right=np.array([2, -1, -1]),
        missing_left=np.array([True, False, False]),
        category=np.array([0, -1, -1]),
        category_sets=(np.array([0.0, 2.0]),),
    )
    rules = all_leaves((tree,)).rules()
    assert [rule.text for rule in rules] == ["(colour in {red, blue} or missing)", "colour not in {red, blue}"]


def test_hashed_categories_are_recognised_and_named_by_the_data() -> None:
    model = HashedCategories((category_hash("red"), category_hash("7")))
    values = np.array(["red", 7, 7.0, np.nan, None, "green", "blue"], dtype=object)
    named = model.named(values)
    np.testing.assert_array_equal(model.codes(values), [0, 1, 1, np.nan, np.nan, -1, -1])
    np.testing.assert_array_equal(named.codes(values)[:5], model.codes(values)[:5])
    assert list(model) == [f"#{h}" for h in model.hashes]
    assert list(named) == ["red", "7", "blue", "green"]
    both = CategorySet((0.0, 1.0, 2.0))
    assert str(Clause(0, "colour", categories=both, known=named)) == "colour ≠ green"
    # Of a model alone nobody knows what else there is.
    one = CategorySet((0.0, 1.0))
    assert str(Clause(0, "colour", categories=one, known=HashedCategories((1, 2, 3)))) == "colour in {#1, #2}"
