"""How views show classes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from rulecover.rules.view import SUPPORT, Column, clauses_cell
from rulecover.show.cells import BarPart, Head, RuleCells, TableCell, colour
from rulecover.show.numbers import amount
from rulecover.show.text import percent, printable

#: The most classes whose default votes a sentence names.
_MOST_DEFAULTS = 5

if TYPE_CHECKING:
    from rulecover.rules.rule import Rule
    from rulecover.rules.ruleset import RuleSet
    from rulecover.targets.classes.evidence import ClassEvidence


@dataclass(frozen=True, eq=False)
class ClassView:
    """Rules that predict a class; see `TargetView`."""

    seen: ClassEvidence

    measure: ClassVar[str] = "accuracy"
    columns: ClassVar[tuple[Column, ...]] = (
        Column("then", lambda rule: printable(str(rule.prediction)), right=False),
        SUPPORT,
        Column("purity", lambda rule: percent(rule.purity or 0.0)),
    )

    @property
    def figures(self) -> dict[str, Any]:
        seen, best, samples = self.seen, self.seen.best, self.seen.samples
        return {
            "support": whole(samples),
            "share": samples / seen.n_samples,
            "prediction": seen.classes[best],
            "purity": seen.purity,
            "lift": seen.purity / (seen.all_counts[best] / seen.n_samples),
            **{f"count_{label}": whole(seen.counts[:, k]) for k, label in enumerate(seen.classes)},
        }

    @property
    def kind(self) -> str:
        return f"{len(self.seen.classes):,} {'class' if len(self.seen.classes) == 1 else 'classes'}"

    @property
    def naive(self) -> tuple[str, Any]:
        return "most frequent class", self.seen.classes[self.seen.all_counts.argmax()]

    def score(self, predictions: Any, y: Any) -> float:
        """The share of correct predictions."""
        return float(np.mean(np.asarray(predictions) == np.asarray(y)))

    def fidelity_in_words(self, fidelity: float) -> str:
        return f"The rules agree with the model they come from on {percent(fidelity)} of the held-out rows."

    def conclusion(self, rule: Rule) -> str:
        assert rule.counts is not None and rule.support is not None and rule.purity is not None
        right, all_of = amount(rule.counts[rule.prediction]), amount(rule.support)
        rows = "row" if all_of == "1" else "rows"
        return f"{printable(str(rule.prediction))}: {right} of {all_of} {rows}, {percent(rule.purity)}"

    def vote_text(self, vote: Sequence[float]) -> str:
        """The class to which the vote adds most, and how much."""
        most = max(vote)
        return f"{self.seen.classes.tolist()[list(vote).index(most)]} {most:+.2g}"

    def as_voting(self, rule: Rule, vote: Sequence[float]) -> Rule:
        assert rule.counts is not None and rule.support is not None
        label = self.seen.classes.tolist()[list(vote).index(max(vote))]
        return replace(rule, prediction=label, purity=rule.counts[label] / rule.support)

    def start_in_words(self, votes: Sequence[Sequence[float]]) -> list[str]:
        if not votes:
            return []
        if not any(votes[0]):
            return ["The votes of the rules that cover a row are added; the class with the most votes is predicted."]
        classes = [printable(str(label)) for label in self.seen.classes.tolist()]
        largest = sorted(range(len(classes)), key=lambda k: -abs(votes[0][k]))[:_MOST_DEFAULTS]
        shown = range(len(classes)) if len(classes) <= _MOST_DEFAULTS + 1 else sorted(largest)
        default = ", ".join(f"{votes[0][k]:+.3g} for {classes[k]}" for k in shown)
        default += "" if len(shown) == len(classes) else f", … ({len(classes) - len(shown)} more classes)"
        return [f"Every row begins with the default vote, {default}; the votes of the rules that cover it are added."]

    def fidelity_in_figures(self, fidelity: float) -> tuple[str, str]:
        return "Agreement with the model", percent(fidelity)

    def report(self, rules: RuleSet, votes: Sequence[tuple[float, ...]]) -> RuleCells:
        names = tuple(printable(str(label)) for label in self.seen.classes.tolist())
        best = [vote.index(max(vote)) for vote in votes] if votes else self.seen.best.tolist()
        added = [f" {max(vote):+.2g}" for vote in votes] if votes else [""] * len(rules)
        return RuleCells(
            heads=_HEADS,
            rows=tuple(
                self._cells(j, self.as_voting(rule, votes[j]) if votes else rule, names, best[j], added[j])
                for j, rule in enumerate(rules)
            ),
            about="Every rule that covers a row votes. The bar shows the classes among the training rows that the rule "
            "covers.",
            classes=tuple((name, colour(k)) for k, name in enumerate(names)),
            thens=tuple(best),
        )

    def _cells(self, j: int, rule: Rule, names: tuple[str, ...], best: int, added: str) -> tuple[TableCell, ...]:
        assert rule.counts is not None and rule.support is not None and rule.purity is not None
        mix = tuple(
            BarPart(names[k], colour(k), amount(count), count / rule.support)
            for k, count in enumerate(rule.counts.values())
            if count
        )
        share = rule.support / self.seen.n_samples
        of_all = float(self.seen.all_counts[best] / self.seen.n_samples)
        lift = rule.purity / of_all if of_all else 0.0  # a class without a row, where all were held out
        return (
            TableCell(str(j), j),
            clauses_cell(rule),
            TableCell(names[best] + added, names[best], colour=colour(best)),
            TableCell(", ".join(f"{part.name} {part.rows}" for part in mix), rule.purity, mix=mix),
            TableCell(amount(rule.support), rule.support),
            TableCell(percent(share), share),
            TableCell(percent(rule.purity), rule.purity),
            TableCell(f"{lift:.2f}", lift),
        )


_HEADS = (
    Head("Rule", falling=False),
    Head("If", "clauses", falling=False),
    Head("Then", "label", falling=False),
    Head("Classes", "mix"),
    Head("Support", meaning="Training rows that the rule covers; several rules may cover a row."),
    Head("Share", meaning="Support over all training rows."),
    Head("Purity", meaning="Share of the class under Then among these rows."),
    Head("Lift", meaning="Purity over the share of that class in all training rows."),
)


def whole(sums: Any) -> Any:
    """Counts as integers where nothing was weighted."""
    return sums.astype(np.int64) if (sums == np.round(sums)).all() else sums
