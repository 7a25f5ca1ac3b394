"""Everything recorded of every model, side by side."""

from __future__ import annotations

from typing import Any

import pandas as pd

from rulecover.study.paper import finished
from rulecover.study.sheets import Sheet

#: What is shown of a model, under which heading, times what, with how many digits.
_SHOWN = (
    ("accuracy", "accuracy", 1.0, 3),
    ("balanced_accuracy", "balanced accuracy", 1.0, 3),
    ("log_loss", "log loss", 1.0, 3),
    ("rules", "rules or leaves", 1.0, 0),
    ("clauses", "clauses a rule", 1.0, 1),
    ("missed", "missed, %", 100.0, 1),
    ("fit_seconds", "fit, s", 1.0, 3),
    ("predict_seconds", "predict, ms", 1000.0, 1),
)


def side_by_side(frame: Any) -> Sheet:
    """Means over all data sets, of models that were run on all, and over those that every model was run on."""
    one = finished(frame)
    one = one.assign(**{measure: float("nan") for measure, *_ in _SHOWN if measure not in one})
    means = one.groupby(["model", "dataset"])[[measure for measure, *_ in _SHOWN]].mean()
    sets = {model: set(group.index.get_level_values("dataset")) for model, group in means.groupby("model")}
    every = set.union(*sets.values())
    few = {model: have for model, have in sets.items() if len(have) < len(every) / 2}
    sets = {model: have for model, have in sets.items() if model not in few}
    shared = set.intersection(*sets.values())
    groups = {f"all {len(every)}": every}
    if shared and shared != every:
        groups[f"the {len(shared)} that all have"] = shared
    tables = []
    for label, names in groups.items():
        models = [model for model, have in sets.items() if names <= have]
        chosen = means.loc[means.index.get_level_values("dataset").isin(names)].loc[models]
        mean = chosen.groupby("model").mean().sort_values("accuracy", ascending=False)
        tables.append(mean.assign(data_sets=label).reset_index())
    table = pd.concat(tables, ignore_index=True)
    rows = [
        [
            line["data_sets"],
            line["model"],
            *(_shown(line[measure], times, digits) for measure, _, times, digits in _SHOWN),
        ]
        for _, line in table.iterrows()
    ]
    head = ["data sets", "model", *(heading for _, heading, _, _ in _SHOWN)]
    notes = [
        "Means over the data sets of the means over the folds. Fit: the last fit on a training part, without tuning; "
        "predict: a test part. MIRCO's fit is the cover alone, RF's the forest alone.",
        "Rules or leaves: leaves of trees and boosted trees, terms of RuleFit and EBM, rules of the others.",
    ]
    if few:
        named = ", ".join(f"{model} ({len(have)})" for model, have in few.items())
        notes.append(f"Left out, since they were run on fewer than half of the data sets so far: {named}.")
    return Sheet("models", "All models side by side", head, rows, table, notes)


def _shown(value: float, times: float, digits: int) -> str:
    return "–" if pd.isna(value) else f"{times * value:.{digits}f}"
