"""The figures printed in the paper's supplement, compared with ours."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.resources import files
from typing import Any

import numpy as np
import pandas as pd

from rulecover.study.folds import SEED

#: The paper prints two decimals.
ROUNDING = 0.005

S2 = {"DT": "dt_accuracy", "RF": "rf_accuracy", "MIRCO": "mirco_accuracy"}
S3 = {key: f"{key.lower()}_accuracy" for key in ("RF", "ADA", "GB", "iniDT", "RCB")}
#: Other readings of what a column of Table S.3 was made by.
S3_READINGS = {"RCB-equal": S3["RCB"]}
MISSED = "mirco_missed_fraction"


def printed_table(table: str) -> Any:
    """A table of the supplement ("s1", "s2" or "s3"), a line for each data set."""
    with (files("rulecover.study") / "paper" / f"table_{table}.csv").open() as file:
        return pd.read_csv(file, index_col="dataset")


def shown_seed(frame: Any) -> int:
    """The paper's seed, or the smallest where that was not run."""
    seeds = set(frame["seed"])
    return SEED if SEED in seeds else int(min(seeds))


def of_one_seed(frame: Any) -> Any:
    """The cells of the seed that tables show."""
    return frame[frame["seed"] == shown_seed(frame)]


def finished_cells(frame: Any) -> Any:
    """The cells of one seed, without models on data sets where some folds are still to be run."""
    one = of_one_seed(frame)
    folds = one.groupby(["dataset", "model"])["fold"].transform("count")
    return one[folds == folds.max()]


def comparable(frame: Any) -> tuple[Any, list[str]]:
    """The finished cells of data sets on which at least half of the models were run; what is left out, in sentences."""
    one = finished_cells(frame)
    models = one.groupby("dataset")["model"].nunique()
    rare = models[2 * models < one["model"].nunique()]
    named = ", ".join(f"{name} ({count})" for name, count in rare.items())
    total = one["model"].nunique()
    notes = [f"Data sets left out, on which fewer than half of the {total} models were run: {named}."] if named else []
    return one[~one["dataset"].isin(rare.index)], notes


def means(frame: Any, measure: str) -> tuple[Any, Any, Any]:
    """Mean, sample standard deviation and number of folds, data sets x models."""
    if measure not in frame:
        frame = frame.assign(**{measure: np.nan})
    groups = frame.groupby(["dataset", "model"])[measure]
    return groups.mean().unstack(), groups.std().unstack(), groups.count().unstack()


def compared_with_paper(frame: Any, table: str, models: Mapping[str, str | None], measure: str = "accuracy") -> Any:
    """Ours and the paper's, a line for each data set and model; a model that is not in the paper has no column there.

    Columns: mean and std of ours over the folds, folds, printed mean and std, their difference, and whether it is
    within one printed standard deviation, allowing for the rounding.
    """
    mean, std, count = means(frame, measure)
    theirs = printed_table(table)
    lines = []
    for name in in_order(mean.index):
        for model, column in models.items():
            if model not in mean.columns or not count.loc[name, model] > 0:
                continue
            known = column is not None and name in theirs.index
            paper, spread = (theirs.loc[name, f"{column}_{kind}"] if known else np.nan for kind in ("mean", "std"))
            difference = mean.loc[name, model] - paper
            lines.append(
                {
                    "dataset": name,
                    "model": model,
                    "measure": measure,
                    "mean": mean.loc[name, model],
                    "std": std.loc[name, model],
                    "folds": int(count.loc[name, model]),
                    "paper_mean": paper,
                    "paper_std": spread,
                    "difference": difference,
                    "within_std": bool(abs(difference) <= spread + ROUNDING + 1e-9) if known else None,
                }
            )
    return pd.DataFrame(lines)


def in_order(names: Any) -> list[str]:
    """Data sets as in Table S.1, others after them by name."""
    order = list(printed_table("s1").index)
    return sorted(names, key=lambda name: (order.index(name) if name in order else len(order), name))
