"""Rules as Python code that needs nothing but Python."""

from __future__ import annotations

import keyword
from typing import Any

import rulecover
from rulecover.exceptions import ExportError
from rulecover.export.adapters import scored_rules
from rulecover.export.conditions import Condition, Script
from rulecover.export.inputs import ZERO, Coded, Input, Level
from rulecover.export.labels import plain_labels
from rulecover.export.model import Classes

_HEAD = '''\
"""Rules that vote, written by rulecover {version}; needs nothing but Python.

{name}(row) takes a mapping from column names to numbers, None or nan where a value is missing, and returns a
dictionary: {returned}, decided_by.
"""
'''

_NUMBER = """
def _number(row, name):
    value = row[name]
    if value is None:
        return float("nan")
    if isinstance(value, (str, bytes)):
        raise TypeError(f"column {name!r} is {value!r}, which is no number; convert it, or give None if it is missing")
    return float(value)
"""

_LEVEL = """
def _level(row, name, level):
    value = row[name]
    missing = value is None or value != value
    return float(missing if level is None else not missing and str(value) == level)
"""

_CODE = """
def _code(row, name, codes):
    value = row[name]
    return float("nan") if value is None or value != value else codes.get(value, -1.0)
"""

_ZERO = """
def _without_zero(number):
    return float("nan") if abs(number) <= {zero!r} else number
"""

_ADDED = """
def {name}(row):
    met = _met(row)
    fired = [j for j, size in enumerate(SIZES) if met[j] == size]
    votes = [VOTES[j] for j in fired]
    decided_by = "rules" if fired else {fallback!r}
"""

_FALLBACKS = {
    "closest": """\
    if not fired:
        shares = [count / size for count, size in zip(met, SIZES)]
        best = max(shares)
        votes = [VOTES[j] for j, share in enumerate(shares) if share == best]
""",
    "all": """\
    if not fired:
        votes = [[count * vote for vote in each] for count, each in zip(met, VOTES_EACH)]
""",
    "majority": """\
    if not fired:
        votes = [TOTALS]
""",
    "default": "",
}

_CLASSES = """\
    tally = [sum(column) for column in zip(BASE, *votes)]
    if not sum(tally) > 0:
        tally = TOTALS
    return {
        "prediction": CLASSES[tally.index(max(tally))],
        "probabilities": [votes / sum(tally) for votes in tally],
        "rules": fired,
        "decided_by": decided_by,
    }
"""

_MEAN = """\
    tally = [sum(column) for column in zip(BASE, *votes)]
    if not tally[1] > 0:
        tally = TOTALS
    return {"prediction": tally[0] / tally[1], "rules": fired, "decided_by": decided_by}
"""


def to_python(model: Any, *, name: str = "predict") -> str:
    """The source of a Python module with a function that answers for a row; it needs nothing but Python.

    Parameters
    ----------
    model
        A fitted classifier of this package, a `RuleSet` that has met data, or `ScoredRules`.
    name
        What the function is called.

    Returns
    -------
    str
        The function takes a mapping from column names to numbers, ``None`` or NaN where a value is missing. It returns
        a dictionary: ``prediction``; for classes ``probabilities``, in the order of ``CLASSES``; ``rules``, the numbers
        of the rules that fired; and ``decided_by``, "rules" or the name of the fallback.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from rulecover import MIRCOClassifier
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> module = {}
    >>> exec(to_python(MIRCOClassifier(random_state=0).fit(X, y)), module)
    >>> module["predict"](X.iloc[0].to_dict())["prediction"]
    0
    """
    checked_name(name)
    script = Script(scored_rules(model))
    with_classes = isinstance(script.model.answer, Classes)
    returned = [
        "prediction",
        *(["probabilities (in the order of CLASSES)"] if with_classes else []),
        "rules that fired",
    ]
    parts = [
        _HEAD.format(version=rulecover.__version__, name=name, returned=", ".join(returned)),
        _tables(script),
        _NUMBER,
        _LEVEL if script.has(Level) else "",
        _CODE if script.has(Coded) else "",
        _ZERO.format(zero=ZERO) if script.zero_missing else "",
        _met(script),
        _ADDED.format(name=name, fallback=script.model.fallback)
        + _FALLBACKS[script.model.fallback]
        + (_CLASSES if with_classes else _MEAN),
    ]
    return "\n\n".join(part.strip("\n") + "\n" for part in parts if part)


def checked_name(name: str) -> None:
    """Raises unless this is a plain name for a function that is none of our own."""
    if (
        not name.isidentifier()
        or not name.isascii()
        or keyword.iskeyword(name)
        or name.startswith("_")
        or name.isupper()
    ):
        raise ExportError(
            f"the name {name!r} is no plain name of a Python function; choose another, such as 'predict'."
        )


def _tables(script: Script) -> str:
    answer = script.model.answer
    tables: dict[str, Any] = {"CLASSES": plain_labels(answer.labels)} if isinstance(answer, Classes) else {}
    tables |= {"SIZES": script.sizes, "VOTES": script.votes}
    if script.model.fallback == "all":
        tables["VOTES_EACH"] = script.votes_each
    tables |= {"BASE": script.base, "TOTALS": script.totals}
    return "\n".join(f"{name} = {_table(values)}" for name, values in tables.items())


def _table(values: list[Any]) -> str:
    if not isinstance(values[0], list):
        return f"[{', '.join(map(ascii, values))}]"
    return "[\n" + "".join(f"    {row!a},\n" for row in values) + "]"


def _met(script: Script) -> str:
    """The function that counts the conditions of each rule that a row meets."""
    lines = ["def _met(row):"]
    lines += [f"    x{f} = {_read(each)}" for f, each in script.inputs.items()]
    lines.append("    return [")
    lines += [f"        {' + '.join(map(_condition, rule)) or '0'}," for rule in script.conditions]
    return "\n".join([*lines, "    ]"])


def _read(each: Input) -> str:
    if isinstance(each, Level):
        return f"_level(row, {each.name!a}, {each.level!a})"
    if isinstance(each, Coded):
        return f"_code(row, {each.name!a}, {dict(each.codes)!a})"
    read = f"_number(row, {each.name!a})"
    return f"_without_zero({read})" if each.zero_missing else read


def _condition(condition: Condition) -> str:
    x = f"x{condition.feature}"
    if condition.impossible:
        return f"({x} != {x})" if condition.missing else "False"
    if condition.any_known:
        return "True" if condition.missing else f"({x} == {x})"
    known = _known(condition, x)
    return f"({x} != {x} or {known})" if condition.missing else f"({known})"


def _known(condition: Condition, x: str) -> str:
    if condition.codes is not None:
        found = f"{x} in {set(condition.codes)!a}"
        return f"{x} == {x} and not {found}" if condition.others else found
    above, up_to = condition.above, condition.up_to
    if above is None:
        return f"{x} <= {up_to!a}"
    return f"{x} > {above!a}" if up_to is None else f"{above!a} < {x} <= {up_to!a}"
