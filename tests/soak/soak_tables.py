"""Random tables with ties, gaps, constants, duplicates, numbers of all sizes, and rare and many classes."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pandas as pd
from hostile import ALL_PIECES
from record_data import CODES, COLOURS, KINDS, LABELS, NAMES, SHAPES, Target
from scipy.sparse import coo_array, csc_array

Rng = np.random.Generator

#: Names that every library takes, and that could be taken for something else.
MORE_NAMES = ("if", "a and b", "1", "always", "or missing", "(z)", "é", "not in", "x_1", "select")
#: More classes than most data sets have.
MANY = np.array([f"class {k}" for k in range(15)])
#: Labels that try to be something else where they are shown.
HOSTILE_LABELS = np.array(["<script>alert(1)</script>", "b | c & d", "=1+1"], dtype=object)
UNSEEN = "never seen"
#: The column of dates.
DATES = "hired"


def one_of(rng: Rng, choices: Sequence[Any]) -> Any:
    return choices[int(rng.integers(len(choices)))]


def n_rows(rng: Rng) -> int:
    """Mostly a few dozen, one time in ten a handful, and one time in forty some thousands."""
    chance = rng.random()
    sizes = [(6, 14), (12, 40), (12, 40), (40, 90)]
    low, high = (1000, 5000) if chance < 0.025 else (2, 6) if chance < 0.125 else one_of(rng, sizes)
    return int(rng.integers(low, high))


def _n_named(rng: Rng) -> int:
    """How many columns have the usual names: four, and one time in ten fewer."""
    return int(rng.integers(1, 4)) if rng.random() < 0.1 else 4


# Columns --------------------------------------------------------------------------------------------------------

#: From a generator and a number of rows to a column.
COLUMNS: tuple[Callable[[Rng, int], np.ndarray], ...] = (
    lambda rng, n: np.round(rng.normal(size=n), 1),
    lambda rng, n: rng.normal(size=n) * 10.0 ** rng.integers(-30, 30),
    lambda rng, n: rng.normal(size=n),
    lambda rng, n: (rng.random(n) < rng.choice([0.1, 0.5])).astype(float),
    lambda rng, n: rng.integers(-2, 4, n),
    lambda rng, n: np.full(n, rng.choice([0.0, -1.5, 3.0])),
    lambda rng, n: np.where(rng.random(n) < 0.8, 0.0, rng.normal(size=n)),
    lambda rng, n: rng.choice([1e-30, 0.1, 0.1 + 1e-9, 1e30], n),
    lambda rng, n: 1e9 + rng.integers(0, 9, n),
    lambda rng, n: rng.random(n) < 0.5,
)


def table_of(rng: Rng, n: int, *, words: bool, dates: bool = False, hostile: bool = False) -> pd.DataFrame:
    """One to eight columns of numbers, mostly four or more, some twice, with gaps and repeated rows; columns of words.

    Parameters
    ----------
    rng, n
        Where chance comes from, and the number of rows.
    words
        Whether there are columns of words.
    dates
        Whether there may be a column of dates.
    hostile
        Whether the last column may have a name that tries to break out of what shows it.
    """
    names = [*NAMES[: _n_named(rng)], *rng.permutation(MORE_NAMES)[: int(rng.integers(0, 4))].tolist()]
    if hostile and rng.random() < 0.3:
        names.append(hostile_name(rng))
    table = pd.DataFrame({name: one_of(rng, COLUMNS)(rng, n) for name in names})
    if rng.random() < 0.2:
        table[names[-1]] = table[names[len(names) // 3]]
    if rng.random() < 0.6:
        table = with_gaps(rng, table, names)
    if words:
        table = table.assign(colour=_words(rng, COLOURS, n, gaps=0.1), shape=_words(rng, SHAPES, n, gaps=0.0))
    if dates and rng.random() < 0.4:
        table[DATES] = _dates(rng, n)
    if rng.random() < 0.2:
        table = table.iloc[rng.integers(0, max(n // 3, 2), n)].reset_index(drop=True)
    return table


def with_gaps(rng: Rng, table: pd.DataFrame, names: list[str]) -> pd.DataFrame:
    chosen = [name for name in names if rng.random() < 0.5]
    gaps = {name: table[name].astype(float).mask(rng.random(len(table)) < 0.2) for name in chosen}
    return table.assign(**gaps)


def hostile_name(rng: Rng) -> str:
    """A few pieces that end quotes, cells, tags or programs."""
    return "".join(one_of(rng, ALL_PIECES) for _ in range(int(rng.integers(1, 4))))


def _dates(rng: Rng, n: int) -> np.ndarray:
    """Days and seconds of some years, with ties and gaps."""
    unit = int(rng.choice([1, 86400, 86400 * 30]))
    seconds = rng.integers(0, 3 * 10**8, n) // unit * unit
    dates = np.datetime64("2015-01-01T00:00:00", "us") + seconds.astype("timedelta64[s]")
    dates[rng.random(n) < 0.1] = np.datetime64("NaT")
    return np.asarray(dates)


def _words(rng: Rng, known: np.ndarray, n: int, *, gaps: float) -> np.ndarray:
    words = rng.choice(known, n).astype(object)
    words[rng.random(n) < gaps] = np.nan
    return words


def asked_of(rng: Rng, table: pd.DataFrame) -> pd.DataFrame:
    """Some of the rows, and the same values with each column in another order: rows that few rules cover."""
    some = table.iloc[rng.integers(0, len(table), 8)]
    mixed = pd.DataFrame({name: rng.permutation(table[name].to_numpy())[:12] for name in table})
    return pd.concat([some, mixed], ignore_index=True).astype(table.dtypes)


# Targets and weights --------------------------------------------------------------------------------------------


def target_of(rng: Rng, table: pd.DataFrame, target: Target, *, codes: bool) -> np.ndarray:
    score = _score(rng, table)
    return _classes(rng, score, codes=codes) if target == "classes" else _numbers(rng, score)


def _score(rng: Rng, table: pd.DataFrame) -> np.ndarray:
    values = table.select_dtypes(include=["number", "bool"]).astype(float).fillna(0.5).to_numpy()
    spread = np.abs(values).max(axis=0)
    score = np.sin(2 * values / np.where(spread > 0, spread, 1.0)) @ rng.normal(size=values.shape[1])
    if "colour" in table:
        score = score + 1.0 * (table["colour"] == "red").to_numpy() - 1.0 * (table["shape"] == "flat").to_numpy()
    if DATES in table:
        score = score + 1.0 * (table[DATES].dt.month > 6).to_numpy()
    return np.asarray(score + rng.normal(scale=rng.choice([0.0, 0.2, 2.0]), size=len(table)))


def _classes(rng: Rng, score: np.ndarray, *, codes: bool) -> np.ndarray:
    """Labels of all kinds, as many of each or the first ones rare; every label has a row."""
    labels = one_of(rng, CODES if codes else (*LABELS, HOSTILE_LABELS, MANY[: int(rng.integers(5, 16))]))
    labels = labels[: max(2, len(score) // 3)]
    rank = (np.argsort(np.argsort(score, kind="stable")) + 0.5) / len(score)
    place = (rank ** one_of(rng, [1.0, 1.0, 3.0, 0.3]) * len(labels)).astype(int)
    place[: len(labels)] = np.arange(len(labels))
    return labels[place]


def _numbers(rng: Rng, score: np.ndarray) -> np.ndarray:
    return one_of(
        rng,
        [
            lambda: score,
            lambda: score * 10.0 ** rng.integers(-12, 12) - 3,
            lambda: np.round(score),
            lambda: 1e9 + np.round(score, 2),
            lambda: np.exp(5 * np.clip(score, -5, 5)),
            lambda: np.where(score > np.median(score), 7.5, -0.1),
        ],
    )()


def groups_of(rng: Rng, n: int) -> np.ndarray:
    """A few groups, such as patients."""
    return rng.integers(0, max(2, n // int(rng.integers(2, 8))), n)


def weight_of(rng: Rng, n: int) -> np.ndarray | None:
    """None, one for one in three: halves with zeros, fractions, all sizes."""
    if rng.random() < 0.65:
        return None
    weight = one_of(
        rng, [lambda: rng.integers(0, 4, n) / 2, lambda: rng.uniform(0.2, 3, n), lambda: 10.0 ** rng.integers(-3, 4, n)]
    )()
    weight[:2] = weight.max() or 1.0
    return np.asarray(weight, dtype=float)


# How the same rows are given, beside `record_data.KINDS` ----------------------------------------------------------


def _of(kind: str, form: Callable[[Any], Any]) -> Callable[[pd.DataFrame], Any]:
    return lambda table: form(KINDS[kind](table))


def _polars(table: pd.DataFrame) -> Any:
    import polars

    return polars.from_pandas(table)


def _arrow(table: pd.DataFrame) -> Any:
    import pyarrow

    return pyarrow.Table.from_pandas(table, preserve_index=False)


def _every_second_row(rows: np.ndarray) -> np.ndarray:
    return np.repeat(rows, 2, axis=0)[::2]


def _read_only(rows: np.ndarray) -> np.ndarray:
    rows.flags.writeable = False
    return rows


def _in_a_file(rows: np.ndarray) -> np.ndarray:
    """In a file that goes with the array."""
    with tempfile.TemporaryFile() as file:
        mapped = np.memmap(file, rows.dtype, "w+", shape=rows.shape)
        mapped[:] = rows
        return mapped


def _in_other_byte_order(rows: np.ndarray) -> np.ndarray:
    return rows.astype(rows.dtype.newbyteorder())


def _under_another_index(table: pd.DataFrame) -> pd.DataFrame:
    """Numbers that come down, some of them twice."""
    return table.set_axis(np.arange(len(table))[::-1] // 2)


OTHER_KINDS: dict[str, Callable[[pd.DataFrame], Any]] = {
    "columns first": _of("array", np.asfortranarray),
    "every second row": _of("array", _every_second_row),
    "lists": _of("array", np.ndarray.tolist),
    "read only": _of("array", _read_only),
    "in a file": _of("array", _in_a_file),
    "in other byte order": _of("array", _in_other_byte_order),
    "objects": _of("array", lambda rows: rows.astype(object)),
    "float32, columns first": _of("float32", np.asfortranarray),
    "float32, in a file": _of("float32", _in_a_file),
    "gaps, columns first": _of("gaps", np.asfortranarray),
    "gaps, in a file": _of("gaps", _in_a_file),
    "frame under another index": _of("frame", _under_another_index),
    "frame with gaps under another index": _of("frame with gaps", _under_another_index),
    "categories under another index": _of("categories", _under_another_index),
    "words under another index": _of("words", _under_another_index),
    "texts under another index": _of("texts", _under_another_index),
    "sparse columns": _of("sparse", csc_array),
    "sparse cells": _of("sparse", coo_array),
    "arrow": _of("frame", _arrow),
    "nullable": _of("frame", pd.DataFrame.convert_dtypes),
    "polars with gaps": _of("frame with gaps", _polars),
    "arrow with gaps": _of("frame with gaps", _arrow),
    "nullable with gaps": _of("frame with gaps", pd.DataFrame.convert_dtypes),
    "polars words": _of("words", _polars),
    "arrow words": _of("words", _arrow),
    "nullable words": _of("words", pd.DataFrame.convert_dtypes),
    "polars texts": _of("texts", _polars),
    "arrow texts": _of("texts", _arrow),
}
