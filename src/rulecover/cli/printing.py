"""What the command line prints: results on standard output, notes and bars on standard error."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Literal, TypeVar

from rich import box
from rich.console import Console
from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn
from rich.table import Table as RichTable
from rich.text import Text

from rulecover.cli.provenance import by_command
from rulecover.files import is_standard_output
from rulecover.report.report import report_html, write_report
from rulecover.report.summary import Summary
from rulecover.report.words import (
    check_columns,
    class_table,
    figures_in_words,
    path_in_words,
    proved_in_words,
    score_table,
    summary_in_words,
    votes_in_words,
)
from rulecover.rules.grid import rule_grid
from rulecover.rules.ruleset import RuleSet
from rulecover.show.grid import Grid
from rulecover.show.text import printable

T = TypeVar("T")


def is_stdout(out: Path) -> bool:
    """Whether the result goes to standard output, where nothing else may be printed then."""
    return str(out) == "-" or is_standard_output(out)


class Bars:
    """Progress bars of one run; nothing where standard error is not a terminal."""

    def __init__(self, progress: Progress | None) -> None:
        self._progress = progress

    @property
    def shown(self) -> bool:
        return self._progress is not None

    def over(self, tasks: list[T], description: str) -> Iterator[T]:
        """The tasks, with a bar that moves as they are done."""
        if self._progress is None:
            yield from tasks
            return
        yield from self._progress.track(tasks, description=description)

    @contextmanager
    def spinning(self, description: str) -> Iterator[None]:
        """A bar without an end, for work that does not say how far it is."""
        if self._progress is None:
            yield
            return
        task = self._progress.add_task(description, total=None)
        yield
        self._progress.update(task, total=1, completed=1)


class Printer:
    """Prints for a terminal in colour and folded to its width, and elsewhere as plain lines.

    Parameters
    ----------
    quiet
        Whether to print the rules alone.
    out, err
        Where to print; the standard streams by default.
    """

    def __init__(self, *, quiet: bool = False, out: Console | None = None, err: Console | None = None) -> None:
        self._quiet = quiet
        self._out = out or Console(highlight=False)
        self._err = err or Console(stderr=True, highlight=False)

    def say(self, text: str, style: str = "") -> None:
        """A line on standard output, as it is: brackets are not markup, and nothing is cut off."""
        if not self._quiet:
            self._line(self._out, text, style)

    def notes(self, notes: Iterable[str]) -> None:
        """What was done to the data, on standard error."""
        for note in () if self._quiet else notes:
            self._line(self._err, f"note: {printable(note)}", "dim")

    def warnings(self, warnings: Iterable[str]) -> None:
        """What people should know before they trust the rules, on standard error."""
        for warning in () if self._quiet else warnings:
            self._line(self._err, f"warning: {printable(warning)}", "yellow")

    def summary(self, summary: Summary) -> None:
        """The rules, their scores next to the forest's, and the certificate in words."""
        self.say(f"{printable(summary.title)}: {summary_in_words(summary)}\n")
        self.rules(summary.rules, summary.votes[1:], {} if self._quiet else check_columns(summary))
        self.say("")
        self.figures(summary)
        proved = proved_in_words(summary)
        if proved:
            self.say("\nWhat is proved", "bold")
        for sentence in proved:
            self.say(sentence)

    def figures(self, summary: Summary) -> None:
        """The scores of the rules on held-out rows, next to those of other models."""
        self.say(f"On {'' if summary.checked_rows == 'held-out rows' else 'the '}{summary.checked_rows}", "bold")
        self.say(score_table(summary.scores))
        by_class = class_table(summary)
        if by_class:
            self.say(f"\nThese rules by class, with 95 % intervals\n{by_class}\n")
        self.say(" ".join([*figures_in_words(summary), *votes_in_words(summary), *path_in_words(summary)]))

    def report(self, summary: Summary, path: Path) -> None:
        """Writes the HTML report and says where it is; - is standard output."""
        summary = by_command(summary)
        if is_stdout(path):
            sys.stdout.write(report_html(summary))
            return
        write_report(summary, path)
        self.say(f"\nReport written to {path}; open it in a browser.")

    @contextmanager
    def bars(self) -> Iterator[Bars]:
        """Progress bars on standard error, if it is a terminal."""
        if self._quiet or not self._err.is_terminal:
            yield Bars(None)
            return
        columns = SpinnerColumn(), TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn()
        with Progress(*columns, console=self._err, transient=True) as progress:
            yield Bars(progress)

    def rules(
        self,
        rules: RuleSet,
        votes: Sequence[Sequence[float]] = (),
        more: Mapping[str, Sequence[str]] | None = None,
    ) -> None:
        """The rules, in a table, with more columns of cells if there are any."""
        grid = rule_grid(rules, votes, more)
        if self._out.is_terminal:
            self._out.print(_folding_table(grid))
        else:
            self._line(self._out, grid.text(), "")

    @staticmethod
    def _line(console: Console, text: str, style: str) -> None:
        # A terminal folds between words; a file gets each line whole.
        lines = "\n".join(map(printable, text.split("\n")))
        console.print(Text(lines, style=style), soft_wrap=not console.is_terminal)


def _folding_table(grid: Grid) -> RichTable:
    """A table that folds long rules to the width of the terminal, cutting nothing off."""
    table = RichTable(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False)
    for place, (name, right) in enumerate(zip(grid.head, grid.right, strict=True)):
        style = "bold" if place == 1 and len(grid.head) > 2 else ""
        justify: Literal["right", "left"] = "right" if right else "left"
        table.add_column(name, justify=justify, no_wrap=right, overflow="ellipsis" if right else "fold", style=style)
    for row in grid.rows:
        table.add_row(*(Text(cell) for cell in row))
    return table
