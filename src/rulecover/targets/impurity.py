"""What a rule costs: an impurity of what it covers, and a price made of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from rulecover.typing import Floats


class Impurity(Protocol):
    """From the sums over the samples of each rule, rules x columns, to its impurity w.

    One of classes that is never below Gini's may say so by ``at_least_gini = True``: exact pricing then has better
    bounds.
    """

    def __call__(self, sums: Floats) -> Floats: ...


@dataclass(frozen=True, eq=False)
class Price:
    """What a rule costs: ``1 + impurity_weight · w + length_weight · clauses``; the paper's is ``1 + w``.

    The 1 is always there: with impurity alone pure rules would be free and the problem degenerate (Section 3).
    """

    impurity: Impurity
    impurity_weight: float = 1.0
    length_weight: float = 0.0

    @property
    def is_at_least_gini(self) -> bool:
        """Whether the impurity is known to be no lower than Gini's."""
        return bool(getattr(self.impurity, "at_least_gini", False))

    def impurity_of(self, sums: Floats) -> Floats:
        """The impurity of each rule; an impurity of one's own is checked here for what it returns."""
        found = self.impurity(sums)
        if np.shape(found) != (len(sums),):
            raise ValueError(
                f"criterion {self.impurity!r} returned an array of shape {np.shape(found)} for the sums of {len(sums)} "
                "rules; it must return one number per rule, as sums.max(axis=1) does."
            )
        return found
