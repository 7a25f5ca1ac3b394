"""From options as they are typed to settings of an estimator, once the table is known."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from rulecover.cli.errors import CommandError
from rulecover.cli.options.choices import Preset, TaskName
from rulecover.cli.options.option import Option
from rulecover.cli.options.parsers import NONE
from rulecover.cli.options.table import SETTINGS
from rulecover.cli.tables.header import quoted_names
from rulecover.cli.tables.labelled import Table
from rulecover.cli.tables.model_file import kept_rules
from rulecover.show.text import did_you_mean

_PRESETS_ARE_FOR = {
    Preset.AS_IN_PAPER: "covers (--method cover), and boosting (--method boost) of classes",
    Preset.FEW_RULES: "boosting (--method boost)",
    Preset.ACCURATE: "covers (--method cover) of classes",
}


def settings_of(kind: type, given: Mapping[str, Any], table: Table) -> dict[str, Any]:
    """The settings that were given for an estimator, or an error where it has no such setting."""
    asked = [option for option in SETTINGS if option.name in given and option.sets]
    _check_task(kind, {option.spelled: option.sets for option in asked}, table.task)
    _check_columns(given, table)
    _check_numbers([name for setting in _OF_NUMBERS for name in given.get(setting, [])], table)
    settings: dict[str, Any] = {}
    for option in asked:
        value = _value(option, given[option.name], table)
        # What rises and what falls is one setting.
        settings[option.sets] = settings[option.sets] | value if option.sets in settings else value
    return settings


def spelled(setting: str) -> str:
    """A setting of an estimator as it is typed."""
    return " or ".join(option.spelled for option in SETTINGS if option.sets == setting)


def with_preset(kind: Callable[..., Any], preset: str | None) -> Callable[..., Any]:
    """The estimator, or its class method for a preset."""
    if preset is None:
        return kind
    make: Callable[..., Any] | None = getattr(kind, preset.replace("-", "_"), None)
    if make is None:
        raise CommandError(f"--preset {preset} is for {_PRESETS_ARE_FOR[Preset(preset)]}; leave it out.")
    return make


def _check_task(kind: type, settings: Mapping[str, str], task: TaskName) -> None:
    """Raises where an option is for classes, but a number is predicted, or the other way round."""
    for typed, setting in settings.items():
        if setting not in inspect.signature(kind).parameters:
            other, aim = ("numbers", "a class") if task == TaskName.CLASSES else ("classes", "a number")
            raise CommandError(
                f"{typed} is for {other}, but the target is predicted as {aim}; leave it out, or add --task {other}."
            )


def _check_columns(given: Mapping[str, Any], table: Table) -> None:
    """Raises where an option names a column that the table does not have."""
    names = list(map(str, table.X.columns))
    for option in SETTINGS:
        for name in given.get(option.name, []) if option.metavar == "COLUMN" else []:
            if name not in names:
                close = did_you_mean(name, names)
                raise CommandError(
                    f"{option.spelled} names {name!r}{close}, but there is no such column to use; there are "
                    f"{quoted_names(names)}."
                )


#: Options that name columns of numbers or dates.
_OF_NUMBERS = ("required", "rising", "falling")


def _check_numbers(names: Sequence[str], table: Table) -> None:
    dates = {part.name for part in table.columns.parts.values()}
    for name in names:
        if name in table.texts - dates:
            raise CommandError(
                f"column {name!r} holds neither numbers nor dates, which --require, --rising and --falling need."
            )


# Values that depend on the table -------------------------------------------------------------------------------------


def _value(option: Option, value: Any, table: Table) -> Any:
    if value == NONE:
        return None
    if option.name in _CONVERTERS:
        return _CONVERTERS[option.name](value, table)
    return _YES_NO.get(value, value) if isinstance(option.kind, tuple) else value


#: Among words to choose from.
_YES_NO = {"yes": True, "no": False}


def _demand(given: Sequence[int | tuple[str, int]], table: Table) -> Any:
    for_all = [each for each in given if isinstance(each, int)]
    by_class = [each for each in given if not isinstance(each, int)]
    if not by_class:
        return for_all[-1]
    if table.task == TaskName.NUMBERS:
        raise CommandError("--demand CLASS=N is for classes, but the target is predicted as a number; give N alone.")
    others = dict.fromkeys(_labels(table).values(), for_all[-1]) if for_all else {}
    return others | _by_label("--demand", by_class, table)


def class_weight(given: Sequence[str | tuple[str, float]] | None, table: Table) -> Any:
    """The weights of classes as estimators take them; ``None`` if none are given."""
    if given is None:
        return None
    by_class = [each for each in given if not isinstance(each, str)]
    if not by_class:
        return "balanced"
    if len(by_class) < len(given):
        raise CommandError("--class-weight is balanced or CLASS=X for some classes, not both; leave one out.")
    return _by_label("--class-weight", by_class, table)


def _by_label(option: str, given: Sequence[tuple[str, Any]], table: Table) -> dict[Any, Any]:
    labels = _labels(table)
    for name, _ in given:
        if name not in labels:
            close = did_you_mean(name, list(labels))
            raise CommandError(
                f"{option} names the class {name!r}{close}, but the target has {quoted_names(list(labels))}."
            )
    return {labels[name]: number for name, number in given}


def _labels(table: Table) -> dict[str, Any]:
    return {str(label): label for label in np.unique(table.y).tolist()}


def _int_if_whole(number: float, table: Table) -> float:
    return int(number) if number == round(number) else number


#: From the value of an option to that of the setting, where they differ.
_CONVERTERS: dict[str, Callable[[Any, Table], Any]] = {
    "demand": _demand,
    "class_weight": class_weight,
    "rising": lambda names, table: dict.fromkeys(names, 1),
    "falling": lambda names, table: dict.fromkeys(names, -1),
    "min_samples": _int_if_whole,
    "keep": kept_rules,
}
