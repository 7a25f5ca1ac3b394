"""RCBoost for numbers, and the properties of column generation on random data."""

from __future__ import annotations

import pickle
import time

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_diabetes, make_friedman1
from sklearn.model_selection import GridSearchCV, train_test_split
from sklearn.tree import DecisionTreeRegressor
from spied import Spy

from rulecover import RCBoostRegressor
from rulecover.coverage import Coverage
from rulecover.exceptions import CutShortWarning, MismatchedDataError, RulecoverWarning
from rulecover.setcover.master import Master


def data(seed: int = 0, n: int = 200) -> tuple[np.ndarray, np.ndarray]:
    return make_friedman1(n, 6, noise=1.0, random_state=seed)


def boosted(**settings) -> RCBoostRegressor:
    return RCBoostRegressor(**{"max_rmp_calls": 10, "random_state": 0, **settings})


@pytest.mark.slow
@pytest.mark.parametrize("duals", ["equal", "vertex"])
def test_column_generation_keeps_its_promises_on_random_data(duals: str) -> None:
    for seed in range(6):
        X, y = data(seed)
        spy = Spy()
        model = boosted(duals=duals, pricing=spy, scale=np.var(y) / 5).fit(X, y)
        objectives = [*model.history_["objective"], model.certificate_.objective]
        assert (np.diff(objectives) <= 1e-6).all()  # it never rises
        for given, objective in zip(spy.seen, model.history_["objective"], strict=True):
            assert given.current.sum() == pytest.approx(objective, abs=1e-6)
        covered = model.pool_.apply(X).toarray()
        cost = model.pool_.evidence.cost
        final = Master(Coverage.of_masks(covered.T), cost).solve()
        assert final.objective == pytest.approx(model.certificate_.objective, abs=1e-6)
        assert (cost - covered.T @ final.duals).min() > -1e-6  # no rule of the final pool prices out negative
        assert not model.missed(np.random.default_rng(seed).uniform(size=(50, 6))).any()


@pytest.mark.slow
@pytest.mark.parametrize("duals", ["equal", "vertex"])
def test_numbers_far_larger_than_their_scale_have_an_optimum(duals: str) -> None:
    for seed in range(5):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(60, 3))
        y = 1e5 * (X[:, 0] + rng.normal(size=60))
        model = RCBoostRegressor(scale=0.5, max_rmp_calls=8, duals=duals, random_state=0).fit(X, y)
        assert model.certificate_.objective > 1e10
        objective = model.history_["objective"].to_numpy()
        assert (np.diff(objective) <= 1e-15 * objective[0]).all()  # the last digit is rounded


@pytest.mark.parametrize("duals", ["equal", "near"])
def test_costs_that_differ_by_more_than_the_lp_can_count_are_reported(duals: str) -> None:
    X, y = data(n=100)
    with pytest.warns(
        RulecoverWarning, match=r"cost \de\+\d\d times as much as others.* give a scale nearer to the var"
    ):
        boosted(scale=1e-18, duals=duals, max_rmp_calls=2).fit(X, y)
    boosted(scale=1e-12, duals=duals, max_rmp_calls=2).fit(X, y)  # far from the variance, but exact


def test_costs_and_means_are_those_of_the_covered_samples() -> None:
    X, y = data(1)
    model = boosted().fit(X, y)
    covered = model.pool_.apply(X).toarray()
    means = np.array([y[mine].mean() for mine in covered.T])
    np.testing.assert_allclose(model.pool_.evidence.mean, means)
    np.testing.assert_allclose(
        model.pool_.evidence.cost, 1 + np.array([y[mine].var() for mine in covered.T]) / y.var(), atol=1e-8
    )
    np.testing.assert_allclose(model.predict(X), covered @ means / covered.sum(axis=1))


def test_stages_run_from_the_first_tree_to_the_whole_pool() -> None:
    X, y = data(2)
    model = boosted().fit(X, y)
    stages = list(model.staged_predict(X))
    assert len(stages) == model.n_rmp_calls_ + 1 == len(model.history_) + 1
    np.testing.assert_allclose(stages[0], model.initial_estimator_.predict(X))
    np.testing.assert_allclose(stages[-1], model.predict(X))


@pytest.mark.slow
def test_a_stage_is_the_model_of_that_many_calls() -> None:
    X, y = data(3)
    for calls, stage in enumerate(boosted(max_rmp_calls=6).fit(X, y).staged_predict(X)):
        np.testing.assert_allclose(boosted(max_rmp_calls=calls).fit(X, y).predict(X), stage)


def test_warm_start_goes_on_where_it_was() -> None:
    X, y = data(4)
    model = boosted(max_rmp_calls=3, warm_start=True).fit(X, y)
    model.set_params(max_rmp_calls=8).fit(X, y)
    whole = boosted(max_rmp_calls=8).fit(X, y)
    assert model.n_rmp_calls_ == whole.n_rmp_calls_
    assert (np.diff([*model.history_["objective"], model.certificate_.objective]) <= 1e-6).all()


def test_it_stops_early_on_held_out_rows() -> None:
    X, y = data(5, n=500)
    model = boosted(max_rmp_calls=60, early_stopping=2).fit(X, y)
    assert model.n_rmp_calls_ < 60
    assert len(list(model.staged_predict(X))) == model.n_rmp_calls_ + 1


