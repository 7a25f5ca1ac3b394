"""Fitting from tables that are read in blocks: rows that are nowhere together."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NoReturn

import numpy as np
import pandas as pd
from sklearn.frozen import FrozenEstimator
from sklearn.utils import check_random_state

from rulecover.coverage import smallest_uint
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
from rulecover.exceptions import MemoryLimitError, MismatchedDataError
from rulecover.partitions.coded import CodedTargets
from rulecover.partitions.part import Part
from rulecover.partitions.parts import LocalParts
from rulecover.partitions.path_part import PathPart
from rulecover.partitions.store import SpillToDisk
from rulecover.partitions.table import InOrder, TableInBlocks
from rulecover.rulepath.logistic import LogisticFit
from rulecover.targets.classes.samples import ClassSamples
from rulecover.targets.samples import Samples
from rulecover.trees.tree import TreeEnsemble
from rulecover.typing import Array, Floats, Ints

#: The share of the memory limit that leaf ids may take before they go to disk, and that is left for blocks, the model
#: and the libraries.
_IDS_SHARE, _LEFT_SHARE = 0.3, 0.3
#: The share of the memory limit for what is kept of all rows, at most.
_ROWS_SHARE = 0.9
#: The bytes per row of a weight, as it is given and as a number of rows, and of the state of a cover.
_WEIGHT, _COVER = 16, 10


@dataclass(frozen=True, eq=False)
class RowsOfTable:
    """The rows of a table that is read in blocks, with labels and weights in it; see `RowsElsewhere`."""

    table: TableInBlocks

    @classmethod
    def of(cls, table: TableInBlocks, y: Any, sample_weight: Any) -> RowsOfTable:
        """The rows, if y and the weights are in the table alone."""
        if y is not None or sample_weight is not None:
            given = "y" if sample_weight is None else "sample_weight"
            raise ValueError(
                f"{given} is given besides a table, which has it as a column; name the column in open_table."
            )
        return cls(table)

    @property
    def labels(self) -> Array:
        return self.table.labels.values

    def check_cover(self, model: Any, solver: Any) -> None:
        check_on_parts(model, solver)

    def check_path(self, model: PathElsewhere) -> RowsOfTable:
        check_path_on_parts(model)
        return self

    def check_boost(self, model: Any) -> NoReturn:
        raise TypeError(
            "RCBoost grows trees on all rows and does not take tables of open_table; give X and y, or take "
            "MIRCOClassifier, MIRCORegressor or a rule path."
        )

    def prepared(self, model: ModelElsewhere, deadline: float | None = None) -> Prepared:
        is_frozen = isinstance(model.estimator, FrozenEstimator)
        sample = self._first() if is_frozen else self.drawn(model.random_state)
        return model._prepare(sample.X, sample.y, sample.weight, deadline=deadline)

    def _first(self) -> SampledRows:
        """Rows of the first block: for a frozen model, whose columns are looked at."""
        n_rows = len(self.table.labels.y)
        return self._some(np.arange(min(n_rows, self.table.sample_rows, int(self.table.labels.starts[1]) or n_rows)))

    def drawn(self, random_state: Any) -> SampledRows:
        n_rows, most = len(self.table.labels.y), self.table.sample_rows
        if n_rows <= most:
            return self._some(np.arange(n_rows))
        random = check_random_state(0 if random_state is None else random_state)
        return self._some(np.sort(random.choice(n_rows, most, replace=False)))

    def _some(self, rows: Ints) -> SampledRows:
        table, labels = self.table, self.table.labels
        weight = None if labels.weight is None else labels.weight[rows]
        return SampledRows(table.inputs(table.rows(rows, labels.starts)), labels.y[rows], weight, rows)

    @contextmanager
    def parts(self, model: ModelElsewhere, prepared: Prepared, trees: TreeEnsemble) -> Iterator[PartsAndHead]:
        with self._blocks(model, prepared, lambda head: _COVER) as blocks:
            parts = [Part(trees, partial(blocks.samples, k), blocks.store) for k in range(len(blocks))]
            yield blocks.together(parts, model.verbose), blocks.head

    @contextmanager
    def path_parts(self, model: PathElsewhere, prepared: Prepared, sample: SampledRows) -> Iterator[PartsAndHead]:
        assert prepared.source.trees is not None
        with self._blocks(model, prepared, partial(_bytes_of_path, model)) as blocks:
            ask = partial(predicted_responses, model, model._target.of(blocks.head), sample)
            parts = [
                PathPart(
                    prepared.source.trees,
                    partial(blocks.samples, k),
                    blocks.store,
                    start=int(blocks.starts[k]),
                    predicted=partial(blocks.predicted, ask, k) if model._share() != 0 else None,
                )
                for k in range(len(blocks))
            ]
            yield blocks.together(parts, model.verbose), blocks.head

    @contextmanager
    def _blocks(
        self, model: ModelElsewhere, prepared: Prepared, state: Callable[[Samples], float]
    ) -> Iterator[_TableBlocks]:
        """The blocks of the table; temporary files are removed when the context ends.

        `state` is how many bytes a method keeps of each row besides its target and weight.
        """
        head, limit = _head(model, self.table, prepared), self.table.memory_limit
        kept = head.y.itemsize + (0 if self.table.weight is None else _WEIGHT) + state(head)
        store = SpillToDisk(_room_for_ids(limit, _checked(kept, len(head.y), limit)))
        try:
            yield _TableBlocks(self.table, head, ToNumbers.of(model, prepared), store)
        finally:
            store.close()


def _bytes_of_path(model: PathElsewhere, head: Samples) -> float:
    """What a path keeps of each row: weight, marks, responses, predictions, the rules that cover it, and slopes."""
    classes = len(head.classes) if isinstance(head, ClassSamples) else 0
    responses = classes if classes > 2 else 1
    predictions = responses if model._share() != 0 else 0
    slopes = 4 * responses if model._votes().steps(head, model._target.of(head), None).start is LogisticFit else 0
    return 8 * (3 + responses + predictions + slopes) + model.max_rules / 8


def _checked(per_row: float, n_rows: int, limit: int) -> float:
    """The bytes that are kept of all rows; raises if the memory limit does not allow for them."""
    kept = per_row * n_rows
    if kept > _ROWS_SHARE * limit:
        raise MemoryLimitError(
            f"memory_limit is {_in_words(limit)}, but targets, weights and the state of each row take "
            f"{_in_words(kept)} for {n_rows:,} rows, {per_row:g} bytes each; give memory_limit="
            f"'{_in_words(kept / _ROWS_SHARE).replace(' ', '')}' or more, or fewer rows."
        )
    return kept


def _room_for_ids(limit: int, kept: float) -> float:
    """The bytes that leaf ids may take in memory, besides what is kept of all rows."""
    return min(max(0.0, (1 - _LEFT_SHARE) * limit - kept), _IDS_SHARE * limit)


def _in_words(size: float) -> str:
    """A number of bytes, to one decimal, rounded up.

    >>> _in_words(4_000_000_000), _in_words(27_410), _in_words(999_999)
    ('4 GB', '27.5 KB', '1 MB')
    """
    units = {"GB": 10**9, "MB": 10**6, "KB": 10**3}
    name = next((name for name, unit in units.items() if size > 0.9 * unit), "KB")
    return f"{math.ceil(10 * size / units[name]) / 10:g} {name}"


class _TableBlocks:
    """The blocks of a table, by their numbers, and where what is known of them is kept."""

    def __init__(self, table: TableInBlocks, head: Samples, numbers: ToNumbers, store: SpillToDisk) -> None:
        self.head, self.store, self.starts = head, store, table.labels.starts
        self._table, self._numbers = table, numbers
        self._in_order = InOrder(table, self.starts)

    def __len__(self) -> int:
        return len(self.starts) - 1

    def together(self, parts: Sequence[Part], verbose: int) -> LocalParts:
        """The parts of all blocks as one."""
        return LocalParts(parts, verbose=verbose, sizes=np.diff(self.starts).tolist())

    def samples(self, number: int) -> Samples:
        """The samples of a block; rows of weight zero are left out."""
        X, weight = self._numbers(self._table.inputs(self._in_order[number])), self._weight(number)
        y = self.head.y[self._places(number)]
        counted = slice(None) if weight is None or weight.all() else np.flatnonzero(weight)
        head: Any = self.head
        block: Samples = replace(head, X=X[counted], y=y[counted], weight=None if weight is None else weight[counted])
        return block

    def predicted(self, ask: Callable[[BlockRows], Floats], number: int) -> Floats:
        """What a model predicts for the rows of a block that count."""
        inputs, weight = self._table.inputs(self._in_order[number]), self._weight(number)
        rows = np.arange(len(inputs)) if weight is None else np.flatnonzero(weight)
        return ask(BlockRows(inputs, self._numbers(inputs)[rows], rows, int(self.starts[number])))

    def _weight(self, number: int) -> Floats | None:
        return None if self.head.weight is None else self.head.weight[self._places(number)]

    def _places(self, number: int) -> slice:
        return slice(int(self.starts[number]), int(self.starts[number + 1]))


def _head(model: ModelElsewhere, table: TableInBlocks, prepared: Prepared) -> Samples:
    """The samples of all rows, but for X: targets and weights as they are where everything is in memory."""
    labels, width = table.labels, model.n_features_in_
    if not isinstance(prepared.samples, ClassSamples):
        return number_samples(model, labels.y[:], labels.weight, width)
    classes = prepared.samples.classes
    code = _codes(labels.y, classes)
    weight, factors = class_weights(model, code, classes, labels.weight)
    return ClassSamples(np.zeros((0, width)), code, classes, weight, factors)


def _codes(y: Array | CodedTargets, classes: Array) -> Ints:
    """The number of each label among the classes, as small as can be."""
    values = y.values if isinstance(y, CodedTargets) else y  # numbers of very many different values
    missing = np.flatnonzero(pd.isna(values))
    if missing.size:
        codes = y.codes if isinstance(y, CodedTargets) else np.arange(len(y))
        row = int(np.isin(codes, missing).argmax())
        raise ValueError(f"the target is missing in row {row}; leave such rows out.")
    known = np.isin(values, classes)
    if not known.all():
        raise MismatchedDataError(
            f"the target has labels that the model never saw: {values[~known][:5].tolist()}; it knows "
            f"{classes[:10].tolist()}. Raise sample_rows if it is trained on a sample."
        )
    place = np.searchsorted(classes, values).astype(smallest_uint(len(classes)))
    if not isinstance(y, CodedTargets):
        return np.asarray(place)
    return np.asarray(y.codes if (place == np.arange(len(place))).all() else place[y.codes])
