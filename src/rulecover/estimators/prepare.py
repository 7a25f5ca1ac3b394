"""Training data that are checked, and the model that their rules come from, trained or taken, and read once."""

from __future__ import annotations

import copy
import os
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from scipy.sparse import issparse
from sklearn.base import BaseEstimator, clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import VotingClassifier, VotingRegressor
from sklearn.exceptions import NotFittedError
from sklearn.frozen import FrozenEstimator
from sklearn.model_selection._search import BaseSearchCV
from sklearn.pipeline import Pipeline
from sklearn.utils import check_random_state
from sklearn.utils.validation import has_fit_parameter

from rulecover.data.columns import SourceColumns
from rulecover.data.encoder import LeftOut, TableEncoder, as_in_whole
from rulecover.data.frames import in_native_order
from rulecover.estimators.binned import BinnedTrees
from rulecover.estimators.booster import NOT_TRAINED_AGAIN, as_estimator, is_booster, is_file
from rulecover.estimators.checks import check_width, sample_weights
from rulecover.estimators.cross_fitted import Honest
from rulecover.estimators.door import (
    as_rules_see,
    checked_numbers,
    columns_of,
    is_mixed,
    named_by,
    naming_columns,
    rows_of,
    rules_on,
)
from rulecover.estimators.fewer_trees import (
    has_trees_to_spare,
    share_left,
    trained_with_fewer_trees,
    trees_in_words,
    with_share_of_trees,
)
from rulecover.estimators.first_steps import FirstSteps, fitted_first, fitted_to_all
from rulecover.estimators.in_time import Halves, SamplingOrder, halves, sampling_order, trained_in_time
from rulecover.estimators.other_target import (
    CentredRegressor,
    CodedClassifier,
    OnOtherTarget,
    WiderClassifier,
    classes_in_words,
    for_classes,
    inner_model,
    trains_on_codes,
)
from rulecover.estimators.steps_first import has_steps_first
from rulecover.estimators.zeros import for_histograms, with_zeros_in
from rulecover.exceptions import AdviceWarning, CutShortWarning, UnreadableModelError
from rulecover.readers import read_trees, reader_of, unreadable
from rulecover.readers.sklearn.models import best_of, takes_missing
from rulecover.rules.ruleset import RuleSet
from rulecover.targets.samples import repeats
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
    cut
        What there was no time for in the training of the model, such as all rows, in words.
    trained_on
        The rows that the model was trained on, in their order, if these are not all.
    """

    samples: Any
    rows: Ints
    source: Source
    cut: str = ""
    trained_on: Ints | None = None

    @property
    def drawn_from(self) -> Ints:
        """The places of the rows among those that the model was trained on; a place behind them for other rows."""
        if self.trained_on is None:
            return self.rows
        among = np.searchsorted(self.trained_on, self.rows)
        known = self.trained_on[np.minimum(among, len(self.trained_on) - 1)] == self.rows
        return np.where(known, among, len(self.trained_on))

    def of_first(self, n_trees: int) -> Prepared:
        """The same with the first trees alone."""
        trees = self.source.trees
        if trees is None or n_trees >= len(trees.trees):
            return self
        return replace(self, source=replace(self.source, trees=trees.take(np.arange(n_trees))))

    def among(self, samples: Ints) -> Prepared:
        """The same with some of the samples alone."""
        return replace(self, samples=self.samples.among(samples), rows=self.rows[samples])


@dataclass(frozen=True, eq=False)
class Given:
    """Training data as users give them, checked.

    Parameters
    ----------
    X
        The rows: an array, a sparse matrix or a frame.
    numbers
        The same as numbers; ``None`` where X may hold more than numbers.
    y, sample_weight
        What is to be predicted, and what each row counts, if given.
    """

    X: Any
    numbers: Any
    y: Array
    sample_weight: Any = None


@dataclass(frozen=True, eq=False)
class Preparation:
    """How data are prepared for a method.

    Parameters
    ----------
    target
        What is predicted: classes or numbers.
    names
        The names of the columns, if they have any.
    class_weight, random_state
        As in the estimators.
    hidden
        Columns that the model is trained without.
    kept
        Columns that rules made by hand use, in addition to those of the model.
    trains
        Whether the model is trained; it is only copied where its trees are grown later.
    repeats
        Whether rows of whole weights are trained on as repeated rows.
    reads
        Whether its trees are read.
    deadline
        When the model must be trained, by `time.perf_counter`: on some of the rows, if there is no time for all.
    """

    target: Target
    names: tuple[str, ...] | None = None
    class_weight: Any = None
    random_state: Any = None
    hidden: Ints | None = None
    kept: Ints | None = None
    trains: bool = True
    repeats: bool = False
    reads: bool = True
    deadline: float | None = None

    def with_kept(self, used: Any) -> Ints:
        """The columns that a model uses and those of rules made by hand, by their numbers."""
        return np.union1d(used, () if self.kept is None else self.kept).astype(np.intp)


class Trained(NamedTuple):
    """A trained model.

    Parameters
    ----------
    model
        The model.
    cut
        What there was no time for, in words.
    rows
        The rows it was trained on, if not on all.
    trees
        Its trees, if they are read already.
    """

    model: Any
    cut: str = ""
    rows: Ints | None = None
    trees: TreeEnsemble | None = None

    def inside(self, model: Any) -> Trained:
        """The same with another model around this one."""
        return self._replace(model=model, trees=None)


class RuleModel(BaseEstimator):
    """A model whose fitted state is a set of rules, and the model they came from."""

    estimator: Any
    estimator_: Any
    rules_: RuleSet
    n_features_in_: int
    #: What the columns of the source are made of, where they are not numbers as they are given.
    _columns: SourceColumns | None

    def _columns_in_use(self) -> Ints:
        return self.rules_.clauses.columns

    def __getstate__(self) -> dict[str, Any]:
        """The state without pandas, whose frames no audited format takes."""
        return {name: _taken_apart(value) for name, value in super().__getstate__().items()}

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__({name: _put_together(value) for name, value in state.items()})


#: Models around another one, which takes the rows as it is given them.
_AROUND = (
    FrozenEstimator,
    BaseSearchCV,
    CalibratedClassifierCV,
    OnOtherTarget,
    BinnedTrees,
    Honest,
)

#: The shortest time limit of a model.
_NO_TIME = 1e-3

#: How many rows of texts and dates are soon read.
_READ_SOON = 250_000

#: By which a frame that was taken apart is known.
_FRAME = "columns of a frame"


def _taken_apart(value: Any) -> Any:
    """A data frame as arrays; anything else as it is."""
    if type(value).__module__.partition(".")[0] != "pandas" or not hasattr(value, "columns"):
        return value
    columns = {str(name): value[name].to_numpy() for name in value}
    return {_FRAME: columns, "index": value.index.to_numpy(), "name": value.index.name}


def _put_together(value: Any) -> Any:
    if not isinstance(value, dict) or _FRAME not in value:
        return value
    start = len(value["index"]) and int(value["index"][0])
    index = pd.RangeIndex(start, start + len(value["index"]), name=value["name"])
    return pd.DataFrame(value[_FRAME], index=index)


def prepare(given: Given, estimator: Any, recipe: Preparation) -> Prepared:
    """Trains the estimator on the data or takes it as it is, and reads its trees once."""
    X, y = in_native_order(given.X), given.y
    weight = sample_weights(X, y, given.sample_weight, recipe.class_weight)
    with nullcontext() if has_steps_first(estimator) else naming_columns(X):
        model, cut, trained_on, trees = train(estimator, X, y, weight, recipe)
    source = _read(model, X, recipe, trees) if recipe.reads else Source(model)
    plain = None if recipe.class_weight is None else sample_weights(X, y, given.sample_weight, None)
    if recipe.class_weight is not None and plain is None:
        plain = np.ones(len(y))
    samples = recipe.target.samples(_as_rules_see(given, source, recipe.names), y, weight, plain, model)
    counted = np.arange(len(y)) if weight is None else np.flatnonzero(weight > 0)
    among = samples if len(counted) == len(y) else samples.among(counted)
    return Prepared(among, counted, source, cut, trained_on)


def _as_rules_see(given: Given, source: Source, names: tuple[str, ...] | None) -> Any:
    """The training rows as numbers, once the source is trained: it knows what its columns are made of."""
    if source.columns is None and given.numbers is not None:
        return given.numbers
    return as_rules_see(
        given.X, source.columns, source.used, names, lambda X: checked_numbers(X, finite(source.model, X))
    )


def _read(model: Any, X: Any, recipe: Preparation, trees: TreeEnsemble | None) -> Source:
    """A trained model, its trees, which may be read already, and what its columns are, if not plain numbers."""
    if isinstance(model, RuleModel):
        return Source(model, columns=model._columns, used=recipe.with_kept(model._columns_in_use()))
    if isinstance(model, RuleSet):
        columns = SourceColumns(model.n_features, recipe.names, model.columns.categories)
        plain = columns.free and issparse(X)  # which has no names to match
        return Source(model, columns=None if plain else columns, used=recipe.with_kept(model.clauses.columns))
    trees = read_trees(model) if trees is None else trees
    if trees.columns is None and is_mixed(X):  # of numbers alone the width is checked later
        check_width(trees, X.shape[1])
    trees = named_by(trees, X)
    return Source(model, trees, columns_of(trees), recipe.with_kept(trees.used_columns))


# Training -------------------------------------------------------------------------------------------------------------


def checked_source(source: Any, y: Any, target: Target, name: str) -> Any:
    """What an estimator of this name trains on y, or takes as it is: a model of the same kind that can be read."""
    if isinstance(source, (str, os.PathLike)):
        raise unreadable(source, f" ({NOT_TRAINED_AGAIN}: give its path to explain)")
    if is_booster(source):
        raise UnreadableModelError(f"{NOT_TRAINED_AGAIN}; give it to explain, or inside FrozenEstimator.")
    if isinstance(source, FrozenEstimator):
        inside = source.estimator
        source = FrozenEstimator(as_estimator(inside, y) if is_booster(inside) else best_of(inside))
    elif not isinstance(source, RuleModel):
        _check_type(source)
    with unreadable_first(source):
        target.check_source(source, name)
    return source


def _check_type(source: Any) -> None:
    """Raises for a model that cannot be read, before a copy of it is trained; trees that it may have are not read."""
    if reader_of(source) is None:
        raise unreadable(source)
    with suppress(NotFittedError):
        read_trees(fresh(source))


def check_answers(source: Any, target: Target) -> None:
    """Raises unless the source can predict for rows that no rule covers."""
    inside = source.estimator if isinstance(source, FrozenEstimator) else source
    if isinstance(inside, RuleSet):
        reason = "rules made by hand have no model behind them; choose another"
    elif is_file(inside):
        reason = "a model file does not predict; load it with its library and explain that model, or choose another"
    elif target.name == "classes" and not hasattr(inside, "predict_proba"):
        reason = (
            f"{type(inside).__name__} gives no probabilities (predict_proba); train it with them, or choose another"
        )
    else:
        return
    raise ValueError(f"fallback is 'model', but {reason}.")


def train(estimator: Any, X: Any, y: Array, weight: Floats | None, recipe: Preparation) -> Trained:
    """The trained estimator, or what it is taken for, as if trained on all rows.

    Numbers that are far from zero or close together are written otherwise first. Labels are numbered for libraries
    that take nothing else: a fold may lack one of the labels, whatever these are.
    """
    estimator = inner_model(estimator)
    if isinstance(estimator, RuleSet):
        return Trained(rules_on(estimator, recipe.names, np.shape(X)[1]))
    if isinstance(estimator, FrozenEstimator):
        return Trained(estimator.fit(X, y).estimator)  # trains nothing, raises if it is not fitted
    if recipe.hidden is not None:
        X = with_zeros_in(recipe.hidden, X)
    if recipe.target.name == "classes" and trains_on_codes(estimator):
        trained = _trained_on_codes(estimator, X, y, weight, recipe)
    else:
        origin = None if isinstance(estimator, RuleModel) else recipe.target.origin(y, weight)
        written = y if origin is None else origin.written(y)
        trained = _trained(_seeded(fresh(estimator), recipe), X, written, weight, recipe)
        trained = trained if origin is None else trained.inside(CentredRegressor(trained.model, *origin))
    if recipe.hidden is not None:
        _drop_notes_on(recipe.hidden, inner_model(trained.model))
    return trained


def _trained_on_codes(estimator: Any, X: Any, y: Array, weight: Floats | None, recipe: Preparation) -> Trained:
    labels, codes = np.unique(y, return_inverse=True)
    plain = labels.dtype.kind in "biuf" and np.array_equal(labels, np.arange(len(labels)))
    model = for_classes(_seeded(fresh(estimator), recipe), len(labels))
    trained = _trained(model, X, y if plain else codes, weight, recipe)
    return trained if plain else trained.inside(CodedClassifier(trained.model, labels))


def _drop_notes_on(hidden: Ints, model: Any) -> None:
    """Removes what an encoder says of hidden columns: it saw zeros where the table has values."""
    first = model[0] if isinstance(model, Pipeline) else None
    if isinstance(first, TableEncoder) and hasattr(first, "columns_"):  # else trees are grown later
        columns = [first.columns_[f] for f in hidden.tolist()]
        dropped = {column.note for column in columns if isinstance(column, LeftOut)}
        first.notes_ = [note for note in first.notes_ if note not in dropped]


def _seeded(model: Any, recipe: Preparation) -> Any:
    """The model, seeds that it leaves open set; where its trees are grown later, they get other seeds."""
    seeds = check_random_state(recipe.random_state)
    for name in _unseeded(model) if recipe.trains else ():
        model.set_params(**{name: seeds.randint(2**31 - 1)})
    return model


def _trained(model: Any, X: Any, y: Array, weight: Floats | None, recipe: Preparation) -> Trained:
    """The model, trained on all rows, or on as many as there is time for."""
    if not recipe.trains:
        return Trained(model)
    if recipe.deadline is None or not len(y):
        return Trained(_fitted(model, X, y, weight, recipe))
    if isinstance(model, RuleModel) and _takes_limit(model):
        return _within_limit(model, recipe.deadline, lambda: _fitted(model, X, y, weight, recipe))
    classes = recipe.target.name == "classes"
    n_columns = 1 if issparse(X) else np.shape(X)[1]  # of sparse rows most values are zeros
    order = sampling_order(y, weight, classes=classes, n_columns=n_columns)
    steps = halves(model) if isinstance(model, Pipeline) else Halves([], [("model", model)])
    may_take_fewer = has_trees_to_spare(steps.last) or order.fewest < order.least
    if order.least == len(order.rows) and not may_take_fewer:
        return Trained(_fitted(model, X, y, weight, recipe))
    first = fitted_first(steps, X, y, order, recipe.deadline)
    if first.n_columns is not None:  # those in use are read in all rows: trees of fewer rows use fewer of them
        n_columns = first.n_columns * max(1, len(y) // _READ_SOON)
        order = sampling_order(y, weight, classes=classes, n_columns=n_columns)
    train_on = _OnSomeRows(model, steps, Given(X, None, y, weight), recipe, order, first)
    cut_short = partial(_cut_short, train_on, len(y))
    deadline = recipe.deadline - first.seconds  # that long the first steps take once more
    if may_take_fewer:
        few = trained_with_fewer_trees(train_on, order, deadline, partial(share_left, steps.last))
        if few.model is not None:
            return cut_short(few.model, few.n_rows, trees_in_words(steps.last, few.share))
        order = order._replace(least=few.n_rows)
    return cut_short(*trained_in_time(train_on, order, deadline))


def _cut_short(train_on: _OnSomeRows, n_rows: int, model: Any, size: int, trees: str = "") -> Trained:
    """A model that was trained on the first of the rows, perhaps with some of its trees, and that in words."""
    order = train_on.order
    some = size < len(order.rows)
    said = [f"on {size:,} of {n_rows:,} rows" if some else "", train_on.first.known, trees, classes_in_words(model)]
    cut = ", ".join(filter(None, said))
    rows = np.sort(order.rows[:size]) if some else None
    return Trained(model, cut and f"the model was trained {cut}", rows, train_on.trees_of(model))


@dataclass(eq=False)
class _OnSomeRows:
    """Trains a model on some of the rows.

    Parameters
    ----------
    model, steps
        The model, and the same in two.
    given, recipe
        The rows, and how it is trained.
    order
        The rows that count.
    first
        The steps in front of the first one with a model in it, fitted.
    """

    model: Any
    steps: Halves
    given: Given
    recipe: Preparation
    order: SamplingOrder
    first: FirstSteps
    _last: dict[str, Any] = field(default_factory=dict)

    def trees_of(self, model: Any) -> TreeEnsemble | None:
        """The trees of the model that was trained last, if it is this one."""
        return self._last["trees"] if self._last.get("model") is model else None

    def __call__(self, rows: Ints, share: float = 1.0) -> Any:
        """The model, trained on these rows, with this share of its trees."""
        try:
            return self._trained(rows, share)
        except Exception:  # of any library
            if not self.first.known or len(rows) < len(self.order.rows):
                raise
        self.first = fitted_to_all(self.steps, self.given.X, self.given.y)  # some columns may come of few levels alone
        return self._trained(rows, share)

    def _trained(self, rows: Ints, share: float) -> Any:
        y, weight = self.given.y, self.given.sample_weight
        if share == 1.0 and len(rows) == len(self.order.rows) and not self.first.known:
            return _fitted(self.model, self.given.X, y, weight, self.recipe)
        some = np.sort(rows)
        labels, few = y[some], None if weight is None else weight[some]
        last = with_share_of_trees(fresh(self.steps.last), share)
        lacks_classes = len(rows) < self.order.least
        known = np.unique(labels) if lacks_classes and trains_on_codes(last) else None
        labels = labels if known is None else np.searchsorted(known, labels)
        seen = self.first.seen(some)
        last = _fitted(last, seen, labels, few, self.recipe)
        if is_mixed(seen) or _has_pipeline(last):
            last.predict(self.first.seen(None))  # an error if rows have texts that are new to it
        model = Halves(self.first.steps, self.steps.rest).joined(last) if isinstance(self.model, Pipeline) else last
        model = model if known is None else CodedClassifier(model, known)
        if self.recipe.reads and not isinstance(model, RuleModel):
            self._last.update(model=model, trees=read_trees(model))  # which is part of what they take
        return WiderClassifier(model, np.unique(y)) if lacks_classes else model


def _takes_limit(model: RuleModel) -> bool:
    solver = getattr(model, "solver", "")
    return hasattr(model, "time_limit") and (isinstance(solver, str) or hasattr(solver, "within_seconds"))


def _has_pipeline(model: Any) -> bool:
    return any(isinstance(part, Pipeline) for part in (model, *model.get_params().values()))


def _within_limit(model: Any, deadline: float, train: Callable[[], Any]) -> Trained:
    """A model of ours, which keeps a limit itself, trained by the deadline."""
    given, left = model.time_limit, max(_NO_TIME, deadline - time.perf_counter())
    model.set_params(time_limit=left if given is None else min(left, given))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        trained = train()
    for each in caught:
        if not issubclass(each.category, CutShortWarning):
            warnings.warn(each.message, stacklevel=2)
    cut = any(issubclass(each.category, CutShortWarning) for each in caught)
    return Trained(trained.set_params(time_limit=given), f"its {type(model).__name__} was cut short" if cut else "")


def _fitted(model: Any, X: Any, y: Array, weight: Floats | None, recipe: Preparation) -> Any:
    if not isinstance(model, Pipeline):  # which may fill or drop such columns
        X = for_histograms(model, X, weight)
    rows = repeats(weight) if recipe.repeats and weight is not None and weight.min() > 0 else None
    if rows is not None:  # least numbers of samples hold for them, and sums are those of plain rows
        X, y, weight = rows_of(X, rows), y[rows], None
    if weight is None:
        return _without_advice(model, X, y)
    last, name = (model.steps[-1][1], f"{model.steps[-1][0]}__") if isinstance(model, Pipeline) else (model, "")
    if not _takes_weights(last):
        raise ValueError(f"{name_of(last)} takes no sample weights; leave weights out or choose another estimator.")
    return _without_advice(model, X, y, **{f"{name}sample_weight": weight})


def _without_advice(model: Any, X: Any, y: Array, **weight: Floats) -> Any:
    """The trained model; advice on rules that others are chosen from would be on rules that nobody sees."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", AdviceWarning)
        return best_of(model.fit(X, y, **weight))


