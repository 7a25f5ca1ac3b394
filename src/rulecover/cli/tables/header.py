"""The header of a file: most of what can be wrong with a file is found here, before anything heavy is imported."""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from rulecover.cli.errors import CommandError
from rulecover.exceptions import MissingExtraError

SEPARATORS = ",;\t|"

#: How the names of Parquet files end.
PARQUET = (".parquet", ".pq")


@dataclass(frozen=True)
class TableFile:
    """A file that may hold a table.

    Parameters
    ----------
    path
        Where it is, and how it is called in messages.
    copy
        Its bytes, if it can be read only once, as standard input.
    """

    path: Path
    copy: IO[bytes] | None = None

    @property
    def is_there(self) -> bool:
        return self.copy is not None or (self.path.exists() and not self.path.is_dir())

    @contextmanager
    def open(self) -> Iterator[IO[bytes]]:
        """The file, from its beginning."""
        if self.copy is None:
            with self.path.open("rb") as file:
                yield file
        else:
            self.copy.seek(0)
            yield self.copy


@dataclass(frozen=True)
class Header:
    """The column names of a file, as they are written there, and the separator of its cells."""

    file: TableFile
    names: tuple[str, ...]
    separator: str


def is_model(file: TableFile) -> bool:
    """Whether a file begins like a model that rulecover fit writes."""
    if file.copy is None and not file.path.is_file():
        return False
    with file.open() as content:
        return b'"rulecover rules"' in content.read(200)


def check_is_table(file: TableFile) -> None:
    """Raises if there is a model where a table should be."""
    if is_model(file):
        raise CommandError(f"{file.path} is a model, not a table; rulecover predict and why take it with a table.")


def read_header(file: TableFile, separator: str | None) -> Header:
    """The header, or an error that says what is wrong with the file."""
    path = file.path
    if not file.is_there:
        raise CommandError(f"there is no file {str(path)!r} here; check the name and the folder.")
    if separator is not None and len(separator) != 1:
        raise CommandError(f"the separator is {separator!r}; it must be a single character, such as ';'.")
    try:
        headers = {sep: _first_row(file, sep) for sep in ([separator] if separator else SEPARATORS)}
    except (UnicodeDecodeError, csv.Error) as error:
        raise not_text(path) from error
    separator = max(headers, key=lambda sep: len(headers[sep]))  # the first of those that split the header most
    return Header(file, tuple(checked_names(headers[separator], path)), separator)


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


def _first_row(file: TableFile, separator: str) -> list[str]:
    with file.open() as content:
        lines = io.TextIOWrapper(content, encoding="utf-8-sig", newline="")
        try:
            return next((row for row in csv.reader(lines, delimiter=separator, skipinitialspace=True) if row), [])
        finally:
            lines.detach()  # or it would close the file


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
    path, names = header.file.path, [name for name in header.names if name]
    if target is None:
        raise CommandError(f"name the column to predict with --target; {path} has {quoted_names(names)}.")
    for name in (target, *drop):
        if name not in names:
            raise CommandError(
                f"{path} has no column {name!r}{did_you_mean(name, names)}; it has {quoted_names(names)}."
            )
    if target in drop:
        raise CommandError(f"{target!r} is the target and cannot be dropped; name another column.")
    return target


def did_you_mean(name: str, names: Sequence[str]) -> str:
    """The name that was probably meant, to be put behind the one that was typed; nothing if none is close.

    >>> did_you_mean("specis", ["species", "sex"])
    " (did you mean 'species'?)"
    >>> did_you_mean("SEX", ["species", "sex"])
    " (did you mean 'sex'?)"
    >>> did_you_mean("weight", ["species", "sex"])
    ''
    """
    from difflib import get_close_matches  # is slow to import, and seldom needed

    folded = {each.strip().casefold(): each for each in reversed(names) if each}
    close = get_close_matches(name.strip().casefold(), folded, n=1, cutoff=0.7)
    return f" (did you mean {folded[close[0]]!r}?)" if close else ""


def quoted_names(names: Sequence[str], most: int = 20) -> str:
    """Names in quotes, not too many."""
    text = ", ".join(repr(name) for name in names[:most] if name)
    return text if len(names) <= most else f"{text} and {len(names) - most} more"
