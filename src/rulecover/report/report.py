"""The report: one HTML file that needs no network."""

from __future__ import annotations

import hashlib
import os
from base64 import b64encode
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from markupsafe import Markup

import rulecover
from rulecover.files import whole_file
from rulecover.report.held_out import Confusion, Errors
from rulecover.report.upset import upset
from rulecover.report.words import figures_in_words, path_in_words, proved_in_words, summary_in_words, votes_in_words
from rulecover.rules.features import feature_use
from rulecover.show.html import environment
from rulecover.show.text import percent, printable, score

if TYPE_CHECKING:
    from rulecover.report.summary import Summary
    from rulecover.show.cells import RuleCells

#: Names of classes are kept on one line up to this many letters.
_WIDEST = 16

#: The most missed rows that are listed.
_MISSED = 24

#: The script of the page, in this order.
_SCRIPTS = ("answer.js", "rules.js", "try.js", "start.js")


def write_report(summary: Summary, path: str | os.PathLike[str]) -> Path:
    """Writes the report to a file, whole or not at all; returns its path."""
    with whole_file(Path(path)) as file:
        file.write(report_html(summary))
    return Path(path)


def report_html(summary: Summary) -> str:
    """The report as HTML; every name that a user supplies is escaped."""
    seen = summary.rules.evidence
    assert seen is not None
    table = seen.view.report(summary.rules, summary.votes[1:])
    script = _script()
    given: dict[str, Any] = {
        "summary": summary,
        "version": rulecover.__version__,
        "title": printable(summary.title),
        "lead": summary_in_words(summary),
        "figures": figures_in_words(summary),
        "path": path_in_words(summary),
        "proved": proved_in_words(summary),
        "votes": votes_in_words(summary),
        "measure": seen.view.measure,
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


def _script() -> str:
    folder = files("rulecover.report") / "templates"
    parts = [(folder / name).read_text(encoding="utf-8") for name in _SCRIPTS]
    return "(() => {\n" + "\n".join(parts) + "})();\n"


def _parts(given: dict[str, Any]) -> list[tuple[str, str]]:
    """The places in the page and their names."""
    parts = [
        ("figures", "Figures", True),
        ("rules", "Rules", True),
        ("try", "Try a row", given["trial"]),
        ("checked", "Predictions and truth", given["confusion"] or given["errors"]),
        ("overlap", "Overlap", given["overlap"]),
        ("features", "Features", given["features"]),
        ("notes", "Notes", given["summary"].notes),
    ]
    return [(place, name) for place, name, there in parts if there]


def _tiles(summary: Summary) -> list[tuple[str, str]]:
    seen = summary.rules.evidence
    assert seen is not None
    measure = seen.view.measure
    tiles = [
        ("Rules", f"{len(summary.rules):,}"),
        (measure[0].upper() + measure[1:], score(summary.scores[0].accuracy)),
        ("Not covered by any rule", percent(summary.missed)),
    ]
    if summary.fidelity is not None:
        tiles.insert(2, seen.view.fidelity_in_figures(summary.fidelity))
    if summary.certificate is not None and not summary.certificate.n_uncovered:
        gap = summary.certificate.gap
        tiles.append(("Could be cheaper by", "0 %, proved" if gap == 0 else f"≤ {percent(gap)}"))
    return tiles


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
        return {"confusion": None, "errors": None, "compared_with_model": [], "missed_rows": None}
    classes = getattr(seen, "classes", None)
    return {
        "confusion": None if classes is None else Confusion.of(classes, held_out),
        "errors": Errors.of(held_out) if classes is None else None,
        "compared_with_model": [] if classes is None else held_out.compared_with_model(),
        "missed_rows": _missed(summary),
    }


def _missed(summary: Summary) -> dict[str, Any] | None:
    held_out, trial = summary.held_out, summary.trial
    assert held_out is not None
    places = np.flatnonzero(held_out.missed)
    if not places.size:
        return None
    words = f"{len(places):,} of {len(held_out.missed):,} held-out rows; {percent(summary.missed)}."
    if hasattr(summary.rules.evidence, "classes"):
        right = int((held_out.predicted == held_out.truth)[places].sum())
        words = (
            f"{len(places):,} of {len(held_out.missed):,} held-out rows; the prediction is right for {right:,} of them."
        )
    rows = [] if trial is None else [(k, row) for k, row in enumerate(trial.rows) if row["missed"]][:_MISSED]
    return {"words": words + (f" The first {len(rows)} are:" if len(rows) < len(places) and rows else ""), "rows": rows}
