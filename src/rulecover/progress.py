"""Progress bars for long work, on standard error."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TypeVar

T = TypeVar("T")


def tracked(tasks: Iterable[T], description: str, *, total: int, verbose: int) -> Iterator[T]:
    """The same tasks, with a bar that moves as they are taken if `verbose` is above 0."""
    if not verbose:
        yield from tasks
        return
    from rich.console import Console
    from rich.progress import track

    yield from track(tasks, description, total=total, console=Console(stderr=True))
