"""Node arrays of a model file, checked and made into a tree."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from rulecover.exceptions import DamagedModelError, UnreadableModelError
from rulecover.readers.files.fields import Field
from rulecover.trees.tree import Tree, TreeEnsemble
from rulecover.typing import Bools, Floats, Ints

#: No library grows deeper trees; a longer chain of nodes is damage.
MAX_DEPTH = 10_000

#: More columns must have names in the file: it takes memory for each, and a few damaged bytes could ask for billions.
MAX_UNNAMED = 2**20

#: The paths to the leaves of a file may have this many comparisons altogether, or on average if that is more. As rules
#: they take some hundred bytes each, and in a chain of splits their number grows by the square of the file. Trees that
#: were grown leaf by leaf, some hundred levels deep, have less than this on average.
MAX_COMPARISONS, MAX_COMPARISONS_PER_LEAF = 2**20, 256


@dataclass(frozen=True, eq=False)
class Parsed:
    """What a model file holds: its trees, and for each the node behind each number that the library gives a leaf."""

    ensemble: TreeEnsemble
    node_of: tuple[Ints, ...]

    def __post_init__(self) -> None:
        if not self.ensemble.trees:
            raise UnreadableModelError(
                "the model has no trees and therefore no rules; train it for at least one round."
            )


@dataclass(frozen=True, eq=False)
class Nodes:
    """The nodes of one tree as a file has them, to be checked; entries of leaves are ignored.

    Parameters
    ----------
    where
        The tree's name in messages.
    left, right
        The children, -1 at leaves; node 0 is the root.
    feature, missing_left, category, category_sets, value
        As in `Tree`.
    threshold
        As the library stores it, NaN where the value is invalid; a split on categories has none.
    rewritten
        Turns thresholds of the library's comparison into those of ours.
    """

    where: str
    left: Ints
    right: Ints
    feature: Ints
    threshold: Floats
    missing_left: Bools
    value: Floats
    category: Ints
    category_sets: tuple[Floats, ...]
    rewritten: Callable[[Floats], Floats]

    def tree(self, n_features: int, *, n_deleted: int = 0) -> tuple[Tree, Ints]:
        """The tree, and the new number of each node: nodes that were cut off (-1) are left out."""
        reached = self._reached()
        n_lost = np.count_nonzero(~reached)
        if n_lost != n_deleted:
            raise self._damaged(f"{n_lost} of {len(reached)} nodes cannot be reached, where {n_deleted} were cut off")
        inner = reached & (self.left >= 0)
        self._check_splits(inner, n_features)
        kept = np.flatnonzero(reached)
        number = np.where(reached, np.cumsum(reached) - 1, -1)
        is_inner = inner[kept]
        category = np.where(is_inner, self.category[kept], -1)
        by_number = is_inner & (category < 0)
        threshold = np.where(by_number, self.threshold[kept], 0.0)
        tree = Tree(
            feature=np.where(is_inner, self.feature[kept], 0),
            threshold=np.where(by_number, self.rewritten(threshold), 0.0),
            left=np.where(is_inner, number[self.left[kept]], -1),
            right=np.where(is_inner, number[self.right[kept]], -1),
            missing_left=is_inner & self.missing_left[kept],
            category=category if (category >= 0).any() else None,
            category_sets=self.category_sets,
            value=self.value[kept],
        )
        return tree, number

    def _reached(self) -> Bools:
        """Which nodes the root leads to; each by only one path."""
        n = len(self.left)
        if self.left.min() < -1 or self.right.min() < -1:
            raise self._damaged("a child has a negative number")
        inner = np.flatnonzero(self.left >= 0)
        children = np.concatenate([self.left[inner], self.right[inner]])
        if children.size and not (children.min() > 0 and children.max() < n):
            raise self._damaged(f"a child is numbered beyond the {n} nodes, or is the root")
        if children.size and np.bincount(children).max() > 1:
            raise self._damaged("a node has two parents")
        reached = np.zeros(n, dtype=bool)
        level = np.zeros(1, dtype=np.intp)
        for _ in range(MAX_DEPTH + 1):
            if not level.size:
                return reached
            reached[level] = True
            level = level[self.left[level] >= 0]
            level = np.concatenate([self.left[level], self.right[level]])
        raise self._damaged(f"it is more than {MAX_DEPTH} levels deep")

    def _check_splits(self, inner: Bools, n_features: int) -> None:
        feature = self.feature[inner]
        if feature.size and not (feature.min() >= 0 and feature.max() < n_features):
            raise self._damaged(f"a split is on a feature beyond the {n_features} of the model")
        category = self.category[inner]
        if category.size and not (category.min() >= -1 and category.max() < len(self.category_sets)):
            raise self._damaged("a split is on a set of categories that is not there")
        if np.isnan(self.threshold[inner][category < 0]).any():
            raise self._damaged("a threshold is not a number")

    def _damaged(self, reason: str) -> DamagedModelError:
        return DamagedModelError(f"{self.where} is not a tree: {reason}; the model file is damaged: save it again.")


def check_values(where: str, value: Floats) -> Floats:
    """The values of leaves, if all are finite."""
    if not np.isfinite(value).all():
        raise DamagedModelError(
            f"{where}: the value of a leaf is not finite; the model file is damaged: save it again."
        )
    return value


def check_paths(name: str, trees: Sequence[Tree]) -> None:
    """Raises if trees are so deep that the rules of their leaves would take memory out of proportion with the file."""
    lengths = np.array([_path_lengths(tree) for tree in trees])
    n_leaves = sum(len(tree.leaves) for tree in trees)
    total, most = int(lengths[:, 0].sum()), max(MAX_COMPARISONS, MAX_COMPARISONS_PER_LEAF * n_leaves)
    if total > most:
        deepest = int(lengths[:, 0].argmax())
        raise UnreadableModelError(
            f"{name}: tree {deepest} is {lengths[deepest, 1]:,} levels deep, and the rules of all {n_leaves:,} leaves "
            f"would have {total:,} comparisons, more than {most:,}; train with a lower max_depth, or pass the trained "
            "model itself in place of its file."
        )


def _path_lengths(tree: Tree) -> tuple[int, int]:
    """The number of comparisons on the paths to all leaves, and on the longest of them."""
    total, depth = 0, 0
    level = np.zeros(1, dtype=np.intp)
    while True:
        inner = level[tree.left[level] >= 0]
        total += depth * (len(level) - len(inner))
        if not inner.size:
            return total, depth
        level = np.concatenate([tree.left[inner], tree.right[inner]])
        depth += 1


def check_unnamed(n_features: Field) -> None:
    """Raises if there are more features without names than any table has columns."""
    if n_features.whole() > MAX_UNNAMED:
        raise DamagedModelError(
            f"{n_features.where} is {n_features.whole():,}, but without names there can be no more than "
            f"{MAX_UNNAMED:,} features; if the model file is not damaged, train with feature_names and save it again."
        )


def check_names(names: Field, n_features: int) -> tuple[str, ...]:
    """The names of the features, if there is one for each and all are distinct."""
    found = names.texts(n_features)
    if len(set(found)) < len(found):
        raise names.wrong("distinct names")
    return found
