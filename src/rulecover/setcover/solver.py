"""The contract of a cover solver."""

from typing import Protocol, runtime_checkable

from rulecover.setcover.problem import Cover, CoveringProblem


@runtime_checkable
class CoverSolver(Protocol):
    """A frozen dataclass with its settings, called with a problem; what it returns has passed `verify`."""

    def __call__(self, problem: CoveringProblem, *, max_rules: int | None = None) -> Cover: ...
