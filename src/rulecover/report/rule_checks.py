"""What held-out rows say of each rule, next to what the training rows said."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.stats import t

from rulecover.report.figures import wilson_interval
from rulecover.show.numbers import format_number
from rulecover.show.text import percent
from rulecover.targets.classes.evidence import ClassEvidence
from rulecover.typing import Array, Floats, Ints

if TYPE_CHECKING:
    from rulecover.rules.ruleset import RuleSet


@dataclass(frozen=True, eq=False)
class RuleChecks:
    """Each rule on held-out rows; one entry per rule.

    Parameters
    ----------
    support
        How many held-out rows the rule covers.
    value, low, high
        The precision, the share of these rows that are of the class the rule votes for, and its 95 % interval; for
        regression the mean of these rows. NaN where there are no such rows.
    of_classes
        Whether the values are shares.
    """

    support: Ints
    value: Floats
    low: Floats
    high: Floats
    of_classes: bool

    @classmethod
    def of(cls, rules: RuleSet, votes: Sequence[Sequence[float]], covered: Any, truth: Array) -> RuleChecks:
        """Rules, their votes where they were fitted, which rows (first axis) they cover, and the truth."""
        seen = rules.evidence
        support = np.asarray(covered.sum(axis=0)).ravel().astype(np.intp)
        if isinstance(seen, ClassEvidence):
            says = seen.best if not len(votes) else np.asarray(votes).argmax(axis=1)
            right = _right(covered, np.asarray(seen.classes)[says], truth)
            low, high = wilson_interval(right, support)
            return cls(support, _over(right, support), low, high, of_classes=True)
        mean, half = _means(covered, np.asarray(truth, dtype=np.float64), support)
        return cls(support, mean, mean - half, mean + half, of_classes=False)

    @property
    def name(self) -> str:
        """What the values are."""
        return "precision" if self.of_classes else "mean"

    def text(self, j: int) -> str:
        """The value of a rule and its interval."""
        if not self.support[j]:
            return "–"
        if not self.of_classes:
            ends = f" ({format_number(self.low[j])} to {format_number(self.high[j])})" if self.support[j] > 1 else ""
            return f"{format_number(self.value[j])}{ends}"
        low, high = int(np.floor(100 * self.low[j])), int(np.ceil(100 * self.high[j]))
        return f"{percent(float(self.value[j]))} ({low}–{high})"


def _right(covered: Any, says: Array, truth: Array) -> Ints:
    """How many of the rows that each rule covers are of its class."""
    pairs = covered.tocoo()
    hits = np.asarray(truth)[pairs.row] == says[pairs.col]
    return np.bincount(pairs.col[hits], minlength=covered.shape[1])


def _over(part: Any, whole: Any) -> Floats:
    return np.where(whole > 0, part / np.maximum(whole, 1), np.nan)


def _means(covered: Any, truth: Floats, support: Ints) -> tuple[Floats, Floats]:
    """The mean of the rows of each rule, and half the width of its interval by Student's t."""
    centre = truth.mean()
    sums, squares = covered.T @ (truth - centre), covered.T @ np.square(truth - centre)
    mean = _over(sums, support)
    left = np.maximum(support - 1, 1)
    variance = np.maximum(squares - np.where(support > 0, sums * mean, 0.0), 0.0) / left
    half = t.ppf(0.975, left) * np.sqrt(variance / np.maximum(support, 1))
    return mean + centre, np.where(support > 1, half, np.nan)
