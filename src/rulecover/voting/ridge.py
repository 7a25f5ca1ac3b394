"""Least squares with a penalty: grown one column at a time, or held above a floor."""

from __future__ import annotations

import numpy as np
import scipy.sparse
from scipy.linalg import cholesky, solve_triangular
from scipy.optimize import lsq_linear, nnls

from rulecover.typing import Floats

#: The most passes over the columns in the search for votes above a floor; usually a few suffice.
_PASSES = 100

#: The least penalty relative to the samples of a column: less is lost in rounding.
_LEAST = 1e-9


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

    Examples
    --------
    >>> ridge = GrowingRidge(total=4.0, sums=np.array([2.0]), squares=2.0, strength=1.0)
    >>> ridge.votes().ravel().tolist(), ridge.loss()
    ([0.5], 1.0)
    >>> ridge.add(np.array([2.0]), size=2.0, sums=np.array([2.0]))
    >>> ridge.votes().ravel().round(9).tolist(), round(ridge.loss(), 9)
    ([0.25, 0.5], 0.5)
    """

    def __init__(self, *, total: float, sums: Floats, squares: float, strength: float) -> None:
        self._factor = np.array([[np.sqrt(total)]])
        self._z = sums[None] / self._factor
        self._signs = np.zeros(1, dtype=np.intp)
        self._squares, self._strength = squares, strength

    @classmethod
    def on(cls, covered: scipy.sparse.csr_array, target: Floats, weight: Floats, *, strength: float) -> GrowingRidge:
        """The ridge on many columns at once: `covered` is samples x columns, without the column of ones."""
        weighted = target * weight[:, None]
        total = float(weight.sum())
        sums, squares = weighted.sum(axis=0), float((weighted * target).sum())
        ridge = cls(total=total, sums=sums, squares=squares, strength=strength)
        columns = covered.astype(np.float64)
        sizes = columns.T @ weight
        gram = np.zeros((1 + len(sizes), 1 + len(sizes)))
        gram[0, 0], gram[0, 1:], gram[1:, 0] = total, sizes, sizes
        gram[1:, 1:] = (columns.T @ columns.multiply(weight[:, None]).tocsr()).toarray() + strength * np.eye(len(sizes))
        ridge._factor = cholesky(gram, lower=True)
        ridge._z = solve_triangular(ridge._factor, np.vstack([sums, columns.T @ weighted]), lower=True)
        ridge._signs = np.zeros(len(gram), dtype=np.intp)
        return ridge

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
        n = len(self._factor)
        row = solve_triangular(self._factor, overlap, lower=True)
        pivot = np.sqrt(size + self._strength - row @ row)
        factor = np.zeros((n + 1, n + 1))
        factor[:n, :n], factor[n, :n], factor[n, n] = self._factor, row, pivot
        self._z = np.vstack([self._z, (sums - row @ self._z) / pivot])
        self._factor, self._signs = factor, np.append(self._signs, sign)

    def votes(self) -> Floats:
        """W, columns x targets, the free one first."""
        factor, z, signs = self._factor, self._z, self._signs
        free = np.asarray(solve_triangular(factor, z, lower=True, trans="T"))
        if (free * signs[:, None] >= 0).all():
            return free
        bounds = np.where(signs > 0, 0.0, -np.inf), np.where(signs < 0, 0.0, np.inf)
        held = lsq_linear(factor.T, z[:, 0], bounds, method="bvls", tol=1e-12).x
        return np.asarray(np.clip(held, *bounds))[:, None]  # rounding may put one a little outside

    def loss(self) -> float:
        """The least value of what is minimised; no column can raise it."""
        held = self._factor.T @ self.votes() - self._z if self._signs.any() else 0.0
        return max(0.0, self._squares - float(np.square(self._z).sum()) + float(np.square(held).sum()))


def ridge_towards(
    prior: Floats, covered: scipy.sparse.csr_array, target: Floats, weight: Floats, *, strength: float, floor: float
) -> Floats:
    """The W that minimises ``‖T - H W‖² + strength · ‖W - prior‖²``, nowhere below ``floor · prior``.

    Parameters
    ----------
    prior
        What W is drawn towards, columns x targets, not negative.
    covered
        H, samples x columns.
    target
        T, samples x targets.
    weight
        The weight of each sample.
    strength
        The weight of the penalty, above 0.
    floor
        The share of the prior that is always kept.

    Examples
    --------
    >>> covered = scipy.sparse.csr_array(np.array([[1, 0], [1, 1]]))
    >>> target, prior = np.array([[1.0], [0.0]]), np.full((2, 1), 0.2)
    >>> ridge_towards(prior, covered, target, np.ones(2), strength=1.0, floor=0.0).ravel().round(9).tolist()
    [0.4, 0.0]
    """
    columns = covered.astype(np.float64)
    gram = (columns.T @ columns.multiply(weight[:, None]).tocsr()).toarray()
    strength = max(strength, _LEAST * float(gram.max()))
    pull = columns.T @ (target * weight[:, None]) - floor * gram @ prior + (1.0 - floor) * strength * prior
    factor = cholesky(gram + strength * np.eye(len(gram)), lower=True)
    right = solve_triangular(factor, pull, lower=True)
    above = [nnls(factor.T, column, maxiter=_PASSES * len(gram))[0] for column in right.T]
    return np.asarray(floor * prior + np.column_stack(above))
