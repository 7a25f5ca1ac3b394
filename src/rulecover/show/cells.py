"""The table of rules in the report, cell by cell."""

from __future__ import annotations

from dataclasses import dataclass

#: Classes beyond this many share one colour; their names stand next to the bars.
_COLOURS = 8


def colour(k: int) -> int:
    """The number of the colour of class k."""
    return min(k, _COLOURS)


@dataclass(frozen=True)
class Head:
    """A column: its name, what is in it, whether the first sort is descending, and what it means, if explained.

    What is in it: "number", "clauses", "label", "mix" (the bar of the classes) or "range" (mean and spread as a bar).
    """

    name: str
    kind: str = "number"
    falling: bool = True
    meaning: str = ""


@dataclass(frozen=True)
class BarPart:
    """One class in a bar: its name, colour, rows and share."""

    name: str
    colour: int
    rows: str
    share: float


@dataclass(frozen=True)
class TableCell:
    """What a cell shows: its text, what it is sorted by, and what else the kind of its column needs.

    Parameters
    ----------
    text
        For people, or for those who cannot see a bar.
    key
        A number or a text to sort by.
    clauses
        The clauses, one by one.
    colour
        Of a label.
    mix
        The parts of a bar.
    span
        Of a range: where it starts, its middle, and its width, in per cent.
    """

    text: str
    key: float | str
    clauses: tuple[str, ...] = ()
    colour: int = 0
    mix: tuple[BarPart, ...] = ()
    span: tuple[float, float, float] = (0.0, 0.0, 0.0)


@dataclass(frozen=True)
class RuleCells:
    """The table: its columns, the cells of each rule, and a sentence on the bars.

    Parameters
    ----------
    heads, rows
        Columns and cells.
    about
        What the bars show.
    classes
        The names of the classes and their colours; nothing for numbers.
    thens
        For each rule the number of the class that it votes for.
    """

    heads: tuple[Head, ...]
    rows: tuple[tuple[TableCell, ...], ...]
    about: str
    classes: tuple[tuple[str, int], ...] = ()
    thens: tuple[int, ...] = ()
