"""Rules as JavaScript that runs in a browser or in Node, on its own."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any

import rulecover
from rulecover.data.dates import DatePart
from rulecover.data.labels import Label
from rulecover.exceptions import ExportError
from rulecover.export.conditions import Script
from rulecover.export.date_texts import date_texts
from rulecover.export.exported import vote_of
from rulecover.export.language import Language, Templates, assembled, tables

_HEAD = """\
// Rules that vote, written by rulecover {version}; needs no library.
// {name}(row) takes an object from column names to values, null or NaN where one is missing, and returns
// an object: prediction, {returned}rules, decided_by.{dates}
const {name} = (() => {{
"use strict";
"""

_DATES = """
// Dates are texts that match DATES, or Date objects, whose time is that of UTC.\
"""

_TEMPLATES = Templates(
    number="""
function value(row, name) {
  if (!Object.prototype.hasOwnProperty.call(row, name)) throw new TypeError("the row has no column " + name);
  return row[name];
}

function number(row, name) {
  const given = value(row, name);
  if (given === null) return NaN;
  if (typeof given === "boolean") return Number(given);
  if (typeof given !== "number") throw new TypeError("column " + name + " is not a number; give null if it is missing");
  return given;
}
""",
    level="""
function level(row, name, wanted) {
  const given = value(row, name);
  const missing = given === null || Number.isNaN(given);
  const text = given === true ? "True" : given === false ? "False" : String(given);
  return Number(wanted === null ? missing : !missing && text === wanted);
}
""",
    code="""
function code(row, name, codes) {
  const given = value(row, name);
  if (given === null || Number.isNaN(given)) return NaN;
  return codes.has(given) ? codes.get(given) : -1;
}
""",
    date="""
function datePart(row, name, part) {
  const given = value(row, name);
  if (given === null || given === "" || Number.isNaN(given)) return NaN;
  const date = typeof given === "string" ? parsed(given, ...DATES.get(name)) : given;
  if (!(date instanceof Date) || Number.isNaN(date.getTime()))
    throw new TypeError("column " + name + " is not a date as in training; give null if it is missing");
  if (part === "year") return date.getUTCFullYear();
  if (part === "month") return date.getUTCMonth() + 1;
  if (part === "weekday") return date.getUTCDay() || 7;
  return Math.floor(date.getTime() / 1000) / 86400;
}

function parsed(text, pattern, places) {
  const found = new RegExp("^(?:" + pattern + ")$").exec(text);
  if (found === null) return null;
  const [year, month, day] = places.map((place) => Number(found[place] || 1));
  const [hour, minute, second, hours, minutes] = found.slice(4).map((each) => each || "0"); // ISO 8601 alone has them
  const date = new Date(0);
  date.setUTCFullYear(year, month - 1, day);
  if (year === 0 || date.getUTCMonth() !== month - 1 || date.getUTCDate() !== day) return null;
  if (hour === undefined) return date;
  const ahead = Number(hours) * 60 + Number(hours[0].replace("0", "+") + minutes); // of UTC
  date.setUTCHours(Number(hour), Number(minute) - ahead, Number(second));
  return date;
}
""",
    zero="""
const withoutZero = (number) => (Math.abs(number) <= {zero!r} ? NaN : number);
""",
    fallbacks={
        "closest": """\
  if (!fired.length) {
    const shares = counts.map((count, j) => count / SIZES[j]);
    const best = shares.reduce((a, b) => Math.max(a, b));
    votes = FALLBACK_VOTES.filter((each, j) => shares[j] === best);
  }
""",
        "all": """\
  if (!fired.length) votes = VOTES_EACH.map((each, j) => each.map((vote) => counts[j] * vote));
""",
        "constant": """\
  if (!fired.length) votes = [MISSED];
""",
        "default": "",
    },
    with_base="""\
  if (!fired.length) votes.push(BASE);
""",
    shares="""\
  const all = tally.reduce((a, b) => a + b);
  const probabilities = tally.map((votes) => votes / all);
""",
    nearest="""\
  const falling = [...tally].sort((a, b) => b - a);
  let sum = -1;
  const surplus = falling.map((votes, k) => (sum += votes) / (k + 1)).reduce((a, b) => Math.max(a, b));
  const probabilities = tally.map((votes) => Math.max(votes - surplus, 0));
""",
    softmax="""\
  const largest = tally.reduce((a, b) => Math.max(a, b));
  const odds = tally.map((votes) => Math.exp(Math.max({scale!r} * (votes - largest), -{largest!r})));
  const all = odds.reduce((a, b) => a + b);
  const probabilities = odds.map((each) => each / all);
""",
)

_ADDED = """
const add = (votes) => votes.reduce((sums, each) => sums.map((sum, k) => sum + each[k]));

return function (row) {{
  const counts = met(row);
  const fired = SIZES.map((size, j) => j).filter((j) => counts[j] === SIZES[j]);
  let votes = [BASE, ...fired.map((j) => VOTES[j])];
  const decided_by = fired.length ? "rules" : {fallback};
"""

_NO_VOTES = """\
  if (!({total} > 0)) tally = TOTALS;
"""

_CLASSES = """\
  const most = tally.reduce((a, b) => Math.max(a, b));
  return {
    prediction: CLASSES[tally.indexOf(most)],
    classes: CLASSES.slice(),
    probabilities,
    rules: fired,
    decided_by,
  };
};
})();
"""

_MEAN = """\
  return {{ prediction: {mean}, rules: fired, decided_by }};
}};
}})();
"""

_MODULE = """
if (typeof module !== "undefined") module.exports = {{ {name} }};
"""

#: Whole numbers beyond this are rounded by JavaScript.
_LARGEST_WHOLE = 2**53 - 1

_NAME = re.compile(r"[A-Za-z][A-Za-z0-9]*")


def to_javascript(model: Any, *, name: str = "predict") -> str:
    """The source of a JavaScript function that predicts for a row; it runs in browsers and in Node, on its own.

    Parameters
    ----------
    model
        A fitted model of this package, a `RuleSet` with evidence, or a `Vote`.
    name
        What the function is called. In Node it is also what the module exports.

    Returns
    -------
    str
        The function takes an object from column names to values, ``null`` or ``NaN`` where one is missing; dates are
        texts as in training, or ``Date`` objects, whose time is that of UTC. It returns an object: ``prediction``; for
        classes ``classes`` and their ``probabilities``; ``rules``, the numbers of the rules that fired; and
        ``decided_by``, "rules" or the name of the fallback. The text is safe inside a ``<script>`` element.

    Raises
    ------
    ExportError
        If the name is not one of JavaScript, or the model cannot be written.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from rulecover import MIRCOClassifier
    >>> mirco = MIRCOClassifier(random_state=0).fit(*load_iris(return_X_y=True))
    >>> print(to_javascript(mirco, name="iris").splitlines()[3])
    const iris = (() => {
    """
    if not _NAME.fullmatch(name):
        raise ExportError(f"{name!r} is not a valid function name; choose another, such as 'predict'.")
    script = Script(vote_of(model))
    returned = "classes, probabilities, " if script.classes else ""
    dates = _DATES if script.has(DatePart) else ""
    parts = [
        _HEAD.format(version=rulecover.__version__, name=name, returned=returned, dates=dates),
        _tables(script),
        *_TEMPLATES.readers(script),
        _met(script),
        _ADDED.format(fallback=_literal(script.model.fallback.name)) + _TEMPLATES.fallback(script) + _answer(script),
        _MODULE.format(name=name),
    ]
    return assembled(parts, "\n")


def _literal(value: Any) -> str:
    # A script element ends at "</script", whatever JavaScript thinks of it; JSON in ASCII is JavaScript otherwise.
    return json.dumps(value, allow_nan=False).replace("<", "\\u003c")


def _as_numbers(pairs: Sequence[tuple[Label, float]]) -> list[tuple[Label, float]]:
    """Truth values as 0 and 1, which are other keys in JavaScript, but the same in Python."""
    return [(int(label), code) for label, code in pairs if isinstance(label, bool)]


_JAVASCRIPT = Language(
    row="row",
    literal=_literal,
    mapping=lambda pairs: f"new Map({_literal([*pairs, *_as_numbers(pairs)])})",
    helper=lambda name: {"without_zero": "withoutZero", "date_part": "datePart"}.get(name, name),
    missing="{x} !== {x}",
    known="{x} === {x}",
    above="{x} > {than}",
    up_to="{x} <= {than}",
    one_of="{than}.includes({x})",
    none_of="!{than}.includes({x})",
    both=" && ",
    either=" || ",
    counted="({test})",
    always="true",
    never="false",
    comment="//",
)


def _tables(script: Script) -> str:
    labels = {"CLASSES": list(map(_checked, script.classes))} if script.classes else {}
    needed = labels | tables(script)
    lines = [f"const {name} = {_JAVASCRIPT.table(values, '  ')};" for name, values in needed.items()]
    texts: list[Any] = [[name, text] for name, text in date_texts(script.inputs.values()).items()]
    return "\n".join([*lines, *([f"const DATES = new Map({_JAVASCRIPT.table(texts, '  ')});"] if texts else [])])


def _checked(label: Label) -> Label:
    if isinstance(label, int) and abs(label) > _LARGEST_WHOLE:
        raise ExportError(
            f"the class {label} is too large for a number in JavaScript; train with labels that are text."
        )
    return label


def _met(script: Script) -> str:
    """The function that counts the conditions of each rule that a row satisfies."""
    lines = ["function met(row) {"]
    lines += [f"  const x{f} = {_JAVASCRIPT.read(each)};" for f, each in script.inputs.items()]
    lines.append("  return [")
    lines += [f"    {line}" for line in _JAVASCRIPT.rules(script, none="0", before="+")]
    return "\n".join([*lines, "  ];", "}"])


def _answer(script: Script) -> str:
    total = "tally.reduce((a, b) => a + b)" if script.classes else "tally[1]"
    if script.always_has_votes:
        tally = "  const tally = add(votes);\n"
    else:
        tally = "  let tally = add(votes);\n" + _NO_VOTES.format(total=total)
    if not script.classes:
        return tally + _MEAN.format(mean=script.mean("tally[0]", "tally[1]"))
    return tally + _TEMPLATES.probabilities(script) + _CLASSES
