"""Errors for people: one line on standard error, the way out, and a non-zero exit."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import typer

from rulecover.exceptions import RulecoverError
from rulecover.files import is_stream
from rulecover.show.text import printable


class CommandError(RulecoverError):
    """What the command line cannot do with what it was given, and the way out."""


def require_folder(path: Path) -> None:
    """Raises before any work is done if the file could not be written for want of a folder that takes it."""
    if is_stream(path) and not path.is_dir():
        return
    path = Path(os.path.realpath(path)) if path.is_symlink() else path
    if not path.parent.is_dir():
        raise CommandError(f"there is no folder {str(path.parent)!r} to write {path.name!r} to; make it first.")
    if path.is_dir():
        raise CommandError(f"{str(path)!r} is a folder; name a file in it, such as {str(path / 'report.html')!r}.")
    import tempfile

    try:
        with tempfile.TemporaryFile(dir=path.parent):
            return
    except OSError as error:
        raise CommandError(
            f"nothing can be written to the folder {str(path.parent)!r} ({error.strerror}); name another."
        ) from error


def one_line_errors(command: Callable[..., None]) -> Callable[..., None]:
    """The same command, which ends with one line and exit code 1 on an error unless ``debug`` is set."""

    @functools.wraps(command)
    def guarded(*args: Any, **kwargs: Any) -> None:
        try:
            command(*args, **kwargs)
        except (typer.Exit, typer.Abort, BrokenPipeError):
            raise
        except Exception as error:
            if kwargs.get("debug"):
                raise
            typer.echo(f"error: {in_one_line(error)}", err=True)
            raise typer.Exit(1) from None

    return guarded


def in_one_line(error: Exception) -> str:
    """What went wrong, for people."""
    text = printable(" ".join(str(error).split()))
    if isinstance(error, (RulecoverError, ValueError, TypeError)):
        return text
    if isinstance(error, OSError):
        return f"{error.filename or 'the output'}: {error.strerror}" if error.strerror else text
    return f"unexpected {type(error).__name__}: {text} (a fault of rulecover; --debug shows where)"
