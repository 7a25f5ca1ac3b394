"""Fitting on rows that are on a GPU: they stay there, and only sums over them are fetched."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.frozen import FrozenEstimator

from rulecover.estimators.checks import sample_weights
from rulecover.estimators.prepare import Prepared, finite
from rulecover.exceptions import MismatchedDataError
from rulecover.gpu.launch import is_on_device
from rulecover.gpu.part import DevicePart
from rulecover.targets.classes.samples import ClassSamples
from rulecover.trees.tree import TreeEnsemble
from rulecover.typing import Array

if TYPE_CHECKING:
    from rulecover.estimators.base import VotingModel

#: This many rows are fetched to check what they are.
_LOOKED_AT = 1000


def check_on_device(model: Any) -> None:
    """Raises for settings that are not supported on a GPU."""
    if not isinstance(model.estimator, FrozenEstimator):
        raise TypeError(
            "X is on a GPU, where no model is trained; give a trained one, as in "
            f"{type(model).__name__}(FrozenEstimator(model)), or explain(model, X, y)."
        )
    if not hasattr(model, "class_weight") or model.class_weight is not None:
        wrong = "numbers are predicted" if not hasattr(model, "class_weight") else "class_weight is given"
        raise TypeError(f"{wrong}, which is not supported for rows on a GPU; give X.get().")


def check_rows_here(X: Any, name: str) -> None:
    """Raises for rows on a GPU, for an estimator of this name that is not fitted there."""
    if is_on_device(X):
        raise TypeError(
            f"X is on a GPU, where {name} is not fitted; give X.get(), or choose a cover: "
            "MIRCOClassifier(FrozenEstimator(model)), or explain with method='cover'."
        )


def distinct_labels(y: Any) -> Array:
    """The labels that occur in y, which is on a GPU."""
    import cupy as cp

    return np.asarray(cp.unique(cp.asarray(y)).get())


class RowsOnDevice:
    """Checked rows on a GPU, and the model that rules come from.

    Parameters
    ----------
    model
        The estimator that is fitted.
    X, y, sample_weight
        As in `fit`, X on the device; y and the weights there, or not.
    """

    def __init__(self, model: VotingModel, X: Any, y: Any, sample_weight: Any) -> None:
        import cupy as cp

        X = cp.asarray(X)
        X = X if X.dtype in (np.float32, np.float64) else X.astype(np.float64)
        if X.ndim != 2 or len(y) != len(X) or not len(X):
            raise ValueError(f"X has shape {X.shape} and y {np.shape(y)}; give at least one row, and one y for each.")
        few = slice(0, _LOOKED_AT)
        labels = np.asarray(y[few].get() if is_on_device(y) else y[few])
        self.prepared: Prepared = model._prepare(X[few].get(), labels, None)
        _check_finite(X, missing=finite(self.prepared.source.model, X) == "allow-nan")
        self.classes: Array = self.prepared.samples.classes
        self._X, self._y, self._weight = X, _codes(y, self.classes), None
        if sample_weight is not None:
            weight = _checked_weights(sample_weight, len(X))
            counted = weight > 0
            self._X, self._y, self._weight = X[counted], self._y[counted], _in_rows(weight[counted])

    @property
    def head(self) -> ClassSamples:
        """The samples without their rows: the classes, and whether rows are weighted."""
        nothing = np.zeros((0, self._X.shape[1]))
        weight = None if self._weight is None else np.zeros(0)
        return ClassSamples(nothing, np.zeros(0, dtype=np.intp), self.classes, weight)

    def part(self, trees: TreeEnsemble) -> DevicePart:
        """The rows as one part."""
        return DevicePart(trees, self._X, self._y, self.classes, self._weight)


def _codes(y: Any, classes: Array) -> Any:
    """The number of each row's class, on the device."""
    import cupy as cp

    kind = np.uint8 if len(classes) <= 256 else np.uint32
    if not is_on_device(y):
        y = np.asarray(y).ravel()
        places = np.searchsorted(classes, y).clip(0, len(classes) - 1)
        known = classes[places] == y
    else:
        y, on_device = cp.asarray(y).ravel(), cp.asarray(classes)
        places = cp.searchsorted(on_device, y).clip(0, len(classes) - 1)
        known = on_device[places] == y
    if not known.all():
        raise MismatchedDataError(f"y has labels that the model never saw; it knows {classes[:10].tolist()}.")
    return cp.asarray(places).astype(kind)


def _checked_weights(sample_weight: Any, n_rows: int) -> Any:
    """The weights, on the device."""
    import cupy as cp

    weight = cp.asarray(sample_weight, dtype=np.float64).ravel()
    if len(weight) != n_rows or not bool((cp.isfinite(weight) & (weight >= 0)).all()) or not bool((weight > 0).any()):
        raise ValueError(
            f"sample_weight has {len(weight)} values for {n_rows} rows; give one finite, not negative number "
            "for each row, not all of them 0."
        )
    return weight


def _in_rows(weight: Any) -> Any:
    """Positive weights as numbers of rows, as all estimators count them; ``None`` if all count the same."""
    import cupy as cp

    distinct, place, counts = cp.unique(weight, return_inverse=True, return_counts=True)
    each = distinct.get()
    rows = sample_weights(each, each, each, None, counts.get().astype(np.float64))
    return None if rows is None else cp.asarray(rows)[place]


def _check_finite(X: Any, *, missing: bool) -> None:
    import cupy as cp

    wrong = cp.isinf(X) if missing else ~cp.isfinite(X)
    if bool(wrong.any()):
        raise ValueError(f"X has infinite{'' if missing else ' or missing'} values, which the model does not take.")
