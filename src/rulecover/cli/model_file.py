"""A saved model, and the columns of a table that it asks for."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from rulecover.cli.errors import CommandError
from rulecover.exceptions import InvalidModelFileError
from rulecover.export.conditions import MISSING
from rulecover.export.json_file import from_json
from rulecover.export.model import ScoredRules

_TRUTHS = {"TRUE": "True", "true": "True", "FALSE": "False", "false": "False"}


def load(path: Path) -> Model:
    """The model of a JSON file, or an error that says what is wrong with the file."""
    if str(path) != "-" and not path.is_file():
        raise CommandError(f"there is no file {str(path)!r} here; rulecover fit writes one.")
    text = sys.stdin.buffer.read() if str(path) == "-" else path.read_bytes()
    try:
        return Model(from_json(text))
    except InvalidModelFileError as error:
        raise CommandError(f"{path}: {error}") from error


@dataclass(frozen=True, eq=False)
class Model:
    """Scored rules, and how tables become the rows that they take."""

    rules: ScoredRules

    @cached_property
    def _used(self) -> list[int]:
        return sorted(set(self.rules.rules.feature.tolist()) | self._along_paths)

    @property
    def _along_paths(self) -> set[int]:
        paths = self.rules.rules.paths
        return set() if paths is None else set(paths.feature.tolist())

    @cached_property
    def texts(self) -> dict[str, set[str]]:
        """The text columns that rules speak of, and the levels of each."""
        levels: dict[str, set[str]] = {}
        for f in self._used:
            if f in self.rules.rules.levels:
                name, level = self.rules.rules.levels[f]
                levels.setdefault(name, set()).add(level)
        return levels

    @cached_property
    def numbers(self) -> list[str]:
        """The columns of numbers that rules speak of."""
        return [self.rules.rules.feature_names[f] for f in self._used if f not in self.rules.rules.levels]

    @property
    def columns(self) -> list[str]:
        """What a table must have."""
        return [*self.numbers, *self.texts]

    def rows(self, table: Any, first: int) -> Any:
        """The rows of a part of a table, whose first row has this number, as the rules take them."""
        X = np.zeros((len(table), self.rules.rules.n_features))
        columns = {name: numbers(table[name], first) for name in self.numbers}
        texts = {name: texts_of(table[name], levels) for name, levels in self.texts.items()}
        for f in self._used:
            if f in self.rules.rules.levels:
                name, level = self.rules.rules.levels[f]
                X[:, f] = texts[name].isna() if level == MISSING else texts[name] == level
            else:
                X[:, f] = columns[self.rules.rules.feature_names[f]]
        return X


def numbers(column: Any, first: int) -> Any:
    """A column of numbers, NaN where nothing is known."""
    if pd.api.types.is_bool_dtype(column):
        raise CommandError(f"column {column.name!r} holds true and false, but the model takes it for numbers.")
    if not pd.api.types.is_numeric_dtype(column):
        column = _parsed(column, first)
    return column.to_numpy(dtype=np.float64, na_value=np.nan)


def _parsed(column: Any, first: int) -> Any:
    """Text that is numbers all the same, or None as Python writes it for what is missing."""
    known = column.where(column.astype(str) != "None")
    parsed = pd.to_numeric(known, errors="coerce")
    wrong = np.flatnonzero((parsed.isna() & known.notna()).to_numpy())
    if wrong.size:
        raise CommandError(
            f"column {column.name!r} has {str(column.iloc[wrong[0]])[:40]!r} in data row {first + int(wrong[0]) + 1}, "
            "but the model takes numbers there; correct the cell, or leave it empty if nothing is known."
        )
    return parsed.astype("float64")


def texts_of(column: Any, levels: set[str]) -> Any:
    """A column of texts; true and false are written as they were when the model was trained."""
    known = column.notna()
    text = column.astype(str)
    if levels <= {"True", "False", MISSING}:
        text = text.replace(_TRUTHS)
    return text.where(known, None)
