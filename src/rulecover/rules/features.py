"""What the rules use: how often each feature is used, where its bounds are, and what values rows have."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from rulecover.data.columns import by_columns, values_of
from rulecover.data.dates import date_text
from rulecover.show.numbers import short_number
from rulecover.typing import Floats, Ints

if TYPE_CHECKING:
    from rulecover.rules.ruleset import RuleSet

_BINS = 40


def feature_use(rules: RuleSet) -> list[tuple[str, int]]:
    """Each feature that occurs and how many rules use it, most used first; levels of one column count as one."""
    used = Counter(name for rule in rules for name in sorted({clause.date or clause.name for clause in rule.clauses}))
    return sorted(used.items(), key=lambda item: (-item[1], item[0]))


@dataclass(frozen=True)
class Strip:
    """A feature's values as a histogram, with the bounds that rules have on it.

    Parameters
    ----------
    bars
        The bars of the histogram that are not empty: where they start and how wide they are, in per cent of the range,
        from where to where they reach, from 0 to 1, and the number of their class: classes stand on each other.
    bounds
        Where the bounds are, in per cent of the range.
    ends
        The range, in text.
    """

    bars: tuple[tuple[float, float, float, float, int], ...]
    bounds: tuple[float, ...]
    ends: tuple[str, str]


def strips(rules: RuleSet, X: Any, group: Ints | None = None) -> dict[str, Strip]:
    """A strip for each numeric feature that rules use, by name; X is as the rules see it.

    `group` is the number of the class of each row; without it all rows are of one.
    """
    group = np.zeros(X.shape[0], dtype=np.intp) if group is None else group
    made = {}
    clauses, X = rules.clauses, by_columns(X)
    for f in clauses.columns.tolist():
        mine = (clauses.feature == f) & (clauses.category < 0)
        bounds = np.concatenate([clauses.lower[mine], clauses.upper[mine]])
        bounds = np.unique(bounds[np.isfinite(bounds)])
        if f in rules.columns.levels or f in rules.columns.categories or not bounds.size:
            continue
        column = values_of(X, f)
        known = np.isfinite(column)
        date = rules.columns.dated.get(f)
        made[date or rules.feature_names[f]] = _strip(column[known], group[known], bounds, dates=date is not None)
    return made


def _strip(values: Floats, group: Ints, bounds: Floats, *, dates: bool) -> Strip:
    low, high = float(values.min(initial=bounds[0])), float(values.max(initial=bounds[-1]))
    if not high > low:
        margin = max(0.5, 1e-9 * abs(low))  # half of one is nothing next to 1e30
        low, high = low - margin, high + margin
    n_groups = int(group.max(initial=0)) + 1
    edges = np.linspace(low, high, _BINS + 1), np.arange(n_groups + 1) - 0.5
    counts = np.histogram2d(values, group, bins=edges)[0]
    tops = np.cumsum(counts, axis=1) / max(counts.sum(axis=1).max(), 1.0)
    floors, width = tops - counts / max(counts.sum(axis=1).max(), 1.0), 100 / _BINS
    return Strip(
        bars=tuple(
            (k * width, width, float(floors[k, g]), float(tops[k, g]), g) for k, g in np.argwhere(counts).tolist()
        ),
        bounds=tuple((100 * (bounds - low) / (high - low)).tolist()),
        ends=(_end(low, dates=dates), _end(high, dates=dates)),
    )


def _end(number: float, *, dates: bool) -> str:
    written = date_text(np.floor(number)) if dates else None
    return written or short_number(float(f"{number:.4g}"))
