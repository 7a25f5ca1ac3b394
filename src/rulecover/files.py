"""Files that are written completely or not at all."""

from __future__ import annotations

import errno
import os
import re
import secrets
import signal
import stat
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import IO, Any

if sys.platform != "win32":
    import fcntl

#: Signals that end a process without an exception; Windows has no SIGHUP.
_ENDING = [getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)]


@contextmanager
def whole_file(path: Path, *, binary: bool = False) -> Iterator[IO[Any]]:
    """A file to write to, next to the target; renamed at the end, and gone after an error or a signal.

    A reader sees the old file or the new one, never a part of it. A file that is replaced passes on its mode and its
    owner, a link stays a link, and a pipe or a device is written into.
    """
    text: dict[str, Any] = {} if binary else {"encoding": "utf-8", "newline": ""}
    mode = "b" if binary else ""
    stream = _stream(path)
    if stream is not None:
        with os.fdopen(stream, "w" + mode, **text) as file:
            yield file
        return
    path = Path(os.path.realpath(path))
    old = _replaceable(path)
    _remove_stale_parts(path)
    part = path.with_name(f"{_beginning(path)}{secrets.token_hex(8)}.part")
    with _removed_unless_renamed(part), _new_file(part, "x" + mode, 0o666 if old is None else 0o600, text) as file:
        if old is not None:
            _pass_on(old, part)
        yield file
        file.flush()
        os.fsync(file.fileno())
        if sys.platform == "win32":  # which cannot rename an open file
            file.close()
        part.replace(path)


def is_stream(path: Path) -> bool:
    """Whether a path is written into as it is, because it is a pipe, a device, or where standard output goes."""
    return path.exists() and (not path.is_file() or is_standard_output(path))


def is_standard_output(path: Path) -> bool:
    """Whether a path is another name of where standard output goes."""
    with suppress(OSError):
        return os.path.samestat(os.fstat(1), path.stat())
    return False


def _stream(path: Path) -> int | None:
    """A descriptor of what a path names, if that is to be written into as it is."""
    if not is_stream(path):
        return None
    if not is_standard_output(path):
        return os.open(path, os.O_WRONLY)
    sys.stdout.flush()
    return os.dup(1)  # opened a second time, a file would be written from its beginning


def _replaceable(path: Path) -> os.stat_result | None:
    """What is known of the file that is there, if there is one; it is an error if it may not be written to."""
    if path.is_symlink():
        raise OSError(errno.ELOOP, "the link leads back to itself", str(path))
    if not path.exists():
        return None
    if not os.access(path, os.W_OK):
        raise PermissionError(errno.EACCES, "the file is write-protected", str(path))
    return path.stat()


def _pass_on(old: os.stat_result, part: Path) -> None:
    """Gives a file the mode of another one, and the same group and owner if this user may."""
    if sys.platform != "win32":
        for user, group in ((-1, old.st_gid), (old.st_uid, -1)):
            with suppress(PermissionError):
                os.chown(part, user, group)
    part.chmod(stat.S_IMODE(old.st_mode))


def _new_file(part: Path, mode: str, permissions: int, text: dict[str, Any]) -> IO[Any]:
    """A new file under a lock, which shows others that it is being written; the lock ends with the process."""
    while True:
        file: IO[Any] = open(part, mode, opener=partial(os.open, mode=permissions), **text)  # noqa: SIM115
        if sys.platform != "win32":
            with suppress(OSError):  # file systems without locks
                fcntl.flock(file, fcntl.LOCK_EX)
        if part.exists():  # and was not taken for litter before it was locked
            return file
        file.close()


@contextmanager
def _removed_unless_renamed(part: Path) -> Iterator[None]:
    """Removes a file after an error, and where a signal ends the process."""
    writer = os.getpid()

    def end(number: int, _: Any) -> None:
        if os.getpid() == writer:  # and not a child of it
            part.unlink(missing_ok=True)
        signal.signal(number, signal.SIG_DFL)
        signal.raise_signal(number)

    alone = threading.current_thread() is threading.main_thread()  # others may not handle signals
    handled = [each for each in _ENDING if alone and signal.getsignal(each) == signal.SIG_DFL]
    for each in handled:
        signal.signal(each, end)
    try:
        yield
    except BaseException:
        part.unlink(missing_ok=True)
        raise
    finally:
        for each in handled:
            signal.signal(each, signal.SIG_DFL)


def _beginning(path: Path) -> str:
    """How the names of its parts begin; not too long with what follows, even if a letter takes four bytes."""
    return f".{path.name[:50]}."


def _remove_stale_parts(path: Path) -> None:
    """Removes parts of the same file that killed processes left behind: those that nobody has locked."""
    if sys.platform == "win32":
        return
    name = re.compile(re.escape(_beginning(path)) + r"[0-9a-f]{16}\.part")
    with suppress(OSError):
        for each in path.parent.iterdir():
            if name.fullmatch(each.name):
                _remove_unlocked(each)


def _remove_unlocked(part: Path) -> None:
    with suppress(OSError):  # at work, gone, or somebody else's
        handle = os.open(part, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if os.path.samestat(os.fstat(handle), part.lstat()):  # or its writer made it again, and has locked that one
                part.unlink()
        finally:
            os.close(handle)
