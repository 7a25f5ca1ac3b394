"""Trees together with a linear trend, for what trees are slow to see in numbers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Self

import numpy as np
from scipy.optimize import minimize_scalar
from scipy.sparse import issparse
from scipy.special import softmax
from sklearn.base import ClassifierMixin, RegressorMixin, clone

from rulecover.estimators.asked import has_out_of_bag, out_of_bag
from rulecover.estimators.cross_fitted import Honest
from rulecover.estimators.linear_trend import LinearTrend
from rulecover.readers import register
from rulecover.rulepath.response import best_exponent, calibration_loss, log_shares, raised
from rulecover.typing import Array, Floats, Ints

#: With more columns than this, trees are not combined with a trend.
_COLUMNS = 500
#: The decimal places of the share of a trend.
_SHARE_DIGITS = 3
#: The logarithms of the slopes of log-odds that are tried.
_SLOPES = (-2.0, 4.0)
_TINY = np.finfo(np.float64).tiny


class _WithTrend(Honest):
    """Trees and a trend that are trained on the same rows."""

    trend_: LinearTrend | None
    trend_share_: float

    def __init__(self, estimator: Any) -> None:
        self.estimator = estimator

    def _train(self, X: Any, y: Array, numbers: Floats, sample_weight: Any) -> Any:
        """Trains the trees on y and the trend on numbers, and returns the rows as both take them."""
        X = X if hasattr(X, "shape") else np.asarray(X)
        weights = {} if sample_weight is None else {"sample_weight": sample_weight}
        self.estimator_ = clone(self.estimator).fit(X, y, **weights)
        if not has_out_of_bag(self.estimator_):
            raise ValueError(
                f"estimator is {self.estimator!r}, which has no out-of-bag predictions to compare a trend with; give a "
                "forest with bootstrap=True, or use it without a trend."
            )
        self.trend_, self.trend_share_ = None, 0.0
        if X.shape[1] <= _COLUMNS and not issparse(X):
            self.trend_ = LinearTrend().fit(X, numbers, **weights)
        return X

    def _trees_out_of_bag(self, X: Any, places: Ints | None = None) -> Floats:
        predicted = out_of_bag(self.estimator_, X, places)
        assert predicted is not None, "checked when they were trained"
        return predicted


class RegressorWithTrend(RegressorMixin, _WithTrend):
    """A regressor of trees together with a linear trend, each by what it knows of rows that it was not trained on.

    Trees need many splits to follow a straight line, and are unsure where rows are few or noisy.

    Parameters
    ----------
    estimator
        The regressor of trees, which has out-of-bag or out-of-fold predictions.

    Attributes
    ----------
    estimator_ : object
        The regressor, trained on all rows; rules are those of its trees.
    trend_ : LinearTrend
        The trend; ``None`` if there are more than 500 columns, or X is sparse.
    trend_share_ : float
        The share of the trend in the predictions, between 0 and 1: that with the least squared error on rows that
        neither was trained on.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Examples
    --------
    >>> from sklearn.ensemble import RandomForestRegressor
    >>> X = np.random.default_rng(0).uniform(size=(60, 1))
    >>> model = RegressorWithTrend(RandomForestRegressor(20, random_state=0))
    >>> model.fit(X, X.ravel()).trend_share_, model.fit(X, X.ravel() > 0.5).trend_share_
    (1.0, 0.0)
    """

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Trains the regressor and the trend.

        Parameters
        ----------
        X
            Rows x columns, as the regressor takes them.
        y
            What is to be predicted, one number per row.
        sample_weight
            What each row counts.
        """
        y = np.asarray(y, dtype=np.float64)
        X = self._train(X, y, y, sample_weight)
        if self.trend_ is not None:
            trees, trend = self._trees_out_of_bag(X)[:, 0], self.trend_.predict_left_out(X)
            self.trend_share_ = share_of_trend(y, trees, trend, _weights(y, sample_weight))
        return self

    def predict(self, X: Any) -> Floats:
        """The predictions of both."""
        return self._together(np.asarray(self.estimator_.predict(X)), lambda trend: trend.predict(X))

    def out_of_fold(self, X: Any, places: Ints | None = None) -> Floats:
        """What trees and trends that were not trained on a row predict for it; NaN if all trees were."""
        trees = self._trees_out_of_bag(X, places)[:, 0]
        return self._together(trees, lambda trend: trend.predict_left_out(X, places))

    def _together(self, trees: Floats, by: Callable[[LinearTrend], Floats]) -> Floats:
        if self.trend_ is None or not self.trend_share_:
            return trees
        return (1.0 - self.trend_share_) * trees + self.trend_share_ * by(self.trend_)


def share_of_trend(y: Floats, trees: Floats, trend: Floats, weight: Floats) -> float:
    """The share of the trend, from 0 to 1, with which both predict best; rows that trees predict as NaN do not count.

    >>> y, same = np.array([0.0, 1.0, 2.0]), np.array([1.0, 1.0, 1.0])
    >>> share_of_trend(y, same, 2 * y - 1, np.ones(3)), share_of_trend(y, same, same, np.ones(3))
    (0.5, 0.0)
    """
    known = ~np.isnan(trees)
    with np.errstate(over="ignore", invalid="ignore"):
        apart = (trend - trees)[known]
        explained = float(weight[known] @ (apart * (y - trees)[known]))
        whole = float(weight[known] @ np.square(apart))
    if not (0.0 < explained < np.inf and 0.0 < whole < np.inf):
        return 0.0
    return float(np.round(min(1.0, explained / whole), _SHARE_DIGITS))


