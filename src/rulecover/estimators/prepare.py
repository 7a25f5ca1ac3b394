"""Training data that are checked, and the model that their rules come from, trained or taken, and read once."""

from __future__ import annotations

import copy
import os
from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse import issparse
from sklearn.base import BaseEstimator, clone
from sklearn.ensemble import VotingClassifier, VotingRegressor
from sklearn.exceptions import NotFittedError
from sklearn.frozen import FrozenEstimator
from sklearn.model_selection._search import BaseSearchCV
from sklearn.pipeline import Pipeline
from sklearn.utils import check_random_state, get_tags
from sklearn.utils.validation import check_array, has_fit_parameter, validate_data

from rulecover.data.columns import SourceColumns
from rulecover.estimators.binned import BinnedTrees
from rulecover.estimators.booster import NOT_TRAINED_ANEW, as_estimator, is_booster
from rulecover.estimators.centred import CentredRegressor, without_centre
from rulecover.estimators.checks import check_width, sample_weights
from rulecover.estimators.door import (
    as_numbers,
    as_numbers_alone,
    checked_apart,
    columns_of,
    is_mixed,
    named_by,
    names_of_model,
    naming_columns,
    opened,
    rules_on,
)
from rulecover.exceptions import UnreadableModelError
from rulecover.readers import read_trees, unreadable
from rulecover.readers.sklearn.models import best_of
from rulecover.rules.ruleset import RuleSet
from rulecover.targets.target import Target, name_of
from rulecover.trees.tree import TreeEnsemble
from rulecover.typing import Array, Floats, Ints


@dataclass(frozen=True, eq=False)
class Source:
    """A model that rules come from, trained or made by hand.

    Parameters
    ----------
    model
        The model, or rules.
    trees
        Its trees; ``None`` where its rules are there already, or where trees are grown later.
    columns
        What its columns are made of, where they are not numbers as they are given.
    used
        The columns that matter, where `columns` are given.
    """

    model: Any
    trees: TreeEnsemble | None = None
    columns: SourceColumns | None = None
    used: Ints | None = None


@dataclass(frozen=True, eq=False)
class Prepared:
    """All that a method starts from.

    Parameters
    ----------
    samples
        The rows that count, as the rules see them, and what is to be predicted.
    rows
        Their places among the rows that were given.
    source
        The model that the rules come from.
    """

    samples: Any
    rows: Ints
    source: Source