def test_rules_weighted_by_their_share_are_fewer_and_misses_go_to_the_fallback() -> None:
    X, y = data(6)
    model = boosted(rule_weights="z", scale=np.var(y) / 10, step=1.0).fit(X, y)
    kept = model.z_ > 1e-9
    assert len(model.rules_) == kept.sum() < len(model.pool_) and not model.missed(X).any()
    covered = model.apply(X).toarray() * model.z_[kept]
    np.testing.assert_allclose(model.predict(X), covered @ model.rules_.evidence.mean / covered.sum(axis=1), rtol=1e-6)
    far = np.random.default_rng(0).uniform(-2, 3, size=(300, 6))
    missed = model.missed(far)
    if missed.any():
        np.testing.assert_allclose(model.predict(far[missed]), y.mean())


@pytest.mark.slow
@pytest.mark.parametrize("pricing", ["tree", "forest", "binned"])
def test_new_rules_come_from_trees_of_numbers(pricing: str) -> None:
    X, y = data(7, n=300)
    X_train, X_test, y_train, y_test = train_test_split(X, y, random_state=0)
    model = boosted(pricing=pricing, max_rmp_calls=6, scale=np.var(y) / 10).fit(X_train, y_train)
    assert model.n_rmp_calls_ > 1 and model.history_["added"].iloc[0] > 0
    assert model.score(X_test, y_test) > 0.55
    assert model.initial_estimator_.get_n_leaves() > 4


@pytest.mark.parametrize("pricing", ["bicriteria", "exact"])
def test_searches_by_classes_are_refused_with_the_way_out(pricing: str) -> None:
    X, y = data(8)
    with pytest.raises(MismatchedDataError, match="supports only classes, but these samples have numbers; choose"):
        boosted(pricing=pricing).fit(X, y)


def test_weights_count_as_repeated_rows() -> None:
    X, y = data(9)
    weight = np.random.default_rng(0).integers(1, 3, len(y))
    tree = DecisionTreeRegressor(max_depth=3, random_state=0)
    weighted = boosted(estimator=tree, max_rmp_calls=0).fit(X, y, sample_weight=weight)
    repeated = boosted(estimator=tree, max_rmp_calls=0).fit(np.repeat(X, weight, axis=0), np.repeat(y, weight))
    np.testing.assert_allclose(weighted.rules_.evidence.sums, repeated.rules_.evidence.sums, atol=1e-9)
    np.testing.assert_allclose(weighted.predict(X), repeated.predict(X))


def test_a_pickled_cloned_and_searched_model_works() -> None:
    X, y = load_diabetes(return_X_y=True)
    for pricing in ("tree", "binned"):
        model = boosted(max_rmp_calls=3, pricing=pricing).fit(X, y)
        again = pickle.loads(pickle.dumps(model))
        np.testing.assert_array_equal(again.predict(X), model.predict(X))
        clone(model)
    grid = {"max_rmp_calls": [1, 3], "estimator": [DecisionTreeRegressor(max_depth=3)]}
    assert GridSearchCV(boosted(), grid, cv=2).fit(X, y).best_score_ > 0.2


def test_one_thread_and_two_give_the_same_pool() -> None:
    X, y = data(10)
    one, two = (boosted(pricing="forest", max_rmp_calls=2, n_jobs=jobs).fit(X, y) for jobs in (1, 2))
    assert one.rules_ == two.rules_


@pytest.mark.slow
def test_a_time_limit_is_kept() -> None:
    X, y = data(11, n=1500)
    start = time.perf_counter()
    with pytest.warns(CutShortWarning):
        model = boosted(max_rmp_calls=100_000, time_limit=0.03, estimator=DecisionTreeRegressor(max_depth=8)).fit(X, y)
    assert time.perf_counter() - start < 60  # one call more, and a busy machine
    assert model.n_rmp_calls_ < 100_000


def test_intervals_and_reasons_come_with_a_pool_as_well() -> None:
    X, y = data(12, n=800)
    X_train, X_test, y_train, y_test = train_test_split(X, y, random_state=0)
    model = boosted().fit(X_train, y_train)
    lower, upper = model.predict_interval(X_test, 0.9).T
    assert 0.85 < np.mean((lower <= y_test) & (y_test <= upper)) <= 1
    reasons = model.why(X_test[:5])
    np.testing.assert_allclose(reasons.groupby("row")["value"].mean(), model.predict(X_test[:5]))
    assert str(model.rules_).splitlines()[0].split() == ["rule", "mean", "spread", "support", "if"]


@pytest.mark.parametrize(
    ("setting", "error", "message"),
    [
        ({"scale": -1}, ValueError, "scale is -1"),
        ({"vote": "shares"}, ValueError, "vote is 'shares'; choose one of 'equal', 'support', 'precision'"),
        ({"fallback": "majority"}, ValueError, "fallback is 'majority'; choose one of 'mean'"),
        ({"criterion": "gini"}, ValueError, "criterion is 'gini'; choose one of 'squared_error'"),
        ({"max_rmp_calls": -1}, ValueError, "max_rmp_calls is -1"),
    ],
    ids=lambda value: next(iter(value)) if isinstance(value, dict) else None,
)
def test_settings_out_of_range_are_named_with_their_value(setting, error, message) -> None:
    X, y = data(0, n=60)
    with pytest.raises(error, match=message):
        RCBoostRegressor(**setting).fit(X, y)


@pytest.mark.filterwarnings("ignore::rulecover.exceptions.RulecoverWarning")
def test_precision_is_above_zero_where_all_rows_are_alike() -> None:
    X, y = np.array([[0.0], [1.0]]), [18384514596.251434, 0.74253540663465]  # one of them is held out

    boosted = RCBoostRegressor(early_stopping=True, vote="precision", random_state=0).fit(X, y)

    assert (boosted.vote_.votes[:, 1] > 0).all()
    assert boosted.why(X)["value"].tolist() == pytest.approx(boosted.predict(X).tolist())
