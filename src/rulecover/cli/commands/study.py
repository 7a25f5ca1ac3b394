"""``rulecover study``: the paper's numerical study, run, resumed and extended."""

from __future__ import annotations

import os
import runpy
import warnings
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

from rulecover import study as studies
from rulecover.cli.errors import CommandError
from rulecover.cli.options.choices import StudyName
from rulecover.cli.options.option import Option
from rulecover.cli.options.parsers import LARGEST_SEED
from rulecover.cli.options.table import STUDY
from rulecover.parallel import n_workers
from rulecover.show.text import printable
from rulecover.study import DATASETS, METHODS, ResultsFile, Study, load
from rulecover.study.datasets import check_names
from rulecover.study.pace import Pace
from rulecover.study.report import write_tables
from rulecover.study.results import FILE
from rulecover.study.suites import SUITES

_KEPT = "results so far are kept; the same command with --resume continues."

#: Options of `rulecover study tables`.
_OF_TABLES = ("which", "out", "data", "datasets")


def study(
    *,
    which: StudyName,
    data: Path | None,
    datasets: list[str] | None,
    out: Path,
    methods: list[str] | None,
    seeds: list[str] | None,
    **run: Any,
) -> None:
    """Runs the cells of a study that are not done yet, or makes tables of those that are."""
    if data is not None and data.exists() and out.exists() and out.samefile(data):
        raise CommandError(
            f"--out and --data are the same folder, {str(out)!r}, and tables could overwrite data; name another --out."
        )
    if which is StudyName.TABLES:
        _check_for_tables(run | {"methods": methods, "seeds": seeds, "data": data, "datasets": datasets})
        make_tables(out, data, _names("--datasets", datasets))
        return
    run_study(
        which.value,
        methods=_names("--methods", methods),
        out=out,
        datasets=_names("--datasets", datasets),
        folder=data,
        seeds=[_seed(text) for text in _names("--seeds", seeds) or ["25"]],
        **run,
    )


def _check_for_tables(typed: dict[str, Any]) -> None:
    options = [each for each in STUDY if isinstance(each, Option) and each.name in typed]
    for option in options:
        if option.name not in _OF_TABLES and option.is_given(typed[option.name]):
            raise CommandError(
                f"{option.spelled} is for runs, and tables runs nothing: it takes --out, and --data for S.1."
            )
    if typed["datasets"] and typed["data"] is None:
        raise CommandError(
            "--datasets says which data sets of --data are described in Table S.1; name that folder too."
        )


def _names(option: str, texts: list[str] | None) -> list[str] | None:
    if not texts:
        return None
    names = [name.strip() for text in texts for name in text.split(",") if name.strip()]
    if not names:
        raise CommandError(f"{option} {texts[0]!r} has no names; separate names by commas, or leave it out.")
    return names


def _seed(text: str) -> int:
    if not text.isdecimal() or int(text) > LARGEST_SEED:
        raise CommandError(f"--seeds takes whole numbers below 2^32, separated by commas, not {text!r}.")
    return int(text)


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
    own_names = _methods_registered_by(own)
    names = [*(SUITES[which] if methods is None else methods), *own_names]
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", UserWarning)
        planned = studies.study(names, out=out, datasets=list(DATASETS) if datasets is None else datasets, **settings)
    for sentence in dict.fromkeys([*(str(warning.message) for warning in caught), *_notes_on_kept(planned, own_names)]):
        console.print(printable(f"note: {sentence}"), markup=False)
    failures = _run(planned, jobs, console)
    _write(planned.file, out, planned.data, console)
    if failures:
        raise CommandError(
            f"{failures} cells failed, see {out / 'failures.md'}; all others are kept, and --resume tries these again."
        )


def make_tables(out: Path, folder: Path | None, datasets: Sequence[str] | None) -> None:
    """Writes tables and figures of the results so far."""
    file = ResultsFile(out / FILE)
    if not file.path.exists():
        raise CommandError(f"there is no file {str(file.path)!r}; run a study first, or name its folder with --out.")
    data = {}
    if folder is not None:
        check_names(datasets or [], folder)
        there = sorted({cell.dataset for cell in file.done() if (folder / f"{cell.dataset}.csv").exists()})
        data = {name: load(name, folder) for name in datasets or there}
    _write(file, out, data, Console(stderr=True, highlight=False))


def _methods_registered_by(file: Path | None) -> list[str]:
    """The methods that a Python file registers."""
    if file is None:
        return []
    if not file.is_file():
        raise CommandError(f"there is no file {str(file)!r} with methods; --with takes a Python file.")
    before = dict(METHODS)
    try:
        # Run as a script: what is defined in it is sent to the worker processes whole.
        runpy.run_path(str(file), run_name="__main__")
    except (Exception, SystemExit) as error:
        raise CommandError(f"{str(file)!r} cannot be run: {type(error).__name__}: {error}") from error
    new = [name for name, method in METHODS.items() if before.get(name) is not method]
    if not new:
        raise CommandError(f"{str(file)!r} registers no method; it should call rulecover.study.register.")
    return new


def _notes_on_kept(planned: Study, own: Sequence[str]) -> list[str]:
    """A sentence for each method of one's own that has results already."""
    done = Counter(cell.method for cell in planned.file.done())
    return [
        f"{done[name]} cells of {name!r} are done already and are kept; if the method has changed, name another --out."
        for name in own
        if done[name]
    ]


def _run(planned: Study, jobs: int, console: Console) -> int:
    """Runs all cells under a bar; returns the number of failures."""
    failures, pace = 0, Pace(planned)
    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        TextColumn("{task.completed:.0f} of {task.total:.0f} cells"),
        TimeElapsedColumn(),
        TextColumn("{task.fields[left]}"),
    )
    with Progress(*columns, console=console) as progress:
        bar = progress.add_task("study", total=len(planned.tasks), left="")
        try:
            for outcome in planned.run(n_jobs=jobs):
                cell, left = outcome.cell, pace.left_after(outcome, n_workers(jobs))
                progress.update(
                    bar, advance=1, description=printable(f"{cell.dataset} {cell.method}"), left=f"left {left}"
                )
                if outcome.error:
                    failures += 1
                    console.print(printable(f"failed: {cell}: {outcome.error}"), markup=False)
        except OSError as error:
            raise CommandError(f"{planned.file.path}: {error.strerror}; {_KEPT}") from error
        except KeyboardInterrupt:
            console.print(f"stopped; {_KEPT}", markup=False)
            raise
    return failures


def _write(file: ResultsFile, out: Path, data: Any, console: Console) -> None:
    written, notes = write_tables(file, out, data)
    for note in notes:
        console.print(printable(f"note: {note}"), markup=False)
    said = printable(f"{len(written)} tables and figures in {out}: {', '.join(written)}")
    Console(highlight=False).print(said, markup=False)
