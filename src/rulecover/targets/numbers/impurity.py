"""Impurities of numbers: w from Σ weight, Σ weight · z and Σ weight · z²."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rulecover.targets.impurity import Impurity
from rulecover.typing import Floats

#: Decimals of a squared error, whose unit is chosen to be comparable with 1, and digits of the squares that it is a
#: difference of: where these are above a thousand, since the unit is small, fewer of the decimals mean something.
_DIGITS, _OF_SQUARES = 9, 12


@dataclass(frozen=True)
class SquaredError:
    """The mean squared distance from the rule's mean, from Σ weight, Σ weight · z and Σ weight · z².

    >>> SquaredError()(np.array([[2.0, 0.0, 2.0], [1.0, 3.0, 9.0]]))
    array([1., 0.])
    """

    def __call__(self, sums: Floats) -> Floats:
        mean, square = sums[:, 1] / sums[:, 0], sums[:, 2] / sums[:, 0]
        # Sums taken in another order differ in their last digits, which must not decide between equal rules.
        lost = np.maximum(np.ceil(np.log10(np.maximum(square, 1.0))) + _DIGITS - _OF_SQUARES, 0.0)
        return np.asarray(np.round(np.maximum(square - mean**2, 0.0) / 10**lost, _DIGITS) * 10**lost, dtype=np.float64)


NUMERIC_CRITERIA: dict[str, Impurity] = {"squared_error": SquaredError()}
