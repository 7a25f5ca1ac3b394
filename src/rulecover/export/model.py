"""The one neutral form of everything that is exported: rules, their votes, and how votes become answers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
import scipy.sparse

from rulecover.exceptions import MismatchedDataError
from rulecover.export.inputs import MISSING, ZERO, Coded, Input, Level, Number, read_frame
from rulecover.export.labels import Label
from rulecover.rulepath.family import AdditiveVote
from rulecover.rules.ruleset import RuleSet
from rulecover.typing import Array, Bools, Floats
from rulecover.voting.fallback import FALLBACKS, NUMERIC_FALLBACKS, MajorityClass
from rulecover.voting.means import FittedVote, MeanVote, NumericVote
from rulecover.voting.probabilities import nearest_probabilities
from rulecover.voting.vote import MajorityVote, Vote
from rulecover.voting.why import reasons

if TYPE_CHECKING:
    import pandas as pd

#: Who can answer for a row that no rule covers where the source model is not at hand.
EXPORTED_FALLBACKS = ("closest", "all", "majority", "mean", "default")

#: The columns of numeric votes (how much, value, square) in the order of `Mean`, and back.
SWAPPED = [1, 0, 2]


class Answer(Protocol):
    """How the sums of votes become answers."""

    @property
    def votes(self) -> tuple[str, ...]:
        """What the columns of the votes are for."""

    def say(self, tally: Floats) -> Floats:
        """How much was said about each row; nothing at all where it is not above zero."""

    def decided(self, tally: Floats) -> Array:
        """The answer for each row."""


@dataclass(frozen=True, eq=False)
class Classes:
    """The class with the largest sum of votes, the first on ties; the shares of the sums are its probabilities."""

    labels: Array

    @property
    def votes(self) -> tuple[str, ...]:
        return tuple(str(label) for label in self.labels.tolist())

    def say(self, tally: Floats) -> Floats:
        return np.asarray(tally.sum(axis=1))

    def decided(self, tally: Floats) -> Array:
        return np.asarray(self.labels[tally.argmax(axis=1)])

    def probabilities(self, tally: Floats) -> Floats:
        """The probability of each class, rows x classes."""
        return np.asarray(tally / tally.sum(axis=1, keepdims=True))


@dataclass(frozen=True, eq=False)
class AddedClasses(Classes):
    """The class with the largest sum of votes, which may be below zero; the nearest shares are its probabilities.

    See `rulecover.voting.probabilities`; votes like these are fitted so that their sums are nearly probabilities.
    """

    def say(self, tally: Floats) -> Floats:
        return np.ones(len(tally))

    def probabilities(self, tally: Floats) -> Floats:
        return nearest_probabilities(tally)


@dataclass(frozen=True)
class Mean:
    """A weighted mean: the sum of the first column of votes (weight times value) over that of the second (weight).

    Parameters
    ----------
    centre, unit
        Values are in such units from there.
    squares
        Whether there is a third column, from which `rulecover.voting.means` tells how far off the mean may be.
    """

    centre: float = 0.0
    unit: float = 1.0
    squares: bool = False

    @property
    def votes(self) -> tuple[str, ...]:
        return ("weighted value", "weight", "weighted square")[: 3 if self.squares else 2]

    def say(self, tally: Floats) -> Floats:
        return np.asarray(tally[:, 1])

    def decided(self, tally: Floats) -> Array:
        return np.asarray(self.centre + self.unit * (tally[:, 0] / tally[:, 1]))


@dataclass(frozen=True, eq=False)
class ScoredRules:
    """Rules that vote, free of the model they came from: it predicts, and every exporter writes it.

    Parameters
    ----------
    rules
        The voters.
    votes
        What each rule adds where it fires, rules x columns; sums of them must not depend on the order (see
        `rulecover.coverage.addable`).
    answer
        How sums of votes become answers: `Classes`, `AddedClasses` or `Mean`.
    totals
        The votes of all training data: the answer where neither rules nor fallback have a say.
    fallback
        Who answers for a row that no rule covers: "closest", "all", "majority" or, for numbers, "mean", both of which
        are the totals, or "default", the base alone.
    base
        The votes that every covered row begins with; none by default.
    afar
        What each rule says where the fallback asks it, if that is not what it adds where it fires.
    categories
        For a column of categories, by its number: the category behind each code, from 0.
    zero_missing
        Columns in which 0 counts as missing, by number.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from rulecover import MIRCOClassifier
    >>> from rulecover.export import scored_rules
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> mirco = MIRCOClassifier(random_state=0).fit(X, y)
    >>> model = scored_rules(mirco)
    >>> bool((model.predict_proba(X) == mirco.predict_proba(X)).all())
    True
    """

    rules: RuleSet
    votes: Floats
    answer: Answer
    totals: Floats
    fallback: str = "closest"
    base: Floats = field(default_factory=lambda: np.zeros(0))
    afar: Floats | None = None
    categories: Mapping[int, tuple[Label, ...]] = field(default_factory=dict)
    zero_missing: frozenset[int] = frozenset()

    def __post_init__(self) -> None:
        columns = len(self.answer.votes)
        if not self.base.size:
            object.__setattr__(self, "base", np.zeros(columns))
        shapes = {"votes": (len(self.rules), columns), "totals": (columns,), "base": (columns,)}
        for name, shape in (shapes | ({} if self.afar is None else {"afar": shapes["votes"]})).items():
            given = getattr(self, name)
            if given.shape != shape or not np.isfinite(given).all():
                raise ValueError(f"{name} has shape {given.shape}; give finite numbers of shape {shape}.")
        if not len(self.rules):
            raise ValueError("there are no rules; a model needs at least one.")
        if isinstance(self.answer, Classes) and self.rules.evidence is None:
            raise ValueError("the rules have met no data; rules that vote for classes must have.")
        names = self.rules.feature_names
        if len(set(names)) < len(names):
            raise ValueError(f"a column name occurs twice among {list(names[:10])}; rename one.")
        if not self.answer.say(self.totals[None])[0] > 0:
            raise ValueError(f"totals is {self.totals.tolist()}; the training data must have a say.")
        if self.fallback not in EXPORTED_FALLBACKS:
            known = ", ".join(map(repr, EXPORTED_FALLBACKS))
            raise ValueError(f"fallback is {self.fallback!r}; choose one of {known}.")

    def predict(self, X: Any) -> Array:
        """The answer for each row: a class, or a mean."""
        return self.answer.decided(self.tally(self._rows(X))[0])

    def predict_proba(self, X: Any) -> Floats:
        """The share of the votes for each class, rows x classes."""
        if not isinstance(self.answer, Classes):
            raise AttributeError("these rules answer with a number and know no probabilities; use predict.")
        return self.answer.probabilities(self.tally(self._rows(X))[0])

    def apply(self, X: Any) -> scipy.sparse.csr_array:
        """Which rule covers which row: a boolean sparse matrix of rows x rules."""
        return self.rules.apply(self._rows(X))

    def missed(self, X: Any) -> Bools:
        """Which rows no rule covers."""
        return np.asarray(self.apply(X).sum(axis=1) == 0).ravel()

    def why(self, X: Any) -> pd.DataFrame:
        """For each row the rules that decided and their votes; see `MIRCOClassifier.why`."""
        X = self._rows(X)
        tally, missed = self.tally(X)
        if self.fallback == "default" and self.adds_up:
            return self.additive.why(X, self.answer.decided(tally))
        silent = MajorityClass(self.fallback)  # no rule has a say
        fallback = FALLBACKS.get(self.fallback, silent)
        if isinstance(self.answer, Classes):
            return reasons(MajorityVote(self.rules, self.votes), fallback, X, tally, missed)
        vote = self.numeric
        return reasons(vote, fallback, X, self._numeric_tally(vote, X), missed)

    def predict_interval(self, X: Any, coverage: float = 0.9) -> Floats:
        """An interval for each row that should hold its number; see `MIRCORegressor.predict_interval`."""
        vote = self.numeric
        return vote.interval(self._numeric_tally(vote, self._rows(X)), coverage)

    @cached_property
    def numeric(self) -> NumericVote:
        """The vote of rules on a number that know what numbers they met."""
        if not isinstance(self.answer, Mean) or not self.answer.squares:
            raise AttributeError("these rules do not know how the numbers spread that they met; use predict.")
        if self.afar is None:
            return MeanVote(self.rules, self.votes[:, SWAPPED])
        votes = np.column_stack([np.ones(len(self.rules)), self.votes[:, 0], self.votes[:, 2]])
        plain = MeanVote(self.rules, self.afar[:, SWAPPED])
        return FittedVote(self.rules, votes, float(self.base[0]), float(self.totals[2]), plain)

    def _numeric_tally(self, vote: NumericVote, X: Any) -> Floats:
        tally, missed = vote.tally(X)
        lost = np.flatnonzero(missed)
        if lost.size:
            tally[lost] = NUMERIC_FALLBACKS[self.fallback](vote, X[lost], None)
        tally[vote.silent(tally)] = vote.of_all_samples
        return tally

    @property
    def adds_up(self) -> bool:
        """Whether the answer is the base and what the rules add to it, and nothing else."""
        if isinstance(self.answer, Mean):
            return bool(self.base[1] == 1 and not self.votes[:, 1].any())
        return isinstance(self.answer, AddedClasses)

    @property
    def has_own_votes(self) -> bool:
        """Whether rules vote for classes otherwise than by the classes that they met."""
        return isinstance(self.answer, Classes) and (self.adds_up or not MajorityVote(self.rules, self.votes).is_plain)

    @property
    def additive(self) -> AdditiveVote:
        """The rules and what they add; with the base all there is to an answer, unless there is a fallback."""
        answers = self.answer.labels.tolist() if isinstance(self.answer, Classes) else ["value"]
        seen = self.rules.evidence
        samples = np.full(len(self.rules), np.nan) if seen is None else seen.samples
        n = len(answers)
        return AdditiveVote(self.rules, self.votes[:, :n], self.base[:n], tuple(answers), samples)

    @property
    def from_afar(self) -> Vote:
        """What the rules say where the fallback asks them."""
        kind = MajorityVote if isinstance(self.answer, Classes) else MeanVote
        return kind(self.rules, self.votes if self.afar is None else self.afar)

    def tally(self, X: Any) -> tuple[Floats, Bools]:
        """The votes for each row, those of the fallback where no rule covers it, and where that is."""
        tally, missed = MajorityVote(self.rules, self.votes).tally(X)
        tally += self.base
        lost = np.flatnonzero(missed)
        if lost.size and self.fallback in ("majority", "mean"):
            tally[lost] = self.totals
        elif lost.size and self.fallback != "default":
            tally[lost] = FALLBACKS[self.fallback](self.from_afar, X[lost], None)
        tally[self.answer.say(tally) <= 0] = self.totals
        return tally, missed

    @cached_property
    def inputs(self) -> dict[int, Input]:
        """For each column that rules speak of, by number: where its values come from in a table as people have it."""
        used = set(self.rules.clauses.columns.tolist())
        if self.rules.paths is not None:
            used |= set(self.rules.paths.columns.tolist())
        return {f: self._input(f) for f in sorted(used)}

    def _input(self, f: int) -> Input:
        name = self.rules.feature_names[f]
        if f in self.rules.columns.levels:
            text, level = self.rules.columns.levels[f]
            return Level(text, None if level == MISSING else level)
        if f in self.categories:
            return Coded(name, tuple((label, float(code)) for code, label in enumerate(self.categories[f])))
        return Number(name, f in self.zero_missing)

    def _rows(self, X: Any) -> Any:
        """Rows as floats: a data frame with the columns that rules speak of, or an array of numbers and codes."""
        if hasattr(X, "columns"):
            return read_frame(X, self.inputs, self.rules.n_features)
        X = self.rules.check_columns(X)
        try:
            rows = X.astype(np.float64, copy=False)
        except (TypeError, ValueError) as error:
            raise MismatchedDataError(f"X holds what is no number ({error}); encode it as in training.") from error
        if not self.zero_missing:
            return rows
        rows = rows.toarray() if scipy.sparse.issparse(rows) else rows.copy()
        for f in self.zero_missing:
            rows[np.abs(rows[:, f]) <= ZERO, f] = np.nan
        return rows
