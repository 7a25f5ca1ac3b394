"""The command line: tables for it to work on, some fifty commands, what they say and what they write."""

from __future__ import annotations

import csv
import hashlib
import io
import json
import os
import runpy
import shlex
import sys
from contextlib import chdir
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from record_text import masked, timeless

#: Commands that follow each other in a folder of their own; "< FILE" is standard input.
SESSIONS: dict[str, tuple[str, ...]] = {
    "help": ("--help", "--version", "fit --help", "explain --help", "predict --help", "export --help", "fti fruit.csv"),
    "cover of classes": (
        "fit fruit.csv -t kind --drop id --trees 8 --depth 4 --fallback all --prune -o model.json",
        "predict model.json new.csv --keep id -o answers.csv",
        "predict model.json new.csv --exact -o exact.csv",
        "predict model.json fruit.parquet --keep id -o answers.parquet",
        "predict model.json - < new.csv",
        "why model.json new.csv --row 3",
        "report model.json fruit.csv -t kind -o report.html",
        "export model.json --to sql --dialect postgres --table public.fruit --keep id",
        "export model.json --to python",
        "export model.json --to onnx -o model.onnx",
        "export model.json --to markdown",
    ),
    "formats": (
        "fit fruit.csv -t kind --drop id --trees 5 --depth 3 --vote fitted --class-weight balanced -o model.json",
        "export model.json --to javascript",
        "export model.json --to pandas",
        "export model.json --to pmml",
        "export model.json --to text",
        "export model.json --to latex",
        "export model.json --to sentences",
        "export model.json --to sql",
        "export model.json --to sql --dialect duckdb -o model.sql",
    ),
    "boosting": (
        "fit fruit.csv -t kind --drop id --method boost --calls 3 --depth 3 --rule-weights z -o z.json",
        "fit fruit.csv -t kind --drop id --method boost --preset as-in-paper --calls 2 --depth 3 -o paper.json",
        "fit fruit.csv -t kind --drop id --method boost --preset few-rules --max-rules 4 --calls 1 -o few.json",
        "predict few.json new.csv",
        "why z.json new.csv --row 1",
        "fit houses.csv -t price --method boost --calls 2 --pricing forest -o numbers.json",
        "predict numbers.json houses.csv --interval 0.9 -o numbers.csv",
    ),
    "path": (
        "fit fruit.csv -t kind --drop id --method path --max-rules 5 --cv 2 --trees 8 --forbid ripe -o model.json",
        "export model.json --to sentences",
        "why model.json new.csv --row 2",
        "fit houses.csv -t price --method path --max-rules 4 --choose last --rising rooms --trees 8 -o numbers.json",
        "predict numbers.json houses.csv",
        "fit fruit.csv -t kind --drop id --method path --keep rules.txt --choose last --trees 5 --max-rules 3",
    ),
    "cover of numbers": (
        "fit houses.csv -t price --trees 8 --depth 3 --max-rules 6 -o model.json",
        "predict model.json houses.csv --interval 0.8",
        "report model.json houses.csv -t price -o report.html",
        "export model.json --to sql --dialect sqlite",
        "fit houses.csv -t price --preset as-in-paper --trees 5 --depth 3 -o paper.json",
        "export paper.json --to text",
    ),
    "boosters": (
        "fit houses.csv -t price --model booster.json --max-rules 5 -o model.json",
        "export model.json --to text",
        "fit houses.csv -t price --model booster.txt --estimator-weights none -o other.json",
        "fit fruit.csv -t kind --model booster.json",
    ),
    "explain": (
        "explain fruit.csv -t kind --drop id --trees 8 --report report.html",
        "explain fruit.csv -t kind --drop id --trees 8 --solver exact --demand 2 --quiet",
        "explain fruit.csv -t kind --drop id --trees 8 --max-rules 4",
        "explain houses.csv -t price --trees 8",
        "explain houses.csv -t price --within 0.1 --trees 8 --max-rules 6",
        "explain - -t kind --trees 5 --solver search --fallback model < fruit.csv",
    ),
    "mistakes": (
        "explain nowhere.csv -t kind",
        "explain fruit.csv",
        "explain fruit.csv -t kidn",
        "explain fruit.csv -t kind --solver quick",
        "explain fruit.csv -t kind --trees 0",
        "fit fruit.csv -t id --task classes",
        "fit fruit.csv -t kind --method cover --calls 3",
        "fit fruit.csv -t kind --method path --forbid nothing",
        "fit empty.csv -t kind",
        "fit latin.csv -t kind",
        "fit fruit.csv -t kind -o no/such/folder.json",
        "predict fruit.csv fruit.csv",
        "predict broken.json new.csv",
        "why fruit.csv fruit.csv --row 1",
        "study mirco --data nowhere",
        "study tables --seeds 3",
    ),
    "demo": ("demo --out demo.html",),
    "study": (
        "study mirco --data tables --datasets flowers --methods DT,MIRCO --out results",
        "study rcboost --data tables --datasets flowers --methods DT --out results --resume",
        "study tables --out results",
    ),
}

