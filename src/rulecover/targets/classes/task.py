"""Classes as targets of least squares, and how predictions are scored."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from rulecover.typing import Array, Floats


@dataclass(frozen=True, eq=False)
class ClassTask:
    """Classes, scored by accuracy. Two classes make one target, the votes for the first being those against the second.

    >>> task = ClassTask(np.array(["no", "yes"]))
    >>> task.targets(np.array(["yes", "no"])).tolist()
    [[1.0], [0.0]]
    >>> task.votes(np.array([[0.25], [0.5]])).tolist()
    [[0.75, 0.25], [-0.5, 0.5]]
    """

    classes: Array

    @property
    def answers(self) -> tuple[Any, ...]:
        return tuple(self.classes.tolist())

    def targets(self, y: Array) -> Floats:
        return self._narrow(np.asarray(self.classes[None, :] == np.asarray(y)[:, None], dtype=np.float64))

    def model_outputs(self, model: Any, X: Any) -> Floats:
        return self._narrow(np.asarray(model.predict_proba(X), dtype=np.float64))

    def _narrow(self, shares: Floats) -> Floats:
        return shares[:, 1:] if len(self.classes) == 2 else shares

    def votes(self, of_targets: Floats) -> Floats:
        if len(self.classes) != 2:
            return of_targets
        against = -of_targets
        against[..., 0, :] += 1.0
        return np.concatenate([against, of_targets], axis=-1)

    def predictions(self, tallies: Floats) -> Array:
        return np.asarray(self.classes[tallies.argmax(axis=-1)])

    def merit(self, predicted: Array, truth: Array) -> Floats:
        return np.asarray(predicted == truth, dtype=np.float64)

    def score(self, mean_merit: Any, truth: Array, weight: Floats) -> Any:
        return mean_merit
