"""From a table to scored rules, and into a file."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

from sklearn.frozen import FrozenEstimator
from sklearn.tree import DecisionTreeClassifier

import rulecover
from rulecover.cli.booster import booster_columns
from rulecover.cli.csv_data import Table
from rulecover.cli.encoding import ColumnsOf, encoded
from rulecover.cli.errors import CommandError
from rulecover.cli.pipeline import Forest, trained_forest
from rulecover.cli.printing import Bars, Printer
from rulecover.cli.wording import readable
from rulecover.export.adapters import scored_rules
from rulecover.export.json_file import to_json
from rulecover.export.model import ScoredRules
from rulecover.files import whole_file

#: Rows that hardly count make no rule of their own.
_LEAST_WEIGHT = 1e-6


@dataclass(frozen=True)
class Training:
    """How rules are trained.

    Parameters
    ----------
    method
        "mirco", "rcboost" or "path".
    options
        The options that were given, by their names in Python.
    seed, jobs
        The seed of everything, and the number of threads.
    source
        The file of a trained model, if there is one.
    """

    method: str = "mirco"
    options: Mapping[str, Any] = field(default_factory=dict)
    seed: int = 0
    jobs: int = 1
    source: Path | None = None

    @property
    def of_estimator(self) -> dict[str, Any]:
        """The options but those of the forest, and what every estimator takes."""
        given = {name: value for name, value in self.options.items() if name not in ("trees", "depth")}
        return given | {"random_state": self.seed, "n_jobs": self.jobs}


def columns_for(source: Path | None, max_levels: int) -> ColumnsOf:
    """What becomes of the columns of a table: those that a trained model knows, or text encoded for a forest."""
    return partial(encoded, max_levels=max_levels) if source is None else booster_columns(source)


def trained(table: Table, training: Training, printer: Printer) -> ScoredRules:
    """Rules of all rows of a table; they know which 0/1 columns stand for levels of text columns."""
    printer.notes(table.notes)
    with printer.bars() as bars, warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always", UserWarning)
        model = _TRAINERS[training.method](table, training, bars)
    printer.notes(dict.fromkeys(str(warning.message) for warning in said))
    made = scored_rules(model)
    return replace(made, rules=replace(made.rules, levels=table.levels))


def _covered(table: Table, training: Training, bars: Bars) -> Any:
    source = _forest(table, training, bars) if training.source is None else training.source
    with bars.spinning("Choosing rules"):
        return rulecover.explain(source, table.X, table.y, **training.of_estimator)


def _boosted(table: Table, training: Training, bars: Bars) -> Any:
    depth = training.options.get("depth", 5)
    tree = DecisionTreeClassifier(max_depth=depth, min_weight_fraction_leaf=_LEAST_WEIGHT)
    with bars.spinning("Boosting"):
        return rulecover.RCBoostClassifier(tree, **training.of_estimator).fit(table.X, table.y)


def _followed(table: Table, training: Training, bars: Bars) -> Any:
    forest = FrozenEstimator(_forest(table, training, bars))
    options = training.of_estimator
    monotone = dict.fromkeys(options.pop("rising", []), 1) | dict.fromkeys(options.pop("falling", []), -1)
    for name in (*options.get("required", []), *monotone):
        if name in {column for column, _ in table.levels.values()} and name not in table.X.columns:
            raise CommandError(f"column {name!r} holds text; --require, --rising and --falling are for numbers.")
    if "forbidden" in options:
        options["forbidden"] = _with_levels(options["forbidden"], table)
    with bars.spinning("Choosing rules"):
        return rulecover.RulePathClassifier(forest, monotone=monotone or None, **options).fit(table.X, table.y)


_TRAINERS: dict[str, Callable[[Table, Training, Bars], Any]] = {
    "mirco": _covered,
    "rcboost": _boosted,
    "path": _followed,
}


def _forest(table: Table, training: Training, bars: Bars) -> Any:
    options = training.options
    settings = Forest(options.get("trees", 100), options.get("depth", 10), training.seed, training.jobs)
    return trained_forest(settings, table.X, table.y, bars)


def _with_levels(names: list[str], table: Table) -> list[str]:
    """The columns of these names; a text column is the 0/1 columns of its levels."""
    columns = list(table.X.columns)
    encoded = {name: [columns[f] for f, (text, _) in table.levels.items() if text == name] for name in names}
    return [column for name in names for column in encoded[name] or [name]]


def saved(model: ScoredRules, out: Path, printer: Printer) -> None:
    """Writes the model as JSON, whole or not at all, and shows its rules."""
    if str(out) == "-":
        sys.stdout.write(to_json(model))
        return
    with whole_file(out) as file:
        file.write(to_json(model))
    votes = model.votes.tolist() if model.adds_up else ()
    printer.rules(readable(model.rules, dict(model.rules.levels)), votes)
    printer.say(f"\n{len(model.rules)} rules written to {out}.")
