"""What the command line warns of, and columns that it leaves out because they number the rows."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from commands import run

RNG = np.random.default_rng(0)


@pytest.fixture
def people(tmp_path: Path) -> Any:
    """A table of people, some of whom leave."""
    age, pay = RNG.normal(40, 9, 300).round(1), RNG.normal(3, 1, 300).round(3)
    leaves = np.where(age + RNG.normal(0, 6, 300) < 34, "yes", "no")
    frame = pd.DataFrame({"EmployeeNumber": 1000 + np.arange(300), "age": age, "pay": pay, "leaves": leaves})

    def written(**columns: Any) -> Path:
        path = tmp_path / "people.csv"
        frame.assign(**columns).to_csv(path, index=False)
        return path

    return written


def explain(path: Path, *options: object) -> Any:
    return run("explain", path, "--target", "leaves", "--trees", 10, "--depth", 4, *options)


def fit(path: Path, out: Path, *options: object) -> Any:
    return run("fit", path, "--target", "leaves", "--trees", 10, "--depth", 4, "-o", out, *options)


@pytest.mark.slow
def test_an_id_is_left_out_unless_it_is_asked_for(people: Any, tmp_path: Path) -> None:
    path = people()

    assert "column 'EmployeeNumber' left out: it looks like an id" in explain(path).stderr
    assert "EmployeeNumber" not in explain(path).stdout
    kept = explain(path, "--keep-ids", "--method", "cover")
    assert "left out" not in kept.stderr and "EmployeeNumber" in kept.stdout
    assert "column 'EmployeeNumber' left out" in fit(path, tmp_path / "model.json").stderr


@pytest.mark.slow
def test_ids_stay_where_nothing_else_would(tmp_path: Path) -> None:
    pd.DataFrame({"n": np.arange(60), "leaves": np.repeat(["no", "yes"], 30)}).to_csv(tmp_path / "n.csv", index=False)

    assert explain(tmp_path / "n.csv").exit_code == 0


@pytest.mark.slow
def test_a_text_column_that_tells_is_named_with_the_way_out(people: Any, tmp_path: Path) -> None:
    path = people()
    frame = pd.read_csv(path)
    path = people(gone=np.where(frame["leaves"] == "yes", "out", "in"))

    for result in (explain(path), fit(path, tmp_path / "model.json")):
        (line,) = [line for line in result.stderr.splitlines() if "alone predicts" in line]
        assert line.startswith("warning: column 'gone' alone predicts the target")
        assert line.endswith("leave it out then: --drop gone.")
    assert "alone predicts" not in explain(path, "--drop", "gone").stderr


@pytest.mark.slow
def test_a_code_for_a_column_of_two_texts_is_named(people: Any) -> None:
    code = RNG.integers(1, 3, 300)
    path = people(Sex=np.where(code == 1, "female", "male"), SexCode=code)

    warned = "warning: columns 'Sex' and 'SexCode' have two values each, which go together in every row"
    assert warned in explain(path).stderr


@pytest.mark.slow
def test_rare_classes_and_copies_of_rows_are_warned_of(people: Any) -> None:
    people()
    path = people(leaves=np.where(np.arange(300) < 6, "yes", "no"))
    copies = pd.read_csv(path)
    pd.concat([copies, copies]).to_csv(path, index=False)

    said = explain(path).stderr

    assert "only 12 of 600 rows (2 %) are of class 'yes'" in said
    assert "held-out rows" in said and "equal a training row in every column" in said
    assert "are of class" not in explain(path, "--class-weight", "balanced").stderr


@pytest.mark.slow
def test_quiet_is_quiet(people: Any) -> None:
    assert explain(people(leaves=np.where(np.arange(300) < 6, "yes", "no")), "--quiet").stderr == ""


@pytest.mark.slow
def test_a_target_that_numbers_the_rows_is_warned_of(people: Any) -> None:
    done = run("explain", people(), "--target", "EmployeeNumber", "--trees", 5)

    assert "warning: the target 'EmployeeNumber' looks like an id, which rules cannot predict" in done.stderr
