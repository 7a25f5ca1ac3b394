"""``rulecover predict``: predictions for the rows of a table of any size."""

from __future__ import annotations

import sys
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from rulecover.cli.errors import CommandError
from rulecover.cli.printing import Printer
from rulecover.cli.tables.chunks import TablePart, parts
from rulecover.cli.tables.header import PARQUET, TableFile, parquet
from rulecover.cli.tables.model_file import Model, load
from rulecover.cli.tables.reading import Reading
from rulecover.export.conditions import Script
from rulecover.files import whole_file
from rulecover.show.spreadsheet import csv_lines, escape_formula
from rulecover.typing import Array, Bools, Ints
from rulecover.voting.answers import Classes
from rulecover.voting.vote import Tally

#: The columns of intervals.
ENDS = ("lower", "upper")

#: How the names of files end that CSV would not open as.
_SPREADSHEETS = (".xlsx", ".xls", ".ods")


def predict(
    model: Path,
    data: Path,
    *,
    out: Path,
    keep: Sequence[str] | None,
    interval: float | None,
    exact: bool,
    reading: Reading,
    quiet: bool,
    edited: bool,
    max_model_size: float,
) -> None:
    """Writes the predictions for every row, a part at a time."""
    loaded, printer, rows = load(model, edited=edited, max_megabytes=max_model_size), Printer(quiet=quiet), 0
    if interval is not None:
        loaded.check_interval(interval)
    if out.suffix.lower() in _SPREADSHEETS:
        raise CommandError(
            f"predictions are written as CSV or Parquet, not as {out.suffix}; let the name in --out end in .csv, which "
            "spreadsheets open."
        )
    file, kept = TableFile(data, reading), list(dict.fromkeys(keep or []))
    _check_kept(kept, [*Script(loaded.rules).outputs, *(ENDS if interval is not None else ())])
    with printer.bars() as bars, bars.spinning("Predicting"), part_writer(out, exact=exact) as write:
        for part in parts(file, loaded, keep=kept):
            write(predictions(loaded, part, first=rows, interval=interval))
            rows += len(part.table)
    printer.notes(file.found.notes)
    if str(out) != "-":
        printer.notes([f"{rows:,} predictions written to {out}."])


def _check_kept(kept: Sequence[str], outputs: Sequence[str]) -> None:
    """Raises where a column to keep has the name of one that is predicted."""
    for name in kept:
        if name in outputs:
            raise CommandError(
                f"--keep {name} is refused: the predictions have a column {name!r} of their own; rename it in the "
                "table, or leave --keep out."
            )


# Predictions ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Predictions:
    """Columns that are kept, and for each row the number of its prediction: few predictions differ.

    Parameters
    ----------
    kept
        The columns of the data to write next to the predictions.
    distinct
        The predictions that occur: prediction, probabilities, the rules that fired, and what decided.
    which
        The prediction of each row.
    """

    kept: Any
    distinct: Any
    which: Ints

    @property
    def table(self) -> Any:
        predictions = self.distinct.take(self.which).reset_index(drop=True)
        return pd.concat([self.kept.reset_index(drop=True), predictions], axis=1)


def predictions(model: Model, part: TablePart, *, first: int, interval: float | None = None) -> Predictions:
    """The predictions for a part of a table, whose first row has this number."""
    rules = model.rules
    X = model.rows(part.table, first)
    tally = rules.tally(X)
    covered = rules.apply(X).toarray()
    places, which = distinct_rows([*_words(covered), *tally.sums.T, tally.missed])
    table = _table(model, Tally(tally.sums[places], tally.fired[places]), covered[places])
    if interval is not None:
        for place, (name, ends) in enumerate(zip(ENDS, rules.predict_interval(X[places], interval).T, strict=True)):
            table.insert(1 + place, name, ends)
    return Predictions(part.kept, table, which)


