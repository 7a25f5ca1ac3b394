"""How a file is read, as far as that was said on the command line."""

from __future__ import annotations

import codecs
import shlex
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

from rulecover.cli.errors import CommandError

#: Marks between groups of three digits.
THOUSANDS = (",", ".", " ", "'")

_SPELLED = {"tab": "\t", "\\t": "\t", "space": " "}


@dataclass(frozen=True)
class Reading:
    """How a file is read; what is ``None`` is guessed.

    Parameters
    ----------
    separator
        The character between cells.
    encoding
        How letters are encoded, by a name that Python knows.
    sheet
        The sheet of an Excel file, or the file in a zip archive.
    no_header
        Whether the first line is a row already.
    decimal, thousands
        The decimal mark, and the mark between groups of three digits.
    missing_values
        What cells have where nothing is known, next to what every file may have.
    """

    separator: str | None = None
    encoding: str | None = None
    sheet: str | None = None
    no_header: bool = False
    decimal: str | None = None
    thousands: str | None = None
    missing_values: Sequence[str] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "separator", _SPELLED.get(self.separator or "", self.separator))
        object.__setattr__(self, "missing_values", tuple(text.strip() for text in self.missing_values or ()))
        if self.separator is not None and len(self.separator) != 1:
            raise CommandError(f"the separator is {self.separator!r}; it must be a single character, such as ';'.")
        if self.encoding is not None:
            _check_encoding(self.encoding)
        if self.decimal not in (None, ".", ","):
            raise CommandError(f"--decimal is {self.decimal!r}; the decimal mark is '.' or ','.")
        if self.thousands not in (None, *THOUSANDS):
            raise CommandError(
                f"--thousands is {self.thousands!r}; the mark is one of {', '.join(map(repr, THOUSANDS))}."
            )
        if self.thousands is not None and self.thousands == self.decimal:
            raise CommandError(f"--decimal and --thousands are both {self.decimal!r}; leave one of them out.")


def _check_encoding(name: str) -> None:
    try:
        known = codecs.lookup(name)._is_text_encoding
    except LookupError:
        known = False
    if not known:
        raise CommandError(
            f"there is no encoding {name!r}; common ones are utf-8, utf-16, cp1252 (Windows), latin-1, cp1250 and "
            "shift_jis."
        )


def naming_missing(texts: Iterable[str]) -> str:
    """The option that takes texts as missing, as it is typed.

    >>> naming_missing(["-", "not known"])
    "--missing-values - --missing-values 'not known'"
    """
    return " ".join(f"--missing-values {shlex.quote(text)}" for text in texts)


def with_reading(typed: Mapping[str, Any]) -> dict[str, Any]:
    """What was typed, with all that says how a file is read as one `reading`."""
    names = {field.name for field in fields(Reading)}
    if not names <= set(typed):
        return dict(typed)
    others = {name: value for name, value in typed.items() if name not in names}
    return others | {"reading": Reading(**{name: typed[name] for name in names})}
