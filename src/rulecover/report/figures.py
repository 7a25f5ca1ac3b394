"""Figures of predictions for held-out rows, each with its 95 % interval.

Shares of rows (accuracy, recall, precision) have Wilson's interval, and their mean over classes (balanced accuracy) the
one that follows from those (MOVER, Zou and Donner 2008). All others have the percentile interval of a bootstrap with a
fixed seed, in which the rows of each class are drawn on their own, so that none is lost. A few rows that are drawn
again and again say too little: where a class has fewer than 15, or every draw gives the same figure, as for a perfect
one, the interval is at least as wide as Wilson's for a share of as many rows (of several classes: the interval that
follows from those, as for balanced accuracy).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from rulecover.typing import Array, Bools, Floats, Ints

#: The normal quantile of a two-sided interval of 95 %.
_Z = 1.959963984540054

#: How many bootstraps there are, up to a number of rows; and how many numbers of them are looked at at a time.
_DRAWS = ((4_000, 500), (20_000, 200))
_FEWEST_DRAWS, _AT_A_TIME = 100, 4_000_000

#: Fewer rows of a class than this, drawn again and again, do not show how uncertain a figure is.
_FEW_ROWS = 15


@dataclass(frozen=True)
class Figure:
    """A figure and its 95 % interval; NaN where it is not defined, such as the precision of what is never predicted.

    >>> print(wilson("recall", 8, 10))
    0.800 (0.490 to 0.943)
    """

    name: str
    value: float
    low: float
    high: float

    @property
    def is_defined(self) -> bool:
        return not np.isnan(self.value)

    def __str__(self) -> str:
        return f"{self.value:.3f} ({self.low:.3f} to {self.high:.3f})" if self.is_defined else "–"


# Shares of rows -------------------------------------------------------------------------------------------------------


def wilson_interval(part: Any, whole: Any) -> tuple[Any, Any]:
    """The ends of Wilson's interval for a share; 0 and 1 of nothing."""
    whole = np.maximum(np.asarray(whole, dtype=np.float64), 0.0)
    safe = np.where(whole > 0, whole, 1.0)
    share = np.asarray(part, dtype=np.float64) / safe
    spread = 1.0 + _Z**2 / safe
    middle = (share + _Z**2 / (2 * safe)) / spread
    half = _Z * np.sqrt(share * (1 - share) / safe + _Z**2 / (4 * safe**2)) / spread
    low, high = np.where(whole > 0, middle - half, 0.0), np.where(whole > 0, middle + half, 1.0)
    return np.clip(np.minimum(low, share), 0.0, 1.0), np.clip(np.maximum(high, share), 0.0, 1.0)


def wilson(name: str, part: float, whole: float) -> Figure:
    """A share of rows."""
    low, high = wilson_interval(part, whole)
    return Figure(name, float(part / whole) if whole else float("nan"), float(low), float(high))


def balanced_accuracy(right: Ints, rows: Ints) -> Figure:
    """The mean recall of the classes that there are."""
    there = rows > 0
    right, rows = right[there], rows[there]
    recall = right / rows
    return Figure("balanced accuracy", float(recall.mean()), *_mean_interval(recall, rows))


def _mean_interval(shares: Floats, rows: Ints) -> tuple[float, float]:
    """The interval of the mean of shares, each of so many rows, that follows from Wilson's intervals for them."""
    low, high = wilson_interval(shares * rows, rows)
    mean, n = float(shares.mean()), len(shares)
    below = float(np.sqrt(np.square(shares - low).sum())) / n
    above = float(np.sqrt(np.square(high - shares).sum())) / n
    return max(mean - below, 0.0), min(mean + above, 1.0)


