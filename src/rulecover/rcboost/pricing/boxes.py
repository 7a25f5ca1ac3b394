"""Branch and bound over boxes: conjunctions of intervals on binned columns, and the worth of the best of them.

The worth of a box is Σ duals - (its cost - 1), so its reduced cost is 1 - worth: negative if the worth exceeds 1.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from rulecover.coverage import addable
from rulecover.data.columns import Columns
from rulecover.rcboost.pricing.bins import Bins
from rulecover.rules.clauses import Clauses, offsets
from rulecover.rules.ruleset import RuleSet
from rulecover.targets.classes.samples import ClassSamples
from rulecover.targets.impurity import Price
from rulecover.typing import Bools, Floats, Ints

#: Worth that exceeds 1 by less than this is rounding, not a negative reduced cost.
TOLERANCE = 1e-9
#: Intervals are looked at in chunks of about this many; after each, work and time are checked.
_CHUNK = 1 << 18
#: The work of about a second, counted in values that are looked at; and that of a box, and of an interval and a class.
_WORK, _BOX, _INTERVAL = 40_000_000, 20_000, 8


@dataclass(frozen=True, eq=False)
class PricedSamples:
    """The samples: their class, their counts and prices, and random numbers whose sums distinguish sets of samples."""

    y: Ints
    n_classes: int
    count: Floats
    dual: Floats
    mark: Floats

    @classmethod
    def of(cls, data: ClassSamples, dual: Floats) -> PricedSamples:
        # Whole numbers so small that the sum over all samples is exact in float64.
        largest = 2 ** (52 - len(data.y).bit_length())
        mark = np.random.default_rng(0).integers(1, largest, size=len(data.y)).astype(np.float64)
        count = data.count
        # Sums of prices are exact, so that boxes of equal worth tie, however often a row counts.
        each = addable(np.maximum(dual, 0.0) / count, times=count)
        return cls(data.y, len(data.classes), count, each * count, mark)


@dataclass(frozen=True, eq=False)
class RuleSpace:
    """All boxes of at most `max_clauses` clauses and `max_impurity`, and what a rule costs."""

    bins: Bins
    price: Price
    max_clauses: int
    max_impurity: float

    @property
    def _limit(self) -> float:
        return self.max_impurity + TOLERANCE  # a pure rule on weighted samples may be a rounding error away from 0

    def worth(self, counts: Floats, duals: Floats, n_clauses: int) -> Floats:
        """The worth of boxes, from their sums by class; -inf for those that are too impure."""
        impurity = self.price.impurity(counts)
        cost = self.price.impurity_weight * impurity + self.price.length_weight * n_clauses
        return np.where(impurity <= self._limit, duals.sum(axis=1) - cost, -np.inf)

    def ceiling(self, counts: Floats, duals: Floats, densest: Floats, n_clauses: int) -> Floats:
        """What no set of samples within a box can exceed in worth, from the sums of the box by class.

        Say class k is the largest of a set that has others of weight r. Its duals are at most all those of class k,
        and of the others no more than r times `densest`, the largest dual per weight among the other classes. The share
        of class k is at most q = n / (n + r) with n all of class k in the box; so the impurity is at least that of
        shares q and 1 - q, or 1 - q if q is below a half. Duals less impurity is convex in r up to n, and from n on,
        so that its maximum is at r = 0, at n, or where all other duals are in.
        """
        best = np.full(len(counts), -np.inf)
        weight = self.price.impurity_weight if self.price.is_at_least_gini else 0.0
        for k in range(counts.shape[1]):
            mine, rest = duals[:, k], duals.sum(axis=1) - duals[:, k]
            reach = np.minimum(rest / max(densest[k], 1e-300), self._most_others(counts[:, k]))
            for others in (0.0, np.minimum(counts[:, k], reach), reach):
                value = mine + np.minimum(rest, others * densest[k]) - weight * _least_gini(counts[:, k], others)
                best = np.maximum(best, value)
        return best - self.price.length_weight * n_clauses

    def _most_others(self, n: Floats) -> Floats:
        """The most weight of other classes next to n of the largest one, if the impurity is to be low enough."""
        limit = self._limit
        if limit >= 1 or not self.price.is_at_least_gini:
            return np.full(len(n), np.inf)
        share = (1 + np.sqrt(1 - 2 * limit)) / 2 if limit <= 0.5 else 1 - limit
        return np.asarray(n * (1 - share) / share)


def _least_gini(n: Floats, others: Floats | float) -> Floats:
    """Gini's impurity of a set with at most n of its largest class and `others` of the rest; entropy is no lower."""
    share = n / np.maximum(n + others, 1e-300)
    return np.asarray(np.where(share >= 0.5, 2 * share * (1 - share), 1 - share))


