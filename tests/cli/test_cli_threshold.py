"""--threshold: a recall, a precision or a cost that is asked for, chosen without the held-out rows."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from commands import run

from rulecover.export import from_json


@pytest.fixture
def rare(tmp_path: Path) -> Path:
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(800, 3)).round(2), columns=list("abc"))
    chance = 1 / (1 + np.exp(3 - 2 * X["a"] - X["b"]))
    X.assign(fraud=np.where(rng.random(800) < chance, "yes", "no")).to_csv(tmp_path / "rare.csv", index=False)
    return tmp_path / "rare.csv"


def explain(path: Path, *options: object) -> Any:
    return run("explain", path, "--target", "fraud", "--trees", 10, "--depth", 4, *options)


def recall(said: str) -> float:
    names = re.search(r"recall\s", said)
    assert names
    (line,) = [line for line in said.splitlines() if line.startswith("these rules")]
    return float(line.split()[3])


@pytest.mark.slow
@pytest.mark.parametrize("method", ["cover", "path"])
def test_more_is_found_where_it_is_asked_for(rare: Path, method: str) -> None:
    usual, asked = (explain(rare, "--method", method, *more) for more in ((), ("--threshold", "recall=0.9")))

    assert asked.exit_code == 0, asked.stderr
    assert recall(asked.stdout) > max(recall(usual.stdout), 0.7)
    assert re.search(r"'yes' is predicted from a probability of 0\.\d+ on, for recall 0.9 on 5 folds", asked.stderr)


@pytest.mark.slow
def test_a_model_file_has_the_threshold(rare: Path, tmp_path: Path) -> None:
    frame = pd.read_csv(rare)
    found = {}
    for name, more in {"usual": (), "cost": ("--threshold", "cost=10")}.items():
        result = run(
            "fit",
            rare,
            "-t",
            "fraud",
            "--method",
            "path",
            "--max-rules",
            4,
            "--trees",
            10,
            "-o",
            tmp_path / name,
            *more,
        )
        assert result.exit_code == 0, result.stderr
        found[name] = (from_json((tmp_path / name).read_text()).predict(frame) == "yes").sum()

    assert found["cost"] > found["usual"]
    assert "--threshold cost=10.0" in (tmp_path / "cost").read_text()


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ("recall=2", "recall=X, precision=X or cost=X"),
        ("f1=0.8", "recall=X, precision=X or cost=X"),
        ("recall", "recall=X, precision=X or cost=X"),
        ("cost=0", "above 0"),
    ],
)
def test_what_cannot_be_asked_for_is_refused(rare: Path, asked: str, said: str) -> None:
    result = explain(rare, "--threshold", asked)

    assert result.exit_code != 0 and said in result.stderr


@pytest.mark.slow
def test_thresholds_are_for_two_classes(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(90, 2)).round(2), columns=list("ab"))
    X.assign(fraud=np.arange(90) % 3).to_csv(tmp_path / "three.csv", index=False)
    X.assign(fraud=X["a"] * 2).to_csv(tmp_path / "numbers.csv", index=False)

    assert "two classes, but the target has 3" in explain(tmp_path / "three.csv", "--threshold", "cost=2").stderr
    assert "predicted as a number" in explain(tmp_path / "numbers.csv", "--threshold", "cost=2").stderr


def test_a_class_of_too_few_rows_for_folds_is_asked_for_on_the_training_rows(tmp_path: Path) -> None:
    rows = pd.DataFrame({"a": np.arange(60) % 13, "b": np.arange(60) % 7})
    rows.assign(fraud=np.where(np.arange(60) % 20 == 5, "yes", "no")).to_csv(tmp_path / "rows.csv", index=False)
    done = run(
        *("fit", tmp_path / "rows.csv", "-t", "fraud", "--method", "cover", "--trees", 5, "--folds", 0),
        *("--threshold", "recall=0.9", "-o", tmp_path / "model.json"),
    )
    assert done.exit_code == 0, done.output
    assert re.search(
        r"'yes' is predicted from a probability of \S+ on, for recall 0\.9 on the training rows", done.stderr
    )
