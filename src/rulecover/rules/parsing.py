"""From the texts of rules to their clauses: names become columns, labels become category codes."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from rulecover.data.categories import Categories, CategorySet, plain_name
from rulecover.data.dates import DAYS, DatePart
from rulecover.exceptions import RuleTextError
from rulecover.rules.grammar import Label, ParsedClause, error, parse
from rulecover.rules.rule import Clause

#: A bound between 0 and 1 for a 0/1 column.
_HALF = 0.5


def parse_rules(
    texts: Iterable[str],
    feature_names: Sequence[str],
    categories: Mapping[str, Sequence[Any]] | None = None,
    levels: Mapping[int, tuple[str, str]] | None = None,
) -> tuple[list[list[Clause]], Categories]:
    """The clauses of each rule, columns in order, at most one interval and one set per column, and all categories.

    See `RuleSet.from_text` for the parameters.
    """
    given = list(texts)
    if isinstance(texts, str):
        raise RuleTextError(f"the rules are a single text, {texts[:40]!r}; pass a list of texts, one per rule.")
    columns = _KnownNames.of(feature_names, categories or {}, levels or {})
    parsed = [parse(text, columns.names, rule, columns.levels) for rule, text in enumerate(given)]
    columns = columns.with_labels_of(parsed)
    rules = [
        _merged([columns.clause(each, text, rule) for each in conditions], text, rule)
        for rule, (text, conditions) in enumerate(zip(given, parsed, strict=True))
    ]
    return rules, columns.categories


@dataclass(frozen=True)
class _KnownNames:
    """What names and labels stand for.

    Parameters
    ----------
    place
        The number of each column.
    categories
        The category behind each code, for columns of categories.
    levels
        The 0/1 column that stands for a name and a level.
    """

    place: dict[str, int]
    categories: Categories
    levels: dict[str, dict[str, int]] = field(default_factory=dict)

    @classmethod
    def of(
        cls,
        feature_names: Sequence[str],
        categories: Mapping[str, Sequence[Any]],
        levels: Mapping[int, tuple[str, str]],
    ) -> _KnownNames:
        place = {str(name): f for f, name in enumerate(feature_names)}
        if len(place) < len(feature_names):
            raise RuleTextError("column names must differ, or it is unclear which column a text means; rename one.")
        unknown = sorted(set(categories) - set(place))
        if unknown:
            raise RuleTextError(f"categories are given for {unknown[0]!r}, but there is no column of that name.")
        by_level: dict[str, dict[str, int]] = {}
        for column, (name, level) in levels.items():
            by_level.setdefault(name, {})[level] = column
        return cls(place, {place[name]: tuple(known) for name, known in categories.items()}, by_level)

    @property
    def names(self) -> list[str]:
        return list({**self.place, **self.levels})

    def with_labels_of(self, rules: Iterable[Iterable[ParsedClause]]) -> _KnownNames:
        """Columns whose labels are words and not known yet are columns of these categories; True and False are none."""
        found: dict[int, set[str]] = {}
        words: set[int] = set()
        quoted: set[int] = set()
        for parsed in (each for rule in rules for each in rule if each.labels and not self._is_apart(each)):
            column = self.place[parsed.name]
            found.setdefault(column, set()).update(label.text for label in parsed.labels or ())
            if any(label.number is None for label in parsed.labels or ()):
                words.add(column)
            if any(label.quoted for label in parsed.labels or ()):
                quoted.add(column)
        truths = {column for column in words - quoted if found[column] <= {"True", "False"}}
        new: dict[int, Sequence[Any]] = {
            column: (False, True) if column in truths else tuple(sorted(found[column]))
            for column in words
            if column not in self.categories
        }
        return replace(self, categories={**self.categories, **new})

    def clause(self, parsed: ParsedClause, text: str, rule: int) -> tuple[Clause, int]:
        """The clause for a parsed one, and its position in the text."""
        if parsed.name in self.levels and parsed.labels is not None:
            return self._level(parsed, text, rule), parsed.position
        if parsed.name not in self.place:
            raise error(text, rule, parsed.position, f"{parsed.name!r} has levels, so write = or ≠ and one of them")
        parsed = self._on_days(parsed, text, rule)
        column = self.place[parsed.name]
        plain = Clause(column, parsed.name, parsed.lower, parsed.upper, parsed.missing)
        if parsed.labels is None:
            if column in self.categories and (math.isfinite(parsed.lower) or math.isfinite(parsed.upper)):
                raise error(text, rule, parsed.position, f"{parsed.name!r} has categories, not numbers: write in {{…}}")
            return plain, parsed.position
        number = parsed.labels[0].number
        if parsed.equal and column not in self.categories and number is not None:
            return replace(plain, lower=math.nextafter(number, -math.inf), upper=number), parsed.position
        if column in self._level_columns:
            raise error(text, rule, parsed.labels[0].position, f"{parsed.name!r} is 0 or 1, not a category")
        codes = {self._code(column, parsed.name, label, text, rule) for label in parsed.labels}
        chosen = CategorySet(tuple(sorted(codes)), parsed.others)
        return replace(plain, categories=chosen, known=self.categories.get(column, ())), parsed.position

    def _is_apart(self, parsed: ParsedClause) -> bool:
        """Whether the labels of a clause are not categories: they are levels of 0/1 columns, or a date."""
        on_level = self.place.get(parsed.name) in self._level_columns
        return parsed.name in self.levels or on_level or self._is_on_date(parsed)

    def _is_on_date(self, parsed: ParsedClause) -> bool:
        """Whether ``x = label`` compares a column of dates with a date."""
        is_date = parsed.equal and parsed.labels is not None and parsed.labels[0].days is not None
        return is_date and self._days_name(parsed.name) in self.place and self.place[parsed.name] not in self.categories

    @staticmethod
    def _days_name(name: str) -> str:
        return DatePart(name, DAYS).made_name

    def _on_days(self, parsed: ParsedClause, text: str, rule: int) -> ParsedClause:
        """A clause that compares dates, or asks whether one is missing, on the column that holds their days."""
        days = self._days_name(parsed.name)
        if self._is_on_date(parsed):
            assert parsed.labels is not None and parsed.labels[0].days is not None
            day = parsed.labels[0].days
            return replace(parsed, name=days, labels=None, lower=math.nextafter(day, -math.inf), upper=day)
        asks = parsed.labels is None and not math.isfinite(parsed.lower) and not math.isfinite(parsed.upper)
        if parsed.dated and days not in self.place and parsed.name not in self._days_columns:
            raise error(
                text, rule, parsed.position, f"{parsed.name!r} is not a column of dates; compare it with a number"
            )
        return replace(parsed, name=days) if (parsed.dated or asks) and days in self.place else parsed

    @cached_property
    def _level_columns(self) -> set[int]:
        """The 0/1 columns that stand for levels."""
        return {column for levels in self.levels.values() for column in levels.values()}

    @cached_property
    def _days_columns(self) -> set[str]:
        """The columns that hold days of dates, by their own names."""
        return {name for name in self.place if name.endswith(f" ({DAYS})")}

    def _code(self, column: int, name: str, label: Label, text: str, rule: int) -> float:
        if column not in self.categories:
            assert label.number is not None
            return label.number
        known = self._codes[column]
        if label.text not in known and (label.number or 0) >= len(known):  # a code without a name
            return float(label.text)
        if label.text not in known:
            some = ", ".join(list(known)[:5]) + ("…" if len(known) > 5 else "")
            raise error(text, rule, label.position, f"{name!r} has no category {label.text!r}, it has {some}")
        return known[label.text]

    @cached_property
    def _codes(self) -> dict[int, dict[str, float]]:
        """The code of each category by its name, for columns of categories."""
        return {
            column: {plain_name(category): float(code) for code, category in enumerate(known)}
            for column, known in self.categories.items()
        }

    def _level(self, parsed: ParsedClause, text: str, rule: int) -> Clause:
        levels = self.levels[parsed.name]
        label = (parsed.labels or ())[0]
        if len(parsed.labels or ()) > 1 or label.text not in levels:
            raise error(text, rule, label.position, f"{parsed.name!r} {_expected_level(levels)}")
        lower, upper = (-math.inf, _HALF) if parsed.others else (_HALF, math.inf)
        return Clause(levels[label.text], parsed.name, lower, upper, parsed.missing, level=label.text)


def _expected_level(levels: Iterable[str]) -> str:
    known = list(levels)
    if len(known) == 1:
        return f"is {known[0]} or not: write = {known[0]} or ≠ {known[0]}"
    return f"has levels {', '.join(known)}; name one of them"


def _merged(clauses: Sequence[tuple[Clause, int]], text: str, rule: int) -> list[Clause]:
    """At most one interval and one set per column: the intersection of all its clauses."""
    kept: dict[tuple[int, bool], Clause] = {}
    for clause, position in clauses:
        key = clause.feature, clause.categories is not None
        both = _both(kept[key], clause) if key in kept else clause
        if both.is_empty():
            raise error(text, rule, position, f"no value of {clause.name!r} satisfies the rule up to here")
        kept[key] = both
    return [kept[key] for key in sorted(kept)]


def intersected(clauses: Sequence[Clause]) -> list[Clause]:
    """At most one interval and one set per column, columns in order."""
    return _merged([(clause, 0) for clause in clauses], "", 0)


def _both(one: Clause, two: Clause) -> Clause:
    missing = one.missing and two.missing
    if one.categories is not None and two.categories is not None:
        return replace(one, categories=one.categories & two.categories, missing=missing)
    return replace(one, lower=max(one.lower, two.lower), upper=min(one.upper, two.upper), missing=missing)


def clauses_of_lines(columns: Mapping[str, Sequence[Any]], feature_names: Sequence[str]) -> list[list[Clause]]:
    """The clauses of rules given as a table with a line for each clause; see `RuleSet.from_frame`."""
    place = {str(name): f for f, name in enumerate(feature_names)}
    rules: dict[Any, list[tuple[Clause, int]]] = {}
    n_lines = len(columns["rule"])
    empty = [None] * n_lines
    fields = (columns.get(name, empty) for name in ("rule", "feature", "lower", "upper", "missing"))
    for line, (rule, name, lower, upper, missing) in enumerate(zip(*fields, strict=True)):
        if str(name) not in place:
            raise RuleTextError(f"line {line} is about {name!r}, but there is no column of that name.")
        clause = Clause(place[str(name)], str(name), _or(lower, -math.inf), _or(upper, math.inf), bool(_or(missing, 0)))
        if clause.is_empty():
            raise RuleTextError(f"line {line}: no value lies in ({clause.lower}, {clause.upper}]; give lower < upper.")
        rules.setdefault(rule, []).append((clause, line))
    return [_merged(clauses, f"the lines of rule {rule!r}", j) for j, (rule, clauses) in enumerate(rules.items())]


def _or(value: Any, default: float) -> float:
    """The number in a cell, or what an empty cell means."""
    return default if value is None or math.isnan(value) else float(value)
