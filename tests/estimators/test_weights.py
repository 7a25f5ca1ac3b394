"""Weights as rows, whatever their scale, and where they show; what all estimators promise of them is a contract."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from model_cases import assert_same, classes, forest, numbers, tree, two_classes
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor, VotingClassifier
from sklearn.frozen import FrozenEstimator
from sklearn.metrics import accuracy_score

from rulecover import (
    MIRCOClassifier,
    MIRCORegressor,
    RCBoostClassifier,
    RulePathClassifier,
    RulePathRegressor,
    explain,
    linear_rules,
)
from rulecover.estimators.checks import in_rows, sample_weights
from rulecover.export import from_json, to_json
from rulecover.targets.classes.target import ClassTarget

FACTORS = (1e-6, 1e-3, 1 / 442, 1e6)
EXTREMES = (1e300, 1e-300, 1e-310)


@pytest.mark.slow
def test_the_figures_of_the_weights_of_diabetes_and_breast_cancer_stay_as_they_are() -> None:
    from sklearn.datasets import load_breast_cancer, load_diabetes

    X, y = load_diabetes(return_X_y=True)
    model = FrozenEstimator(RandomForestRegressor(30, max_depth=5, random_state=0).fit(X, y))
    scores = [
        MIRCORegressor(model, max_rules=10, random_state=0).fit(X, y, np.full(len(y), weight)).score(X, y)
        for weight in (1.0, 1 / 442, 1e4)
    ]
    assert scores[0] > 0.5 and len(set(scores)) == 1
    X, y = load_breast_cancer(return_X_y=True)
    source = FrozenEstimator(RandomForestClassifier(20, random_state=0).fit(X, y))
    path = RulePathClassifier(source, max_rules=8, choose="last", random_state=0)
    assert path.fit(X, y, np.full(len(y), 0.001)).score(X, y) > 0.95


@pytest.mark.slow
@pytest.mark.parametrize("of_numbers", [False, True])
def test_rules_with_linear_weights_do_not_depend_on_the_scale_of_weights(of_numbers: bool) -> None:
    X, y = numbers(0) if of_numbers else two_classes(0)
    kind = MIRCORegressor if of_numbers else MIRCOClassifier
    few = kind(random_state=0).fit(X, y)
    weight = np.random.default_rng(0).integers(1, 4, len(y))
    fits = [linear_rules(few, X, y, C=0.5, sample_weight=weight * factor) for factor in (1.0, 1e-6, 1 / 442, 1e6)]
    for other in fits[1:]:
        np.testing.assert_array_equal(other[-1].coef_, fits[0][-1].coef_)
    repeated = linear_rules(few, np.repeat(X, weight, axis=0), np.repeat(y, weight), C=0.5)
    if of_numbers:
        np.testing.assert_allclose(fits[0].predict(X), repeated.predict(X), rtol=1e-3)
    else:  # which is found by steps in a random order, to a tolerance
        np.testing.assert_allclose(fits[0].predict_proba(X), repeated.predict_proba(X), atol=0.05)


def test_explaining_does_not_depend_on_the_scale_of_weights() -> None:
    X, y = classes(5)
    model, weight = forest(5).estimator, np.random.default_rng(5).uniform(0.5, 2, len(y))
    assert_same(
        explain(model, X, y, sample_weight=weight, method="cover"),
        explain(model, X, y, sample_weight=weight / 442, method="cover"),
        X,
    )


@given(st.lists(st.integers(0, 50), min_size=1, max_size=30).filter(any), st.floats(1e-300, 1e290))
def test_whole_multiples_of_the_smallest_weight_are_rows(weights: list[int], factor: float) -> None:
    whole = np.array([1, *weights])
    np.testing.assert_array_equal(in_rows(whole * factor), whole)


@given(st.lists(st.integers(2, 7), min_size=1, max_size=30), st.floats(1e-300, 1e290))
def test_weights_that_are_as_whole_numbers_to_one_another_are_rows(weights: list[int], factor: float) -> None:
    whole = np.array(weights) // math.gcd(*weights)
    np.testing.assert_array_equal(in_rows(np.array(weights) * factor), whole)


@given(st.lists(st.floats(1e-3, 1e3), min_size=2, max_size=30), st.sampled_from([*FACTORS, *EXTREMES, 0.1, 3.0]))
def test_weights_are_the_same_rows_after_a_common_factor(weights: list[float], factor: float) -> None:
    weight = np.array(weights)
    rows = in_rows(weight)
    assert (rows == np.rint(rows)).all() or abs(rows.mean() - 1) < 1e-4
    np.testing.assert_allclose(rows / rows.sum(), weight / weight.sum(), rtol=1e-5, atol=1e-9)
    # Rounding of the weights that are given may show in the last of thirty binary digits, hardly ever.
    np.testing.assert_allclose(in_rows(weight * factor), rows, rtol=0, atol=2.0**-29)


@given(st.lists(st.integers(1, 60), min_size=2, max_size=4), st.sampled_from([1.0, 0.1, 7.0]))
def test_balanced_classes_have_equal_sums_to_the_last_bit(sizes: list[int], factor: float) -> None:
    y = np.repeat(np.arange(len(sizes)), sizes)
    weight = sample_weights(y[:, None], y, np.full(len(y), factor), "balanced")
    totals = np.bincount(y, weights=weight)
    assert (totals == totals[0]).all()


def test_weights_that_are_no_numbers_are_refused() -> None:
    X, y = classes(0)
    for bad, message in ((np.inf, "infinity"), (np.nan, "NaN"), (-1.0, "negative")):
        weight = np.where(np.arange(len(y)) == 7, bad, 1.0)
        with pytest.raises(ValueError, match=message):
            MIRCOClassifier(forest(0)).fit(X, y, sample_weight=weight)
    with pytest.raises(ValueError, match=r"class weights must be finite, but that of class .*1"):
        MIRCOClassifier(forest(0), class_weight={1: np.inf}).fit(X, y)


def test_answers_are_scored_by_weight_for_early_stopping() -> None:
    _, y = classes(0)
    weight, said = np.random.default_rng(0).uniform(size=len(y)), np.roll(y, 5)
    expected = accuracy_score(y, said, sample_weight=weight)
    assert ClassTarget(np.unique(y)).score(y, said, weight) == pytest.approx(expected)


@pytest.mark.slow
@pytest.mark.parametrize("class_weight", [None, {0: 3.0}])
def test_held_out_pruning_is_scored_by_weight(class_weight: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = classes(0)
    weight = np.random.default_rng(0).integers(1, 4, len(y))
    given: list[float] = []
    scored = MIRCOClassifier.score

    def spy(self: Any, X: Any, y: Any, sample_weight: Any = None) -> float:
        given.append(float(np.sum(sample_weight)))
        return scored(self, X, y, sample_weight)

    monkeypatch.setattr(MIRCOClassifier, "score", spy)
    MIRCOClassifier(forest(0), prune="held-out", class_weight=class_weight).fit(X, y, sample_weight=weight / 7)
    # Each of three folds is scored twice, with the weights of its rows, those of their classes included.
    assert sum(given) == 2 * (weight @ np.where(y == 0, 3 if class_weight else 1, 1))


@pytest.mark.slow
@pytest.mark.parametrize("class_weight", ["balanced", {0: 0.3, 2: 5.0}])
def test_people_are_shown_rows_where_classes_are_weighted(class_weight: Any) -> None:
    X, y = classes(1)
    times = np.random.default_rng(1).integers(1, 4, len(y))
    for source in (
        explain(forest(1).estimator, X, y, class_weight=class_weight, sample_weight=0.1 * times, method="cover"),
        RulePathClassifier(forest(1), max_rules=5, choose="last", class_weight=class_weight).fit(X, y, times),
        RCBoostClassifier(tree(1), max_rmp_calls=2, class_weight=class_weight).fit(X, y, sample_weight=times),
    ):
        for model in (source, from_json(to_json(source))):
            covered = source.rules_.apply(X).toarray()
            rules = source.rules_ if model is source else model.rules
            frame = rules.to_frame()
            np.testing.assert_array_equal(frame["support"], times @ covered)
            for k in range(3):
                np.testing.assert_array_equal(frame[f"count_{k}"], (times * (y == k)) @ covered)
            assert rules.evidence is not None
            assert rules.evidence.view.naive[1] == np.bincount(y, weights=times).argmax()


@pytest.mark.slow
@pytest.mark.parametrize("pool", [None, "forest", "boosted", "both"])
@pytest.mark.parametrize("words", [False, True])
def test_every_pool_of_a_path_takes_weights_of_rows_and_classes(pool: str | None, words: bool) -> None:
    rng = np.random.default_rng(0)
    table = pd.DataFrame(rng.normal(size=(60, 3)), columns=list("abc"))
    X = table.assign(word=rng.choice(["u", "v"], 60)) if words else table
    y, weight = np.digitize(table["a"], [-0.5, 0.5]), rng.uniform(0.5, 2, 60)
    few: dict[str, Any] = {"max_rules": 3, "choose": "last", "pool": pool, "random_state": 0}

    assert len(RulePathClassifier(class_weight="balanced", **few).fit(X, y, weight).rules_)
    assert len(RulePathRegressor(**few).fit(X, y, weight).rules_)


def test_votes_of_models_take_weights() -> None:
    X, y = classes(0)
    members = [("forest", RandomForestClassifier(5, random_state=0)), ("none", "drop")]

    assert len(MIRCOClassifier(VotingClassifier(members)).fit(X, y, np.arange(len(y)) % 3 + 1.0).rules_)
