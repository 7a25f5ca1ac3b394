"""The votes of the rules that cover rows: the same for any number of rows, and exact whatever they are added in."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import make_classification
from sklearn.ensemble import RandomForestClassifier
from strategies import DIGITS, rule_sets, tables

from rulecover import MIRCOClassifier, RuleSet
from rulecover.coverage import addable, fit_float32
from rulecover.exceptions import MismatchedDataError
from rulecover.rules.clauses import CHUNK
from rulecover.voting.answers import Classes, Mean
from rulecover.voting.vote import Vote

WHOLE = st.integers(-(2**25), 2**25).map(float)
VALUES = st.lists(WHOLE | st.floats(-1e3, 1e3, width=16) | st.floats(-1e6, 1e6), max_size=12)


@given(VALUES, st.randoms(use_true_random=False))
def test_values_that_fit_float32_add_up_exactly_in_any_order(values: list[float], random) -> None:
    if not fit_float32(np.array(values)):
        return
    some = random.sample(values, random.randint(0, len(values)))
    total = np.float32(0)
    for value in some:
        total += np.float32(value)
    assert Fraction(float(total)) == sum(map(Fraction, some))


@pytest.mark.parametrize(
    ("values", "fit"),
    [([], True), ([0.0], True), ([2.0**23, 0.5], False), ([2.0**23, 1.0], True), ([2.0**24], False), ([0.1], False)],
)
def test_whether_values_fit_float32(values: list[float], fit: bool) -> None:
    assert fit_float32(np.array(values)) is fit


@pytest.mark.slow
@settings(max_examples=30)
@given(rule_sets("abc", numbers=DIGITS, max_rules=8), tables(3), st.booleans())
def test_votes_for_many_rows_are_those_for_each(rules: RuleSet, X: np.ndarray, whole: bool) -> None:
    votes = np.random.default_rng(0).integers(0, 50, (len(rules), 2)) * (1.0 if whole else 0.1)
    vote = Vote(rules, addable(votes), Classes(np.array(["no", "yes"])), np.array([3.0, 2.0]))
    covered = rules.apply(X).toarray()

    tally = vote.added(np.tile(X, (1 + 5000 // len(X), 1)))  # many are compared in another way than few

    np.testing.assert_array_equal(tally.fired[: len(X)], covered.sum(axis=1))
    np.testing.assert_array_equal(tally.sums[-len(X) :], covered @ vote.votes)


@pytest.mark.parametrize("fallback", ["closest", "majority", "model"])
def test_rows_in_several_blocks_are_predicted_as_in_one(fallback: str) -> None:
    X, y = make_classification(300, 4, n_informative=3, n_redundant=0, random_state=0)
    forest = RandomForestClassifier(5, max_depth=3, random_state=0)
    model = MIRCOClassifier.as_in_paper(forest, max_rules=4, fallback=fallback).fit(X, y)
    many = np.tile(X, (1 + CHUNK // 300, 1))
    assert 0 < model.missed(X).sum() < 300 and len(many) > CHUNK

    np.testing.assert_array_equal(model.predict(many), np.tile(model.predict(X), len(many) // 300))
    shares = np.tile(model.predict_proba(X), (len(many) // 300, 1))
    np.testing.assert_array_equal(model.predict_proba(many), shares)


@pytest.mark.parametrize("n_classes", [2, 3, 11, 300])
def test_shares_of_a_row_alone_are_those_among_others(n_classes: int) -> None:
    """Shares that a model gives are not rounded, so that their sum depends on the order."""
    sums = np.asfortranarray(np.random.default_rng(0).dirichlet(np.ones(n_classes), size=50))
    answer = Classes(np.arange(n_classes))

    among_others = answer.probabilities(sums)

    alone = [answer.probabilities(np.asfortranarray(row[None])) for row in sums]
    np.testing.assert_array_equal(among_others, np.concatenate(alone))
    np.testing.assert_allclose(answer.probabilities(7 * sums), sums)


def vote_of(rules: RuleSet, **changed: np.ndarray) -> Vote:
    given = {"votes": np.array([[0.0, 1.0]]), "totals": np.array([1.0, 1.0])} | changed
    return Vote(rules, answer=Classes(np.array(["no", "yes"])), **given)


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"votes": np.zeros((2, 2))}, r"votes has shape \(2, 2\); give finite numbers of shape \(1, 2\)"),
        ({"votes": np.array([[0.0, np.inf]])}, r"votes has shape \(1, 2\); give finite numbers of shape \(1, 2\)"),
        ({"totals": np.ones(3)}, r"totals has shape \(3,\); give finite numbers of shape \(2,\)"),
        ({"base": np.ones(1)}, r"base has shape \(1,\); give finite numbers of shape \(2,\)"),
        ({"fallback_votes": np.ones((1, 3))}, r"fallback_votes has shape \(1, 3\); give .* of shape \(1, 2\)"),
    ],
)
def test_votes_that_do_not_fit_the_rules_are_refused(changed: dict[str, np.ndarray], said: str) -> None:
    rules = RuleSet.of_intervals([{0: (1.0, np.inf)}], ["a"])
    assert len(vote_of(rules)) == 1
    with pytest.raises(ValueError, match=said):
        vote_of(rules, **changed)


def test_what_a_vote_does_not_know_is_refused_with_the_way_out() -> None:
    rules = RuleSet.of_intervals([{0: (1.0, np.inf)}], ["a"])
    mean = Vote(rules, np.array([[3.0, 1.0]]), Mean(), np.array([3.0, 1.0]))
    assert mean.predict([[2.0]]).tolist() == [3.0]
    with pytest.raises(AttributeError, match="these rules predict a number and have no probabilities; use predict"):
        mean.predict_proba([[2.0]])
    with pytest.raises(AttributeError, match="no spread is stored for these rules; use predict"):
        mean.predict_interval([[2.0]])
    with pytest.raises(ValueError, match=r"coverage is 90; it is a probability, above 0 and below 1, such as 0\.9"):
        mean.predict_interval([[2.0]], 90)
    with pytest.raises(MismatchedDataError, match=r"X holds a value that is not a number \(.*'two'.*\); encode it as"):
        mean.predict(np.array([["two"]], dtype=object))


def test_a_frame_without_a_column_that_a_rule_needs_is_refused() -> None:
    rules = RuleSet.of_intervals([{0: (1.0, np.inf), 1: (0.0, 2.0)}], ["a", "b"])
    mean = Vote(rules, np.array([[3.0, 1.0]]), Mean(), np.array([3.0, 1.0]))
    assert mean.predict(pd.DataFrame({"b": [1.0], "more": [0.0], "a": [2.0]})).tolist() == [3.0]
    with pytest.raises(MismatchedDataError, match="the rules use column 'b', but X has only a, c; add it"):
        mean.predict(pd.DataFrame({"a": [2.0], "c": [1.0]}))
