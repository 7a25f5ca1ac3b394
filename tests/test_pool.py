"""Rules that come from no tree share blocks where they do not overlap, and cover what they cover."""

from __future__ import annotations

import time

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import make_classification
from sklearn.ensemble import RandomForestClassifier
from sklearn.tree import DecisionTreeClassifier

from rulecover import RCBoostClassifier, explain, read_trees
from rulecover.pool import _packed, neighbours, rule_pool
from rulecover.targets.classes.impurity import Gini
from rulecover.targets.classes.samples import ClassSamples
from rulecover.targets.impurity import Price

PRICE = Price(Gini())


def table(seed: int = 0, n: int = 400) -> ClassSamples:
    X, y = make_classification(n, 8, n_informative=5, n_classes=3, random_state=seed)
    return ClassSamples(X, y, np.arange(3))


@pytest.mark.slow
@given(st.lists(st.sets(st.integers(0, 11), min_size=1), max_size=90))
def test_packed_rules_cover_what_they_cover(rules: list[set[int]]) -> None:
    masks = np.zeros((len(rules), 12), dtype=bool)
    for mask, samples in zip(masks, rules, strict=True):
        mask[sorted(samples)] = True
    coverage = _packed(scipy.sparse.csc_array(masks.T))
    np.testing.assert_array_equal(coverage.to_sparse().toarray(), masks.T)
    np.testing.assert_array_equal(coverage.sizes, masks.sum(axis=1))
    np.testing.assert_array_equal(np.sort(np.concatenate([[], *(b.rules for b in coverage.blocks)])), range(len(rules)))
    if len(rules) < 64:  # first fit: each rule overlaps with one of every block before its own
        block_of = {j: b for b, block in enumerate(coverage.blocks) for j in block.rules.tolist()}
        for j, b in block_of.items():
            for block in coverage.blocks[:b]:
                assert any(masks[j] @ masks[i] for i in block.rules if i < j)


def test_the_leaves_of_a_tree_are_one_block() -> None:
    data = table()
    tree = DecisionTreeClassifier(max_depth=6, random_state=0).fit(data.X, data.y)
    assert len(rule_pool(data, read_trees(tree).rules(), PRICE).coverage.blocks) == 1
    forest = RandomForestClassifier(10, max_depth=6, random_state=0).fit(data.X, data.y)
    assert len(rule_pool(data, read_trees(forest).rules(), PRICE).coverage.blocks) <= 10


def test_rules_in_any_order_share_blocks_and_give_the_same_cover() -> None:
    data = table(1)
    forest = RandomForestClassifier(10, max_depth=6, random_state=0).fit(data.X, data.y)
    rules = read_trees(forest).rules()
    shuffled = rules.take(np.random.default_rng(0).permutation(len(rules)))
    assert len(rule_pool(data, shuffled, PRICE).coverage.blocks) < len(rules) / 4
    plain = explain(forest, data.X, data.y, method="cover", preset="as-in-paper")
    by_hand = explain(rules, data.X, data.y, method="cover", preset="as-in-paper")
    assert [rule.text for rule in by_hand.rules_] == [rule.text for rule in plain.rules_]
    assert by_hand.certificate_.objective == plain.certificate_.objective


def test_a_boosted_pool_has_about_a_block_for_each_tree() -> None:
    data = table(2)
    model = RCBoostClassifier(pricing="tree", max_rmp_calls=10, random_state=0).fit(data.X, data.y)
    blocks = explain(model, data.X, data.y, method="cover").covering_problem(data.X, data.y).coverage.blocks
    assert len(blocks) <= 1 + model.n_rmp_calls_ < len(model.rules_) / 4


def test_rows_are_sorted_for_trees_where_there_is_time_for_many() -> None:
    X = np.random.default_rng(0).normal(size=(200, 3))
    ensemble = read_trees(RandomForestClassifier(10, random_state=0).fit(X, X[:, 0] > 0))

    now = time.perf_counter()
    order = neighbours(ensemble, ensemble.prepare(X), now + 600)
    assert order is not None
    assert sorted(order.tolist()) == list(range(200))
    assert neighbours(ensemble, ensemble.prepare(X), now) is None
    np.testing.assert_array_equal(neighbours(ensemble, ensemble.prepare(X)), order)
