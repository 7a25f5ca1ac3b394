"""Rules as plain text."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from rulecover.view.numbers import short_number

if TYPE_CHECKING:
    from rulecover.rules import RuleSet


def rule_table(rules: RuleSet) -> str:
    """An aligned table, one line a rule; the condition stands last, where its length does no harm."""
    if not len(rules):
        return "no rules"
    if rules.evidence is None:
        rows = [(str(j), rule.text) for j, rule in enumerate(rules)]
        return aligned([("rule", "if"), *rows], right=(True, False))
    rows4 = [
        (
            str(j),
            str(rule.prediction),
            short_number(rule.support or 0.0),
            f"{100 * (rule.purity or 0.0):.0f} %",
            rule.text,
        )
        for j, rule in enumerate(rules)
    ]
    return aligned([("rule", "then", "samples", "purity", "if"), *rows4], right=(True, False, True, True, False))


def aligned(rows: Sequence[tuple[str, ...]], *, right: tuple[bool, ...]) -> str:
    """Rows of cells in columns of equal width."""
    widths = [max(len(row[c]) for row in rows) for c in range(len(right))]
    lines = []
    for row in rows:
        cells = (cell.rjust(w) if r else cell.ljust(w) for cell, w, r in zip(row, widths, right, strict=True))
        lines.append("  ".join(cells).rstrip())
    return "\n".join(lines)
