"""How views show what rules predict: a class, or a number."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from rulecover.rules.rule import Rule
from rulecover.show.cells import RuleCells, TableCell
from rulecover.show.numbers import amount
from rulecover.show.text import printable

if TYPE_CHECKING:
    from rulecover.rules.ruleset import RuleSet


@dataclass(frozen=True)
class Column:
    """A column of the table of rules: its name, its cell for a rule, and whether it is aligned to the right."""

    name: str
    cell: Callable[[Rule], str]
    right: bool = True


SUPPORT = Column("support", lambda rule: amount(rule.support or 0.0))


class TargetView(Protocol):
    """What views need to know of a kind of target, for one set of rules with evidence."""

    @property
    def columns(self) -> tuple[Column, ...]:
        """The columns between the number of a rule and its clauses."""

    @property
    def figures(self) -> dict[str, Any]:
        """Columns of a data frame, one row per rule."""

    @property
    def kind(self) -> str:
        """What is predicted, in a few words."""

    @property
    def measure(self) -> str:
        """The name of the score."""

    @property
    def naive(self) -> tuple[str, Any]:
        """The prediction without rules: its name and its value for every row."""

    def score(self, predictions: Any, y: Any) -> float:
        """How good predictions are."""

    def fidelity_in_words(self, fidelity: float) -> str:
        """How well the rules follow their model."""

    def conclusion(self, rule: Rule) -> str:
        """What follows from a rule, and how sure it is, for the end of a sentence."""

    def vote_text(self, vote: Sequence[float]) -> str:
        """What a rule with a fitted vote adds, in place of the first of the columns."""

    def as_voting(self, rule: Rule, vote: Sequence[float]) -> Rule:
        """The rule with the class that its fitted vote is for, and the share of that class."""

    def start_in_words(self, votes: Sequence[Sequence[float]]) -> list[str]:
        """The base that rules add to, which is the first of the votes; empty without votes."""

    def fidelity_in_figures(self, fidelity: float) -> tuple[str, str]:
        """The same as a name and a figure."""

    def report(self, rules: RuleSet, votes: Sequence[tuple[float, ...]]) -> RuleCells:
        """The table of the report; votes are given where they were fitted."""


def clauses_cell(rule: Rule) -> TableCell:
    """The clauses of a rule; sorted by their number."""
    clauses = tuple(printable(str(clause)) for clause in rule.clauses)
    return TableCell(" and ".join(clauses) or "always", len(clauses), clauses=clauses or ("always",))
