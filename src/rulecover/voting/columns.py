"""Which rule covers which row, as columns of numbers with a column of ones before them: what votes multiply."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
import scipy.sparse

from rulecover.typing import Bools, Floats

#: BLAS multiplies matrices on one thread as long as it takes no more multiplications than this.
_ON_ONE_THREAD = 2**18
_LEAST_ROWS = 32
#: For more than two classes, columns are kept in full if there are no more than this, with no more numbers in all.
_FEW_COLUMNS, _FEW_NUMBERS = 128, 2**19


def columns_of(
    covered: Bools | scipy.sparse.csr_array, classes: int, *, in_float32: bool
) -> SparseColumns | DenseColumns:
    """The columns in the form in which they are multiplied fastest.

    Parameters
    ----------
    covered
        Which rule is in which pattern, patterns x rules.
    classes
        The number of classes.
    in_float32
        Whether products may be rough.
    """
    columns = _with_ones(covered)
    few = isinstance(columns, np.ndarray) and columns.shape[1] <= _FEW_COLUMNS and columns.size <= _FEW_NUMBERS
    return DenseColumns(columns, classes) if few and in_float32 and classes > 2 else SparseColumns(columns)


def _with_ones(covered: Bools | scipy.sparse.csr_array) -> Bools | scipy.sparse.csr_array:
    """A column of ones, and then one per rule."""
    n, k = covered.shape
    if not isinstance(covered, np.ndarray):
        return scipy.sparse.hstack([np.ones((n, 1)), covered], format="csr", dtype=np.float64)
    bits = np.ones((n, 1 + k), dtype=bool)
    bits[:, 1:] = covered
    return bits


class SparseColumns:
    """Columns of zeros and ones, patterns x columns, of which the ones are stored."""

    #: The kind of float in which products with the curvature are computed.
    rough: ClassVar[type[np.floating[Any]]] = np.float64

    def __init__(self, columns: Bools | scipy.sparse.csr_array) -> None:
        if isinstance(columns, np.ndarray):
            starts, inside = np.concatenate([[0], np.cumsum(columns.sum(axis=1))]), np.nonzero(columns)[1]
            columns = scipy.sparse.csr_array((np.ones(len(inside)), inside, starts), shape=columns.shape)
        self._columns, self._by_column = columns, columns.T.tocsr()

    def scores(self, votes: Floats) -> Floats:
        """The sum of the votes of the columns of each pattern, classes x patterns."""
        return np.asarray(self._columns @ votes.T).T

    def sums(self, values: Floats) -> Floats:
        """The sum of values over the patterns of each column, classes x columns."""
        return np.asarray(self._by_column @ values.T).T

    def every(self, step: int) -> Floats:
        """Some of the patterns, in full, as rough as products are."""
        return np.asarray(self._columns[::step].toarray())


class DenseColumns:
    """The same in full, for few columns: multiplied by blocks of rows, on one thread.

    They are kept in float64 and in float32, which takes half of the time: they multiply what is of their kind.
    """

    rough: ClassVar[type[np.floating[Any]]] = np.float32

    def __init__(self, columns: Bools, classes: int) -> None:
        n, k = self._shape = columns.shape
        step = max(_LEAST_ROWS, _ON_ONE_THREAD // (k * classes))
        self._rows = [slice(start, start + step) for start in range(0, n, step)]
        self._columns: dict[Any, Floats] = {np.dtype(kind): columns.astype(kind) for kind in (np.float64, np.float32)}

    def scores(self, votes: Floats) -> Floats:
        columns, out = self._columns[votes.dtype], np.empty((len(votes), self._shape[0]), dtype=votes.dtype)
        for rows in self._rows:
            np.matmul(votes, columns[rows].T, out=out[:, rows])
        return out

    def sums(self, values: Floats) -> Floats:
        columns, out = self._columns[values.dtype], np.zeros((len(values), self._shape[1]))
        for rows in self._rows:
            out += values[:, rows] @ columns[rows]
        return out

    def every(self, step: int) -> Floats:
        return self._columns[np.dtype(self.rough)][::step]


def gram(columns: Floats, weight: Floats) -> Floats:
    """The products between columns, over rows of these weights: if there are few, by blocks of rows, on one thread."""
    n, k = columns.shape
    weighted = columns * weight[:, None]
    rows = _ON_ONE_THREAD // k**2
    if rows < _LEAST_ROWS:
        return columns.T @ weighted
    whole = n - n % rows
    blocks = columns[:whole].reshape(-1, rows, k)
    rest = columns[whole:].T @ weighted[whole:]
    return np.asarray((blocks.transpose(0, 2, 1) @ weighted[:whole].reshape(-1, rows, k)).sum(axis=0) + rest)
