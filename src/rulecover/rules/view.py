"""How the views speak of what rules predict: a class, or a number."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from rulecover.rules.rule import Rule
from rulecover.show.cells import Cell, RuleCells
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


SAMPLES = Column("samples", lambda rule: amount(rule.support or 0.0))


class TargetView(Protocol):
    """What the views need to know of a kind of target, for one set of rules that has met data."""

    @property
    def columns(self) -> tuple[Column, ...]:
        """What stands between the number of a rule and its condition."""

    @property
    def figures(self) -> dict[str, Any]:
        """Columns of a data frame, one row a rule."""

    @property
    def kind(self) -> str:
        """What is predicted, in a few words."""

    @property
    def measure(self) -> str:
        """What models are scored by."""

    @property
    def naive(self) -> tuple[str, Any]:
        """The answer without rules: its name, and what it says of every row."""

    def score(self, answers: Any, y: Any) -> float:
        """How good answers are."""

    def fidelity_in_words(self, fidelity: float) -> str:
        """How well the rules follow their model."""

    def conclusion(self, rule: Rule) -> str:
        """What follows from a rule, and how sure it is, for the end of a sentence."""

    def speaks_for(self, vote: Sequence[float]) -> str:
        """What a rule with a fitted vote says, in place of the first of the columns."""

    def start_in_words(self, votes: Sequence[Sequence[float]]) -> list[str]:
        """What every row begins with before any rule adds to it, the first of the votes; nothing without votes."""

    def fidelity_in_figures(self, fidelity: float) -> tuple[str, str]:
        """The same as a name and a figure."""

    def report(self, rules: RuleSet, votes: Sequence[tuple[float, ...]]) -> RuleCells:
        """The table of the report; votes are given where they were fitted."""


def clauses_cell(rule: Rule) -> Cell:
    """The conditions of a rule, sorted by their number."""
    clauses = tuple(printable(str(clause)) for clause in rule.clauses)
    return Cell(" and ".join(clauses) or "always", len(clauses), clauses=clauses or ("always",))
