"""A saved model: the columns that it needs, and its rules for another model to keep."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from rulecover.cli.errors import CommandError
from rulecover.cli.tables.labelled import Table
from rulecover.cli.tables.reading import naming_missing
from rulecover.data.categories import CategorySet
from rulecover.data.columns import Columns
from rulecover.data.dates import DatePart
from rulecover.data.frames import MISSING
from rulecover.data.inputs import Coded, Level, Number, TableInput
from rulecover.data.written_numbers import Notation, Undecided, recognise
from rulecover.exceptions import InvalidModelFileError, RuleTextError
from rulecover.export.json_file import MAX_SIZE, from_json
from rulecover.rules.parsing import intersected
from rulecover.rules.rule import Clause
from rulecover.rules.ruleset import RuleSet
from rulecover.voting.vote import Vote

_ONES = {"TRUE": 1, "True": 1, "true": 1, "FALSE": 0, "False": 0, "false": 0}
_TRUTHS = {"TRUE": "True", "true": "True", "FALSE": "False", "false": "False"}


def load(path: Path, *, edited: bool = False, max_megabytes: float = MAX_SIZE / 1e6) -> Model:
    """The model of a JSON file, or an error that says what is wrong with the file."""
    if str(path) != "-" and (not path.exists() or path.is_dir()):
        what = f"{str(path)!r} is a folder" if path.is_dir() else f"there is no file {str(path)!r} here"
        raise CommandError(f"{what}; name a model file, which rulecover fit writes.")
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
        return {each.name for each in self._inputs.values() if isinstance(each, Number) or _by_number(each)}

    @cached_property
    def columns(self) -> list[str]:
        """What a table must have."""
        return list(dict.fromkeys(each.name for each in self._inputs.values()))

    @property
    def _inputs(self) -> dict[int, TableInput]:
        return self.rules.table_inputs

    def check_interval(self, share: float) -> None:
        """Raises unless the model gives intervals that hold the true value with this probability."""
        if not 0 < share < 1:
            raise CommandError(f"--interval is {share:g}; it is a probability, above 0 and below 1, such as 0.9.")
        if not getattr(self.rules.answer, "squares", False):
            raise CommandError("this model gives no intervals; they come with numbers by --method cover and boost.")

    @cached_property
    def _truths(self) -> set[str]:
        """Text columns that hold nothing but true and false."""
        levels: dict[str, set[Any]] = {}
        for each in self._inputs.values():
            if isinstance(each, Level):
                levels.setdefault(each.name, set()).add(each.level)
            elif isinstance(each, Coded):
                levels[each.name] = {label for label, _ in each.codes}
        return {name for name, known in levels.items() if known <= {"True", "False", None, True, False}}

    def rows(self, table: Any, first: int) -> Any:
        """The rows of a part of a table, whose first row has this number, as the rules take them."""
        cells = {name: self._cells(table[name], first) for name in self.columns}
        X = np.zeros((len(table), self.rules.rules.n_features))
        for f, each in self._inputs.items():
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

    @cached_property
    def _dates(self) -> set[str]:
        return {each.name for each in self._inputs.values() if isinstance(each, DatePart)}

    @cached_property
    def _by_truth(self) -> set[str]:
        """Columns of which true and false are categories, and not the words for them."""
        inputs = (each for each in self._inputs.values() if isinstance(each, Coded))
        return {each.name for each in inputs if any(isinstance(label, bool) for label, _ in each.codes)}

    def _cells(self, column: Any, first: int) -> Any:
        if column.name in self.numbers:
            return numbers(column, first)
        if column.name in self._dates:
            return column.to_numpy()
        known = column.notna()
        text = column.astype(str)  # true and false are written as they were when the model was trained
        text = text.replace(_TRUTHS) if column.name in self._truths else text
        if column.name in self._by_truth:
            text = text.astype(object).replace({"True": True, "False": False})
        return text.astype(object).where(known, None).to_numpy(dtype=object)


def _by_number(each: TableInput) -> bool:
    """Whether a column holds categories that are numbers."""
    return isinstance(each, Coded) and not any(isinstance(label, (str, bool)) for label, _ in each.codes)


def numbers(column: Any, first: int, notation: Notation | None = None) -> Any:
    """A column of numbers, NaN where a value is missing; texts are read by a notation if there is one."""
    if not pd.api.types.is_numeric_dtype(column):
        nothing = ("None", *(notation.missing if notation else ()))  # None is what Python writes for missing values
        known = column.where(~column.astype(str).str.strip().isin(nothing))
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
    way = f"correct the cell, or leave it empty or add {naming_missing([text])} if nothing is known"
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
    rules = replace(rules, columns=table.columns)  # which also knows what is made of dates
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
    columns = table.columns
    return RuleSet.of_clauses([each[0].clauses for each in rules], columns.names, categories=columns.categories)


def _rule_of_line(line: str, place: str, table: Table) -> RuleSet:
    columns = table.columns
    known = {columns.names[f]: labels for f, labels in columns.categories.items()}
    try:
        rule = RuleSet.from_text([line], columns.names, categories=known)
    except RuleTextError as error:
        reason = str(error).splitlines()[0].removeprefix("rule 0, ")
        raise CommandError(f"{place}, is not a rule on the columns of {table.name}: {reason}, in {line!r}.") from error
    words = rule.columns.categories.keys() - columns.categories.keys()
    if words:
        name = rule.feature_names[min(words)]
        raise CommandError(f"{place}, compares the column {name!r} with words, but it holds numbers in {table.name}.")
    return rule


def _rules_of_model(path: Path, table: Table) -> RuleSet:
    columns, rules = table.columns, load(path).rules.rules
    place = {name: f for f, name in enumerate(columns.names)}
    for f in rules.clauses.columns.tolist():
        name = rules.columns.levels.get(f, (rules.feature_names[f],))[0]
        words = f in rules.columns.levels or f in rules.columns.categories
        if name not in place or words != (place[name] in columns.categories) or f in rules.columns.zero_missing:
            raise CommandError(
                f"{path} has rules on {name!r}, but {table.name} has no such column; leave --keep out, or keep rules "
                "of a model that was fitted to a table with the same columns."
            )
    moved = [
        intersected([_on_table(clause, place[clause.name], columns) for clause in rule.clauses])
        for rule in replace(rules, shown=None)
    ]
    return RuleSet.of_clauses(moved, columns.names, categories=columns.categories)


def _on_table(clause: Clause, f: int, columns: Columns) -> Clause:
    """The clause on column f of a table; one on a 0/1 column of an old file is one on the texts behind it."""
    known = columns.categories.get(f, ())
    if clause.level is not None:
        clause = _on_texts(clause, clause.level, known)
    elif clause.categories is not None and clause.known:
        clause = replace(clause, categories=clause.categories.recoded(clause.known, known, clause.name))
    return replace(clause, feature=f, known=known)


def _on_texts(clause: Clause, level: str, known: Sequence[Any]) -> Clause:
    plain, equal = replace(clause, level=None, lower=-np.inf, upper=np.inf), clause.lower > -np.inf
    if level == MISSING:
        return replace(plain, lower=np.inf if equal else -np.inf, missing=equal)
    codes = {str(label): float(code) for code, label in enumerate(known)}
    if level not in codes:
        raise CommandError(f"a rule to keep names {level!r} of column {clause.name!r}, which the table does not have.")
    return replace(plain, categories=CategorySet((codes[level],), others=not equal), missing=not equal)
