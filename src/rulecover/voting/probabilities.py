"""Added votes as probabilities."""

from __future__ import annotations

import numpy as np

from rulecover.typing import Floats


def nearest_probabilities(votes: Floats) -> Floats:
    """The shares that are nearest to the votes: none negative, and they add up to 1; rows x classes.

    All votes of a row are lowered by the same amount, and what falls below 0 becomes 0: the order stays.

    >>> nearest_probabilities(np.array([[1.25, -0.25], [0.4, 0.6]])).tolist()
    [[1.0, 0.0], [0.4, 0.6]]
    """
    falling = -np.sort(-votes, axis=1)
    surplus = (np.cumsum(falling, axis=1) - 1.0) / np.arange(1, votes.shape[1] + 1)
    # It grows with every share that stays positive, and with no other: the largest is what is too much.
    shares: Floats = np.maximum(votes - surplus.max(axis=1, keepdims=True), 0.0)
    return shares
