"""Several readable models side by side, read as one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from rulecover.trees import Tree, TreeEnsemble
from rulecover.typing import Ints

Route = Callable[[Any], Ints]


@dataclass(frozen=True, eq=False)
class Views:
    """The same rows as each of several models takes them."""

    of: tuple[Any, ...]

    def __getitem__(self, rows: Any) -> Views:
        return Views(tuple(view[rows] for view in self.of))


def combined(
    parts: Sequence[TreeEnsemble],
    n_features: int,
    feature_names: tuple[str, ...] | None,
    columns: Sequence[Ints] | None = None,
) -> TreeEnsemble:
    """The trees of all parts, one part after the other.

    Parameters
    ----------
    parts
        The models' trees.
    n_features, feature_names
        Of the columns that the whole speaks of.
    columns
        For each part the columns it was trained on, in its order; all of them by default.
    """
    whole = np.arange(n_features)
    used = [whole] * len(parts) if columns is None else columns
    prepares = list(dict.fromkeys(part.prepare for part in parts))
    trees: list[Tree] = []
    routes: list[Route] = []
    for part, mine in zip(parts, used, strict=True):
        cut = None if np.array_equal(mine, whole) else mine
        view = prepares.index(part.prepare)
        trees += part.trees if cut is None else [tree.on_columns(mine) for tree in part.trees]
        routes += [partial(_routed, route, view, cut) for route in part.routes]
    return TreeEnsemble(tuple(trees), tuple(routes), partial(_views, tuple(prepares)), n_features, feature_names)


def _views(prepares: tuple[Callable[[Any], Any], ...], X: Any) -> Views:
    return Views(tuple(prepare(X) for prepare in prepares))


def _routed(route: Route, view: int, columns: Ints | None, X: Views) -> Ints:
    rows = X.of[view]
    return route(rows if columns is None else rows[:, columns])
