"""The trees of XGBoost's models: boosters, and the classes in scikit-learn's manner."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from rulecover.exceptions import UnreadableModelError
from rulecover.readers import unreadable
from rulecover.readers.fields import Field
from rulecover.readers.routes import library_routes
from rulecover.readers.xgboost_json import parse
from rulecover.trees import TreeEnsemble
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
    """The rounds that a model in scikit-learn's manner predicts with: if it stopped early, those up to the best."""
    booster = model.get_booster()
    if not np.isnan(model.missing):
        raise UnreadableModelError(
            f"{type(model).__name__} was trained with missing={model.missing!r}, but to a rule only NaN is missing; "
            "replace that value by NaN and train with the default."
        )
    try:
        return booster[: model.best_iteration + 1]
    except AttributeError:  # it did not stop early
        return booster


def _ensemble(booster: Any) -> TreeEnsemble:
    return library_routes(
        parse(Field.of_json(booster.save_raw("json").decode(), "the XGBoost model")), partial(_leaves, booster)
    )


def _leaves(booster: Any, X: Any) -> Array:
    import xgboost

    types = booster.feature_types
    matrix = xgboost.DMatrix(X, feature_types=types, enable_categorical=types is not None and "c" in types)
    leaves: Array = booster.predict(matrix, pred_leaf=True, validate_features=False)
    return leaves
