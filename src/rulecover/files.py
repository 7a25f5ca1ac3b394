"""Files that are there whole or not at all."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any


@contextmanager
def whole_file(path: Path, *, binary: bool = False) -> Iterator[IO[Any]]:
    """A file to write to, beside the one that is meant; renamed at the end, and gone after an error.

    A reader sees the old file or the new one, never a half.
    """
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name[:100]}.", suffix=".part")
    text: dict[str, Any] = {} if binary else {"encoding": "utf-8", "newline": ""}
    try:
        with os.fdopen(handle, "wb" if binary else "w", **text) as file:
            yield file
        Path(name).chmod(_usual_mode())
        Path(name).replace(path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def _usual_mode() -> int:
    """The mode that a new file gets here: a temporary file is its owner's alone."""
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask
