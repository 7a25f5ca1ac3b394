"""Everything recorded of every model, side by side."""

from __future__ import annotations

from typing import Any

import pandas as pd

from rulecover.study.paper import comparable
from rulecover.study.sheets import Sheet

#: What is shown of a model, under which heading, times what, with how many digits.
_SHOWN = (
    ("accuracy", "accuracy", 1.0, 3),
    ("balanced_accuracy", "balanced accuracy", 1.0, 3),
    ("log_loss", "log loss", 1.0, 3),
    ("rules", "rules or leaves", 1.0, 0),
    ("clauses", "clauses per rule", 1.0, 1),
    ("missed", "missed, %", 100.0, 1),
    ("fit_seconds", "fit, s", 1.0, 3),
    ("predict_seconds", "predict, ms", 1000.0, 1),
)


def side_by_side(frame: Any) -> Sheet:
    """Means over all data sets, of models that were run on all, and over those that every model was run on."""
    one, notes = comparable(frame)
    one = one.assign(**{measure: float("nan") for measure, *_ in _SHOWN if measure not in one})
    means = one.groupby(["model", "dataset"])[[measure for measure, *_ in _SHOWN]].mean()
    sets = {model: set(group.index.get_level_values("dataset")) for model, group in means.groupby("model")}
    every = set(one["dataset"])
    most = {model: have for model, have in sets.items() if 2 * len(have) >= len(every)}
    tables = []
    for label, names in _groups(every, list(most.values())).items():
        models = [model for model, have in most.items() if names <= have]
        chosen = means.loc[means.index.get_level_values("dataset").isin(names)].loc[models]
        mean = chosen.groupby("model").mean().sort_values("accuracy", ascending=False)
        tables.append(mean.assign(data_sets=label).reset_index())
    shown = {model for table in tables for model in table["model"]}
    if absent := [f"{model} ({len(have)})" for model, have in sets.items() if model not in shown]:
        notes.append(
            f"Models left out because they were run on too few of the {len(every)} data sets: {', '.join(absent)}."
        )
    return _sheet(tables, notes)


def _groups(every: set[str], sets: list[set[str]]) -> dict[str, set[str]]:
    """The data sets to average over, by what they are called."""
    shared = set.intersection(*sets) if sets else set()
    groups = {f"all {len(every)}": every} if every else {}
    return groups | {f"the {len(shared)} that all have": shared} if shared and shared != every else groups


def _sheet(tables: list[Any], notes: list[str]) -> Sheet:
    columns = ["data_sets", "model", *(measure for measure, *_ in _SHOWN)]
    table = pd.concat(tables, ignore_index=True) if tables else pd.DataFrame(columns=columns)
    rows = [
        [
            line["data_sets"],
            line["model"],
            *(_shown(line[measure], times, digits) for measure, _, times, digits in _SHOWN),
        ]
        for _, line in table.iterrows()
    ]
    head = ["data sets", "model", *(heading for _, heading, _, _ in _SHOWN)]
    explained = [
        "Means over the data sets of the means over the folds. Fit: the last fit on a training part, without tuning; "
        "predict: a test part. RF's fit is that of the forest alone; MIRCO and RUX take this forest as it is, and "
        "theirs is the choice of rules alone.",
        "Rules or leaves: leaves of trees and boosted trees, terms of RuleFit and EBM, rules of the others. Conditions "
        "on one feature are one clause.",
    ]
    return Sheet("models", "All models side by side", head, rows, table, [*explained, *notes])


def _shown(value: float, times: float, digits: int) -> str:
    return "–" if pd.isna(value) else f"{times * value:.{digits}f}"
