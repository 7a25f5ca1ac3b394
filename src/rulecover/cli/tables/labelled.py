"""Labelled tables to train on: CSV, Parquet, or CSV on standard input."""

from __future__ import annotations

import re
import shutil
import tempfile
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import IO, Any

import numpy as np
import pandas as pd
from pandas.errors import ParserError, ParserWarning
from sklearn.base import clone
from sklearn.pipeline import Pipeline

from rulecover.cli.errors import CommandError
from rulecover.cli.options.choices import TaskName
from rulecover.cli.tables.encoding import NOT_KNOWN, ColumnsOf, why_unusable
from rulecover.cli.tables.header import (
    Header,
    TableFile,
    check_is_table,
    checked_names,
    checked_target,
    not_text,
    not_valid,
    parquet,
    read_header,
    valid_parquet,
)
from rulecover.cli.tables.reading import Reading, naming_missing
from rulecover.cli.tables.streams import blocks_of, peekable
from rulecover.cli.tables.written import ReadFrame, with_codes, with_numbers, without_missing
from rulecover.data.columns import Columns, all_names
from rulecover.data.encoder import TableEncoder, as_in_whole, id_columns
from rulecover.data.kinds import is_text, odd_text, parse_numbers
from rulecover.data.written_numbers import Notation
from rulecover.readers.sklearn.tables import table_columns

#: Fewer rows than this cannot be split into rows to learn from and rows to check on.
FEWEST_ROWS = 10

#: Why a column that numbers the rows is left out.
_ID = "it looks like an id, so that rules on it would name rows; --keep-ids uses it"

#: A numeric target with more different values than this is a measurement; with fractions, far fewer are enough.
MOST_NUMERIC_CLASSES = 50
MOST_FRACTIONAL_CLASSES = 10


@dataclass(frozen=True, eq=False)
class Table:
    """Rows with a target.

    Parameters
    ----------
    name
        What the data are called.
    X, y
        The columns that are used, in a data frame, and a label or a number for each row.
    notes
        What was done to the data, in sentences.
    task
        What the target is.
    notations
        How numbers are written, by column, where they are not written as programs write them.
    encoder
        What makes numbers of the columns, fitted to all rows; ``None`` where they are taken as they are.
    target
        What y is called, if that is known.
    missing_values
        What cells have where nothing is known, next to what every file may have.
    """

    name: str
    X: Any
    y: Any
    notes: tuple[str, ...] = ()
    task: TaskName = TaskName.CLASSES
    notations: Mapping[str, Notation] = field(default_factory=dict)
    encoder: TableEncoder | None = None
    target: str = ""
    missing_values: tuple[str, ...] = ()

    @property
    def rows_for_parts(self) -> Any:
        """The columns for models that are trained on some of the rows: they are of the same kind there as in all."""
        return self.X if self.encoder is None else as_in_whole(self.encoder, self.X)

    @property
    def columns(self) -> Columns:
        """What rules can be about: the columns, and the parts of those that hold dates."""
        names = tuple(map(str, self.X.columns))
        if self.encoder is None:
            return Columns(names)
        made = table_columns(self.encoder)
        return Columns(
            all_names(names, made.made),
            dict(made.categories),
            parts=dict(made.parts),
            notations=dict(made.notations),
        )

    @property
    def texts(self) -> set[str]:
        """The columns that do not hold numbers."""
        return {str(name) for name in self.X.columns if is_text(self.X[name])}

    def numbers(self, X: Any) -> Any:
        """Rows as numbers, as trees that know all rows would see them; ``None`` where a booster takes categories."""
        if self.encoder is not None:
            return self.encoder.transform(X)
        return None if self.texts else X.to_numpy(dtype=np.float64)

    def encoded(self, model: Any) -> Any:
        """A model that is to be trained on rows of the table, behind an encoder of its own if one is needed."""
        return model if self.encoder is None else Pipeline([("table", clone(self.encoder)), ("trees", model)])


