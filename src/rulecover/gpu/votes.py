"""What rules predict for rows on a GPU: the same answers as for rows in the memory of the CPU."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from rulecover.exceptions import MismatchedDataError
from rulecover.gpu.launch import DeviceRows, kernel
from rulecover.gpu.patterns import tests_of
from rulecover.typing import Array
from rulecover.voting.answers import Classes
from rulecover.voting.vote import AskModel, Tally, Vote

#: Rows whose votes are kept at a time: 16 bytes each for two classes.
_ROWS = 2**24


def predictions(vote: Vote, X: Any, ask: AskModel | None = None) -> Any:
    """The prediction for each row: an array on the device, or one of NumPy where the classes are not numbers."""
    answer = vote.answer
    if isinstance(answer, Classes):
        decided = [labels_on_device(answer.labels, tally.sums.argmax(axis=1)) for tally in tallies(vote, X, ask)]
    else:
        decided = [answer.decided(tally.sums) for tally in tallies(vote, X, ask)]
    return joined(decided)


def probabilities(vote: Vote, X: Any, ask: AskModel | None = None) -> Any:
    """The probability of each class, rows x classes, on the device."""
    return joined([vote.probabilities(tally) for tally in tallies(vote, X, ask)])


def tallies(vote: Vote, X: Any, ask: AskModel | None = None) -> Iterator[Tally]:
    """The votes for the rows, some of them at a time, on the device; missed rows are handed to the fallback."""
    X = checked(vote, X)
    for start in range(0, max(1, len(X)), _ROWS):
        rows = X[start : start + _ROWS]
        yield _completed(vote, rows, _added(vote, rows), None if ask is None else _from(start, ask))


def checked(vote: Vote, X: Any) -> Any:
    """Rows x columns of floats on the device."""
    import cupy as cp

    X = cp.asarray(X)
    if X.ndim != 2 or X.shape[1] != vote.rules.n_features:
        raise MismatchedDataError(
            f"X has shape {X.shape}, but the rules were made for {vote.rules.n_features} columns; give these, in order."
        )
    if (vote.rules.clauses.category >= 0).any():
        raise MismatchedDataError(
            "the rules ask for categories, which is not supported on a GPU; give the rows as a NumPy array."
        )
    return X if X.dtype in (np.float32, np.float64) else X.astype(np.float64)


def joined(parts: list[Any]) -> Any:
    """Arrays one after the other: on the device where they are, texts in the memory of the CPU."""
    if len(parts) == 1:
        return parts[0]
    if isinstance(parts[0], np.ndarray):
        return np.concatenate(parts)
    import cupy as cp

    return cp.concatenate(parts)


def labels_on_device(labels: Array, places: Any) -> Any:
    """The labels at some places; those that are not numbers come back as an array of NumPy."""
    import cupy as cp

    return cp.asarray(labels)[places] if labels.dtype.kind in "biuf" else labels[places.get()]


def _from(start: int, ask: AskModel) -> AskModel:
    """Asks about rows that are numbered from `start`."""
    return lambda rows: ask(rows + start)


def _added(vote: Vote, X: Any) -> Tally:
    """The base and the votes of the rules that cover each row, and how many these are."""
    import cupy as cp

    columns = vote.votes.shape[1]
    sums, fired = cp.empty((len(X), columns)), cp.empty(len(X), dtype=np.int32)
    if len(X):
        rows = DeviceRows(X, vote.rules.clauses.columns, tuple(vote.rules.columns.zero_missing))
        votes = cp.asarray(vote.votes), cp.asarray(vote.base), sums, fired
        launch = kernel("add_votes", votes=columns, Value=X.dtype)
        arguments = *rows.arguments, *tests_of(vote.rules.clauses, X.dtype), *votes
        launch((rows.blocks,), (rows.threads,), arguments, shared_mem=rows.tile)
    return Tally(sums, fired)


def _completed(vote: Vote, X: Any, tally: Tally, ask: AskModel | None) -> Tally:
    """The tally with the fallback's votes; the few rows that need it are fetched."""
    import cupy as cp

    odd = cp.flatnonzero((tally.fired == 0) | (vote.answer.weight(tally.sums) <= 0))
    if not odd.size:
        return tally
    few = Tally(tally.sums[odd].get(), tally.fired[odd].get())
    places = odd.get()
    done = vote.completed(few, X[odd].get().astype(np.float64), None if ask is None else lambda rows: ask(places[rows]))
    tally.sums[odd] = cp.asarray(done.sums)
    return tally
