"""What is predicted, classes or numbers: how it becomes a target of least squares, and how predictions are scored."""

from __future__ import annotations

from typing import Any, Protocol

from rulecover.typing import Array, Floats


class Task(Protocol):
    """Converts between labels, targets (columns of least squares) and votes (columns of outputs)."""

    @property
    def answers(self) -> tuple[Any, ...]:
        """What is voted for."""

    def targets(self, y: Array) -> Floats:
        """Labels as targets, samples x targets."""

    def model_outputs(self, model: Any, X: Any) -> Floats:
        """The predictions of a trained model, as targets."""

    def votes(self, of_targets: Floats) -> Floats:
        """Votes for every output, from votes for the targets (last axis) with the default vote first (axis before)."""

    def predictions(self, tallies: Floats) -> Array:
        """The label that votes (last axis) amount to."""

    def merit(self, predicted: Array, truth: Array) -> Floats:
        """How good each prediction is."""

    def score(self, mean_merit: Any, truth: Array, weight: Floats) -> Any:
        """The score from the (weighted) mean of the merits."""
