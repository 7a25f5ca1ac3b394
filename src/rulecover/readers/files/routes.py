"""How rows are sent through the trees of a model file, or through the library's own code where it is installed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import scipy.sparse

from rulecover.coverage import smallest_uint
from rulecover.exceptions import MismatchedDataError
from rulecover.readers.files.building import Parsed
from rulecover.rules.clauses import blank_zeros
from rulecover.trees.tree import Tree, TreeEnsemble
from rulecover.typing import Array, Ints

#: The library sends this many rows at a time through all trees.
_ROWS = 65536


def own_routes(trees: Sequence[Tree]) -> tuple[Callable[[Any], Ints], ...]:
    """Our own code as the way to the leaves."""
    return tuple(tree.apply for tree in trees)


def library_routes(parsed: Parsed, leaves: Callable[[Any, int], Array]) -> TreeEnsemble:
    """The trees, with the library's own code as the way to the leaves.

    Parameters
    ----------
    parsed
        The trees, and the node behind each number that the library gives a leaf.
    leaves
        From rows to the library's numbers of their leaves in a number of trees, rows x trees, or more of them. It is
        called once for all trees.
    """
    ensemble = parsed.ensemble
    routes = tuple(partial(_node_of, k, number) for k, number in enumerate(parsed.node_of))
    first = partial(_first_leaves, ensemble.prepare, leaves, parsed.node_of)
    whole = partial(first, len(parsed.node_of))
    return replace(ensemble, routes=routes, prepare=whole, prepare_first=first, keeps_columns=False)


def _node_of(k: int, number: Ints, leaves: Array) -> Ints:
    return number[leaves[:, k]]


def _first_leaves(
    prepare: Callable[[Any], Any], leaves: Callable[[Any, int], Array], node_of: tuple[Ints, ...], n_trees: int, X: Any
) -> Array:
    largest = max((len(number) for number in node_of[:n_trees]), default=0)
    out = np.empty((X.shape[0], n_trees), dtype=smallest_uint(largest), order="F")
    for start in range(0, X.shape[0], _ROWS):
        rows = prepare(X[start : start + _ROWS])
        found = np.asarray(leaves(rows, n_trees))
        out[start : start + _ROWS] = found.reshape(rows.shape[0], -1 if found.size else n_trees)[:, :n_trees]
    return out


def as_numbers(zero_missing: tuple[int, ...]) -> Callable[[Any], Any]:
    """A function that makes a dense array of rows, NaN where 0 counts as missing."""
    return partial(_as_numbers, zero_missing)


def _as_numbers(zero_missing: tuple[int, ...], X: Any) -> Any:
    dense = X.toarray() if scipy.sparse.issparse(X) else X
    if not zero_missing:
        return dense
    dense = np.array(dense, dtype=np.float64)
    for f in zero_missing:
        blank_zeros(dense[:, f])
    return dense


def no_sparse(X: Any, reason: str) -> Any:
    """X, unless it is sparse."""
    if scipy.sparse.issparse(X):
        raise MismatchedDataError(f"{reason}; pass a dense array.")
    return X


def checked_codes(trees: Sequence[Tree], prepare: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """`prepare`, preceded by a look at the columns of category codes: codes are whole numbers."""
    split = [tree.feature[tree.category >= 0] for tree in trees if tree.category is not None]
    columns = np.unique(np.concatenate(split)) if split else np.zeros(0, dtype=np.intp)
    return partial(_checked_codes, columns, prepare) if columns.size else prepare


def _checked_codes(columns: Ints, prepare: Callable[[Any], Any], X: Any) -> Any:
    X = prepare(X)
    for f in columns:
        values = np.asarray(X[:, f], dtype=np.float64)
        wrong = np.flatnonzero(~np.isnan(values) & (values != np.round(values)))
        if wrong.size:
            raise MismatchedDataError(
                f"column {f} holds categories, as whole numbers, but a row has {values[wrong[0]]}; "
                "give the codes that the model was trained with."
            )
    return X