def _takes_weights(model: Any) -> bool:
    """Whether a model is trained with weights of rows; since scikit-learn 1.7 votes of models do not say so."""
    if isinstance(model, (VotingClassifier, VotingRegressor)):
        return all(_takes_weights(member) for _, member in model.estimators if member != "drop")
    return bool(has_fit_parameter(model, "sample_weight"))


@contextmanager
def unreadable_first(source: Any) -> Iterator[None]:
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
    return has_steps_first(inner_model(estimator)) or has_steps_first(getattr(estimator, "estimator", None))


def _takes_missing(estimator: Any) -> bool:
    if isinstance(estimator, RuleSet) or has_steps_first(estimator):  # these may fill what is missing, or know where
        return True
    if isinstance(estimator, _AROUND) or (isinstance(estimator, RuleModel) and estimator.estimator is not None):
        return _takes_missing(estimator.estimator)
    return takes_missing(estimator)


def forget_table(model: Any) -> None:
    """Takes off a model what it knows of a table that it was fitted to before."""
    for name in ("n_sampled_rows_", "table_cover_"):
        vars(model).pop(name, None)


def encoder_of(model: Any) -> TableEncoder | None:
    """The encoder in front of a trained model, or of the one that a model of rules comes from, if it has one."""
    model = inner_model(model)
    while isinstance(model, RuleModel):
        model = inner_model(model.estimator_)
    first = model[0] if isinstance(model, Pipeline) else None
    return first if isinstance(first, TableEncoder) else None


def for_folds(model: Any, X: Any) -> Any:
    """The rows for copies of a trained model that see a part of them: columns are of the same kind in each."""
    encoder = encoder_of(model)
    return X if encoder is None else as_in_whole(encoder, X)


def fresh(model: Any) -> Any:
    """The model with its settings, not trained."""
    try:
        return clone(model)
    except RuntimeError:  # CatBoost copies a list of columns, which scikit-learn takes for a change
        if not isinstance(model, RuleModel):
            return copy.deepcopy(model)
        settings = copy.copy(model).set_params(estimator=None)
        return clone(settings).set_params(estimator=fresh(model.estimator))


def _unseeded(model: Any) -> list[str]:
    """The seeds that a model and the models in it leave open, outer ones first."""
    settings = model.get_params()
    seeds = [name for name in settings if name.rpartition("__")[2] == "random_state" and settings[name] is None]
    return sorted(seeds, key=lambda name: (name.count("__"), name))
