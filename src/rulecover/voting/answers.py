"""How sums of votes become answers: a class with its probability, or a number."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from rulecover.typing import Array, Floats


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
        return np.asarray(sums.sum(axis=1))

    def decided(self, sums: Floats) -> Array:
        return np.asarray(self.labels[sums.argmax(axis=1)])

    def probabilities(self, sums: Floats) -> Floats:
        """The probability of each class, rows x classes."""
        return np.asarray(sums / sums.sum(axis=1, keepdims=True))


@dataclass(frozen=True, eq=False)
class AddedClasses(Classes):
    """The class with the largest sum of votes, which may be negative; the nearest shares are its probabilities.

    Votes like these are fitted so that their sums are nearly probabilities.
    """

    def weight(self, sums: Floats) -> Floats:
        return np.ones(len(sums))

    def probabilities(self, sums: Floats) -> Floats:
        return nearest_probabilities(sums)


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
        return np.asarray(sums[:, 1])

    def decided(self, sums: Floats) -> Floats:
        """The weighted mean for each row; the centre where there were no votes."""
        return np.asarray(self.centre + self.unit * (sums[:, 0] / np.where(sums[:, 1] > 0, sums[:, 1], 1.0)))


def nearest_probabilities(votes: Floats) -> Floats:
    """The shares that are nearest to the votes: none negative, and they add up to 1; rows x classes.

    All votes of a row are lowered by the same amount, and what falls below 0 becomes 0: the order stays.

    >>> nearest_probabilities(np.array([[1.25, -0.25], [0.4, 0.6]])).tolist()
    [[1.0, 0.0], [0.4, 0.6]]
    """
    falling = -np.sort(-votes, axis=1)
    surplus = (np.cumsum(falling, axis=1) - 1.0) / np.arange(1, votes.shape[1] + 1)
    # It grows with every share that stays positive, and with no other: the largest value is the surplus.
    shares: Floats = np.maximum(votes - surplus.max(axis=1, keepdims=True), 0.0)
    return shares
