"""How the columns of a table are encoded: text as 0/1 columns for a forest, or all as a booster expects them."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from rulecover.cli.errors import CommandError
from rulecover.cli.tables.header import quoted_names
from rulecover.data.dates import holds_dates
from rulecover.data.kinds import is_text, odd_text, parse_numbers
from rulecover.data.kinds import why_unusable as why_no_rules
from rulecover.readers import read_trees

#: How a missing text is shown: a level of its own, as in ``colour = (missing)``.
MISSING = "(missing)"

#: Cells that stand for a missing value. "None" is not among them: in a text column it is often a level.
NOT_KNOWN = ["", "NA", "N/A", "n/a", "<NA>", "NaN", "nan", "NULL", "null", "#N/A", "?", MISSING]

#: From a data frame to columns of numbers, the levels that 0/1 ones stand for, and what was done, in sentences.
ColumnsOf = Callable[[Any], tuple[Any, dict[int, tuple[str, str]], list[str]]]

_LARGEST = float(np.finfo(np.float32).max)


def for_forests(max_levels: int) -> ColumnsOf:
    """How to encode the columns of a table that a forest is trained on."""
    return partial(encode, max_levels=max_levels)


def encode(frame: Any, *, max_levels: int) -> tuple[Any, dict[int, tuple[str, str]], list[str]]:
    """Columns of numbers, the levels that the 0/1 ones stand for, and what was left out, in sentences.

    Numbers stay as they are, NaN included. A text column with two levels becomes one 0/1 column, for the later level
    in alphabetical order; one with more becomes a 0/1 column for each level.
    """
    columns: dict[str, Any] = {}
    levels: dict[int, tuple[str, str]] = {}
    notes: list[str] = []
    for name in frame.columns:
        column = parse_numbers(frame[name])
        reason = why_unusable(column) or _useless(column, max_levels)
        if reason:
            notes.append(f"column {name!r} left out: {reason}.")
        elif is_text(column):
            odd = odd_text(column)
            if odd is not None and odd.is_rare:
                notes.append(f"column {name!r} is taken as text: it holds numbers, but {odd}.")
            for level, indicator in _indicators(column):
                levels[len(columns)] = (name, level)
                columns[_free_name(f"{name} = {level}", columns, frame)] = indicator
        else:
            columns[name] = _finite(column)
    return pd.DataFrame(columns, index=frame.index), levels, notes


def why_unusable(column: Any) -> str:
    """Why rules cannot use a column as it is; empty if they can."""
    if holds_dates(column):
        return "it holds dates or times; turn them into numbers first, such as the year or the days since a day"
    return why_no_rules(column)


def _useless(column: Any, max_levels: int) -> str:
    different = column.nunique(dropna=False)
    if column.isna().all():
        return "every value is missing"
    if different == 1:
        return "every value is the same"
    if not is_text(column) or different <= max_levels:
        return ""
    odd = odd_text(column)
    if odd is not None and odd.is_rare:
        return f"it holds numbers, but {odd}; correct the cell, or leave it empty if nothing is known"
    return (
        f"it has {different} different texts, such as {str(column.dropna().iloc[0])[:30]!r}, and rules on them "
        f"would only name rows (--max-levels {different} keeps it)"
    )


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


# For trained boosters -------------------------------------------------------------------------------------------------

#: Names that libraries make up for columns without names.
_MADE_UP = re.compile(r"(Column_|f|Feature)?\d+")


def booster_columns(path: Path) -> ColumnsOf:
    """How to encode the columns of a table for the model in this file."""
    if not path.is_file():
        raise CommandError(f"there is no file {str(path)!r} here; --model takes a trained booster's file.")
    ensemble = read_trees(path)

    def columns(frame: Any) -> tuple[Any, dict[int, tuple[str, str]], list[str]]:
        chosen, notes = _match_columns(ensemble.feature_names, ensemble.n_features, list(frame.columns), path)
        return frame[chosen].apply(_as_library_takes_it), {}, notes

    return columns


def _match_columns(
    names: tuple[str, ...] | None, n_features: int, there: list[str], path: Path
) -> tuple[list[str], list[str]]:
    """The columns of the table that the model was trained on, in its order, and what had to be assumed."""
    spelled = {name.replace(" ", "_"): name for name in there} | {name: name for name in there}
    if names is not None and all(name in spelled for name in names):  # LightGBM writes _ for a blank
        return [spelled[name] for name in names], []
    nameless = names is None or all(_MADE_UP.fullmatch(name) for name in names)
    if nameless and len(there) == n_features:
        return there, [f"{path.name} knows its columns only by number; they are taken in the order of the table."]
    if names is None or nameless:
        raise CommandError(
            f"{path.name} was trained on {n_features} columns without names, but the table has {len(there)} besides "
            f"the target: {quoted_names(there)}; --drop those that it does not know."
        )
    absent = [name for name in names if name not in spelled]
    raise CommandError(
        f"{path.name} was trained on the column {absent[0]!r}, which the table does not have; it has "
        f"{quoted_names(there)}."
    )


def _as_library_takes_it(column: Any) -> Any:
    """Texts as categories, and all else as numbers."""
    refused = why_unusable(column)
    if refused:
        raise CommandError(f"column {column.name!r} cannot be used by the model: {refused}, as when it was trained.")
    if pd.api.types.is_bool_dtype(column):
        return column.astype("float64")
    return column.astype("category") if is_text(column) else column
