"""Whether the first line of a file has the names of its columns, or is a row already."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise
from typing import Literal

_NUMBER = re.compile(r"[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?")
#: Numbers as people write them, too: with a currency, a percent sign, or marks between thousands.
_WRITTEN = re.compile(r"\(?[-+]?\s?[$€£¥]?\s?\d[\d.,' ]*([eE][-+]?\d+)?\s?[%$€£¥]?\)?")
_DATE = re.compile(r"\d{1,4}[-./]\d{1,2}[-./]\d{1,4}([T ]\d{1,2}:\d{2}.*)?")
_NOT_KNOWN = ("", "?", "-", "na", "n/a", "nan", "null", "none")

#: Names that are whole numbers between these are years.
_YEARS = range(1900, 2101)


def looks_like_data(names: Sequence[str], rows: Sequence[Sequence[str]] = ()) -> bool:
    """Whether the first line of a file is a row rather than the names of its columns.

    A name is like a cell if it is a number among numbers or a date among dates, or if it is a text that the column
    holds again; it is like a name if it is a text above numbers. Numbers at equal distances and years are names, as in
    a table with a column for each year.

    Parameters
    ----------
    names
        The first line.
    rows
        Some of the lines below; where none are known, a line is a row if most names are numbers.

    Examples
    --------
    >>> looks_like_data(["39", "State-gov", "<=50K"], [["50", "Private", ">50K"], ["38", "Private", "<=50K"]])
    True
    >>> looks_like_data(["country", "2019", "2020"], [["Chad", "1950", "2100"], ["Peru", "2300", "2000"]])
    False
    """
    names = [name.strip() for name in names]
    numbers = [float(name) for name in names if _NUMBER.fullmatch(name)]
    if _are_names(numbers):
        return False
    if not rows:
        return len(numbers) > len(names) / 2
    below = [row for row in ([cell.strip() for cell in row] for row in rows) if row != names]
    found = [_compared(name, [row[place] for row in below if place < len(row)]) for place, name in enumerate(names)]
    return 3 * found.count("cell") >= len(names) and 3 * found.count("name") <= found.count("cell")


def _are_names(numbers: Sequence[float]) -> bool:
    """Whether numbers are names of columns: they go on in equal steps, or are years in their order."""
    steps = [b - a for a, b in pairwise(numbers)]
    if not steps:
        return False
    ordered = min(steps) > 0 or max(steps) < 0
    alike = len({round(step, 9) for step in steps}) == 1 and (len(steps) > 1 or abs(steps[0]) == 1)
    return ordered and (alike or all(number in _YEARS for number in numbers))


def _compared(name: str, cells: Sequence[str]) -> Literal["name", "cell", "either"]:
    """What a text in the first line is, by the cells below it."""
    known = [cell for cell in cells if cell.casefold() not in _NOT_KNOWN]
    kinds = {_kind(cell) for cell in known}
    if name.casefold() in _NOT_KNOWN or len(kinds) != 1:
        return "cell" if name in known else "either"
    (kind,) = kinds
    if kind == "text":
        return "cell" if name in known else "either"
    if _kind(name) != kind:
        return "name" if _kind(name) == "text" else "either"
    return "cell" if _is_near(name, known) else "either"


def _kind(text: str) -> Literal["date", "number", "text"]:
    if _DATE.fullmatch(text):
        return "date"
    return "number" if _WRITTEN.fullmatch(text) or _NUMBER.fullmatch(text) else "text"


def _is_near(name: str, cells: Sequence[str]) -> bool:
    """Whether a number is of the size of others; true where they are not plain numbers."""
    if not all(_NUMBER.fullmatch(each) for each in (name, *cells)):
        return True
    numbers = [float(cell) for cell in cells]
    low, high = min(numbers), max(numbers)
    room = 3 * (high - low) or max(1.0, abs(high))
    return low - room <= float(name) <= high + room
