"""What a booster gives to its trees and leaves comes into cost and vote, by the stated formula."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_wine
from sklearn.ensemble import (
    AdaBoostClassifier,
    GradientBoostingClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
    VotingClassifier,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

from rulecover import explain, read_trees
from rulecover.data.columns import Columns
from rulecover.trees.tree import Leaves

X, Y = load_wine(return_X_y=True)
ADA = AdaBoostClassifier(DecisionTreeClassifier(max_depth=2), n_estimators=8, random_state=0).fit(X, Y)
BOOSTED = GradientBoostingClassifier(n_estimators=6, max_depth=2, random_state=0).fit(X, Y)
HIST = HistGradientBoostingClassifier(max_iter=6, max_leaf_nodes=5, random_state=0).fit(X, Y)
FOREST = RandomForestClassifier(10, max_depth=4, random_state=0).fit(X, Y)


def given_by_hand(model: Any) -> np.ndarray:
    """What the model gives to each leaf that holds a training row, tree by tree."""
    ensemble = read_trees(model)
    out = []
    for k, (tree, route) in enumerate(zip(ensemble.trees, ensemble.routes, strict=True)):
        nodes = np.unique(route(ensemble.prepare(ensemble.matrix(X))))
        if model is ADA:
            out.append(np.full(len(nodes), ADA.estimator_weights_[k]))
        elif model is BOOSTED:
            out.append(np.abs(0.1 * BOOSTED.estimators_.ravel()[k].tree_.value[nodes, 0, 0]))
        else:
            out.append(np.abs([p for it in HIST._predictors for p in it][k].nodes["value"][nodes]))
        assert set(nodes) <= set(tree.leaves)
    return np.concatenate(out)


@pytest.mark.parametrize("model", [ADA, BOOSTED, HIST], ids=lambda model: type(model).__name__)
def test_cost_and_vote_follow_the_stated_formula(model: Any) -> None:
    given = given_by_hand(model)
    strength = np.clip(given / given.mean(), 0.1, 10)
    plain = explain(model, X, Y, estimator_weights=None, method="cover", preset="as-in-paper")
    paper = plain.covering_problem(X, Y).cost
    np.testing.assert_allclose(
        explain(model, X, Y, method="cover", preset="as-in-paper").covering_problem(X, Y).cost, paper / strength
    )
    only_vote = explain(model, X, Y, estimator_weights="vote", method="cover", preset="as-in-paper")
    np.testing.assert_array_equal(only_vote.covering_problem(X, Y).cost, paper)
    assert only_vote.rules_ == plain.rules_
    for settings in ("both", "cost", "vote", None):
        few = explain(model, X, Y, estimator_weights=settings, method="cover", preset="as-in-paper")
        evidence = few.rules_.evidence
        assert evidence is not None
        ratio = few.vote_.votes[evidence.sums > 0] / evidence.sums[evidence.sums > 0]
        if settings in ("both", "vote"):
            assert np.ptp(ratio) > 0
            assert np.isin(np.round(ratio, 9), np.round(strength, 9)).all()
        else:
            np.testing.assert_allclose(ratio, 1.0)


def test_trees_that_count_the_same_leave_cost_and_vote_as_in_the_paper() -> None:
    fits = [
        explain(FOREST, X, Y, estimator_weights=settings, method="cover", preset="as-in-paper")
        for settings in (None, "cost", "vote", "both")
    ]
    for few in fits[1:]:
        assert few.rules_ == fits[0].rules_
        np.testing.assert_array_equal(few.vote_.votes, fits[0].vote_.votes)
        assert few.certificate_.objective == fits[0].certificate_.objective


def test_members_of_a_vote_share_their_weight_among_their_trees() -> None:
    tree = DecisionTreeClassifier(max_depth=2)
    vote = VotingClassifier([("a", FOREST), ("b", tree), ("c", "drop"), ("d", BOOSTED)], weights=[2, 3, 9, 1]).fit(X, Y)
    ensemble = read_trees(vote)
    assert ensemble.weight is not None and len(ensemble.trees) == 10 + 1 + 18
    np.testing.assert_allclose(ensemble.weight, [0.2] * 10 + [3.0] + [1 / 18] * 18)
    of = np.arange(29)
    np.testing.assert_allclose(ensemble.strength(of, np.zeros(29, dtype=int)), ensemble.weight)


def test_weights_pass_through_a_pipeline() -> None:
    behind = make_pipeline(
        StandardScaler(), GradientBoostingClassifier(n_estimators=6, max_depth=2, random_state=0)
    ).fit(X, Y)
    ours, theirs = read_trees(behind), read_trees(behind[-1])
    of = np.concatenate([np.full(len(t.leaves), k) for k, t in enumerate(ours.trees)])
    node = np.concatenate([t.leaves for t in ours.trees])
    np.testing.assert_array_equal(ours.strength(of, node), theirs.strength(of, node))


def test_a_leaf_that_adds_to_several_scores_counts_by_their_range() -> None:
    from dataclasses import replace

    ensemble = read_trees(FOREST)
    tree = replace(ensemble.trees[0], value=np.arange(3.0 * len(ensemble.trees[0].left)).reshape(-1, 3))
    several = replace(ensemble, trees=(tree,), routes=ensemble.routes[:1])
    np.testing.assert_array_equal(several.strength(np.zeros(2, dtype=int), tree.leaves[:2]), [2.0, 2.0])
    leaves = Leaves(several.trees, np.zeros(2, dtype=int), tree.leaves[:2], Columns(tuple("abcdefghijklm")))
    assert len(leaves.rules()) == 2


def test_what_is_no_place_for_weights_is_refused() -> None:
    with pytest.raises(
        ValueError, match="estimator_weights is 'everywhere'; choose one of None, 'cost', 'vote', 'both'"
    ):
        explain(ADA, X, Y, estimator_weights="everywhere", method="cover", preset="as-in-paper")
