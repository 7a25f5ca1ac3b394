"""Bounds as short as they can be without changing sides for any value that is known."""

from __future__ import annotations

import numpy as np

from rulecover.show.numbers import MOST_DECIMALS, shortest_in
from rulecover.typing import Floats, Ints

#: More than the relative error of a number that is scaled by a power of ten.
_ROUNDING = 1e-15


def short_bounds(values: Floats, bounds: Floats) -> Floats:
    """For each of the sorted bounds the number with fewest decimals that has the same values above it.

    >>> short_bounds(np.array([2.4, 3.1]), np.array([2.7499]))
    array([3.])
    """
    below, above = gaps(values, bounds)
    wanted = zip(below.tolist(), above.tolist(), bounds.tolist(), decimals_needed(below, above).tolist(), strict=True)
    return np.array([shortest_in(*each) for each in wanted])


def decimals_needed(low: Floats, high: Floats) -> Ints:
    """At least this many decimals does every number need in ``low <= number < high``.

    >>> decimals_needed(np.array([2.4, 2.41, -np.inf]), np.array([3.1, 2.49, 0.001]))
    array([0, 2, 0])
    """
    needed = np.zeros(len(low), dtype=np.intp)
    is_open = np.ones(len(low), dtype=bool)
    with np.errstate(over="ignore", invalid="ignore"):  # beyond the range of floats nothing is said
        for decimals in range(MOST_DECIMALS):
            least, most = low * 10.0**decimals, high * 10.0**decimals
            rounding = _ROUNDING * np.maximum(np.abs(least), np.abs(most))
            is_open &= np.ceil(least - rounding) >= most + rounding
            if not is_open.any():
                break
            needed[is_open] = decimals + 1
    return needed


def gaps(values: Floats, bounds: Floats) -> tuple[Floats, Floats]:
    """For each of the sorted bounds the largest value that is not above it, and the smallest that is."""
    known = np.concatenate([[-np.inf], np.sort(_near(values, bounds)), [np.inf]])
    place = np.searchsorted(known, bounds, side="right")
    return known[place - 1], known[place]


def _near(values: Floats, bounds: Floats, *, stride: int = 32, cells: int = 8192) -> Floats:
    """Some of the values, the neighbours of every bound among them: few enough to be cheap to sort.

    Every 32nd value gives a window around each bound; of the other values only those matter that share a cell of a
    regular grid with a window.
    """
    if len(values) < stride * cells // 8:
        return values
    low, high = float(values.min()), float(values.max())
    some = np.concatenate([[low], np.sort(values[::stride]), [high]])
    place = np.clip(np.searchsorted(some, bounds, side="right"), 1, len(some) - 1)
    scale = cells / (high - low) if high > low else 0.0

    def cell(of: Floats) -> Ints:
        return ((of - low) * scale).astype(np.intp)

    marks = np.zeros(cells + 2, dtype=np.intp)
    np.add.at(marks, cell(some[place - 1]), 1)
    np.add.at(marks, cell(some[place]) + 1, -1)
    return np.concatenate([some, values[(np.cumsum(marks) > 0)[cell(values)]]])
