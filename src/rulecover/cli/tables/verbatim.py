"""Cells of a CSV file as they are written there, next to a reader that turns them into numbers and missing values."""

from __future__ import annotations

import csv
import io
import re
import sys
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain, islice
from typing import IO, TypeAlias

import pandas as pd

from rulecover.cli.errors import CommandError

#: Stands before blanks at the beginning of a cell, which every reader that skips blanks before quotes would drop.
_MARK, _ITSELF, _BLANKS = "\ue000", "\ue000a", "\ue000b"

#: How many characters are read at a time.
_BLOCK = 1 << 18


class FirstAgain:
    """A text whose first line was read, and is to be read again."""

    def __init__(self, line: str, file: IO[str]) -> None:
        self._line = line
        self._file = file

    def read(self, size: int = -1) -> str:
        first, self._line = self._line, ""
        return first or self._file.read(size)

    def __iter__(self) -> Iterator[str]:
        return iter(lambda: self.read(_BLOCK), "")


#: A text that is read a part at a time.
Text: TypeAlias = IO[str] | FirstAgain


class WatchedText:
    """A text that records whether every reader reads it alike so far: no blanks before cells, no NUL."""

    def __init__(self, file: Text, separator: str) -> None:
        self._file = file
        self._odd = (f"{separator} ", "\n ", "\r ", "\0")
        self._last = "\n"
        self.is_plain = True

    def read(self, size: int = -1) -> str:
        text = self._file.read(size)
        seen = self._last + text
        self.is_plain = self.is_plain and not any(each in seen for each in self._odd)
        self._last = text[-1:]
        return text

    def __iter__(self) -> Iterator[str]:
        return iter(self._file)


class SharedText:
    """A text that is read twice, and kept only between the readers: for input that cannot be opened again."""

    is_plain = False

    def __init__(self, file: Text) -> None:
        self._file = file
        self._first: deque[str] = deque()
        self._second: deque[str] = deque()

    def read(self, size: int = -1) -> str:
        if not self._first:
            self._pull(size)
        return self._first.popleft() if self._first else ""

    def __iter__(self) -> Iterator[str]:
        while self._second or self._pull(_BLOCK):
            yield self._second.popleft()

    def _pull(self, size: int) -> bool:
        text = self._file.read(size)
        if text:
            self._first.append(text)
            self._second.append(text)
        return bool(text)


def blocks_of(file: Text) -> Iterator[str]:
    """The rest of a file, a part at a time."""
    return iter(lambda: file.read(_BLOCK), "")


def _whole_lines(blocks: Iterable[str]) -> Iterator[str]:
    rest = ""
    for block in blocks:
        joined = rest + block
        end = max(joined.rfind("\n"), joined.rfind("\r")) + 1
        rest = joined[end:]
        if end:
            yield joined[:end]
    if rest:
        yield rest


class KeptCells:
    """Some columns of a CSV file, row by row as they are written there; an empty cell is ``None``.

    Parameters
    ----------
    blocks
        The file, below the header.
    separator
        What stands between cells.
    places
        The columns by name, and which of the row they are.
    """

    def __init__(self, blocks: Iterable[str], separator: str, places: Mapping[str, int]) -> None:
        csv.field_size_limit(sys.maxsize)
        whole = _whole_lines(blocks)
        marked = whole if separator == " " else _mark_blanks(whole, separator)
        lines = chain.from_iterable(io.StringIO(block, newline="") for block in marked)
        rows = csv.reader(lines, delimiter=separator, skipinitialspace=True)
        self._rows = (row for row in rows if len(row) > 1 or (row and not _is_blank(row[0])))
        self._places = dict(places)

    def skip(self, n: int) -> None:
        """Skips the next n rows."""
        deque(islice(self._rows, n), maxlen=0)

    def take(self, n: int) -> pd.DataFrame:
        """The cells of the next n rows."""
        places = list(self._places.values())
        rows = islice(self._rows, n) if places else ()
        cells = [[_cell(row, place) for place in places] for row in rows]  # whole rows would fill the memory
        if places and len(cells) < n:
            raise CommandError("cells with quotes are ambiguous; leave --keep out, or quote cells in full.")
        return pd.DataFrame(cells, columns=list(self._places), index=range(n), dtype=object)


def _mark_blanks(blocks: Iterable[str], separator: str) -> Iterator[str]:
    """The same blocks, with a mark before blanks at the beginning of a cell, unless a quote follows."""
    blanks = re.compile(f'(^|{re.escape(separator)}|[\\r\\n])(?= +(?:[^ "]|$))')
    for block in blocks:
        own = block.replace(_MARK, _ITSELF) if _MARK in block else block
        yield blanks.sub(rf"\1{_BLANKS}", own) if " " in own else own


def _is_blank(cell: str) -> bool:
    return bool(cell) and _as_it_was(cell).isspace()


def _cell(row: Sequence[str], place: int) -> str | None:
    return (_as_it_was(row[place]) or None) if place < len(row) else None


def _as_it_was(cell: str) -> str:
    return cell.replace(_BLANKS, "").replace(_ITSELF, _MARK) if _MARK in cell else cell
