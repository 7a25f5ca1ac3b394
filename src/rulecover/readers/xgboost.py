"""The trees of XGBoost's models: boosters, and the classes with scikit-learn's interface."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from scipy.special import expit, softmax

from rulecover.exceptions import UnreadableModelError
from rulecover.readers import unreadable
from rulecover.readers.files.fields import Field
from rulecover.readers.files.routes import library_routes
from rulecover.readers.files.xgboost_json import parse
from rulecover.trees.tree import TreeEnsemble
from rulecover.typing import Array

READS = ("XGBoost's models and Booster (gbtree, dart, random forests)",)


def read(model: Any) -> TreeEnsemble:
    """The trees of a trained XGBoost model, its own compiled code as their routes."""
    import xgboost

    if isinstance(model, xgboost.Booster):
        return _ensemble(model)
    if isinstance(model, xgboost.XGBModel):
        return _ensemble(_trained(model))
    raise unreadable(model)


def _trained(model: Any) -> Any:
    """The rounds that a model with scikit-learn's interface uses: if it stopped early, those up to the best."""
    booster = model.get_booster()
    if model.missing is None:
        raise UnreadableModelError(
            f"{type(model).__name__} was trained with missing=None, with which XGBoost itself cannot predict; call "
            "set_params(missing=numpy.nan) on it."
        )
    if not np.isnan(model.missing):
        raise UnreadableModelError(
            f"{type(model).__name__} was trained with missing={model.missing!r}, but for rules only NaN is missing; "
            "replace that value by NaN and train with the default."
        )
    try:
        return booster[: model.best_iteration + 1]
    except AttributeError:  # it did not stop early
        return booster


def _ensemble(booster: Any) -> TreeEnsemble:
    parsed = parse(Field.of_json(booster.save_raw("json").decode(), "the XGBoost model"))
    return library_routes(parsed, partial(_leaves, len(parsed.node_of), booster))


def probabilities(booster: Any, X: Any) -> Array:
    """The model's probability of each class, rows x classes; or of the second of two."""
    margin: Array = booster.predict(_matrix(booster, X), output_margin=True, validate_features=False)
    return np.asarray(expit(margin) if margin.ndim == 1 else softmax(margin, axis=1))


def numbers(booster: Any, X: Any) -> Array:
    """The model's prediction, one number per row."""
    predicted: Array = booster.predict(_matrix(booster, X), validate_features=False)
    return predicted


def _leaves(n_all: int, booster: Any, X: Any, n_trees: int) -> Array:
    """The number of each row's leaf in all rounds of the first trees."""
    n_rounds = booster.num_boosted_rounds()
    rounds = (0, min(n_rounds, -(-n_trees * n_rounds // n_all)))
    leaves: Array = booster.predict(
        _matrix(booster, X), pred_leaf=True, validate_features=False, iteration_range=rounds
    )
    return leaves


def _matrix(booster: Any, X: Any) -> Any:
    import xgboost

    if hasattr(X, "columns"):
        return xgboost.DMatrix(X, enable_categorical=True)
    types = booster.feature_types
    return xgboost.DMatrix(X, feature_types=types, enable_categorical=types is not None and "c" in types)
