"""Fitting from tables that are read in blocks: covers of rows that are nowhere together."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.frozen import FrozenEstimator
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_array

from rulecover.coverage import smallest_uint
from rulecover.estimators.checks import sample_weights
from rulecover.estimators.door import as_numbers, as_numbers_alone, opened
from rulecover.estimators.prepare import Prepared, RuleModel, finite, sees_arrays
from rulecover.exceptions import MismatchedDataError
from rulecover.partitions.part import Part
from rulecover.partitions.parts import LocalParts, Parts
from rulecover.partitions.store import SpillToDisk
from rulecover.partitions.table import InOrder, Labels, TableInBlocks
from rulecover.rules.ruleset import RuleSet
from rulecover.setcover import Greedy
from rulecover.targets.classes.samples import ClassSamples, class_factors
from rulecover.targets.numbers.samples import NumberSamples
from rulecover.targets.samples import Samples
from rulecover.trees.tree import TreeEnsemble
from rulecover.typing import Array, Ints

if TYPE_CHECKING:
    from rulecover.estimators.base import VotingModel

#: The share of the memory limit that leaf ids may take before they go to disk.
_IDS_SHARE = 0.5

_WAY_OUT = (
    "take trees, solver='greedy', prune=True or False, demand as one number or by class, and ridge=None "
    "(as_in_paper has all of these)"
)


def prepared_from(model: VotingModel, table: TableInBlocks, labels: Labels) -> Prepared:
    """The model that rules come from: frozen, or trained on a sample of the rows; as all estimators prepare it."""
    n_rows = len(labels.y)
    if isinstance(model.estimator, FrozenEstimator):  # its columns are looked at
        rows = np.arange(min(n_rows, table.sample_rows, int(labels.starts[1]) or n_rows))
    elif n_rows <= table.sample_rows:
        rows = np.arange(n_rows)
    else:
        random = check_random_state(0 if model.random_state is None else model.random_state)
        rows = np.sort(random.choice(n_rows, table.sample_rows, replace=False))
    X = table.inputs(table.rows(rows, labels.starts))
    weight = None if labels.weight is None else labels.weight[rows]
    return model._prepare(X, labels.y[rows], weight)


def head_of(model: VotingModel, labels: Labels, prepared: Prepared) -> Samples:
    """The samples of all rows, but for X: targets and weights as they are where everything is in memory."""
    target, y = model._target, labels.y
    nothing = np.zeros((0, model.n_features_in_))
    if not isinstance(prepared.samples, ClassSamples):
        y = np.asarray(target.check(check_array(y, ensure_2d=False, dtype=np.float64), type(model).__name__))
        weight = sample_weights(y, y, labels.weight, None)
        return NumberSamples.of(nothing, y, weight, scale=getattr(target, "scale", None))
    classes = prepared.samples.classes
    code = _codes(y, classes)
    by_class = _by_code(model.class_weight, classes)
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


def _by_code(class_weight: Any, classes: Array) -> Any:
    """The weights of classes, by their numbers."""
    if not isinstance(class_weight, Mapping):
        return class_weight
    return {code: class_weight[label] for code, label in enumerate(classes.tolist()) if label in class_weight}


def check_alone(table: TableInBlocks, y: Any, sample_weight: Any) -> TableInBlocks:
    """The table, which has y and the weights in it."""
    if y is not None or sample_weight is not None:
        given = "y" if sample_weight is None else "sample_weight"
        raise ValueError(f"{given} is given besides a table, which has it as a column; name the column in open_table.")
    return table


def check_on_parts(model: Any, solver: Any) -> None:
    """Raises for settings of a cover that need all rows in one place."""
    refused = {
        f"estimator is a {type(model.estimator).__name__}": isinstance(model.estimator, (RuleSet, RuleModel)),
        f"solver is {model.solver!r}": not isinstance(solver, Greedy)
        or (solver is model.solver and solver.bound == "lp"),
        "prune is 'held-out'": getattr(model, "prune", None) == "held-out",
        "demand has one number for each row": not isinstance(model.demand, Mapping) and np.ndim(model.demand) > 0,
        f"ridge is {getattr(model, 'ridge', None)}": getattr(model, "ridge", None) is not None,
        f"min_samples is {getattr(model, 'min_samples', 1)!r}": getattr(model, "min_samples", 1) not in (1, "auto"),
    }
    for what, wrong in refused.items():
        if wrong:
            raise ValueError(f"{what}, which needs all rows in memory; {_WAY_OUT} for a table that is read in blocks.")


@contextmanager
def parts_of_table(
    table: TableInBlocks, labels: Labels, head: Samples, numbers: Callable[[Any], Any], *, verbose: int = 0
) -> Iterator[Callable[[TreeEnsemble], Parts]]:
    """From trees to the parts of a table, one for each block; temporary files are removed when the context ends."""
    blocks, store = InOrder(table, labels.starts), SpillToDisk(_IDS_SHARE * table.memory_limit)

    def load(number: int) -> Samples:
        rows = slice(int(labels.starts[number]), int(labels.starts[number + 1]))
        return _samples_of(head, numbers(blocks[number]), rows)

    def made(trees: TreeEnsemble) -> Parts:
        parts = [Part(trees, partial(load, number), store) for number in range(len(labels.starts) - 1)]
        return LocalParts(parts, verbose=verbose)

    try:
        yield made
    finally:
        store.close()


def _samples_of(head: Samples, X: Any, rows: slice) -> Samples:
    """The samples of a block; rows of weight zero are left out."""
    samples: Any = head
    y, weight = head.y[rows], None if head.weight is None else head.weight[rows]
    counted = slice(None) if weight is None or weight.all() else np.flatnonzero(weight)
    block: Samples = replace(samples, X=X[counted], y=y[counted], weight=None if weight is None else weight[counted])
    return block


def numbers_of(model: VotingModel, table: TableInBlocks, prepared: Prepared) -> Callable[[Any], Any]:
    """From a block of the table to the numbers that the rules see, as where everything is in memory."""
    source, names = prepared.source, model._names()

    def numbers(block: Any) -> Any:
        if not len(block):  # which scikit-learn refuses
            return np.zeros((0, prepared.samples.X.shape[1]))
        X = opened(table.inputs(block), names, as_arrays=sees_arrays(source.model))
        if source.columns is not None:
            return as_numbers(source.columns, X, source.used)
        with as_numbers_alone(X, names):
            return check_array(X, dtype=[np.float64, np.float32], ensure_all_finite=finite(source.model, X))

    return numbers
