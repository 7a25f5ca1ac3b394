"""Least squares: what rules explain of a response, and their votes, fitted again after each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from rulecover.coverage import addable
from rulecover.typing import Bools, Floats, Ints
from rulecover.voting.ridge import GrowingRidge

#: A gain below this share of the targets' spread is rounding.
_NOTHING = 1e-12
#: So is one below the square of this share of the targets' own squares.
_ROUNDED = 1e-14

#: Rules for which there is room at first; it is doubled as they come.
_ROOM = 32


@dataclass(frozen=True)
class Terms:
    """The constants of the choice.

    Parameters
    ----------
    ridge
        The penalty on the squares of the votes.
    shrinkage
        How many samples are added to a candidate's own when its gain is averaged: small rules must be surer.
    tries
        How many of the best candidates are shortened before one is taken; 0 takes nodes as they are.
    """

    ridge: float = 10.0
    shrinkage: float = 50.0
    tries: int = 5


def usual_shrinkage(total: float) -> float:
    """A twentieth of the (weighted) samples, at most 50: among few samples small rules must be allowed to compete.

    >>> usual_shrinkage(200), usual_shrinkage(5000)
    (10.0, 50.0)
    """
    return min(50.0, total / 20.0)


class RuleSums(Protocol):
    """What the choice must know of the rules to choose from: sums over their samples."""

    @property
    def weight(self) -> Floats | None:
        """What each sample counts."""

    @property
    def total(self) -> float:
        """The (weighted) number of samples."""

    @property
    def sizes(self) -> Floats:
        """The (weighted) number of samples of each rule."""

    def __len__(self) -> int: ...

    def sums(self, values: Floats) -> Floats:
        """The (weighted) sum of each column of `values` over the samples of each rule, rules x columns."""

    def overlap(self, covered: Bools) -> Floats:
        """The (weighted) number of these samples that each rule covers."""


class Squares:
    """Votes by least squares and what is left to explain, from sums over samples alone, wherever the samples are.

    Parameters
    ----------
    total, sizes
        The (weighted) number of samples, and of each candidate's.
    own
        The sums of the targets, less the centre, over the samples of each candidate, candidates x targets.
    sums, squares, whole
        The sums of these targets over all samples, the sum of all their squares, and that of the squares of the targets
        as they are given.
    centre
        What was taken off each target.
    terms
        The constants of the choice.
    """

    def __init__(
        self,
        *,
        total: float,
        sizes: Floats,
        own: Floats,
        sums: Floats,
        squares: float,
        whole: float,
        centre: Floats,
        terms: Terms,
    ) -> None:
        self.centre, self._sizes, self._own, self._total, self._terms = centre, sizes, own, total, terms
        self._overlap = np.zeros((_ROOM, len(sizes)))
        self._least = max(_NOTHING * squares, _ROUNDED**2 * whole)
        self._ridge = GrowingRidge(total=total, sums=sums, squares=squares, strength=terms.ridge)
        self.around_centre, self.loss = [self._ridge.votes()], [self._ridge.loss()]

    def __len__(self) -> int:
        return len(self.loss) - 1

    @property
    def votes(self) -> list[Floats]:
        """For each size from 0 the default vote and those of the rules, (1 + rules) x targets."""
        first = np.eye(1 + len(self), 1)
        return [mine + self.centre * first[: len(mine)] for mine in self.around_centre]

    def gains(self, signs: Ints, free: Bools) -> Floats:
        """What each free candidate explains of the residual, -1 if nothing."""
        votes = self.around_centre[-1]
        sums = self._own - self._sizes[:, None] * votes[0] - self._overlap[: len(self)].T @ votes[1:]
        return np.where(free, self.gain(sums, self._sizes, signs), -1.0)

    def gain(self, sums: Floats, sizes: Floats, signs: Ints) -> Floats:
        """‖Σ residuals‖² over a rule's samples, averaged; a vote that is held to a sign explains nothing against it."""
        spread = sizes * (1.0 - sizes / self._total) + self._terms.shrinkage
        gain = np.square(sums).sum(axis=1) / np.maximum(spread, np.finfo(np.float64).tiny)
        nothing = (gain <= self._least) | ((signs != 0) & (sums[:, 0] * signs <= 0))
        return np.asarray(np.where(nothing, -1.0, gain))

    def add(self, common: Floats, *, sums: Floats, overlap: Floats, sign: int) -> None:
        """A rule enters, and all votes are fitted again.

        Parameters
        ----------
        common
            Its (weighted) number of samples, and of those that it has in common with each rule before.
        sums
            The sums of the targets over its samples.
        overlap
            The (weighted) number of its samples that each candidate covers.
        sign
            What its vote is held to.
        """
        self._ridge.add(common, size=float(common[0]), sums=sums, sign=sign)
        if len(self) == len(self._overlap):
            self._overlap = np.concatenate([self._overlap, np.zeros_like(self._overlap)])
        self._overlap[len(self)] = overlap
        self.around_centre.append(self._ridge.votes())
        self.loss.append(self._ridge.loss())


