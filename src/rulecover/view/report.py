"""The report: one HTML file that needs no network and no script."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rulecover.files import whole_file
from rulecover.view.numbers import amount
from rulecover.view.rendering import environment
from rulecover.view.text import percent, printable
from rulecover.view.words import figures_in_words, path_in_words, proved_in_words, summary_in_words, votes_in_words

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
    vote: str = ""


def write_report(summary: Summary, path: str | os.PathLike[str]) -> Path:
    """Writes the report to a file, whole or not at all; returns its path."""
    with whole_file(Path(path)) as file:
        file.write(report_html(summary))
    return Path(path)


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
        proved=proved_in_words(summary),
        votes=votes_in_words(summary),
        path=path_in_words(summary),
        features=_features(rules),
        measure=rules.evidence.view.measure,
        **rules.evidence.view.report(rules, summary.votes[1:]),
    )


def part_on_classes(rules: RuleSet, seen: ClassEvidence, votes: Sequence[tuple[float, ...]]) -> dict[str, Any]:
    """What the report shows of rules that predict a class; see `Summary` on their votes."""
    classes = [printable(str(label)) for label in seen.classes.tolist()]
    return {
        "numbers": False,
        "classes": [(name, _colour(k)) for k, name in enumerate(classes)],
        "rows": _rows(rules, seen, classes, votes),
        "widest": min(_WIDEST, max(map(len, classes))),
    }


def _rows(rules: RuleSet, seen: ClassEvidence, classes: list[str], votes: Sequence[tuple[float, ...]]) -> list[_Row]:
    total = seen.total
    usual = seen.totals / total
    rows = [
        _row(j, rule, classes, int(seen.best[j]), total=total, usual=float(usual[seen.best[j]]))
        for j, rule in enumerate(rules)
    ]
    return [_with_vote(row, vote, classes) for row, vote in zip(rows, votes, strict=True)] if votes else rows


def _with_vote(row: _Row, vote: tuple[float, ...], classes: list[str]) -> _Row:
    """The row of a rule whose vote was fitted: it speaks for the class to which it adds most."""
    best = vote.index(max(vote))
    return replace(row, prediction=classes[best], colour=_colour(best), vote=f"{vote[best]:+.2g}")


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
