"""From a table to scored rules, and into a file."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from sklearn.frozen import FrozenEstimator

import rulecover
from rulecover.cli.commands.pipeline import Forest, trained_forest
from rulecover.cli.errors import CommandError
from rulecover.cli.options.checks import spelled
from rulecover.cli.options.choices import Task
from rulecover.cli.options.settings import class_weight, settings_of, with_preset
from rulecover.cli.options.shared import is_stdout
from rulecover.cli.printing import Bars, Printer
from rulecover.cli.tables.labelled import Table, count
from rulecover.export.exported import vote_of
from rulecover.export.json_file import to_json
from rulecover.files import whole_file
from rulecover.rules.levels import readable
from rulecover.voting.vote import Vote


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

    def settings_of(self, kind: type, table: Table) -> dict[str, Any]:
        """What was asked for of an estimator, and what every estimator takes."""
        return settings_of(kind, self.options, table) | {"random_state": self.seed, "n_jobs": self.jobs}


def trained(table: Table, training: Training, printer: Printer) -> Vote:
    """Rules of all rows of a table; they know which 0/1 columns stand for levels of text columns."""
    printer.notes(table.notes)
    with printer.bars() as bars, warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always", UserWarning)
        model = _by_options(_TRAINERS[training.method], table, training, bars)
    printer.notes(dict.fromkeys(str(warning.message) for warning in said))
    made = vote_of(model)
    columns = replace(made.rules.columns, levels=table.levels)
    return replace(made, rules=replace(made.rules, columns=columns))


def _by_options(train: Callable[[Table, Training, Bars], Any], table: Table, training: Training, bars: Bars) -> Any:
    """The model; an error about a setting names the option that it came from."""
    try:
        return train(table, training, bars)
    except (ValueError, TypeError) as error:
        name, _, said = str(error).partition(" ")
        if not said.startswith(("is ", "names ")) or name not in {*training.options, "monotone"}:
            raise
        said = said.replace("is None;", "is none;")
        for python in (" or give an object", ", 'model'"):  # which are not for the command line
            said = said.replace(python, "")
        raise CommandError(f"{spelled(name)} {said}") from error


def _covered(table: Table, training: Training, bars: Bars) -> Any:
    kind = rulecover.MIRCOClassifier if table.task == Task.CLASSES else rulecover.MIRCORegressor
    settings = training.settings_of(kind, table)
    if table.task == Task.NUMBERS and "vote" in settings:
        settings = {"ridge": None} | settings  # a weighted mean in place of fitted values
    preset = training.options.get("preset")
    if preset is not None:
        settings = with_preset(kind, preset)(**settings).get_params(deep=False)
        del settings["estimator"]
    source = _forest(table, training, bars) if training.source is None else training.source
    with bars.spinning("Choosing rules"):
        return rulecover.explain(source, table.X, table.y, **settings)


def _boosted(table: Table, training: Training, bars: Bars) -> Any:
    kind = rulecover.RCBoostClassifier if table.task == Task.CLASSES else rulecover.RCBoostRegressor
    options = dict(training.options)
    make = with_preset(kind, options.pop("preset", None))
    limit = {"max_rules": options.pop("max_rules")} if "max_rules" in options else {}
    settings = replace(training, options=options).settings_of(kind, table) | limit
    if "depth" in options:
        settings["estimator"] = kind()._default_estimator().set_params(max_depth=options["depth"])
    with bars.spinning("Boosting"):
        return make(**settings).fit(table.X, table.y)


def _followed(table: Table, training: Training, bars: Bars) -> Any:
    kind = rulecover.RulePathClassifier if table.task == Task.CLASSES else rulecover.RulePathRegressor
    settings = training.settings_of(kind, table)
    forest = FrozenEstimator(_forest(table, training, bars))
    with bars.spinning("Choosing rules"):
        return kind(forest, **settings).fit(table.X, table.y)


_TRAINERS: dict[str, Callable[[Table, Training, Bars], Any]] = {
    "mirco": _covered,
    "rcboost": _boosted,
    "path": _followed,
}


def _forest(table: Table, training: Training, bars: Bars) -> Any:
    options = training.options
    weights = class_weight(options.get("class_weight"), table)
    settings = Forest(options.get("trees", 100), options.get("depth", 10), training.seed, training.jobs, weights)
    return trained_forest(settings, table.X, table.y, bars, table.task)


def saved(model: Vote, out: Path, printer: Printer) -> None:
    """Writes the model as JSON, whole or not at all, and shows its rules."""
    if is_stdout(out):
        sys.stdout.write(to_json(model))
        return
    with whole_file(out) as file:
        file.write(to_json(model))
    votes = model.votes.tolist() if model.has_own_votes else ()
    printer.rules(readable(model.rules, dict(model.rules.columns.levels)), votes)
    printer.say(f"\n{count(len(model.rules), 'rule')} written to {out}.")
