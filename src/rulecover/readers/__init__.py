"""From a trained model to its trees. Each library has one file, imported once such a model is passed in.

To add a library, write a module or an object with ``read(model) -> TreeEnsemble`` and ``READS``, the names of what it
reads, and `register` it under the name of the library's top package.
"""

from __future__ import annotations

import os
from importlib import import_module
from typing import Any, Protocol, cast

from rulecover.exceptions import UnreadableModelError
from rulecover.trees.tree import TreeEnsemble


class Reader(Protocol):
    """What reads the models of a library: a module, or an object."""

    @property
    def READS(self) -> tuple[str, ...]: ...  # noqa: N802 (modules have it as a constant)

    def read(self, model: Any) -> TreeEnsemble: ...


_READERS: dict[str, str | Reader] = {
    "sklearn": "rulecover.readers.sklearn.models",
    "xgboost": "rulecover.readers.xgboost",
    "lightgbm": "rulecover.readers.lightgbm",
    "catboost": "rulecover.readers.catboost",
}


def register(package: str, reader: str | Reader) -> None:
    """Makes `reader` the reader of models whose class, or a base class of it, comes from `package`.

    Parameters
    ----------
    package
        The top package of a library.
    reader
        An object with `read` and `READS`, or the name of such a module, which is imported once it is needed.
    """
    _READERS[package] = reader


def read_trees(model: object) -> TreeEnsemble:
    """The trees of a trained model, or of a model file.

    Parameters
    ----------
    model
        A trained model of scikit-learn, XGBoost, LightGBM or CatBoost, or the path of a model file: XGBoost's or
        CatBoost's JSON, LightGBM's text. Files are read without the library, and no code in them is run.

    Returns
    -------
    TreeEnsemble
        The trees, their weights and what their columns are.

    Raises
    ------
    UnreadableModelError
        If the model is of a type that no reader knows (the message lists what can be read), or its trees do not make
        rules.
    DamagedModelError
        If a file is cut, damaged or of another format.
    sklearn.exceptions.NotFittedError
        If the model is not trained yet.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.ensemble import RandomForestClassifier
    >>> forest = RandomForestClassifier(n_estimators=3, random_state=0).fit(*load_iris(return_X_y=True))
    >>> len(read_trees(forest).trees)
    3
    """
    if isinstance(model, (str, os.PathLike)):
        from rulecover.readers.files.model_file import read

        return read(model)
    reader = reader_of(model)
    if reader is None:
        raise unreadable(model)
    return reader.read(model)


def reader_of(model: object) -> Reader | None:
    """What reads such models, if there is anything."""
    for base in type(model).__mro__:
        reader = _READERS.get(base.__module__.partition(".")[0])
        if reader is not None:
            return _imported(reader)
    return None


def _imported(reader: str | Reader) -> Reader:
    return cast("Reader", import_module(reader)) if isinstance(reader, str) else reader


def unreadable(model: object, reason: str = "") -> UnreadableModelError:
    """The error for a model that no reader knows."""
    known = [name for reader in _READERS.values() for name in _imported(reader).READS]
    return UnreadableModelError(
        f"no rules can be read from {type(model).__module__}.{type(model).__qualname__}{reason}; "
        f"models that can be read: {', '.join(known)}."
    )
