"""Figures on held-out rows are those of scikit-learn, and their intervals hold the truth as often as they promise."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import RandomForestClassifier
from sklearn.metrics import (
    accuracy_score,
    average_precision_score,
    balanced_accuracy_score,
    mean_absolute_error,
    precision_score,
    r2_score,
    recall_score,
    roc_auc_score,
)

from rulecover import MIRCOClassifier, RulePathClassifier, RulePathRegressor, Summary
from rulecover.report.figures import (
    Bootstrap,
    ClassFigures,
    NumberFigures,
    balanced_accuracy,
    wilson,
    wilson_interval,
)
from rulecover.report.rule_checks import RuleChecks

LABELS = np.array(["no", "yes"])


def named(figures: Any) -> dict[str, float]:
    return {figure.name: figure.value for figure in figures}


# Shares ---------------------------------------------------------------------------------------------------------------


@given(st.integers(0, 60), st.integers(1, 60))
def test_the_interval_of_a_share_is_where_a_score_test_would_not_reject(part: int, more: int) -> None:
    whole = part + more
    low, high = wilson_interval(part, whole)
    share = part / whole

    assert 0 <= low <= share <= high <= 1
    for end in (float(low), float(high)):
        if 0 < end < 1:
            assert abs(share - end) / np.sqrt(end * (1 - end) / whole) == pytest.approx(1.959964, abs=1e-4)


def test_a_share_of_nothing_is_not_defined() -> None:
    figure = wilson("precision", 0, 0)

    assert not figure.is_defined and str(figure) == "–" and (figure.low, figure.high) == (0.0, 1.0)


@pytest.mark.slow
def test_intervals_of_balanced_accuracy_hold_it_19_times_in_20() -> None:
    rng, rows, recall = np.random.default_rng(0), np.array([180, 20]), np.array([0.95, 0.4])
    found = [balanced_accuracy(rng.binomial(rows, recall), rows) for _ in range(4000)]
    inside = [figure.low <= recall.mean() <= figure.high for figure in found]

    assert 0.93 <= np.mean(inside) <= 0.98


# Classes --------------------------------------------------------------------------------------------------------------


@pytest.mark.slow
@given(st.integers(0, 2**32 - 1), st.integers(2, 40), st.integers(1, 6))
def test_figures_of_two_classes_are_those_of_scikit_learn(seed: int, n: int, n_scores: int) -> None:
    rng = np.random.default_rng(seed)
    truth = np.r_[LABELS, LABELS[rng.integers(0, 2, n)]]
    chance = rng.integers(0, n_scores + 1, n + 2) / n_scores
    predicted = LABELS[(chance > 0.5).astype(int)]
    found = named(
        ClassFigures(truth, LABELS, np.array([9.0, 1.0])).of(predicted, np.column_stack([1 - chance, chance]))
    )

    assert found["accuracy"] == pytest.approx(accuracy_score(truth, predicted))
    assert found["balanced accuracy"] == pytest.approx(balanced_accuracy_score(truth, predicted))
    assert found["recall of yes"] == pytest.approx(recall_score(truth, predicted, pos_label="yes"))
    assert found["ROC AUC"] == pytest.approx(roc_auc_score(truth == "yes", chance))
    assert found["average precision of yes"] == pytest.approx(average_precision_score(truth == "yes", chance))
    if (predicted == "yes").any():
        assert found["precision of yes"] == pytest.approx(precision_score(truth, predicted, pos_label="yes"))
    else:
        assert np.isnan(found["precision of yes"])


def test_figures_of_more_classes_are_means_over_the_classes() -> None:
    rng = np.random.default_rng(0)
    classes, truth, shares = np.arange(4), rng.integers(0, 4, 300), rng.dirichlet(np.ones(4), 300)
    found = named(ClassFigures(truth, classes, np.ones(4)).of(shares.argmax(axis=1), shares))

    assert found["ROC AUC"] == pytest.approx(roc_auc_score(truth, shares, multi_class="ovr"))
    assert found["average precision"] == pytest.approx(average_precision_score(np.eye(4)[truth], shares))
    assert "recall of 1" not in found


def test_what_matters_comes_first() -> None:
    truth = np.array(["no", "no", "yes"])

    def first(*counts: float) -> str:
        return ClassFigures(truth, LABELS, np.array(counts)).of(truth)[0].name

    assert first(50, 50) == "accuracy" and first(70, 30) == "accuracy"
    assert first(90, 10) == "balanced accuracy" and first(1, 99) == "balanced accuracy"


@pytest.mark.parametrize(("counts", "rare"), [((9.0, 1.0), "yes"), ((1.0, 9.0), "no"), ((5.0, 5.0), "yes")])
def test_recall_and_precision_are_those_of_the_rarer_class(counts: tuple[float, float], rare: str) -> None:
    names = ClassFigures(LABELS, LABELS, np.array(counts)).names

    assert f"recall of {rare}" in names and f"average precision of {rare}" in names


def test_a_bootstrap_draws_as_many_rows_of_each_class_as_there_are_and_is_repeated_exactly() -> None:
    groups = np.r_[np.zeros(30, dtype=np.intp), np.ones(7, dtype=np.intp)]
    (weights,) = Bootstrap(groups).weights()

    assert weights.shape == (500, 37)
    assert (weights[:, :30].sum(axis=1) == 30).all() and (weights[:, 30:].sum(axis=1) == 7).all()
    np.testing.assert_array_equal(weights, next(Bootstrap(groups).weights()))


@pytest.mark.slow
def test_intervals_of_the_area_under_the_curve_hold_it_about_19_times_in_20() -> None:
    rng, inside = np.random.default_rng(0), 0
    for _ in range(200):
        score = np.r_[rng.normal(0, 1, 60), rng.normal(1, 1, 60)]
        truth = LABELS[np.repeat([0, 1], 60)]
        shares = np.column_stack([-score, score])
        figures = ClassFigures(truth, LABELS, np.ones(2)).of(truth, shares)
        auc = next(figure for figure in figures if figure.name == "ROC AUC")
        inside += auc.low <= 0.7602 <= auc.high

    assert 0.9 <= inside / 200 <= 0.99


@pytest.mark.slow
@pytest.mark.parametrize("n_positive", [1, 3, 10])
def test_intervals_from_a_few_positive_rows_hold_the_area_under_the_curve(n_positive: int) -> None:
    rng, inside = np.random.default_rng(0), 0
    for _ in range(200):
        score = np.r_[rng.normal(0, 1, 60), rng.normal(1, 1, n_positive)]
        truth = LABELS[np.repeat([0, 1], [60, n_positive])]
        figures = ClassFigures(truth, LABELS, np.array([60, 1])).of(truth, np.column_stack([-score, score]))
        auc = next(figure for figure in figures if figure.name == "ROC AUC")
        inside += auc.low <= 0.7602 <= auc.high

    assert inside / 200 >= 0.94


def test_one_positive_row_says_little() -> None:
    truth, score = LABELS[(np.arange(300) == 150).astype(int)], np.arange(300) / 300
    figures = ClassFigures(truth, LABELS, np.array([299.0, 1.0])).of(truth, np.column_stack([1 - score, score]))

    for name in ("ROC AUC", "average precision of yes"):
        found = next(figure for figure in figures if figure.name == name)
        assert found.high - found.low > 0.7


def test_means_over_the_classes_that_there_are_say_how_many() -> None:
    rng = np.random.default_rng(0)
    classes, truth, shares = np.arange(5), rng.integers(0, 3, 300), rng.dirichlet(np.ones(5), 300)
    found = named(ClassFigures(truth, classes, np.ones(5)).of(shares.argmax(axis=1), shares))

    assert {"ROC AUC over 3 of 5 classes", "average precision over 3 of 5 classes"} <= set(found)
    assert "ROC AUC" not in found


def test_a_perfect_ranking_of_a_few_rows_is_not_sure() -> None:
    truth, score = LABELS[np.repeat([0, 1], [90, 5])], np.repeat([0.1, 0.9], [90, 5])
    figures = ClassFigures(truth, LABELS, np.array([90.0, 5.0])).of(truth, np.column_stack([1 - score, score]))
    auc = next(figure for figure in figures if figure.name == "ROC AUC")

    assert auc.value == auc.high == 1 and auc.low == pytest.approx(wilson("", 5, 5).low)


# Numbers --------------------------------------------------------------------------------------------------------------


@pytest.mark.slow
@given(st.integers(0, 2**32 - 1), st.integers(2, 50), st.sampled_from([0.0, 1e6]))
def test_figures_of_numbers_are_those_of_scikit_learn(seed: int, n: int, centre: float) -> None:
    rng = np.random.default_rng(seed)
    truth = centre + rng.normal(size=n)
    predicted = truth + rng.normal(size=n)
    found = NumberFigures(truth).of(predicted)

    assert named(found)["R²"] == pytest.approx(r2_score(truth, predicted), rel=1e-6)
    assert named(found)["mean absolute error"] == pytest.approx(mean_absolute_error(truth, predicted))
    assert all(figure.low <= figure.value <= figure.high for figure in found)


# In a summary ---------------------------------------------------------------------------------------------------------


def biopsies() -> tuple[Any, Any]:
    data = load_breast_cancer(as_frame=True)
    return data.data, data.target_names[data.target]


def test_a_summary_has_the_figures_of_every_model() -> None:
    X, y = biopsies()
    forest = RandomForestClassifier(10, random_state=0).fit(X[::2], y[::2])
    path = RulePathClassifier(forest, max_rules=4, choose="last", random_state=0).fit(X[::2], y[::2])
    shown = Summary.of(path, X[1::2], y[1::2], title="Biopsies", compare_with={"forest": forest})
    ours, theirs, naive = shown.scores
    chance = path.predict_proba(X[1::2])[:, 1]

    assert [figure.name for figure in ours.figures] == [figure.name for figure in theirs.figures]
    assert ours["ROC AUC"].value == pytest.approx(roc_auc_score(y[1::2] == "malignant", chance))
    assert theirs["accuracy"].value == forest.score(X[1::2], y[1::2])
    assert naive["balanced accuracy"].value == 0.5 and naive["ROC AUC"].value == 0.5
    assert not naive["precision of malignant"].is_defined


def test_a_model_without_probabilities_has_the_other_figures() -> None:
    X, y = biopsies()
    model = MIRCOClassifier(RandomForestClassifier(5, random_state=0), random_state=0).fit(X, y)

    class Silent(DummyClassifier):
        predict_proba = property()

    shown = Summary.of(model, X, y, title="Biopsies", compare_with={"silent": Silent().fit(X, y)})

    assert "ROC AUC" not in {figure.name for figure in shown.scores[1].figures}


def test_rules_no_better_than_guessing_are_warned_of() -> None:
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(200, 3)), rng.integers(0, 2, 200)
    model = MIRCOClassifier(RandomForestClassifier(5, max_depth=3, random_state=0)).fit(X[:100], y[:100])
    right = (X[:, 0] > 0).astype(int)
    good = MIRCOClassifier(RandomForestClassifier(5, max_depth=3, random_state=0)).fit(X[:100], right[:100])

    assert "not surely better" in " ".join(Summary.of(model, X[100:], y[100:], title="Noise").warnings)
    assert Summary.of(good, X[100:], right[100:], title="Signal").warnings == ()


# Rules ----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("fitted", [False, True])
def test_each_rule_is_checked_on_the_held_out_rows_that_it_covers(fitted: bool) -> None:
    X, y = load_iris(return_X_y=True)
    forest = RandomForestClassifier(5, max_depth=3, random_state=0)
    path = RulePathClassifier(forest, max_rules=5, choose="last", random_state=0)
    model = (path if fitted else MIRCOClassifier(forest, random_state=0)).fit(X[::2], y[::2])
    checks = Summary.of(model, X[1::2], y[1::2], title="Iris").checks
    covered = model.apply(X[1::2]).toarray()
    says = model.vote_.votes.argmax(axis=1) if fitted else [rule.prediction for rule in model.rules_]

    assert checks is not None and checks.of_classes
    for j in range(len(model.rules_)):
        mine = y[1::2][covered[:, j]]
        assert checks.support[j] == len(mine)
        if len(mine):
            figure = wilson("precision", int((mine == says[j]).sum()), len(mine))
            assert (checks.value[j], checks.low[j], checks.high[j]) == (figure.value, figure.low, figure.high)
        else:
            assert checks.text(j) == "–"


@pytest.mark.slow
def test_a_rule_for_numbers_is_checked_by_its_mean() -> None:
    X, y = load_diabetes(return_X_y=True)
    model = RulePathRegressor(max_rules=4, choose="last", random_state=0).fit(X[::2], y[::2])
    checks = Summary.of(model, X[1::2], y[1::2], title="Diabetes").checks
    covered = model.apply(X[1::2]).toarray()

    assert isinstance(checks, RuleChecks) and not checks.of_classes
    for j in range(len(model.rules_)):
        mine = y[1::2][covered[:, j]]
        error = mine.std(ddof=1) / np.sqrt(len(mine))
        assert checks.value[j] == pytest.approx(mine.mean())
        assert 1.95 * error < checks.high[j] - checks.value[j] < 2.3 * error
