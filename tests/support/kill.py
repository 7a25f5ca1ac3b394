"""Ends work at random moments, lets it go on, and compares what comes out with work that nobody disturbed.

    python tests/support/kill.py --times 100

Every work runs in a child of this process, which has imported all it needs and computes nothing itself, so that a run
takes a fraction of a second. It is ended by SIGKILL, SIGTERM or SIGINT after a random time, or may write no more than a
few bytes, as on a full disk. Then the file that was there before must be whole, or the new one, and the cells of a
study that are done must be those of an undisturbed one. After one more run the result must be that of an undisturbed
run, with nothing else in the folder; what was in a checkpoint, or in the cells that were done, must have been used.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import resource
import shutil
import signal
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.datasets import load_iris, make_classification
from sklearn.ensemble import RandomForestClassifier

import rulecover
import rulecover.cli.commands.export
import rulecover.cli.commands.fit
import rulecover.cli.commands.predict
import rulecover.cli.commands.report
import rulecover.cli.commands.study
import rulecover.setcover.highs
from rulecover.checkpoint import Checkpoint, Entry
from rulecover.cli.main import main as command_line
from rulecover.coverage import Coverage
from rulecover.export.json_file import to_json
from rulecover.files import whole_file
from rulecover.setcover import CoveringProblem, Exact, Status
from rulecover.study import Outcome, ResultsFile

#: What ends a run; "disk" is a disk that is full.
ENDS = ("KILL", "TERM", "INT", "disk")

#: What stands in the file before.
OLD = "the old file\n"


def write(path: Path, text: str) -> None:
    with whole_file(path) as file:
        file.write(text)


def boost(folder: Path) -> None:
    X, y = make_classification(120, 6, n_informative=4, flip_y=0.2, random_state=1)
    model = rulecover.RCBoostClassifier(
        pricing="tree", max_rmp_calls=10, random_state=0, checkpoint=folder / "work.npz"
    )
    write(folder / "out", to_json(model.fit(X, y)))


def path(folder: Path) -> None:
    X, y = make_classification(150, 6, n_informative=4, flip_y=0.2, random_state=1)
    forest = RandomForestClassifier(5, max_depth=3, random_state=0)
    model = rulecover.RulePathClassifier(forest, max_rules=4, random_state=0, checkpoint=folder / "work.npz")
    write(folder / "out", to_json(model.fit(X, y)))


def cover(folder: Path) -> None:
    rng = np.random.default_rng(0)
    masks = rng.random((55, 75)) < 0.08
    masks[rng.integers(55, size=75), np.arange(75)] = True
    problem = CoveringProblem(Coverage.of_masks(masks), cost=1 + rng.random(55))
    found = Exact(effort=0.05, checkpoint=folder / "work.npz")(problem)
    if found.status == Status.OPTIMAL:  # Ctrl-C ends it as a time limit does
        write(folder / "out", json.dumps(found.rules.tolist()))


def typed(*words: object) -> None:
    sys.argv = ["rulecover", *map(str, words)]
    command_line()


def fit(folder: Path) -> None:
    words = ("--trees", 3, "--depth", 3, "--folds", 0, "--max-rules", 3, "--cv", 2)
    typed("fit", folder.parent / "rows.csv", "-t", "kind", *words, "--out", folder / "out")


def predict(folder: Path) -> None:
    typed("predict", folder.parent / "model.json", folder.parent / "rows.csv", "--out", folder / "out")


def report(folder: Path) -> None:
    typed("report", folder.parent / "model.json", folder.parent / "rows.csv", "-t", "kind", "--out", folder / "out")


def export(folder: Path) -> None:
    typed("export", folder.parent / "model.json", "--to", "python", "--out", folder / "out")


def study(folder: Path) -> None:
    words = ("--datasets", "tiny", "--methods", "DT", "--resume")
    typed("study", "mirco", "--data", folder.parent / "data", *words, "--out", folder / "out")


#: Works that leave a file; those with a checkpoint of their own go on where they were.
WORKS: dict[str, Callable[[Path], None]] = {
    each.__name__: each for each in (boost, path, cover, study, fit, predict, report, export)
}


def result(out: Path) -> object:
    """What a work has left, without what differs from run to run."""
    if out.is_file():
        return out.read_text()
    if not out.exists():
        return None
    return sorted(cells_of(out).items()), sorted(each.name for each in out.iterdir())


def cells_of(out: Path) -> dict[str, str]:
    """The figures of the cells of a study that are done."""
    return {str(cell): models_of(outcome) for cell, outcome in ResultsFile(out / "results.jsonl").done().items()}


def models_of(outcome: Outcome) -> str:
    """The figures of the models, without how long they took."""
    models = {name: dict(figures) for name, figures in outcome.models.items()}
    for figures in models.values():
        del figures["fit_seconds"], figures["predict_seconds"]
    return json.dumps(models)


# Runs -----------------------------------------------------------------------------------------------------------------


def started(work: Callable[[Path], None], folder: Path, largest: int | None = None) -> int:
    """The number of a child that does the work, and may write files of a size up to `largest`."""
    child = os.fork()
    if child:
        return child
    code = 1
    try:
        silent = os.open(os.devnull, os.O_RDWR)
        for stream in (1, 2):
            os.dup2(silent, stream)
        if largest is not None:
            resource.setrlimit(resource.RLIMIT_FSIZE, (largest, resource.RLIM_INFINITY))
        work(folder)
        code = 0
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else 0
    finally:
        os._exit(code)


def finished(child: int) -> int:
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def disturbed(work: Callable[[Path], None], folder: Path, end: str, seconds: float) -> bool:
    """Begins the work, and ends it at a random moment; whether it was not done by then."""
    if end == "disk":
        return finished(started(work, folder, largest=random.choice([0, 1, 100, 500, 1000, 5000]))) != 0
    child = started(work, folder)
    time.sleep(random.uniform(0, seconds))
    working = os.waitid(os.P_PID, child, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None
    os.kill(child, getattr(signal, f"SIG{end}"))
    finished(child)
    return working


@contextmanager
def empty(folder: Path, *, old: bool) -> Iterator[Path]:
    """The folder, with an old file in it if the work replaces one."""
    folder.mkdir()
    if old:
        (folder / "out").write_text(OLD)
    yield folder
    shutil.rmtree(folder)


@dataclass(frozen=True)
class Undisturbed:
    """What a run that nobody ends leaves, and how long it takes."""

    result: object
    cells: Mapping[str, str]
    names: list[str]
    seconds: float


def undisturbed(work: Callable[[Path], None], place: Path) -> Undisturbed | None:
    """The second of two runs, as the first may have to wait for the disk; ``None`` if the work fails."""
    for _ in range(2):
        begin = time.perf_counter()
        with empty(place / "work", old=False) as folder:
            if finished(started(work, folder)):
                return None
            seconds, out = time.perf_counter() - begin, folder / "out"
            found = Undisturbed(result(out), cells_of(out) if out.is_dir() else {}, names_in(folder), seconds)
    return found


def names_in(folder: Path) -> list[str]:
    return sorted(each.name for each in folder.iterdir())


def wrong_with_files(name: str, folder: Path, wanted: Undisturbed) -> str:
    """What is wrong with what a work left when it was ended; nothing if that is as it should be."""
    out = folder / "out"
    if name != "study":
        return "" if result(out) in (OLD, wanted.result) else "the file is neither the old nor the new one"
    cells = cells_of(out) if out.exists() else {}
    return "" if cells.items() <= wanted.cells.items() else "a cell that is done is not that of an undisturbed run"


def wrong_with_next_run(name: str, folder: Path, wanted: Undisturbed) -> str:
    """What is wrong with one more run, which must go on from what is there."""
    cells, checkpoint = lines_in(folder / "out"), folder / "work.npz"
    kept, used = checkpoint.exists(), folder.parent / "used"
    used.unlink(missing_ok=True)
    if finished(started(noting_use(WORKS[name], used), folder)):
        return "the next run fails"
    if result(folder / "out") != wanted.result:
        return "the next run has another result"
    if names_in(folder) != wanted.names:
        return f"litter: {names_in(folder)}"
    if kept and not used.exists():
        return "the next run did not use the checkpoint"
    return "" if cells <= lines_in(folder / "out") else "cells that were done were run again"


def lines_in(out: Path) -> set[str]:
    """The whole lines of a study's results, each with how long it took."""
    results = out / "results.jsonl"
    return {line for line in results.read_text().splitlines(True) if line.endswith("\n")} if results.exists() else set()


