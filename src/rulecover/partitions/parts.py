"""All partitions of the rows, as one object that algorithms call."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Protocol

from rulecover.partitions.part import Part


class Parts(Protocol):
    """The parts of a table, wherever they are."""

    def map(self, method: str, *arguments: Any) -> Iterator[Any]:
        """The results of a method of `Part`, one per part, in the order of the parts."""


class LocalParts:
    """Parts in this process, called one after another.

    Parameters
    ----------
    parts
        In the order of their rows.
    """

    def __init__(self, parts: Sequence[Part]) -> None:
        self.parts = tuple(parts)

    def map(self, method: str, *arguments: Any) -> Iterator[Any]:
        for part in self.parts:
            yield getattr(part, method)(*arguments)
