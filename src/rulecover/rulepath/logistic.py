"""Forward choice by the logistic loss: each rule is judged by what one step of Newton's method would gain."""

from __future__ import annotations

import numpy as np

from rulecover.coverage import addable
from rulecover.rulepath.candidates import Candidates
from rulecover.rulepath.family import added
from rulecover.rulepath.forward import Terms, mask_key
from rulecover.typing import Bools, Floats, Ints
from rulecover.voting.answers import LogOddsClasses
from rulecover.voting.logistic import Patterns

#: A gain below this share of a sample's weight is rounding.
_NOTHING = 1e-9
#: All candidates are judged after each of the first rules, and then whenever this many have entered.
_FIRST, _ALL_AGAIN = 5, 5
#: In between this many are judged at a time.
_JUDGED = 64


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

    def __init__(self, candidates: Candidates, target: Floats, terms: Terms) -> None:
        self._candidates, self._terms = candidates, terms
        self._weight = np.ones(len(target)) if candidates.weight is None else candidates.weight
        self._target = shares_of(target)
        self._answer = LogOddsClasses(np.arange(self._target.shape[1]))
        self._seen: set[bytes] = set()
        self.covered: list[Bools] = []
        self.signs: list[int] = []
        self.votes: list[Floats] = []
        self.loss: list[float] = []
        self._last_gains: Floats | None = None
        self._fit()

    def __len__(self) -> int:
        return len(self.covered)

    def gains(self, signs: Ints, free: Bools) -> Floats:
        """What each free candidate explains of the residual, -1 if nothing.

        After every few rules all candidates are judged. In between a gain seldom rises: those that led are judged
        anew, the highest first, until as many as are tried lead by gains that are not outdated.
        """
        if self._last_gains is None or len(self) < _FIRST or len(self) % _ALL_AGAIN == 0:
            self._last_gains = self._gain(self._candidates.sums(self._slopes), signs)
            return np.where(free, self._last_gains, -1.0)
        gains = np.where(free, self._last_gains, -1.0)
        outdated = gains > 0
        while outdated[_highest(gains, max(1, self._terms.tries))].any():
            again = _highest(np.where(outdated, gains, -1.0), _JUDGED)
            again = again[outdated[again]]
            found = self._gain(self._candidates.sums_of(again, self._slopes), signs[again])
            self._last_gains[again] = gains[again] = found
            outdated[again] = False
        return gains

    def gains_of(self, covered: Bools, signs: Ints) -> Floats:
        """The same for any rules, as masks over the samples (rules x samples); -1 also for what is in already."""
        sums = covered.astype(np.float64) @ self._weighted_slopes
        known = np.array([mask_key(mask) in self._seen for mask in covered])
        return np.where(known, -1.0, self._gain(sums, signs))

    def _gain(self, sums: Floats, signs: Ints) -> Floats:
        """The gains of rules, given the sums of residuals and of curvatures over their samples, side by side."""
        residual, curvature = np.hsplit(sums, 2)
        total = self._total_curvature
        shrinkage = self._terms.shrinkage * total / self._weight.sum()
        spread = curvature * (1.0 - curvature / total) + shrinkage
        gain = (np.square(residual) / np.maximum(spread, np.finfo(np.float64).tiny)).sum(axis=1)
        nothing = (gain <= _NOTHING) | ((signs != 0) & (residual[:, -1] * signs <= 0))
        return np.asarray(np.where(nothing, -1.0, gain))

    def _judge_slopes(self, covered: Bools) -> None:
        """Residuals and curvatures, samples x columns, side by side."""
        shares = self._answer.probabilities(added(covered, self.votes[-1]))
        residual, curvature = self._target - shares, shares * (1.0 - shares)
        if shares.shape[1] == 2:  # what one class gains the other loses
            residual, curvature = residual[:, 1:], curvature[:, 1:]
        self._slopes = np.hstack([addable(residual), addable(curvature)])
        self._weighted_slopes = self._slopes * self._weight[:, None]
        self._total_curvature = self._weighted_slopes[:, residual.shape[1] :].sum(axis=0)

    def enter(self, covered: Bools, sign: int) -> None:
        """A rule enters, and all votes are fitted again."""
        self.covered.append(covered)
        self.signs.append(sign)
        self._seen.add(mask_key(covered))
        self._fit()

    def _fit(self) -> None:
        size, strength = len(self), self._terms.ridge
        covered = np.array(self.covered, dtype=bool).reshape(size, len(self._target))
        patterns = Patterns.of(covered.T, self._target, self._weight)
        start = self.votes[-1] if self.votes else None
        votes, loss = patterns.fitted(size, strength=strength, start=start, signs=np.array(self.signs, np.intp))
        self.votes.append(votes)
        self.loss.append(loss)
        self._judge_slopes(covered)


def _highest(gains: Floats, few: int) -> Ints:
    """The places of the few highest gains."""
    return np.argpartition(-gains, few)[:few] if len(gains) > few else np.arange(len(gains))


def shares_of(target: Floats) -> Floats:
    """The share of each class, samples x classes, where the target may be that of the second of two classes alone.

    >>> shares_of(np.array([[0.25], [1.0]])).tolist()
    [[0.75, 0.25], [0.0, 1.0]]
    """
    return target if target.shape[1] > 1 else np.hstack([1.0 - target, target])
