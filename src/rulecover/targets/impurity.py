"""What a rule costs: an impurity of what it covers, and a price made of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from rulecover.typing import Floats


class Impurity(Protocol):
    """From the sums over the samples of each rule, rules x columns, to its impurity w."""

    def __call__(self, sums: Floats) -> Floats: ...


@dataclass(frozen=True, eq=False)
class Price:
    """What a rule costs: ``1 + impurity_weight · w + length_weight · clauses``; the paper's is ``1 + w``.

    The 1 is always there: with impurity alone pure rules would be free and the problem degenerate (Section 3).
    """

    impurity: Impurity
    impurity_weight: float = 1.0
    length_weight: float = 0.0
