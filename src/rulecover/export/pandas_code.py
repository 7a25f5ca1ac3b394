"""Rules as Python code over data frames that needs nothing but pandas and numpy."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import rulecover
from rulecover.data.dates import DatePart
from rulecover.export.conditions import Script
from rulecover.export.exported import vote_of
from rulecover.export.language import Templates, assembled, tables
from rulecover.export.python_code import DATE_IMPORTS, MOMENT, PYTHON, checked_name, python_dates
from rulecover.voting.answers import Classes

_HEAD = '''\
"""Rules that vote, written by rulecover {version}; needs nothing but pandas and numpy.

{name}(frame) takes a data frame with the columns that the rules use, and returns a data frame with the same index:
prediction, {returned}rules that fired, decided_by.{dates}
"""

{imports}import numpy as np
import pandas as pd
'''

_DATES = """
Dates are a column of datetimes, of date or datetime objects, or of texts that match DATES.\
"""

_TEMPLATES = Templates(
    number="""
def _number(frame, name):
    column = frame[name]
    if column.dtype.kind in "mMc":
        raise TypeError(f"column {name!r} holds values of type {column.dtype}, which are not numbers; convert it")
    return column.to_numpy(dtype="float64", na_value=float("nan"))
""",
    level="""
def _level(frame, name, level):
    column = frame[name]
    missing = column.isna().to_numpy()
    same = missing if level is None else ~missing & (column.astype(str) == level).to_numpy(dtype=bool)
    return same.astype("float64")
""",
    code="""
def _code(frame, name, codes):
    column = frame[name].astype(object)
    known = column.map(codes).astype("float64").fillna(-1.0).to_numpy()
    return np.where(column.isna().to_numpy(), np.nan, known)
""",
    date=MOMENT
    + """

def _date_part(frame, name, part):
    moments = _moments(frame[name], name)
    if part == "year":
        numbers = moments.astype("datetime64[Y]").astype("int64") + 1970
    elif part == "month":
        numbers = moments.astype("datetime64[M]").astype("int64") % 12 + 1
    elif part == "weekday":
        numbers = (moments.astype("datetime64[D]").astype("int64") + 3) % 7 + 1
    else:
        numbers = moments.astype("int64") / 86400
    return np.where(np.isnat(moments), np.nan, numbers.astype("float64"))


def _moments(column, name):
    if isinstance(column.dtype, pd.PeriodDtype):
        column = column.dt.to_timestamp()
    if pd.api.types.is_datetime64_any_dtype(column.dtype):
        return column.dt.tz_localize(None).to_numpy(dtype="datetime64[s]")
    which, known = pd.factorize(column.astype(object).mask(column.isin([""]), None).to_numpy())
    return np.array([*(_moment(value, name) for value in known), None], dtype="datetime64[s]")[which]
""",
    zero="""
def _without_zero(numbers):
    return np.where(np.abs(numbers) <= {zero!r}, np.nan, numbers)
""",
    fallbacks={
        "closest": """\
    shares = met[missed] / np.maximum(SIZES, 1)
    tally[missed] = (shares == shares.max(axis=1, keepdims=True)).astype("float64") @ FALLBACK_VOTES
""",
        "all": """\
    tally[missed] = met[missed].astype("float64") @ VOTES_EACH
""",
        "constant": """\
    tally[missed] = MISSED
""",
        "default": "",
    },
    with_base="""\
    tally[missed] += BASE
""",
    shares="""\
    shares = tally / tally.sum(axis=1, keepdims=True)
""",
    nearest="""\
    surplus = (np.cumsum(-np.sort(-tally, axis=1), axis=1) - 1.0) / np.arange(1, tally.shape[1] + 1)
    shares = np.maximum(tally - surplus.max(axis=1, keepdims=True), 0.0)
""",
    softmax="""\
    odds = np.exp(np.maximum({scale!r} * (tally - tally.max(axis=1, keepdims=True)), -{largest!r}))
    shares = odds / odds.sum(axis=1, keepdims=True)
