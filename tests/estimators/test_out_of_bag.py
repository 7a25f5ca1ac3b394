"""What a forest says of rows by the trees that did not see them, against scikit-learn's own figures."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from joblib import effective_n_jobs
from sklearn.datasets import make_classification, make_regression
from sklearn.ensemble import (
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    GradientBoostingClassifier,
    RandomForestClassifier,
    RandomForestRegressor,
    VotingClassifier,
    VotingRegressor,
)
from sklearn.frozen import FrozenEstimator
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

from rulecover import MIRCOClassifier, RCBoostRegressor, RulePathClassifier, RulePathRegressor
from rulecover.estimators.asked import AskedModel, OutOfBagModel, has_out_of_bag, out_of_bag
from rulecover.estimators.binned import BinnedTrees
from rulecover.rulepath.response import calibrated

SETTINGS: dict[str, Any] = {"bootstrap": True, "oob_score": True, "random_state": 0}


@pytest.mark.slow
@pytest.mark.parametrize("kind", [RandomForestClassifier, ExtraTreesClassifier])
@pytest.mark.parametrize("share", [None, 0.5])
def test_classes_are_told_as_scikit_learn_tells_them(kind: Any, share: float | None) -> None:
    X, y = make_classification(150, n_classes=3, n_informative=5, random_state=1)
    forest = kind(60, max_samples=share, **SETTINGS).fit(X, y)

    assert out_of_bag(forest, X) == pytest.approx(forest.oob_decision_function_)


@pytest.mark.slow
@pytest.mark.parametrize("kind", [RandomForestRegressor, ExtraTreesRegressor])
def test_numbers_are_told_as_scikit_learn_tells_them(kind: Any) -> None:
    X, y = make_regression(150, random_state=1)
    forest = kind(60, **SETTINGS).fit(X, y)

    assert out_of_bag(forest, X) == pytest.approx(forest.oob_prediction_[:, None])


@pytest.mark.slow
def test_the_forest_of_a_pipeline_and_of_a_cover_is_asked() -> None:
    X, y = make_classification(150, random_state=1)
    frame = pd.DataFrame(X, columns=[f"c{k}" for k in range(X.shape[1])])
    pipeline = make_pipeline(StandardScaler(), RandomForestClassifier(60, **SETTINGS)).fit(frame, y)
    cover = MIRCOClassifier(RandomForestClassifier(60, **SETTINGS)).fit(frame, y)

    assert out_of_bag(pipeline, frame) == pytest.approx(pipeline[-1].oob_decision_function_)
    assert out_of_bag(cover, frame) == pytest.approx(cover.estimator_.oob_decision_function_)


def test_a_forest_on_binned_columns_is_asked_about_bins() -> None:
    X, y = make_classification(150, random_state=1)
    trees = BinnedTrees(RandomForestClassifier(60, **SETTINGS), n_bins=5).fit(X, y)

    assert has_out_of_bag(trees)
    assert out_of_bag(trees, X) == pytest.approx(trees.estimator_.oob_decision_function_)


def test_some_of_the_rows_are_told_as_among_all() -> None:
    X, y = make_classification(150, random_state=1)
    forest = RandomForestClassifier(60, **SETTINGS).fit(X, y)
    some = np.array([3, 70, 149, 12])

    assert out_of_bag(forest, X[some], some) == pytest.approx(forest.oob_decision_function_[some])


def test_models_whose_trees_saw_every_row_have_nothing_to_tell() -> None:
    X, y = make_classification(60, random_state=1)

    assert out_of_bag(ExtraTreesClassifier(5, random_state=0).fit(X, y), X) is None
    assert out_of_bag(GradientBoostingClassifier(n_estimators=2).fit(X, y), X) is None


def test_where_every_tree_saw_a_row_the_whole_forest_answers() -> None:
    X, y = make_classification(60, random_state=1)
    forest = RandomForestClassifier(2, random_state=0).fit(X, y)
    held_out, rows = out_of_bag(forest, X), np.arange(60)
    assert held_out is not None
    seen = np.isnan(held_out).all(axis=1)
    assert 0 < seen.sum() < 60

    said = OutOfBagModel(AskedModel(forest, lambda X: X), rows).predict_proba(X)

    assert said[seen].tolist() == forest.predict_proba(X)[seen].tolist()
    assert said[~seen].tolist() == held_out[~seen].tolist()


def test_a_path_of_the_model_alone_follows_its_out_of_bag_answers() -> None:
    X, y = make_classification(150, random_state=1)
    forest = RandomForestClassifier(60, **SETTINGS).fit(X, y)

    path = RulePathClassifier(FrozenEstimator(forest), model_share=1.0, choose="last", max_rules=1).fit(X, y)

    expected = calibrated(forest.oob_decision_function_, np.eye(2)[y], np.ones(len(y))).shares
    assert path.at(0).predict_proba(X[:1])[0] == pytest.approx(expected.mean(axis=0), abs=1e-4)  # smoothed by a row


@pytest.mark.slow
def test_rows_of_weight_zero_do_not_shift_the_rows_that_a_tree_saw() -> None:
    X, y = make_regression(150, random_state=1)
    weight = (np.arange(150) % 3 > 0).astype(float)
    forest = RandomForestRegressor(60, **SETTINGS)

    path = RulePathRegressor(forest, model_share=1.0, choose="last", max_rules=1).fit(X, y, weight)

    told = path.estimator_.oob_prediction_
    assert path.at(0).predict(X[:1])[0] == pytest.approx(told[weight > 0].mean())


@pytest.mark.slow
def test_members_of_a_vote_that_drew_rows_are_asked() -> None:
    X, y = make_classification(150, n_classes=3, n_informative=5, random_state=1)
    labels = np.array(["c", "a", "b"])[y]
    members = [
        ("forest", RandomForestClassifier(60, **SETTINGS)),
        ("boosted", GradientBoostingClassifier(n_estimators=5)),
    ]
    model = VotingClassifier(members, voting="soft").fit(X, labels)
    alone = RandomForestClassifier(60, **SETTINGS).fit(X, labels)

    assert has_out_of_bag(model) and not has_out_of_bag(model.estimators_[1])
    assert out_of_bag(model, X) == pytest.approx(alone.oob_decision_function_)


def test_members_of_a_vote_are_weighed_as_in_the_vote() -> None:
    X, y = make_regression(60, random_state=1)
    one, two = RandomForestRegressor(40, **SETTINGS), RandomForestRegressor(40, max_depth=2, **SETTINGS)

    model = VotingRegressor([("one", one), ("no", "drop"), ("two", two)], weights=[3, 9, 1]).fit(X, y)
    only = VotingRegressor([("one", one), ("two", two)], weights=[0, 1]).fit(X, y)

    told = [out_of_bag(member, X) for member in model.estimators_]
    assert out_of_bag(model, X) == pytest.approx(0.75 * told[0] + 0.25 * told[1])
    assert out_of_bag(only, X) == pytest.approx(told[1])


@pytest.mark.parametrize("settings", [{"within": 0.2}, {"model_share": 1.0, "choose": "last"}], ids=str)
@pytest.mark.parametrize("n_trees", [2, 40])
def test_a_vote_without_probabilities_is_asked_also_where_every_tree_saw_a_row(
    settings: dict[str, Any], n_trees: int
) -> None:
    """A forest of two trees has rows that both of them saw; the vote predicts the classes of these."""
    X, y = make_classification(150, n_classes=3, n_informative=5, random_state=1)
    labels = np.array(["c", "a", "b"])[y]
    forest = RandomForestClassifier(n_trees, random_state=0)
    members = [("forest", forest), ("tree", DecisionTreeClassifier(max_depth=3))]
    model = VotingClassifier(members).fit(X, labels)

    path = RulePathClassifier(FrozenEstimator(model), train_in_folds=False, cv=2, max_rules=3, **settings)
    path.fit(X, labels)

    assert len(path.rules_) > 0
    shares = OutOfBagModel(AskedModel(model, lambda rows: rows), np.arange(150)).predict_proba(X)
    unseen = np.isnan(out_of_bag(model.estimators_[0], X)).any(axis=1)
    assert unseen.any() == (n_trees == 2)
    assert shares.sum(axis=1) == pytest.approx(1.0)
    assert model.classes_[shares[unseen].argmax(axis=1)].tolist() == model.predict(X)[unseen].tolist()


@pytest.mark.parametrize("settings", [{"early_stopping": 2}, {"time_limit": 60}], ids=str)
def test_rules_of_trees_that_may_have_drawn_from_some_rows_are_not_asked_out_of_bag(settings: dict[str, Any]) -> None:
    """Their trees number the rows that they were trained on, which are not those that are asked about."""
    X, y = make_regression(60, 3, random_state=0)
    forest = RandomForestRegressor(5, random_state=0)

    boosted = RCBoostRegressor(forest, max_rmp_calls=2, random_state=0, **settings).fit(X, y)
    given = RCBoostRegressor(FrozenEstimator(forest.fit(X, y)), max_rmp_calls=2, time_limit=60)

    assert out_of_bag(boosted, X) is None
    assert out_of_bag(boosted.set_params(early_stopping=None, time_limit=None), X) is not None
    assert has_out_of_bag(given.fit(X, y))


def test_a_model_is_asked_on_one_thread_as_sums_over_threads_differ_from_call_to_call() -> None:
    class Threads:
        """Says on how many threads it answers."""

        classes_ = np.array([0])

        def predict(self, X: Any) -> Any:
            return np.full(len(X), effective_n_jobs(4))

        def predict_proba(self, X: Any) -> Any:
            return self.predict(X)[:, None]

    asked = AskedModel(Threads(), lambda X: X)
    assert asked.predict(np.zeros((2, 1))).tolist() == [1, 1]
    assert asked.predict_proba(np.zeros((2, 1))).tolist() == [[1], [1]]
