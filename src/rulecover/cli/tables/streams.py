"""Files that are made as they are read, and what is found out about a file meanwhile."""

from __future__ import annotations

import io
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import IO, Any, TypeAlias

#: How many bytes are read at a time, and looked at before the others.
BLOCK = 1 << 16

#: A file whose first bytes can be looked at before they are read.
Peekable: TypeAlias = "io.BufferedReader[Any]"


@dataclass
class Found:
    """What was found out about a file while it was read.

    Parameters
    ----------
    notes
        What was recognised, in sentences.
    separator, decimal
        The character between cells, and the decimal mark, where the kind of file decides.
    codes
        Whether some cell begins with a zero and more digits, as codes do.
    """

    notes: list[str] = field(default_factory=list)
    separator: str | None = None
    decimal: str | None = None
    codes: bool = False

    def note(self, text: str) -> None:
        """Notes a sentence, once."""
        if text not in self.notes:
            self.notes.append(text)


class Unowned(io.RawIOBase):
    """A file that stays open when what reads from it is closed."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return self._file.seekable()

    def seek(self, offset: int, whence: int = 0) -> int:
        return self._file.seek(offset, whence)

    def tell(self) -> int:
        return self._file.tell()

    def readinto(self, buffer: Any) -> int:
        read = getattr(self._file, "read1", self._file.read)
        data = read(len(buffer))
        buffer[: len(data)] = data
        return len(data)


class JoinedBlocks(io.RawIOBase):
    """A file of blocks that are made as they are needed."""

    def __init__(self, blocks: Iterator[bytes]) -> None:
        self._blocks = blocks
        self._left = memoryview(b"")

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        while not self._left:
            block = next(self._blocks, None)
            if block is None:
                return 0
            self._left = memoryview(block)
        taken = self._left[: len(buffer)]
        buffer[: len(taken)] = taken
        self._left = self._left[len(taken) :]
        return len(taken)


def peekable(blocks: Iterator[bytes]) -> Peekable:
    """Blocks that are made as they are needed, as a file."""
    return io.BufferedReader(JoinedBlocks(blocks), BLOCK)


def blocks_of(file: IO[bytes]) -> Iterator[bytes]:
    """The rest of a file, a block at a time."""
    return iter(lambda: file.read(BLOCK), b"")
