"""The contract of a cover solver, what it may offer on top, and checks of the settings that solvers share."""

from __future__ import annotations

import math
import sys
from typing import Any, Protocol, runtime_checkable

import numpy as np

from rulecover.memory import bytes_of
from rulecover.setcover.problem import Cover, CoveringProblem


@runtime_checkable
class CoverSolver(Protocol):
    """A frozen dataclass with its settings, called with a problem; what it returns has passed `verify`.

    A solver may also have

    ``verifies = True``
        It has its covers verified itself, as `certified` does; those of others are verified again.
    ``without_bound()``
        The same solver with a bound that costs nothing, for a cover of which nothing is claimed.
    ``within_seconds(seconds)``
        The same solver with this time limit. One without it cannot be used by estimators that have a time limit.
    ``kept_in(file)``
        The same solver, which keeps its work in a checkpoint.
    """

    def __call__(self, problem: CoveringProblem, *, max_rules: int | None = None) -> Cover: ...


@runtime_checkable
class SolverOnSamples(Protocol):
    """A solver that looks at what is to be predicted, too; it chooses once it knows the samples."""

    #: What it can look at: "classes" or "numbers".
    target: str

    def for_samples(self, samples: Any) -> CoverSolver:
        """The solver for these samples."""


#: A solver as it is set.
AnySolver = CoverSolver | SolverOnSamples


def check_effort(effort: float) -> None:
    if isinstance(effort, bool) or not isinstance(effort, (int, float, np.number)) or not 0 < effort < math.inf:
        raise ValueError(f"effort is {effort!r}; give a positive number: 1 for about a second, 10 for about ten.")


def check_seed(random_state: int | None) -> None:
    is_whole = isinstance(random_state, (int, np.integer)) and not isinstance(random_state, bool)
    if random_state is not None and (not is_whole or random_state < 0):
        raise ValueError(f"random_state is {random_state!r}; give a whole number of at least 0, or None.")


def check_time_limit(time_limit: Any, name: str = "time_limit") -> None:
    is_number = isinstance(time_limit, (int, float, np.number)) and not isinstance(time_limit, bool)
    beyond_floats = isinstance(time_limit, int) and time_limit > sys.float_info.max
    if time_limit is not None and (not is_number or not time_limit > 0 or beyond_floats):
        raise ValueError(f"{name} is {time_limit!r}; give a positive number of seconds, or None for no limit.")


def memory_of(memory_limit: int | str | None) -> int | None:
    """A memory limit in bytes; raises for what is none."""
    return None if memory_limit is None else bytes_of(memory_limit)
