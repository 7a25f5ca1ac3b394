"""Why a row gets its answer, in words."""

from __future__ import annotations

from typing import Any

import numpy as np

from rulecover.cli.errors import CommandError
from rulecover.cli.model_file import Model
from rulecover.cli.wording import readable
from rulecover.export.model import Classes
from rulecover.view.numbers import amount, short_number
from rulecover.view.text import aligned, percent, printable

_DECIDED_BY = {
    "rules": "The rules that it meets vote:",
    "closest": "It meets no rule; those with the largest share of met conditions vote:",
    "all": "It meets no rule; every rule votes by its share of met comparisons:",
    "majority": "It meets no rule; all training rows vote:",
    "default": "It meets no rule; the default votes:",
}


def reasons_in_words(model: Model, row: Any, number: int) -> str:
    """The values that rules speak of, the answer, and who gave it with what votes."""
    answer = model.rules.answer
    if not isinstance(answer, Classes):
        raise CommandError("this model answers with numbers; reasons are told for classes only.")
    X = model.rows(row, number - 1)
    told = model.rules.why(X)
    values = ", ".join(f"{printable(str(name))} = {_value(row[name].iloc[0])}" for name in row.columns)
    share = float(model.rules.predict_proba(X).max())
    return "\n".join(
        [
            f"Row {number}: {values}",
            f"Answer: {printable(str(told['prediction'].iloc[0]))}, with {percent(share)} of the votes",
            _DECIDED_BY[told["decided_by"].iloc[0]],
            _table(model, answer, told),
        ]
    )


def _table(model: Model, answer: Classes, told: Any) -> str:
    rules = readable(model.rules.rules, model.rules.rules.levels)
    header = ("rule", *(printable(f"for {label}") for label in answer.votes), "if")
    votes = told.iloc[:, -len(answer.votes) :].to_numpy(dtype=np.float64).tolist()
    lines = [
        (str(j) if j >= 0 else "-", *map(amount, said), printable(rules[j].text) if j >= 0 else "always")
        for j, said in zip(told["rule"].tolist(), votes, strict=True)
    ]
    return aligned([header, *lines], right=(*[True] * (len(header) - 1), False))


def _value(cell: Any) -> str:
    if cell is None or (isinstance(cell, float) and np.isnan(cell)):
        return "missing"
    return printable(cell) if isinstance(cell, str) else short_number(float(cell))
