"""Random tables and options for the command line: fit, predict, certify, why, report and export in a folder."""

from __future__ import annotations

import csv
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from commands import run
from page import Page
from soak_tables import Rng, n_rows, one_of, table_of, target_of

from rulecover import certify
from rulecover.export import from_json

TARGET = "the target"
#: Options of `fit` by method, each with values to draw from; None leaves it out.
OPTIONS: dict[str, dict[str, Sequence[Any]]] = {
    "all": {
        "--seed": (None, 1, 7),
        "--trees": (3, 8),
        "--depth": (None, 3),
        "--class-weight": (None, None, "balanced"),
        "--folds": (0, 0, 2),
        "--time-limit": (None, 1000),
        "--jobs": (None, 2),
        "--max-levels": (None, 3),
    },
    "path": {
        "--max-rules": (None, 4),
        "--choose": (None, "last", "best", "one-se"),
        "--within": (None, None, 0.05),
        "--cv": (None, 2),
        "--vote": (None, "fitted", "log-odds"),
        "--gain": (None, "squares"),
        "--bins": (None, None, 4),
        "--pool": (None, None, "both"),
        "--max-clauses": (None, 2),
        "--model-share": (None, 0, 1),
        "--tries": (None, 0),
        "--max-depth": (None, 2),
        "--shrinkage": (None, 3),
        "--ridge": (None, 2),
    },
    "cover": {
        "--max-rules": (None, 3, "none"),
        "--solver": (None, "greedy"),
        "--demand": (None, 2),
        "--prune": (None, "yes", "no", "held-out"),
        "--fallback": (None, "closest", "all"),
        "--impurity-weight": (None, 0.5),
        "--length-weight": (None, 0.1),
        "--preset": (None, None, "as-in-paper"),
    },
    "boost": {
        "--calls": (1, 3),
        "--pricing": (None, "tree", "binned"),
        "--duals": (None, "vertex"),
        "--early-stopping": (None, 2),
        "--rule-weights": (None, "z"),
        "--admit": (None, "best"),
        "--remove": (None, "stale"),
        "--step": (None, 0.5),
        "--fallback": (None, "all"),
    },
}
_FORMATS = ("python", "javascript", "pandas", "pmml", "onnx", "text", "markdown", "latex", "sentences")
_DIALECTS = ("postgres", "sqlite", "duckdb", "bigquery", "snowflake", "spark", "tsql")


class Refused(Exception):
    """A command that ends with an error, in the words that it prints."""


def words_of_fit(rng: Rng, target: str) -> list[str]:
    """A method with some of its options."""
    method = one_of(rng, ["path", "cover", "boost"])
    given = {name: one_of(rng, values) for name, values in (OPTIONS["all"] | OPTIONS[method]).items()}
    given = {name: value for name, value in given.items() if value is not None}
    left_out = [*(_OF_CLASSES if target == "numbers" else ()), *(["--trees"] if method == "boost" else [])]
    left_out += [other for name, others in _EXCLUDE.items() for other in others if name in given]
    kept = {name: value for name, value in given.items() if name not in left_out}
    return ["--method", method, "--task", target, *(str(word) for pair in kept.items() for word in pair)]


#: Options that classes alone have.
_OF_CLASSES = ("--class-weight", "--vote", "--gain", "--prune")
#: Options next to which others cannot be given.
_EXCLUDE = {"--pool": ("--trees", "--depth", "--max-levels"), "--within": ("--choose",), "--preset": ("--prune",)}


def drawn_table(rng: Rng, target: Any) -> pd.DataFrame:
    """Numbers, words, dates and gaps, and what is to be predicted."""
    table = table_of(rng, max(20, n_rows(rng)), words=True, dates=True, hostile=True)
    y = target_of(rng, table, target, codes=False)
    return table.assign(**{TARGET: y})


def asked(*words: object) -> str:
    """What a command prints; an error if it ends with one."""
    done = run(*words)
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        raise done.exception
    if done.exit_code != 0:
        raise Refused(f"rulecover {' '.join(map(str, words))}: {done.output.strip()}")
    return done.output


def check_commands(table: pd.DataFrame, words: Sequence[str], seed: int) -> None:
    """Fits rules to a file, and asks every other command about them."""
    rng = np.random.default_rng(seed)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        data, model = folder / one_of(rng, ["data.csv", "data.parquet", "data.csv.gz"]), folder / "model.json"
        table.to_parquet(data) if data.suffix == ".parquet" else table.to_csv(data, index=False)
        asked("fit", data, "--target", TARGET, *words, "--out", model, "--quiet")
        rules = from_json(model.read_text(encoding="utf-8"))
        _check_predictions(rules, data, model, table if data.suffix == ".parquet" else as_in_text(table))
        assert "rule" in asked("certify", model, "--table", data)
        assert asked("why", model, data, "--row", int(rng.integers(1, 1 + len(table)))).strip()
        page = folder / "report.html"
        asked("report", model, data, "--target", TARGET, "--out", page, "--quiet")
        Page(page.read_text(encoding="utf-8")).asks_for_nothing()
        for to in rng.permutation(_FORMATS)[:3].tolist():
            asked("export", model, "--to", to, "--out", folder / "exported")
            assert (folder / "exported").stat().st_size > 0
        assert "SELECT" in asked("export", model, "--to", "sql", "--dialect", one_of(rng, _DIALECTS))


def as_in_text(table: pd.DataFrame) -> pd.DataFrame:
    """The table under the names that a file of text gives it: without the spaces around them."""
    return table.rename(columns=str.strip)


def _check_predictions(rules: Any, data: Path, model: Path, table: pd.DataFrame) -> None:
    """Predictions are one for each row, and the rules that fired are those that certify counts."""
    out = data.parent / "predictions.csv"
    asked("predict", model, data, "--out", out, "--exact", "--quiet")
    with out.open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == len(table)
    fired = np.zeros(len(rules.rules), dtype=int)
    for row in rows:
        places = [int(place) for place in row["rules"].split(",") if place]
        fired[places] += 1
    np.testing.assert_array_equal(fired, certify(rules, table.drop(columns=TARGET)).support)
