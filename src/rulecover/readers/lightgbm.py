"""The trees of LightGBM's models: boosters, and the classes with scikit-learn's interface."""

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

    A model that stopped early predicts with the rounds up to the best, and is read accordingly.
    """
    import lightgbm

    if isinstance(model, lightgbm.LGBMModel):
        return read(model.booster_)
    if isinstance(model, lightgbm.Booster):
        return library_routes(parse(model.model_to_string()), partial(_leaves, model))
    raise unreadable(model)


def probabilities(booster: Any, X: Any) -> Array:
    """The model's probability of each class, rows x classes; or of the second of two."""
    predicted: Array = booster.predict(X)
    return predicted


def numbers(booster: Any, X: Any) -> Array:
    """The model's prediction, one number per row."""
    predicted: Array = booster.predict(X)
    return predicted


def _leaves(booster: Any, X: Any) -> Array:
    leaves: Array = booster.predict(X, pred_leaf=True)
    return leaves
