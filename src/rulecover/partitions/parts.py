"""All partitions of the rows, as one object that algorithms call."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from functools import reduce
from typing import Any, Protocol

import numpy as np

from rulecover.clock import is_late
from rulecover.partitions.part import Part
from rulecover.progress import tracked
from rulecover.trees.tree import TreeEnsemble
from rulecover.typing import Floats

#: The methods that read the rows again, by what they do.
_PASSES = {
    "leaf_sums": "Reading trees",
    "clause_patterns": "Pruning rules",
    "rule_patterns": "Covering rows by rules",
    "seen": "Rounding bounds",
}


#: How many times rows are loaded at least, once a model is trained: for leaves, clauses, patterns and bounds.
FEWEST_PASSES = 4


class Parts(Protocol):
    """The parts of a table, wherever they are."""

    def map(self, method: str, *arguments: Any) -> Iterator[Any]:
        """The results of a method of `Part`, one per part, in the order of the parts."""

    def reduced(self, add: Callable[[Any, Any], Any], method: str, *arguments: Any) -> Any:
        """The results of a method of `Part`, added up where the parts are; the sum must be the same in any order."""

    def pace(self, method: str, *arguments: Any) -> Floats:
        """The seconds in which all rows are loaded, and those that a method then takes, judged by some of the rows."""


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
    sizes
        How many rows each has, if they are not alike.
    """

    def __init__(self, parts: Sequence[Part], *, verbose: int = 0, sizes: Sequence[int] | None = None) -> None:
        self.parts, self._verbose = tuple(parts), verbose
        self._sizes = np.ones(len(self.parts)) if sizes is None else np.asarray(sizes, dtype=np.float64)

    def map(self, method: str, *arguments: Any) -> Iterator[Any]:
        passes = _PASSES.get(method)
        shown = self._verbose if passes else 0
        for part in tracked(self.parts, passes or "", total=len(self.parts), verbose=shown):
            yield getattr(part, method)(*arguments)

    def reduced(self, add: Callable[[Any, Any], Any], method: str, *arguments: Any) -> Any:
        return reduce(add, self.map(method, *arguments))

    def pace(self, method: str, *arguments: Any) -> Floats:
        """As in `Parts`; judged by the first part that is not a small one."""
        sizes = self._sizes
        first = int(np.argmax(sizes >= sizes.mean() / 2))
        return np.asarray(self.parts[first].pace(method, *arguments) * sizes.sum() / max(1.0, sizes[first]))


def done_in_time(
    parts: Parts, n: int, deadline: float | None, method: str, *arguments: Any, passes: int, n_judged: int | None = None
) -> int:
    """How many of several things a method is soon enough done with: in half of the time that loading rows leaves.

    Parameters
    ----------
    parts
        The rows.
    n
        How many things the method has to do with, such as trees; each takes about as long.
    deadline
        When everything must be done, by `time.perf_counter`.
    method, arguments
        The method of `Part`, for all of the things, or for `n_judged` of them.
    passes
        How many times rows are loaded until the deadline.
    """
    if deadline is None:
        return n
    if is_late(deadline):
        return 0
    loading, work = parts.pace(method, *arguments)
    work *= n / (n_judged or n)
    left = (deadline - time.perf_counter() - passes * loading) / 2
    return n if work <= max(0.0, left) else max(0, int(n * left / work))


def read_in_time(
    parts: Parts,
    ensemble: TreeEnsemble,
    deadline: float | None,
    *,
    passes: int = FEWEST_PASSES,
) -> TreeEnsemble:
    """The first trees, as many as there is time to read and to go on with; at least one. The parts leave out the rest.

    The deadline is that of all that is done with the rows, in this many passes.
    """
    n_trees = len(ensemble.trees)
    n_read = max(1, done_in_time(parts, n_trees, deadline, "leaf_sums", passes=passes))
    if n_read >= n_trees:
        return ensemble
    list(parts.map("keep_trees", n_read))
    return ensemble.take(np.arange(n_read))
