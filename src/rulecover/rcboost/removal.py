"""Which rules leave the pool."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from rulecover.typing import Bools, Floats


class Removal(Protocol):
    """From reduced costs to the rules that are too expensive; one that is so in `calls` successive solves leaves.

    A rule with a share in the optimum never leaves, so what is left still covers every sample.
    """

    @property
    def calls(self) -> int: ...

    def __call__(self, reduced_cost: Floats) -> Bools: ...


@dataclass(frozen=True)
class Stale:
    """Rules whose reduced cost stayed above a bound for several calls.

    >>> import numpy as np
    >>> Stale(above=0.5)(np.array([0.0, 0.4, 0.9]))
    array([False, False,  True])
    """

    above: float = 0.5
    calls: int = 5

    def __post_init__(self) -> None:
        if not self.above >= 0:
            raise ValueError(f"above is {self.above}; it must be at least 0, the reduced cost of rules in use.")
        if self.calls < 1:
            raise ValueError(f"calls is {self.calls}; a rule can leave after 1 call at the earliest.")

    def __call__(self, reduced_cost: Floats) -> Bools:
        return reduced_cost > self.above


REMOVALS: dict[str, Removal] = {"stale": Stale()}
