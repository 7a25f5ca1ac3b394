"""Predictions from covered samples: C(x₀, 𝒥̂) of the paper, eq. (2)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from rulecover.rules import RuleSet
from rulecover.typing import Bools, Floats

#: Shares are rounded to multiples of this, so that their sums are exact and ties are ties whatever the order.
_SHARE_UNIT = 2.0**-32


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
    def of(cls, rules: RuleSet, kind: Literal["counts", "shares"] = "counts") -> MajorityVote:
        """Votes by class counts n_jk (paper), or by class shares, which give each covering rule the same say."""
        assert rules.evidence is not None, "rules vote with what they met in data"
        if kind == "counts":
            return cls(rules, rules.evidence.sums)
        return cls(rules, np.round(rules.evidence.shares / _SHARE_UNIT) * _SHARE_UNIT)

    def tally(self, X: Any) -> tuple[Floats, Bools]:
        """The votes for each row and class, and which rows no rule covers."""
        n, K = X.shape[0], self.votes.shape[1]
        tally = np.zeros((n, K))
        missed = np.zeros(n, dtype=bool)
        for start, stop, row, rule in self.rules.hits(X):
            for k in range(K):
                tally[start:stop, k] = np.bincount(row, weights=self.votes[rule, k], minlength=stop - start)
            missed[start:stop] = np.bincount(row, minlength=stop - start) == 0
        return tally, missed


VOTES = ("counts", "shares")
