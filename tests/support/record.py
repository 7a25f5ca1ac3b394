"""What the package does, written down to the last bit, so that two versions of it can be compared.

    python tests/support/record.py OUT [--models 200] [--jobs 2] [--study DATA]    # record
    python tests/support/record.py --compare OUT OTHER                             # what differs; exit code 1 if any
    python tests/support/record.py --trace                                         # functions and files per journey

Only public names of the package are used, so that the same script runs before and after modules have moved. Every model
is made from its number alone, and errors are recorded as what they say. Times, addresses and the names of temporary
folders are left out.
"""

from __future__ import annotations

import argparse
import difflib
import multiprocessing
import os
import shutil
import sys
import tempfile
import time
import warnings
from collections.abc import Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

#: Data sets of the paper that take the study a minute or two.
STUDIED = ("wine", "ecoli")
#: Lines of a difference that are shown.
SHOWN = 8


def record(out: Path, *, models: int, jobs: int, study: Path | None) -> None:
    """Writes a folder for each model, each session of commands and the study."""
    from record_commands import SESSIONS

    if out.exists():
        raise SystemExit(f"{out} is there already; name another folder.")
    out.mkdir(parents=True)
    # The processes to come inherit this: sums of several threads differ in the last bit.
    os.environ |= dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
    begin = time.perf_counter()
    tasks = [(record_session, name, out / "commands") for name in SESSIONS]
    # A command may change what its process warns of or prints: each session has a process of its own.
    seconds = done_by(jobs, tasks, max_tasks_per_child=1)
    seconds += done_by(jobs, [(record_model, number, out / "models") for number in range(models)])
    if study is not None:
        record_study(study, out / "study")
    took = time.perf_counter() - begin
    print(f"{models} models, {sum(map(len, SESSIONS.values()))} commands: {took:.0f} s, {seconds:.0f} s of work")


def done_by(jobs: int, tasks: list[tuple[Any, ...]], **settings: Any) -> float:
    """Has the tasks done by this many processes, and returns the seconds of work that they took."""
    spawn = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(jobs, mp_context=spawn, **settings) as workers:
        return sum(workers.map(worked, tasks))


def worked(task: tuple[Any, ...]) -> float:
    begin = time.process_time()
    function, *arguments = task
    function(*arguments)
    return time.process_time() - begin


def record_model(number: int, out: Path) -> None:
    """Writes all that a random model says to a folder of its own; if it cannot be fitted, why."""
    from record_models import case
    from record_text import error_text, in_json, masked
    from record_views import write_views

    drawn = case(number)
    folder = out / f"{number:03} {drawn.title}"
    folder.mkdir(parents=True)
    told = {"data": drawn.data.kind, "weighted": drawn.data.weight is not None, "settings": drawn.settings}
    (folder / "settings.json").write_text(masked(in_json(told)), encoding="utf-8")
    with tempfile.TemporaryDirectory() as scratch:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                model = drawn.fit(Path(scratch))
        except Exception as error:  # what is refused is recorded, too
            (folder / "error.txt").write_text(error_text(error, Path(scratch)), encoding="utf-8")
            return
        write_views(model, drawn.data, folder, Path(scratch))


def record_session(name: str, out: Path) -> None:
    """Writes what a session of commands says and leaves behind."""
    from record_commands import SESSIONS, recorded_session

    with tempfile.TemporaryDirectory() as scratch:
        write_texts(recorded_session(SESSIONS[name], Path(scratch)), out / name)


def record_study(data: Path, out: Path) -> None:
    """Writes the cells and tables of the paper's study on two small data sets of a folder."""
    from record_commands import recorded_session, study_session

    with tempfile.TemporaryDirectory() as scratch:
        (Path(scratch) / "data").mkdir()
        for name in STUDIED:
            shutil.copy(data / f"{name}.csv", Path(scratch) / "data")
        write_texts(recorded_session(study_session(STUDIED), Path(scratch)), out)


def write_texts(texts: dict[str, str], folder: Path) -> None:
    for name, text in texts.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


# Comparing ------------------------------------------------------------------------------------------------------


def compared(one: Path, other: Path) -> int:
    """Prints the files that differ, with the first lines of each difference, and returns how many there are."""
    names = sorted(relative_files(one) | relative_files(other))
    different = [name for name in names if content(one / name) != content(other / name)]
    for name in different:
        print(name)
        print("\n".join(f"    {line}" for line in short_difference(content(one / name), content(other / name))))
    print(f"{len(different)} of {len(names)} files differ")
    return len(different)


def relative_files(folder: Path) -> set[Path]:
    if not folder.is_dir():
        raise SystemExit(f"{folder} is not a folder.")
    return {path.relative_to(folder) for path in folder.rglob("*") if path.is_file()}


def content(path: Path) -> str | None:
    return path.read_text(encoding="utf-8") if path.exists() else None


def short_difference(one: str | None, other: str | None) -> Iterable[str]:
    if one is None or other is None:
        return [f"only in the {'second' if one is None else 'first'} folder"]
    lines = [line[:200] for line in changed_lines(one, other)]
    return lines if len(lines) <= SHOWN else [*lines[:SHOWN], f"… and {len(lines) - SHOWN} lines more"]


def changed_lines(one: str, other: str) -> Iterator[str]:
    changes = difflib.unified_diff(one.splitlines(), other.splitlines(), n=0, lineterm="")
    return (line for line in changes if not line.startswith(("---", "+++", "@@")))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", nargs="?", type=Path, help="the folder to write, which must not exist")
    parser.add_argument("--models", type=int, default=200, help="how many models (200)")
    parser.add_argument("--jobs", type=int, default=2, help="processes (2)")
    parser.add_argument("--study", type=Path, metavar="DATA", help="a folder with wine.csv and ecoli.csv for the study")
    parser.add_argument("--compare", nargs=2, type=Path, metavar="DIR", help="two folders to compare")
    parser.add_argument("--trace", action="store_true", help="trace journeys through the package")
    given = parser.parse_args()
    if given.compare:
        sys.exit(1 if compared(*given.compare) else 0)
    if given.trace:
        from record_trace import traced

        print(traced(), end="")
    elif given.out is None:
        parser.error("name the folder to write, or give --compare or --trace.")
    else:
        record(given.out, models=given.models, jobs=given.jobs, study=given.study)


if __name__ == "__main__":
    main()
