"""What every kind of target promises: responses and votes of least squares, and scores."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.frozen import FrozenEstimator
from sklearn.metrics import accuracy_score, r2_score

from rulecover.exceptions import MismatchedDataError, UnreadableModelError
from rulecover.targets.classes.target import ClassTarget
from rulecover.targets.numbers.target import NumberTarget
from rulecover.targets.target import Target
from rulecover.voting.voting_on import voting_on

LABELS = np.array(["a", "b", "c"])
TARGETS = {"one class": ClassTarget(LABELS[:1]), "two classes": ClassTarget(LABELS[:2])}
TARGETS |= {"three classes": ClassTarget(LABELS), "numbers": NumberTarget()}


def drawn(target: Target, seed: int, n: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return rng.choice(target.classes, n) if len(target.classes) else rng.normal(size=n)


@pytest.mark.parametrize("target", TARGETS.values(), ids=TARGETS)
@given(st.integers(0, 2**32 - 1), st.integers(1, 20))
def test_votes_that_reach_the_responses_predict_y(target: Target, seed: int, n: int) -> None:
    y = drawn(target, seed, n)
    responses = target.responses(y)
    base = responses[:1]

    # One rule per row, which adds what is missing between the base and the response of the row.
    votes = target.votes(np.concatenate([base, responses - base]))

    predicted = target.predictions(votes[0] + votes[1:])
    assert predicted == pytest.approx(y) if target.name == "numbers" else (predicted == y).all()
    if target.name == "classes":  # sums of votes are probabilities
        assert votes[0].sum() == pytest.approx(1.0) and votes[1:].sum(axis=1) == pytest.approx(0.0)


@pytest.mark.slow
@pytest.mark.parametrize("target", TARGETS.values(), ids=TARGETS)
@given(st.integers(0, 2**32 - 1), st.integers(2, 20))
def test_scores_are_those_of_scikit_learn(target: Target, seed: int, n: int) -> None:
    y, predicted = drawn(target, seed, n), drawn(target, seed + 1, n)
    weight = np.random.default_rng(seed).integers(1, 4, n).astype(float)
    expected = (r2_score if target.name == "numbers" else accuracy_score)(y, predicted, sample_weight=weight)

    assert target.score(y, predicted, weight) == pytest.approx(expected)


@given(st.integers(0, 2**32 - 1), st.integers(1, 3))
def test_samples_of_classes_know_the_labels_and_the_weights_of_classes(seed: int, factor: int) -> None:
    y = np.concatenate([LABELS, drawn(ClassTarget(LABELS), seed, 9)])
    X, plain = np.zeros((len(y), 1)), np.random.default_rng(seed).integers(1, 4, len(y)).astype(float)

    samples = ClassTarget().samples(X, y, plain * np.where(y == "b", factor, 1), plain, None)

    assert (samples.labels == y).all() and (ClassTarget().of(samples).classes == LABELS).all()
    assert samples.class_weight is not None and samples.class_weight.tolist() == [1, factor, 1]
    assert ClassTarget().samples(X, y, plain, None, None).class_weight is None


def test_labels_that_a_model_does_not_know_are_refused() -> None:
    forest = RandomForestClassifier(n_estimators=1).fit([[0.0], [1.0]], ["a", "b"])

    with pytest.raises(MismatchedDataError, match="'c'"):
        ClassTarget().samples(np.zeros((3, 1)), LABELS, None, None, forest)


@pytest.mark.parametrize("wrap", [lambda model: model, FrozenEstimator], ids=["to train", "trained"])
def test_a_source_must_predict_the_same_kind_of_target(wrap) -> None:
    classifier, regressor = RandomForestClassifier(), RandomForestRegressor()
    ClassTarget().check_source(wrap(classifier), "MIRCOClassifier")
    NumberTarget().check_source(wrap(regressor), "MIRCORegressor")

    with pytest.raises(UnreadableModelError, match="RandomForestRegressor is not a classifier, but MIRCOClassifier"):
        ClassTarget().check_source(wrap(regressor), "MIRCOClassifier")
    with pytest.raises(UnreadableModelError, match=r"RandomForestClassifier is not a regressor.*use MIRCOClassifier"):
        NumberTarget().check_source(wrap(classifier), "MIRCORegressor")


@pytest.mark.parametrize("target", TARGETS.values(), ids=TARGETS)
def test_every_target_has_votes_and_fallbacks(target: Target) -> None:
    voting = voting_on(target)

    assert voting.kinds and voting.fallbacks and all(name == each.name for name, each in voting.fallbacks.items())
    assert target.impurity in target.criteria.values()
