"""What the command line warns of: columns that give the answer away, rare classes, copies of rows, weak rules."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any
from warnings import WarningMessage

import numpy as np

from rulecover.cli.options.choices import TaskName
from rulecover.cli.tables.labelled import Table
from rulecover.data.advice import duplicates, few_rows, given_away, id_target, shared_rows, unbalanced
from rulecover.exceptions import AdviceWarning
from rulecover.rules.ruleset import RuleSet


def warnings_on(table: Table, *, weighted: bool) -> list[str]:
    """What to know of a table before rules are learnt from it; `weighted` is whether classes have weights."""
    classes = table.task == TaskName.CLASSES
    numbers = table.numbers(table.X)
    if numbers is None:
        return []
    names, sources = _names(table)
    found = [
        *given_away(numbers, np.asarray(table.y), sources, classes=classes),
        *duplicates(numbers, *_single(names, sources)),
        *(unbalanced(table.y) if classes and not weighted else []),
        *([] if classes else id_target(table.target, table.y)),
    ]
    return [each.command_line for each in found]


def warnings_on_parts(table: Table, train: Any, held_out: Any, y_train: Any, y_held_out: Any) -> list[str]:
    """What to know of rows to learn from and rows to check on."""
    seen, new = table.numbers(train), table.numbers(held_out)
    return [] if seen is None else [each.command_line for each in shared_rows(seen, new, y_train, y_held_out)]


def warnings_on_rules(rules: RuleSet) -> list[str]:
    """What to know of rules."""
    return [] if rules.evidence is None else [each.command_line for each in few_rows(rules.evidence.samples)]


def not_ours(caught: Iterable[WarningMessage]) -> list[str]:
    """The messages of warnings, without those that the command line words itself."""
    return [str(each.message) for each in caught if not issubclass(each.category, AdviceWarning)]


def _single(names: list[str], sources: dict[str, list[int]]) -> tuple[list[str], list[int]]:
    """The names of the columns, and those that alone stand for a column of the file, by its name."""
    alone = {made[0]: name for name, made in sources.items() if len(made) == 1}
    return [alone.get(f, name) for f, name in enumerate(names)], list(alone)


def _names(table: Table) -> tuple[list[str], dict[str, list[int]]]:
    """The names of the columns for trees, and for each column of the file those that were made of it."""
    if table.encoder is None:
        names = [str(name) for name in table.X.columns]
        return names, {name: [f] for f, name in enumerate(names)}
    sources: dict[str, list[int]] = {}
    for each in table.encoder.columns_:
        first = sum(map(len, sources.values()))
        sources[each.name] = list(range(first, first + len(each.made_names)))
    return table.encoder.get_feature_names_out().tolist(), sources
