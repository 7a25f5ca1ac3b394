"""Linear trends, for what trees are slow to see in numbers."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple, Self

import numpy as np
from sklearn.base import BaseEstimator, RegressorMixin, clone
from sklearn.utils import check_array
from threadpoolctl import threadpool_limits

from rulecover.estimators.asked import out_of_bag
from rulecover.estimators.cross_fitted import Honest
from rulecover.readers import register
from rulecover.typing import Bools, Floats, Ints

#: Values further than this many standard deviations from the mean of their column count as if they were there.
_FAR = 3.0
#: Trees have no trend with them if there are more columns.
_COLUMNS = 500
#: The penalties that are tried, per unit of weight.
_PENALTIES = np.logspace(2.0, -5.0, 15)
#: Rows are worked on this many at a time.
_ROWS = 4096
#: The digits of the share of a trend.
_SHARE_DIGITS = 3
#: Errors that differ by less than this share are equal, and a spread below this share of the mean is none.
_ROUNDING = 1e-9


class LinearTrend(RegressorMixin, BaseEstimator):
    """Ridge regression on standardised columns, whose outliers are drawn in; missing values are in the middle.

    The penalty is the one with the least error on rows that are left out one by one, in closed form. What is predicted
    for a row does not depend on the rows that are asked about with it, to the last digit.

    Attributes
    ----------
    mean_, per_spread_, centre_ : ndarray
        The mean of each column, 1 divided by its standard deviation (0 where all values are the same), and the mean
        once outliers are drawn in.
    intercept_ : float
        The mean of the numbers.
    coefficients_ : ndarray
        What one standard deviation of each column adds.
    penalty_ : float
        The penalty on the squares of the coefficients, per unit of weight.
    fitted_, left_out_ : ndarray
        What is predicted for each training row, and what would be predicted if it were left out.
    n_features_in_ : int
        As in scikit-learn.

    Examples
    --------
    >>> X = np.arange(40.0)[:, None]
    >>> trend = LinearTrend().fit(X, 3 * X.ravel())
    >>> trend.predict([[10.0], [np.nan]]).round(1).tolist()
    [30.0, 58.5]
    """

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fits the coefficients.

        Parameters
        ----------
        X
            Rows x columns of numbers, which may be missing.
        y
            What is to be predicted, one number per row.
        sample_weight
            What each row counts.
        """
        rows, y = _checked(X), np.asarray(y, dtype=np.float64)
        weight = np.ones(len(y)) if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
        self.n_features_in_ = rows.shape[1]
        self.intercept_ = float(np.average(y, weights=weight))
        # The last digits of products of matrices depend on the number of threads.
        with threadpool_limits(1, "blas"), np.errstate(over="ignore", invalid="ignore"):
            self._standardise(rows, weight)
            found = _ridge(lambda: self._standardised(rows), y - self.intercept_, weight)
        self.penalty_, self.coefficients_ = found.penalty, found.coefficients
        self.fitted_ = self.predict(X)
        self.left_out_ = self.intercept_ + found.left_out
        return self

    def predict(self, X: Any) -> Floats:
        """The numbers that are predicted for rows."""
        each = [(part * self.coefficients_).sum(axis=1) for _, part in self._standardised(_checked(X))]
        return np.asarray(self.intercept_ + np.concatenate(each))

    def predict_left_out(self, X: Any, places: Ints | None = None) -> Floats:
        """What would be predicted for rows if they were not among the training rows.

        Parameters
        ----------
        X
            Rows x columns.
        places
            Where they are among the training rows, if they are among these; by default they are all of these.
        """
        predicted = self.predict(X)
        at = np.minimum(np.arange(len(predicted)) if places is None else places, len(self.fitted_) - 1)
        return np.where(predicted == self.fitted_[at], self.left_out_[at], predicted)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags

    def _standardise(self, rows: Floats, weight: Floats) -> None:
        """Notes the mean and the spread of each column; a column of one value has no spread."""
        known = ~np.isnan(rows)
        self.mean_ = _means(rows, known, weight)
        spread = np.sqrt(_means(np.square(rows - self.mean_), known, weight))
        varies = spread > _ROUNDING * np.abs(self.mean_)
        self.per_spread_ = np.where(varies, 1.0 / np.where(varies, spread, 1.0), 0.0)
        self.centre_ = np.zeros(rows.shape[1])
        self.centre_ = _means(np.concatenate([part for _, part in self._standardised(rows)]), known, weight)

    def _standardised(self, rows: Floats) -> Iterator[tuple[slice, Floats]]:
        """Rows in standard deviations from the means, some at a time, with their places."""
        for first in range(0, len(rows), _ROWS):
            some = slice(first, first + _ROWS)
            part = np.clip((rows[some] - self.mean_) * self.per_spread_, -_FAR, _FAR) - self.centre_
            yield some, np.ascontiguousarray(np.where(np.isnan(part), 0.0, part))


