"""The paper's data sets from a folder of CSV files, prepared as the authors prepared them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd

#: In the order of Table S.1.
NAMES = [
    "banknote",
    "ildp",
    "ionosphere",
    "transfusion",
    "liver",
    "tic-tac-toe",
    "wdbc",
    "mammography",
    "diabetes",
    "oilspill",
    "phoneme",
    "seeds",
    "wine",
    "glass",
    "ecoli",
]


def load(folder: Path, name: str) -> tuple[pd.DataFrame, np.ndarray]:
    """Features and labels: rows with missing values dropped, text one-hot encoded without its first level."""
    path = folder / f"{name}.csv"
    if not path.exists():
        raise SystemExit(
            f"{path} is not there; --data must name a folder with one CSV file a data set: {', '.join(NAMES)}"
        )
    table = pd.read_csv(path).dropna()
    y = table.pop("target").to_numpy()
    if name == "ildp":  # the authors code Female as 1, where one-hot encoding would code Male
        table["gender"] = (table["gender"] == "Female").astype(int)
    return pd.get_dummies(table, drop_first=True, dtype=float).astype(float), np.unique(y, return_inverse=True)[1]


def known(names: str) -> list[str]:
    """The data sets of a list with commas, if all of them are known."""
    asked = names.split(",")
    unknown = sorted(set(asked) - set(NAMES))
    if unknown:
        raise SystemExit(f"unknown data sets: {', '.join(unknown)}; there are {', '.join(NAMES)}")
    return asked
