"""Why a row gets its answer, in words."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from rulecover.cli.errors import CommandError
from rulecover.cli.model_file import Model
from rulecover.cli.wording import readable
from rulecover.export.model import Classes, ScoredRules
from rulecover.view.numbers import amount, short_number
from rulecover.view.text import aligned, percent, printable

_DECIDED_BY = {
    "rules": "The rules that it meets vote:",
    "closest": "It meets no rule; those with the largest share of met conditions vote:",
    "all": "It meets no rule; every rule votes by its share of met comparisons:",
    "majority": "It meets no rule; all training rows vote:",
    "default": "It meets no rule; the default votes:",
}
_ADDED = "The default vote and those of the rules that it meets add up to it:"


def reasons_in_words(model: Model, row: Any, number: int) -> str:
    """The values that rules speak of, the answer, and who gave it with what votes."""
    rules = model.rules
    if not isinstance(rules.answer, Classes) and not rules.adds_up:
        raise CommandError("this model answers with means; reasons are told for classes and for added numbers only.")
    X = model.rows(row, number - 1)
    told = rules.why(X)
    values = ", ".join(f"{printable(str(name))} = {_value(row[name].iloc[0])}" for name in row.columns)
    return "\n".join(
        [
            f"Row {number}: {values}",
            f"Answer: {_answer(rules, X)}",
            _DECIDED_BY[told["decided_by"].iloc[0]] if "decided_by" in told else _ADDED,
            _table(rules, told),
        ]
    )


def _answer(rules: ScoredRules, X: Any) -> str:
    said = rules.predict(X)[0]
    if not isinstance(rules.answer, Classes):
        return short_number(float(said))
    share = percent(float(rules.predict_proba(X).max()))
    return f"{printable(str(said))}, with " + (f"probability {share}" if rules.adds_up else f"{share} of the votes")


def _table(rules: ScoredRules, told: Any) -> str:
    shown = readable(rules.rules, rules.rules.levels)
    labels = [f"for {label}" for label in rules.answer.votes] if isinstance(rules.answer, Classes) else ["adds"]
    header = ("rule", *map(printable, labels), "if")
    votes = told.iloc[:, -len(labels) :].to_numpy(dtype=np.float64).tolist()
    said: Callable[[float], str] = "{:+.3g}".format if rules.adds_up else amount
    silent = "by default" if rules.adds_up else "always"
    lines = [
        (str(j) if j >= 0 else "-", *map(said, mine), printable(shown[j].text) if j >= 0 else silent)
        for j, mine in zip(told["rule"].tolist(), votes, strict=True)
    ]
    return aligned([header, *lines], right=(*[True] * (len(header) - 1), False))


def _value(cell: Any) -> str:
    if cell is None or (isinstance(cell, float) and np.isnan(cell)):
        return "missing"
    return printable(cell) if isinstance(cell, str) else short_number(float(cell))
