"""Forward choice by the logistic loss: each rule is judged by what one step of Newton's method would gain."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from rulecover.coverage import addable
from rulecover.rulepath.candidates import Candidates
from rulecover.rulepath.family import added
from rulecover.rulepath.squares import Terms, mask_key
from rulecover.typing import Bools, Floats, Ints
from rulecover.voting.answers import LogOddsClasses
from rulecover.voting.logistic import GrowingPatterns
from rulecover.voting.preconditioner import PerClass

#: A gain below this share of a sample's weight is rounding.
_NOTHING = 1e-9
_TINY = np.finfo(np.float64).tiny
#: All candidates are judged after each of the first rules, and then whenever this many have entered.
_FIRST, _ALL_AGAIN = 5, 5
#: In between this many are judged at a time.
_JUDGED = 64


class NewtonGains:
    """What rules gain by a step of Newton's method in the logistic loss, from sums over their samples alone.

    The step is taken as if the votes of a rule and the base moved and the votes of all other rules stayed: the gain
    is ``(Σ residuals)² / spread`` per class, summed over the classes, where the spread is the curvature over the
    samples of the rule, less what the base makes up for, plus the `shrinkage`.

    Parameters
    ----------
    terms
        The constants of the choice.
    total
        The (weighted) number of samples.
    """

    def __init__(self, terms: Terms, total: float) -> None:
        self._terms, self._total = terms, total
        self._last: Floats | None = None

    def start(self, curvature: Floats) -> None:
        """Votes have changed; the curvature is that of all samples, for each column."""
        self._curvature = curvature
        self._shrinkage = self._terms.shrinkage * curvature / self._total

    def gain(self, sums: Floats, signs: Ints) -> Floats:
        """The gains of rules, given the sums of residuals and of curvatures over their samples, side by side."""
        half = sums.shape[1] // 2
        residual, curvature = sums[:, :half], sums[:, half:]
        spread = curvature / self._curvature
        np.subtract(1.0, spread, out=spread)
        spread *= curvature
        spread += self._shrinkage
        np.maximum(spread, _TINY, out=spread)
        gain = (np.square(residual) / spread).sum(axis=1)
        nothing = (gain <= _NOTHING) | ((signs != 0) & (residual[:, -1] * signs <= 0))
        return np.asarray(np.where(nothing, -1.0, gain))

    def of_candidates(self, sums: Callable[[Ints | None], Floats], signs: Ints, free: Bools, n_rules: int) -> Floats:
        """What each free candidate explains of the residual, -1 if nothing, once a number of rules are in.

        After every few rules all candidates are judged. In between a gain seldom rises: those that led are judged
        again, the highest first, until as many as are tried lead by gains that are not outdated.

        Parameters
        ----------
        sums
            The sums of residuals and curvatures over the samples of some candidates, or of all (``None``).
        signs, free
            What the vote of each candidate is held to, and which can be chosen.
        n_rules
            How many rules are in.
        """
        if self._last is None or n_rules < _FIRST or n_rules % _ALL_AGAIN == 0:
            self._last = self.gain(sums(None), signs)
            return np.where(free, self._last, -1.0)
        gains = np.where(free, self._last, -1.0)
        outdated = gains > 0
        while outdated[_highest(gains, max(1, self._terms.tries))].any():
            again = _highest(np.where(outdated, gains, -1.0), _JUDGED)
            again = again[outdated[again]]
            self._last[again] = gains[again] = self.gain(sums(again), signs[again])
            outdated[again] = False
        return gains


class LogisticFit:
    """The rules that are in, their log-odds, and what is left to explain; see `ForwardFit` and `NewtonGains`.

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
        self._newton = NewtonGains(terms, float(self._weight.sum()))
        self._patterns, self._precondition = GrowingPatterns(self._target, self._weight), PerClass()
        self._fit()

    def __len__(self) -> int:
        return len(self.covered)

    def gains(self, signs: Ints, free: Bools) -> Floats:
        """What each free candidate explains of the residual, -1 if nothing."""
        return self._newton.of_candidates(self._sums, signs, free, len(self))

    def _sums(self, rules: Ints | None) -> Floats:
        return self._candidates.sums(self._slopes) if rules is None else self._candidates.sums_of(rules, self._slopes)

    def gains_of(self, covered: Bools, signs: Ints) -> Floats:
        """The same for any rules, as masks over the samples (rules x samples); -1 also for what is in already."""
        sums = covered.astype(np.float64) @ self._weighted_slopes
        known = np.array([key.tobytes() in self._seen for key in np.packbits(covered, axis=1)])
        return np.where(known, -1.0, self._newton.gain(sums, signs))

    def _judge_slopes(self, covered: Bools) -> None:
        """Residuals and curvatures, samples x columns, side by side."""
        residual, curvature = slopes(self._target, self._answer.probabilities(added(covered, self.votes[-1])))
        self._slopes = np.hstack([addable(residual), addable(curvature)])
        self._weighted_slopes = self._slopes * self._weight[:, None]
        self._newton.start(self._weighted_slopes[:, residual.shape[1] :].sum(axis=0))

    def enter(self, covered: Bools, sign: int) -> None:
        """A rule enters, and all votes are fitted again."""
        self.covered.append(covered)
        self.signs.append(sign)
        self._seen.add(mask_key(covered))
        self._patterns.add(covered)
        self._fit()

    def _fit(self) -> None:
        size, strength = len(self), self._terms.ridge
        start, signs = self.votes[-1] if self.votes else None, np.array(self.signs, dtype=np.intp)
        votes, loss = self._patterns.patterns().fitted(
            size, strength=strength, start=start, signs=signs, precondition=self._precondition
        )
        self.votes.append(votes)
        self.loss.append(loss)
        self._judge_slopes(np.array(self.covered, dtype=bool).reshape(size, len(self._target)))


def slopes(target: Floats, shares: Floats) -> tuple[Floats, Floats]:
    """The residuals and the curvatures of the logistic loss, samples x classes, or for the second of two classes."""
    residual, curvature = target - shares, shares * (1.0 - shares)
    return (residual[:, 1:], curvature[:, 1:]) if shares.shape[1] == 2 else (residual, curvature)


def _highest(gains: Floats, few: int) -> Ints:
    """The places of the few highest gains."""
    near = np.flatnonzero(gains >= 0.5 * gains.max(initial=0.0))
    places = near if len(near) > few else np.arange(len(gains))
    return places[np.argpartition(-gains[places], few)[:few]] if len(places) > few else places


def shares_of(target: Floats) -> Floats:
    """The share of each class, samples x classes, where the target may be that of the second of two classes alone.

    >>> shares_of(np.array([[0.25], [1.0]])).tolist()
    [[0.75, 0.25], [0.0, 1.0]]
    """
    return target if target.shape[1] > 1 else np.hstack([1.0 - target, target])
