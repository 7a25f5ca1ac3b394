"""Rules as Python code that needs nothing but Python."""

from __future__ import annotations

import keyword
from typing import Any

import rulecover
from rulecover.data.dates import DatePart
from rulecover.exceptions import ExportError
from rulecover.export.conditions import Script
from rulecover.export.date_texts import date_texts
from rulecover.export.exported import vote_of
from rulecover.export.language import Language, Templates, assembled, tables

_HEAD = '''\
"""Rules that vote, written by rulecover {version}; needs nothing but Python.

{name}(row) takes a mapping from column names to values, None or nan where one is missing, and returns a
dictionary: prediction, {returned}rules that fired, decided_by.{dates}
"""
'''

_DATES = """
Dates are date or datetime objects, or texts that match DATES.\
"""

_EXP = """\
from math import exp as _exp
"""

DATE_IMPORTS = """\
import re as _re
from datetime import date as _date
from datetime import datetime as _datetime
from datetime import timedelta as _timedelta
"""

#: What dates are on the clock, in whole seconds; the time zones of date objects do not matter, as in training.
MOMENT = """
def _moment(value, name):
    if getattr(getattr(value, "dtype", None), "kind", "") == "M":
        value = value.astype("datetime64[s]").item()
    given = _parsed(value, *DATES[name]) if isinstance(value, str) else value
    if not isinstance(given, _date):
        raise ValueError(
            f"column {name!r} is {value!r}, not a date as in training; give a date, a datetime or its text, "
            "or None if it is missing"
        )
    clock = (given.hour, given.minute, given.second) if isinstance(given, _datetime) else ()
    return _datetime(given.year, given.month, given.day, *clock)


def _parsed(text, pattern, places):
    found = _re.fullmatch(pattern, text)
    if found is None:
        return None
    year, month, day = (int(found[place] or 1) for place in places)
    *clock, hours, minutes = (*found.groups()[3:], None, None, None, None, None)[:5]  # ISO 8601 alone has them
    ahead_of_utc = _timedelta(hours=int(hours or 0), minutes=int((hours or "+")[0] + (minutes or "0")))
    try:
        return _datetime(year, month, day, *(int(each or 0) for each in clock)) - ahead_of_utc
    except (ValueError, OverflowError):
        return None
"""

_TEMPLATES = Templates(
    number="""
def _number(row, name):
    value = row[name]
    if value is None:
        return float("nan")
    if isinstance(value, (str, bytes)) or getattr(getattr(value, "dtype", None), "kind", "") in ("m", "M", "c"):
        raise TypeError(f"column {name!r} is {value!r}, not a number; convert it, or give None if it is missing")
    return float(value)
""",
    level="""
def _level(row, name, level):
    value = row[name]
    missing = value is None or value != value
    return float(missing if level is None else not missing and str(value) == level)
""",
    code="""
def _code(row, name, codes):
    value = row[name]
    return float("nan") if value is None or value != value else codes.get(value, -1.0)
""",
    date=MOMENT
    + """

def _date_part(row, name, part):
    value = row[name]
    if value is None or value != value or value == "":
        return float("nan")
    moment = _moment(value, name)
    if part == "year":
        return float(moment.year)
    if part == "month":
        return float(moment.month)
    if part == "weekday":
        return float(moment.isoweekday())
    return (moment - _datetime(1970, 1, 1)) // _timedelta(seconds=1) / 86400
""",
    zero="""
def _without_zero(number):
    return float("nan") if abs(number) <= {zero!r} else number
""",
    fallbacks={
        "closest": """\
    if not fired:
        shares = [count / size for count, size in zip(met, SIZES)]
        best = max(shares)
        votes = [FALLBACK_VOTES[j] for j, share in enumerate(shares) if share == best]
""",
        "all": """\
    if not fired:
        votes = [[count * vote for vote in each] for count, each in zip(met, VOTES_EACH)]
""",
        "constant": """\
    if not fired:
        votes = [MISSED]
""",
        "default": "",
    },
    with_base="""\
    if not fired:
        votes.append(BASE)
""",
    shares="""\
    probabilities = [votes / sum(tally) for votes in tally]
""",
    nearest="""\
    falling = sorted(tally, reverse=True)
    surplus = max((sum(falling[:k]) - 1.0) / k for k in range(1, len(falling) + 1))
    probabilities = [max(votes - surplus, 0.0) for votes in tally]
""",
    softmax="""\
    most = max(tally)
    odds = [_exp(max({scale!r} * (votes - most), -{largest!r})) for votes in tally]
    probabilities = [each / sum(odds) for each in odds]
""",
)

