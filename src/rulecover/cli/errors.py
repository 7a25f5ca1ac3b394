"""Errors for people: in one line, with the way out."""

from __future__ import annotations

from rulecover.exceptions import RulecoverError
from rulecover.show.text import printable


class CommandError(RulecoverError):
    """What the command line cannot do with what it was given, and the way out."""


def in_one_line(error: Exception) -> str:
    """What went wrong, for people."""
    text = printable(" ".join(str(error).split()))
    if isinstance(error, UnicodeEncodeError):
        return f"a name or a label has {error.object[error.start]!r}, which no text in UTF-8 can hold; rename it."
    if isinstance(error, (RulecoverError, ValueError, TypeError)):
        return text
    if isinstance(error, OSError):
        name = printable(str(error.filename or "the output"))
        return f"{name}: {error.strerror}" if error.strerror else text
    return f"unexpected {type(error).__name__}: {text} (a bug in rulecover; --debug shows where)"
