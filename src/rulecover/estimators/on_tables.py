"""Fitting from tables that are read in blocks: covers of rows that are nowhere together."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
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
from rulecover.partitions.table import InOrder, TableInBlocks
from rulecover.rules.ruleset import RuleSet
from rulecover.setcover import Greedy
from rulecover.targets.classes.samples import ClassSamples, class_factors
from rulecover.targets.numbers.samples import NumberSamples
from rulecover.targets.samples import Samples
from rulecover.trees.tree import TreeEnsemble
from rulecover.typing import Array, Floats, Ints

if TYPE_CHECKING:
    from rulecover.estimators.base import VotingModel

#: The share of the memory limit that leaf ids may take before they go to disk.
_IDS_SHARE = 0.3

_WAY_OUT = (
    "take trees, solver='greedy', prune=True or False, demand as one number or by class, and for numbers ridge=None "
    "and min_samples=1 (as_in_paper has all of these)"
)


class SampledRows(NamedTuple):
    """Some rows of a table, in memory, and their places in it."""

    X: Any
    y: Array
    weight: Array | None
    places: Ints


class BlockRows(NamedTuple):
    """The rows of a block that count: the block as it is, their numbers, their places in it, and where it begins."""

    inputs: Any
    X: Any
    rows: Ints
    start: int


def first_rows(table: TableInBlocks) -> SampledRows:
    """Rows of the first block: for a frozen model, whose columns are looked at."""
    labels = table.labels
    n_rows = len(labels.y)
    return _some_rows(table, np.arange(min(n_rows, table.sample_rows, int(labels.starts[1]) or n_rows)))


def random_rows(table: TableInBlocks, random_state: Any) -> SampledRows:
    """As many rows as may be in memory, drawn at random: for a model to be trained on."""
    n_rows = len(table.labels.y)
    if n_rows <= table.sample_rows:
        return _some_rows(table, np.arange(n_rows))
    random = check_random_state(0 if random_state is None else random_state)
    return _some_rows(table, np.sort(random.choice(n_rows, table.sample_rows, replace=False)))


def _some_rows(table: TableInBlocks, rows: Ints) -> SampledRows:
    labels = table.labels
    weight = None if labels.weight is None else labels.weight[rows]
    return SampledRows(table.inputs(table.rows(rows, labels.starts)), labels.y[rows], weight, rows)


def head_of(model: VotingModel, table: TableInBlocks, prepared: Prepared) -> Samples:
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


def check_path_on_parts(model: Any) -> None:
    """Raises for settings of a path that need all rows in one place."""
    refused = {
        f"estimator is a {type(model.estimator).__name__}": isinstance(model.estimator, (RuleSet, RuleModel)),
        "model_share is None": model._share() is None,
        "checkpoint is given": model.checkpoint is not None,
        "time_limit is given": model.time_limit is not None,
    }
    for what, wrong in refused.items():
        if wrong:
            raise ValueError(
                f"{what}, which needs all rows in memory; take trees, model_share as a number, and neither checkpoint "
                "nor time_limit for a table that is read in blocks."
            )


def check_on_parts(model: Any, solver: Any) -> None:
    """Raises for settings of a cover that need all rows in one place."""
    refused = {
        f"estimator is a {type(model.estimator).__name__}": isinstance(model.estimator, (RuleSet, RuleModel)),
        f"solver is {model.solver!r}": not isinstance(solver, Greedy)
        or (solver is model.solver and solver.bound == "lp"),
        "prune is 'held-out'": getattr(model, "prune", None) == "held-out",
        "demand has one number for each row": not isinstance(model.demand, Mapping) and np.ndim(model.demand) > 0,
        f"ridge is {getattr(model, 'ridge', None)}": getattr(model, "ridge", None) is not None,
        f"min_samples is {getattr(model, 'min_samples', 1)!r}": _cuts_branches(model),
    }
    for what, wrong in refused.items():
        if wrong:
            raise ValueError(f"{what}, which needs all rows in memory in one place; {_WAY_OUT} for rows that are not.")


def _cuts_branches(model: Any) -> bool:
    """Whether small branches of the trees are cut off, which depends on all rows."""
    wanted = getattr(model, "min_samples", 1)
    return wanted != 1 and not (wanted == "auto" and model.estimator is None)


@contextmanager
def parts_of_table(
    table: TableInBlocks,
    head: Samples,
    numbers: Callable[[Any], Any],
    predicted: Callable[[BlockRows], Floats] | None = None,
    *,
    verbose: int = 0,
) -> Iterator[Callable[..., Parts]]:
    """From trees to the parts of a table, one for each block; temporary files are removed when the context ends.

    With `predicted`, which predicts for the rows of a block, the parts may be those of rule paths.
    """
    starts = table.labels.starts
    blocks, store = InOrder(table, starts), SpillToDisk(_IDS_SHARE * table.memory_limit)

    def load(number: int) -> Samples:
        return _samples_of(head, numbers(blocks[number]), slice(int(starts[number]), int(starts[number + 1])))

    def ask(number: int) -> Floats:
        assert predicted is not None
        weight = None if head.weight is None else head.weight[starts[number] : starts[number + 1]]
        block = blocks[number]
        rows = np.arange(len(block)) if weight is None else np.flatnonzero(weight)
        return predicted(BlockRows(table.inputs(block), numbers(block)[rows], rows, int(starts[number])))

    def made(trees: TreeEnsemble, kind: Callable[..., Part] = Part, *, asks: bool = False) -> Parts:
        each = range(len(starts) - 1)
        more = [{"start": int(starts[k]), "predicted": partial(ask, k) if asks else None} for k in each]
        parts = [kind(trees, partial(load, k), store, **(more[k] if predicted else {})) for k in each]
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
