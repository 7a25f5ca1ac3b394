"""MIRCO for numbers as its users see it, and its properties against plain loops and brute force."""

from __future__ import annotations

import pickle
import time
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from hypothesis import example, given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from sklearn.base import clone
from sklearn.datasets import load_diabetes, make_friedman1, make_regression
from sklearn.ensemble import BaggingRegressor, ExtraTreesRegressor, RandomForestClassifier, RandomForestRegressor
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import Lasso, Ridge
from sklearn.metrics import r2_score
from sklearn.model_selection import GridSearchCV, cross_val_score, train_test_split
from sklearn.tree import DecisionTreeRegressor
from strategies import DIGITS, DataSet, covering_problems, data_sets

from rulecover import (
    MIRCOClassifier,
    MIRCORegressor,
    RCBoostRegressor,
    RulePathRegressor,
    RuleTransformer,
    explain,
    linear_rules,
)
from rulecover.coverage import Coverage
from rulecover.export import from_json, to_json
from rulecover.mirco.forward import Forward
from rulecover.setcover import Cover, CoveringProblem, Greedy, Status, verify
from rulecover.setcover.master import Master
from rulecover.targets.numbers.impurity import SquaredError
from rulecover.targets.numbers.samples import NumberSamples
from rulecover.voting.ridge import GrowingRidge


def data(seed: int = 0, n: int = 200) -> tuple[np.ndarray, np.ndarray]:
    return make_friedman1(n, 6, noise=1.0, random_state=seed)


def forest(seed: int = 0, **settings) -> RandomForestRegressor:
    return RandomForestRegressor(**{"n_estimators": 15, "max_depth": 4, "random_state": seed, **settings})


def plain(model, X, y, **options) -> MIRCORegressor:
    """Algorithm 1 as it is, for a trained model."""
    sample_weight = options.pop("sample_weight", None)
    return MIRCORegressor.as_in_paper(FrozenEstimator(model), **options).fit(X, y, sample_weight=sample_weight)


# The cover ------------------------------------------------------------------------------------------------------


def naive_mirco(model, X, y, weight: float = 1.0) -> list[tuple[int, int]]:
    """Algorithm 1 with Algorithm S.1 in plain loops: the chosen (tree, leaf) pairs."""
    leaves = model.apply(X)
    cost = {}
    for t in range(leaves.shape[1]):
        for leaf in sorted(set(leaves[:, t])):
            cost[t, leaf] = 1 + weight * np.var(y[leaves[:, t] == leaf]) / np.var(y)
    uncovered, picks = set(range(len(X))), []
    while uncovered:
        best = None
        for (t, leaf), price in cost.items():  # trees in order, leaves by node number: the first of equals wins
            gain = sum(leaves[i, t] == leaf for i in uncovered)
            if gain and (best is None or price / gain < best[0] - 1e-12):
                best = price / gain, (t, leaf)
        picks.append(best[1])
        uncovered -= {i for i in uncovered if leaves[i, best[1][0]] == best[1][1]}
    by_cost = sorted(picks, key=lambda key: cost[key])
    while all(any(leaves[i, t] == leaf for t, leaf in by_cost[:-1]) for i in range(len(X))):
        by_cost.pop()
    return [key for key in picks if key in by_cost]


@pytest.mark.parametrize("weight", [1.0, 7.0])
def test_the_plain_rules_are_those_of_the_paper_in_plain_loops(weight: float) -> None:
    for seed in range(4):
        X, y = data(seed, n=100)
        model = forest(seed, n_estimators=5, max_depth=3).fit(X, y)
        chosen = naive_mirco(model, X, y, weight)
        mirco = plain(model, X, y, impurity_weight=weight)
        leaves = model.apply(X)
        expected = np.column_stack([leaves[:, t] == leaf for t, leaf in chosen])
        np.testing.assert_array_equal(mirco.apply(X).toarray(), expected)


@pytest.mark.slow
@settings(deadline=None, max_examples=25)
@example(seed=115, weighted=True, offset=-1e12)
@given(seed=st.integers(0, 1000), weighted=st.booleans(), offset=st.sampled_from([0.0, 1e7, -1e12]))
def test_means_spreads_and_costs_are_those_of_the_covered_samples(seed: int, weighted: bool, offset: float) -> None:
    X, y = data(seed % 7, n=80)
    y = y + offset
    weight = np.random.default_rng(seed).integers(1, 5, len(y)).astype(float) if weighted else None
    model = forest(seed, n_estimators=4, max_depth=3).fit(X, y)
    rules = plain(model, X, y, sample_weight=weight, impurity_weight=3.0).rules_
    covered, count = rules.apply(X).toarray(), np.ones(len(y)) if weight is None else weight
    whole = np.average((y - np.average(y, weights=count)) ** 2, weights=count)
    for j, rule in enumerate(rules):
        mine = covered[:, j]
        mean = np.average(y[mine], weights=count[mine])
        variance = np.average((y[mine] - mean) ** 2, weights=count[mine])
        assert rule.prediction == pytest.approx(mean, rel=1e-9, abs=1e-9)
        assert rule.spread == pytest.approx(np.sqrt(variance), abs=1e-5 * (1 + abs(offset) * 1e-9))
        assert rule.support == count[mine].sum()
        assert rule.cost == pytest.approx(1 + 3 * variance / whole, abs=1e-5)
        assert rule.impurity == pytest.approx(variance / whole, abs=1e-5)


