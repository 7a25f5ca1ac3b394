"""A regressor that was trained on numbers around their mean, because all of them are far from zero."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.base import RegressorMixin
from sklearn.pipeline import Pipeline

from rulecover.estimators.coded import OnOtherTarget
from rulecover.typing import Floats


class CentredRegressor(RegressorMixin, OnOtherTarget):
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


def inner_model(model: Any) -> Any:
    """The model inside one that was trained on numbers less a centre or on codes of labels; any other as it is."""
    return model.estimator if isinstance(model, OnOtherTarget) else model


def behind(encoder: Any, model: Any) -> Any:
    """A trained model on encoded columns as one on a table; one that is behind an encoder already stays as it is."""
    inner = inner_model(model)
    if isinstance(inner, Pipeline):
        return model
    whole = Pipeline([("table", encoder), ("trees", inner)])
    return CentredRegressor(whole, model.centre) if isinstance(model, CentredRegressor) else whole
