"""The trees of LightGBM's models: boosters, and the classes in scikit-learn's manner."""

from __future__ import annotations

from functools import partial
from typing import Any

from rulecover.readers import unreadable
from rulecover.readers.files.lightgbm_text import parse
from rulecover.readers.files.routes import library_routes
from rulecover.trees.tree import TreeEnsemble
from rulecover.typing import Array

READS = ("LightGBM's models and Booster",)


def read(model: Any) -> TreeEnsemble:
    """The trees of a trained LightGBM model, its own compiled code as their routes.

    A model that stopped early predicts with the rounds up to the best; so it is read.
    """
    import lightgbm

    if isinstance(model, lightgbm.LGBMModel):
        return read(model.booster_)
    if isinstance(model, lightgbm.Booster):
        return library_routes(parse(model.model_to_string()), partial(_leaves, model))
    raise unreadable(model)


def probabilities(booster: Any, X: Any) -> Array:
    """What the model says of each class, rows x classes; or of the second of two."""
    said: Array = booster.predict(X)
    return said


def numbers(booster: Any, X: Any) -> Array:
    """What the model says, one number a row."""
    said: Array = booster.predict(X)
    return said


def _leaves(booster: Any, X: Any) -> Array:
    leaves: Array = booster.predict(X, pred_leaf=True)
    return leaves