class ForwardFit:
    """The rules that are in, their votes by least squares, and what is left to explain."""

    def __init__(self, candidates: RuleSums, target: Floats, terms: Terms) -> None:
        self._candidates = candidates
        self._weight = np.ones(len(target)) if candidates.weight is None else candidates.weight
        # Around their means the targets keep their digits, however large the means are.
        centre = centre_of(target, self._weight)
        self._target = addable(target - centre)
        self._weighted = self._target * self._weight[:, None]
        self._squares = Squares(
            total=candidates.total,
            sizes=candidates.sizes,
            own=candidates.sums(self._target),
            sums=self._weighted.sum(axis=0),
            squares=float((self._weighted * self._target).sum()),
            whole=float(self._weight @ np.square(target).sum(axis=1)),
            centre=centre,
            terms=terms,
        )
        self._seen: set[bytes] = set()
        self._left: Floats | None = None  # until it is asked for, or a rule enters
        self.covered: list[Bools] = []
        self.signs: list[int] = []

    def __len__(self) -> int:
        return len(self.covered)

    @property
    def votes(self) -> list[Floats]:
        """For each size from 0 the default vote and those of the rules, (1 + rules) x targets."""
        return self._squares.votes

    @property
    def loss(self) -> list[float]:
        return self._squares.loss

    def gains(self, signs: Ints, free: Bools) -> Floats:
        """What each free candidate explains of the residual, -1 if nothing."""
        return self._squares.gains(signs, free)

    def gains_of(self, covered: Bools, signs: Ints) -> Floats:
        """The same for any rules, as masks over the samples (rules x samples); -1 also for what is in already."""
        marks = covered.astype(np.float64)
        gains = self._squares.gain(marks @ self._residual(), marks @ self._weight, signs)
        known = np.array([key.tobytes() in self._seen for key in np.packbits(covered, axis=1)])
        return np.where(known, -1.0, gains)

    def _residual(self) -> Floats:
        """What is left of the targets, times the weights."""
        if self._left is not None:
            return self._left
        votes = self._squares.around_centre[-1]
        left = self._target - votes[0]
        for covered, vote in zip(self.covered, votes[1:], strict=True):
            left -= covered[:, None] * vote
        self._left = np.asarray(left * self._weight[:, None])
        return self._left

    def enter(self, covered: Bools, sign: int) -> None:
        """A rule enters, and all votes are fitted again."""
        counts = np.where(covered, self._weight, 0.0)
        common = np.array([float(counts.sum()), *(counts @ mine for mine in self.covered)])
        sums, overlap = self._weighted[covered].sum(axis=0), self._candidates.overlap(covered)
        self._squares.add(common, sums=sums, overlap=overlap, sign=sign)
        self.covered.append(covered)
        self._seen.add(mask_key(covered))
        self.signs.append(sign)
        self._left = None


def centre_of(target: Floats, weight: Floats) -> Floats:
    """The mean of each column, the same in whatever order rows are added, samples x columns."""
    return np.asarray(addable(target * weight[:, None]).sum(axis=0) / weight.sum())


def mask_key(covered: Bools) -> bytes:
    """The same for masks that cover the same samples."""
    return np.packbits(covered).tobytes()
