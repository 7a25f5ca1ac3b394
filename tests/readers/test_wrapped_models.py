"""Models around models: searches are opened, and what cannot be read is refused with what to give instead."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import TransformedTargetRegressor
from sklearn.ensemble import (
    AdaBoostClassifier,
    BaggingClassifier,
    IsolationForest,
    RandomForestClassifier,
    RandomForestRegressor,
    RandomTreesEmbedding,
    StackingClassifier,
    VotingClassifier,
)
from sklearn.exceptions import NotFittedError
from sklearn.feature_selection import RFE, SelectFromModel
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import (
    FixedThresholdClassifier,
    GridSearchCV,
    RandomizedSearchCV,
    TunedThresholdClassifierCV,
)
from sklearn.multiclass import OneVsOneClassifier, OneVsRestClassifier, OutputCodeClassifier
from sklearn.multioutput import ClassifierChain, MultiOutputClassifier, MultiOutputRegressor, RegressorChain
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.semi_supervised import SelfTrainingClassifier
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

from rulecover import (
    MIRCOClassifier,
    MIRCORegressor,
    RulePathClassifier,
    RulePathRegressor,
    RuleTransformer,
    explain,
    read_trees,
)
from rulecover.exceptions import UnknownOptionError, UnreadableModelError

RNG = np.random.default_rng(0)
X = RNG.normal(size=(90, 3))
X[::9, 0] = np.nan
Y = (np.nan_to_num(X[:, 0]) + X[:, 1] > 0).astype(int)
NUMBERS = X[:, 1] * 3 + RNG.normal(size=90)
FOREST = RandomForestClassifier(3, max_depth=3, random_state=0)
REGRESSOR = RandomForestRegressor(3, max_depth=3, random_state=0)
DEPTHS = {"max_depth": [2, 3]}


@pytest.mark.slow
@pytest.mark.parametrize("search", [GridSearchCV, RandomizedSearchCV])
def test_a_search_is_read_as_the_best_model_that_it_found(search: Any) -> None:
    options = {"n_iter": 1} if search is RandomizedSearchCV else {}
    found = search(FOREST, DEPTHS, cv=2, **options).fit(X, Y)
    best = found.best_estimator_
    assert read_trees(found).rules() == read_trees(best).rules()
    for source in (found, FrozenEstimator(found)):
        assert explain(source, X, Y, method="cover").rules_ == explain(best, X, Y, method="cover").rules_
        path = {"max_rules": 4, "choose": "last"}
        frozen = source if isinstance(source, FrozenEstimator) else FrozenEstimator(source)
        mine = RulePathClassifier(frozen, **path).fit(X, Y)
        assert mine.rules_ == RulePathClassifier(FrozenEstimator(best), **path).fit(X, Y).rules_


@pytest.mark.slow
def test_a_search_is_trained_and_opened_wherever_a_model_is_taken() -> None:
    search = GridSearchCV(FOREST, DEPTHS, cv=2)
    few = MIRCOClassifier(search).fit(X, Y)
    assert isinstance(few.estimator_, RandomForestClassifier) and few.fidelity(X) > 0.8
    numbers = MIRCORegressor(GridSearchCV(REGRESSOR, DEPTHS, cv=2)).fit(X, NUMBERS)
    assert isinstance(numbers.estimator_, RandomForestRegressor)
    for model in (
        make_pipeline(StandardScaler(), search),
        VotingClassifier([("one", search), ("two", FOREST)]),
        BaggingClassifier(search, 2, random_state=0),
        GridSearchCV(make_pipeline(StandardScaler(), FOREST), {"standardscaler__with_mean": [True]}, cv=2),
    ):
        rows = np.nan_to_num(X)  # scikit-learn does not say whether bagging of a search takes NaN
        cover = explain(model.fit(rows, Y), rows, Y, method="cover", prune=False, vote="counts", impurity_weight=1.0)
        assert cover.fidelity(rows) > 0.8
    covers = GridSearchCV(MIRCOClassifier(FOREST), {"max_rules": [2, 4]}, cv=2).fit(X, Y)
    assert explain(covers, X, Y, method="cover").rules_ == explain(covers.best_estimator_, X, Y, method="cover").rules_


@pytest.mark.slow
@pytest.mark.parametrize("ensemble", [False, True])
def test_a_calibrated_model_is_read_as_the_models_inside(ensemble: bool) -> None:
    calibrated = CalibratedClassifierCV(FOREST, cv=3, ensemble=ensemble).fit(X, Y)
    inside = [each.estimator for each in calibrated.calibrated_classifiers_]

    trees = read_trees(calibrated).trees
    few = explain(calibrated, X, Y)

    expected = [tree for model in inside for tree in read_trees(model).trees]
    assert len(inside) == (3 if ensemble else 1) and len(trees) == len(expected)
    assert all(np.array_equal(one.threshold, two.threshold) for one, two in zip(trees, expected, strict=True))
    assert few.fidelity(X) == np.mean(few.predict(X) == calibrated.predict(X)) > 0.8


def test_a_search_without_a_trained_model_is_refused() -> None:
    for model in (GridSearchCV(FOREST, DEPTHS), FOREST, VotingClassifier([("one", FOREST)])):
        for take in (read_trees, lambda model: explain(model, X, Y, method="cover")):
            with pytest.raises(NotFittedError, match=type(model).__name__):
                take(model)
    with pytest.raises(UnreadableModelError, match=r"GridSearchCV .* refit=False.*best_params_"):
        read_trees(GridSearchCV(FOREST, DEPTHS, cv=2, refit=False).fit(X, Y))
    with pytest.raises(UnreadableModelError, match="SVC"):
        explain(GridSearchCV(SVC(), {"C": [1, 2]}, cv=2).fit(np.nan_to_num(X), Y), X, Y, method="cover")


TWICE = np.column_stack([Y, 1 - Y])
WRAPPED = [
    (OneVsRestClassifier(FOREST), Y, "one of its estimators_"),
    (OneVsOneClassifier(FOREST), Y, "one of its estimators_"),
    (OutputCodeClassifier(FOREST, random_state=0), Y, "one of its estimators_"),
    (MultiOutputClassifier(FOREST), TWICE, "one of its estimators_, on that column of y"),
    (MultiOutputRegressor(REGRESSOR), TWICE, "one of its estimators_, on that column of y"),
    (ClassifierChain(FOREST), TWICE, "train a model for each output"),
    (RegressorChain(REGRESSOR), TWICE, "train a model for each output"),
    (StackingClassifier([("one", FOREST)], cv=2), Y, "one of its estimators_"),
    (TransformedTargetRegressor(REGRESSOR), NUMBERS, "explain its regressor_"),
    (SelfTrainingClassifier(FOREST), Y, "explain its estimator_"),
    (TunedThresholdClassifierCV(FOREST, cv=2), Y, "explain its estimator_"),
    (FixedThresholdClassifier(FOREST), Y, "explain its estimator_"),
    (RFE(FOREST), Y, r"explain its estimator_, on the columns in get_support\(\)"),
    (SelectFromModel(FOREST), Y, r"explain its estimator_, on the columns in get_support\(\)"),
    (IsolationForest(n_estimators=3), Y, "explain the labels it gives"),
    (RandomTreesEmbedding(3), Y, "grown at random"),
    (AdaBoostClassifier(LogisticRegression(), n_estimators=2), Y, "of LogisticRegression"),
    (BaggingClassifier(KNeighborsClassifier(), 2), Y, "of KNeighborsClassifier"),
    (VotingClassifier([("one", FOREST), ("two", LogisticRegression())]), Y, "of LogisticRegression"),
    (make_pipeline(StandardScaler(), LogisticRegression()), Y, "of LogisticRegression"),
    (LogisticRegression(), Y, "models that can be read"),
]


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:y contains no unlabeled samples")
@pytest.mark.parametrize(("model", "y", "way_out"), WRAPPED, ids=[type(model).__name__ for model, *_ in WRAPPED])
def test_what_cannot_be_read_is_refused_in_one_line_with_the_way_out(model: Any, y: Any, way_out: str) -> None:
    rows = np.nan_to_num(X)
    model.fit(rows, y)
    one = y if np.ndim(y) == 1 else y[:, 0]
    takes = [
        lambda: read_trees(model),
        lambda: explain(model, rows, one, method="cover"),
        lambda: MIRCOClassifier(FrozenEstimator(model)).fit(rows, one),
        lambda: MIRCORegressor(FrozenEstimator(model)).fit(rows, one),
        lambda: RulePathClassifier(FrozenEstimator(model)).fit(rows, one),
        lambda: RulePathRegressor(FrozenEstimator(model)).fit(rows, one),
    ]
    for take in takes:
        with pytest.raises(UnreadableModelError, match=way_out) as refused:
            take()
        assert "\n" not in str(refused.value)


def test_a_vote_without_probabilities_is_refused_where_they_are_asked_for() -> None:
    trees = [("one", DecisionTreeClassifier(max_depth=2)), ("two", DecisionTreeClassifier(max_depth=3))]
    vote = VotingClassifier(trees).fit(X, Y)  # a forest among them would be asked, out of bag
    with pytest.raises(UnreadableModelError, match=r"VotingClassifier gives no probabilities.*model_share=0"):
        RulePathClassifier(FrozenEstimator(vote), choose="last").fit(X, Y)
    assert RulePathClassifier(FrozenEstimator(vote), choose="last", model_share=0).fit(X, Y).score(X, Y) > 0.8


def test_explain_names_an_option_that_it_does_not_have() -> None:
    forest = FOREST.fit(X, Y)
    with pytest.raises(UnknownOptionError, match=r"MIRCOClassifier.* has no 'within'; it belongs to method='path'"):
        explain(forest, X, Y, within=0.01, method="cover")
    with pytest.raises(UnknownOptionError, match=r"RulePathClassifier.* has no 'demand'; it belongs to method='cover'"):
        explain(forest, X, Y, demand=3)
    with pytest.raises(
        UnknownOptionError, match=r"no option 'estimator'; with method='path' .* RulePathClassifier: checkpoint, choose"
    ):
        explain(forest, X, Y, estimator=forest)
    with pytest.raises(UnknownOptionError, match=r"MIRCORegressor, .* has no 'prune'; it is for classes"):
        explain(REGRESSOR.fit(X, NUMBERS), X, NUMBERS, prune=True, method="cover")
    with pytest.raises(UnreadableModelError, match="has no rules to turn into columns"):
        RuleTransformer(FOREST).fit(X, Y)
