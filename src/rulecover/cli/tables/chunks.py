"""Tables read in parts, so that files can be of any size."""

from __future__ import annotations

import csv
import io
import sys
import warnings
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import pandas as pd
from pandas.errors import EmptyDataError, ParserError, ParserWarning

from rulecover.cli.errors import CommandError
from rulecover.cli.tables.encoding import NOT_KNOWN
from rulecover.cli.tables.header import (
    PARQUET,
    SEPARATORS,
    checked_names,
    did_you_mean,
    not_text,
    parquet,
    quoted_names,
)
from rulecover.cli.tables.model_file import Model
from rulecover.cli.tables.verbatim import KeptCells, SharedText, WatchedText, blocks_of

#: Cells that are read at a time.
CELLS = 2_000_000

#: Before pandas 3.1, every decimal is read as the nearest float only with this option.
_EXACT = {} if tuple(map(int, pd.__version__.split(".")[:2])) >= (3, 1) else {"float_precision": "round_trip"}


@dataclass(frozen=True, eq=False)
class Part:
    """Some rows of a table.

    Parameters
    ----------
    table
        The columns that were asked for, read as numbers and texts with missing values.
    kept
        The columns to keep, as they stand in the file.
    """

    table: Any
    kept: Any


def chunks(path: Path, model: Model, *, also: Sequence[str] = (), separator: str | None) -> Iterator[Any]:
    """The columns that a model needs, and others, a part of the rows at a time."""
    return (part.table for part in parts(path, model, also=also, separator=separator))


def parts(
    path: Path, model: Model, *, also: Sequence[str] = (), keep: Sequence[str] = (), separator: str | None
) -> Iterator[Part]:
    """The same, with columns to keep as they are."""
    if str(path) != "-" and (not path.exists() or path.is_dir()):
        raise CommandError(f"there is no file {str(path)!r} here; check the name and the folder.")
    if path.suffix.lower() in PARQUET:
        return _parquet_parts(path, [*model.columns, *also], keep, set(model.columns))
    return _csv_parts(path, model, also, keep, separator)


def source_of(path: Path) -> Path:
    """What a table is called in messages."""
    return Path("standard input") if str(path) == "-" else path


def _columns_to_read(names: Sequence[str], needed: Sequence[str], of_model: set[str], source: Path) -> list[str]:
    """The columns to read, in the order of the table, if all that are needed are there."""
    absent = [name for name in needed if name not in names]
    if absent:
        why = "the model needs" if absent[0] in of_model else "was asked for"
        close = did_you_mean(absent[0], names)
        raise CommandError(f"{source} has no column {absent[0]!r}{close}, which {why}; it has {quoted_names(names)}.")
    return [name for name in names if name in needed]


# CSV ----------------------------------------------------------------------------------------------------------------


def _csv_parts(
    path: Path, model: Model, also: Sequence[str], keep: Sequence[str], separator: str | None
) -> Iterator[Part]:
    source = source_of(path)
    with _open_text(path) as file, warnings.catch_warnings():
        warnings.simplefilter("error", ParserWarning)
        try:
            names, separator = _header(file, separator, {*model.columns, *also, *keep}, source)
            _columns_to_read(names, [*model.columns, *also, *keep], set(model.columns), source)
            wanted = [name for name in names if name in {*model.columns, *also}]
            texts = [name for name in wanted if name not in model.numbers]
            if not keep:
                for table in _tables(file, separator, names, wanted, texts):
                    yield Part(table, table[[]])
                return
            places = {name: names.index(name) for name in keep}
            yield from _parts_with_kept(path, file, separator, names, wanted=wanted, texts=texts, places=places)
        except (UnicodeDecodeError, csv.Error) as error:
            raise not_text(source) from error
        except (ParserError, ParserWarning) as error:
            reason = str(error).removeprefix("Error tokenizing data. C error: ").strip()
            raise CommandError(
                f"{source} is not a valid CSV file: {reason} (cells separated by {separator!r}; --separator sets "
                "another)."
            ) from error


def _parts_with_kept(
    path: Path,
    file: IO[str],
    separator: str,
    names: Sequence[str],
    *,
    wanted: Sequence[str],
    texts: Sequence[str],
    places: Mapping[str, int],
) -> Iterator[Part]:
    """Kept cells come from the same reading while nothing in the file is odd; from then on they are read separately."""
    again = path.is_file() and not set(places) & set(wanted)
    text: WatchedText | SharedText = WatchedText(file, separator) if again else SharedText(file)
    also = list(places) if again else []
    apart, before = None if again else KeptCells(text, separator, places), 0
    with ExitStack() as stack:
        for table in _tables(text, separator, names, [*wanted, *also], [*texts, *also], as_they_are=also):
            if apart is None and not text.is_plain:
                second = stack.enter_context(_open_text(path))
                _header(second, separator, set(names), path)
                apart = KeptCells(blocks_of(second), separator, places)
                apart.skip(before)
            before += len(table)
            yield Part(table[list(wanted)], _texts(table[list(places)]) if apart is None else apart.take(len(table)))


def _texts(kept: Any) -> Any:
    """Cells as texts, and ``None`` for an empty one."""
    return kept.astype(object).where(kept.notna() & (kept != ""), None)


@contextmanager
def _open_text(path: Path) -> Iterator[IO[str]]:
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


def _tables(
    file: IO[str] | WatchedText | SharedText,
    separator: str,
    names: Sequence[str],
    wanted: Sequence[str],
    texts: Sequence[str],
    *,
    as_they_are: Collection[str] = (),
) -> Iterator[Any]:
    places = {names.index(name): name for name in wanted}
    try:  # all columns are read, even those that nobody wants: otherwise rows that are too long would go unnoticed
        reader = pd.read_csv(
            file,
            sep=separator,
            header=None,
            names=range(len(names)),
            index_col=False,
            dtype=dict.fromkeys((names.index(name) for name in texts if name in wanted), str),
            skipinitialspace=True,
            keep_default_na=False,
            na_values={k: [] if name in as_they_are else NOT_KNOWN for k, name in enumerate(names)},
            chunksize=max(1, CELLS // len(names)),
            low_memory=False,
            **_EXACT,
        )
    except EmptyDataError:
        yield pd.DataFrame({name: [] for name in wanted})
        return
    for table in reader:
        yield table[list(places)].set_axis(list(places.values()), axis=1)


# Parquet ------------------------------------------------------------------------------------------------------------


def _parquet_parts(path: Path, asked: Sequence[str], keep: Sequence[str], of_model: set[str]) -> Iterator[Part]:
    from pyarrow import ArrowException

    try:
        with parquet().ParquetFile(path) as file:
            wanted = _columns_to_read(file.schema_arrow.names, [*asked, *keep], of_model, path)
            batches = file.iter_batches(batch_size=max(1, CELLS // max(1, len(wanted))), columns=wanted)
            for batch in batches:
                table = batch.select([name for name in wanted if name in set(asked)]).to_pandas()
                yield Part(table, batch.select(list(keep)).to_pandas(types_mapper=_as_in_file))
    except ArrowException as error:
        raise CommandError(f"{path} is not a valid Parquet file: {error}") from error


def _as_in_file(kind: Any) -> Any:
    """The type that holds all values of a column as they are: whole numbers with gaps stay whole numbers."""
    from pyarrow.types import is_integer

    return pd.ArrowDtype(kind) if is_integer(kind) else None
