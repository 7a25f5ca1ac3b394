"""The nested family of rule sets of all sizes, each with votes of its own."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from rulecover.rules.ruleset import RuleSet
from rulecover.targets.target import Target
from rulecover.typing import Array, Floats, Ints
from rulecover.voting.vote import Vote
from rulecover.voting.voting_on import voting_on

#: Votes are added for this many rows at a time, for all sizes at once.
_ROWS = 2048


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
    least
        The smallest size that keeps to all constraints.
    n_candidates
        The number of rules that there were to choose from.
    """

    rules: RuleSet
    votes: Floats
    loss: Floats
    target: Target
    least: int = 0
    n_candidates: int = 0

    @property
    def largest(self) -> int:
        return len(self.rules)

    @property
    def sizes(self) -> Ints:
        return np.arange(self.largest + 1)

    def vote(self, size: int) -> Vote:
        """The rules of one size and their votes."""
        return voting_on(self.target).added(self.rules[:size], self.votes[size, : size + 1], self.target)

    def staged(self, X: Any) -> Iterator[tuple[slice, Floats]]:
        """For each chunk of rows: where it is, and the sums of the votes of every size, sizes x rows x outputs."""
        sizes, columns, outputs = self.votes.shape
        flat = np.ascontiguousarray(self.votes.transpose(1, 0, 2)).reshape(columns, sizes * outputs)
        for start, covered in self.rules.covered_chunks(X):
            for first in range(0, covered.shape[1], _ROWS):
                part = covered[:, first : first + _ROWS].astype(np.float64)
                tallies = part.T @ flat[1:] + flat[0]
                rows = slice(start + first, start + first + part.shape[1])
                yield rows, tallies.reshape(-1, sizes, outputs).transpose(1, 0, 2)

    def scores(self, X: Any, weight: Floats, *truths: Array) -> list[Floats]:
        """For each list of true values the score of every size."""
        target, totals = self.target, np.zeros((len(truths), self.largest + 1))
        for rows, tallies in self.staged(X):
            predicted = target.predictions(tallies)
            for k, truth in enumerate(truths):
                totals[k] += target.merit(predicted, truth[rows]) @ weight[rows]
        means = totals / weight.sum()
        return [target.score_of_merit(mean, truth, weight) for mean, truth in zip(means, truths, strict=True)]

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
