"""Numbers as targets of least squares, and how predictions are scored."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from rulecover.typing import Array, Floats


@dataclass(frozen=True, eq=False)
class NumberTask:
    """Numbers, scored by R².

    >>> NumberTask().score(-0.5, np.array([0.0, 2.0]), np.ones(2))
    0.5
    """

    @property
    def answers(self) -> tuple[Any, ...]:
        return ("value",)

    def targets(self, y: Array) -> Floats:
        return np.asarray(y, dtype=np.float64)[:, None]

    def model_outputs(self, model: Any, X: Any) -> Floats:
        return self.targets(model.predict(X))

    def votes(self, of_targets: Floats) -> Floats:
        return of_targets

    def predictions(self, tallies: Floats) -> Array:
        return tallies[..., 0]

    def merit(self, predicted: Array, truth: Array) -> Floats:
        return np.asarray(-np.square(predicted - truth))

    def score(self, mean_merit: Any, truth: Array, weight: Floats) -> Any:
        spread = float(np.average(np.square(truth - np.average(truth, weights=weight)), weights=weight))
        # Where all values are equal, scikit-learn gives 1 to a perfect prediction and 0 to any other.
        return 1.0 + mean_merit / spread if spread > 0 else np.where(np.asarray(mean_merit) == 0, 1.0, 0.0)
