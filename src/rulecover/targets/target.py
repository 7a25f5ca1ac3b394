"""What is predicted, classes or numbers: everything that differs between the two, up to their votes."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Self

import numpy as np
import pandas as pd
from sklearn.frozen import FrozenEstimator

from rulecover.targets.impurity import Impurity
from rulecover.targets.origin import Origin
from rulecover.targets.samples import Samples
from rulecover.typing import Array, Floats


@dataclass(frozen=True, eq=False)
class Target(ABC):
    """A kind of y: how it is checked, summed up and scored. How rules vote on it is in `rulecover.voting.voting_on`.

    In least squares, y is one or more columns of *responses*, and predictions are columns of *outputs*: the second of
    two classes is one response, and both classes are outputs.

    Parameters
    ----------
    classes
        The labels, once they are known; none for numbers.
    """

    name: ClassVar[str]
    #: The impurities that have a name, and the one that is shown where none is asked for.
    criteria: ClassVar[Mapping[str, Impurity]]
    impurity: ClassVar[Impurity]

    classes: Array = field(default_factory=lambda: np.zeros(0))

    # As it comes in ---------------------------------------------------------------------------------------------

    def check_given(self, y: Any) -> None:
        """Raises where a row has no label, or no number to be predicted."""
        labels = np.asarray(y)
        if not labels.size or not labels.ndim:  # scikit-learn says what is wrong
            return
        gaps = np.flatnonzero(pd.isna(labels).reshape(len(labels), -1).any(axis=1))
        if gaps.size:
            more = f" (and {gaps.size - 1} more)" if gaps.size > 1 else ""
            raise ValueError(f"Input y contains NaN: row {gaps[0]}{more} has no label or number; leave such rows out.")

    @abstractmethod
    def check(self, y: Array, estimator: str) -> Array:
        """y, if it is what an estimator of this name predicts."""

    @abstractmethod
    def check_source(self, source: Any, estimator: str) -> None:
        """Raises unless the source model of an estimator of this name predicts such a target."""

    @abstractmethod
    def origin(self, y: Array, weight: Floats | None) -> Origin | None:
        """How y is written for a model to be trained on, if not as it is."""

    @abstractmethod
    def samples(self, X: Any, y: Array, weight: Floats | None, plain: Floats | None, model: Any) -> Samples:
        """The samples, with the labels of a trained model; `plain` are weights without those of classes, if any."""

    @abstractmethod
    def of(self, samples: Samples) -> Self:
        """The target of these samples, whose labels are known."""

    # In least squares -------------------------------------------------------------------------------------------

    @abstractmethod
    def responses(self, y: Array) -> Floats:
        """Labels or numbers as responses, rows x responses."""

    @abstractmethod
    def predicted_responses(self, model: Any, X: Any) -> Floats:
        """The predictions of a trained model, as responses."""

    @abstractmethod
    def votes(self, of_responses: Floats) -> Floats:
        """Votes for every output, from votes for the responses (last axis) with the base first (axis before)."""

    # Predictions ------------------------------------------------------------------------------------------------

    @abstractmethod
    def predictions(self, tallies: Floats) -> Array:
        """The label or number that sums of votes (last axis) amount to."""

    @abstractmethod
    def score(self, truth: Array, predicted: Array, weight: Floats | None = None) -> float:
        """How good predictions are: accuracy, or R²."""


def name_of(model: Any) -> str:
    """The name of a model's class; that of the model inside, where it is frozen."""
    return type(model.estimator if isinstance(model, FrozenEstimator) else model).__name__
