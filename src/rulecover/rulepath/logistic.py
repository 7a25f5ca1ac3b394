"""Forward choice by the logistic loss: each rule is judged by what one step of Newton's method would gain."""

from __future__ import annotations

from functools import cached_property
from typing import NamedTuple

import numpy as np

from rulecover.coverage import addable
from rulecover.rulepath.forward import RuleSums, Terms, mask_key
from rulecover.typing import Bools, Floats, Ints
from rulecover.voting.answers import LogOddsClasses
from rulecover.voting.logistic import Patterns

#: A gain below this share of a sample's weight is rounding.
_NOTHING = 1e-9


class _Slopes(NamedTuple):
    """What is left to explain of each sample, and how sure its probabilities are, samples x columns."""

    residual: Floats
    curvature: Floats


class LogisticFit:
    """The rules that are in, their log-odds, and what is left to explain; see `ForwardFit`.

    The gain of a rule is that of Newton's step in the logistic loss, as if its votes and the base moved and the votes
    of all other rules stayed: ``(Σ residuals)² / spread`` per class, summed over the classes, where the spread is the
    curvature over the samples of the rule, less what the base makes up for, plus the `shrinkage`.

    Parameters
    ----------
    candidates
        The rules to choose from.
    target
        The share of each class in each sample, samples x classes, or that of the second of two classes alone.
    terms
        The constants of the choice.
    """

    def __init__(self, candidates: RuleSums, target: Floats, terms: Terms) -> None:
        self._candidates, self._terms = candidates, terms
        self._weight = np.ones(len(target)) if candidates.weight is None else candidates.weight
        self._target = shares_of(target)
        self._answer = LogOddsClasses(np.arange(self._target.shape[1]))
        self._seen: set[bytes] = set()
        self.covered: list[Bools] = []
        self.signs: list[int] = []
        self.votes: list[Floats] = []
        self.loss: list[float] = []
        self._fit()

    def __len__(self) -> int:
        return len(self.covered)

    def gains(self, signs: Ints) -> Floats:
        """What each candidate explains of the residual, -1 if nothing."""
        return self._gain(self._candidates.sums(np.hstack(self._slopes)), signs)

    def gains_of(self, covered: Bools, signs: Ints) -> Floats:
        """The same for any rules, as masks over the samples (rules x samples); -1 also for what is in already."""
        sums = covered.astype(np.float64) @ (np.hstack(self._slopes) * self._weight[:, None])
        known = np.array([mask_key(mask) in self._seen for mask in covered])
        return np.where(known, -1.0, self._gain(sums, signs))

    def _gain(self, sums: Floats, signs: Ints) -> Floats:
        """The gains of rules, given the sums of residuals and of curvatures over their samples, side by side."""
        residual, curvature = np.hsplit(sums, 2)
        total = self._weight @ self._slopes.curvature
        shrinkage = self._terms.shrinkage * total / self._weight.sum()
        spread = curvature * (1.0 - curvature / total) + shrinkage
        gain = (np.square(residual) / np.maximum(spread, np.finfo(np.float64).tiny)).sum(axis=1)
        nothing = (gain <= _NOTHING) | ((signs != 0) & (residual[:, -1] * signs <= 0))
        return np.asarray(np.where(nothing, -1.0, gain))

    @cached_property
    def _slopes(self) -> _Slopes:
        sums = np.repeat(self.votes[-1][:1], len(self._target), axis=0)
        for covered, votes in zip(self.covered, self.votes[-1][1:], strict=True):
            sums[covered] += votes
        shares = self._answer.probabilities(sums)
        residual, curvature = self._target - shares, shares * (1.0 - shares)
        if shares.shape[1] == 2:  # what one class gains the other loses
            residual, curvature = residual[:, 1:], curvature[:, 1:]
        return _Slopes(addable(residual), addable(curvature))

    def enter(self, covered: Bools, sign: int) -> None:
        """A rule enters, and all votes are fitted again."""
        self.covered.append(covered)
        self.signs.append(sign)
        self._seen.add(mask_key(covered))
        self._fit()

    def _fit(self) -> None:
        size, strength = len(self), self._terms.ridge
        covered = np.array(self.covered, dtype=bool).reshape(size, len(self._target)).T
        patterns = Patterns.of(covered, self._target, self._weight)
        start = self.votes[-1] if self.votes else None
        self.votes.append(patterns.fitted(size, strength=strength, start=start, signs=np.array(self.signs, np.intp)))
        self.loss.append(patterns.loss(self.votes[-1], strength=strength))
        self.__dict__.pop("_slopes", None)


def shares_of(target: Floats) -> Floats:
    """The share of each class, samples x classes, where the target may be that of the second of two classes alone.

    >>> shares_of(np.array([[0.25], [1.0]])).tolist()
    [[0.75, 0.25], [0.0, 1.0]]
    """
    return target if target.shape[1] > 1 else np.hstack([1.0 - target, target])
