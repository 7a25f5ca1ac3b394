"""Rows by what covers them: rows that the same rules, or the same clauses, cover are one pattern with sums."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
import scipy.sparse

from rulecover.targets.samples import Samples
from rulecover.typing import Bools, Floats, Ints

Bytes = npt.NDArray[np.uint8]

#: Patterns of up to this many bits are counted in a table; others are sorted.
_TABLE = 16
#: This many bits are unpacked at a time.
_BITS = 1 << 24


@dataclass(frozen=True, eq=False)
class PatternSums:
    """Distinct patterns, with sums over their rows.

    Parameters
    ----------
    bits
        The patterns, each packed in bytes, in the order of their bits.
    sums
        The sums over the rows of each pattern, patterns x columns, as `Samples.sums` gives them.
    counts
        The same without weights: for classes the number of rows of each class, for numbers the number of rows.
    width
        The number of bits of a pattern.
    """

    bits: Bytes
    sums: Floats
    counts: Floats
    width: int

    def __len__(self) -> int:
        return len(self.bits)

    @property
    def passed(self) -> Bools:
        """Patterns x bits."""
        return np.unpackbits(self.bits, axis=1, count=self.width).astype(bool)

    @property
    def covered(self) -> scipy.sparse.csr_array:
        """The same as `passed`, of which a few bits are mostly set, without all of it in memory."""
        step = max(1, _BITS // max(1, self.width))
        few = (replace(self, bits=self.bits[k : k + step]) for k in range(0, max(1, len(self)), step))
        return scipy.sparse.vstack([scipy.sparse.csr_array(each.passed) for each in few], format="csr")

    @classmethod
    def merged(cls, several: Iterable[PatternSums]) -> PatternSums:
        """The patterns of several sets of rows together."""
        out: PatternSums | None = None
        for each in several:
            out = each if out is None else out + each
        assert out is not None, "there is at least one part"
        return out

    def __add__(self, other: PatternSums) -> PatternSums:
        both = [np.hstack([each.sums, each.counts]) for each in (self, other)]
        bits, sums = merged_sums([self.bits, other.bits], both)
        n = self.sums.shape[1]
        return PatternSums(bits, sums[:, :n], sums[:, n:], self.width)


def merged_sums(bits: list[Bytes], sums: list[Floats]) -> tuple[Bytes, Floats]:
    """The distinct patterns of several lists, and their sums, added up."""
    every = np.concatenate(bits)
    place, first = distinct_patterns(every)
    return every[first], sums_at(place, np.concatenate(sums), len(first))


def patterns_of(chunks: Iterator[tuple[int, Bools]], samples: Samples, width: int) -> PatternSums:
    """The patterns of rows; `chunks` are where each begins and which bit (first axis) is set in which of its rows."""
    found = [_of_chunk(samples, start, passed) for start, passed in chunks]
    return PatternSums.merged(found) if found else _of_chunk(samples, 0, np.zeros((width, 0), dtype=bool))


def _of_chunk(samples: Samples, start: int, passed: Bools) -> PatternSums:
    rows = np.arange(start, start + passed.shape[1])
    bits = np.packbits(passed, axis=0).T
    place, first = _places(passed, bits)
    summands = tuple(None if each is None else each[rows] for each in samples.summands())
    sums = _padded(samples.sums(place, *summands), len(first), len(samples.totals))
    counts = _padded(samples.counts(place, rows), len(first))
    return PatternSums(bits[first], sums, counts, len(passed))


def _places(passed: Bools, bits: Bytes) -> tuple[Ints, Ints]:
    """The pattern of each row, by number, and the first row of each pattern."""
    if len(passed) > _TABLE:
        return distinct_patterns(bits)
    code = np.zeros(passed.shape[1], dtype=np.intp)
    for each in passed:
        np.add(code << 1, each, out=code)
    first_of = np.full(2 ** len(passed), -1, dtype=np.intp)
    first_of[code[::-1]] = np.arange(len(code))[::-1]
    known = np.flatnonzero(first_of >= 0)
    number = np.zeros(len(first_of), dtype=np.intp)
    number[known] = np.arange(len(known))
    return number[code], first_of[known]


def distinct_patterns(bits: Bytes) -> tuple[Ints, Ints]:
    """The place of each pattern among the distinct ones, in the order of their bits; and the first row of each."""
    words = np.zeros((len(bits), -(-bits.shape[1] // 8) * 8), dtype=np.uint8)
    words[:, : bits.shape[1]] = bits
    keys = words.view(">u8").astype(np.uint64)
    order = np.lexsort(keys.T[::-1]) if keys.shape[1] else np.arange(len(bits))
    new = np.ones(len(bits), dtype=bool)
    new[1:] = (keys[order[1:]] != keys[order[:-1]]).any(axis=1)
    place = np.empty(len(bits), dtype=np.intp)
    place[order] = np.cumsum(new) - 1
    return place, order[new]


def sums_at(place: Ints, values: Floats, n_places: int) -> Floats:
    return np.column_stack([np.bincount(place, column, minlength=n_places) for column in values.T])


def _padded(sums: Floats, n_rows: int, n_columns: int | None = None) -> Floats:
    """Sums of groups, with zeros for groups at the end that have no sample; none has where there are no rows."""
    out = np.zeros((n_rows, sums.shape[1] if n_columns is None else n_columns))
    out[: len(sums)] = sums if len(sums) else out[:0]
    return out
