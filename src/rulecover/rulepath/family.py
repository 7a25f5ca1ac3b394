"""Rules with additive votes: a set of one size, and the nested family of all sizes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from rulecover.rules.ruleset import RuleSet
from rulecover.show.printed import Printed
from rulecover.targets.task import Task
from rulecover.typing import Array, Bools, Floats, Ints
from rulecover.voting.vote import MajorityVote

if TYPE_CHECKING:
    import pandas as pd

    from rulecover.show.grid import Grid

#: Rows that are answered at a time for all sizes at once.
_ROWS = 2048


@dataclass(frozen=True, eq=False)
class AdditiveVote(Printed):
    """Rules whose votes are added to a default vote: what a row is told is the default and every rule it meets.

    Parameters
    ----------
    rules
        The voters.
    votes
        What each rule adds for each answer, rules x answers; may be negative.
    default
        What is said of every row before any rule.
    answers
        What the votes are for: the classes, or the one word "value".
    samples
        The (weighted) number of training samples that each rule covers.
    """

    rules: RuleSet
    votes: Floats
    default: Floats
    answers: tuple[Any, ...]
    samples: Floats

    def __len__(self) -> int:
        return len(self.rules)

    def tally(self, X: Any) -> tuple[Floats, Bools]:
        """The votes for each row and answer, and which rows no rule covers."""
        added, missed = MajorityVote(self.rules, self.votes).tally(X)
        return self.default + added, missed

    def why(self, X: Any, said: Array) -> pd.DataFrame:
        """For each row the votes that add up to what was said of it; see `RulePathClassifier.why`."""
        import pandas as pd

        met, by = self.rules.hits(X)
        row = np.concatenate([np.arange(X.shape[0]), met])
        rule = np.concatenate([np.full(X.shape[0], -1), by])
        order = np.lexsort((rule, row))
        row, rule = row[order], rule[order]
        votes = np.vstack([self.votes, self.default])[rule]
        text = np.array([*(each.text for each in self.rules), "by default"], dtype=object)
        columns: dict[str, Any] = {"row": row, "prediction": said[row], "rule": rule, "text": text[rule]}
        return pd.DataFrame(columns | dict(zip(vote_names(self.answers), votes.T, strict=True)))

    def to_frame(self) -> pd.DataFrame:
        """One row a vote: its rule's text, clauses and samples, and what it adds; the default vote first."""
        import pandas as pd

        columns: dict[str, Any] = {
            "rule": ["(default)", *(rule.text for rule in self.rules)],
            "clauses": [0, *self.rules.lengths.tolist()],
            "samples": [np.nan, *self.samples.tolist()],
        }
        for k, name in enumerate(vote_names(self.answers)):
            columns[name] = [float(self.default[k]), *self.votes[:, k].tolist()]
        return pd.DataFrame(columns, index=pd.RangeIndex(-1, len(self)))

    def _grid(self) -> Grid:
        from rulecover.voting.grid import vote_grid

        return vote_grid(self)

    def _sentences(self) -> list[str]:
        from rulecover.voting.grid import vote_sentences

        return vote_sentences(self)

    def __repr__(self) -> str:
        return f"<AdditiveVote of {len(self)} rules>"


def vote_names(answers: Sequence[Any]) -> list[str]:
    """The name of each answer's column: "vote" where there is one answer, ``votes_…`` for each of several."""
    return ["vote"] if len(answers) == 1 else [f"votes_{answer}" for answer in answers]


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
    answers, samples
        As of `AdditiveVote`.
    least
        The smallest size that keeps to all constraints.
    """

    rules: RuleSet
    votes: Floats
    loss: Floats
    answers: tuple[Any, ...]
    samples: Floats
    least: int = 0

    @property
    def largest(self) -> int:
        return len(self.rules)

    @property
    def sizes(self) -> Ints:
        return np.arange(self.largest + 1)

    def vote(self, size: int) -> AdditiveVote:
        """The rules of one size and their votes."""
        mine = self.votes[size]
        return AdditiveVote(self.rules[:size], mine[1 : size + 1], mine[0], self.answers, self.samples[:size])

    def staged(self, X: Any) -> Iterator[tuple[slice, Floats]]:
        """For each chunk of rows: where it is, and the votes by every size, sizes x rows x answers."""
        sizes, columns, answers = self.votes.shape
        flat = np.ascontiguousarray(self.votes.transpose(1, 0, 2)).reshape(columns, sizes * answers)
        for start, met in self.rules.met(X):
            for first in range(0, met.shape[1], _ROWS):
                part = met[:, first : first + _ROWS].astype(np.float64)
                tallies = part.T @ flat[1:] + flat[0]
                rows = slice(start + first, start + first + part.shape[1])
                yield rows, tallies.reshape(-1, sizes, answers).transpose(1, 0, 2)

    def scores(self, X: Any, task: Task, weight: Floats, *truths: Array) -> list[Floats]:
        """For each list of true answers the score of every size."""
        totals = np.zeros((len(truths), self.largest + 1))
        for rows, tallies in self.staged(X):
            said = task.said(tallies)
            for k, truth in enumerate(truths):
                totals[k] += task.merit(said, truth[rows]) @ weight[rows]
        return [task.score(total / weight.sum(), truth, weight) for total, truth in zip(totals, truths, strict=True)]

    def coverage(self, X: Any, weight: Floats) -> Floats:
        """The (weighted) share of rows that some rule covers, for every size."""
        first = np.zeros(self.largest + 1)
        for start, met in self.rules.met(X):
            found = np.where(met.any(axis=0), met.argmax(axis=0), self.largest) if self.largest else np.zeros(0, int)
            mine = weight[start : start + len(found)]
            first += np.bincount(found, weights=mine, minlength=self.largest + 1)
        return np.asarray(np.concatenate([[0.0], np.cumsum(first[:-1])]) / weight.sum())
