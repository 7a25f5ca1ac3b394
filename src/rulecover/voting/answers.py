"""How sums of votes become answers: a class with its probability, or a number.

Sums are arrays of NumPy or, on a GPU, of CuPy, whose functions NumPy's hand the work to.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from rulecover.typing import Array, Floats

#: Log-odds are whole multiples of this: sums of them are exact in any order.
LOG_ODDS_UNIT = 2.0**-20
#: No class counts as more than exp(30), some ten million million, times less likely than the likeliest one: the
#: probabilities of floats are then neither 0 nor 1.
LARGEST_LOG_ODDS = 30.0


class Answer(Protocol):
    """How the sums of votes of each row (rows x columns) become an answer."""

    @property
    def votes(self) -> tuple[str, ...]:
        """What the columns of the votes are for."""

    def weight(self, sums: Floats) -> Floats:
        """The total weight of the votes for each row; there were no votes where it is not above zero."""

    def decided(self, sums: Floats) -> Array:
        """The answer for each row."""


@dataclass(frozen=True, eq=False)
class Classes:
    """The class with the largest sum of votes, the first on ties; the shares of the sums are its probabilities."""

    labels: Array

    @property
    def votes(self) -> tuple[str, ...]:
        return tuple(str(label) for label in self.labels.tolist())

    def weight(self, sums: Floats) -> Floats:
        total: Floats = sums.sum(axis=1)
        return total

    def decided(self, sums: Floats) -> Array:
        first, second = sums.T if len(self.labels) == 2 else (None, None)
        # Of two columns it is the second only if it is larger: a comparison takes a fifth of the time.
        place = sums.argmax(axis=1) if first is None else (second > first).view(np.uint8)
        return np.asarray(self.labels[place])

    def probabilities(self, sums: Floats) -> Floats:
        """The probability of each class, rows x classes."""
        total = sums.cumsum(axis=1)[:, -1:]  # class by class, also of one row alone
        shares: Floats = sums / total
        return shares

    def sums_of(self, shares: Floats) -> Floats:
        """The sums of votes that stand for these shares or counts of the classes, rows x classes."""
        return shares


@dataclass(frozen=True, eq=False)
class AddedClasses(Classes):
    """The class with the largest sum of votes, which may be negative; the nearest shares are its probabilities.

    Votes like these are fitted so that their sums are nearly probabilities.
    """

    def weight(self, sums: Floats) -> Floats:
        return np.ones_like(sums[:, 0])

    def probabilities(self, sums: Floats) -> Floats:
        return nearest_probabilities(sums)


@dataclass(frozen=True, eq=False)
class LogOddsClasses(AddedClasses):
    """The class with the largest sum of log-odds; its probability follows, and is neither 0 nor 1.

    For two classes the sum for a class is its log-odds, the logarithm of its probability over that of the other; the
    sums for the two differ in sign alone. For more classes probabilities are the softmax of the sums.

    >>> answer = LogOddsClasses(np.array(["no", "yes"]))
    >>> answer.probabilities(np.array([[-1.0, 1.0], [1000.0, -1000.0]])).round(3).tolist()
    [[0.269, 0.731], [1.0, 0.0]]
    """

    @property
    def scale(self) -> float:
        """What sums are multiplied by before the softmax."""
        return 0.5 if len(self.labels) == 2 else 1.0

    def probabilities(self, sums: Floats) -> Floats:
        largest = sums.T.copy().max(axis=0)  # which is quicker than the same along short rows
        below = self.scale * (sums - largest[:, None])
        odds = np.exp(np.maximum(below, -LARGEST_LOG_ODDS))
        shares: Floats = odds / odds.sum(axis=1, keepdims=True)
        return shares

    def sums_of(self, shares: Floats) -> Floats:
        least = np.exp(-LARGEST_LOG_ODDS) * shares.max(axis=1, keepdims=True)
        logs = np.log(np.maximum(shares, least))
        return in_log_odds_units((logs - logs.mean(axis=1, keepdims=True)) / self.scale)


@dataclass(frozen=True)
class Mean:
    """A weighted mean: the sum of the first column of votes (weight times value) over that of the second (weight).

    Parameters
    ----------
    centre, unit
        Values are measured in this unit from this centre.
    squares
        Whether there is a third column, from which `Vote.spread` computes how far off the mean may be.
    """

    centre: float = 0.0
    unit: float = 1.0
    squares: bool = False

    @property
    def votes(self) -> tuple[str, ...]:
        return ("weighted value", "weight", "weighted square")[: 3 if self.squares else 2]

    def weight(self, sums: Floats) -> Floats:
        total: Floats = sums[:, 1]
        return total

    def decided(self, sums: Floats) -> Floats:
        """The weighted mean for each row; the centre where there were no votes."""
        means: Floats = self.centre + self.unit * (sums[:, 0] / np.where(sums[:, 1] > 0, sums[:, 1], 1.0))
        return means


def in_log_odds_units(values: Floats) -> Floats:
    """The nearest whole multiples of `LOG_ODDS_UNIT`."""
    return np.asarray(np.round(values / LOG_ODDS_UNIT) * LOG_ODDS_UNIT)


def nearest_probabilities(votes: Floats) -> Floats:
    """The shares that are nearest to the votes: none negative, and they add up to 1; rows x classes.

    All votes of a row are lowered by the same amount, and what falls below 0 becomes 0: the order stays.

    >>> nearest_probabilities(np.array([[1.25, -0.25], [0.4, 0.6]])).tolist()
    [[1.0, 0.0], [0.4, 0.6]]
    """
    falling = -np.sort(-votes, axis=1)
    surplus = (np.cumsum(falling, axis=1) - 1.0) / np.cumsum(np.ones_like(votes), axis=1)
    # It grows with every share that stays positive, and with no other: the largest value is the surplus.
    shares: Floats = np.maximum(votes - surplus.max(axis=1, keepdims=True), 0.0)
    return shares
