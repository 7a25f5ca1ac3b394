"""A name through every view and the report: what is shown has the structure that it has under a plain name."""

from __future__ import annotations

import csv
import io
import re
import tempfile
from collections import Counter
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import exported
import numpy as np
from hostile import html_structure
from test_every_export import EXPORTS

from rulecover import RuleSet, Summary, write_report
from rulecover.data.categories import CategorySet
from rulecover.exceptions import ExportError
from rulecover.rules.rule import Clause
from rulecover.targets.classes.evidence import ClassEvidence
from rulecover.voting.answers import Classes
from rulecover.voting.vote import Vote

PLAIN = "plain"


def model_with(name: str) -> Vote:
    """Rules on a column and for a class of this name, and on a column with a category of it."""
    other = f"other {PLAIN}"
    categories = {1: (name, f"{PLAIN} label", f"third {PLAIN}")}
    clauses = [
        [Clause(0, name, 0.0, np.inf)],
        [Clause(0, name, -np.inf, 1.0), Clause(1, other, categories=CategorySet((0.0,)), known=categories[1])],
        [Clause(1, other, categories=CategorySet((0.0, 1.0)), known=categories[1], missing=True)],
    ]
    rules = RuleSet.of_clauses(clauses, [name, other], categories=categories)
    labels = np.array([name, f"label {PLAIN}"], dtype=object)
    sums = np.array([[3.0, 1.0], [1.0, 2.0], [2.0, 2.0]])
    seen = ClassEvidence(sums, np.zeros(3), np.ones(3), sums.sum(axis=0), labels)
    return Vote(rules.with_evidence(seen), sums, Classes(labels), sums.sum(axis=0))


def rows_of(vote: Vote) -> tuple[np.ndarray, np.ndarray]:
    X = np.array([[0.5, 0.0], [-1.0, 1.0], [2.0, 2.0], [np.nan, np.nan], [1.0, -1.0]])
    return X, vote.predict(X)


def views_keep_their_structure(name: str) -> None:
    """Texts, tables and pages have as many lines, cells and tags as under a plain name."""
    mine = model_with(name)
    for view in (text_lines, markdown_cells, latex_cells, csv_cells, notebook_tags, report_tags):
        assert view(mine) == plain_structure(view), view.__name__


@cache
def plain_structure(view: Callable[[Vote], Any]) -> Any:
    return view(model_with(PLAIN))


def text_lines(vote: Vote) -> Any:
    shown = [str(vote.rules), *vote.rules.sentences(), str(vote.rules.by_class()), repr(vote.rules[0])]
    assert all(letter.isprintable() or letter == "\n" for text in shown for letter in text)
    return [text.count("\n") for text in shown]


def markdown_cells(vote: Vote) -> Any:
    return [len(re.findall(r"(?<!\\)(?:\\\\)*\|", line)) for line in vote.rules.to_markdown().split("\n")]


def latex_cells(vote: Vote) -> Any:
    lines = vote.rules.to_latex().split("\n")
    return [(len(re.findall(r"(?<!\\)&", line)), line.endswith(r"\\")) for line in lines]


def csv_cells(vote: Vote) -> Any:
    cells = list(csv.reader(io.StringIO(vote.rules.to_csv())))
    assert not any(
        cell.startswith(("=", "+", "-", "@", "\t", "\r")) for row in cells for cell in row if not number(cell)
    )
    return [len(row) for row in cells]


def number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True


def notebook_tags(vote: Vote) -> Any:
    return html_structure(vote.rules._repr_html_()) + html_structure(vote._repr_html_())


def report_tags(vote: Vote) -> Any:
    """In any order: tables are sorted by name, too."""
    X, y = rows_of(vote)
    with tempfile.TemporaryDirectory() as folder:
        page = write_report(Summary.of(vote, X, y, title=str(vote.rules.feature_names[0])), Path(folder) / "page.html")
        return Counter(html_structure(page.read_text(encoding="utf-8")))


def text_goes_there_and_back(name: str) -> None:
    """A rule that names it is read back as the same rule."""
    rules = model_with(name).rules
    known = {rules.feature_names[1]: rules.columns.categories[1]}
    assert RuleSet.from_text(rules.to_text(), rules.feature_names, categories=known) == rules


def export_takes_it_for_a_name(name: str, to: str) -> None:
    """An export, executed, answers as the model does."""
    case = exported.hostile_case(name)
    try:
        answers = EXPORTS[to][1](case)
    except ExportError:
        return
    assert answers == case.table(), to
