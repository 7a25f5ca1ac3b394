"""A family of rule sets made by hand, and what rules are to predict where labels are noisy."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rulecover import RuleSet
from rulecover.pool import rule_pool
from rulecover.rulepath import family as family_module
from rulecover.rulepath.family import RowPredictions, RuleFamily, added
from rulecover.rulepath.response import (
    best_exponent,
    calibrated,
    calibration_loss,
    log_shares,
    noise_of,
    share_by_noise,
    softened_response,
)
from rulecover.targets.classes.impurity import Gini
from rulecover.targets.classes.samples import ClassSamples
from rulecover.targets.classes.target import ClassTarget
from rulecover.targets.impurity import Price
from rulecover.targets.numbers.samples import NumberSamples
from rulecover.targets.numbers.target import NumberTarget
from rulecover.voting.classes import added_class_votes

ROWS = np.array([[1.0], [2.0], [3.0], [4.0], [5.0]])
LABELS = np.array(["no", "yes"])
RULES = RuleSet.of_intervals([{0: (2.5, np.inf)}, {0: (-np.inf, 1.5)}, {0: (4.5, np.inf)}, {0: (9.0, np.inf)}], ["x"])
#: For each size the base and the votes; the second vote of the largest set is next to nothing, the last covers no row.
YES = [
    [0.5, 0, 0, 0, 0],
    [0.25, 0.5, 0, 0, 0],
    [0.25, 0.5, -0.25, 0, 0],
    [0.25, 0.5, 1e-15, 0.125, 0],
    [0.25, 0.5, 1e-15, 0.125, 0.5],
]


def family(**changed: Any) -> RuleFamily:
    data = ClassSamples(ROWS, np.array([0, 0, 1, 1, 1]), LABELS)
    rules = rule_pool(data, RULES.take(np.arange(3)), Price(Gini())).rules
    seen = rules.evidence
    nothing = [np.vstack([seen.sums, [[0, 0]]]), np.append(seen.impurity, 0), np.append(seen.cost, 1)]
    rules = RULES.with_evidence(replace(seen, sums=nothing[0], impurity=nothing[1], cost=nothing[2]))
    votes = np.array(YES)[:, :, None] * [-1.0, 1.0] + [1.0, 0.0] * (np.arange(5) == 0)[:, None]
    target = replace(ClassTarget(), classes=LABELS)
    return RuleFamily(rules, votes, np.arange(5.0), target, added_class_votes, **changed)


# Families -----------------------------------------------------------------------------------------------------------


def test_each_size_has_its_rules_and_votes() -> None:
    given = family()

    assert given.largest == 4 and given.sizes.tolist() == [0, 1, 2, 3, 4]
    assert [given.counting(size).tolist() for size in range(5)] == [[], [0], [0, 1], [0, 2], [0, 2]]
    for size in range(5):
        vote = given.vote(size)
        kept = given.counting(size)
        assert vote.rules.to_text() == RULES.take(kept).to_text()
        np.testing.assert_array_equal(vote.base, given.votes[size, 0])
        np.testing.assert_array_equal(vote.votes, given.votes[size, 1 + kept])
    # Rules that must be there stay, unless they cover nothing.
    assert family(least=2).counting(3).tolist() == [0, 1, 2] and family(least=4).counting(4).tolist() == [0, 1, 2]
    assert replace(given, rules=RULES).counting(4).tolist() == [0, 2, 3]


def test_rules_without_rows_are_named() -> None:
    assert family().without_rows(4) == ["x > 9"] and family().without_rows(3) == []


def test_sums_predictions_and_coverage_of_every_size(monkeypatch: pytest.MonkeyPatch) -> None:
    given = family()
    covered = RULES.apply(ROWS).toarray()
    expected = [votes[0] + covered[:, :size] @ votes[1 : size + 1] for size, votes in enumerate(given.votes)]

    for rows_at_a_time in (2, 1000):
        monkeypatch.setattr(family_module, "_ROWS", rows_at_a_time)
        np.testing.assert_allclose(np.array(list(given.sums(ROWS))), expected)
        np.testing.assert_allclose(added(covered.T, given.votes[4]), expected[4])
    predicted = given.predictions(expected[2])
    assert predicted.values.tolist() == ["no", "no", "yes", "yes", "yes"]
    np.testing.assert_allclose(predicted.shares, expected[2])
    some = predicted.among(np.array([4, 0]))
    assert some.values.tolist() == ["yes", "no"] and some.shares.tolist() == predicted.shares[[4, 0]].tolist()
    assert RowPredictions(np.arange(3)).among(np.array([1])).shares is None
    weight = np.array([1.0, 2.0, 3.0, 4.0, 5.0])
    np.testing.assert_allclose(given.coverage(ROWS, weight), np.array([0, 12, 13, 13, 13]) / 15)
    empty = replace(given, rules=RULES.take(np.zeros(0, dtype=int)), votes=given.votes[:1, :1])
    assert empty.coverage(ROWS, weight).tolist() == [0.0]


@pytest.mark.parametrize("threshold", [0.3, 0.9])
def test_a_family_at_another_threshold_predicts_by_it(threshold: float) -> None:
    plain, moved = family(), family().at_threshold(1, threshold)

    for size in range(5):
        shares = plain.vote(size).predict_proba(ROWS)[:, 1]
        expected = np.where(shares > threshold, "yes", "no")
        assert moved.vote(size).predict(ROWS).tolist() == expected.tolist()


# Responses ----------------------------------------------------------------------------------------------------------

NUMBERS = st.lists(st.tuples(st.integers(0, 6), st.integers(0, 6), st.integers(1, 4)), min_size=3, max_size=8)


@given(NUMBERS)
def test_the_share_of_predictions_follows_from_their_errors_and_weights_are_repeated_rows(rows: list) -> None:
    y, predicted, weight = np.array(rows, dtype=float).T
    times = weight.astype(int)

    share = share_by_noise(y[:, None], predicted[:, None], weight)

    spread = float((weight * (y - (weight @ y) / weight.sum()) ** 2).sum())
    left = float((weight * (y - predicted) ** 2).sum())
    expected = 0.0 if left <= 0.1 * spread else min(0.8, (1 - 0.1 * spread / left) / 0.9)
    assert share == pytest.approx(expected)
    again = share_by_noise(np.repeat(y, times)[:, None], np.repeat(predicted, times)[:, None], np.ones(times.sum()))
    assert share == pytest.approx(again)


def test_shares_are_raised_to_the_best_power() -> None:
    rng = np.random.default_rng(0)
    shares = rng.dirichlet([1.0, 2.0, 3.0], 40)
    truth = np.eye(3)[rng.integers(0, 3, 40)]
    weight = rng.uniform(0.5, 2.0, 40)

    found = calibrated(shares, truth, weight)

    def loss(power: float) -> float:
        raised = shares**power
        likely = (raised * truth).sum(axis=1) / raised.sum(axis=1)
        return float(-(weight @ np.log(likely)))

    best = min(loss(np.exp(log)) for log in np.linspace(-1.5, 2.5, 4001))
    assert found.loss == pytest.approx(best, rel=1e-5)
    np.testing.assert_allclose(found.shares.sum(axis=1), 1.0)
    assert loss(1.0) > found.loss == pytest.approx(float(-(weight @ np.log((found.shares * truth).sum(axis=1)))))
    logs = log_shares(np.array([[0.0, 1.0]]))
    np.testing.assert_allclose(logs, [[np.log(0.0005), 0.0]])  # a thousandth, spread over the classes, is nothing
    assert calibration_loss(0.0, logs, np.array([[0.0, 1.0]]), np.ones(1)) == pytest.approx(np.log(1.0005))


def test_an_exponent_is_the_least_within_its_range_and_the_best_so_far_when_time_is_up() -> None:
    assert best_exponent(lambda x: (x - 0.5) ** 2) == 0.5
    assert best_exponent(lambda x: x) == pytest.approx(-1.5, abs=2e-3)
    assert best_exponent(lambda x: -x) == pytest.approx(2.5, abs=2e-3)
    calls: list[float] = []

    def loss(x: float) -> float:
        calls.append(x)
        return (x - 2.0) ** 2

    assert best_exponent(loss, deadline=0.0) == round(calls[0], 3) and len(calls) == 1


def test_noise_is_a_share_of_the_loss_without_predictions() -> None:
    totals = np.array([6.0, 2.0, 0.0])
    alone = -(6 * np.log(6 / 8) + 2 * np.log(2 / 8))

    assert noise_of(alone / 2, totals) == 0.5 and noise_of(2 * alone, totals) == 1.0


class Predicts:
    """A model whose predictions are known."""

    def __init__(self, predicted: np.ndarray) -> None:
        self.predicted, self.classes_ = predicted, LABELS

    def predict(self, X: Any) -> np.ndarray:
        return self.predicted

    def predict_proba(self, X: Any) -> np.ndarray:
        return np.column_stack([1 - self.predicted, self.predicted])


def test_a_response_is_the_label_and_a_share_of_the_prediction() -> None:
    y = np.array([0.0, 2.0, 0.0, 4.0, 1.0])
    samples = NumberSamples.of(ROWS, y)
    model, target = Predicts(np.array([1.0, 1.0, 1.0, 3.0, 1.0])), NumberTarget()
    plain = softened_response(samples, target, model, 0)
    whole = softened_response(samples, target, model, 1.0)

    half = softened_response(samples, target, model, 0.5)
    chosen = softened_response(samples, target, model, None)

    np.testing.assert_allclose(plain.values, target.responses(samples.labels))
    np.testing.assert_allclose(half.values, (plain.values + whole.values) / 2)
    share = share_by_noise(plain.values, whole.values, samples.count)
    assert 0 < share <= 0.8
    np.testing.assert_allclose(chosen.values, (1 - share) * plain.values + share * whole.values)
    assert plain.noise is half.noise is None


def test_a_response_of_classes_is_calibrated_where_asked() -> None:
    samples = ClassSamples(ROWS, np.array([0, 0, 1, 1, 1]), LABELS, np.array([1.0, 2.0, 1.0, 1.0, 1.0]))
    model, target = Predicts(np.array([0.4, 0.6, 0.6, 0.7, 0.4])), replace(ClassTarget(), classes=LABELS)
    plain = softened_response(samples, target, model, 0.0)

    soft = softened_response(samples, target, model, 0.5)
    found = softened_response(samples, target, model, 0.5, calibrate=True)

    truth = np.eye(2)[[0, 0, 1, 1, 1]]
    shares, loss = calibrated(model.predict_proba(ROWS), truth, samples.count)
    assert plain.noise is soft.noise is None and found.noise == noise_of(loss, np.array([3.0, 3.0]))
    width = plain.values.shape[1]
    np.testing.assert_allclose(found.values, (plain.values + shares[:, -width:]) / 2)
    np.testing.assert_allclose(soft.values, (plain.values + model.predict_proba(ROWS)[:, -width:]) / 2)