class RuleModel(BaseEstimator, ABC):
    """A model whose fitted state is a set of rules, and the model they came from."""

    estimator: Any
    random_state: Any
    class_weight: Any = None
    estimator_: Any
    rules_: RuleSet
    n_features_in_: int
    #: What the columns of the source are made of, where they are not numbers as they are given.
    _columns: SourceColumns | None

    @abstractmethod
    def _default_estimator(self) -> Any:
        """What is trained where no estimator is given."""

    @property
    @abstractmethod
    def _target(self) -> Target:
        """What is predicted: classes or numbers."""

    # Fitting ----------------------------------------------------------------------------------------------------

    def _prepare(self, X: Any, y: Any, sample_weight: Any) -> Prepared:
        """Checks the data, trains the estimator on it or takes it as it is, and reads its trees once."""
        target = self._target
        target.check_given(y)
        estimator = self._source(y)
        names = names_of_model(estimator.estimator) if isinstance(estimator, FrozenEstimator) else None
        given = opened(X, names, as_arrays=sees_arrays(estimator))
        apart = is_mixed(given) or isinstance(estimator, RuleSet)
        with _unreadable_first(estimator):
            checked, y = (None, checked_apart(self, given, y)) if apart else self._checked(given, y, estimator)
        y = target.check(y, type(self).__name__)
        weight = sample_weights(given, y, sample_weight, self.class_weight)
        with nullcontext() if isinstance(estimator, Pipeline) else naming_columns(given):
            self.estimator_ = self._train(estimator, given, y, weight)
        source = self._read(given)
        self._columns = source.columns
        plain = None if self.class_weight is None else sample_weights(given, y, sample_weight, None)
        if self.class_weight is not None and plain is None:
            plain = np.ones(len(y))
        samples = target.samples(self._as_rules_see(given, checked, source), y, weight, plain, self.estimator_)
        counted = np.arange(len(y)) if weight is None else np.flatnonzero(weight > 0)
        return Prepared(samples if len(counted) == len(y) else samples.among(counted), counted, source)

    def _checked(self, X: Any, y: Any, estimator: Any) -> tuple[Any, Array]:
        checked: tuple[Any, Array] = validate_data(
            self,
            X,
            y,
            accept_sparse="csr",
            dtype=[np.float64, np.float32],
            ensure_all_finite=finite(estimator, X),
        )
        return checked

    def _as_rules_see(self, given: Any, checked: Any, source: Source) -> Any:
        """The training rows as numbers, once the source is trained: it knows what its columns are made of."""
        if source.columns is not None:
            return as_numbers(source.columns, given, source.used)
        if checked is not None:
            return checked
        with as_numbers_alone(given, self._names()):
            return check_array(given, dtype=[np.float64, np.float32], ensure_all_finite=finite(source.model, given))

    def _read(self, given: Any) -> Source:
        """The trained source, its trees, and what its columns are made of, if not of plain numbers."""
        model = self.estimator_
        if isinstance(model, RuleModel):
            return Source(model, columns=model._columns, used=model._columns_in_use())
        if isinstance(model, RuleSet):
            columns = SourceColumns(model.n_features, self._names(), model.columns.categories)
            return Source(model, columns=columns, used=model.clauses.columns)
        trees = read_trees(model)
        if trees.columns is None and is_mixed(given):  # of numbers alone the width is checked later
            check_width(trees, given.shape[1])
        trees = named_by(trees, given)
        return Source(model, trees, columns_of(trees), trees.used_columns)

    def _source(self, y: Any) -> Any:
        """What is to be trained on y, or is taken as it is: a model of the same kind, and one that can be read."""
        if self.estimator is None:
            return self._default_estimator()
        if isinstance(self.estimator, (str, os.PathLike)):
            raise unreadable(self.estimator, f" ({NOT_TRAINED_ANEW}: give its path to explain)")
        if is_booster(self.estimator):
            raise UnreadableModelError(f"{NOT_TRAINED_ANEW}; give it to explain, or inside FrozenEstimator.")
        source = self.estimator
        if isinstance(source, FrozenEstimator):
            inside = source.estimator
            source = FrozenEstimator(as_estimator(inside, y) if is_booster(inside) else best_of(inside))
        elif not isinstance(source, RuleModel):
            with suppress(NotFittedError):  # a type that cannot be read is refused before it is trained
                read_trees(source)
        with _unreadable_first(source):
            self._target.check_source(source, type(self).__name__)
        return source

    def _train(self, estimator: Any, X: Any, y: Array, weight: Floats | None) -> Any:
        """The trained estimator; numbers that are far from zero are centred first."""
        estimator = without_centre(estimator)
        taken = isinstance(estimator, (RuleModel, RuleSet, FrozenEstimator))
        centre = 0.0 if taken else self._target.centre(y, weight)
        if not centre:
            return self._trained(estimator, X, y, weight)
        return CentredRegressor(self._trained(estimator, X, y - centre, weight), centre)

    def _trained(self, estimator: Any, X: Any, y: Array, weight: Floats | None) -> Any:
        if isinstance(estimator, RuleSet):
            return rules_on(estimator, self._names(), X.shape[1])
        if isinstance(estimator, FrozenEstimator):
            return estimator.fit(X, y).estimator  # trains nothing, raises if it is not fitted
        model = fresh(estimator)
        seeds = check_random_state(self.random_state)
        for name in unseeded(model):
            model.set_params(**{name: seeds.randint(2**31 - 1)})
        if weight is None:
            return best_of(model.fit(X, y))
        last, name = (model.steps[-1][1], f"{model.steps[-1][0]}__") if isinstance(model, Pipeline) else (model, "")
        if not has_fit_parameter(last, "sample_weight"):
            raise ValueError(f"{name_of(last)} takes no sample weights; leave weights out or choose another estimator.")
        return best_of(model.fit(X, y, **{f"{name}sample_weight": weight}))

    def _names(self) -> tuple[str, ...] | None:
        names = getattr(self, "feature_names_in_", None)
        return None if names is None else tuple(map(str, names))

    def _columns_in_use(self) -> Ints:
        return self.rules_.clauses.columns

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        source = self._default_estimator() if self.estimator is None else self.estimator
        with suppress(AttributeError, TypeError):  # what is not an estimator is refused by fit, with a reason
            inner = get_tags(source)
            tags.input_tags.allow_nan = inner.input_tags.allow_nan
            tags.input_tags.sparse = inner.input_tags.sparse
        return tags


@contextmanager
def _unreadable_first(source: Any) -> Iterator[None]:
    """Where a trained model raises an error, one that it cannot be read comes first; otherwise it is read later."""
    try:
        yield
    except Exception:
        if isinstance(source, FrozenEstimator) and not isinstance(source.estimator, RuleModel):
            with suppress(NotFittedError):
                read_trees(source)
        raise


def finite(estimator: Any, X: Any) -> bool | str:
    """What values are taken: NaN only where the model has a route for it, which in sparse data it has not."""
    return "allow-nan" if _takes_missing(estimator) and not issparse(X) else True


def sees_arrays(estimator: Any) -> bool:
    """Whether a model makes arrays of the frames that it is given, as the steps of a pipeline do."""
    if isinstance(estimator, RuleModel):
        return sees_arrays(getattr(estimator, "estimator_", estimator.estimator))
    return isinstance(getattr(estimator, "estimator", estimator), Pipeline)


def _takes_missing(estimator: Any) -> bool:
    if isinstance(estimator, (RuleSet, Pipeline)):  # a pipeline may fill what is missing; its columns know where not
        return True
    if isinstance(estimator, (FrozenEstimator, BaseSearchCV, CentredRegressor, BinnedTrees)):
        return _takes_missing(estimator.estimator)
    if isinstance(estimator, (VotingClassifier, VotingRegressor)):
        return all(_takes_missing(member) for _, member in estimator.estimators if member != "drop")
    # CatBoost takes gaps, but before 1.2.8 does not say so in its tags.
    return bool(get_tags(estimator).input_tags.allow_nan) or type(estimator).__module__.startswith("catboost.")


def fresh(model: Any) -> Any:
    """The model with its settings, not trained."""
    try:
        return clone(model)
    except RuntimeError:  # CatBoost copies a list of columns, which scikit-learn takes for a change
        if not isinstance(model, RuleModel):
            return copy.deepcopy(model)
        settings = copy.copy(model).set_params(estimator=None)
        return clone(settings).set_params(estimator=fresh(model.estimator))


def unseeded(model: Any) -> list[str]:
    """The seeds that a model and the models in it leave open, outer ones first."""
    settings = model.get_params()
    seeds = [name for name in settings if name.rpartition("__")[2] == "random_state" and settings[name] is None]
    return sorted(seeds, key=lambda name: (name.count("__"), name))
