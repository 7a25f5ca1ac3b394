"""Rules and clauses one by one, as people read them; loops over many work on the arrays of a `RuleSet`."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from rulecover.data.categories import CategorySet, has_name
from rulecover.data.dates import date_text, time_text
from rulecover.show.numbers import amount, bound_text, format_number, short_number
from rulecover.show.text import cut_to, printable

#: The most letters of a rule in its `repr`; printed, a rule is whole.
_LONGEST = 100

#: The most categories that are named where they are all that are told apart.
_MOST_NAMED = 10


@dataclass(frozen=True)
class Clause:
    """One clause on one feature, to be read: ``lower < x <= upper``, a set of categories, or missing.

    Parameters
    ----------
    feature, name
        The column's number and name.
    lower, upper
        The interval, open below and closed above.
    missing
        Whether a missing value satisfies the clause.
    categories
        The codes that satisfy the clause, in place of an interval.
    level
        For a 0/1 column that stands for ``name = level``.
    known
        The category behind each code, from 0, if they have names.
    whole
        The least and the largest number that the column held, if all were whole numbers: bounds are written as whole
        numbers then.
    frequent
        How many categories, the first by their codes, are told apart where all others are taken together; 0 where all
        are told apart.
    date
        For the days of a column of dates: its name. Bounds are written as dates then.
    zero
        Whether 0 satisfies the clause, if the interval does not decide that: where 0 counts as missing.
    """

    feature: int
    name: str
    lower: float = -np.inf
    upper: float = np.inf
    missing: bool = False
    categories: CategorySet | None = None
    level: str | None = None
    known: Sequence[Any] = ()
    zero: bool | None = None
    whole: tuple[float, float] | None = None
    frequent: int = 0
    date: str | None = None

    def __str__(self) -> str:
        if self.group_in_words:
            return self._text()
        short = None if self.categories is None else self.categories.shortest(self.known)
        return replace(self, categories=short)._text()

    @property
    def exact(self) -> str:
        """The clause in words that hold for unknown categories and numbers too; `str` is as short as possible."""
        return replace(self, whole=None, frequent=0, date=None)._text()

    @property
    def group_in_words(self) -> str:
        """The group of all rare categories, or of all others, in words; empty for any other set, and for few names."""
        if self.categories is None or self.frequent <= _MOST_NAMED or self.frequent >= len(self.known):
            return ""
        codes = {int(code) for code in self.categories.codes if has_name(code, self.known)}
        frequent, rare = set(range(self.frequent)), set(range(self.frequent, len(self.known)))
        if codes == (frequent if self.categories.others else rare):
            return f"none of the {self.frequent} most frequent"
        return f"one of the {self.frequent} most frequent" if codes in (frequent, rare) else ""

    def _text(self) -> str:
        text, by_number = self._condition(), self.lower < 0 <= self.upper
        also = ["0"] * (self.zero is True and not by_number) + ["missing"] * self.missing
        if text:
            text += " but not 0" if self.zero is False and by_number else ""
            return f"({' or '.join([text, *also])})" if also else text
        if self._takes_all():
            never = "neither 0 nor missing" if self.zero is False else "not missing"
            return f"{self.said_name} is {'anything' if self.missing else never}"
        return f"{self.said_name} is {' or '.join(also) or 'missing'}"

    @property
    def dates(self) -> tuple[str, str] | None:
        """The bounds as dates or times, empty where there is none; ``None`` if they are not written as such."""
        if self.date is None or self.zero is not None or self.categories is not None:
            return None
        ends = self.whole_ends if self.whole is not None else (self.lower, self.upper)
        if ends is None:
            return None
        write = date_text if self.whole is not None else time_text
        low, high = ("" if math.isinf(end) else write(end) for end in ends)
        return None if low is None or high is None else (low, high)

    @property
    def said_name(self) -> str:
        """The column that the clause is about in words: the days of dates are said to be the dates."""
        return self.name if self.date is None or self.dates is None else self.date

    def _takes_all(self) -> bool:
        if self.categories is not None:
            return self.categories == CategorySet((), others=True)
        return self.lower == -np.inf and self.upper == np.inf

    def is_empty(self) -> bool:
        """Whether nothing satisfies the clause."""
        if self.missing:
            return False
        return self.lower >= self.upper if self.categories is None else self.categories == CategorySet(())

    def _condition(self) -> str:
        if self.group_in_words:
            return f"{self.name} is {self.group_in_words}"
        if self.categories is not None:  # without codes only a missing value, or every other one, is meant
            return f"{self.name} {self.categories.text(self.known)}" if self.categories.codes else ""
        if self.level is not None and self.lower == -np.inf and 0 <= self.upper < 1:
            return f"{self.name} ≠ {self.level}"
        if self.level is not None and 0 <= self.lower < 1 and self.upper == np.inf:
            return f"{self.name} = {self.level}"
        return self._interval()

    def _interval(self) -> str:
        if self.lower == np.inf or (self.lower, self.upper) == (-np.inf, np.inf):  # missing, or anything but that
            return ""
        if (dates := self.dates) is not None:
            return _text_interval(self.said_name, *dates, closed=self.whole is not None)
        if (ends := self.whole_ends) is not None:
            return _text_interval(self.name, *(_or_empty(end) for end in ends), closed=True)
        return self._plain_interval()

    def _plain_interval(self) -> str:
        above, lower = bound_text(self.lower, (">", ">="))
        below, upper = bound_text(self.upper, ("<=", "<"))
        if self.lower == -np.inf:
            return f"{self.name} {below} {upper}"
        if self.upper == np.inf:
            return f"{self.name} {above} {lower}"
        if math.nextafter(self.lower, math.inf) == self.upper:
            return f"{self.name} = {short_number(self.upper)}"
        return f"{lower} {above.replace('>', '<')} {self.name} {below} {upper}"

    @property
    def whole_ends(self) -> tuple[float, float] | None:
        """The whole numbers from one to the other that satisfy the clause, if it is to be written like this.

        One that is infinite is not an end. Where only the least or the largest number that the column held satisfies
        it, both ends are that number.
        """
        if self.whole is None or self.zero is not None or self.categories is not None:
            return None
        low, high = np.floor(self.lower) + 1.0, float(np.floor(self.upper))
        low = high if high == self.whole[0] and low == -np.inf else float(low)
        high = low if low == self.whole[1] and high == np.inf else high
        return (low, high) if low <= high else None


def _or_empty(end: float) -> str:
    return "" if math.isinf(end) else short_number(end)


def _text_interval(name: str, low: str, high: str, *, closed: bool) -> str:
    """From one end to the other, an empty one is none; the lower end satisfies the clause if it is closed."""
    if low == high and closed:
        return f"{name} = {low}"
    above = ">=" if closed else ">"
    if not low:
        return f"{name} <= {high}"
    if not high:
        return f"{name} {above} {low}"
    return f"{low} {above.replace('>', '<')} {name} <= {high}"


@dataclass(frozen=True, eq=False)
class Rule:
    """One rule, to be read: its clauses and, if it was evaluated on data, what is known of it.

    Parameters
    ----------
    clauses
        All of them must hold.
    prediction, support, impurity, cost
        The class it votes for or the mean of its numbers, the (weighted) number of training rows it covers, the
        impurity and the cost; ``None`` before the rule was evaluated on data.
    purity, counts
        For classification: the share of the predicted class among these rows, and the number of each class.
    spread, adds
        For regression: the standard deviation, and what the rule adds to the prediction where values were fitted.
    """

    clauses: tuple[Clause, ...]
    prediction: Any = None
    support: float | None = None
    purity: float | None = None
    counts: dict[Any, float] | None = None
    impurity: float | None = None
    cost: float | None = None
    spread: float | None = None
    adds: float | None = None

    @property
    def text(self) -> str:
        """The clauses alone, such as ``age > 30 and 1000 < income <= 2000``."""
        return " and ".join(str(clause) for clause in self.clauses) or "always"

    @property
    def exact(self) -> str:
        """The clauses in words that hold for unknown categories too."""
        return " and ".join(clause.exact for clause in self.clauses) or "always"

    def __repr__(self) -> str:
        return f"<Rule: {cut_to(_LONGEST, str(self))}>"

    def __str__(self) -> str:
        return printable(self._said())

    def _said(self) -> str:
        if self.support is None:
            return f"if {self.text}"
        support = amount(self.support)
        rows = f"{support} {'row' if support == '1' else 'rows'}"
        if self.purity is None:
            mean = f"{format_number(self.prediction)} ± {format_number(self.spread or 0.0)}"
            return f"if {self.text} then {mean} ({rows})"
        return f"if {self.text} then {self.prediction} ({rows}, {100 * self.purity:.0f} %)"
