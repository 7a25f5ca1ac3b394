"""Boosted, voting and bagged trees of scikit-learn: what is read and explained, and what is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import (
    AdaBoostClassifier,
    BaggingClassifier,
    GradientBoostingClassifier,
    IsolationForest,
    RandomTreesEmbedding,
    StackingClassifier,
    VotingClassifier,
)
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OrdinalEncoder
from sklearn.tree import DecisionTreeClassifier
from sklearn_models import KINDS, random_rows, target

from rulecover import explain, read_trees
from rulecover.exceptions import UnreadableModelError


def test_every_class_of_gradient_boosting_has_its_trees() -> None:
    rng = np.random.default_rng(0)
    X = random_rows(rng, missing=False)
    model = GradientBoostingClassifier(n_estimators=5, max_depth=2).fit(X, target(rng, X, "multi-class"))
    assert len(read_trees(model).trees) == 15


BOOSTED_OR_VOTING = ("gradient boosting", "AdaBoost", "voting", "bagging and voting of boosted")


@pytest.mark.parametrize("kind", BOOSTED_OR_VOTING)
def test_boosted_and_voting_trees_are_explained_whole(kind: str) -> None:
    rng = np.random.default_rng(1)
    X = random_rows(rng, missing=False)
    y = np.array(["no", "yes", "maybe"])[target(rng, X, "multi-class")]
    few = explain(KINDS[kind][0](rng, "multi-class").fit(X, y), X, y, method="cover")
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


def test_trees_of_equal_members_keep_the_weights_that_they_have_in_their_members() -> None:
    X = np.random.default_rng(0).normal(size=(80, 3))
    boosted = AdaBoostClassifier(n_estimators=3, random_state=0)
    model = CalibratedClassifierCV(boosted, cv=2).fit(X, X[:, 0] * X[:, 1] > 0)

    weight = read_trees(model).weight

    members = [each.estimator for each in model.calibrated_classifiers_]
    np.testing.assert_array_equal(weight, np.concatenate([each.estimator_weights_ for each in members]))
    assert len(set(weight.tolist())) > 1


def test_members_of_members_on_some_columns_each_send_rows_where_they_sent_them() -> None:
    rng = np.random.default_rng(3)
    X = rng.normal(size=(80, 8))
    y = (X.sum(axis=1) > 0).astype(int)
    inner = BaggingClassifier(DecisionTreeClassifier(max_depth=3), 2, max_features=0.5)
    model = BaggingClassifier(inner, 3, max_features=0.5, random_state=0).fit(X, y)

    ensemble = read_trees(model)

    prepared = ensemble.prepare(X)
    assert len(ensemble.trees) == 6
    for tree, route in zip(ensemble.trees, ensemble.routes, strict=True):
        assert (route(prepared) == tree.apply(X)).all()


def test_members_that_number_categories_differently_are_refused() -> None:
    """Those of a few rows each do not know every category."""
    colours = np.array(["red", "green", "blue"] * 50, dtype=object)[:, None]
    encoder = OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1)
    members = make_pipeline(encoder, DecisionTreeClassifier(max_depth=2))
    model = BaggingClassifier(members, n_estimators=5, max_samples=4, random_state=3)
    with pytest.raises(
        UnreadableModelError, match=r"have different categories for a column, so codes differ; give thei"
    ):
        read_trees(model.fit(colours, colours[:, 0] == "green"))

    encoder.set_params(categories=[["blue", "green", "red"]])
    assert len(read_trees(model.fit(colours, colours[:, 0] == "green")).trees) == 5
