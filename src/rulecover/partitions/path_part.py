"""One partition of the rows, for rule paths: what is to be explained, and which of the chosen rules cover which row."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy.special import log_softmax

from rulecover.coverage import exact_unit, multiples_of
from rulecover.data.fingerprint import mixed
from rulecover.partitions.part import Part
from rulecover.partitions.patterns import Bytes, PatternSums, distinct_patterns, merged_sums, sums_at
from rulecover.rulepath.family import added
from rulecover.rulepath.logistic import shares_of, slopes
from rulecover.rulepath.response import calibration_loss, log_shares
from rulecover.rules.ruleset import RuleSet
from rulecover.targets.target import Target
from rulecover.typing import Bools, Floats, Ints
from rulecover.voting.answers import LogOddsClasses


class Evaluated(NamedTuple):
    """The rows of a part by the clauses of a rule that they satisfy.

    Parameters
    ----------
    bits
        The distinct patterns of clauses, packed in bytes.
    sums
        For each the weight of its rows, their residuals times the weights, and the two sums of their marks.
    """

    bits: Bytes
    sums: Floats

    def __add__(self, other: Any) -> Evaluated:
        return Evaluated(*merged_sums([self.bits, other.bits], [self.sums, other.sums]))


class WhatIsLeft(NamedTuple):
    """By what the parts work out what is left to explain, so that its sums are the same in whatever order.

    Parameters
    ----------
    votes
        The votes so far.
    unit
        What is left of a row, times its weight, is rounded to multiples of this.
    """

    votes: Floats
    unit: float


class Entered(NamedTuple):
    """Sums over the rows of a rule that has entered.

    Parameters
    ----------
    common
        Its weight, and that of the rows that it has in common with each rule before.
    sums
        The targets times the weights.
    marks
        The two sums of the marks of its rows, by which equal sets of rows are known.
    overlap
        The weight of its rows at each leaf.
    """

    common: Floats
    sums: Floats
    marks: Floats
    overlap: Floats

    def __add__(self, other: Any) -> Entered:
        return Entered(*(mine + theirs for mine, theirs in zip(self, other, strict=True)))


class SumsAtLeaves(NamedTuple):
    """Sums of columns over rows: at each leaf, leaves x columns, and over all rows."""

    at_leaves: Floats
    totals: Floats

    def __add__(self, other: Any) -> SumsAtLeaves:
        return SumsAtLeaves(self.at_leaves + other.at_leaves, self.totals + other.totals)


@dataclass(frozen=True)
class Softening:
    """How predictions of a model enter what is to be explained: their share, and the exponent that calibrates them."""

    share: float
    exponent: float | None = None


class PathPart(Part):
    """A part whose rows are chosen for by what they leave unexplained.

    Parameters
    ----------
    ensemble, load, store
        As in `Part`.
    start
        The number of rows in parts before this one.
    predicted
        Returns what a model predicts for the rows, as responses, rows x responses; ``None`` where it is not asked.
    """

    #: See `Part`.
    passing = Part.passing | {
        *("calibration_loss", "response_sums", "size_around", "squares_around_centre", "path_patterns")
    }
    _sorts_rows = False  # rules and predictions are evaluated on the rows as they come

    def __init__(self, *part: Any, start: int = 0, predicted: Callable[[], Floats] | None = None, **more: Any) -> None:
        super().__init__(*part, **more)
        self._start, self._predict = start, predicted

    # Leaves -----------------------------------------------------------------------------------------------------

    def weigh_leaves(self, bits: int) -> Floats:
        """The weight and the two sums of marks of the rows at each leaf; marks have this many bits."""
        n_rows = self._ids.shape[1]
        places = (np.arange(n_rows, dtype=np.uint64) + np.uint64(self._start)) * np.uint64(2)
        marks = [mixed(places + np.uint64(odd)) >> np.uint64(64 - bits) for odd in (0, 1)]
        self._marks = np.column_stack(marks).astype(np.float64)
        self._counts = np.ones(n_rows) if self._weight is None else self._weight
        self._masks: list[Bytes] = []
        return self._at_leaves(np.column_stack([self._counts, self._marks]))

    def _at_leaves(self, values: Floats, rows: Ints | None = None) -> Floats:
        """The sums of columns over rows, some of them or all, at each leaf, leaves x columns."""
        out = np.zeros((len(self._leaves), values.shape[1]))
        with self._ids.opened() as ids:
            for t, size in enumerate(self._leaves.sizes):
                mine = ids[t] if rows is None else ids[t][rows]
                for k, column in enumerate(values.T):
                    out[self._of_tree(t), k] = np.bincount(mine, column, minlength=size)
        return out

    # What is to be explained ------------------------------------------------------------------------------------

    def start_response(self, target: Target, asks: bool) -> None:
        """The labels; and what the model predicts, if it is to be asked."""
        samples = self.load()
        self._response = target.responses(samples.labels)
        self._predicted = self._predict() if asks and self._predict is not None else None

    def calibration_loss(self, log_exponent: float) -> float:
        """What `calibrated` minimises, over these rows."""
        assert self._predicted is not None
        return calibration_loss(
            log_exponent, log_shares(shares_of(self._predicted)), shares_of(self._response), self._counts
        )

    def soften(self, by: Softening) -> Floats:
        """The labels become what is to be explained; returns its weighted sums, and the sums of their sizes."""
        if by.share:
            assert self._predicted is not None
            predicted = self._predicted
            if by.exponent is not None:
                logs = log_shares(shares_of(predicted))
                predicted = np.exp(log_softmax(np.exp(by.exponent) * logs, axis=1))[:, -self._response.shape[1] :]
            self._response = (1.0 - by.share) * self._response + by.share * predicted
        self._predicted, self._target = None, self._response
        weighted = self._response * self._counts[:, None]
        return np.stack([np.abs(weighted).sum(axis=0), np.square(self._response).T @ self._counts])

    def response_sums(self, unit: float) -> Floats:
        """The weighted sums of what is to be explained, in multiples of a unit."""
        return np.asarray(multiples_of(self._response * self._counts[:, None], unit).sum(axis=0))

    def size_around(self, centre: Floats) -> float:
        """The sum of the sizes of what is to be explained, less a centre."""
        return float(np.abs(self._response - centre).sum())

    def centre_response(self, centre: Floats, unit: float) -> SumsAtLeaves:
        """Takes the centre off; returns the sums of what is left, rows x responses."""
        self._target = multiples_of(self._response - centre, unit)
        weighted = self._target * self._counts[:, None]
        return SumsAtLeaves(self._at_leaves(weighted), weighted.sum(axis=0))

    def squares_around_centre(self) -> float:
        """The weighted sum of squares of what is to be explained, less the centre."""
        return float((np.square(self._target) * self._counts[:, None]).sum())

    # The choice -------------------------------------------------------------------------------------------------

    def measure_slopes(self, votes: Floats) -> Floats:
        """Residuals and curvatures of the logistic loss, given log-odds; returns the sums of the sizes of both."""
        place, passed = self._patterns()
        answer = LogOddsClasses(np.arange(votes.shape[1]))
        shares = answer.probabilities(added(np.ascontiguousarray(passed.T), votes))[place]
        self._residual_and_curvature = slopes(shares_of(self._response), shares)
        return np.array([np.abs(each).sum() for each in self._residual_and_curvature])

    def round_slopes(self, units: tuple[float, float]) -> SumsAtLeaves:
        """Rounds residuals and curvatures to multiples of units; returns their sums."""
        pairs = zip(self._residual_and_curvature, units, strict=True)
        self._slopes = np.hstack([multiples_of(each, unit) for each, unit in pairs]) * self._counts[:, None]
        del self._residual_and_curvature
        return SumsAtLeaves(self._at_leaves(self._slopes), self._slopes.sum(axis=0))

    def try_rules(self, rules: RuleSet, by: WhatIsLeft | None) -> list[Evaluated]:
        """Each rule by its clauses: what rows that satisfy the same ones leave unexplained.

        That are the residuals of the votes so far, times weights, or without votes the slopes of the logistic loss.
        """
        samples = self.load()
        left = self._slopes if by is None else self._left(by)
        columns = np.column_stack([self._counts, left, self._marks])
        self._tried = [self._passed(rules[j : j + 1], samples) for j in range(len(rules))]
        found = []
        for bits in self._tried:
            place, first = distinct_patterns(bits)
            found.append(Evaluated(bits[first], sums_at(place, columns, len(first))))
        return found

    def _passed(self, rule: RuleSet, samples: Any) -> Bytes:
        """The clauses of a rule that each row satisfies, packed in bytes."""
        chunks = [np.packbits(passed, axis=0).T for _, passed in self._clause_chunks(rule, samples)]
        width = -(-int(rule.lengths[0]) // 8)
        return np.concatenate([np.zeros((0, width), dtype=np.uint8), *chunks])

    def _left(self, by: WhatIsLeft) -> Floats:
        """The residuals, times the weights."""
        left = self._target - by.votes[0]
        for mask, vote in zip(self._masks, by.votes[1:], strict=True):
            left -= self._mask(mask)[:, None] * vote
        return multiples_of(left * self._counts[:, None], by.unit)

    def _mask(self, packed: Bytes) -> Bools:
        return np.unpackbits(packed, count=len(self._counts)).astype(bool)

    def enter_tried(self, place: int, kept: Bools) -> Entered:
        """One of the rules that were tried enters, with the clauses that it keeps."""
        wanted = np.packbits(kept)
        return self._enter(((self._tried[place] & wanted) == wanted).all(axis=1))

    def enter_rule(self, rule: RuleSet) -> Entered:
        """A rule enters that was not tried."""
        samples = self.load()
        if not len(samples.y):
            return self._enter(np.zeros(0, dtype=bool))
        return self._enter(rule.apply(samples.X).toarray()[:, 0])

    def _enter(self, mask: Bools) -> Entered:
        rows = np.flatnonzero(mask)
        counts = self._counts[rows]
        common = [counts.sum(), *(counts @ self._mask(packed)[rows] for packed in self._masks)]
        self._masks.append(np.packbits(mask))
        overlap = self._at_leaves(counts[:, None], rows)[:, 0]
        sums = (self._target[rows] * counts[:, None]).sum(axis=0)
        return Entered(np.array(common), sums, self._marks[rows].sum(axis=0), overlap)

    def path_patterns(self, unit: float) -> PatternSums:
        """The rows by the rules that have entered: the weights of each class, as far as they are to be explained.

        They are rounded to multiples of a unit.
        """
        place, passed = self._patterns()
        shares = multiples_of(shares_of(self._response) * self._counts[:, None], unit)
        counts = np.bincount(place, minlength=len(passed)).astype(np.float64)[:, None]
        bits = np.packbits(passed, axis=1)
        return PatternSums(bits, sums_at(place, shares, len(passed)), counts, len(self._masks))

    def _patterns(self) -> tuple[Ints, Bools]:
        """The pattern of each row, by number, and which of the rules that have entered each pattern has."""
        shape = len(self._masks), len(self._counts)
        masks = np.array([self._mask(packed) for packed in self._masks], dtype=bool).reshape(shape)
        place, first = distinct_patterns(np.ascontiguousarray(np.packbits(masks, axis=0).T))
        return place, masks[:, first].T


def unit_for(total: float) -> float:
    """The unit of numbers whose sizes add up to this."""
    return exact_unit(total)
