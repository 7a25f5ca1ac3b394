"""Rules of regressors of every library: boosters, histogram boosting, pipelines; cut and uncut."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import catboost
import lightgbm
import numpy as np
import pandas as pd
import pytest
import xgboost
from sklearn.base import clone
from sklearn.compose import make_column_transformer
from sklearn.ensemble import (
    AdaBoostRegressor,
    BaggingRegressor,
    GradientBoostingRegressor,
    HistGradientBoostingRegressor,
    RandomForestRegressor,
    VotingRegressor,
)
from sklearn.frozen import FrozenEstimator
from sklearn.impute import SimpleImputer
from sklearn.metrics import r2_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.tree import DecisionTreeRegressor

from rulecover import MIRCOClassifier, MIRCORegressor, RulePathRegressor, RuleSet, explain, read_trees
from rulecover.exceptions import UnreadableModelError
from rulecover.pool import leaf_pool
from rulecover.targets.impurity import Price
from rulecover.targets.numbers.impurity import SquaredError
from rulecover.targets.numbers.samples import NumberSamples

COLOURS = ["red", "green", "blue", "white", "black"]


def houses(n: int = 250, *, seed: int = 0) -> tuple[pd.DataFrame, np.ndarray]:
    """Sizes with gaps and zeros, colours, and a price."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "size": np.where(rng.random(n) < 0.1, np.nan, rng.normal(size=n).round(2)),
            "colour": pd.Categorical(rng.choice(COLOURS, n), categories=COLOURS),
            "garden": np.where(rng.random(n) < 0.3, 0.0, rng.normal(size=n)),
        }
    )
    price = 3.0 * np.nan_to_num(frame["size"]) + 2.0 * frame["colour"].isin(["red", "blue"]) + np.abs(frame["garden"])
    return frame, 100 + price.to_numpy() + rng.normal(scale=0.2, size=n)


def plain(frame: pd.DataFrame) -> pd.DataFrame:
    return frame[["size", "garden"]]


def filled(frame: pd.DataFrame) -> pd.DataFrame:
    return plain(frame).fillna(0.0)


def words(frame: pd.DataFrame) -> pd.DataFrame:
    return frame.assign(colour=frame["colour"].astype(object))


def whole(frame: pd.DataFrame) -> pd.DataFrame:
    return frame


LIGHT = {
    "n_estimators": 8,
    "learning_rate": 0.5,
    "n_jobs": 1,
    "verbose": -1,
    "min_child_samples": 5,
    "min_data_per_group": 2,
}
QUIET = {"verbose": False, "allow_writing_files": False, "thread_count": 1}

SOURCES: dict[str, tuple[Any, Any]] = {
    "xgboost": (xgboost.XGBRegressor(n_estimators=6, max_depth=3, enable_categorical=True, n_jobs=1), whole),
    "xgboost of counts": (
        xgboost.XGBRegressor(n_estimators=20, max_depth=3, learning_rate=0.9, objective="count:poisson", n_jobs=1),
        plain,
    ),
    "lightgbm": (lightgbm.LGBMRegressor(**LIGHT), whole),
    "lightgbm, zero missing": (lightgbm.LGBMRegressor(**LIGHT, zero_as_missing=True), plain),
    "catboost": (catboost.CatBoostRegressor(iterations=8, depth=3, learning_rate=0.5, **QUIET), plain),
    "catboost with words": (
        catboost.CatBoostRegressor(iterations=5, one_hot_max_size=9, cat_features=["colour"], **QUIET),
        words,
    ),
    "histograms": (
        HistGradientBoostingRegressor(max_iter=8, learning_rate=0.5, categorical_features="from_dtype"),
        whole,
    ),
    "gradient boosting": (GradientBoostingRegressor(n_estimators=10, learning_rate=0.5, random_state=0), filled),
    "adaboost": (AdaBoostRegressor(DecisionTreeRegressor(max_depth=4), n_estimators=5, random_state=0), filled),
    "bagging": (
        BaggingRegressor(xgboost.XGBRegressor(n_estimators=10, max_depth=3, n_jobs=1), 3, random_state=0),
        plain,
    ),
    "voting": (
        VotingRegressor([("a", RandomForestRegressor(5, random_state=0)), ("b", DecisionTreeRegressor(max_depth=4))]),
        filled,
    ),
    "pipeline": (
        make_pipeline(
            make_column_transformer(
                (make_pipeline(SimpleImputer(), StandardScaler()), ["size", "garden"]),
                (OneHotEncoder(sparse_output=False), ["colour"]),
                sparse_threshold=0,
            ),
            RandomForestRegressor(8, random_state=0),
        ),
        whole,
    ),
}


