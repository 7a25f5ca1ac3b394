"""How the views speak of classes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from rulecover.view.target import SAMPLES, Column
from rulecover.view.text import percent, printable

if TYPE_CHECKING:
    from rulecover.evidence import ClassEvidence
    from rulecover.rules import RuleSet


@dataclass(frozen=True, eq=False)
class ClassView:
    """Rules that predict a class; see `TargetView`."""

    seen: ClassEvidence

    measure: ClassVar[str] = "accuracy"
    columns: ClassVar[tuple[Column, ...]] = (
        Column("then", lambda rule: printable(str(rule.prediction)), right=False),
        SAMPLES,
        Column("purity", lambda rule: percent(rule.purity or 0.0)),
    )

    @property
    def figures(self) -> dict[str, Any]:
        seen, best, support = self.seen, self.seen.best, self.seen.support
        purity = seen.shares.max(axis=1, initial=0.0)
        return {
            "support": whole(support),
            "share": support / seen.total,
            "prediction": seen.classes[best],
            "purity": purity,
            "lift": purity / (seen.totals[best] / seen.total),
            **{f"count_{label}": whole(seen.sums[:, k]) for k, label in enumerate(seen.classes)},
        }

    @property
    def kind(self) -> str:
        return f"{len(self.seen.classes):,} {'class' if len(self.seen.classes) == 1 else 'classes'}"

    @property
    def naive(self) -> tuple[str, Any]:
        return "most frequent class", self.seen.classes[self.seen.totals.argmax()]

    def score(self, answers: Any, y: Any) -> float:
        """The share of right answers."""
        return float(np.mean(np.asarray(answers) == np.asarray(y)))

    def fidelity_in_words(self, fidelity: float) -> str:
        return f"The rules agree with the model they come from on {percent(fidelity)} of the held-out rows."

    def speaks_for(self, vote: Sequence[float]) -> str:
        """The class to which the vote adds most, and how much."""
        most = max(vote)
        return f"{self.seen.classes.tolist()[list(vote).index(most)]} {most:+.2g}"

    def start_in_words(self, votes: Sequence[Sequence[float]]) -> list[str]:
        if not votes:
            return []
        classes = [printable(str(label)) for label in self.seen.classes.tolist()]
        default = ", ".join(f"{value:+.3g} for {label}" for label, value in zip(classes, votes[0], strict=True))
        return [f"Every row begins with the default vote, {default}; the votes of the rules that it meets are added."]

    def report(self, rules: RuleSet, votes: Sequence[tuple[float, ...]]) -> dict[str, Any]:
        from rulecover.view.report import part_on_classes

        return part_on_classes(rules, self.seen, votes)


def whole(sums: Any) -> Any:
    """Counts as integers where nothing was weighted."""
    return sums.astype(np.int64) if (sums == np.round(sums)).all() else sums
