"""Deadlines, by `time.perf_counter`."""

from __future__ import annotations

import time
from typing import NamedTuple


def is_late(deadline: float | None, seconds: float = 0.0) -> bool:
    """Whether time is up, or would be after something that takes this many seconds.

    >>> is_late(None), is_late(time.perf_counter()), is_late(time.perf_counter() + 60, seconds=90)
    (False, True, True)
    """
    return deadline is not None and time.perf_counter() + seconds >= deadline


class TimeLimits(NamedTuple):
    """When a fit began, when its path ends wherever it is, and when all its time is up, by `time.perf_counter`."""

    begin: float
    path: float | None = None
    end: float | None = None

    @classmethod
    def of(cls, time_limit: float | None, *, begin: float, shared: bool) -> TimeLimits:
        """The limits of a fit that began before its model was trained; if time is `shared`, folds get half of it."""
        if time_limit is None:
            return cls(begin)
        now = time.perf_counter()
        return cls(begin, now + time_limit / (2 if shared else 1), now + time_limit)

    @property
    def pruning(self) -> float | None:
        """When rules of a cover must be pruned: in time to choose from them, if half of all time is over by `path`."""
        return None if self.path is None or self.end is None else (self.path + self.end) / 2

    @property
    def seconds(self) -> float:
        """The seconds since the beginning."""
        return time.perf_counter() - self.begin


def check_in_time(deadline: float | None) -> None:
    """Raises if time is up."""
    if is_late(deadline):
        raise TimeoutError("time is up.")
