"""Small random data sets of every kind that a model can be trained on, and rows to ask it about."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import pandas as pd
from scipy.sparse import csr_array

Target = Literal["classes", "numbers"]

LABELS = (
    np.array(["no", "yes"]),
    np.array([0, 1, 2]),
    np.array([-1, 1]),
    np.array([False, True]),
    np.array([1.0, 3.0, 5.0, 7.0]),
    np.array(["a'b", 'c"d', "<e>\\f", "größer"], dtype=object),
)
#: Labels as boosters without labels of their own know them.
CODES = (np.array([0, 1]), np.array([0, 1, 2]))
#: As odd as every library takes them.
NAMES = ("size", "net weight", "größe &amp;", "rate_%", "x'1")
COLOURS, SHAPES = np.array(["red", "green", "dark, blue", "=1+1"]), np.array(["round", "long", "flat"])
#: The columns of words, and their categories where they are given as such.
KNOWN = {"colour": sorted(COLOURS), "shape": sorted(SHAPES)}


@dataclass(frozen=True)
class Data:
    """Rows to train on, rows to ask about, what is true of both, and what the rows to train on count."""

    kind: str
    target: Target
    X: Any
    y: np.ndarray
    asked: Any
    truth: np.ndarray
    weight: np.ndarray | None

    @property
    def labels(self) -> list[Any]:
        return np.unique(self.y).tolist()

    @property
    def columns(self) -> list[str] | None:
        return list(map(str, self.X.columns)) if hasattr(self.X, "columns") else None

    def number_column(self, place: int) -> int:
        """The place of a column of numbers, which are the first ones: this, or the last of fewer."""
        n = self.X.shape[1] if self.columns is None else sum(name in NAMES for name in self.columns)
        return min(place, n - 1)


def data_of(rng: np.random.Generator, kind: str, target: Target, *, codes: bool = False) -> Data:
    """A data set of one of `KINDS`, with labels that are codes from 0 where a model knows no others."""
    n_rows = int(rng.integers(60, 160))
    table = pd.concat([_numbers(rng, n_rows), _words(rng, n_rows)], axis=1)
    score = _score(rng, table)
    y = _classes(rng, score, CODES if codes else LABELS) if target == "classes" else _scaled(rng, score)
    train = np.sort(rng.permutation(n_rows)[: n_rows * 2 // 3])
    rest = np.setdiff1d(np.arange(n_rows), train)
    asked = pd.concat([table.iloc[rest], table.iloc[train[:10]], _mixed(rng, table.iloc[train[:20]])])
    truth = y[np.concatenate([rest, train[:10], train[:20]])]
    given = KINDS[kind]
    weight = rng.integers(0, 4, len(train)) / 2 if rng.random() < 0.25 else None
    return Data(kind, target, given(table.iloc[train]), y[train], given(asked), truth, weight)


def _numbers(rng: np.random.Generator, n_rows: int) -> pd.DataFrame:
    """Numbers of all sizes, one column with ties and one of truths, with gaps in three."""
    values = rng.normal(size=(n_rows, len(NAMES)))
    values[:, 0] = np.round(values[:, 0], 1)
    values[:, 1] *= 10.0 ** rng.integers(-12, 12)
    values[:, 3] = values[:, 3] > 0
    values[:, :3][rng.random((n_rows, 3)) < 0.1] = np.nan
    return pd.DataFrame(values, columns=list(NAMES))


def _words(rng: np.random.Generator, n_rows: int) -> pd.DataFrame:
    colour = rng.choice(COLOURS, n_rows).astype(object)
    colour[rng.random(n_rows) < 0.1] = np.nan
    return pd.DataFrame({"colour": colour, "shape": rng.choice(SHAPES, n_rows).astype(object)})


def _score(rng: np.random.Generator, table: pd.DataFrame) -> np.ndarray:
    values = table[list(NAMES)].fillna(0.5).to_numpy()
    score = np.sin(2 * values / np.abs(values).max(axis=0)) @ rng.normal(size=len(NAMES))
    score += 1.0 * (table["colour"] == "red") - 1.0 * (table["shape"] == "flat")
    return np.asarray(score + rng.normal(scale=0.2, size=len(table)), dtype=float)


def _classes(rng: np.random.Generator, score: np.ndarray, choices: tuple[np.ndarray, ...]) -> np.ndarray:
    labels = choices[int(rng.integers(len(choices)))]
    return labels[np.argsort(np.argsort(score)) * len(labels) // len(score)]


def _scaled(rng: np.random.Generator, score: np.ndarray) -> np.ndarray:
    return score * 10.0 ** rng.integers(-3, 6) - 3


def _mixed(rng: np.random.Generator, table: pd.DataFrame) -> pd.DataFrame:
    """The same values, each column in another order: rows that few rules cover."""
    return pd.DataFrame({name: rng.permutation(table[name].to_numpy()) for name in table}, columns=table.columns)


# How the same rows are given ------------------------------------------------------------------------------------


def _frame(table: pd.DataFrame) -> pd.DataFrame:
    return table.drop(columns=list(KNOWN), errors="ignore").reset_index(drop=True)


def _whole(table: pd.DataFrame) -> pd.DataFrame:
    return _frame(table).fillna(0.0)


def _polars(table: pd.DataFrame) -> Any:
    import polars

    return polars.from_pandas(_whole(table))


def _categories(table: pd.DataFrame) -> pd.DataFrame:
    kinds = {name: pd.Categorical(table[name], categories=KNOWN[name]) for name in KNOWN if name in table}
    return _frame(table).assign(**kinds)


def _mixed_frame(table: pd.DataFrame) -> pd.DataFrame:
    return table.reset_index(drop=True)


def _texts(table: pd.DataFrame) -> pd.DataFrame:
    texts = {name: table[name].fillna("none").to_numpy() for name in KNOWN if name in table}
    return _mixed_frame(table).assign(**texts)


#: array and float32 are whole numbers of 64 and 32 bits, gaps an array with missing values, words a frame with texts
#: and gaps, texts one with texts alone.
KINDS: dict[str, Callable[[pd.DataFrame], Any]] = {
    "array": lambda table: _whole(table).to_numpy(dtype=np.float64),
    "float32": lambda table: _whole(table).to_numpy(dtype=np.float32),
    "gaps": lambda table: _frame(table).to_numpy(dtype=np.float64),
    "sparse": lambda table: csr_array(_whole(table).to_numpy(dtype=np.float64)),
    "frame": _whole,
    "frame with gaps": _frame,
    "polars": _polars,
    "categories": _categories,
    "words": _mixed_frame,
    "texts": _texts,
}
