"""A saved model, and the columns of a table that it asks for."""

from __future__ import annotations

import sys
from contextlib import nullcontext
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from rulecover.cli.errors import CommandError
from rulecover.data.inputs import MISSING, Coded, Input, Level, Number
from rulecover.exceptions import InvalidModelFileError
from rulecover.export.json_file import MAX_SIZE, from_json
from rulecover.voting.vote import Vote

_ONES = {"TRUE": 1, "True": 1, "true": 1, "FALSE": 0, "False": 0, "false": 0}
_TRUTHS = {"TRUE": "True", "true": "True", "FALSE": "False", "false": "False"}


def load(path: Path, *, edited: bool = False, max_megabytes: float = MAX_SIZE / 1e6) -> Model:
    """The model of a JSON file, or an error that says what is wrong with the file."""
    if str(path) != "-" and (not path.exists() or path.is_dir()):
        raise CommandError(f"there is no file {str(path)!r} here; rulecover fit writes one.")
    most = int(max_megabytes * 1e6)
    with nullcontext(sys.stdin.buffer) if str(path) == "-" else path.open("rb") as file:
        text = file.read(most + 1)
    try:
        return Model(from_json(text, edited=edited, max_size=most))
    except InvalidModelFileError as error:
        raise CommandError(f"{path}: {error}") from error


@dataclass(frozen=True, eq=False)
class Model:
    """Scored rules, and how tables become the rows that they take."""

    rules: Vote

    @cached_property
    def numbers(self) -> set[str]:
        """The columns of numbers that rules speak of."""
        return {each.name for each in self.rules.inputs.values() if isinstance(each, Number) or _by_number(each)}

    @cached_property
    def columns(self) -> list[str]:
        """What a table must have."""
        return list(dict.fromkeys(each.name for each in self.rules.inputs.values()))

    def check_interval(self, share: float) -> None:
        """Raises unless the model gives intervals that hold the right answer with this probability."""
        if not 0 < share < 1:
            raise CommandError(f"--interval is {share:g}; it is a probability, above 0 and below 1, such as 0.9.")
        if not getattr(self.rules.answer, "squares", False):
            raise CommandError("this model gives no intervals; they come with numbers by --method mirco and rcboost.")

    @cached_property
    def _truths(self) -> set[str]:
        """Text columns that hold nothing but true and false."""
        levels: dict[str, set[str | None]] = {}
        for each in self.rules.inputs.values():
            if isinstance(each, Level):
                levels.setdefault(each.name, set()).add(each.level)
        return {name for name, known in levels.items() if known <= {"True", "False", None}}

    def rows(self, table: Any, first: int) -> Any:
        """The rows of a part of a table, whose first row has this number, as the rules take them."""
        cells = {name: self._cells(table[name], first) for name in self.columns}
        X = np.zeros((len(table), self.rules.rules.n_features))
        for f, each in self.rules.inputs.items():
            X[:, f] = each.read(cells[each.name])
        return X

    def rows_with_levels(self, table: Any, first: int) -> Any:
        """The same rows, with every level of the text columns filled in, whether rules ask for it or not."""
        X, rules = self.rows(table, first), self.rules.rules
        for f in set(rules.columns.levels) - set(self.rules.inputs):
            name, level = rules.columns.levels[f]
            if name in self.columns:
                X[:, f] = Level(name, None if level == MISSING else level).read(self._cells(table[name], first))
        return X

    def _cells(self, column: Any, first: int) -> Any:
        if column.name in self.numbers:
            return numbers(column, first)
        known = column.notna()
        text = column.astype(str)  # true and false are written as they were when the model was trained
        text = text.replace(_TRUTHS) if column.name in self._truths else text
        return text.astype(object).where(known, None).to_numpy(dtype=object)


def _by_number(each: Input) -> bool:
    """Whether a column holds categories that are numbers."""
    return isinstance(each, Coded) and not any(isinstance(label, (str, bool)) for label, _ in each.codes)


def numbers(column: Any, first: int) -> Any:
    """A column of numbers, NaN where nothing is known."""
    if not pd.api.types.is_numeric_dtype(column):
        column = _parsed(column, first)
    return column.to_numpy(dtype=np.float64, na_value=np.nan)


def _parsed(column: Any, first: int) -> Any:
    """Text that is numbers all the same, true and false, or None as Python writes it for what is missing."""
    known = column.where(column.astype(str) != "None").replace(_ONES)
    parsed = pd.to_numeric(known, errors="coerce")
    wrong = np.flatnonzero((parsed.isna() & known.notna()).to_numpy())
    if wrong.size:
        raise CommandError(
            f"column {column.name!r} has {str(column.iloc[wrong[0]])[:40]!r} in data row {first + int(wrong[0]) + 1}, "
            "but the model takes numbers there; correct the cell, or leave it empty if nothing is known."
        )
    return parsed.astype("float64")
