"""Random tables and options for the command line: fit, predict, certify, why, report and export in a folder."""

from __future__ import annotations

import csv
import io
import tempfile
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from commands import run
from page import Page
from record_data import NAMES
from soak_tables import Rng, n_rows, one_of, table_of, target_of
from typer.main import get_command

from rulecover import certify
from rulecover.cli.main import app
from rulecover.export import from_json
from rulecover.voting.answers import Mean
from rulecover.voting.vote import Vote

TARGET = "the target"
#: An option without a value, and the name of a file of rules that are to be kept.
FLAG, KEPT = "", "kept.txt"
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
        "--keep-ids": (None, None, FLAG),
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
        "--min-samples": (None, 3),
        "--scoring": (None, None, "accuracy", "neg_log_loss"),
        "--forbid": (None, None, "size"),
        "--require": (None, None, None, "net weight"),
        "--keep": (None, None, None, KEPT),
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
        "--criterion": (None, "gini", "entropy"),
    },
    "boost": {
        "--calls": (1, 3),
        "--pricing": (None, "tree", "binned"),
        "--duals": (None, "vertex", "near"),
        "--early-stopping": (None, 2),
        "--rule-weights": (None, "z"),
        "--admit": (None, "best"),
        "--remove": (None, "stale"),
        "--step": (None, 0.5),
        "--fallback": (None, "all"),
        "--criterion": (None, "gini", "entropy"),
        "--on-interrupt": (None, "keep"),
    },
    "two classes": {"--threshold": (None, None, "recall=0.8", "cost=3")},
    "cover of numbers": {"--scale": (None, 2.0), "--min-samples": (None, 3, 0.1), "--ridge": (None, "none", 2)},
    "boost of numbers": {"--scale": (None, 2.0)},
    "path of an order": {"--rising": (None, None, "rate_%"), "--falling": (None, None, "net weight")},
}
_FORMATS = ("python", "javascript", "pandas", "pmml", "onnx", "text", "markdown", "latex", "sentences")
_DIALECTS = ("postgres", "sqlite", "duckdb", "bigquery", "snowflake", "spark", "tsql")


class Refused(Exception):
    """A command that ends with an error, in the words that it prints."""


def words_of_fit(rng: Rng, target: str, table: pd.DataFrame) -> list[str]:
    """A method with some of its options."""
    method = one_of(rng, ["path", "cover", "boost"])
    options = OPTIONS["all"] | OPTIONS[method] | OPTIONS.get(f"{method} of {target}", {})
    if target == "classes" and table[TARGET].nunique() == 2:
        options = options | OPTIONS["two classes"]
    if method == "path" and (target == "numbers" or table[TARGET].nunique() == 2):
        options = options | OPTIONS["path of an order"]
    given = {name: one_of(rng, values) for name, values in options.items()}
    given = {name: value for name, value in given.items() if value is not None and _is_there(name, value, table)}
    left_out = [*(_OF_CLASSES if target == "numbers" else ()), *(["--trees"] if method == "boost" else [])]
    left_out += [other for name, others in _EXCLUDE.items() for other in others if name in given]
    kept = {name: value for name, value in given.items() if name not in left_out}
    words = [word for name, value in kept.items() for word in ([name] if value == FLAG else [name, str(value)])]
    return ["--method", method, "--task", target, *words]


#: Options that name a column.
_NAMES_COLUMN = ("--forbid", "--require", "--rising", "--falling")


def _is_there(name: str, value: Any, table: pd.DataFrame) -> bool:
    """Whether the column that an option names is in the table, which may have few."""
    return name not in _NAMES_COLUMN or value in table


