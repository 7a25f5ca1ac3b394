"""Which priced rules enter the pool."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from rulecover.typing import Floats, Ints

#: A reduced cost counts as negative below minus this: rules in the pool, whose reduced cost the LP calls 0, stay out.
TOLERANCE = 1e-6


class Admission(Protocol):
    """From reduced costs to the indices of the rules that enter, all of which have negative reduced cost."""

    def __call__(self, reduced_cost: Floats) -> Ints: ...


@dataclass(frozen=True)
class Negative:
    """Every rule of negative reduced cost (Algorithm 2, line 7), or only the most negative few.

    >>> Negative()(np.array([0.5, -0.2, 0.0, -0.9])), Negative(at_most=1)(np.array([0.5, -0.2, 0.0, -0.9]))
    (array([1, 3]), array([3]))
    """

    at_most: int | None = None

    def __post_init__(self) -> None:
        if self.at_most is not None and self.at_most < 1:
            raise ValueError(f"at_most is {self.at_most}; at least one rule must be admitted.")

    def __call__(self, reduced_cost: Floats) -> Ints:
        negative = np.flatnonzero(reduced_cost < -TOLERANCE)
        best = negative[np.argsort(reduced_cost[negative], kind="stable")[: self.at_most]]
        return np.sort(best)


ADMISSIONS: dict[str, Admission] = {"all": Negative(), "best": Negative(at_most=1)}
