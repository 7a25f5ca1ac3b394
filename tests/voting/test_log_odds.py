"""Votes that are log-odds: what they add up to, with and without covering rules, and how they are shown."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.special import expit, softmax
from sklearn.datasets import load_breast_cancer, load_iris

from rulecover import MIRCOClassifier, RuleSet
from rulecover.voting.answers import LogOddsClasses
from rulecover.voting.fallback import FALLBACKS, Default, Fallback
from rulecover.voting.logistic import logistic_votes
from rulecover.voting.vote import Vote

ALL_FALLBACKS: list[Fallback] = [*(FALLBACKS[name] for name in ("closest", "all", "majority")), Default()]
LABELS = {2: np.array(["no", "yes"]), 3: np.array(["a", "b", "c"])}


def log_odds(classes: int, fallback: Fallback) -> Vote:
    """Two rules, of which the second covers what is above 1 in both columns."""
    rules = RuleSet.of_intervals([{0: (-np.inf, 0.0)}, {0: (1.0, np.inf), 1: (1.0, np.inf)}], ["x", "z"])
    drawn = np.round(np.random.default_rng(classes).normal(size=(3, classes)) * 64) / 64
    base, *votes = np.column_stack([-drawn[:, 1], drawn[:, 1]]) if classes == 2 else drawn
    totals = np.arange(1.0, classes + 1)
    return Vote(rules, np.array(votes), LogOddsClasses(LABELS[classes]), totals, fallback, base)


def as_shares(sums: np.ndarray) -> np.ndarray:
    return expit(sums) if sums.shape[1] == 2 else softmax(sums, axis=1)


@pytest.mark.parametrize("fallback", ALL_FALLBACKS, ids=lambda each: each.name)
@pytest.mark.parametrize("classes", [2, 3])
def test_a_covered_row_has_the_base_and_the_votes_of_its_rules(classes: int, fallback: Fallback) -> None:
    vote = log_odds(classes, fallback)

    shares = vote.predict_proba(np.array([[-1.0, 0.0], [2.0, 2.0]]))

    np.testing.assert_allclose(shares, as_shares(vote.base + vote.votes))


@pytest.mark.parametrize("classes", [2, 3])
def test_rules_that_are_close_add_to_the_base_as_if_they_covered_the_row(classes: int) -> None:
    row = np.array([[2.0, 0.0]])  # half of the second rule holds, nothing of the first
    closest, all_rules = (log_odds(classes, FALLBACKS[name]) for name in ("closest", "all"))

    np.testing.assert_allclose(closest.predict_proba(row), as_shares((closest.base + closest.votes[1])[None]))
    np.testing.assert_allclose(all_rules.predict_proba(row), as_shares((closest.base + closest.votes[1] / 2)[None]))


@pytest.mark.parametrize("classes", [2, 3])
def test_the_majority_has_the_shares_of_all_training_rows_and_the_default_is_the_base(classes: int) -> None:
    row = np.array([[0.5, 0.0]])
    majority, default = log_odds(classes, FALLBACKS["majority"]), log_odds(classes, Default())

    np.testing.assert_allclose(majority.predict_proba(row)[0], majority.totals / majority.totals.sum(), rtol=1e-5)
    np.testing.assert_allclose(default.predict_proba(row), as_shares(default.base[None]))


@pytest.mark.parametrize("fallback", ALL_FALLBACKS, ids=lambda each: each.name)
@pytest.mark.parametrize("classes", [2, 3])
def test_what_why_lists_adds_up_to_the_sums(classes: int, fallback: Fallback) -> None:
    vote = log_odds(classes, fallback)
    X = np.array([[-1.0, 0.0], [2.0, 2.0], [2.0, 0.0], [0.5, 5.0]])

    reasons = vote.why(X)

    columns = [f"votes_{label}" for label in LABELS[classes]]
    sums = reasons.groupby("row")[columns].sum().to_numpy()
    np.testing.assert_allclose(sums, vote.tally(X).sums, atol=1e-12)
    assert (reasons.groupby("row")["text"].first() == "by default").all()


def test_the_source_model_answers_with_its_own_probabilities() -> None:
    X, y = load_iris(return_X_y=True)
    mirco = MIRCOClassifier(random_state=0, max_rules=2).fit(X, y)
    vote = replace(mirco.vote_, answer=LogOddsClasses(mirco.classes_), fallback=FALLBACKS["model"])
    missed = vote.missed(X)

    tally = vote.tally(X, lambda rows: mirco.estimator_)

    assert missed.any()
    expected = mirco.estimator_.predict_proba(X[missed])
    np.testing.assert_allclose(vote.probabilities(tally)[missed], expected, rtol=1e-5, atol=1e-12)


def test_two_classes_are_shown_as_the_log_odds_of_the_second() -> None:
    vote = log_odds(2, Default())

    text, sentences = str(vote), vote._sentences()

    assert text.splitlines()[0].split("  ")[-2:] == ["log-odds of yes", "if"]
    assert f"{vote.votes[0, 1]:+.3g}" in text and f"{vote.votes[0, 0]:+.3g}" not in text
    assert sentences[0] == f"By default log-odds {vote.base[1]:+.3g} for yes."
    assert sentences[1] == f"If x is at most 0, then log-odds {vote.votes[0, 1]:+.3g} for yes."


def test_more_classes_are_shown_with_the_log_odds_of_each() -> None:
    vote = log_odds(3, Default())

    each = "{:+.3g} for a, {:+.3g} for b and {:+.3g} for c".format(*vote.base)

    assert vote._sentences()[0] == f"By default log-odds {each}."
    assert str(vote).splitlines()[0].split() == ["rule", "support", "a", "b", "c", "if"]


@pytest.mark.slow
@pytest.mark.parametrize("fallback", ["closest", "all", "majority"])
def test_log_odds_of_a_cover_are_not_plain_and_are_shown(fallback: str) -> None:
    X, y = load_breast_cancer(return_X_y=True)
    plain = MIRCOClassifier(random_state=0, fallback=fallback).fit(X, y).vote_
    fitted = logistic_votes(plain.rules.apply(X), np.eye(2)[y], strength=10.0)

    vote = replace(plain, votes=fitted[1:], base=fitted[0], answer=LogOddsClasses(plain.answer.labels))

    assert vote.adds_up and vote.shows_votes and vote.has_own_votes and not vote.is_plain
    order = np.random.default_rng(0).permutation(len(vote))
    assert (vote.take(order).tally(X).sums == vote.tally(X).sums).all()
