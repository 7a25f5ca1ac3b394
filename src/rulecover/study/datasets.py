"""The paper's 15 data sets, from a folder of CSV files or from OpenML, prepared as the authors prepared them."""

from __future__ import annotations

import hashlib
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from rulecover.exceptions import StudyError
from rulecover.typing import Array

TARGET = "target"

#: What stands for a gap among numbers, besides an empty cell; among texts it is a text.
_GAPS = ("NA", "N/A", "NaN", "nan", "NULL", "null", "None", "?")

#: A text column with more levels names rows; one-hot encoding it would bury the other features.
_MOST_LEVELS = 50


@dataclass(frozen=True)
class DataSet:
    """A data set of the registry: where it is found, what its values must be, what is special about it.

    Parameters
    ----------
    name
        As in Table S.1 of the paper, in lower case.
    openml
        Its number at OpenML.
    checksum
        Of the prepared values and labels, as `Data.checksum`.
    target
        The class column at OpenML, where it is not the default one.
    drop
        How many leading columns at OpenML are not features.
    imbalanced
        Whether the paper counts it among the imbalanced sets.
    codes
        Numbers that stand for texts, of features and of classes; other texts of features are one-hot encoded.
    note
        What differs from the printed Table S.1.
    """

    name: str
    openml: int
    checksum: str
    target: str | None = None
    drop: int = 0
    imbalanced: bool = False
    codes: Mapping[str, float] = field(default_factory=dict)
    note: str = ""


@dataclass(frozen=True, eq=False)
class Data:
    """A data set as methods see it.

    Parameters
    ----------
    name
        What it is called.
    X
        Rows x features, numbers without gaps.
    y
        The class of each row, by number.
    classes
        The classes' own labels.
    read
        Rows and feature columns before anything was dropped or encoded.
    """

    name: str
    X: Array
    y: Array
    classes: tuple[str, ...]
    read: tuple[int, int]

    @property
    def checksum(self) -> str:
        """The first 16 hexadecimal digits of the SHA-256 of shape, values and labels."""
        values = np.ascontiguousarray(self.X + 0.0, dtype="<f8")  # no -0.0
        content = f"{values.shape}".encode() + values.tobytes() + self.y.astype("<i8").tobytes()
        return hashlib.sha256(content).hexdigest()[:16]


_LIST = (
    DataSet("banknote", 1462, "2f534e19d2a2fe65"),
    DataSet(
        "ildp",
        1480,
        "a0236fe30ee0b39e",
        codes={"Female": 1.0, "Male": 0.0},
        note="4 rows with a missing value are dropped, as by the authors, so 579 of 583 are used",
    ),
    DataSet("ionosphere", 59, "4034791db0fb3582"),
    DataSet("transfusion", 1464, "1442d6ddc4301709"),
    DataSet(
        "liver",
        8,
        "fba13711c2450dee",
        target="selector",
        note="the target marks a split of the data and is not a diagnosis",
    ),
    DataSet(
        "tic-tac-toe", 50, "8598060c08595e87", note="9 squares, one-hot encoded without the first level: 18 columns"
    ),
    DataSet("wdbc", 1510, "7d6ba3155f096058"),
    DataSet("mammography", 310, "c0ce7672b1bad6e0", imbalanced=True),
    DataSet("diabetes", 37, "ed9281109a922479", imbalanced=True),
    DataSet("oilspill", 311, "702a96b154451999", drop=1, imbalanced=True),
    DataSet(
        "phoneme", 1489, "3f536c03bf866652", imbalanced=True, note="the file has 5404 rows; the printed 5427 is a slip"
    ),
    DataSet("seeds", 1499, "5bd1d02879515b2f"),
    DataSet("wine", 187, "3fdc6d142f2be1ee"),
    DataSet(
        "glass",
        41,
        "61c0102a6145784a",
        imbalanced=True,
        codes={
            "build wind float": 1.0,
            "build wind non-float": 2.0,
            "vehic wind float": 3.0,
            "containers": 4.0,
            "tableware": 5.0,
            "headlamps": 6.0,
        },
        note="9 features; the printed 10 counts the row number",
    ),
    DataSet("ecoli", 39, "e0a3d885fb0b646c", imbalanced=True, note="two classes have 2 rows each, fewer than folds"),
)

#: The data sets of the paper by name, in the order of Table S.1.
DATASETS: Mapping[str, DataSet] = {entry.name: entry for entry in _LIST}


def available(folder: Path | None) -> list[str]:
    """The names of the available data sets: the paper's, then other CSV files of the folder."""
    own = [] if folder is None else sorted(path.stem for path in folder.glob("*.csv"))
    return [*DATASETS, *(name for name in own if name not in DATASETS)]


