"""How the answers for held-out rows came out, for the report."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from rulecover.show.text import printable
from rulecover.typing import Array, Bools, Floats, Ints

#: As many points are drawn at most.
_POINTS = 400


@dataclass(frozen=True, eq=False)
class HeldOut:
    """What is true of held-out rows and what was answered.

    Parameters
    ----------
    truth, said
        One answer a row.
    missed
        Which rows no rule covers.
    by_model
        What the source model answers, if there is one.
    """

    truth: Array
    said: Array
    missed: Bools
    by_model: Array | None = None

    def beside_model(self) -> list[tuple[str, int]]:
        """How many rows rules and model get right, both of them, one of them or neither; of classes only."""
        if self.by_model is None:
            return []
        ours, theirs = self.said == self.truth, self.by_model == self.truth
        same = self.said == self.by_model
        return [
            ("both right", int((ours & theirs).sum())),
            ("rules right, model wrong", int((ours & ~theirs).sum())),
            ("model right, rules wrong", int((~ours & theirs).sum())),
            ("both wrong, same answer", int((~ours & ~theirs & same).sum())),
            ("both wrong, different answers", int((~ours & ~theirs & ~same).sum())),
        ]


@dataclass(frozen=True)
class ClassLine:
    """A class: its held-out rows, the share of them that is found, and the share of its answers that is right."""

    name: str
    rows: int
    recall: float | None
    precision: float | None
    f1: float | None


@dataclass(frozen=True, eq=False)
class Confusion:
    """How often each class was taken for which.

    Parameters
    ----------
    names
        The classes; those that are in the data alone come last.
    counts
        True class x answered class.
    """

    names: tuple[str, ...]
    counts: Ints

    @classmethod
    def of(cls, classes: Array, held_out: HeldOut) -> Confusion:
        known = classes.tolist()
        unknown = [label for label in dict.fromkeys(held_out.truth.tolist()) if label not in known]
        place = {label: k for k, label in enumerate([*known, *unknown])}
        counts = np.zeros((len(place), len(place)), dtype=np.intp)
        true = [place[label] for label in held_out.truth.tolist()]
        said = [place[label] for label in held_out.said.tolist()]
        np.add.at(counts, (true, said), 1)
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
        right, true, said = np.diag(self.counts), self.counts.sum(axis=1), self.counts.sum(axis=0)
        return [
            ClassLine(name, int(t), _share(r, t), _share(r, s), _share(2 * r, t + s))
            for name, r, t, s in zip(self.names, right, true, said, strict=True)
        ]


def _share(part: Any, whole: Any) -> float | None:
    return float(part / whole) if whole else None


@dataclass(frozen=True, eq=False)
class Errors:
    """How far answered numbers are from the true ones.

    Parameters
    ----------
    mean, root_mean_square, median
        Of the errors: of their sizes, of their squares under a root, and of their sizes again.
    points
        The true and the answered number of some rows, in per cent of the range of both.
    ends
        That range.
    """

    mean: float
    root_mean_square: float
    median: float
    points: tuple[tuple[float, float], ...]
    ends: tuple[float, float]

    @classmethod
    def of(cls, held_out: HeldOut) -> Errors:
        true, said = np.asarray(held_out.truth, dtype=np.float64), np.asarray(held_out.said, dtype=np.float64)
        error = np.abs(said - true)
        low, high = float(min(true.min(), said.min())), float(max(true.max(), said.max()))
        some = np.unique(np.linspace(0, len(true) - 1, min(len(true), _POINTS)).astype(int))
        places = _percent(np.column_stack([true[some], said[some]]), low, high)
        return cls(
            mean=float(error.mean()),
            root_mean_square=float(np.sqrt(np.mean(error**2))),
            median=float(np.median(error)),
            points=tuple((x, y) for x, y in places.tolist()),
            ends=(low, high),
        )


def _percent(values: Floats, low: float, high: float) -> Floats:
    return np.asarray(100 * (values - low) / ((high - low) or 1.0))
