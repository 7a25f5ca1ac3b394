"""The first trees of a model: rows are sent through these alone, and to the same leaves as through all."""

from __future__ import annotations

import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from catboost import CatBoostClassifier
from lightgbm import LGBMClassifier, LGBMRegressor
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import make_column_transformer
from sklearn.ensemble import BaggingClassifier, RandomForestClassifier, VotingClassifier
from sklearn.frozen import FrozenEstimator
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, OneHotEncoder, StandardScaler
from xgboost import XGBClassifier, XGBRegressor, XGBRFClassifier

from rulecover import MIRCOClassifier, RCBoostClassifier, RulePathClassifier, read_trees
from rulecover.estimators.binned import BinnedTrees
from rulecover.exceptions import CutShortWarning
from rulecover.trees import tree as trees

ROWS = 5000  # LightGBM sends many rows through few rounds at a time


def data(n_classes: int = 3) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(ROWS, 5)).round(2)
    return X, (np.abs(X[:, 0] + X[:, 1] * X[:, 2]) * 1.5).astype(int).clip(max=n_classes - 1)


def lightgbm(n: int = 50) -> Any:
    return LGBMClassifier(n_estimators=n, max_depth=3, random_state=0, verbose=-1, n_jobs=1)


def xgboost(n: int = 7) -> Any:
    return XGBClassifier(n_estimators=n, max_depth=3, random_state=0, n_jobs=1)


FRONT = make_column_transformer(
    (OneHotEncoder(max_categories=30, handle_unknown="infrequent_if_exist", sparse_output=False), [2, 0]),
    (make_pipeline(StandardScaler(), MinMaxScaler()), [1, 3]),
    remainder="passthrough",
)
MODELS = {
    "XGBoost": xgboost(),
    "XGBoost, parallel trees": XGBClassifier(n_estimators=4, num_parallel_tree=3, max_depth=2, subsample=0.5),
    "XGBoost, dart": XGBClassifier(n_estimators=7, max_depth=2, booster="dart", rate_drop=0.3),
    "XGBoost, forest": XGBRFClassifier(n_estimators=6, max_depth=3, random_state=0),
    "XGBoost, numbers": XGBRegressor(n_estimators=7, max_depth=3),
    "LightGBM": lightgbm(),
    "LightGBM, few rounds": lightgbm(5),
    "LightGBM, numbers": LGBMRegressor(n_estimators=60, max_depth=3, verbose=-1),
    "CatBoost": CatBoostClassifier(iterations=9, depth=3, verbose=False, allow_writing_files=False, random_state=0),
    "binned": BinnedTrees(xgboost()),
    "voting": VotingClassifier(
        [("a", xgboost()), ("forest", RandomForestClassifier(4, max_depth=3)), ("b", lightgbm(5))]
    ),
    "calibrated": CalibratedClassifierCV(xgboost(3), cv=2),
    "bagging": BaggingClassifier(lightgbm(3), n_estimators=3, max_features=0.6, random_state=0),
    "forest": RandomForestClassifier(5, max_depth=3, random_state=0),
    "pipeline": make_pipeline(FRONT, RandomForestClassifier(9, max_depth=5, random_state=0)),
    "pipeline, wide": make_pipeline(
        OneHotEncoder(handle_unknown="ignore"), RandomForestClassifier(9, max_depth=9, random_state=0)
    ),
    "pipeline, LightGBM": make_pipeline(FRONT, lightgbm(5)),
    "pipeline, XGBoost": make_pipeline(FRONT, xgboost()),
    "voting of pipelines": VotingClassifier(
        [("a", make_pipeline(FRONT, xgboost())), ("b", make_pipeline(StandardScaler(), lightgbm(5)))]
    ),
}