def labelled_table(
    path: Path,
    target: str | None,
    *,
    drop: Sequence[str],
    columns: ColumnsOf,
    reading: Reading,
    task: TaskName | None = None,
    keep_ids: bool = False,
) -> Table:
    """The table, or an error that says what is wrong with it and what to do."""
    with _copied(path, reading) if _is_read_once(path) else nullcontext(TableFile(path, reading)) as file:
        check_is_table(file)
        notes: list[str] = []
        if file.is_parquet:
            frame = _parquet_frame(file)
            header = Header(file, tuple(checked_names(list(map(str, frame.columns)), path)), "")
            target = checked_target(header, target, drop)
        else:
            header = read_header(file)
            target = checked_target(header, target, drop)
            frame, notes = read_frame(header)
        read = _with_numbers(frame.drop(columns=list(drop)), target, header)
    frame, notes = read.frame, [*file.found.notes, *notes, *read.notes]
    ids = [] if keep_ids else id_columns(frame.drop(columns=[target]))
    notes += [f"column {name!r} left out: {_ID}." for name in ids]
    table = table_from_frame(frame, file.path, target, drop=ids, columns=columns, task=task, notes=notes)
    return replace(table, notations=read.notations, missing_values=tuple(reading.missing_values))


def _with_numbers(frame: Any, target: str, header: Header) -> ReadFrame:
    """The frame with numbers where people see numbers, and texts where they see codes."""
    file, texts_of = header.file, partial(read_texts, header)
    if file.is_parquet:
        read = with_numbers(frame, target, file.reading)
        return replace(read, frame=without_missing(read.frame, file.reading.missing_values))
    again = None if file.found.decimal is not None else texts_of  # numbers in Excel are numbers
    codes = with_codes(frame, texts_of) if file.found.codes else ReadFrame(frame, {}, ())
    read = with_numbers(codes.frame, target, file.reading, again)
    return replace(read, notes=(*codes.notes, *read.notes))


def _parquet_frame(file: TableFile) -> Any:
    file.check_is_there()
    with valid_parquet(file.path):
        return parquet().read_table(file.path).to_pandas()


def _is_read_once(path: Path) -> bool:
    """Whether a path is standard input or a pipe."""
    return str(path) == "-" or path.is_fifo()


@contextmanager
def _copied(path: Path, reading: Reading) -> Iterator[TableFile]:
    """Standard input or a pipe, copied to a file: it can be read only once, and a table is read twice.

    The file has no name, so that nothing stays behind however the process ends.
    """
    once = TableFile(path, reading)
    with tempfile.TemporaryFile() as copy:
        with once.open_as_it_is() as content:
            shutil.copyfileobj(content, copy)
        yield replace(once, path=once.source, copy=copy)


def table_from_frame(
    frame: Any,
    path: Path,
    target: str,
    *,
    task: TaskName | None = None,
    drop: Sequence[str],
    columns: ColumnsOf,
    notes: Sequence[str] = (),
) -> Table:
    """The table of a data frame that was read from a file; `columns` encodes all columns but the target."""
    notes = list(notes)
    kept = frame[target].notna().to_numpy()
    kind, labels, odd = _target(frame[target][kept], task)
    notes += odd
    if kind != task and kind == TaskName.NUMBERS:
        notes.append(f"{target!r} has {len(np.unique(labels))} different numbers and is predicted as a number.")
    if not kept.all():
        notes.append(f"{count(int((~kept).sum()), 'row')} without a value of {target!r} left out.")
    if len(labels) < FEWEST_ROWS:
        raise CommandError(
            f"{path} has {count(len(labels), 'row')} with a value of {target!r}; at least {FEWEST_ROWS} are needed, "
            "some to learn from and some to check on."
        )
    taken = columns(frame[kept].drop(columns=[target, *drop]))
    if not taken.X.shape[1]:
        reasons = " ".join(taken.notes) or f"{target!r} is the only column."
        raise CommandError(f"no column is left to explain {target!r} by: {reasons}")
    return Table(path.name, taken.X, labels, (*notes, *taken.notes), kind, encoder=taken.encoder, target=target)


def read_frame(header: Header) -> tuple[Any, list[str]]:
    """The cells as pandas reads them, under the names in the header."""
    names = header.names
    frame = _read_csv(header)
    frame.columns = list(names)
    nameless = [place for place, name in enumerate(names) if not name]
    notes = [f"column {place + 1} has no name and is left out." for place in nameless]
    notes += [header.advice.strip()] if header.looks_like_data else []
    return frame.loc[:, [bool(name) for name in names]], notes


def read_texts(header: Header, names: Sequence[str]) -> Any:
    """The cells of some columns as texts."""
    places = sorted(header.names.index(name) for name in names)
    frame = _read_csv(header, usecols=places, dtype=str)
    frame.columns = [header.names[place] for place in places]
    return frame


