"""The command, run inside the tests or as a process of its own, and a table for it to work on."""

from __future__ import annotations

import csv
import io
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd
from typer.testing import CliRunner, Result

from rulecover.cli.main import app


def run(*arguments: object, stdin: bytes | None = None) -> Result:
    return CliRunner().invoke(app, words_of(arguments), input=stdin)


def process(*arguments: object, **settings: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "rulecover", *words_of(arguments)]
    return subprocess.run(command, text=True, check=False, timeout=240, **({"capture_output": True} | settings))


def words_of(arguments: Sequence[object]) -> list[str]:
    """The words; `fit` prints figures, for which it trains three times more, only where `--folds` asks for them."""
    first, *others = map(str, arguments)
    return [first, *(["--folds", "0"] if first == "fit" and "--folds" not in others else []), *others]


def table(text: str) -> list[list[str]]:
    return list(csv.reader(io.StringIO(text)))


def fruit(n: int = 300, seed: int = 0) -> pd.DataFrame:
    """Numbers, texts, truths and missing cells, and a kind that they tell."""
    rng = np.random.default_rng(seed)
    colour = rng.choice(["red", "green", "=1+1", ""], n)
    weight = rng.normal(100, 20, n).round(1)
    return pd.DataFrame(
        {
            "id": np.arange(n),
            "colour": colour,
            "weight": np.where(rng.random(n) < 0.1, np.nan, weight),
            "ripe": rng.choice(["true", "false"], n),
            "kind": np.where((colour == "red") | (weight > 110), "=apple()", "plum"),
        }
    )


def fruit_folder(folder: Path, options: Sequence[object] = ()) -> Path:
    """A folder with the table as CSV and as Parquet, and a model of it."""
    frame = fruit()
    frame.to_csv(folder / "fruit.csv", index=False)
    typed = frame.assign(ripe=frame["ripe"] == "true", colour=frame["colour"].where(frame["colour"] != "", None))
    typed.to_parquet(folder / "fruit.parquet")
    words = (
        "fit",
        folder / "fruit.csv",
        "-t",
        "kind",
        "--drop",
        "id",
        "--trees",
        10,
        "--method",
        "cover",
        "--preset",
        "as-in-paper",
    )
    done = run(*words, *options, "-o", folder / "model.json")
    assert done.exit_code == 0, done.output
    return folder
