"""``rulecover why``: which rules decided for one row of a table, in words."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from rulecover.cli.errors import CommandError
from rulecover.cli.printing import Printer
from rulecover.cli.tables.chunks import chunks
from rulecover.cli.tables.model_file import Model, load
from rulecover.rules.levels import readable
from rulecover.show.numbers import amount, format_signed, short_number
from rulecover.show.text import aligned, percent, printable
from rulecover.targets.numbers.evidence import NumberEvidence
from rulecover.voting.answers import Classes, Mean
from rulecover.voting.vote import Vote

_DECIDED_BY = {
    "rules": "The rules that it meets vote:",
    "closest": "It meets no rule; those with the largest share of met conditions vote:",
    "all": "It meets no rule; every rule votes by its share of met comparisons:",
    "majority": "It meets no rule; all training rows vote:",
    "mean": "It meets no rule; all training rows answer by their mean:",
    "default": "It meets no rule; the default votes:",
}
_NAMES = {"vote": "adds", "adds": "adds", "value": "says", "say": "weight"}
_ADDED = "The default vote and those of the rules that it meets add up to it:"


def why(model: Path, data: Path, *, row: int, separator: str | None, edited: bool, max_model_size: float) -> None:
    """Prints why a row gets its answer."""
    loaded, before = load(model, edited=edited, max_megabytes=max_model_size), 0
    for part in chunks(data, loaded, separator=separator):
        if row <= before + len(part):
            mine = part.iloc[[row - 1 - before]]
            Printer().say(reasons_in_words(loaded, mine, row))
            return
        before += len(part)
    raise CommandError(f"there is no row {row}: {data} has {before} rows below the header, counted from 1.")


def reasons_in_words(model: Model, row: Any, number: int) -> str:
    """The values that rules speak of, the answer, and who gave it with what votes."""
    rules = model.rules
    X = model.rows(row, number - 1)
    told = rules.why(X)
    values = ", ".join(f"{printable(str(name))} = {_value(row[name].iloc[0])}" for name in row.columns)
    return "\n".join(
        [
            f"Row {number}: {values or 'the rules ask for no column'}",
            f"Answer: {_answer(rules, X)}",
            _DECIDED_BY[told["decided_by"].iloc[0]] if "decided_by" in told else _ADDED,
            _table(rules, told),
        ]
    )


def _answer(rules: Vote, X: Any) -> str:
    said = rules.predict(X)[0]
    if isinstance(rules.answer, Classes):
        share = percent(float(rules.predict_proba(X).max()))
        return f"{printable(str(said))}, with " + (f"probability {share}" if rules.adds_up else f"{share} of the votes")
    if not (isinstance(rules.answer, Mean) and rules.answer.squares):
        return amount(float(said))
    lower, upper = rules.predict_interval(X, 0.9)[0]
    return f"{amount(float(said))}, and 90 times in 100 between {amount(lower)} and {amount(upper)}"


def _table(rules: Vote, told: Any) -> str:
    """What each rule said; what is fitted is added to a default, which comes first."""
    shown, seen = readable(rules.rules, rules.rules.columns.levels), rules.rules.evidence
    said = told.iloc[:, list(told.columns).index("weight" if "weight" in told else "text") + 1 :]
    written: Callable[[float], str] = amount
    if isinstance(rules.answer, Classes):
        names = [f"for {label}" for label in rules.answer.votes]
        written = "{:+.3g}".format if rules.adds_up else amount
    else:
        names = [_NAMES[name] for name in said.columns]
        written = format_signed if rules.adds_up else amount
    lines = [
        (str(j) if j >= 0 else "-", *map(written, mine), printable(shown[j].text) if j >= 0 else "by default")
        for j, mine in zip(told["rule"].tolist(), said.to_numpy(dtype=np.float64).tolist(), strict=True)
    ]
    if isinstance(seen, NumberEvidence) and seen.default is not None and "weight" in told:
        lines.insert(0, ("-", written(seen.default), "by default"))
    header = ("rule", *map(printable, names), "if")
    return aligned([header, *lines], right=(*[True] * (len(header) - 1), False))


def _value(cell: Any) -> str:
    if cell is None or (isinstance(cell, float) and np.isnan(cell)):
        return "missing"
    return printable(cell) if isinstance(cell, str) else short_number(float(cell))