@pytest.fixture(params=SOURCES)
def trained(request: pytest.FixtureRequest) -> tuple[Any, pd.DataFrame, np.ndarray]:
    model, view = SOURCES[request.param]
    frame, y = houses()
    X = view(frame)
    fresh = model.copy() if isinstance(model, catboost.CatBoost) else clone(model)
    return fresh.fit(X, y), X, y


@pytest.mark.slow
@pytest.mark.parametrize("min_samples", [1, 12])
def test_rules_of_a_regressor_cover_what_they_were_counted_on(trained: Any, min_samples: int) -> None:
    model, X, y = trained
    mirco = explain(model, X, y, min_samples=min_samples, solver="greedy", max_rules=None, method="cover")
    assert isinstance(mirco, MIRCORegressor)
    covered = mirco.apply(X).toarray()
    assert covered.any(axis=1).all()
    seen = mirco.rules_.evidence
    np.testing.assert_array_equal(covered.sum(axis=0), seen.support)
    np.testing.assert_allclose([y[mine].mean() for mine in covered.T], seen.mean)
    assert seen.support.min() >= min_samples


@pytest.mark.slow
def test_rules_answer_like_the_regressor_that_they_come_from(trained: Any) -> None:
    model, X, y = trained
    few = explain(model, X, y, max_rules=30, method="cover")
    assert few.fidelity(X) == pytest.approx(r2_score(np.asarray(model.predict(X)).ravel(), few.predict(X)))
    assert few.fidelity(X) > 0.7 and few.score(X, y) > 0.7


@pytest.mark.slow
def test_a_path_of_a_regressor_has_rules_of_every_size(trained: Any) -> None:
    model, X, y = trained
    path = RulePathRegressor(FrozenEstimator(model), max_rules=12, choose="last").fit(X, y)
    seen = path.at(5).rules_.evidence
    np.testing.assert_allclose(path.at(5).predict(X), seen.default + path.at(5).apply(X).toarray() @ seen.adds)
    assert path.score(X, y) > 0.6


def test_rows_of_which_a_regressor_says_nothing_are_asked_of_it() -> None:
    frame, y = houses()
    X = plain(frame)
    model = lightgbm.LGBMRegressor(**LIGHT).fit(X, y)
    few = explain(model, X, y, max_rules=2, min_samples=1, fallback="model", method="cover")
    missed = few.missed(X)
    assert missed.any()
    np.testing.assert_allclose(few.predict(X)[missed], model.predict(X[missed]))


# Boosters and files ---------------------------------------------------------------------------------------------


def boosters(X: pd.DataFrame, y: np.ndarray, *, counts: bool = False) -> dict[str, Any]:
    loss = {"loss_function": "Poisson" if counts else "RMSE", "iterations": 8, "learning_rate": 0.5, **QUIET}
    tree = {"max_depth": 3, "nthread": 1, "objective": "count:poisson" if counts else "reg:squarederror"}
    light = {"num_threads": 1, "verbosity": -1, "objective": "poisson" if counts else "regression"}
    return {
        "xgboost": xgboost.train({**tree, "learning_rate": 0.7}, xgboost.DMatrix(X, y), 8),
        "lightgbm": lightgbm.train({**light, "learning_rate": 0.5}, lightgbm.Dataset(X, y), 8),
        "catboost": catboost.CatBoost(loss).fit(X, y),
    }


@pytest.mark.slow
@pytest.mark.parametrize("library", ["xgboost", "lightgbm", "catboost"])
def test_a_booster_of_numbers_and_its_file_are_explained(library: str, tmp_path: Path) -> None:
    frame, y = houses()
    X, y = plain(frame), np.round(y)  # whole numbers are no classes to a booster that was trained on numbers
    booster = boosters(X, y)[library]
    few = explain(booster, X, y, max_rules=30, method="cover")
    says = booster.predict(xgboost.DMatrix(X)) if library == "xgboost" else booster.predict(X)
    assert few.fidelity(X) == pytest.approx(r2_score(says, few.predict(X)), abs=1e-6) and few.fidelity(X) > 0.7

    path = tmp_path / "model.json"
    booster.save_model(str(path), **({"format": "json"} if library == "catboost" else {}))
    of_file = explain(path, X, y, max_rules=30, method="cover")
    assert of_file.rules_ == few.rules_
    np.testing.assert_array_equal(of_file.predict(X), few.predict(X))
    with pytest.raises(UnreadableModelError, match="does not predict"):
        of_file.fidelity(X)


