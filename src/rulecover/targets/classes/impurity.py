"""Impurities of classes: w from the (weighted) number of samples of each class."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from rulecover.targets.impurity import Impurity
from rulecover.typing import Floats

#: How many numbers fit into the fast memory of a processor.
_BLOCK = 2**16


@dataclass(frozen=True)
class Gini:
    """One minus the sum of squared class shares: 0 for a pure rule, below 1.

    >>> Gini()(np.array([[3.0, 1.0], [2.0, 0.0]]))
    array([0.375, 0.   ])
    """

    at_least_gini: ClassVar[bool] = True

    def __call__(self, sums: Floats) -> Floats:
        # 1 - Σ p² is a rounding error below or above 0 for pure rules, which would break their ties.
        return _by_blocks(lambda shares: np.maximum(1.0 - np.square(shares).sum(axis=1), 0.0), sums)


@dataclass(frozen=True)
class Entropy:
    """Entropy of the class shares in bits: 0 for a pure rule, at most log2 of the number of classes.

    >>> Entropy()(np.array([[2.0, 2.0], [2.0, 0.0]]))
    array([1., 0.])
    """

    at_least_gini: ClassVar[bool] = True

    def __call__(self, sums: Floats) -> Floats:
        return _by_blocks(_entropy, sums)


def _entropy(shares: Floats) -> Floats:
    logs = np.log2(shares, out=np.zeros_like(shares), where=shares > 0)
    return np.asarray(-(shares * logs).sum(axis=1) + 0.0)


def _by_blocks(impurity: Callable[[Floats], Floats], sums: Floats) -> Floats:
    """The impurity by the shares of the classes in each rule: of many classes a block of rules at a time."""
    found = np.empty(len(sums))
    size = max(1, _BLOCK // max(1, sums.shape[1]))
    for first in range(0, len(sums), size):
        some = sums[first : first + size]
        found[first : first + size] = impurity(some / some.sum(axis=1, keepdims=True))
    return found


CRITERIA: dict[str, Impurity] = {"gini": Gini(), "entropy": Entropy(), "log_loss": Entropy()}
