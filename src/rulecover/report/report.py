"""The report: one HTML file that needs no network."""

from __future__ import annotations

import hashlib
import json
import os
from base64 import b64encode
from dataclasses import replace
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from markupsafe import Markup

import rulecover
from rulecover.data.provenance import today
from rulecover.files import whole_file
from rulecover.report.curves import threshold_curves
from rulecover.report.figures import ClassFigures
from rulecover.report.held_out import Confusion, Errors, HeldOutPredictions
from rulecover.report.upset import upset
from rulecover.report.words import (
    figure_cell,
    figure_meanings,
    figures_in_words,
    path_in_words,
    proved_in_words,
    provenance_in_words,
    score_rows,
    summary_in_words,
    votes_in_words,
)
from rulecover.rules.features import feature_use
from rulecover.show.cells import Head, TableCell
from rulecover.show.html import environment
from rulecover.show.numbers import format_number
from rulecover.show.text import cut_to, percent, printable, score
from rulecover.targets.classes.evidence import ClassEvidence

if TYPE_CHECKING:
    from rulecover.report.summary import Score, Summary
    from rulecover.show.cells import RuleCells

#: Names of classes are kept on one line up to this many letters.
_WIDEST = 16

#: The most missed rows that are listed.
_MISSED = 24

#: The script of the page, in this order.
_SCRIPTS = ("answer.js", "rules.js", "curves.js", "try.js", "start.js")


def write_report(summary: Summary, path: str | os.PathLike[str]) -> Path:
    """Writes the report to a file, whole or not at all; returns its path.

    Parameters
    ----------
    summary
        What `Summary.of` returned.
    path
        The HTML file; one that exists is replaced.

    Returns
    -------
    pathlib.Path
        The file.

    Raises
    ------
    OSError
        If the file cannot be written.
    """
    with whole_file(Path(path)) as file:
        file.write(report_html(summary))
    return Path(path)


def report_html(summary: Summary) -> str:
    """The report as HTML; every name that a user supplies is escaped."""
    seen = summary.rules.evidence
    assert seen is not None
    table = _with_checks(seen.view.report(summary.rules, summary.votes[1:]), summary)
    script = _script()
    given: dict[str, Any] = {
        "summary": summary,
        "version": rulecover.__version__,
        "today": today(),
        "origin": provenance_in_words(summary.provenance),
        "title": printable(summary.title),
        "lead": summary_in_words(summary),
        "figures": figures_in_words(summary),
        "path": path_in_words(summary),
        "proved": proved_in_words(summary),
        "votes": votes_in_words(summary),
        "score_rows": score_rows(summary.scores),
        "figure_cell": figure_cell,
        "figure_meanings": figure_meanings(summary.scores),
        "tiles": _tiles(summary),
        "table": table,
        "widest": min(_WIDEST, max((len(name) for name, _ in table.classes), default=0)),
        "features": _features(summary),
        "overlap": None if summary.overlaps is None else upset(summary.overlaps, summary.rules),
        "script": Markup(script),
        "script_hash": b64encode(hashlib.sha256(script.encode()).digest()).decode(),
        **_trial(summary),
        **_checked(summary, table),
    }
    return environment("rulecover.report").get_template("report.html").render(**given, parts=_parts(given))


def _with_checks(table: RuleCells, summary: Summary) -> RuleCells:
    """The table of rules with what the held-out rows say of each."""
    checks = summary.checks
    if checks is None:
        return table
    rows_are = summary.checked_rows
    heads = (
        Head(
            "Held out" if summary.checked_rows == "held-out rows" else "Checked",
            meaning=f"{rows_are.capitalize()} that the rule covers.",
        ),
        Head(
            f"{checks.name.capitalize()} there",
            meaning=f"Purity among the {rows_are}, with its 95 % interval."
            if checks.of_classes
            else f"Mean of the {rows_are} that the rule covers, with its 95 % interval.",
        ),
    )
    sizes, values = checks.support.tolist(), np.nan_to_num(checks.value, nan=-1.0).tolist()
    rows = tuple(
        (*row, TableCell(f"{sizes[j]:,}", sizes[j]), TableCell(checks.text(j), values[j]))
        for j, row in enumerate(table.rows)
    )
    return replace(table, heads=(*table.heads, *heads), rows=rows)


def _script() -> str:
    folder = files("rulecover.report") / "templates"
    parts = [(folder / name).read_text(encoding="utf-8") for name in _SCRIPTS]
    return "(() => {\n" + "\n".join(parts) + "})();\n"


def _parts(given: dict[str, Any]) -> list[tuple[str, str]]:
    """The places in the page and their names."""
    parts = [
        ("warnings", "Warnings", given["summary"].warnings),
        ("figures", "Figures", True),
        ("checked", "Predictions and truth", given["confusion"] or given["errors"]),
        ("rules", "Rules", True),
        ("try", "Try a row", given["trial"]),
        ("overlap", "Overlap", given["overlap"]),
        ("features", "Features", given["features"]),
        ("notes", "Notes", given["summary"].notes),
        ("origin", "Origin", given["origin"]),
    ]
    return [(place, name) for place, name, there in parts if there]


