"""Where the value of a feature comes from in a row of the user's table."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import pandas as pd

from rulecover.data.columns import Columns
from rulecover.data.dates import DatePart
from rulecover.data.frames import MISSING, UNSEEN, ZERO, absent, column, is_frame, names_of, numbers
from rulecover.data.labels import Label
from rulecover.data.written_numbers import Notation
from rulecover.typing import Array, Floats


@dataclass(frozen=True)
class Number:
    """A column of numbers, in which 0 may count as missing; texts are read by a notation if there is one."""

    name: str
    zero_missing: bool = False
    notation: Notation | None = None

    def read(self, values: Array) -> Floats:
        """A column of such values as floats."""
        known = numbers(values, self.name, notation=self.notation)
        return np.where(np.abs(known) <= ZERO, np.nan, known) if self.zero_missing else known


@dataclass(frozen=True)
class Level:
    """1 where a text column has this level, ``None`` for a missing text, and 0 elsewhere."""

    name: str
    level: str | None

    def read(self, values: Array) -> Floats:
        """A column of such values as floats."""
        return _by_value(
            _texts(values), lambda value: float(str(value) == self.level), missing=float(self.level is None)
        )


@dataclass(frozen=True)
class Coded:
    """A column of categories, each known by a number; missing where there is none, `UNSEEN` for all others."""

    name: str
    codes: tuple[tuple[Label, float], ...]

    def read(self, values: Array) -> Floats:
        """A column of such values as floats."""
        codes = dict(self.codes)
        return _by_value(values, lambda value: codes.get(value, UNSEEN), missing=np.nan)


Input: TypeAlias = Number | Level | Coded

#: What a table that people have holds, too: dates, of which numbers are made.
TableInput: TypeAlias = Input | DatePart


def input_of(columns: Columns, f: int) -> Input:
    """Where the values of a column come from in a table that has a column for every part of a date that is used."""
    if f in columns.levels:
        text, level = columns.levels[f]
        return Level(text, None if level == MISSING else level)
    if f in columns.categories:
        return Coded(columns.names[f], tuple((label, float(code)) for code, label in enumerate(columns.categories[f])))
    return Number(columns.names[f], f in columns.zero_missing, columns.notations.get(f))


def table_input_of(columns: Columns, f: int) -> TableInput:
    """Where the values of a column come from in the user's table."""
    return columns.parts[f] if f in columns.parts else input_of(columns, f)


def read_frame(frame: Any, inputs: Mapping[int, TableInput], n_features: int) -> Floats:
    """The requested features, from a data frame of any library; its other columns do not matter."""
    known = is_frame(frame)
    there = {str(name): name for name in (names_of(frame) if known else frame.columns)}
    out = np.zeros((len(frame), n_features))
    for f, each in inputs.items():
        if each.name not in there:
            raise absent(each.name, list(there))
        name = there[each.name]
        out[:, f] = each.read(column(frame, name) if known else np.asarray(frame[name]))
    return out


def _by_value(values: Array, number: Callable[[Any], float], *, missing: float) -> Floats:
    """A number for each value; each distinct value is converted once."""
    which, known = pd.factorize(np.asarray(values, dtype=object))
    each: Floats = np.array([*(number(value) for value in known.tolist()), missing], dtype=np.float64)
    return np.asarray(each[which])


def _texts(values: Array) -> Array:
    """Dates as pandas writes them, NaT as missing; other values as they are."""
    if values.dtype.kind not in "mM":
        return values
    known = pd.Series(values)
    return np.asarray(known.astype(str).astype(object).where(known.notna(), None), dtype=object)
