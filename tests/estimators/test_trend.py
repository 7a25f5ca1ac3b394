"""Linear trends next to trees, against ridge regressions that are fitted by hand."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.ensemble import HistGradientBoostingRegressor, RandomForestRegressor
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import Ridge
from sklearn.utils.validation import check_is_fitted
from threadpoolctl import threadpool_limits

from rulecover import RulePathRegressor, read_trees
from rulecover.estimators import trend as module
from rulecover.estimators.asked import has_out_of_bag, out_of_bag
from rulecover.estimators.cross_fitted import CrossFitted
from rulecover.estimators.trend import LinearTrend, WithTrend, share_of_trend
from rulecover.typing import Floats, Ints


def line(n: int, width: int = 4, noise: float = 0.5) -> tuple[Floats, Floats]:
    rng = np.random.default_rng(n)
    X = rng.normal(size=(n, width)) * np.arange(1, width + 1) + 7
    return X, X @ rng.normal(size=width) + noise * rng.normal(size=n)


def drawn_in(X: Floats, weight: Floats) -> Floats:
    """What the trend sees of columns without gaps."""
    mean = np.average(X, axis=0, weights=weight)
    part = np.clip((X - mean) / np.sqrt(np.average((X - mean) ** 2, axis=0, weights=weight)), -3, 3)
    return part - np.average(part, axis=0, weights=weight)


@pytest.mark.parametrize("weighted", [False, True])
def test_a_trend_is_a_ridge_regression_and_what_it_leaves_out_is_fitted_without_that_row(weighted: bool) -> None:
    X, y = line(40)
    X[3, 1] = 1e6  # which is drawn in
    weight = np.random.default_rng(0).integers(1, 4, 40).astype(float) if weighted else np.ones(40)

    trend = LinearTrend().fit(X, y, weight if weighted else None)

    part, total = drawn_in(X, weight), weight.sum()
    middle = np.average(y, weights=weight)
    ridge = Ridge(trend.penalty_ * total, fit_intercept=False).fit(part, y - middle, weight)
    assert trend.predict(X) == pytest.approx(middle + ridge.predict(part))
    # A row is left out of the sums that are fitted; the means of columns, and the penalty, keep it.
    own = np.column_stack([np.ones(40), part])
    penalty = np.diag([0.0] + [trend.penalty_ * total] * 4)
    for row in range(40):
        rest = np.arange(40) != row
        gram = own[rest].T @ (own[rest] * weight[rest, None]) + penalty
        without = own[row] @ np.linalg.solve(gram, own[rest].T @ (weight * y)[rest])
        assert trend.predict_left_out(X)[row] == pytest.approx(without)


def test_the_penalty_has_the_least_error_on_rows_that_are_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = line(30, width=12, noise=20.0)
    penalties, errors = module._PENALTIES, []

    best = LinearTrend().fit(X, y).penalty_

    for penalty in penalties:
        monkeypatch.setattr(module, "_PENALTIES", np.array([penalty]))
        errors.append(np.square(y - LinearTrend().fit(X, y).predict_left_out(X)).sum())
    assert best == penalties[np.argmin(errors)] and penalties[-1] < best < penalties[0]


def test_only_training_rows_are_left_out_of_the_trend() -> None:
    X, y = line(30)
    new, _ = line(50)
    trend = LinearTrend().fit(X, y)

    some = np.array([20, 3])
    assert (trend.predict_left_out(X[some], some) == trend.predict_left_out(X)[some]).all()
    assert (trend.predict_left_out(X) != trend.predict(X)).all()
    assert (trend.predict_left_out(new) == trend.predict(new)).all()
    assert (trend.predict_left_out(X[:2], np.array([30, 99])) == trend.predict(X[:2])).all()


def test_a_row_is_predicted_alike_whatever_rows_are_with_it(monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = line(50, width=30)
    trend = LinearTrend().fit(X, y)
    together, left_out = trend.predict(X), trend.predict_left_out(X)

    for row in range(50):
        assert trend.predict(X[row : row + 1]) == together[row]
        assert trend.predict_left_out(X[row : row + 1], np.array([row])) == left_out[row]
    assert (trend.predict(np.asfortranarray(X)) == together).all()
    monkeypatch.setattr(module, "_ROWS", 7)
    assert (trend.predict(X) == together).all()
    assert LinearTrend().fit(X, y).predict_left_out(X) == pytest.approx(left_out)


def test_the_trend_does_not_depend_on_the_number_of_threads() -> None:
    X, y = line(3000, width=150)

    def coefficients(n: int) -> Floats:
        with threadpool_limits(n):
            return LinearTrend().fit(X, y).coefficients_

    assert (coefficients(1) == coefficients(2)).all()


def test_gaps_are_in_the_middle_and_columns_without_spread_say_nothing() -> None:
    X, y = line(30)
    X[:4, 0] = np.nan
    wide = np.column_stack([X, np.repeat([1.1, np.nan], [29, 1]), np.full(30, np.nan)])

    trend = LinearTrend().fit(wide, y)

    assert trend.coefficients_[4:].tolist() == trend.per_spread_[4:].tolist() == [0.0, 0.0]
    assert trend.predict(wide) == pytest.approx(LinearTrend().fit(X, y).predict(X))
    middle = wide[:1].copy()
    middle[0, 0] = trend.mean_[0]
    assert trend.predict(wide[:1]) == pytest.approx(trend.predict(middle), abs=0.2)


def test_rows_of_no_weight_do_not_count() -> None:
    X, y = line(30)
    more, weight = np.vstack([X, X[:5] + 100]), np.repeat([1.0, 0.0], [30, 5])

    trend, alone = LinearTrend().fit(more, np.append(y, np.zeros(5)), weight), LinearTrend().fit(X, y)

    assert trend.predict(more) == pytest.approx(alone.predict(more))
    assert trend.predict_left_out(more) == pytest.approx(np.append(alone.left_out_, alone.predict(more[30:])))


def test_trees_and_trend_are_mixed_by_what_they_know_of_rows_that_they_were_not_trained_on() -> None:
    X, y = line(80, noise=3.0)
    y = y + 12 * (X[:, 0] > 7)
    weight = np.random.default_rng(0).integers(1, 4, 80).astype(float)
    forest = RandomForestRegressor(30, random_state=0)

    model = WithTrend(forest).fit(X, y, weight)

    trees, left_out = out_of_bag(model.estimator_, X)[:, 0], model.trend_.predict_left_out(X)
    shares = np.linspace(0, 1, 1001)
    errors = [weight @ np.square(y - (1 - share) * trees - share * left_out) for share in shares]
    share = model.trend_share_
    assert share == pytest.approx(shares[np.argmin(errors)]) and 0.1 < share < 0.9
    assert has_out_of_bag(model)
    assert out_of_bag(model, X)[:, 0] == pytest.approx((1 - share) * trees + share * left_out)
    assert model.predict(X) == pytest.approx(
        (1 - share) * model.estimator_.predict(X) + share * model.trend_.predict(X)
    )
    assert len(read_trees(model).trees) == 30
    check_is_fitted(model)
    assert clone(model).get_params()["estimator__n_estimators"] == 30


def test_rows_that_all_trees_drew_are_unknown_and_do_not_decide_on_the_share() -> None:
    X, y = line(40, noise=3.0)
    y = y + 12 * (X[:, 0] > 7)

    model = WithTrend(RandomForestRegressor(2, random_state=0)).fit(X, y)

    trees = out_of_bag(model.estimator_, X)[:, 0]
    drawn = np.isnan(trees)
    assert drawn.any() and 0 < model.trend_share_ < 1
    assert (np.isnan(model.out_of_fold(X)) == drawn).all()
    kept = share_of_trend(y[~drawn], trees[~drawn], model.trend_.left_out_[~drawn], np.ones((~drawn).sum()))
    assert model.trend_share_ == kept


@pytest.mark.parametrize(("step", "share"), [(0.0, 0.0), (1.0, 1.0), (1e200, 0.0), (np.inf, 0.0)])
def test_the_share_is_between_none_and_all_and_none_where_it_cannot_be_told(step: float, share: float) -> None:
    assert share_of_trend(np.full(3, 9.0), np.zeros(3), step * np.array([1.0, 2.0, 1.0]), np.ones(3)) == share


def test_there_is_no_trend_of_very_many_columns(monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = line(30)
    monkeypatch.setattr(module, "_COLUMNS", 3)

    model = WithTrend(RandomForestRegressor(5, random_state=0)).fit(X, y)

    assert model.trend_ is None and model.trend_share_ == 0.0
    assert (model.predict(X) == model.estimator_.predict(X)).all()
    np.testing.assert_array_equal(model.out_of_fold(X), out_of_bag(model.estimator_, X)[:, 0])


def test_rows_may_be_a_list() -> None:
    X, y = line(40)
    settings = {"max_rules": 3, "choose": "last", "random_state": 0}

    listed = RulePathRegressor(**settings).fit(X.tolist(), y)

    assert (listed.predict(X.tolist()) == RulePathRegressor(**settings).fit(X, y).predict(X)).all()


def test_a_single_row_has_a_trend_all_the_same() -> None:
    trend = LinearTrend().fit(np.zeros((1, 2)), [3.0])

    assert trend.predict(np.ones((2, 2))).tolist() == [3.0, 3.0]
    assert np.isfinite(trend.left_out_).all()


# In rule paths --------------------------------------------------------------------------------------------------------


def mixed() -> tuple[pd.DataFrame, pd.Series]:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(90, 3)), columns=list("abc"))
    frame["colour"] = np.array(["red", "blue", "green"])[rng.integers(3, size=90)]
    frame["many"] = rng.integers(9, size=90)
    frame.loc[:5, "b"] = np.nan
    return frame, 2 * frame["a"] + frame["many"] + (frame["colour"] == "red") + rng.normal(size=90)


@pytest.mark.slow
@pytest.mark.parametrize("more", [{}, {"n_bins": 5}, {"pool": "boosted"}, {"forbidden": ["c"]}])
def test_a_path_knows_its_training_rows_again_on_tables_too(more: dict, monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = mixed()
    found, asked = [], LinearTrend.predict_left_out

    def noted(trend: LinearTrend, rows: Floats, places: Ints | None = None) -> Floats:
        found.append((asked(trend, rows, places) == trend.left_out_).all())
        return asked(trend, rows, places)

    monkeypatch.setattr(LinearTrend, "predict_left_out", noted)
    RulePathRegressor(max_rules=4, choose="last", random_state=0, **more).fit(X, y)

    assert found == [True, True]  # for its share, and for what the rules are to predict


@pytest.mark.slow
def test_the_path_does_not_depend_on_the_number_of_threads() -> None:
    X, y = line(300, width=40, noise=4.0)

    def fitted(n: int) -> RulePathRegressor:
        with threadpool_limits(n):
            return RulePathRegressor(max_rules=5, choose="last", random_state=0, n_jobs=n).fit(X, y)

    one, two = fitted(1), fitted(2)

    assert one.rules_ == two.rules_ and (one.vote_.votes == two.vote_.votes).all()
    assert 0 < one.estimator_.trend_share_ <= 1


def test_only_pools_with_boosted_trees_have_a_trend() -> None:
    X, y = line(60)
    settings = {"max_rules": 2, "choose": "last", "random_state": 0}

    assert isinstance(RulePathRegressor(pool="forest", **settings).fit(X, y).estimator_, RandomForestRegressor)
    boosted = RulePathRegressor(pool="boosted", **settings).fit(X, y).estimator_
    assert isinstance(boosted, WithTrend) and isinstance(boosted.estimator_, CrossFitted)
    assert isinstance(boosted.estimator_.estimator_, HistGradientBoostingRegressor)


@pytest.mark.slow
def test_a_trained_pool_is_a_source_that_folds_train_again() -> None:
    X, y = line(60)
    pool = RulePathRegressor(pool="boosted", max_rules=2, choose="last", random_state=0).fit(X, y).estimator_

    path = RulePathRegressor(FrozenEstimator(pool), max_rules=2, cv=2, random_state=0).fit(X, y)

    assert path.estimator_ is pool and path.path_["cv_score"].iloc[-1] > 0
    assert np.isfinite(path.model_score_)


@pytest.mark.slow
def test_few_rules_follow_a_noisy_line_better_with_a_trend(monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = line(600, width=5, noise=12.0)

    def score() -> float:
        path = RulePathRegressor(max_rules=25, choose="last", random_state=0).fit(X[:150], y[:150])
        return path.score(X[150:], y[150:])

    with_trend = score()
    monkeypatch.setattr(module, "_COLUMNS", 0)
    assert with_trend > score() + 0.02