_ADDED = """
def {name}(row):
    met = _met(row)
    fired = [j for j, size in enumerate(SIZES) if met[j] == size]
    votes = [BASE, *(VOTES[j] for j in fired)]
    decided_by = "rules" if fired else {fallback!r}
"""

_TALLY = """\
    tally = [sum(column) for column in zip(*votes)]
"""

_NO_VOTES = """\
    if not {total} > 0:
        tally = TOTALS
"""

_CLASSES = """\
    return {
        "prediction": CLASSES[tally.index(max(tally))],
        "probabilities": probabilities,
        "rules": fired,
        "decided_by": decided_by,
    }
"""

_MEAN = """\
    return {{"prediction": {mean}, "rules": fired, "decided_by": decided_by}}
"""

PYTHON = Language(
    row="row",
    literal=ascii,
    mapping=lambda pairs: ascii(dict(pairs)),
    helper="_{}".format,
    missing="{x} != {x}",
    known="{x} == {x}",
    above="{x} > {than}",
    up_to="{x} <= {than}",
    one_of="{x} in {than}",
    none_of="{x} not in {than}",
    both=" and ",
    either=" or ",
    counted="({test})",
    always="True",
    never="False",
    comment="#",
)


def to_python(model: Any, *, name: str = "predict") -> str:
    """The source of a Python module with a function that predicts for a row; it needs nothing but Python.

    Parameters
    ----------
    model
        A fitted model of this package, a `RuleSet` with evidence, or a `Vote`.
    name
        What the function is called.

    Returns
    -------
    str
        The function takes a mapping from column names to values, ``None`` or NaN where one is missing; dates are
        ``datetime.date`` or ``datetime.datetime``, or texts as in training. It returns a dictionary: ``prediction``;
        for classes ``probabilities``, in the order of ``CLASSES``; ``rules``, the numbers of the rules that fired; and
        ``decided_by``, "rules" or the name of the fallback.

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
    script = Script(vote_of(model))
    returned = "probabilities (in the order of CLASSES), " if script.classes else ""
    dates = _DATES if script.has(DatePart) else ""
    parts = [
        _HEAD.format(version=rulecover.__version__, name=name, returned=returned, dates=dates),
        _imports(script),
        _tables(script),
        *_TEMPLATES.readers(script),
        _met(script),
        _ADDED.format(name=name, fallback=script.fallback) + _TEMPLATES.fallback(script) + _answer(script),
    ]
    return assembled(parts, "\n\n")


def checked_name(name: str) -> None:
    """Raises unless this is a valid name for a function that does not clash with our own."""
    if (
        not name.isidentifier()
        or not name.isascii()
        or keyword.iskeyword(name)
        or name.startswith("_")
        or name.isupper()
    ):
        raise ExportError(f"{name!r} is not a valid name for a Python function; choose another, such as 'predict'.")


def _imports(script: Script) -> str:
    return (DATE_IMPORTS if script.has(DatePart) else "") + (_EXP if script.log_odds is not None else "")


def _tables(script: Script) -> str:
    needed = ({"CLASSES": script.classes} if script.classes else {}) | tables(script)
    return "\n".join(
        [*(f"{name} = {PYTHON.table(values, '    ')}" for name, values in needed.items()), *python_dates(script)]
    )


def python_dates(script: Script) -> list[str]:
    """What the texts of columns of dates must match, if there are such columns."""
    texts = [f"    {name!a}: {text!a},\n" for name, text in date_texts(script.inputs.values()).items()]
    return [f"DATES = {{\n{''.join(texts)}}}"] if texts else []


def _met(script: Script) -> str:
    """The function that counts the conditions of each rule that a row satisfies."""
    lines = ["def _met(row):"]
    lines += [f"    x{f} = {PYTHON.read(each)}" for f, each in script.inputs.items()]
    lines.append("    return [")
    lines += [f"        {line}" for line in PYTHON.rules(script, none="0")]
    return "\n".join([*lines, "    ]"])


def _answer(script: Script) -> str:
    no_votes = "" if script.always_has_votes else _NO_VOTES.format(total="sum(tally)" if script.classes else "tally[1]")
    if not script.classes:
        return _TALLY + no_votes + _MEAN.format(mean=script.mean("tally[0]", "tally[1]"))
    shares = _TEMPLATES.probabilities(script)
    return _TALLY + no_votes + shares + _CLASSES