class ClassifierWithTrend(ClassifierMixin, _WithTrend):
    """A forest together with a linear trend of the classes, each by what it knows of rows that it was not trained on.

    The trend is a ridge regression on the classes, 1 for that of a row and 0 for the others. What it says, times a
    slope, moves the log-odds of the classes away from those of their shares.

    Parameters
    ----------
    estimator
        The forest, which has out-of-bag predictions.

    Attributes
    ----------
    estimator_ : object
        The forest, trained on all rows; rules are those of its trees.
    trend_ : LinearTrend
        The trend; ``None`` if there are more than 500 columns, or X is sparse.
    trend_share_ : float
        The share of the trend in the probabilities, from 0 to 0.999: the one that makes the true classes most likely,
        on rows that neither was trained on.
    exponent_, slope_ : float
        The logarithms of the power to which the shares of the forest are raised where the trend has a share, and of
        the slope of the log-odds.
    classes_, n_features_in_, feature_names_in_
        As in scikit-learn.

    Examples
    --------
    >>> from sklearn.ensemble import RandomForestClassifier
    >>> X = np.random.default_rng(0).normal(size=(100, 5))
    >>> model = ClassifierWithTrend(RandomForestClassifier(20, random_state=0))
    >>> model.fit(X, X.sum(axis=1) > 0).trend_share_, model.fit(X, abs(X[:, 0]) > 1).trend_share_
    (0.999, 0.0)
    """

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Trains the forest and the trend.

        Parameters
        ----------
        X
            Rows x columns, as the forest takes them.
        y
            The class of each row.
        sample_weight
            What each row counts.
        """
        self.classes_, codes = np.unique(np.asarray(y), return_inverse=True)
        truth = np.eye(len(self.classes_))[codes]
        X = self._train(X, np.asarray(y), truth, sample_weight)
        self.exponent_ = self.slope_ = 0.0
        if self.trend_ is not None:
            trees, trend = self._trees_out_of_bag(X), self.trend_.predict_left_out(X)
            weight = _weights(truth, sample_weight)
            known = (weight > 0) & ~np.isnan(trees[:, 0])
            if known.any():
                self._mix(trees[known], trend[known], truth[known], weight[known])
        return self

    def _mix(self, trees: Floats, trend: Floats, truth: Floats, weight: Floats) -> None:
        """Finds the power, the slope and the share by what is said of rows that are left out."""
        logs = log_shares(trees)
        self.exponent_ = best_exponent(lambda power: calibration_loss(power, logs, truth, weight))
        self.slope_ = best_exponent(
            lambda slope: calibration_loss(0.0, self._log_odds(trend, slope), truth, weight), bounds=_SLOPES
        )
        trees, trend = raised(trees, self.exponent_), self._shares(trend)
        self.trend_share_ = likeliest_share(trees[truth > 0], trend[truth > 0], weight)

    def predict(self, X: Any) -> Array:
        """The likeliest classes."""
        return np.asarray(self.classes_[self.predict_proba(X).argmax(axis=1)])

    def predict_proba(self, X: Any) -> Floats:
        """The probabilities by both."""
        return self._together(np.asarray(self.estimator_.predict_proba(X)), lambda trend: trend.predict(X))

    def out_of_fold(self, X: Any, places: Ints | None = None) -> Floats:
        """The probabilities of classes by trees and trends that were not trained on a row; NaN if all trees were."""
        trees = self._trees_out_of_bag(X, places)
        return self._together(trees, lambda trend: trend.predict_left_out(X, places))

    def _together(self, trees: Floats, by: Callable[[LinearTrend], Floats]) -> Floats:
        if self.trend_ is None or not self.trend_share_:
            return trees
        share = self.trend_share_
        return (1.0 - share) * raised(trees, self.exponent_) + share * self._shares(by(self.trend_))

    def _log_odds(self, trend: Floats, slope: float) -> Floats:
        """What the trend says, as the logarithms of what the probabilities are in proportion to."""
        assert self.trend_ is not None
        usual = self.trend_.intercept_
        return np.asarray(np.log(np.maximum(usual, _TINY)) + np.exp(slope) * (trend - usual))

    def _shares(self, trend: Floats) -> Floats:
        return np.asarray(softmax(self._log_odds(trend, self.slope_), axis=1))


def likeliest_share(trees: Floats, trend: Floats, weight: Floats) -> float:
    """The share of the trend, from 0 to 0.999, with which both make the classes of rows most likely.

    It is rounded down: trees that have some share keep what the trend takes for impossible from being so.

    Parameters
    ----------
    trees, trend
        The probability of the class of each row, by both.
    weight
        What each row counts.

    Examples
    --------
    >>> sure, unsure = np.array([0.9, 0.1]), np.array([0.5, 0.5])
    >>> [likeliest_share(sure, unsure, np.array([right, 1.0])) for right in (1.0, 2.0, 9.0)]
    [0.999, 0.583, 0.0]
    """

    def loss(share: float) -> float:
        return -float(weight @ np.log((1.0 - share) * trees + share * trend))

    with np.errstate(divide="ignore"):
        found = float(minimize_scalar(loss, bounds=(0.0, 1.0), method="bounded").x)
        return min((0.0, float(np.floor(found * 10**_SHARE_DIGITS) / 10**_SHARE_DIGITS)), key=loss)


def _weights(y: Floats, sample_weight: Any) -> Floats:
    return np.ones(len(y)) if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)


register("rulecover", "rulecover.estimators.booster")  # which reads all models of ours
