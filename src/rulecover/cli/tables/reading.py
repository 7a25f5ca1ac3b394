"""Labelled tables to train on: CSV, Parquet, or CSV on standard input."""

from __future__ import annotations

import shutil
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rulecover.cli.errors import CommandError
from rulecover.cli.options.choices import Task
from rulecover.cli.tables.chunks import PARQUET, parquet
from rulecover.cli.tables.encoding import ColumnsOf
from rulecover.cli.tables.header import Header, check_is_table, checked_names, checked_target, read_header
from rulecover.cli.tables.labelled import Table, labelled, read_frame


def labelled_table(
    path: Path,
    target: str | None,
    *,
    drop: Sequence[str],
    columns: ColumnsOf,
    separator: str | None,
    task: Task | None = None,
) -> Table:
    """The table, or an error that says what is wrong with it and what to do."""
    if str(path) == "-":
        return _from_stdin(target, drop=drop, columns=columns, separator=separator, task=task)
    check_is_table(path)
    if path.suffix.lower() in PARQUET:
        frame = _parquet_frame(path)
        header = Header(path, tuple(checked_names(list(map(str, frame.columns)), path)), "")
        return labelled(frame, path, checked_target(header, target, drop), drop=drop, columns=columns, task=task)
    header = read_header(path, separator)
    target = checked_target(header, target, drop)
    frame, notes = read_frame(header)
    return labelled(frame, path, target, drop=drop, columns=columns, task=task, notes=notes)


def _parquet_frame(path: Path) -> Any:
    if not path.is_file():
        raise CommandError(f"there is no file {str(path)!r} here; check the name and the folder.")
    pq = parquet()
    from pyarrow import ArrowException

    try:
        return pq.read_table(path).to_pandas()
    except ArrowException as error:
        raise CommandError(f"{path} is no proper Parquet file: {error}") from error


def _from_stdin(target: str | None, **settings: Any) -> Table:
    """Standard input can be read once only, and a table is looked at twice: it is put into a file first."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "standard input"
        with path.open("wb") as file:
            shutil.copyfileobj(sys.stdin.buffer, file)
        try:
            return labelled_table(path, target, **settings)
        except CommandError as error:
            raise CommandError(str(error).replace(str(path), path.name)) from error
