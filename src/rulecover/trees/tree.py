"""The one neutral form of every foreign tree, and the rules of its leaves."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import KW_ONLY, dataclass, field, replace
from functools import cached_property, partial
from typing import Any

import numpy as np

from rulecover.data.categories import Categories, CategorySet, Lookup, intersections
from rulecover.data.columns import Columns, SourceColumns, all_names
from rulecover.rules.clauses import Clauses, offsets
from rulecover.rules.ruleset import RuleSet
from rulecover.typing import Array, Bools, Floats, Ints

#: By how many rows it is judged how long all take: this many, or one in so many if these are fewer.
_FEW, _ONE_IN = 1000, 16
_TINY = 1e-9


@dataclass(frozen=True, eq=False)
class Tree:
    """Node arrays: a sample goes left when ``x[feature] <= threshold``, or NaN and `missing_left`.

    Leaves have ``left == -1``. Thresholds are float64 and compared with float64, whatever the library compares.

    Parameters
    ----------
    feature, threshold, left, right, missing_left
        One entry per node.
    category, category_sets
        Where a node's `category` is not -1, a sample goes left when ``x[feature] in category_sets[category]``, sorted
        codes; any other value but NaN goes right. ``None`` where no node splits on categories.
    value
        The value of each leaf, nodes x outputs, if the reader knows it.
    """

    feature: Ints
    threshold: Floats
    left: Ints
    right: Ints
    missing_left: Bools
    _: KW_ONLY
    category: Ints | None = None
    category_sets: tuple[Floats, ...] = ()
    value: Floats | None = None

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
        return np.where(np.isnan(value), self.missing_left[at], self._passes(at, value))

    def _passes(self, at: Ints, value: Floats) -> Bools:
        """Whether values that are not missing go left at the nodes."""
        passes = np.asarray(value <= self.threshold[at])
        if self.category is None:
            return passes
        wanted = self.category[at]
        return np.where(wanted >= 0, self._lookup(value, wanted), passes)

    @cached_property
    def _lookup(self) -> Lookup:
        return Lookup.of(self.category_sets)

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
    categories
        For a column of category codes: its number and the category behind each code, from 0.
    frame_categories
        The categories of each category column of a data frame, in the order of these columns, where the model knows
        nothing else about them.
    zero_missing
        The columns in which 0 counts as missing.
    output
        For each tree the output (the class) whose score it adds to, -1 for all of them; ``None`` for all trees.
    keeps_columns
        Whether prepared data still have shape rows x columns, and are not leaves already.
    encodes
        Whether prepared data have other columns, made of one or more of these each.
    columns
        How data become the columns of the trees, where they are not numbers as they are given.
    weight
        What each tree counts in the model, where trees count differently.
    classifies
        Whether a booster was trained on classes rather than numbers; ``None`` if that is not known.
    prepare_first
        From a number of trees and data to what `prepare` turns these into, for the first trees alone, where that sends
        rows through all trees at once.
    """

    trees: tuple[Tree, ...]
    routes: tuple[Callable[[Any], Ints], ...]
    prepare: Callable[[Any], Any]
    n_features: int
    feature_names: tuple[str, ...] | None = None
    categories: Categories = field(default_factory=dict)
    frame_categories: tuple[tuple[Any, ...], ...] = ()
    zero_missing: tuple[int, ...] = ()
    output: Ints | None = None
    columns: SourceColumns | None = None
    keeps_columns: bool = True
    encodes: bool = False
    weight: Floats | None = None
    classifies: bool | None = None
    prepare_first: Callable[[int, Any], Any] | None = None

    def take(self, trees: Ints) -> TreeEnsemble:
        """Some of the trees."""
        first = self.prepare_first if len(trees) else None
        return replace(
            self,
            trees=tuple(self.trees[tree] for tree in trees),
            routes=tuple(self.routes[tree] for tree in trees),
            output=None if self.output is None else self.output[trees],
            weight=None if self.weight is None else self.weight[trees],
            prepare=self.prepare if first is None else partial(first, int(np.max(trees)) + 1),
            prepare_first=first if np.array_equal(trees, np.arange(len(trees))) else None,
        )

    def prepared_in_time(self, X: Any, deadline: float | None) -> tuple[TreeEnsemble, Any]:
        """The trees and prepared data; the first trees alone, if rows cannot be sent through all at once in time.

        A few rows are sent through first, which shows how many trees there is time for in a third of what is left until
        the deadline, by `time.perf_counter`.
        """
        n_rows, n_trees = X.shape[0], len(self.trees)
        n_few = min(_FEW, n_rows // _ONE_IN)
        if deadline is None or self.prepare_first is None or not n_few:
            return self, self.prepare(X)
        begin = time.perf_counter()
        self.prepare(X[:n_few])
        now = time.perf_counter()
        share = (deadline - now) / 3 * n_few / (max(now - begin, _TINY) * n_rows)
        some = self if share >= 1.0 else self.take(np.arange(max(1, int(share * n_trees))))
        return some, some.prepare(X)

    @cached_property
    def used_columns(self) -> Ints:
        """The columns that the trees split on."""
        asked = [tree.feature[tree.left >= 0] for tree in self.trees]
        return np.unique(np.concatenate([np.zeros(0, dtype=np.intp), *asked]))

    def rules(self) -> RuleSet:
        """Every leaf as a rule, tree by tree, each in the order of its nodes.

        A leaf that contradicts itself, as in the symmetric trees of CatBoost, is a rule that covers no row.

        >>> from sklearn.datasets import load_iris
        >>> from sklearn.tree import DecisionTreeClassifier
        >>> from rulecover import read_trees
        >>> X, y = load_iris(return_X_y=True)
        >>> tree = DecisionTreeClassifier(max_depth=2, random_state=0).fit(X, y)
        >>> print(read_trees(tree).rules().shown_for(X))  # bounds as short as these rows allow
        rule  if
           0  x3 <= 0.8
           1  0.8 < x3 <= 1.7
           2  x3 > 1.7
        """
        leaves = [tree.leaves for tree in self.trees]
        return Leaves(
            self.trees,
            tree=np.repeat(np.arange(len(leaves)), [len(nodes) for nodes in leaves]),
            node=np.concatenate([np.zeros(0, dtype=np.intp), *leaves]),
            columns=self.columns_named(self.names(self.feature_names)),
        ).rules()

    def names(self, given: tuple[str, ...] | None) -> tuple[str, ...]:
        """A name for each column that a tree can use: the given ones, by default x0, x1, …, and those that are made."""
        made = () if self.columns is None else self.columns.made
        return all_names(given or (f"x{f}" for f in range(self.n_features)), made)

    def columns_named(self, names: tuple[str, ...]) -> Columns:
        """What is known of the columns of the trees, under these names."""
        known = SourceColumns(self.n_features) if self.columns is None else self.columns
        return Columns(
            names,
            self.categories,
            zero_missing=self.zero_missing,
            parts=known.parts,
            notations=known.notations,
            frequent=known.frequent,
        )

    def matrix(self, X: Any) -> Any:
        """Data as users give them as the columns of the trees; only those that a tree uses are read."""
        return X if self.columns is None else self.columns.matrix(X, self.used_columns)

    def strength(self, tree: Ints, node: Ints) -> Floats | None:
        """The weight that the model gives to leaves: the weight of the tree times the size of the leaf's value.

        The size is ``|v|`` for a leaf that adds v to one score, ``max v - min v`` for one that adds to several, and 1
        where leaves have no such value. ``None`` if all leaves of the model are equal in this.
        """
        valued = all(each.value is not None for each in self.trees)
        if self.weight is None and not valued:
            return None
        sizes = [_sizes(each.value) if valued and each.value is not None else np.ones(1) for each in self.trees]
        first = np.concatenate([[0], np.cumsum([len(size) for size in sizes])])
        weight = np.ones(len(self.trees)) if self.weight is None else self.weight
        return np.asarray(np.concatenate(sizes)[first[tree] + (node if valued else 0)] * weight[tree])


def _sizes(value: Floats) -> Floats:
    return np.asarray(np.abs(value[:, 0]) if value.shape[1] == 1 else np.ptp(value, axis=1))


@dataclass(frozen=True, eq=False)
class Leaves:
    """Leaves of several trees, rules that are not yet written out: leaf j is a node of tree ``tree[j]``."""

    trees: tuple[Tree, ...]
    tree: Ints
    node: Ints
    columns: Columns

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
        nodes = _AllNodes.of(self.trees)
        paths = nodes.paths_to(nodes.first[self.tree] + self.node)
        return RuleSet(merge_comparisons(paths), self.columns, paths)


@dataclass(frozen=True, eq=False)
class _AllNodes:
    """The nodes of all trees in one table, so that all paths are followed at once."""

    first: Ints
    parent: Ints
    is_left: Bools
    feature: Ints
    threshold: Floats
    missing_left: Bools
    category: Ints
    category_sets: tuple[Floats, ...]

    @classmethod
    def of(cls, trees: Sequence[Tree]) -> _AllNodes:
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

        numeric = joined("feature"), joined("threshold"), joined("missing_left")
        return cls(first, parent, is_left, *numeric, *join_category_sets(trees))

    def paths_to(self, nodes: Ints) -> Clauses:
        """The comparisons on the way to each node, root first."""
        rule, child = np.arange(len(nodes)), nodes
        levels: list[tuple[Ints, Ints]] = []
        while rule.size:
            below = self.parent[child] >= 0
            rule, child = rule[below], child[below]
            levels.append((rule, child))
            child = self.parent[child]
        depth = np.zeros(len(nodes), dtype=np.intp)
        for rule, _ in levels:
            depth[rule] += 1
        offset = offsets(depth)
        reached = np.empty(offset[-1], dtype=np.intp)
        for height, (rule, child) in enumerate(levels):
            reached[offset[1:][rule] - 1 - height] = child
        above = ~self.is_left[reached]
        asked = self.parent[reached]
        bound = self.threshold[asked]
        category = self.category[asked]
        bounded = category < 0
        used = np.unique(category[~bounded])
        # Each set of the trees twice: as it is for rows that go left, its complement for rows that go right.
        codes = (tuple(self.category_sets[k].tolist()) for k in used)
        return Clauses(
            offset=offset,
            feature=self.feature[asked],
            lower=np.where(above & bounded, bound, -np.inf),
            upper=np.where(above | ~bounded, np.inf, bound),
            missing=self.missing_left[asked] != above,
            category=np.where(bounded, -1, 2 * np.searchsorted(used, category) + above),
            category_sets=tuple(CategorySet(each, others) for each in codes for others in (False, True)),
        )


def join_category_sets(trees: Sequence[Tree]) -> tuple[Ints, tuple[Floats, ...]]:
    """The place of each node's set in the list of all trees' sets, -1 for a threshold; and the list."""
    places: list[Ints] = []
    sets: list[Floats] = []
    for tree in trees:
        mine = np.full(len(tree.left), -1, dtype=np.intp) if tree.category is None else tree.category
        places.append(np.where(mine >= 0, mine + len(sets), -1))
        sets += tree.category_sets
    return np.concatenate(places), tuple(sets)


def merge_comparisons(paths: Clauses) -> Clauses:
    """The rules of paths, with all comparisons on one feature as one clause; NaN must pass every one of them."""
    # An interval with bounds and a set on one feature stay two clauses.
    width = int(paths.feature.max(initial=-1)) + 1
    clause = 2 * (paths.owner * width + paths.feature) + (paths.category >= 0)
    # By clause, and then as they come: sorting distinct numbers is quicker than keeping the order of equal ones.
    n = len(clause)
    fits = (int(clause.max(initial=0)) + 1) * n <= np.iinfo(np.int64).max
    order = np.argsort(clause * n + np.arange(n)) if fits else np.argsort(clause, kind="stable")
    starts = np.flatnonzero(np.diff(clause[order], prepend=-1))
    if not starts.size:  # reduceat does not take an empty list
        return paths
    first = order[starts]
    category, sets = _merged_sets(paths, order, starts)
    bounded = paths.category[order] < 0
    merged = replace(
        paths,
        offset=offsets(np.bincount(paths.owner[first], minlength=len(paths))),
        feature=paths.feature[first],
        lower=np.maximum.reduceat(np.where(bounded, paths.lower[order], -np.inf), starts),
        upper=np.minimum.reduceat(np.where(bounded, paths.upper[order], np.inf), starts),
        missing=np.logical_and.reduceat(paths.missing[order], starts),
        category=category,
        category_sets=sets,
    )
    return _in_one(merged)


def _in_one(clauses: Clauses) -> Clauses:
    """The same rules; "is missing", or "is not missing", and a set on the same column are one clause."""
    if not clauses.category_sets:
        return clauses
    same = (np.diff(clauses.owner) == 0) & (np.diff(clauses.feature) == 0)
    interval = np.flatnonzero(same)
    whole = (clauses.lower == -np.inf) & (clauses.upper == np.inf)
    only_missing = clauses.lower == np.inf
    interval = interval[(whole | only_missing)[interval]]
    if not interval.size:
        return clauses
    missing, kept = clauses.missing.copy(), np.ones(len(clauses.feature), dtype=bool)
    missing[interval] = missing[interval + 1] = clauses.missing[interval] & clauses.missing[interval + 1]
    kept[np.where(whole[interval], interval, interval + 1)] = False
    return replace(clauses, missing=missing).keep(kept)


def _merged_sets(paths: Clauses, order: Ints, starts: Ints) -> tuple[Ints, tuple[CategorySet, ...]]:
    """For each merged clause the place of the set that passes all its comparisons, -1 for an interval; and the sets."""
    merged_category = np.full(len(starts), -1, dtype=np.intp)
    sets: tuple[CategorySet, ...] = ()
    if not paths.category_sets:
        return merged_category, sets
    category, feature = paths.category[order], paths.feature[order]
    clause_of = np.repeat(np.arange(len(starts)), np.diff(starts, append=len(order)))
    for f in np.unique(feature[category >= 0]):
        mine = np.flatnonzero((category >= 0) & (feature == f))
        clauses, first = np.unique(clause_of[mine], return_index=True)
        place, distinct = intersections(paths.category_sets, category[mine], first)
        merged_category[clauses] = place + len(sets)
        sets += distinct
    return merged_category, sets
