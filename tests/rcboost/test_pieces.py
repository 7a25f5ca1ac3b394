"""Small pieces of column generation: what is admitted and removed, bins, limits of trees, and what is refused."""

from __future__ import annotations

import math
import time
from typing import Any

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import load_iris
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeClassifier
from strategies import DIGITS_OR_MISSING, tables

from rulecover import RCBoostClassifier, read_trees
from rulecover.exceptions import MismatchedDataError, UnreadableModelError
from rulecover.rcboost.admission import Negative
from rulecover.rcboost.pricing.bicriteria import BicriteriaPricing
from rulecover.rcboost.pricing.binned import (
    DEEPEST,
    BinnedPricing,
    SummedWeights,
    _dense,
    limits,
    rows_for_bins,
    sampling,
)
from rulecover.rcboost.pricing.bins import Bins
from rulecover.rcboost.pricing.exact import ExactPricing
from rulecover.rcboost.pricing.model import ModelPricing
from rulecover.rcboost.pricing.oracles import Duals, ForestPricing, TreePricing
from rulecover.rcboost.pricing.proposal import farley_bound
from rulecover.rcboost.pricing.settings import check_has_settings
from rulecover.rcboost.removal import Stale
from rulecover.targets.classes.samples import ClassSamples


@given(st.lists(st.sampled_from([-1.0, -0.5, -2e-6, -1e-6, 0.0, 0.5]), max_size=8), st.none() | st.integers(1, 4))
def test_the_most_negative_rules_are_admitted_in_their_order(reduced: list[float], at_most: int | None) -> None:
    negative = [j for j, cost in enumerate(reduced) if cost < -1e-6]
    expected = sorted(sorted(negative, key=lambda j: (reduced[j], j))[:at_most])

    assert Negative(at_most)(np.array(reduced)).tolist() == expected


def test_of_very_many_rules_of_equal_reduced_cost_the_first_are_admitted() -> None:
    reduced = -np.random.default_rng(0).integers(1, 3, 200).astype(float)
    first = np.flatnonzero(reduced == -2)[:30]

    assert (Negative(30)(reduced) == first).all()


def test_a_rule_is_stale_above_the_bound_alone() -> None:
    assert Stale(0.25)(np.array([0.25, 0.3])).tolist() == [False, True] and Stale() == Stale(0.5, 5)
    assert Stale(0.0, 1).calls == 1


def test_a_bound_falls_with_the_least_reduced_cost() -> None:
    assert farley_bound(6.0, -1.0) == 3.0 and farley_bound(6.0, 0.5) == farley_bound(6.0, 0.0) == 6.0


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Negative(0), "at_most is 0; at least one rule must be admitted."),
        (lambda: Stale(-0.1), "above is -0.1; it must be at least 0, the reduced cost of rules in use."),
        (lambda: Stale(calls=0), "calls is 0; a rule can leave after 1 call at the earliest."),
        (lambda: BinnedPricing(n_estimators=0), "n_estimators is 0; at least one tree must be grown per call."),
        (lambda: BicriteriaPricing(max_bins=1), "max_bins is 1; give a whole number of at least 2."),
        (
            lambda: ExactPricing(max_bins=True),
            "max_bins is True; give a whole number of at least 2, or None for one bin per value.",
        ),
        (lambda: ExactPricing(max_rules=True), "max_rules is True; give a whole number of at least 1."),
        (
            lambda: ExactPricing(max_impurity=math.nan),
            "max_impurity is nan; give a number of at least 0, or None for no limit.",
        ),
        (
            lambda: ExactPricing(max_impurity=True),
            "max_impurity is True; give a number of at least 0, or None for no limit.",
        ),
        (
            lambda: limits(DecisionTreeClassifier(max_depth=0), SummedWeights(10.0, 1.0, 10.0)),
            "max_depth of the tree is 0; it must be at least 1, or None.",
        ),
        (
            lambda: sampling(DecisionTreeClassifier(max_features="all"), 4, 0),
            "max_features of the tree is 'all'; give 'sqrt', 'log2' or a number.",
        ),
    ],
)
def test_a_setting_out_of_range_is_named_with_its_value_and_the_way_out(make: Any, message: str) -> None:
    with pytest.raises(ValueError) as raised:
        make()

    assert str(raised.value) == message


