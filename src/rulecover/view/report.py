"""The report: one HTML file that needs no network and no script."""

from __future__ import annotations

import os
import tempfile
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rulecover.view.numbers import amount
from rulecover.view.rendering import environment
from rulecover.view.text import percent, printable
from rulecover.view.words import certificate_in_words, cost_in_words, figures_in_words, summary_in_words

if TYPE_CHECKING:
    from rulecover.clauses import Rule
    from rulecover.evidence import ClassEvidence
    from rulecover.rules import RuleSet
    from rulecover.view.summary import Summary

#: Classes beyond this many share one colour; their names stand beside the bars.
_COLOURS = 8

#: Names of classes are kept on one line up to this many letters.
_WIDEST = 16


@dataclass(frozen=True)
class _Part:
    """One class in the bar of a rule: its name, colour, rows and share."""

    name: str
    colour: int
    rows: str
    share: float


@dataclass(frozen=True)
class _Row:
    """One rule in the table of the report."""

    number: int
    clauses: tuple[str, ...]
    prediction: str
    colour: int
    samples: str
    share: str
    purity: str
    lift: str
    mix: tuple[_Part, ...]


def write_report(summary: Summary, path: str | os.PathLike[str]) -> Path:
    """Writes the report to a file, whole or not at all; returns its path."""
    return _write_whole(Path(path), report_html(summary))


def report_html(summary: Summary) -> str:
    """The report as HTML; every name that a user supplies is escaped."""
    rules = summary.rules
    assert rules.evidence is not None
    template = environment().get_template("report.html")
    return template.render(
        summary=summary,
        title=printable(summary.title),
        lead=summary_in_words(summary),
        figures=figures_in_words(summary),
        certificate=certificate_in_words(summary.certificate),
        cost=cost_in_words(rules),
        features=_features(rules),
        measure=rules.evidence.view.measure,
        **rules.evidence.view.report(rules),
    )


def part_on_classes(rules: RuleSet, seen: ClassEvidence) -> dict[str, Any]:
    """What the report shows of rules that predict a class."""
    classes = [printable(str(label)) for label in seen.classes.tolist()]
    return {
        "numbers": False,
        "classes": [(name, _colour(k)) for k, name in enumerate(classes)],
        "rows": _rows(rules, seen, classes),
        "widest": min(_WIDEST, max(map(len, classes))),
    }


def _rows(rules: RuleSet, seen: ClassEvidence, classes: list[str]) -> list[_Row]:
    total = seen.total
    usual = seen.totals / total
    return [
        _row(j, rule, classes, int(seen.best[j]), total=total, usual=float(usual[seen.best[j]]))
        for j, rule in enumerate(rules)
    ]


def _row(j: int, rule: Rule, classes: list[str], best: int, *, total: float, usual: float) -> _Row:
    assert rule.counts is not None and rule.support is not None and rule.purity is not None
    mix = tuple(
        _Part(classes[k], _colour(k), amount(count), count / rule.support)
        for k, count in enumerate(rule.counts.values())
        if count
    )
    return _Row(
        number=j,
        clauses=tuple(printable(str(clause)) for clause in rule.clauses) or ("always",),
        prediction=classes[best],
        colour=_colour(best),
        samples=amount(rule.support),
        share=percent(rule.support / total),
        purity=percent(rule.purity),
        lift=f"{rule.purity / usual:.2f}",
        mix=mix,
    )


def _features(rules: RuleSet) -> list[tuple[str, int, float]]:
    """Each feature that occurs, how many rules use it, and that number over the largest, most used first."""
    used = Counter(name for rule in rules for name in sorted({printable(clause.name) for clause in rule.clauses}))
    ranked = sorted(used.items(), key=lambda item: (-item[1], item[0]))
    return [(name, times, times / ranked[0][1]) for name, times in ranked]


def _colour(k: int) -> int:
    return min(k, _COLOURS)


def _write_whole(path: Path, text: str) -> Path:
    """Writes beside the file and renames: a reader sees the old report or the new one, never a half."""
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.", suffix=".part")
    try:
        with os.fdopen(handle, "w", encoding="utf-8", newline="\n") as file:
            file.write(text)
        Path(name).chmod(_usual_mode())
        Path(name).replace(path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
    return path


def _usual_mode() -> int:
    """The mode that a new file gets here: a temporary file is its owner's alone."""
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask
