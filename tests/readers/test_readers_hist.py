"""Histogram gradient boosting: rules agree with its own predictors, with categories, NaN and infinities."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from sklearn.exceptions import NotFittedError
from test_readers import all_leaf_rules
from test_readers_ensembles import random_rows, target

from rulecover import read_trees

COLOURS = np.array(["red", "green", "blue", "dark, red"], dtype=object)


def grown(rng: np.random.Generator, task: str, **settings: Any) -> Any:
    kind = HistGradientBoostingRegressor if task == "regression" else HistGradientBoostingClassifier
    sizes = {"max_iter": int(rng.integers(1, 4)), "max_leaf_nodes": int(rng.integers(2, 9)), "min_samples_leaf": 3}
    return kind(**sizes, max_bins=int(rng.integers(32, 255)), early_stopping=False, random_state=0, **settings)


def leaves_by_the_model(model: Any, X: Any) -> np.ndarray:
    """The node of each row in each tree, told by the model's own compiled predictors."""
    prepared = model._preprocess_X(X, reset=False)
    bitsets = model._bin_mapper.make_known_categories_bitsets()
    leaves = []
    for predictor in (predictor for iteration in model._predictors for predictor in iteration):
        nodes = predictor.nodes.copy()
        nodes["value"] = np.arange(len(nodes))
        numbered = type(predictor)(nodes, predictor.binned_left_cat_bitsets, predictor.raw_left_cat_bitsets)
        leaves.append(numbered.predict(np.asarray(prepared, dtype=np.float64), *bitsets, n_threads=1))
    return np.column_stack(leaves).astype(int)


def numeric_probes(ensemble: Any, X: np.ndarray, rng: np.random.Generator, columns: Any) -> np.ndarray:
    """Rows with values on each threshold of these columns and one ulp beside, zeros, infinities and NaN."""
    pairs = [
        (f, t)
        for tree in ensemble.trees
        for f, t in zip(tree.feature[tree.left >= 0], tree.threshold[tree.left >= 0], strict=True)
        if f in columns
    ]
    values = [(f, x) for f, t in pairs for x in (t, np.nextafter(t, -np.inf), np.nextafter(t, np.inf), np.float32(t))]
    values += [(f, x) for f in columns for x in (0.0, -0.0, np.inf, -np.inf, np.nan, 1e308)]
    rows = X[rng.integers(0, len(X), len(values))].copy()
    for row, (f, x) in zip(rows, values, strict=True):
        row[f] = x
    return rows


def assert_rules_are_leaves(model: Any, ensemble: Any, given: Any, matrix: np.ndarray) -> None:
    leaves = leaves_by_the_model(model, given)
    rules, of, node = all_leaf_rules(ensemble)
    np.testing.assert_array_equal(rules.apply(matrix).toarray(), leaves[:, of] == node)
    prepared = ensemble.prepare(matrix)
    for k, (tree, route) in enumerate(zip(ensemble.trees, ensemble.routes, strict=True)):
        np.testing.assert_array_equal(tree.apply(matrix), leaves[:, k])
        np.testing.assert_array_equal(route(prepared), leaves[:, k])


@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # of the model itself, which bins infinities by quantiles
def test_rules_of_random_models_on_numbers_are_their_leaves(n_models: int) -> None:
    for seed in range(n_models):
        rng = np.random.default_rng(seed)
        task = ("binary", "multi-class", "regression")[seed % 3]
        X = random_rows(rng, missing=seed % 2 == 0)
        if seed % 5 == 0:
            X[rng.random(X.shape) < 0.05] = np.inf
        y = target(rng, np.where(np.isinf(X), 9.0, X), task)
        model = grown(rng, task).fit(X, y)
        ensemble = read_trees(model)
        probes = np.vstack([X, numeric_probes(ensemble, X, rng, range(4))])
        assert_rules_are_leaves(model, ensemble, probes, probes)
        single = probes.astype(np.float32)
        assert_rules_are_leaves(model, ensemble, single, single)


def test_rules_of_random_models_on_category_numbers_are_their_leaves(n_models: int) -> None:
    for seed in range(n_models):
        rng = np.random.default_rng(seed)
        task = ("binary", "multi-class", "regression")[seed % 3]
        X = random_rows(rng, missing=seed % 2 == 0)
        X[:, 2] = rng.integers(0, 30, len(X))
        X[:, 0] = rng.choice([-3.0, 0.0, 0.5, 7.0, np.nan], len(X))
        y = target(rng, X, task)
        model = grown(rng, task, categorical_features=[0, 2] if seed % 4 else [2]).fit(X, y)
        ensemble = read_trees(model)
        strange = X[rng.integers(0, len(X), 40)].copy()
        strange[:, 2] = rng.choice([31.0, -1.0, 0.5, 256.0, 257.0, -0.0, np.nan], 40)
        strange[:, 0] = rng.choice([-3.0, -0.0, 1.0, np.nan], 40)
        probes = np.vstack([X, strange, numeric_probes(ensemble, X, rng, [1, 3])])
        assert ensemble.columns is not None
        assert_rules_are_leaves(model, ensemble, probes, ensemble.matrix(probes))


def test_rules_of_random_models_on_frames_with_labels_are_their_leaves(n_models: int) -> None:
    for seed in range(n_models):
        rng = np.random.default_rng(seed)
        task = ("binary", "multi-class", "regression")[seed % 3]
        X = random_rows(rng, missing=seed % 2 == 0)
        frame = pd.DataFrame(X[:, 1:], columns=["b", "c", "d"])
        labels = rng.choice(COLOURS, len(X))
        labels[rng.random(len(X)) < 0.1] = None
        frame.insert(int(rng.integers(0, 4)), "colour", pd.Categorical(labels))
        frame["size"] = pd.Categorical(rng.integers(3, 7, len(X)))
        y = target(rng, X, task) + (labels == "red") * (task == "regression")
        model = grown(rng, task).fit(frame, y)
        ensemble = read_trees(model)
        strange = frame.astype({"colour": object, "size": object}).sample(30, replace=True, random_state=seed)
        strange["colour"] = rng.choice(np.array(["pink", None, "blue", "dark, red"], dtype=object), 30)
        strange["size"] = rng.choice(np.array([3, 99, 6], dtype=object), 30)
        assert ensemble.columns is not None and "colour" in (ensemble.feature_names or ())
        for given in (frame, strange):
            assert_rules_are_leaves(model, ensemble, given, ensemble.matrix(given))


def test_leaf_values_add_up_to_the_model_s_raw_predictions() -> None:
    rng = np.random.default_rng(0)
    X = random_rows(rng, missing=True)
    y = target(rng, X, "multi-class")
    model = grown(rng, "multi-class").fit(X, y)
    ensemble = read_trees(model)
    assert ensemble.output is not None
    raw = np.tile(np.ravel(model._baseline_prediction), (len(X), 1))
    for tree, route, k in zip(ensemble.trees, ensemble.routes, ensemble.output, strict=True):
        assert tree.value is not None
        raw[:, k] += tree.value[route(ensemble.prepare(X)), 0]
    np.testing.assert_allclose(raw, model.decision_function(X))


def test_an_untrained_model_is_not_read() -> None:
    with pytest.raises(NotFittedError):
        read_trees(HistGradientBoostingClassifier())