@pytest.mark.slow
@pytest.mark.parametrize("solver", ["forward", "greedy", "search", "exact"])
def test_every_sample_is_covered_as_often_as_demanded(solver: str) -> None:
    X, y = data(1, n=120)
    model = forest(n_estimators=8).fit(X, y)
    for demand in (1, 2, 3):
        mirco = plain(model, X, y, solver=solver, demand=demand, time_limit=20, random_state=0)
        times = np.asarray(mirco.apply(X).sum(axis=1)).ravel()
        assert (times < demand).sum() <= mirco.certificate_.n_capped
        assert mirco.certificate_.n_uncovered == 0 and not len(mirco.uncovered_)


@pytest.mark.slow
def test_solvers_give_ever_cheaper_covers_and_the_lp_is_below_them_all() -> None:
    for seed in range(3):
        X, y = data(seed, n=120)
        model = forest(seed, n_estimators=10).fit(X, y)
        greedy, search, exact = (
            plain(model, X, y, solver=solver, random_state=0, time_limit=60, impurity_weight=4.0).certificate_
            for solver in ("greedy", "search", "exact")
        )
        assert greedy.objective >= search.objective - 1e-9 >= exact.objective - 2e-9
        problem = plain(model, X, y, impurity_weight=4.0).covering_problem(X, y)
        relaxed = Master(problem.coverage, problem.cost).solve()
        assert relaxed.objective <= exact.objective + 1e-6
        assert relaxed.duals.sum() == pytest.approx(relaxed.objective, abs=1e-6)
        assert greedy.bound <= exact.objective + 1e-9


def test_the_scale_is_the_squared_error_that_costs_as_much_as_a_rule() -> None:
    X, y = data(2)
    model = forest().fit(X, y)
    auto, half = plain(model, X, y), plain(model, X, y, scale=np.var(y) / 2)
    double = plain(model, X, y, impurity_weight=2.0)
    np.testing.assert_allclose(half.rules_.evidence.cost, double.rules_.evidence.cost)
    assert half.rules_ == double.rules_
    np.testing.assert_allclose(half.predict(X), double.predict(X))
    always = plain(DecisionTreeRegressor(max_depth=1, min_samples_leaf=150).fit(X, y), X, y)
    assert always.rules_[0].cost == pytest.approx(2.0)
    assert auto.certificate_.objective < half.certificate_.objective


@pytest.mark.parametrize("solver", ["forward", "greedy"])
def test_other_units_and_another_zero_change_nothing_but_the_numbers(solver: str) -> None:
    X, y = data(3)
    model = forest(max_leaf_nodes=8).fit(X, y)
    one, other = (
        MIRCORegressor(FrozenEstimator(model), solver=solver, min_samples=1, max_rules=12).fit(X, target)
        for target in (y, 1e-4 * y - 300)
    )
    assert one.rules_ == other.rules_
    np.testing.assert_allclose(1e-4 * one.predict(X) - 300, other.predict(X), rtol=1e-9)
    np.testing.assert_allclose(1e-4 * one.predict_interval(X) - 300, other.predict_interval(X), rtol=1e-9)


# Forward choice -------------------------------------------------------------------------------------------------


@pytest.mark.slow
@settings(max_examples=40)
@given(problem=covering_problems(), limit=st.sampled_from([1, 2, 3, 5, 8, 20]), data=st.data())
def test_forward_keeps_its_limit_and_leaves_no_sample_out_if_it_can(
    problem: CoveringProblem, limit: int, data: st.DataObject
) -> None:
    z = data.draw(arrays(float, problem.n_samples, elements=st.integers(-20, 20).map(float)))
    weight = np.ones(problem.n_samples) if problem.weight is None else problem.weight
    cover = Forward(shortlist=3).on(z, weight)(problem, max_rules=limit)
    verify(problem, cover)
    assert len(cover) <= limit
    assert len(set(cover.rules.tolist())) == len(cover)
    if len(Greedy()(problem)) * 2 <= limit:
        assert cover.certificate.n_uncovered == 0


def test_forward_takes_what_explains_most_as_long_as_the_rest_can_be_covered() -> None:
    rng = np.random.default_rng(0)
    masks = np.vstack([np.ones(40, dtype=bool), rng.random((12, 40)) < 0.4])
    problem = CoveringProblem(Coverage.of_masks(masks), np.ones(13))
    z = rng.normal(size=40) + 2 * masks[3] - masks[7]
    cover = Forward(shortlist=13, ridge=2.0, shrinkage=1.0).on(z, np.ones(40))(problem, max_rules=6)
    expected: list[int] = []
    residual = z - z.mean()
    size = masks.sum(axis=1)
    for _ in range(5):  # of the six rules one is kept for the rule that covers all
        gain = (masks @ residual) ** 2 / (size * (1 - size / 40) + 1.0)
        gain[expected] = -1
        expected.append(int(gain.argmax()))
        fit = Ridge(alpha=2.0).fit(masks[expected].T, z)
        residual = z - fit.predict(masks[expected].T)
    assert cover.rules[:5].tolist() == expected
    assert cover.certificate.n_uncovered == 0


