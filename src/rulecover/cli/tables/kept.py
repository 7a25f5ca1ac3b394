"""Rules that are to stay in, from a file."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from rulecover.cli.errors import CommandError
from rulecover.cli.tables.labelled import Table
from rulecover.cli.tables.model_file import load
from rulecover.data.columns import Columns
from rulecover.exceptions import RuleTextError
from rulecover.rules.ruleset import RuleSet


def kept_rules(path: Path, table: Table) -> RuleSet:
    """The rules of a saved model, or those of a text file with a rule a line, on the columns of a table."""
    if not path.is_file():
        raise CommandError(
            f"there is no file {str(path)!r} here; --keep takes a model that rulecover fit wrote, or a text file with "
            "a rule a line."
        )
    rules = _of_model(path, table) if path.suffix.lower() == ".json" else _of_lines(path, table)
    if not len(rules):
        raise CommandError(f"{path} has no rule to keep; write one a line, such as age > 30, or leave --keep out.")
    idle = np.flatnonzero(~rules.apply(table.X).toarray().any(axis=0))
    if idle.size:
        text = rules[int(idle[0])].text
        raise CommandError(f"rule {idle[0]} of {path}, {text!r}, covers no row of {table.name}; leave it out.")
    return rules


def _of_lines(path: Path, table: Table) -> RuleSet:
    try:
        text = path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise CommandError(f"{path} is no text in UTF-8; --keep takes a text file with a rule a line.") from error
    lines = [(number, line) for number, line in enumerate(text.splitlines(), start=1) if line.strip()]
    rules = [_of_line(line, f"{path}, line {number}", table) for number, line in lines]
    return RuleSet.of_clauses([each[0].clauses for each in rules], tuple(table.X.columns), levels=table.levels)


def _of_line(line: str, place: str, table: Table) -> RuleSet:
    try:
        rule = RuleSet.from_text([line], tuple(table.X.columns), levels=table.levels)
    except RuleTextError as error:
        said = str(error).splitlines()[0].removeprefix("rule 0, ")
        raise CommandError(f"{place}, is no rule on the columns of {table.name}: {said}, in {line!r}.") from error
    if rule.columns.categories:
        name = rule.feature_names[next(iter(rule.columns.categories))]
        raise CommandError(f"{place}, compares the column {name!r} with words, but it holds numbers in {table.name}.")
    return rule


def _of_model(path: Path, table: Table) -> RuleSet:
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
