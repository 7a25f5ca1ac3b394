"""What is in compressed files and archives; Excel files are archives, too."""

from __future__ import annotations

import shutil
import tempfile
import zipfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from importlib import import_module
from pathlib import PurePosixPath
from typing import IO, Any

from rulecover.cli.errors import CommandError
from rulecover.cli.tables.excel import sheet_blocks
from rulecover.cli.tables.reading import Reading
from rulecover.cli.tables.streams import Found, Peekable, blocks_of, peekable
from rulecover.exceptions import RulecoverError

#: How compressed files begin, and the modules that open them.
_COMPRESSED = {b"\x1f\x8b": "gzip", b"BZh": "bz2", b"\xfd7zXZ\x00": "lzma"}

#: How archives begin; the second is empty.
_ZIP = (b"PK\x03\x04", b"PK\x05\x06")

#: How the names of tables in an archive end.
_EXCEL = (".xlsx", ".xlsm")
_TABLES = (".csv", ".tsv", ".tab", *_EXCEL)


def unpacked(file: Peekable, name: str, reading: Reading, found: Found, stack: ExitStack) -> Peekable | None:
    """What is in a compressed file, an archive or an Excel file; ``None`` if it is none of these."""
    start = file.peek(8)
    if start.startswith(_ZIP):
        with _undamaged(name):
            return _from_zip(stack.enter_context(_seekable(file)), name, reading, found, stack)
    for magic, module in _COMPRESSED.items():
        if start.startswith(magic):
            return peekable(_whole(blocks_of(stack.enter_context(import_module(module).open(file))), name))
    return None


def _whole(blocks: Iterator[bytes], name: str) -> Iterator[bytes]:
    """The blocks of a file in another one, or an error if it is damaged."""
    with _undamaged(name):
        yield from blocks


@contextmanager
def _undamaged(name: str) -> Iterator[None]:
    """Errors about what is in a file say that it is damaged: what unpacks it raises whatever it stumbles over."""
    try:
        yield
    except RulecoverError:
        raise
    except Exception as error:
        raise CommandError(f"{name} is damaged or cut short ({error}); fetch or save it again.") from error


@contextmanager
def _seekable(file: Peekable) -> Iterator[IO[bytes]]:
    """The file, or a copy of it if it can be read only once."""
    if file.seekable():
        yield file
        return
    with tempfile.TemporaryFile() as copy:
        shutil.copyfileobj(file, copy)
        copy.seek(0)
        yield copy


def _from_zip(file: IO[bytes], name: str, reading: Reading, found: Found, stack: ExitStack) -> Peekable:
    archive = stack.enter_context(zipfile.ZipFile(file))
    members = [each.filename for each in archive.infolist() if not each.is_dir()]
    if "xl/workbook.xml" in members:
        return _from_excel(file, name, reading, found, stack)
    if "word/document.xml" in members or "content.xml" in members:
        raise CommandError(f"{name} is an office document, not a table; save the table in it as .xlsx or CSV.")
    member = _member(members, name, reading, found)
    try:
        content: Any = stack.enter_context(archive.open(member))
    except (RuntimeError, NotImplementedError) as error:
        raise CommandError(f"{member!r} in {name} cannot be unpacked ({error}); unpack it first.") from error
    return peekable(_whole(blocks_of(content), name))


def _from_excel(file: IO[bytes], name: str, reading: Reading, found: Found, stack: ExitStack) -> Peekable:
    file.seek(0)
    found.separator, found.decimal = ",", reading.decimal or "."
    return peekable(_whole(sheet_blocks(file, name, reading, found, stack), name))


def _member(members: list[str], name: str, reading: Reading, found: Found) -> str:
    """The one table in an archive, or the one that was named."""
    members = [each for each in members if not _is_hidden(each)]
    tables = [each for each in members if each.lower().removesuffix(".gz").endswith(_TABLES)] or members
    listed = ", ".join(map(repr, tables[:10]))
    if not members:
        raise CommandError(f"{name} is a zip archive without a file in it; name one with a table.")
    if reading.sheet in members:
        return str(reading.sheet)
    if reading.sheet is not None and not tables[0].lower().endswith(_EXCEL):  # of which a sheet may be meant
        raise CommandError(f"{name} is a zip archive without a file {reading.sheet!r}; it has {listed}.")
    if len(tables) > 1:
        raise CommandError(f"{name} is a zip archive of several files; choose one with --sheet: {listed}.")
    found.note(f"{tables[0]!r} in {name} is read.")
    return tables[0]


def _is_hidden(member: str) -> bool:
    parts = PurePosixPath(member).parts
    return "__MACOSX" in parts or parts[-1].startswith(".")
