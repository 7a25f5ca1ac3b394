"""What rules must keep to: columns that they may not use, must use, or may use in one direction only."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from rulecover.data.columns import Parts
from rulecover.data.dates import RISING
from rulecover.exceptions import MismatchedDataError
from rulecover.rules.ruleset import RuleSet
from rulecover.typing import Bools, Ints


@dataclass(frozen=True, eq=False)
class Constraints:
    """What a rule set must keep to.

    Parameters
    ----------
    feature_names
        The columns.
    forbidden
        Columns that no rule may use.
    required
        Columns each of which some rule must use.
    monotone
        For each column 1 if the prediction must not fall as its value grows, -1 if it must not rise, 0 if it is free.
    max_clauses
        The most clauses of a rule.
    dates
        For each column the column of dates that it is made of, or itself: a rule uses dates that it has a part of.
    """

    feature_names: tuple[str, ...]
    forbidden: Ints
    required: Ints
    monotone: Ints
    max_clauses: int | None = None
    dates: Ints | None = None

    @classmethod
    def of(
        cls,
        feature_names: tuple[str, ...],
        *,
        forbidden: Iterable[Any] | None = None,
        required: Iterable[Any] | None = None,
        monotone: Mapping[Any, int] | None = None,
        max_clauses: int | None = None,
        parts: Parts | None = None,
    ) -> Constraints:
        """Constraints on columns that are given by number or by name.

        Dates are forbidden with all their parts, and any of these is enough where they are required. Monotone ones are
        so in time: their days and their year are, and their month and their weekday, which begin again, are forbidden.
        """
        directions = _directions(monotone or {}, feature_names)
        parts = {} if parts is None else parts
        dates = np.arange(len(feature_names))
        repeated: list[int] = []
        for f, part in parts.items():
            if part.name not in feature_names:
                continue
            dates[f] = feature_names.index(part.name)
            if direction := directions[dates[f]]:
                directions[f] = direction
                repeated += [] if part.part in RISING else [f]
        hidden = _with_parts(column_numbers("forbidden", forbidden, feature_names), feature_names, parts)
        made = cls(
            feature_names,
            np.union1d(hidden, repeated).astype(np.intp),
            column_numbers("required", required, feature_names),
            directions,
            max_clauses,
            dates,
        )
        both = np.intersect1d(made.forbidden, made.required)
        if both.size:
            raise ValueError(f"column {feature_names[both[0]]!r} is both forbidden and required; choose one.")
        return made

    def which_required(self, features: Ints) -> Bools:
        """Which of some features are which required one, or a part of it: features x required."""
        whole = features if self.dates is None else self.dates[features]
        return np.asarray((features[:, None] == self.required) | (whole[:, None] == self.required))

    def check_outputs(self, n_outputs: int) -> None:
        """Raises if a direction is asked for where it has no meaning: with three classes or more."""
        if self.monotone.any() and n_outputs > 2:
            raise ValueError(
                f"monotone features need two classes or numbers, but there are {n_outputs} classes; "
                "leave monotone out, or ask for one class against the others."
            )

    def check_met(self, unmet: Ints, max_rules: int) -> None:
        """Raises if required columns are left that no rule uses."""
        if unmet.size:
            names = _some(tuple(self.feature_names[f] for f in unmet))
            raise ValueError(
                f"no rule of up to {max_rules} uses {names}, which is required: there is no allowed node of the model "
                "with it that explains anything, or no room; raise max_rules or max_depth, or require less."
            )

    def check_given(self, given: RuleSet, max_rules: int) -> None:
        """Raises unless the rules that are to be kept fit the data and the other constraints."""
        if given.feature_names != self.feature_names:
            raise MismatchedDataError(
                f"the rules to keep have the columns {_some(given.feature_names)}, but the data have "
                f"{_some(self.feature_names)}; give the same columns in the same order."
            )
        if len(given) > max_rules:
            raise ValueError(f"{len(given)} rules are to be kept, but max_rules is {max_rules}; raise it.")
        broken = np.flatnonzero(~self.allows(given))
        if broken.size:
            raise ValueError(
                f"rule {broken[0]} of those to be kept, {given[int(broken[0])].text!r}, breaks the constraints on "
                "forbidden or monotone features or on clauses; change one or the other."
            )

    def allows(self, rules: RuleSet) -> Bools:
        """Which rules keep to all constraints."""
        bad = np.isin(rules.clauses.feature, self.forbidden)
        up, down = self._clause_signs(rules)
        owner = rules.clauses.owner
        tally = np.stack([np.bincount(owner[mask], minlength=len(rules)) for mask in (bad, up, down)])
        allowed = (tally[0] == 0) & ((tally[1] == 0) | (tally[2] == 0))
        return np.asarray(allowed if self.max_clauses is None else allowed & (rules.lengths <= self.max_clauses))

    def signs(self, rules: RuleSet) -> Ints:
        """What the votes of allowed rules may be: 1 not negative, -1 not positive, 0 anything."""
        owner = rules.clauses.owner
        return np.sign(np.bincount(owner, weights=self.clause_signs(rules), minlength=len(rules))).astype(np.intp)

    def _clause_signs(self, rules: RuleSet) -> tuple[Bools, Bools]:
        """Which clauses ask for a vote that is not negative, and which for one that is not positive.

        Only larger values satisfy a clause that has a lower bound alone. One with two bounds, or with a set of
        categories, is satisfied in between: it asks for both, and no vote but zero satisfies that.
        """
        clauses = rules.clauses
        direction = self.monotone[clauses.feature]
        below, above = np.isfinite(clauses.lower), np.isfinite(clauses.upper)
        between = (clauses.category >= 0) | (below & above)
        rising, falling = below | between, above | between
        up = ((direction > 0) & rising) | ((direction < 0) & falling)
        down = ((direction > 0) & falling) | ((direction < 0) & rising)
        return up, down

    def clause_signs(self, rules: RuleSet) -> Ints:
        """The sign that each clause of allowed rules asks for."""
        up, down = self._clause_signs(rules)
        return up.astype(np.intp) - down


def column_numbers(setting: str, columns: Iterable[Any] | None, names: tuple[str, ...]) -> Ints:
    """The numbers of columns that are given by number or by name."""
    if isinstance(columns, str):
        raise TypeError(f"{setting} is {columns!r}; give a list of columns, such as [{columns!r}].")
    found = [_number(setting, column, names) for column in (() if columns is None else columns)]
    return np.unique(np.array(found, dtype=np.intp))


def _directions(monotone: Mapping[Any, int], names: tuple[str, ...]) -> Ints:
    """The direction of each column, 0 where none is given."""
    directions = np.zeros(len(names), dtype=np.intp)
    for column, direction in monotone.items():
        if direction not in (-1, 0, 1):
            raise ValueError(f"monotone[{column!r}] is {direction!r}; give 1 (never falls), -1 (never rises) or 0.")
        directions[_number("monotone", column, names)] = direction
    return directions


def _with_parts(columns: Ints, names: tuple[str, ...], parts: Parts) -> Ints:
    """The columns, and those that are made of the dates among them."""
    dates = {names[f] for f in columns.tolist()}
    return np.union1d(columns, [f for f, part in parts.items() if part.name in dates]).astype(np.intp)


def _number(setting: str, column: Any, names: tuple[str, ...]) -> int:
    if isinstance(column, str):
        if column not in names:
            raise ValueError(f"{setting} names {column!r}, but there is no such column; there are {_some(names)}.")
        return names.index(column)
    if isinstance(column, bool) or not isinstance(column, (int, np.integer)):
        raise TypeError(f"{setting} has {column!r}; give columns by number or by name.")
    if not 0 <= column < len(names):
        raise ValueError(f"{setting} has column {column}, but there are {len(names)}, numbered from 0.")
    return int(column)


def _some(names: tuple[str, ...], most: int = 10) -> str:
    shown = ", ".join(map(repr, names[:most]))
    return shown if len(names) <= most else f"{shown} and {len(names) - most} more"
