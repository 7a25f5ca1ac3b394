"""Models of trees on columns that are cut into a few bins at round numbers."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, MetaEstimatorMixin, clone
from sklearn.utils import column_or_1d, get_tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import _check_sample_weight, check_is_fitted, validate_data

from rulecover.data.frames import names_of_model
from rulecover.estimators.checks import whole_number
from rulecover.rcboost.pricing.bins import Bins
from rulecover.readers import read_trees, register
from rulecover.trees.tree import Tree, TreeEnsemble
from rulecover.typing import Array, Floats


def _estimator_has(name: str) -> Any:
    return lambda self: hasattr(getattr(self, "estimator_", self.estimator), name)


class BinnedTrees(MetaEstimatorMixin, BaseEstimator):
    """A model of trees that sees of each value only its bin, so that its rules have few different bounds.

    Every column is cut into bins of about as many (weighted) training rows each, at the roundest number that is at most
    about half a bin away. A column with fewer values has a bin for each. Missing values stay missing.

    Parameters
    ----------
    estimator
        The model that is trained on the numbers of the bins: any that `rulecover.read_trees` can read.
    n_bins
        The largest number of bins per column.

    Attributes
    ----------
    bins_ : Bins
        Where the columns are cut.
    estimator_ : object
        The trained model.
    classes_, n_features_in_, feature_names_in_
        As in scikit-learn.

    Examples
    --------
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> X = np.linspace(0.0, 1.0, 100)[:, None] ** 2
    >>> trees = BinnedTrees(DecisionTreeClassifier(), n_bins=4).fit(X, X.ravel() > 0.2)
    >>> trees.bins_.cuts[0].tolist()
    [0.1, 0.2, 0.6]
    >>> print(read_trees(trees).rules().shown_for(X))
    rule  if
       0  x0 <= 0.2
       1  x0 > 0.2
    """

    def __init__(self, estimator: Any, n_bins: int = 10) -> None:
        self.estimator = estimator
        self.n_bins = n_bins

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Cuts the columns and trains the model.

        Parameters
        ----------
        X
            Rows x columns of numbers: an array, a data frame or a sparse matrix.
        y
            What is to be predicted, one value per row.
        sample_weight
            What each row counts, in the bins too.
        """
        whole_number("n_bins", self.n_bins, at_least=2)
        rows, y = self._checked(X, reset=True), column_or_1d(y, warn=True)
        weight = None if sample_weight is None else _check_sample_weight(sample_weight, rows, dtype=np.float64)
        self.bins_ = round_bins(rows, self.n_bins, weight)
        weights = {} if weight is None else {"sample_weight": weight}
        self.estimator_ = clone(self.estimator).fit(numbers_of_bins(self.bins_, rows), y, **weights)
        return self

    def binned(self, X: Any) -> Floats:
        """Rows as the model inside sees them: the number of the bin of each value, or NaN."""
        check_is_fitted(self)
        return numbers_of_bins(self.bins_, self._checked(X, reset=False))

    def predict(self, X: Any) -> Array:
        """The predictions of the model."""
        rows = self.binned(X)
        return np.asarray(self.estimator_.predict(rows))

    def _shares(self, X: Any) -> Floats:
        """The probabilities of the model, rows x classes."""
        rows = self.binned(X)
        return np.asarray(self.estimator_.predict_proba(rows))

    predict_proba = available_if(_estimator_has("predict_proba"))(_shares)

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """The score of the model: accuracy or R²."""
        rows = self.binned(X)
        return float(self.estimator_.score(rows, y, sample_weight))

    def _trees_read(self) -> TreeEnsemble:
        """The trees on the columns that were cut: a threshold between two bins is where they were cut."""
        check_is_fitted(self)
        inner = read_trees(self.estimator_)
        return replace(
            inner,
            trees=tuple(_on_values(tree, self.bins_) for tree in inner.trees),
            prepare=partial(_prepared, self.bins_, inner.prepare),
            prepare_first=inner.prepare_first and partial(_first_prepared, self.bins_, inner.prepare_first),
            feature_names=names_of_model(self),
            keeps_columns=False,
        )

    @property
    def classes_(self) -> Array:
        return np.asarray(self.estimator_.classes_)

    def _checked(self, X: Any, *, reset: bool) -> Any:
        return validate_data(
            self,
            X,
            reset=reset,
            accept_sparse="csc",
            dtype=np.float64,
            ensure_all_finite="allow-nan" if get_tags(self).input_tags.allow_nan else True,
        )

    def __sklearn_tags__(self) -> Any:
        tags, inner = super().__sklearn_tags__(), get_tags(self.estimator)
        tags.estimator_type, tags.input_tags = inner.estimator_type, inner.input_tags
        tags.classifier_tags, tags.regressor_tags = inner.classifier_tags, inner.regressor_tags
        tags.target_tags.required = inner.target_tags.required
        if tags.classifier_tags is not None:
            tags.classifier_tags.multi_label = False
        return tags


def round_bins(X: Any, n_bins: int, weight: Floats | None) -> Bins:
    """Bins of about as many rows each, cut at round numbers.

    Parameters
    ----------
    X
        Rows x columns.
    n_bins
        The largest number of bins per column.
    weight
        What each row counts, if not the same; rows of weight zero are as if they were not there.
    """
    if weight is not None and not weight.all():
        X, weight = X[weight > 0], weight[weight > 0]
    bins = Bins.of(X, n_bins, weight, at_round_numbers=True)
    return replace(bins, codes=bins.codes[:, :0].copy())  # those of the training rows are not needed again


def numbers_of_bins(bins: Bins, X: Any) -> Floats:
    """The number of the bin of each value, rows x columns; NaN stays NaN."""
    codes = bins.codes_of(X).T
    return np.where(codes == bins.missing, np.float32(np.nan), codes.astype(np.float32))


def _on_values(tree: Tree, bins: Bins) -> Tree:
    last = np.floor(np.clip(tree.threshold, -1.0, bins.n_bins - 1.0)).astype(np.intp)
    return replace(tree, threshold=np.where(tree.left >= 0, bins.threshold(tree.feature, last), 0.0))


def _prepared(bins: Bins, prepare: Any, X: Any) -> Any:
    return prepare(numbers_of_bins(bins, X))


def _first_prepared(bins: Bins, prepare_first: Any, n_trees: int, X: Any) -> Any:
    return prepare_first(n_trees, numbers_of_bins(bins, X))


register("rulecover", "rulecover.estimators.booster")  # which reads all models of ours
