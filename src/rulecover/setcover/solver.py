"""The contract of a cover solver, and what it may offer on top."""

from __future__ import annotations

from typing import Any, Protocol, runtime_checkable

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
        The same solver with this time limit; asked for where it has a ``time_limit`` that is shared with others.
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
