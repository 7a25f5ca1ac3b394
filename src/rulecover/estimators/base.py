"""What all models of voting rules share: checking data, training the source model, and answering for rows."""

from __future__ import annotations

import copy
import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Protocol, Self

import numpy as np
from scipy.sparse import issparse
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin, clone
from sklearn.ensemble import VotingClassifier, VotingRegressor
from sklearn.exceptions import NotFittedError
from sklearn.frozen import FrozenEstimator
from sklearn.model_selection._search import BaseSearchCV
from sklearn.pipeline import Pipeline
from sklearn.utils import check_random_state, get_tags
from sklearn.utils.validation import check_array, check_is_fitted, has_fit_parameter, validate_data

from rulecover.data.columns import SourceColumns
from rulecover.estimators.booster import NOT_TRAINED_ANEW, as_estimator, is_booster
from rulecover.estimators.centred import CentredRegressor, without_centre
from rulecover.estimators.checks import (
    check_width,
    chosen,
    real_number,
    sample_weights,
    whole_number,
)
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
    rows_of,
    rules_on,
)
from rulecover.estimators.prepare import Prepared, Source
from rulecover.exceptions import UnreadableModelError
from rulecover.readers import read_trees, unreadable
from rulecover.readers.sklearn.models import best_of
from rulecover.rules.ruleset import RuleSet
from rulecover.targets.classes.target import ClassTarget
from rulecover.targets.numbers.target import NumberTarget
from rulecover.targets.target import Target, name_of
from rulecover.typing import Array, Bools, Floats, Ints
from rulecover.voting.answers import Classes
from rulecover.voting.fallback import Fallback, SourceModel
from rulecover.voting.vote import Tally, Vote
from rulecover.voting.voting_on import voting_on

if TYPE_CHECKING:
    import pandas as pd
    import scipy.sparse


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
        given = opened(X, names, as_arrays=_sees_arrays(estimator))
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
            ensure_all_finite=_finite(estimator, X),
        )
        return checked

    def _as_rules_see(self, given: Any, checked: Any, source: Source) -> Any:
        """The training rows as numbers, once the source is trained: it knows what its columns are made of."""
        if source.columns is not None:
            return as_numbers(source.columns, given, source.used)
        if checked is not None:
            return checked
        with as_numbers_alone(given, self._names()):
            return check_array(given, dtype=[np.float64, np.float32], ensure_all_finite=_finite(source.model, given))

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

    # Meeting rows -----------------------------------------------------------------------------------------------

    def apply(self, X: Any) -> scipy.sparse.csr_array:
        """Which rule covers which row: a boolean sparse matrix of rows x rules."""
        X = self._check_rows(X)
        return self.rules_.apply(X)

    def missed(self, X: Any) -> Bools:
        """Which rows no rule covers."""
        return np.asarray(self.apply(X).sum(axis=1) == 0).ravel()

    def _check_rows(self, X: Any, *, whole: bool = False) -> Any:
        """The rows as the rules see them; a frame may lack columns that no rule uses, unless it must be `whole`."""
        check_is_fitted(self)
        names, used = self._names(), self._columns_in_use()
        whole = whole or bool((used >= self.n_features_in_).any()) or not self._by_rules()
        needed = None if whole or names is None else [names[f] for f in used]
        X = opened(X, names, needed, as_arrays=_sees_arrays(self.estimator_))
        if self._columns is not None:
            validate_data(self, X, reset=False, skip_check_array=True)
            return as_numbers(self._columns, X, used)
        with as_numbers_alone(X, names):
            return validate_data(
                self,
                X,
                reset=False,
                accept_sparse="csr",
                dtype=[np.float64, np.float32],
                ensure_all_finite=_finite(self.estimator_, X),
            )

    def _by_rules(self) -> bool:
        """Whether rules alone answer for every row, so that columns they do not use may be missing."""
        return True

    def _columns_in_use(self) -> Ints:
        return self.rules_.clauses.columns

    def _model(self, given: Any, rows: Ints) -> _Seen:
        """The source model, asked about some rows as it was trained to see them."""
        if isinstance(self.estimator_, RuleSet):
            raise UnreadableModelError("the rules were made by hand: there is no model behind them to compare with.")
        if self._columns is None:
            return _Seen(self.estimator_, self._as_model_saw)
        model = self.estimator_
        seen = opened(given, names_of_model(model), as_arrays=_sees_arrays(model))
        return _Seen(model, lambda _: rows_of(seen, rows))

    def _as_model_saw(self, X: Any) -> Any:
        """Rows with the column names that the source model was trained with, if it was."""
        names = getattr(self.estimator_, "feature_names_in_", None)
        if names is None:
            return X
        import pandas as pd

        return pd.DataFrame.sparse.from_spmatrix(X, columns=names) if issparse(X) else pd.DataFrame(X, columns=names)

    # In a notebook -----------------------------------------------------------------------------------------------

    def _repr_html_inner(self) -> str:
        """The diagram of scikit-learn and, once the model is fitted, its rules."""
        diagram: str = super()._repr_html_inner()
        vote = getattr(self, "vote_", None)
        return diagram if vote is None else f"{diagram}\n{vote._repr_html_()}"

    def _repr_mimebundle_(self, **options: Any) -> dict[str, str]:
        bundle: dict[str, str] = super()._repr_mimebundle_(**options)
        return bundle | {"text/html": self._repr_html_inner()} if "text/html" in bundle else bundle

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        source = self._default_estimator() if self.estimator is None else self.estimator
        with suppress(AttributeError, TypeError):  # what is no estimator is refused by fit, with a reason
            inner = get_tags(source)
            tags.input_tags.allow_nan = inner.input_tags.allow_nan
            tags.input_tags.sparse = inner.input_tags.sparse
        return tags


