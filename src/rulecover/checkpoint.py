"""Work in progress in a file, from which it goes on after a crash: arrays and JSON, loaded without running any code."""

from __future__ import annotations

import hashlib
import json
import os
import stat
import sys
import time
import warnings
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import cache
from importlib.metadata import version
from io import BytesIO
from pathlib import Path
from typing import IO, Any, Self

import numpy as np

from rulecover.exceptions import CheckpointError, CheckpointWarning
from rulecover.files import whole_file
from rulecover.setting_text import setting_text
from rulecover.typing import Array

FORMAT, VERSION = "rulecover checkpoint", 1

#: Packages that decide what a fit gives; with other versions of them a fit that goes on may give something else.
_PACKAGES = ("rulecover", "numpy", "scipy", "scikit-learn", "highspy")

#: The same for packages that need not be there; they count if they have been imported.
_LIBRARIES = ("xgboost", "lightgbm", "catboost")

#: Writing takes at most this share of the time.
_SHARE = 0.05

#: Where the header is in the file.
_HEAD = "head"

#: Arrays by name.
Entry = Mapping[str, Array]


class Checkpoint:
    """What is done so far, by name, in a file that is replaced as a whole.

    A file that is there is read when this is made; one of other data, settings, versions or work is refused. In a
    ``with`` statement, an error or Ctrl-C writes what is not yet written. The file stays until it is removed.

    Parameters
    ----------
    path
        The file, in the format of NumPy's ``.npz``.
    work
        What is done, such as "RCBoost".
    fingerprint
        Of the data and the settings, as `fingerprint` makes it.

    Attributes
    ----------
    unfinished
        What of the work has begun and not come to its end, by name; the file is needed until there is nothing.

    Examples
    --------
    >>> from tempfile import mkdtemp
    >>> path, mine = Path(mkdtemp()) / "work.npz", fingerprint({"seed": 0}, np.arange(3))
    >>> Checkpoint(path, "sums", mine).put({"first": {"total": np.array(3)}})
    >>> Checkpoint(path, "sums", mine).get("first")["total"].item()
    3
    >>> Checkpoint(path, "sums", fingerprint({"seed": 1}, np.arange(3)))
    Traceback (most recent call last):
    ...
    rulecover.exceptions.CheckpointError: ... is a checkpoint of other data or settings; delete it, or name another.
    """

    def __init__(self, path: str | os.PathLike[str], work: str, fingerprint: str) -> None:
        self.path = Path(path)
        self.unfinished: set[str] = set()
        self._head: dict[str, Any] = {"format": FORMAT, "version": VERSION, "work": work, "fingerprint": fingerprint}
        self._head |= {"packages": _versions()}
        self._entries: dict[str, Entry] = {}
        self._pending, self._write_again = False, 0.0
        if _is_there(self.path):
            head, self._entries = _read(self.path)
            self._check(head)

    def get(self, name: str) -> Entry | None:
        """What was kept under a name; ``None`` if nothing was."""
        return self._entries.get(name)

    @contextmanager
    def fitting(self) -> Iterator[None]:
        """What was kept is used inside: errors of arrays that cannot be what they should be are about the file.

        Raises
        ------
        CheckpointError
            In place of these errors.
        """
        try:
            yield
        except (KeyError, IndexError, TypeError, ValueError) as error:
            raise CheckpointError(f"{str(self.path)!r} does not fit the data; delete it.") from error

    def put(self, entries: Mapping[str, Entry]) -> None:
        """Keeps arrays by name; they are on the disk at once, or as soon as writing would not take too long."""
        self._entries |= entries
        self._pending = True
        if time.perf_counter() >= self._write_again:
            self.write()

    def write(self) -> None:
        """Writes all there is. If that fails, a warning says so, and the work goes on without."""
        start = time.perf_counter()
        try:
            with whole_file(self.path, binary=True) as file:
                _save(file, _flat(self._head, self._entries))
        except OSError as error:
            why = (
                f"the checkpoint {str(self.path)!r} cannot be written ({error.strerror}); the work goes on without it."
            )
            warnings.warn(why, CheckpointWarning, stacklevel=3)
        self._pending = False
        end = time.perf_counter()
        self._write_again = end + (end - start) * (1 / _SHARE - 1)

    def remove(self) -> None:
        """Removes the file: the work is done."""
        self._pending = False
        with suppress(OSError):
            Path(os.path.realpath(self.path)).unlink(missing_ok=True)  # a link stays a link

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.flush()

    def flush(self) -> None:
        """Writes what is not yet in the file."""
        if self._pending:
            self.write()

    def _check(self, head: Mapping[str, Any]) -> None:
        name = str(self.path)
        if head["work"] != self._head["work"]:
            raise CheckpointError(
                f"{name!r} is a checkpoint of {head['work']}, not of {self._head['work']}; name another."
            )
        if head["fingerprint"] != self._head["fingerprint"]:
            raise CheckpointError(f"{name!r} is a checkpoint of other data or settings; delete it, or name another.")
        theirs, ours = head["packages"], self._head["packages"]
        # A library that only one of the two has imported was not used.
        for package in (*_PACKAGES, *(name for name in _LIBRARIES if name in theirs and name in ours)):
            if theirs.get(package) != ours[package]:
                raise CheckpointError(
                    f"{name!r} was written with {package} {theirs.get(package)}, and this is {ours[package]}, which "
                    "may give other results; delete it, or go on with the version that it was written with."
                )


