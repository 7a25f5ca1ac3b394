"""Rows that are held out of training, fold by fold."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np
from sklearn.model_selection import GroupKFold, KFold, StratifiedGroupKFold, StratifiedKFold, check_cv
from sklearn.utils import _safe_indexing, check_random_state

from rulecover.estimators.checks import for_labels
from rulecover.estimators.prepare import fresh
from rulecover.exceptions import UncoveredSamplesError
from rulecover.typing import Array, Floats, Ints

#: How folds are drawn, by whether the shares of classes and whether groups are kept.
_FOLDS = {
    (False, False): KFold,
    (True, False): StratifiedKFold,
    (False, True): GroupKFold,
    (True, True): StratifiedGroupKFold,
}


class FoldPart(NamedTuple):
    """Some of the rows, with what is to be predicted and their weights, if any."""

    X: Any
    y: Array
    weight: Floats | None


def folds_of(
    cv: Any, X: Any, y: Array, *, classes: bool, random_state: Any, groups: Any = None
) -> list[tuple[Ints, Ints]]:
    """All folds at once; see `folds_one_by_one`."""
    return list(folds_one_by_one(cv, X, y, classes=classes, random_state=random_state, groups=groups).folds)


class Folds(NamedTuple):
    """Folds, made as they are asked for, and how many they are."""

    folds: Iterable[tuple[Ints, Ints]]
    n_folds: int


def folds_one_by_one(cv: Any, X: Any, y: Array, *, classes: bool, random_state: Any, groups: Any = None) -> Folds:
    """Rows to learn from and rows to check on, fold by fold; none where there are too few rows for two folds.

    A number of folds is drawn at random, by the same seed where there is none: the order of the rows may mean anything.
    Rows of the same group are in the same fold.
    """
    if not isinstance(cv, (int, np.integer)):
        splitter = check_cv(cv, y, classifier=classes)
        folds = splitter.split(X, y, groups)
        if not hasattr(splitter, "get_n_splits"):
            folds = list(folds)
            return Folds(folds, len(folds))
        return Folds(folds, splitter.get_n_splits(X, y, groups))
    n_folds = min(int(cv), len(y) if groups is None else len(np.unique(groups)))
    if n_folds < 2:
        return Folds([], 0)
    in_all = not classes or np.unique(y, return_counts=True)[1].max() >= n_folds
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "The least populated class", UserWarning)
        kind = _FOLDS[classes and in_all, groups is not None]
        seed = 0 if random_state is None else check_random_state(random_state).randint(2**31 - 1)
        folds = list(kind(n_folds, shuffle=True, random_state=seed).split(X, y, groups))
    return Folds(folds, len(folds))


def parts_of(
    folds: Iterable[tuple[Ints, Ints]], X: Any, y: Array, weight: Floats | None
) -> Iterator[tuple[FoldPart, FoldPart]]:
    """The rows to learn from and those to check on, fold by fold.

    Rows of weight zero are in neither. A fold with nothing to learn from or to check on is left out, and so is one with
    a single class or number to learn from, if there are more: not every library trains on these.
    """
    several = len(np.unique(y)) > 1
    for fold in folds:
        learn, check = (rows if weight is None else rows[weight[rows] > 0] for rows in fold)
        if learn.size and check.size and not (several and len(np.unique(y[learn])) == 1):
            yield _part(learn, X, y, weight), _part(check, X, y, weight)


@contextmanager
def in_a_fold() -> Iterator[None]:
    """Where a model is fitted to the rows of a fold: an error that counts samples says that these are not all."""
    try:
        yield
    except UncoveredSamplesError as error:
        raise UncoveredSamplesError(f"in a fold, which has some of the rows, {error}") from error


def shares_in_folds(model: Any, X: Any, y: Any, folds: Iterable[tuple[Ints, Ints]], label: Any) -> Floats:
    """The probability of a label for each row, by copies of a model that were not trained on it; NaN where none is.

    `cross_val_predict` would train them on numbers in place of the labels, which settings and warnings name.
    """
    y = np.asarray(y).ravel()
    shares = np.full(len(y), np.nan)
    for learn, check in folds:
        if len(np.unique(y[learn])) < 2:  # there is nothing to learn
            continue
        with in_a_fold():
            copy = for_labels(fresh(model), y[learn]).fit(_safe_indexing(X, learn), y[learn])
        shares[check] = copy.predict_proba(_safe_indexing(X, check))[:, copy.classes_ == label].sum(axis=1)
    return shares


def _part(rows: Ints, X: Any, y: Array, weight: Floats | None) -> FoldPart:
    return FoldPart(_safe_indexing(X, rows), y[rows], None if weight is None else weight[rows])
