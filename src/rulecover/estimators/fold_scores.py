"""Scores in one fold after another, as many as there is time for, kept in a checkpoint as they come."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from typing import NamedTuple

import numpy as np

from rulecover.checkpoint import Checkpoint, Entry
from rulecover.clock import is_late
from rulecover.rulepath.sizes import SizeScores
from rulecover.typing import Ints

#: Rows to learn from, and rows to check on.
Fold = tuple[Ints, Ints]


class TimeLimits(NamedTuple):
    """When a fit began, when its path ends wherever it is, and when all its time is up, by `time.perf_counter`."""

    begin: float
    path: float | None = None
    end: float | None = None

    @classmethod
    def of(cls, time_limit: float | None, *, begin: float, shared: bool) -> TimeLimits:
        """The limits of a fit that began before its model was trained; if time is `shared`, folds get half of it."""
        if time_limit is None:
            return cls(begin)
        now = time.perf_counter()
        return cls(begin, now + time_limit / (2 if shared else 1), now + time_limit)

    @property
    def pruning(self) -> float | None:
        """When rules of a cover must be pruned: in time to choose from them, if half of all time is over by `path`."""
        return None if self.path is None or self.end is None else (self.path + self.end) / 2

    @property
    def seconds(self) -> float:
        """The seconds since the beginning."""
        return time.perf_counter() - self.begin


def check_in_time(deadline: float | None) -> None:
    """Raises if time is up."""
    if is_late(deadline):
        raise TimeoutError("time is up.")


def fold_scores(
    score: Callable[[Fold], list[SizeScores]],
    folds: Iterable[Fold],
    *,
    seconds: float,
    deadline: float | None = None,
    file: Checkpoint | None = None,
) -> tuple[list[SizeScores], int]:
    """The scores in the folds, and the number of folds that there was time for.

    Parameters
    ----------
    score
        From a fold to its scores, or to none if it has no rows; a TimeoutError if time is up.
    folds
        The folds.
    seconds
        What a fold takes, roughly; no fold is begun that would end after the deadline.
    deadline
        When time is up, by `time.perf_counter`.
    file
        Has the scores of folds that were done before, and takes the others.
    """
    scores: list[SizeScores] = []
    done = 0
    for fold in folds:
        kept = None if file is None else file.get(f"fold {done}")
        begin = time.perf_counter()
        if kept is None and deadline is not None and begin + seconds > deadline:
            break
        try:
            found = score(fold) if kept is None else [_scores(kept)]
        except TimeoutError:
            break
        seconds = max(seconds, time.perf_counter() - begin)
        if file is not None and kept is None:
            file.put({f"fold {done}": _written(one) for one in found})
        scores += found
        done += 1
    return scores, done


def _written(scores: SizeScores) -> Entry:
    return {name: np.asarray(value) for name, value in scores._asdict().items()}


def _scores(kept: Entry) -> SizeScores:
    numbers = {"model": float(kept["model"]), "model_chosen_by": float(kept["model_chosen_by"])}
    return SizeScores(score=kept["score"], fidelity=kept["fidelity"], chosen_by=kept["chosen_by"], **numbers)
