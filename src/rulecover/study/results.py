"""The results file: a JSON line for each finished cell; if the process is killed, only cells in progress are lost."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from rulecover.exceptions import StudyError

FILE = "results.jsonl"

#: How every line begins.
_BEGINNING = '{"dataset"'


@dataclass(frozen=True, order=True)
class Cell:
    """The smallest piece of a study: one method on one fold of one data set.

    Parameters
    ----------
    dataset
        The name of the data set.
    method
        The name of the method.
    seed
        It shuffles the folds and seeds the models.
    fold
        The number of the fold, from 0.
    """

    dataset: str
    method: str
    seed: int
    fold: int

    def __str__(self) -> str:
        """For messages."""
        return f"{self.method} on {self.dataset}, seed {self.seed}, fold {self.fold}"


@dataclass(frozen=True)
class Outcome:
    """The outcome of a cell.

    Parameters
    ----------
    cell
        Which one.
    data
        The checksum of the data.
    seconds
        What it took, tuning included.
    models
        For each model of the method its figures by name; empty after a failure.
    error
        What failed, if anything.
    """

    cell: Cell
    data: str
    seconds: float
    models: Mapping[str, Mapping[str, float]]
    error: str = ""


class ResultsFile:
    """Outcomes on disk.

    Parameters
    ----------
    path
        Made when the first outcome is written.
    """

    def __init__(self, path: Path) -> None:
        self.path = path

    def __iter__(self) -> Iterator[Outcome]:
        """Every outcome in the order it came; a line that was cut off when the process was killed is skipped."""
        if not self.path.exists():
            return
        with self.path.open(encoding="utf-8", errors="replace") as file:
            for number, line in enumerate(file, start=1):
                outcome = _parse_line(line, f"line {number} of {self.path}")
                if outcome is not None:
                    yield outcome

    def done(self) -> dict[Cell, Outcome]:
        """The last success of each cell.

        Returns
        -------
        dict
            From cells to outcomes.
        """
        return {outcome.cell: outcome for outcome in self if not outcome.error}

    def failed(self) -> dict[Cell, Outcome]:
        """The last failure of each cell that never succeeded.

        Returns
        -------
        dict
            From cells to outcomes.
        """
        done = self.done()
        return {outcome.cell: outcome for outcome in self if outcome.error and outcome.cell not in done}

    def append(self, outcomes: Iterable[Outcome]) -> Iterator[Outcome]:
        """The same outcomes; each is on disk before the next is asked for.

        Parameters
        ----------
        outcomes
            As they come.

        Returns
        -------
        iterator of Outcome
            It must be consumed: outcomes are written as they are asked for.
        """
        with self.path.open("a+b") as file:
            if file.tell() and not _ends_a_line(file):
                file.write(b"\n")
            for outcome in outcomes:
                record = asdict(outcome.cell) | {key: value for key, value in asdict(outcome).items() if key != "cell"}
                file.write((json.dumps(record, ensure_ascii=False) + "\n").encode())
                file.flush()
                os.fsync(file.fileno())
                yield outcome


def _ends_a_line(file: Any) -> bool:
    file.seek(-1, os.SEEK_END)
    last: bytes = file.read(1)
    return last == b"\n"


def _parse_line(line: str, place: str) -> Outcome | None:
    try:
        record = json.loads(line)
    except (ValueError, RecursionError) as error:
        begins = _BEGINNING.startswith(line.strip("\0\n")[: len(_BEGINNING)])
        if begins and isinstance(error, json.JSONDecodeError):  # cut off
            return None
        raise StudyError(f"{place} is not a result of a study ({line[:30]!r}); use another --out folder.") from error
    try:
        cell = Cell(**{key: record.pop(key) for key in ("dataset", "method", "seed", "fold")})
        outcome = Outcome(cell=cell, **record)
        figures = [value for model in outcome.models.values() for value in model.values()]
    except (AttributeError, KeyError, TypeError) as error:
        raise StudyError(f"{place} is not a result of a study ({error}); use another --out folder.") from error
    if not all(isinstance(text, str) for text in (cell.dataset, cell.method, outcome.data, outcome.error)):
        raise StudyError(f"{place} is not a result of a study (a name is not a text); use another --out folder.")
    if not all(isinstance(value, (int, float)) for value in [cell.seed, cell.fold, outcome.seconds, *figures]):
        raise StudyError(f"{place} is not a result of a study (a figure is not a number); use another --out folder.")
    return outcome


def as_frame(outcomes: Iterable[Outcome]) -> Any:
    """A line for each model of each cell, sorted, so that the order in which cells were run does not matter."""
    rows = [
        {**asdict(outcome.cell), "model": model, **figures}
        for outcome in outcomes
        for model, figures in outcome.models.items()
    ]
    if not rows:
        raise StudyError("no cell has succeeded yet, so there is no table to make.")
    keys = ["dataset", "model", "method", "seed", "fold"]
    frame = pd.DataFrame(rows).sort_values(keys, kind="stable", ignore_index=True)
    return frame[[*keys, *sorted(set(frame.columns) - set(keys))]]
