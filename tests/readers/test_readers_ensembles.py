"""Boosted, voting and bagged trees of scikit-learn: rules agree with the model's own leaves, model after model."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.ensemble import (
    AdaBoostClassifier,
    AdaBoostRegressor,
    BaggingRegressor,
    ExtraTreesClassifier,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    IsolationForest,
    RandomForestClassifier,
    RandomTreesEmbedding,
    StackingClassifier,
    VotingClassifier,
    VotingRegressor,
)
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor
from test_readers import all_leaf_rules, rows_at_thresholds

from rulecover import explain, read_trees
from rulecover.exceptions import UnreadableModelError


def random_rows(rng: np.random.Generator, *, missing: bool) -> np.ndarray:
    """Rows with ties, 0/1 columns, zeros of both signs, tiny and large values, and, if asked for, missing ones."""
    X = rng.normal(size=(40, 4))
    X[:, 0] = np.round(X[:, 0], 1)
    X[:, 1] = X[:, 1] > 0
    X[:, 2] *= 10.0 ** rng.integers(-30, 30)
    X[rng.random(40) < 0.2, 3] = rng.choice([0.0, -0.0])
    if missing:
        X[rng.random(X.shape) < 0.15] = np.nan
    return X


def target(rng: np.random.Generator, X: np.ndarray, task: str) -> np.ndarray:
    signal = np.nan_to_num(X[:, 0]) + np.nan_to_num(X[:, 1]) + rng.normal(scale=0.3, size=len(X))
    if task == "regression":
        return signal
    return np.digitize(signal, np.quantile(signal, [0.5] if task == "binary" else [0.3, 0.6]))


def small(rng: np.random.Generator) -> dict[str, Any]:
    return {"n_estimators": int(rng.integers(1, 4)), "random_state": int(rng.integers(2**31))}


def tree(rng: np.random.Generator, task: str) -> Any:
    grown = DecisionTreeRegressor if task == "regression" else DecisionTreeClassifier
    return grown(max_depth=int(rng.integers(1, 5)), random_state=int(rng.integers(2**31)))


def gradient_boosting(rng: np.random.Generator, task: str) -> Any:
    kind = GradientBoostingRegressor if task == "regression" else GradientBoostingClassifier
    return kind(max_depth=int(rng.integers(1, 4)), subsample=rng.choice([0.6, 1.0]), **small(rng))


def ada_boost(rng: np.random.Generator, task: str) -> Any:
    return (AdaBoostRegressor if task == "regression" else AdaBoostClassifier)(tree(rng, task), **small(rng))


def voting(rng: np.random.Generator, task: str) -> Any:
    if task == "regression":
        return VotingRegressor([("tree", tree(rng, task)), ("bagged", BaggingRegressor(tree(rng, task), **small(rng)))])
    members = [("tree", tree(rng, task)), ("forest", RandomForestClassifier(max_depth=3, **small(rng)))]
    weights = [1.0, 2.5] if rng.random() < 0.5 else None
    return VotingClassifier(members, weights=weights, voting=str(rng.choice(["hard", "soft"])))


def ensembles_of_boosted(rng: np.random.Generator, task: str) -> Any:
    if task == "regression":
        return BaggingRegressor(gradient_boosting(rng, task), max_features=0.6, **small(rng))
    members = [("boosted", gradient_boosting(rng, task)), ("extra", ExtraTreesClassifier(max_depth=3, **small(rng)))]
    return VotingClassifier(members)


#: The model, and whether it takes missing values.
KINDS = {
    "gradient boosting": (gradient_boosting, False),
    "AdaBoost": (ada_boost, False),
    "voting": (voting, True),
    "bagging and voting of boosted": (ensembles_of_boosted, False),
}


def leaves_by_the_model(model: Any, X: np.ndarray) -> np.ndarray:
    """The leaf of each row in each tree, by scikit-learn's own `apply`."""
    if hasattr(model, "apply"):
        return model.apply(X).reshape(len(X), -1)
    used = getattr(model, "estimators_features_", [slice(None)] * len(model.estimators_))
    members = zip(model.estimators_, used, strict=True)
    return np.hstack([leaves_by_the_model(member, X[:, columns]) for member, columns in members])


