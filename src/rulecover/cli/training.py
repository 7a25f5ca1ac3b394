"""From a table to scored rules, and into a file."""

from __future__ import annotations

import sys
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from sklearn.tree import DecisionTreeClassifier

import rulecover
from rulecover.cli.csv_data import Table
from rulecover.cli.pipeline import Forest, trained_forest
from rulecover.cli.printing import Printer
from rulecover.export.adapters import scored_rules
from rulecover.export.json_file import to_json
from rulecover.export.model import ScoredRules
from rulecover.files import whole_file

#: Rows that hardly count make no rule of their own.
_LEAST_WEIGHT = 1e-6


@dataclass(frozen=True)
class Training:
    """How rules are trained: "mirco" or "rcboost", the trees, and the options of the estimators."""

    method: str = "mirco"
    trees: int = 100
    depth: int | None = None
    seed: int = 0
    common: dict[str, Any] = field(default_factory=dict)
    mirco: dict[str, Any] = field(default_factory=dict)
    rcboost: dict[str, Any] = field(default_factory=dict)


def trained(table: Table, settings: Training, printer: Printer) -> ScoredRules:
    """Rules of all rows of a table; they know which 0/1 columns stand for levels of text columns."""
    printer.notes(table.notes)
    with printer.bars() as bars:
        if settings.method == "rcboost":
            with bars.spinning("Boosting"):
                tree = DecisionTreeClassifier(max_depth=settings.depth or 5, min_weight_fraction_leaf=_LEAST_WEIGHT)
                options = {**settings.common, **settings.rcboost}
                model = rulecover.RCBoostClassifier(tree, random_state=settings.seed, **options).fit(table.X, table.y)
        else:
            forest = Forest(settings.trees, settings.depth or 10, settings.seed, 1)
            source = trained_forest(forest, table.X, table.y, bars)
            with bars.spinning("Choosing rules"):
                options = {**settings.common, **settings.mirco}
                model = rulecover.explain(source, table.X, table.y, random_state=settings.seed, **options)
    made = scored_rules(model)
    return replace(made, rules=replace(made.rules, levels=table.levels))


def write_model(model: ScoredRules, out: Path) -> None:
    """The model as JSON, whole or not at all."""
    if str(out) == "-":
        sys.stdout.write(to_json(model))
        return
    with whole_file(out) as file:
        file.write(to_json(model))
