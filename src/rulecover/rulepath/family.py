"""The nested family of rule sets of all sizes, each with votes of its own."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from rulecover.rules.ruleset import RuleSet
from rulecover.targets.task import Task
from rulecover.typing import Array, Floats, Ints
from rulecover.voting.answers import Answer, Mean
from rulecover.voting.fallback import Default
from rulecover.voting.vote import Vote

#: Rows that are answered at a time for all sizes at once.
_ROWS = 2048


@dataclass(frozen=True, eq=False)
class RuleFamily:
    """Rule sets of every size, each the beginning of the next, with votes of its own.

    Parameters
    ----------
    rules
        The rules of the largest set, in the order in which they entered.
    votes
        For each size from 0 the default vote and the votes of all rules, sizes x (1 + rules) x answers.
    loss
        What the votes minimise on the training rows, for each size.
    answer
        How sums of votes become answers.
    least
        The smallest size that keeps to all constraints.
    """

    rules: RuleSet
    votes: Floats
    loss: Floats
    answer: Answer
    least: int = 0

    @property
    def largest(self) -> int:
        return len(self.rules)

    @property
    def sizes(self) -> Ints:
        return np.arange(self.largest + 1)

    def vote(self, size: int) -> Vote:
        """The rules of one size and their votes; a number is a mean of weight 1, to which no rule adds weight."""
        votes = self.votes[size, : size + 1]
        if isinstance(self.answer, Mean):
            votes = np.column_stack([votes, np.arange(size + 1) == 0])
        seen = self.rules.evidence
        totals = votes[0] if seen is None or isinstance(self.answer, Mean) else seen.totals
        return Vote(self.rules[:size], votes[1:], self.answer, totals, Default(), base=votes[0])

    def staged(self, X: Any) -> Iterator[tuple[slice, Floats]]:
        """For each chunk of rows: where it is, and the votes by every size, sizes x rows x answers."""
        sizes, columns, answers = self.votes.shape
        flat = np.ascontiguousarray(self.votes.transpose(1, 0, 2)).reshape(columns, sizes * answers)
        for start, met in self.rules.covered_chunks(X):
            for first in range(0, met.shape[1], _ROWS):
                part = met[:, first : first + _ROWS].astype(np.float64)
                tallies = part.T @ flat[1:] + flat[0]
                rows = slice(start + first, start + first + part.shape[1])
                yield rows, tallies.reshape(-1, sizes, answers).transpose(1, 0, 2)

    def scores(self, X: Any, task: Task, weight: Floats, *truths: Array) -> list[Floats]:
        """For each list of true answers the score of every size."""
        totals = np.zeros((len(truths), self.largest + 1))
        for rows, tallies in self.staged(X):
            predicted = task.predictions(tallies)
            for k, truth in enumerate(truths):
                totals[k] += task.merit(predicted, truth[rows]) @ weight[rows]
        return [task.score(total / weight.sum(), truth, weight) for total, truth in zip(totals, truths, strict=True)]

    def coverage(self, X: Any, weight: Floats) -> Floats:
        """The (weighted) share of rows that some rule covers, for every size."""
        first = np.zeros(self.largest + 1)
        for start, met in self.rules.covered_chunks(X):
            found = np.where(met.any(axis=0), met.argmax(axis=0), self.largest) if self.largest else np.zeros(0, int)
            mine = weight[start : start + len(found)]
            first += np.bincount(found, weights=mine, minlength=self.largest + 1)
        return np.asarray(np.concatenate([[0.0], np.cumsum(first[:-1])]) / weight.sum())
