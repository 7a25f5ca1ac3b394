"""Predictions from covered samples: C(x₀, 𝒥̂) of the paper, eq. (2)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from rulecover.coverage import addable
from rulecover.rules import RuleSet
from rulecover.typing import Bools, Floats

VOTES = ("counts", "shares")

#: Votes are added for so many rows at a time: as floats they stay in the processor's cache.
_ROWS = 2048


@dataclass(frozen=True, eq=False)
class MajorityVote:
    """Rules that vote for classes: each covering rule adds its row of `votes`; the first class wins ties.

    Parameters
    ----------
    rules
        The voters.
    votes
        What each rule says for each class, rules x classes.
    """

    rules: RuleSet
    votes: Floats

    @classmethod
    def of(cls, rules: RuleSet, kind: str = "counts") -> MajorityVote:
        """Votes by class counts n_jk (paper), or by class shares, which give each covering rule the same say."""
        assert rules.evidence is not None, "rules vote with what they met in data"
        return cls(rules, addable(rules.evidence.sums if kind == "counts" else rules.evidence.shares))

    def times(self, weights: Floats) -> MajorityVote:
        """The same rules, each with so much more to say."""
        return MajorityVote(self.rules, addable(self.votes * weights[:, None]))

    def tally(self, X: Any) -> tuple[Floats, Bools]:
        """The votes for each row and class, and which rows no rule covers."""
        tally = np.empty((X.shape[0], self.votes.shape[1]))
        missed = np.empty(X.shape[0], dtype=bool)
        for start, met in self.rules.matcher.met(X):
            for first in range(0, met.shape[1], _ROWS):
                part = met[:, first : first + _ROWS]
                rows = slice(start + first, start + first + part.shape[1])
                tally[rows] = (self.votes.T @ part.astype(np.float64)).T
                missed[rows] = ~part.any(axis=0)
        return tally, missed
