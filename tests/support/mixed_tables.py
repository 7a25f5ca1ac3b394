"""Tables as people have them, with texts, truth values, categories, dates and gaps."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd


def mixed_table(n_rows: int, seed: int) -> tuple[Any, Any]:
    """A table with a column of every kind, gaps in most of them, and classes that depend on some."""
    rng = np.random.default_rng(seed)
    age = rng.integers(18, 70, n_rows).astype(float)
    colour = rng.choice(["red", "green", "blue", "dark red"], n_rows).astype(object)
    days = pd.Timestamp("2019-06-01") + pd.to_timedelta(rng.integers(0, 900, n_rows), unit="D")
    table = pd.DataFrame(
        {
            "age": _with_gaps(age, rng),
            "children": rng.integers(0, 5, n_rows),
            "income": rng.lognormal(7, 1, n_rows),
            "colour": _with_gaps(colour, rng),
            "over, time": rng.choice(["No", "Yes"], n_rows),
            "paid": rng.random(n_rows) < 0.4,
            "size": pd.Categorical(rng.choice(["S", "M", "L"], n_rows), categories=["S", "M", "L", "XL"]),
            "grade": pd.Categorical(rng.integers(1, 4, n_rows)),
            "hired": pd.Series(days).where(rng.random(n_rows) < 0.9).to_numpy(),
        }
    )
    score = (colour == "red") + 2 * (table["over, time"] == "Yes") + (days.month > 6) + rng.normal(0, 0.4, n_rows)
    y = np.where(score > np.median(score), "yes", "no")
    y[:2] = "yes", "no"
    return table, y


def _with_gaps(values: Any, rng: np.random.Generator) -> Any:
    return pd.Series(values).where(rng.random(len(values)) < 0.85).to_numpy()


def odd_rows(table: Any) -> Any:
    """Rows with levels that the table does not have, and gaps in all columns."""
    rows = pd.concat([table.iloc[:4]] * 3, ignore_index=True).astype(
        {name: object for name in table.columns if table[name].dtype.kind not in "fM"}
    )
    rows.loc[:3, ["colour", "over, time", "size", "grade"]] = "never seen"
    rows.loc[4:7, ["colour", "over, time", "paid", "size", "grade", "hired"]] = None
    rows.loc[6:9, ["age", "income"]] = np.nan
    rows.loc[8:, "hired"] = pd.Timestamp("1931-02-03")
    return rows