def assert_rules_are_leaves(model: Any, ensemble: Any, rows: np.ndarray) -> None:
    leaves = leaves_by_the_model(model, rows)
    rules, of, node = all_leaf_rules(ensemble)
    np.testing.assert_array_equal(rules.apply(rows).toarray(), leaves[:, of] == node)
    prepared = ensemble.prepare(rows)
    for k, route in enumerate(ensemble.routes):
        np.testing.assert_array_equal(route(prepared), leaves[:, k])


@pytest.mark.parametrize("kind", KINDS)
def test_rules_of_random_models_cover_what_the_model_sends_to_their_leaves(kind: str, n_models: int) -> None:
    make, takes_missing = KINDS[kind]
    for seed in range(n_models):
        rng = np.random.default_rng(seed)
        task = ("binary", "multi-class", "regression")[seed % 3]
        X = random_rows(rng, missing=takes_missing and seed % 2 == 0)
        model = make(rng, task).fit(X, target(rng, X, task))
        ensemble = read_trees(model)
        probes = np.vstack([X, rows_at_thresholds(ensemble, X, rng)])
        assert_rules_are_leaves(model, ensemble, probes)
        assert_rules_are_leaves(model, ensemble, probes.astype(np.float32))


def test_every_class_of_gradient_boosting_has_its_trees() -> None:
    rng = np.random.default_rng(0)
    X = random_rows(rng, missing=False)
    model = GradientBoostingClassifier(n_estimators=5, max_depth=2).fit(X, target(rng, X, "multi-class"))
    assert len(read_trees(model).trees) == 15


@pytest.mark.parametrize("kind", KINDS)
def test_boosted_and_voting_trees_are_explained_whole(kind: str) -> None:
    rng = np.random.default_rng(1)
    X = random_rows(rng, missing=False)
    y = np.array(["no", "yes", "maybe"])[target(rng, X, "multi-class")]
    few = explain(KINDS[kind][0](rng, "multi-class").fit(X, y), X, y)
    assert not few.missed(X).any()
    assert few.fidelity(X) > 0.5
    assert set(few.predict(X)) <= set(y)


@pytest.mark.parametrize(
    ("model", "reason"),
    [
        (IsolationForest(n_estimators=2), "separate rare rows"),
        (RandomTreesEmbedding(n_estimators=2), "without y"),
        (StackingClassifier([("tree", DecisionTreeClassifier())]), "another model is trained on their predictions"),
        (AdaBoostClassifier(LogisticRegression(), n_estimators=2), "AdaBoostClassifier of LogisticRegression"),
        (VotingClassifier([("line", LogisticRegression())]), "VotingClassifier of LogisticRegression"),
    ],
    ids=lambda value: type(value).__name__ if not isinstance(value, str) else None,
)
def test_what_is_no_ensemble_of_voting_trees_is_refused_with_the_reason(model: Any, reason: str) -> None:
    rng = np.random.default_rng(0)
    X = np.round(rng.normal(size=(30, 3)), 1)
    model.fit(X, target(rng, X, "binary"))
    with pytest.raises(UnreadableModelError, match=rf"{reason}.*can be read: DecisionTree"):
        read_trees(model)


@pytest.mark.parametrize(
    "model",
    [GradientBoostingClassifier(), AdaBoostClassifier(), VotingClassifier([("tree", DecisionTreeClassifier())])],
    ids=lambda model: type(model).__name__,
)
def test_an_untrained_ensemble_is_not_read(model: Any) -> None:
    with pytest.raises(NotFittedError):
        read_trees(model)
