"""Several readable models side by side, read as one."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from rulecover.data.columns import Gaps, SourceColumns
from rulecover.data.frames import missing_values
from rulecover.exceptions import UnreadableModelError
from rulecover.trees.tree import Tree, TreeEnsemble
from rulecover.typing import Array, Floats, Ints

Route = Callable[[Any], Ints]
Make = Callable[[Any, Sequence[int]], Iterable[Array]]


@dataclass(frozen=True, eq=False)
class Views:
    """The same rows as each of several models takes them."""

    of: tuple[Any, ...]

    def __getitem__(self, rows: Any) -> Views:
        return Views(tuple(None if view is None else view[rows] for view in self.of))


@dataclass(frozen=True, eq=False)
class _View:
    """How one model, or several, take the rows.

    Parameters
    ----------
    prepare, prepare_first
        As in `TreeEnsemble`.
    first_tree, n_trees
        The place of the first tree of the first of these models in the whole, and how many trees that model has.
    """

    prepare: Callable[[Any], Any]
    prepare_first: Callable[[int, Any], Any] | None
    first_tree: int
    n_trees: int

    def of_first(self, n_trees: int, X: Any) -> Any:
        """The rows for the first trees of the whole; ``None`` if none of them is of these models."""
        mine = min(self.n_trees, n_trees - self.first_tree)
        if mine <= 0:
            return None
        return self.prepare(X) if self.prepare_first is None else self.prepare_first(mine, X)


def combined(
    parts: Sequence[TreeEnsemble],
    n_features: int,
    feature_names: tuple[str, ...] | None,
    *,
    columns: Sequence[Ints] | None = None,
    weights: Floats | None = None,
) -> TreeEnsemble:
    """The trees of all parts, one part after the other.

    Parameters
    ----------
    parts
        The models' trees.
    n_features, feature_names
        The number and the names of the columns of the whole.
    columns
        For each part the columns it was trained on, in its order; all of them by default.
    weights
        The weight of each part in the whole: shared by its trees, whose own leaf values are then dropped, as they are
        not comparable between parts. ``None`` for equal weights: then values are kept.
    """
    used = _used(parts, [np.arange(n_features)] * len(parts) if columns is None else list(columns), n_features)
    whole = np.arange(max(n_features, *(1 + int(places.max(initial=-1)) for places in used)))
    views: dict[Callable[[Any], Any], _View] = {}
    trees: list[Tree] = []
    routes: list[Route] = []
    for part, mine in zip(parts, used, strict=True):
        cut = None if np.array_equal(mine, whole) else mine
        prepare, first, n_before = part.prepare, part.prepare_first, len(trees)
        trees += part.trees if cut is None else [tree.on_columns(mine) for tree in part.trees]
        if cut is not None and (part.encodes or not part.keeps_columns):
            first = first and partial(_first_prepared_on, first, cut)
            prepare, cut = partial(_prepared_on, part.prepare, cut), None
        views.setdefault(prepare, _View(prepare, first, n_before, len(part.trees)))
        place = list(views).index(prepare)
        routes += [partial(_routed, route, place, cut) for route in part.routes]
    if weights is not None:
        trees = [replace(tree, value=None) for tree in trees]
    merged = _columns(parts, used, SourceColumns(n_features, feature_names, gaps=_gaps(parts, used)))
    return TreeEnsemble(
        tuple(trees),
        tuple(routes),
        partial(_first_views, tuple(views.values()), len(trees)),
        n_features,
        feature_names,
        categories=merged.categories,
        zero_missing=_zero_missing(parts, used),
        columns=None if merged.free else merged,
        keeps_columns=False,
        weight=_tree_weights(parts, weights),
        prepare_first=partial(_first_views, tuple(views.values()))
        if any(part.prepare_first for part in parts)
        else None,
    )


def _tree_weights(parts: Sequence[TreeEnsemble], weights: Floats | None) -> Floats | None:
    """The weight of each tree: its share in its part, times the weight of the part."""
    if weights is None and all(part.weight is None for part in parts):
        return None
    inside = [np.ones(len(part.trees)) if part.weight is None else part.weight for part in parts]
    if weights is None:
        return np.concatenate(inside)
    return np.concatenate([w * each / each.sum() for w, each in zip(weights, inside, strict=True)])


def _zero_missing(parts: Sequence[TreeEnsemble], used: Sequence[Ints]) -> tuple[int, ...]:
    """The columns in which 0 counts as missing; all parts that use one must agree."""
    zero = {int(places[f]) for part, places in zip(parts, used, strict=True) for f in part.zero_missing}
    for part, places in zip(parts, used, strict=True):
        numbers = {int(places[f]) for f in part.used_columns if f not in part.zero_missing}
        if zero & numbers:
            raise UnreadableModelError(
                f"a member of the ensemble takes 0 for missing in column {min(zero & numbers)}, and another for a "
                "number; train them with zero_as_missing on or off throughout."
            )
    return tuple(sorted(zero))


def _used(parts: Sequence[TreeEnsemble], columns: list[Ints], n_features: int) -> list[Ints]:
    """Where each part's columns stand; those that its pipeline makes come after the given ones, part by part."""
    out, first = [], n_features
    for part, mine in zip(parts, columns, strict=True):
        n_made = 0 if part.columns is None else len(part.columns.made)
        out.append(np.concatenate([mine, np.arange(first, first + n_made)]).astype(np.intp))
        first += n_made
    return out


