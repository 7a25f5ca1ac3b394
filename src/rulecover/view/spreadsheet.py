"""CSV that a spreadsheet opens as data, never as formulas."""

from __future__ import annotations

from typing import Any

#: What a spreadsheet takes for the beginning of a formula, wide letters too.
_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")


def marked(text: Any) -> Any:
    """The text, after an apostrophe if a spreadsheet would run it as a formula; a number below zero is none.

    >>> marked("=1+1"), marked("-1.5"), marked("plain"), marked(-2)
    ("'=1+1", '-1.5', 'plain', -2)
    """
    if not isinstance(text, str) or not text.startswith(_FORMULA):
        return text
    try:
        float(text)
    except ValueError:
        return f"'{text}"
    return text


def csv_text(frame: Any) -> str:
    """A data frame of pandas as CSV without its index, its headings and texts marked."""
    safe = frame.map(marked).rename(columns=marked)
    text: str = safe.to_csv(index=False, lineterminator="\n")
    return text