@pytest.mark.parametrize("library", ["xgboost", "lightgbm", "catboost"])
def test_a_booster_of_counts_answers_in_counts(library: str) -> None:
    frame, y = houses()
    X, y = filled(frame), np.round(y - y.min())
    few = explain(
        boosters(X, y, counts=True)[library], X, y, fallback="model", max_rules=2, min_samples=1, method="cover"
    )
    assert y.mean() / 2 < few.estimator_.predict(X).mean() < 2 * y.mean()  # their logarithms are about 2.5


def test_a_booster_that_does_not_say_what_it_was_trained_for_is_taken_as_y_has_it() -> None:
    frame, y = houses()
    X = filled(frame)

    def residual(says: np.ndarray, data: Any) -> tuple[np.ndarray, np.ndarray]:
        return says - data.get_label(), np.ones(len(says))

    booster = lightgbm.train(
        {"objective": residual, "num_threads": 1, "verbosity": -1}, lightgbm.Dataset(X, y - 100), num_boost_round=3
    )
    assert isinstance(explain(booster, X, y, method="cover"), MIRCORegressor)
    assert isinstance(explain(booster, X, (y > 101).astype(int), method="cover"), MIRCOClassifier)


def test_rules_by_hand_predict_numbers_if_y_has_fractions() -> None:
    frame, y = houses()
    X = filled(frame)
    rules = RuleSet.from_text(["size > 0", "size <= 0", "garden > 1"], list(X.columns))
    few = explain(rules, X, y, method="cover")
    assert isinstance(few, MIRCORegressor) and few.score(X, y) > 0.3
    assert isinstance(explain(rules, X, (y > 101).astype(int), method="cover"), MIRCOClassifier)


# What a booster gives to its leaves -----------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["gradient boosting", "adaboost"])
def test_what_a_booster_gives_to_its_leaves_comes_into_cost_and_mean(name: str) -> None:
    frame, y = houses()
    X = filled(frame)
    model = clone(SOURCES[name][0]).fit(X, y)
    paper = {"min_samples": 1, "solver": "greedy", "max_rules": None, "ridge": None}
    plainly = explain(model, X, y, estimator_weights=None, method="cover", **paper)
    problem = plainly.covering_problem(X, y)
    ensemble = read_trees(model)
    pool = leaf_pool(NumberSamples.of(X.to_numpy(), y), ensemble, Price(SquaredError()), tuple(X.columns))
    given = ensemble.strength(pool.source.tree, pool.source.node)
    strength = np.clip(given / given.mean(), 0.1, 10)
    both = explain(model, X, y, method="cover", **paper)
    np.testing.assert_allclose(both.covering_problem(X, y).cost, problem.cost / strength)

    voted = explain(model, X, y, estimator_weights="vote", method="cover", **paper)
    assert voted.rules_ == plainly.rules_
    says = voted.vote_.votes[:, 1]
    assert np.ptp(says) > 0 and np.isin(np.round(says, 9), np.round(strength, 9)).all()
    met = voted.apply(X).toarray() * says
    np.testing.assert_allclose(voted.predict(X), met @ voted.rules_.evidence.mean / met.sum(axis=1))

    fitted = {**paper, "ridge": 5.0}
    np.testing.assert_allclose(
        explain(model, X, y, estimator_weights="vote", method="cover", **fitted).predict(X),
        explain(model, X, y, estimator_weights=None, method="cover", **fitted).predict(X),
    )


def test_a_demand_may_differ_from_row_to_row() -> None:
    frame, y = houses()
    X = filled(frame)
    demand = np.where(y > np.median(y), 3, 1)
    few = MIRCORegressor(demand=demand, max_rules=None, solver="greedy", random_state=0).fit(X, y)
    assert (few.apply(X).sum(axis=1) >= demand).all()
    with pytest.raises(TypeError, match="numbers have no labels"):
        MIRCORegressor(demand={1: 2}).fit(X, y)
    with pytest.raises(ValueError, match="estimator_weights is 'all'"):
        MIRCORegressor(estimator_weights="all").fit(X, y)
