"""The settings of solvers, checked where they are made."""

from __future__ import annotations

import math

import numpy as np


def check_effort(effort: float) -> None:
    if isinstance(effort, bool) or not isinstance(effort, (int, float, np.number)) or not 0 < effort < math.inf:
        raise ValueError(f"effort is {effort!r}; give a positive number: 1 for about a second, 10 for about ten.")


def check_seed(random_state: int | None) -> None:
    is_whole = isinstance(random_state, (int, np.integer)) and not isinstance(random_state, bool)
    if random_state is not None and (not is_whole or random_state < 0):
        raise ValueError(f"random_state is {random_state!r}; give a whole number of at least 0, or None.")


def check_time_limit(time_limit: float | None) -> None:
    is_number = isinstance(time_limit, (int, float, np.number)) and not isinstance(time_limit, bool)
    if time_limit is not None and (not is_number or not time_limit > 0):
        raise ValueError(f"time_limit is {time_limit!r}; give a positive number of seconds, or None for no limit.")
