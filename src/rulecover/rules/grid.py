"""Rules as a table of cells, by class, as sentences, and as a data frame."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import pandas as pd

from rulecover.rules.sentences import rule_sentence
from rulecover.show.grid import Grid, Groups
from rulecover.show.text import printable

if TYPE_CHECKING:
    from rulecover.rules.ruleset import RuleSet


def rule_grid(
    rules: RuleSet, votes: Sequence[Sequence[float]] = (), more: Mapping[str, Sequence[str]] | None = None
) -> Grid:
    """One row per rule: its number, what is known of it, and its clauses last, where their length does no harm.

    Fitted `votes` (rules x outputs) decide what a rule predicts, and are shown with it; `more` are further columns of
    cells, before the clauses.
    """
    if rules.evidence is None:
        plain: list[tuple[str, ...]] = [(str(j), printable(rule.text)) for j, rule in enumerate(rules)]
        return Grid(("rule", "if"), plain, (True, False))
    view = rules.evidence.view
    rows = []
    for j, rule in enumerate(rules):
        cells = [column.cell(view.as_voting(rule, votes[j]) if votes else rule) for column in view.columns]
        found = [printable(view.vote_text(votes[j])), *cells[1:]] if votes else cells
        rows.append((str(j), *found, *(column[j] for column in (more or {}).values()), printable(rule.text)))
    head = ("rule", *(column.name for column in view.columns), *(more or {}), "if")
    return Grid(head, rows, (True, *(column.right for column in view.columns), *[True] * len(more or {}), False))


def sentences(rules: RuleSet) -> list[str]:
    """One sentence per rule."""
    seen = rules.evidence
    return [rule_sentence(rule, "" if seen is None else seen.view.conclusion(rule)) for rule in rules]


def by_class(rules: RuleSet) -> Groups:
    """A table for each class that rules predict, in the order of the classes."""
    classes = getattr(rules.evidence, "classes", None)
    if classes is None:
        raise ValueError("these rules do not predict classes; print them as they are, or use those of a classifier.")
    grid, written, predictions = rule_grid(rules), sentences(rules), [rule.prediction for rule in rules]
    groups = {label: [j for j, each in enumerate(predictions) if each == label] for label in classes.tolist()}
    groups = {label: places for label, places in groups.items() if places}
    return Groups(
        titles=tuple(printable(str(label)) for label in groups),
        tables=tuple(Grid(grid.head, [grid.rows[j] for j in places], grid.right) for places in groups.values()),
        rows_in_words=tuple(tuple(written[j] for j in places) for places in groups.values()),
    )


def rule_frame(rules: RuleSet) -> pd.DataFrame:
    """One row per rule; see `RuleSet.to_frame`."""
    columns: dict[str, Any] = {"rule": [rule.text for rule in rules], "clauses": rules.lengths}
    seen = rules.evidence
    if seen is not None:
        columns |= {**seen.view.figures, "impurity": seen.impurity, "cost": seen.cost}
    return pd.DataFrame(columns)