def noting_use(work: Callable[[Path], None], used: Path) -> Callable[[Path], None]:
    """The work, which leaves a file if it finds something in a checkpoint."""

    def noted(folder: Path) -> None:
        get = Checkpoint.get

        def got(self: Checkpoint, name: str) -> Entry | None:
            entry = get(self, name)
            if entry is not None:
                used.touch()
            return entry

        Checkpoint.get = got  # type: ignore[method-assign]
        work(folder)

    return noted


def tried(name: str, times: int, ends: tuple[str, ...], place: Path) -> list[str]:
    """What is wrong with a work after it was ended so often by each of these ends, before it was done."""
    wanted, wrong = undisturbed(WORKS[name], place), []
    if wanted is None:
        return [f"{name} fails undisturbed"]
    late = in_time = resumed = 0
    for end in ends:
        left = times
        for _ in range(3 * times):
            with empty(place / "work", old=name != "study") as folder:
                working = disturbed(WORKS[name], folder, end, wanted.seconds)
                resumed += (folder / "work.npz").exists() or bool(lines_in(folder / "out"))
                found = wrong_with_files(name, folder, wanted), wrong_with_next_run(name, folder, wanted)
                wrong += [f"{name}, {end}: {each}" for each in found if each]
            left -= working
            late += not working
            in_time += working
            if not left:
                break
    print(
        f"{name}: {in_time} ends before it was done and {late} after, {resumed} with something to go on from, "
        f"{len(wrong)} wrong, {wanted.seconds:.2f} s undisturbed",
        flush=True,
    )
    return wrong


