"""The pool is a set: no rule votes twice, whoever proposes it, however often."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from sklearn.datasets import make_classification, make_regression
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor
from tictactoe import tic_tac_toe

from rulecover import RCBoostClassifier, RCBoostRegressor
from rulecover.rcboost.pricing.oracles import ForestPricing, TreePricing
from rulecover.rcboost.removal import Stale


def few_values(seed: int) -> tuple[np.ndarray, np.ndarray]:
    X, y = make_classification(200, 5, n_informative=4, n_redundant=0, flip_y=0.1, random_state=seed)
    return np.round(X), y


def n_repeated(model: Any) -> int:
    return len(model.pool_) - len(model.pool_.clauses.first_of_equal())


def check_votes(model: Any, X: np.ndarray) -> None:
    """All rules of the pool vote, and each of them once."""
    covered = model.rules_.apply(X).toarray().astype(float)
    tally = covered @ model.rules_.evidence.shares
    np.testing.assert_allclose(model.predict_proba(X), tally / tally.sum(axis=1, keepdims=True))
    np.testing.assert_allclose(list(model.staged_predict_proba(X))[-1], model.predict_proba(X))


@pytest.mark.slow
def test_equal_leaves_of_a_pricing_forest_enter_once() -> None:
    added = 0
    for seed in range(8):
        X, y = few_values(seed)
        tree = DecisionTreeClassifier(max_depth=3, random_state=0)
        model = RCBoostClassifier(tree, pricing=ForestPricing(20, None), max_rmp_calls=4, random_state=seed).fit(X, y)
        assert n_repeated(model) == 0
        check_votes(model, X)
        assert model.history_["rules"].tolist() == [len(pool) for pool, _ in model._stages[1:]]
        assert len(model._stages[0][0]) + model.history_["added"].sum() == len(model.pool_)
        added += int(model.history_["added"].sum())
    assert added > 50


@pytest.mark.slow
def test_tic_tac_toe_has_no_rule_twice() -> None:
    X, won = tic_tac_toe()
    tree = DecisionTreeClassifier(max_depth=5)
    model = RCBoostClassifier(tree, pricing="forest", max_rmp_calls=10, random_state=0).fit(X, won)
    assert n_repeated(model) == 0 and model.history_["added"].sum() > 100


@pytest.mark.slow
def test_a_forest_as_the_first_pool_gives_each_rule_once() -> None:
    for seed in range(4):
        X, y = few_values(seed)
        forest = RandomForestClassifier(10, max_depth=4, max_features=None, random_state=0)
        model = RCBoostClassifier(forest, max_rmp_calls=2, random_state=0).fit(X, y)
        assert n_repeated(model) == 0
        first, _ = model._stages[0]
        leaves = sum(tree.get_n_leaves() for tree in model.initial_estimator_.estimators_)
        assert len(first) < leaves
        check_votes(model, X)


def test_a_regressor_has_no_rule_twice() -> None:
    X, y = make_regression(200, 4, random_state=0)
    forest = RandomForestRegressor(10, max_depth=3, max_features=None, random_state=0)
    tree = DecisionTreeRegressor(max_depth=3)
    priced = RCBoostRegressor(tree, pricing=ForestPricing(20, None), max_rmp_calls=3, random_state=0)
    for model in (RCBoostRegressor(forest, max_rmp_calls=2, random_state=0), priced):
        assert n_repeated(model.fit(np.round(X), y)) == 0


@pytest.mark.slow
@pytest.mark.parametrize("pricing", [TreePricing(), ForestPricing(10, None)])
def test_a_rule_that_comes_back_is_the_rule_it_was(pricing: Any) -> None:
    came_back = 0
    for seed in range(4):
        X, y = few_values(seed)
        tree = DecisionTreeClassifier(max_depth=4, random_state=0)
        settings = {"remove": Stale(above=0.0, calls=1), "max_rmp_calls": 30, "random_state": 0}
        model = RCBoostClassifier(tree, pricing=pricing, **settings).fit(X, y)
        assert n_repeated(model) == 0
        pools = [pool for pool, _ in model._stages]
        for before, after, line in zip(pools, pools[1:], model.history_.itertuples(), strict=False):
            assert len(np.unique(after)) == len(after) == line.rules
            assert line.added == len(np.setdiff1d(after, before))
            assert line.removed == len(np.setdiff1d(before, after))
            assert model.pool_.take(after).apply(X).toarray().any(axis=1).all()
        entered = [rule for before, after in itertools.pairwise(pools) for rule in np.setdiff1d(after, before)]
        came_back += len(pools[0]) + len(entered) - len(model.pool_)
        check_votes(model, X)
    assert came_back > 0


def test_a_proposed_rule_of_the_pool_ends_the_loop() -> None:
    X, y = few_values(0)

    class Again(TreePricing):
        def __call__(self, data: Any, duals: Any, tree: Any, seed: int) -> Any:
            from rulecover import read_trees

            return read_trees(tree)

    model = RCBoostClassifier(pricing=Again(), admit=lambda reduced: np.arange(len(reduced)), random_state=0).fit(X, y)
    assert model.history_["added"].tolist() == [0] and n_repeated(model) == 0
