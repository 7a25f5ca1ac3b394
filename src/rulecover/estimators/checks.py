"""Checks of every estimator's input: settings, columns, weights, and whether model and data fit."""

from __future__ import annotations

import math
import numbers
import os
from collections import Counter
from collections.abc import Iterable, Mapping
from fractions import Fraction
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
    try:
        number = float(value)
    except OverflowError:  # a whole number or a fraction beyond all floats
        number = math.inf
    if not np.isfinite(number) or number < at_least or (above and number == at_least):
        raise ValueError(f"{name} is {value}; it must be finite and {'above' if above else 'at least'} {at_least:g}.")
    return number


def one_of(name: str, value: Any, known: Iterable[Any]) -> None:
    """Raises unless a setting has one of the values that are known."""
    if value not in (known := tuple(known)):
        raise ValueError(f"{name} is {value!r}; choose one of {', '.join(map(repr, known))}.")


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
    """Raises unless the columns of a data frame have different strings as names, or none (0, 1, 2, … in pandas)."""
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
        name, times = Counter(names).most_common(1)[0]
        raise ValueError(f"column names must differ, but {times} columns are named {name!r}; rename all but one.")


def sample_weights(
    X: Any, y: Array, sample_weight: Any, class_weight: Any, counts: Floats | None = None
) -> Floats | None:
    """Sample weights times class weights as numbers of rows; ``None`` if all count the same. See `in_rows`.

    Where rows of the same label and weight are given as one, `counts` says how many they are.
    """
    if sample_weight is None and class_weight is None:
        return None
    weight = np.ones(len(y)) if sample_weight is None else _check_sample_weight(sample_weight, X, dtype=np.float64)
    if weight.min() < 0:
        first = int(np.flatnonzero(weight < 0)[0])
        raise ValueError(f"sample weights must not be negative, but sample {first} has weight {weight[first]}.")
    times = 1.0 if counts is None else counts
    rows = in_rows(_some_positive(weight), counts=counts)
    if class_weight is not None:
        each = _class_weights(class_weight, y, rows * times)
        _some_positive(rows * (each > 0))
        rows = addable(rows * in_rows(each, rows, counts=counts), times)
    return None if (rows == 1).all() else rows


def _some_positive(weight: Floats) -> Floats:
    if not weight.max() > 0:
        raise ValueError("all sample weights are zero; at least one sample must count.")
    return weight


def _class_weights(class_weight: Any, y: Array, weight: Floats) -> Floats:
    """What the class of each sample counts."""
    if isinstance(class_weight, str) and class_weight == "balanced":
        # scikit-learn's own counts rows, weighted or not; here a row of weight 2 is as good as two rows.
        _, code = np.unique(y, return_inverse=True)
        totals = np.bincount(code, weights=weight)
        share = totals.sum() / (np.count_nonzero(totals) * np.where(totals > 0, totals, 1.0))
        return np.asarray(share[code])
    each = np.asarray(compute_sample_weight(class_weight, y), dtype=np.float64)
    if each.min() < 0:
        label = np.asarray(y)[np.flatnonzero(each < 0)[0]]
        raise ValueError(f"class weights must not be negative, but that of class {str(label)!r} is.")
    if not np.isfinite(each).all():
        label = np.asarray(y)[np.flatnonzero(~np.isfinite(each))[0]]
        raise ValueError(f"class weights must be finite, but that of class {str(label)!r} is not.")
    return np.asarray(each / (each.max() or 1.0))


#: Up to this many times the smallest weight, weights may be numbers of repeated rows.
_MOST_ROWS = 2**16
#: The smallest weight may stand for up to this many repeated rows.
_FEW_ROWS = 10
#: How far, as a share, a weight may be from a whole multiple: as far as single precision rounds.
_WHOLE = 2.0**-22
#: The same for a fraction, which double precision must have been meant to be.
_FRACTION = 1e-13
#: What is less than this share of the largest weight counts as much as this.
_LIGHTEST = 2.0**-40
#: Weights that are not multiples of one another are rounded to this many binary digits, if the mean is 1.
_BITS = 30


def in_rows(weight: Floats, times: Floats | None = None, *, counts: Floats | None = None) -> Floats:
    """Weights as numbers of rows: a factor that is common to all of them changes nothing.

    Weights that are to one another as whole numbers, the smallest at most 10, are repeated rows. Other weights are 1
    on average, zeros left out. Sums of them are exact, so that ties are ties in whatever order they are added. Where
    `times` says for how many rows each weight stands, only whole multiples of the smallest one are repeated rows: the
    weights of classes are fractions by nature. `counts` says how often each weight is there, if not once.

    >>> in_rows(np.array([0.1, 0.3, 0.2, 0.0])).tolist(), in_rows(np.full(2, 1e300)).tolist()
    ([1.0, 3.0, 2.0, 0.0], [1.0, 1.0])
    >>> in_rows(np.array([4.0, 6.0, 6.0])).tolist(), in_rows(np.array([1.0, 3.14159])).round(3).tolist()
    ([2.0, 3.0, 3.0], [0.483, 1.517])
    """
    few_rows = _FEW_ROWS if times is None else 1
    times = np.ones(len(weight)) if times is None else times
    counted = (weight > 0) & (times > 0)
    # Next to the largest weight neither 1e300 nor a denormal number is out of reach.
    share = np.maximum(weight[counted] / weight[counted].max(), _LIGHTEST)
    values, place = np.unique(share, return_inverse=True)
    rows = np.zeros(len(weight))
    often = times if counts is None else times * counts
    ratio, each = values / values[0], np.bincount(place, often[counted]).astype(np.float64)
    rows[counted] = _rows_of(ratio, each, few_rows)[place]
    return addable(rows, 1.0 if counts is None else counts)


