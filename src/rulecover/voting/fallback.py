"""What to predict for a row that no rule covers (a missed sample)."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

import numpy as np

from rulecover.coverage import addable
from rulecover.rules.clauses import CHUNK
from rulecover.rules.ruleset import RuleSet
from rulecover.targets.numbers.evidence import NumberEvidence
from rulecover.typing import Floats, Ints
from rulecover.voting.answers import Classes, LogOddsClasses, Mean

if TYPE_CHECKING:
    from rulecover.voting.vote import Vote


class Fallback(Protocol):
    """From the missed rows to votes, rows x columns, and to the weight of each rule, rows x rules."""

    @property
    def name(self) -> str: ...

    def __call__(self, vote: Vote, X: Any, model: Any) -> Floats: ...

    def weights(self, vote: Vote, X: Any) -> Floats: ...


class _ByRules(ABC):
    by_rules: ClassVar[bool] = True  # uses only the columns of the rules

    @abstractmethod
    def weights(self, vote: Vote, X: Any) -> Floats: ...

    def __call__(self, vote: Vote, X: Any, model: Any) -> Floats:
        chunks = (X[start : start + CHUNK] for start in range(0, X.shape[0], CHUNK))
        parts = [self._votes(vote, chunk) for chunk in chunks]
        return np.concatenate(parts) if parts else np.zeros((0, vote.votes.shape[1]))

    def _votes(self, vote: Vote, X: Any) -> Floats:
        return sums_at_distance(vote, np.asarray(self.weights(vote, X) @ vote.votes_at_distance))


def sums_at_distance(vote: Vote, sums: Floats) -> Floats:
    """Sums of the votes of rules on rows that they do not cover, as sums of plain votes.

    Where values add up to a prediction, each is meant for the rows that its rule covers; for other rows it is the
    weighted mean of the rules' means, with their spread. Log-odds are added to the base, as those of covering rules
    are.
    """
    if isinstance(vote.answer, LogOddsClasses):
        return sums + vote.base
    if vote.fallback_votes is None or not isinstance(vote.answer, Mean):
        return sums
    weight = sums[:, 1]
    divisor = np.where(weight > 0, weight, 1.0)
    mean = sums[:, 0] / divisor
    out = np.column_stack([mean, np.sign(weight)])
    if not vote.answer.squares:
        return out
    return np.column_stack([out, np.maximum(sums[:, 2] / divisor - mean**2, 0.0)])


@dataclass(frozen=True)
class Closest(_ByRules):
    """As in the paper's text: the rules with the largest share of accepted clauses vote.

    A clause is one feature's interval here, however many comparisons of the tree went into it.
    """

    name: str = "closest"

    def weights(self, vote: Vote, X: Any) -> Floats:
        accepted = vote.rules.accepted(X)
        return np.asarray(accepted == accepted.max(axis=1, keepdims=True), dtype=np.float64)


#: Votes are multiplied by a common multiple of the rules' lengths up to here; beyond, thirds and the like are rounded.
_LARGEST_MULTIPLE = 2**40


def comparisons(rules: RuleSet) -> Ints:
    """The number of comparisons of each rule as its tree makes them, or of clauses if it does not come from a tree."""
    return (rules.clauses if rules.paths is None else rules.paths).lengths


def per_comparison(vote: Vote) -> Floats:
    """The vote of each rule at a distance for one accepted comparison, all times the same number: sums are exact.

    They are then the same in any order and on any machine: thirds would be rounded, a third of six is two. What is
    added to a base is not multiplied, but rounded to digits that add up.
    """
    lengths = np.maximum(comparisons(vote.rules), 1)
    multiple = 1 if isinstance(vote.answer, LogOddsClasses) else math.lcm(*lengths.tolist())
    scale = float(multiple if multiple <= _LARGEST_MULTIPLE else 1)
    votes = vote.votes_at_distance * (scale / lengths)[:, None]
    if isinstance(vote.answer, LogOddsClasses):
        return addable(np.vstack([vote.base, votes]), times=np.append(1, lengths)[:, None])[1:]
    if isinstance(vote.answer, Classes):
        return addable(votes, times=lengths[:, None])
    return np.column_stack([addable(column, times=lengths) for column in votes.T])  # each has a unit of its own


@dataclass(frozen=True)
class AllRules(_ByRules):
    """As in the authors' program and the paper's tables: every rule votes, times its share of accepted comparisons.

    The comparisons are the tree's own, from the root to the leaf, repeated ones counted each time.
    """

    name: str = "all"

    def weights(self, vote: Vote, X: Any) -> Floats:
        return vote.rules.accepted(X, along_paths=True)

    def _votes(self, vote: Vote, X: Any) -> Floats:
        accepted = np.rint(self.weights(vote, X) * comparisons(vote.rules))
        return sums_at_distance(vote, np.asarray(accepted @ per_comparison(vote)))


class Constant(ABC):
    """The same votes for every missed row; exports need to know nothing else of such a fallback."""

    by_rules: ClassVar[bool] = True

    @abstractmethod
    def votes(self, vote: Vote) -> Floats:
        """The votes for any missed row."""

    def weights(self, vote: Vote, X: Any) -> Floats:
        return np.zeros((X.shape[0], len(vote.rules)))

    def __call__(self, vote: Vote, X: Any, model: Any) -> Floats:
        return np.tile(self.votes(vote), (X.shape[0], 1))


@dataclass(frozen=True)
class MajorityClass(Constant):
    """The whole training data vote: the shares of the classes, or the mean."""

    name: str = "majority"

    def votes(self, vote: Vote) -> Floats:
        return vote.votes_of_all


@dataclass(frozen=True)
class Default(Constant):
    """The base alone, before any rule adds to it."""

    name: str = "default"

    def votes(self, vote: Vote) -> Floats:
        return vote.base


@dataclass(frozen=True)
class SourceModel:
    """The model that the rules were read from predicts."""

    name: str = "model"

    def weights(self, vote: Vote, X: Any) -> Floats:
        return np.zeros((X.shape[0], len(vote.rules)))

    def __call__(self, vote: Vote, X: Any, model: Any) -> Floats:
        return _classes_of(vote.answer, model, X) if isinstance(vote.answer, Classes) else _numbers_of(vote, model, X)


def _classes_of(answer: Classes, model: Any, X: Any) -> Floats:
    out = np.zeros((X.shape[0], len(answer.labels)))
    out[:, np.searchsorted(answer.labels, model.classes_)] = model.predict_proba(X)
    return answer.sums_of(out)


def _numbers_of(vote: Vote, model: Any, X: Any) -> Floats:
    """The model's prediction; its error is taken to be that of the rules."""
    answer, seen = vote.answer, vote.rules.evidence
    assert isinstance(answer, Mean) and isinstance(seen, NumberEvidence)
    z = (model.predict(X) - answer.centre) / answer.unit
    if vote.adds_up:
        return np.column_stack([z, np.ones(len(z)), np.full(len(z), vote.totals[2])])
    return np.column_stack([z, np.ones(len(z)), z**2 + np.average(seen.within, weights=seen.support)])


FALLBACKS: dict[str, Fallback] = {
    fallback.name: fallback for fallback in (Closest(), AllRules(), MajorityClass(), SourceModel())
}

#: The same for regression, where the training data have a mean in place of a most frequent class.
NUMERIC_FALLBACKS: dict[str, Fallback] = {
    fallback.name: fallback for fallback in (MajorityClass(name="mean"), Closest(), AllRules(), SourceModel())
}
