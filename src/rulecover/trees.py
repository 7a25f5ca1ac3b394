"""The one neutral form of every foreign tree, and the rules of its leaves."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from rulecover.rules import Paths, RuleSet
from rulecover.typing import Array, Bools, Floats, Ints


@dataclass(frozen=True, eq=False)
class Tree:
    """Node arrays: a sample goes left when ``x[feature] <= threshold``, or NaN and `missing_left`.

    Leaves have ``left == -1``. Thresholds are float64 and compared with float64, whatever the library compares.
    """

    feature: Ints
    threshold: Floats
    left: Ints
    right: Ints
    missing_left: Bools

    def apply(self, X: Any) -> Ints:
        """The leaf of each row, by node number: all rows one level down at a time."""
        node = np.zeros(X.shape[0], dtype=np.intp)
        moving = np.arange(X.shape[0]) if self.left[0] >= 0 else np.zeros(0, dtype=np.intp)
        while moving.size:
            at = node[moving]
            node[moving] = np.where(self.goes_left(X, moving, at), self.left[at], self.right[at])
            moving = moving[self.left[node[moving]] >= 0]
        return node

    def goes_left(self, X: Any, rows: Ints, at: Ints) -> Bools:
        """Whether each of the rows goes left at the inner node that it has come to."""
        value = np.asarray(X[rows, self.feature[at]], dtype=np.float64).ravel()
        return np.where(np.isnan(value), self.missing_left[at], value <= self.threshold[at])

    @property
    def leaves(self) -> Ints:
        return np.flatnonzero(self.left < 0)

    def on_columns(self, columns: Ints) -> Tree:
        """The same tree where its feature f is column ``columns[f]`` of wider data."""
        return replace(self, feature=np.where(self.left >= 0, columns[self.feature], self.feature))


@dataclass(frozen=True, eq=False)
class TreeEnsemble:
    """The trees of a model, and the fast way to send rows through them.

    Parameters
    ----------
    trees
        In the model's order.
    routes
        For each tree a function from prepared data to the leaf of each row, by node number: the library's own
        compiled code where there is one.
    prepare
        Turns data as users give it into what the routes take, once for all trees.
    feature_names
        The names that the model was trained with, if it knows them.
    n_features
        The number of columns that the model was trained with.
    """

    trees: tuple[Tree, ...]
    routes: tuple[Callable[[Any], Ints], ...]
    prepare: Callable[[Any], Any]
    n_features: int
    feature_names: tuple[str, ...] | None = None


@dataclass(frozen=True, eq=False)
class Leaves:
    """Leaves of several trees, rules that are not yet written out: leaf j is a node of tree ``tree[j]``."""

    trees: tuple[Tree, ...]
    tree: Ints
    node: Ints
    feature_names: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.node)

    def take(self, leaves: Ints) -> Leaves:
        return replace(self, tree=self.tree[leaves], node=self.node[leaves])

    def join(self, other: Leaves) -> Leaves:
        """These leaves followed by those of other trees."""
        return replace(
            self,
            trees=self.trees + other.trees,
            tree=np.concatenate([self.tree, other.tree + len(self.trees)]),
            node=np.concatenate([self.node, other.node]),
        )

    def rules(self) -> RuleSet:
        """The path from the root to each leaf as a rule."""
        nodes = _Nodes.of(self.trees)
        paths = nodes.paths_to(nodes.first[self.tree] + self.node)
        return merged(paths, self.feature_names)


@dataclass(frozen=True, eq=False)
class _Nodes:
    """The nodes of all trees in one table, so that all paths are climbed at once."""

    first: Ints
    parent: Ints
    is_left: Bools
    feature: Ints
    threshold: Floats
    missing_left: Bools

    @classmethod
    def of(cls, trees: Sequence[Tree]) -> _Nodes:
        sizes = [len(tree.left) for tree in trees]
        first = np.concatenate([[0], np.cumsum(sizes)]).astype(np.intp)
        parent = np.full(first[-1], -1, dtype=np.intp)
        is_left = np.zeros(first[-1], dtype=bool)
        for start, tree in zip(first, trees, strict=False):
            inner = np.flatnonzero(tree.left >= 0)
            parent[start + tree.left[inner]] = start + inner
            parent[start + tree.right[inner]] = start + inner
            is_left[start + tree.left[inner]] = True

        def joined(name: str) -> Array:
            return np.concatenate([getattr(tree, name) for tree in trees])

        return cls(first, parent, is_left, joined("feature"), joined("threshold"), joined("missing_left"))

    def paths_to(self, nodes: Ints) -> Paths:
        """The comparisons on the way to each node, root first."""
        rule, child = np.arange(len(nodes)), nodes
        levels: list[tuple[Ints, Ints]] = []
        while rule.size:
            below = self.parent[child] >= 0
            rule, child = rule[below], child[below]
            levels.append((rule, child))
            child = self.parent[child]
        owner = np.concatenate([r for r, _ in reversed(levels)]) if levels else np.zeros(0, dtype=np.intp)
        reached = np.concatenate([c for _, c in reversed(levels)]) if levels else np.zeros(0, dtype=np.intp)
        order = np.argsort(owner, kind="stable")
        reached = reached[order]
        above = ~self.is_left[reached]
        asked = self.parent[reached]
        offset = np.concatenate([[0], np.cumsum(np.bincount(owner, minlength=len(nodes)))]).astype(np.intp)
        return Paths(
            offset=offset,
            feature=self.feature[asked],
            bound=self.threshold[asked],
            above=above,
            missing=self.missing_left[asked] != above,
        )


def merged(paths: Paths, feature_names: tuple[str, ...]) -> RuleSet:
    """The rules of paths, all comparisons on one feature made one interval; NaN must pass every one of them."""
    n_rules = len(paths.offset) - 1
    owner = np.repeat(np.arange(n_rules), np.diff(paths.offset))
    order = np.argsort(owner * len(feature_names) + paths.feature, kind="stable")
    owner, feature = owner[order], paths.feature[order]
    bound, above, missing = paths.bound[order], paths.above[order], paths.missing[order]
    starts = np.flatnonzero(np.diff(owner, prepend=-1) | np.diff(feature, prepend=-1))
    if not starts.size:  # reduceat knows no empty list
        return replace(RuleSet.of_intervals([{}] * n_rules, feature_names), paths=paths)
    return RuleSet(
        offset=np.concatenate([[0], np.cumsum(np.bincount(owner[starts], minlength=n_rules))]).astype(np.intp),
        feature=feature[starts],
        lower=np.maximum.reduceat(np.where(above, bound, -np.inf), starts),
        upper=np.minimum.reduceat(np.where(above, np.inf, bound), starts),
        missing=np.logical_and.reduceat(missing, starts),
        category=np.full(len(starts), -1, dtype=np.intp),
        feature_names=feature_names,
        paths=paths,
    )
