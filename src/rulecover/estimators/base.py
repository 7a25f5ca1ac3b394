"""What all models of voting rules share: checking data, training the source model, and answering for rows."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.sparse import issparse
from sklearn.base import BaseEstimator, ClassifierMixin, clone, is_classifier, is_regressor
from sklearn.exceptions import NotFittedError
from sklearn.frozen import FrozenEstimator
from sklearn.utils import check_random_state, get_tags
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, has_fit_parameter, validate_data

from rulecover.estimators.checks import check_column_names, chosen, sample_weights
from rulecover.exceptions import MismatchedDataError, UnreadableModelError
from rulecover.fallback import FALLBACKS, Fallback
from rulecover.pool import TrainingData
from rulecover.readers import read_trees
from rulecover.rules import RuleSet
from rulecover.typing import Array, Bools, Floats, Ints
from rulecover.voting import MajorityVote

if TYPE_CHECKING:
    import pandas as pd
    import scipy.sparse


class RuleModel(BaseEstimator, ABC):
    """A model whose fitted state is a set of rules, and the model they came from."""

    estimator: Any
    random_state: Any
    estimator_: Any
    rules_: RuleSet

    @abstractmethod
    def _default_estimator(self) -> Any:
        """What is trained where no estimator is given."""

    @abstractmethod
    def _check_target(self, y: Array) -> Array:
        """y, if it is what this kind of model predicts."""

    @abstractmethod
    def _check_kind(self, estimator: Any) -> None:
        """Raises unless the estimator predicts the same kind of target."""

    @abstractmethod
    def _weights(self, X: Any, y: Array, sample_weight: Any) -> Floats | None:
        """What each sample counts; ``None`` if each counts once."""

    @abstractmethod
    def _samples(self, X: Any, y: Array, weight: Floats | None) -> Any:
        """The checked data, once the estimator is trained."""

    # Fitting ----------------------------------------------------------------------------------------------------

    def _training_data(self, X: Any, y: Any, sample_weight: Any) -> tuple[Any, Ints]:
        """Checks the data and trains the estimator on it; the rows that count, and their places in X."""
        estimator = self._source()
        check_column_names(X)
        given = X
        X, y = validate_data(
            self,
            X,
            y,
            accept_sparse="csr",
            dtype=[np.float64, np.float32],
            ensure_all_finite=_finite(estimator, X),
        )
        y = self._check_target(y)
        weight = self._weights(X, y, sample_weight)
        self.estimator_ = self._trained(estimator, given, y, weight)
        data = self._samples(X, y, weight)
        if weight is None or weight.min() > 0:
            return data, np.arange(len(y))
        counted = np.flatnonzero(weight > 0)
        return data.among(counted), counted

    def _source(self) -> Any:
        if self.estimator is None:
            return self._default_estimator()
        if not isinstance(getattr(self.estimator, "estimator", None), RuleModel):
            with suppress(NotFittedError):  # a type that cannot be read is refused before it is trained
                read_trees(self.estimator)
        self._check_kind(self.estimator)
        return self.estimator

    def _trained(self, estimator: Any, X: Any, y: Array, weight: Floats | None) -> Any:
        if isinstance(estimator, FrozenEstimator):
            return estimator.fit(X, y).estimator  # trains nothing, raises if it is not fitted
        model = clone(estimator)
        if "random_state" in model.get_params() and model.get_params()["random_state"] is None:
            model.set_params(random_state=check_random_state(self.random_state).randint(2**31 - 1))
        if weight is None:
            return model.fit(X, y)
        if not has_fit_parameter(model, "sample_weight"):
            raise ValueError(f"{_name(model)} takes no sample weights; leave weights out or choose another estimator.")
        return model.fit(X, y, sample_weight=weight)

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

    def _check_rows(self, X: Any) -> Any:
        check_is_fitted(self)
        check_column_names(X)
        return validate_data(
            self,
            X,
            reset=False,
            accept_sparse="csr",
            dtype=[np.float64, np.float32],
            ensure_all_finite=_finite(self.estimator_, X),
        )

    def _as_model_saw(self, X: Any) -> Any:
        """Rows with the column names that the source model was trained with, if it was."""
        names = getattr(self.estimator_, "feature_names_in_", None)
        if names is None:
            return X
        import pandas as pd

        return pd.DataFrame.sparse.from_spmatrix(X, columns=names) if issparse(X) else pd.DataFrame(X, columns=names)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        source = self._default_estimator() if self.estimator is None else self.estimator
        with suppress(AttributeError, TypeError):  # what is no estimator is refused by fit, with a reason
            inner = get_tags(source)
            tags.input_tags.allow_nan = inner.input_tags.allow_nan
            tags.input_tags.sparse = inner.input_tags.sparse
        return tags


class RuleClassifier(ClassifierMixin, RuleModel):
    """A model of rules that vote for classes."""

    fallback: Any
    class_weight: Any
    classes_: Array
    vote_: MajorityVote

    # Fitting ----------------------------------------------------------------------------------------------------

    def _check_target(self, y: Array) -> Array:
        check_classification_targets(y)
        return y

    def _check_kind(self, estimator: Any) -> None:
        if is_regressor(estimator) or not is_classifier(estimator):
            raise UnreadableModelError(
                f"{_name(estimator)} is no classifier, but {type(self).__name__} works on classifiers; "
                "give a model of classes."
            )

    def _weights(self, X: Any, y: Array, sample_weight: Any) -> Floats | None:
        return sample_weights(X, y, sample_weight, self.class_weight)

    def _samples(self, X: Any, y: Array, weight: Floats | None) -> TrainingData:
        self.classes_ = np.asarray(self.estimator_.classes_)
        unseen = np.setdiff1d(y, self.classes_)
        if unseen.size:
            raise MismatchedDataError(
                f"y has labels that the model never saw: {unseen[:5].tolist()}; it knows {self.classes_[:10].tolist()}."
            )
        return TrainingData(X, np.searchsorted(self.classes_, y), self.classes_, weight)

    # Predicting: eq. (2) ----------------------------------------------------------------------------------------

    def predict(self, X: Any) -> Array:
        """The class with most votes for each row, the first on ties."""
        return self._decided(self._tally(self._check_rows(X))[0])

    def predict_proba(self, X: Any) -> Floats:
        """The share of the votes for each class, rows x classes."""
        return shares(self._tally(self._check_rows(X))[0])

    def fidelity(self, X: Any) -> float:
        """The share of rows on which the rules say what the source model says."""
        X = self._check_rows(X)
        mine = self._decided(self._tally(X)[0])
        return float(np.mean(mine == self.estimator_.predict(self._as_model_saw(X))))

    def why(self, X: Any) -> pd.DataFrame:
        """For each row the rules that decided and their votes, or how the fallback decided.

        One line for each row and rule that had a say. The columns are ``row`` (the place in X), ``prediction``,
        ``decided_by`` ("rules", or the name of the fallback), ``rule`` (the place in `rules_`, -1 if no rule had a
        say), ``text``, ``weight`` (1 for a rule that fired, the weight that the fallback gave it otherwise) and one
        ``votes_…`` for each class.
        """
        from rulecover.estimators.reasons import reasons

        X = self._check_rows(X)
        tally, missed = self._tally(X)
        return reasons(self.vote_, self._fallback(), X, tally, missed)

    def _decided(self, tally: Floats) -> Array:
        return np.asarray(self.classes_[tally.argmax(axis=1)])

    def _tally(self, X: Any) -> tuple[Floats, Bools]:
        """The votes for each row, those of the fallback where no rule covers it, and where that is."""
        tally, missed = self.vote_.tally(X)
        return self._with_fallback(self.vote_, X, tally, missed), missed

    def _with_fallback(self, vote: MajorityVote, X: Any, tally: Floats, missed: Bools) -> Floats:
        if missed.any():
            model = _Seen(self.estimator_, self._as_model_saw)
            tally[missed] = self._fallback()(vote, X[np.flatnonzero(missed)], model)
        silent = tally.sum(axis=1) <= 0  # a fallback without a say
        if silent.any():
            assert vote.rules.evidence is not None
            tally[silent] = vote.rules.evidence.totals
        return tally

    def _fallback(self) -> Fallback:
        fallback: Fallback = chosen("fallback", self.fallback, FALLBACKS, ("name", "weights"))
        return fallback


class _Seen:
    """The source model, given rows in the form that it was trained with."""

    def __init__(self, model: Any, as_seen: Callable[[Any], Any]) -> None:
        self.classes_ = model.classes_
        self._model, self._as_seen = model, as_seen

    def predict_proba(self, X: Any) -> Floats:
        return np.asarray(self._model.predict_proba(self._as_seen(X)))


def _finite(estimator: Any, X: Any) -> bool | str:
    """What values are taken: NaN only where the model has a route for it, which in sparse data it has not."""
    return "allow-nan" if get_tags(estimator).input_tags.allow_nan and not issparse(X) else True


def shares(tally: Floats) -> Floats:
    return np.asarray(tally / tally.sum(axis=1, keepdims=True))


def _name(model: Any) -> str:
    return type(model.estimator if isinstance(model, FrozenEstimator) else model).__name__