def _checked(X: Any) -> Floats:
    return np.asarray(check_array(X, dtype=np.float64, ensure_all_finite="allow-nan"))


def _means(values: Floats, known: Bools, weight: Floats) -> Floats:
    """The (weighted) mean of what is known in each column, 0 where nothing is."""
    count = np.maximum(weight @ known, np.finfo(np.float64).tiny)
    return np.asarray(weight @ np.where(known, values, 0.0) / count)


class _Ridge(NamedTuple):
    """The penalty with the least error on rows that are left out, its coefficients, and what these rows then get."""

    penalty: float
    coefficients: Floats
    left_out: Floats


def _ridge(parts: Callable[[], Iterator[tuple[slice, Floats]]], y: Floats, weight: Floats) -> _Ridge:
    """Ridge regression on centred columns, some rows at a time, with their places, of centred numbers.

    A row that is left out is missed by what it is missed by with all rows, divided by 1 less its leverage.
    """
    total = float(weight.sum())
    spread, axes = np.linalg.eigh(sum((part * weight[some, None]).T @ part for some, part in parts()))
    along = axes.T @ sum((weight * y)[some] @ part for some, part in parts())
    shrunk = 1.0 / (np.maximum(spread, 0.0)[:, None] + total * _PENALTIES)

    def missed(some: slice, part: Floats, shrunk: Floats) -> Floats:
        turned = part @ axes
        leverage = weight[some, None] * (np.square(turned) @ shrunk + 1.0 / total)
        left = y[some, None] - turned @ (shrunk * along[:, None])
        return np.asarray(left / np.maximum(1.0 - leverage, _ROUNDING))

    errors = sum(weight[some] @ np.square(missed(some, part, shrunk)) for some, part in parts())
    errors = np.nan_to_num(errors, nan=np.inf)
    best = int(np.flatnonzero(errors <= (1.0 + _ROUNDING) * errors.min())[0])
    mine = shrunk[:, best : best + 1]
    left_out = y - np.concatenate([missed(some, part, mine)[:, 0] for some, part in parts()])
    return _Ridge(float(_PENALTIES[best]), axes @ (mine[:, 0] * along), left_out)


class WithTrend(Honest):
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
        The trend; ``None`` if there are more than 500 columns.
    trend_share_ : float
        The share of the trend in the predictions, between 0 and 1: that with the least squared error on rows that
        neither was trained on.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Examples
    --------
    >>> from sklearn.ensemble import RandomForestRegressor
    >>> X = np.random.default_rng(0).uniform(size=(60, 1))
    >>> forest = RandomForestRegressor(20, random_state=0)
    >>> WithTrend(forest).fit(X, X.ravel()).trend_share_, WithTrend(forest).fit(X, X.ravel() > 0.5).trend_share_
    (1.0, 0.0)
    """

    def __init__(self, estimator: Any) -> None:
        self.estimator = estimator

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
        X, y = X if hasattr(X, "shape") else np.asarray(X), np.asarray(y, dtype=np.float64)
        weights = {} if sample_weight is None else {"sample_weight": sample_weight}
        self.estimator_ = clone(self.estimator).fit(X, y, **weights)
        self.trend_, self.trend_share_ = None, 0.0
        if X.shape[1] <= _COLUMNS:
            self.trend_ = LinearTrend().fit(X, y, **weights)
            weight = np.ones(len(y)) if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
            self.trend_share_ = share_of_trend(y, self._by_trees(X), self.trend_.predict_left_out(X), weight)
        return self

    def predict(self, X: Any) -> Floats:
        """The predictions of both."""
        return self._together(np.asarray(self.estimator_.predict(X)), lambda trend: trend.predict(X))

    def out_of_fold(self, X: Any, places: Ints | None = None) -> Floats:
        """What trees and trends that were not trained on a row predict for it; NaN if all trees were."""
        return self._together(self._by_trees(X, places), lambda trend: trend.predict_left_out(X, places))

    def _by_trees(self, X: Any, places: Ints | None = None) -> Floats:
        predicted = out_of_bag(self.estimator_, X, places)
        assert predicted is not None, "the regressor has out-of-bag predictions"
        return np.asarray(predicted[:, 0])

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


register("rulecover", "rulecover.estimators.booster")  # which reads all models of ours
