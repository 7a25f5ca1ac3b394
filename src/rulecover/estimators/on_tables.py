"""Fitting from tables that are read in blocks: rows that are nowhere together."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NoReturn

import numpy as np
from sklearn.frozen import FrozenEstimator
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_array

from rulecover.coverage import smallest_uint
from rulecover.estimators.checks import sample_weights
from rulecover.estimators.elsewhere import (
    BlockRows,
    ModelElsewhere,
    PartsAndHead,
    PathElsewhere,
    SampledRows,
    ToNumbers,
    by_code,
    check_on_parts,
    check_path_on_parts,
    predicted_responses,
)
from rulecover.estimators.prepare import Prepared
from rulecover.exceptions import MismatchedDataError
from rulecover.partitions.part import Part
from rulecover.partitions.parts import LocalParts
from rulecover.partitions.path_part import PathPart
from rulecover.partitions.store import SpillToDisk
from rulecover.partitions.table import InOrder, TableInBlocks
from rulecover.targets.classes.samples import ClassSamples, class_factors
from rulecover.targets.numbers.samples import NumberSamples
from rulecover.targets.samples import Samples
from rulecover.trees.tree import TreeEnsemble
from rulecover.typing import Array, Floats, Ints

#: The share of the memory limit that leaf ids may take before they go to disk.
_IDS_SHARE = 0.3


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
        return self.table.labels.y

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

    def prepared(self, model: ModelElsewhere) -> Prepared:
        is_frozen = isinstance(model.estimator, FrozenEstimator)
        sample = self._first() if is_frozen else self.drawn(model.random_state)
        return model._prepare(sample.X, sample.y, sample.weight)

    def _first(self) -> SampledRows:
        """Rows of the first block: for a frozen model, whose columns are looked at."""
        n_rows = len(self.labels)
        return self._some(np.arange(min(n_rows, self.table.sample_rows, int(self.table.labels.starts[1]) or n_rows)))

    def drawn(self, random_state: Any) -> SampledRows:
        n_rows, most = len(self.labels), self.table.sample_rows
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
        with self._blocks(model, prepared) as blocks:
            parts = [Part(trees, partial(blocks.samples, k), blocks.store) for k in range(len(blocks))]
            yield LocalParts(parts, verbose=model.verbose), blocks.head

    @contextmanager
    def path_parts(self, model: PathElsewhere, prepared: Prepared, sample: SampledRows) -> Iterator[PartsAndHead]:
        assert prepared.source.trees is not None
        with self._blocks(model, prepared) as blocks:
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
            yield LocalParts(parts, verbose=model.verbose), blocks.head

    @contextmanager
    def _blocks(self, model: ModelElsewhere, prepared: Prepared) -> Iterator[_Blocks]:
        """The blocks of the table; temporary files are removed when the context ends."""
        store = SpillToDisk(_IDS_SHARE * self.table.memory_limit)
        try:
            yield _Blocks(self.table, _head(model, self.table, prepared), ToNumbers.of(model, prepared), store)
        finally:
            store.close()


class _Blocks:
    """The blocks of a table, by their numbers, and where what is known of them is kept."""

    def __init__(self, table: TableInBlocks, head: Samples, numbers: ToNumbers, store: SpillToDisk) -> None:
        self.head, self.store, self.starts = head, store, table.labels.starts
        self._table, self._numbers = table, numbers
        self._in_order = InOrder(table, self.starts)

    def __len__(self) -> int:
        return len(self.starts) - 1

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
    target, labels = model._target, table.labels
    y = labels.y
    nothing = np.zeros((0, model.n_features_in_))
    if not isinstance(prepared.samples, ClassSamples):
        y = np.asarray(target.check(check_array(y, ensure_2d=False, dtype=np.float64), type(model).__name__))
        weight = sample_weights(y, y, labels.weight, None)
        return NumberSamples.of(nothing, y, weight, scale=getattr(target, "scale", None))
    classes = prepared.samples.classes
    code = _codes(y, classes)
    by_class = by_code(model.class_weight, classes)
    weight = sample_weights(code, code, labels.weight, by_class)
    if by_class is None or weight is None:
        return ClassSamples(nothing, code, classes, weight)
    plain = sample_weights(code, code, labels.weight, None)
    factors = class_factors(code, weight, np.ones(len(code)) if plain is None else plain, len(classes))
    return ClassSamples(nothing, code, classes, weight, factors)


def _codes(y: Array, classes: Array) -> Ints:
    """The number of each label, as small as can be."""
    import pandas as pd

    found, seen = pd.factorize(y, sort=False)
    known = np.isin(seen, classes)
    if not known.all() or (found < 0).any():
        row = int(np.flatnonzero(found < 0)[0]) if (found < 0).any() else -1
        if row >= 0:
            raise ValueError(f"the target is missing in row {row}; leave such rows out.")
        raise MismatchedDataError(
            f"the target has labels that the model never saw: {np.asarray(seen)[~known][:5].tolist()}; it knows "
            f"{classes[:10].tolist()}. Raise sample_rows if it is trained on a sample."
        )
    return np.asarray(np.searchsorted(classes, np.asarray(seen)).astype(smallest_uint(len(classes)))[found])