def _columns(parts: Sequence[TreeEnsemble], used: Sequence[Ints], start: SourceColumns) -> SourceColumns:
    """What all parts require of the data, on the columns of the whole."""
    merged = start
    _check_kinds(parts, used)
    for part, places in zip(parts, used, strict=True):
        place, asked = dict(enumerate(places.tolist())), set(part.used_columns.tolist())
        categories = {place[f]: labels for f, labels in part.categories.items()}
        if any(merged.categories.get(f, labels) != labels for f, labels in categories.items()):
            raise UnreadableModelError(
                "the members of the ensemble have different categories for a column, so codes differ; "
                "give their encoders the categories (categories=…)."
            )
        merged = replace(merged, categories={**merged.categories, **categories})
        if part.columns is None:
            continue
        notations = {place[f]: notation for f, notation in part.columns.notations.items() if f in asked}
        if any(merged.notations.get(f, notation) != notation for f, notation in notations.items()):
            raise UnreadableModelError(
                "the members of the ensemble read numbers in words differently; train one encoder in front of them all."
            )
        frequent = {place[f]: number for f, number in part.columns.frequent.items()}
        closed = {place[f]: known for f, known in part.columns.closed.items()}
        shared = {f: np.intersect1d(known, merged.closed.get(f, known)) for f, known in closed.items()}
        make = part.columns.make, len(part.columns.made), places[: part.columns.n_given]
        merged = replace(
            merged,
            closed={**merged.closed, **shared},
            required=merged.required | {place[f] for f in part.columns.required},
            made=merged.made + part.columns.made,
            make=ColumnsOfMembers((*getattr(merged.make, "makes", ()), make)),
            notations={**merged.notations, **notations},
            frequent={**merged.frequent, **frequent},
        )
    return merged


def _check_kinds(parts: Sequence[TreeEnsemble], used: Sequence[Ints]) -> None:
    """Raises if texts of a column are levels to one part and numbers to another."""
    levels: set[int] = set()
    numbers: set[int] = set()
    for part, places in zip(parts, used, strict=True):
        for f in (f for f in part.used_columns.tolist() if f < part.n_features):
            known = part.categories.get(f)
            if known is None:
                numbers.add(int(places[f]))
            elif any(isinstance(label, str) for label in known):
                levels.add(int(places[f]))
    if levels & numbers:
        raise UnreadableModelError(
            f"a member of the ensemble takes the texts of column {min(levels & numbers)} for levels, and another for "
            "numbers; train one encoder in front of them all."
        )


def _gaps(parts: Sequence[TreeEnsemble], used: Sequence[Ints]) -> dict[int, Gaps]:
    """How kinds of missing values are written; one that the parts write differently has no route."""
    out: dict[int, Gaps] = {}
    for part, places in zip(parts, used, strict=True):
        own_gaps = {} if part.columns is None else part.columns.gaps
        for f in (f for f in part.used_columns.tolist() if f < part.n_features):
            mine = own_gaps.get(f, (np.nan,) * len(missing_values()))
            pairs = zip(mine, out.get(int(places[f]), mine), strict=True)
            out[int(places[f])] = tuple(one if str(one) == str(two) else None for one, two in pairs)
    return out


@dataclass(frozen=True, eq=False)
class ColumnsOfMembers:
    """What the pipelines of several parts make of the given rows, side by side.

    Each part has what makes its columns, if anything, how many these are, and the given columns that it takes.
    """

    makes: tuple[tuple[Make | None, int, Ints], ...]

    def __call__(self, X: Any, wanted: Sequence[int]) -> Iterator[Array]:
        first = 0
        for make, n_made, columns in self.makes:
            mine = [k - first for k in wanted if first <= k < first + n_made]
            if make is not None and mine:
                yield from make(X.iloc[:, columns] if hasattr(X, "iloc") else X[:, columns], mine)
            first += n_made


def _first_views(views: tuple[_View, ...], n_trees: int, X: Any) -> Views:
    return Views(tuple(view.of_first(n_trees, X) for view in views))


def _prepared_on(prepare: Callable[[Any], Any], columns: Ints, X: Any) -> Any:
    return prepare(X[:, columns])


def _first_prepared_on(prepare_first: Callable[[int, Any], Any], columns: Ints, n_trees: int, X: Any) -> Any:
    return prepare_first(n_trees, X[:, columns])


def _routed(route: Route, view: int, columns: Ints | None, X: Views) -> Ints:
    rows = X.of[view]
    return route(rows if columns is None else rows[:, columns])
