"""Paths where one class is rare: weights, thresholds and average precision along the whole path."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier
from sklearn.frozen import FrozenEstimator
from sklearn.metrics import average_precision_score, balanced_accuracy_score, f1_score, recall_score
from sklearn.model_selection import FixedThresholdClassifier, TunedThresholdClassifierCV

from rulecover import RulePathClassifier

#: Columns each of which makes the rare class more likely.
N_CAUSES = 4
MAX_RULES = 12
FOREST = RandomForestClassifier(20, max_depth=6, random_state=0)
every_size = pytest.mark.parametrize("n_rules", [1, N_CAUSES, MAX_RULES])


def table(seed: int, n: int = 5000) -> tuple[np.ndarray, np.ndarray]:
    """Rows of which 2 % are of class 1: rare everywhere, and twenty times as likely with each cause."""
    rng = np.random.default_rng(seed)
    X = rng.random((n, N_CAUSES + 2))
    odds = np.exp(3.0 * (X[:, :N_CAUSES] > 0.8).sum(axis=1) - 9.4)
    return X, (rng.random(n) < odds / (1 + odds)).astype(int)


@cache
def fitted(**how: Any) -> RulePathClassifier:
    return RulePathClassifier(FOREST, max_rules=MAX_RULES, random_state=0, **how).fit(*table(0))


def precisions(path: RulePathClassifier, seed: int = 1) -> list[float]:
    """The average precision of every size on other rows."""
    X, y = table(seed, n=10000)
    return [average_precision_score(y, path.at(k).predict_proba(X)[:, 1]) for k in range(MAX_RULES + 1)]


def test_two_rows_of_a_hundred_are_of_the_rare_class() -> None:
    assert table(2, n=20000)[1].mean() == pytest.approx(0.02, abs=0.002)


@pytest.mark.slow
@pytest.mark.parametrize("how", [{}, {"scoring": "average_precision"}], ids=str)
def test_the_path_does_not_stop_while_average_precision_rises(how: dict[str, Any]) -> None:
    path = fitted(**how)
    scores = precisions(path)

    assert scores[1] < max(scores) - 0.2
    assert path.n_rules_ >= N_CAUSES
    assert scores[path.n_rules_] > max(scores) - 0.04


@pytest.mark.slow
def test_average_precision_of_every_size_is_in_the_table() -> None:
    path = fitted(scoring="average_precision")

    in_folds = path.path_["cv_average_precision"]
    assert in_folds[0] == pytest.approx(table(0)[1].mean(), rel=0.1)  # of no rule at all
    assert in_folds[N_CAUSES] > in_folds[1] + 0.1
    assert "average precision" in path.size_reason_


@pytest.mark.slow
@every_size
def test_balanced_weights_find_more_of_the_rare_class_at_every_size(n_rules: int) -> None:
    X, y = table(1)
    plain, balanced = (fitted(**how).at(n_rules).predict(X) for how in ({}, {"class_weight": "balanced"}))

    assert recall_score(y, balanced) >= recall_score(y, plain)
    assert balanced_accuracy_score(y, balanced) >= balanced_accuracy_score(y, plain)


@pytest.mark.slow
@every_size
@pytest.mark.parametrize("threshold", [0.02, 0.5, 0.9])
def test_a_threshold_can_be_set_at_every_size(n_rules: int, threshold: float) -> None:
    X, y = table(1)
    path = fitted().at(n_rules)
    moved = FixedThresholdClassifier(FrozenEstimator(path), threshold=threshold, response_method="predict_proba")

    predicted = moved.fit(X, y).predict(X)

    assert (predicted == (path.predict_proba(X)[:, 1] >= threshold)).all()
    assert (predicted == path.predict(X)).all() or threshold != 0.5


@pytest.mark.slow
@every_size
def test_a_threshold_can_be_tuned_at_every_size(n_rules: int) -> None:
    X, y = table(1)
    path = fitted().at(n_rules)
    tuned = TunedThresholdClassifierCV(FrozenEstimator(path), scoring="f1", cv="prefit", refit=False).fit(X, y)

    assert f1_score(y, tuned.predict(X)) >= f1_score(y, path.predict(X))


@pytest.mark.slow
def test_thresholds_are_moved_where_the_path_is_fitted_inside() -> None:
    X, y = table(1)
    path = RulePathClassifier(FOREST, max_rules=MAX_RULES, choose="last", random_state=0)

    low = FixedThresholdClassifier(path, threshold=0.1).fit(*table(0))
    tuned = TunedThresholdClassifierCV(path, scoring="balanced_accuracy", cv=3).fit(*table(0))

    plain = path.fit(*table(0)).predict(X)
    assert recall_score(y, low.predict(X)) >= recall_score(y, plain)
    assert balanced_accuracy_score(y, tuned.predict(X)) > balanced_accuracy_score(y, plain)
    assert 0 < tuned.best_threshold_ < 0.5


@pytest.mark.slow
@pytest.mark.parametrize(
    ("frequent", "weights", "by"), [(30, None, "log-loss"), (3, None, "squares"), (30, "balanced", "squares")]
)
def test_rules_for_a_rare_class_are_chosen_by_the_logistic_loss(frequent: int, weights: str | None, by: str) -> None:
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(20 * (1 + frequent), 4)), np.repeat([0, 1], [20 * frequent, 20])
    X[y == 1] += 0.8
    forest = RandomForestClassifier(20, max_depth=4, random_state=0)
    settings = {"max_rules": 6, "choose": "last", "class_weight": weights}

    usual, said = (RulePathClassifier(forest, gain=gain, **settings).fit(X, y) for gain in (None, by))
    other = RulePathClassifier(forest, gain="squares" if by == "log-loss" else "log-loss", **settings).fit(X, y)

    assert usual.rules_ == said.rules_ != other.rules_
