"""What is checked at the door of every estimator: settings, columns, weights, and whether model and data fit."""

from __future__ import annotations

import numbers
from collections import Counter
from collections.abc import Mapping
from typing import Any

import numpy as np
from sklearn.utils.class_weight import compute_sample_weight
from sklearn.utils.validation import _check_sample_weight

from rulecover.coverage import addable
from rulecover.exceptions import MismatchedDataError
from rulecover.trees.tree import TreeEnsemble
from rulecover.typing import Array, Floats, Ints


def whole_number(name: str, value: Any, *, at_least: int) -> int:
    """The value, if it is a whole number that is large enough."""
    if isinstance(value, bool) or not isinstance(value, numbers.Integral):
        raise TypeError(f"{name} is {value!r}; it must be a whole number, at least {at_least}.")
    if value < at_least:
        raise ValueError(f"{name} is {value}; it must be at least {at_least}.")
    return int(value)


def real_number(name: str, value: Any, *, at_least: float = 0.0, above: bool = False) -> float:
    """The value, if it is a finite number that is large enough."""
    if isinstance(value, bool) or not isinstance(value, numbers.Real):
        raise TypeError(f"{name} is {value!r}; it must be a number.")
    number = float(value)
    if not np.isfinite(number) or number < at_least or (above and number == at_least):
        raise ValueError(f"{name} is {value}; it must be finite and {'above' if above else 'at least'} {at_least:g}.")
    return number


def chosen(name: str, value: Any, table: dict[str, Any], needs: tuple[str, ...] = ()) -> Any:
    """The component behind a name, or the object itself if it is one to be called, with the attributes it needs."""
    if isinstance(value, str):
        if value not in table:
            raise ValueError(f"{name} is {value!r}; choose one of {', '.join(map(repr, table))} or give an object.")
        return table[value]
    if isinstance(value, type) or not callable(value) or not all(hasattr(value, needed) for needed in needs):
        also = f" with {', '.join(needs)}" if needs else ""
        raise TypeError(
            f"{name} is {value!r}; give one of {', '.join(map(repr, table))} or an object to be called{also}."
        )
    return value


def check_column_names(X: Any) -> None:
    """Columns of a data frame must be told apart by names that are strings, or have none (0, 1, 2, … in pandas)."""
    if not hasattr(X, "columns") or not hasattr(X, "dtypes"):
        return
    names = list(X.columns)
    if names == list(range(len(names))):
        return
    for place, name in enumerate(names):
        if not isinstance(name, str):
            raise TypeError(
                f"column names must be strings, but column {place} is named {name!r} ({type(name).__name__}); "
                "rename them, for example by X.columns = X.columns.astype(str)."
            )
    if len(set(names)) < len(names):
        repeated = sorted(name for name, times in Counter(names).items() if times > 1)
        raise ValueError(
            f"column names must differ, but {', '.join(map(repr, repeated[:5]))} occurs twice; rename one."
        )


def check_no_gaps(y: Any) -> None:
    """Raises where a row has no label, or no number to be predicted."""
    import pandas as pd

    labels = np.asarray(y)
    if not labels.size or not labels.ndim:  # scikit-learn says what is wrong
        return
    gaps = np.flatnonzero(pd.isna(labels).reshape(len(labels), -1).any(axis=1))
    if gaps.size:
        more = f" (and {gaps.size - 1} more)" if gaps.size > 1 else ""
        raise ValueError(f"Input y contains NaN: row {gaps[0]}{more} has no label or number; leave such rows out.")


def check_one_kind(y: Array) -> None:
    """Raises where labels are of kinds that cannot be put in one order, such as words and numbers."""
    if y.dtype != object:
        return
    kinds = {type(label): label for label in y.tolist()}
    try:
        sorted(kinds.values())
        mixed = len(kinds) > 1 and bool in kinds
    except TypeError:
        mixed = True
    if mixed:
        found = " and ".join(f"{label!r} ({kind.__name__})" for kind, label in kinds.items())
        raise ValueError(f"Unknown label type: y holds {found}; give labels of one kind, such as y.astype(str).")


