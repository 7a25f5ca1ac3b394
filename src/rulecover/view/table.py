"""The rows that every view shows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import numpy as np

if TYPE_CHECKING:
    import pandas as pd

    from rulecover.evidence import ClassEvidence
    from rulecover.rules import RuleSet


def rule_frame(rules: RuleSet) -> pd.DataFrame:
    """One row a rule; see `RuleSet.to_frame`."""
    import pandas as pd

    columns: dict[str, Any] = {"rule": [rule.text for rule in rules], "clauses": rules.lengths}
    if rules.evidence is not None:
        seen = cast("ClassEvidence", rules.evidence)
        best, support = seen.best, seen.support
        purity = seen.shares.max(axis=1, initial=0.0)
        columns |= {
            "support": _whole(support),
            "share": support / seen.totals.sum(),
            "prediction": seen.classes[best],
            "purity": purity,
            "lift": purity / (seen.totals[best] / seen.totals.sum()),
        }
        columns |= {f"count_{label}": _whole(seen.sums[:, k]) for k, label in enumerate(seen.classes)}
        columns |= {"impurity": seen.impurity, "cost": seen.cost}
    return pd.DataFrame(columns)


def _whole(sums: Any) -> Any:
    """Counts as integers where nothing was weighted."""
    return sums.astype(np.int64) if (sums == np.round(sums)).all() else sums
