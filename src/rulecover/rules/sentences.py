"""Rules as English sentences."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from rulecover.show.numbers import bound_text, short_number
from rulecover.show.text import printable

if TYPE_CHECKING:
    from rulecover.rules.rule import Clause, Rule

_ABOVE, _UP_TO = ("above", "at least"), ("at most", "below")


def rule_sentence(rule: Rule, conclusion: str) -> str:
    """A rule in a sentence, such as "If age is above 30 and size at most 9, then yes: 7 of 8 rows, 88 %."."""
    condition = condition_in_words(rule)
    if not condition:
        return f"In any case {conclusion}." if conclusion else "Always."
    return f"If {condition}, then {conclusion}." if conclusion else f"If {condition}."


def condition_in_words(rule: Rule) -> str:
    """The clauses of a rule with ``and`` before the last; nothing for a rule that always holds."""
    words: list[str] = []
    for clause in rule.clauses:
        text = clause_in_words(clause)
        # "If glucose is above 127.5 and BMI above 29.9": comparisons need the verb only once.
        verb = "" if words and text.startswith((*_ABOVE, *_UP_TO)) else " is"
        words.append(f"{printable(clause.said_name)}{verb} {text}")
    return join_words(words)


def clause_in_words(clause: Clause) -> str:
    """What the feature is, such as ``above 30 (or missing)``."""
    return printable(_alternatives(clause, _known(clause)))


def _alternatives(clause: Clause, text: str) -> str:
    by_number = clause.lower < 0 <= clause.upper
    also = ["0"] * (clause.zero is True and not by_number) + ["missing"] * clause.missing
    if not text:
        return " or ".join(also) or "missing"
    if clause.zero is False and by_number:
        text += " (but not 0)"
    return f"{text} (or {' or '.join(also)})" if also else text


def _known(clause: Clause) -> str:
    """What a known value is; nothing where none will do."""
    if clause.categories is not None:
        return _categories(clause)
    if clause.level is not None and clause.lower == -math.inf and 0 <= clause.upper < 1:
        return f"not {clause.level}"
    if clause.level is not None and 0 <= clause.lower < 1 and clause.upper == math.inf:
        return clause.level
    ends = clause.whole_ends
    bounded = (clause.lower, clause.upper) != (-math.inf, math.inf) and clause.lower < math.inf
    if bounded and clause.dates is not None:
        return _dates(*clause.dates, closed=clause.whole is not None)
    return _whole(*ends) if ends is not None and bounded else _interval(clause.lower, clause.upper)


def _dates(low: str, high: str, *, closed: bool) -> str:
    """From one date or time to another; an empty one is none."""
    if low == high and closed:
        return low
    if not low:
        return f"{high} or earlier"
    if not high:
        return f"{low} or later" if closed else f"after {low}"
    return f"from {low} to {high}" if closed else f"after {low} and up to {high}"


def _whole(low: float, high: float) -> str:
    if low == high:
        return short_number(low)
    least = [] if low == -math.inf else [f"at least {short_number(low)}"]
    most = [] if high == math.inf else [f"at most {short_number(high)}"]
    return " and ".join(least + most)


def _interval(lower: float, upper: float) -> str:
    if lower == math.inf:
        return ""
    if (lower, upper) == (-math.inf, math.inf):
        return "known"
    above, low = bound_text(lower, _ABOVE)
    below, high = bound_text(upper, _UP_TO)
    if lower == -math.inf:
        return f"{below} {high}"
    if upper == math.inf:
        return f"{above} {low}"
    if math.nextafter(lower, math.inf) == upper:
        return short_number(upper)
    return f"{above} {low} and {below} {high}"


def _categories(clause: Clause) -> str:
    assert clause.categories is not None
    if clause.group_in_words:
        return clause.group_in_words
    chosen = clause.categories.shortest(clause.known)
    names = chosen.names(clause.known)
    if not names:
        return "known" if chosen.others else ""
    if chosen.others:
        return f"not {names[0]}" if len(names) == 1 else f"none of {join_words(names)}"
    return join_words(names, "or")


def join_words(words: Sequence[str], conjunction: str = "and") -> str:
    """Words with commas between them and a conjunction before the last.

    >>> join_words(["a"]), join_words(["a", "b", "c"])
    ('a', 'a, b and c')
    """
    if len(words) < 2:
        return "".join(words)
    return f"{', '.join(words[:-1])} {conjunction} {words[-1]}"
