"""``rulecover why``: which rules decide the prediction for one row of a table, in words."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from rulecover.cli.errors import CommandError
from rulecover.cli.printing import Printer
from rulecover.cli.tables.chunks import chunks
from rulecover.cli.tables.header import TableFile
from rulecover.cli.tables.model_file import Model, load
from rulecover.cli.tables.reading import Reading
from rulecover.rules.levels import readable
from rulecover.show.numbers import amount, format_signed, short_number
from rulecover.show.text import aligned, percent, printable
from rulecover.targets.numbers.evidence import NumberEvidence
from rulecover.voting.answers import Classes, LogOddsClasses, Mean
from rulecover.voting.fallback import in_words
from rulecover.voting.vote import Vote

_NAMES = {"vote": "adds", "adds": "adds", "value": "value", "mean_weight": "weight"}
_ADDED = "It is the sum of the default vote and the votes of the rules that cover the row:"


def why(model: Path, data: Path, *, row: int, reading: Reading, edited: bool, max_model_size: float) -> None:
    """Prints why a row gets its prediction."""
    loaded, before = load(model, edited=edited, max_megabytes=max_model_size), 0
    file = TableFile(data, reading)
    for part in chunks(file, loaded):
        if row <= before + len(part):
            mine = part.iloc[[row - 1 - before]]
            Printer().notes(file.found.notes)
            Printer().say(reasons_in_words(loaded, mine, row))
            return
        before += len(part)
    raise CommandError(f"there is no row {row}: {data} has {before} rows below the header, counted from 1.")


def reasons_in_words(model: Model, row: Any, number: int) -> str:
    """The values that the rules use, the prediction, and the rules or the fallback behind it with their votes."""
    rules = model.rules
    X = model.rows(row, number - 1)
    reasons = rules.why(X)
    cells = {name: None if row[name].isna().iloc[0] else row[name].iloc[0] for name in row.columns}
    values = ", ".join(f"{printable(str(name))} = {_value(cell)}" for name, cell in cells.items())
    return "\n".join(
        [
            f"Row {number}: {values or 'the rules use no column'}",
            f"Prediction: {_prediction(rules, X)}",
            _decided_by(reasons["decided_by"].iloc[0]) if "decided_by" in reasons else _ADDED,
            _table(rules, reasons),
        ]
    )


def _decided_by(name: str) -> str:
    return "The rules that cover it vote:" if name == "rules" else f"No rule covers it; {in_words(name)}:"


def _prediction(rules: Vote, X: Any) -> str:
    predicted = rules.predict(X)[0]
    if isinstance(rules.answer, Classes):
        share = percent(float(rules.predict_proba(X).max()))
        return f"{printable(str(predicted))}, with " + (
            f"probability {share}" if rules.adds_up else f"{share} of the votes"
        )
    if not (isinstance(rules.answer, Mean) and rules.answer.squares):
        return amount(float(predicted))
    lower, upper = rules.predict_interval(X, 0.9)[0]
    return f"{amount(float(predicted))}, and 90 times in 100 between {amount(lower)} and {amount(upper)}"


def _table(rules: Vote, reasons: Any) -> str:
    """What each rule votes; fitted votes are added to a default, which comes first."""
    shown, seen = readable(rules.rules, rules.rules.columns.levels), rules.rules.evidence
    votes = reasons.iloc[:, list(reasons.columns).index("weight" if "weight" in reasons else "text") + 1 :]
    written: Callable[[float], str] = amount
    if isinstance(rules.answer, Classes):
        word = "log-odds of" if isinstance(rules.answer, LogOddsClasses) else "for"
        names = [f"{word} {label}" for label in rules.answer.votes]
        written = "{:+.3g}".format if rules.adds_up else amount
    else:
        names = [_NAMES[name] for name in votes.columns]
        written = format_signed if rules.adds_up else amount
    lines = [
        (str(j) if j >= 0 else "-", *map(written, mine), printable(shown[j].text) if j >= 0 else text or "by default")
        for j, text, mine in zip(reasons["rule"], reasons["text"], votes.to_numpy(dtype=np.float64), strict=True)
    ]
    if isinstance(seen, NumberEvidence) and seen.default is not None and "weight" in reasons:
        lines.insert(0, ("-", written(seen.default), "by default"))
    header = ("rule", *map(printable, names), "if")
    return aligned([header, *lines], right=(*[True] * (len(header) - 1), False))


def _value(cell: Any) -> str:
    if pd.isna(cell):
        return "missing"
    return printable(str(cell)) if isinstance(cell, (str, date)) else short_number(float(cell))