def _read_csv(header: Header, **settings: Any) -> Any:
    try:
        with header.file.open() as content, warnings.catch_warnings():
            warnings.simplefilter("error", ParserWarning)
            return pd.read_csv(
                peekable(_watched(content, header)),
                sep=header.separator,
                header=None if header.file.reading.no_header else 0,
                index_col=False,
                encoding="utf-8",
                compression=None,
                skipinitialspace=True,
                keep_default_na=False,
                na_values=[*NOT_KNOWN, *header.file.reading.missing_values],
                low_memory=False,
                **settings,
            )
    except (ParserError, ParserWarning) as error:
        raise not_valid(header, error) from error
    except UnicodeDecodeError as error:
        raise not_text(header.file.source) from error


def _watched(content: IO[bytes], header: Header) -> Iterator[bytes]:
    """The blocks of a file; whether some cell begins with a zero, as codes do, is recorded."""
    before = re.escape(header.separator).encode()
    code, tail = re.compile(rb'(?:[\r\n"]|' + before + rb") *0\d\d"), b"\n"
    for block in blocks_of(content):
        header.file.found.codes = header.file.found.codes or code.search(tail + block) is not None
        tail = block[-16:]
        yield block


def _target(known: Any, task: TaskName | None) -> tuple[TaskName, Any, list[str]]:
    """What the target is, a class or a number for each row, and what is odd about them, in sentences."""
    known = parse_numbers(known)
    refused = why_unusable(known)
    if refused:
        raise CommandError(f"{known.name!r} cannot be the target: {refused}, or choose another column.")
    if not pd.api.types.is_numeric_dtype(known) or pd.api.types.is_bool_dtype(known):
        return _text_target(known, task)
    numbers = known.to_numpy(dtype=np.float64)
    kind = _kind(known, numbers, task)
    if kind == TaskName.NUMBERS:
        return kind, numbers, []
    return kind, numbers.astype(np.int64) if _are_whole(numbers) else numbers.astype(str), []


def _kind(known: Any, numbers: Any, task: TaskName | None) -> TaskName:
    """What a target of numbers is."""
    if not np.isfinite(numbers).all():
        raise CommandError(f"the target {known.name!r} has infinite values; classes must be finite or text.")
    many = _are_many(numbers)
    if task == TaskName.CLASSES and many:
        raise CommandError(
            f"the target {known.name!r} has {len(np.unique(numbers))} different numbers, so it is a measurement and "
            "not a class; cut it into ranges first (low, medium, high), or leave --task out to predict the number."
        )
    return TaskName.NUMBERS if task == TaskName.NUMBERS or many else TaskName.CLASSES


def _are_whole(numbers: Any) -> bool:
    return bool((numbers == np.round(numbers)).all()) and bool((np.abs(numbers) < 2**53).all())


def _are_many(numbers: Any) -> bool:
    """Whether there are so many different numbers that they are a measurement."""
    return len(np.unique(numbers)) > (MOST_NUMERIC_CLASSES if _are_whole(numbers) else MOST_FRACTIONAL_CLASSES)


def _text_target(known: Any, task: TaskName | None) -> tuple[TaskName, Any, list[str]]:
    """The classes of a target that holds texts, if they are classes and not numbers with a word among them."""
    odd = odd_text(known)
    if odd is not None and odd.is_rare and (task == TaskName.NUMBERS or _are_many(odd.others)):
        raise CommandError(
            f"the target {known.name!r} holds numbers, but {odd}; correct the cell, or leave it empty or add "
            f"{naming_missing([odd.text])} if nothing is known."
        )
    if task == TaskName.NUMBERS:
        raise CommandError(
            f"the target {known.name!r} holds {str(known.iloc[0]) if odd is None else odd.text!r}, which is not a "
            "number; leave --task out, or choose another target."
        )
    labels = known.astype(str).to_numpy(dtype=object).astype(str)
    _check_repeated(known.name, labels)
    mixed = f"the target {known.name!r} holds numbers, but also {odd}; each is taken as a class of its own."
    return TaskName.CLASSES, labels, [] if odd is None else [mixed]


def _check_repeated(name: str, labels: Any) -> None:
    different = len(np.unique(labels))
    if different > 2 and different > len(labels) / 2:
        raise CommandError(
            f"the target {name!r} has {different} different values in {len(labels)} rows, so it names rows rather "
            "than classes; choose a column in which values repeat."
        )


def count(number: int, noun: str) -> str:
    """A number with its noun, in the plural if needed."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"
