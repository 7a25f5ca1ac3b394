"""Where leaf ids are kept: in memory, or in files that are mapped while they are used."""

from __future__ import annotations

import os
import tempfile
import weakref
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from rulecover.typing import UInts


class KeptIds(Protocol):
    """An array of trees x rows, kept somewhere."""

    shape: tuple[int, int]
    dtype: Any

    def opened(self, *, write: bool = False) -> AbstractContextManager[UInts]:
        """The array, as long as the context lasts."""


class IdStore(Protocol):
    """Keeps arrays of leaf ids."""

    def allocated(self, shape: tuple[int, int], dtype: Any) -> KeptIds:
        """A new array, to be written to; it is freed once nobody refers to it."""


class InMemory:
    """Leaf ids in memory."""

    def allocated(self, shape: tuple[int, int], dtype: Any) -> KeptIds:
        return _Here(np.empty(shape, dtype=dtype))


class _Here:
    def __init__(self, array: UInts) -> None:
        self._array, self.shape, self.dtype = array, (array.shape[0], array.shape[1]), array.dtype

    @contextmanager
    def opened(self, *, write: bool = False) -> Iterator[UInts]:
        yield self._array


class SpillToDisk:
    """Leaf ids in memory as long as they fit, beyond that in files of a temporary folder.

    Files are mapped only while they are used, so that their pages are not held by the process.

    Parameters
    ----------
    limit
        The bytes of leaf ids that may be kept in memory, together.
    folder
        Where the temporary folder is made; that of the system by default.
    """

    def __init__(self, limit: float, folder: str | None = None) -> None:
        self._left, self._parent = limit, folder
        self._folder: tempfile.TemporaryDirectory[str] | None = None
        self._files = 0

    def allocated(self, shape: tuple[int, int], dtype: Any) -> KeptIds:
        size = shape[0] * shape[1] * np.dtype(dtype).itemsize
        if size > self._left or not size:
            return _InFile(self._new_path(), shape, dtype) if size else InMemory().allocated(shape, dtype)
        self._left -= size
        kept = InMemory().allocated(shape, dtype)
        weakref.finalize(kept, self._give_back, size)
        return kept

    def close(self) -> None:
        """Removes all files."""
        if self._folder is not None:
            self._folder.cleanup()

    def _give_back(self, size: int) -> None:
        self._left += size

    def _new_path(self) -> Path:
        if self._folder is None:
            self._folder = tempfile.TemporaryDirectory(prefix="rulecover-", dir=self._parent)
        self._files += 1
        return Path(self._folder.name) / f"{self._files}.ids"


class _InFile:
    def __init__(self, path: Path, shape: tuple[int, int], dtype: Any) -> None:
        self._path, self.shape, self.dtype = path, shape, np.dtype(dtype)
        _reserve(path, shape[0] * shape[1] * self.dtype.itemsize)
        weakref.finalize(self, _remove, path)

    @contextmanager
    def opened(self, *, write: bool = False) -> Iterator[UInts]:
        array: Any = np.memmap(self._path, self.dtype, mode="r+" if write else "r", shape=self.shape)
        yield array.view(np.ndarray)  # without the bookkeeping of a memory map in every slice


def _reserve(path: Path, size: int) -> None:
    """A file of this many bytes, which the disk has: writing to a memory map of one that it lacks ends the process."""
    try:
        with path.open("wb") as file:
            if hasattr(os, "posix_fallocate"):
                os.posix_fallocate(file.fileno(), 0, size)
            else:
                file.truncate(size)
    except OSError as error:
        _remove(path)
        raise OSError(
            error.errno,
            f"{size:,} bytes of leaf ids do not fit into the folder {str(path.parent)!r} ({error.strerror}); set "
            "TMPDIR to one with more room, or raise memory_limit",
        ) from error


def _remove(path: Path) -> None:
    with suppress(OSError):
        path.unlink()
