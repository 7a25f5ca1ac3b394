"""What is predicted, classes or numbers: how it becomes a target of least squares, and how answers are scored."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from rulecover.typing import Array, Floats


class Task(Protocol):
    """Between labels, targets (columns of least squares) and votes (columns of answers)."""

    @property
    def answers(self) -> tuple[Any, ...]:
        """What is voted for."""

    def targets(self, y: Array) -> Floats:
        """Labels as targets, samples x targets."""

    def model_says(self, model: Any, X: Any) -> Floats:
        """What a trained model says of rows, as targets."""

    def votes(self, of_targets: Floats) -> Floats:
        """Votes for every answer, from votes for the targets (last axis) with the default vote first (axis before)."""

    def said(self, tallies: Floats) -> Array:
        """The label that votes (last axis) amount to."""

    def merit(self, said: Array, truth: Array) -> Floats:
        """How good each answer is."""

    def score(self, mean_merit: Any, truth: Array, weight: Floats) -> Any:
        """The score from the (weighted) mean of the merits."""


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

    def model_says(self, model: Any, X: Any) -> Floats:
        return self._narrow(np.asarray(model.predict_proba(X), dtype=np.float64))

    def _narrow(self, shares: Floats) -> Floats:
        return shares[:, 1:] if len(self.classes) == 2 else shares

    def votes(self, of_targets: Floats) -> Floats:
        if len(self.classes) != 2:
            return of_targets
        against = -of_targets
        against[..., 0, :] += 1.0
        return np.concatenate([against, of_targets], axis=-1)

    def said(self, tallies: Floats) -> Array:
        return np.asarray(self.classes[tallies.argmax(axis=-1)])

    def merit(self, said: Array, truth: Array) -> Floats:
        return np.asarray(said == truth, dtype=np.float64)

    def score(self, mean_merit: Any, truth: Array, weight: Floats) -> Any:
        return mean_merit


@dataclass(frozen=True, eq=False)
class ValueTask:
    """Numbers, scored by R².

    >>> ValueTask().score(-0.5, np.array([0.0, 2.0]), np.ones(2))
    0.5
    """

    @property
    def answers(self) -> tuple[Any, ...]:
        return ("value",)

    def targets(self, y: Array) -> Floats:
        return np.asarray(y, dtype=np.float64)[:, None]

    def model_says(self, model: Any, X: Any) -> Floats:
        return self.targets(model.predict(X))

    def votes(self, of_targets: Floats) -> Floats:
        return of_targets

    def said(self, tallies: Floats) -> Array:
        return tallies[..., 0]

    def merit(self, said: Array, truth: Array) -> Floats:
        return np.asarray(-np.square(said - truth))

    def score(self, mean_merit: Any, truth: Array, weight: Floats) -> Any:
        spread = float(np.average(np.square(truth - np.average(truth, weights=weight)), weights=weight))
        # Where all values are equal, scikit-learn gives 1 to a perfect answer and 0 to any other.
        return 1.0 + mean_merit / spread if spread > 0 else np.where(np.asarray(mean_merit) == 0, 1.0, 0.0)