class VotingModel(RuleModel):
    """A model of rules that vote, with a fallback for rows that none of them covers."""

    fallback: Any
    vote_: Vote

    def _source(self, y: Any) -> Any:
        if not isinstance(self.estimator, RuleSet):
            return super()._source(y)
        if isinstance(self._fallback(), SourceModel):
            raise ValueError("fallback is 'model', but rules made by hand have no model behind them; choose another.")
        return self.estimator

    # Predicting: eq. (2) ----------------------------------------------------------------------------------------

    def predict(self, X: Any) -> Array:
        """The answer of the rules for each row."""
        tally = self._votes_for(X)
        return self.vote_.decided(tally)

    def at(self, n_rules: int) -> Self:
        """The model of its first rules alone, which vote as they do now; nothing is fitted.

        What is known of all rules together, such as ``certificate_``, is not said of these.

        Parameters
        ----------
        n_rules
            From 1 to the number of rules.
        """
        check_is_fitted(self)
        if whole_number("n_rules", n_rules, at_least=1) > len(self.rules_):
            raise ValueError(f"n_rules is {n_rules}, but there are {len(self.rules_)} rules; take fewer.")
        other = copy.copy(self)
        other.vote_ = self.vote_.take(np.arange(n_rules))
        other.rules_ = other.vote_.rules
        for name in {"certificate_", "uncovered_"} & set(vars(other)):
            delattr(other, name)
        return other

    def why(self, X: Any) -> pd.DataFrame:
        """For each row the rules that decided and their votes, or how the fallback decided.

        One line for each row and rule that had a say. The columns are ``row`` (the place in X), ``prediction``,
        ``decided_by`` ("rules", or the name of the fallback), ``rule`` (the place in `rules_`, -1 if no rule had a
        say), ``text``, ``weight`` (1 for a rule that fired, the weight that the fallback gave it otherwise) and what
        the rule said: of classes one ``votes_…`` for each.
        """
        from rulecover.voting.why import why

        rows = self._check_rows(X)
        return why(self._voting(self.vote_), rows, self._tally(rows, X))

    def _votes_for(self, X: Any) -> Tally:
        return self._tally(self._check_rows(X), X)

    def _tally(self, X: Any, given: Any = None) -> Tally:
        """The votes for each row, those of the fallback where no rule covers it."""
        return self._voting(self.vote_).tally(X, self._asked(given))

    def _voting(self, vote: Vote) -> Vote:
        """The vote with the fallback that is set now."""
        return replace(vote, fallback=self._fallback())

    def fidelity(self, X: Any) -> float:
        """How well the rules predict what the source model predicts: the share of rows on which they agree, or R²."""
        rows = self._check_rows(X, whole=True)
        predicted = self.vote_.decided(self._tally(rows, X))
        return self._target.score(self._model(X, np.arange(len(predicted))).predict(rows), predicted)

    def _asked(self, given: Any) -> Callable[[Ints], Any]:
        """From the numbers of rows to the source model that a fallback may ask about them."""
        return lambda rows: None if isinstance(self.estimator_, RuleSet) else self._model(given, rows)

    def _fallback(self) -> Fallback:
        known = voting_on(self._target).fallbacks
        fallback: Fallback = chosen("fallback", self.fallback, known, ("name", "weights"))
        return fallback

    def _by_rules(self) -> bool:
        return bool(getattr(self._fallback(), "by_rules", False))


