"""Tables S.1, S.2 and S.3 of the paper compared with ours, and tables for what the paper only plots."""

from __future__ import annotations

from collections.abc import Mapping
from math import isnan
from typing import Any

import pandas as pd

from rulecover.study.datasets import DATASETS, Data
from rulecover.study.paper import (
    MISSED,
    S2,
    S3,
    S3_READINGS,
    compared_with_paper,
    in_order,
    means,
    of_one_seed,
    printed_table,
    shown_seed,
)
from rulecover.study.sheets import Sheet

_CELLS = "Each cell: our mean (standard deviation over the folds) / the paper's."
_WITHIN = (
    "Within one std: how many of the differences are no larger than the printed standard deviation; the paper prints "
    "two decimals, so 0.005 more is allowed."
)


def table_s1(data: Mapping[str, Data], before: Any = None) -> Sheet:
    """What the data sets are, from the data as loaded.

    Parameters
    ----------
    data
        The data sets by name.
    before
        The numbers of an earlier table, whose other lines are kept.
    """
    lines = {} if before is None else {str(line["dataset"]): line for line in before.to_dict("records")}
    lines |= {name: _description(each) for name, each in data.items()}
    numbers = pd.DataFrame([lines[name] for name in in_order(lines)])
    paper = [column for column in numbers.columns if column.startswith("paper_")]
    numbers = numbers.astype(dict.fromkeys(paper, "Int64"))  # the user's own data sets have none
    return Sheet(
        "table_s1",
        "Table S.1: characteristics of the data sets",
        ["data set", "features", "classes", "samples", "difference"],
        [_characteristics(line) for line in numbers.to_dict("records")],
        numbers,
        ["Each cell: as trained on / as printed."],
    )


def _description(data: Data) -> dict[str, Any]:
    theirs, (samples, features) = printed_table("s1"), data.X.shape
    gaps = data.read[0] - samples
    dropped = f"{gaps} of {data.read[0]} rows have gaps and are dropped" if gaps else ""
    return {
        "dataset": data.name,
        **{"features": features, "classes": len(data.classes), "samples": samples},
        **{"features_read": data.read[1], "samples_read": data.read[0]},
        **(
            {f"paper_{key}": value for key, value in theirs.loc[data.name].items()} if data.name in theirs.index else {}
        ),
        "note": DATASETS[data.name].note if data.name in DATASETS else dropped,
    }


def _characteristics(line: dict[str, Any]) -> list[str]:
    cells = []
    for key in ("features", "classes", "samples"):
        paper = line.get(f"paper_{key}", pd.NA)
        cells.append(str(line[key]) if pd.isna(paper) else f"{line[key]} / {paper}")
    return [str(line["dataset"]), *cells, line["note"] if isinstance(line["note"], str) else ""]


def table_s2(frame: Any) -> Sheet:
    """MIRCO compared with the tree and the forest."""
    one = of_one_seed(frame)
    lines = pd.concat(
        [compared_with_paper(one, "s2", S2), compared_with_paper(one, "s2", {"MIRCO": MISSED}, "missed")],
        ignore_index=True,
    )
    rules, _, _ = means(one, "rules")
    columns = [(model, "accuracy") for model in S2] + [("MIRCO", "missed")]
    rows = _rows(lines, columns)
    for row in rows:
        row.append(" / ".join(_number(rules, row[0], model, 1) for model in S2))
    head = ["data set", "DT", "RF", "MIRCO", "missed", "largest difference", "within one std", "folds"]
    head.append("rules DT / RF / MIRCO")
    title = "Table S.2: MIRCO compared with the decision tree and the random forest"
    return Sheet("table_s2", title, head, rows, lines, [_CELLS, _WITHIN, _far(lines, 0.006)])


def table_s3(frame: Any) -> Sheet:
    """RCBoost compared with other boosting and its own first tree."""
    one = of_one_seed(frame)
    lines = compared_with_paper(one, "s3", S3)
    calls, _, _ = means(one, "calls")
    rules, _, _ = means(one, "rules")
    rows = _rows(lines, [(model, "accuracy") for model in S3])
    for row in rows:
        row += [_number(calls, row[0], "RCB", 1), _number(rules, row[0], "RCB", 0)]
    head = ["data set", *S3, "largest difference", "within one std", "folds", "RMP calls", "rules of RCB"]
    title = "Table S.3: RCBoost compared with forest, AdaBoost, gradient boosting and its first tree"
    return Sheet("table_s3", title, head, rows, lines, [_CELLS, _WITHIN, _far(lines, 0.02)])