#: What speaks of seconds all over, or is a picture; the numbers behind them are in other files.
_LEFT_OUT = ("models.md", "models.tex")


def recorded_session(commands: tuple[str, ...], folder: Path) -> dict[str, str]:
    """What was said, and what lies in the folder afterwards, as texts by name."""
    os.environ |= {"COLUMNS": "100", "NO_COLOR": "1", "TERM": "dumb"}
    write_tables(folder)
    before = {path: path.read_bytes() for path in _files(folder)}
    said = {f"{number:02}.txt": run(command, folder) for number, command in enumerate(commands)}
    new = (path for path in _files(folder) if before.get(path) != path.read_bytes())
    return said | {f"files/{path.relative_to(folder)}": _content(path) for path in new if path.name not in _LEFT_OUT}


def run(command: str, folder: Path) -> str:
    """A command, what it answers with on both channels, and its exit code."""
    words, _, source = command.partition(" < ")
    with chdir(folder):
        code, out, err = called(shlex.split(words), Path(source).read_bytes() if source else b"")
    out, err = masked(out, folder), masked(err, folder)
    return f"$ rulecover {command}\nexit {code}\n--- stdout\n{out}\n--- stderr\n{err}\n"


def called(arguments: list[str], given: bytes = b"") -> tuple[Any, str, str]:
    """The exit code of a command that runs inside this process, and what it said on both channels."""
    streams = [io.TextIOWrapper(io.BytesIO(begin), encoding="utf-8", newline="") for begin in (given, b"", b"")]
    before = sys.argv, sys.stdin, sys.stdout, sys.stderr
    sys.argv, (sys.stdin, sys.stdout, sys.stderr) = ["rulecover", *arguments], streams
    try:
        runpy.run_module("rulecover", run_name="__main__")
        code = None
    except SystemExit as end:
        code = end.code
    finally:
        sys.argv, sys.stdin, sys.stdout, sys.stderr = before
    return code, *map(_content_of, streams[1:])


def _content_of(stream: io.TextIOWrapper) -> str:
    stream.flush()
    written: bytes = stream.buffer.getvalue()
    return written.decode()


