"""Least squares with a penalty, grown one column at a time."""

from __future__ import annotations

import numpy as np
from scipy.linalg import solve_triangular
from scipy.optimize import lsq_linear

from rulecover.typing import Floats


class GrowingRidge:
    """The W that minimises ``‖T - H W‖² + strength · ‖W‖²``, the first column of H being 1 and free of the penalty.

    Only sums are kept: the Cholesky factor L of ``H'H + strength · D`` and ``z = L⁻¹ H'T`` each grow by a row.

    Parameters
    ----------
    total
        The (weighted) number of samples.
    sums
        The (weighted) sum of each column of the targets.
    squares
        The (weighted) sum of all squared targets.
    strength
        The weight of the penalty, above 0.
    capacity
        How many columns may be added.

    Examples
    --------
    >>> ridge = GrowingRidge(total=4.0, sums=np.array([2.0]), squares=2.0, strength=1.0, capacity=1)
    >>> ridge.votes().ravel().tolist(), ridge.loss()
    ([0.5], 1.0)
    >>> ridge.add(np.array([2.0]), size=2.0, sums=np.array([2.0]))
    >>> ridge.votes().ravel().tolist(), ridge.loss()
    ([0.25, 0.5], 0.5)
    """

    def __init__(self, *, total: float, sums: Floats, squares: float, strength: float, capacity: int) -> None:
        self._factor = np.zeros((capacity + 1, capacity + 1))
        self._z = np.zeros((capacity + 1, len(sums)))
        self._factor[0, 0] = np.sqrt(total)
        self._z[0] = sums / self._factor[0, 0]
        self._signs = np.zeros(capacity + 1, dtype=np.intp)
        self._squares, self._strength, self._n = squares, strength, 1

    def add(self, overlap: Floats, *, size: float, sums: Floats, sign: int = 0) -> None:
        """A new column.

        Parameters
        ----------
        overlap
            Its products with the columns so far, the column of ones first: its size, then its common samples with each.
        size
            The (weighted) number of its samples.
        sums
            The (weighted) sum of each target over its samples.
        sign
            Where there is one target, 1 for a vote that must not be negative, -1 for one that must not be positive.
        """
        n = self._n
        row = solve_triangular(self._factor[:n, :n], overlap, lower=True)
        pivot = np.sqrt(size + self._strength - row @ row)
        self._factor[n, :n], self._factor[n, n] = row, pivot
        self._z[n] = (sums - row @ self._z[:n]) / pivot
        self._signs[n] = sign
        self._n = n + 1

    def votes(self) -> Floats:
        """W, columns x targets, the free one first."""
        factor, z, signs = self._factor[: self._n, : self._n], self._z[: self._n], self._signs[: self._n]
        free = np.asarray(solve_triangular(factor, z, lower=True, trans="T"))
        if (free * signs[:, None] >= 0).all():
            return free
        bounds = np.where(signs > 0, 0.0, -np.inf), np.where(signs < 0, 0.0, np.inf)
        return np.asarray(lsq_linear(factor.T, z[:, 0], bounds, method="bvls", tol=1e-12).x)[:, None]

    def loss(self) -> float:
        """The least value of what is minimised; no column can raise it."""
        factor, z = self._factor[: self._n, : self._n], self._z[: self._n]
        held = factor.T @ self.votes() - z if self._signs.any() else 0.0
        return max(0.0, self._squares - float(np.square(z).sum()) + float(np.square(held).sum()))
