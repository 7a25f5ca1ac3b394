"""A saved model: the columns that it needs, and its rules for another model to keep."""

from __future__ import annotations

import sys
from contextlib import nullcontext
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from rulecover.cli.errors import CommandError
from rulecover.cli.tables.labelled import Table
from rulecover.data.columns import Columns
from rulecover.data.inputs import MISSING, Coded, Input, Level, Number
from rulecover.data.written_numbers import Notation, Undecided, recognise
from rulecover.exceptions import InvalidModelFileError, RuleTextError
from rulecover.export.json_file import MAX_SIZE, from_json
from rulecover.rules.ruleset import RuleSet
from rulecover.voting.vote import Vote

_ONES = {"TRUE": 1, "True": 1, "true": 1, "FALSE": 0, "False": 0, "false": 0}
_TRUTHS = {"TRUE": "True", "true": "True", "FALSE": "False", "false": "False"}


def load(path: Path, *, edited: bool = False, max_megabytes: float = MAX_SIZE / 1e6) -> Model:
    """The model of a JSON file, or an error that says what is wrong with the file."""
    if str(path) != "-" and (not path.exists() or path.is_dir()):
        raise CommandError(f"there is no file {str(path)!r} here; rulecover fit writes one.")
    most = int(max_megabytes * 1e6)
    with nullcontext(sys.stdin.buffer) if str(path) == "-" else path.open("rb") as file:
        text = file.read(most + 1)
    try:
        return Model(from_json(text, edited=edited, max_size=most))
    except InvalidModelFileError as error:
        raise CommandError(f"{path}: {error}") from error


@dataclass(frozen=True, eq=False)
class Model:
    """Rules with their votes, and how tables become the rows that they take."""

    rules: Vote

    @cached_property
    def numbers(self) -> set[str]:
        """The columns of numbers that the rules use."""
        return {each.name for each in self.rules.inputs.values() if isinstance(each, Number) or _by_number(each)}

    @cached_property
    def columns(self) -> list[str]:
        """What a table must have."""
        return list(dict.fromkeys(each.name for each in self.rules.inputs.values()))

    def check_interval(self, share: float) -> None:
        """Raises unless the model gives intervals that hold the true value with this probability."""
        if not 0 < share < 1:
            raise CommandError(f"--interval is {share:g}; it is a probability, above 0 and below 1, such as 0.9.")
        if not getattr(self.rules.answer, "squares", False):
            raise CommandError("this model gives no intervals; they come with numbers by --method cover and boost.")

    @cached_property
    def _truths(self) -> set[str]:
        """Text columns that hold nothing but true and false."""
        levels: dict[str, set[str | None]] = {}
        for each in self.rules.inputs.values():
            if isinstance(each, Level):
                levels.setdefault(each.name, set()).add(each.level)
        return {name for name, known in levels.items() if known <= {"True", "False", None}}

    def rows(self, table: Any, first: int) -> Any:
        """The rows of a part of a table, whose first row has this number, as the rules take them."""
        cells = {name: self._cells(table[name], first) for name in self.columns}
        X = np.zeros((len(table), self.rules.rules.n_features))
        for f, each in self.rules.inputs.items():
            X[:, f] = each.read(cells[each.name])
        return X

    def rows_with_levels(self, table: Any, first: int) -> Any:
        """The same rows, with every level of the text columns filled in, whether rules use it or not."""
        X, rules = self.rows(table, first), self.rules.rules
        for f in set(rules.columns.levels) - set(self.rules.inputs):
            name, level = rules.columns.levels[f]
            if name in self.columns:
                X[:, f] = Level(name, None if level == MISSING else level).read(self._cells(table[name], first))
        return X

    def _cells(self, column: Any, first: int) -> Any:
        if column.name in self.numbers:
            return numbers(column, first)
        known = column.notna()
        text = column.astype(str)  # true and false are written as they were when the model was trained
        text = text.replace(_TRUTHS) if column.name in self._truths else text
        return text.astype(object).where(known, None).to_numpy(dtype=object)


def _by_number(each: Input) -> bool:
    """Whether a column holds categories that are numbers."""
    return isinstance(each, Coded) and not any(isinstance(label, (str, bool)) for label, _ in each.codes)


