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


def deadline_of(time_limit: float | None, *, begin: float) -> float | None:
    """When time is up, by `time.perf_counter`, whatever kind of number the limit is.

    >>> import numpy as np
    >>> deadline_of(np.float32(0.5), begin=1e9), deadline_of(None, begin=1e9)
    (1000000000.5, None)
    """
    return None if time_limit is None else begin + float(time_limit)


def earliest(*deadlines: float | None) -> float | None:
    """The first of several deadlines, if there is one.

    >>> earliest(None, 7.0, 5.0), earliest(None)
    (5.0, None)
    """
    return min((each for each in deadlines if each is not None), default=None)


def late(deadline: float | None, seconds: float) -> float | None:
    """A deadline for what may take this many seconds longer.

    >>> late(100.0, 1.5), late(None, 1.5)
    (101.5, None)
    """
    return None if deadline is None else deadline + seconds


def training_deadline(begin: float, time_limit: float | None) -> float | None:
    """When a model must be trained, by `time.perf_counter`: half of the time of a fit is for what comes after.

    >>> training_deadline(100.0, 60), training_deadline(100.0, None)
    (130.0, None)
    """
    return None if time_limit is None else begin + float(time_limit) / 2


class TimeLimits(NamedTuple):
    """When a fit began, when its path ends wherever it is, and when all its time is up, by `time.perf_counter`."""

    begin: float
    path: float | None = None
    end: float | None = None

    @classmethod
    def of(cls, time_limit: float | None, *, begin: float, shared: bool) -> TimeLimits:
        """The limits of a fit whose model is trained; if time is `shared`, folds get half of what is left.

        >>> now = time.perf_counter()
        >>> limits = TimeLimits.of(60, begin=now - 20, shared=True)
        >>> round(limits.path - now), round(limits.end - now)
        (20, 40)
        """
        if time_limit is None:
            return cls(begin)
        now, end = time.perf_counter(), begin + float(time_limit)
        return cls(begin, now + max(0.0, end - now) / (2 if shared else 1), end)

    def reading(self, *, passes: int) -> float | None:
        """When trees must be read, if what comes after takes as long again for each pass over what was read.

        >>> now = time.perf_counter()
        >>> limits = TimeLimits(now, now + 30, now + 60)
        >>> round(limits.reading(passes=1) - now), round(limits.reading(passes=2) - now)
        (30, 20)
        >>> TimeLimits(0.0, path=9.0, end=6.0).reading(passes=2)  # time is up
        9.0
        """
        if self.path is None or self.end is None:
            return None
        return min(self.path, self.end - (self.end - self.path) * 2 * passes / (1 + passes))

    @property
    def pruning(self) -> float | None:
        """When rules of a cover must be pruned: in time to choose from them, if half of all time is over by `path`."""
        return None if self.path is None or self.end is None else (self.path + self.end) / 2

    @property
    def seconds(self) -> float:
        """The seconds since the beginning."""
        return time.perf_counter() - self.begin


def cut_in_words(done: int, of: int, what: str) -> str:
    """How many of several things there was time for, if not for all.

    >>> cut_in_words(7, 30, "trees were read"), cut_in_words(30, 30, "trees were read")
    ('7 of 30 trees were read', '')
    """
    return f"{done} of {of} {what}" if done < of else ""


def check_in_time(deadline: float | None) -> None:
    """Raises if time is up."""
    if is_late(deadline):
        raise TimeoutError("time is up.")