def _files(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*") if path.is_file())


def _content(path: Path) -> str:
    """A file as text: tables as such, seconds left out, pictures not looked at."""
    if path.suffix == ".jsonl":
        lines = [json.loads(line) for line in path.read_text().splitlines()]
        return "\n".join(sorted(json.dumps(_without_seconds(line)) for line in lines)) + "\n"
    if path.suffix == ".parquet":
        return str(pd.read_parquet(path).to_csv(index=False))
    if path.suffix == ".png":
        return "a picture\n"
    if path.suffix == ".onnx":
        return hashlib.sha256(path.read_bytes()).hexdigest() + "\n"
    text = path.read_text(encoding="utf-8")
    return _csv_without_seconds(text) if path.suffix == ".csv" else text


def _without_seconds(cell: dict[str, Any]) -> dict[str, Any]:
    return {
        name: _without_seconds(inner) if isinstance(inner, dict) else inner for name, inner in timeless(cell).items()
    }


def _csv_without_seconds(text: str) -> str:
    """The table without columns of seconds; one that has none is left as it is, to the last byte."""
    header, *rows = list(csv.reader(io.StringIO(text))) or [[]]
    kept = [place for place, name in enumerate(header) if "seconds" not in name]
    if len(kept) == len(header):
        return text
    return "".join(",".join(row[place] for place in kept) + "\n" for row in [header, *rows])


# The tables -----------------------------------------------------------------------------------------------------


def write_tables(folder: Path) -> None:
    """Writes classes and numbers to predict, boosters on the numbers, and files that are refused."""
    fruit = _fruit(np.random.default_rng(1), 160)
    fruit.to_csv(folder / "fruit.csv", index=False)
    fruit.assign(ripe=fruit["ripe"] == "true").to_parquet(folder / "fruit.parquet")
    _fruit(np.random.default_rng(2), 12).drop(columns="kind").to_csv(folder / "new.csv", index=False)
    houses = _houses(np.random.default_rng(3), 140)
    houses.to_csv(folder / "houses.csv", index=False)
    _write_boosters(houses, folder)
    (folder / "rules.txt").write_text("weight > 110\ncolour = red and weight <= 110\n")
    (folder / "empty.csv").write_text("")
    (folder / "latin.csv").write_bytes("größe,kind\n1,a\n".encode("latin-1"))
    (folder / "broken.json").write_text('{"format": "rulecover"')
    (folder / "tables").mkdir()
    _flowers(np.random.default_rng(4), 60).to_csv(folder / "tables" / "flowers.csv", index=False)


def _fruit(rng: np.random.Generator, n_rows: int) -> pd.DataFrame:
    """Numbers, texts, truths and missing cells, and a kind that they tell."""
    colour = rng.choice(["red", "green", "=1+1", ""], n_rows)
    weight = rng.normal(100, 20, n_rows).round(1)
    return pd.DataFrame(
        {
            "id": np.arange(n_rows),
            "colour": colour,
            "weight": np.where(rng.random(n_rows) < 0.1, np.nan, weight),
            "ripe": rng.choice(["true", "false"], n_rows),
            "kind": np.where((colour == "red") | (weight > 110), "=apple()", "plum"),
        }
    )


def _houses(rng: np.random.Generator, n_rows: int) -> pd.DataFrame:
    rooms, age = rng.integers(1, 8, n_rows), rng.uniform(0, 90, n_rows).round(1)
    price = 1e5 + 4e4 * rooms - 500 * age + rng.normal(scale=2e4, size=n_rows)
    return pd.DataFrame({"rooms": rooms, "age": age, "noise": rng.normal(size=n_rows), "price": price.round(2)})


def _flowers(rng: np.random.Generator, n_rows: int) -> pd.DataFrame:
    target = np.arange(n_rows) % 3
    values = rng.normal(size=(n_rows, 3)) + target[:, None] * [1.0, 0.5, 0.0]
    return pd.DataFrame(values, columns=["a", "b", "c"]).assign(target=target)


def _write_boosters(houses: pd.DataFrame, folder: Path) -> None:
    import lightgbm
    import xgboost

    X, y = houses.drop(columns="price"), houses["price"]
    xgboost.XGBRegressor(n_estimators=4, max_depth=3, n_jobs=1).fit(X, y).save_model(folder / "booster.json")
    settings = {"n_estimators": 4, "num_leaves": 6, "n_jobs": 1, "verbose": -1, "deterministic": True}
    lightgbm.LGBMRegressor(**settings).fit(X, y).booster_.save_model(folder / "booster.txt")


def study_session(names: list[str]) -> tuple[str, ...]:
    """The paper's study on some data sets of the folder "data", covers and boosting."""
    which = ",".join(names)
    return tuple(
        f"study {study} --data data --datasets {which} --methods {methods} --out results --resume --jobs 2"
        for study, methods in (("mirco", "DT,MIRCO"), ("rcboost", "RCB"))
    )
