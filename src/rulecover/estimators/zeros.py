"""Columns that a model is trained without: they hold nothing but zeros, on which no tree splits."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import issparse
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor

from rulecover.typing import Floats, Ints

HISTOGRAMS = (HistGradientBoostingClassifier, HistGradientBoostingRegressor)


def with_zeros_in(columns: Ints, X: Any) -> Any:
    """X with nothing but zeros in some columns, on which no tree will split."""
    if hasattr(X, "isetitem"):
        X = X.copy()
        for column in columns.tolist():
            X.isetitem(column, 0.0)
        return X
    keeps = np.ones(np.shape(X)[1])
    keeps[columns] = 0.0
    if issparse(X):
        return X.tocsr().multiply(keeps).tocsr()
    return np.where(keeps > 0, np.asarray(X), 0.0)


def for_histograms(model: Any, X: Any, weight: Floats | None = None) -> Any:
    """X, with zeros in columns without any value if histograms are in the model: scikit-learn 1.9 fails on these.

    Values in rows of weight zero do not count. No tree splits on such a column, so that it is not used for rows that
    have a value in it, either.

    >>> for_histograms(HistGradientBoostingRegressor(), np.array([[np.nan, 1.0], [np.nan, np.nan]]))
    array([[ 0.,  1.],
           [ 0., nan]])
    """
    if issparse(X) or not any(isinstance(each, HISTOGRAMS) for each in (model, *model.get_params().values())):
        return X
    counts = slice(None) if weight is None else weight > 0
    if hasattr(X, "iloc"):
        floats = [f for f, kind in enumerate(X.dtypes) if str(kind).lower().startswith("float")]
        empty = [f for f in floats if X.iloc[:, f].isna().to_numpy()[counts].all()]
    else:
        rows = np.asarray(X)
        empty = np.flatnonzero(np.isnan(rows[counts]).all(axis=0)).tolist() if rows.dtype.kind == "f" else []
    return with_zeros_in(np.array(empty, dtype=np.intp), X) if empty else X
