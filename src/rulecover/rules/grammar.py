"""The grammar of rule texts: ``age > 30 and (income <= 2000 or missing) and colour in {red, blue}``."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from rulecover.data.dates import WRITTEN_DATE, days_of
from rulecover.exceptions import RuleTextError

# Possessive quantifiers: text that is not a number is recognised in one pass, however long it is.
_NUMBER = re.compile(r"[+-]?(?:(?:\d++(?:\.\d*+)?+|\.\d++)(?:[eE][+-]?\d++)?|inf(?:inity)?)(?!\w)")
_QUOTED = re.compile(r'"(?:[^"\\]|\\.)*"')
_BARE_IN_SET = re.compile(r"[^,{}\"]+")
_BARE_ALONE = re.compile(
    r"[^\s,{}\"()]++(?:\s++(?!and\s|or\s+missing\b)[^\s,{}\"()]++)*+(?=\s+and\s|\s+or\s+missing\b|\s*\)|\s*$)"
)
_COMPARISON = re.compile(r"<=|>=|==|!=|<|>|=|≠")
_FLIPPED = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}


@dataclass(frozen=True)
class Label:
    """A category as it was written; a number only if it was not in quotes."""

    text: str
    position: int
    quoted: bool

    @property
    def number(self) -> float | None:
        return None if self.quoted or not _NUMBER.fullmatch(self.text) else float(self.text)

    @property
    def days(self) -> float | None:
        """The days since 1970-01-01 where the label is a date."""
        return None if self.quoted or not WRITTEN_DATE.fullmatch(self.text) else _days(self.text)


@dataclass(frozen=True)
class ParsedClause:
    """One clause as it is written, about one name: an interval ``lower < x <= upper``, or labels, or all but these.

    The one label of ``x = label`` may turn out to be a number, the set in ``x in {label}`` stays a set. Bounds that are
    written as dates are days since 1970-01-01.
    """

    name: str
    position: int
    lower: float = -math.inf
    upper: float = math.inf
    missing: bool = False
    labels: tuple[Label, ...] | None = None
    others: bool = False
    equal: bool = False
    dated: bool = False


def parse(text: str, names: Sequence[str], rule: int, levels: Mapping[str, Iterable[str]]) -> list[ParsedClause]:
    """The clauses of a rule, in the order of the text.

    Parameters
    ----------
    text
        One rule; see `RuleSet.from_text` for the syntax.
    names
        The names that clauses can use. Where several names fit, the longest that makes sense of the text is meant.
    rule
        The rule's number, for the error.
    levels
        For a name the labels that are known of it: they need no quotes after ``=``, whatever they look like.
    """
    return _RuleParser(text, names, rule, levels).parse()


class _WrittenBound(NamedTuple):
    """A number in a text, or the days of a date, and where it ends."""

    number: float
    end: int
    dated: bool


class _RuleParser:
    """Tries every name that fits; remembers the farthest place where the text stopped making sense."""

    def __init__(self, text: str, names: Sequence[str], rule: int, levels: Mapping[str, Iterable[str]]) -> None:
        self._text, self._rule = text, rule
        self._names = sorted(names, key=len, reverse=True)
        self._levels = {name: sorted(known, key=len, reverse=True) for name, known in levels.items()}
        self._farthest, self._expected = 0, "a clause"
        self._senseless: set[int] = set()

    def parse(self) -> list[ParsedClause]:
        try:
            for start in self._starts():
                if self._end(self._word("always", start)):
                    return []
                clauses = self._clauses(start)
                if clauses is not None:
                    return clauses
        except RecursionError:
            raise error(self._text, self._rule, self._farthest, "too many brackets") from None
        raise error(self._text, self._rule, self._farthest, f"expected {self._expected} here")

    def _starts(self) -> Iterator[int]:
        yield 0
        after_if = self._word("if", 0)
        if after_if is not None:
            yield after_if

    def _clauses(self, at: int) -> list[ParsedClause] | None:
        """The rest of the text as clauses with "and" between them, if it can be read like this."""
        parsed: list[ParsedClause] = []
        tried = [(at, self._clause(at))]
        while tried:
            start, readings = tried[-1]
            clause, after = next(readings, (None, start))
            if clause is None:  # nothing that can be read here makes sense of the rest
                self._senseless.add(start)
                tried.pop()
                del parsed[-1:]
            elif self._end(after):
                return [*parsed, clause]
            elif (following := self._word("and", after)) is None:
                self._missed(after, '"and" or the end of the rule')
            elif following not in self._senseless:
                parsed.append(clause)
                tried.append((following, self._clause(following)))
        return None

    def _clause(self, at: int) -> Iterator[tuple[ParsedClause, int]]:
        inside = self._match("(", at)
        if inside is not None:
            for clause, after in self._clause(inside):
                closed = self._match(")", after)
                if closed is None:
                    self._missed(after, '")"')
                else:
                    yield from self._or_missing(clause, closed)
        for clause, after in self._one_clause(at):
            yield from self._or_missing(clause, after)

    def _or_missing(self, clause: ParsedClause, at: int) -> Iterator[tuple[ParsedClause, int]]:
        either = self._word("or", at)
        after = None if either is None else self._word("missing", either)
        if after is not None:
            yield replace(clause, missing=True), after
        elif either is not None:
            self._missed(either, '"missing" (rules have no other "or": write two rules)')
        else:
            yield clause, at

    # One clause ----------------------------------------------------------------------------------------------

    def _one_clause(self, at: int) -> Iterator[tuple[ParsedClause, int]]:
        for name, after in self._named(at):
            plain = ParsedClause(name, self._skip(at))
            yield from self._missingness(plain, after)
            yield from self._membership(plain, after)
            yield from self._comparison(plain, after)
        yield from self._chain(at)

    def _named(self, at: int) -> Iterator[tuple[str, int]]:
        """The names that fit here, the longest first, as they are or in quotes."""
        found = list(self._fitting(self._names, at))
        quoted = _QUOTED.match(self._text, self._skip(at))
        if quoted and _unquoted(quoted.group()) in self._names:
            found.append((_unquoted(quoted.group()), quoted.end()))
        if not found:
            some = ", ".join(sorted(self._names)[:5]) + ("…" if len(self._names) > 5 else "")
            self._missed(at, f"the name of a column ({some})")
        yield from found

    def _fitting(self, texts: Iterable[str], at: int) -> Iterator[tuple[str, int]]:
        """Those of the texts that are found here, and where they end; one may begin or end with a space itself."""
        separated = at > 0 and self._text[at - 1] != "(" and self._text[at : at + 1].isspace()
        word = self._skip(at)
        for text in texts:
            for start in range(word, at + separated - 1 if text[:1].isspace() else word - 1, -1):
                if text and self._text.startswith(text, start) and self._ends(text, start + len(text)):
                    yield text, start + len(text)
                    break

    def _ends(self, text: str, at: int) -> bool:
        """Whether a text before `at` ends there; a final space of its own is followed by another that separates."""
        if not text[-1].isspace():
            return not self._in_word(at)
        after = self._text[at : at + 1]
        return after in ("", ")") or after.isspace()

    def _missingness(self, plain: ParsedClause, at: int) -> Iterator[tuple[ParsedClause, int]]:
        verb = self._word("is", at)
        if verb is None:
            return
        negation = self._word("not", verb)
        after = self._word("missing", verb if negation is None else negation)
        if after is not None:
            only = replace(plain, lower=math.inf, missing=True)
            yield (only if negation is None else plain), after
        elif (after := self._word("anything", verb)) is not None:
            yield replace(plain, missing=True), after
        else:
            self._missed(verb, '"missing" or "not missing"')

    def _membership(self, plain: ParsedClause, at: int) -> Iterator[tuple[ParsedClause, int]]:
        negation = self._word("not", at)
        verb = self._word("in", at if negation is None else negation)
        if verb is None:
            return
        opened = self._match("{", verb)
        if opened is None:
            self._missed(verb, '"{"')
            return
        labels, after = self._labels(opened)
        if after is not None:
            yield replace(plain, labels=tuple(labels), others=negation is not None), after

    def _labels(self, at: int) -> tuple[list[Label], int | None]:
        labels: list[Label] = []
        while True:
            found = self._label(at, _BARE_IN_SET)
            if found is None:
                self._missed(at, "a category")
                return labels, None
            label, after = found
            labels.append(label)
            comma = self._match(",", after)
            if comma is None:
                closed = self._match("}", after)
                if closed is None:
                    self._missed(after, '"," or "}"')
                return labels, closed
            at = comma

    def _label(self, at: int, bare: re.Pattern[str]) -> tuple[Label, int] | None:
        at = self._skip(at)
        quoted = _QUOTED.match(self._text, at)
        if quoted:
            return Label(_unquoted(quoted.group()), at, quoted=True), quoted.end()
        word = bare.match(self._text, at)
        return (Label(word.group().strip(), at, quoted=False), word.end()) if word and word.group().strip() else None

    def _comparison(self, plain: ParsedClause, at: int) -> Iterator[tuple[ParsedClause, int]]:
        sign = self._sign(at)
        if sign is None:
            self._missed(at, 'a comparison, "in" or "is"')
            return
        symbol, after = sign
        if symbol in ("=", "==", "≠", "!="):
            unequal = symbol in ("≠", "!=")
            for label, end in self._alone(plain.name, after):
                yield replace(plain, labels=(label,), others=unequal, equal=not unequal), end
            return
        bound = self._bound(after)
        if bound is not None:
            yield self._bounded(plain, symbol, bound), bound.end

    def _alone(self, name: str, at: int) -> Iterator[tuple[Label, int]]:
        """The label found here: a known one if it fits, whatever characters it has."""
        for level, end in self._fitting(self._levels.get(name, ()), at):
            yield Label(level, self._skip(at), quoted=True), end
        found = self._label(at, _BARE_ALONE)
        if found is None:
            self._missed(at, "a number or a category")
        else:
            yield found

    def _chain(self, at: int) -> Iterator[tuple[ParsedClause, int]]:
        """``1 < x <= 2``, or ``1 < x`` alone."""
        first = self._bound(at, "a column or a number")
        sign = None if first is None else self._sign(first.end)
        if first is None or sign is None or sign[0] not in _FLIPPED:
            return
        for name, after in self._named(sign[1]):
            half = self._bounded(ParsedClause(name, self._skip(at)), _FLIPPED[sign[0]], first)
            second = self._sign(after)
            if second is None:
                yield half, after
            elif second[0][0] != sign[0][0] or second[0] not in _FLIPPED:
                self._missed(after, f'"{sign[0][0]}" or "{sign[0][0]}="')
            elif (last := self._bound(second[1])) is not None and last.dated == first.dated:
                yield self._bounded(half, second[0], last), last.end

    @staticmethod
    def _bounded(clause: ParsedClause, sign: str, bound: _WrittenBound) -> ParsedClause:
        """The clause and one bound; ``x >= t`` lies above the double before t, ``x < t`` at most there."""
        end = bound.number if sign in ("<=", ">") else math.nextafter(bound.number, -math.inf)
        clause = replace(clause, dated=bound.dated)
        return replace(clause, upper=end) if sign[0] == "<" else replace(clause, lower=end)

    # Pieces -----------------------------------------------------------------------------------------------------

    def _sign(self, at: int) -> tuple[str, int] | None:
        found = _COMPARISON.match(self._text, self._skip(at))
        return None if found is None else (found.group(), found.end())

    def _bound(self, at: int, expected: str = "a number") -> _WrittenBound | None:
        """The number or date found here."""
        date = WRITTEN_DATE.match(self._text, self._skip(at))
        if date is not None and (days := _days(date.group())) is not None:
            return _WrittenBound(days, date.end(), dated=True)
        found = _NUMBER.match(self._text, self._skip(at))
        if found is None or date is not None:
            self._missed(at, expected if date is None else "a date that there is")
            return None
        return _WrittenBound(float(found.group()), found.end(), dated=False)

    def _word(self, word: str, at: int) -> int | None:
        after = self._match(word, at)
        return None if after is None or self._in_word(after) else after

    def _match(self, piece: str, at: int) -> int | None:
        at = self._skip(at)
        return at + len(piece) if self._text.startswith(piece, at) else None

    def _in_word(self, at: int) -> bool:
        return 0 < at < len(self._text) and _is_letter(self._text[at - 1]) and _is_letter(self._text[at])

    def _end(self, at: int | None) -> bool:
        return at is not None and self._skip(at) == len(self._text)

    def _skip(self, at: int) -> int:
        while at < len(self._text) and self._text[at].isspace():
            at += 1
        return at

    def _missed(self, at: int, expected: str) -> None:
        at = self._skip(at)
        if at > self._farthest or (at == self._farthest and self._expected == "a clause"):
            self._farthest, self._expected = at, expected


def error(text: str, rule: int, position: int, what: str) -> RuleTextError:
    """The error for a rule, with a mark under the place where it stops making sense."""
    line = "".join(character if character.isprintable() else " " for character in text)
    return RuleTextError(f"rule {rule}, position {position}: {what}\n    {line}\n    {' ' * position}^")


def _days(date: str) -> float | None:
    try:
        return days_of(date)
    except ValueError:  # there is no such day
        return None


def _unquoted(text: str) -> str:
    try:
        return str(json.loads(text))
    except json.JSONDecodeError:
        return text[1:-1]


def _is_letter(character: str) -> bool:
    return character.isalnum() or character == "_"
