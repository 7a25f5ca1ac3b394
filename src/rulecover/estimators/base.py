"""Models of rules that vote: how they predict rows, and what scikit-learn asks of them."""

from __future__ import annotations

import copy
from abc import ABC, abstractmethod
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, Self, cast

import numpy as np
import pandas as pd
from scipy.sparse import issparse
from sklearn.base import clone
from sklearn.frozen import FrozenEstimator
from sklearn.utils import get_tags
from sklearn.utils.validation import check_is_fitted, validate_data

from rulecover.data.fingerprint import Fingerprint
from rulecover.data.frames import names_of_model
from rulecover.estimators.advice import warn_of
from rulecover.estimators.asked import AskedModel
from rulecover.estimators.checks import chosen, whole_number
from rulecover.estimators.door import (
    as_rules_see,
    checked_apart,
    encoded_first,
    is_mixed,
    rows_of,
    with_category_types,
    with_columns,
)
from rulecover.estimators.elsewhere import check_in_memory
from rulecover.estimators.prepare import (
    Given,
    Preparation,
    Prepared,
    RuleModel,
    check_answers,
    checked_source,
    finite,
    prepare,
    sees_arrays,
    unreadable_first,
)
from rulecover.estimators.provenance import provenance_of
from rulecover.exceptions import UnreadableModelError
from rulecover.gpu.launch import is_on_device
from rulecover.gpu.votes import predictions
from rulecover.partitions.dask_rows import by_partition, is_dask
from rulecover.partitions.table import TableInBlocks
from rulecover.rules.ruleset import RuleSet
from rulecover.targets.samples import Samples
from rulecover.targets.target import Target
from rulecover.typing import Array, Bools, Ints
from rulecover.voting.fallback import Fallback, SourceModel
from rulecover.voting.threshold import at_threshold
from rulecover.voting.vote import Tally, Vote
from rulecover.voting.voting_on import voting_on

if TYPE_CHECKING:
    import scipy.sparse