def test_the_least_settings_are_taken() -> None:
    assert ExactPricing(max_clauses=1, max_bins=2, max_rules=1, max_impurity=0, effort=None).max_impurity == 0
    assert ExactPricing(max_bins=None).max_bins is None and Negative(at_most=1).at_most == 1
    assert BicriteriaPricing(balance=0).balance == 0 and BicriteriaPricing(balance=1, max_bins=2).max_bins == 2


def test_a_model_without_settings_of_trees_is_refused() -> None:
    check_has_settings(DecisionTreeClassifier(), "binned")
    with pytest.raises(UnreadableModelError) as raised:
        check_has_settings(LogisticRegression(), "binned")
    assert str(raised.value) == (
        "pricing='binned' grows trees by the settings of the estimator, but LogisticRegression is not a scikit-learn "
        "tree or forest; give one of these, or choose pricing='tree'."
    )


# Trees of XGBoost -------------------------------------------------------------------------------------------------


def test_numbers_beyond_float32_are_refused_and_missing_ones_are_not() -> None:
    largest = float(np.finfo(np.float32).max)
    fine = np.array([[largest, np.nan], [-largest, 1.0]])

    assert _dense(fine) is fine
    for wrong in (1e39, -1e39, np.inf):
        with pytest.raises(MismatchedDataError) as raised:
            _dense(np.array([[0.0, wrong]]))
        assert str(raised.value) == "X contains infinity or a value too large for float32; scale or clip that column."
    with pytest.raises(MismatchedDataError) as raised:
        _dense(scipy.sparse.csr_array(fine))
    assert str(raised.value) == (
        "pricing='binned' does not support sparse X; give X.toarray(), or choose pricing='tree' or 'forest'."
    )


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ({}, {"min_child_weight": 0.25}),
        ({"max_depth": 3}, {"max_depth": 3, "min_child_weight": 0.25}),
        ({"max_leaf_nodes": 5}, {"max_leaves": 5, "grow_policy": "lossguide", "min_child_weight": 0.25}),
        ({"min_samples_leaf": 4}, {"min_child_weight": 1.75}),
        ({"min_samples_leaf": 0.05}, {"min_child_weight": 2.25}),  # 5 of 100 rows
        ({"min_samples_leaf": 0.041}, {"min_child_weight": 2.25}),
        ({"min_weight_fraction_leaf": 0.1}, {"min_child_weight": 8.0}),
    ],
)
def test_limits_of_scikit_learn_are_those_of_xgboost(settings: dict[str, Any], expected: dict[str, Any]) -> None:
    found = limits(DecisionTreeClassifier(**settings), SummedWeights(counted=100.0, least=0.5, total=80.0))

    assert found == {"max_depth": DEEPEST} | expected


@pytest.mark.parametrize(
    ("wanted", "count"), [("sqrt", 3), ("log2", 3), (4, 4), (0.5, 5), (0.05, 1), (99, 10), (1, 1), (1.0, 10)]
)
def test_as_many_features_are_drawn_as_scikit_learn_draws(wanted: Any, count: int) -> None:
    found = sampling(DecisionTreeClassifier(max_features=wanted), 10, 7)

    assert found["seed"] == 7 and int(found["colsample_bynode"] * 10) == count and found["colsample_bynode"] <= 1
    assert sampling(DecisionTreeClassifier(), 10, 7) == {}


def test_bins_are_cut_at_the_roundest_numbers_between_values() -> None:
    X = np.array([[0.113], [0.218], [0.331], [1.48], [1.72], [7.93], [8.11], [9.4]])

    (each,), (few,) = (Bins.of(X, most, at_round_numbers=True).cuts for most in (None, 3))

    assert each.tolist() == [0.2, 0.3, 1.0, 1.5, 2.0, 8.0, 9.0]
    assert few.tolist() == [1.0, 8.0]
    assert Bins.of(X, 3).cuts[0] == pytest.approx([0.9055, 8.02])


def test_bins_are_made_from_rows_as_often_as_they_count(monkeypatch: pytest.MonkeyPatch) -> None:
    from rulecover.rcboost.pricing import binned

    assert rows_for_bins(3, None)[0].tolist() == [0, 1, 2] and rows_for_bins(3, None)[1]
    rows, is_all = rows_for_bins(3, np.array([2.0, 1.0, 3.0]))
    assert rows.tolist() == [0, 0, 1, 2, 2, 2] and is_all
    rows, is_all = rows_for_bins(2, np.array([0.5, 1.5]))
    assert rows.tolist() == [0, 1] and not is_all
    monkeypatch.setattr(binned, "SKETCHED", 3)
    rows, is_all = rows_for_bins(5, None)
    assert rows.tolist() == [0, 2, 4] and not is_all


