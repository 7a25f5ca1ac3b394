"""The trees of CatBoost's models."""

from __future__ import annotations

import tempfile
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.exceptions import NotFittedError

from rulecover.exceptions import UnreadableModelError
from rulecover.readers import unreadable
from rulecover.readers.files.catboost_json import parse
from rulecover.readers.files.fields import Field
from rulecover.readers.files.routes import library_routes
from rulecover.trees.tree import TreeEnsemble
from rulecover.typing import Array

READS = ("CatBoost's models (numeric and one-hot splits)",)


def read(model: Any) -> TreeEnsemble:
    """The trees of a trained CatBoost model, its own compiled code as their routes.

    CatBoost takes categories as text, and the rows here hold codes: where a tree splits on categories, our own code
    finds the leaves.
    """
    import catboost

    if not isinstance(model, catboost.CatBoost):
        raise unreadable(model)
    if not model.is_fitted():
        raise NotFittedError(f"this {type(model).__name__} is not trained yet; call fit first.")
    _check_columns(model)
    _check_one_label(model)
    parsed = parse(Field.of_json(_json(model), "the CatBoost model"))
    if parsed.ensemble.categories:
        return parsed.ensemble
    return library_routes(parsed, partial(_leaves, model))


def _leaves(model: Any, X: Any, n_trees: int) -> Array:
    return np.asarray(model.calc_leaf_indexes(X, ntree_end=n_trees))


def _check_columns(model: Any) -> None:
    """Raises for columns that CatBoost converts to numbers in its own way, and does not write to JSON."""
    for kind, columns in (
        ("text", model.get_text_feature_indices()),
        ("embedding", model.get_embedding_feature_indices()),
    ):
        if columns:
            name = model.feature_names_[columns[0]]
            raise UnreadableModelError(
                f"{type(model).__name__} was trained with column {name!r} in {kind}_features, which rules "
                "cannot use; leave it out, or turn it into columns of numbers, and train again."
            )


def _check_one_label(model: Any) -> None:
    loss = str(_settings(model).get("loss_function", ""))
    if loss.startswith(("MultiLogloss", "MultiCrossEntropy")):
        raise UnreadableModelError(
            f"{type(model).__name__} was trained on several labels for each row ({loss}), but a rule has one; train "
            "one model for each."
        )


def probabilities(model: Any, X: Any) -> Array:
    """The model's probability of each class, rows x classes."""
    return np.asarray(model.predict(X, prediction_type="Probability"))


def numbers(model: Any, X: Any) -> Array:
    """The model's prediction, one number per row; for counts the model adds up logarithms."""
    loss = str(_settings(model).get("loss_function", ""))
    kind = "Exponent" if loss.startswith(("Poisson", "Tweedie")) else "RawFormulaVal"
    return np.asarray(model.predict(X, prediction_type=kind))


def _settings(model: Any) -> dict[str, Any]:
    """How the model was trained; a sum of models does not say."""
    import catboost

    try:
        return dict(model.get_all_params())
    except catboost.CatBoostError:
        return {}


def _json(model: Any) -> str:
    """The model in JSON; CatBoost writes it only to a file."""
    with tempfile.TemporaryDirectory(prefix="rulecover-") as folder:
        path = Path(folder) / "model.json"
        model.save_model(str(path), format="json")
        return path.read_text(encoding="utf-8")