# Bootstraps -----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Bootstrap:
    """How often each row is drawn in each bootstrap.

    Parameters
    ----------
    groups
        The class of each row, by number; rows are drawn from each class on their own.
    """

    groups: Ints

    @classmethod
    def of_numbers(cls, n: int) -> Bootstrap:
        return cls(np.zeros(n, dtype=np.intp))

    @property
    def n_draws(self) -> int:
        return next((draws for rows, draws in _DRAWS if len(self.groups) <= rows), _FEWEST_DRAWS)

    def weights(self) -> Iterator[Floats]:
        """How often each row is drawn, bootstraps x rows, a part of the bootstraps at a time."""
        at_once = max(1, _AT_A_TIME // max(len(self.groups), 1))
        seeds = np.random.default_rng(0)
        for first in range(0, self.n_draws, at_once):
            yield self._drawn(seeds, min(at_once, self.n_draws - first))

    def _drawn(self, seeds: np.random.Generator, n_draws: int) -> Floats:
        drawn = np.zeros((n_draws, len(self.groups)))
        for group in np.unique(self.groups):
            mine = np.flatnonzero(self.groups == group)
            places = seeds.integers(0, len(mine), (n_draws, len(mine))) + len(mine) * np.arange(n_draws)[:, None]
            drawn[:, mine] = np.bincount(places.ravel(), minlength=n_draws * len(mine)).reshape(n_draws, len(mine))
        return drawn

    def figure(self, name: str, measures: Sequence[Callable[[Floats], Floats]], *, rows: Sequence[int] = ()) -> Figure:
        """The mean of some measures, with its interval.

        Parameters
        ----------
        name
            What it is called.
        measures
            Each from weights of the rows, bootstraps x rows, to the figure of each.
        rows
            For shares: how many rows each measure is about, for the interval where these are few.
        """
        once = np.ones((1, len(self.groups)))
        values = np.array([measure(once)[0] for measure in measures])
        value = float(values.mean())
        if np.isnan(value):
            return Figure(name, value, value, value)
        drawn = [np.mean([measure(weights) for measure in measures], axis=0) for weights in self.weights()]
        low, high = np.nanpercentile(np.concatenate(drawn), [2.5, 97.5])
        if rows and (low == high or min(rows) < _FEW_ROWS):
            wide = _mean_interval(values, np.array(rows))
            low, high = min(low, wide[0]), max(high, wide[1])
        return Figure(name, value, float(min(low, value)), float(max(high, value)))


# Classes --------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class ClassFigures:
    """The figures of any model on the same held-out rows.

    Parameters
    ----------
    truth
        The true class of each row.
    classes
        The classes that models know.
    counts
        How many training rows there are of each.
    """

    truth: Array
    classes: Array
    counts: Floats

    @cached_property
    def _bootstrap(self) -> Bootstrap:
        return Bootstrap(np.unique(self.truth, return_inverse=True)[1].ravel())

    @property
    def positive(self) -> int | None:
        """The rarer of two classes, the second if they are equal; ``None`` for any other number of classes."""
        return None if len(self.classes) != 2 else int(self.counts[0] < self.counts[1]) ^ 1

    @property
    def is_unbalanced(self) -> bool:
        """Whether the most frequent class is so frequent that accuracy says little."""
        share = float(self.counts.max() / max(self.counts.sum(), 1.0)) if len(self.counts) else 1.0
        return share >= (1 + 1 / max(len(self.classes), 1)) / 2

    def of(self, predicted: Array, shares: Floats | None = None) -> tuple[Figure, ...]:
        """The figures of some predictions, with or without probabilities; what matters most comes first."""
        figures = {figure.name: figure for figure in self._of_predictions(predicted)}
        ranked = [] if shares is None else self._of_shares(shares)
        figures |= {figure.name: figure for figure in ranked}
        return tuple(figures[name] for name in self.names if name in figures)

    @property
    def names(self) -> list[str]:
        """The names of the figures, what matters most first."""
        overall = ["balanced accuracy", "accuracy"]
        one = [] if self.positive is None else [f"recall of {self._name}", f"precision of {self._name}"]
        ranking = [self._auc_name, self._precision_name]
        return (
            [overall[0], *one, *reversed(ranking), overall[1]]
            if self.is_unbalanced
            else [overall[1], overall[0], *ranking[:1], *one, *ranking[1:]]
        )

    @property
    def _name(self) -> str:
        return "" if self.positive is None else str(self.classes.tolist()[self.positive])

    @property
    def _auc_name(self) -> str:
        return f"ROC AUC{self._over}"

    @property
    def _precision_name(self) -> str:
        return f"average precision{self._over}" if self.positive is None else f"average precision of {self._name}"

    @cached_property
    def _ranked(self) -> list[int]:
        """The classes that rows can be ranked by: some are of it, and some are not."""
        places = range(len(self.classes)) if self.positive is None else [self.positive]
        return [k for k in places if 0 < int((self.truth == self.classes[k]).sum()) < len(self.truth)]

    @property
    def _over(self) -> str:
        """How many classes a mean is over, where it is not all of them."""
        n, n_ranked = len(self.classes), len(self._ranked)
        return f" over {n_ranked} of {n} classes" if self.positive is None and 0 < n_ranked < n else ""

    def _of_predictions(self, predicted: Array) -> Iterator[Figure]:
        right = predicted == self.truth
        group = self._bootstrap.groups
        yield wilson("accuracy", int(right.sum()), len(right))
        yield balanced_accuracy(np.bincount(group, weights=right).astype(np.intp), np.bincount(group))
        if self.positive is not None:
            label = self.classes[self.positive]
            true, said = self.truth == label, predicted == label
            yield wilson(f"recall of {self._name}", int((true & said).sum()), int(true.sum()))
            yield wilson(f"precision of {self._name}", int((true & said).sum()), int(said.sum()))

    def _of_shares(self, shares: Floats) -> list[Figure]:
        """How well the probabilities rank rows: of one class, or the mean over all classes, each against the rest."""
        ranks = [Ranking.of(self.truth == self.classes[k], shares[:, k]) for k in self._ranked]
        if not ranks:
            return []
        rows = [rank.fewest for rank in ranks]
        return [
            self._bootstrap.figure(self._auc_name, [rank.auc for rank in ranks], rows=rows),
            self._bootstrap.figure(self._precision_name, [rank.average_precision for rank in ranks], rows=rows),
        ]


@dataclass(frozen=True, eq=False)
class Ranking:
    """Rows in the order of a score, for areas under curves.

    Parameters
    ----------
    positive
        Which rows are to come last, in the order of the score.
    order, starts
        The order of the rows, and where rows of another score begin.
    """

    positive: Bools
    order: Ints
    starts: Ints

    @classmethod
    def of(cls, positive: Bools, score: Floats) -> Ranking:
        order = np.argsort(score, kind="stable")
        starts = np.flatnonzero(np.r_[True, np.diff(score[order]) > 0]) if len(order) else np.zeros(0, dtype=np.intp)
        return cls(np.asarray(positive)[order], order, starts)

    @property
    def fewest(self) -> int:
        """The rows of the smaller part."""
        return int(min(self.positive.sum(), (~self.positive).sum()))

    def _parts(self, weights: Floats) -> tuple[Floats, Floats]:
        """The positive and the other rows of each score, bootstraps x scores."""
        sorted_weights = weights[:, self.order]
        return (
            np.add.reduceat(sorted_weights * self.positive, self.starts, axis=1),
            np.add.reduceat(sorted_weights * ~self.positive, self.starts, axis=1),
        )

    def auc(self, weights: Floats) -> Floats:
        """The area under the ROC curve: how often a positive row has the higher score, ties by half."""
        positive, other = self._parts(weights)
        below = np.cumsum(other, axis=1) - other / 2
        return np.asarray((positive * below).sum(axis=1) / (positive.sum(axis=1) * other.sum(axis=1)))

    def average_precision(self, weights: Floats) -> Floats:
        """The mean precision over the positive rows, from the highest score down."""
        positive, other = (part[:, ::-1] for part in self._parts(weights))
        found = np.cumsum(positive, axis=1)
        precision = found / np.maximum(found + np.cumsum(other, axis=1), 1e-300)
        return np.asarray((positive * precision).sum(axis=1) / positive.sum(axis=1))


# Numbers --------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class NumberFigures:
    """The figures of any model on the same held-out rows, for regression.

    Parameters
    ----------
    truth
        The true number of each row.
    """

    truth: Floats

    def of(self, predicted: Array) -> tuple[Figure, ...]:
        """R² and the mean absolute error of some predictions."""
        error = np.asarray(predicted, dtype=np.float64) - self.truth
        draws, truth = Bootstrap.of_numbers(len(error)), self.truth - self.truth.mean()

        def r2(weights: Floats) -> Floats:
            n = weights.sum(axis=1)
            spread = weights @ np.square(truth) - np.square(weights @ truth) / n
            squared = weights @ np.square(error)
            return np.asarray(np.where(spread > 0, 1 - squared / np.where(spread > 0, spread, 1.0), squared == 0))

        return (
            draws.figure("R²", [r2]),
            draws.figure("mean absolute error", [lambda w: np.asarray((w @ np.abs(error)) / w.sum(axis=1))]),
        )
