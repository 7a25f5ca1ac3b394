"""The reader and the table of OR-Library's set covering problems, on made-up files."""

from __future__ import annotations

import csv
import gzip
import runpy
import sys
from pathlib import Path

import numpy as np
import pytest
from strategies import dense

SCRIPT = Path(__file__).parents[2] / "experiments" / "orlib.py"
BY_ROW = " 3 4 \n 5 1 2 \n 7 \n 2 \n 1 3 \n 1 \n 2 \n 3 \n 2 3 4 \n"
BY_COLUMN = "3 4\n5 1 1\n1 2 2 3\n2 2 1 3\n7 1 3\n"
MATRIX = [[1, 0, 1, 0], [0, 1, 0, 0], [0, 1, 1, 1]]


@pytest.fixture
def orlib() -> dict[str, object]:
    return runpy.run_path(str(SCRIPT))


@pytest.mark.parametrize("packed", [True, False])
@pytest.mark.parametrize(("name", "text"), [("scp1", BY_ROW), ("rail1", BY_COLUMN)])
def test_files_list_rows_or_columns(orlib, tmp_path, name, text, packed):
    path = tmp_path / f"{name}.txt{'.gz' * packed}"
    path.write_bytes(gzip.compress(text.encode()) if packed else text.encode())
    problem = orlib["read"](path)
    assert dense(problem).tolist() == MATRIX
    assert problem.cost.tolist() == [5, 1, 2, 7]


@pytest.mark.parametrize(("text", "message"), [(BY_ROW + " 1 1", "11 numbers where 9"), (BY_ROW[:-12], "ends early")])
def test_a_file_of_the_wrong_length_is_refused(orlib, tmp_path, text, message):
    path = tmp_path / "scp1.txt"
    path.write_text(text)
    with pytest.raises(ValueError, match=message):
        orlib["read"](path)


def test_the_command_writes_results_and_a_table(tmp_path, monkeypatch):
    (tmp_path / "scp1.txt").write_text(BY_ROW)
    (tmp_path / "rail1.txt.gz").write_bytes(gzip.compress(BY_COLUMN.encode()))
    out = tmp_path / "results.csv"
    for names in ("scp1,rail1", "rail1"):  # the second run takes the place of a part of the first
        options = ["--data", str(tmp_path), "--limits", "5", "--out", str(out), "--instances", names]
        monkeypatch.setattr(sys, "argv", [str(SCRIPT), *options])
        runpy.run_path(str(SCRIPT), run_name="__main__")
    with out.open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert sorted({(row["instance"], row["solver"]) for row in rows}) == sorted(
        (name, solver) for name in ("scp1", "rail1") for solver in ("Greedy", "HiGHS", "Search", "Exact")
    )
    assert len(rows) == 8
    assert np.unique([row["cost"] for row in rows]).tolist() == ["3"]
    assert "| scp1 | 3 x 4 |" in out.with_suffix(".md").read_text()
