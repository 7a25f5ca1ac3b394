"""Dask arrays and frames as the rows of parts: one future per partition, and what the client must know of each."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from rulecover.data.frames import category_columns, is_frame
from rulecover.exceptions import LostClusterError, MismatchedDataError, MissingExtraError
from rulecover.partitions.dask import awaited
from rulecover.typing import Array, Ints

if TYPE_CHECKING:
    from distributed import Client, Future

#: More distinct values of y than this in one partition are not classes, and are not sent to the client.
_MOST_CLASSES = 10_000


class Rows(NamedTuple):
    """The rows of one partition, as Dask computes them."""

    X: Any
    y: Any
    weight: Any


class Facts(NamedTuple):
    """What is to be known of the rows of one partition.

    Parameters
    ----------
    sizes
        How many rows X, y and the weights have; those of weights that are not given are those of X.
    n_columns, names, kinds
        The number of columns, and of a frame their names and types.
    categories
        The categories of each column that has some, by its place.
    labels, firsts
        The different values of y, and the first row with each; none where there are too many to be classes.
    gap
        The first row without a label or number; ``None`` if there is none.
    """

    sizes: tuple[int, int, int]
    n_columns: int
    names: tuple[Any, ...] | None
    kinds: tuple[str, ...]
    categories: dict[int, tuple[Any, ...]]
    labels: Array | None
    firsts: Ints
    gap: int | None


@dataclass(frozen=True, eq=False)
class DaskRows:
    """The rows of a Dask array or frame: they stay on the workers.

    Parameters
    ----------
    client
        Of the cluster.
    futures
        The `Rows` of each partition.
    facts
        What is known of each.
    empty
        A partition without rows: its columns, types and categories are those of all.
    """

    client: Client
    futures: tuple[Future, ...]
    facts: tuple[Facts, ...]
    empty: Rows

    @property
    def n_rows(self) -> Ints:
        """The number of rows of each partition."""
        return np.array([each.sizes[0] for each in self.facts], dtype=np.intp)

    @property
    def first_rows(self) -> Ints:
        """Of each different value of y one row at least, by its place among all; none where these are too many."""
        starts = np.cumsum(self.n_rows) - self.n_rows
        places = [start + each.firsts for start, each in zip(starts, self.facts, strict=True)]
        return np.unique(np.concatenate(places)).astype(np.intp)

    @property
    def values(self) -> Array:
        """The different values of y; none where there are too many to be classes."""
        return self.labels if all(each.labels is not None for each in self.facts) else np.zeros(0)

    @property
    def labels(self) -> Array:
        """The different values of y; not to be used for numbers."""
        found = [each.labels for each in self.facts if each.labels is not None]
        if len(found) < len(self.facts):
            raise MismatchedDataError(
                f"y has more than {_MOST_CLASSES:,} different values in one partition, too many for classes; use a "
                "regressor."
            )
        found = [each for each in found if len(each)]
        if len({each.dtype.kind in "biuf" for each in found}) > 1:
            raise MismatchedDataError("y has numbers in some partitions and words in others; give labels of one kind.")
        return np.unique(np.concatenate(found or [np.zeros(0)]))


def some_rows(rows: DaskRows, wanted: Ints) -> Rows:
    """The rows at these sorted places among all, as one; they are few, and come to the client."""
    ends = np.cumsum(rows.n_rows)
    cuts = np.searchsorted(wanted, np.concatenate([[0], ends]))
    picked = [
        rows.client.submit(_picked, future, wanted[cuts[k] : cuts[k + 1]] - (int(ends[k - 1]) if k else 0), pure=False)
        for k, future in enumerate(rows.futures)
        if cuts[k] < cuts[k + 1]
    ]
    awaited(rows.client, picked, 60.0)
    found: list[Rows] = rows.client.gather(picked)
    weight = None if found[0].weight is None else np.concatenate([np.asarray(each.weight).ravel() for each in found])
    return Rows(
        _stacked([each.X for each in found]), np.concatenate([np.asarray(each.y).ravel() for each in found]), weight
    )


def _picked(rows: Rows, wanted: Ints) -> Rows:
    X, y, weight = (
        None if each is None else each.iloc[wanted] if hasattr(each, "iloc") else each[wanted] for each in rows
    )
    return Rows(X, y, weight)


def _stacked(blocks: Sequence[Any]) -> Any:
    import pandas as pd

    return pd.concat(blocks, ignore_index=True) if is_frame(blocks[0]) else np.concatenate(blocks)


def is_dask(X: Any) -> bool:
    """Whether this is a Dask array or frame; nothing is imported."""
    return type(X).__module__.partition(".")[0] in ("dask", "dask_expr")


def dask_rows(X: Any, y: Any, sample_weight: Any = None, *, patience: float = 60.0) -> DaskRows:
    """The partitions of X, each with its part of y and of the weights, computed and kept on the workers.

    Parameters
    ----------
    X
        A Dask array or frame. Chunks along columns are joined.
    y, sample_weight
        Dask arrays or series with partitions like those of X, arrays in memory where the lengths of the partitions of X
        are known, or the name of a column of a frame, which is then left out of X.
    patience
        The seconds to wait for a worker, if there is none.
    """
    client = current_client()
    X, y, sample_weight = _named_columns(X, y, sample_weight)
    blocks = blocks_of(X, "X")
    others = [_alongside(X, other, name) for name, other in (("y", y), ("sample_weight", sample_weight))]
    from dask import delayed

    make = delayed(Rows, pure=False)
    futures = client.compute([make(*each) for each in zip(blocks, *others, strict=True)])
    try:
        awaited(client, futures, patience)
    except KeyError as error:  # from pandas, in the graph
        raise MismatchedDataError(
            f"a partition lacks a column that others have: {error.args[0]}; give every partition the same columns."
        ) from error
    facts = client.map(facts_of, futures, pure=False)
    awaited(client, facts, patience)
    gathered = client.gather(facts)
    _check(gathered)
    fullest = int(np.argmax([each.sizes[0] for each in gathered]))
    empty = client.submit(_without_rows, futures[fullest], pure=False)
    awaited(client, [empty], patience)
    return DaskRows(client, tuple(futures), tuple(gathered), empty.result())


def current_client() -> Client:
    """The client of `distributed` that is active."""
    try:
        from distributed import get_client
    except ImportError as error:
        raise MissingExtraError(
            "Dask collections are fitted on the workers of a cluster, which needs: pip install 'rulecover[dask]'."
        ) from error
    try:
        return get_client()
    except ValueError:
        raise LostClusterError(
            "X is a Dask collection, but there is no client of a cluster; start one on this machine by "
            "distributed.Client(), or connect to one by distributed.Client(address)."
        ) from None


def facts_of(rows: Rows) -> Facts:
    """What is to be known of the rows of a partition."""
    import pandas as pd

    frame = is_frame(rows.X)
    y = np.asarray(rows.y).ravel()
    gaps = np.flatnonzero(pd.isna(y))
    code, labels = pd.factorize(y[: 0 if gaps.size else None])
    many = len(labels) > _MOST_CLASSES
    n_rows = int(rows.X.shape[0])
    return Facts(
        sizes=(n_rows, len(y), n_rows if rows.weight is None else len(rows.weight)),
        n_columns=int(rows.X.shape[1]),
        names=tuple(rows.X.columns) if frame else None,
        kinds=tuple(map(str, rows.X.dtypes)) if frame else (),
        categories=category_columns(rows.X) if n_rows else {},
        labels=None if many else np.asarray(labels),
        firsts=np.unique(code, return_index=True)[1][: 0 if many else None],
        gap=int(gaps[0]) if gaps.size else None,
    )


def _without_rows(rows: Rows) -> Rows:
    return Rows(rows.X[:0], rows.y[:0], None if rows.weight is None else rows.weight[:0])


# Partitions -----------------------------------------------------------------------------------------------------------


def _named_columns(X: Any, y: Any, weight: Any) -> tuple[Any, Any, Any]:
    """X without the columns that y and the weights are named after, and these columns."""
    named = [name for name in (y, weight) if isinstance(name, str)]
    for name in named:
        if not hasattr(X, "columns") or name not in X.columns:
            raise MismatchedDataError(f"X has no column {name!r}; give the name of one of its columns, or an array.")
    pick = (X[other] if isinstance(other, str) else other for other in (y, weight))
    return X.drop(columns=named) if named else X, *pick


def is_dask_array(rows: Any) -> bool:
    """Whether a Dask collection is an array; a frame may have columns of any name, such as chunks."""
    return not hasattr(rows, "divisions")


def blocks_of(rows: Any, name: str) -> list[Any]:
    """The partitions of an array or a frame along its rows."""
    if not is_dask_array(rows):
        return list(rows.to_delayed())
    if rows.ndim > 2:
        raise MismatchedDataError(f"{name} has {rows.ndim} dimensions; give rows x columns.")
    whole = rows.rechunk({1: -1}) if rows.ndim == 2 and len(rows.chunks[1]) > 1 else rows
    return list(whole.to_delayed().ravel())


def _alongside(X: Any, other: Any, name: str) -> list[Any]:
    """The partitions of y or of the weights that go with those of X."""
    n_parts = X.numblocks[0] if is_dask_array(X) else X.npartitions
    if other is None:
        return [None] * n_parts
    lengths = _lengths(X)
    if not is_dask(other):
        other = _in_chunks(np.asarray(other), lengths, name)
    theirs = _lengths(other)
    if lengths is not None and theirs is not None and lengths != theirs:
        _check_lengths(sum(lengths), sum(theirs), name)
        other = other.rechunk({0: lengths})
    blocks = blocks_of(other, name)
    if len(blocks) != n_parts:
        raise MismatchedDataError(
            f"X has {n_parts} partitions and {name} has {len(blocks)}, of unknown length; give both the same "
            "partitions, or call compute_chunk_sizes() on both arrays."
        )
    return blocks


def _lengths(rows: Any) -> tuple[int, ...] | None:
    """The number of rows of each chunk, if it is known."""
    chunks = rows.chunks if is_dask_array(rows) else None
    return None if chunks is None or np.isnan(chunks[0]).any() else tuple(chunks[0])


def _in_chunks(values: Array, lengths: tuple[int, ...] | None, name: str) -> Any:
    import dask.array

    if lengths is None:
        raise MismatchedDataError(
            f"{name} is an array in memory, but the lengths of the partitions of X are unknown; give {name} as a Dask "
            "series or array with the same partitions, or call compute_chunk_sizes() on X."
        )
    _check_lengths(sum(lengths), len(values), name)
    return dask.array.from_array(values, chunks=(lengths, *values.shape[1:]))


def _check_lengths(n_rows: int, other: int, name: str) -> None:
    if n_rows != other:
        raise MismatchedDataError(f"X has {n_rows:,} rows, but {name} has {other:,}; give one value per row.")


# Checks ---------------------------------------------------------------------------------------------------------------


def _check(facts: Sequence[Facts]) -> None:
    """Raises where partitions do not fit each other."""
    if not sum(each.sizes[0] for each in facts):
        raise MismatchedDataError(f"X has no rows in any of its {len(facts)} partitions.")
    first = next(each for each in facts if each.sizes[0])
    for number, each in enumerate(facts):
        for name, size in zip(("y", "sample_weight"), each.sizes[1:], strict=True):
            if size != each.sizes[0]:
                raise MismatchedDataError(
                    f"partition {number} has {each.sizes[0]:,} rows in X, but {size:,} in {name}; make the partitions "
                    "of both from the same table."
                )
        if each.gap is not None:
            raise ValueError(
                f"Input y contains NaN: row {each.gap} of partition {number} has no label or number; leave such rows "
                "out."
            )
        _check_columns(first, each, number)


def _check_columns(first: Facts, each: Facts, number: int) -> None:
    """Raises where the columns of a partition are not those of the first one that has rows."""
    if first.names is not None and each.names != first.names:
        lacking = [name for name in first.names if name not in (each.names or ())]
        said = f"lacks column {lacking[0]!r}" if lacking else f"has the columns {', '.join(map(str, each.names or ()))}"
        raise MismatchedDataError(f"partition {number} {said}; give every partition the same columns in one order.")
    if each.n_columns != first.n_columns:
        raise MismatchedDataError(
            f"partition {number} has {each.n_columns} columns, but others have {first.n_columns}; give all the same."
        )
    if not each.sizes[0]:
        return
    for f, known in first.categories.items():
        if each.categories.get(f) != known:
            name = first.names[f] if first.names is not None else f
            raise MismatchedDataError(
                f"column {name!r} has other categories in partition {number} than in others; call categorize() on the "
                "Dask frame first."
            )


# Predictions ----------------------------------------------------------------------------------------------------------


def by_partition(predict: Callable[[Any], Array], X: Any, example: Array) -> Any:
    """The predictions for each partition as a Dask array; `example` is one for no rows."""
    import dask.array
    from dask import delayed

    lengths = X.chunks[0] if is_dask_array(X) else [np.nan] * X.npartitions
    task = delayed(_predicted, pure=False)
    asked = delayed(predict, pure=False)
    blocks = [
        dask.array.from_delayed(task(asked, block, example), (length, *example.shape[1:]), dtype=example.dtype)
        for length, block in zip(lengths, blocks_of(X, "X"), strict=True)
    ]
    return dask.array.concatenate(blocks, allow_unknown_chunksizes=True)


def _predicted(predict: Callable[[Any], Array], X: Any, example: Array) -> Array:
    return predict(X).astype(example.dtype, copy=False) if len(X) else example
