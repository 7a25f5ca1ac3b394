"""Linear trends next to trees, against ridge regressions that are fitted by hand."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_matrix
from sklearn.base import clone
from sklearn.ensemble import (
    ExtraTreesClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import Ridge
from sklearn.metrics import log_loss
from sklearn.utils.validation import check_is_fitted
from threadpoolctl import threadpool_limits

from rulecover import RulePathClassifier, RulePathRegressor, read_trees
from rulecover.estimators import linear_trend as module
from rulecover.estimators import trend as trend_module
from rulecover.estimators.asked import has_out_of_bag, out_of_bag
from rulecover.estimators.cross_fitted import CrossFitted
from rulecover.estimators.linear_trend import LinearTrend
from rulecover.estimators.trend import ClassifierWithTrend, RegressorWithTrend, likeliest_share, share_of_trend
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

    model = RegressorWithTrend(forest).fit(X, y, weight)

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

    model = RegressorWithTrend(RandomForestRegressor(2, random_state=0)).fit(X, y)

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
    monkeypatch.setattr(trend_module, "_COLUMNS", 3)

    model = RegressorWithTrend(RandomForestRegressor(5, random_state=0)).fit(X, y)

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


# Classes --------------------------------------------------------------------------------------------------------------


def two_sides(n: int, n_classes: int = 2, noise: float = 1.0) -> tuple[Floats, Ints]:
    """Classes on both sides of a line, or between lines, and a step that a line does not see."""
    X, y = line(n, noise=noise)
    y = (y - y.mean()) / y.std() + 1.5 * (np.abs(X[:, 0] - 7) > 1)
    return X, np.searchsorted(np.quantile(y, np.arange(1, n_classes) / n_classes), y)


def test_outputs_of_a_trend_are_ridge_regressions_of_one_penalty(monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = line(40, noise=9.0)
    outputs = np.column_stack([y, np.random.default_rng(0).normal(size=40), y > y.mean()])
    trend = LinearTrend().fit(X, outputs)

    assert trend.predict(X).shape == (40, 3) and trend.coefficients_.shape == (4, 3)
    errors = []
    for penalty in module._PENALTIES:
        monkeypatch.setattr(module, "_PENALTIES", np.array([penalty]))
        alone = [LinearTrend().fit(X, output) for output in outputs.T]
        errors.append(
            sum(np.square(one.left_out_ - output).sum() for one, output in zip(alone, outputs.T, strict=True))
        )
        if penalty == trend.penalty_:
            assert trend.left_out_ == pytest.approx(np.column_stack([one.left_out_ for one in alone]))
            assert trend.predict(X) == pytest.approx(np.column_stack([one.predict(X) for one in alone]))
    assert trend.penalty_ == pytest.approx(np.logspace(2, -5, 15)[np.argmin(errors)])
    known = np.array([4, 39, 0])
    assert (trend.predict_left_out(X[known], known) == trend.left_out_[known]).all()


@pytest.mark.parametrize("n_classes", [2, 4])
@pytest.mark.parametrize("weighted", [False, True])
def test_forest_and_trend_make_the_classes_of_rows_most_likely_that_neither_knew(
    n_classes: int, weighted: bool
) -> None:
    X, y = two_sides(120, n_classes)
    weight = np.random.default_rng(0).integers(1, 4, 120).astype(float) if weighted else np.ones(120)
    names = np.array(["d", "c", "b", "a"])[y]

    model = ClassifierWithTrend(RandomForestClassifier(30, random_state=0))
    model.fit(X, names, weight if weighted else None)

    assert model.classes_.tolist() == sorted(set(names))
    mine = np.arange(120), np.searchsorted(model.classes_, names)
    prior = weight @ (names[:, None] == model.classes_) / weight.sum()

    def by_trees(shares: Floats, exponent: float) -> Floats:
        powers = np.maximum(shares, 1e-3 / n_classes) ** np.exp(exponent)
        return powers / powers.sum(axis=1, keepdims=True)

    def by_trend(scores: Floats, slope: float) -> Floats:
        odds = prior * np.exp(np.exp(slope) * (scores - prior))
        return odds / odds.sum(axis=1, keepdims=True)

    def loss(shares: Floats) -> float:
        return -float(weight @ np.log(shares[mine]))

    honest, left_out = out_of_bag(model.estimator_, X), model.trend_.predict_left_out(X)
    step = np.array([-0.05, 0.0, 0.05])
    assert np.argmin([loss(by_trees(honest, model.exponent_ + each)) for each in step]) == 1
    assert np.argmin([loss(by_trend(left_out, model.slope_ + each)) for each in step]) == 1
    trees, trend = by_trees(honest, model.exponent_), by_trend(left_out, model.slope_)
    shares = np.linspace(0, 1, 201)
    best = shares[np.argmin([loss((1 - share) * trees + share * trend) for share in shares])]
    assert model.trend_share_ == pytest.approx(best, abs=0.006) and 0.05 < best < 1
    share = model.trend_share_
    assert has_out_of_bag(model)
    assert out_of_bag(model, X) == pytest.approx((1 - share) * trees + share * trend)
    new = two_sides(50)[0]
    trees = by_trees(model.estimator_.predict_proba(new), model.exponent_)
    trend = by_trend(model.trend_.predict(new), model.slope_)
    assert model.predict_proba(new) == pytest.approx((1 - share) * trees + share * trend)
    assert (model.predict(new) == model.classes_[model.predict_proba(new).argmax(axis=1)]).all()
    assert len(read_trees(model).trees) == 30
    check_is_fitted(model)


def test_a_forest_that_knows_all_that_the_trend_does_is_left_as_it_is() -> None:
    X, _ = line(200)
    y = np.abs(X[:, 0] - 7) > 1
    forest = RandomForestClassifier(30, random_state=0)

    model = ClassifierWithTrend(forest).fit(X, y)

    assert model.trend_share_ == 0.0 and model.trend_ is not None
    assert (model.predict_proba(X) == forest.fit(X, y).predict_proba(X)).all()
    np.testing.assert_array_equal(model.out_of_fold(X), out_of_bag(forest, X))


def test_the_share_does_not_depend_on_the_scale_of_weights_and_weights_are_repeated_rows() -> None:
    X, y = two_sides(80)
    rng = np.random.default_rng(0)
    trees, trend = rng.uniform(0.1, 0.9, 80), rng.uniform(0.1, 0.9, 80)
    weight = rng.integers(0, 4, 80)

    share = likeliest_share(trees, trend, weight.astype(float))

    assert 0 < share < 1
    assert likeliest_share(trees, trend, 8.0 * weight) == share
    assert likeliest_share(np.repeat(trees, weight), np.repeat(trend, weight), np.ones(weight.sum())) == share
    light, heavy = (
        ClassifierWithTrend(RandomForestClassifier(9, random_state=0)).fit(X, y, scale * (1.0 + y)) for scale in (1, 64)
    )
    assert (light.predict_proba(X) == heavy.predict_proba(X)).all()


@pytest.mark.parametrize(("trees", "trend", "share"), [(0.0, 0.5, 0.999), (0.5, 0.0, 0.0), (1.0, 1.0, 0.0)])
def test_who_says_that_nothing_was_likely_has_no_share(trees: float, trend: float, share: float) -> None:
    assert likeliest_share(np.full(3, trees), np.full(3, trend), np.ones(3)) == share


@pytest.mark.filterwarnings("error")
def test_classes_without_rows_of_any_weight_of_one_row_and_alone() -> None:
    X, y = two_sides(40)
    forest = RandomForestClassifier(20, random_state=0)

    weightless = ClassifierWithTrend(forest).fit(X, np.append(y[:-2], [2, 2]), np.append(np.ones(38), [0.0, 0.0]))
    once = ClassifierWithTrend(forest).fit(X, np.append(y[:-1], 2))
    alone = ClassifierWithTrend(forest).fit(X, np.zeros(40))
    row = ClassifierWithTrend(forest).fit(X[:1], y[:1])

    for model in (weightless, once, alone, row):
        shares = model.predict_proba(X)
        assert shares.shape == (40, len(model.classes_)) and shares.sum(axis=1) == pytest.approx(np.ones(40))
    assert weightless.predict_proba(X)[:, 2].max() == pytest.approx(0.0, abs=2e-3)


def test_rows_that_all_trees_drew_have_no_out_of_bag_probabilities() -> None:
    X, y = two_sides(60)

    model = ClassifierWithTrend(RandomForestClassifier(2, random_state=0)).fit(X, y)

    drawn = np.isnan(out_of_bag(model.estimator_, X)[:, 0])
    assert drawn.any() and model.trend_share_ > 0
    assert (np.isnan(model.out_of_fold(X)).all(axis=1) == drawn).all()
    lone = ClassifierWithTrend(RandomForestClassifier(1, random_state=0)).fit(X[:2], [0, 1])
    assert lone.predict_proba(X[:2]).sum(axis=1) == pytest.approx(np.ones(2))


def test_trees_keep_what_the_trend_holds_for_impossible_from_being_so() -> None:
    trees, trend = np.append(np.full(20000, 0.6), 0.5), np.append(np.full(20000, 0.999), 1e-100)

    assert likeliest_share(trees, trend, np.ones(20001)) == 0.999


def test_trees_without_out_of_bag_predictions_have_no_trend_with_them() -> None:
    X, y = two_sides(20)

    with pytest.raises(ValueError, match=r"estimator is ExtraTreesClassifier\(\), which has no out-of-bag predictions"):
        ClassifierWithTrend(ExtraTreesClassifier()).fit(X, y)


def test_a_new_row_like_the_last_one_is_not_left_out() -> None:
    X, y = line(30)
    trend = LinearTrend().fit(X, y)

    assert (trend.predict_left_out(X[-1:], np.array([30])) == trend.predict(X[-1:])).all()
    assert (trend.predict_left_out(X[-1:], np.array([29])) != trend.predict(X[-1:])).all()


def test_frames_of_sparse_columns_and_sparse_rows_are_asked_about() -> None:
    X, y = two_sides(60)
    X[np.random.default_rng(0).random(X.shape) < 0.5] = 0.0
    frame = pd.DataFrame.sparse.from_spmatrix(csr_matrix(X), columns=list("abcd"))
    settings = {"max_rules": 3, "choose": "last", "random_state": 0}

    path = RulePathClassifier(**settings).fit(frame, y)

    dense = RulePathClassifier(**settings).fit(pd.DataFrame(X, columns=list("abcd")), y)
    assert path.rules_ == dense.rules_ and path.estimator_.trend_ is not None
    plain = RulePathClassifier(**settings).fit(X, y).estimator_
    again = RulePathClassifier(FrozenEstimator(plain), **settings).fit(csr_matrix(X), y)
    assert again.rules_ == RulePathClassifier(FrozenEstimator(plain), **settings).fit(X, y).rules_


@pytest.mark.parametrize("sparse", [False, True])
def test_there_is_no_trend_of_classes_on_very_many_columns_or_sparse_rows(
    sparse: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    X, y = two_sides(40)
    monkeypatch.setattr(trend_module, "_COLUMNS", 500 if sparse else 3)
    rows = csr_matrix(X) if sparse else X

    model = ClassifierWithTrend(RandomForestClassifier(5, random_state=0)).fit(rows, y)

    assert model.trend_ is None and model.trend_share_ == 0.0
    assert (model.predict_proba(rows) == model.estimator_.predict_proba(rows)).all()
    path = RulePathClassifier(max_rules=3, choose="last", random_state=0).fit(rows, y)
    assert path.estimator_.trend_ is None and path.score(rows, y) > 0.5


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
@pytest.mark.parametrize("classes", [0, 2, 3])
def test_a_path_knows_its_training_rows_again_on_tables_too(
    more: dict, classes: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    X, y = mixed()
    if classes and "pool" in more:
        more = {"pool": "both"}
    if classes:
        y = pd.cut(y, classes, labels=list("uvw"[:classes])).astype(str)
    kind = RulePathClassifier if classes else RulePathRegressor
    found, asked = [], LinearTrend.predict_left_out

    def noted(trend: LinearTrend, rows: Floats, places: Ints | None = None) -> Floats:
        found.append((asked(trend, rows, places) == trend.left_out_).all())
        return asked(trend, rows, places)

    monkeypatch.setattr(LinearTrend, "predict_left_out", noted)
    kind(max_rules=4, choose="last", random_state=0, **more).fit(X, y)

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
    assert isinstance(boosted, RegressorWithTrend) and isinstance(boosted.estimator_, CrossFitted)
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
    monkeypatch.setattr(trend_module, "_COLUMNS", 0)
    assert with_trend > score() + 0.02


@pytest.mark.slow
@pytest.mark.parametrize("n_classes", [2, 3])
def test_few_rules_tell_noisy_classes_apart_better_with_a_trend(
    n_classes: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    X, y = line(900, width=10, noise=1.0)
    y = np.searchsorted(np.quantile(y, np.arange(1, n_classes) / n_classes), y)

    def loss() -> float:
        path = RulePathClassifier(max_rules=25, choose="last", random_state=0).fit(X[:150], y[:150])
        return log_loss(y[150:], path.predict_proba(X[150:]))

    with_trend = loss()
    monkeypatch.setattr(trend_module, "_COLUMNS", 0)
    assert with_trend < loss() - 0.02
