"""CSV that a spreadsheet opens as data, never as formulas."""

from __future__ import annotations

import csv
from collections.abc import Iterable
from types import SimpleNamespace
from typing import Any

#: What a spreadsheet takes for the beginning of a formula, wide letters too.
_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")

#: What a spreadsheet may skip before it looks for a formula: blanks and invisible characters.
_SKIPPED = " \0\v\f\xa0\u200b\u3000\ufeff"


def escape_formula(text: Any) -> Any:
    """The text, after an apostrophe if a spreadsheet would run it as a formula; negative numbers stay as they are.

    >>> escape_formula("=1+1"), escape_formula("-1.5"), escape_formula("plain"), escape_formula(-2)
    ("'=1+1", '-1.5', 'plain', -2)
    """
    if not isinstance(text, str) or not text.lstrip(_SKIPPED).startswith(_FORMULA):
        return text
    try:
        float(text)
    except ValueError:
        return f"'{text}"
    return text


def csv_lines(rows: Iterable[Iterable[Any]], end: str) -> list[str]:
    r"""Each row as text, the end after its last cell; cells with an end of line of any kind are in quotes.

    >>> csv_lines([["a", 1.5, "b\rc"]], ";")
    ['a,1.5,"b\rc";']
    """
    lines: list[str] = []
    writer = csv.writer(SimpleNamespace(write=lines.append), lineterminator="\r\n")  # what is quoted depends on it
    writer.writerows(rows)
    return [line.removesuffix("\r\n") + end for line in lines]


def csv_text(frame: Any) -> str:
    """A data frame of pandas as CSV without its index, with formulas in its headings and texts escaped."""
    columns = [[escape_formula(name), *map(escape_formula, frame[name].tolist())] for name in frame.columns]
    return "".join(csv_lines(zip(*columns, strict=True), "\n"))
