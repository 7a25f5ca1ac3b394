"""The paper's nested cross-validation: 10 outer and 4 inner stratified folds, shuffled by the seed."""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np
from sklearn.model_selection import StratifiedKFold

from rulecover.exceptions import StudyError
from rulecover.study.datasets import Data
from rulecover.typing import Array

OUTER, INNER = 10, 4

#: The authors' seed.
SEED = 25


def splits(y: Array, n: int, seed: int) -> list[tuple[Array, Array]]:
    """The rows of the training and the test part of each fold."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # small classes are named once, by `check_folds`
        return list(StratifiedKFold(n, shuffle=True, random_state=seed).split(np.zeros(len(y)), y))


def check_folds(data: Data) -> list[str]:
    """A sentence for each class with fewer rows than folds; an error if no class has enough."""
    counts = np.bincount(data.y, minlength=len(data.classes))
    if (counts < OUTER).all():
        raise StudyError(
            f"no class of {data.name!r} has {OUTER} rows, one per fold (the largest has {counts.max()}); "
            "the study needs more data."
        )
    if (counts > 1).sum() < 2:
        raise StudyError(
            f"{data.name!r} has only one class with more than one row, so some folds have only one to learn from; "
            "the study needs at least two rows of two classes."
        )
    return [
        f"class {label!r} of {data.name!r} has {count} rows, fewer than the {OUTER} folds: some folds test without it."
        for label, count in zip(data.classes, counts.tolist(), strict=True)
        if count < OUTER
    ]


@dataclass(frozen=True, eq=False)
class Fold:
    """What a method is given: a training part to learn and tune on, a test part, and the seed of all that is random.

    Labels are class numbers: 0, 1, … in the training part, then those that occur only in the test part.

    Parameters
    ----------
    X_train, y_train
        The part to learn and tune on.
    X_test, y_test
        The part to be scored on.
    seed
        Of all that is random.
    """

    X_train: Array
    y_train: Array
    X_test: Array
    y_test: Array
    seed: int = SEED

    @classmethod
    def of(cls, data: Data, number: int, seed: int = SEED) -> Fold:
        """Fold `number` of the outer cross-validation.

        Parameters
        ----------
        data
            A data set, as `load` returns it.
        number
            From 0.
        seed
            It shuffles the rows.

        Returns
        -------
        Fold
            Its training and its test part.
        """
        train, test = splits(data.y, OUTER, seed)[number]
        learnt = np.unique(data.y[train])
        order = np.concatenate([learnt, np.setdiff1d(np.arange(len(data.classes)), learnt)])
        y = np.argsort(order)[data.y]  # some libraries need class numbers without gaps
        return cls(data.X[train], y[train], data.X[test], y[test], seed)

    def inner(self) -> list[Fold]:
        """The folds to tune on, inside the training part.

        Returns
        -------
        list of Fold
            With the same seed.
        """
        X, y = self.X_train, self.y_train
        return [Fold(X[learn], y[learn], X[check], y[check], self.seed) for learn, check in splits(y, INNER, self.seed)]