def _rows_of(ratio: Floats, times: Floats, few_rows: int) -> Floats:
    """The rows of each ratio to the smallest weight, which stands for at most `few_rows` rows; `times` it occurs."""
    for smallest in range(1, few_rows + 1):
        whole = np.rint(smallest * ratio)
        if whole[-1] <= _MOST_ROWS and (np.abs(smallest * ratio - whole) <= _WHOLE * whole).all():
            return whole
    parts = _common_parts(ratio, times)
    if parts is not None:  # as balanced classes have them: with a unit that is short enough, their sums are exact
        mantissa, exponent = np.frexp(times.sum() / (parts @ times))
        short = 2.0 ** (50 - np.ceil(np.log2(parts @ times)))
        return np.asarray(parts * np.ldexp(np.rint(mantissa * short) / short, exponent))
    grain = 2.0**-_BITS
    return np.asarray(np.maximum(np.rint(ratio * (times.sum() / (ratio @ times)) / grain), 1.0) * grain)


def _common_parts(ratio: Floats, times: Floats) -> Floats | None:
    """Ratios as whole numbers of one part, if they are fractions of numbers of rows; ``None`` if they are not."""
    if len(ratio) > 100:
        return None
    fractions = [Fraction(each).limit_denominator(math.ceil(times.sum())) for each in ratio.tolist()]
    common = math.lcm(*(each.denominator for each in fractions))
    parts = np.array([float(each * common) for each in fractions])
    exact = np.abs(parts / common - ratio) <= _FRACTION * ratio
    return parts if exact.all() and parts @ times < 2.0**36 else None


def check_width(ensemble: TreeEnsemble, n_features: int) -> None:
    """Raises unless the model was trained on data of this many columns."""
    if ensemble.n_features != n_features:
        raise MismatchedDataError(
            f"X has {n_features} features, but the model was trained on {ensemble.n_features}; give the same columns."
        )


def check_model_fits(ensemble: TreeEnsemble, X: Any, names: tuple[str, ...] | None) -> tuple[str, ...]:
    """The feature names for the rules, once model and data are known to have the same columns."""
    check_width(ensemble, X.shape[1] - (0 if ensemble.columns is None else len(ensemble.columns.made)))
    known = ensemble.feature_names
    if names is not None and known is None:
        known = _numbered(names)
    if names is None or known is None:
        return ensemble.names(names or known)
    if names != known:
        f = next(f for f, (mine, model) in enumerate(zip(names, known, strict=True)) if mine != model)
        raise MismatchedDataError(
            f"column {f} of X is {names[f]!r}, but the model was trained with {known[f]!r} there; "
            "give the columns that the model was trained on."
        )
    return ensemble.names(names)


def _numbered(names: tuple[str, ...]) -> tuple[str, ...] | None:
    """These names in order, if they are those that LightGBM or CatBoost write for columns without names.

    Such a model may have been trained without names, or with these.
    """
    for pattern in ("Column_{}", "{}"):
        numbered = tuple(map(pattern.format, range(len(names))))
        if sorted(names) == sorted(numbered):
            return numbered
    return None


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


#: Settings on which the result does not depend, or not before the work is done.
_DO_NOT_MATTER = {"checkpoint", "time_limit", "on_interrupt", "n_jobs", "verbose"}


def settings_that_matter(model: Any) -> dict[str, Any]:
    """The settings of an estimator, and of those in it, on which its result depends."""
    settings = {"class": type(model).__name__} | model.get_params(deep=True)
    kept = {name: value for name, value in settings.items() if name.rpartition("__")[2] not in _DO_NOT_MATTER}
    # An estimator that is given shows in its own settings.
    return {name: type(value).__name__ if hasattr(value, "get_params") else value for name, value in kept.items()}


def check_time_and_checkpoint(model: Any) -> None:
    """Raises for a time limit that is not above 0, and for a checkpoint of a fit that cannot be repeated."""
    if model.time_limit is not None:
        real_number("time_limit", model.time_limit, above=True)
    if model.checkpoint is None:
        return
    if not isinstance(model.checkpoint, (str, os.PathLike)):
        raise TypeError(f"checkpoint is {model.checkpoint!r}; give the path of a file.")
    if isinstance(model.random_state, bool) or not isinstance(model.random_state, (int, np.integer)):
        raise ValueError(
            f"random_state is {model.random_state!r}; with a checkpoint give a whole number, so that a fit that goes "
            "on gives the same model."
        )


def without_checkpoint(model: Any) -> Any:
    """The model, to be trained on other rows: neither it nor a model in it goes on from a checkpoint, or writes one."""
    kept = [name for name in model.get_params(deep=True) if name.rpartition("__")[2] == "checkpoint"]
    return model.set_params(**dict.fromkeys(kept))


#: Settings with a value for each of some labels.
_BY_LABEL = ("demand", "class_weight", "class_weights")


def for_labels(model: Any, y: Array) -> Any:
    """The model, to be trained on a part of the rows: settings by label name no label that the part has no row of."""
    known = set(np.unique(y).tolist())
    for name, value in model.get_params(deep=True).items():
        if name.rpartition("__")[2] in _BY_LABEL and isinstance(value, Mapping):
            mine = {label: number for label, number in value.items() if label in known}
            model.set_params(**{name: mine or (1 if name.endswith("demand") else None)})
    return model