@pytest.mark.slow
def test_a_forward_choice_among_very_many_rules_ends_in_time_and_says_that_it_was_cut() -> None:
    random = np.random.default_rng(0)
    ids = [np.unique(random.geometric(1e-3, 100_000), return_inverse=True)[1] + 1 for _ in range(10)]
    coverage = Coverage.of_ids([each.astype(np.uint16) for each in ids], [each.max() for each in ids], 100_000)
    problem = CoveringProblem(coverage, 1 + random.random(coverage.n_rules))
    z, weight = random.normal(size=100_000), np.ones(100_000)
    begin = time.process_time()
    cover = Forward(time_limit=0.5).on(z, weight)(problem)
    assert time.process_time() - begin < 3
    assert cover.status == Status.TIME_LIMIT and not len(problem.shortfall(cover.rules))
    verify(problem, cover)


def test_a_forward_choice_from_a_list_that_was_cut_says_so_and_keeps_the_limit_of_the_list() -> None:
    masks = np.vstack([np.ones(15, dtype=bool), np.random.default_rng(0).random((12, 15)) < 0.4])
    problem = CoveringProblem(Coverage.of_masks(masks), np.ones(13))
    told: list[float | None] = []

    class Cut(Greedy):
        def __call__(self, *given: Any, **more: Any) -> Cover:
            told.append(self.time_limit)
            cover = super().__call__(*given, **more)
            return replace(cover, certificate=replace(cover.certificate, status=Status.TIME_LIMIT))

    for limit, most in ((None, 0.7), (9.0, 0.7), (0.4, 0.2)):
        solver = Forward(shortlist=3, solver=Cut(time_limit=0.7), time_limit=limit)
        assert solver.on(np.arange(15.0), np.ones(15))(problem).status == Status.TIME_LIMIT
        assert told.pop() <= most
    assert Forward(shortlist=3).on(np.arange(15.0), np.ones(15))(problem).status == Status.FEASIBLE


def test_forward_needs_numbers() -> None:
    never_trained = RandomForestClassifier(n_estimators=-1)
    with pytest.raises(ValueError, match="for numbers, but MIRCOClassifier predicts classes; choose one of 'greedy'"):
        MIRCOClassifier(never_trained, solver=Forward()).fit([[0.0], [1.0]], [0, 1])
    for wrong in ({"shortlist": 0}, {"ridge": 0.0}, {"shrinkage": -1.0}):
        with pytest.raises(ValueError, match=f"{next(iter(wrong))} is"):
            Forward(**wrong)


def test_a_limit_is_kept_and_what_stays_uncovered_is_listed() -> None:
    X, y = data(4)
    model = forest(max_leaf_nodes=12).fit(X, y)
    for limit in (1, 3, 6, 10, 30):
        mirco = MIRCORegressor(FrozenEstimator(model), max_rules=limit, min_samples=1).fit(X, y)
        assert len(mirco.rules_) <= limit
        np.testing.assert_array_equal(mirco.uncovered_, np.flatnonzero(mirco.missed(X)))
        assert (mirco.certificate_.status == Status.LIMITED) == bool(len(mirco.uncovered_))
    assert not len(mirco.uncovered_)


def test_the_default_covers_every_row_by_at_most_twenty_rules_and_is_near_the_forest() -> None:
    X, y = data(5, n=400)
    X_train, X_test, y_train, y_test = train_test_split(X, y, random_state=0)
    mirco = MIRCORegressor(random_state=0).fit(X_train, y_train)
    tree = DecisionTreeRegressor(max_leaf_nodes=20, random_state=0).fit(X_train, y_train)
    assert len(mirco.rules_) <= 20 and not mirco.missed(X_train).any()
    assert mirco.score(X_test, y_test) > tree.score(X_test, y_test) + 0.05
    assert mirco.fidelity(X_test) == pytest.approx(r2_score(mirco.estimator_.predict(X_test), mirco.predict(X_test)))


# Values ---------------------------------------------------------------------------------------------------------


@settings(max_examples=30)
@given(data_sets(cells=DIGITS, min_rows=2))
def test_fitted_values_are_those_of_ridge_regression(drawn: DataSet) -> None:
    X, z, weight = drawn
    columns = np.column_stack([X > 3, X > 1])
    fitted = GrowingRidge.on(scipy.sparse.csr_array(columns), z[:, None], weight, strength=2.5).votes()[:, 0]
    ridge = Ridge(alpha=2.5).fit(columns, z, sample_weight=weight)
    np.testing.assert_allclose(fitted[1:], ridge.coef_, atol=1e-9)
    assert fitted[0] == pytest.approx(ridge.intercept_, abs=1e-9)


def test_a_fitted_answer_is_the_default_and_what_the_covering_rules_add() -> None:
    X, y = data(6)
    mirco = MIRCORegressor(max_rules=8, random_state=0).fit(X, y)
    seen = mirco.rules_.evidence
    covered = mirco.apply(X).toarray().astype(float)
    np.testing.assert_allclose(mirco.predict(X), seen.default + covered @ seen.adds)
    ridge = Ridge(alpha=5.0).fit(covered, y)
    np.testing.assert_allclose(mirco.predict(X), ridge.predict(covered))


