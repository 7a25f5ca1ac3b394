"""The only module that imports joblib."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from typing import TypeVar

from joblib import Parallel, delayed, effective_n_jobs
from joblib.externals.loky import ProcessPoolExecutor
from joblib.externals.loky.process_executor import BrokenProcessPool

T = TypeVar("T")
R = TypeVar("R")


def n_workers(n_jobs: int | None) -> int:
    """The number of workers; -1 is one for each core."""
    return int(effective_n_jobs(n_jobs))


def map_tasks(function: Callable[[T], R], tasks: Iterable[T], *, n_jobs: int | None = None) -> Iterator[R]:
    """The results of a function over tasks, in their order, computed by `n_jobs` threads."""
    if n_workers(n_jobs) == 1:
        return map(function, tasks)
    results: Iterator[R] = Parallel(n_jobs=n_jobs, prefer="threads", return_as="generator")(
        delayed(function)(task) for task in tasks
    )
    return results


class Died(Exception):
    """A task without a result: its process ended before it was done, or it could not be sent to one."""


def in_processes(
    function: Callable[[T], R], tasks: Sequence[T], *, n_jobs: int, apart: bool = False
) -> Iterator[tuple[T, R | Died]]:
    """Tasks and their results as they come, computed by `n_jobs` processes.

    A process that dies (killed, out of memory, crashed in compiled code) takes nothing but its own task with it: the
    tasks that ran at the same time are run again, one at a time, to find out which one is to blame.

    Parameters
    ----------
    function, tasks
        Both are sent to the processes, so they must be picklable; functions of interactive sessions are.
    n_jobs
        How many; -1 takes every core. With 1 the tasks run here, unless they are to be `apart`.
    apart
        Whether these tasks need processes of their own even if one job is enough.
    """
    jobs = max(1, min(n_workers(n_jobs), len(tasks)))
    if jobs == 1 and not apart:
        yield from ((task, function(task)) for task in tasks)
        return
    waiting = list(reversed(tasks))
    while waiting:
        suspects: list[T] = []
        yield from _until_one_dies(function, waiting, jobs, suspects)
        for suspect in suspects:
            again: list[T] = []
            yield from _until_one_dies(function, [suspect], 1, again)
            yield from ((task, Died("the process died: killed, out of memory, or crashed.")) for task in again)


def _until_one_dies(
    function: Callable[[T], R], waiting: list[T], jobs: int, suspects: list[T]
) -> Iterator[tuple[T, R | Died]]:
    """Takes tasks off the end of `waiting`; if a process dies, those in flight become `suspects`."""
    running: dict[Future[R], T] = {}
    # Idle workers end by themselves: none is left for long where this process was killed.
    executor = ProcessPoolExecutor(jobs, timeout=30)
    try:
        while waiting or running:
            while waiting and len(running) < jobs:
                task = waiting.pop()
                running[executor.submit(function, task)] = task
            for future in wait(running, return_when=FIRST_COMPLETED).done:
                result = _result(future)
                yield running.pop(future), result
    except BrokenProcessPool:
        suspects += running.values()
    finally:
        executor.shutdown(wait=not suspects, kill_workers=True)


def _result(future: Future[R]) -> R | Died:
    try:
        return future.result()
    except BrokenProcessPool:
        raise
    except Exception as error:
        message = " ".join(str(error).split())
        return Died(f"{type(error).__name__}, on the way to or from the process: {message}")
