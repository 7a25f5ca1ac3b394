"""What is shown of rules and recorded of rows on a GPU: neighbours of bounds, and the fingerprint of the rows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from rulecover.data.fingerprint import KEPT, Fingerprint, hashed_labels, seed_of_column
from rulecover.gpu.launch import THREADS, blocks_for, kernel
from rulecover.typing import Array, Floats

#: The largest hash.
_LARGEST = 2**64 - 1


def fingerprint(X: Any, columns: Mapping[int, str], y: Any, classes: Array) -> Fingerprint:
    """The fingerprint of rows and their classes, by number, as `Fingerprint.of` finds it for rows of NumPy.

    Parameters
    ----------
    X, y
        The rows, and the number of each row's class.
    columns
        The names of the columns to look at, by their places.
    classes
        The labels.
    """
    import cupy as cp

    seeds = np.array([seed_of_column(name) for name in columns.values()], dtype=np.uint64)
    row, column = _steps(X)
    by_column = cp.asarray(np.array([*columns], dtype=np.int32)), cp.asarray(seeds), np.int32(len(columns))
    rows = X, np.int64(len(X)), row, column, *by_column, y, cp.asarray(hashed_labels(classes))
    limit = min(_LARGEST, 8 * KEPT * _LARGEST // max(1, len(X)))
    digest, small = _hashes(rows, limit)
    while len(small) < KEPT and limit < _LARGEST:  # rows repeat often
        limit = min(_LARGEST, 64 * limit)
        digest, small = _hashes(rows, limit)
    return Fingerprint(
        len(X), tuple(columns.values()), f"{digest:016x}", tuple(f"{int(one):016x}" for one in small[:KEPT])
    )


def _hashes(rows: tuple[Any, ...], limit: int) -> tuple[int, Array]:
    """The hashes of all rows added up, and the different ones below a limit, rising."""
    import cupy as cp

    X, y = rows[0], rows[-2]
    room = min(len(X), 1 << 24)
    digest, small, n_small = (cp.zeros(size, dtype=kind) for size, kind in ((1, "u8"), (room, "u8"), (1, "u4")))
    if len(X):
        arguments = *rows, np.uint64(limit), np.uint32(room), digest, small, n_small
        kernel("row_hashes", Value=X.dtype, Class=y.dtype)((blocks_for(len(X)),), (THREADS,), arguments)
    return int(digest[0]), cp.unique(small[: min(room, int(n_small[0]))]).get()


def values_near_bounds(X: Any, column: int, bounds: Floats) -> Floats:
    """A few values of a column: see `rulecover.partitions.part.values_near_bounds`."""
    import cupy as cp

    bounds = np.unique(bounds[np.isfinite(bounds)])
    ends = np.iinfo(np.int64)
    least, largest = (cp.full(len(bounds) + 1, end, dtype=np.int64) for end in (ends.max, ends.min))
    missing, fraction = cp.zeros(1, dtype=np.uint32), cp.full(1, np.nan)
    mine = X[:, column]
    arguments = mine, np.int64(len(X)), _steps(X)[0], cp.asarray(bounds), np.int32(len(bounds))
    launch = kernel("column_facts", Value=X.dtype)
    launch((blocks_for(len(X)),), (THREADS,), (*arguments, least, largest, missing, fraction))
    seen = largest.get() > ends.min
    found = np.concatenate([least.get()[seen], largest.get()[seen]])
    odd = np.concatenate([fraction.get()[~np.isnan(fraction.get())], np.full(int(missing[0]), np.nan)])
    return np.unique(np.concatenate([_from_order(found), odd]))


def _from_order(numbers: Array) -> Floats:
    """The doubles behind whole numbers in the same order: see `rulecover.gpu.launch.in_order`."""
    return np.where(numbers < 0, np.iinfo(np.int64).min - numbers, numbers).view(np.float64)


def _steps(X: Any) -> tuple[Any, Any]:
    """How many values further the next row and the next column begin."""
    row, column = (step // X.dtype.itemsize for step in X.strides)
    return np.int64(row), np.int64(column)
