"""The header of a file: most of what can be wrong with a file is found here, before anything heavy is imported."""

from __future__ import annotations

import csv
import io
import re
import sys
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import IO, Any

from rulecover.cli.errors import CommandError
from rulecover.cli.tables.first_line import looks_like_data
from rulecover.cli.tables.opening import utf8
from rulecover.cli.tables.reading import Reading
from rulecover.cli.tables.streams import BLOCK, Found, Peekable
from rulecover.exceptions import MissingExtraError, RulecoverError
from rulecover.show.text import did_you_mean

SEPARATORS = ",;\t|"

#: How the names of Parquet files end.
PARQUET = (".parquet", ".pq")

#: How the names of files end that are offered where a folder was named.
_LISTED = (".csv", ".tsv", ".txt", ".gz", ".zip", ".xlsx", *PARQUET)

#: How many rows below the header are compared with it.
_COMPARED = 50


@dataclass(frozen=True)
class TableFile:
    """A file that may hold a table.

    Parameters
    ----------
    path
        Where it is, and how it is called in messages; ``-`` is standard input.
    reading
        What was said about how to read it.
    copy
        Its bytes, if it can be read only once, as standard input.
    found
        What is found out while it is read.
    """

    path: Path
    reading: Reading = field(default_factory=Reading)
    copy: IO[bytes] | None = None
    found: Found = field(default_factory=Found)

    @property
    def source(self) -> Path:
        """What it is called in messages."""
        return Path("standard input") if str(self.path) == "-" else self.path

    @property
    def is_parquet(self) -> bool:
        return self.path.suffix.lower() in PARQUET

    def check_is_there(self) -> None:
        """Raises if there is no such file."""
        path = self.path
        if self.copy is not None or str(path) == "-" or (path.exists() and not path.is_dir()):
            return
        if path.is_dir():
            inside = sorted(each.name for each in path.iterdir() if each.suffix.lower() in _LISTED)
            way = f"name a file in it, such as {str(path / inside[0])!r}" if inside else "name a file"
            raise CommandError(f"{str(path)!r} is a folder; {way}.")
        if "://" in str(path) or str(path).startswith(("http:/", "https:/")):
            raise CommandError(f"{str(path)!r} is an address, and only files are read; download it first.")
        raise CommandError(f"there is no file {str(path)!r} here; check the name and the folder.")

    @contextmanager
    def open(self) -> Iterator[Peekable]:
        """The text of the file as UTF-8, from its beginning; see `opening`."""
        with self.open_as_it_is() as file, utf8(file, str(self.source), self.reading, self.found) as text:
            yield text

    @contextmanager
    def open_as_it_is(self) -> Iterator[IO[bytes]]:
        """The bytes of the file, from their beginning."""
        if self.copy is not None:
            self.copy.seek(0)
            yield self.copy
        elif str(self.path) == "-":
            yield sys.stdin.buffer
        else:
            with self.path.open("rb") as file:
                yield file


@dataclass(frozen=True)
class Header:
    """The column names of a file, as they are written there, the separator of its cells, and some rows below it."""

    file: TableFile
    names: tuple[str, ...]
    separator: str
    rows: tuple[Sequence[str], ...] = ()

    @property
    def advice(self) -> str:
        """What to do where the header does not look like one; see `no_names`."""
        return "" if self.file.reading.no_header else no_names(self.names, self.file.source, self.rows)

    @property
    def looks_like_data(self) -> bool:
        """Whether the header is a row rather."""
        return not self.file.reading.no_header and looks_like_data(self.names, self.rows)


def is_model(file: TableFile) -> bool:
    """Whether a file begins like a model that rulecover fit writes."""
    if file.copy is None and not file.path.is_file():
        return False
    with file.open_as_it_is() as content:
        return b'"rulecover rules"' in content.read(200)


def check_is_table(file: TableFile) -> None:
    """Raises if there is a model where a table should be."""
    if is_model(file):
        raise CommandError(f"{file.source} is a model, not a table; rulecover predict and why take it with a table.")


def read_header(file: TableFile) -> Header:
    """The header, or an error that says what is wrong with the file."""
    file.check_is_there()
    try:
        with file.open() as content:
            separator = separator_of(file, content)
            below = _first_rows(content, separator, _COMPARED)[1:]
            lines = io.TextIOWrapper(content, encoding="utf-8", newline="")
            row = next((row for row in csv.reader(lines, delimiter=separator, skipinitialspace=True) if row), [])
    except (UnicodeDecodeError, csv.Error) as error:
        raise not_text(file.source) from error
    return Header(file, tuple(names_in(row, file, below)), separator, tuple(below))


def separator_of(file: TableFile, content: Peekable, needed: Collection[str] = ()) -> str:
    """What stands between the cells of a file, by what it begins with; columns that are needed should be there."""
    known = file.found.separator or file.reading.separator
    if known is not None:
        return known
    return max(SEPARATORS, key=lambda each: _how_well(_first_rows(content, each), needed))


def has_more_separators(content: Peekable, separator: str) -> bool:
    """Whether rows end with a separator that the header does not have, so that they have an empty cell more."""
    header, *rows = _first_rows(content, separator) or [[]]
    return bool(rows) and all(len(row) == len(header) + 1 and not row[-1] for row in rows)


