"""What is predicted, classes or numbers: how it becomes a target of least squares, and how answers are scored."""

from __future__ import annotations

from typing import Any, Protocol

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
