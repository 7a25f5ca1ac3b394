"""Votes that add up to log-odds: a penalised logistic regression on which rule covers which row."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, partial
from typing import NamedTuple

import numpy as np
import scipy.sparse
from scipy.special import expit

from rulecover.typing import Bools, Floats, Ints
from rulecover.voting.answers import in_log_odds_units
from rulecover.voting.columns import DenseColumns, SparseColumns, columns_of
from rulecover.voting.preconditioner import MANY_COLUMNS, Inverse, PerClass, Preconditioner, centred, shared

#: With more rules than this, rows are not grouped.
_MANY_RULES = MANY_COLUMNS - 1
#: A step that changes no vote by more than this is the last: what is left is about its square, a unit of the votes.
_LAST_STEP = 1e-3
#: After a step that changes a vote by more than this, the curvature is computed again.
_LONG_STEP = 1.0
#: The most steps, and the most products with the curvature in each; a few of either are usual.
_STEPS, _PRODUCTS = 100, 500
#: How exact the first steps are, and the last ones.
_ROUGH, _EXACT = 0.1, 1e-6
#: Below this penalty, per weight of a pattern, what is left to find is finer than float32.
_LEAST_IN_FLOAT32 = 1e-4
#: BLAS adds up no more products than this on one thread.
_FEW_PRODUCTS = 10_000
#: What is later than any rule.
_ALIKE = np.iinfo(np.intp).max
#: The least penalty relative to the weight of all rows: less is lost in rounding.
_LEAST = 1e-9


def logistic_votes(
    covered: Bools | scipy.sparse.csr_array,
    target: Floats,
    weight: Floats | None = None,
    *,
    strength: float,
    start: Floats | None = None,
    signs: Ints | None = None,
) -> Floats:
    """The base and the vote of each rule by which the log-odds of the classes are as near to the targets as they can.

    They minimise ``Σ weight · cross-entropy(target, softmax(base + Σ votes of the covering rules))`` plus
    ``strength / 2`` times the sum of all squared votes, the base being free. For two classes votes are log-odds, those
    for the first class being those against the second, which are counted once: as in scikit-learn's
    `LogisticRegression` with ``C = 1 / strength``, also for more classes, over which the votes add up to zero.

    The targets are smoothed by one row in all that is spread evenly over the classes, so that the base is finite and no
    probability 0, even for a class without any row.

    Parameters
    ----------
    covered
        Which rule covers which row, rows x rules.
    target
        The share of each class in each row, rows x classes; each row adds up to 1.
    weight
        The weight of each row, as if it were repeated; all 1 by default.
    strength
        The weight of the penalty, above 0, in rows.
    start
        Votes to begin with, of all rules or of the first ones; without effect on the result.
    signs
        For two classes: 1 for each rule whose vote must not be negative, -1 for one whose vote must not be positive, 0
        for others.

    Returns
    -------
    Floats
        The base and the votes, (1 + rules) x classes, in whole multiples of `LOG_ODDS_UNIT`; see `LogOddsClasses`.

    Examples
    --------
    >>> covered, target = np.array([[True], [True], [False], [False]]), np.eye(2)[[0, 0, 0, 1]]
    >>> logistic_votes(covered, target, strength=1.0).round(3).tolist()
    [[0.687, -0.687], [0.331, -0.331]]
    """
    patterns = Patterns.of(covered, target, weight)
    return patterns.fitted(covered.shape[1], strength=strength, start=start, signs=signs).votes


class FittedVotes(NamedTuple):
    """The base and the votes, (1 + rules) x classes, and what they minimise."""

    votes: Floats
    loss: float


@dataclass(frozen=True, eq=False)
class Patterns:
    """The rows by the rules that cover them: rows that the same rules cover are one pattern.

    They are sorted rule by rule, so that the patterns of the first rules alone are runs of those of all.

    Parameters
    ----------
    covered
        Which rule is in which pattern, patterns x rules.
    first
        The first rule by which a pattern differs from the one before it, for all but the first pattern.
    sums
        The weight of the rows of each pattern for each class, patterns x classes.
    """

    covered: Bools | scipy.sparse.csr_array
    first: Ints
    sums: Floats

    @classmethod
    def of(cls, covered: Bools | scipy.sparse.csr_array, target: Floats, weight: Floats | None = None) -> Patterns:
        """The patterns of rows, with their smoothed targets."""
        return cls.of_sums(covered, target if weight is None else target * weight[:, None])

    @classmethod
    def of_sums(cls, covered: Bools | scipy.sparse.csr_array, sums: Floats | scipy.sparse.csr_array) -> Patterns:
        """The patterns of rows, or of groups of rows, given their weights for each class."""
        total = float(sums.sum())
        if covered.shape[1] > _MANY_RULES:
            rows = np.zeros(max(0, sums.shape[0] - 1), dtype=np.intp)
            dense = sums if isinstance(sums, np.ndarray) else sums.toarray()
            return cls(scipy.sparse.csr_array(covered), rows, _smoothed(dense, total))
        bits = covered if isinstance(covered, np.ndarray) else covered.toarray()
        order = _by_rules(bits)
        differs = bits[order[1:]] != bits[order[:-1]]
        new = np.flatnonzero(differs.any(axis=1))
        starts = np.concatenate([np.zeros(min(1, len(bits)), dtype=np.intp), 1 + new])
        first = differs[new].argmax(axis=1) if new.size else new
        return cls(bits[order[starts]], first, _smoothed(_sums_of_runs(sums[order], starts), total))

    def fitted(
        self,
        size: int,
        *,
        strength: float,
        start: Floats | None = None,
        signs: Ints | None = None,
        precondition: Preconditioner = shared,
    ) -> FittedVotes:
        """The base and the votes of the first rules, (1 + size) x classes.

        A `PerClass` preconditioner that is given to one fit after another makes each of them faster.
        """
        classes = self.sums.shape[1]
        begin = np.zeros((1 + size, classes))
        if classes < 2 or not self.sums.any():
            return FittedVotes(begin, 0.0)
        problem = self._problem(size, strength)
        if start is not None:
            begin[: len(start)] = start
        held = np.zeros(size, dtype=np.intp) if signs is None else signs
        found = _minimum(problem, problem.narrow(begin), held, precondition)
        return FittedVotes(problem.wide(found.votes), found.loss)

    def fitted_by_size(self, *, strength: float, signs: Ints | None = None) -> list[FittedVotes]:
        """The same for every number of rules, from none to all, each fit begun from the one before."""
        fits: list[FittedVotes] = []
        fitted = partial(self.fitted, strength=strength, precondition=PerClass())
        for size in range(self.covered.shape[1] + 1):
            last, held = fits[-1].votes if fits else None, None if signs is None else signs[:size]
            fits.append(fitted(size, start=last, signs=held))
        return fits

    def _problem(self, size: int, strength: float) -> _Problem:
        if size == self.covered.shape[1]:
            return _Problem.of(self.covered, self.sums, strength)
        runs = np.concatenate([[0], 1 + np.flatnonzero(self.first < size)])
        return _Problem.of(self.covered[runs, :size], _sums_of_runs(self.sums, runs), strength)


class GrowingPatterns:
    """The patterns of rows as one rule after another comes in: each rule splits some of the patterns.

    Parameters
    ----------
    target
        The share of each class in each row, rows x classes.
    weight
        The weight of each row.
    """

    def __init__(self, target: Floats, weight: Floats) -> None:
        sums = target * weight[:, None]
        self._sums = _smoothed(sums, float(sums.sum()))
        self._order = np.arange(len(sums))
        # The rule that separates a row from the one before it in this order.
        self._first = np.full(len(sums), _ALIKE)
        self._first[:1] = -1
        # Which rule is in which pattern.
        self._covered: Bools = np.zeros((len(self._first[:1]), 0), dtype=bool)

    def add(self, covered: Bools) -> None:
        """A rule comes in, which covers these rows."""
        inside, pattern = covered[self._order], np.cumsum(self._first < _ALIKE) - 1
        parted = np.argsort(2 * pattern + inside, kind="stable")
        self._order, inside, pattern = self._order[parted], inside[parted], pattern[parted]
        self._first[1:][inside[1:] & ~inside[:-1] & (self._first[1:] == _ALIKE)] = self._covered.shape[1]
        starts = self._starts
        self._covered = np.hstack([self._covered[pattern[starts]], inside[starts, None]])

    def patterns(self) -> Patterns:
        """The patterns by all rules that are in."""
        starts = self._starts
        return Patterns(self._covered, self._first[starts[1:]], _sums_of_runs(self._sums[self._order], starts))

    @property
    def _starts(self) -> Ints:
        """Where a pattern begins in the order of the rows."""
        return np.flatnonzero(self._first < _ALIKE)


def _by_rules(bits: Bools) -> Ints:
    """The order of the rows by which rules cover them, the first rule first."""
    packed = np.packbits(bits.astype(bool, copy=False), axis=1)
    words = np.zeros((len(bits), -(-packed.shape[1] // 8) * 8), dtype=np.uint8)
    words[:, : packed.shape[1]] = packed
    keys = words.view(">u8").astype(np.uint64)
    return np.lexsort(keys.T[::-1]) if keys.shape[1] else np.arange(len(bits))


def _sums_of_runs(values: Floats | scipy.sparse.csr_array, starts: Ints) -> Floats:
    if isinstance(values, np.ndarray):
        return np.asarray(np.add.reduceat(values, starts)) if len(starts) else values
    ends = np.append(starts, values.shape[0])
    runs = scipy.sparse.csr_array((np.ones(ends[-1]), np.arange(ends[-1]), ends), shape=(len(starts), ends[-1]))
    return np.asarray((runs @ values).toarray())


def _smoothed(sums: Floats, total: float) -> Floats:
    """The weight of some rows for each class, with the one row in all that is spread evenly over the classes."""
    return np.asarray((total * sums + sums.sum(axis=1, keepdims=True) / sums.shape[1]) / (total + 1.0))


@dataclass(frozen=True, eq=False)
class _Point:
    """Votes, what is minimised there, and the probabilities of the patterns."""

    problem: _Problem
    votes: Floats
    loss: float
    shares: Floats

    @cached_property
    def gradient(self) -> Floats:
        """That of what is minimised; not asked for where a step is the last one."""
        return self.problem.gradient(self.votes, self.shares)


@dataclass(frozen=True, eq=False)
class _Problem:
    """What is minimised, in one row of log-odds for two classes and a row per class for more.

    Parameters
    ----------
    columns
        A column of ones and one per rule.
    target
        The weight of each pattern for each class, or for the second of two, classes x patterns.
    weight
        The weight of each pattern.
    penalty
        What multiplies half the square of each vote, 1 + rules.
    """

    columns: SparseColumns | DenseColumns
    target: Floats
    weight: Floats
    penalty: Floats

    @classmethod
    def of(cls, covered: Bools | scipy.sparse.csr_array, sums: Floats, strength: float) -> _Problem:
        k = 1 + covered.shape[1]
        penalty = np.full(k, max(strength, _LEAST * float(sums.sum())))
        penalty[0] = 0.0
        target = np.ascontiguousarray(sums[:, 1:].T if sums.shape[1] == 2 else sums.T)
        weight = sums.sum(axis=1)
        usual = strength >= _LEAST_IN_FLOAT32 * weight.max(initial=0.0)
        return cls(columns_of(covered, sums.shape[1], in_float32=usual), target, weight, penalty)

    @property
    def binary(self) -> bool:
        return len(self.target) == 1

    def narrow(self, votes: Floats) -> Floats:
        """The votes in the rows of this problem, classes x (1 + rules)."""
        return votes[:, 1:].T.copy() if self.binary else centred(votes.T)

    def wide(self, votes: Floats) -> Floats:
        """The votes for each class, rounded."""
        each = np.vstack([-votes, votes]) if self.binary else centred(votes)
        return in_log_odds_units(np.ascontiguousarray(each.T))

    def at(self, votes: Floats) -> _Point:
        scores = self.columns.scores(votes)
        if self.binary:
            spread, shares = np.logaddexp(0.0, scores), expit(scores)
        else:
            spread, shares = _log_sum_and_softmax(scores)
        loss = float((self.weight * spread).sum() - (self.target * scores).sum())
        loss += 0.5 * float((self.penalty * np.square(votes)).sum())
        return _Point(self, votes, loss, shares)

    def gradient(self, votes: Floats, shares: Floats) -> Floats:
        return self.columns.sums(self.weight * shares - self.target) + self.penalty * votes

    def curvature(self, shares: Floats) -> Callable[[Floats], Floats]:
        """From a direction to its product with the second derivatives, roughly: every step is judged exactly."""
        rough = self.columns.rough
        weighted, shares = (each.astype(rough, copy=False) for each in (self.weight * shares, shares))

        def curved(direction: Floats) -> Floats:
            scores = self.columns.scores(direction.astype(rough, copy=False))
            scores -= shares * scores if self.binary else (shares * scores).sum(axis=0)
            scores *= weighted
            return np.asarray(self.columns.sums(scores) + self.penalty * direction)

        return curved

    def curvature_within(self, shares: Floats) -> Floats:
        """The second derivatives of each class by its own log-odds, classes x patterns, as if it had all that moves."""
        within = self.weight * shares * (1.0 - shares)
        return within if self.binary else within * (len(shares) / (len(shares) - 1))


def _log_sum_and_softmax(scores: Floats) -> tuple[Floats, Floats]:
    largest = scores.max(axis=0)
    shares = np.exp(scores - largest)
    sums = shares.sum(axis=0)
    shares /= sums
    return largest + np.log(sums), shares


def _dot(a: Floats, b: Floats) -> float:
    """The sum of all products, on one thread: BLAS takes several for many."""
    return float(np.vdot(a, b) if a.size < _FEW_PRODUCTS else np.einsum("ij,ij", a, b))


def _minimum(problem: _Problem, votes: Floats, signs: Ints, precondition: Preconditioner) -> _Point:
    """Newton's method, each step found by conjugate gradients and held to the signs."""
    point, moved = problem.at(_held(votes, signs)), np.inf
    for _ in range(_STEPS):
        if moved > _LONG_STEP:
            inverse = precondition(problem, point.shares)
        found = _better(problem, point, _step(problem, point, _free(point, signs), inverse), signs)
        if found is None:
            break
        moved, point = float(np.abs(found.votes - point.votes).max()), found
        if moved <= _LAST_STEP:
            break
    return point


