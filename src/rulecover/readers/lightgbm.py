"""The trees of LightGBM's models: boosters, and the classes with scikit-learn's interface."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from rulecover.exceptions import UnreadableModelError
from rulecover.readers import unreadable
from rulecover.readers.files.lightgbm_text import parse
from rulecover.readers.files.routes import library_routes
from rulecover.trees.tree import TreeEnsemble
from rulecover.typing import Array

#: From this many rows on they are sorted, and this many rounds are asked for at a time.
_MANY_ROWS, _ROUNDS = 4096, 20

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
    if "\nobjective=" not in booster.model_to_string(num_iteration=1):
        raise UnreadableModelError(
            "Booster was trained with an objective of your own, and gives raw scores in place of classes and "
            "probabilities; train it with an objective of LightGBM, or do not ask it (model_share=0 in a path, another "
            "fallback in a cover)."
        )
    predicted: Array = booster.predict(X)
    return predicted


def numbers(booster: Any, X: Any) -> Array:
    """The model's prediction, one number per row."""
    predicted: Array = booster.predict(X)
    return predicted


def _leaves(booster: Any, X: Any, n_trees: int) -> Array:
    """The number of each row's leaf in all rounds of the first trees, rows x trees.

    Of many rows, those that take the same way through the first trees follow each other, and few rounds are asked for
    at a time: processors then foresee most of the branches, which saves a third of the time.
    """
    ask_for = partial(booster.predict, pred_leaf=True)
    n_rounds = -(-n_trees // booster.num_model_per_iteration())
    if X.shape[0] < _MANY_ROWS or n_rounds < 2 * _ROUNDS:
        leaves: Array = ask_for(X, num_iteration=n_rounds)
        return leaves
    order = np.lexsort(ask_for(X, num_iteration=2).T)
    ordered = X[order]
    starts = range(0, n_rounds, _ROUNDS)
    found = [ask_for(ordered, start_iteration=k, num_iteration=min(_ROUNDS, n_rounds - k)) for k in starts]
    leaves = np.empty((X.shape[0], sum(each.shape[1] for each in found)), dtype=found[0].dtype, order="F")
    leaves[order] = np.concatenate(found, axis=1)
    return leaves
