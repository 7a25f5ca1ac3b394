"""Tables for trained boosters: the columns that a model file knows, as its library takes them."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pandas as pd

from rulecover.cli.errors import CommandError
from rulecover.cli.tables.encoding import ColumnsOf, is_text, not_for_rules
from rulecover.cli.tables.header import listed
from rulecover.readers import read_trees

#: Names that libraries make up for columns without names.
_MADE_UP = re.compile(r"(Column_|f|Feature)?\d+")


def booster_columns(path: Path) -> ColumnsOf:
    """What becomes of the columns of a table for the model in this file."""
    if not path.is_file():
        raise CommandError(f"there is no file {str(path)!r} here; --model takes a trained booster's file.")
    ensemble = read_trees(path)

    def columns(frame: Any) -> tuple[Any, dict[int, tuple[str, str]], list[str]]:
        chosen, notes = _matched(ensemble.feature_names, ensemble.n_features, list(frame.columns), path)
        return frame[chosen].apply(_as_library_takes_it), {}, notes

    return columns


def _matched(
    names: tuple[str, ...] | None, n_features: int, there: list[str], path: Path
) -> tuple[list[str], list[str]]:
    """The columns of the table that the model was trained on, in its order, and what had to be assumed."""
    spelled = {name.replace(" ", "_"): name for name in there} | {name: name for name in there}
    if names is not None and all(name in spelled for name in names):  # LightGBM writes _ for a blank
        return [spelled[name] for name in names], []
    nameless = names is None or all(_MADE_UP.fullmatch(name) for name in names)
    if nameless and len(there) == n_features:
        return there, [f"{path.name} knows its columns by number only; they are taken in the order of the table."]
    if names is None or nameless:
        raise CommandError(
            f"{path.name} was trained on {n_features} columns without names, but the table has {len(there)} beside the "
            f"target: {listed(there)}; --drop those that it does not know."
        )
    absent = [name for name in names if name not in spelled]
    raise CommandError(
        f"{path.name} was trained on the column {absent[0]!r}, which the table does not have; it has {listed(there)}."
    )


def _as_library_takes_it(column: Any) -> Any:
    """Texts as categories, and all else as numbers."""
    refused = not_for_rules(column)
    if refused:
        raise CommandError(f"column {column.name!r} is for no model: {refused}, as the model has seen them.")
    if pd.api.types.is_bool_dtype(column):
        return column.astype("float64")
    return column.astype("category") if is_text(column) else column
