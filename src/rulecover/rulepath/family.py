"""The nested family of rule sets of all sizes, each with votes of its own."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any, NamedTuple

import numpy as np

from rulecover.pool import with_evidence
from rulecover.rules.ruleset import RuleSet
from rulecover.targets.impurity import Price
from rulecover.targets.samples import Samples
from rulecover.targets.target import Target
from rulecover.typing import Array, Bools, Floats, Ints
from rulecover.voting.answers import Answer, Classes
from rulecover.voting.threshold import at_threshold
from rulecover.voting.vote import Vote

#: A vote below this share of the largest is next to nothing.
_NEXT_TO_NOTHING = 1e-3
#: Votes are added for this many rows at a time.
_ROWS = 2048


MakeVote = Callable[[RuleSet, Floats, Target], Vote]


class RowPredictions(NamedTuple):
    """What is predicted for each row: a class or a number and, for classes, the share of each, rows x classes."""

    values: Array
    shares: Floats | None = None

    def among(self, rows: Ints) -> RowPredictions:
        """The same for some of the rows."""
        return RowPredictions(self.values[rows], None if self.shares is None else self.shares[rows])


@dataclass(frozen=True, eq=False)
class RuleFamily:
    """Rule sets of every size, each the beginning of the next, with votes of its own.

    Parameters
    ----------
    rules
        The rules of the largest set, in the order in which they entered.
    votes
        For each size from 0 the base and the votes of all rules, sizes x (1 + rules) x outputs.
    loss
        What the votes minimise on the training rows, for each size.
    target
        What is predicted.
    make_vote
        From rules, their votes (the base first) and the target to a `Vote`.
    least
        The smallest size that keeps to all constraints.
    n_candidates
        The number of rules that there were to choose from.
    """

    rules: RuleSet
    votes: Floats
    loss: Floats
    target: Target
    make_vote: MakeVote
    least: int = 0
    n_candidates: int = 0

    def counted_on(self, samples: Samples) -> RuleFamily:
        """The same rules and votes, with evidence from these samples."""
        price = Price(self.target.impurity)
        return replace(self, rules=with_evidence(samples, self.rules, price).shown_for(samples.X))

    @property
    def largest(self) -> int:
        return len(self.rules)

    @property
    def sizes(self) -> Ints:
        return np.arange(self.largest + 1)

    def vote(self, size: int) -> Vote:
        """The rules of one size and their votes, without rules whose votes are next to nothing."""
        counting = self.counting(size)
        votes = self.votes[size]
        return self.make_vote(self.rules.take(counting), np.vstack([votes[:1], votes[1 + counting]]), self.target)

    def counting(self, size: int) -> Ints:
        """The rules of one size whose votes count: that of a rule may vanish once later ones say the same.

        Rules that a constraint asks for stay, whatever their votes, unless they cover no training row.
        """
        votes = np.abs(self.votes[size, 1 : size + 1]).max(axis=1, initial=0.0)
        counts = votes >= _NEXT_TO_NOTHING * votes.max(initial=0.0)
        counts[: self.least] = True
        return np.flatnonzero(counts & self._covering[:size])

    @cached_property
    def _covering(self) -> Bools:
        """Which rules cover a training row."""
        seen = self.rules.evidence
        return np.ones(len(self.rules), dtype=bool) if seen is None else np.asarray(seen.support > 0)

    def without_rows(self, n_rules: int) -> list[str]:
        """Those of the first rules that cover no training row, in words."""
        unused = np.flatnonzero(~self._covering[:n_rules])
        return [rule.text for rule in replace(self.rules, evidence=None).take(unused)]

    def at_threshold(self, place: int, threshold: float) -> RuleFamily:
        """The family whose votes predict the class at this place where its probability was above the threshold."""
        return replace(self, make_vote=partial(_moved, make_vote=self.make_vote, place=place, threshold=threshold))

    @cached_property
    def answer(self) -> Answer:
        """How sums of votes become predictions."""
        return self.vote(0).answer

    def sums(self, X: Any) -> Iterator[Floats]:
        """For each size from 0 the sums of the votes of its rules and the base, rows x outputs."""
        covered = np.concatenate([part for _, part in self.rules.covered_chunks(X)], axis=1)
        for size, votes in enumerate(self.votes):
            yield added(covered[:size], votes[: size + 1])

    def predictions(self, sums: Floats, *, with_shares: bool = True) -> RowPredictions:
        """What the rules of a size predict, given the sums of their votes; the shares of classes only if wanted."""
        shares = self.answer.probabilities(sums) if with_shares and isinstance(self.answer, Classes) else None
        return RowPredictions(self.target.predictions(sums), shares)

    def coverage(self, X: Any, weight: Floats) -> Floats:
        """The (weighted) share of rows that some rule covers, for every size."""
        first = np.zeros(self.largest + 1)
        for start, covered in self.rules.covered_chunks(X):
            by = (
                np.where(covered.any(axis=0), covered.argmax(axis=0), self.largest)
                if self.largest
                else np.zeros(0, int)
            )
            mine = weight[start : start + len(by)]
            first += np.bincount(by, weights=mine, minlength=self.largest + 1)
        return np.asarray(np.concatenate([[0.0], np.cumsum(first[:-1])]) / weight.sum())


def _moved(rules: RuleSet, votes: Floats, target: Target, *, make_vote: MakeVote, place: int, threshold: float) -> Vote:
    return at_threshold(make_vote(rules, votes, target), place, threshold)


def added(covered: Bools, votes: Floats) -> Floats:
    """The base, the first of the votes, and the votes of the covering rules (rules x rows), rows x outputs."""
    sums = np.empty((covered.shape[1], votes.shape[1]))
    for first in range(0, len(sums), _ROWS):
        part = covered[:, first : first + _ROWS].astype(np.float64)
        sums[first : first + _ROWS] = part.T @ votes[1:] + votes[0]
    return sums
