"""Impurity of a rule: what to sum over its samples, and w from the sums."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from rulecover.typing import Floats

#: Digits after the point of a squared error, whose unit is made to be comparable with 1.
_DIGITS = 9


class Impurity(Protocol):
    """From the sums over the samples of each rule, rules x columns, to its impurity w."""

    def __call__(self, sums: Floats) -> Floats: ...


@dataclass(frozen=True)
class Gini:
    """One minus the sum of squared class shares: 0 for a pure rule, below 1.

    >>> Gini()(np.array([[3.0, 1.0], [2.0, 0.0]]))
    array([0.375, 0.   ])
    """

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

    def __call__(self, sums: Floats) -> Floats:
        shares = sums / sums.sum(axis=1, keepdims=True)
        logs = np.log2(shares, out=np.zeros_like(shares), where=shares > 0)
        impurity: Floats = -(shares * logs).sum(axis=1) + 0.0
        return impurity


CRITERIA: dict[str, Impurity] = {"gini": Gini(), "entropy": Entropy(), "log_loss": Entropy()}


@dataclass(frozen=True)
class SquaredError:
    """The mean squared distance from the rule's mean, from Σ weight, Σ weight · z and Σ weight · z².

    >>> SquaredError()(np.array([[2.0, 0.0, 2.0], [1.0, 3.0, 9.0]]))
    array([1., 0.])
    """

    def __call__(self, sums: Floats) -> Floats:
        mean, square = sums[:, 1] / sums[:, 0], sums[:, 2] / sums[:, 0]
        # Sums taken in another order differ in their last digits, which must not decide between equal rules.
        return np.asarray(np.round(np.maximum(square - mean**2, 0.0), _DIGITS), dtype=np.float64)


NUMERIC_CRITERIA: dict[str, Impurity] = {"squared_error": SquaredError()}
