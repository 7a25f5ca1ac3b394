"""Rules as Python code over data frames that needs nothing but pandas and numpy."""

from __future__ import annotations

from typing import Any

import rulecover
from rulecover.export.adapters import scored_rules
from rulecover.export.conditions import Condition, Script
from rulecover.export.inputs import ZERO, Coded, Input, Level
from rulecover.export.labels import plain_labels
from rulecover.export.model import Classes
from rulecover.export.python_code import checked_name

_HEAD = '''\
"""Rules that vote, written by rulecover {version}; needs nothing but pandas and numpy.

{name}(frame) takes a data frame of numbers, missing where a value is missing, and returns a data frame with the same
index: {returned}.
"""

import numpy as np
import pandas as pd
'''

_NUMBERS = """
def _numbers(frame, name):
    return frame[name].to_numpy(dtype="float64", na_value=float("nan"))
"""

_LEVEL = """
def _level(frame, name, level):
    column = frame[name]
    missing = column.isna().to_numpy()
    same = missing if level is None else ~missing & (column.astype(str) == level).to_numpy(dtype=bool)
    return same.astype("float64")
"""

_CODE = """
def _code(frame, name, codes):
    column = frame[name].astype(object)
    known = column.map(codes).astype("float64").fillna(-1.0).to_numpy()
    return np.where(column.isna().to_numpy(), np.nan, known)
"""

_ZERO = """
def _without_zero(numbers):
    return np.where(np.abs(numbers) <= {zero!r}, np.nan, numbers)
"""

_ADDED = """
def {name}(frame):
    met = _met(frame)
    fired = met == SIZES
    missed = ~fired.any(axis=1)
    tally = fired.astype("float64") @ VOTES
"""

_FALLBACKS = {
    "closest": """\
    shares = met[missed] / np.maximum(SIZES, 1)
    tally[missed] = (shares == shares.max(axis=1, keepdims=True)).astype("float64") @ VOTES
""",
    "all": """\
    tally[missed] = met[missed].astype("float64") @ VOTES_EACH
""",
    "majority": """\
    tally[missed] = TOTALS
""",
    "default": "",
}

_ANSWERS = """\
    tally += BASE
    tally[~({say} > 0)] = TOTALS
    answers = {{
{answers}
        "rules": [",".join(map(str, np.flatnonzero(row))) for row in fired],
        "decided_by": np.where(missed, {fallback!r}, "rules"),
    }}
    return pd.DataFrame(answers, index=frame.index)
"""


def to_pandas(model: Any, *, name: str = "predict") -> str:
    """The source of a Python module with a function over data frames; it needs nothing but pandas and numpy.

    Parameters
    ----------
    model
        A fitted classifier of this package, a `RuleSet` that has met data, or `ScoredRules`.
    name
        What the function is called.

    Returns
    -------
    str
        The function takes a data frame with the model's columns among its own, and returns one with the same index:
        ``prediction``; for classes one ``probability_…`` each; ``rules``, the numbers of the rules that fired, such as
        ``0,3``; and ``decided_by``, "rules" or the name of the fallback.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from rulecover import MIRCOClassifier
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> module = {}
    >>> exec(to_pandas(MIRCOClassifier(random_state=0).fit(X, y)), module)
    >>> module["predict"](X)["prediction"].tolist()[:3]
    [0, 0, 0]
    """
    checked_name(name)
    script = Script(scored_rules(model))
    parts = [
        _HEAD.format(version=rulecover.__version__, name=name, returned=_returned(script)),
        _tables(script),
        _NUMBERS,
        _LEVEL if script.has(Level) else "",
        _CODE if script.has(Coded) else "",
        _ZERO.format(zero=ZERO) if script.zero_missing else "",
        _met(script),
        _ADDED.format(name=name) + _FALLBACKS[script.model.fallback] + _answers(script),
    ]
    return "\n\n".join(part.strip("\n") + "\n" for part in parts if part)


def _returned(script: Script) -> str:
    some = "one probability a class, " if isinstance(script.model.answer, Classes) else ""
    return f"prediction, {some}rules that fired, decided_by"


def _tables(script: Script) -> str:
    answer = script.model.answer
    tables: dict[str, list[Any]] = {
        "SIZES": script.sizes,
        "VOTES": script.votes,
        "BASE": script.base,
        "TOTALS": script.totals,
    }
    if script.model.fallback == "all":
        tables["VOTES_EACH"] = script.votes_each
    lines = [f"{name} = np.array({_table(values)})" for name, values in tables.items()]
    if isinstance(answer, Classes):
        kind = ", dtype=object" if answer.labels.dtype.kind == "O" else ""
        lines.insert(0, f"CLASSES = np.array({plain_labels(answer.labels)!a}{kind})")
    return "\n".join(lines)


def _table(values: list[Any]) -> str:
    if not isinstance(values[0], list):
        return ascii(values)
    return "[\n" + "".join(f"    {row!a},\n" for row in values) + "]"


def _answers(script: Script) -> str:
    if isinstance(script.model.answer, Classes):
        lines = [f"{script.outputs[0]!a}: CLASSES[tally.argmax(axis=1)],"]
        shares = script.outputs[1:-2]
        lines += [f"{title!a}: tally[:, {k}] / tally.sum(axis=1)," for k, title in enumerate(shares)]
        say = "tally.sum(axis=1)"
    else:
        lines, say = [f"{script.outputs[0]!a}: tally[:, 0] / tally[:, 1],"], "tally[:, 1]"
    answers = "\n".join(f"        {line}" for line in lines)
    return _ANSWERS.format(say=say, answers=answers, fallback=script.model.fallback)


def _met(script: Script) -> str:
    """The function that counts the conditions of each rule that each row meets."""
    lines = ["def _met(frame):"]
    lines += [f"    x{f} = {_read(each)}" for f, each in script.inputs.items()]
    lines += ["    every = np.ones(len(frame), dtype=int)", "    met = ["]
    lines += [f"        {' + '.join(map(_condition, rule)) or '0 * every'}," for rule in script.conditions]
    return "\n".join([*lines, "    ]", "    return np.column_stack(met)"])


def _read(each: Input) -> str:
    if isinstance(each, Level):
        return f"_level(frame, {each.name!a}, {each.level!a})"
    if isinstance(each, Coded):
        return f"_code(frame, {each.name!a}, {dict(each.codes)!a})"
    read = f"_numbers(frame, {each.name!a})"
    return f"_without_zero({read})" if each.zero_missing else read


def _condition(condition: Condition) -> str:
    x = f"x{condition.feature}"
    if condition.impossible:
        return f"np.isnan({x}) * 1" if condition.missing else "0 * every"
    if condition.any_known:
        return "every" if condition.missing else f"~np.isnan({x}) * 1"
    known = _known(condition, x)
    return f"(np.isnan({x}) | {known}) * 1" if condition.missing else f"{known} * 1"


def _known(condition: Condition, x: str) -> str:
    if condition.codes is not None:
        found = f"np.isin({x}, {list(condition.codes)!a})"
        return f"(~np.isnan({x}) & ~{found})" if condition.others else found
    bounds = [] if condition.above is None else [f"({x} > {condition.above!a})"]
    bounds += [] if condition.up_to is None else [f"({x} <= {condition.up_to!a})"]
    return bounds[0] if len(bounds) == 1 else f"({' & '.join(bounds)})"
