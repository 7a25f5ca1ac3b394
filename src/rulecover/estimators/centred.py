"""A regressor that was trained on numbers around their mean, because all of them are far from zero."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import Pipeline
from sklearn.utils import get_tags
from sklearn.utils.validation import check_is_fitted

from rulecover.estimators.coded import CodedClassifier
from rulecover.readers import read_trees
from rulecover.trees.tree import TreeEnsemble
from rulecover.typing import Array, Floats


class CentredRegressor(RegressorMixin, BaseEstimator):
    """A regressor of numbers less a centre, which is added to its predictions.

    Trees add up squares: of numbers like 100,000,000.3 these have no digits left for what tells them apart.

    Parameters
    ----------
    estimator
        What is trained on the numbers less the centre.
    centre
        What is added to its predictions.
    """

    def __init__(self, estimator: Any, centre: float) -> None:
        self.estimator = estimator
        self.centre = centre

    def fit(self, X: Any, y: Any, **settings: Any) -> Self:
        """Trains the regressor."""
        self.estimator.fit(X, np.asarray(y) - self.centre, **settings)
        return self

    def predict(self, X: Any) -> Floats:
        """The predictions of the regressor, plus the centre."""
        return np.asarray(self.estimator.predict(X), dtype=np.float64).ravel() + self.centre

    def _trees_read(self) -> TreeEnsemble:
        return read_trees(self.estimator)

    @property
    def n_features_in_(self) -> int:
        return int(self.estimator.n_features_in_)

    @property
    def feature_names_in_(self) -> Array:
        return np.asarray(self.estimator.feature_names_in_)

    def __sklearn_is_fitted__(self) -> bool:
        try:
            check_is_fitted(self.estimator)
        except NotFittedError:
            return False
        return True

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags = get_tags(self.estimator).input_tags
        return tags


def inner_model(model: Any) -> Any:
    """The model inside one that was trained on numbers less a centre or on codes of labels; any other as it is."""
    return model.estimator if isinstance(model, (CentredRegressor, CodedClassifier)) else model


def behind(encoder: Any, model: Any) -> Any:
    """A trained model on encoded columns as one on a table; one that is behind an encoder already stays as it is."""
    inner = inner_model(model)
    if isinstance(inner, Pipeline):
        return model
    whole = Pipeline([("table", encoder), ("trees", inner)])
    return CentredRegressor(whole, model.centre) if isinstance(model, CentredRegressor) else whole