@dataclass(frozen=True, eq=False)
class Box:
    """Clauses (column, first bin, last bin) by ascending column, the rows within, and a bound on all that is inside."""

    rows: Ints
    clauses: tuple[tuple[int, int, int], ...]
    ceiling: float


@dataclass(eq=False)
class _Frontier:
    """The boxes within one box that have one clause more, the most promising first, and how far they are explored."""

    parent: Box
    ceiling: Floats
    clause: Ints
    place: int = 0

    @property
    def next_ceiling(self) -> float:
        return float(self.ceiling[self.place]) if self.place < len(self.ceiling) else -np.inf

    def pop(self, bins: Bins) -> Box:
        feature, first, last = self.clause[self.place].tolist()
        codes = bins.codes[feature, self.parent.rows]
        ceiling, self.place = self.next_ceiling, self.place + 1
        return Box(
            self.parent.rows[(codes >= first) & (codes <= last)],
            (*self.parent.clauses, (feature, first, last)),
            ceiling,
        )


@dataclass(frozen=True, eq=False)
class FoundBox:
    """A box, what it is worth, and the sum of its samples' marks."""

    worth: float
    mark: float
    clauses: tuple[tuple[int, int, int], ...]


class BoxSearch:
    """Depth first, clause by clause in the order of the columns; all intervals of all columns are tried at once.

    Parameters
    ----------
    space, sample
        What is searched.
    n_best
        How many boxes are kept: the best ones, exactly. Boxes that cannot be among them are skipped.
    """

    def __init__(self, space: RuleSpace, sample: PricedSamples, n_best: int) -> None:
        self._space, self._sample, self._n_best = space, sample, n_best
        self.found: list[FoundBox] = []
        self._unexplored = -np.inf
        self._work_left, self._deadline = np.inf, np.inf

    @property
    def ceiling(self) -> float:
        """No box is worth more."""
        return max(self._unexplored, 1.0 + TOLERANCE, *(found.worth for found in self.found))

    @property
    def _threshold(self) -> float:
        return self.found[-1].worth if len(self.found) == self._n_best else 1.0 + TOLERANCE

    def run(self, effort: float = np.inf, deadline: float = np.inf) -> None:
        """Looks at every box that may be among the best, until effort (roughly seconds) or time is used up."""
        self._work_left, self._deadline = effort * _WORK, deadline
        box, stack = self._root(), list[_Frontier]()
        while box.ceiling > self._threshold:
            within = self._expand(box)
            if within is None:
                self._unexplored = max([box.ceiling, *(frontier.next_ceiling for frontier in stack)])
                return
            stack.append(within)
            while stack and stack[-1].next_ceiling <= self._threshold:
                stack.pop()
            if not stack:
                return
            box = stack[-1].pop(self._space.bins)

    def _root(self) -> Box:
        """The box of all samples, which is a rule as well: the one without clauses."""
        sample, rows = self._sample, np.arange(len(self._sample.y))
        counts, duals = np.zeros((1, sample.n_classes)), np.zeros((1, sample.n_classes))
        np.add.at(counts[0], sample.y, sample.count)
        np.add.at(duals[0], sample.y, sample.dual)
        worth = self._space.worth(counts, duals, 0)
        if worth[0] > self._threshold:
            self.found.append(FoundBox(float(worth[0]), float(sample.mark.sum()), ()))
        return Box(rows, (), float(self._space.ceiling(counts, duals, self._densest(rows), 0)[0]))

    def _expand(self, box: Box) -> _Frontier | None:
        """The boxes with one clause more, the best ones kept; ``None`` if it ends before all are looked at."""
        first = box.clauses[-1][0] + 1 if box.clauses else 0
        n_clauses, densest = len(box.clauses) + 1, self._densest(box.rows)
        cumulated = self._cumulative_sums(box.rows, first)
        self._work_left -= _BOX + len(cumulated) * len(box.rows)
        chunk = min(_CHUNK, len(cumulated) * self._space.bins.n_bins**2)
        k, all_marks = self._sample.n_classes, float(self._sample.mark[box.rows].sum())
        ceilings, clauses = [np.zeros(0)], [np.zeros((0, 3), dtype=np.intp)]
        for feature, low, high in _intervals(cumulated[..., -1], cumulated[..., k:-1].sum(axis=2), self._threshold):
            sums = cumulated[feature, high + 1] - cumulated[feature, low]
            part = sums[:, -1] < all_marks  # an interval that holds all samples is not a clause
            clause = np.column_stack([feature + first, low, high])[part]
            counts, duals, marks = sums[part, :k], np.maximum(sums[part, k:-1], 0.0), sums[part, -1]
            counts = np.maximum(counts, 0.0)
            self._offer(box, self._space.worth(counts, duals, n_clauses), marks, clause)
            if n_clauses < self._space.max_clauses:
                ceiling = self._space.ceiling(counts, duals, densest, n_clauses + 1)
                open_ = (ceiling > self._threshold) & (clause[:, 0] < len(self._space.bins.cuts) - 1)
                ceilings.append(ceiling[open_])
                clauses.append(clause[open_])
            self._work_left -= chunk // 8 + _INTERVAL * k * len(feature)
            if self._work_left < 0 or time.perf_counter() > self._deadline:
                return None
        ceiling = np.concatenate(ceilings)
        order = np.argsort(-ceiling, kind="stable")
        return _Frontier(box, ceiling[order], np.concatenate(clauses)[order])

    def _offer(self, box: Box, worth: Floats, marks: Floats, clause: Ints) -> None:
        """Keeps the best of what was found and of these boxes, one for each set of samples."""
        better = np.flatnonzero(worth > self._threshold)
        if not better.size:
            return
        _, first = np.unique(marks[better], return_index=True)
        distinct = better[np.sort(first)]  # ties go to the first column and bin
        best = distinct[np.argsort(-worth[distinct], kind="stable")[: self._n_best + len(self.found)]]
        known = {found.mark for found in self.found}
        self.found += [
            FoundBox(float(worth[j]), float(marks[j]), (*box.clauses, tuple(clause[j].tolist())))
            for j in best
            if float(marks[j]) not in known
        ]
        self.found = sorted(self.found, key=lambda found: -found.worth)[: self._n_best]

    def _densest(self, rows: Ints) -> Floats:
        """For each class the largest dual per weight among these rows of the other classes."""
        sample = self._sample
        largest = np.zeros(sample.n_classes)
        np.maximum.at(largest, sample.y[rows], sample.dual[rows] / sample.count[rows])
        others = np.where(np.eye(sample.n_classes, dtype=bool), 0.0, largest)
        return np.asarray(others.max(axis=1))

    def _cumulative_sums(self, rows: Ints, first: int) -> Floats:
        """Columns from `first` on x ends of bins x (counts by class, duals by class, marks), summed up to that end."""
        bins, sample = self._space.bins, self._sample
        codes, k, width = bins.codes[first:, rows], sample.n_classes, bins.n_bins + 1
        cell = codes.astype(np.intp) + width * np.arange(len(codes))[:, None]
        of_class = (cell * k + sample.y[rows]).ravel()
        out = np.zeros((len(codes), width, 2 * k + 1))

        def take(values: Floats, where: Ints, n_values: int) -> Floats:
            sums = np.bincount(where, np.tile(values[rows], len(codes)), minlength=len(codes) * width * n_values)
            return np.asarray(
                sums.reshape(len(codes), width, n_values)[:, :-1], dtype=np.float64
            )  # the last bin holds what is missing

        np.cumsum(take(sample.count, of_class, k), axis=1, out=out[:, 1:, :k])
        np.cumsum(take(sample.dual, of_class, k), axis=1, out=out[:, 1:, k:-1])
        np.cumsum(take(sample.mark, cell.ravel(), 1), axis=1, out=out[:, 1:, -1:])
        return out


