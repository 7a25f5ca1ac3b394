"""A row of weight 3 is three rows: whatever the settings of the loop, the same rules come, with the same votes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.tree import DecisionTreeClassifier
from weighted_rows import added_alike, both, same_rules, table

from rulecover import RCBoostClassifier, RCBoostRegressor
from rulecover.pool import rule_pool
from rulecover.rcboost.pricing.bins import Bins
from rulecover.rcboost.pricing.exact import ExactPricing
from rulecover.rcboost.pricing.grower import GrowingSamples, Limits, grow
from rulecover.rcboost.pricing.oracles import Duals, ForestPricing
from rulecover.rcboost.removal import Stale
from rulecover.setcover.master import Master
from rulecover.targets.classes.impurity import Gini
from rulecover.targets.classes.samples import ClassSamples
from rulecover.targets.impurity import Price

#: Settings of the loop; those of its pricing are in the contract of pricings.
LOOPS: dict[str, dict[str, Any]] = {
    "paper": {"duals": "vertex", "step": 1.0},
    "shares": {"vote": "shares", "rule_weights": "z"},
    "removal": {"remove": Stale(above=0.1, calls=2)},
}


@pytest.mark.slow
@pytest.mark.parametrize("name", LOOPS)
def test_weights_of_a_classifier_are_repeated_rows(name: str) -> None:
    assert added_alike(RCBoostClassifier, pricing=ForestPricing(4), **LOOPS[name]) > 100


@pytest.mark.slow
@pytest.mark.parametrize("name", ["paper", "removal"])
def test_weights_of_a_regressor_are_repeated_rows(name: str) -> None:
    assert added_alike(RCBoostRegressor, **LOOPS[name]) > 50


@pytest.mark.slow
def test_least_numbers_of_samples_count_repeated_rows() -> None:
    for pricing in ("tree", "forest", "bicriteria"):
        X, y, weight = table(1)
        tree = DecisionTreeClassifier(max_depth=6, min_samples_leaf=9, min_samples_split=0.1, random_state=0)
        weighted, repeated = both(RCBoostClassifier, tree, (X, y, weight), pricing=pricing, max_rmp_calls=4)
        assert same_rules(weighted, repeated)
        assert weighted.pool_.evidence.support.min() >= 9


@pytest.mark.slow
def test_rows_of_weight_zero_are_not_there() -> None:
    X, y, weight = table(2)
    weight[::7] = 0
    weighted, repeated = both(RCBoostClassifier, DecisionTreeClassifier(max_depth=4, random_state=0), (X, y, weight))
    assert same_rules(weighted, repeated) > 10


@pytest.mark.slow
def test_class_weights_are_weights_of_rows() -> None:
    X, y, _ = table(5)
    tree = DecisionTreeClassifier(max_depth=4, random_state=0)
    settings = {"max_rmp_calls": 8, "random_state": 0}
    by_class = RCBoostClassifier(tree, class_weight={0: 1, 1: 3, 2: 2}, **settings).fit(X, y)
    times = np.array([1, 3, 2])[y]
    repeated = RCBoostClassifier(tree, **settings).fit(np.repeat(X, times, axis=0), np.repeat(y, times))
    assert same_rules(by_class, repeated) > 10


# The parts ------------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_prices_of_a_group_are_shared_by_weight() -> None:
    boosting = RCBoostClassifier(pricing=ForestPricing(4), random_state=0, max_rmp_calls=3)
    for seed in range(6):
        X, y, weight = table(seed, 60)
        data = ClassSamples(X, y, np.arange(3), weight.astype(float))
        rules = rule_pool(data, boosting.fit(X, y).pool_, Price(Gini()))
        for duals in ("equal", "vertex"):
            shared = Master(rules.coverage, rules.evidence.cost, duals=duals, weight=data.weight).solve()
            rows = np.repeat(np.arange(len(y)), weight)
            plain = Master(rules.coverage.among(rows), rules.evidence.cost, duals=duals).solve()
            np.testing.assert_allclose(shared.duals, np.bincount(rows, plain.duals), atol=1e-12)
            assert shared.objective == pytest.approx(plain.objective)


def test_bins_are_those_of_repeated_rows() -> None:
    rng = np.random.default_rng(0)
    for max_bins in (3, 8, 40):
        X, weight = rng.normal(size=(150, 3)), rng.integers(1, 9, 150)
        X[rng.random(X.shape) < 0.1] = np.nan
        weighted, repeated = Bins.of(X, max_bins, weight), Bins.of(np.repeat(X, weight, axis=0), max_bins)
        for mine, theirs in zip(weighted.cuts, repeated.cuts, strict=True):
            np.testing.assert_array_equal(mine, theirs)
        np.testing.assert_array_equal(np.repeat(weighted.codes, weight, axis=1), repeated.codes)


def test_missing_values_that_were_not_seen_go_where_more_weight_went() -> None:
    X = np.array([[0.0, np.nan], [1.0, 0.0], [2.0, 0.0], [3.0, 0.0]])
    y, count = np.array([0, 1, 1, 1]), np.array([9.0, 1.0, 1.0, 1.0])
    samples = GrowingSamples(y, 2, count, count, np.zeros(4))
    first = grow(Bins.of(X[:, :1], 10), samples, lambda left, right, allowed: np.argmax(allowed, axis=1), Limits(1))
    assert bool(first.tree.missing_left[0])  # one row, but nine of twelve


def test_equal_boxes_are_found_in_the_order_of_columns_whatever_the_rows() -> None:
    rng = np.random.default_rng(0)
    for seed in range(20):
        X, y, weight = rng.integers(0, 3, size=(40, 3)).astype(float), rng.integers(0, 2, 40), rng.integers(1, 30, 40)
        dual = np.full(40, 0.125)
        order = rng.permutation(np.repeat(np.arange(40), weight))
        weighted = ClassSamples(X, y, np.arange(2), weight.astype(float))
        repeated = ClassSamples(X[order], y[order], np.arange(2))
        pricing = ExactPricing(2, max_rules=1 + seed)
        one = pricing(weighted, Duals(dual * weight, weight + dual), None, 0)
        two = pricing(repeated, Duals(dual[order], 1 + dual[order]), None, 0)
        assert [rule.text for rule in one.rules] == [rule.text for rule in two.rules]
