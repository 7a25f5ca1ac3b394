"""Classes as what is predicted, scored by accuracy."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import is_classifier, is_regressor
from sklearn.utils.multiclass import check_classification_targets

from rulecover.exceptions import MismatchedDataError, UnreadableModelError
from rulecover.targets.classes.impurity import CRITERIA, Gini
from rulecover.targets.classes.samples import ClassSamples
from rulecover.targets.impurity import Impurity
from rulecover.targets.samples import Samples
from rulecover.targets.target import Target, name_of
from rulecover.typing import Array, Floats


@dataclass(frozen=True, eq=False)
class ClassTarget(Target):
    """Classes. Two of them make one response, the votes for the first being those against the second.

    >>> target = ClassTarget(np.array(["no", "yes"]))
    >>> target.responses(np.array(["yes", "no"])).tolist()
    [[1.0], [0.0]]
    >>> target.votes(np.array([[0.25], [0.5]])).tolist()
    [[0.75, 0.25], [-0.5, 0.5]]
    """

    name = "classes"
    criteria = CRITERIA
    impurity: ClassVar[Impurity] = Gini()

    def check(self, y: Array, estimator: str) -> Array:
        _check_one_kind(y)
        check_classification_targets(y)
        return y

    def check_source(self, source: Any, estimator: str) -> None:
        if is_regressor(source) or not is_classifier(source):
            raise UnreadableModelError(
                f"{name_of(source)} is not a classifier, but {estimator} works on classifiers; give a classifier."
            )

    def origin(self, y: Array, weight: Floats | None) -> None:
        return None

    def samples(self, X: Any, y: Array, weight: Floats | None, plain: Floats | None, model: Any) -> ClassSamples:
        # A model that only holds the settings of trees to come has seen no classes yet.
        classes = np.sort(model.classes_) if hasattr(model, "classes_") else np.unique(y)
        unseen = np.setdiff1d(y, classes)
        if unseen.size:
            raise MismatchedDataError(
                f"y has labels that the model never saw: {unseen[:5].tolist()}; it knows {classes[:10].tolist()}."
            )
        return ClassSamples.of(X, y, classes, weight, plain)

    def of(self, samples: Samples) -> Self:
        assert isinstance(samples, ClassSamples)
        return type(self)(samples.classes)

    def responses(self, y: Array) -> Floats:
        return self._narrow(np.asarray(self.classes[None, :] == np.asarray(y)[:, None], dtype=np.float64))

    def predicted_responses(self, model: Any, X: Any) -> Floats:
        return self._narrow(np.asarray(model.predict_proba(X), dtype=np.float64))

    def _narrow(self, shares: Floats) -> Floats:
        return shares[:, 1:] if len(self.classes) == 2 else shares

    def votes(self, of_responses: Floats) -> Floats:
        if len(self.classes) != 2:
            return of_responses
        against = -of_responses
        against[..., 0, :] += 1.0
        return np.concatenate([against, of_responses], axis=-1)

    def predictions(self, tallies: Floats) -> Array:
        return np.asarray(self.classes[tallies.argmax(axis=-1)])

    def score(self, truth: Array, predicted: Array, weight: Floats | None = None) -> float:
        return float(np.average(predicted == truth, weights=weight))


def _check_one_kind(y: Array) -> None:
    """Raises where labels are of kinds that cannot be put in one order, such as words and numbers."""
    if y.dtype != object:
        return
    kinds = {type(label): label for label in y.tolist()}
    try:
        sorted(kinds.values())
        mixed = len(kinds) > 1 and bool in kinds
    except TypeError:
        mixed = True
    if mixed:
        found = " and ".join(f"{label!r} ({kind.__name__})" for kind, label in kinds.items())
        raise ValueError(f"Unknown label type: y holds {found}; give labels of one kind, such as y.astype(str).")
