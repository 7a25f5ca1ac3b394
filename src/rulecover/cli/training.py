"""From a table to scored rules, and into a file."""

from __future__ import annotations

import inspect
import sys
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from sklearn.frozen import FrozenEstimator
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

import rulecover
from rulecover.cli.choices import Task
from rulecover.cli.csv_data import Table, count
from rulecover.cli.errors import CommandError
from rulecover.cli.pipeline import Forest, trained_forest
from rulecover.cli.printing import Bars, Printer
from rulecover.cli.trainers import spelled
from rulecover.cli.wording import readable
from rulecover.export.adapters import scored_rules
from rulecover.export.json_file import to_json
from rulecover.export.model import Classes, ScoredRules
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
    options = training.of_estimator
    if table.task == Task.NUMBERS:
        _check_options(options, rulecover.MIRCORegressor)
        options |= {"ridge": None} if "vote" in options else {}  # a weighted mean in place of fitted values
    with bars.spinning("Choosing rules"):
        return rulecover.explain(source, table.X, table.y, **options)


def _boosted(table: Table, training: Training, bars: Bars) -> Any:
    classes = table.task == Task.CLASSES
    kind = rulecover.RCBoostClassifier if classes else rulecover.RCBoostRegressor
    _check_options(training.of_estimator, kind)
    grown, depth = None, training.options.get("depth")
    if depth is not None:
        tree = DecisionTreeClassifier if classes else DecisionTreeRegressor
        grown = tree(max_depth=depth, min_weight_fraction_leaf=_LEAST_WEIGHT)
    with bars.spinning("Boosting"):
        return kind(grown, **training.of_estimator).fit(table.X, table.y)


def _followed(table: Table, training: Training, bars: Bars) -> Any:
    forest = FrozenEstimator(_forest(table, training, bars))
    options = training.of_estimator
    monotone = dict.fromkeys(options.pop("rising", []), 1) | dict.fromkeys(options.pop("falling", []), -1)
    for name in (*options.get("required", []), *monotone):
        if name in {column for column, _ in table.levels.values()} and name not in table.X.columns:
            raise CommandError(f"column {name!r} holds text; --require, --rising and --falling are for numbers.")
    if "forbidden" in options:
        options["forbidden"] = _with_levels(options["forbidden"], table)
    kind = rulecover.RulePathClassifier if table.task == Task.CLASSES else rulecover.RulePathRegressor
    _check_options(options, kind)
    with bars.spinning("Choosing rules"):
        return kind(forest, monotone=monotone or None, **options).fit(table.X, table.y)


_TRAINERS: dict[str, Callable[[Table, Training, Bars], Any]] = {
    "mirco": _covered,
    "rcboost": _boosted,
    "path": _followed,
}


def _check_options(options: Mapping[str, Any], kind: type) -> None:
    """Raises where an option is for classes, but a number is predicted."""
    for name in options:
        if name not in inspect.signature(kind).parameters:
            raise CommandError(
                f"{spelled(name)} is for classes, but the target is predicted as a number; leave it out, or say "
                "--task classes."
            )


def _forest(table: Table, training: Training, bars: Bars) -> Any:
    options = training.options
    settings = Forest(options.get("trees", 100), options.get("depth", 10), training.seed, training.jobs)
    return trained_forest(settings, table.X, table.y, bars, table.task)


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
    votes = model.votes.tolist() if model.adds_up and isinstance(model.answer, Classes) else ()
    printer.rules(readable(model.rules, dict(model.rules.levels)), votes)
    printer.say(f"\n{count(len(model.rules), 'rule')} written to {out}.")
