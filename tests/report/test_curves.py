"""Thresholds and what follows from them are those of scikit-learn's curves; histograms count every row once."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from page import Page
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.ensemble import RandomForestClassifier
from sklearn.metrics import precision_recall_curve, roc_curve

from rulecover import RulePathClassifier, RuleSet, Summary
from rulecover.report.curves import ThresholdCurve, threshold_curves
from rulecover.report.report import report_html
from rulecover.rules.features import strips


@given(st.integers(0, 2**32 - 1), st.integers(2, 60), st.integers(1, 8))
def test_each_threshold_finds_as_many_rows_as_in_scikit_learn(seed: int, n: int, n_scores: int) -> None:
    rng = np.random.default_rng(seed)
    positive = np.r_[True, False, rng.random(n) < 0.3]
    share = rng.integers(0, n_scores + 1, n + 2) / n_scores
    curve = ThresholdCurve.of("yes", positive, share)
    alarms, found, thresholds = roc_curve(positive, share, drop_intermediate=False)
    precision, recall, _ = precision_recall_curve(positive, share)

    np.testing.assert_array_equal(curve.thresholds, thresholds[1:])
    np.testing.assert_allclose(curve.found / curve.n_rows, found[1:])
    np.testing.assert_allclose(curve.alarms / curve.n_others, alarms[1:])
    np.testing.assert_allclose(curve.precision[::-1], precision[:-1])
    np.testing.assert_allclose((curve.found / curve.n_rows)[::-1], recall[:-1])


def test_of_many_thresholds_some_are_kept_with_their_exact_counts() -> None:
    rng = np.random.default_rng(0)
    positive, share = rng.random(5000) < 0.2, rng.random(5000)
    curve = ThresholdCurve.of("yes", positive, share)

    assert len(curve.thresholds) == 200
    for k in range(0, 200, 17):
        assert curve.found[k] == (positive & (share >= curve.thresholds[k])).sum()
        assert curve.alarms[k] == (~positive & (share >= curve.thresholds[k])).sum()


def test_two_classes_have_one_curve_and_more_one_each_where_it_is_defined() -> None:
    truth, shares = np.array([0, 0, 1, 1]), np.full((4, 3), 1 / 3)

    assert [c.name for c in threshold_curves(truth, shares, np.arange(3), None)] == ["0", "1"]
    assert [c.name for c in threshold_curves(truth, shares[:, :2], np.arange(2), 1)] == ["1"]
    assert threshold_curves(truth, None, np.arange(3), None) == []


def test_the_page_has_the_curves_of_the_model() -> None:
    X, y = load_breast_cancer(return_X_y=True)
    path = RulePathClassifier(RandomForestClassifier(5, random_state=0), max_rules=3, choose="last", random_state=0)
    path.fit(X[::2], y[::2])
    page = Page(report_html(Summary.of(path, X[1::2], y[1::2], title="Biopsies")))
    (curve,) = json.loads(page.values("div", "data-curves")[-1] or "")

    assert curve["name"] == "0" and curve["rows"] == (y[1::2] == 0).sum()
    at_half = curve["found"][curve["start"]]
    assert at_half == ((path.predict_proba(X[1::2])[:, 0] >= 0.5) & (y[1::2] == 0)).sum()


def test_a_strip_stacks_the_rows_of_each_class() -> None:
    X, y = load_iris(return_X_y=True)
    strip = strips(RuleSet.of_intervals([{2: (-np.inf, 2.5)}], list("abcd")), X, y)["c"]
    counts = np.stack([np.histogram(X[y == k, 2], bins=40, range=(X[:, 2].min(), X[:, 2].max()))[0] for k in range(3)])
    most = counts.sum(axis=0).max()

    for x, _, floor, top, group in strip.bars:
        place = round(x / 2.5)
        assert top - floor == pytest.approx(counts[group, place] / most)
        assert floor == pytest.approx(counts[:group, place].sum() / most)
    assert len(strip.bars) == np.count_nonzero(counts)
