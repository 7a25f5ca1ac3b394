"""All partitions of the rows, as one object that algorithms call."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import reduce
from typing import Any, Protocol

from rulecover.partitions.part import Part
from rulecover.progress import tracked

#: The methods that read the rows again, by what they do.
_PASSES = {
    "leaf_sums": "Reading trees",
    "clause_patterns": "Pruning rules",
    "rule_patterns": "Covering rows by rules",
    "seen": "Rounding bounds",
}


class Parts(Protocol):
    """The parts of a table, wherever they are."""

    def map(self, method: str, *arguments: Any) -> Iterator[Any]:
        """The results of a method of `Part`, one per part, in the order of the parts."""

    def reduced(self, add: Callable[[Any, Any], Any], method: str, *arguments: Any) -> Any:
        """The results of a method of `Part`, added up where the parts are; the sum must be the same in any order."""


def added_one_by_one(one: list[Any], other: list[Any]) -> list[Any]:
    """The sums of two lists of results, for `reduced`."""
    return [mine + theirs for mine, theirs in zip(one, other, strict=True)]


class LocalParts:
    """Parts in this process, called one after another.

    Parameters
    ----------
    parts
        In the order of their rows.
    verbose
        Above 0 shows a bar on standard error for each pass over the rows.
    """

    def __init__(self, parts: Sequence[Part], *, verbose: int = 0) -> None:
        self.parts, self._verbose = tuple(parts), verbose

    def map(self, method: str, *arguments: Any) -> Iterator[Any]:
        passes = _PASSES.get(method)
        shown = self._verbose if passes else 0
        for part in tracked(self.parts, passes or "", total=len(self.parts), verbose=shown):
            yield getattr(part, method)(*arguments)

    def reduced(self, add: Callable[[Any, Any], Any], method: str, *arguments: Any) -> Any:
        return reduce(add, self.map(method, *arguments))
