"""Training in time: on all rows, or on as many of them as there is time for."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import NamedTuple, TypeVar

import numpy as np

from rulecover.typing import Array, Floats, Ints

T = TypeVar("T")

#: How many rows are trained on first.
_FIRST = 1000
#: How time grows with rows: as this power of them, at most.
_POWER = 1.2
#: How many times as long as the last training the next one may take, unless it is on all rows.
_STEP = 16.0
#: A model of fewer times as many rows is not worth its time.
_WORTH = 2.0


class SamplingOrder(NamedTuple):
    """The rows that count in the order in which they are taken, and how many of them must be taken at least."""

    rows: Ints
    least: int


def sampling_order(y: Array, weight: Floats | None, *, classes: bool) -> SamplingOrder:
    """The rows at random, two rows of each class first: libraries need one of each, and some set one aside.

    Parameters
    ----------
    y
        What is to be predicted.
    weight
        What each row counts; rows of no weight are left out.
    classes
        Whether y has classes.

    Examples
    --------
    >>> order = sampling_order(np.array([0] * 50 + [1] * 2), None, classes=True)
    >>> sorted(order.rows[: order.least].tolist())[-2:], len(order.rows)
    ([50, 51], 52)
    """
    counted = np.arange(len(y)) if weight is None else np.flatnonzero(weight > 0)
    rows = np.random.default_rng(0).permutation(counted)
    if not classes:
        return SamplingOrder(rows, min(_FIRST, len(rows)))
    _, codes, counts = np.unique(y[rows], return_inverse=True, return_counts=True)
    by_class = np.argsort(codes, kind="stable")
    rank = np.empty(len(rows), dtype=np.intp)
    rank[by_class] = np.arange(len(rows)) - np.repeat(np.cumsum(counts) - counts, counts)
    least = max(_FIRST, int(np.minimum(counts, 2).sum()))
    return SamplingOrder(rows[np.argsort(rank >= 2, kind="stable")], min(least, len(rows)))


def trained_in_time(train: Callable[[Ints], T], order: SamplingOrder, deadline: float) -> tuple[T, int]:
    """What `train` makes of as many rows as there is time for, and how many they are.

    A model of few rows is trained first. What it took says how many rows there is time for next; if these are all, no
    others are tried before.

    Parameters
    ----------
    train
        From rows to a model that is trained on them.
    order
        The rows, in the order in which they are taken.
    deadline
        When the model must be trained, by `time.perf_counter`. One of the fewest rows is trained in any case.

    Examples
    --------
    >>> order = sampling_order(np.zeros(5000), None, classes=False)
    >>> trained_in_time(len, order, time.perf_counter() + 60), trained_in_time(len, order, time.perf_counter())
    ((5000, 5000), (1000, 1000))
    """
    size, n_rows = order.least, len(order.rows)
    while True:
        begin = time.perf_counter()
        model = train(order.rows[:size])
        now = time.perf_counter()
        times = max(0.0, deadline - now) / max(now - begin, 1e-9)
        if size == n_rows:
            return model, size
        if size * times ** (1 / _POWER) >= n_rows:
            size = n_rows
            continue
        larger = int(size * min(times, _STEP) ** (1 / _POWER))
        if larger < _WORTH * size:
            return model, size
        size = min(larger, n_rows)