def load(name: str, folder: Path | None = None, *, cache: Path | None = None) -> Data:
    """A data set of the registry, or another CSV file of the folder.

    Parameters
    ----------
    name
        One of `available`.
    folder
        A folder with a file ``name.csv``: header line, class in column ``target``, texts as texts, missing values as
        empty cells. Without a folder, data sets of the registry are fetched from OpenML.
    cache
        Where fetched data are kept; by default scikit-learn's data folder.

    Returns
    -------
    Data
        Numbers and class numbers.

    Raises
    ------
    StudyError
        If there is no such folder, file, column or data set, if the values are not those of the paper, or if there
        is no network.
    """
    check_names([name], folder)
    entry = DATASETS.get(name)
    if folder is None:
        from rulecover.study.openml import fetch

        table, source = fetch(DATASETS[name], cache), f"data set {DATASETS[name].openml} of OpenML"
    else:
        path = folder / f"{name}.csv"
        table, source = _read(path), str(path)
    data = prepare(name, table, source, codes={} if entry is None else entry.codes)
    if entry is not None and data.checksum != entry.checksum:
        raise StudyError(
            f"{source} does not hold the values of {name!r} that the study was made with: their checksum is "
            f"{data.checksum} and should be {entry.checksum}; get the original file, or rename yours to study it as "
            "a data set of its own."
        )
    return data


def _read(path: Path) -> Any:
    if not path.is_file():
        raise StudyError(f"there is no file {str(path)!r}; put it there, or leave {path.stem!r} out.")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", pd.errors.ParserWarning)  # rows longer than the header
            table = pd.read_csv(path, index_col=False, keep_default_na=False, na_values=[""])
        header = pd.read_csv(path, header=None, nrows=1, dtype=str, keep_default_na=False).iloc[0]
    except (pd.errors.ParserError, pd.errors.ParserWarning, pd.errors.EmptyDataError, UnicodeDecodeError) as error:
        raise StudyError(f"{str(path)!r} is not a valid CSV file: {' '.join(str(error).split())}") from error
    if header.duplicated().any():
        raise StudyError(f"{str(path)!r} has two columns {header[header.duplicated()].iloc[0]!r}; rename one.")
    return table.apply(_with_gaps)


def _with_gaps(column: Any) -> Any:
    """The column; as numbers if it holds nothing but numbers and words for gaps."""
    if pd.api.types.is_numeric_dtype(column):
        return column
    known = column.where(~column.isin(_GAPS))
    numbers = pd.to_numeric(known, errors="coerce")
    return numbers if (numbers.isna() == known.isna()).all() and numbers.notna().any() else column


def prepare(name: str, table: Any, source: str, *, codes: Mapping[str, float]) -> Data:
    """The authors' preparation: rows with gaps dropped, texts one-hot encoded without their first level."""
    if TARGET not in table.columns:
        raise StudyError(
            f"{source} has no column {TARGET!r} for the class; its columns are "
            f"{', '.join(map(str, table.columns[:20]))}. Rename the class column to {TARGET!r}."
        )
    read = (len(table), table.shape[1] - 1)
    for column in table.columns[table.isna().all()]:
        raise StudyError(f"column {column!r} of {source} is empty; remove it from the file, or no row is left.")
    table = table.dropna()
    classes, y = np.unique(_with_codes(table[TARGET], codes).to_numpy(), return_inverse=True)
    if len(classes) < 2:
        raise StudyError(f"{source} has {len(classes)} classes in its {len(table)} full rows; at least 2 are needed.")
    features = _numbers(table.drop(columns=TARGET), source, codes)
    return Data(name, features, y, tuple(map(str, classes)), read)


def _with_codes(column: Any, codes: Mapping[str, float]) -> Any:
    """The column; as numbers if every text in it stands for one."""
    if pd.api.types.is_numeric_dtype(column):
        return column
    texts = column.astype(str)
    return texts.map(codes).astype(float) if set(texts) <= set(codes) else texts


def _numbers(features: Any, source: str, codes: Mapping[str, float]) -> Array:
    features = features.apply(_with_codes, codes=codes)
    for column in features.columns:
        levels = 0 if pd.api.types.is_numeric_dtype(features[column]) else features[column].nunique()
        if levels > _MOST_LEVELS:
            raise StudyError(
                f"column {column!r} of {source} has {levels} different texts; drop it, or write it as numbers."
            )
    X: Array = pd.get_dummies(features, drop_first=True, dtype=float).to_numpy(dtype=np.float64)
    if not X.shape[1] or not np.isfinite(X).all():
        raise StudyError(f"{source} has no features, or infinite values among them; features must be finite numbers.")
    return X


def check_names(names: Sequence[str], folder: Path | None) -> None:
    """Raises for names of data sets that do not exist."""
    if folder is not None and not folder.is_dir():
        raise StudyError(
            f"there is no folder {str(folder)!r}; --data must name a folder with one CSV file per data set."
        )
    known = available(folder)
    if unknown := [name for name in names if name not in known]:
        raise StudyError(f"there is no data set {', '.join(map(repr, unknown))}; there are {', '.join(known)}.")
