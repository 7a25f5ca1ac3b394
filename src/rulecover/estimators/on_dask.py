"""Fitting and predicting Dask collections: rows stay on the workers of a cluster."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from joblib import effective_n_jobs
from sklearn.frozen import FrozenEstimator
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_array

from rulecover.estimators.elsewhere import (
    BlockRows,
    ModelElsewhere,
    PartsAndHead,
    PathElsewhere,
    SampledRows,
    ToNumbers,
    check_on_parts,
    check_path_on_parts,
    class_weights,
    number_samples,
    predicted_responses,
)
from rulecover.estimators.prepare import Prepared
from rulecover.exceptions import MismatchedDataError
from rulecover.partitions.boost import binned_pricing
from rulecover.partitions.boost_part import joined_samples
from rulecover.partitions.dask import DaskParts, awaited, joined_by_worker
from rulecover.partitions.dask_boost import boost_parts, tracker_on_scheduler
from rulecover.partitions.dask_rows import DaskRows, Rows, some_rows
from rulecover.partitions.part import Part
from rulecover.partitions.path_part import PathPart
from rulecover.partitions.table import SAMPLED
from rulecover.rcboost.pricing.binned import BinnedPricing
from rulecover.targets.classes.samples import ClassSamples
from rulecover.targets.numbers.samples import NumberSamples
from rulecover.targets.samples import Samples
from rulecover.trees.tree import TreeEnsemble
from rulecover.typing import Array, Floats, Ints

#: Of a trained model the columns are looked up in this many rows, which warnings are about.
_LOOKED_AT = 2000
#: Partitions on one worker are joined up to this many rows.
_ROWS_OF_PART = 1_000_000
#: More different weights than this are not sent to the client.
_MOST_WEIGHTS = 1_000_000


@dataclass(frozen=True, eq=False)
class RowsOnWorkers:
    """The rows of a Dask collection, on the workers of a cluster; see `RowsElsewhere`."""

    rows: DaskRows

    @property
    def labels(self) -> Array:
        return self.rows.values

    def check_cover(self, model: Any, solver: Any) -> None:
        check_on_parts(model, solver)

    def check_path(self, model: PathElsewhere) -> RowsOnWorkers:
        check_path_on_parts(model)
        return self

    def check_boost(self, model: Any) -> RowsOnWorkers:
        binned_pricing(model._recipe())
        for name in ("early_stopping", "warm_start", "checkpoint"):
            if getattr(model, name) not in (False, None):
                raise MismatchedDataError(
                    f"{name} is {getattr(model, name)!r}, which needs all rows in one place, but X is a Dask "
                    "collection; leave it out."
                )
        return self

    def prepared(self, model: ModelElsewhere, deadline: float | None = None) -> Prepared:
        if not isinstance(model.estimator, FrozenEstimator):
            sample = self.drawn(model.random_state)
            return model._prepare(sample.X, sample.y, sample.weight, deadline=deadline)
        n_rows = int(self.rows.n_rows.sum())
        even = np.linspace(0, n_rows - 1, min(n_rows, _LOOKED_AT)).astype(np.intp)
        return model._prepare(*some_rows(self.rows, np.union1d(even, self.rows.first_rows)))

    def drawn(self, random_state: Any) -> SampledRows:
        n_rows = int(self.rows.n_rows.sum())
        places = np.arange(n_rows)
        if n_rows > SAMPLED:  # with a row of every class
            random = check_random_state(0 if random_state is None else random_state)
            drawn = random.choice(n_rows, SAMPLED, replace=False)
            places = np.union1d(drawn, self.rows.first_rows).astype(np.intp)
        return SampledRows(*some_rows(self.rows, places), places)

    @contextmanager
    def parts(self, model: ModelElsewhere, prepared: Prepared, trees: TreeEnsemble) -> Iterator[PartsAndHead]:
        samples = _to_samples(model, self.rows, prepared)
        with closing(self._joined(self.rows.futures, partial(_part, trees, samples), Part.passing)) as parts:
            yield parts, samples.head

    @contextmanager
    def path_parts(self, model: PathElsewhere, prepared: Prepared, sample: SampledRows) -> Iterator[PartsAndHead]:
        assert prepared.source.trees is not None
        samples = _to_samples(model, self.rows, prepared)
        head = _condensed(self.rows, samples)
        ask = None
        if model._share() != 0:
            known = SampledRows(None, sample.y[:0], None, sample.places)  # workers need no more of it
            ask = partial(predicted_responses, model, model._target.of(head), known)
        make = partial(_path_part, prepared.source.trees, samples, ask, int(self.rows.n_rows.sum()))
        starts = np.cumsum(self.rows.n_rows) - self.rows.n_rows
        placed = self.rows.client.map(_RowsFrom, self.rows.futures, starts.tolist(), pure=False)
        with closing(self._joined(placed, make, PathPart.passing)) as parts:
            yield parts, head

    def _joined(self, blocks: Sequence[Any], make: Callable[[Any], Part], passing: frozenset[str]) -> DaskParts:
        """Parts, each made of the blocks that one worker has."""
        client = self.rows.client
        joined = joined_by_worker(client, blocks, self.rows.n_rows.tolist(), most=_ROWS_OF_PART)
        return DaskParts(client, joined, make, passing=passing)

    def boost_parts(
        self, model: ModelElsewhere, prepared: Prepared, pricing: BinnedPricing
    ) -> tuple[DaskParts, Callable[[int], Mapping[str, Any]], Samples]:
        """The parts of RCBoost, what links those that grow a tree together, and the samples without rows."""
        client, samples = self.rows.client, _to_samples(model, self.rows, prepared)
        futures = client.map(samples, self.rows.futures, pure=False)
        parts = boost_parts(client, futures, max_bin=pricing.max_bin, n_threads=effective_n_jobs(pricing.n_jobs))
        return parts, tracker_on_scheduler(client), samples.head


class _RowsFrom(NamedTuple):
    """The rows of a partition, and how many rows there are in partitions before it."""

    rows: Rows
    start: int


def _part(trees: TreeEnsemble, samples: _ToSamples, blocks: Sequence[Rows]) -> Part:
    return Part(trees, partial(_samples_of, samples, blocks))


def _path_part(
    trees: TreeEnsemble,
    samples: _ToSamples,
    ask: Callable[[BlockRows], Floats] | None,
    n_rows: int,
    blocks: Sequence[_RowsFrom],
) -> PathPart:
    load = partial(_samples_of, samples, [block.rows for block in blocks])
    predicted = None if ask is None else partial(_predicted_in, samples, ask, blocks)
    # Rows are numbered from a multiple of the number of all rows, so that no two rows of any parts share a number.
    return PathPart(trees, load, start=(1 + blocks[0].start) * n_rows, predicted=predicted)


def _samples_of(samples: _ToSamples, blocks: Sequence[Rows]) -> Samples:
    return joined_samples([samples(rows) for rows in blocks])


def _predicted_in(samples: _ToSamples, ask: Callable[[BlockRows], Floats], blocks: Sequence[_RowsFrom]) -> Floats:
    """What the model predicts for the rows that count."""
    found = []
    for rows, start in blocks:
        counted = samples.counted(rows)
        found.append(ask(BlockRows(rows.X, samples.numbers(rows.X)[counted], counted, start)))
    return np.concatenate(found)


# Samples: labels and weights as numbers -------------------------------------------------------------------------------


class _Counted(NamedTuple):
    """How many rows there are of each class and weight."""

    code: Ints
    weight: Floats
    n_rows: Floats


@dataclass(frozen=True, eq=False)
class _ToSamples:
    """From the rows of a partition to samples, on a worker.

    Parameters
    ----------
    numbers
        From X to the numbers that rules see.
    head
        The samples without rows.
    raw, weights
        The weights that there are, sorted, and for each class and each of these what a row counts; ``None`` if all rows
        count the same.
    """

    numbers: Callable[[Any], Any]
    head: ClassSamples | NumberSamples
    raw: Floats
    weights: Floats | None

    def __call__(self, rows: Rows) -> Samples:
        y, X = self._targets(rows), self.numbers(rows.X)
        if self.weights is None:
            return replace(self.head, X=X, y=y)
        weight = self.weights_of(rows)
        counted = slice(None) if weight.all() else np.flatnonzero(weight)
        return replace(self.head, X=X[counted], y=y[counted], weight=weight[counted])

    def counted(self, rows: Rows) -> Ints:
        """The places of rows that count."""
        return np.arange(len(rows.y)) if self.weights is None else np.flatnonzero(self.weights_of(rows))

    def weights_of(self, rows: Rows) -> Floats:
        """What each row counts."""
        assert self.weights is not None
        place = 0 if rows.weight is None else np.searchsorted(self.raw, _as_weights(rows.weight))
        return np.asarray(self.weights[self._targets(rows) if isinstance(self.head, ClassSamples) else 0, place])

    def _targets(self, rows: Rows) -> Any:
        """The class of each row by number, or the number to predict."""
        y = np.asarray(rows.y).ravel()
        return np.searchsorted(self.head.classes, y) if isinstance(self.head, ClassSamples) else y.astype(np.float64)


def _to_samples(model: ModelElsewhere, rows: DaskRows, prepared: Prepared) -> _ToSamples:
    """From partitions to samples: classes, scale and weights are those of all rows, as where all are in memory."""
    if not isinstance(prepared.samples, ClassSamples):
        return _to_number_samples(model, rows, prepared)
    numbers, classes = ToNumbers.of(model, prepared), prepared.samples.classes
    head = ClassSamples(np.zeros((0, prepared.samples.X.shape[1])), np.zeros(0, dtype=np.intp), classes)
    if rows.empty.weight is None and model.class_weight is None:
        return _ToSamples(numbers, head, np.ones(1), None)
    counted = _counted(rows, classes)
    given = None if rows.empty.weight is None else counted.weight
    weight, factors = class_weights(model, counted.code, classes, given, counted.n_rows)
    if weight is None:
        return _ToSamples(numbers, head, np.ones(1), None)
    raw, place = np.unique(counted.weight, return_inverse=True)
    weights = np.zeros((len(classes), len(raw)))
    weights[counted.code, place] = weight
    return _ToSamples(numbers, replace(head, weight=np.zeros(0), class_weight=factors), raw, weights)


def _to_number_samples(model: ModelElsewhere, rows: DaskRows, prepared: Prepared) -> _ToSamples:
    y, given = _targets_and_weights(rows)
    whole = number_samples(model, y, given, prepared.samples.X.shape[1])
    weight = whole.weight
    head = replace(whole, y=whole.y[:0], weight=None if weight is None else weight[:0])
    if weight is None or given is None:
        return _ToSamples(ToNumbers.of(model, prepared), head, np.ones(1), None)
    raw, first = np.unique(given, return_index=True)
    return _ToSamples(ToNumbers.of(model, prepared), head, raw, weight[None, first])


def _targets_and_weights(rows: DaskRows) -> tuple[Array, Floats | None]:
    """The numbers to predict and the weights of all rows, on the client."""
    futures = rows.client.map(_targets_in_one, rows.futures, pure=False)
    awaited(rows.client, futures, 60.0)
    y, weight = zip(*rows.client.gather(futures), strict=True)
    return np.concatenate(y), None if weight[0] is None else np.concatenate(weight)


def _targets_in_one(rows: Rows) -> tuple[Array, Floats | None]:
    return np.asarray(rows.y).ravel(), None if rows.weight is None else _as_weights(rows.weight)


def _condensed(rows: DaskRows, samples: _ToSamples) -> Samples:
    """The samples without X: one per class that counts as much as all rows of it, or all numbers."""
    head = samples.head
    if not isinstance(head, ClassSamples):
        every_row = Rows(None, *_targets_and_weights(rows))
        weight = None if samples.weights is None else samples.weights_of(every_row)
        return replace(head, y=every_row.y.astype(np.float64), weight=weight)
    counted = _counted(rows, head.classes)
    places = np.searchsorted(samples.raw, counted.weight)
    counts = 1.0 if samples.weights is None else samples.weights[counted.code, places]
    totals = np.bincount(counted.code, counted.n_rows * counts, minlength=len(head.classes)).astype(np.float64)
    every = np.arange(len(head.classes))
    return replace(head, X=np.zeros((len(every), head.X.shape[1])), y=every, weight=totals)


def _counted(rows: DaskRows, classes: Array) -> _Counted:
    """How many rows of all partitions there are of each class and weight."""
    futures = rows.client.map(_counted_in_one, rows.futures, classes=classes, pure=False)
    awaited(rows.client, futures, 60.0)
    code, weight, n_rows = (np.concatenate(each) for each in zip(*rows.client.gather(futures), strict=True))
    pairs, place = np.unique(np.column_stack([code, weight]), axis=0, return_inverse=True)
    return _Counted(pairs[:, 0].astype(np.intp), pairs[:, 1], np.bincount(place.ravel(), n_rows).astype(np.float64))


def _counted_in_one(rows: Rows, classes: Array) -> _Counted:
    code = np.searchsorted(classes, np.asarray(rows.y).ravel())
    weight = np.ones(len(code)) if rows.weight is None else _as_weights(rows.weight)
    raw, place = np.unique(weight, return_inverse=True)
    if len(raw) > _MOST_WEIGHTS:
        raise MismatchedDataError(
            f"a partition has {len(raw):,} different sample weights, above the limit of {_MOST_WEIGHTS:,}; round them."
        )
    n_rows = np.bincount(code * len(raw) + place, minlength=len(classes) * len(raw))
    found = np.flatnonzero(n_rows)
    return _Counted(found // max(1, len(raw)), raw[found % max(1, len(raw))], n_rows[found].astype(np.float64))


def _as_weights(weight: Any) -> Floats:
    return np.asarray(check_array(np.asarray(weight).ravel(), ensure_2d=False, dtype=np.float64, ensure_min_samples=0))


# Predictions ----------------------------------------------------------------------------------------------------------
