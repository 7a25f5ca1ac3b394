"""Scores of predictions that are there already, by the names and functions that scikit-learn takes as `scoring`."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.metrics import get_scorer, get_scorer_names

from rulecover.exceptions import UnreadableModelError
from rulecover.rulepath.family import RowPredictions
from rulecover.typing import Array, Floats


class _Predicted(BaseEstimator):
    """A fitted model that predicts what it was given, whatever it is asked about."""

    def __init__(self, predictions: RowPredictions) -> None:
        self.predictions = predictions

    def __sklearn_is_fitted__(self) -> bool:
        return True

    def predict(self, X: Any) -> Array:
        return self.predictions.values


class _PredictedClasses(ClassifierMixin, _Predicted):
    def __init__(self, predictions: RowPredictions, classes: Array) -> None:
        super().__init__(predictions)
        self.classes_ = classes

    def predict_proba(self, X: Any) -> Floats:
        if self.predictions.shares is None:
            raise ValueError("the model gives no probabilities; choose a scoring that needs none, such as 'accuracy'.")
        return self.predictions.shares


class _PredictedNumbers(RegressorMixin, _Predicted):
    pass


def checked_scoring(scoring: Any) -> Any:
    """The scoring, if scikit-learn knows its name or it is a function."""
    if callable(scoring):
        return scoring
    if not isinstance(scoring, str) or scoring not in get_scorer_names():
        raise ValueError(
            f"scoring is {scoring!r}; give a name that scikit-learn knows, such as 'neg_log_loss', 'roc_auc' or 'r2' "
            "(sklearn.metrics.get_scorer_names() lists them), or a function of a model, X and y."
        )
    return get_scorer(scoring)


def score_function(scoring: Any, classes: Array) -> Callable[[RowPredictions, Array, Floats], float]:
    """From predictions, the truth and weights to the score, the higher the better.

    Parameters
    ----------
    scoring
        A name that scikit-learn knows, or a scorer: a function of a model, X and y.
    classes
        The classes; none for regression.

    Examples
    --------
    >>> score = score_function("accuracy", np.array(["no", "yes"]))
    >>> score(RowPredictions(np.array(["no", "yes"])), np.array(["no", "no"]), np.ones(2))
    0.5
    """
    if isinstance(scoring, str) and scoring in _OF_SHARES and len(classes):
        return partial(_mean_merit, _OF_SHARES[scoring], classes)
    scorer = checked_scoring(scoring)

    def score(predictions: RowPredictions, truth: Array, weight: Floats) -> float:
        model = _PredictedClasses(predictions, classes) if len(classes) else _PredictedNumbers(predictions)
        weights = {} if (weight == 1).all() else {"sample_weight": weight}
        try:
            return float(scorer(model, np.zeros((len(truth), 1)), truth, **weights))
        except (AttributeError, TypeError, ValueError) as error:
            if not isinstance(scoring, str) or (len(classes) and predictions.shares is None):
                raise
            what, such_as = ("classes", "balanced_accuracy") if len(classes) else ("numbers", "r2")
            raise ValueError(
                f"scoring is {scoring!r}, which does not score these {what} ({error}); choose another, such as "
                f"{such_as!r}."
            ) from error

    return score


def _log_likelihood(shares: Floats, truth: Floats) -> Floats:
    return np.asarray(np.log(np.maximum((shares * truth).sum(axis=1), np.finfo(np.float64).eps)))


def _closeness(shares: Floats, truth: Floats) -> Floats:
    return np.asarray(-np.square(shares - truth).sum(axis=1) / 2.0)


#: Means over rows of a function of the shares and the truth, which also hold where a fold lacks some classes, and for
#: more than two of them: half the sum over the classes is the Brier score of two.
_OF_SHARES = {"neg_log_loss": _log_likelihood, "neg_brier_score": _closeness}


def _mean_merit(
    merit: Callable[[Floats, Floats], Floats],
    classes: Array,
    predictions: RowPredictions,
    truth: Array,
    weight: Floats,
) -> float:
    if predictions.shares is None:
        raise ValueError("the model gives no probabilities; choose a scoring that needs none, such as 'accuracy'.")
    each = merit(predictions.shares, (classes[None, :] == np.asarray(truth)[:, None]).astype(np.float64))
    return float(np.average(each, weights=weight))


def model_predictions(model: Any, rows: Any, classes: Array) -> RowPredictions:
    """What a model predicts for rows; without shares if it gives none."""
    shares = None
    if len(classes):
        with suppress(UnreadableModelError, AttributeError):
            shares = np.asarray(model.predict_proba(rows), dtype=np.float64)
    return RowPredictions(np.asarray(model.predict(rows)), shares)
