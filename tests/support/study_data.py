"""Small data sets in the form of the study's folder, written from what comes with scikit-learn."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
from sklearn.datasets import load_iris, load_wine


def write_data(folder: Path) -> Path:
    """wine.csv, a data set of the paper, and iris.csv, which is none."""
    folder.mkdir(exist_ok=True)
    for name, load in (("wine", load_wine), ("iris", load_iris)):
        X, y = load(return_X_y=True)
        table = pd.DataFrame(X, columns=[f"x{f}" for f in range(X.shape[1])])
        table.assign(target=y).to_csv(folder / f"{name}.csv", index=False)
    return folder
