"""The trees of scikit-learn's decision trees, forests, extra trees and baggings."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import scipy.sparse
from sklearn.ensemble import BaggingClassifier, BaggingRegressor
from sklearn.ensemble._forest import ForestClassifier, ForestRegressor
from sklearn.frozen import FrozenEstimator
from sklearn.tree import BaseDecisionTree
from sklearn.utils.validation import check_is_fitted

from rulecover.exceptions import MismatchedDataError, UnreadableModelError
from rulecover.readers import unreadable
from rulecover.readers.thresholds import from_float32
from rulecover.trees import Tree, TreeEnsemble
from rulecover.typing import Ints

READS = (
    "DecisionTree",
    "ExtraTree",
    "RandomForest",
    "ExtraTrees",
    "Bagging of any of these",
    "FrozenEstimator of these",
)


def read(model: Any) -> TreeEnsemble:
    """The trees of a fitted scikit-learn model, its own compiled code as their routes."""
    if isinstance(model, FrozenEstimator):
        return read(model.estimator)
    if isinstance(model, BaseDecisionTree):
        return _ensemble(model, [model])
    if isinstance(model, (ForestClassifier, ForestRegressor)):
        check_is_fitted(model)
        return _ensemble(model, model.estimators_)
    if isinstance(model, (BaggingClassifier, BaggingRegressor)):
        return _bagging(model)
    raise unreadable(model)


def _ensemble(model: Any, members: list[Any]) -> TreeEnsemble:
    check_is_fitted(model)
    if model.n_outputs_ > 1:
        raise UnreadableModelError(
            f"{type(model).__name__} was trained on {model.n_outputs_} outputs, but a rule has one; "
            "train one model for each output."
        )
    return TreeEnsemble(
        trees=tuple(_tree(member.tree_) for member in members),
        routes=tuple(member.tree_.apply for member in members),
        prepare=_as_float32,
        n_features=model.n_features_in_,
        feature_names=_names(model),
    )


def _bagging(model: Any) -> TreeEnsemble:
    check_is_fitted(model)
    trees: list[Tree] = []
    routes: list[Callable[[Any], Ints]] = []
    for member, columns in zip(model.estimators_, model.estimators_features_, strict=True):
        try:
            inner = read(member)
        except UnreadableModelError as error:
            raise unreadable(model, f" of {type(member).__name__}") from error
        whole = np.array_equal(columns, np.arange(model.n_features_in_))
        trees += [tree if whole else tree.on_columns(columns) for tree in inner.trees]
        routes += [route if whole else partial(_route_on, route, columns) for route in inner.routes]
    return TreeEnsemble(tuple(trees), tuple(routes), _as_float32, model.n_features_in_, _names(model))


def _route_on(route: Callable[[Any], Ints], columns: Ints, X: Any) -> Ints:
    return route(X[:, columns])


def _names(model: Any) -> tuple[str, ...] | None:
    names = getattr(model, "feature_names_in_", None)
    return None if names is None else tuple(map(str, names))


def _tree(tree: Any) -> Tree:
    inner = tree.children_left >= 0
    return Tree(
        feature=np.where(inner, tree.feature, 0).astype(np.intp),
        threshold=np.where(inner, from_float32(tree.threshold), 0.0),
        left=tree.children_left.astype(np.intp),
        right=tree.children_right.astype(np.intp),
        missing_left=tree.missing_go_to_left.astype(bool),
    )


def _as_float32(X: Any) -> Any:
    """X as scikit-learn's trees take it; what float32 cannot hold is refused, as they do."""
    with np.errstate(over="ignore"):
        if scipy.sparse.issparse(X):
            X = scipy.sparse.csr_matrix(X, dtype=np.float32)
            X.indices, X.indptr = X.indices.astype(np.intc), X.indptr.astype(np.intc)
            values = X.data
        else:
            X = values = np.ascontiguousarray(X, dtype=np.float32)
    if np.isinf(values.sum(dtype=np.float64)) and np.isinf(values).any():
        raise MismatchedDataError("X contains infinity or a value too large for float32; scale or clip that column.")
    return X
