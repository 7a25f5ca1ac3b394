"""The one door to joblib."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

from joblib import Parallel, delayed, effective_n_jobs

T = TypeVar("T")
R = TypeVar("R")


def map_tasks(function: Callable[[T], R], tasks: Iterable[T], *, n_jobs: int | None = None) -> Iterator[R]:
    """The results of a function over tasks, in their order, computed by `n_jobs` threads."""
    if effective_n_jobs(n_jobs) == 1:
        return map(function, tasks)
    results: Iterator[R] = Parallel(n_jobs=n_jobs, prefer="threads", return_as="generator")(
        delayed(function)(task) for task in tasks
    )
    return results
