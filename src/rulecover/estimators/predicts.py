"""What scikit-learn asks of classifiers and regressors, for models of rules that vote."""

from __future__ import annotations

import copy
from collections.abc import Callable
from functools import partial
from typing import Any, Protocol, Self, cast

import numpy as np
from sklearn.base import ClassifierMixin, RegressorMixin
from sklearn.model_selection import check_cv
from sklearn.utils.validation import check_is_fitted

from rulecover.estimators.asked import AskedModel
from rulecover.estimators.checks import real_number, without_checkpoint
from rulecover.estimators.held_out import shares_in_folds
from rulecover.estimators.prepare import for_folds, fresh
from rulecover.gpu.launch import is_on_device
from rulecover.gpu.votes import probabilities
from rulecover.partitions.dask_rows import by_partition, is_dask
from rulecover.targets.classes.evidence import ClassEvidence
from rulecover.targets.classes.target import ClassTarget
from rulecover.targets.numbers.target import NumberTarget
from rulecover.typing import Array, Floats, Ints
from rulecover.voting.answers import Classes
from rulecover.voting.threshold import threshold_for
from rulecover.voting.vote import Tally, Vote


class HasVote(Protocol):
    """What the two classes below need of a `VotingModel`."""

    vote_: Vote

    def _in_blocks(self, ask_for: Callable[[Vote, Tally], Array], X: Any) -> Array: ...

    def _ready(self) -> Vote: ...

    def _asked_on_device(self, X: Any, rows: Ints) -> AskedModel | None: ...


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
        """The probability of each class by the votes, rows x classes.

        Parameters
        ----------
        X
            Rows x columns, as for `predict`.

        Returns
        -------
        numpy.ndarray
            Classes are in the order of ``classes_``; the probabilities of a row add up to 1.

        Raises
        ------
        sklearn.exceptions.NotFittedError
            If the model is not fitted yet.
        ValueError
            If X does not have the columns that the model was fitted to.
        """
        if is_dask(X):
            check_is_fitted(self)
            classes: Any = self
            return cast("Floats", by_partition(classes.predict_proba, X, np.zeros((0, len(classes.classes_)))))
        if is_on_device(X):
            return cast("Floats", probabilities(self._ready(), X, partial(self._asked_on_device, X)))
        return self._in_blocks(Vote.probabilities, X)

    def at_threshold(self, threshold: float, label: Any = None) -> Self:
        """The model that predicts a class where its probability was above a threshold; for two classes.

        Votes are moved, so that the probabilities move along (one half is where the threshold was), and files and
        exports predict the same.

        Parameters
        ----------
        threshold
            Above 0 and below 1.
        label
            The class; by default the rarer one in the training rows.

        Returns
        -------
        RuleModel
            A copy; this model stays as it is.
        """
        model: Any = self
        other = copy.copy(model)
        other._move(_place_of(label, model.vote_), threshold)
        return cast("Self", other)

    def tuned(
        self,
        X: Any,
        y: Any,
        *,
        recall: float | None = None,
        precision: float | None = None,
        cost: float | None = None,
        label: Any = None,
        cv: Any = None,
    ) -> Self:
        """The model with the threshold that does what is asked for; for two classes, see `at_threshold`.

        Give one of `recall`, `precision` and `cost`.

        Parameters
        ----------
        X, y
            Rows to choose the threshold on: the training rows, never those that figures are made on.
        recall
            At least this share of the rows of the class is found, with as few false alarms as possible.
        precision
            At least this share of the predictions of the class is right, and as many rows as possible are found.
        cost
            What a missed row of the class costs, if a false alarm costs 1.
        label
            The class; by default the rarer one in the training rows.
        cv
            The number of folds, or a splitter: the model is trained again in each, and the probabilities are those of
            rows that it was not trained on. By default the probabilities of this model for X.

        Returns
        -------
        RuleModel
            A copy; this model stays as it is.

        Raises
        ------
        ValueError
            If not exactly one of `recall`, `precision` and `cost` is given, or no threshold has it; or if every fold
            lacks a class.

        Examples
        --------
        >>> from sklearn.datasets import load_breast_cancer
        >>> from rulecover import RulePathClassifier
        >>> X, y = load_breast_cancer(return_X_y=True)
        >>> path = RulePathClassifier(max_rules=3, choose="last", random_state=0).fit(X, y)
        >>> found = path.tuned(X, y, recall=0.99).predict(X)[y == 0] == 0
        >>> bool(found.mean() >= 0.99)
        True
        """
        for name, value in (("recall", recall), ("precision", precision), ("cost", cost)):
            if value is not None:
                real_number(name, value, above=True)
        model: Any = self
        place = _place_of(label, model.vote_)
        wanted = self.classes_[place]
        if cv is None:
            shares = self.predict_proba(X)[:, place]
        else:
            folds = check_cv(cv, y, classifier=True).split(X, y)
            rows = for_folds(model, X)
            shares = shares_in_folds(without_checkpoint(fresh(model)), rows, y, folds, wanted)
        known = ~np.isnan(shares)
        positive = np.asarray(y).ravel() == wanted
        if positive.any() and not positive[known].any():
            name = self.classes_.tolist()[place]
            raise ValueError(
                f"cv is {cv!r}, and no row of class {name!r} is held out from a fold with both classes to train on; "
                "give more rows, or folds that keep the shares of the classes, such as StratifiedKFold."
            )
        threshold = threshold_for(positive[known], shares[known], recall=recall, precision=precision, cost=cost)
        return self.at_threshold(threshold, wanted)


def _place_of(label: Any, vote: Vote) -> int:
    """The place of a label among two classes; that of the rarer class where there is none."""
    assert isinstance(vote.answer, Classes)
    seen, classes = vote.rules.evidence, vote.answer.labels
    counts = seen.all_counts if isinstance(seen, ClassEvidence) else vote.totals
    if label is None:
        return int(counts[0] >= counts[-1])
    places = np.flatnonzero(classes == label)
    if not places.size:
        raise ValueError(f"label is {label!r}, but the classes are {classes[:10].tolist()}; give one of them.")
    return int(places[0])


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

        Returns
        -------
        numpy.ndarray
            Two columns, the lower and the upper end.

        Raises
        ------
        ValueError
            If `coverage` is not between 0 and 1.
        AttributeError
            If no spread is stored for the rules.
        sklearn.exceptions.NotFittedError
            If the model is not fitted yet.
        """
        return self._in_blocks(lambda vote, tally: vote.interval(tally, real_number("coverage", coverage)), X)