@pytest.mark.parametrize("vote", ["equal", "support", "precision"])
def test_a_plain_answer_is_the_weighted_mean_of_the_covering_rules(vote: str) -> None:
    X, y = data(7)
    mirco = plain(forest().fit(X, y), X, y, vote=vote, demand=2)
    covered, seen = mirco.apply(X).toarray().astype(float), mirco.rules_.evidence
    say = {
        "equal": np.ones(len(mirco.rules_)),
        "support": covered.sum(axis=0),
        "precision": 1 / (seen.spread**2 + 0.05 * np.var(y)),
    }[vote]
    expected = (covered @ (say * seen.mean)) / (covered @ say)
    np.testing.assert_allclose(mirco.predict(X), expected, rtol=1e-6)
    if vote == "support":
        pooled = [np.concatenate([y[covered[:, j] > 0] for j in np.flatnonzero(row)]).mean() for row in covered]
        np.testing.assert_allclose(mirco.predict(X), pooled)


def missing_rows(**options) -> tuple[MIRCORegressor, np.ndarray]:
    X, y = data(8)
    mirco = MIRCORegressor(FrozenEstimator(forest().fit(X, y)), max_rules=3, min_samples=1, **options).fit(X, y)
    far = np.random.default_rng(0).uniform(-1, 2, size=(300, 6))
    missed = far[mirco.missed(far)]
    assert len(missed) > 10
    return mirco, missed


@pytest.mark.parametrize("ridge", [None, 5.0])
def test_the_fallbacks_answer_for_missed_rows(ridge: float | None) -> None:
    mirco, X = missing_rows(ridge=ridge)
    seen, rules = mirco.rules_.evidence, mirco.rules_
    naive = seen.of_all[0] if ridge is None else seen.default
    np.testing.assert_allclose(mirco.set_params(fallback="mean").predict(X), naive)
    np.testing.assert_allclose(mirco.set_params(fallback="model").predict(X), mirco.estimator_.predict(X))
    shares = rules.accepted(X)
    closest = shares == shares.max(axis=1, keepdims=True)
    expected = (closest @ seen.mean) / closest.sum(axis=1)
    np.testing.assert_allclose(mirco.set_params(fallback="closest").predict(X), expected)
    along = rules.accepted(X, along_paths=True)
    heard = along.sum(axis=1) > 0
    answers = mirco.set_params(fallback="all").predict(X)
    np.testing.assert_allclose(answers[heard], (along @ seen.mean)[heard] / along.sum(axis=1)[heard])
    np.testing.assert_allclose(answers[~heard], naive)


@pytest.mark.slow
@pytest.mark.parametrize("ridge", [None, 5.0])
def test_why_names_the_rules_that_fired_and_what_they_said(ridge: float | None) -> None:
    X, y = data(9)
    mirco = MIRCORegressor(ridge=ridge, random_state=0).fit(X, y)
    reasons = mirco.why(X[:40])
    fired = np.zeros((40, len(mirco.rules_)), dtype=bool)
    fired[reasons["row"], reasons["rule"]] = True
    np.testing.assert_array_equal(fired, mirco.apply(X[:40]).toarray())
    assert set(reasons["decided_by"]) == {"rules"}
    np.testing.assert_allclose(reasons.groupby("row")["prediction"].first(), mirco.predict(X[:40]))
    if ridge is None:
        np.testing.assert_allclose(reasons.groupby("row")["value"].mean(), mirco.predict(X[:40]))
    else:
        added = reasons.groupby("row")["adds"].sum() + mirco.rules_.evidence.default
        np.testing.assert_allclose(added, mirco.predict(X[:40]))


@pytest.mark.slow
@pytest.mark.parametrize("fallback", ["mean", "closest", "all", "model"])
@pytest.mark.parametrize("ridge", [None, 5.0])
def test_why_tells_how_the_fallback_decided(fallback: str, ridge: float | None) -> None:
    mirco, X = missing_rows(ridge=ridge)
    reasons = mirco.set_params(fallback=fallback).why(X)
    assert set(reasons["decided_by"]) == {fallback}
    assert set(reasons["row"]) == set(range(len(X)))
    np.testing.assert_allclose(reasons.groupby("row")["prediction"].first(), mirco.predict(X))
    if fallback == "closest":
        column, offset = ("value", 0.0) if ridge is None else ("adds", mirco.rules_.evidence.default)
        np.testing.assert_allclose(reasons.groupby("row")[column].mean() + offset, mirco.predict(X))


# Intervals ------------------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("options", [{}, {"ridge": None}, {"max_rules": 40}, {"solver": "greedy", "ridge": None}])
def test_intervals_hold_about_as_many_held_out_numbers_as_they_say(options: dict) -> None:
    X, y = data(10, n=1500)
    X_train, X_test, y_train, y_test = train_test_split(X, y, random_state=0, test_size=0.5)
    mirco = MIRCORegressor(random_state=0, **options).fit(X_train, y_train)
    widths = []
    for coverage in (0.5, 0.8, 0.95):
        lower, upper = mirco.predict_interval(X_test, coverage).T
        np.testing.assert_allclose((lower + upper) / 2, mirco.predict(X_test))
        # Means of wide rules are spread more than their mean is off: these intervals are on the safe side.
        most = coverage + (0.15 if options.get("ridge", 5.0) else 0.25)
        assert coverage - 0.08 < np.mean((lower <= y_test) & (y_test <= upper)) < min(1.0, most)
        widths.append(np.mean(upper - lower))
    assert widths == sorted(widths) and np.mean(upper - lower) < 4 * np.std(y) * 1.1