@pytest.mark.parametrize("name", MODELS)
def test_rows_reach_the_same_leaves_through_the_first_trees(name: str) -> None:
    X, y = data()
    whole = read_trees(MODELS[name].fit(X, y))
    prepared = whole.prepare(X)
    n_trees = len(whole.trees)

    for tree, route in zip(whole.trees, whole.routes, strict=True):
        np.testing.assert_array_equal(route(prepared), tree.apply(X))
    for n in {1, 2, n_trees // 2, n_trees - 1, n_trees}:
        first = whole.take(np.arange(n))
        rows = first.prepare(X)
        for route, known in zip(first.routes, whole.routes, strict=False):
            np.testing.assert_array_equal(route(rows), known(prepared))
        again = first.take(np.arange(max(1, n - 1)))
        np.testing.assert_array_equal(again.routes[-1](again.prepare(X)), whole.routes[max(1, n - 1) - 1](prepared))
    last_but_one = whole.take(np.array([0, n_trees - 2]))
    np.testing.assert_array_equal(last_but_one.routes[1](last_but_one.prepare(X)), whole.routes[n_trees - 2](prepared))
    assert len(whole.take(np.arange(0)).trees) == 0
    others = whole.take(np.arange(n_trees)[::-1])
    rows = others.prepare(X)
    np.testing.assert_array_equal(others.routes[0](rows), whole.routes[-1](prepared))


@pytest.mark.parametrize(
    "name", ["XGBoost", "LightGBM", "CatBoost", "binned", "voting", "bagging", "pipeline", "pipeline, XGBoost"]
)
def test_rows_that_all_trees_would_be_late_for_are_sent_through_the_first_ones(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    X, y = data()
    whole = read_trees(MODELS[name].fit(X, y))
    monkeypatch.setattr(trees, "_TINY", 10.0)  # so long take the few rows

    some, rows = whole.prepared_in_time(X, time.perf_counter() + 10.0 * 3 * 16)
    assert 0.8 * len(whole.trees) <= len(some.trees) < len(whole.trees)
    np.testing.assert_array_equal(some.routes[-1](rows), whole.routes[len(some.trees) - 1](whole.prepare(X)))
    late, rows = whole.prepared_in_time(X, time.perf_counter() - 1.0)
    assert len(late.trees) == 1
    np.testing.assert_array_equal(late.routes[0](rows), whole.routes[0](whole.prepare(X)))
    for deadline in (None, time.perf_counter() + 1e6):
        assert whole.prepared_in_time(X, deadline)[0] is whole


def test_boosting_from_a_model_says_how_many_trees_were_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = data()
    source = FrozenEstimator(lightgbm(100).fit(X, y))
    free = RCBoostClassifier(source, max_rmp_calls=2, random_state=0).fit(X, y)
    monkeypatch.setattr(trees, "_TINY", 10.0)  # so long take a few rows through all trees

    with pytest.warns(CutShortWarning, match="time_limit is 100 s: 3[0-9] of 300 trees were read") as caught:
        model = RCBoostClassifier(source, max_rmp_calls=2, time_limit=100, random_state=0).fit(X, y)
    assert sum("trees were read" in str(each.message) for each in caught) == 1
    assert len(model.history_) == len(free.history_) and np.isnan(model.history_["bound"][1:]).all()
    assert model.score(X, y) > 0.5
    # what goes on must be the same whatever the time, so that all trees are read
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        kept = RCBoostClassifier(source, max_rmp_calls=2, time_limit=1000, random_state=0, checkpoint=tmp_path / "kept")
        kept.fit(X, y)
    assert not caught and kept.rules_ == free.rules_


@pytest.mark.parametrize("kind", [MIRCOClassifier, RulePathClassifier])
def test_a_fit_without_time_reads_one_tree_of_a_booster(kind: Any) -> None:
    X, y = data()
    model = kind(FrozenEstimator(lightgbm(100).fit(X, y)), time_limit=1e-3, random_state=0)

    with pytest.warns(CutShortWarning, match="1 of 300 trees were read"):
        model.fit(X, y)
    assert len(model.rules_)
