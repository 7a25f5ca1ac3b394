"""Scores of a whole path on rows that were held out."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.model_selection import KFold, StratifiedKFold, check_cv
from sklearn.utils import _safe_indexing, check_random_state

from rulecover.typing import Array, Floats, Ints


@dataclass(frozen=True, eq=False)
class HeldOut:
    """Scores and fidelities of every size, folds x sizes, and the score of the model in each fold."""

    scores: Floats
    fidelity: Floats
    model: Floats

    @classmethod
    def of(cls, folds: Iterable[tuple[Floats, Floats, float]], n_sizes: int) -> HeldOut:
        """A path that ended sooner in some fold is as good at every larger size as at its end."""
        scores, fidelity, model = zip(*folds, strict=True)
        return cls(_to_size(scores, n_sizes), _to_size(fidelity, n_sizes), np.array(model))


def _to_size(folds: Iterable[Floats], n_sizes: int) -> Floats:
    return np.array([fold[np.minimum(np.arange(n_sizes), len(fold) - 1)] for fold in folds])


def folds_of(cv: Any, X: Any, y: Array, *, classes: bool, random_state: Any) -> list[tuple[Ints, Ints]]:
    """Rows to learn from and rows to check on, fold by fold; none where there are too few rows for two folds.

    A number of folds is drawn at random, by the same seed where there is none: the order of the rows may mean anything.
    """
    if not isinstance(cv, (int, np.integer)):
        return list(check_cv(cv, y, classifier=classes).split(X, y))
    n_folds = min(int(cv), len(y))
    if n_folds < 2:
        return []
    in_all = not classes or np.unique(y, return_counts=True)[1].max() >= n_folds
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "The least populated class", UserWarning)
        folds = StratifiedKFold if classes and in_all else KFold
        seed = 0 if random_state is None else check_random_state(random_state).randint(2**31 - 1)
        return list(folds(n_folds, shuffle=True, random_state=seed).split(X, y))


def held_out(
    trained: Callable[[Any, Array, Floats | None], Any],
    folds: Iterable[tuple[Ints, Ints]],
    X: Any,
    y: Array,
    weight: Floats | None,
    *,
    n_sizes: int,
) -> HeldOut | None:
    """The scores of models that `trained` makes of each fold's rows; ``None`` without a fold.

    Rows of weight zero are neither learned from nor checked on.
    """
    figures = []
    for train, test in folds:
        learn, check = (rows if weight is None else rows[weight[rows] > 0] for rows in (train, test))
        if learn.size and check.size:
            ours, theirs = (None if weight is None else weight[rows] for rows in (learn, check))
            model = trained(_safe_indexing(X, learn), y[learn], ours)
            figures.append(model.scored(_safe_indexing(X, check), y[check], theirs))
    return HeldOut.of(figures, n_sizes) if figures else None
