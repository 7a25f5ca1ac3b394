"""Checks of the arguments of a command, by the table of options, before anything heavy is imported."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations
from pathlib import Path
from typing import Any

from rulecover.cli.errors import CommandError
from rulecover.cli.options.choices import MethodName, Preset
from rulecover.cli.options.option import Argument, Option
from rulecover.cli.options.parsers import NONE
from rulecover.cli.options.table import DATA_FILE, MODEL_FILE, SETTINGS, Options
from rulecover.cli.tables.header import TableFile, check_is_table, is_model
from rulecover.files import is_stream

_BY_NAME = {option.name: option for option in SETTINGS}


def check(options: Options, typed: Mapping[str, Any]) -> None:
    """Raises if files cannot be read or written as the command would, or options do not go together."""
    _check_files(options, typed)
    if "save" in typed:
        _check_save(typed)
    if "method" in typed:
        _check_method(options, typed)


# Files ----------------------------------------------------------------------------------------------------------------


def _check_files(options: Options, typed: Mapping[str, Any]) -> None:
    if DATA_FILE in options and MODEL_FILE in options:
        _check_inputs(typed["model"], typed["data"])
    elif DATA_FILE in options:
        check_is_table(TableFile(typed["data"]))
    for option, out in _named_files(options, typed, "written"):
        _check_out(out, [path for _, path in _named_files(options, typed, "read")], option)
    _check_differ(_named_files(options, typed, "written"))


def _named_files(options: Options, typed: Mapping[str, Any], file: str) -> list[tuple[Argument | Option, Path]]:
    """The files that are named, and by what."""
    paths = ((each, typed[each.name]) for each in options if each.file == file)
    return [(each, path) for each, path in paths if path is not None]


def _check_inputs(model: Path, data: Path) -> None:
    """Raises if both are to be read from standard input, or a model stands where a table should."""
    if str(model) == str(data) == "-":
        raise CommandError("standard input can be the model or the data, not both; name a file for one of them.")
    if is_model(TableFile(data)):
        way = "give a table" if str(model) == "-" or is_model(TableFile(model)) else f"swap them: {data} {model}"
        raise CommandError(f"{data} is a model, not a table; the model comes first, then the data, so {way}.")


def _check_out(out: Path, inputs: Iterable[Path], option: Argument | Option) -> None:
    """Raises before any work is done if the file could not be written, or is one of those that are read."""
    if str(out) == "-":
        return
    _check_folder(out)
    if any(_is_same_file(out, each) for each in inputs):
        raise CommandError(
            f"{option.spelled} {str(out)!r} is read by this command, and would be overwritten; name another file."
        )


def _check_differ(outs: Sequence[tuple[Argument | Option, Path]]) -> None:
    """Raises if two options name the same file to write."""
    for (one, out), (other, again) in combinations(outs, 2):
        if str(out) != "-" and os.path.realpath(out) == os.path.realpath(again) and not is_stream(out):
            raise CommandError(
                f"{one.spelled} and {other.spelled} both write {str(out)!r}; name another file for one of them."
            )


def _check_folder(path: Path) -> None:
    """Raises before any work is done if the folder of the file is missing or cannot be written to."""
    if is_stream(path) and not path.is_dir():
        return
    path = Path(os.path.realpath(path)) if path.is_symlink() else path
    if not path.parent.is_dir():
        raise CommandError(f"there is no folder {str(path.parent)!r} to write {path.name!r} to; make it first.")
    if path.is_dir():
        raise CommandError(f"{str(path)!r} is a folder; name a file in it, such as {str(path / 'report.html')!r}.")
    try:
        with tempfile.TemporaryFile(dir=path.parent):
            return
    except OSError as error:
        raise CommandError(
            f"nothing can be written to the folder {str(path.parent)!r} ({error.strerror}); name another."
        ) from error


def _is_same_file(out: Path, read: Path) -> bool:
    """Whether both are the same file, by whatever names; pipes and devices are not files, and - is standard input."""
    try:
        there = os.fstat(0) if str(read) == "-" else read.stat()
        return out.is_file() and os.path.samestat(out.stat(), there)
    except OSError:
        return False


def _check_save(typed: Mapping[str, Any]) -> None:
    """Raises where rules would be saved that cannot be, or where nothing is saved."""
    if typed["refit"] and typed["save"] is None:
        raise CommandError("--refit is about the rules that --save writes; add --save FILE, or leave it out.")
    if typed["save"] is not None and str(typed["save"]) == "-":
        raise CommandError("--save - would mix the model with what is printed; name a file, or see rulecover fit.")
    if typed["save"] is not None and typed["fallback"] == "model":
        raise CommandError("--fallback model needs the forest, which --save does not write; choose another fallback.")


# Methods --------------------------------------------------------------------------------------------------------------


def given_settings(options: Options, typed: Mapping[str, Any]) -> dict[str, Any]:
    """The settings of methods that were given, by the names of their options."""
    settings = [each for each in options if isinstance(each, Option) and each.methods]
    return {each.name: typed[each.name] for each in settings if each.is_given(typed[each.name])}


def _check_method(options: Options, typed: Mapping[str, Any]) -> None:
    """Raises where an option does not apply to the method, or contradicts another."""
    given, method = given_settings(options, typed), MethodName(typed["method"])
    if typed.get("model") is not None:
        _check_trained_model(given)
    elif "estimator_weights" in given:
        raise CommandError(
            "--estimator-weights is about the weights in a booster, but a forest is trained, which has none; name the "
            "booster's file with --model, or leave it out."
        )
    for option in options:
        if option.name in given and isinstance(option, Option) and method not in option.methods:
            raise CommandError(
                f"{option.spelled} belongs to --method {' and '.join(option.methods)}, but the method is {method}; add "
                f"--method {option.methods[0]}, or leave it out."
            )
    _check_together(method, given)


def _check_trained_model(given: Mapping[str, Any]) -> None:
    if "within" in given:
        raise CommandError(
            "--within is measured from the model's score, but a model file does not predict; give --max-rules in place "
            "of it."
        )
    for name in ("trees", "depth", "n_bins", "pool"):
        if name in given:
            raise CommandError(
                f"{_BY_NAME[name].spelled} is for training, but --model is trained; leave one or the other out."
            )
    if given.get("prune") == "held-out":
        raise CommandError("--prune held-out trains in folds, but --model is trained; choose yes or no.")


_FEW = Preset.FEW_RULES

#: Two options that exclude each other, and why.
_EXCLUSIVE = {
    ("within", "choose"): "both say how many rules are taken",
    ("vote", "ridge"): "one weighs plain means of numbers, the other fits values",
    ("pool", "trees"): "a pool has a forest of its own",
    ("pool", "depth"): "a pool has a forest of its own",
}


def _check_together(method: MethodName, given: Mapping[str, Any]) -> None:
    for (one, other), why in _EXCLUSIVE.items():
        of_cover = (one, other) == ("vote", "ridge")  # the votes of a path have a penalty, whatever they add up to
        if one in given and other in given and not (of_cover and method is MethodName.PATH):
            raise CommandError(
                f"{_BY_NAME[one].spelled} and {_BY_NAME[other].spelled} exclude each other: {why}; leave one of them "
                "out."
            )
    if given.get("max_rules", NONE) != NONE and method is MethodName.BOOST and given.get("preset", _FEW) != _FEW:
        raise CommandError(
            f"--max-rules goes with --preset few-rules; {given['preset']} keeps the rules that its --calls find. Leave "
            "one of them out."
        )
    for name in sorted({*given.get("rising", [])} & {*given.get("falling", [])}):
        raise CommandError(f"column {name!r} cannot be both --rising and --falling; leave one of them out.")
