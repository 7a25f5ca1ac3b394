"""Work that is ended at a random moment leaves whole files, and goes on; `make test-kill` does it a hundred times."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import kill
import numpy as np
import pytest

from rulecover.checkpoint import Checkpoint, fingerprint

KILL = Path(kill.__file__)


@pytest.mark.slow
@pytest.mark.parametrize("end", kill.ENDS)
@pytest.mark.parametrize(
    "works", [("boost", "path", "cover"), ("fit", "predict", "report", "export"), ("study",)], ids=" ".join
)
def test_work_that_is_ended_at_any_moment_leaves_whole_files_and_goes_on(works: tuple[str, ...], end: str) -> None:
    """The seed of the moments is printed with what is wrong."""
    words = ("--times", "1", "--ends", end, "--works", *works)
    done = subprocess.run([sys.executable, KILL, *words], capture_output=True, text=True, check=False)

    assert done.returncode == 0, done.stdout + done.stderr


# Works that do what they must not, which is noticed -------------------------------------------------------------------


def deletes_the_old_file(folder: Path) -> None:
    (folder / "out").unlink(missing_ok=True)
    time.sleep(0.2)
    (folder / "out").write_text("new")


def writes_bit_by_bit(folder: Path) -> None:
    with (folder / "out").open("w") as file:
        for _ in range(20):
            time.sleep(0.01)
            file.write("new")
            file.flush()


def leaves_litter(folder: Path) -> None:
    (folder / "litter").write_text("")
    time.sleep(0.2)
    (folder / "out").write_text("new")
    (folder / "litter").unlink()
    (folder / f"litter{time.time()}").write_text("")


def ignores_its_checkpoint(folder: Path) -> None:
    file = Checkpoint(folder / "work.npz", "sums", fingerprint({}))
    file.put({"first": {"total": np.array(3)}})
    time.sleep(0.2)
    replaced = folder / "replaced"
    replaced.write_text("new")
    replaced.rename(folder / "out")
    file.remove()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("work", "sentence"),
    [
        (deletes_the_old_file, "the file is neither the old nor the new one"),
        (writes_bit_by_bit, "the file is neither the old nor the new one"),
        (leaves_litter, "litter"),
        (ignores_its_checkpoint, "the next run did not use the checkpoint"),
    ],
)
def test_what_must_not_be_left_is_noticed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, work: Callable[[Path], None], sentence: str
) -> None:
    monkeypatch.setitem(kill.WORKS, "bad", work)

    assert any(sentence in each for each in kill.tried("bad", 5, ("KILL",), tmp_path))


def line(seed: int, *, seconds: float, figure: float) -> str:
    models = {"DT": {"accuracy": figure, "fit_seconds": seconds, "predict_seconds": seconds}}
    cell = {"dataset": "tiny", "method": "DT", "seed": seed, "fold": 0}
    return json.dumps(cell | {"data": "", "models": models, "seconds": seconds}) + "\n"


def runs_cells_again(folder: Path) -> None:
    (folder / "out").mkdir(exist_ok=True)
    with (folder / "out" / "results.jsonl").open("w") as file:
        for seed in range(10):
            file.write(line(seed, seconds=time.time(), figure=1.0))
            file.flush()
            time.sleep(0.02)


def writes_other_figures_first(folder: Path) -> None:
    (folder / "out").mkdir(exist_ok=True)
    (folder / "out" / "results.jsonl").write_text(line(0, seconds=1.0, figure=0.0))
    time.sleep(0.3)
    (folder / "out" / "results.jsonl").write_text(line(0, seconds=1.0, figure=1.0))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("work", "sentence"),
    [
        (runs_cells_again, "cells that were done were run again"),
        (writes_other_figures_first, "a cell that is done is not that of an undisturbed run"),
    ],
)
def test_what_a_study_must_not_leave_is_noticed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, work: Callable[[Path], None], sentence: str
) -> None:
    monkeypatch.setitem(kill.WORKS, "study", work)

    assert any(sentence in each for each in kill.tried("study", 5, ("KILL",), tmp_path))
