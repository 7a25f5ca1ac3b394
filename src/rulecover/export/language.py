"""How programming languages write the conditions of rules."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from rulecover.data.dates import DatePart
from rulecover.data.frames import ZERO
from rulecover.data.inputs import Coded, Level, TableInput
from rulecover.data.labels import Label
from rulecover.export.conditions import Condition, Script
from rulecover.show.text import printable
from rulecover.voting.answers import LARGEST_LOG_ODDS


@dataclass(frozen=True)
class Language:
    """The syntax of a language; where there are braces, ``{x}`` stands for the value of a feature.

    Parameters
    ----------
    row
        The name of a row in the functions that read it.
    literal
        A value as it stands in the source.
    mapping
        Pairs of labels and codes as the source of a mapping.
    helper
        The name of one of our own functions: "number", "level", "code", "date_part" or "without_zero".
    missing, known, above, up_to, one_of, none_of
        Tests of a feature; the last ones also have ``{than}``, what it is compared with.
    both, either
        What stands between two tests, the first binding closer.
    counted
        ``{test}`` as something that can be added up.
    always, never
        Tests that need no feature, ready to be added up.
    comment
        What a line begins with that is for people alone.
    """

    row: str
    literal: Callable[[Any], str]
    mapping: Callable[[tuple[tuple[Label, float], ...]], str]
    helper: Callable[[str], str]
    missing: str
    known: str
    above: str
    up_to: str
    one_of: str
    none_of: str
    both: str
    either: str
    counted: str
    always: str
    never: str
    comment: str

    def read(self, each: TableInput) -> str:
        """The call that gives the value of a feature in a row."""
        if isinstance(each, DatePart):
            return self._call("date_part", each.name, self.literal(each.part))
        if isinstance(each, Level):
            return self._call("level", each.name, self.literal(each.level))
        if isinstance(each, Coded):
            return self._call("code", each.name, self.mapping(each.codes))
        read = self._call("number", each.name)
        return f"{self.helper('without_zero')}({read})" if each.zero_missing else read

    def _call(self, helper: str, name: str, *arguments: str) -> str:
        return f"{self.helper(helper)}({', '.join([self.row, self.literal(name), *arguments])})"

    def count_met(self, rule: Iterable[Condition], none: str) -> str:
        """The number of conditions of a rule that a row satisfies; `none` where there are no conditions."""
        return " + ".join(map(self._condition, rule)) or none

    def rules(self, script: Script, none: str, before: str = "") -> Iterator[str]:
        """The lines of a list of how many conditions of each rule a row satisfies, each below the rule in words."""
        for j, (rule, conditions) in enumerate(zip(script.model.rules, script.conditions, strict=True)):
            yield f"{self.comment} {j}: {_in_a_comment(rule.text)}"
            yield f"{before}{self.count_met(conditions, none)},"

    def _condition(self, condition: Condition) -> str:
        x = f"x{condition.feature}"
        missing, known = self.missing.format(x=x), self.known.format(x=x)
        if condition.impossible:
            return self.counted.format(test=missing) if condition.missing else self.never
        if condition.any_known:
            return self.always if condition.missing else self.counted.format(test=known)
        tests = self.both.join(self._tests(condition, x))
        return self.counted.format(test=f"{missing}{self.either}{tests}" if condition.missing else tests)

    def _tests(self, condition: Condition, x: str) -> list[str]:
        """What a known value must pass."""
        if condition.codes is not None:
            codes = self.literal(list(condition.codes))
            if not condition.others:
                return [self.one_of.format(x=x, than=codes)]
            return [self.known.format(x=x), self.none_of.format(x=x, than=codes)]
        bounds = (self.above, condition.above), (self.up_to, condition.up_to)
        return [test.format(x=x, than=self.literal(bound)) for test, bound in bounds if bound is not None]

    def table(self, values: list[Any], indent: str) -> str:
        """Numbers in a row, or rows of them, one per line."""
        if not isinstance(values[0], list):
            return self.literal(values)
        return "[\n" + "".join(f"{indent}{self.literal(row)},\n" for row in values) + "]"


@dataclass(frozen=True)
class Templates:
    """The parts of a source that depend on the model only in whether they are there, or in a number.

    Parameters
    ----------
    number, level, code, date, zero
        Functions that read columns of numbers, one-hot levels, categories and dates, whose texts match a pattern of
        ``DATES``, and take ``{zero!r}`` for missing.
    fallbacks, with_base
        What predicts for missed rows, and what adds the base to that.
    shares, nearest, softmax
        What makes probabilities of sums of votes.
    """

    number: str
    level: str
    code: str
    date: str
    zero: str
    fallbacks: Mapping[str, str]
    with_base: str
    shares: str
    nearest: str
    softmax: str

    def readers(self, script: Script) -> list[str]:
        """The functions that read the columns in use."""
        return [
            self.number,
            self.level if script.has(Level) else "",
            self.code if script.has(Coded) else "",
            self.date if script.has(DatePart) else "",
            self.zero.format(zero=ZERO) if script.zero_missing else "",
        ]

    def fallback(self, script: Script) -> str:
        """The part that predicts for missed rows; its FALLBACK_VOTES are usually the votes."""
        part = self.fallbacks[script.answered_by] + (self.with_base if script.fallback_adds_to_base else "")
        return part if script.model.fallback_votes is not None else part.replace("FALLBACK_VOTES", "VOTES")

    def probabilities(self, script: Script) -> str:
        """The part that makes probabilities of sums of votes."""
        if script.log_odds is not None:
            return self.softmax.format(scale=script.log_odds, largest=LARGEST_LOG_ODDS)
        return self.nearest if script.nearest else self.shares


def _in_a_comment(text: str) -> str:
    """A text of one line that does not end a comment or a script element, whatever the names in it."""
    plain = printable(text.replace("≠", "!=")).encode("ascii", "backslashreplace").decode()
    return re.sub(r"<(?=[/!a-z])", "< ", plain, flags=re.IGNORECASE)


def tables(script: Script) -> dict[str, list[Any]]:
    """The numbers that every script needs, by the names they have in the source."""
    needed: dict[str, list[Any]] = {"SIZES": script.sizes, "VOTES": script.votes}
    if script.answered_by == "closest" and script.model.fallback_votes is not None:
        needed["FALLBACK_VOTES"] = script.fallback_votes
    if script.answered_by == "all":
        needed["VOTES_EACH"] = script.votes_each
    needed["BASE"] = script.base
    if script.constant is not None and script.answered_by == "constant":
        needed["MISSED"] = script.constant
    if not script.always_has_votes:
        needed["TOTALS"] = script.totals
    return needed


def assembled(parts: Iterable[str], between: str) -> str:
    """The parts of a source that are not empty, with empty lines between."""
    return between.join(part.strip("\n") + "\n" for part in parts if part)
