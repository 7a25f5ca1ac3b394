"""Which rules decided for a row, and how a fallback did."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from rulecover.typing import Bools, Floats
from rulecover.voting.fallback import Fallback
from rulecover.voting.vote import Vote

if TYPE_CHECKING:
    import pandas as pd


def reasons(vote: Vote, fallback: Fallback, X: Any, tally: Floats, missed: Bools) -> pd.DataFrame:
    """One line for each row and rule that had a say; see `MIRCOClassifier.why`."""
    import pandas as pd

    fired, by = vote.rules.hits(X)
    rows, rules, weights = [fired], [by], [np.ones(len(fired))]
    lost = np.flatnonzero(missed)
    if lost.size:
        say = fallback.weights(vote, X[lost])
        who, rule = np.nonzero(say)
        rows.append(lost[who])
        rules.append(rule)
        weights.append(say[who, rule])
        silent = lost[~say.any(axis=1)]
        rows.append(silent)
        rules.append(np.full(len(silent), -1))
        weights.append(np.ones(len(silent)))
    row, rule, weight = np.concatenate(rows), np.concatenate(rules), np.concatenate(weights)
    order = np.lexsort((rule, -weight, row))
    row, rule, weight = row[order], rule[order], weight[order]
    said = np.where((rule >= 0)[:, None], vote.one_by_one(rule, weight, missed[row]), vote.as_one(tally)[row])
    text = np.array([*(r.text for r in vote.rules), ""], dtype=object)
    return pd.DataFrame(
        {
            "row": row,
            "prediction": vote.decided(tally)[row],
            "decided_by": np.where(missed[row], fallback.name, "rules"),
            "rule": rule,
            "text": text[rule],
            "weight": weight,
            **vote.columns(said),
        }
    )
