"""Bounds as short as they can be without changing sides for any value that is known."""

from __future__ import annotations

import numpy as np

from rulecover.show.numbers import shortest_in
from rulecover.typing import Floats, Ints


def short_bounds(values: Floats, bounds: Floats) -> Floats:
    """For each of the sorted bounds the number with fewest decimals that has the same values above it.

    >>> short_bounds(np.array([2.4, 3.1]), np.array([2.7499]))
    array([3.])
    """
    below, above = gaps(values, bounds)
    return np.array([shortest_in(low, high, bound) for low, high, bound in zip(below, above, bounds, strict=True)])


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
