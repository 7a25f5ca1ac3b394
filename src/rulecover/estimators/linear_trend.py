"""A linear trend: ridge regression with what it would predict for each training row without that row."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple, Self

import numpy as np
from scipy.sparse import issparse
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.utils import check_array
from threadpoolctl import threadpool_limits

from rulecover.typing import Bools, Floats, Ints

#: Values further than this many standard deviations from the mean of their column count as if they were that far.
_FAR = 3.0
#: The penalties that are tried, per unit of weight.
_PENALTIES = np.logspace(2.0, -5.0, 15)
#: Rows are worked on this many at a time.
_ROWS = 4096
#: Errors that differ by less than this share are equal, and a spread below this share of the mean counts as zero.
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
    intercept_ : ndarray
        The mean of each output.
    coefficients_ : ndarray
        What one standard deviation of each column adds to each output.
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
            What is to be predicted, one number per row, or rows x outputs.
        sample_weight
            What each row counts.
        """
        rows, y = _checked(X), np.asarray(y, dtype=np.float64)
        weight = np.ones(len(y)) if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
        self.n_features_in_ = rows.shape[1]
        self.intercept_ = np.average(y, axis=0, weights=weight)
        # The last digits of products of matrices depend on the number of threads.
        with threadpool_limits(1, "blas"), np.errstate(over="ignore", invalid="ignore"):
            self._standardise(rows, weight)
            outputs = (y - self.intercept_).reshape(len(y), -1)
            found = _ridge(lambda: self._standardised(rows), outputs, weight)
        self.penalty_, self.coefficients_ = found.penalty, found.coefficients.reshape(-1, *y.shape[1:])
        self.fitted_ = self.predict(X)
        self.left_out_ = self.intercept_ + found.left_out.reshape(y.shape)
        return self

    def predict(self, X: Any) -> Floats:
        """The numbers that are predicted for rows."""
        of_outputs = self.coefficients_.reshape(self.n_features_in_, -1).T
        parts = [
            np.column_stack([(part * coefficients).sum(axis=1) for coefficients in of_outputs])
            for _, part in self._standardised(_checked(X))
        ]
        return np.asarray(self.intercept_ + np.concatenate(parts).reshape(-1, *self.coefficients_.shape[1:]))

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
        known = (predicted == self.fitted_[at]).reshape(len(at), -1).all(axis=1)
        if places is not None:
            known &= places < len(self.fitted_)
        predicted[known] = self.left_out_[at[known]]
        return predicted

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
    rows = check_array(X, dtype=np.float64, accept_sparse="csr", ensure_all_finite="allow-nan")
    return rows.toarray() if issparse(rows) else np.asarray(rows)


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
    """Ridge regression on centred columns, some rows at a time, with their places, of centred outputs.

    A row that is left out is missed by what it is missed by with all rows, divided by 1 less its leverage.
    """
    total = float(weight.sum())
    spread, axes = np.linalg.eigh(sum((part * weight[some, None]).T @ part for some, part in parts()))
    along = axes.T @ sum(part.T @ (weight[:, None] * y)[some] for some, part in parts())
    shrunk = 1.0 / (np.maximum(spread, 0.0)[:, None] + total * _PENALTIES)

    def missed(some: slice, part: Floats, shrunk: Floats) -> Iterator[Floats]:
        """For each output, by what its rows are missed with each penalty."""
        turned = part @ axes
        leverage = weight[some, None] * (np.square(turned) @ shrunk + 1.0 / total)
        for output, coefficients in zip(y[some].T, along.T, strict=True):
            left = output[:, None] - turned @ (shrunk * coefficients[:, None])
            yield left / np.maximum(1.0 - leverage, _ROUNDING)

    errors = sum(weight[some] @ np.square(each) for some, part in parts() for each in missed(some, part, shrunk))
    errors = np.nan_to_num(errors, nan=np.inf)
    best = int(np.flatnonzero(errors <= (1.0 + _ROUNDING) * errors.min())[0])
    mine = shrunk[:, best : best + 1]
    left_out = y - np.concatenate([np.column_stack([*missed(some, part, mine)]) for some, part in parts()])
    return _Ridge(float(_PENALTIES[best]), axes @ (mine * along), left_out)
