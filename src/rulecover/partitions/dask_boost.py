"""RCBoost on a Dask cluster: one part per worker, which grow trees together."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import urlsplit

import numpy as np

from rulecover.partitions.boost import start_tracker
from rulecover.partitions.boost_part import BoostPart, BoostRows
from rulecover.partitions.dask import DaskParts, awaited, grouped_by_worker, submitted_near
from rulecover.rcboost.pricing.binned import SKETCHED, xgboost_module
from rulecover.targets.samples import Samples
from rulecover.typing import Floats, Ints

if TYPE_CHECKING:
    from distributed import Client, Future


class _Weighed(NamedTuple):
    """The number of rows of a partition, what they count together, and whether they count whole numbers."""

    n_rows: int
    counted: float
    whole: bool
    weighted: bool


class _Picked(NamedTuple):
    """Which rows bins are made from: those at these places, if rows are laid end to end, each as long as it counts."""

    places: Floats
    offset: float
    unit: float


def boost_parts(
    client: Client, samples: Sequence[Future], *, max_bin: int, n_threads: int, patience: float = 60.0
) -> DaskParts:
    """Parts of RCBoost, one per worker that has rows.

    Parameters
    ----------
    client, patience
        As in `DaskParts`.
    samples
        The `Samples` of each partition, as futures.
    max_bin, n_threads
        As in `BoostPart`.
    """
    awaited(client, samples, patience)
    weighed = client.gather(client.map(_weighed, samples, pure=False))
    full = [place for place, each in enumerate(weighed) if each.n_rows]
    samples, weighed = [samples[place] for place in full], [weighed[place] for place in full]
    borders = client.submit(_borders, _reference(client, samples, weighed), max_bin, n_threads, pure=False)
    sizes = [each.n_rows for each in weighed]
    groups = grouped_by_worker(client, samples, sizes, most=math.inf, patience=patience)
    rows = [
        submitted_near(client, home, _rows, borders, number, sum(sizes), *mine)
        for number, (home, mine) in enumerate(groups)
    ]
    make = partial(BoostPart, max_bin=max_bin, n_threads=n_threads)
    return DaskParts(client, rows, make, patience, BoostPart.passing)


def tracker_on_scheduler(client: Client) -> Callable[[int], Mapping[str, Any]]:
    """What starts a tracker next to the scheduler, which all workers can reach."""
    host = urlsplit(client.scheduler.address).hostname
    inside = client.scheduler.address.startswith("inproc")

    def start(n_parts: int) -> Mapping[str, Any]:
        found: Mapping[str, Any] = client.run_on_scheduler(start_tracker, "127.0.0.1" if inside else host, n_parts)
        return found

    return start


def _rows(reference: Floats, number: int, n_samples: int, *samples: Samples) -> BoostRows:
    return BoostRows(samples, reference, number, n_samples)


# Bins: the same as in one process -------------------------------------------------------------------------------------


def _weighed(samples: Samples) -> _Weighed:
    count, weight = samples.count, samples.weight
    return _Weighed(len(count), float(count.sum()), weight is None or not (weight % 1).any(), weight is not None)


def _reference(client: Client, samples: Sequence[Future], weighed: Sequence[_Weighed]) -> Future:
    """The rows that bins are made from; they go from worker to worker."""
    n_rows, count = sum(each.n_rows for each in weighed), sum(each.counted for each in weighed)
    if not any(each.weighted for each in weighed) and n_rows <= SKETCHED:
        return client.submit(_stacked, *client.map(_all_rows, samples, pure=False), pure=False)
    whole = all(each.whole for each in weighed)
    unit = 1.0 if whole else count / n_rows
    ends = np.cumsum([each.counted for each in weighed]) if whole else _ends(client, samples, unit)
    places = np.linspace(0, ends[-1] - 1, min(SKETCHED, round(ends[-1])))
    cuts = np.searchsorted(places, np.concatenate([[-np.inf], ends[:-1], [np.inf]]))
    bins = [_Picked(places[cuts[k] : cuts[k + 1]], float(ends[k - 1]) if k else 0.0, unit) for k in range(len(ends))]
    picked = client.map(_picked, samples, bins, pure=False)
    if not (whole and len(places) == ends[-1]):
        picked.append(client.submit(_largest_of, *client.map(_largest, samples, pure=False), pure=False))
    return client.submit(_stacked, *picked, pure=False)


def _ends(client: Client, samples: Sequence[Future], unit: float) -> Floats:
    """Where each partition ends; added row after row, as in one process, so that the same rows are picked."""
    ends: list[Any] = []
    for future in samples:
        ends.append(client.submit(_end, future, unit, ends[-1] if ends else 0.0, pure=False))
    return np.array(client.gather(ends))


def _end(samples: Samples, unit: float, offset: float) -> float:
    return float(_ends_of_rows(samples, unit, offset)[-1])


def _ends_of_rows(samples: Samples, unit: float, offset: float) -> Floats:
    return np.cumsum(np.concatenate([[offset], samples.count / unit]))[1:]


def _all_rows(samples: Samples) -> Any:
    return samples.X


def _picked(samples: Samples, bins: _Picked) -> Any:
    ends = _ends_of_rows(samples, bins.unit, bins.offset)
    return samples.X[np.minimum(np.searchsorted(ends, bins.places, side="right"), len(ends) - 1)]


def _largest(samples: Samples) -> Any:
    return np.fmax.reduce(samples.X, axis=0, keepdims=True)


def _largest_of(*rows: Any) -> Any:
    return np.fmax.reduce(np.vstack(rows), axis=0, keepdims=True)


def _stacked(*rows: Any) -> Any:
    return np.vstack(rows)


def _borders(rows: Floats, max_bin: int, n_threads: int) -> Floats:
    """A few rows from which the same bins are made: the borders of these, and the ends of each column."""
    xgboost = xgboost_module()

    def cuts(X: Floats) -> tuple[Ints, Floats]:
        start, border = xgboost.QuantileDMatrix(X, max_bin=max_bin, nthread=n_threads).get_quantile_cut()
        return start, border

    start, border = cuts(rows)
    found = np.full((np.diff(start).max(), rows.shape[1]), np.nan, dtype=np.float32)
    for f, (first, last) in enumerate(itertools.pairwise(start)):
        found[: last - first, f] = border[first:last]
        # The first and the last border lie a little beyond the values.
        found[0, f], found[last - first - 1, f] = np.fmin.reduce(rows[:, f]), np.fmax.reduce(rows[:, f])
    same = all(np.array_equal(mine, theirs) for mine, theirs in zip(cuts(found), (start, border), strict=True))
    return found if same else rows
