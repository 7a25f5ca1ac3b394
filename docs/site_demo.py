"""The rules of the demo, as the landing page shows them, and its rule sets of every size for the page to try."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from functools import cache
from html import escape
from importlib.resources import files
from pathlib import Path
from typing import Any

import pandas as pd
from docutils import nodes
from docutils.parsers.rst import Directive
from sklearn.datasets import load_breast_cancer
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import train_test_split

import rulecover
from rulecover import Summary, write_report
from rulecover.show.grid import markdown_row

#: The script of the report that predicts for a row.
_ANSWERS = "answer.js"


@cache
def biopsies() -> tuple[Any, pd.DataFrame, Any, RandomForestClassifier]:
    """The rules that the demo chooses, the rows that were held out, and the forest: as in ``rulecover demo``."""
    data = load_breast_cancer(as_frame=True)
    X, y = data.data, data.target_names[data.target]
    X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.25, stratify=y, random_state=0)
    forest = RandomForestClassifier(100, max_depth=10, random_state=0).fit(X_train, y_train)
    return rulecover.explain(forest, X_train, y_train, random_state=0), X_test, y_test, forest


@cache
def summary_at(size: int | None = None) -> Summary:
    """The figures of the rules, or of the first ones."""
    rules, X_test, y_test, forest = biopsies()
    few = rules if size is None else rules.at(size)
    return Summary.of(few, X_test, y_test, title="Breast cancer biopsies", compare_with={"random forest": forest})


class RulesOfTheDemo(Directive):
    """A table of the rules, with their precision on held-out rows, and the figures below it."""

    def run(self) -> list[nodes.Node]:
        return [nodes.raw("", _table(summary_at()), format="html")]


#: The columns of the table.
_HEADS = ("if", "then", "support", "right on held-out rows")


def table_in_markdown() -> str:
    """The same as Markdown."""
    summary = summary_at()
    lines = [markdown_row(cells) for cells in (_HEADS, ["---"] * len(_HEADS), *_cells(summary))]
    return "\n".join([*lines, "", _sentence(summary)])


def _cells(summary: Summary) -> Iterator[list[str]]:
    """For each rule its text, what it adds to which class, its support, and its precision on held-out rows."""
    checks, votes = summary.checks, summary.votes[1:]
    classes = summary.rules.evidence.classes
    for rule, vote, of, precision in zip(summary.rules, votes, checks.support, checks.value, strict=True):
        best = max(range(len(vote)), key=vote.__getitem__)
        says, right = f"{classes[best]} {vote[best]:+.2g}", f"{100 * precision:.0f} % of {of}"
        yield [rule.text, says, f"{rule.support:.0f}", right]


def _table(summary: Summary) -> str:
    rows = ["<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in cells) + "</tr>" for cells in _cells(summary)]
    heads = "".join(f"<th scope='col'>{head}</th>" for head in _HEADS)
    return (
        "<div class='demo-rules' tabindex='0' role='region' aria-label='Rules of the demo'><table class='table'>"
        f"<thead><tr>{heads}</tr></thead><tbody>{''.join(rows)}</tbody></table></div><p>{_sentence(summary)}</p>"
    )


def _sentence(summary: Summary) -> str:
    mine, forest = (next(score for score in summary.scores if name in score.name) for name in ("rules", "forest"))
    accuracy = mine["accuracy"]
    return (
        f"{len(summary.rules)} rules are right on {accuracy.value:.3f} of the held-out biopsies (95 % interval "
        f"{accuracy.low:.3f} to {accuracy.high:.3f}), the forest on {forest.accuracy:.3f}, with {forest.size}."
    )


def write_pages(out: Path) -> None:
    """The report of the demo, and what the page to try reads."""
    write_report(summary_at(), out / "demo-report.html")
    static = out / "_static"
    shutil.copyfile(files("rulecover.report") / "templates" / _ANSWERS, static / _ANSWERS)
    text = json.dumps(path_data(), separators=(",", ":"), allow_nan=False)
    (static / "path.js").write_text(f"const PATH = {text};\n", encoding="utf-8")


def path_data() -> dict[str, Any]:
    """Rule sets of every size as plain data: columns and rows once, then rules, votes and figures of each size."""
    rules, *_ = biopsies()
    sizes = range(1, len(rules.path_))
    largest = summary_at(sizes[-1]).trial
    return {
        "columns": largest.columns,
        "rows": largest.rows,
        "forest": _figure(summary_at(), "forest"),
        "chosen": rules.n_rules_,
        "sizes": [_size(size) for size in sizes],
    }


def _size(size: int) -> dict[str, Any]:
    summary = summary_at(size)
    kept = {key: value for key, value in summary.trial.data.items() if key not in {"columns", "rows"}}
    accuracy = summary.scores[0]["accuracy"]
    texts = [rule.text for rule in summary.rules]
    figures = {"size": size, "accuracy": accuracy.value, "low": accuracy.low, "high": accuracy.high}
    return {**figures, "fidelity": summary.fidelity, "texts": texts, "model": kept}


def _figure(summary: Summary, name: str) -> float:
    return next(score.accuracy for score in summary.scores if name in score.name)
