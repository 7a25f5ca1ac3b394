"""The header of a file: most of what can be wrong with a file is found here, before anything heavy is imported."""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rulecover.cli.errors import CommandError
from rulecover.exceptions import MissingExtraError

SEPARATORS = ",;\t|"

#: How the names of Parquet files end.
PARQUET = (".parquet", ".pq")


@dataclass(frozen=True)
class Header:
    """The column names of a file, as they are written there, and the separator of its cells."""

    path: Path
    names: tuple[str, ...]
    separator: str


def is_model(path: Path) -> bool:
    """Whether a file begins like a model that rulecover fit writes."""
    if not path.is_file():
        return False
    with path.open("rb") as file:
        return b'"rulecover rules"' in file.read(200)


def check_is_table(path: Path) -> None:
    """Raises if there is a model where a table should be."""
    if is_model(path):
        raise CommandError(f"{path} is a model, not a table; rulecover predict and why take it with a table.")


def read_header(path: Path, separator: str | None) -> Header:
    """The header, or an error that says what is wrong with the file."""
    if not path.exists() or path.is_dir():
        raise CommandError(f"there is no file {str(path)!r} here; check the name and the folder.")
    if separator is not None and len(separator) != 1:
        raise CommandError(f"the separator is {separator!r}; it must be a single character, such as ';'.")
    try:
        headers = {sep: _first_row(path, sep) for sep in ([separator] if separator else SEPARATORS)}
    except (UnicodeDecodeError, csv.Error) as error:
        raise not_text(path) from error
    separator = max(headers, key=lambda sep: len(headers[sep]))  # the first of those that split the header most
    return Header(path, tuple(checked_names(headers[separator], path)), separator)


def checked_names(names: Sequence[str], path: Path) -> list[str]:
    """The names without the spaces around them, if they are distinct."""
    if any("\0" in name for name in names):
        raise not_text(path)
    names = [name.strip() for name in names]
    if not any(names):
        raise CommandError(f"{path} is empty; it needs a header line and rows below it.")
    repeated = sorted(name for name, times in Counter(names).items() if name and times > 1)
    if repeated:
        raise CommandError(f"{path} has more than one column named {quoted_names(repeated)}; rename all but one.")
    return names


def _first_row(path: Path, separator: str) -> list[str]:
    with path.open(encoding="utf-8-sig", newline="") as lines:
        return next((row for row in csv.reader(lines, delimiter=separator, skipinitialspace=True) if row), [])


def parquet() -> Any:
    """The package that reads and writes Parquet, if it is installed."""
    try:
        import pyarrow.parquet
    except ImportError as error:
        raise MissingExtraError(
            "Parquet needs the package pyarrow; install it with: pip install 'rulecover[parquet]'"
        ) from error
    return pyarrow.parquet


def not_text(path: Path) -> CommandError:
    return CommandError(f"{path} is not a UTF-8 CSV file; save the table as CSV (UTF-8) and try again.")


def checked_target(header: Header, target: str | None, drop: Sequence[str]) -> str:
    """The target, if it and the columns to drop are there."""
    path, names = header.path, [name for name in header.names if name]
    if target is None:
        raise CommandError(f"name the column to predict with --target; {path} has {quoted_names(names)}.")
    for name in (target, *drop):
        if name not in names:
            raise CommandError(f"{path} has no column {name!r}; it has {quoted_names(names)}.")
    if target in drop:
        raise CommandError(f"{target!r} is the target and cannot be dropped; name another column.")
    return target


def quoted_names(names: Sequence[str], most: int = 20) -> str:
    """Names in quotes, not too many."""
    text = ", ".join(repr(name) for name in names[:most] if name)
    return text if len(names) <= most else f"{text} and {len(names) - most} more"
