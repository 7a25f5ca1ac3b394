"""The rows that every view shows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas as pd

    from rulecover.rules.ruleset import RuleSet


def rule_frame(rules: RuleSet) -> pd.DataFrame:
    """One row per rule; see `RuleSet.to_frame`."""
    import pandas as pd

    columns: dict[str, Any] = {"rule": [rule.text for rule in rules], "clauses": rules.lengths}
    seen = rules.evidence
    if seen is not None:
        columns |= {**seen.view.figures, "impurity": seen.impurity, "cost": seen.cost}
    return pd.DataFrame(columns)
