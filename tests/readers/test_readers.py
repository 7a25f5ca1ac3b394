"""Trees of scikit-learn: what is read, and what is refused; that rules are the model's own leaves is a contract."""

from __future__ import annotations

from typing import Any

import foreign_reader
import numpy as np
import pytest
from sklearn.datasets import make_classification
from sklearn.ensemble import (
    BaggingClassifier,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.exceptions import NotFittedError
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeClassifier
from sklearn_models import all_leaf_rules

from rulecover import read_trees
from rulecover.exceptions import MismatchedDataError, UnreadableModelError
from rulecover.readers.thresholds import from_float32


def random_data(seed: int, *, missing: bool) -> tuple[np.ndarray, np.ndarray]:
    """Rows with ties, tiny and large values, 0/1 columns, and, if asked for, missing values."""
    rng = np.random.default_rng(seed)
    X, y = make_classification(120, 6, n_informative=4, n_classes=int(rng.integers(2, 4)), random_state=seed)
    X[:, 0] = np.round(X[:, 0], 1)
    X[:, 1] = X[:, 1] > 0
    X[:, 2] *= 10.0 ** rng.integers(-30, 30)
    if missing:
        X[rng.random(X.shape) < 0.15] = np.nan
    return X, y


def test_nan_is_routed_as_by_a_forest_that_never_saw_any() -> None:
    X, y = random_data(3, missing=False)
    forest = RandomForestClassifier(n_estimators=5, random_state=0).fit(X, y)
    X[np.random.default_rng(0).random(X.shape) < 0.3] = np.nan
    rules, tree, node = all_leaf_rules(read_trees(forest))
    np.testing.assert_array_equal(rules.apply(X).toarray(), forest.apply(X)[:, tree] == node)


def test_a_threshold_rewritten_for_float64_parts_all_doubles_as_float32_did() -> None:
    rng = np.random.default_rng(0)
    threshold = np.concatenate([rng.normal(size=20_000) * 10.0 ** rng.integers(-44, 37, 20_000), [0.0, -0.0, 1e-46]])
    largest = float(np.finfo(np.float32).max)
    threshold = np.concatenate([threshold, [largest, -largest, np.nextafter(largest, np.inf), 1e39, -1e39]])
    ours = from_float32(threshold)
    for steps in (-2, -1, 0, 1, 2):
        x = ours
        for _ in range(abs(steps)):
            x = np.nextafter(x, np.copysign(np.inf, steps))
        with np.errstate(over="ignore"):
            np.testing.assert_array_equal(x <= ours, x.astype(np.float32) <= threshold)


def test_a_tree_of_a_single_leaf_is_the_rule_that_always_holds() -> None:
    tree = DecisionTreeClassifier().fit([[1.0], [2.0]], [7, 7])
    rules, _, _ = all_leaf_rules(read_trees(tree))
    assert [str(rule) for rule in rules] == ["if always"]
    assert rules.apply(np.array([[5.0]])).toarray().all()


def test_paths_keep_repeated_comparisons_that_intervals_merge() -> None:
    X = np.arange(16.0)[:, None]
    tree = DecisionTreeClassifier().fit(X, np.arange(16) // 2)
    rules, _, _ = all_leaf_rules(read_trees(tree))
    assert rules.paths is not None
    assert (rules.lengths == 1).all()
    assert np.diff(rules.paths.offset).max() > 1
    inside = rules.accepted(X, along_paths=True) == 1
    np.testing.assert_array_equal(inside, rules.apply(X).toarray())


@pytest.mark.parametrize(
    "model",
    [
        DecisionTreeClassifier(),
        RandomForestClassifier(),
        BaggingClassifier(DecisionTreeClassifier()),
        FrozenEstimator(RandomForestClassifier()),
    ],
    ids=repr,
)
def test_an_unfitted_model_is_refused(model) -> None:
    with pytest.raises(NotFittedError):
        read_trees(model)


def test_what_is_no_tree_is_refused_with_a_list_of_what_can_be_read() -> None:
    X, y = random_data(0, missing=False)
    for model in (
        LogisticRegression(),
        object(),
        None,
        BaggingClassifier(LogisticRegression()),
    ):
        if hasattr(model, "fit"):
            model.fit(X / np.abs(X).max(axis=0), y)
        with pytest.raises(UnreadableModelError, match=r"no rules can be read .*RandomForest"):
            read_trees(model)


def test_several_outputs_are_refused() -> None:
    X, y = random_data(0, missing=False)
    forest = RandomForestClassifier(n_estimators=2).fit(X, np.column_stack([y, y]))
    with pytest.raises(UnreadableModelError, match="2 outputs"):
        read_trees(forest)


def test_regression_forests_can_be_read_too() -> None:
    X, _ = random_data(0, missing=False)
    forest = RandomForestRegressor(n_estimators=3, max_depth=4, random_state=0).fit(X, X[:, 0])
    rules, tree, node = all_leaf_rules(read_trees(forest))
    np.testing.assert_array_equal(rules.apply(X).toarray(), forest.apply(X)[:, tree] == node)


@pytest.mark.parametrize("reader", ["foreign_reader", foreign_reader], ids=["by name", "as an object"])
def test_a_reader_of_another_library_is_found_by_its_package(reader: Any) -> None:
    from rulecover import readers

    class Stump:
        """A model of a library that we know nothing of."""

    Stump.__module__ = "somewhere.models"
    with pytest.raises(UnreadableModelError, match=r"somewhere\.models"):
        read_trees(Stump())
    readers.register("somewhere", reader)
    try:
        assert read_trees(Stump()) == "the trees of a Stump"
    finally:
        readers._READERS.pop("somewhere")


@pytest.mark.parametrize("huge", [1e39, np.inf])
def test_numbers_beyond_float32_are_refused_with_a_way_out(huge: float) -> None:
    X, y = make_classification(50, 4, random_state=0)
    trees = read_trees(DecisionTreeClassifier(random_state=0).fit(X, y))
    with pytest.raises(MismatchedDataError, match="a value too large for float32; scale or clip that column"):
        trees.prepare(np.full((1, 4), huge))
