"""Text columns as 0/1 columns, one a level, and what is left out of a table."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from rulecover.cli.errors import CommandError

#: How a missing text is shown: a level of its own, as in ``colour = (missing)``.
MISSING = "(missing)"

#: From a data frame to columns of numbers, the levels that 0/1 ones stand for, and what was done, in sentences.
ColumnsOf = Callable[[Any], tuple[Any, dict[int, tuple[str, str]], list[str]]]

_LARGEST = float(np.finfo(np.float32).max)


def for_forests(max_levels: int) -> ColumnsOf:
    """What becomes of the columns of a table that a forest is trained on."""
    return partial(encoded, max_levels=max_levels)


def encoded(frame: Any, *, max_levels: int) -> tuple[Any, dict[int, tuple[str, str]], list[str]]:
    """Columns of numbers, the levels that the 0/1 ones stand for, and what was left out, in sentences.

    Numbers stay as they are, NaN included. A text column with two levels becomes one 0/1 column, for the later level
    in alphabetical order; one with more becomes a 0/1 column for each level.
    """
    columns: dict[str, Any] = {}
    levels: dict[int, tuple[str, str]] = {}
    notes: list[str] = []
    for name in frame.columns:
        column = _numbers_if_it_can(frame[name])
        reason = _useless(column, max_levels)
        if reason:
            notes.append(f"column {name!r} left out: {reason}.")
        elif is_text(column):
            for level, indicator in _indicators(column):
                levels[len(columns)] = (name, level)
                columns[_free_name(f"{name} = {level}", columns, frame)] = indicator
        else:
            columns[name] = _finite(column)
    return pd.DataFrame(columns, index=frame.index), levels, notes


def _numbers_if_it_can(column: Any) -> Any:
    """A text column of numbers in which Python wrote None for what is missing, as numbers."""
    if not is_text(column) or not (column == "None").any():
        return column
    known = column.where(column != "None")
    numbers = pd.to_numeric(known, errors="coerce")
    return numbers if (numbers.isna() == known.isna()).all() else column


def is_text(column: Any) -> bool:
    """Whether a column holds words, or true and false."""
    return pd.api.types.is_bool_dtype(column) or not pd.api.types.is_numeric_dtype(column)


def _useless(column: Any, max_levels: int) -> str:
    different = column.nunique(dropna=False)
    if column.isna().all():
        return "every value is missing"
    if different == 1:
        return "every value is the same"
    if is_text(column) and different > max_levels:
        return (
            f"it has {different} different texts, such as {str(column.dropna().iloc[0])[:30]!r}, and rules on them "
            f"would only name rows (--max-levels {different} keeps it)"
        )
    return ""


def _indicators(column: Any) -> list[tuple[str, Any]]:
    missing = column.isna()
    text = column.astype(str).where(~missing, MISSING)
    found = sorted(set(text) - {MISSING}) + ([MISSING] if missing.any() else [])
    shown = found[1:] if len(found) == 2 else found
    return [(level, (text == level).astype(np.float64)) for level in shown]


def _free_name(name: str, columns: dict[str, Any], frame: Any) -> str:
    while name in columns or name in frame.columns:
        name += "'"
    return name


def _finite(column: Any) -> Any:
    numbers = column.astype(np.float64)
    too_large = numbers.abs() > _LARGEST
    if too_large.any():
        place = int(np.flatnonzero(too_large.to_numpy())[0])
        raise CommandError(
            f"column {column.name!r} has {numbers.iloc[place]:g} in data row {numbers.index[place] + 1}, more than a "
            "tree can compare; leave the cell empty if nothing is known, clip it, or --drop the column."
        )
    return numbers
