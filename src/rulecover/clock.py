"""Deadlines, by `time.perf_counter`."""

from __future__ import annotations

import time


def is_late(deadline: float | None, seconds: float = 0.0) -> bool:
    """Whether time is up, or would be after something that takes this many seconds.

    >>> is_late(None), is_late(time.perf_counter()), is_late(time.perf_counter() + 60, seconds=90)
    (False, True, True)
    """
    return deadline is not None and time.perf_counter() + seconds >= deadline
