"""Models that were trained on y written otherwise: classes as codes from 0 on, numbers around their mean, in units.

Or on rows of some of the classes alone.
"""

from __future__ import annotations

from copy import copy
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin, is_classifier
from sklearn.calibration import CalibratedClassifierCV
from sklearn.exceptions import NotFittedError
from sklearn.model_selection._search import BaseSearchCV
from sklearn.pipeline import Pipeline
from sklearn.utils import get_tags
from sklearn.utils.validation import check_is_fitted

from rulecover.readers import read_trees
from rulecover.targets.origin import Origin
from rulecover.trees.tree import TreeEnsemble
from rulecover.typing import Array, Floats


class OnOtherTarget(BaseEstimator):
    """A model around one that was trained on y written otherwise, and that takes the rows as they are."""

    estimator: Any

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


class CodedClassifier(ClassifierMixin, OnOtherTarget):
    """A classifier of the places of labels among all labels, which are what it predicts.

    Parameters
    ----------
    estimator
        What is trained on the places.
    labels
        The label of each place, in their order.
    """

    def __init__(self, estimator: Any, labels: Array) -> None:
        self.estimator = estimator
        self.labels = labels

    def fit(self, X: Any, y: Any, **settings: Any) -> Self:
        """Trains the classifier."""
        self.estimator.fit(X, np.searchsorted(self.labels, y), **settings)
        return self

    def predict(self, X: Any) -> Array:
        """The label at each place that the classifier predicts."""
        return np.asarray(self.labels[np.asarray(self.estimator.predict(X), dtype=np.intp).ravel()])

    def predict_proba(self, X: Any) -> Floats:
        """The probabilities of the labels, rows x labels."""
        return np.asarray(self.estimator.predict_proba(X))

    @property
    def classes_(self) -> Array:
        return self.labels


class WiderClassifier(ClassifierMixin, OnOtherTarget):
    """A classifier that was trained on rows of some of the classes, among all classes; others are impossible for it.

    Parameters
    ----------
    estimator
        The classifier.
    labels
        The labels of all classes, in their order.
    """

    def __init__(self, estimator: Any, labels: Array) -> None:
        self.estimator = estimator
        self.labels = labels

    def fit(self, X: Any, y: Any, **settings: Any) -> Self:
        """Trains the classifier."""
        self.estimator.fit(X, y, **settings)
        return self

    def predict(self, X: Any) -> Array:
        """The labels that the classifier predicts."""
        return np.asarray(self.estimator.predict(X)).ravel()  # CatBoost returns a column

    def predict_proba(self, X: Any) -> Floats:
        """The probabilities of all labels, rows x labels."""
        shares = np.asarray(self.estimator.predict_proba(X))
        wider = np.zeros((len(shares), len(self.labels)))
        wider[:, np.searchsorted(self.labels, self.estimator.classes_)] = shares
        return wider

    @property
    def classes_(self) -> Array:
        return self.labels


class CentredRegressor(RegressorMixin, OnOtherTarget):
    """A regressor of numbers less a centre, in units, whose predictions are in units from the centre.

    Trees add up squares: of numbers like 100,000,000.3 these have no digits left for what tells them apart, and of
    numbers like 0.000000001 they are taken for zero.

    Parameters
    ----------
    estimator
        What is trained on the numbers less the centre, in units.
    centre, unit
        As in `Origin`.
    """

    def __init__(self, estimator: Any, centre: float, unit: float = 1.0) -> None:
        self.estimator = estimator
        self.centre = centre
        self.unit = unit

    @property
    def origin(self) -> Origin:
        """How the numbers are written."""
        return Origin(self.centre, self.unit)

    def fit(self, X: Any, y: Any, **settings: Any) -> Self:
        """Trains the regressor."""
        self.estimator.fit(X, self.origin.written(np.asarray(y)), **settings)
        return self

    def predict(self, X: Any) -> Floats:
        """The predictions of the regressor, as numbers."""
        return self.origin.read(np.asarray(self.estimator.predict(X), dtype=np.float64).ravel())


def inner_model(model: Any) -> Any:
    """The model inside one that was trained on y written otherwise; any other as it is."""
    while isinstance(model, OnOtherTarget):
        model = model.estimator
    return model


def knows_all_classes(model: Any) -> bool:
    """Whether a model was trained on rows of all its classes.

    >>> wider = WiderClassifier(None, np.array([1, 2, 3]))
    >>> knows_all_classes(wider), knows_all_classes(CodedClassifier(wider, np.array(list("abc"))))
    (False, False)
    """
    while isinstance(model, OnOtherTarget) and not isinstance(model, WiderClassifier):
        model = model.estimator
    return not isinstance(model, WiderClassifier)


def classes_in_words(model: Any) -> str:
    """How many of its classes a model was trained on rows of, if not of all.

    >>> from sklearn.dummy import DummyClassifier
    >>> some = DummyClassifier().fit([[0], [1]], [1, 2])
    >>> classes_in_words(WiderClassifier(some, np.array([1, 2, 3]))), classes_in_words(some)
    ('with 2 of 3 classes', '')
    """
    if not isinstance(model, WiderClassifier):
        return ""
    return f"with {len(model.estimator.classes_):,} of {len(model.labels):,} classes"


def on_table(encoder: Any, model: Any) -> Any:
    """A trained model on encoded columns as one on a table; one that is behind an encoder already stays as it is."""
    if isinstance(model, OnOtherTarget):
        written = copy(model)
        written.estimator = on_table(encoder, model.estimator)
        return written
    return model if isinstance(model, Pipeline) else Pipeline([("table", encoder), ("trees", model)])


def trains_on_codes(estimator: Any) -> bool:
    """Whether a classifier takes no labels but 0, 1, 2, … without a gap.

    >>> from sklearn.tree import DecisionTreeClassifier
    >>> trains_on_codes(DecisionTreeClassifier())
    False
    """
    inner = _innermost(estimator)[0]
    return type(inner).__module__.startswith("xgboost.") and is_classifier(inner)


def for_classes(estimator: Any, n_classes: int) -> Any:
    """The classifier for this many classes: XGBoost keeps its objective for many once it was trained on them."""
    inner, name = _innermost(estimator)
    settings = inner.get_params()
    many = str(settings.get("objective")).startswith("multi:") and "num_class" not in settings
    return estimator.set_params(**{f"{name}objective": "binary:logistic"}) if many and n_classes == 2 else estimator


def _innermost(estimator: Any) -> tuple[Any, str]:
    """The classifier at the end of a pipeline or inside a search, and what stands in front of its settings."""
    if isinstance(estimator, Pipeline):
        inner, name = _innermost(estimator.steps[-1][1])
        return inner, f"{estimator.steps[-1][0]}__{name}"
    if isinstance(estimator, (BaseSearchCV, CalibratedClassifierCV)):
        inner, name = _innermost(estimator.estimator)
        return inner, f"estimator__{name}"
    return estimator, ""
