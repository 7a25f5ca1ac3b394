"""Rules as a table of cells, by class, and as sentences."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from rulecover.view.grid import Grid, Groups
from rulecover.view.numbers import amount
from rulecover.view.sentences import rule_sentence
from rulecover.view.text import HEADER, percent, printable, rule_rows

if TYPE_CHECKING:
    from rulecover.clauses import Rule
    from rulecover.rules import RuleSet


def rule_grid(rules: RuleSet, votes: Sequence[Sequence[float]] = ()) -> Grid:
    """One row a rule; the condition stands last, where its length does no harm.

    Fitted `votes` (rules x classes) decide what a rule speaks for, and are shown with it.
    """
    if rules.evidence is None:
        rows: list[tuple[str, ...]] = [(str(j), printable(rule.text)) for j, rule in enumerate(rules)]
        return Grid(("rule", "if"), rows, (True, False))
    return Grid(HEADER, rule_rows(rules, votes), (True, False, True, True, False))


def sentences(rules: RuleSet) -> list[str]:
    """One sentence a rule."""
    return [rule_sentence(rule, _conclusion(rule)) for rule in rules]


def _conclusion(rule: Rule) -> str:
    """What follows, and how sure it is."""
    if rule.counts is None or rule.support is None:
        return ""
    right, all_of = amount(rule.counts[rule.prediction]), amount(rule.support)
    samples = "sample" if all_of == "1" else "samples"
    return f"{printable(str(rule.prediction))}: {right} of {all_of} {samples}, {percent(rule.purity or 0.0)}"


def by_class(rules: RuleSet) -> Groups:
    """A table for each class that rules speak for, in the order of the classes."""
    grid, told = rule_grid(rules), sentences(rules)
    said = [rule.prediction for rule in rules]
    titles = dict.fromkeys(getattr(rules.evidence, "classes").tolist())
    groups = {label: [j for j, each in enumerate(said) if each == label] for label in titles}
    groups = {label: places for label, places in groups.items() if places}
    return Groups(
        titles=tuple(printable(str(label)) for label in groups),
        tables=tuple(Grid(grid.head, [grid.rows[j] for j in places], grid.right) for places in groups.values()),
        sentences=tuple(tuple(told[j] for j in places) for places in groups.values()),
    )
