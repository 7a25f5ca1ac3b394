"""Trees on transformed columns, rewritten as trees on the original ones that send every row to the same leaf."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from rulecover.readers.sklearn.origins import CategoryOrigin, NumberOrigin, Origin
from rulecover.trees.tree import Tree, join_category_sets
from rulecover.typing import Array, Bools, Floats, Ints

_LARGEST = np.finfo(np.float64).max
#: Rows of up to this many truth values are told apart by numbers that a table holds.
_SHORT = 12


@dataclass(frozen=True, eq=False)
class Split:
    """Splits of one transformed column on an original one.

    A row goes left when ``x <= threshold``, or, where `category` is not -1, when x is in that set of `sets`; where
    `swapped`, left and right are exchanged.
    """

    threshold: Floats
    category: Ints
    sets: tuple[Floats, ...]
    missing_left: Bools
    swapped: Bools


def largest_below(origin: NumberOrigin, bound: Floats) -> Floats:
    """For each bound the largest double whose transformed value is at most the bound; -inf if there is none.

    Found by halving the ordered list of all doubles, so that no comparison comes out differently.

    >>> float(largest_below(NumberOrigin(0, steps=(lambda x: (x - 0.1) / 3,)), np.array([0.1]))[0])
    0.39999999999999997
    """
    low = np.full(bound.shape, _key(-_LARGEST))
    high = np.full(bound.shape, _key(_LARGEST) + 1)
    while (high - 1 > low).any():
        middle = (low & high) + ((low ^ high) >> 1)  # the mean, which low + high could not hold
        fits = origin(_double(middle)) <= bound
        low, high = np.where(fits, middle, low), np.where(fits, high, middle)
    found = _double(low)
    return np.where(origin(found) <= bound, found, -np.inf)


def _key(value: float) -> Any:
    """The place of a double among all doubles in order."""
    bits = np.float64(value).view(np.int64)
    return bits if bits >= 0 else -(bits & np.iinfo(np.int64).max)


def _double(key: Array) -> Floats:
    magnitude = np.abs(key).astype(np.int64)
    return np.copysign(magnitude.view(np.float64), key)


def splits_of_number(origin: NumberOrigin, bound: Floats, missing_left: Bools) -> Split:
    """The split on x that is equivalent to ``origin(x) <= bound``."""
    distinct, place = np.unique(bound, return_inverse=True)
    threshold = largest_below(origin, distinct)[place]
    of_missing = origin.of_missing()
    left = missing_left if of_missing is None or np.isnan(of_missing) else of_missing <= bound
    # Only a missing value goes left: the other way round, it is "x is missing".
    swapped = threshold == -np.inf
    threshold = np.where(swapped | (threshold == _LARGEST), np.inf, threshold)
    none = np.full(len(bound), -1, dtype=np.intp)
    return Split(threshold, none, (), np.asarray(left != swapped), swapped)


def splits_of_category(
    origin: CategoryOrigin, left: Bools, value_of: Ints, unseen_left: Bools, missing_left: Bools
) -> Split:
    """Splits that send a label of the k-th different value left in split i if ``left[i, k]``.

    Where all known labels go one way and the encoder refuses others, all values may go that way.
    """
    n_left = left @ np.bincount(value_of)
    swapped = unseen_left if origin.unseen is not None else 2 * n_left > len(value_of)
    inside = left != swapped[:, None]
    patterns, category = _distinct_rows(inside)
    codes = origin.codes
    sets = tuple(np.sort(codes[row[value_of]]) for row in patterns)
    # An empty set is not a condition: all values that are not missing go one way.
    trivial = ~inside.any(axis=1)
    return Split(
        threshold=np.full(len(left), np.inf),
        category=np.where(trivial, -1, category.ravel()),
        sets=sets,
        missing_left=np.where(trivial, missing_left == swapped, missing_left != swapped),
        swapped=np.where(trivial, ~swapped, swapped),
    )


def _distinct_rows(rows: Bools) -> tuple[Bools, Ints]:
    """The different rows in order, and the place of each; without sorting where they are short.

    >>> _distinct_rows(np.array([[True, False], [False, True], [True, False]]))[1].tolist()
    [1, 0, 1]
    """
    width = rows.shape[1]
    if width > _SHORT:
        patterns, place = np.unique(rows, axis=0, return_inverse=True)
        return patterns, place
    bits = np.arange(width)[::-1]
    found, place = _distinct(rows @ (1 << bits), 1 << width)
    return (found[:, None] >> bits & 1).astype(bool), place


def _distinct(codes: Ints, n_codes: int) -> tuple[Ints, Ints]:
    """The different codes in order, and the place of each; they are below `n_codes`."""
    found = np.flatnonzero(np.bincount(codes, minlength=n_codes))
    place = np.zeros(n_codes, dtype=np.intp)
    place[found] = np.arange(len(found))
    return found, place[codes]


def on_original_columns(
    trees: Sequence[Tree], origins: Sequence[Origin], n_given: int, always: Sequence[int] = ()
) -> tuple[list[Tree], list[int]]:
    """The same trees on original columns, and the transformed columns that they still use, or that are `always` there.

    They come after the original ones: feature ``n_given + k`` is the k-th of them.
    """
    nodes = _RewrittenNodes.of(trees)
    made = list(always)
    asked = np.where(np.concatenate([tree.left >= 0 for tree in trees]), nodes.feature, -1)
    # Numbers of 16 bits are sorted without being compared.
    by_column = np.argsort(asked.astype(np.int16) if len(origins) <= np.iinfo(np.int16).max else asked, kind="stable")
    columns, first = np.unique(asked[by_column], return_index=True)
    for column, mine in zip(columns.tolist(), np.split(by_column, first[1:]), strict=True):
        if column < 0:  # leaves
            continue
        origin = origins[column]
        split = None if origin is None else nodes.split(mine, origin)
        if origin is None or split is None:
            made += [] if column in made else [column]
            nodes.feature[mine] = n_given + made.index(column)
        else:
            nodes.put(mine, origin.feature, split)
    return nodes.trees(trees), made


@dataclass(eq=False)
class _RewrittenNodes:
    """The nodes of all trees end to end, to be rewritten column by column."""

    feature: Ints
    threshold: Floats
    missing_left: Bools
    category: Ints
    sets: list[Floats]
    swapped: Bools

    @classmethod
    def of(cls, trees: Sequence[Tree]) -> _RewrittenNodes:
        category, sets = join_category_sets(trees)
        return cls(
            np.concatenate([tree.feature for tree in trees]),
            np.concatenate([tree.threshold for tree in trees]),
            np.concatenate([tree.missing_left for tree in trees]),
            category,
            list(sets),
            np.zeros(len(category), dtype=bool),
        )

    def split(self, nodes: Ints, origin: NumberOrigin | CategoryOrigin) -> Split | None:
        """The splits of the nodes on the original column; ``None`` if there is no equivalent."""
        if isinstance(origin, CategoryOrigin):
            values, value_of = origin.distinct_values
            others = [np.nan if value is None else value for value in (origin.unseen, origin.of_missing())]
            left, rest = self.goes_left(nodes, values), self.goes_left(nodes, np.array(others))
            return splits_of_category(origin, left, value_of, rest[:, 0], rest[:, 1])
        by_set = self.category[nodes] >= 0
        if not by_set.any():
            return splits_of_number(origin, self.threshold[nodes], self.missing_left[nodes])
        if origin.steps or not by_set.all():
            return None
        of_missing = origin.of_missing()
        missing = self.goes_left(nodes, np.array([np.nan if of_missing is None else of_missing]))[:, 0]
        used, place = np.unique(self.category[nodes], return_inverse=True)
        sets = tuple(self.sets[k] for k in used)
        return Split(self.threshold[nodes], place, sets, missing, np.zeros(len(nodes), dtype=bool))

    def goes_left(self, nodes: Ints, values: Floats) -> Bools:
        """Which of the nodes send which transformed values left, nodes x values."""
        left = values <= self.threshold[nodes][:, None]
        which = self.category[nodes]
        if (which >= 0).any():
            for k in np.unique(which[which >= 0]).tolist():
                left[which == k] = np.isin(values, self.sets[k])
        missing = np.isnan(values)
        if missing.any():
            left[:, missing] = self.missing_left[nodes][:, None]
        return np.asarray(left)

    def put(self, nodes: Ints, feature: int, split: Split) -> None:
        self.feature[nodes] = feature
        self.threshold[nodes] = split.threshold
        self.missing_left[nodes] = split.missing_left
        self.category[nodes] = np.where(split.category < 0, -1, split.category + len(self.sets))
        self.sets += split.sets
        self.swapped[nodes] = split.swapped

    def trees(self, originals: Sequence[Tree]) -> list[Tree]:
        out, first = [], 0
        for tree in originals:
            mine = slice(first, first + len(tree.left))
            used, place = _distinct(self.category[mine] + 1, len(self.sets) + 1)
            used, n_without = used - 1, np.count_nonzero(used == 0)
            swapped = self.swapped[mine]
            out.append(
                replace(
                    tree,
                    feature=self.feature[mine],
                    threshold=self.threshold[mine],
                    left=np.where(swapped, tree.right, tree.left),
                    right=np.where(swapped, tree.left, tree.right),
                    missing_left=self.missing_left[mine],
                    category=place - n_without if len(used) > n_without else None,
                    category_sets=tuple(map(self.sets.__getitem__, used[n_without:].tolist())),
                )
            )
            first = mine.stop
        return out


def conditions(origins: Sequence[Origin], takes_missing: bool) -> dict[str, Any]:
    """What the columns in use must hold, for `SourceColumns`: categories, and where the model has no route."""
    categories: dict[int, tuple[Any, ...]] = {}
    closed: dict[int, Floats] = {}
    required: set[int] = set()

    def refused(value: float | None, sparse: bool) -> bool:
        return value is None or (np.isnan(value) and (sparse or not takes_missing))

    for origin in (each for each in origins if each is not None):
        required |= {origin.feature} if refused(origin.of_missing(), origin.sparse) else set()
        if isinstance(origin, NumberOrigin):
            continue
        if not origin.by_number:
            categories[origin.feature] = origin.labels
        if refused(origin.unseen, origin.sparse):
            known = origin.codes[~np.isnan(origin.values)]
            closed[origin.feature] = np.intersect1d(closed.get(origin.feature, known), known)
    return {"categories": categories, "closed": closed, "required": frozenset(required)}
