"""The values of leaves, from which weights of rules are made: they add up to the scores of the library."""

from __future__ import annotations

from typing import Any

import catboost
import lightgbm
import numpy as np
import pytest
import xgboost
from sklearn.compose import ColumnTransformer
from sklearn.datasets import load_diabetes, load_iris
from sklearn.ensemble import (
    AdaBoostClassifier,
    GradientBoostingRegressor,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
    VotingClassifier,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder
from sklearn.tree import DecisionTreeClassifier

from rulecover import read_trees
from rulecover.exceptions import UnreadableModelError
from rulecover.readers.catboost import numbers

D, NUMBERS = load_diabetes(return_X_y=True)
X, CLASSES = load_iris(return_X_y=True)
LGBM = {"n_estimators": 6, "num_leaves": 5, "verbose": -1, "min_child_samples": 5, "random_state": 0}
XGB = {"max_depth": 2, "objective": "reg:squarederror", "seed": 0}


def scores(model: Any, rows: np.ndarray) -> np.ndarray:
    """What the leaves of a model add for each row, rows x outputs."""
    ensemble = read_trees(model)
    outputs = np.zeros(len(ensemble.trees), dtype=int) if ensemble.output is None else ensemble.output
    width = max(int(outputs.max()) + 1, *(tree.value.shape[1] for tree in ensemble.trees))
    added = np.zeros((len(rows), width))
    for tree, output in zip(ensemble.trees, outputs, strict=True):
        np.testing.assert_array_equal(tree.left == -1, tree.right == -1)
        value = tree.value[tree.apply(np.asarray(rows, dtype=float))]
        added[:, slice(None) if output < 0 else [output]] += value
    return added


def assert_add_up(model: Any, rows: np.ndarray, raw: np.ndarray) -> None:
    """Leaves and scores differ by a constant for each output, where the library begins."""
    found = scores(model, rows)
    rest = raw.reshape(len(rows), -1) - found
    assert np.ptp(found, axis=0).min() > 1e-3
    np.testing.assert_allclose(rest, np.tile(rest[:1], (len(rows), 1)), atol=1e-4)


@pytest.mark.parametrize("booster", ["gbtree", "dart"])
def test_leaves_of_xgboost_add_up(booster: str) -> None:
    drops = {"rate_drop": 0.5, "one_drop": 1} if booster == "dart" else {}
    settings = XGB | {"booster": booster, **drops}
    model = xgboost.train(settings, xgboost.DMatrix(D, NUMBERS / 100), num_boost_round=6)

    assert_add_up(model, D, model.predict(xgboost.DMatrix(D), output_margin=True))


def test_leaves_of_several_outputs_of_xgboost_add_up() -> None:
    targets = np.column_stack([NUMBERS, NUMBERS**2 / 100, -NUMBERS]) / 100
    settings = XGB | {"multi_strategy": "multi_output_tree", "tree_method": "hist"}
    model = xgboost.train(settings, xgboost.DMatrix(D, targets), num_boost_round=4)

    assert_add_up(model, D, model.predict(xgboost.DMatrix(D), output_margin=True))


def test_leaves_of_classes_of_xgboost_add_up() -> None:
    settings = {"max_depth": 2, "objective": "multi:softprob", "num_class": 3, "seed": 0}
    model = xgboost.train(settings, xgboost.DMatrix(X, CLASSES), num_boost_round=4)

    assert_add_up(model, X, model.predict(xgboost.DMatrix(X), output_margin=True))


@pytest.mark.parametrize(("kind", "rounds"), [("gbdt", 6), ("rf", 6), ("rf", 1), ("dart", 6)])
def test_leaves_of_lightgbm_add_up(kind: str, rounds: int) -> None:
    settings = LGBM | {"boosting_type": kind, "n_estimators": rounds, "subsample": 0.7, "subsample_freq": 1}
    model = lightgbm.LGBMRegressor(**settings).fit(D, NUMBERS / 100)

    assert_add_up(model, D, model.predict(D))  # of a forest their mean


def test_leaves_of_classes_of_lightgbm_add_up() -> None:
    model = lightgbm.LGBMClassifier(**LGBM).fit(X, CLASSES)

    assert_add_up(model, X, model.booster_.predict(X, raw_score=True))


def test_leaves_of_catboost_add_up() -> None:
    settings = {"iterations": 5, "depth": 2, "verbose": False, "random_seed": 0, "allow_writing_files": False}
    regressor = catboost.CatBoostRegressor(**settings).fit(D, NUMBERS / 100)
    classifier = catboost.CatBoostClassifier(**settings).fit(X, CLASSES)

    assert_add_up(regressor, D, regressor.predict(D))
    assert_add_up(classifier, X, classifier.predict(X, prediction_type="RawFormulaVal"))


@pytest.mark.parametrize("loss", ["RMSE", "Poisson", "Tweedie:variance_power=1.5"])
def test_counts_of_catboost_are_no_logarithms(loss: str) -> None:
    settings = {"iterations": 3, "depth": 2, "verbose": False, "random_seed": 0, "allow_writing_files": False}
    model = catboost.CatBoostRegressor(loss_function=loss, **settings).fit(D, NUMBERS / 100)

    np.testing.assert_allclose(numbers(model, D), model.predict(D))


def test_leaves_of_scikit_learn_add_up() -> None:
    boosting = GradientBoostingRegressor(n_estimators=5, max_depth=2, random_state=0).fit(D, NUMBERS / 100)
    hist = HistGradientBoostingClassifier(max_iter=4, max_leaf_nodes=5, random_state=0).fit(X, CLASSES)

    found = scores(boosting, D)  # its leaves are added times the learning rate
    rest = boosting.predict(D) - 0.1 * found[:, 0]
    factor = 1.0 if np.ptp(rest) > 1e-6 else 0.1
    np.testing.assert_allclose(boosting.predict(D) - factor * found[:, 0], boosting.init_.constant_[0, 0], atol=1e-9)
    assert_add_up(hist, X, hist._raw_predict(X))


def test_members_of_an_ensemble_have_its_weights() -> None:
    trees = [(str(depth), DecisionTreeClassifier(max_depth=depth, random_state=0)) for depth in (1, 2, 3)]
    forest = RandomForestClassifier(2, max_depth=2, random_state=0)
    votes = VotingClassifier([*trees, ("forest", forest)], voting="soft", weights=[3, 1, 2, 5]).fit(X, CLASSES)
    some = VotingClassifier(trees, voting="soft", weights=[3, 1, 2]).set_params(**{"2": "drop"}).fit(X, CLASSES)
    boosted = AdaBoostClassifier(DecisionTreeClassifier(max_depth=2), n_estimators=4, random_state=0).fit(X, CLASSES)

    weight = read_trees(votes).weight
    np.testing.assert_allclose(weight / weight[1], [3, 1, 2, 2.5, 2.5] if weight[3] < 5 else [3, 1, 2, 5, 5])
    np.testing.assert_allclose(read_trees(some).weight, [3, 2])
    given = boosted.estimator_weights_[: len(boosted.estimators_)]
    np.testing.assert_allclose(read_trees(boosted).weight, given)
    plain = VotingClassifier(trees, voting="soft").fit(X, CLASSES)
    found = read_trees(plain).weight
    assert found is None or found.tolist() == [1.0, 1.0, 1.0]


def test_sparse_rows_between_steps_are_refused_where_absent_means_missing() -> None:
    rows = np.column_stack([np.arange(60) % 12, np.arange(60) % 7])
    encoder = ColumnTransformer([("one", OneHotEncoder(), [0, 1])], sparse_threshold=1.0)
    model = make_pipeline(encoder, xgboost.XGBClassifier(n_estimators=2)).fit(rows, np.arange(60) % 2)

    with pytest.raises(UnreadableModelError) as raised:
        read_trees(model)

    assert str(raised.value).startswith("the pipeline in front of XGBClassifier gives sparse rows: XGBoost takes ")
    assert str(raised.value).endswith(
        "Train with OneHotEncoder(sparse_output=False) and ColumnTransformer(sparse_threshold=0)."
    )
