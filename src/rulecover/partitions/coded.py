"""The targets of many rows, read block by block, in as few bytes as they need."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd

from rulecover.coverage import smallest_uint
from rulecover.typing import Array, Ints, UInts

#: Numbers of more different values than this are kept as they are.
_MOST_VALUES = 1 << 16


@dataclass(frozen=True, eq=False)
class CodedTargets:
    """Labels by their numbers: one or two bytes per row in place of a text or an object.

    Parameters
    ----------
    codes
        The place of each row's label among `values`.
    values
        The different labels, sorted if they can be; a missing one too.
    """

    codes: UInts
    values: Array

    def __len__(self) -> int:
        return len(self.codes)

    def __getitem__(self, rows: slice | Ints) -> Array:
        """The labels of some rows."""
        return np.asarray(self.values[self.codes[rows]])


@dataclass(eq=False)
class TargetBlocks:
    """Collects the targets of a table, block after block."""

    _codes: list[UInts] = field(default_factory=list)
    _values: list[Array] = field(default_factory=list)
    _place: dict[Any, int] = field(default_factory=dict)
    _numbers: list[Array] | None = None

    def add(self, block: Array) -> None:
        """The targets of the rows that come next."""
        if self._numbers is not None:
            self._numbers.append(block)
            return
        codes, values = _factorized(block)
        keys = _keys(values)
        new = [place for place, key in enumerate(keys) if key not in self._place]
        self._place |= {keys[place]: len(self._place) + k for k, place in enumerate(new)}
        self._values.append(values[new])  # an empty array, too, has a type
        places = np.array([self._place[key] for key in keys], dtype=smallest_uint(len(self._place) - 1))
        self._codes.append(places[codes])
        if len(self._place) > _MOST_VALUES and all(each.dtype.kind in "iuf" for each in self._values):
            every = np.concatenate(self._values)
            self._numbers = [every[mine] for mine in self._codes]
            self._codes.clear()

    def targets(self) -> Array | CodedTargets:
        """All targets; numbers as they are if there are too many different ones to be labels."""
        if self._numbers is not None:
            return np.concatenate(self._numbers)
        place, values = _factorized(np.concatenate(self._values))
        order = _order(values)
        rank = np.empty(len(order), dtype=smallest_uint(len(order) - 1))
        rank[order] = np.arange(len(order))
        ranks = rank[place]
        return CodedTargets(np.concatenate([ranks[mine] for mine in self._codes]), values[order])


def _factorized(values: Array) -> tuple[Ints, Array]:
    """The place of each value among the different ones, and these; 1 and True are different if both are objects."""
    if values.dtype == object and len({type(value) for value in values.tolist()}) > 1:
        keys = np.empty(len(values), dtype=object)
        keys[:] = _keys(values)
        codes, _ = pd.factorize(keys, use_na_sentinel=False)
        _, first = np.unique(codes, return_index=True)
        return codes, values[first]
    codes, found = pd.factorize(values, use_na_sentinel=False)
    return codes, np.asarray(found)


def _keys(values: Array) -> list[Any]:
    """What tells values apart: numbers of all types by what they are, objects by their kind as well."""
    if values.dtype != object:
        return list(values.tolist())
    return [(type(value), value) for value in values.tolist()]


def _order(values: Array) -> Ints:
    """The order of labels; as they came where they have none, which is for others to report."""
    try:
        return np.argsort(values, kind="stable")
    except TypeError:
        return np.arange(len(values))
