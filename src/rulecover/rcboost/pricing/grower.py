"""A tree of our own on binned columns: its splits are chosen among all, given the sums on both sides."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

import numpy as np

from rulecover.rcboost.pricing.bins import Bins
from rulecover.trees.tree import Tree
from rulecover.typing import Array, Bools, Floats, Ints

#: Nodes are looked at together while they have at most this many (column, bin) cells: for memory, not for speed.
_CELLS = 200_000


@dataclass(frozen=True, eq=False)
class GrowingSamples:
    """What a tree is grown on, sample by sample.

    Parameters
    ----------
    y, n_classes
        The class of each sample by number, and how many there are.
    weight
        The weight of a sample in the impurity of a split.
    count
        Its weight in the cost of a rule; ``None`` is 1.
    dual
        Its price.
    """

    y: Ints
    n_classes: int
    weight: Floats
    count: Floats | None
    dual: Floats

    @cached_property
    def rows(self) -> Floats | None:
        """How many rows each sample stands for, where counts are whole numbers; ``None`` is 1."""
        return None if self.count is None or (self.count % 1).any() else self.count


@dataclass(frozen=True, eq=False)
class Sums:
    """Sums over sets of samples, in arrays of any shape: rows, weights and counts by class (last axis), and duals."""

    size: Floats
    weight: Floats
    count: Floats
    dual: Floats

    def __iter__(self) -> Iterator[Floats]:
        return iter((self.size, self.weight, self.count, self.dual))

    def __sub__(self, other: Sums) -> Sums:
        # No sum is negative, but the difference of two that are equal but for rounding may be.
        return Sums(*(np.maximum(mine - theirs, 0.0) for mine, theirs in zip(self, other, strict=True)))

    def at(self, which: Any) -> Sums:
        """Some of the sets."""
        return Sums(*(part[which] for part in self))


class Chooser(Protocol):
    """From the two sides of all splits (nodes x splits) to the split of each node; only allowed ones, of which each
    node has one at least, may be chosen.
    """

    def __call__(self, left: Sums, right: Sums, allowed: Bools) -> Ints: ...


@dataclass(frozen=True)
class Limits:
    """When a node is a leaf, as in scikit-learn's trees.

    Parameters
    ----------
    max_depth
        ``None`` is no limit.
    min_samples_split, min_samples_leaf
        Samples in a node that is split, and in every leaf.
    min_weight_leaf
        The weight of every leaf.
    """

    max_depth: int | None = None
    min_samples_split: int = 2
    min_samples_leaf: int = 1
    min_weight_leaf: float = 0.0

    @classmethod
    def like(cls, tree: Any, samples: GrowingSamples) -> Limits:
        """The limits of a scikit-learn tree or forest, where it has them, for these samples."""
        settings = tree.get_params() if hasattr(tree, "get_params") else {}
        weight, rows = samples.weight, samples.rows
        n_rows = len(weight) if rows is None else float(rows.sum())

        def number(name: str, default: int) -> int:
            value = settings.get(name, default)
            return max(default, math.ceil(value * n_rows) if isinstance(value, float) else int(value))

        share = float(settings.get("min_weight_fraction_leaf", 0.0))
        depth = settings.get("max_depth")
        return cls(depth, number("min_samples_split", 2), number("min_samples_leaf", 1), share * float(weight.sum()))


@dataclass(frozen=True, eq=False)
class Grown:
    """A tree, and the leaf of each row that it was grown on, by node number."""

    tree: Tree
    leaf: Ints


def grow(bins: Bins, samples: GrowingSamples, choose: Chooser, limits: Limits) -> Grown:
    """A tree grown level by level; nodes are numbered from the root down, left to right.

    A node of one class is a leaf. A missing value goes where the chosen split sends it, if the node has missing values
    in that column, and to the side that counts more if it has none.
    """
    n_samples = len(samples.y)
    levels: list[tuple[Array, ...]] = []
    leaf = np.zeros(n_samples, dtype=np.intp)
    first, level = 0, _Members(np.arange(n_samples), np.zeros(n_samples, dtype=np.intp), 1)
    while level.n_nodes:
        leaf[level.rows] = first + level.at
        splits = np.full((level.n_nodes, 3), -1, dtype=np.intp)
        if limits.max_depth is None or len(levels) < limits.max_depth:
            for some in _groups(_splittable(samples, level, limits), bins):
                splits[some] = _best_splits(bins, samples, level.among(some), choose, limits)
        levels.append(_nodes(bins, splits, first + level.n_nodes))
        first, level = first + level.n_nodes, _children(bins, splits, level)
    return Grown(Tree(*(np.concatenate(part) for part in zip(*levels, strict=True))), leaf)


@dataclass(frozen=True, eq=False)
class _Members:
    """Rows, and for each the place of its node among some nodes."""

    rows: Ints
    at: Ints
    n_nodes: int

    def among(self, some: Ints) -> _Members:
        """The rows of some of the nodes."""
        if len(some) == self.n_nodes:
            return self
        place = np.full(self.n_nodes, -1, dtype=np.intp)
        place[some] = np.arange(len(some))
        inside = np.flatnonzero(place[self.at] >= 0)
        return _Members(self.rows[inside], place[self.at[inside]], len(some))


def _splittable(samples: GrowingSamples, level: _Members, limits: Limits) -> Ints:
    k = samples.n_classes
    counts = np.bincount(level.at * k + samples.y[level.rows], minlength=level.n_nodes * k).reshape(-1, k)
    rows = samples.rows
    size = counts.sum(axis=1) if rows is None else np.bincount(level.at, rows[level.rows], minlength=level.n_nodes)
    enough = (size >= limits.min_samples_split) & (size >= 2 * limits.min_samples_leaf)
    return np.flatnonzero(enough & (np.count_nonzero(counts, axis=1) > 1))


def _groups(nodes: Ints, bins: Bins) -> Iterator[Ints]:
    at_once = max(1, _CELLS // (len(bins.cuts) * (bins.n_bins + 1)))
    return (nodes[first : first + at_once] for first in range(0, len(nodes), at_once))


def _best_splits(bins: Bins, samples: GrowingSamples, nodes: _Members, choose: Chooser, limits: Limits) -> Ints:
    """For each node column, last bin that goes left and whether missing values do; -1 for a node that stays whole."""
    sums, whole = _left_sums(bins, samples, nodes)
    sides = sums.size.shape[3]
    left = Sums(*(part.reshape(nodes.n_nodes, -1, *part.shape[4:]) for part in sums))
    right = whole.at(np.s_[:, None]) - left
    # Behind an empty bin the two sides are those of the threshold before it, which goes first.
    filled = np.diff(sums.size[..., :1], axis=2, prepend=0.0) > 0
    allowed = np.broadcast_to(filled, sums.size.shape).reshape(left.size.shape)
    allowed = allowed & (left.size >= limits.min_samples_leaf) & (right.size >= limits.min_samples_leaf)
    if limits.min_weight_leaf:
        allowed &= np.minimum(left.weight.sum(axis=2), right.weight.sum(axis=2)) >= limits.min_weight_leaf
    splits = np.full((nodes.n_nodes, 3), -1, dtype=np.intp)
    can = np.flatnonzero(allowed.any(axis=1))
    if can.size:
        chosen = choose(left.at(can), right.at(can), allowed[can])
        feature, code, side = np.unravel_index(chosen, (len(bins.cuts), bins.n_bins, sides))
        # Where both ways leave as many samples on the left, the node has no missing values there.
        first = chosen - side
        seen = left.size[can, first] != left.size[can, first + sides - 1]
        more_left = left.count[can, chosen].sum(axis=1) > right.count[can, chosen].sum(axis=1)
        to_left = np.where(seen, side == 1, more_left)
        splits[can] = np.column_stack([feature, code, to_left])
    return splits


def _left_sums(bins: Bins, samples: GrowingSamples, nodes: _Members) -> tuple[Sums, Sums]:
    """What goes left, nodes x columns x last bin x side of the missing values (right, then left); and all of a node."""
    k, width, n_nodes, rows = samples.n_classes, bins.n_bins + 1, nodes.n_nodes, nodes.rows
    sides = 2 if bins.any_missing else 1
    shape = (n_nodes, len(bins.cuts), bins.n_bins, sides)
    size, dual = np.empty(shape), np.empty(shape)
    weight, count = np.empty((*shape, k)), np.empty((*shape, k))
    of_class = nodes.at * (width * k) + samples.y[rows]

    def histogram(code: Ints, values: Floats | None) -> Floats:
        cells = np.bincount(code, weights=values, minlength=n_nodes * width * k)
        return cells.reshape(n_nodes, width, k).astype(np.float64, copy=False)

    def cumulate(out: Floats, cells: Floats) -> Floats:
        np.cumsum(cells[:, :-1], axis=1, out=out[:, :, 0])
        if sides == 2:
            np.add(out[:, :, 0], cells[:, -1:], out=out[:, :, 1])
        return np.asarray(cells.sum(axis=1))

    given = [None if v is None else v[rows] for v in (samples.weight, samples.count, samples.dual, samples.rows)]
    for f, codes in enumerate(bins.codes):
        code = of_class + codes[rows].astype(np.intp) * k
        plain = histogram(code, given[3])
        of_size = cumulate(size[:, f], plain.sum(axis=2))
        of_count = cumulate(count[:, f], plain if given[1] is given[3] else histogram(code, given[1]))
        of_weight = cumulate(weight[:, f], histogram(code, given[0]))
        of_dual = cumulate(dual[:, f], histogram(code, given[2]).sum(axis=2))
    return Sums(size, weight, count, dual), Sums(of_size, of_weight, of_count, of_dual)


def _nodes(bins: Bins, splits: Ints, first_child: int) -> tuple[Array, ...]:
    """The arrays of a level's nodes, as a `Tree` has them."""
    feature, code, to_left = splits.T
    inner = feature >= 0
    left = np.where(inner, first_child + 2 * (np.cumsum(inner) - 1), -1)
    threshold = np.where(inner, bins.threshold(feature, code), 0.0)
    return np.maximum(feature, 0), threshold, left, np.where(inner, left + 1, -1), inner & (to_left == 1)


def _children(bins: Bins, splits: Ints, level: _Members) -> _Members:
    """The rows of the nodes that were split, in the nodes below."""
    feature, code, to_left = splits.T
    inner = feature >= 0
    moving = np.flatnonzero(inner[level.at])
    rows, at = level.rows[moving], level.at[moving]
    seen = bins.codes[feature[at], rows]
    goes_left = np.where(seen == bins.missing, to_left[at] == 1, seen <= code[at])
    return _Members(rows, 2 * (np.cumsum(inner) - 1)[at] + ~goes_left, 2 * int(inner.sum()))
