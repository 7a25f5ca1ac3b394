"""How long the rest of a study takes, judged by its cells so far."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import timedelta
from statistics import fmean

from rulecover.study.results import Outcome
from rulecover.study.run import Study


class Pace:
    """The seconds that each method takes per row, from the cells that are done, including earlier runs.

    Parameters
    ----------
    planned
        The cells to come, and the file of those that are done.
    """

    def __init__(self, planned: Study) -> None:
        self._rows = {name: len(data.y) for name, data in planned.data.items()}
        self._left = {task.cell for task in planned.tasks}
        self._taken: dict[str, list[float]] = {}
        self._note(planned.file.done().values())

    def _note(self, outcomes: Iterable[Outcome]) -> None:
        for outcome in outcomes:
            rows = self._rows.get(outcome.cell.dataset)
            if rows and outcome.seconds > 0:
                self._taken.setdefault(outcome.cell.method, []).append(outcome.seconds / rows)

    def left_after(self, outcome: Outcome, jobs: int) -> timedelta:
        """The time that is left for `jobs` processes; methods that have not begun count as average ones."""
        self._left.discard(outcome.cell)
        self._note([outcome])
        rates = {method: fmean(taken) for method, taken in self._taken.items()}
        usual = fmean(rates.values()) if rates else 0.0
        seconds = sum(rates.get(cell.method, usual) * self._rows[cell.dataset] for cell in self._left)
        return timedelta(seconds=round(seconds / jobs))
