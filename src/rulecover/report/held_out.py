"""How good the predictions for held-out rows are, for the report."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from rulecover.report.figures import Figure, wilson
from rulecover.show.text import printable
from rulecover.typing import Array, Bools, Floats, Ints

#: The most points that are drawn.
_POINTS = 400


@dataclass(frozen=True, eq=False)
class HeldOutPredictions:
    """The truth and the predictions for held-out rows.

    Parameters
    ----------
    truth, predicted
        One entry per row.
    missed
        Which rows no rule covers.
    by_model
        The predictions of the source model, if there is one.
    shares
        The probability of each class, if there are any, rows x classes.
    """

    truth: Array
    predicted: Array
    missed: Bools
    by_model: Array | None = None
    shares: Floats | None = None

    def compared_with_model(self) -> list[tuple[str, int]]:
        """How many rows both, one or neither of rules and model get right; for classification only."""
        if self.by_model is None:
            return []
        ours, theirs = self.predicted == self.truth, self.by_model == self.truth
        same = self.predicted == self.by_model
        return [
            ("both right", int((ours & theirs).sum())),
            ("rules right, model wrong", int((ours & ~theirs).sum())),
            ("model right, rules wrong", int((~ours & theirs).sum())),
            ("both wrong, same prediction", int((~ours & ~theirs & same).sum())),
            ("both wrong, different predictions", int((~ours & ~theirs & ~same).sum())),
        ]


@dataclass(frozen=True)
class ClassLine:
    """A class: its held-out rows, recall and precision with their intervals, and F1."""

    name: str
    rows: int
    recall: Figure
    precision: Figure
    f1: float | None


@dataclass(frozen=True, eq=False)
class Confusion:
    """How often each class was predicted for each true class.

    Parameters
    ----------
    names
        The classes; those that occur only in the data come last.
    counts
        True class x predicted class.
    """

    names: tuple[str, ...]
    counts: Ints

    @classmethod
    def of(cls, classes: Array, held_out: HeldOutPredictions) -> Confusion:
        known = classes.tolist()
        unknown = [label for label in dict.fromkeys(held_out.truth.tolist()) if label not in known]
        place = {label: k for k, label in enumerate([*known, *unknown])}
        counts = np.zeros((len(place), len(place)), dtype=np.intp)
        true = [place[label] for label in held_out.truth.tolist()]
        predicted = [place[label] for label in held_out.predicted.tolist()]
        np.add.at(counts, (true, predicted), 1)
        return cls(tuple(printable(str(label)) for label in place), counts)

    @property
    def rows(self) -> list[tuple[str, list[tuple[int, float]]]]:
        """For each true class the counts and their shares among its rows."""
        totals = np.maximum(self.counts.sum(axis=1), 1)
        shares = self.counts / totals[:, None]
        return [
            (name, list(zip(counts.tolist(), mine.tolist(), strict=True)))
            for name, counts, mine in zip(self.names, self.counts, shares, strict=True)
        ]

    @property
    def lines(self) -> list[ClassLine]:
        right, true, predicted = np.diag(self.counts), self.counts.sum(axis=1), self.counts.sum(axis=0)
        return [
            ClassLine(name, int(t), wilson("recall", r, t), wilson("precision", r, s), _share(2 * r, t + s))
            for name, r, t, s in zip(self.names, right, true, predicted, strict=True)
        ]


def _share(part: Any, whole: Any) -> float | None:
    return float(part / whole) if whole else None


@dataclass(frozen=True, eq=False)
class Errors:
    """How far predicted numbers are from the true ones.

    Parameters
    ----------
    mean, root_mean_square, median
        The mean absolute, root mean squared and median absolute error.
    points
        The true and the predicted number of some rows, in per cent of the range of both.
    ends
        That range.
    """

    mean: float
    root_mean_square: float
    median: float
    points: tuple[tuple[float, float], ...]
    ends: tuple[float, float]

    @classmethod
    def of(cls, held_out: HeldOutPredictions) -> Errors:
        true, predicted = np.asarray(held_out.truth, dtype=np.float64), np.asarray(held_out.predicted, dtype=np.float64)
        error = np.abs(predicted - true)
        low, high = float(min(true.min(), predicted.min())), float(max(true.max(), predicted.max()))
        some = np.unique(np.linspace(0, len(true) - 1, min(len(true), _POINTS)).astype(int))
        places = _percent(np.column_stack([true[some], predicted[some]]), low, high)
        return cls(
            mean=float(error.mean()),
            root_mean_square=float(np.sqrt(np.mean(error**2))),
            median=float(np.median(error)),
            points=tuple((x, y) for x, y in places.tolist()),
            ends=(low, high),
        )


def _percent(values: Floats, low: float, high: float) -> Floats:
    return np.asarray(100 * (values - low) / ((high - low) or 1.0))
