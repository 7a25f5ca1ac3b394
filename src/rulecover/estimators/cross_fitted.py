"""Models that also predict their training rows honestly: by copies that were trained on other rows."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, MetaEstimatorMixin, RegressorMixin, clone
from sklearn.utils import _safe_indexing, check_random_state, get_tags
from sklearn.utils.validation import check_is_fitted

from rulecover.estimators.zeros import for_histograms
from rulecover.readers import read_trees, register
from rulecover.trees.tree import TreeEnsemble
from rulecover.typing import Floats, Ints


class Honest(MetaEstimatorMixin, BaseEstimator):
    """A model around another one, `estimator`, with honest predictions of its training rows."""

    estimator: Any
    estimator_: Any

    def out_of_fold(self, X: Any, places: Ints | None = None) -> Floats:
        """What models that were not trained on a row predict for it, or its shares of classes; NaN without such models.

        Parameters
        ----------
        X
            Rows, as the model takes them.
        places
            Where they are among the training rows; by default they are all of these.
        """
        raise NotImplementedError

    def _trees_read(self) -> TreeEnsemble:
        check_is_fitted(self)
        return read_trees(self.estimator_)

    @property
    def n_features_in_(self) -> int:
        return int(self.estimator_.n_features_in_)

    @property
    def feature_names_in_(self) -> Any:
        return self.estimator_.feature_names_in_

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags = get_tags(self.estimator).input_tags
        return tags


class CrossFitted(RegressorMixin, Honest):
    """A regressor with out-of-fold predictions of its training rows, as a forest has out-of-bag ones.

    Parameters
    ----------
    estimator
        The regressor.
    n_folds
        The number of copies, each of which is trained without one fold and predicts it.
    random_state
        Seed of the folds.

    Attributes
    ----------
    estimator_ : object
        The regressor, trained on all rows.
    copies_ : list
        The copies.
    fold_ : ndarray
        Which of them was trained without each training row.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Examples
    --------
    >>> from sklearn.tree import DecisionTreeRegressor
    >>> X, y = np.arange(6.0)[:, None], np.array([0.0, 0.0, 0.0, 9.0, 9.0, 9.0])
    >>> model = CrossFitted(DecisionTreeRegressor(), n_folds=6).fit(X, y)
    >>> model.out_of_fold(X).tolist()
    [0.0, 0.0, 0.0, 0.0, 9.0, 9.0]
    """

    def __init__(self, estimator: Any, n_folds: int = 3, random_state: Any = None) -> None:
        self.estimator = estimator
        self.n_folds = n_folds
        self.random_state = random_state

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Trains the regressor, and a copy of it for each fold.

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
        self.estimator_ = self._trained(X, y, sample_weight)
        order = check_random_state(self.random_state).permutation(len(y))
        self.fold_: Ints = order % max(1, min(self.n_folds, len(y)))
        self.copies_ = []
        for fold in range(1 + int(self.fold_.max())):
            learn = np.flatnonzero(self.fold_ != fold) if len(y) > 1 else np.zeros(1, dtype=np.intp)
            weight = None if sample_weight is None else np.asarray(sample_weight)[learn]
            self.copies_.append(self._trained(_safe_indexing(X, learn), y[learn], weight))
        return self

    def out_of_fold(self, X: Any, places: Ints | None = None) -> Floats:
        """What the copy that was not trained on a row predicts for it; of rows that none has seen, any copy."""
        places = np.arange(X.shape[0]) if places is None else places
        fold, predicted = np.take(self.fold_, places, mode="wrap"), np.empty(len(places))
        for number, copy in enumerate(self.copies_):
            if (mine := np.flatnonzero(fold == number)).size:
                predicted[mine] = copy.predict(_safe_indexing(X, mine))
        return predicted

    def _trained(self, X: Any, y: Floats, weight: Any) -> Any:
        known = for_histograms(self.estimator, X, weight)  # a fold may have no value of a column
        return clone(self.estimator).fit(known, y, **({} if weight is None else {"sample_weight": weight}))

    def predict(self, X: Any) -> Floats:
        """The predictions of the regressor."""
        return np.asarray(self.estimator_.predict(X))


register("rulecover", "rulecover.estimators.booster")  # which reads all models of ours
