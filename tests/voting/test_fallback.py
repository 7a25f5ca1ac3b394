"""The votes of rows that no rule covers: added without rounding, in whatever order."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import DIGITS, rule_sets, tables

from rulecover import MIRCOClassifier, RuleSet
from rulecover.pool import rule_pool
from rulecover.rules.clauses import CHUNK
from rulecover.targets.classes.impurity import Gini
from rulecover.targets.classes.samples import ClassSamples
from rulecover.targets.impurity import Price
from rulecover.voting.answers import Classes
from rulecover.voting.classes import class_votes, fitted_class_votes
from rulecover.voting.fallback import ALL_RULES, FALLBACKS
from rulecover.voting.vote import Vote


def voting(rules: RuleSet, votes: np.ndarray) -> Vote:
    return Vote(rules, votes, Classes(np.arange(votes.shape[1])), votes.sum(axis=0))


def test_three_thirds_of_a_vote_tie_with_one_vote() -> None:
    """In floats three times 1/3 of 0.1 is more than 0.1; a tie must be a tie all the same."""
    third = {0: (0.0, 1.0), 1: (5.0, 6.0), 2: (5.0, 6.0)}
    half = {0: (0.0, 1.0), 3: (5.0, 6.0)}
    rules = RuleSet.of_intervals([third, third, third, half], ["a", "b", "c", "d"])
    vote = voting(rules, np.array([[0.0, 7.0]] * 3 + [[14.0, 0.0]]))

    tally = FALLBACKS["all"](vote, np.array([[0.5, 0.0, 0.0, 0.0]]), None)

    assert tally[0, 0] == tally[0, 1] > 0


@pytest.mark.slow
@given(rule_sets("abcdefg", numbers=DIGITS, max_rules=12), tables(7), st.data())
def test_the_order_of_the_rules_changes_nothing(rules: RuleSet, X: np.ndarray, data: Any) -> None:
    each = st.tuples(*[st.floats(0, 1e6)] * 3)
    votes = np.array(data.draw(st.lists(each, min_size=len(rules), max_size=len(rules))))
    order = np.array(data.draw(st.permutations(range(len(rules)))))

    one = FALLBACKS["all"](voting(rules, votes), X, None)
    two = FALLBACKS["all"](voting(rules.take(order), votes[order]), X, None)

    assert (one == two).all()


def test_votes_for_a_comparison_add_up_to_the_votes_of_the_rule() -> None:
    rules = RuleSet.of_intervals([dict.fromkeys(range(n), (0.0, 1.0)) for n in (1, 3, 7)], list("abcdefg"))
    votes = np.array([[4.0], [5.0], [6.0]])

    each = ALL_RULES.votes_each(voting(rules, votes))

    assert (each * rules.lengths[:, None] == votes * 21).all()


@pytest.mark.parametrize("fallback", ["closest", "all", "majority"])
def test_more_uncovered_rows_than_are_looked_at_together_get_the_same_answers(fallback: str) -> None:
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(60, 2))
    y = (X[:, 0] > X[:, 1]).astype(int)
    rules = RuleSet.of_intervals(
        [{0: (0.9, np.inf), 1: (-np.inf, 0.3)}, {0: (-np.inf, 0.2), 1: (0.8, np.inf)}], ["a", "b"]
    )
    few = MIRCOClassifier(rules, fallback=fallback).fit(X, y)
    rows = X[few.missed(X)][:37]
    many = np.tile(rows, (2 + 2 * CHUNK // len(rows), 1))
    assert few.missed(many).all() and len(many) > 2 * CHUNK
    expected = np.tile(few.predict_proba(rows), (len(many) // len(rows), 1))
    np.testing.assert_array_equal(few.predict_proba(many), expected)


def test_a_fitted_vote_that_is_only_rounding_is_no_vote() -> None:
    X, y = np.repeat([[0.0], [1.0]], 10, axis=0), np.repeat([0, 1], 10)
    y[0], y[10] = 1, 0
    weight = np.ones(20)
    weight[0], weight[10] = 1e-13, 1e-6
    rules = RuleSet.of_intervals([{0: (-np.inf, 0.5)}, {0: (0.5, np.inf)}], ["a"])
    data = ClassSamples(X, y, np.array([0, 1]), weight)
    plain = class_votes(rule_pool(data, rules, Price(Gini())).rules, "shares")
    votes = fitted_class_votes(plain, rules.apply(X), y, weight).votes
    assert (plain.votes > 0).all()
    assert votes[0, 1] == 0.0 and 0.0 < votes[1, 0] < 1e-6
