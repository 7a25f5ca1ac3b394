"""Fitting on rows that are on a GPU: they stay there, and only sums over them are fetched."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NoReturn

import numpy as np
from sklearn.base import is_classifier
from sklearn.frozen import FrozenEstimator

from rulecover.estimators.checks import sample_weights
from rulecover.estimators.elsewhere import ModelElsewhere, PartsAndHead, check_in_memory, check_on_parts
from rulecover.estimators.prepare import Prepared, finite
from rulecover.exceptions import MismatchedDataError
from rulecover.gpu.launch import is_on_device
from rulecover.gpu.part import DevicePart
from rulecover.partitions.parts import LocalParts
from rulecover.targets.classes.samples import ClassSamples
from rulecover.trees.tree import TreeEnsemble
from rulecover.typing import Array

#: This many rows are fetched to check what they are.
_LOOKED_AT = 1000


@dataclass(frozen=True, eq=False)
class RowsOnDevice:
    """Rows on a GPU; y and the weights are there too, or not. See `RowsElsewhere`."""

    X: Any
    y: Any
    weight: Any

    @property
    def labels(self) -> Array:
        import cupy as cp

        return np.asarray(cp.unique(cp.asarray(self.y)).get() if is_on_device(self.y) else self.y)

    def check_cover(self, model: Any, solver: Any) -> None:
        if not isinstance(model.estimator, FrozenEstimator):
            raise TypeError(
                "X is on a GPU, where no model is trained; give a trained one, as in "
                f"{type(model).__name__}(FrozenEstimator(model)), or explain(model, X, y)."
            )
        if not is_classifier(model) or model.class_weight is not None:
            wrong = "class_weight is given" if is_classifier(model) else "numbers are predicted"
            raise TypeError(f"{wrong}, which is not supported for rows on a GPU; give X.get().")
        check_on_parts(model, solver)

    def check_path(self, model: Any) -> NoReturn:
        check_in_memory(model, self.X)
        raise AssertionError("rows on a GPU are not in memory")

    check_boost = check_path

    def prepared(self, model: ModelElsewhere, deadline: float | None = None) -> Prepared:
        X, few = self._numbers, slice(0, _LOOKED_AT)
        if X.ndim != 2 or len(self.y) != len(X) or not len(X):
            raise ValueError(
                f"X has shape {X.shape} and y {np.shape(self.y)}; give at least one row, and one y for each."
            )
        labels = np.asarray(self.y[few].get() if is_on_device(self.y) else self.y[few])
        prepared = model._prepare(X[few].get(), labels, None)
        _check_finite(X, missing=finite(prepared.source.model, X) == "allow-nan")
        return prepared

    @cached_property
    def _numbers(self) -> Any:
        import cupy as cp

        X = cp.asarray(self.X)
        return X if X.dtype in (np.float32, np.float64) else X.astype(np.float64)

    @contextmanager
    def parts(self, model: ModelElsewhere, prepared: Prepared, trees: TreeEnsemble) -> Iterator[PartsAndHead]:
        X, classes, weight = self._numbers, prepared.samples.classes, None
        y = _codes(self.y, classes)
        if self.weight is not None:
            given = _checked_weights(self.weight, len(X))
            counted = given > 0
            X, y, weight = X[counted], y[counted], _in_rows(given[counted])
        part: Any = DevicePart(trees, X, y, classes, weight)
        nothing, none = np.zeros((0, X.shape[1])), np.zeros(0, dtype=np.intp)
        yield LocalParts([part]), ClassSamples(nothing, none, classes, None if weight is None else np.zeros(0))


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
