"""Tables read in parts, so that files can be of any size."""

from __future__ import annotations

import csv
import io
import re
import warnings
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import pandas as pd
from pandas.api.types import is_numeric_dtype
from pandas.errors import EmptyDataError, ParserError, ParserWarning

from rulecover.cli.errors import CommandError
from rulecover.cli.tables.encoding import NOT_KNOWN
from rulecover.cli.tables.header import (
    Header,
    TableFile,
    has_more_separators,
    names_in,
    no_names,
    not_text,
    not_valid,
    parquet,
    quoted_names,
    separator_of,
    valid_parquet,
)
from rulecover.cli.tables.model_file import Model, numbers
from rulecover.cli.tables.streams import Peekable
from rulecover.cli.tables.verbatim import FirstAgain, KeptCells, SharedText, Text, WatchedText, blocks_of
from rulecover.cli.tables.written import without_missing
from rulecover.data.written_numbers import Notation
from rulecover.show.text import did_you_mean

#: Cells that are read at a time.
CELLS = 2_000_000

#: Before pandas 3.1, every decimal is read as the nearest float only with this option.
_EXACT = {} if tuple(map(int, pd.__version__.split(".")[:2])) >= (3, 1) else {"float_precision": "round_trip"}


#: Names the column of empty cells behind separators at the end of rows, if the header has none there.
AFTER_LAST = "\ue000"


@dataclass(frozen=True, eq=False)
class TablePart:
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


def chunks(file: TableFile, model: Model, *, also: Sequence[str] = ()) -> Iterator[Any]:
    """The columns that a model needs, and others, a part of the rows at a time."""
    return (part.table for part in parts(file, model, also=also))


