"""Boosters and model files as estimators: they have trees, but know nothing of labels."""

from __future__ import annotations

import os
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.frozen import FrozenEstimator
from sklearn.utils.multiclass import type_of_target

from rulecover.exceptions import MismatchedDataError, UnreadableModelError
from rulecover.readers import read_trees, reader_of, register, unreadable
from rulecover.trees.tree import TreeEnsemble
from rulecover.typing import Array, Floats

READS = ("model files of XGBoost, LightGBM and CatBoost",)

#: Trained models without labels, by package and class.
_BOOSTERS = {("xgboost", "Booster"), ("lightgbm", "Booster"), ("catboost", "CatBoost")}

NOT_TRAINED_AGAIN = "a booster or a model file cannot be trained again"


def is_booster(model: Any) -> bool:
    """Whether the model is a file, or a booster without the interface of scikit-learn's estimators."""
    kind = type(model)
    return isinstance(model, (str, os.PathLike)) or (kind.__module__.partition(".")[0], kind.__name__) in _BOOSTERS


def as_estimator(source: Any, y: Any) -> BoosterClassifier | BoosterRegressor:
    """The booster, or the file of one, as a model of classes or of numbers: as it was trained, or as y has it."""
    ensemble = read_trees(source)
    classes = ensemble.classifies
    if classes is None:
        classes = not type_of_target(y).startswith("continuous")
    return BoosterClassifier.of(source, ensemble, y) if classes else BoosterRegressor(source, ensemble)


def check_trains_again(model: Any, what: str, way_out: str) -> None:
    """Raises for a booster or a file, frozen or not, where the model is to be trained on a part of the rows."""
    inside = model.estimator if isinstance(model, FrozenEstimator) else model
    if is_booster(inside) or isinstance(inside, _Booster):
        raise ValueError(f"{what}, in which the model is trained again, but {NOT_TRAINED_AGAIN}; {way_out}.")


class _Booster(BaseEstimator):
    """A trained booster, or the file of one.

    Parameters
    ----------
    source
        The booster, or the path of its file.
    ensemble
        Its trees.
    """

    source: Any
    ensemble: TreeEnsemble

    def __sklearn_is_fitted__(self) -> bool:
        return True

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.sparse = True
        return tags

    def fit(self, X: Any, y: Any) -> Self:
        """Trains nothing: the booster is trained."""
        return self

    def _trees_read(self) -> TreeEnsemble:
        return self.ensemble

    def _library(self) -> Any:
        """Its reader, which knows how it is asked."""
        if isinstance(self.source, (str, os.PathLike)):
            raise UnreadableModelError(
                f"{os.fspath(self.source)} is a model file: rules can be read from it, but it does not predict; load "
                "it with its library and explain that model."
            )
        reader = reader_of(self.source)
        assert reader is not None, "its trees were read"
        return reader


def is_file(model: Any) -> bool:
    """Whether the model is a file, which has trees, but does not predict."""
    return isinstance(model, _Booster) and isinstance(model.source, (str, os.PathLike))


class BoosterRegressor(RegressorMixin, _Booster):
    """A trained booster of numbers, or the file of one; see `BoosterClassifier`."""

    def __init__(self, source: Any, ensemble: TreeEnsemble) -> None:
        self.source = source
        self.ensemble = ensemble

    def predict(self, X: Any) -> Floats:
        """The predictions of the booster."""
        return np.asarray(self._library().numbers(self.source, X), dtype=np.float64)


class BoosterClassifier(ClassifierMixin, _Booster):
    """A trained booster, or the file of one, with the labels that its outputs stand for.

    Parameters
    ----------
    source
        The booster, or the path of its file.
    ensemble
        Its trees.
    classes
        The label of each output; of one output, the labels of no and yes.
    """

    def __init__(self, source: Any, ensemble: TreeEnsemble, classes: Array) -> None:
        self.source = source
        self.ensemble = ensemble
        self.classes = classes

    @classmethod
    def of(cls, source: Any, ensemble: TreeEnsemble, y: Any) -> BoosterClassifier:
        """The labels are those of y, in their order; whole numbers from 0 are the outputs' own.

        CatBoost knows which label each output stands for.
        """
        n, labels = max(2, _n_outputs(ensemble)), np.unique(np.asarray(y))
        known = np.asarray(getattr(source, "classes_", ()))
        if set(labels.tolist()) <= set(known.tolist()):  # older versions write True and False as texts
            return cls(source, ensemble, known)
        if labels.dtype.kind in "biuf" and np.isin(labels, np.arange(n)).all():
            labels = np.arange(n).astype(labels.dtype)
        if len(labels) != n:
            raise MismatchedDataError(
                f"y has {len(labels)} labels, {labels[:5].tolist()}, but the model has {n} classes; give labelled rows "
                f"of all of them, or labels from 0 to {n - 1}."
            )
        return cls(source, ensemble, labels)

    @property
    def classes_(self) -> Array:
        return self.classes

    def predict(self, X: Any) -> Array:
        """The label of the largest output."""
        return np.asarray(self.classes[self.predict_proba(X).argmax(axis=1)])

    def predict_proba(self, X: Any) -> Floats:
        """The probabilities of the booster, rows x classes."""
        shares = np.asarray(self._library().probabilities(self.source, X), dtype=np.float64)
        return np.column_stack([1 - shares, shares]) if shares.ndim == 1 else shares


def _n_outputs(ensemble: TreeEnsemble) -> int:
    widths = [1 if tree.value is None else tree.value.shape[1] for tree in ensemble.trees]
    last = 0 if ensemble.output is None else int(ensemble.output.max(initial=0))
    return max([1 + last, *widths])


def read(model: Any) -> TreeEnsemble:
    """The trees of a model of ours: a booster, or one around another model."""
    if not hasattr(model, "_trees_read"):
        raise unreadable(model)
    trees: TreeEnsemble = model._trees_read()
    return trees


register("rulecover", __name__)
