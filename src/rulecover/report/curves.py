"""ROC and precision-recall curves of the held-out rows, as points that a page can draw and walk along."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from rulecover.show.text import printable
from rulecover.typing import Array, Bools, Floats, Ints

#: The most thresholds of a curve, and the most classes that have one.
_POINTS, _CLASSES = 200, 12


@dataclass(frozen=True, eq=False)
class ThresholdCurve:
    """What is found and what is a false alarm if a class is predicted from some probability on.

    Parameters
    ----------
    name
        The class.
    thresholds
        Probabilities, falling: the class is predicted for rows with this probability or more.
    found, alarms
        How many rows of the class, and how many others, have this probability or more.
    n_rows, n_others
        How many rows of the class, and how many others, there are.
    """

    name: str
    thresholds: Floats
    found: Ints
    alarms: Ints
    n_rows: int
    n_others: int

    @classmethod
    def of(cls, name: str, positive: Bools, share: Floats) -> ThresholdCurve:
        order = np.argsort(-share, kind="stable")
        last = np.flatnonzero(np.r_[np.diff(share[order]) < 0, True])
        if len(last) > _POINTS:
            last = last[np.unique(np.linspace(0, len(last) - 1, _POINTS).astype(np.intp))]
        ranked = positive[order].astype(np.intp)
        found, alarms = np.cumsum(ranked)[last], np.cumsum(1 - ranked)[last]
        return cls(name, share[order][last], found, alarms, n_rows=int(positive.sum()), n_others=int((~positive).sum()))

    @property
    def precision(self) -> Floats:
        return np.asarray(self.found / (self.found + self.alarms))

    @property
    def roc(self) -> str:
        """The ROC curve as the path of a drawing of 100 x 100."""
        return _path(np.r_[0.0, self.alarms / max(self.n_others, 1)], np.r_[0.0, self.found / max(self.n_rows, 1)])

    @property
    def precision_recall(self) -> str:
        """Precision (up) by recall, as the path of a drawing of 100 x 100."""
        return _path(self.found / max(self.n_rows, 1), self.precision)

    @property
    def start(self) -> int:
        """The place of the lowest threshold that is at least one half; the highest one where none is."""
        return max(int((self.thresholds >= 0.5).sum()) - 1, 0)

    def data(self) -> dict[str, Any]:
        """As JSON can hold it."""
        return {
            "name": self.name,
            "thresholds": [float(f"{threshold:.4g}") for threshold in self.thresholds],
            "found": self.found.tolist(),
            "alarms": self.alarms.tolist(),
            "rows": self.n_rows,
            "others": self.n_others,
            "roc": self.roc,
            "precision_recall": self.precision_recall,
            "start": self.start,
        }


def threshold_curves(truth: Array, shares: Floats | None, classes: Array, first: int | None) -> list[ThresholdCurve]:
    """A curve for each class of which there are rows, and others; for two classes that of the rarer one alone."""
    places = range(len(classes)) if first is None else [first]
    if shares is None or len(places) > _CLASSES:
        return []
    names = [printable(str(label)) for label in classes.tolist()]
    positive = {k: np.asarray(truth == classes[k]) for k in places}
    there = [k for k in places if positive[k].any() and not positive[k].all()]
    return [ThresholdCurve.of(names[k], positive[k], shares[:, k]) for k in there]


def _path(x: Floats, y: Floats) -> str:
    return "M" + "L".join(f"{100 * a:.1f} {100 - 100 * b:.1f}" for a, b in zip(x, y, strict=True))