def made_for_all(place: Path) -> None:
    """A table, a model of it, and the data of a study."""
    X, y = load_iris(return_X_y=True)
    rows = pd.DataFrame(X[:, :3], columns=["a", "b", "c"]).assign(kind=np.array(["x", "y", "z"])[y])
    rows.to_csv(place / "rows.csv", index=False)
    (place / "data").mkdir()
    tiny = pd.DataFrame(X[50::5], columns=[f"x{f}" for f in range(4)]).assign(target=y[50::5])
    tiny.to_csv(place / "data" / "tiny.csv", index=False)
    (place / "model").mkdir()
    assert finished(started(fit, place / "model")) == 0
    (place / "model" / "out").rename(place / "model.json")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--times", type=int, default=100, help="how often each end comes to each work")
    parser.add_argument("--works", nargs="+", choices=WORKS, default=[*WORKS])
    parser.add_argument("--ends", nargs="+", choices=ENDS, default=[*ENDS])
    parser.add_argument("--seed", type=int, default=int(time.time()))
    options = parser.parse_args()
    random.seed(options.seed)
    print(f"seed {options.seed}")
    signal.signal(signal.SIGINT, signal.default_int_handler)  # it may be ignored here
    warnings.simplefilter("ignore")
    with tempfile.TemporaryDirectory() as place:
        made_for_all(Path(place))
        wrong = [
            each for name in options.works for each in tried(name, options.times, tuple(options.ends), Path(place))
        ]
    for sentence in wrong:
        print(sentence)
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
