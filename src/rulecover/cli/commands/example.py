"""``rulecover example``: a small real table, so that every command can be tried at once."""

from __future__ import annotations

import sys
from importlib.resources import files
from pathlib import Path

from rulecover.files import is_standard_output, whole_file

#: Every this many rows, one is held out.
_EVERY = 4


def example(out: Path, *, part: str) -> None:
    """Writes the table, or a part of its rows."""
    text = rows_of(part)
    if str(out) == "-" or is_standard_output(out):
        sys.stdout.write(text)
        return
    with whole_file(out) as file:
        file.write(text)


def rows_of(part: str) -> str:
    """The header, and all rows of the table, those to train on, or those that are held out."""
    path = files("rulecover.cli").joinpath("examples", "penguins.csv")
    header, *rows = path.read_text(encoding="utf-8").splitlines(keepends=True)
    held_out = rows[_EVERY - 1 :: _EVERY]
    training = [row for place, row in enumerate(rows, start=1) if place % _EVERY]
    return "".join([header, *{"all": rows, "train": training, "held-out": held_out}[part]])