def sample_weights(X: Any, y: Array, sample_weight: Any, class_weight: Any) -> Floats | None:
    """Sample weights times class weights, none negative, some positive; ``None`` if neither is given."""
    if sample_weight is None and class_weight is None:
        return None
    weight = np.ones(len(y)) if sample_weight is None else _check_sample_weight(sample_weight, X, dtype=np.float64)
    if weight.min() < 0:
        first = int(np.flatnonzero(weight < 0)[0])
        raise ValueError(f"sample weights must not be negative, but sample {first} has weight {weight[first]}.")
    if isinstance(class_weight, str) and class_weight == "balanced":
        # scikit-learn's own counts rows, weighted or not; here a row of weight 2 is as good as two rows.
        _, code = np.unique(y, return_inverse=True)
        totals = np.bincount(code, weights=weight)
        share = totals.sum() / (np.count_nonzero(totals) * np.where(totals > 0, totals, 1.0))
        weight = weight * share[code]
    elif class_weight is not None:
        weight = weight * compute_sample_weight(class_weight, y)
        if weight.min() < 0:
            label = np.asarray(y)[np.flatnonzero(weight < 0)[0]]
            raise ValueError(f"class weights must not be negative, but that of class {label!r} is.")
    if not weight.max() > 0:
        raise ValueError("all sample weights are zero; at least one sample must count.")
    return addable(np.asarray(weight, dtype=np.float64))


def check_width(ensemble: TreeEnsemble, n_features: int) -> None:
    """Raises unless data of so many columns are what the model was trained on."""
    if ensemble.n_features != n_features:
        raise MismatchedDataError(
            f"X has {n_features} features, but the model was trained on {ensemble.n_features}; give the same columns."
        )


def check_model_fits(ensemble: TreeEnsemble, X: Any, names: tuple[str, ...] | None) -> tuple[str, ...]:
    """The feature names for the rules, once model and data are known to speak of the same columns."""
    check_width(ensemble, X.shape[1] - (0 if ensemble.columns is None else len(ensemble.columns.made)))
    if names is None or ensemble.feature_names is None:
        return ensemble.names(names or ensemble.feature_names)
    if names != ensemble.feature_names:
        f = next(f for f, (mine, model) in enumerate(zip(names, ensemble.feature_names, strict=True)) if mine != model)
        raise MismatchedDataError(
            f"column {f} of X is {names[f]!r}, but the model was trained with {ensemble.feature_names[f]!r} there; "
            "give the columns that the model was trained on."
        )
    return ensemble.names(names)


def demands(demand: Any, labels: Array, classes: Array) -> Ints:
    """How many rules must cover each row, from one number, a number for each of some labels, or one for each row."""
    if isinstance(demand, Mapping):
        unknown = [label for label in demand if label not in classes.tolist()]
        if unknown:
            raise ValueError(f"demand names {unknown[0]!r}, but the labels are {classes[:10].tolist()}.")
        each = {label: whole_number(f"demand[{label!r}]", number, at_least=1) for label, number in demand.items()}
        return np.array([each.get(label, 1) for label in classes.tolist()])[np.searchsorted(classes, labels)]
    if np.ndim(demand) == 0:
        return np.full(len(labels), whole_number("demand", demand, at_least=1))
    rows = np.asarray(demand)
    if rows.shape != (len(labels),):
        raise ValueError(f"demand has shape {rows.shape}, but there are {len(labels)} rows; give one number for each.")
    if not np.issubdtype(rows.dtype, np.integer) or rows.min() < 1:
        raise ValueError(f"demand must be whole numbers, at least 1, but has {rows.min()} ({rows.dtype}).")
    return rows.astype(np.intp)
