"""Sheets of Excel files, read row by row as CSV."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator
from contextlib import ExitStack, closing
from typing import IO, Any

from rulecover.cli.errors import CommandError
from rulecover.cli.tables.reading import Reading
from rulecover.cli.tables.streams import BLOCK, Found
from rulecover.exceptions import MissingExtraError

#: What a formula gives that has no value.
_NO_VALUE = re.compile(r"#(DIV/0!|VALUE!|REF!|NAME\?|NUM!|NULL!)")


#: The most rows that a sheet has.
_MOST_ROWS = 2**20


def sheet_blocks(file: IO[bytes], name: str, reading: Reading, found: Found, stack: ExitStack) -> Iterator[bytes]:
    """A sheet of an Excel file as CSV, without rows that are empty."""
    book = stack.enter_context(closing(_excel().load_workbook(file, read_only=True, data_only=True)))
    lines, width = io.StringIO(newline=""), 0
    writer = csv.writer(lines, lineterminator="\n")
    for cells in _rows(_chosen_sheet(book, name, reading, found)):
        row = [_text_of(cell, found.decimal or ".") for cell in cells]
        while row and not row[-1]:
            row.pop()
        if row:
            width = width or len(row)
            writer.writerow(row + [""] * (width - len(row)))
        if lines.tell() > BLOCK:
            yield lines.getvalue().encode()
            lines.seek(0)
            lines.truncate()
    yield lines.getvalue().encode()


def _rows(sheet: Any) -> Iterator[tuple[Any, ...]]:
    """The cells of each row up to the last that is there, wherever the file says that the sheet ends."""
    sheet.reset_dimensions()
    for number, cells in enumerate(sheet.iter_rows(max_row=_MOST_ROWS + 1, values_only=True)):
        if number == _MOST_ROWS:
            raise ValueError(f"a row is beyond the {_MOST_ROWS:,} that a sheet has")
        yield cells


def _excel() -> Any:
    """The package that reads Excel files, if it is installed."""
    try:
        import openpyxl
    except ImportError as error:
        raise MissingExtraError(
            "Excel files need the package openpyxl; install it with: pip install 'rulecover[excel]', or save the "
            "sheet as CSV."
        ) from error
    return openpyxl


def _chosen_sheet(book: Any, name: str, reading: Reading, found: Found) -> Any:
    sheets = {sheet.title: sheet for sheet in book.worksheets}
    listed = ", ".join(map(repr, sheets))
    if reading.sheet is not None and reading.sheet not in sheets:
        raise CommandError(f"{name} has no sheet {reading.sheet!r}; it has {listed}.")
    if not sheets:
        raise CommandError(f"{name} has no sheet with cells; save the table as CSV.")
    title = next(iter(sheets)) if reading.sheet is None else reading.sheet
    if len(sheets) > 1 and reading.sheet is None:
        found.note(f"the first sheet of {name}, {title!r}, is read; --sheet names another of {listed}.")
    return sheets[title]


def _text_of(cell: Any, decimal: str) -> str:
    """A cell as it would be written in CSV."""
    if cell is None or (isinstance(cell, str) and _NO_VALUE.fullmatch(cell)):
        return ""
    if isinstance(cell, bool):
        return "TRUE" if cell else "FALSE"
    if isinstance(cell, float):
        return repr(cell).removesuffix(".0").replace(".", decimal)
    return str(cell).removesuffix(" 00:00:00")  # a date without a time