def test_the_spread_of_a_plain_answer_is_that_within_the_rules_and_between_them() -> None:
    X, y = data(11)
    mirco = plain(forest().fit(X, y), X, y, demand=2)
    seen, covered = mirco.rules_.evidence, mirco.apply(X).toarray().astype(float)
    usual = np.average(seen.spread**2, weights=seen.support)
    within = (seen.support * seen.spread**2 + 5 * usual) / (seen.support + 5)
    times = covered.sum(axis=1)
    middle = covered @ seen.mean / times
    between = covered @ seen.mean**2 / times - middle**2
    lower, upper = mirco.predict_interval(X, 0.6826894921370859).T
    np.testing.assert_allclose((upper - lower) / 2, np.sqrt(covered @ within / times + between), rtol=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize(("coverage", "error"), [(0, ValueError), (1, ValueError), (90, ValueError), ("x", TypeError)])
def test_an_impossible_coverage_is_refused(coverage, error) -> None:
    X, y = data(0, n=60)
    mirco = MIRCORegressor(random_state=0).fit(X, y)
    with pytest.raises(error, match="coverage is"):
        mirco.predict_interval(X, coverage)


@pytest.mark.slow
@pytest.mark.parametrize("fallback", ["mean", "closest", "all", "model"])
@pytest.mark.parametrize("ridge", [None, 5.0])
def test_missed_rows_have_intervals_around_their_answers(fallback: str, ridge: float | None) -> None:
    mirco, X = missing_rows(ridge=ridge)
    mirco.set_params(fallback=fallback)
    lower, upper = mirco.predict_interval(X).T
    np.testing.assert_allclose((lower + upper) / 2, mirco.predict(X))
    assert (upper > lower).all() and np.isfinite(upper - lower).all()


# Weights, order, threads ----------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("options", [{}, {"solver": "greedy", "ridge": None, "max_rules": None}, {"demand": 2}])
def test_weights_count_as_repeated_rows(options: dict) -> None:
    X, y = data(12, n=150)
    model = FrozenEstimator(forest(max_depth=None).fit(X, y))
    weight = np.random.default_rng(0).integers(0, 4, len(y))
    repeated = MIRCORegressor(model, **options).fit(np.repeat(X, weight, axis=0), np.repeat(y, weight))
    weighted = MIRCORegressor(model, **options).fit(X, y, sample_weight=weight)
    assert weighted.rules_ == repeated.rules_
    np.testing.assert_allclose(weighted.rules_.evidence.sums, repeated.rules_.evidence.sums, atol=1e-9)
    np.testing.assert_allclose(weighted.predict(X), repeated.predict(X))
    np.testing.assert_allclose(weighted.predict_interval(X), repeated.predict_interval(X))


@pytest.mark.slow
@pytest.mark.parametrize("solver", ["forward", "greedy", "search", "exact"])
def test_the_order_of_the_rows_does_not_matter(solver: str) -> None:
    X, y = data(13, n=150)
    model = FrozenEstimator(forest().fit(X, y))
    shuffle = np.random.default_rng(0).permutation(len(y))
    one = MIRCORegressor(model, solver=solver, random_state=0, time_limit=30).fit(X, y)
    other = MIRCORegressor(model, solver=solver, random_state=0, time_limit=30).fit(X[shuffle], y[shuffle])
    assert one.rules_ == other.rules_
    np.testing.assert_allclose(one.predict(X), other.predict(X))


@pytest.mark.slow
def test_one_thread_and_two_give_the_same_rules() -> None:
    X, y = data(14)
    for options in ({}, {"estimator": RandomForestRegressor(20)}):
        one, two = (MIRCORegressor(n_jobs=jobs, random_state=3, **options).fit(X, y) for jobs in (1, 2))
        assert one.rules_ == two.rules_
        np.testing.assert_array_equal(one.predict(X), two.predict(X))


def test_rows_of_weight_zero_need_no_cover() -> None:
    X, y = data(15)
    model = forest().fit(X, y)
    weight = (np.arange(len(y)) < 60).astype(float)
    mirco = plain(model, X, y, sample_weight=weight)
    assert not mirco.missed(X[:60]).any() and mirco.rules_.evidence.total == 60
    assert mirco.rules_ == plain(model, X[:60], y[:60]).rules_


# Sources --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "model",
    [
        DecisionTreeRegressor(max_depth=5, random_state=0),
        ExtraTreesRegressor(10, max_depth=5, random_state=0),
        BaggingRegressor(n_estimators=5, random_state=0),
        RandomForestRegressor(10, random_state=0),
    ],
    ids=lambda model: type(model).__name__,
)
def test_explain_takes_models_of_numbers_as_they_are(model) -> None:
    X, y = data(16)
    few = explain(model.fit(X, y), X, y, method="cover")
    assert isinstance(few, MIRCORegressor) and few.estimator_ is model
    assert len(few.rules_) <= 20 and few.score(X, y) > 0.3
    np.testing.assert_array_equal(few.rules_.evidence.support, few.apply(X).sum(axis=0))
    assert few.rules_.evidence.support.min() >= few.min_samples_ == 20


