"""What to predict for a row that no rule covers (a missed sample)."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

import numpy as np

from rulecover.coverage import addable
from rulecover.rules.clauses import CHUNK, Clauses
from rulecover.rules.ruleset import RuleSet
from rulecover.targets.numbers.evidence import NumberEvidence
from rulecover.typing import Floats
from rulecover.voting.answers import Classes, LogOddsClasses, Mean

if TYPE_CHECKING:
    from rulecover.voting.vote import Vote


class Fallback(Protocol):
    """From the missed rows to votes, rows x columns, and to the weight of each rule, rows x rules."""

    @property
    def name(self) -> str: ...

    def __call__(self, vote: Vote, X: Any, model: Any) -> Floats: ...

    def weights(self, vote: Vote, X: Any) -> Floats: ...


@dataclass(frozen=True)
class ByRules:
    """Rules vote for a row that none of them covers, by the share of their conditions that it satisfies.

    Exports, pages and model files are written from these values: another fallback of this kind needs no code there.

    Parameters
    ----------
    name
        What it is called in settings and model files.
    words
        What happens to a missed row, as the end of a sentence.
    closest
        Whether only the rules with the largest share vote, each as if it covered the row; otherwise every rule does,
        times its share.
    along_paths
        What is counted: the comparisons of the tree from the root to the leaf, repeated ones each time; otherwise
        clauses, where one feature's interval is a single clause, however many comparisons went into it.
    """

    name: str
    words: str
    closest: bool = False
    along_paths: bool = False

    needs_only_rules: ClassVar[bool] = True  # no column that no rule uses

    def counted(self, rules: RuleSet) -> Clauses:
        """The conditions of each rule that are counted."""
        return rules.paths if self.along_paths and rules.paths is not None else rules.clauses

    def weights(self, vote: Vote, X: Any) -> Floats:
        share = vote.rules.accepted(X, along_paths=self.along_paths)
        return np.asarray(share == share.max(axis=1, keepdims=True), dtype=np.float64) if self.closest else share

    def __call__(self, vote: Vote, X: Any, model: Any) -> Floats:
        chunks = (X[start : start + CHUNK] for start in range(0, X.shape[0], CHUNK))
        parts = [sums_at_distance(vote, self._sums(vote, chunk)) for chunk in chunks]
        return np.concatenate(parts) if parts else np.zeros((0, vote.votes.shape[1]))

    def _sums(self, vote: Vote, X: Any) -> Floats:
        weights = self.weights(vote, X)
        if self.closest:
            return np.asarray(weights @ vote.votes_at_distance)
        return np.asarray(np.rint(weights * self.counted(vote.rules).lengths) @ self.votes_each(vote))

    def votes_each(self, vote: Vote) -> Floats:
        """The vote of each rule for one satisfied condition, all times the same number: sums are exact.

        They are then the same in any order and on any machine: thirds would be rounded, a third of six is two. What is
        added to a base is not multiplied, but rounded to digits that add up.
        """
        lengths = np.maximum(self.counted(vote.rules).lengths, 1)
        multiple = 1 if isinstance(vote.answer, LogOddsClasses) else math.lcm(*lengths.tolist())
        scale = float(multiple if multiple <= _LARGEST_MULTIPLE else 1)
        votes = vote.votes_at_distance * (scale / lengths)[:, None]
        if isinstance(vote.answer, LogOddsClasses):
            return addable(np.vstack([vote.base, votes]), times=np.append(1, lengths)[:, None])[1:]
        if isinstance(vote.answer, Classes):
            return addable(votes, times=lengths[:, None])
        return np.column_stack([addable(column, times=lengths) for column in votes.T])  # each has a unit of its own


#: Votes are multiplied by a common multiple of the rules' lengths up to here; beyond, thirds and the like are rounded.
_LARGEST_MULTIPLE = 2**40


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


class Constant(ABC):
    """The same votes for every missed row; exports need to know nothing else of such a fallback."""

    needs_only_rules: ClassVar[bool] = True

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
    words: str = "the most frequent class is predicted"

    def votes(self, vote: Vote) -> Floats:
        return vote.votes_of_all


@dataclass(frozen=True)
class Default(Constant):
    """The base alone, before any rule adds to it."""

    name: str = "default"
    words: str = "the default vote decides"

    def votes(self, vote: Vote) -> Floats:
        return vote.base


@dataclass(frozen=True)
class SourceModel:
    """The model that the rules were read from predicts."""

    name: str = "model"
    words: str = "the source model predicts"

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


#: As in the paper's text.
CLOSEST = ByRules("closest", "the rules with the largest share of satisfied clauses vote", closest=True)
#: As in the authors' program and the paper's tables.
ALL_RULES = ByRules("all", "every rule votes by its share of satisfied comparisons", along_paths=True)
MEAN = MajorityClass("mean", "the mean of all rows, or what was fitted in its place, is predicted")

_OF_CLASSES = (CLOSEST, ALL_RULES, MajorityClass(), SourceModel())
#: For regression the training data have a mean in place of a most frequent class.
_OF_NUMBERS = (MEAN, CLOSEST, ALL_RULES, SourceModel())

FALLBACKS: dict[str, Fallback] = {each.name: each for each in _OF_CLASSES}
NUMERIC_FALLBACKS: dict[str, Fallback] = {each.name: each for each in _OF_NUMBERS}
_NAMED = (*_OF_CLASSES, *_OF_NUMBERS, Default())
#: Those of a kind that every format can write.
EXPORTED_FALLBACKS: dict[str, Fallback] = {each.name: each for each in _NAMED if isinstance(each, ByRules | Constant)}

_WORDS = {each.name: each.words for each in _NAMED}


def in_words(name: str) -> str:
    """What happens to a missed row under the fallback of this name, as the end of a sentence."""
    return _WORDS.get(name, f"{name} predicts")
