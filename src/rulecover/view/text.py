"""Rules and figures as plain text."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rulecover.rules import RuleSet
    from rulecover.view.summary import Score


def rule_table(rules: RuleSet, votes: Sequence[Sequence[float]] = ()) -> str:
    """An aligned table, one line a rule; the condition stands last, where its length does no harm.

    Fitted `votes` (rules x answers) decide what a rule speaks for, and are shown with it.
    """
    if not len(rules):
        return "no rules"
    if rules.evidence is None:
        rows = [(str(j), printable(rule.text)) for j, rule in enumerate(rules)]
        return aligned([("rule", "if"), *rows], right=(True, False))
    columns = rules.evidence.view.columns
    header = ("rule", *(column.name for column in columns), "if")
    return aligned([header, *rule_rows(rules, votes)], right=(True, *(column.right for column in columns), False))


def rule_rows(rules: RuleSet, votes: Sequence[Sequence[float]] = ()) -> list[tuple[str, ...]]:
    """The cells of each rule that has met data: its number, what it found, and its condition."""
    assert rules.evidence is not None
    view = rules.evidence.view
    rows = []
    for j, rule in enumerate(rules):
        cells = [column.cell(rule) for column in view.columns]
        first = [printable(view.speaks_for(votes[j])), *cells[1:]] if votes else cells
        rows.append((str(j), *first, printable(rule.text)))
    return rows


def score_table(scores: Sequence[Score], measure: str = "accuracy") -> str:
    """The score and the size of each model, aligned."""
    rows = [(score.name, f"{score.accuracy:.3f}", score.size) for score in scores]
    return aligned([("", measure, "size"), *rows], right=(False, True, False))


def percent(share: float) -> str:
    """A share in per cent that says 0 or 100 only where it is.

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


def _width(text: str) -> int:
    """Columns on a terminal: wide letters take two, combining ones none."""
    if text.isascii():
        return len(text)
    wide = sum(unicodedata.east_asian_width(c) in "WF" for c in text)
    return len(text) + wide - sum(unicodedata.combining(c) > 0 for c in text)
