"""What ``rulecover study`` does once its words are understood: methods, cells with a bar, tables."""

from __future__ import annotations

import os
import runpy
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from rulecover.cli.errors import CommandError
from rulecover.study import DATASETS, METHODS, ResultsFile, Study, load, study
from rulecover.study.report import write_tables
from rulecover.study.results import FILE
from rulecover.study.suites import SUITES


def run_study(
    which: str,
    *,
    own: Path | None,
    jobs: int,
    methods: list[str] | None,
    out: Path,
    datasets: list[str] | None,
    **settings: Any,
) -> None:
    """Runs the cells that are not done, then writes tables and figures."""
    # Cells are the parallel part; threads inside them would fight for the cores. Workers inherit this.
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    console = Console(stderr=True, highlight=False)
    names = [*(SUITES[which] if methods is None else methods), *_registered_by(own)]
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", UserWarning)
        planned = study(names, out=out, datasets=list(DATASETS) if datasets is None else datasets, **settings)
    for sentence in dict.fromkeys(str(warning.message) for warning in caught):
        console.print(f"note: {sentence}", markup=False)
    failures = _run(planned, jobs, console)
    _write(planned.file, out, planned.data, console)
    if failures:
        raise CommandError(
            f"{failures} cells failed, see {out / 'failures.md'}; all others are kept, and --resume tries these again."
        )


def make_tables(out: Path, folder: Path | None, datasets: Sequence[str] | None) -> None:
    """Writes tables and figures of the results that are there."""
    file = ResultsFile(out / FILE)
    if not file.path.exists():
        raise CommandError(f"there is no file {str(file.path)!r}; run a study first, or name its folder with --out.")
    names = [] if folder is None else (datasets or [name for name in DATASETS if (folder / f"{name}.csv").exists()])
    _write(file, out, {name: load(name, folder) for name in names}, Console(stderr=True, highlight=False))


def _registered_by(file: Path | None) -> list[str]:
    """The methods that a Python file registers."""
    if file is None:
        return []
    if not file.is_file():
        raise CommandError(f"there is no file {str(file)!r} with methods; --with takes a Python file.")
    before = dict(METHODS)
    # Run as a script: what is defined in it is sent to the worker processes whole.
    runpy.run_path(str(file), run_name="__main__")
    new = [name for name, method in METHODS.items() if before.get(name) is not method]
    if not new:
        raise CommandError(f"{str(file)!r} registers no method; it should call rulecover.study.register.")
    return new


def _run(planned: Study, jobs: int, console: Console) -> int:
    """Runs all cells under a bar whose time left goes by the size of the data; returns the number of failures."""
    failures = 0
    weights = {task.cell: task.weight for task in planned.tasks}
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.fields[done]} of {task.fields[cells]} cells"),
        TimeElapsedColumn(),
        TextColumn("left"),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=console, speed_estimate_period=600) as progress:
        bar = progress.add_task("study", total=sum(weights.values()), done=0, cells=len(weights))
        for done, outcome in enumerate(planned.run(n_jobs=jobs), start=1):
            cell = outcome.cell
            progress.update(bar, advance=weights[cell], done=done, description=f"{cell.dataset} {cell.method}")
            if outcome.error:
                failures += 1
                console.print(f"failed: {cell}: {outcome.error}", markup=False)
    return failures


def _write(file: ResultsFile, out: Path, data: Any, console: Console) -> None:
    written, notes = write_tables(file, out, data)
    for note in notes:
        console.print(f"note: {note}", markup=False)
    Console(highlight=False).print(f"{len(written)} tables and figures in {out}: {', '.join(written)}", markup=False)
