"""How the columns of a table are taken: as they are for a forest, behind an encoder, or as a booster expects them."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from rulecover.cli.errors import CommandError
from rulecover.cli.tables.header import quoted_names
from rulecover.cli.tables.reading import naming_missing
from rulecover.data.dates import holds_dates
from rulecover.data.encoder import LeftOut, TableEncoder
from rulecover.data.frames import MISSING, as_spelled
from rulecover.data.kinds import is_text, parse_numbers, rare_odd_text
from rulecover.data.kinds import why_unusable as why_no_rules
from rulecover.readers import read_trees

#: Cells that stand for a missing value. "None" is not among them: in a text column it is often a level.
NOT_KNOWN = ["", "NA", "N/A", "n/a", "<NA>", "NaN", "nan", "NULL", "null", "#N/A", "?", MISSING]

#: The most texts among the numbers of a column that may all stand for missing values.
_FEW = 2


@dataclass(frozen=True, eq=False)
class TakenColumns:
    """The columns of a table as a model is trained on them.

    Parameters
    ----------
    X
        The columns that are used, in a data frame.
    encoder
        What makes numbers of them, fitted to all rows; ``None`` where they are numbers, or a booster takes them.
    notes
        What was done to them, in sentences.
    """

    X: Any
    encoder: TableEncoder | None = None
    notes: tuple[str, ...] = ()


#: From a data frame to the columns that a model is trained on.
ColumnsOf = Callable[[Any], TakenColumns]

_LARGEST = float(np.finfo(np.float32).max)


def for_forests(max_levels: int) -> ColumnsOf:
    """How to take the columns of a table that a forest is trained on."""

    def columns(frame: Any) -> TakenColumns:
        parsed = pd.DataFrame({name: _finite(parse_numbers(frame[name])) for name in frame.columns}, index=frame.index)
        if not parsed.shape[1]:
            return TakenColumns(parsed)
        encoder = TableEncoder(max_levels, keep_ids=True)  # ids are left out before, by all rows
        try:
            encoder.fit(parsed)
        except ValueError:
            return TakenColumns(parsed.iloc[:, :0], notes=(*encoder.notes_, *_missing_values(parsed)))
        used = [each.name for each in encoder.columns_ if not isinstance(each, LeftOut)]
        notes, X = (*encoder.notes_, *_missing_values(parsed)), parsed[used]
        mixed = any(is_text(X[name]) for name in used)
        return TakenColumns(X, encoder.fit(X) if mixed else None, notes)

    return columns


def _missing_values(frame: Any) -> list[str]:
    """The option for texts among numbers or dates, which may stand for missing values."""
    odd = [each for each in (rare_odd_text(frame[name]) for name in frame.columns) if each is not None]
    odd = [each for each in odd if len(each.texts) <= _FEW]
    texts = sorted({text for each in odd for text in each.texts})
    named, among = " or ".join(map(repr, texts)), " or ".join(sorted({each.among for each in odd}, reverse=True))
    return [f"if {named} among {among} means that nothing is known, add {naming_missing(texts)}."] if texts else []


def why_unusable(column: Any) -> str:
    """Why rules cannot use a column as it is; empty if they can."""
    if holds_dates(column):
        return "it holds dates or times; turn them into numbers first, such as the year or the days since a day"
    return why_no_rules(column)


def _finite(column: Any) -> Any:
    """The column; numbers as floats, if a tree can compare them."""
    if is_text(column):
        return column
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
    """How to take the columns of a table for the model in this file."""
    if not path.is_file():
        raise CommandError(f"there is no file {str(path)!r} here; --model takes a trained booster's file.")
    ensemble = read_trees(path)

    def columns(frame: Any) -> TakenColumns:
        chosen, notes = _match_columns(ensemble.feature_names, ensemble.n_features, list(frame.columns), path)
        return TakenColumns(frame[chosen].apply(_as_library_takes_it), notes=tuple(notes))

    return columns


def _match_columns(
    names: tuple[str, ...] | None, n_features: int, there: list[str], path: Path
) -> tuple[list[str], list[str]]:
    """The columns of the table that the model was trained on, in its order, and what had to be assumed."""
    spelled = [] if names is None else as_spelled(names, there)
    absent = [name for name in spelled if name not in there]
    if names is not None and not absent:
        return spelled, []
    nameless = names is None or all(_MADE_UP.fullmatch(name) for name in names)
    if nameless and len(there) == n_features:
        return there, [f"{path.name} knows its columns only by number; they are taken in the order of the table."]
    if names is None or nameless:
        raise CommandError(
            f"{path.name} was trained on {n_features} columns without names, but the table has {len(there)} besides "
            f"the target: {quoted_names(there)}; --drop those that it does not know."
        )
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
