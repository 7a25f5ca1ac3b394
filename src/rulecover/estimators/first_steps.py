"""The steps in front of a model that is trained on some of the rows: they are fitted to all rows, or to many."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar

import numpy as np
import pandas as pd
from sklearn.base import clone
from sklearn.pipeline import Pipeline

from rulecover.clock import is_late
from rulecover.data.encoder import EncodedLevels, TableEncoder
from rulecover.data.fitted_to_some import fitted_to_some, with_rest
from rulecover.estimators.door import rows_of
from rulecover.estimators.in_time import Halves, SamplingOrder
from rulecover.estimators.levels_of_steps import (
    knows_columns_by_number,
    looks_at_levels,
    refusing_columns,
    rows_of_all_levels,
)
from rulecover.typing import Array, Ints

T = TypeVar("T")

#: How many rows an encoder looks at first, and the share of the time that is left for it.
_FEW, _SHARE = 1000, 0.25
#: A row takes at least this share of what it takes among few of them, and may take this many times what was measured.
_LEAST, _SURELY = 0.1, 1.5
#: How many encoded values are made, and gone through, per second, roughly.
_ENCODED = 3e7


@dataclass(frozen=True, eq=False)
class FirstSteps:
    """Fitted steps.

    Parameters
    ----------
    steps
        The steps, by name.
    seen
        From rows, or ``None`` for all of them, to these as the steps pass them on.
    n_columns
        How many columns they pass on, where an encoder of ours makes them.
    known
        How many rows they know the texts of, in words, if these are not all.
    seconds
        What it took to fit them to all rows; 0 if they were not.
    """

    steps: list[tuple[str, Any]]
    seen: Callable[[Ints | None], Any]
    n_columns: int | None = None
    known: str = ""
    seconds: float = 0.0


def fitted_first(model: Halves, X: Any, y: Array, order: SamplingOrder, deadline: float) -> FirstSteps:
    """The first steps of a model, fitted to all rows: texts in few rows must not be new to them.

    An encoder of ours takes what is new to it, as others may, and looks at as many rows as there is time for; encoders
    that do not look at rows that have all levels. None of these makes its wide rows of all rows, most of which are not
    trained on.

    Parameters
    ----------
    model
        The steps, and what comes after them; they stay as they are. If that knows columns by number, all rows are
        looked at, since there may be fewer columns otherwise.
    X, y
        All rows.
    order
        The rows that count.
    deadline
        When the model must be trained, by `time.perf_counter`.
    """
    begin = time.perf_counter()
    steps, by_number = model.first, knows_columns_by_number(model.last)
    if [type(step) for _, step in steps] == [TableEncoder] and not by_number:
        name, encoder = steps[0]
        fitted, known = encoder_in_time(encoder, X, order.rows, deadline)
        seconds = 0.0 if known else time.perf_counter() - begin
        return FirstSteps(
            [(name, fitted)], partial(_passed_on, fitted, X), len(fitted.get_feature_names_out()), known, seconds
        )
    if steps and looks_at_levels(Pipeline(steps)) and not by_number:
        front, known = _steps_in_time(steps, X, y, order.rows, deadline)
        seconds = 0.0 if known else time.perf_counter() - begin
        return FirstSteps(front.steps, partial(_passed_on, front, X), known=known, seconds=seconds)
    return fitted_to_all(model, X, y)


def fitted_to_all(model: Halves, X: Any, y: Array) -> FirstSteps:
    """The first steps of a model, fitted to all rows."""
    begin = time.perf_counter()
    first = [(name, clone(step, safe=False)) for name, step in model.first]
    seen = Pipeline(first).fit_transform(X, y) if first else X
    return FirstSteps(first, partial(_some_of, seen), seconds=time.perf_counter() - begin if first else 0.0)


def encoder_in_time(encoder: TableEncoder, X: Any, rows: Ints, deadline: float) -> tuple[TableEncoder, str]:
    """An encoder that is fitted to as many rows as there is time for, and how many these are, in words, if not all.

    Parameters
    ----------
    encoder
        Its settings are taken.
    X
        All rows.
    rows
        The rows that count, in the order in which they are looked at.
    deadline
        When all must be done, of which this is a part, by `time.perf_counter`.
    """
    n_rows = len(rows)
    until = _until(deadline)

    def fitted_to(size: int) -> TableEncoder:
        return clone(encoder).fit(X) if size >= n_rows else fitted_to_some(encoder, X, rows[:size])

    fitted, size = _fitted_to_many(fitted_to, n_rows, until)
    if size >= n_rows:
        return fitted, ""
    fitted = with_rest(fitted, X, until)
    if not any(each.made_names for each in fitted.columns_):  # an error, or columns that look like ids
        return clone(encoder).fit(X), ""
    return fitted, f"with texts and dates of {size:,} of {np.shape(X)[0]:,} rows"


def narrow_encoder_in_time(encoder: TableEncoder, X: Any, deadline: float) -> tuple[TableEncoder, str]:
    """As `encoder_in_time`, for all rows to be encoded: fewer levels are told apart if they would take too long.

    Parameters
    ----------
    encoder
        Its settings are taken.
    X
        All rows.
    deadline
        As in `encoder_in_time`.
    """
    encoder._check_settings()
    n_rows, n_columns = np.shape(X)
    n_numbers = sum(map(pd.api.types.is_numeric_dtype, X.dtypes)) if hasattr(X, "dtypes") else 0
    n_values = (deadline - time.perf_counter()) * _ENCODED
    affordable = (n_values / max(1, n_rows) - n_numbers) / max(1, n_columns - n_numbers)
    n_levels = max(2, min(encoder.max_levels, int(affordable)))
    fewer = clone(encoder).set_params(max_levels=n_levels)
    fitted, known = encoder_in_time(fewer, X, np.random.default_rng(0).permutation(n_rows), deadline)
    grouped = any(isinstance(each, EncodedLevels) and each.n_frequent is not None for each in fitted.columns_)
    told = f"with up to {n_levels} levels of each" if grouped and n_levels < encoder.max_levels else ""
    said = " and ".join(filter(None, [known, told]))
    return fitted, said and f"columns were encoded {said}"


def _steps_in_time(steps: list[tuple[str, Any]], X: Any, y: Array, rows: Ints, deadline: float) -> tuple[Pipeline, str]:
    """As `encoder_in_time`, for steps of scikit-learn; of columns in which these refuse other levels all are seen."""
    until, few = _until(deadline), rows[:_FEW]
    levels = few[:0]

    def fitted_to(size: int) -> Pipeline:
        front = Pipeline([(name, clone(step, safe=False)) for name, step in steps])
        if size >= len(rows):
            return front.fit(X, y)
        some = np.union1d(rows[:size], levels)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about rows that were taken at random
            return front.fit(rows_of(X, some), y[some])

    try:
        closed = refusing_columns(fitted_to(len(few)), list(range(np.shape(X)[1])))
        levels = rows_of_all_levels(X, sorted(closed))
        if 2 * len(levels) < len(rows):
            front, size = _fitted_to_many(fitted_to, len(rows), until)
            if size < len(rows):
                return front, f"with first steps that know {len(np.union1d(rows[:size], levels)):,} of {len(y):,} rows"
            return front, ""
    except Exception:  # of any step: few rows may not do
        pass
    return fitted_to(len(rows)), ""


def _until(deadline: float) -> float:
    """When first steps must be fitted."""
    now = time.perf_counter()
    return now + _SHARE * (deadline - now)


def _fitted_to_many(fit: Callable[[int], T], n_rows: int, until: float) -> tuple[T, int]:
    """What is fitted to as many rows as there is time for, and how many these are: few of them are in any case."""

    def timed(size: int) -> tuple[T, float]:
        begin = time.perf_counter()
        return fit(size), time.perf_counter() - begin

    size = _FEW
    fitted, seconds = timed(size)
    if size < n_rows and not is_late(until, 2 * seconds):
        size = 4 * _FEW
        fitted, more = timed(size)
        of_a_row = max((more - seconds) / (3 * _FEW), _LEAST * more / size)
        affordable = min(n_rows, int((until - time.perf_counter() - seconds) / (_SURELY * of_a_row)))
        if size < n_rows and affordable >= min(2 * size, n_rows):
            size = affordable
            fitted, _ = timed(size)
    return fitted, size


def _some_of(X: Any, rows: Ints | None) -> Any:
    return X if rows is None else rows_of(X, rows)


def _passed_on(steps: Any, X: Any, rows: Ints | None) -> Any:
    return steps.transform(_some_of(X, rows))