def _far(lines: Any, limit: float) -> str:
    """The differences that need an explanation, in a sentence."""
    far = lines[lines["difference"].abs() > limit]
    named = [f"{line['dataset']} {line['model']} {line['difference']:+.3f}" for _, line in far.iterrows()]
    return f"Differences above {limit}: {', '.join(named) or 'none'}."


def _rows(lines: Any, columns: list[tuple[str, str]]) -> list[list[str]]:
    rows = []
    for name, group in lines.groupby("dataset", sort=False):
        found = group.set_index(["model", "measure"])
        cells = [_with_printed(found.loc[key]) if key in found.index else "–" for key in columns]
        known = group.dropna(subset="paper_mean")
        largest = f"{known['difference'].abs().max():.4f}" if len(known) else "–"
        within = f"{int(known['within_std'].sum())} of {len(known)}" if len(known) else "–"
        folds = sorted(set(group["folds"]))
        rows.append([str(name), *cells, largest, within, " to ".join(map(str, dict.fromkeys([folds[0], folds[-1]])))])
    return rows


def _with_printed(line: Any) -> str:
    ours = f"{line['mean']:.3f} ({line['std']:.2f})"
    return ours if isnan(line["paper_mean"]) else f"{ours} / {line['paper_mean']:.2f}"


def _number(values: Any, name: str, model: str, digits: int) -> str:
    if name not in values.index or model not in values.columns or isnan(values.loc[name, model]):
        return "–"
    return f"{values.loc[name, model]:.{digits}f}"


def table_of(frame: Any, measure: str, *, name: str, title: str, only: Any = None, digits: int = 3) -> Sheet:
    """One measure of every model on every data set, with its standard deviation."""
    one = of_one_seed(frame)
    mean, std, folds = means(one if only is None else one[one["dataset"].isin(only)], measure)
    mean = mean.loc[in_order(mean.index)].dropna(axis="columns", how="all")
    columns = {"mean": mean.stack(), "std": std.stack(), "folds": folds.where(folds > 0).stack()}
    numbers = pd.concat(columns, axis="columns").reset_index().dropna(subset="mean").astype({"folds": int})
    most = numbers["folds"].max()
    cells = {
        (line["dataset"], line["model"]): _with_spread(line, digits) + _few_folds(line["folds"], most)
        for line in numbers.to_dict("records")
    }
    rows = [[dataset, *(cells.get((dataset, model), "–") for model in mean.columns)] for dataset in mean.index]
    notes = ["Each cell: mean (standard deviation over the folds)."]
    return Sheet(name, title, ["data set", *mean.columns], rows, numbers.assign(measure=measure), notes)


def _with_spread(line: Mapping[str, Any], digits: int) -> str:
    spread = "" if isnan(line["std"]) else f" ({line['std']:.{min(digits, 2)}f})"
    return f"{line['mean']:.{digits}f}{spread}"


def _few_folds(folds: int, most: int) -> str:
    return "" if folds == most else f", {folds} of {most} folds"


def seeds_table(frame: Any) -> Sheet | None:
    """Models that were run with other seeds than the one that is shown, over all of them; none if there are none."""
    others = set(frame.loc[frame["seed"] != shown_seed(frame), "model"])
    if not others:
        return None
    known = S3 | S3_READINGS
    own: dict[str, str | None] = dict.fromkeys(sorted(others - set(known) - set(S2)))
    tables: list[tuple[str, Mapping[str, str | None]]] = [("s3", known), ("s2", S2), ("s3", own)]
    parts = [
        compared_with_paper(frame, table, {m: c for m, c in models.items() if m in others}) for table, models in tables
    ]
    lines = pd.concat([part for part in parts if len(part)], ignore_index=True).drop_duplicates(["dataset", "model"])
    rows = [
        [line["dataset"], line["model"], _with_printed(line), _signed(line["difference"]), str(line["folds"])]
        for _, line in lines.iterrows()
    ]
    notes = [
        f"{model}: mean {group['mean'].mean():.4f}, the paper's {group['paper_mean'].mean():.4f}; within 0.03 of it or "
        f"better on {int((group['difference'] >= -0.03).sum())} of {len(group)} data sets."
        for model, group in lines.dropna(subset="paper_mean").groupby("model", sort=False)
    ]
    seeds = ", ".join(map(str, sorted(set(frame["seed"]))))
    return Sheet(
        "seeds",
        f"Over seeds {seeds}",
        ["data set", "model", "accuracy", "difference", "folds"],
        rows,
        lines,
        [_CELLS, *notes],
    )


def _signed(difference: float) -> str:
    return "–" if isnan(difference) else f"{difference:+.3f}"