def _table(model: Model, tally: Tally, covered: Bools) -> Any:
    rules = model.rules
    values = [rules.decided(tally)]
    if isinstance(rules.answer, Classes):
        values += list(rules.probabilities(tally).T)
    fired = [",".join(map(str, np.flatnonzero(row))) for row in covered]
    values += [np.array(fired, dtype=object), np.where(tally.missed, rules.fallback.name, "rules")]
    return pd.DataFrame(dict(zip(Script(rules).outputs, values, strict=True)))


def _words(covered: Bools) -> Array:
    """Which rules cover each row, 64 of them in each number."""
    packed = np.packbits(covered, axis=1)
    padded = np.pad(packed, ((0, 0), (0, -packed.shape[1] % 8)))
    return np.ascontiguousarray(padded).view(np.uint64).T


def distinct_rows(columns: Iterable[Array]) -> tuple[Ints, Ints]:
    """Where each combination of values occurs, and which of them each row has."""
    which: Ints = np.zeros(0, dtype=np.intp)
    for column in columns:
        codes, values = pd.factorize(column)
        which = codes if not which.size else pd.factorize(which * len(values) + codes)[0]
    places = np.zeros(which.max(initial=-1) + 1, dtype=np.intp)
    places[which] = np.arange(len(which))
    return places, which


# Writing --------------------------------------------------------------------------------------------------------------

Writer = Callable[[Predictions], None]


@contextmanager
def part_writer(out: Path, *, exact: bool) -> Iterator[Writer]:
    """A function that writes one part of the predictions after the other; a file is there whole or not at all."""
    if out.suffix.lower() in PARQUET:
        with whole_file(out, binary=True) as file, _parquet_writer(file) as write:
            yield write
    elif str(out) == "-":
        yield _csv_writer(sys.stdout, _same if exact else escape_formula)
        sys.stdout.flush()
    else:
        with whole_file(out) as file:
            yield _csv_writer(file, _same if exact else escape_formula)


def _csv_writer(file: Any, shown: Callable[[Any], Any]) -> Writer:
    started = False

    def write(part: Predictions) -> None:
        nonlocal started
        if not started:
            _check_cells(part.kept)
            names = [*part.kept.columns, *part.distinct.columns]
            file.write(csv_lines([[shown(name) for name in names]], "\n")[0])
            started = True
        lines = np.array([*csv_lines(_cells(part.distinct, shown), "\n"), ""], dtype=object)[part.which].tolist()
        if not part.kept.shape[1]:
            file.write("".join(lines))
            return
        kept = csv_lines(_cells(part.kept, shown), ",")
        file.write("".join(left + right for left, right in zip(kept, lines, strict=True)))

    return write


def _check_cells(kept: Any) -> None:
    """Raises for columns to keep that CSV has no cells for."""
    for name in kept.columns:
        if any(not isinstance(value, Hashable) for value in kept[name].dropna().iloc[:1]):
            raise CommandError(
                f"--keep {name} is refused: column {name!r} holds lists or records, which are not cells of a CSV file; "
                "let the name in --out end in .parquet, or leave it out."
            )


def _cells(table: Any, shown: Callable[[Any], Any]) -> Iterator[tuple[Any, ...]]:
    columns = []
    for name in table.columns:
        codes, values = pd.factorize(table[name])  # each text is looked at once, however often it occurs
        columns.append(np.array([*(shown(value) for value in values.tolist()), None], dtype=object)[codes].tolist())
    return zip(*columns, strict=True)


def _same(text: Any) -> Any:
    return text


@contextmanager
def _parquet_writer(file: Any) -> Iterator[Writer]:
    pq = parquet()
    import pyarrow

    writer: Any = None

    def write(part: Predictions) -> None:
        nonlocal writer
        table = pyarrow.Table.from_pandas(part.table, preserve_index=False)
        writer = writer or pq.ParquetWriter(file, table.schema)
        writer.write_table(table.cast(writer.schema))

    yield write
    if writer is not None:
        writer.close()
