"""Cells, figures and names as plain text."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from typing import Any


def score(value: float) -> str:
    """A score with three digits after the point, and no sign on a zero.

    >>> score(0.5), score(-0.0001)
    ('0.500', '0.000')
    """
    return f"{round(value, 3) + 0.0:.3f}"


def percent(share: float) -> str:
    """A share in per cent, 0 or 100 only where it is exact.

    >>> percent(0.5), percent(0.9996), percent(0.0003), percent(1)
    ('50 %', '>99 %', '<1 %', '100 %')
    """
    whole = round(100 * share)
    if whole == 100 and share < 1:
        return ">99 %"
    return "<1 %" if whole == 0 and share > 0 else f"{whole} %"


def aligned(rows: Sequence[tuple[str, ...]], *, right: tuple[bool, ...]) -> str:
    """Rows of cells in columns of equal width."""
    widths = [max(_width(row[c]) for row in rows) for c in range(len(right))]
    lines = []
    for row in rows:
        spaces = [" " * (w - _width(cell)) for cell, w in zip(row, widths, strict=True)]
        cells = [s + cell if r else cell + s for cell, s, r in zip(row, spaces, right, strict=True)]
        lines.append("  ".join(cells).rstrip())
    return "\n".join(lines)


def printable(text: str) -> str:
    r"""The text with line ends and control characters written out: a name cannot break a table or steer a terminal.

    >>> print(printable("red\x1b[0m"))
    red\x1b[0m
    """
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def cut_to(longest: int, text: str) -> str:
    """The text, at most this long.

    >>> cut_to(3, "size"), cut_to(4, "size")
    ('si…', 'size')
    """
    return text if len(text) <= longest else text[: longest - 1] + "…"


def some_of(values: Sequence[Any]) -> str:
    """The first few values.

    >>> some_of(["a", "b"]), some_of(range(9))
    ("'a', 'b'", '0, 1, 2, 3, 4…')
    """
    return ", ".join(map(repr, values[:5])) + ("…" if len(values) > 5 else "")


def _width(text: str) -> int:
    """Columns on a terminal: wide letters take two, combining ones none."""
    if text.isascii():
        return len(text)
    wide = sum(unicodedata.east_asian_width(c) in "WF" for c in text)
    return len(text) + wide - sum(unicodedata.combining(c) > 0 for c in text)


def did_you_mean(name: str, names: Sequence[str]) -> str:
    """The name that was probably meant, to be put behind the one that was typed; nothing if none is close.

    >>> did_you_mean("specis", ["species", "sex"])
    " (did you mean 'species'?)"
    >>> did_you_mean("SEX", ["species", "sex"])
    " (did you mean 'sex'?)"
    >>> did_you_mean("weight", ["species", "sex"])
    ''
    """
    from difflib import get_close_matches  # is slow to import, and seldom needed

    folded = {each.strip().casefold(): each for each in reversed(names) if each}
    close = get_close_matches(name.strip().casefold(), folded, n=1, cutoff=0.7)
    return f" (did you mean {folded[close[0]]!r}?)" if close else ""
