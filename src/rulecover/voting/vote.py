"""Predictions from covered samples: C(x₀, 𝒥̂) of the paper, eq. (2)."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
import scipy.sparse

from rulecover.coverage import addable
from rulecover.rules.ruleset import RuleSet
from rulecover.targets.evidence import ClassEvidence
from rulecover.typing import Array, Bools, Floats, Ints
from rulecover.voting.ridge import ridge_towards

VOTES = ("counts", "shares")

#: Fitted votes are drawn towards the shares as strongly as so many samples of a rule draw them elsewhere.
_DRAWN = 20.0
#: The share of its plain vote that a rule keeps whatever is fitted: who covers a row has something to say.
_KEPT = 0.01
#: A vote below this share of the largest is rounding.
_NOTHING = 1e-12

#: Votes are added for so many rows at a time: as floats they stay in the processor's cache.
_ROWS = 2048


@dataclass(frozen=True, eq=False)
class Vote(ABC):
    """Rules that vote: each covering rule adds its row of `votes`; what the sum of them says, the kind of vote knows.

    Parameters
    ----------
    rules
        The voters.
    votes
        What each rule adds, rules x columns.
    """

    rules: RuleSet
    votes: Floats

    def times(self, weights: Floats) -> Self:
        """The same rules, each with so much more to say."""
        return self.among(self.rules, addable(self.votes * weights[:, None]))

    def tally(self, X: Any) -> tuple[Floats, Bools]:
        """The votes for each row, added up, and which rows no rule covers."""
        tally = np.empty((X.shape[0], self.votes.shape[1]))
        missed = np.empty(X.shape[0], dtype=bool)
        for start, met in self.rules.met(X):
            for first in range(0, met.shape[1], _ROWS):
                part = met[:, first : first + _ROWS]
                rows = slice(start + first, start + first + part.shape[1])
                tally[rows] = (self.votes.T @ part.astype(np.float64)).T
                missed[rows] = ~part.any(axis=0)
        return tally, missed

    def among(self, rules: RuleSet, votes: Floats) -> Self:
        """The same kind of vote by other rules."""
        return replace(self, rules=rules, votes=votes)

    @property
    def afar(self) -> Vote:
        """What rules say of rows that they do not cover, where a fallback asks them."""
        return self

    def at_distance(self, said: Floats) -> Floats:
        """Sums of votes from afar, as sums of these votes."""
        return said

    def as_one(self, tally: Floats) -> Floats:
        """All that was said of a row, as if one rule had said it."""
        return tally

    def one_by_one(self, rule: Ints, weight: Floats, afar: Bools) -> Floats:
        """What single rules said, those that do not cover the row from afar."""
        return np.asarray(self.votes[rule] * weight[:, None])

    def first(self, n_rules: int) -> Self:
        """The vote of the first rules alone."""
        return self.among(self.rules[:n_rules], self.votes[:n_rules])

    @abstractmethod
    def decided(self, tally: Floats) -> Array:
        """The answer for each row of added votes."""

    @abstractmethod
    def silent(self, tally: Floats) -> Bools:
        """Which rows nobody has voted on."""

    @abstractmethod
    def columns(self, tally: Floats) -> dict[str, Array]:
        """The same votes as columns with names, for people."""

    @property
    @abstractmethod
    def of_all_samples(self) -> Floats:
        """What all samples of the training data say together, as one row of votes."""

    @abstractmethod
    def of_model(self, model: Any, X: Any) -> Floats:
        """What a trained model says of rows, as votes."""


@dataclass(frozen=True, eq=False)
class MajorityVote(Vote):
    """Rules that vote for classes: `votes` has a column a class; the first class wins ties."""

    @classmethod
    def of(cls, rules: RuleSet, kind: str = "counts") -> MajorityVote:
        """Votes by class counts n_jk (paper), or by class shares, which give each covering rule the same say."""
        assert rules.evidence is not None, "rules vote with what they met in data"
        return cls(rules, addable(rules.evidence.sums if kind == "counts" else rules.evidence.shares))

    def fitted(self, covered: scipy.sparse.csr_array, y: Ints, weight: Floats | None = None) -> MajorityVote:
        """The same rules with votes that add up to the right class of the samples, as nearly as least squares can.

        They are drawn towards the votes so far, divided by the mean number of rules that cover a covered sample, and
        none is negative, so that every row that is covered is still voted on.

        Parameters
        ----------
        covered
            Which rule covers which sample, samples x rules.
        y
            The class of each sample, by number.
        weight
            What each sample counts.
        """
        counts = np.ones(len(y)) if weight is None else weight
        rules = covered.sum(axis=1)
        often = float(counts @ rules) / float(counts @ (rules > 0))
        votes = ridge_towards(
            self.votes / often, covered, np.eye(len(self.classes))[y], counts, strength=_DRAWN, floor=_KEPT
        )
        return replace(self, votes=addable(np.where(votes > _NOTHING * votes.max(), votes, 0.0)))

    @property
    def is_plain(self) -> bool:
        """Whether votes are the counts or the shares of the classes, which are shown with the rules anyway."""
        seen = self.rules.evidence
        return seen is not None and any(np.allclose(self.votes, plain) for plain in (seen.sums, seen.shares))

    @property
    def classes(self) -> Array:
        """The labels."""
        assert isinstance(self.rules.evidence, ClassEvidence)
        return self.rules.evidence.classes

    def decided(self, tally: Floats) -> Array:
        """The class with most votes for each row, the first on ties."""
        return np.asarray(self.classes[tally.argmax(axis=1)])

    def silent(self, tally: Floats) -> Bools:
        return np.asarray(tally.sum(axis=1) <= 0)

    def columns(self, tally: Floats) -> dict[str, Array]:
        return {f"votes_{label}": tally[:, k] for k, label in enumerate(self.classes)}

    @property
    def of_all_samples(self) -> Floats:
        assert self.rules.evidence is not None
        return self.rules.evidence.totals

    def of_model(self, model: Any, X: Any) -> Floats:
        out = np.zeros((X.shape[0], len(self.classes)))
        out[:, np.searchsorted(self.classes, model.classes_)] = model.predict_proba(X)
        return out
