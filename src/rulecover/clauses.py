"""Rules and clauses one by one, as people read them; loops over many work on the arrays of a `RuleSet`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from rulecover.view.numbers import amount, short_number
from rulecover.view.of_numbers import spoken


@dataclass(frozen=True)
class Clause:
    """One condition on one feature, for people: ``lower < x <= upper``, a set of categories, or missing.

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
    """

    feature: int
    name: str
    lower: float = -np.inf
    upper: float = np.inf
    missing: bool = False
    categories: tuple[float, ...] | None = None
    level: str | None = None

    def __str__(self) -> str:
        text = self._condition()
        if not self.missing:
            return text or f"{self.name} is not missing"
        return f"({text} or missing)" if text else f"{self.name} is missing"

    def _condition(self) -> str:
        lower, upper = short_number(self.lower), short_number(self.upper)
        if self.categories is not None:
            return f"{self.name} in {{{', '.join(short_number(code) for code in self.categories)}}}"
        if self.lower == np.inf:  # only a missing value can be here
            return ""
        if self.level is not None and self.lower == -np.inf and 0 <= self.upper < 1:
            return f"{self.name} ≠ {self.level}"
        if self.level is not None and 0 <= self.lower < 1 and self.upper == np.inf:
            return f"{self.name} = {self.level}"
        if self.lower == -np.inf:
            return "" if self.upper == np.inf else f"{self.name} <= {upper}"
        return f"{self.name} > {lower}" if self.upper == np.inf else f"{lower} < {self.name} <= {upper}"


@dataclass(frozen=True, eq=False)
class Rule:
    """One rule, for people: its clauses and, if it has met data, what it found there.

    Parameters
    ----------
    clauses
        All of them must hold.
    prediction, support, impurity, cost
        The class it votes for or the mean of its numbers, the (weighted) number of samples it covers, the impurity and
        the price; ``None`` before the rule has met data.
    purity, counts
        Of classes: the share of the predicted class among the samples, and the number of each class.
    spread, adds
        Of numbers: their standard deviation, and what the rule adds to the answer where values were fitted.
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
        """The condition alone, such as ``age > 30 and 1000 < income <= 2000``."""
        return " and ".join(str(clause) for clause in self.clauses) or "always"

    def __str__(self) -> str:
        if self.support is None:
            return f"if {self.text}"
        samples = amount(self.support)
        if self.purity is None:
            return f"if {self.text} then {spoken(self.prediction)} ± {spoken(self.spread or 0.0)} ({samples} samples)"
        return f"if {self.text} then {self.prediction} ({samples} samples, {100 * self.purity:.0f} %)"