def _first_rows(content: Peekable, separator: str, most: int = 10) -> list[list[str]]:
    """The first rows of a file, as far as they can be looked at before they are read."""
    start = content.peek(BLOCK).decode("utf-8", errors="ignore")
    whole = start[: max(start.rfind("\n"), start.rfind("\r")) + 1] or start  # the last line may be cut off
    reader = csv.reader(io.StringIO(whole, newline=""), delimiter=separator, skipinitialspace=True)
    try:
        return list(islice((row for row in reader if row), most))
    except csv.Error:  # no text
        return []


def _how_well(first_rows: Sequence[Sequence[str]], needed: Collection[str]) -> tuple[int, bool, int, bool]:
    """How well a separator fits: columns in the header that are needed, rows as long as it, and its length."""
    if not first_rows:
        return 0, False, 0, False
    header, *rows = first_rows
    alike = all(len(row) == len(header) for row in rows)
    return len({*needed}.intersection(map(str.strip, header))), alike and len(header) > 1, len(header), alike


def names_in(row: Sequence[str], file: TableFile, below: Sequence[Sequence[str]] = ()) -> list[str]:
    """The names of the columns, by the first row of a file: itself, or numbers where there is no header."""
    if not file.reading.no_header:
        return checked_names([cell.strip() for cell in row], file.source, below)
    if any("\0" in cell for cell in row):
        raise not_text(file.source)
    if not any(cell.strip() for cell in row):
        raise CommandError(f"{file.source} is empty; it needs rows.")
    return [f"column_{number}" for number in range(1, len(row) + 1)]


def no_names(names: Sequence[str], source: Path, rows: Sequence[Sequence[str]] = ()) -> str:
    """What to do where the header does not look like one, as a sentence to follow; nothing where it does."""
    if looks_like_data(names, rows):
        return f" The first line of {source} looks like data, not like names of columns; --no-header takes it as a row."
    if len(names) == 1:
        return " If that is not all, name the separator with --separator, or delete the lines above the header."
    return ""


def checked_names(names: Sequence[str], path: Path, below: Sequence[Sequence[str]] = ()) -> list[str]:
    """The names, if they are distinct; some rows below help to tell what is wrong."""
    if any("\0" in name for name in names):
        raise not_text(path)
    if not any(names):
        raise CommandError(f"{path} is empty; it needs a header line and rows below it.")
    repeated = sorted(name for name, times in Counter(names).items() if name and times > 1)
    if repeated:
        what = f"{path} has more than one column named {quoted_names(repeated)}"
        if looks_like_data(names, below):
            raise CommandError(f"{what}.{no_names(names, path, below)}")
        raise CommandError(f"{what}; rename all but one, or add --no-header if its first line is a row already.")
    return list(names)


def parquet() -> Any:
    """The package that reads and writes Parquet, if it is installed."""
    try:
        import pyarrow.parquet
    except ImportError as error:
        raise MissingExtraError(
            "Parquet needs the package pyarrow; install it with: pip install 'rulecover[parquet]'"
        ) from error
    return pyarrow.parquet


@contextmanager
def valid_parquet(path: Path) -> Iterator[None]:
    """Errors about what is in a Parquet file say so: pyarrow raises whatever it stumbles over."""
    try:
        yield
    except RulecoverError:
        raise
    except Exception as error:
        if isinstance(error, OSError) and error.errno is not None:  # about the file itself
            raise
        raise CommandError(f"{path} is not a valid Parquet file: {error}; fetch or save it again.") from error


def not_text(path: Path) -> CommandError:
    return CommandError(
        f"{path} is not a CSV file: it is not text, or not in one encoding throughout; save the table as CSV (UTF-8), "
        "or name its encoding with --encoding."
    )


def not_valid(header: Header, error: Exception, above: int = 0) -> CommandError:
    """What is wrong with the rows of a file, by what pandas says, which counts from below some lines."""
    reason = " ".join(str(error).removeprefix("Error tokenizing data. C error: ").split())
    reason = re.sub(r"(?<= line )\d+|(?<= row )\d+", lambda number: str(int(number[0]) + above), reason)
    if reason.startswith("Length of header or names"):
        reason = "rows have more cells than the header has names"
    return CommandError(
        f"{header.file.source} is not a valid CSV file: {reason} (cells separated by {header.separator!r}; --separator "
        "sets another)."
    )


def checked_target(header: Header, target: str | None, drop: Sequence[str]) -> str:
    """The target, if it and the columns to drop are there."""
    path, names = header.file.source, [name for name in header.names if name]
    if target is None:
        raise CommandError(
            f"name the column to predict with --target; {path} has {quoted_names(names)}.{header.advice}"
        )
    for name in (target, *drop):
        if name not in names:
            raise CommandError(
                f"{path} has no column {name!r}{did_you_mean(name, names)}; it has {quoted_names(names)}."
                f"{header.advice}"
            )
    if target in drop:
        raise CommandError(f"{target!r} is the target and cannot be dropped; name another column.")
    return target


def quoted_names(names: Sequence[str], most: int = 20) -> str:
    """Names in quotes, not too many."""
    text = ", ".join(repr(name) for name in names[:most] if name)
    return text if len(names) <= most else f"{text} and {len(names) - most} more"