def _intervals(marks: Floats, duals: Floats, threshold: float) -> Iterator[tuple[Ints, Ints, Ints]]:
    """Intervals of bins in chunks: column, first and last bin, for all whose duals add up to more than the threshold.

    No box is worth more than its duals. The first and the last bin are filled, or it would be a smaller interval.
    """
    filled = np.diff(marks, axis=1) > 0
    n_columns, n_bins = filled.shape
    columns, lows = max(1, _CHUNK // n_bins**2), min(n_bins, max(1, _CHUNK // n_bins))
    for column in range(0, n_columns, columns):
        some = slice(column, column + columns)
        for low in range(0, n_bins, lows):
            part = slice(low, low + lows)
            enough = duals[some, None, 1:] - duals[some, :-1][:, part, None] > threshold - TOLERANCE
            feature, first, last = np.nonzero(enough & filled[some, part, None] & filled[some, None, :])
            yield feature + column, first + low, last


def as_rules(bins: Bins, found: list[FoundBox]) -> RuleSet:
    """The boxes as rules, without bounds that keep no row out."""
    boxes = [_without_needless_bounds(bins, box.clauses) for box in found]
    clauses = [clause for box in boxes for clause in box]
    feature, first, last = np.array(clauses, dtype=np.intp).reshape(-1, 3).T
    wanted = Clauses(
        offset=offsets([len(box) for box in boxes]),
        feature=feature,
        lower=bins.threshold(feature, first - 1),
        upper=bins.threshold(feature, last),
        missing=np.zeros(len(clauses), dtype=bool),
        category=np.full(len(clauses), -1, dtype=np.intp),
    )
    return RuleSet(wanted, Columns(tuple(f"x{f}" for f in range(len(bins.cuts)))), _paths(wanted))


def _without_needless_bounds(bins: Bins, clauses: tuple[tuple[int, int, int], ...]) -> tuple[tuple[int, int, int], ...]:
    """Bounds and clauses that the others make needless are left out, the last ones first."""
    covered = _rows_within(bins, clauses)
    for place in reversed(range(len(clauses))):
        feature, first, last = clauses[place]
        for wider in ((), ((feature, 0, last),), ((feature, first, bins.n_bins - 1),)):
            tried = (*clauses[:place], *wider, *clauses[place + 1 :])
            if np.array_equal(_rows_within(bins, tried), covered):
                clauses = tried
                break
    return clauses


def _rows_within(bins: Bins, clauses: tuple[tuple[int, int, int], ...]) -> Bools:
    covered = np.ones(bins.codes.shape[1], dtype=bool)
    for feature, first, last in clauses:
        covered &= (bins.codes[feature] >= first) & (bins.codes[feature] <= last)
    return covered


def _paths(clauses: Clauses) -> Clauses:
    """Each bound as a comparison of its own, as a tree would make it."""
    low, high = clauses.lower > -np.inf, (clauses.upper < np.inf) | (clauses.lower == -np.inf)
    each = np.concatenate([np.flatnonzero(low), np.flatnonzero(high)])
    above = np.arange(len(each)) < low.sum()
    order = np.argsort(clauses.owner[each], kind="stable")
    each, above = each[order], above[order]
    split = clauses.at(each, offsets(np.bincount(clauses.owner[each], minlength=len(clauses))))
    return replace(split, lower=np.where(above, split.lower, -np.inf), upper=np.where(above, np.inf, split.upper))
