"""Rules as every code exporter reads them: conditions one by one, missing values spelled out."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from math import inf

from rulecover.data.frames import UNSEEN
from rulecover.data.inputs import Coded, Number, TableInput
from rulecover.data.labels import Label, plain_labels
from rulecover.rules.clauses import Clauses
from rulecover.typing import Floats
from rulecover.voting.answers import AddedClasses, Classes, LogOddsClasses, Mean
from rulecover.voting.fallback import ByRules, Constant, Default
from rulecover.voting.vote import Vote

#: PostgreSQL truncates column names beyond this many bytes.
LONGEST_NAME = 63


@dataclass(frozen=True)
class Condition:
    """The condition of one clause on one column.

    Parameters
    ----------
    feature
        The column, by number.
    above, up_to
        The bounds of a known value, ``None`` where there is none.
    codes, others
        The categories of a known value, in place of bounds; with `others` all values but these.
    missing
        Whether a missing value satisfies it.
    impossible
        Whether no known value satisfies it.
    """

    feature: int
    above: float | None = None
    up_to: float | None = None
    codes: tuple[float, ...] | None = None
    others: bool = False
    missing: bool = False
    impossible: bool = False

    @property
    def any_known(self) -> bool:
        """Whether every known value satisfies it."""
        return self.above is None and self.up_to is None and self.codes is None and not self.impossible


def conditions_of(clauses: Clauses) -> list[list[Condition]]:
    """The conditions of each rule."""
    each = list(_conditions(clauses))
    return [each[a:b] for a, b in zip(clauses.offset[:-1], clauses.offset[1:], strict=True)]


def _conditions(clauses: Clauses) -> Iterator[Condition]:
    columns = clauses.feature, clauses.lower, clauses.upper, clauses.missing, clauses.category
    for feature, lower, upper, missing, category in zip(*(column.tolist() for column in columns), strict=True):
        if category >= 0:
            which = clauses.category_sets[category]
            nothing = not which.codes and not which.others
            yield Condition(feature, codes=which.codes, others=which.others, missing=missing, impossible=nothing)
        elif lower == inf or upper == -inf:
            yield Condition(feature, missing=missing, impossible=True)
        else:
            above, up_to = lower if lower > -inf else None, upper if upper < inf else None
            yield Condition(feature, above, up_to, missing=missing)


@dataclass(frozen=True, eq=False)
class Script:
    """What a vote does for a row, step by step.

    Count the conditions of each rule that the row satisfies. A rule whose conditions are all met fires and adds its
    votes. If none fires, the fallback adds votes. If there are no votes, the totals of the training data are used.
    """

    model: Vote

    @cached_property
    def conditions(self) -> list[list[Condition]]:
        """What is counted for each rule: its clauses, or what the fallback counts."""
        rules, fallback = self.model.rules, self.by_rules
        return conditions_of(rules.clauses if fallback is None else fallback.counted(rules))

    @cached_property
    def sizes(self) -> list[int]:
        """The number of conditions of each rule."""
        return [len(conditions) for conditions in self.conditions]

    @cached_property
    def features(self) -> list[int]:
        """The columns in use, by number."""
        return sorted({condition.feature for rule in self.conditions for condition in rule})

    @cached_property
    def inputs(self) -> dict[int, TableInput]:
        """For each column in use, by number: where its values come from; categories that no rule names are left out."""
        return {f: self._needed(f, self.model.table_inputs[f]) for f in self.features}

    def _needed(self, f: int, read: TableInput) -> TableInput:
        mine = [condition for rule in self.conditions for condition in rule if condition.feature == f]
        if not isinstance(read, Coded) or any(c.above is not None or c.up_to is not None for c in mine):
            return read
        named = {code for condition in mine for code in condition.codes or ()}
        if UNSEEN in named:
            return read
        return Coded(read.name, tuple((label, code) for label, code in read.codes if code in named))

    def has(self, kind: type[TableInput]) -> bool:
        """Whether some column in use is of this kind."""
        return any(isinstance(each, kind) for each in self.inputs.values())

    @property
    def zero_missing(self) -> bool:
        """Whether 0 counts as missing in some column in use."""
        return any(isinstance(each, Number) and each.zero_missing for each in self.inputs.values())

    @property
    def columns(self) -> list[str]:
        """The columns that a table must have."""
        return list(dict.fromkeys(each.name for each in self.inputs.values()))

    @property
    def names(self) -> tuple[str, ...]:
        """The names of all columns."""
        return self.model.rules.feature_names

    @cached_property
    def votes(self) -> list[list[float]]:
        """What each rule adds where it fires."""
        return self._needed_of(self.model.votes)

    @cached_property
    def fallback_votes(self) -> list[list[float]]:
        """The votes of each rule in the fallback."""
        return self._needed_of(self.model.votes_at_distance)

    @cached_property
    def votes_each(self) -> list[list[float]]:
        """What each rule adds for every condition that is met, in a fallback in which all rules vote."""
        assert self.by_rules is not None
        return self._needed_of(self.by_rules.votes_each(self.model))

    @cached_property
    def base(self) -> list[float]:
        """The votes that every covered row starts with."""
        return self._needed_of(self.model.base[None])[0]

    @cached_property
    def totals(self) -> list[float]:
        """The votes of all training data."""
        return self._needed_of(self.model.votes_of_all[None])[0]

    def _needed_of(self, votes: Floats) -> list[list[float]]:
        """The columns that predictions are made of."""
        answer = self.model.answer
        needed = votes if isinstance(answer, Classes) else votes[:, :2]
        return [[float(x) for x in row] for row in needed]

    @property
    def fallback(self) -> str:
        """The name of the fallback for rows that no rule covers."""
        return self.model.fallback.name

    @cached_property
    def constant(self) -> list[float] | None:
        """The votes for missed rows where all of them get the same."""
        fallback = self.model.fallback
        return self._needed_of(fallback.votes(self.model)[None])[0] if isinstance(fallback, Constant) else None

    @property
    def by_rules(self) -> ByRules | None:
        """The fallback, where rules vote in it."""
        fallback = self.model.fallback
        return fallback if isinstance(fallback, ByRules) else None

    @property
    def answered_by(self) -> str:
        """What votes for missed rows: the "closest" rules, "all" rules, the base as "default", or a "constant"."""
        if self.by_rules is not None:
            return "closest" if self.by_rules.closest else "all"
        return "default" if isinstance(self.model.fallback, Default) else "constant"

    @property
    def scale(self) -> tuple[float, float] | None:
        """Where means are measured from and in what unit, unless from 0 in ones."""
        answer = self.model.answer
        if not isinstance(answer, Mean) or (answer.centre, answer.unit) == (0.0, 1.0):
            return None
        return float(answer.centre), float(answer.unit)

    def mean(self, value: str, weight: str) -> str:
        """The prediction in most programming languages, given the sums of the two columns of votes."""
        ratio = f"{value} / {weight}"
        return ratio if self.scale is None else f"{self.scale[0]!r} + {self.scale[1]!r} * ({ratio})"

    @cached_property
    def outputs(self) -> list[str]:
        """The names of the output columns for a row of a table."""
        answer = self.model.answer
        labels = [f"probability_{label}" for label in answer.votes] if isinstance(answer, Classes) else []
        fit = all(len(label.encode(errors="replace")) <= LONGEST_NAME and "\0" not in label for label in labels)
        if not fit or len({label.casefold() for label in labels}) < len(labels):
            labels = [f"probability_{k}" for k in range(len(labels))]
        return ["prediction", *labels, "rules", "decided_by"]

    @property
    def classes(self) -> list[Label] | None:
        """The labels, where the prediction is a class."""
        answer = self.model.answer
        return plain_labels(answer.labels) if isinstance(answer, Classes) else None

    @property
    def nearest(self) -> bool:
        """Whether probabilities are the shares nearest to the sums of votes, and not the shares of the sums."""
        return isinstance(self.model.answer, AddedClasses) and self.log_odds is None

    @property
    def log_odds(self) -> float | None:
        """What sums of votes are multiplied by before the softmax, if they are log-odds."""
        return self.model.answer.scale if isinstance(self.model.answer, LogOddsClasses) else None

    @property
    def fallback_adds_to_base(self) -> bool:
        """Whether the votes of rules that do not cover a row are added to the base, as those of covering rules are."""
        return self.log_odds is not None and self.answered_by in ("closest", "all")

    @cached_property
    def total_weight(self) -> float:
        """The total weight of the votes of the training data."""
        return float(self.model.answer.weight(self.model.totals[None])[0])

    @cached_property
    def always_has_votes(self) -> bool:
        """Whether every possible row gets votes."""
        answer = self.model.answer
        if isinstance(answer, AddedClasses):
            return True
        if self.model.adds_up and self.constant is not None:
            return True
        weight, base = answer.weight(self.model.votes), answer.weight(self.model.base[None])
        distant = answer.weight(self.model.votes_at_distance)
        return self.answered_by in ("closest", "constant") and bool(
            (weight > 0).all() and (distant > 0).all() and base[0] >= 0
        )