def numbers(column: Any, first: int, notation: Notation | None = None) -> Any:
    """A column of numbers, NaN where a value is missing; texts are read by a notation if there is one."""
    if not pd.api.types.is_numeric_dtype(column):
        known = column.where(column.astype(str) != "None")  # which Python writes for missing values
        column = _parsed(known.replace(_ONES)) if notation is None else _written(known, notation)
        _check_all_read(known, column, first, notation)
    return column.to_numpy(dtype=np.float64, na_value=np.nan)


def _parsed(texts: Any) -> Any:
    """Numbers in quotes, true and false as 1 and 0; missing where a text is something else."""
    return pd.to_numeric(texts, errors="coerce").astype("float64")


def _written(texts: Any, notation: Notation) -> Any:
    which, known = pd.factorize(texts)
    return pd.Series(np.append(notation.read(map(str, known)), np.nan)[which], index=texts.index)


def _check_all_read(texts: Any, read: Any, first: int, notation: Notation | None) -> None:
    wrong = np.flatnonzero((read.isna() & texts.notna()).to_numpy())
    if not wrong.size:
        return
    text = str(texts.iloc[wrong[0]])
    way = "correct the cell, or leave it empty if nothing is known"
    if isinstance(recognise([text]), (Notation, Undecided)):
        way = "write it so, or say how numbers are written with --decimal and --thousands"
    raise CommandError(
        f"column {texts.name!r} has {text[:40]!r} in data row {first + int(wrong[0]) + 1}, but the model takes numbers "
        f"there{f', written {notation}' if notation else ''}; {way}."
    )


# Rules that are to stay in --------------------------------------------------------------------------------------------


def kept_rules(path: Path, table: Table) -> RuleSet:
    """The rules of a saved model, or those of a text file with one rule per line, on the columns of a table."""
    if not path.is_file():
        raise CommandError(
            f"there is no file {str(path)!r} here; --keep takes a model that rulecover fit wrote, or a text file with "
            "one rule per line."
        )
    rules = _rules_of_model(path, table) if path.suffix.lower() == ".json" else _rules_of_text(path, table)
    if not len(rules):
        raise CommandError(f"{path} has no rule to keep; write one per line, such as age > 30, or leave --keep out.")
    idle = np.flatnonzero(~rules.apply(table.X).toarray().any(axis=0))
    if idle.size:
        text = rules[int(idle[0])].text
        raise CommandError(f"rule {idle[0]} of {path}, {text!r}, covers no row of {table.name}; leave it out.")
    return rules


def _rules_of_text(path: Path, table: Table) -> RuleSet:
    try:
        text = path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise CommandError(f"{path} is not UTF-8 text; --keep takes a text file with one rule per line.") from error
    lines = [(number, line) for number, line in enumerate(text.splitlines(), start=1) if line.strip()]
    rules = [_rule_of_line(line, f"{path}, line {number}", table) for number, line in lines]
    return RuleSet.of_clauses([each[0].clauses for each in rules], tuple(table.X.columns), levels=table.levels)


def _rule_of_line(line: str, place: str, table: Table) -> RuleSet:
    try:
        rule = RuleSet.from_text([line], tuple(table.X.columns), levels=table.levels)
    except RuleTextError as error:
        reason = str(error).splitlines()[0].removeprefix("rule 0, ")
        raise CommandError(f"{place}, is not a rule on the columns of {table.name}: {reason}, in {line!r}.") from error
    if rule.columns.categories:
        name = rule.feature_names[next(iter(rule.columns.categories))]
        raise CommandError(f"{place}, compares the column {name!r} with words, but it holds numbers in {table.name}.")
    return rule


def _rules_of_model(path: Path, table: Table) -> RuleSet:
    rules = load(path).rules.rules
    texts = {place: column for column, place in table.levels.items()}
    numbers = {name: f for f, name in enumerate(table.X.columns) if f not in table.levels}
    known, places = rules.columns, np.zeros(rules.n_features, dtype=np.intp)
    for f in rules.clauses.columns.tolist():
        name = rules.feature_names[f]
        place = texts.get(known.levels[f]) if f in known.levels else numbers.get(name)
        if place is None or f in known.categories or f in known.zero_missing:
            raise CommandError(
                f"{path} has rules on {name!r}, but {table.name} has no such column; leave --keep out, or keep rules "
                "of a model that was fitted to a table with the same columns."
            )
        places[f] = place
    clauses = rules.clauses.on_columns(places)
    in_order = clauses.at(np.lexsort((clauses.feature, clauses.owner)), clauses.offset)  # columns in the table's order
    return RuleSet(in_order, Columns(tuple(table.X.columns), levels=table.levels))