def parts(file: TableFile, model: Model, *, also: Sequence[str] = (), keep: Sequence[str] = ()) -> Iterator[TablePart]:
    """The same, with columns to keep as they are."""
    file.check_is_there()
    if file.is_parquet:
        found = _parquet_parts(file, model, [*model.columns, *also], keep)
        found = _with_numbers(found, _notations(model, file))
    else:
        found = _csv_parts(file, model, also, keep)
    return _of_rows(found, max(1, CELLS // model.rules.rules.n_features))


def _of_rows(found: Iterable[TablePart], most: int) -> Iterator[TablePart]:
    """The same rows, at most this many in a part: a model may know many more columns than it uses."""
    for part in found:
        for start in range(0, max(1, len(part.table)), most):
            rows = slice(start, start + most)
            yield TablePart(part.table.iloc[rows], part.kept.iloc[rows])


def _columns_to_read(names: Sequence[str], needed: Sequence[str], of_model: set[str], source: Path) -> list[str]:
    """The columns to read, in the order of the table, if all that are needed are there."""
    absent = [name for name in needed if name not in names]
    if absent:
        why = "the model needs" if absent[0] in of_model else "was asked for"
        there = [name for name in names if name != AFTER_LAST]
        close = did_you_mean(absent[0], there)
        raise CommandError(
            f"{source} has no column {absent[0]!r}{close}, which {why}; it has {quoted_names(there)}."
            f"{no_names(there, source) or _if_numbered(absent[0])}"
        )
    return [name for name in names if name in needed]


def _notations(model: Model, file: TableFile) -> dict[str, Notation]:
    """How numbers are written, by column: as in the table that the model was trained on, unless marks were named."""
    reading, columns = file.reading, model.rules.rules.columns
    stored = {columns.names[f]: notation for f, notation in columns.notations.items()}
    decimal = file.found.decimal or reading.decimal
    named = reading.decimal is not None or reading.thousands is not None
    known = {name: stored.get(name, Notation()) for name in (model.numbers if named else stored)}
    return {name: each.with_marks(decimal, reading.thousands) for name, each in known.items()}


def _missing_values(model: Model, file: TableFile) -> list[str]:
    """What cells have where nothing is known: in the table that the model was trained on, and in this one."""
    return [*model.rules.rules.columns.missing_values, *file.reading.missing_values]


def _with_numbers(parts: Iterator[TablePart], notations: Mapping[str, Notation]) -> Iterator[TablePart]:
    """The parts, with numbers in place of texts that are numbers as people write them."""
    first = 0
    for part in parts:
        written = [name for name in notations if name in part.table and not is_numeric_dtype(part.table[name])]
        table = part.table.copy(deep=False)
        for name in written:
            table[name] = numbers(table[name], first, notations[name])
        first += len(table)
        yield TablePart(table, part.kept)


def _if_numbered(name: str) -> str:
    return " If its first line is a row already, add --no-header." if re.fullmatch(r"column_\d+", name) else ""


# CSV ----------------------------------------------------------------------------------------------------------------


def _csv_parts(file: TableFile, model: Model, also: Sequence[str], keep: Sequence[str]) -> Iterator[TablePart]:
    source, names, separator, above = file.source, list[str](), "", 0
    with file.open() as content, warnings.catch_warnings():
        warnings.simplefilter("error", ParserWarning)
        try:
            text, names, separator, above = _below_header(file, content, {*model.columns, *also, *keep})
            _columns_to_read(names, [*model.columns, *also, *keep], set(model.columns), source)
            wanted = [name for name in names if name in {*model.columns, *also}]
            notations = _notations(model, file)
            texts = [name for name in wanted if name not in model.numbers or name in notations]
            places = {name: names.index(name) for name in keep}
            missing = [*NOT_KNOWN, *_missing_values(model, file)]
            plain = (
                TablePart(each, each[[]]) for each in _tables(text, separator, names, wanted, texts, missing=missing)
            )
            kept = _parts_with_kept(
                file, text, separator, names, wanted=wanted, texts=texts, missing=missing, places=places
            )
            yield from _with_numbers(kept if keep else plain, notations)
        except (UnicodeDecodeError, csv.Error) as error:
            raise not_text(source) from error
        except (ParserError, ParserWarning) as error:
            raise not_valid(Header(file, tuple(names), separator), error, above) from error


def _parts_with_kept(
    file: TableFile,
    below: Text,
    separator: str,
    names: Sequence[str],
    *,
    wanted: Sequence[str],
    texts: Sequence[str],
    missing: Sequence[str],
    places: Mapping[str, int],
) -> Iterator[TablePart]:
    """Kept cells come from the same reading while nothing in the file is odd; from then on they are read separately."""
    again = file.path.is_file() and not set(places) & set(wanted)
    text: WatchedText | SharedText = WatchedText(below, separator) if again else SharedText(below)
    also = list(places) if again else []
    apart, before = None if again else KeptCells(text, separator, places), 0
    with ExitStack() as stack:
        columns = [*wanted, *also], [*texts, *also]
        for table in _tables(text, separator, names, *columns, missing=missing, as_they_are=also):
            if apart is None and not text.is_plain:
                second, *_ = _below_header(file, stack.enter_context(file.open()), set(names))
                apart = KeptCells(blocks_of(second), separator, places)
                apart.skip(before)
            before += len(table)
            yield TablePart(
                table[list(wanted)], _texts(table[list(places)]) if apart is None else apart.take(len(table))
            )


def _texts(kept: Any) -> Any:
    """Cells as texts, and ``None`` for an empty one."""
    return kept.astype(object).where(kept.notna() & (kept != ""), None)


def _below_header(file: TableFile, content: Peekable, needed: set[str]) -> tuple[Text, list[str], str, int]:
    """The rows of a file, the names of its columns, what stands between cells, and how many lines are above."""
    separator = separator_of(file, content, needed)
    after = [AFTER_LAST] if has_more_separators(content, separator) else []
    lines: IO[str] = io.TextIOWrapper(content, encoding="utf-8", newline="")
    text, above = lines.readline(), 1
    while text and (not text.strip() or text.count('"') % 2):  # an empty line, or a name with a line end in it
        more = lines.readline()
        text, above = text + more if text.strip() else more, above + 1
        if not more:
            break
    names = [*names_in(_cells(text, separator), file), *after]
    if file.reading.no_header:
        return FirstAgain(text, lines), names, separator, above - len(io.StringIO(text, newline="").readlines())
    return lines, names, separator, above


def _cells(text: str, separator: str) -> list[str]:
    return next(csv.reader(io.StringIO(text, newline=""), delimiter=separator, skipinitialspace=True), [])


def _tables(
    file: Text | WatchedText | SharedText,
    separator: str,
    names: Sequence[str],
    wanted: Sequence[str],
    texts: Sequence[str],
    *,
    missing: Sequence[str],
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
            na_values={k: [] if name in as_they_are else [*missing] for k, name in enumerate(names)},
            chunksize=max(1, CELLS // len(names)),
            low_memory=False,
            **_EXACT,
        )
    except EmptyDataError:
        yield pd.DataFrame({name: [] for name in wanted})
        return
    for table in reader:
        if AFTER_LAST in names and table[names.index(AFTER_LAST)].notna().any():
            raise ParserError("Length of header or names does not match length of data.")
        yield table[list(places)].set_axis(list(places.values()), axis=1)


# Parquet ------------------------------------------------------------------------------------------------------------


def _parquet_parts(table: TableFile, model: Model, asked: Sequence[str], keep: Sequence[str]) -> Iterator[TablePart]:
    path, missing = table.path, _missing_values(model, table)
    with valid_parquet(path), parquet().ParquetFile(path) as file:
        wanted = _columns_to_read(file.schema_arrow.names, [*asked, *keep], set(model.columns), path)
        batches = file.iter_batches(batch_size=max(1, CELLS // max(1, len(wanted))), columns=wanted)
        for batch in batches:
            rows = without_missing(batch.select([name for name in wanted if name in set(asked)]).to_pandas(), missing)
            yield TablePart(rows, batch.select(list(keep)).to_pandas(types_mapper=_as_in_file))


def _as_in_file(kind: Any) -> Any:
    """The type that holds all values of a column as they are: whole numbers with gaps stay whole numbers."""
    from pyarrow.types import is_integer

    return pd.ArrowDtype(kind) if is_integer(kind) else None
