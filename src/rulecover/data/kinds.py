"""What a column of a table holds: numbers, texts, truth values, dates, or something that rules cannot use."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from rulecover.data.dates import dates_among

#: What pandas calls columns of times of day and of lengths of time.
_TIMES = ("timedelta64", "timedelta", "time")

#: What pandas calls objects that are numbers.
_NUMBERS = ("integer", "floating", "mixed-integer-float", "decimal")


def why_unusable(column: Any) -> str:
    """Why rules cannot use a column; empty if they can."""
    kind = pd.api.types.infer_dtype(column, skipna=True)
    if kind in _TIMES:
        return "it holds times; turn them into numbers first, such as the hour or the seconds"
    if kind == "bytes":  # which no file of rules can hold
        return "it holds bytes; turn them into texts first"
    first = column.dropna().iloc[:1].tolist()
    if first and isinstance(first[0], (list, tuple, dict, set, np.ndarray)):
        return "it holds lists; make a column of each of their parts first"
    return ""


def is_text(column: Any) -> bool:
    """Whether a column holds words, or true and false."""
    return pd.api.types.is_bool_dtype(column) or not pd.api.types.is_numeric_dtype(column)


def is_truth(column: Any) -> bool:
    """Whether a column holds true and false, and nothing else."""
    if isinstance(column.dtype, pd.CategoricalDtype):
        return False
    truths = column.dtype == object and pd.api.types.infer_dtype(column, skipna=True) == "boolean"
    return bool(truths or pd.api.types.is_bool_dtype(column))


def parse_numbers(column: Any) -> Any:
    """The column; as numbers if it holds number objects, or numbers and None, which Python writes for missing values.

    Numbers as people write them, such as ``23.2%``, are recognised by `rulecover.data.written_numbers`.
    """
    if not is_text(column) or is_truth(column) or isinstance(column.dtype, pd.CategoricalDtype) or why_unusable(column):
        return column
    if pd.api.types.infer_dtype(column, skipna=True) in _NUMBERS:
        return pd.to_numeric(column.astype(object).where(column.notna(), np.nan)).astype(np.float64)
    if not (column == "None").any():
        return column
    known = column.where(column != "None")
    numbers = pd.to_numeric(known, errors="coerce")
    return numbers if (numbers.isna() == known.isna()).all() else column


@dataclass(frozen=True, eq=False)
class OddText:
    """Texts among numbers or dates.

    Parameters
    ----------
    texts, row
        Those that differ, and the row of the first, counted from 1 below the header.
    count
        How many there are.
    others
        What all the other cells hold.
    among
        What these are, in a word.
    """

    texts: tuple[str, ...]
    row: int
    count: int
    others: Any
    among: str = "numbers"

    @property
    def text(self) -> str:
        """The first of them."""
        return self.texts[0]

    @property
    def is_rare(self) -> bool:
        return self.count < len(self.others)

    def __str__(self) -> str:
        return f"{self.text[:40]!r} in data row {self.row}"


def odd_text(column: Any) -> OddText | None:
    """The texts in a column that holds numbers, too; the index of the column holds the numbers of its rows."""
    if not is_text(column) or pd.api.types.is_bool_dtype(column):
        return None
    known = _texts(column)
    which, texts = pd.factorize(known)
    numbers = pd.to_numeric(pd.Series(texts, dtype=object), errors="coerce").to_numpy(dtype=np.float64)
    odd = np.isnan(numbers)
    return _odd(known, odd[which], numbers[which[~odd[which]]]) if odd.any() and not odd.all() else None


def _texts(column: Any) -> Any:
    """The cells that are not missing, as texts; bytes as Python writes them, since they may not be text."""
    known = column.dropna()
    return known.astype(object) if isinstance(known.dtype, pd.StringDtype) else known.astype(object).map(str)


def rare_odd_text(column: Any) -> OddText | None:
    """The texts in a column that holds more numbers than texts, or more dates than other texts."""
    found = (odd for odd in (odd_text(column), _odd_among_dates(column)) if odd is not None and odd.is_rare)
    return next(found, None)


def _odd_among_dates(column: Any) -> OddText | None:
    if isinstance(column.dtype, pd.CategoricalDtype) or pd.api.types.infer_dtype(column, skipna=True) != "string":
        return None
    known = column.dropna().astype(object)
    which, texts = pd.factorize(known)
    dates = texts.isin(dates_among(texts.tolist()))
    return _odd(known, ~dates[which], known.to_numpy()[dates[which]], "dates") if 0 < dates.sum() < len(dates) else None


def _odd(known: Any, odd: Any, others: Any, among: str = "numbers") -> OddText:
    """Some of the known cells of a column, which differ from the others."""
    places = np.flatnonzero(odd)
    texts = tuple(known.iloc[places].unique())
    return OddText(texts, int(known.index[places[0]]) + 1, len(places), others, among)
