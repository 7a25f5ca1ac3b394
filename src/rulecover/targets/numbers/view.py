"""How views show numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from rulecover.rules.view import SUPPORT, Column, clauses_cell
from rulecover.show.cells import Head, RuleCells, TableCell
from rulecover.show.numbers import amount, format_number, format_signed
from rulecover.show.text import percent
from rulecover.targets.classes.view import whole

if TYPE_CHECKING:
    from rulecover.rules.rule import Rule
    from rulecover.rules.ruleset import RuleSet
    from rulecover.targets.numbers.evidence import NumberEvidence


_MET = (
    Column("mean", lambda rule: format_number(float(rule.prediction))),
    Column("spread", lambda rule: format_number(rule.spread or 0.0)),
    SUPPORT,
)
_FITTED = (Column("adds", lambda rule: format_signed(rule.adds or 0.0)), *_MET)


@dataclass(frozen=True, eq=False)
class NumberView:
    """Rules that predict a number; see `TargetView`."""

    seen: NumberEvidence

    measure: ClassVar[str] = "R²"

    @property
    def columns(self) -> tuple[Column, ...]:
        return _MET if self.seen.adds is None else _FITTED

    @property
    def figures(self) -> dict[str, Any]:
        seen = self.seen
        figures = {
            "support": whole(seen.support),
            "share": seen.support / seen.total,
            "mean": seen.mean,
            "spread": seen.spread,
        }
        return figures if seen.adds is None else figures | {"adds": seen.adds}

    @property
    def kind(self) -> str:
        mean, spread = self.seen.of_all
        return f"numbers, {format_number(mean)} ± {format_number(spread)}"

    @property
    def naive(self) -> tuple[str, Any]:
        return "mean of all rows", self.seen.of_all[0]

    def score(self, predictions: Any, y: Any) -> float:
        """R², 1 for equal numbers and 0 for their mean."""
        from sklearn.metrics import r2_score

        return float(r2_score(y, predictions))

    def fidelity_in_words(self, fidelity: float) -> str:
        share = percent(min(1.0, max(0.0, fidelity)))
        return f"The rules explain {share} of the variance of the model they come from on the held-out rows."

    def conclusion(self, rule: Rule) -> str:
        assert rule.support is not None and rule.spread is not None
        all_of = amount(rule.support)
        rows = "row" if all_of == "1" else "rows"
        found = f"{format_number(float(rule.prediction))} ± {format_number(rule.spread)} over {all_of} {rows}"
        if rule.adds is None:
            return found
        return f"{format_signed(rule.adds)} (the mean is {found})"

    def vote_text(self, vote: Sequence[float]) -> str:
        return format_signed(vote[0])

    def as_voting(self, rule: Rule, vote: Sequence[float]) -> Rule:
        return rule

    def start_in_words(self, votes: Sequence[Sequence[float]]) -> list[str]:
        if self.seen.default is None:
            return []
        return [f"Every row begins with {format_number(self.seen.default)}, and the rules that cover it add to that."]

    def fidelity_in_figures(self, fidelity: float) -> tuple[str, str]:
        return "R² with the model", f"{fidelity:.3f}"

    def report(self, rules: RuleSet, votes: Sequence[tuple[float, ...]]) -> RuleCells:
        mean, spread = self.seen.mean, self.seen.spread
        ends = np.concatenate([mean - spread, mean + spread]) if len(rules) else np.array(self.seen.of_all[:1])
        low, high = float(ends.min()), float(ends.max())
        about = (
            "" if self.seen.adds is not None else "The prediction for a row is the mean of the rules that cover it. "
        )
        return RuleCells(
            heads=tuple(head for head in _HEADS if head.name != "Adds" or self.seen.adds is not None),
            rows=tuple(self._cells(j, rule, low, (high - low) or 1.0) for j, rule in enumerate(rules)),
            about=f"{about}The bar shows the mean of the training rows that a rule covers, and their spread, from "
            f"{format_number(low)} to {format_number(high)}.",
        )

    def _cells(self, j: int, rule: Rule, low: float, reach: float) -> tuple[TableCell, ...]:
        assert rule.support is not None and rule.spread is not None
        mean, spread, share = float(rule.prediction), rule.spread, rule.support / self.seen.total
        span = 100 * (mean - spread - low) / reach, 100 * (mean - low) / reach, 200 * spread / reach
        adds = () if rule.adds is None else (TableCell(format_signed(rule.adds), rule.adds),)
        return (
            TableCell(str(j), j),
            clauses_cell(rule),
            *adds,
            TableCell(format_number(mean), mean),
            TableCell(format_number(spread), spread),
            TableCell(f"{format_number(mean)} ± {format_number(spread)}", mean, span=span),
            TableCell(amount(rule.support), rule.support),
            TableCell(percent(share), share),
        )


_HEADS = (
    Head("Rule", falling=False),
    Head("If", "clauses", falling=False),
    Head("Adds", meaning="What is added to the prediction for a row that the rule covers."),
    Head("Mean", meaning="Mean of the training rows that the rule covers."),
    Head("Spread", meaning="Their standard deviation."),
    Head("Range", "range"),
    Head("Support", meaning="Training rows that the rule covers; several rules may cover a row."),
    Head("Share", meaning="Support over all training rows."),
)