def _tiles(summary: Summary) -> list[tuple[str, str]]:
    """What an auditor asks first, in counts of rows where there are any."""
    seen, held_out = summary.rules.evidence, summary.held_out
    assert seen is not None
    tiles = [("Rules", f"{len(summary.rules):,}")]
    if held_out is not None and isinstance(seen, ClassEvidence):
        tiles += _class_tiles(seen, held_out)
    elif held_out is not None:
        tiles += _number_tiles(Errors.of(held_out), summary.scores[0])
    if summary.fidelity is not None:
        tiles.append(seen.view.fidelity_in_figures(summary.fidelity))
    return [*tiles, ("Rows that no rule covers", percent(summary.missed))]


def _class_tiles(seen: ClassEvidence, held_out: HeldOutPredictions) -> list[tuple[str, str]]:
    right = int((held_out.truth == held_out.predicted).sum())
    tiles = [("Predicted right", f"{right:,} of {len(held_out.truth):,}")]
    positive = ClassFigures(held_out.truth, seen.classes, seen.all_counts).positive
    if positive is None:
        return tiles
    label, name = seen.classes[positive], cut_to(_WIDEST, printable(str(seen.classes.tolist()[positive])))
    true, said = held_out.truth == label, held_out.predicted == label
    found = int((true & said).sum())
    return [
        (f"Found of {name}", f"{found:,} of {int(true.sum()):,}"),
        (f"Right where {name} is predicted", f"{found:,} of {int(said.sum()):,}" if said.any() else "never"),
        *tiles,
    ]


def _number_tiles(errors: Errors, ours: Score) -> list[tuple[str, str]]:
    return [
        ("Off by, on average", format_number(errors.mean)),
        ("Half of the rows off by at most", format_number(errors.median)),
        ("R²", score(ours.accuracy)),
    ]


def _features(summary: Summary) -> list[dict[str, Any]]:
    """Each feature in use: the number of its rules, that number over the largest, and its strip, if it has one."""
    used = feature_use(summary.rules)
    return [
        {
            "name": printable(name),
            "times": times,
            "share": times / used[0][1],
            "strip": summary.strips.get(name),
        }
        for name, times in used
    ]


def _trial(summary: Summary) -> dict[str, Any]:
    trial = summary.trial
    if trial is None:
        return {"trial": None}
    by_class = trial.data["labels"] is not None
    wrong = [by_class and row["truth"] != row["predicted"] for row in trial.rows]
    return {"trial": trial, "trial_json": Markup(trial.json()), "wrong": wrong}


def _checked(summary: Summary, table: RuleCells) -> dict[str, Any]:
    """How good the predictions for held-out rows are."""
    held_out, seen = summary.held_out, summary.rules.evidence
    if held_out is None:
        return {"confusion": None, "errors": None, "compared_with_model": [], "missed_rows": None, "curves": []}
    classes = getattr(seen, "classes", None)
    return {
        "confusion": None if classes is None else Confusion.of(classes, held_out),
        "errors": Errors.of(held_out) if classes is None else None,
        "compared_with_model": [] if classes is None else held_out.compared_with_model(),
        "missed_rows": _missed(summary),
        **_curves(summary),
    }


def _curves(summary: Summary) -> dict[str, Any]:
    """Curves by which a threshold can be chosen."""
    held_out, seen = summary.held_out, summary.rules.evidence
    if held_out is None or not isinstance(seen, ClassEvidence):
        return {"curves": []}
    positive = ClassFigures(held_out.truth, seen.classes, seen.all_counts).positive
    curves = threshold_curves(held_out.truth, held_out.shares, seen.classes, positive)
    return {"curves": curves, "curves_json": json.dumps([curve.data() for curve in curves])}


def _missed(summary: Summary) -> dict[str, Any] | None:
    held_out, trial = summary.held_out, summary.trial
    assert held_out is not None
    places = np.flatnonzero(held_out.missed)
    if not places.size:
        return None
    words = f"{percent(summary.missed)}."
    if hasattr(summary.rules.evidence, "classes"):
        right = int((held_out.predicted == held_out.truth)[places].sum())
        words = f"the prediction is right for {right:,} of them."
    words = f"{len(places):,} of {len(held_out.missed):,} {summary.checked_rows}; {words}"
    rows = [] if trial is None else [(k, row) for k, row in enumerate(trial.rows) if row["missed"]][:_MISSED]
    return {
        "words": words + (f" The first {len(rows)} can be shown." if len(rows) < len(places) and rows else ""),
        "rows": rows,
    }
