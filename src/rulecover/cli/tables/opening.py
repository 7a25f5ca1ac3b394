"""Files as people have them, opened as UTF-8: other encodings, compressed files, archives and Excel sheets."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import IO

from rulecover.cli.errors import CommandError
from rulecover.cli.tables.letters import utf8_blocks
from rulecover.cli.tables.reading import Reading
from rulecover.cli.tables.streams import BLOCK, Found, Peekable, Unowned, peekable

#: How files begin that hold no text, what they are, and the way out.
_OTHERS = {
    b"%PDF": ("a PDF file", "copy the table into a spreadsheet and save it as CSV"),
    b"\xd0\xcf\x11\xe0": ("an old Excel file (.xls)", "save it as .xlsx or CSV"),
    b"\x89PNG": ("a picture", "save the table itself as CSV"),
    b"\xff\xd8\xff": ("a picture", "save the table itself as CSV"),
    b"GIF8": ("a picture", "save the table itself as CSV"),
    b"7z\xbc\xaf": ("a 7z archive", "unpack it first"),
    b"Rar!": ("a RAR archive", "unpack it first"),
    b"\x28\xb5\x2f\xfd": ("compressed by zstd", "unpack it first"),
    b"PAR1": ("a Parquet file", "let its name end in .parquet"),
    b"ARROW1": ("a Feather file", "save it as Parquet or CSV"),
    b"\x89HDF": ("an HDF5 file", "save the table as Parquet or CSV"),
    b"SQLite format 3": ("a SQLite database", "save a table of it as CSV"),
    b"RDX": ("an R data file", "save the table with write.csv"),
    b"$FL": ("an SPSS file", "save it as CSV"),
    b"<stata_dta>": ("a Stata file", "save it as CSV"),
    b"\x7fELF": ("a program", "name a CSV file"),
    b"\x80\x04": ("a Python pickle", "save the table with to_csv or to_parquet"),
    b"\x80\x05": ("a Python pickle", "save the table with to_csv or to_parquet"),
    b"{\\rtf": ("a text document (RTF)", "save the table as CSV"),
}

#: How texts begin that are not tables.
_OTHER_TEXTS = {
    re.compile(rb"\s*<(!doctype html|html|\?xml|table)", re.IGNORECASE): ("a web page or XML", "save the table as CSV"),
    re.compile(rb'\s*(\[\s*)?\{\s*"'): ("JSON", "save the table as CSV, with one column per field"),
}


#: How files begin in which others are packed: compressed ones and archives.
_PACKED = (b"\x1f\x8b", b"BZh", b"\xfd7zXZ\x00", b"PK")

#: How often a file may be packed into others: some files, once unpacked, are themselves again.
_MOST_LAYERS = 10


@contextmanager
def utf8(file: IO[bytes], name: str, reading: Reading, found: Found) -> Iterator[Peekable]:
    """The text of a file as UTF-8 without a byte order mark, whatever it is compressed by and encoded in."""
    with ExitStack() as stack:
        content: Peekable = io.BufferedReader(Unowned(file), BLOCK)
        layers = 0
        while content.peek(8).startswith(_PACKED):
            from rulecover.cli.tables.archives import unpacked  # with modules that few files need

            inside = unpacked(content, name, reading, found, stack)
            if inside is None:
                break
            content, layers = inside, layers + 1
            if layers > _MOST_LAYERS:
                raise CommandError(f"{name} is packed more than {_MOST_LAYERS} times over; unpack it first.")
        _check_is_text(content.peek(BLOCK), name)
        yield peekable(_without_hint(utf8_blocks(content, name, reading, found)))


def _without_hint(blocks: Iterator[bytes]) -> Iterator[bytes]:
    """The blocks without the line ``sep=;``, by which Excel is told the separator."""
    first = next(blocks, b"")
    yield re.sub(rb'\A"?sep=.?"?\r?\n', b"", first, flags=re.IGNORECASE)
    yield from blocks


def _check_is_text(start: bytes, name: str) -> None:
    """Raises if a file begins as one that holds no table."""
    for magic, (what, way) in _OTHERS.items():
        if start.startswith(magic):
            raise CommandError(f"{name} is {what}, not a table in text; {way}.")
    if start[257:262] == b"ustar":
        raise CommandError(f"{name} is a tar archive, not a table in text; unpack it first.")
    for pattern, (what, way) in _OTHER_TEXTS.items():
        if pattern.match(start):
            raise CommandError(f"{name} is {what}, not a table; {way}.")