def test_explain_still_takes_models_of_classes() -> None:
    from sklearn.ensemble import RandomForestClassifier

    X, y = data(17)
    model = RandomForestClassifier(5, max_depth=3, random_state=0).fit(X, y > y.mean())
    assert isinstance(explain(model, X, y > y.mean(), method="cover"), MIRCOClassifier)


def test_rules_agree_with_the_leaves_of_the_model_if_nothing_is_cut() -> None:
    X, y = data(18)
    model = forest(max_depth=None, n_estimators=3).fit(X, y)
    mirco = plain(model, X, y)
    leaves = model.apply(X)
    pairs = {frozenset(np.flatnonzero(leaves[:, t] == leaf)) for t in range(3) for leaf in set(leaves[:, t])}
    covered = mirco.apply(X).toarray()
    assert {frozenset(np.flatnonzero(column)) for column in covered.T} <= pairs


@pytest.mark.slow
@pytest.mark.parametrize(("given", "fewest"), [(0.25, 50.0), (30, 30.0), (1, 1.0), (0, 0.0)])
def test_no_rule_covers_fewer_samples_than_asked_for(given: float, fewest: float) -> None:
    X, y = data(19)
    mirco = MIRCORegressor(FrozenEstimator(forest(max_depth=None).fit(X, y)), min_samples=given).fit(X, y)
    assert mirco.min_samples_ == fewest
    assert mirco.rules_.evidence.support.min() >= fewest


@pytest.mark.slow
def test_missing_values_and_sparse_rows_are_taken() -> None:
    X, y = data(20)
    holes = X.copy()
    holes[np.random.default_rng(0).random(X.shape) < 0.1] = np.nan
    mirco = MIRCORegressor(random_state=0).fit(holes, y)
    assert not mirco.missed(holes).any() and mirco.score(holes, y) > 0.4
    sparse = scipy.sparse.csr_array(np.where(X < 0.3, 0.0, X))
    for min_samples in ("auto", 10):
        model = MIRCORegressor(RandomForestRegressor(20, random_state=0), min_samples=min_samples)
        one, two = clone(model).fit(sparse, y), clone(model).fit(sparse.toarray(), y)
        np.testing.assert_allclose(one.predict(sparse), two.predict(sparse.toarray()))


def test_mirco_of_a_trained_pool_covers_with_some_of_its_rules() -> None:
    X, y = data(21)
    boosted = RCBoostRegressor(max_rmp_calls=8, random_state=0).fit(X, y)
    few = explain(boosted, X, y, max_rules=12, method="cover")
    assert isinstance(few, MIRCORegressor)
    assert {rule.text for rule in few.rules_} <= {rule.text for rule in boosted.rules_}
    assert not few.missed(X).any() or few.certificate_.n_uncovered


def test_the_covering_problem_is_the_one_that_was_solved() -> None:
    X, y = data(22)
    for mirco in (MIRCORegressor(random_state=0), MIRCORegressor(RandomForestRegressor(10), random_state=0)):
        problem = mirco.fit(X, y).covering_problem(X, y)
        assert problem.n_rules == mirco.n_candidate_rules_


def test_the_covering_problem_of_few_rows_knows_a_share_of_them_from_a_number() -> None:
    X, y = data(22)
    mirco = MIRCORegressor(RandomForestRegressor(10), min_samples=0.1, random_state=0).fit(X[:6], y[:6])
    assert mirco.covering_problem(X[:6], y[:6]).n_rules == mirco.n_candidate_rules_


# Around it ------------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_pickled_cloned_and_searched_model_works() -> None:
    X, y = load_diabetes(return_X_y=True, as_frame=True)
    for mirco in (MIRCORegressor(max_rules=6, random_state=0), MIRCORegressor.as_in_paper(random_state=0)):
        again = pickle.loads(pickle.dumps(mirco.fit(X, y)))
        np.testing.assert_array_equal(again.predict(X), mirco.predict(X))
        np.testing.assert_array_equal(again.predict_interval(X), mirco.predict_interval(X))
        assert again.rules_ == mirco.rules_ and clone(mirco).get_params() == mirco.get_params()
    grid = {"max_rules": [5, 10], "solver": ["forward", Forward(shortlist=10)], "impurity_weight": [1, 5]}
    search = GridSearchCV(MIRCORegressor(random_state=0), grid, cv=2).fit(X, y)
    assert search.best_score_ > 0.2
    assert cross_val_score(MIRCORegressor(random_state=0), X, y, cv=3).mean() > 0.3


def test_rules_become_columns_and_a_sparse_linear_model() -> None:
    X, y = data(23)
    boosted = RCBoostRegressor(max_rmp_calls=5, random_state=0).fit(X, y)
    columns = RuleTransformer(MIRCORegressor(max_rules=7, random_state=0)).set_output(transform="pandas")
    assert columns.fit_transform(X, y).shape == (200, 7)
    sparse, dense = linear_rules(boosted, X, y, C=0.2), linear_rules(boosted, X, 1000 * y, C=0.2)
    assert isinstance(sparse[-1], Lasso) and 0 < np.count_nonzero(sparse[-1].coef_) < len(boosted.rules_)
    np.testing.assert_allclose(dense.predict(X), 1000 * sparse.predict(X), rtol=1e-3)
    weight = np.random.default_rng(0).integers(1, 4, len(y))
    weighted = linear_rules(boosted, X, y, sample_weight=weight)
    repeated = linear_rules(boosted, np.repeat(X, weight, axis=0), np.repeat(y, weight))
    np.testing.assert_allclose(weighted.predict(X), repeated.predict(X), rtol=1e-3)


