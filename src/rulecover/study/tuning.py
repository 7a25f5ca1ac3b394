"""Tuning by accuracy on the inner folds, where one fit serves every bound on its number of stages."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from rulecover.study.folds import Fold
from rulecover.typing import Array


@dataclass(frozen=True)
class TuningGrid:
    """Depths and bounds to choose from.

    Parameters
    ----------
    make
        From depth, bound and seed to a model to be fitted.
    stages
        From a fitted model and rows to its predictions after each stage. A model of the largest bound must go through
        the very stages that models of smaller bounds end at.
    bounds
        On the number of stages.
    first
        The number of the first stage.
    depths
        Of the trees.
    digits
        Round accuracies to this many digits before the first of the best is taken. Without it, sums of the same
        accuracies in another order differ by a rounding error that may decide, as in scikit-learn's ``GridSearchCV``.
    """

    make: Callable[[int, int, int], Any]
    stages: Callable[[Any, Array], Iterable[Array]]
    bounds: Sequence[int]
    first: int = 1
    depths: Sequence[int] = (5, 10, 20)
    digits: int | None = None

    def best(self, fold: Fold) -> tuple[int, int]:
        """The depth and the bound that are most accurate on the inner folds, the first on ties.

        Parameters
        ----------
        fold
            Its training part is used.

        Returns
        -------
        tuple of int
            The depth, and the bound.
        """
        sums = np.zeros((len(self.depths), len(self.bounds)))
        for inner in fold.inner():
            for d, depth in enumerate(self.depths):
                model = self.make(depth, max(self.bounds), fold.seed).fit(inner.X_train, inner.y_train)
                sums[d] += self._accuracies(model, inner)
        best = int(np.argmax(sums if self.digits is None else np.round(sums, self.digits)))
        return self.depths[best // len(self.bounds)], self.bounds[best % len(self.bounds)]

    def _accuracies(self, model: Any, fold: Fold) -> list[float]:
        stages = [float(np.mean(predicted == fold.y_test)) for predicted in self.stages(model, fold.X_test)]
        return [stages[min(bound - self.first, len(stages) - 1)] for bound in self.bounds]
