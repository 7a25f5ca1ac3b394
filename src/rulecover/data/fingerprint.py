"""A fingerprint of rows: the same for the same rows, in whatever order, blocks, file or library they come.

Each row is hashed to 64 bits. The values of a row are 64-bit floats as the rules see them, with one NaN and no negative
zero; the bits of each, combined with a hash of the name of its column, are mixed (the finaliser of SplitMix64), summed
modulo 2^64 together with those of the target, and mixed again. The digest is the sum of the hashes of all rows, modulo
2^64; the sample is the smallest of them, by which one can tell how many of other rows are among these.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from rulecover.data.columns import by_columns, values_of
from rulecover.typing import Array, Ints

Hashes = npt.NDArray[np.uint64]

#: How many of the smallest hashes are kept.
KEPT = 64


@dataclass(frozen=True)
class Fingerprint:
    """What identifies a set of rows.

    Parameters
    ----------
    rows
        How many there are.
    columns
        The columns that were looked at, besides the target.
    digest
        The sum of the hashes of all rows, in 16 hexadecimal digits.
    sample
        The smallest different hashes, rising, in the same form.

    Examples
    --------
    >>> X, y = np.arange(12.0).reshape(6, 2), np.array(["a", "b"] * 3)
    >>> one = Fingerprint.of(row_hashes(X, [0, 1], ["x", "y"], y), ["x", "y"])
    >>> other = Fingerprint.of(row_hashes(X[::-1], [0, 1], ["x", "y"], y[::-1]), ["x", "y"])
    >>> one == other, one.digest
    (True, '...')
    """

    rows: int
    columns: tuple[str, ...]
    digest: str
    sample: tuple[str, ...]

    @classmethod
    def of(cls, hashes: Hashes, columns: Sequence[str]) -> Fingerprint:
        digest = int(np.add.reduce(hashes, dtype=np.uint64))
        smallest = _smallest(hashes)
        return cls(len(hashes), tuple(columns), f"{digest:016x}", tuple(f"{int(each):016x}" for each in smallest))

    def with_rows_of(self, other: Fingerprint) -> Fingerprint:
        """The fingerprint of these rows and of others, by the same columns.

        >>> X, y = np.arange(12.0).reshape(6, 2), np.array(["a", "b"] * 3)
        >>> one, *both = (Fingerprint.of(row_hashes(X[rows], [0], ["x"], y[rows]), ["x"])
        ...               for rows in (slice(6), slice(2), slice(2, 6)))
        >>> both[0].with_rows_of(both[1]) == one
        True
        """
        digest = (int(self.digest, 16) + int(other.digest, 16)) % 2**64
        smallest = sorted({*self.sample, *other.sample})[:KEPT]
        return Fingerprint(self.rows + other.rows, self.columns, f"{digest:016x}", tuple(smallest))

    def is_of(self, hashes: Hashes) -> bool:
        """Whether these are the rows, all of them and no other."""
        return self.rows == len(hashes) and self.digest == Fingerprint.of(hashes, self.columns).digest

    def share_among(self, hashes: Hashes) -> float:
        """The share of other rows that are equal to one of these: exact for a few of these, else estimated."""
        kept = np.array([int(each, 16) for each in self.sample], dtype=np.uint64)
        if not len(kept) or not len(hashes):
            return 0.0
        comparable = hashes if len(kept) < KEPT else hashes[hashes <= kept[-1]]
        return float(np.isin(comparable, kept).mean()) if len(comparable) else 0.0


def share_by_chance(hashes: Hashes, n_others: int) -> float:
    """The share of rows that would equal one of this many other rows by chance, going by how many equal each other.

    Rules may use a column or two, in which many rows are the same.

    >>> share_by_chance(np.array([1, 2, 3, 4], dtype=np.uint64), 100)
    0.0
    >>> share_by_chance(np.array([1, 1, 2, 2], dtype=np.uint64), 3)
    1.0
    """
    _, which, times = np.unique(hashes, return_inverse=True, return_counts=True)
    twins = float((times[which] > 1).mean())
    return float(1.0 - (1.0 - twins) ** (n_others / max(len(hashes) - 1, 1)))


def _smallest(hashes: Hashes) -> Hashes:
    """The smallest different hashes; a part is looked at first, as rows rarely repeat that often."""
    part = 4 * KEPT
    some = np.unique(np.partition(hashes, part)[:part] if len(hashes) > part else hashes)
    return (some if len(some) >= KEPT else np.unique(hashes))[:KEPT]


def row_hashes(X: Any, places: Sequence[int] | Ints, names: Sequence[str], y: Array) -> Hashes:
    """The hash of each row: some columns of X, by their places and names, and the target."""
    sums, X = hashed_labels(y), by_columns(X)
    for f, name in zip(places, names, strict=True):
        sums = sums + mixed(_bits(values_of(X, int(f))) ^ seed_of_column(name))
    return mixed(sums)


def hashed_labels(y: Any) -> Hashes:
    """What each value of the target adds to the hash of its row."""
    return mixed(_target_bits(np.asarray(y)) ^ _seed("target"))


def seed_of_column(name: str) -> np.uint64:
    """What the values of a column of this name are combined with."""
    return _seed(f"column {name}")


def _bits(values: Any) -> Hashes:
    numbers = np.array(values, dtype=np.float64) + 0.0  # without -0
    numbers[np.isnan(numbers)] = np.nan
    return numbers.view(np.uint64)


def _target_bits(y: Array) -> Hashes:
    if y.dtype.kind == "f":
        return _bits(y)
    labels, which = np.unique(y, return_inverse=True)
    return np.array([_seed(str(label)) for label in labels.tolist()], dtype=np.uint64)[which.ravel()]


def _seed(text: str) -> np.uint64:
    return np.uint64(int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "little"))


def mixed(bits: Hashes) -> Hashes:
    """The finaliser of SplitMix64."""
    mixed = (bits ^ (bits >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.asarray(mixed ^ (mixed >> np.uint64(31)))