class HasVote(Protocol):
    """What the two classes below need of a `VotingModel`."""

    vote_: Vote

    def _votes_for(self, X: Any) -> Tally: ...


class PredictsClasses(ClassifierMixin):
    """What scikit-learn asks of a classifier, for a model of rules."""

    _target = ClassTarget()

    @property
    def classes_(self: HasVote) -> Array:
        """The labels, in the order of the columns of `predict_proba`."""
        answer = self.vote_.answer
        assert isinstance(answer, Classes)
        return answer.labels

    def predict_proba(self: HasVote, X: Any) -> Floats:
        """The probability of each class, rows x classes: the share of its votes."""
        tally = self._votes_for(X)
        return self.vote_.probabilities(tally)


class PredictsMeans(RegressorMixin):
    """What scikit-learn asks of a regressor, and intervals, for rules that know the spread of their training rows."""

    scale: Any

    @property
    def _target(self) -> NumberTarget:
        if isinstance(self.scale, str):
            if self.scale != "auto":
                raise ValueError(f"scale is {self.scale!r}; give 'auto' or a number above 0, in squared units of y.")
            return NumberTarget()
        return NumberTarget(scale=real_number("scale", self.scale, above=True))

    def predict_interval(self: HasVote, X: Any, coverage: float = 0.9) -> Floats:
        """An interval for each row that should hold its number with this probability, rows x (lower, upper).

        Its middle is the prediction; its width comes from the spread of the numbers of the training rows that the
        covering rules cover. For plain means that is the variance of these numbers, within the rules and between their
        means; for fitted values the mean squared error over each covering rule's training rows. Errors are taken to be
        normal.

        Parameters
        ----------
        X
            Rows x columns.
        coverage
            The probability, between 0 and 1.
        """
        tally = self._votes_for(X)
        return self.vote_.interval(tally, real_number("coverage", coverage))


class _Seen:
    """The source model, given rows in the form that it was trained with."""

    def __init__(self, model: Any, as_seen: Callable[[Any], Any]) -> None:
        self._model, self.as_seen = model, as_seen

    @property
    def classes_(self) -> Array:
        return np.asarray(self._model.classes_)

    def predict(self, X: Any) -> Array:
        return np.asarray(self._model.predict(self.as_seen(X))).ravel()  # CatBoost answers in a column

    def predict_proba(self, X: Any) -> Floats:
        if not hasattr(self._model, "predict_proba"):
            raise UnreadableModelError(
                f"{type(self._model).__name__} gives no probabilities (predict_proba), but is asked for them; train it "
                "with them (voting='soft'), or do not ask it (model_share=0 in a path, another fallback in a cover)."
            )
        return np.asarray(self._model.predict_proba(self.as_seen(X)))


@contextmanager
def _unreadable_first(source: Any) -> Iterator[None]:
    """If a trained model meets an error, one that says that it cannot be read comes before; else it is read later."""
    try:
        yield
    except Exception:
        if isinstance(source, FrozenEstimator) and not isinstance(source.estimator, RuleModel):
            with suppress(NotFittedError):
                read_trees(source)
        raise


def _finite(estimator: Any, X: Any) -> bool | str:
    """What values are taken: NaN only where the model has a route for it, which in sparse data it has not."""
    return "allow-nan" if _takes_missing(estimator) and not issparse(X) else True


def _sees_arrays(estimator: Any) -> bool:
    """Whether a model makes arrays of the frames that it is given, as the steps of a pipeline do."""
    if isinstance(estimator, RuleModel):
        return _sees_arrays(getattr(estimator, "estimator_", estimator.estimator))
    return isinstance(getattr(estimator, "estimator", estimator), Pipeline)


def _takes_missing(estimator: Any) -> bool:
    if isinstance(estimator, (RuleSet, Pipeline)):  # a pipeline may fill what is missing; its columns say where not
        return True
    if isinstance(estimator, (FrozenEstimator, BaseSearchCV, CentredRegressor)):
        return _takes_missing(estimator.estimator)
    if isinstance(estimator, (VotingClassifier, VotingRegressor)):
        return all(_takes_missing(member) for _, member in estimator.estimators if member != "drop")
    # CatBoost takes gaps, but before 1.2.8 does not say so in a way that scikit-learn hears.
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
