"""Fields and nodes of model files: what is damaged is said with its place and the way out."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import DIGITS, tables, trees

from rulecover import read_trees
from rulecover.data.frames import ZERO
from rulecover.exceptions import DamagedModelError
from rulecover.readers.files import model_file
from rulecover.readers.files.building import MAX_DEPTH, Nodes, check_values
from rulecover.readers.files.fields import Field
from rulecover.readers.files.lightgbm_text import _next_to_zero
from rulecover.readers.files.xgboost_json import _column_categories
from rulecover.readers.sklearn.combined import Views
from rulecover.readers.sklearn.origins import NumberOrigin
from rulecover.readers.sklearn.rewriting import on_original_columns
from rulecover.trees.tree import Tree

WAY_OUT = "; the model file is damaged: save it again."


@pytest.mark.parametrize(
    ("value", "ask", "wanted"),
    [
        ([1], lambda field: field.get("a"), "an object"),
        ({}, iter, "a list"),
        ({}, len, "a list"),
        (1, lambda field: field.text(), "text"),
        (True, lambda field: field.whole(), "a whole number from 0 to 2147483647"),
        (-1, lambda field: field.whole(), "a whole number from 0 to 2147483647"),
        (2**31, lambda field: field.whole(), "a whole number from 0 to 2147483647"),
        ("12345678901", lambda field: field.whole(), "a whole number from 0 to 2147483647"),
        ("-1", lambda field: field.whole(), "a whole number from 0 to 2147483647"),
        ("²", lambda field: field.whole(), "a whole number from 0 to 2147483647"),
        (0, lambda field: field.whole(at_least=1), "a whole number from 1 to 2147483647"),
        (8, lambda field: field.whole(at_most=7), "a whole number from 0 to 7"),
        (1.5, lambda field: field.whole(), "a whole number from 0 to 2147483647"),
        (True, lambda field: field.number(), "a finite number"),
        (float("inf"), lambda field: field.number(), "a finite number"),
        pytest.param(10**400, lambda field: field.number(), "a finite number", id="a long number"),
        ([1, 2], lambda field: field.ints(3), "a list of 3 whole numbers, not 2"),
        ([1.5], lambda field: field.ints(), "a list of whole numbers"),
        ([[1]], lambda field: field.ints(), "a list of whole numbers"),
        ([[1], [2, 3]], lambda field: field.ints(), "a list of whole numbers"),
        ([True], lambda field: field.floats(), "a list of numbers"),
        (["a"], lambda field: field.floats(1), "a list of numbers"),
        (["a"], lambda field: field.texts(2), "a list of 2 texts, not 1"),
    ],
)
def test_a_field_that_is_something_else_is_shown_with_what_it_must_be(value: Any, ask: Any, wanted: str) -> None:
    with pytest.raises(DamagedModelError) as raised:
        ask(Field(value, "model.tree"))

    shown = repr(value) if len(repr(value)) <= 40 else repr(value)[:40] + "…"
    assert str(raised.value) == f"model.tree is {shown}, but must be {wanted}{WAY_OUT}"


def test_fields_are_read_by_name_place_and_type() -> None:
    field = Field.of_json('{"a": [1, 2.5], "n": "007", "t": ["x", "y"], "none": [], "bits": [true, 1]}', "file")

    assert [item.where for item in field["a"]] == ["file.a[0]", "file.a[1]"] and len(field["a"]) == 2
    assert field["a"].floats(2).tolist() == [1.0, 2.5] and field["n"].whole(at_least=7, at_most=7) == 7
    assert field["t"].texts(2) == field["t"].texts() == ("x", "y") and field.get("b") is None
    assert field["none"].ints().tolist() == [] and field["none"].ints(0).dtype == np.intp
    assert field["bits"].ints().tolist() == [1, 1] and Field(2, "x").number() == 2.0
    with pytest.raises(DamagedModelError, match=rf"^file has no 'b'{WAY_OUT}$"):
        field["b"]
    with pytest.raises(DamagedModelError, match=r"^file is not a complete JSON document: .*; save the model again\.$"):
        Field.of_json("{", "file")


def nodes(**changed: Any) -> Nodes:
    """A root that splits on a number, and whose left child splits on categories."""
    given: dict[str, Any] = {
        "where": "tree 3",
        "left": np.array([1, 3, -1, -1, -1]),
        "right": np.array([2, 4, -1, -1, -1]),
        "feature": np.array([0, 1, 0, 0, 0]),
        "threshold": np.array([0.5, np.nan, 0.0, 0.0, 0.0]),
        "missing_left": np.array([True, False, True, True, True]),
        "value": np.arange(5.0)[:, None],
        "category": np.array([-1, 0, -1, -1, -1]),
        "category_sets": (np.array([1.0, 2.0]),),
        "rewritten": lambda threshold: threshold + 1,
    }
    return Nodes(**(given | changed))


def test_nodes_become_a_tree() -> None:
    tree, number = nodes().tree(2)

    assert number.tolist() == [0, 1, 2, 3, 4]
    assert tree.feature.tolist() == [0, 1, 0, 0, 0] and tree.threshold.tolist() == [1.5, 0.0, 0.0, 0.0, 0.0]
    assert tree.left.tolist() == [1, 3, -1, -1, -1] and tree.right.tolist() == [2, 4, -1, -1, -1]
    assert tree.missing_left.tolist() == [True, False, False, False, False]
    assert tree.category.tolist() == [-1, 0, -1, -1, -1] and tree.value.ravel().tolist() == [0, 1, 2, 3, 4]


def test_nodes_that_were_cut_off_are_left_out() -> None:
    cut = nodes(left=np.array([2, 3, -1, -1, -1]), right=np.array([4, 4, -1, -1, -1]))

    with pytest.raises(DamagedModelError, match="a node has two parents"):
        cut.tree(2)
    cut = nodes(left=np.array([2, -1, -1, -1, -1]), right=np.array([4, -1, -1, -1, -1]))
    tree, number = cut.tree(2, n_deleted=2)
    assert number.tolist() == [0, -1, 1, -1, 2] and tree.category is None
    assert tree.left.tolist() == [1, -1, -1] and tree.value.ravel().tolist() == [0, 2, 4]


@pytest.mark.parametrize(
    ("changed", "n_features", "reason"),
    [
        ({}, 1, "a split is on a feature beyond the 1 of the model"),
        ({"feature": np.array([-1, 1, 0, 0, 0])}, 2, "a split is on a feature beyond the 2 of the model"),
        ({"category": np.array([-1, 1, -1, -1, -1])}, 2, "a split is on a set of categories that is not there"),
        ({"category": np.array([-2, 0, -1, -1, -1])}, 2, "a split is on a set of categories that is not there"),
        ({"threshold": np.full(5, np.nan)}, 2, "a threshold is not a number"),
        ({"left": np.array([1, -2, -1, -1, -1])}, 2, "a child has a negative number"),
        ({"right": np.array([2, -2, -1, -1, -1])}, 2, "a child has a negative number"),
        ({"left": np.array([5, 3, -1, -1, -1])}, 2, "a child is numbered beyond the 5 nodes, or is the root"),
        ({"left": np.array([0, 3, -1, -1, -1])}, 2, "a child is numbered beyond the 5 nodes, or is the root"),
        ({"left": np.array([2, 3, -1, -1, -1])}, 2, "a node has two parents"),
        (
            {"left": np.array([-1, 3, -1, -1, -1]), "right": np.array([-1, 4, -1, -1, -1])},
            2,
            "4 of 5 nodes cannot be reached, where 0 were cut off",
        ),
    ],
)
def test_what_is_not_a_tree_is_refused_with_the_reason(changed: dict[str, Any], n_features: int, reason: str) -> None:
    with pytest.raises(DamagedModelError) as raised:
        nodes(**changed).tree(n_features)

    assert str(raised.value) == f"tree 3 is not a tree: {reason}{WAY_OUT}"


@pytest.mark.parametrize("depth", [MAX_DEPTH - 1, MAX_DEPTH])
def test_trees_may_be_so_deep_and_no_deeper(depth: int) -> None:
    n = 2 * depth + 1
    inner = np.arange(n) < depth
    chain = Nodes(
        where="tree 0",
        left=np.where(inner, np.arange(n) + 1, -1),
        right=np.where(inner, np.arange(n) + depth + 1, -1),
        feature=np.zeros(n, dtype=np.intp),
        threshold=np.zeros(n),
        missing_left=np.zeros(n, dtype=bool),
        value=np.zeros((n, 1)),
        category=np.full(n, -1),
        category_sets=(),
        rewritten=lambda threshold: threshold,
    )

    if depth == MAX_DEPTH:
        with pytest.raises(DamagedModelError, match=f"it is more than {MAX_DEPTH} levels deep"):
            chain.tree(1)
    else:
        assert len(chain.tree(1)[0].left) == n


def test_values_of_leaves_are_finite() -> None:
    assert check_values("tree 1", np.array([1.0])).tolist() == [1.0]
    with pytest.raises(DamagedModelError) as raised:
        check_values("tree 1", np.array([np.inf]))
    assert str(raised.value) == f"tree 1: the value of a leaf is not finite{WAY_OUT}"


# Files --------------------------------------------------------------------------------------------------------------

WAYS = (
    "files that can be read: XGBoost's model.save_model('model.json'), LightGBM's booster.save_model('model.txt'), "
    "CatBoost's model.save_model('model.json', format='json')."
)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"\xff\xfe", f"model.bin is a binary file, or damaged; {WAYS}"),
        (b"trees", f"model.bin is not a model file that can be read; {WAYS}"),
        (b' {"a": 1}', f"model.bin is JSON, but not a model that can be read; {WAYS}"),
        (b"tree" * 10, "model.bin has 40 bytes, more than the limit of 39; use fewer trees."),
    ],
)
def test_what_is_not_a_model_file_is_refused(
    content: bytes, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "model.bin").write_bytes(content)
    monkeypatch.setattr(model_file, "MAX_BYTES", 39)

    with pytest.raises(DamagedModelError) as raised:
        read_trees(tmp_path / "model.bin")

    assert str(raised.value) == message


def test_a_threshold_next_to_zero_is_moved_to_where_numbers_begin_to_count() -> None:
    numbers = np.array([-1.0, -2e-35, -1e-35, -9e-36, -1e-300, 0.0, 1e-300, 9e-36, 1e-35, 2e-35, 1.0])
    for threshold in [*numbers, np.nextafter(ZERO, 0), np.nextafter(-ZERO, 0), np.nextafter(-ZERO, -1)]:
        seen = np.where(np.abs(numbers) <= ZERO, 0.0, numbers)
        np.testing.assert_array_equal(numbers <= _next_to_zero(np.array([threshold]))[0], seen <= threshold)


@pytest.mark.parametrize(
    ("column", "categories"),
    [
        ({"values": [3, 5]}, (3, 5)),
        ({"values": [114, 101, 100, 97], "offsets": [0, 3, 4]}, ("red", "a")),
        ({"values": [], "offsets": []}, ()),
        ({"values": [-61, 97], "offsets": [0, 2]}, ()),
    ],
)
def test_categories_of_xgboost_are_numbers_or_letters_between_places(column: Any, categories: tuple[Any, ...]) -> None:
    assert _column_categories(Field(column, "cats")) == categories


@pytest.mark.parametrize("places", [[1, 2], [0, 1], [0, 3, 2]])
def test_places_of_letters_must_be_in_order_and_take_all(places: list[int]) -> None:
    with pytest.raises(
        DamagedModelError, match=r"cats\.offsets is .*, but must be places in the text of the categories"
    ):
        _column_categories(Field({"values": [97, 98], "offsets": places}, "cats"))


def test_rows_that_several_models_take_are_chosen_together() -> None:
    some = Views((np.arange(4), 10 * np.arange(4)))[np.array([2, 0])]

    assert [view.tolist() for view in some.of] == [[2, 0], [20, 0]]


# Trees on the columns in front of a pipeline ------------------------------------------------------------------------


@pytest.mark.slow
@given(st.lists(trees(3, categories=True), min_size=1, max_size=3), tables(3), st.permutations(range(4)))
def test_trees_on_columns_that_come_from_elsewhere_send_rows_where_they_went(
    some: list[Tree], X: np.ndarray, order: list[int]
) -> None:
    wide = np.full((len(X), 4), 9.0)
    wide[:, order[:3]] = X

    moved, made = on_original_columns(some, [NumberOrigin(f) for f in order[:3]], 4)

    # A column that is split by numbers and by sets is made, after the four that are given.
    splits = [
        (tree.feature[node], tree.category is not None and tree.category[node] >= 0)
        for tree in some
        for node in np.flatnonzero(tree.left >= 0)
    ]
    kinds = {f: {by_set for feature, by_set in splits if feature == f} for f, _ in splits}
    assert sorted(made) == sorted(f for f, found in kinds.items() if len(found) == 2)
    rows = np.column_stack([wide, *(X[:, f] for f in made)])
    for tree, new in zip(some, moved, strict=True):
        np.testing.assert_array_equal(new.apply(rows), tree.apply(X))


@pytest.mark.slow
@given(trees(2, categories=True), tables(2, cells=DIGITS))
def test_columns_without_an_origin_are_made_and_those_that_are_always_made_come_first(
    tree: Tree, X: np.ndarray
) -> None:
    (moved,), made = on_original_columns([tree], [None, NumberOrigin(0)], 1, always=[1])

    assert made[0] == 1 and set(made) <= {0, 1}
    rows = np.column_stack([X[:, 1], *(X[:, f] for f in made)])
    np.testing.assert_array_equal(moved.apply(rows), tree.apply(X))