@pytest.mark.slow
def test_targets_of_any_numeric_kind_will_do() -> None:
    X, y = data(24)
    whole = MIRCORegressor(random_state=0).fit(X, np.round(y)).predict(X)
    for target in (np.round(y).astype(int), pd.Series(np.round(y)), list(np.round(y)), np.round(y).astype(object)):
        np.testing.assert_allclose(MIRCORegressor(random_state=0).fit(X, target).predict(X), whole)
    assert MIRCORegressor(random_state=0).fit(X, y > y.mean()).score(X, y > y.mean()) > 0.3


@pytest.mark.parametrize("model", [MIRCORegressor(), MIRCORegressor.as_in_paper(), RCBoostRegressor(max_rmp_calls=3)])
def test_a_constant_target_is_answered_by_itself(model) -> None:
    X, _ = data(25, n=40)
    fitted = clone(model).set_params(random_state=0).fit(X, np.full(40, 7.25))
    np.testing.assert_allclose(fitted.predict(X), 7.25)
    np.testing.assert_allclose(fitted.predict_interval(X), 7.25)
    assert not fitted.missed(X).any() and fitted.rules_[0].spread == 0


def test_one_row_and_huge_numbers_are_no_problem() -> None:
    assert MIRCORegressor(random_state=0).fit([[1.0]], [3.0]).predict([[5.0]]).tolist() == [3.0]
    X, y = data(26, n=60)
    tree = DecisionTreeRegressor(max_depth=2, random_state=0).fit(X, y)
    small, huge = (MIRCORegressor(FrozenEstimator(tree)).fit(X, factor * y) for factor in (1.0, 1e200))
    np.testing.assert_allclose(huge.predict(X) / 1e200, small.predict(X))
    assert np.isfinite(huge.rules_.evidence.cost).all()


def test_squared_error_ties_are_not_broken_by_rounding() -> None:
    y = np.random.default_rng(0).normal(size=1000) * 1e3 + 1e6
    values = NumberSamples.of(np.zeros((1000, 1)), y)
    one, other = values.summands(), tuple(part[::-1] for part in values.summands())
    group = np.arange(1000) % 10
    np.testing.assert_array_equal(
        SquaredError()(values.sums(group, *one)), SquaredError()(values.sums(group[::-1], *other))
    )
    lone = SquaredError()(values.sums(np.arange(1000), *one))
    assert (lone == 0).all()


def test_rules_of_equal_numbers_have_no_squared_error_in_a_unit_that_is_too_small() -> None:
    """Squares are above a million here, and rounded in their tenth decimal."""
    y = np.array([1810.893402320255, 9.734602663641509e-05, 1.2595445906909755])
    for weight, rows in (([3.0, 2.0, 2.0], [0, 1, 2]), (None, [0, 0, 0, 1, 1, 2, 2])):
        given = None if weight is None else np.array(weight)
        values = NumberSamples.of(np.zeros((len(rows), 1)), y[rows], given, scale=0.5)
        assert SquaredError()(values.sums(np.array(rows), *values.summands())).tolist() == [0.0, 0.0, 0.0]
    two = SquaredError()(np.array([[2.0, 2e3, 2e6 + 2], [2.0, 0.0, 0.5]]))
    assert two.tolist() == [1.0, 0.25]


# Bad input ------------------------------------------------------------------------------------------------------

BAD_X, BAD_Y = make_regression(60, 4, random_state=0)