#: Options that classes alone have, or whose values are theirs.
_OF_CLASSES = ("--class-weight", "--vote", "--gain", "--prune", "--criterion", "--scoring")
#: Options next to which others cannot be given.
_EXCLUDE = {
    "--pool": ("--trees", "--depth", "--max-levels"),
    "--within": ("--choose",),
    "--preset": ("--prune",),
    "--keep": ("--forbid", "--rising", "--falling", "--max-clauses"),
    "--forbid": ("--keep",),
}


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
        (folder / KEPT).write_text(_rule_on(table), encoding="utf-8")
        words = [str(folder / KEPT) if word == KEPT else word for word in words]
        data, model = folder / one_of(rng, ["data.csv", "data.parquet", "data.csv.gz"]), folder / "model.json"
        table.to_parquet(data) if data.suffix == ".parquet" else table.to_csv(data, index=False)
        asked("fit", data, "--target", TARGET, *words, "--out", model, "--quiet")
        rules = from_json(model.read_text(encoding="utf-8"))
        _check_predictions(rng, rules, data, table if data.suffix == ".parquet" else as_in_text(table))
        assert "rule" in asked("certify", model, "--table", data)
        assert asked("why", model, data, "--row", int(rng.integers(1, 1 + len(table)))).strip()
        page = folder / "report.html"
        asked("report", model, data, "--target", TARGET, "--out", page, "--quiet")
        Page(page.read_text(encoding="utf-8")).asks_for_nothing()
        for to in rng.permutation(_FORMATS)[:3].tolist():
            asked("export", model, "--to", to, "--out", folder / "exported")
            assert (folder / "exported").stat().st_size > 0
        _check_explained(rng, data, words, table)
        assert "SELECT" in asked("export", model, "--to", "sql", "--dialect", one_of(rng, _DIALECTS))


def _rule_on(table: pd.DataFrame) -> str:
    """A rule on the first column of numbers, or on one of true and false."""
    numbers = list(table.drop(columns=TARGET).select_dtypes("number"))
    return f"{numbers[0]} > 0.25" if numbers else "size in {True}"


def _check_explained(rng: Rng, data: Path, words: Sequence[str], table: pd.DataFrame) -> None:
    """One time in three: what explain says, reports and saves of the same table, by the words that it knows."""
    if rng.random() > 1 / 3:
        return
    page, model = data.parent / "explained.html", data.parent / "explained.json"
    said = asked(
        "explain", data, "--target", TARGET, *_known_to_explain(words), "--report", page, "--save", model, "--quiet"
    )
    assert said.strip()
    Page(page.read_text(encoding="utf-8")).asks_for_nothing()
    rows = asked("predict", model, data)
    assert len(list(csv.reader(io.StringIO(rows)))) == 1 + len(table)


def options_of(command: str) -> dict[str, Any]:
    """The options of a command, by their long names."""
    found: Any = get_command(app)
    return {max(each.opts, key=len): each for each in found.commands[command].params if each.opts[0].startswith("-")}


def _known_to_explain(words: Sequence[str]) -> list[str]:
    """Those of the options and values that explain has, too; all its rules are meant to be read."""
    known, kept = options_of("explain"), []
    starts = [place for place, word in enumerate(words) if word.startswith("--")]
    for start, end in pairwise([*starts, len(words)]):
        name, *values = words[start:end]
        kept += [name, *values] if name in known and not {"held-out", "none"} & {*values} else []
    return kept


def as_in_text(table: pd.DataFrame) -> pd.DataFrame:
    """The table under the names that a file of text gives it: without the spaces around them."""
    return table.rename(columns=str.strip)


def _check_predictions(rng: Rng, rules: Vote, data: Path, table: pd.DataFrame) -> None:
    """Predictions are those of the model, and the rules that fired are those that certify counts."""
    out, kept = data.parent / "predictions.csv", one_of(rng, [None, *(name for name in table if _is_plain(name))])
    interval = isinstance(rules.answer, Mean) and rules.answer.squares and rng.random() < 0.5
    more = [*([] if kept is None else ["--keep", kept]), *(["--interval", 0.8] if interval else [])]
    asked("predict", data.parent / "model.json", data, "--out", out, "--exact", "--quiet", *more)
    with out.open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == len(table)
    inputs = table.drop(columns=TARGET)
    predicted = rules.predict(inputs)
    if isinstance(rules.answer, Mean):
        np.testing.assert_array_equal([float(row["prediction"]) for row in rows], predicted)
    else:
        assert [row["prediction"] for row in rows] == [str(each) for each in predicted.tolist()]
    if interval:
        ends = [[float(row[end]) for end in ("lower", "upper")] for row in rows]
        np.testing.assert_array_equal(ends, rules.predict_interval(inputs, coverage=0.8))
    assert kept is None or all(kept in row for row in rows)
    fired = np.zeros(len(rules.rules), dtype=int)
    for row in rows:
        places = [int(place) for place in row["rules"].split(",") if place]
        fired[places] += 1
    np.testing.assert_array_equal(fired, certify(rules, inputs).support)


def _is_plain(name: str) -> bool:
    """Whether a name of a column is one that a command takes as it is."""
    return name in NAMES
