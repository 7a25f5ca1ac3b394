"""The trees of scikit-learn's histogram gradient boosting, which has no public arrays: its predictors' nodes."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from rulecover.data.columns import SourceColumns
from rulecover.data.frames import names_of_model
from rulecover.exceptions import MismatchedDataError, UnreadableModelError
from rulecover.readers.sklearn.encoders import encoded
from rulecover.readers.sklearn.gaps import distinguish_missing
from rulecover.readers.sklearn.origins import NumberOrigin, Origin
from rulecover.readers.sklearn.rewriting import conditions, on_original_columns
from rulecover.trees.tree import Tree, TreeEnsemble
from rulecover.typing import Floats, Ints


def read_hist_boosting(model: Any) -> TreeEnsemble:
    """The trees of a fitted HistGradientBoosting model, iteration by iteration, in each those of all classes."""
    predictors = [predictor for iteration in model._predictors for predictor in iteration]
    n_classes = len(model._predictors[0]) if model._predictors else 1
    whole = TreeEnsemble(
        trees=tuple(_tree(predictor) for predictor in predictors),
        routes=tuple(partial(_leaves, _numbered(predictor)) for predictor in predictors),
        prepare=_as_float64,
        n_features=int(model.n_features_in_),
        feature_names=names_of_model(model),
        output=np.tile(np.arange(n_classes), len(model._predictors)),
    )
    return whole if model.is_categorical_ is None else _with_categories(whole, model)


def _with_categories(whole: TreeEnsemble, model: Any) -> TreeEnsemble:
    """The trees on the columns as given: the model numbers categories and puts their columns first."""
    by_category, by_number = np.flatnonzero(model.is_categorical_), np.flatnonzero(~model.is_categorical_)
    encoder = model._preprocessor.named_transformers_["encoder"]
    origins: list[Origin] = [*(encoded(encoder, [NumberOrigin(f) for f in by_category.tolist()]) or [])]
    origins += [NumberOrigin(f) for f in by_number.tolist()]
    origins, gaps = distinguish_missing(origins, whole.used_columns.tolist(), takes_missing=True)
    trees, unknown = on_original_columns(whole.trees, origins, whole.n_features)
    if unknown:
        raise UnreadableModelError(
            f"{type(model).__name__} was trained with None and NaN as two categories of one column, which are the same "
            "missing value for a rule; replace one by the other and train again."
        )
    columns = SourceColumns(whole.n_features, whole.feature_names, **conditions(origins, takes_missing=True), gaps=gaps)
    return replace(
        whole,
        trees=tuple(trees),
        routes=tuple(tree.apply for tree in trees),
        categories=columns.categories,
        columns=columns,
    )


def _tree(predictor: Any) -> Tree:
    nodes = predictor.nodes
    leaf = nodes["is_leaf"].astype(bool)
    by_set = nodes["is_categorical"].astype(bool) & ~leaf
    return Tree(
        feature=np.where(leaf, 0, nodes["feature_idx"]).astype(np.intp),
        threshold=np.where(leaf | by_set, 0.0, nodes["num_threshold"]),
        left=np.where(leaf, -1, nodes["left"].astype(np.intp)),
        right=np.where(leaf, -1, nodes["right"].astype(np.intp)),
        missing_left=nodes["missing_go_to_left"].astype(bool),
        category=np.where(by_set, nodes["bitset_idx"].astype(np.intp), -1) if by_set.any() else None,
        category_sets=tuple(_members(bits) for bits in predictor.raw_left_cat_bitsets),
        value=nodes["value"].astype(np.float64)[:, None],
    )


def _members(bitset: Any) -> Floats:
    """The numbers in a set of 256, one bit each."""
    bits = np.unpackbits(np.ascontiguousarray(bitset, dtype="<u4").view(np.uint8), bitorder="little")
    return np.flatnonzero(bits).astype(np.float64)


def _numbered(predictor: Any) -> Any:
    """The predictor with the number of each node in place of its value, so that it predicts leaves."""
    nodes = predictor.nodes.copy()
    nodes["value"] = np.arange(len(nodes))
    return type(predictor)(nodes, predictor.binned_left_cat_bitsets, predictor.raw_left_cat_bitsets)


def _leaves(predictor: Any, X: Floats) -> Ints:
    no_categories = np.zeros((0, 8), dtype=np.uint32), np.zeros(X.shape[1], dtype=np.uint32)
    return np.asarray(predictor.predict(X, *no_categories, n_threads=1), dtype=np.intp)


def _as_float64(X: Any) -> Floats:
    if not isinstance(X, np.ndarray):
        raise MismatchedDataError("HistGradientBoosting does not take sparse rows; pass X.toarray().")
    return np.ascontiguousarray(X, dtype=np.float64)
