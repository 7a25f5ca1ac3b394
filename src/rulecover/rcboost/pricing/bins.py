"""Columns cut into a few bins, once for all trees and searches on the same data."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
import scipy.sparse

from rulecover.coverage import smallest_uint
from rulecover.data.columns import values_of
from rulecover.show.numbers import roundest_in
from rulecover.targets.classes.samples import ClassSamples
from rulecover.typing import Floats, Ints, UInts

#: The bins of data that are still in use, by the largest number of bins per column.
_KNOWN: WeakKeyDictionary[ClassSamples, dict[int | None, Bins]] = WeakKeyDictionary()

#: How far a cut may be moved to a round number, in bins.
_SLACK = 0.5


@dataclass(frozen=True, eq=False)
class Bins:
    """For each value the number of its bin: bin b of a column holds ``cuts[b - 1] < x <= cuts[b]``.

    Parameters
    ----------
    codes
        Columns x rows; a missing value has the code `missing`, above all others.
    cuts
        For each column its thresholds, ascending: midway between two successive training values, or round numbers.
    n_bins
        The number of bins of the column that has most.

    Examples
    --------
    >>> bins = Bins.of(np.array([[1.0, 7.0], [3.0, 7.0], [2.0, np.nan]]), max_bins=10)
    >>> bins.codes
    array([[0, 2, 1],
           [0, 0, 3]], dtype=uint8)
    >>> bins.cuts
    (array([1.5, 2.5]), array([], dtype=float64))
    """

    codes: UInts
    cuts: tuple[Floats, ...]
    n_bins: int

    @classmethod
    def of(cls, X: Any, max_bins: int | None, weight: Floats | None = None, *, at_round_numbers: bool = False) -> Bins:
        """Bins of about as many rows each, or of one value each if there are at most `max_bins` values.

        ``None`` means one value each. A row counts as many rows as its weight says. Bins that are cut at round numbers
        are a little less equal.
        """
        columns = X.tocsc() if scipy.sparse.issparse(X) else X
        cut = _round_cuts if at_round_numbers else _cuts
        cuts = tuple(cut(values_of(columns, f), max_bins, weight) for f in range(X.shape[1]))
        empty = cls(np.empty((X.shape[1], 0), dtype=np.uint8), cuts, 1 + max((len(cut) for cut in cuts), default=0))
        return replace(empty, codes=empty.codes_of(X))

    def codes_of(self, X: Any) -> UInts:
        """The codes of other rows in the same bins, columns x rows."""
        columns = X.tocsc() if scipy.sparse.issparse(X) else X
        codes: UInts = np.empty((X.shape[1], X.shape[0]), dtype=smallest_uint(self.n_bins))
        for f, cut in enumerate(self.cuts):
            values = values_of(columns, f)
            codes[f] = np.where(np.isnan(values), self.missing, np.searchsorted(cut, values, side="left"))
        return codes

    @property
    def missing(self) -> int:
        return self.n_bins

    @cached_property
    def any_missing(self) -> bool:
        return bool((self.codes == self.missing).any())

    def threshold(self, feature: Ints, code: Ints) -> Floats:
        """The t for which ``x <= t`` takes the bins up to `code`: -inf for code -1, inf where these are all."""
        return np.asarray(self._ends[feature, code + 1])

    @cached_property
    def _ends(self) -> Floats:
        ends = np.full((len(self.cuts), self.n_bins + 1), np.inf)
        ends[:, 0] = -np.inf
        for end, cut in zip(ends, self.cuts, strict=True):
            end[1 : len(cut) + 1] = cut
        return ends


def bins_of(data: ClassSamples, max_bins: int | None) -> Bins:
    """The bins of these data, made on the first call; they are forgotten with the data."""
    known = _KNOWN.setdefault(data, {})
    if max_bins not in known:
        known[max_bins] = Bins.of(data.X, max_bins, data.weight)
    return known[max_bins]


def check_max_bins(max_bins: int | None, *, none_allowed: bool) -> None:
    """Raises unless this is a number of bins, or None where that means one bin per value."""
    if max_bins is None and none_allowed:
        return
    if isinstance(max_bins, bool) or not isinstance(max_bins, (int, np.integer)) or max_bins < 2:
        way_out = ", or None for one bin per value" if none_allowed else ""
        raise ValueError(f"max_bins is {max_bins!r}; give a whole number of at least 2{way_out}.")


def _cuts(values: Floats, max_bins: int | None, weight: Floats | None) -> Floats:
    distinct, counts = _counted(values, weight)
    last = np.unique(_last_of_bins(counts, max_bins))
    last = last[last < len(distinct) - 1]
    below, above = distinct[last], distinct[last + 1]
    middle = below / 2 + above / 2
    # Between neighbouring doubles there is no middle: what rounds up to the upper one must not take it along.
    return np.where((middle >= below) & (middle < above), middle, below)


def _round_cuts(values: Floats, max_bins: int | None, weight: Floats | None) -> Floats:
    """The roundest numbers that are about half a bin away at most."""
    distinct, counts = _counted(values, weight)
    slack = _SLACK if max_bins is not None and len(distinct) > max_bins else 0.0
    first, exact, last = (_last_of_bins(counts, max_bins, shift) for shift in (-slack, 0.0, slack))
    inner = exact < len(distinct) - 1
    low, high = distinct[first[inner]], distinct[np.minimum(last[inner], len(distinct) - 2) + 1]
    return np.unique([roundest_in(*gap) for gap in zip(low, high, distinct[exact[inner]], strict=True)])


def _counted(values: Floats, weight: Floats | None) -> tuple[Floats, Floats]:
    """The different values that are not missing, ascending, and how many rows have each."""
    known = ~np.isnan(values)
    distinct, place = np.unique(values[known], return_inverse=True)
    counts = np.bincount(place, weights=None if weight is None else weight[known], minlength=len(distinct))
    return distinct, counts.astype(np.float64)


def _last_of_bins(counts: Floats, max_bins: int | None, shift: float = 0.0) -> Ints:
    """The place of the last value of each bin but the last one; `shift` moves the ends, in bins."""
    if max_bins is None or len(counts) <= max_bins:
        return np.arange(len(counts) - 1)
    wanted = (np.arange(1, max_bins) + shift) * (counts.sum() / max_bins)
    return np.asarray(np.searchsorted(np.cumsum(counts), wanted))
