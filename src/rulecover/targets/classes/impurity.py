"""Impurities of classes: w from the (weighted) number of samples of each class."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from rulecover.targets.impurity import Impurity
from rulecover.typing import Floats


@dataclass(frozen=True)
class Gini:
    """One minus the sum of squared class shares: 0 for a pure rule, below 1.

    >>> Gini()(np.array([[3.0, 1.0], [2.0, 0.0]]))
    array([0.375, 0.   ])
    """

    at_least_gini: ClassVar[bool] = True

    def __call__(self, sums: Floats) -> Floats:
        shares = sums / sums.sum(axis=1, keepdims=True)
        # 1 - Σ p² is a rounding error below or above 0 for pure rules, which would break their ties.
        impurity: Floats = np.maximum(1.0 - np.square(shares).sum(axis=1), 0.0)
        return impurity


@dataclass(frozen=True)
class Entropy:
    """Entropy of the class shares in bits: 0 for a pure rule, at most log2 of the number of classes.

    >>> Entropy()(np.array([[2.0, 2.0], [2.0, 0.0]]))
    array([1., 0.])
    """

    at_least_gini: ClassVar[bool] = True

    def __call__(self, sums: Floats) -> Floats:
        shares = sums / sums.sum(axis=1, keepdims=True)
        logs = np.log2(shares, out=np.zeros_like(shares), where=shares > 0)
        impurity: Floats = -(shares * logs).sum(axis=1) + 0.0
        return impurity


CRITERIA: dict[str, Impurity] = {"gini": Gini(), "entropy": Entropy(), "log_loss": Entropy()}
