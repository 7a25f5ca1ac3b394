"""Rough inverses of the second derivatives of the logistic loss, by which steps to its minimum are found sooner."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

import numpy as np

from rulecover.typing import Floats
from rulecover.voting.columns import DenseColumns, SparseColumns, gram

#: With more columns than this, the curvature between them is left out.
MANY_COLUMNS = 1001
#: The curvature between columns is computed from this many rows per column, if there are more.
_ROWS_PER_COLUMN = 64
#: What each class has of its own is kept for no more columns, and no more numbers in all. BLAS multiplies a matrix of
#: fewer than 96 columns by a vector on one thread.
_FEW_COLUMNS, _FEW_NUMBERS = 95, 2**19
#: Up to this many columns it is computed again whenever it is asked for, and then whenever this many have come in.
_FIRST, _AGAIN = 8, 8
#: The curvature of a vote is no less than this share of the largest.
_NOTHING = 1e-12
#: How far a correlation may be off in float32, with some to spare.
_ROUNDING = 1e-6
#: A column that has less than this of its own cannot be told apart from the others by correlations of other votes.
_OWN = 0.01

#: From the gradient of the votes, classes x columns, to a step.
Inverse = Callable[[Floats], Floats]


class Curved(Protocol):
    """A problem with second derivatives."""

    @property
    def columns(self) -> SparseColumns | DenseColumns:
        """A column of ones and one per rule."""

    @property
    def penalty(self) -> Floats:
        """What multiplies half the square of each vote."""

    def curvature_within(self, shares: Floats) -> Floats:
        """The second derivatives of each class by its own log-odds, classes x patterns."""


class Preconditioner(Protocol):
    """From a problem, and the probabilities of the patterns at its votes, to a rough inverse."""

    def __call__(self, problem: Curved, shares: Floats) -> Inverse: ...


def shared(problem: Curved, shares: Floats) -> Inverse:
    """One inverse for all classes, by the curvature of all of them, and a scale for each vote."""
    columns, penalty, within = problem.columns, problem.penalty, problem.curvature_within(shares)
    own = columns.sums(within) + penalty
    k = len(penalty)
    if k > MANY_COLUMNS:
        return lambda left: centred(left / own)
    rows, summed = _some_of(columns, within, k)
    between = gram(rows.astype(np.float64, copy=False), summed.sum(axis=0))
    diagonal, all_classes = np.arange(k), own.sum(axis=0)
    between[diagonal, diagonal] = np.maximum(between[diagonal, diagonal] + penalty, all_classes)
    scale, inverse = np.sqrt(all_classes / own), np.linalg.inv(between)
    return lambda left: centred(scale * ((scale * left) @ inverse))


class PerClass:
    """An inverse for each class that grows with the columns, one rule after another.

    What is kept is the inverse of the correlations between columns, by the curvature of each class. It takes in new
    columns by what they have in common with those before, and is computed again after a few of them. Scales are
    always those of the votes that are asked for, so that it stays a good guess while votes change.
    """

    def __init__(self) -> None:
        self._inverse: Floats = np.zeros((0, 0, 0))
        self._computed = 0

    def __call__(self, problem: Curved, shares: Floats) -> Inverse:
        k = len(problem.penalty)
        if k > _FEW_COLUMNS or len(shares) * k**2 > _FEW_NUMBERS:
            return shared(problem, shares)
        within = problem.curvature_within(shares).astype(problem.columns.rough, copy=False)
        own = problem.columns.sums(within) + problem.penalty
        scale = 1.0 / np.sqrt(np.maximum(own, _NOTHING * own.max()))
        classes, known, _ = self._inverse.shape
        recent = _FIRST < k < self._computed + _AGAIN and known <= k and classes == len(shares)
        if not recent or not self._takes_in(problem.columns, within, scale):
            self._compute(problem, within, scale)
        inverse = self._inverse
        return lambda left: centred(scale * ((scale * left)[:, None, :] @ inverse)[:, 0])

    def _compute(self, problem: Curved, within: Floats, scale: Floats) -> None:
        """The inverses of the correlations between all columns."""
        k = self._computed = scale.shape[1]
        rows, summed = _some_of(problem.columns, within, k)
        scaled = scale.astype(rows.dtype)
        common = np.stack(
            [gram(rows * mine, each) for mine, each in zip(scaled, summed, strict=True)], dtype=np.float64
        )
        diagonal = np.arange(k)
        own = common[:, diagonal, diagonal] + problem.penalty * scale**2
        common[:, diagonal, diagonal] = np.maximum(own, 1.0) + _ROUNDING
        self._inverse = np.asarray(np.linalg.inv(common), dtype=np.float64)

    def _takes_in(self, columns: SparseColumns | DenseColumns, within: Floats, scale: Floats) -> bool:
        """Takes in new columns by their correlations with those before; not if one has next to nothing of its own."""
        for column in range(self._inverse.shape[1], scale.shape[1]):
            alone = np.zeros((1, scale.shape[1]), dtype=columns.rough)
            alone[:, column] = 1.0
            common = columns.sums(within * columns.scores(alone))[:, :column]
            common *= scale[:, :column] * scale[:, column : column + 1]
            along = (self._inverse @ common[:, :, None])[:, :, 0]
            own = 1.0 - (common * along).sum(axis=1)[:, None]
            if own.min() < _OWN:
                return False
            grown = np.empty((len(scale), column + 1, column + 1))
            grown[:, :column, :column] = self._inverse + along[:, :, None] * (along / own)[:, None, :]
            grown[:, column, :column] = grown[:, :column, column] = -along / own
            grown[:, column, column] = 1.0 / own[:, 0]
            self._inverse = grown
        return True


def centred(votes: Floats) -> Floats:
    """Votes that add up to zero over the classes; those of a single row as they are."""
    return np.asarray(votes - np.add.reduce(votes) / len(votes)) if len(votes) > 1 else votes


def _some_of(columns: SparseColumns | DenseColumns, within: Floats, k: int) -> tuple[Floats, Floats]:
    """Some of the patterns, in full, and the curvature of each class that they stand for."""
    step = max(1, within.shape[1] // (_ROWS_PER_COLUMN * k))
    return columns.every(step), step * within[:, ::step]
