"""Solvers for the two choices of a cover that is shortened in between, which share the time there is."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any, Self

from rulecover.clock import deadline_of, earliest
from rulecover.setcover import Cover, CoveringProblem, CoverSolver, verify
from rulecover.setcover.solver import AnySolver, SolverOnSamples
from rulecover.targets.samples import Samples

#: Seconds that a solver has even if time is up.
_LEAST = 0.01


@dataclass(frozen=True, eq=False)
class TimedSolver:
    """A solver whose time limit is that of all its calls together, from now on.

    Parameters
    ----------
    solver
        The solver.
    samples
        What is to be covered.
    ends
        When it must be done, by `time.perf_counter`; ``None`` where it has no limit that could be shared.
    """

    solver: AnySolver
    samples: Samples
    ends: float | None

    @classmethod
    def of(cls, solver: AnySolver, samples: Samples, *, deadline: float | None = None) -> Self:
        """The solver for these samples; it ends with its own time limit, and no later than the deadline."""
        if not hasattr(solver, "within_seconds"):
            return cls(solver, samples, None)
        own = deadline_of(getattr(solver, "time_limit", None), begin=time.perf_counter())
        return cls(solver, samples, earliest(deadline, own))

    def first_choice(self, problem: CoveringProblem) -> Cover:
        """A cover that is chosen from again, of which nothing is claimed: it needs no bound, and half of the time."""
        solver: Any = self.solver
        plain = solver.without_bound() if hasattr(solver, "without_bound") else solver
        return self._in_time(plain, share=0.5)(problem)

    def __call__(self, problem: CoveringProblem, *, max_rules: int | None = None) -> Cover:
        """The cover, verified."""
        cover = self._in_time(self.solver)(problem, max_rules=max_rules)
        if not getattr(self.solver, "verifies", False):
            verify(problem, cover)
        return cover

    def _in_time(self, solver: Any, share: float = 1.0) -> CoverSolver:
        """The solver with a share of the time that is left, for the samples."""
        if self.ends is not None:
            solver = solver.within_seconds(max(_LEAST, share * (self.ends - time.perf_counter())))
        ready: CoverSolver = solver.for_samples(self.samples) if isinstance(solver, SolverOnSamples) else solver
        return ready