@pytest.mark.parametrize("kind", [MIRCORegressor, RCBoostRegressor])
@pytest.mark.parametrize(
    ("target", "message"),
    [
        (np.where(np.arange(60) == 3, np.nan, BAD_Y), "NaN"),
        (np.where(np.arange(60) == 3, np.inf, BAD_Y), "infinity"),
        (np.array(["red", "blue"] * 30), "y holds 'red', but .* predicts numbers; give numbers, or use"),
        (np.array([1.0, "two"] * 30, dtype=object), "y holds 'two'"),
        (np.where(np.arange(60) == 3, None, BAD_Y), "NaN|None"),
        (np.column_stack([BAD_Y, BAD_Y]), "y has 2 columns, but a rule predicts one number; train one model for each"),
        ([[1.0, 2.0]] * 60, "y has 2 columns"),
        (BAD_Y[:-1], "inconsistent numbers of samples"),
    ],
    ids=["nan", "infinite", "text", "mixed", "none", "two columns", "two columns in lists", "short"],
)
def test_targets_that_are_no_numbers_are_refused(kind, target, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        kind().fit(BAD_X, target)


@pytest.mark.parametrize(
    ("setting", "error", "message"),
    [
        ({"scale": 0}, ValueError, "scale is 0"),
        ({"scale": "huge"}, ValueError, "scale is 'huge'; give 'auto' or a number above 0"),
        ({"ridge": 0}, ValueError, "ridge is 0; it must be finite and above 0"),
        ({"ridge": "much"}, TypeError, "ridge is 'much'"),
        ({"min_samples": -1}, ValueError, "min_samples is -1"),
        ({"min_samples": "few"}, TypeError, "min_samples is 'few'"),
        ({"max_rules": 0}, ValueError, "max_rules is 0"),
        ({"solver": "backward"}, ValueError, "choose one of 'forward', 'greedy', 'search', 'exact'"),
        ({"criterion": "gini"}, ValueError, "criterion is 'gini'; choose one of 'squared_error'"),
        ({"vote": "counts"}, ValueError, "vote is 'counts'; choose one of 'equal', 'support', 'precision'"),
        (
            {"fallback": "majority"},
            ValueError,
            "fallback is 'majority'; choose one of 'mean', 'closest', 'all', 'model'",
        ),
        ({"impurity_weight": -1}, ValueError, "impurity_weight is -1"),
    ],
    ids=lambda value: str(value) if isinstance(value, dict) else None,
)
def test_settings_out_of_range_are_named_with_their_value(setting: dict, error: type, message: str) -> None:
    with pytest.raises(error, match=message):
        MIRCORegressor(**setting).fit(BAD_X, BAD_Y)


def test_models_of_classes_are_refused_with_the_way_out() -> None:
    from sklearn.ensemble import RandomForestClassifier

    with pytest.raises(TypeError, match=r"RandomForestClassifier is not a regressor.*use MIRCOClassifier"):
        MIRCORegressor(RandomForestClassifier()).fit(BAD_X, BAD_Y)
    with pytest.raises(TypeError, match="use RCBoostClassifier"):
        RCBoostRegressor(RandomForestClassifier()).fit(BAD_X, BAD_Y)
    with pytest.raises(TypeError, match="Lasso"):
        MIRCORegressor(Lasso()).fit(BAD_X, BAD_Y)


@pytest.mark.parametrize("kind", [MIRCORegressor, RCBoostRegressor])
def test_dates_are_no_numbers(kind: type) -> None:
    X = np.arange(40.0)[:, None]
    with pytest.raises(ValueError, match="y holds dates or durations; give numbers"):
        kind().fit(X, np.arange("2020-01-01", "2020-02-10", dtype="datetime64[D]"))


FAR = (1e8, -1e8, 1e11)


@pytest.mark.slow
@pytest.mark.parametrize("far", FAR)
@pytest.mark.parametrize(
    "model",
    [
        MIRCORegressor(random_state=0),
        MIRCORegressor(DecisionTreeRegressor(max_depth=4, random_state=0), ridge=None, fallback="closest"),
        RulePathRegressor(RandomForestRegressor(10, random_state=0), max_rules=8, cv=2, random_state=0),
        RCBoostRegressor(max_rmp_calls=4, random_state=0),
        RCBoostRegressor(max_rmp_calls=4, early_stopping=True, random_state=0),
        RCBoostRegressor(max_rmp_calls=3, pricing="forest", random_state=0),
    ],
    ids=str,
)
def test_numbers_far_from_zero_lose_nothing(model: Any, far: float) -> None:
    X, y = make_regression(200, 4, noise=5.0, random_state=1)
    y = np.round(y / y.std() * 2**10) / 2**10  # which all are exact where they are far
    near, away = clone(model).fit(X, y), clone(model).fit(X, y + far)
    assert near.score(X, y) > 0.6
    assert away.score(X, y + far) == pytest.approx(near.score(X, y), abs=0.02)
    assert away.fidelity(X) == pytest.approx(near.fidelity(X), abs=0.05)
    np.testing.assert_allclose(from_json(to_json(away)).predict(X), away.predict(X), rtol=0, atol=1e-3)
    frame, told = away.rules_.to_frame(), away.why(X[:3])
    assert frame["mean"].between(y.min() + far, y.max() + far).all()
    assert np.abs(told["prediction"] - far).max() < 10
    assert pickle.loads(pickle.dumps(away)).score(X, y + far) == away.score(X, y + far)


@pytest.mark.slow
@pytest.mark.parametrize("unit", [2.0**-26, 2.0**-100])
@pytest.mark.parametrize(
    "model",
    [
        MIRCORegressor(random_state=0),
        RulePathRegressor(max_rules=8, cv=2, random_state=0),
        RCBoostRegressor(max_rmp_calls=4, pricing="tree", random_state=0),
        RCBoostRegressor(max_rmp_calls=3, pricing="forest", random_state=0),
    ],
    ids=str,
)
def test_numbers_close_together_lose_nothing(model: Any, unit: float) -> None:
    """Such as capacities in farads: to scikit-learn a node in which they differ by so little is a leaf."""
    X, y = make_regression(200, 4, noise=5.0, random_state=1)
    y = y / y.std()
    usual, tiny = clone(model).fit(X, y), clone(model).fit(X, y * unit)

    assert usual.score(X, y) > 0.6 and tiny.rules_ == usual.rules_
    np.testing.assert_allclose(tiny.predict(X) / unit, usual.predict(X), atol=1e-9)
    assert tiny.fidelity(X) == pytest.approx(usual.fidelity(X), abs=1e-9)


def test_numbers_near_zero_are_trained_on_as_they_are() -> None:
    X, y = make_regression(100, 4, noise=5.0, random_state=1)
    model = MIRCORegressor(RandomForestRegressor(5, random_state=0)).fit(X, y)
    assert isinstance(model.estimator_, RandomForestRegressor)
    np.testing.assert_array_equal(
        model.estimator_.predict(X), RandomForestRegressor(5, random_state=0).fit(X, y).predict(X)
    )
