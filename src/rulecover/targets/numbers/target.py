"""Numbers as what is predicted, scored by R²."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import is_regressor

from rulecover.exceptions import UnreadableModelError
from rulecover.targets.impurity import Impurity
from rulecover.targets.numbers.impurity import NUMERIC_CRITERIA, SquaredError
from rulecover.targets.numbers.samples import NumberSamples, origin_of
from rulecover.targets.origin import Origin
from rulecover.targets.samples import Samples
from rulecover.targets.target import Target, name_of
from rulecover.typing import Array, Floats


@dataclass(frozen=True, eq=False)
class NumberTarget(Target):
    """Numbers, each of which is one response and one output.

    Parameters
    ----------
    scale
        The squared error that costs as much as a rule; by default the variance.

    >>> NumberTarget().score(np.array([0.0, 2.0]), np.array([1.0, 2.0]))
    0.5
    """

    name = "numbers"
    criteria = NUMERIC_CRITERIA
    impurity: ClassVar[Impurity] = SquaredError()

    scale: float | None = None

    def check_given(self, y: Any) -> None:
        shape: tuple[int, ...] = np.shape(y) if isinstance(y, (list, tuple)) else getattr(y, "shape", ())
        if len(shape) == 2 and shape[1] > 1:
            raise ValueError(
                f"y has {shape[1]} columns, but a rule predicts one number; train one model for each column."
            )
        super().check_given(y)

    def check(self, y: Array, estimator: str) -> Array:
        if np.asarray(y).dtype.kind in "mM":
            raise ValueError("y holds dates or durations; give numbers, such as days since the first one.")
        try:
            numbers = np.asarray(y, dtype=np.float64)
        except (TypeError, ValueError) as error:
            raise ValueError(
                f"y holds {_not_a_number(y)!r}, but {estimator} predicts numbers; give numbers, or use "
                f"{_classifier(estimator)} for classes."
            ) from error
        wrong = np.flatnonzero(~np.isfinite(numbers))
        if wrong.size:
            raise ValueError(
                f"Input y contains NaN or infinity: sample {wrong[0]} has {numbers[wrong[0]]}; leave such rows out."
            )
        return numbers

    def check_source(self, source: Any, estimator: str) -> None:
        if not is_regressor(source):
            raise UnreadableModelError(
                f"{name_of(source)} is not a regressor, but {estimator} works on regressors; "
                f"give a regressor, or use {_classifier(estimator)}."
            )

    def origin(self, y: Array, weight: Floats | None) -> Origin | None:
        return origin_of(y, weight)

    def samples(self, X: Any, y: Array, weight: Floats | None, plain: Floats | None, model: Any) -> NumberSamples:
        return NumberSamples.of(X, y, weight, scale=self.scale)

    def of(self, samples: Samples) -> Self:
        return self

    def responses(self, y: Array) -> Floats:
        return np.asarray(y, dtype=np.float64)[:, None]

    def predicted_responses(self, model: Any, X: Any) -> Floats:
        return self.responses(model.predict(X))

    def votes(self, of_responses: Floats) -> Floats:
        return of_responses

    def predictions(self, tallies: Floats) -> Array:
        return tallies[..., 0]

    def score(self, truth: Array, predicted: Array, weight: Floats | None = None) -> float:
        """R² as scikit-learn has it: where all numbers are equal, 1 for a perfect prediction and 0 for any other."""
        error = float(np.average(np.square(truth - predicted), weights=weight))
        spread = float(np.average(np.square(truth - np.average(truth, weights=weight)), weights=weight))
        return 1.0 - error / spread if spread > 0 else float(error == 0)


def _classifier(regressor: str) -> str:
    return regressor.replace("Regressor", "Classifier")


def _not_a_number(y: Array) -> Any:
    """The first value that is not a number."""
    for value in np.asarray(y, dtype=object).ravel():
        try:
            float(value)
        except (TypeError, ValueError):
            return value
    return y.dtype
