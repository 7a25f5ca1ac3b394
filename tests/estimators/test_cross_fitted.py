"""Out-of-fold predictions, against copies that are trained by hand."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from sklearn.base import clone
from sklearn.datasets import make_friedman1
from sklearn.ensemble import (
    GradientBoostingRegressor,
    HistGradientBoostingRegressor,
    RandomForestRegressor,
    VotingRegressor,
)
from sklearn.tree import DecisionTreeRegressor
from strategies import DIGITS, DataSet, data_sets

from rulecover import RulePathRegressor, read_trees
from rulecover.estimators.asked import has_out_of_bag, out_of_bag
from rulecover.estimators.cross_fitted import CrossFitted
from rulecover.rulepath.response import share_by_noise


@pytest.mark.parametrize("weighted", [False, True])
def test_each_row_is_predicted_by_a_copy_that_was_trained_on_the_other_folds(weighted: bool) -> None:
    X, y = make_friedman1(60, random_state=0)
    weight = np.random.default_rng(0).integers(1, 4, 60).astype(float) if weighted else None
    model = CrossFitted(DecisionTreeRegressor(max_depth=3, random_state=0), n_folds=4, random_state=1)

    model.fit(X, y, weight)

    assert np.bincount(model.fold_).tolist() == [15] * 4
    for fold in range(4):
        mine, rest = model.fold_ == fold, model.fold_ != fold
        copy = clone(model.estimator).fit(X[rest], y[rest], None if weight is None else weight[rest])
        assert model.out_of_fold(X)[mine] == pytest.approx(copy.predict(X[mine]))
    some = np.array([50, 3, 59])
    assert (model.out_of_fold(X[some], some) == model.out_of_fold(X)[some]).all()
    assert (model.predict(X) == clone(model.estimator).fit(X, y, weight).predict(X)).all()


def test_rows_that_it_was_not_trained_on_are_predicted_by_some_copy() -> None:
    X, y = make_friedman1(40, random_state=0)
    new, _ = make_friedman1(100, random_state=1)
    model = CrossFitted(DecisionTreeRegressor(random_state=0), random_state=0).fit(X, y)

    each = np.array([copy.predict(new) for copy in model.copies_])

    assert (each == model.out_of_fold(new)).any(axis=0).all()


def test_a_single_row_is_predicted_all_the_same() -> None:
    model = CrossFitted(DecisionTreeRegressor()).fit(np.zeros((1, 2)), [3.0])

    assert model.out_of_fold(np.zeros((1, 2))).tolist() == model.predict(np.zeros((1, 2))).tolist() == [3.0]


@pytest.mark.slow
def test_the_trees_are_those_of_the_model_on_all_rows_and_members_count_alike() -> None:
    X, y = make_friedman1(80, random_state=0)
    forest = RandomForestRegressor(20, random_state=0)
    boosted = CrossFitted(HistGradientBoostingRegressor(max_iter=3, random_state=0), random_state=0)
    both = VotingRegressor([("forest", forest), ("boosted", boosted)]).fit(X, y)

    assert has_out_of_bag(boosted) and len(read_trees(both).trees) == 23
    mean = 0.5 * out_of_bag(both.estimators_[0], X)[:, 0] + 0.5 * both.estimators_[1].out_of_fold(X)
    np.testing.assert_allclose(out_of_bag(both, X)[:, 0], mean)


@pytest.mark.slow
@pytest.mark.parametrize("pool", [None, "boosted"])
def test_the_share_of_the_model_follows_the_noise_that_honest_predictions_leave(pool: str | None) -> None:
    X, y = make_friedman1(120, random_state=0)
    frame = pd.DataFrame(X, columns=list("abcdefghij"))
    given_settings = {"pool": pool, "max_rules": 4, "choose": "last", "random_state": 0}

    usual = RulePathRegressor(**given_settings).fit(frame, y)

    left = y - out_of_bag(usual.estimator_, frame)[:, 0]
    share = (1 - 0.1 * y.var() / np.mean(left**2)) / 0.9
    assert 0.0 < share < 0.8
    said = RulePathRegressor(model_share=share, **given_settings).fit(frame, y)
    assert usual.rules_ == said.rules_ and usual.vote_.votes == pytest.approx(said.vote_.votes, abs=1e-9)
    other = RulePathRegressor(model_share=0.0, **given_settings).fit(frame, y)
    assert not np.array_equal(usual.predict(frame), other.predict(frame))


@pytest.mark.slow
@pytest.mark.parametrize("source", [{"estimator": GradientBoostingRegressor(n_estimators=5)}, {"pool": "forest"}])
def test_without_cross_fitted_trees_the_model_has_half_of_the_say(source: dict) -> None:
    X, y = make_friedman1(80, random_state=0)
    given_settings = {"max_rules": 4, "choose": "last", "random_state": 0, **source}

    usual, half = (RulePathRegressor(model_share=share, **given_settings).fit(X, y) for share in (None, 0.5))

    assert usual.rules_ == half.rules_ and (usual.vote_.votes == half.vote_.votes).all()


@given(data_sets(cells=DIGITS))
@settings(max_examples=30)
def test_labels_and_predictions_count_by_the_inverse_of_their_errors(data: DataSet) -> None:
    y, weight = data.y[:, None], data.weight
    predicted = y + data.X[:, :1] - 2.5
    again = np.repeat(np.arange(len(y)), weight.astype(int))

    share = share_by_noise(y, predicted, weight)

    spread, left = y[again].var(), np.square(y - predicted)[again].mean()
    noise = max(0.0, (left - 0.1 * spread) / 0.9)  # of the labels; what the model misses is the rest of `left`
    assert share == pytest.approx(min(0.8, noise / left), abs=1e-9)
    assert share == pytest.approx(share_by_noise(1e3 * y + 5, 1e3 * predicted + 5, 2 * weight), abs=1e-6)


def test_boosted_trees_alone_are_trained_on_tables_with_texts() -> None:
    X = pd.DataFrame({"a": np.arange(60.0) % 7, "colour": ["red", "blue", "blue"] * 20})
    y = X["a"] + 3 * (X["colour"] == "red")

    path = RulePathRegressor(pool="boosted", max_rules=3, choose="last", random_state=0).fit(X, y)

    assert path.score(X, y) > 0.5 and "colour" in str(path.rules_)