# Bins ---------------------------------------------------------------------------------------------------------------


@pytest.mark.slow
@given(tables(2, cells=DIGITS_OR_MISSING, min_rows=2), st.none() | st.integers(2, 5), st.data())
def test_bins_hold_the_values_between_their_cuts_and_about_as_many_rows(
    X: np.ndarray, max_bins: int | None, data: st.DataObject
) -> None:
    weight = np.array(data.draw(st.lists(st.integers(1, 3), min_size=len(X), max_size=len(X))), dtype=float)

    bins = Bins.of(X, max_bins, weight)
    sparse = Bins.of(scipy.sparse.csr_array(X), max_bins, weight)

    np.testing.assert_array_equal(sparse.codes, bins.codes)
    assert bins.n_bins == 1 + max(len(cut) for cut in bins.cuts) == bins.missing
    assert bins.any_missing == np.isnan(X).any()
    for f, cut in enumerate(bins.cuts):
        values = X[:, f]
        known = np.unique(values[~np.isnan(values)])
        expected = [bins.missing if math.isnan(v) else int((v > cut).sum()) for v in values]
        assert bins.codes[f].tolist() == expected
        if max_bins is None or len(known) <= max_bins:
            np.testing.assert_allclose(cut, (known[1:] + known[:-1]) / 2 if len(known) else [])
        else:
            assert len(cut) < max_bins and set(cut) <= set((known[1:] + known[:-1]) / 2)
        total = np.cumsum([weight[values == v].sum() for v in known])
        if max_bins is not None and len(known) > max_bins:
            ends = {known[int(np.argmax(total >= k * total[-1] / max_bins - 1e-9))] for k in range(1, max_bins)}
            assert {known[int((known <= c).sum()) - 1] for c in cut} == {end for end in ends if end < known[-1]}
        for code in range(-1, len(cut) + 1):
            limit = -math.inf if code < 0 else (cut[code] if code < len(cut) else math.inf)
            assert bins.threshold(np.array([f]), np.array([code]))[0] == limit


def test_the_certificate_counts_the_rules_of_the_last_pool() -> None:
    X, y = load_iris(return_X_y=True)
    model = RCBoostClassifier(pricing="tree", max_rmp_calls=3, random_state=0).fit(X, y)

    assert model.certificate_.n_rules == model.history_["rules"].iloc[-1] >= len(model.rules_)


@pytest.mark.parametrize(("pricing", "n_trees"), [(TreePricing(), 1), (ForestPricing(n_estimators=3), 3)])
def test_trees_of_a_trained_model_are_proposed_as_many_at_a_time_as_would_be_grown(pricing: Any, n_trees: int) -> None:
    X, y = load_iris(return_X_y=True)
    trees = read_trees(RandomForestClassifier(6, max_depth=2, random_state=0).fit(X, y))

    assert pricing.of_model(trees).n_estimators == n_trees


@pytest.mark.parametrize(("seconds", "n_trees"), [(1e-5, 1), (9e-4, 2), (1e-2, 3), (math.inf, 3)])
def test_as_many_trees_of_a_model_are_proposed_as_there_is_time_for(
    seconds: float, n_trees: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    X, y = load_iris(return_X_y=True)
    trees = read_trees(RandomForestClassifier(6, max_leaf_nodes=4, random_state=0).fit(X, y))
    samples = ClassSamples.of(X, y, np.arange(3), None, None)
    monkeypatch.setattr(time, "perf_counter", lambda: 0.0)  # reading takes no time, and each rule a tenth of a ms
    duals = Duals(np.full(150, 0.1), np.ones(150), read_by=seconds)

    proposal = ModelPricing(trees, 3)(samples, duals, None, 0)
    best = ModelPricing(trees, n_trees)(samples, Duals(duals.current, duals.accumulated), None, 0)

    assert [tree.feature.tolist() for tree in proposal.rules.trees] == [t.feature.tolist() for t in best.rules.trees]
    assert proposal.unread == ("" if n_trees == 3 else f"{n_trees} of 3 trees were proposed at a call")
    assert proposal.least_reduced_cost == best.least_reduced_cost
