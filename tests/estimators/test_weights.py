"""What sample weights promise, for every estimator: a common factor changes nothing, and 3 is as good as three rows."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import is_classifier
from sklearn.datasets import make_classification, make_regression
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.frozen import FrozenEstimator
from sklearn.metrics import accuracy_score
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from rulecover import (
    MIRCOClassifier,
    MIRCORegressor,
    RCBoostClassifier,
    RCBoostRegressor,
    RulePathClassifier,
    RulePathRegressor,
    explain,
    linear_rules,
)
from rulecover.estimators.checks import in_rows, sample_weights
from rulecover.export import from_json, to_json
from rulecover.targets.classes.samples import ClassSamples

FACTORS = (1e-6, 1e-3, 1 / 442, 1e6)
EXTREMES = (1e300, 1e-300, 1e-310)


class Case(NamedTuple):
    """An estimator that is to be trained with weights, from the seed of its data."""

    name: str
    made: Callable[[int], Any]
    settings: dict[str, Any]

    def __str__(self) -> str:
        settings = ", ".join(f"{name}={value}" for name, value in self.settings.items())
        return f"{self.name}({settings})"


def classes(seed: int) -> tuple[np.ndarray, np.ndarray]:
    X, y = make_classification(120, 6, n_informative=4, n_classes=3, flip_y=0.1, random_state=seed)
    return X.round(3), y


def numbers(seed: int) -> tuple[np.ndarray, np.ndarray]:
    X, y = make_regression(120, 6, n_informative=4, noise=20.0, random_state=seed)
    return X.round(3), y


def two_classes(seed: int) -> tuple[np.ndarray, np.ndarray]:
    X, y = classes(seed)
    return X, (y > 0).astype(int)


def forest(seed: int) -> FrozenEstimator:
    """A trained forest: what it is does not depend on weights, what is made of it does."""
    return FrozenEstimator(
        RandomForestClassifier(8, max_depth=4, bootstrap=False, random_state=seed).fit(*classes(seed))
    )


def forest_of_numbers(seed: int) -> FrozenEstimator:
    model = RandomForestRegressor(8, max_depth=4, max_features=2, bootstrap=False, random_state=seed)
    return FrozenEstimator(model.fit(*numbers(seed)))


def case(kind: type, source: Callable[[int], Any] | None = None, **settings: Any) -> Case:
    def made(seed: int) -> Any:
        given = {} if source is None else {"estimator": source(seed)}
        return kind(**given, **settings, random_state=seed)

    return Case(kind.__name__, made, settings)


def tree(seed: int) -> DecisionTreeClassifier:
    return DecisionTreeClassifier(max_depth=3, random_state=seed)


def tree_of_numbers(seed: int) -> DecisionTreeRegressor:
    return DecisionTreeRegressor(max_depth=3, random_state=seed)


#: Covers and paths, with settings under which rules are chosen and samples are counted.
COVERS = [
    case(MIRCOClassifier, forest),
    case(MIRCOClassifier, forest, max_rules=6, vote="fitted"),
    case(MIRCOClassifier, forest, prune=True, vote="shares", fallback="all"),
    case(MIRCOClassifier, forest, criterion="entropy", demand=2, class_weight="balanced"),
    case(MIRCOClassifier, tree),
    case(MIRCORegressor, forest_of_numbers, max_rules=10),
    case(MIRCORegressor, forest_of_numbers, max_rules=3, min_samples=4),
    case(MIRCORegressor, forest_of_numbers, solver="greedy", ridge=None, vote="precision"),
    case(MIRCORegressor, forest_of_numbers, min_samples=0.05, ridge=None, vote="support", fallback="closest"),
    case(RulePathClassifier, forest, max_rules=8, choose="last"),
    case(RulePathClassifier, forest, max_rules=8, choose="last", min_samples=5, class_weight={0: 0.5}),
    case(RulePathRegressor, forest_of_numbers, max_rules=8, choose="last"),
    case(RulePathRegressor, forest_of_numbers, max_rules=8, choose="last", min_samples=6, tries=0),
]

#: RCBoost, with calls that add rules.
BOOSTED = [
    case(RCBoostClassifier, tree, max_rmp_calls=5),
    case(RCBoostClassifier, tree, max_rmp_calls=5, duals="vertex", step=1.0),
    case(RCBoostRegressor, tree_of_numbers, max_rmp_calls=5),
]

#: The same with weights that are fractions: scikit-learn's trees round their sums, which decides between splits that
#: part the training rows in the same way.
BALANCED = case(RCBoostClassifier, tree, max_rmp_calls=5, class_weight="balanced")

#: Those that draw or split rows: repeated rows are drawn and split otherwise.
DRAWN = [
    case(MIRCOClassifier, max_rules=6),
    case(MIRCOClassifier, forest, prune="held-out"),
    case(MIRCOClassifier, forest, solver="search", max_rules=5),
    case(MIRCORegressor, max_rules=6),
    case(RulePathClassifier, forest, max_rules=5, choose="best", cv=2),
    case(RulePathRegressor, forest_of_numbers, max_rules=5, choose="best", cv=2),
    case(RCBoostClassifier, tree, max_rmp_calls=5, early_stopping=True),
    case(RCBoostRegressor, tree_of_numbers, max_rmp_calls=5, early_stopping=True),
    case(RCBoostClassifier, tree, max_rmp_calls=3, pricing="forest"),
    case(RCBoostClassifier, tree, max_rmp_calls=3, pricing="binned"),
]


def data_of(case: Case, seed: int) -> tuple[np.ndarray, np.ndarray]:
    return classes(seed) if is_classifier(case.made(seed)) else numbers(seed)


def answers(model: Any, X: np.ndarray) -> np.ndarray:
    return model.predict_proba(X) if is_classifier(model) else model.predict(X)


def assert_same(one: Any, other: Any, X: np.ndarray, tolerance: float = 0.0) -> None:
    assert [str(rule) for rule in one.rules_] == [str(rule) for rule in other.rules_]
    assert len(one.rules_) > 1
    elsewhere = np.vstack([X, X + 0.3, X[::-1] * 1.5])
    scale = np.abs(answers(one, elsewhere)).max()
    np.testing.assert_allclose(answers(one, elsewhere), answers(other, elsewhere), rtol=0, atol=tolerance * scale)


@pytest.mark.parametrize("seed", [0, 1])
@pytest.mark.parametrize("case", [*COVERS, *BOOSTED, BALANCED, *DRAWN], ids=str)
def test_a_factor_of_all_weights_changes_nothing(case: Case, seed: int) -> None:
    X, y = data_of(case, seed)
    rng = np.random.default_rng(seed)
    for weight in (np.ones(len(y)), rng.uniform(0.2, 3.0, len(y)), rng.integers(0, 4, len(y)).astype(float)):
        plain = case.made(seed).fit(X, y, sample_weight=weight)
        for factor in (FACTORS if weight.min() else EXTREMES) if seed else (1 / 442, 1e-310):
            assert_same(plain, case.made(seed).fit(X, y, sample_weight=weight * factor), X)


@pytest.mark.parametrize("case", [*COVERS, *BOOSTED, BALANCED, *DRAWN], ids=str)
def test_equal_weights_are_no_weights(case: Case) -> None:
    X, y = data_of(case, 3)
    assert_same(case.made(3).fit(X, y), case.made(3).fit(X, y, sample_weight=np.full(len(y), 0.001)), X)


@pytest.mark.parametrize("seed", [0, 1, 2])
@pytest.mark.parametrize("case", [*COVERS, *BOOSTED], ids=str)
def test_whole_weights_are_repeated_rows(case: Case, seed: int) -> None:
    X, y = data_of(case, seed)
    for least in (0, 1, 2):
        weight = np.random.default_rng(seed).integers(least, 4, len(y))
        repeated = case.made(seed).fit(np.repeat(X, weight, axis=0), np.repeat(y, weight))
        assert_same(repeated, case.made(seed).fit(X, y, sample_weight=weight), X, tolerance=1e-9)
        assert_same(repeated, case.made(seed).fit(X, y, sample_weight=0.1 * weight), X, tolerance=1e-9)


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
    assert_same(explain(model, X, y, sample_weight=weight), explain(model, X, y, sample_weight=weight / 442), X)


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
    X, y = classes(0)
    weight, said = np.random.default_rng(0).uniform(size=len(y)), np.roll(y, 5)
    expected = accuracy_score(y, said, sample_weight=weight)
    assert ClassSamples(X, y, np.unique(y), weight).score(said) == pytest.approx(expected)


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


@pytest.mark.parametrize("class_weight", ["balanced", {0: 0.3, 2: 5.0}])
def test_people_are_shown_rows_where_classes_are_weighted(class_weight: Any) -> None:
    X, y = classes(1)
    times = np.random.default_rng(1).integers(1, 4, len(y))
    for source in (
        explain(forest(1).estimator, X, y, class_weight=class_weight, sample_weight=0.1 * times),
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
