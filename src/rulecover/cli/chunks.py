"""Tables read in parts, so that a file of any size will do."""

from __future__ import annotations

import csv
import io
import sys
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

import pandas as pd
from pandas.errors import EmptyDataError, ParserError, ParserWarning

from rulecover.cli.csv_data import NOT_KNOWN
from rulecover.cli.errors import CommandError
from rulecover.cli.header import SEPARATORS, checked_names, listed, not_text
from rulecover.cli.model_file import Model
from rulecover.exceptions import MissingExtraError

#: Cells that are read at a time.
CELLS = 2_000_000

PARQUET = (".parquet", ".pq")

#: Before pandas 3.1 only this reads every decimal as the float nearest to it.
_EXACT = {} if tuple(map(int, pd.__version__.split(".")[:2])) >= (3, 1) else {"float_precision": "round_trip"}


def chunks(path: Path, model: Model, *, keep: Sequence[str], separator: str | None) -> Iterator[Any]:
    """The columns that a model asks for, and those to keep, a part of the rows at a time."""
    if str(path) != "-" and (not path.exists() or path.is_dir()):
        raise CommandError(f"there is no file {str(path)!r} here; check the name and the folder.")
    if path.suffix.lower() in PARQUET:
        return _parquet_chunks(path, model, keep)
    return _csv_chunks(path, model, keep, separator)


def source_of(path: Path) -> Path:
    """What a table is called in messages."""
    return Path("standard input") if str(path) == "-" else path


def _wanted(names: Sequence[str], model: Model, keep: Sequence[str], source: Path) -> list[str]:
    """The columns to read, in the order of the table, if all that are needed are there."""
    needed = dict.fromkeys([*model.columns, *keep])
    absent = [name for name in needed if name not in names]
    if absent:
        why = "the model asks for" if absent[0] in model.columns else "was asked for"
        raise CommandError(f"{source} has no column {absent[0]!r}, which {why}; it has {listed(names)}.")
    return [name for name in names if name in needed]


# CSV ----------------------------------------------------------------------------------------------------------------


def _csv_chunks(path: Path, model: Model, keep: Sequence[str], separator: str | None) -> Iterator[Any]:
    source = source_of(path)
    with _opened(path) as file, warnings.catch_warnings():
        warnings.simplefilter("error", ParserWarning)
        try:
            names, separator = _header(file, separator, {*model.columns, *keep}, source)
            wanted = _wanted(names, model, keep, source)
            yield from _parts(file, separator, names, wanted, [name for name in wanted if name not in model.numbers])
        except (UnicodeDecodeError, csv.Error) as error:
            raise not_text(source) from error
        except (ParserError, ParserWarning) as error:
            said = str(error).removeprefix("Error tokenizing data. C error: ").strip()
            raise CommandError(
                f"{source} is no proper CSV file: {said} (cells separated by {separator!r}; --separator sets another)."
            ) from error


@contextmanager
def _opened(path: Path) -> Iterator[IO[str]]:
    if str(path) == "-":
        yield io.TextIOWrapper(sys.stdin.buffer, encoding="utf-8-sig", newline="")
        return
    with path.open(encoding="utf-8-sig", newline="") as file:
        yield file


def _header(file: IO[str], separator: str | None, needed: set[str], source: Path) -> tuple[list[str], str]:
    """The names of the columns, and what stands between cells: whatever shows most of the columns that are needed."""
    text = file.readline()
    while text and (not text.strip() or text.count('"') % 2):  # an empty line, or a name with a line end in it
        more = file.readline()
        text = text + more if text.strip() else more
        if not more:
            break
    rows = {each: _cells(text, each) for each in ([separator] if separator else SEPARATORS)}
    separator = max(rows, key=lambda each: (len(needed.intersection(map(str.strip, rows[each]))), len(rows[each])))
    return checked_names(rows[separator], source), separator


def _cells(text: str, separator: str) -> list[str]:
    return next(csv.reader(io.StringIO(text, newline=""), delimiter=separator, skipinitialspace=True), [])


def _parts(
    file: IO[str], separator: str, names: Sequence[str], wanted: Sequence[str], texts: Sequence[str]
) -> Iterator[Any]:
    places = {names.index(name): name for name in wanted}
    try:  # all columns are read, even those that nobody wants: otherwise rows that are too long would go unnoticed
        reader = pd.read_csv(
            file,
            sep=separator,
            header=None,
            names=range(len(names)),
            index_col=False,
            dtype=dict.fromkeys((names.index(name) for name in texts), str),
            skipinitialspace=True,
            keep_default_na=False,
            na_values=NOT_KNOWN,
            chunksize=max(1, CELLS // len(names)),
            low_memory=False,
            **_EXACT,
        )
    except EmptyDataError:
        yield pd.DataFrame({name: [] for name in wanted})
        return
    for part in reader:
        yield part[list(places)].set_axis(list(places.values()), axis=1)


# Parquet ------------------------------------------------------------------------------------------------------------


def parquet() -> Any:
    """The package that reads and writes Parquet, if it is installed."""
    try:
        import pyarrow.parquet
    except ImportError as error:
        raise MissingExtraError(
            "Parquet needs the package pyarrow; install it by: pip install 'rulecover[parquet]'"
        ) from error
    return pyarrow.parquet


def _parquet_chunks(path: Path, model: Model, keep: Sequence[str]) -> Iterator[Any]:
    from pyarrow import ArrowException

    try:
        with parquet().ParquetFile(path) as file:
            wanted = _wanted(file.schema_arrow.names, model, keep, path)
            batches = file.iter_batches(batch_size=max(1, CELLS // max(1, len(wanted))), columns=wanted)
            for batch in batches:
                yield batch.to_pandas()
    except ArrowException as error:
        raise CommandError(f"{path} is no proper Parquet file: {error}") from error