class VotingModel(RuleModel, ABC):
    """A model of rules that vote, with a fallback for rows that none of them covers."""

    random_state: Any
    class_weight: Any = None
    time_limit: float | None = None
    fallback: Any
    n_jobs: int | None = None
    vote_: Vote

    #: What is trained where no estimator is given, but for its threads.
    _default: ClassVar[Any]

    @property
    @abstractmethod
    def _target(self) -> Target:
        """What is predicted: classes or numbers."""

    # Fitting ----------------------------------------------------------------------------------------------------

    def _prepare(self, X: Any, y: Any, sample_weight: Any, *, deadline: float | None = None) -> Prepared:
        """The data, checked and kept in mind as scikit-learn asks, and the model that rules come from.

        The deadline is that of its training, by `time.perf_counter`.
        """
        check_in_memory(self, X)
        self._target.check_given(y)
        estimator = self._source(X, y)
        names = names_of_model(estimator.estimator) if isinstance(estimator, FrozenEstimator) else None
        X = with_columns(X, names, as_arrays=sees_arrays(estimator))
        estimator = encoded_first(estimator, X)
        given = self._check_data(X, y, sample_weight, estimator)
        prepared = prepare(given, estimator, replace(self._preparation(), deadline=deadline))
        self.estimator_, self._columns = prepared.source.model, prepared.source.columns
        return prepared

    def _default_estimator(self) -> Any:
        """What is trained where no estimator is given."""
        model = clone(self._default)
        return model.set_params(n_jobs=self.n_jobs) if hasattr(model, "n_jobs") else model

    def _source(self, X: Any, y: Any) -> Any:
        """What is trained on X and y, or is taken as it is."""
        if self.estimator is None:
            return self._default_estimator()
        by_hand = isinstance(self.estimator, RuleSet)
        source = self.estimator if by_hand else checked_source(self.estimator, y, self._target, type(self).__name__)
        if isinstance(self._fallback(), SourceModel):
            check_answers(source, self._target)
        return source

    def _check_data(self, X: Any, y: Any, sample_weight: Any, estimator: Any) -> Given:
        apart = is_mixed(X) or (isinstance(estimator, RuleSet) and not issparse(X))
        with unreadable_first(estimator):
            numbers, y = (None, checked_apart(self, X, y)) if apart else self._numbers(X, y, estimator=estimator)
        return Given(X, numbers, self._target.check(y, type(self).__name__), sample_weight)

    def _numbers(self, *data: Any, estimator: Any, **options: Any) -> Any:
        """X, or X and y, as scikit-learn takes them; NaN where the estimator has a route for it."""
        taken = finite(estimator, data[0])
        kinds = [np.float64, np.float32]
        return validate_data(self, *data, accept_sparse="csr", dtype=kinds, ensure_all_finite=taken, **options)

    def _preparation(self) -> Preparation:
        """How data are prepared."""
        return Preparation(self._target, self._names(), self.class_weight, self.random_state)

    def _names(self) -> tuple[str, ...] | None:
        return names_of_model(self)

    def _finished(
        self, vote: Vote, seen: Samples, rows: Samples | Fingerprint | None = None, *, named: Vote | None = None
    ) -> Self:
        """The end of every fit: votes, rules and where they come from are kept; what people should know is said.

        Parameters
        ----------
        vote
            How the rules vote.
        seen
            Training rows, in memory: some of them if they are elsewhere.
        rows
            The rows as the rules see them, or the fingerprint of all; by default those that were seen.
        named
            The vote on the columns of the rows that were seen, where these are others than those of the rules.
        """
        self.vote_, self.rules_ = vote, vote.rules
        self.provenance_ = provenance_of(self, vote.rules, seen if rows is None else rows)
        warn_of(
            vote if named is None else named,
            seen,
            self.estimator_,
            weighted=self.class_weight is not None,
            all_read=self._columns is None,
            time_limit=self.time_limit,
        )
        return self

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        source = self._default_estimator() if self.estimator is None else self.estimator
        with suppress(AttributeError, TypeError):  # what is not an estimator is refused by fit, with a reason
            inner = get_tags(source.estimator if isinstance(source, FrozenEstimator) else source)  # frozen ones copy
            tags.input_tags.allow_nan = inner.input_tags.allow_nan
            tags.input_tags.sparse = inner.input_tags.sparse
        return tags

    # Rows -------------------------------------------------------------------------------------------------------

    def apply(self, X: Any) -> scipy.sparse.csr_array:
        """Which rule covers which row: a boolean sparse matrix of rows x rules.

        Parameters
        ----------
        X
            Rows x columns: an array, a sparse matrix or a data frame.

        Returns
        -------
        scipy.sparse.csr_array
            Booleans.

        Raises
        ------
        sklearn.exceptions.NotFittedError
            If the model is not fitted yet.
        ValueError
            If X does not have the columns that the model was fitted to.
        """
        X = self._check_rows(X)
        return self.rules_.apply(X)

    def missed(self, X: Any) -> Bools:
        """Which rows no rule covers.

        Parameters
        ----------
        X
            Rows x columns: an array, a sparse matrix or a data frame.

        Returns
        -------
        numpy.ndarray
            One boolean per row.

        Raises
        ------
        sklearn.exceptions.NotFittedError
            If the model is not fitted yet.
        ValueError
            If X does not have the columns that the model was fitted to.
        """
        return np.asarray(self.apply(X).sum(axis=1) == 0).ravel()

    def _check_rows(self, X: Any, *, whole: bool = False) -> Any:
        """The rows as the rules see them; a frame may lack columns that no rule uses, unless it must be `whole`."""
        if not hasattr(self, "vote_"):  # which is quicker than to ask scikit-learn
            check_is_fitted(self)
        if is_on_device(X):
            raise TypeError("X is on a GPU, where only fit, predict and predict_proba work; give X.get().")
        if isinstance(X, TableInBlocks):
            raise TypeError(
                "X is a table that is read in blocks, which only fit and explain take; predict block by block: "
                "[model.predict(table.inputs(block)) for block in table.blocks()]."
            )
        names, used = self._names(), self._columns_in_use()
        needs_only_rules = getattr(self._fallback(), "needs_only_rules", False)
        whole = whole or bool((used >= self.n_features_in_).any()) or not needs_only_rules
        needed = None if whole or names is None else [names[f] for f in used]
        X = with_columns(X, names, needed, as_arrays=sees_arrays(self.estimator_))
        if self._columns is not None:
            validate_data(self, X, reset=False, skip_check_array=True)
        check = partial(self._numbers, estimator=self.estimator_, reset=False)
        return as_rules_see(X, self._columns, used, names, check)

    def _model(self, given: Any, rows: Ints) -> AskedModel:
        """The source model, asked about some rows as it was trained to see them."""
        if isinstance(self.estimator_, RuleSet):
            raise UnreadableModelError("the rules were made by hand: there is no model behind them to compare with.")
        if self._columns is None:
            return AskedModel(self.estimator_, self._as_model_saw)
        model = self.estimator_
        # The names in training: CatBoost does not know them, and LightGBM writes _ for a blank.
        names = self._names() or names_of_model(model)
        seen = with_columns(given, names, as_arrays=sees_arrays(model))
        columns = self._columns
        return AskedModel(model, lambda _: with_category_types(rows_of(seen, rows), columns, model))

    def _source_model(self, given: Any, rows: Ints) -> AskedModel:
        """The same for a comparison: behind a few rules of a boosting, the trained model whose leaves it took."""
        between = None if isinstance(self.estimator, FrozenEstimator) else self.estimator_
        if isinstance(between, VotingModel) and isinstance(between.estimator, FrozenEstimator):
            return between._source_model(given, rows)
        return self._model(given, rows)

    def _as_model_saw(self, X: Any) -> Any:
        """Rows with the column names that the source model was trained with, if it was trained with names."""
        names = getattr(self.estimator_, "feature_names_in_", None)
        if names is None:
            return X
        return pd.DataFrame.sparse.from_spmatrix(X, columns=names) if issparse(X) else pd.DataFrame(X, columns=names)

    # Predicting: eq. (2) ----------------------------------------------------------------------------------------

    def predict(self, X: Any) -> Array:
        """The prediction of the rules for each row; for rows on a GPU it is made there, for Dask's when computed.

        Parameters
        ----------
        X
            Rows x columns: an array, a sparse matrix or a data frame; an array of CuPy, or an array or a frame of Dask.

        Returns
        -------
        numpy.ndarray
            A class or a number for each row; of CuPy or Dask where X is.

        Raises
        ------
        sklearn.exceptions.NotFittedError
            If the model is not fitted yet.
        ValueError
            If X does not have the columns that the model was fitted to.
        """
        if is_dask(X):
            check_is_fitted(self)
            return cast("Array", by_partition(self.predict, X, getattr(self.vote_.answer, "labels", np.zeros(0))[:0]))
        if is_on_device(X):
            return cast("Array", predictions(self._ready(), X, partial(self._asked_on_device, X)))
        return self._in_blocks(Vote.decided, X)

    def at(self, n_rules: int) -> Self:
        """The model of its first rules alone, which vote as they do now; nothing is fitted.

        What holds for all rules together, such as ``certificate_``, is left out.

        Parameters
        ----------
        n_rules
            From 1 to the number of rules.

        Returns
        -------
        RuleModel
            A copy; this model stays as it is.

        Raises
        ------
        ValueError
            If there are not as many rules.
        sklearn.exceptions.NotFittedError
            If the model is not fitted yet.
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

    def _move(self, place: int, threshold: float) -> None:
        """Moves the votes, so that a class is predicted where its probability was above a threshold."""
        self.vote_ = at_threshold(self._voting(self.vote_), place, threshold)
        self.rules_ = self.vote_.rules

    def why(self, X: Any) -> pd.DataFrame:
        """For each row the rules that decided and their votes, or how the fallback decided.

        One line for each row and rule that voted. The columns are ``row`` (the place in X), ``prediction``,
        ``decided_by`` ("rules", or the name of the fallback), ``rule`` (the place in `rules_`, -1 if no rule voted),
        ``text``, ``weight`` (1 for a rule that covers the row, the weight that the fallback gave it otherwise) and the
        votes of the rule: for classes one ``votes_…`` each, for means ``value`` and ``mean_weight``.

        Votes that add up, as those of a path do, have neither ``decided_by`` nor ``weight``: a line of rule -1 is the
        default vote, and ``vote``, or one ``votes_…`` for each class, is what a line adds to the prediction.

        Parameters
        ----------
        X
            Rows x columns: an array, a sparse matrix or a data frame.

        Returns
        -------
        pandas.DataFrame
            It prints as an explanation for each row.

        Raises
        ------
        sklearn.exceptions.NotFittedError
            If the model is not fitted yet.
        ValueError
            If X does not have the columns that the model was fitted to.
        """
        from rulecover.voting.why import why

        rows = self._check_rows(X)
        return why(self._voting(self.vote_), rows, self._tally(rows, X))

    def _ready(self) -> Vote:
        """The vote with the fallback that is set now, once the model is fitted."""
        check_is_fitted(self)
        return self._voting(self.vote_)

    def _asked_on_device(self, X: Any, rows: Ints) -> AskedModel | None:
        """The source model, asked about some rows that are on a GPU."""
        return None if isinstance(self.estimator_, RuleSet) else self._model(X[rows].get(), np.arange(len(rows)))

    def _tally(self, X: Any, given: Any = None) -> Tally:
        """The votes for each row, those of the fallback, which may ask the source model, where no rule covers it."""
        return self._voting(self.vote_).tally(X, partial(self._asked, given))

    def _in_blocks(self, ask_for: Callable[[Vote, Tally], Array], X: Any) -> Array:
        """What is asked of the votes for each row, from one block of rows at a time."""
        rows, vote = self._check_rows(X), self._voting(self.vote_)
        return vote.in_blocks(partial(ask_for, vote), rows, partial(self._asked, X))

    def _asked(self, given: Any, rows: Ints) -> AskedModel | None:
        """The source model, asked about some rows; rules that were made by hand have none."""
        return None if isinstance(self.estimator_, RuleSet) else self._model(given, rows)

    def _voting(self, vote: Vote) -> Vote:
        """The vote with the fallback that is set now."""
        return replace(vote, fallback=self._fallback())

    def fidelity(self, X: Any) -> float:
        """How well the rules predict what the source model predicts: the share of rows on which they agree, or R².

        Parameters
        ----------
        X
            Rows x columns: an array, a sparse matrix or a data frame.

        Returns
        -------
        float
            Of classes a share between 0 and 1; R² is 1 at best.

        Raises
        ------
        sklearn.exceptions.NotFittedError
            If the model is not fitted yet.
        UnreadableModelError
            If there is no model to compare with, or it does not predict: rules made by hand, or a model file.
        """
        rows = self._check_rows(X, whole=True)
        predicted = self.vote_.decided(self._tally(rows, X))
        return self._target.score(self._source_model(X, np.arange(len(predicted))).predict(rows), predicted)

    def _fallback(self) -> Fallback:
        known = voting_on(self._target).fallbacks
        fallback: Fallback = chosen("fallback", self.fallback, known, ("name", "weights"))
        return fallback

    # In a notebook -----------------------------------------------------------------------------------------------

    def _repr_html_inner(self) -> str:
        """The diagram of scikit-learn and, once the model is fitted, its rules."""
        diagram: str = super()._repr_html_inner()
        vote = getattr(self, "vote_", None)
        return diagram if vote is None else f"{diagram}\n{vote._repr_html_()}"

    def _repr_mimebundle_(self, **options: Any) -> dict[str, str]:
        bundle: dict[str, str] = super()._repr_mimebundle_(**options)
        return bundle | {"text/html": self._repr_html_inner()} if "text/html" in bundle else bundle