def _is_there(path: Path) -> bool:
    """Whether there is a file, which may be a checkpoint; an error where there can be none."""
    try:
        mode = path.stat().st_mode
    except (FileNotFoundError, NotADirectoryError):
        if path.parent.is_dir():
            return False
        raise CheckpointError(f"there is no folder {str(path.parent)!r} for a checkpoint; make it first.") from None
    except (OSError, ValueError) as error:  # of a name that is too long, or a link to itself
        why = getattr(error, "strerror", error)
        raise CheckpointError(f"{str(path)!r} cannot be a checkpoint ({why}); name another file.") from error
    if not stat.S_ISREG(mode):  # a pipe would be waited for, and a device may have no end
        raise CheckpointError(f"{str(path)!r} is a folder, a pipe or a device; name a file for the checkpoint.")
    return True


def _versions() -> dict[str, str]:
    imported = {name: sys.modules[name] for name in _LIBRARIES if name in sys.modules}
    return _installed() | {name: str(getattr(module, "__version__", "")) for name, module in imported.items()}


@cache
def _installed() -> dict[str, str]:
    return {name: version(name) for name in _PACKAGES}


def fingerprint(settings: Mapping[str, Any], *arrays: Any) -> str:
    """A digest of settings, by their text, and of arrays, value by value; ``None`` stands for no array.

    Raises
    ------
    CheckpointError
        If two values of a setting could not be told apart.
    """
    digest = hashlib.sha256()
    for name in sorted(settings):
        digest.update(f"{name}={_text(name, settings[name])}\n".encode())
    for array in arrays:
        digest.update(f"{type(array).__name__} {getattr(array, 'shape', None)}\n".encode())
        for part in _parts(array):
            whole = np.ascontiguousarray(part)
            digest.update(f"{whole.dtype.str} {whole.shape}\n".encode())
            digest.update(whole.view(np.uint8).data if whole.dtype != object else repr(whole.tolist()).encode())
    return digest.hexdigest()


def _text(name: str, value: Any) -> str:
    try:
        return setting_text(value)
    except TypeError as error:
        raise CheckpointError(
            f"{name} cannot be compared with that of a checkpoint: {error}; define __reduce__ in its class, or fit "
            "without a checkpoint."
        ) from error


def _parts(array: Any) -> list[Any]:
    """An array, or those that a sparse matrix consists of."""
    if array is None:
        return []
    names = [name for name in ("data", "indices", "indptr") if hasattr(array, "nnz") and hasattr(array, name)]
    return [getattr(array, name) for name in names] if names else [array]


def _flat(head: Mapping[str, Any], entries: Mapping[str, Entry]) -> dict[str, Array]:
    named = {f"{name}/{key}": array for name, arrays in entries.items() for key, array in arrays.items()}
    return {_HEAD: np.frombuffer(json.dumps(head).encode(), dtype=np.uint8), **named}


def _save(file: IO[bytes], arrays: Mapping[str, Array]) -> None:
    np.savez(file, allow_pickle=False, **arrays)


def _read(path: Path) -> tuple[Mapping[str, Any], dict[str, Entry]]:
    """The header and all entries, if the file is a whole checkpoint of a version that is known."""
    try:
        arrays = _arrays(path)
        head = json.loads(arrays.pop(_HEAD).tobytes())
        known = head["format"] == FORMAT and "version" in head and isinstance(head["packages"], dict)
        texts = known and all(isinstance(head[key], str) for key in ("work", "fingerprint"))
    except Exception as error:  # zipfile, NumPy and json raise all kinds where a file is damaged
        why = " ".join(str(error).split())
        raise CheckpointError(
            f"{str(path)!r} is not a checkpoint, or a damaged one ({why}); name another file, or delete this one if it "
            "is a checkpoint."
        ) from error
    if not texts:
        raise CheckpointError(f"{str(path)!r} is not a checkpoint of rulecover; name another file.")
    if head["version"] != VERSION:
        raise CheckpointError(
            f"{str(path)!r} is a checkpoint of version {head['version']!r}, and this rulecover goes on from version "
            f"{VERSION}; delete it, or use the rulecover that wrote it."
        )
    entries: dict[str, dict[str, Array]] = {}
    for name, array in arrays.items():
        entry, _, key = name.rpartition("/")
        entries.setdefault(entry, {})[key] = array
    return head, dict(entries)


def _arrays(path: Path) -> dict[str, Array]:
    """All arrays of an ``.npz`` file; nothing is unpacked or unpickled, so it takes no more memory than the file."""
    with zipfile.ZipFile(path) as archive:
        members = archive.infolist()
        if any(each.compress_type for each in members) or sum(each.file_size for each in members) > path.stat().st_size:
            raise ValueError("it is compressed")
        return {
            each.filename.removesuffix(".npy"): np.lib.format.read_array(
                BytesIO(archive.read(each)), allow_pickle=False
            )
            for each in members
        }
