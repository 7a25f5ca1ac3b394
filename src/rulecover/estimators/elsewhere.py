"""Rows that are not in memory: what methods ask of them, and what all kinds of them share."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple, Protocol

import numpy as np
from sklearn.frozen import FrozenEstimator
from sklearn.utils.validation import check_array

from rulecover.data.columns import SourceColumns
from rulecover.estimators.asked import AskedModel, OutOfBagModel
from rulecover.estimators.checks import sample_weights
from rulecover.estimators.door import as_rules_see, checked_numbers, with_columns
from rulecover.estimators.prepare import Prepared, RuleModel, finite, sees_arrays
from rulecover.exceptions import MismatchedDataError
from rulecover.gpu.launch import is_on_device
from rulecover.partitions.dask_rows import is_dask
from rulecover.partitions.parts import Parts
from rulecover.rcboost.pricing.binned import BinnedPricing
from rulecover.rulepath.path import PathVotes
from rulecover.rules.ruleset import RuleSet
from rulecover.setcover import Greedy
from rulecover.targets.classes.samples import class_factors
from rulecover.targets.numbers.samples import NumberSamples
from rulecover.targets.samples import Samples
from rulecover.targets.target import Target
from rulecover.trees.tree import TreeEnsemble
from rulecover.typing import Array, Floats, Ints

_WAY_OUT = (
    "take trees, solver='greedy', prune=True or False, demand as one number or by class, and for numbers ridge=None "
    "and min_samples=1 (as_in_paper has all of these)"
)


class SampledRows(NamedTuple):
    """Some rows, in memory, and their places among all."""

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


#: Parts of the rows, and the samples of all rows, but for X.
PartsAndHead = tuple[Parts, Samples]


class ModelElsewhere(Protocol):
    """What rows elsewhere need of the model that is fitted to them."""

    estimator: Any
    random_state: Any
    class_weight: Any
    verbose: int
    n_features_in_: int

    @property
    def _target(self) -> Target: ...

    def _prepare(self, X: Any, y: Any, sample_weight: Any, *, deadline: float | None = None) -> Prepared: ...

    def _names(self) -> tuple[str, ...] | None: ...


class PathElsewhere(ModelElsewhere, Protocol):
    """What rows elsewhere need of a rule path."""

    checkpoint: Any
    time_limit: float | None
    max_rules: int

    def _votes(self) -> PathVotes: ...

    def _share(self) -> float | None: ...

    def _model(self, given: Any, rows: Ints) -> AskedModel: ...


class RowsElsewhere(Protocol):
    """Rows that stay where they are: in a file, on the workers of a cluster, on a GPU."""

    @property
    def labels(self) -> Array:
        """Values of y, among which all labels are."""

    def check_cover(self, model: Any, solver: Any) -> None:
        """Raises for a cover that needs all rows in memory."""

    def check_path(self, model: PathElsewhere) -> PathRows:
        """The rows; raises for a path that needs all of them in memory."""

    def check_boost(self, model: Any) -> RowsToBoost:
        """The rows; raises for boosting that needs all of them in memory."""

    def prepared(self, model: ModelElsewhere, deadline: float | None = None) -> Prepared:
        """The model that rules come from: frozen, or trained on a sample of the rows, by the deadline."""

    def parts(
        self, model: ModelElsewhere, prepared: Prepared, trees: TreeEnsemble
    ) -> AbstractContextManager[PartsAndHead]:
        """The parts of a cover of the leaves of trees."""


class RowsToBoost(Protocol):
    """Rows elsewhere on which rules can be generated."""

    def prepared(self, model: ModelElsewhere, deadline: float | None = None) -> Prepared:
        """The model that the first tree comes from, trained by the deadline."""

    def boost_parts(
        self, model: ModelElsewhere, prepared: Prepared, pricing: BinnedPricing
    ) -> tuple[Parts, Callable[[int], Mapping[str, Any]], Samples]:
        """The parts of RCBoost, what links those that grow a tree together, and the samples without rows."""


class PathRows(Protocol):
    """Rows elsewhere on which rule paths can be followed."""

    def drawn(self, random_state: Any) -> SampledRows:
        """Rows drawn at random, on which a model is trained and a size is chosen; all of them if they are few."""

    def path_parts(
        self, model: PathElsewhere, prepared: Prepared, sample: SampledRows
    ) -> AbstractContextManager[PartsAndHead]:
        """The parts of a path, by a model that is prepared on a sample."""


def check_in_memory(model: Any, X: Any) -> None:
    """Raises for rows elsewhere, where a method needs them in memory."""
    name = type(model).__name__
    if is_on_device(X):
        raise TypeError(
            f"X is on a GPU, where {name} is not fitted; give X.get(), or choose a cover: "
            "MIRCOClassifier(FrozenEstimator(model)), or explain with method='cover'."
        )
    if is_dask(X):
        raise MismatchedDataError(
            f"{name} needs all rows in one place, but X is a Dask collection; use MIRCO, a rule "
            "path or RCBoost, or give a sample of X and y, computed."
        )


def check_on_parts(model: Any, solver: Any) -> None:
    """Raises for settings of a cover that need all rows in one place."""
    refused = {
        f"estimator is a {type(model.estimator).__name__}": isinstance(model.estimator, (RuleSet, RuleModel)),
        f"solver is {model.solver!r}": not isinstance(solver, Greedy)
        or (solver is model.solver and solver.bound == "lp"),
        "prune is 'held-out'": model.prune == "held-out",
        "demand has one number for each row": not isinstance(model.demand, Mapping) and np.ndim(model.demand) > 0,
        f"ridge is {model.ridge}": model.ridge is not None,
        f"min_samples is {model.min_samples!r}": _cuts_branches(model),
    }
    for what, wrong in refused.items():
        if wrong:
            raise ValueError(f"{what}, which needs all rows in memory in one place; {_WAY_OUT} for rows that are not.")


def _cuts_branches(model: Any) -> bool:
    """Whether small branches of the trees are cut off, which depends on all rows."""
    return model.min_samples != 1 and not (model.min_samples == "auto" and model.estimator is None)


def check_path_on_parts(model: PathElsewhere) -> None:
    """Raises for settings of a path that need all rows in one place."""
    refused = {
        f"estimator is a {type(model.estimator).__name__}": isinstance(model.estimator, (RuleSet, RuleModel)),
        "model_share is None": model._share() is None,
        "checkpoint is given": model.checkpoint is not None,
    }
    for what, wrong in refused.items():
        if wrong:
            raise ValueError(
                f"{what}, which needs all rows in memory; take trees, model_share as a number, and no checkpoint for a "
                "table that is read in blocks."
            )


@dataclass(frozen=True, eq=False)
class ToNumbers:
    """From X of a block to the numbers that rules see, as where everything is in memory."""

    columns: SourceColumns | None
    used: Ints | None
    names: tuple[str, ...] | None
    width: int
    as_arrays: bool
    finite: bool | str

    @classmethod
    def of(cls, model: ModelElsewhere, prepared: Prepared) -> ToNumbers:
        source, samples = prepared.source, prepared.samples
        taken = finite(source.model, samples.X)
        return cls(source.columns, source.used, model._names(), samples.X.shape[1], sees_arrays(source.model), taken)

    def __call__(self, X: Any) -> Any:
        if not X.shape[0]:  # which scikit-learn refuses
            return np.zeros((0, self.width))
        X = with_columns(X, self.names, as_arrays=self.as_arrays)
        return as_rules_see(X, self.columns, self.used, self.names, partial(checked_numbers, finite=self.finite))


def by_code(class_weight: Any, classes: Array) -> Any:
    """The weights of classes, by their numbers."""
    if not isinstance(class_weight, Mapping):
        return class_weight
    return {code: class_weight[label] for code, label in enumerate(classes.tolist()) if label in class_weight}


def class_weights(
    model: ModelElsewhere, code: Ints, classes: Array, given: Array | None, n_rows: Floats | None = None
) -> tuple[Floats | None, Floats | None]:
    """What each row counts, and the factor in it that comes from the weight of each class; ``None`` for 1.

    Parameters
    ----------
    model
        The model, with its `class_weight`.
    code, given
        The class of each row, by number, and its weight, if there is one.
    classes
        The labels of the classes.
    n_rows
        How many rows each of these stands for.
    """
    by_class = by_code(model.class_weight, classes)
    weight = sample_weights(code, code, given, by_class, n_rows)
    if by_class is None or weight is None:
        return weight, None
    plain = sample_weights(code, code, given, None, n_rows)
    times = np.ones(len(code)) if n_rows is None else n_rows
    return weight, class_factors(code, weight * times, times * (1.0 if plain is None else plain), len(classes))


def number_samples(model: ModelElsewhere, y: Array, given: Array | None, width: int) -> NumberSamples:
    """The samples of all rows, but for X, where numbers are predicted."""
    target = model._target
    y = np.asarray(target.check(check_array(y, ensure_2d=False, dtype=np.float64), type(model).__name__))
    weight = sample_weights(y, y, given, None)
    return NumberSamples.of(np.zeros((0, width)), y, weight, scale=getattr(target, "scale", None))


def predicted_responses(model: PathElsewhere, target: Target, sample: SampledRows, block: BlockRows) -> Floats:
    """What the model predicts for the rows of a block, by trees that were not trained on them where it knows."""
    if not len(block.rows):
        return np.zeros((0, 1 if len(target.classes) <= 2 else len(target.classes)))
    places = block.start + block.rows
    if not isinstance(model.estimator, FrozenEstimator):  # it was trained on the sample
        among = np.searchsorted(sample.places, places)
        known = sample.places[np.minimum(among, len(sample.places) - 1)] == places
        places = np.where(known, among, len(sample.places))
    return target.predicted_responses(OutOfBagModel(model._model(block.inputs, block.rows), places), block.X)
