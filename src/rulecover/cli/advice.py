"""What the command line warns of: columns that give the answer away, rare classes, copies of rows, weak rules."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any
from warnings import WarningMessage

import numpy as np
import pandas as pd

from rulecover.cli.options.choices import TaskName
from rulecover.cli.tables.labelled import Table
from rulecover.data.advice import duplicates, few_rows, given_away, shared_rows, unbalanced
from rulecover.exceptions import RulecoverWarning
from rulecover.rules.ruleset import RuleSet


def warnings_on(table: Table, *, weighted: bool) -> list[str]:
    """What to know of a table before rules are learnt from it; `weighted` is whether classes have weights."""
    classes = table.task == TaskName.CLASSES
    X, names = table.X, list(table.X.columns)
    if not all(map(pd.api.types.is_numeric_dtype, X.dtypes)):  # columns as a booster takes them
        return []
    numbers = X.to_numpy(dtype=np.float64)
    found = [
        *given_away(numbers, np.asarray(table.y), _sources(table), classes=classes),
        *duplicates(numbers, names, [f for f in range(len(names)) if f not in table.levels]),
        *(unbalanced(table.y) if classes and not weighted else []),
    ]
    return [each.command_line for each in found]


def warnings_on_parts(train: Any, held_out: Any, y_train: Any, y_held_out: Any) -> list[str]:
    """What to know of rows to learn from and rows to check on."""
    return [each.command_line for each in shared_rows(train, held_out, y_train, y_held_out)]


def warnings_on_rules(rules: RuleSet) -> list[str]:
    """What to know of rules."""
    return [] if rules.evidence is None else [each.command_line for each in few_rows(rules.evidence.samples)]


def not_ours(caught: Iterable[WarningMessage]) -> list[str]:
    """The messages of warnings, without those that the command line words itself."""
    return [str(each.message) for each in caught if not issubclass(each.category, RulecoverWarning)]


def _sources(table: Table) -> dict[str, Sequence[int]]:
    """The columns of the file, with the columns for trees that were made of them."""
    sources: dict[str, list[int]] = {}
    for f, name in enumerate(table.X.columns):
        sources.setdefault(table.levels.get(f, (str(name), ""))[0], []).append(f)
    return dict(sources)