def _held(votes: Floats, signs: Ints) -> Floats:
    """The votes, 0 where they are against their signs."""
    held = votes.copy()
    held[:, 1:][signs * votes[:, 1:] < 0] = 0.0
    return held


def _free(point: _Point, signs: Ints) -> Bools:
    """Which votes may move: all but those at 0 that would move against their signs."""
    free = np.ones(point.votes.shape, dtype=bool)
    free[:, 1:] = (signs == 0) | (point.votes[:, 1:] != 0) | (signs * point.gradient[:, 1:] < 0)
    return free


def _better(problem: _Problem, point: _Point, step: Floats, signs: Ints) -> _Point | None:
    """The point after the step, or after a half of it, a quarter, and so on; ``None`` if none is better."""
    rounding = 1e-13 * abs(point.loss)
    for length in 0.5 ** np.arange(30):
        found = problem.at(_held(point.votes + length * step, signs))
        gain = float((point.gradient * (found.votes - point.votes)).sum())
        if found.loss <= point.loss + 1e-4 * gain + rounding:
            return found
    return None


def _step(problem: _Problem, point: _Point, free: Bools, inverse: Inverse) -> Floats:
    """Newton's step by conjugate gradients: the shorter it is, the more exact."""
    curvature, everywhere = problem.curvature(point.shares), bool(free.all())

    def freed(direction: Floats) -> Floats:
        return direction if everywhere else np.where(free, direction, 0.0)

    step, left = np.zeros_like(point.votes), freed(-point.gradient)
    along = freed(inverse(left))
    size = _dot(left, along)
    enough = size * min(_ROUGH**2, max(_EXACT**2, size / float(problem.weight.sum())))
    for _ in range(_PRODUCTS):
        if size <= enough:
            break
        curved = freed(curvature(along))
        bend = _dot(along, curved)
        if bend <= 0.0:  # what is left is rounding
            break
        length = size / bend
        step += length * along
        left -= length * curved
        next_along = freed(inverse(left))
        size, last = _dot(left, next_along), size
        along = next_along + (size / last) * along
    return step
