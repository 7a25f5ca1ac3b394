"""The trees of scikit-learn's decision trees, forests, gradient boosting, and ensembles of these."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import scipy.sparse
from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import (
    AdaBoostClassifier,
    AdaBoostRegressor,
    BaggingClassifier,
    BaggingRegressor,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    VotingClassifier,
    VotingRegressor,
)
from sklearn.ensemble._forest import ForestClassifier, ForestRegressor
from sklearn.frozen import FrozenEstimator
from sklearn.model_selection._search import BaseSearchCV
from sklearn.pipeline import Pipeline
from sklearn.tree import BaseDecisionTree
from sklearn.utils import get_tags
from sklearn.utils.validation import check_is_fitted

from rulecover.data.frames import names_of_model
from rulecover.exceptions import MismatchedDataError, UnreadableModelError
from rulecover.readers import read_trees, unreadable
from rulecover.readers.sklearn.combined import combined
from rulecover.readers.thresholds import from_float32
from rulecover.trees.tree import Tree, TreeEnsemble
from rulecover.typing import Floats

READS = (
    "DecisionTree",
    "ExtraTree",
    "RandomForest",
    "ExtraTrees",
    "GradientBoosting",
    "HistGradientBoosting",
    "AdaBoost, Bagging and Voting of any of these",
    "a Pipeline in front of these",
    "FrozenEstimator, CalibratedClassifierCV, GridSearchCV and other searches of these",
)

_STACKED = "its trees do not vote: another model is trained on their predictions; explain one of its estimators_"
_BY_CLASS = "it has a model for each class or pair of classes; explain one of its estimators_, on the y of that one"
_BY_OUTPUT = "it has a model for each output; explain one of its estimators_, on that column of y"
_CHAINED = "its models use each other's predictions as columns; train a model for each output"
_THRESHOLD = "it moves the threshold between two classes, which rules cannot express; explain its estimator_"
_SELECTED = "it selects columns; explain its estimator_, on the columns in get_support(), or put both into a Pipeline"

#: Models of scikit-learn that may hold trees, but whose leaves are not rules for y: why, and what to explain instead.
_REFUSED = {
    "IsolationForest": "its trees separate rare rows from others without y; explain the labels it gives instead,"
    " by a forest trained on them",
    "RandomTreesEmbedding": "its trees were grown at random, without y",
    "StackingClassifier": _STACKED,
    "StackingRegressor": _STACKED,
    "TransformedTargetRegressor": "its trees predict a transformed y; explain its regressor_, on transformer_.transform"
    " of y",
    "SelfTrainingClassifier": "it labels rows by itself; explain its estimator_",
    "TunedThresholdClassifierCV": _THRESHOLD,
    "FixedThresholdClassifier": _THRESHOLD,
    "RFE": _SELECTED,
    "SelectFromModel": _SELECTED,
    "OneVsRestClassifier": _BY_CLASS,
    "OneVsOneClassifier": _BY_CLASS,
    "OutputCodeClassifier": _BY_CLASS,
    "MultiOutputClassifier": _BY_OUTPUT,
    "MultiOutputRegressor": _BY_OUTPUT,
    "ClassifierChain": _CHAINED,
    "RegressorChain": _CHAINED,
}


def read(model: Any) -> TreeEnsemble:
    """The trees of a fitted scikit-learn model, its own compiled code as their routes."""
    if isinstance(model, FrozenEstimator):
        return read_trees(model.estimator)
    if isinstance(model, BaseSearchCV):
        return read_trees(best_of(model))
    for base in type(model).__mro__:
        if base.__module__.startswith("sklearn.") and base.__name__ in _REFUSED:
            raise unreadable(model, f" ({_REFUSED[base.__name__]})")
    for kinds, reader in _READERS.items():
        if isinstance(model, kinds):
            check_is_fitted(model)
            return reader(model)
    raise unreadable(model)


def best_of(model: Any) -> Any:
    """The model itself, or the best one that a search has found and trained."""
    if not isinstance(model, BaseSearchCV):
        return model
    if not model.refit:
        raise UnreadableModelError(
            f"{type(model).__name__} was made with refit={model.refit!r}, so it does not hold a trained model; set "
            "refit=True, or train a model with its best_params_ and pass that."
        )
    check_is_fitted(model, "best_estimator_")
    return model.best_estimator_


def takes_missing(model: Any) -> bool:
    """Whether a model has routes for missing values; some models around others do not say so.

    >>> from sklearn.tree import DecisionTreeClassifier
    >>> takes_missing(CalibratedClassifierCV(DecisionTreeClassifier()))
    True
    """
    if isinstance(model, Pipeline):  # its steps may fill them; its columns know where not
        return True
    if isinstance(model, (FrozenEstimator, CalibratedClassifierCV, BaseSearchCV)):
        return takes_missing(model.estimator)
    if isinstance(model, (VotingClassifier, VotingRegressor)):
        return all(takes_missing(member) for _, member in model.estimators if member != "drop")
    # CatBoost takes gaps, but before 1.2.8 does not say so in its tags.
    return bool(get_tags(model).input_tags.allow_nan) or type(model).__module__.startswith("catboost.")


def _forest(model: Any) -> TreeEnsemble:
    if model.n_outputs_ > 1:
        raise UnreadableModelError(
            f"{type(model).__name__} was trained on {model.n_outputs_} outputs, but a rule has one; "
            "train one model for each output."
        )
    return _of_trees(model, [model] if isinstance(model, BaseDecisionTree) else model.estimators_)


def _gradient_boosting(model: Any) -> TreeEnsemble:
    members = model.estimators_.ravel()  # stage by stage, in each the trees of all classes
    whole = _of_trees(model, members)
    values = (model.learning_rate * member.tree_.value[:, :, 0] for member in members)
    trees = tuple(replace(tree, value=value) for tree, value in zip(whole.trees, values, strict=True))
    return replace(whole, trees=trees, output=np.arange(len(trees)) % model.estimators_.shape[1])


def _of_trees(model: Any, members: Sequence[Any]) -> TreeEnsemble:
    return TreeEnsemble(
        trees=tuple(_tree(member.tree_) for member in members),
        routes=tuple(member.tree_.apply for member in members),
        prepare=rows_in_float32,
        n_features=model.n_features_in_,
        feature_names=names_of_model(model),
    )


def _of_members(model: Any) -> TreeEnsemble:
    """The trees of all members, whatever library they come from."""
    return _together(model, model.estimators_)


def _calibrated(model: CalibratedClassifierCV) -> TreeEnsemble:
    """The trees of the model inside, or of those of all folds: calibration changes probabilities, not leaves."""
    members = [each.estimator for each in model.calibrated_classifiers_]
    return read_trees(members[0]) if len(members) == 1 else _together(model, members)


def _together(model: Any, members: Sequence[Any]) -> TreeEnsemble:
    parts = []
    for member in members:
        try:
            parts.append(read_trees(member))
        except UnreadableModelError as error:
            raise unreadable(model, f" of {type(member).__name__}") from error
    return combined(
        parts,
        _n_features(model, parts[0]),
        names_of_model(model),
        columns=getattr(model, "estimators_features_", None),
        weights=_member_weights(model, len(parts)),
    )


def _n_features(model: Any, first: TreeEnsemble) -> int:
    """How many columns a model is given; one around a pipeline that passes columns through does not know it."""
    try:
        return int(model.n_features_in_)
    except AttributeError:
        return first.n_features


def _member_weights(model: Any, n_members: int) -> Floats | None:
    """The weight of each member of the model; ``None`` if all are equal."""
    if isinstance(model, (AdaBoostClassifier, AdaBoostRegressor)):
        return np.asarray(model.estimator_weights_[:n_members], dtype=np.float64)
    return vote_weights(model) if isinstance(model, (VotingClassifier, VotingRegressor)) else None


def vote_weights(model: VotingClassifier | VotingRegressor) -> Floats:
    """What each trained member of a vote counts; those that were dropped are not among them."""
    given = [1.0] * len(model.estimators) if model.weights is None else model.weights
    kept = [weight for (_, member), weight in zip(model.estimators, given, strict=True) if member != "drop"]
    return np.array(kept, dtype=np.float64)


def _hist_boosting(model: Any) -> TreeEnsemble:
    from rulecover.readers.sklearn.hist_boosting import read_hist_boosting

    return read_hist_boosting(model)


def _pipeline(model: Pipeline) -> TreeEnsemble:
    from rulecover.readers.sklearn.pipelines import read_pipeline

    return read_pipeline(model)


def _tree(tree: Any) -> Tree:
    inner = tree.children_left >= 0
    # scikit-learn 1.6 tells missing values from all others by NaN, and no number is at most NaN: all go right.
    turned = inner & np.isnan(tree.threshold)
    left, right = tree.children_left.astype(np.intp), tree.children_right.astype(np.intp)
    return Tree(
        feature=np.where(inner, tree.feature, 0).astype(np.intp),
        threshold=np.where(inner, np.where(turned, np.inf, from_float32(tree.threshold)), 0.0),
        left=np.where(turned, right, left),
        right=np.where(turned, left, right),
        missing_left=tree.missing_go_to_left.astype(bool) != turned,
    )


def rows_in_float32(X: Any) -> Any:
    """X as scikit-learn's trees take it; what float32 cannot hold is refused, as they do."""
    with np.errstate(over="ignore"):
        if scipy.sparse.issparse(X):
            X = scipy.sparse.csr_matrix(X, dtype=np.float32)
            X.indices, X.indptr = X.indices.astype(np.intc), X.indptr.astype(np.intc)
            values = X.data
        else:
            X = values = np.ascontiguousarray(X, dtype=np.float32)
    if not np.isfinite(values.sum(dtype=np.float64)) and np.isinf(values).any():
        raise MismatchedDataError("X contains infinity or a value too large for float32; scale or clip that column.")
    return X


_READERS: dict[tuple[type, ...], Callable[[Any], TreeEnsemble]] = {
    (BaseDecisionTree, ForestClassifier, ForestRegressor): _forest,
    (GradientBoostingClassifier, GradientBoostingRegressor): _gradient_boosting,
    (HistGradientBoostingClassifier, HistGradientBoostingRegressor): _hist_boosting,
    (AdaBoostClassifier, AdaBoostRegressor, VotingClassifier, VotingRegressor): _of_members,
    (BaggingClassifier, BaggingRegressor): _of_members,
    (CalibratedClassifierCV,): _calibrated,
    (Pipeline,): _pipeline,
}