""",
)

_ADDED = """
def {name}(frame):
    met = _met(frame)
    fired = met == SIZES
    missed = ~fired.any(axis=1)
    tally = fired.astype("float64") @ VOTES + BASE
"""

_NO_VOTES = """\
    tally[~({total} > 0)] = TOTALS
"""

_ANSWERS = """\
    answers = {{
{answers}
        "rules": [",".join(map(str, np.flatnonzero(row))) for row in fired],
        "decided_by": np.where(missed, {fallback!r}, "rules"),
    }}
    return pd.DataFrame(answers, index=frame.index)
"""

_PANDAS = replace(
    PYTHON,
    row="frame",
    missing="np.isnan({x})",
    known="~np.isnan({x})",
    above="({x} > {than})",
    up_to="({x} <= {than})",
    one_of="np.isin({x}, {than})",
    none_of="~np.isin({x}, {than})",
    both=" & ",
    either=" | ",
    counted="({test}) * 1",
    always="every",
    never="0 * every",
)


def to_pandas(model: Any, *, name: str = "predict") -> str:
    """The source of a Python module with a function over data frames; it needs nothing but pandas and numpy.

    Parameters
    ----------
    model
        A fitted model of this package, a `RuleSet` with evidence, or a `Vote`.
    name
        What the function is called.

    Returns
    -------
    str
        The function takes a data frame with the model's columns among its own, dates as such or as texts as in
        training, and returns one with the same index:
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
    script = Script(vote_of(model))
    parts = [
        _head(script, name),
        _tables(script),
        *_TEMPLATES.readers(script),
        _met(script),
        _ADDED.format(name=name) + _TEMPLATES.fallback(script) + _answers(script),
    ]
    return assembled(parts, "\n\n")


def _head(script: Script, name: str) -> str:
    returned = "one probability per class, " if script.classes else ""
    dates, imports = (_DATES, f"{DATE_IMPORTS}\n") if script.has(DatePart) else ("", "")
    return _HEAD.format(version=rulecover.__version__, name=name, returned=returned, dates=dates, imports=imports)


def _tables(script: Script) -> str:
    lines = [f"{name} = np.array({_PANDAS.table(values, '    ')})" for name, values in tables(script).items()]
    if isinstance(script.model.answer, Classes):
        kind = ", dtype=object" if script.model.answer.labels.dtype.kind == "O" else ""
        lines.insert(0, f"CLASSES = np.array({script.classes!a}{kind})")
    return "\n".join([*lines, *python_dates(script)])


def _met(script: Script) -> str:
    """The function that counts the conditions of each rule that each row satisfies."""
    lines = ["def _met(frame):"]
    lines += [f"    x{f} = {_PANDAS.read(each)}" for f, each in script.inputs.items()]
    lines += ["    every = np.ones(len(frame), dtype=int)", "    met = ["]
    lines += [f"        {line}" for line in _PANDAS.rules(script, none="0 * every")]
    return "\n".join([*lines, "    ]", "    return np.column_stack(met)"])


def _answers(script: Script) -> str:
    title, *titles = script.outputs[:-2]
    total = "tally.sum(axis=1)" if script.classes else "tally[:, 1]"
    steps = ["" if script.always_has_votes else _NO_VOTES.format(total=total)]
    if script.classes:
        steps.append(_TEMPLATES.probabilities(script))
        lines = [f"{title!a}: CLASSES[tally.argmax(axis=1)],"]
        lines += [f"{each!a}: shares[:, {k}]," for k, each in enumerate(titles)]
    else:
        lines = [f"{title!a}: {script.mean('tally[:, 0]', 'tally[:, 1]')},"]
    answers = "\n".join(f"        {line}" for line in lines)
    return "".join(steps) + _ANSWERS.format(answers=answers, fallback=script.fallback)
