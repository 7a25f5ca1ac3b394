"""Rule paths on Dask collections: a size is chosen on a sample, the rules on all rows, which stay on the workers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from rulecover.estimators.on_dask import ROWS_OF_PART, ToSamples, condensed, random_places, to_samples
from rulecover.estimators.on_tables import BlockRows, SampledRows, check_path_on_parts
from rulecover.estimators.path_on_tables import asked, follow_on_parts
from rulecover.partitions.boost_part import joined_samples
from rulecover.partitions.dask import DaskParts, joined_by_worker
from rulecover.partitions.dask_rows import DaskRows, Rows, some_rows
from rulecover.partitions.path_part import PathPart
from rulecover.targets.samples import Samples
from rulecover.trees.tree import TreeEnsemble
from rulecover.typing import Floats

if TYPE_CHECKING:
    from rulecover.estimators.rulepath import RulePath


class _RowsFrom(NamedTuple):
    """The rows of a partition, and how many rows there are in partitions before it."""

    rows: Rows
    start: int


def fit_path_on_dask(model: RulePath, rows: DaskRows) -> None:
    """Fits a rule path, whose settings are checked, to the rows of a Dask collection."""
    check_path_on_parts(model)
    places = random_places(rows, model.random_state)
    sample = SampledRows(*some_rows(rows, places), places)
    prepared = model._prepare(sample.X, sample.y, sample.weight)
    samples = to_samples(model, rows, prepared)
    head = condensed(rows, samples)
    ask = None
    if model._share() != 0:
        known = SampledRows(None, sample.y[:0], None, places)  # workers need no more of it
        ask = partial(asked, model, model._target.of(head), known)
    assert prepared.source.trees is not None
    parts = _parts(rows, partial(_part, prepared.source.trees, samples, ask, int(rows.n_rows.sum())))
    try:
        follow_on_parts(model, parts, prepared, head, sample)
    finally:
        parts.close()


def _parts(rows: DaskRows, make: Callable[[Any], PathPart]) -> DaskParts:
    starts = np.cumsum(rows.n_rows) - rows.n_rows
    placed = rows.client.map(_RowsFrom, rows.futures, starts.tolist(), pure=False)
    joined = joined_by_worker(rows.client, placed, rows.n_rows.tolist(), most=ROWS_OF_PART)
    return DaskParts(rows.client, joined, make, passing=PathPart.passing)


def _part(
    trees: TreeEnsemble,
    samples: ToSamples,
    ask: Callable[[BlockRows], Floats] | None,
    n_rows: int,
    blocks: Sequence[_RowsFrom],
) -> PathPart:
    load = partial(_joined, samples, blocks)
    predicted = None if ask is None else partial(_predicted, samples, ask, blocks)
    # Rows are numbered from a multiple of the number of all rows, so that no two rows of any parts share a number.
    return PathPart(trees, load, start=(1 + blocks[0].start) * n_rows, predicted=predicted)


def _joined(samples: ToSamples, blocks: Sequence[_RowsFrom]) -> Samples:
    return joined_samples([samples(block.rows) for block in blocks])


def _predicted(samples: ToSamples, ask: Callable[[BlockRows], Floats], blocks: Sequence[_RowsFrom]) -> Floats:
    """What the model predicts for the rows that count."""
    found = []
    for rows, start in blocks:
        counted = samples.counted(rows)
        found.append(ask(BlockRows(rows.X, samples.numbers(rows.X)[counted], counted, start)))
    return np.concatenate(found)
