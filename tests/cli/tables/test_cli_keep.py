"""Columns that `predict --keep` copies are copied as they are: whatever they hold, in parts of any size."""

from __future__ import annotations

import csv
import io
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from commands import fruit_folder, run, table
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from rulecover.cli.tables import chunks
from rulecover.cli.tables.labelled import NOT_KNOWN
from rulecover.show.spreadsheet import escape_formula

KEYS = [
    *NOT_KNOWN,
    " NA",
    "  x",
    "x  ",
    "   ",
    "None",
    "007",
    "1.50",
    "1e3",
    "a,b",
    ' "q"',
    "two\nlines",
    "a\r\nb",
    "\0",
    "a\0b",
]
KEYS += ["\ue000", "\ue000a", " \ue000b", "\ufeff", "-1", "=1+1", " =1+1", "\t=1", "'", '"', ", ", '", "']
TEXTS = st.sampled_from(KEYS) | st.text(st.characters(exclude_categories=["Cs"]), max_size=6)
EXAMPLES = settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return fruit_folder(tmp_path_factory.mktemp("fruit"))


@pytest.fixture(autouse=True)
def cells() -> Any:
    before = chunks.CELLS
    yield
    chunks.CELLS = before


def written(keys: list[str], separator: str = ",", end: str = "\n") -> bytes:
    file = io.StringIO(newline="")
    file.write(separator.join(["colour", "key", "weight", "ripe"]) + end)
    for k, key in enumerate(keys):
        cell = '"' + key.replace('"', '""') + '"' if set(key) & {separator, '"', "\r", "\n"} else key
        file.write(separator.join(["red", cell, str(100 + k), "true"]) + end)
    return file.getvalue().encode()


@pytest.mark.slow
@EXAMPLES
@given(
    st.lists(TEXTS, min_size=1, max_size=12),
    st.integers(4, 30),
    st.sampled_from(",;\t|"),
    st.sampled_from(["\n", "\r\n"]),
)
def test_texts_of_a_csv_file_are_kept_as_they_are(
    folder: Path, keys: list[str], size: int, separator: str, end: str
) -> None:
    (folder / "keys.csv").write_bytes(written(keys, separator, end))
    chunks.CELLS = size
    done = run("predict", folder / "model.json", folder / "keys.csv", "--exact", "--keep", "key")
    piped = run("predict", folder / "model.json", "-", "--exact", "--keep", "key", stdin=written(keys, separator, end))

    assert done.exit_code == 0, done.output
    assert [row[0] for row in csv.reader(io.StringIO(done.stdout_bytes.decode(), newline=""))] == ["key", *keys]
    assert piped.stdout_bytes == done.stdout_bytes


@pytest.mark.slow
@EXAMPLES
@given(st.lists(TEXTS | st.none(), min_size=1, max_size=12), st.integers(1, 12))
def test_texts_of_a_parquet_file_are_kept_as_they_are(folder: Path, keys: list[str | None], size: int) -> None:
    frame = pd.DataFrame({"key": pd.Series(keys, dtype=object), "colour": "red", "weight": 100.0, "ripe": True})
    frame.to_parquet(folder / "keys.parquet")
    chunks.CELLS = size
    done = run("predict", folder / "model.json", folder / "keys.parquet", "--exact", "--keep", "key")
    run("predict", folder / "model.json", folder / "keys.parquet", "--keep", "key", "--out", folder / "out.parquet")

    assert done.exit_code == 0, done.output
    assert [row[0] for row in csv.reader(io.StringIO(done.stdout_bytes.decode(), newline=""))] == [
        "key",
        *(key or "" for key in keys),
    ]
    assert [key if isinstance(key, str) else None for key in pd.read_parquet(folder / "out.parquet")["key"]] == keys


@pytest.mark.slow
@pytest.mark.parametrize("size", [1, 5, 1000])
def test_whole_numbers_with_gaps_stay_whole(folder: Path, monkeypatch: pytest.MonkeyPatch, size: int) -> None:
    monkeypatch.setattr(chunks, "CELLS", size)
    numbers = pd.array([2**53 + 1, None, 3, None, 5], dtype="Int64")
    frame = pd.DataFrame({"key": numbers, "colour": "red", "weight": [1.5, None, 3.0, 4.0, 5.0], "ripe": True})
    frame.to_parquet(folder / "numbers.parquet")
    words = ("predict", folder / "model.json", folder / "numbers.parquet", "--keep", "key", "--keep", "weight")
    rows = table(run(*words).stdout)
    run(*words, "--out", folder / "out.parquet")

    assert [row[:2] for row in rows[1:]] == [[str(2**53 + 1), "1.5"], ["", ""], ["3", "3.0"], ["", "4.0"], ["5", "5.0"]]
    back = pd.read_parquet(folder / "out.parquet", dtype_backend="numpy_nullable")
    pd.testing.assert_series_equal(back["key"], frame["key"])


@pytest.mark.slow
@pytest.mark.parametrize("column", ["weight", "colour", "key"])
def test_a_column_that_the_rules_use_is_kept_as_it_is_too(folder: Path, column: str) -> None:
    text = 'colour,key,weight,ripe\n red, a,1.50,true\nNA,?,  NA,true\n?,NA, 1e2,false\n\n   \n"","","7",true\n'
    (folder / "odd.csv").write_text(text)
    done = run("predict", folder / "model.json", folder / "odd.csv", "--exact", "--keep", column)
    plain = run("predict", folder / "model.json", folder / "odd.csv", "--exact")

    kept = {"weight": ["1.50", "  NA", " 1e2", "7"], "colour": [" red", "NA", "?", ""], "key": [" a", "?", "NA", ""]}
    assert [row[0] for row in table(done.stdout)[1:]] == kept[column]
    assert [row[1:] for row in table(done.stdout)] == table(plain.stdout)


def test_quotes_behind_blanks_are_quotes(folder: Path) -> None:
    (folder / "quoted.csv").write_text('colour, key,weight,ripe\nred, "a, ""b""",1,true\nred,  " c",1,true\n')
    done = run("predict", folder / "model.json", folder / "quoted.csv", "--exact", "--keep", "key")

    assert [row[0] for row in table(done.stdout)] == ["key", 'a, "b"', " c"]


def test_a_long_cell_is_kept_whole(folder: Path) -> None:
    (folder / "long.csv").write_bytes(written(["x" * 500_000, "y"]))
    done = run("predict", folder / "model.json", folder / "long.csv", "--exact", "--keep", "key")

    assert [len(row[0]) for row in csv_rows(done.stdout)] == [3, 500_000, 1]


def csv_rows(text: str) -> list[list[str]]:
    csv.field_size_limit(1_000_000)
    return table(text)


@pytest.mark.slow
@pytest.mark.parametrize("blank", ["", " ", "   ", "\xa0", "\0", "\ufeff", "\u3000 "])
@pytest.mark.parametrize("formula", ["=1+1", "@SUM(A1)", "+1+1", "-1+1", "\uff1d1"])
def test_no_text_runs_as_a_formula_behind_blanks(folder: Path, blank: str, formula: str) -> None:
    (folder / "formulas.csv").write_bytes(written([blank + formula, blank + "-1.5", blank + "x"]))
    done = run("predict", folder / "model.json", folder / "formulas.csv", "--keep", "key")
    kept = [row[0] for row in table(done.stdout)[1:]]

    assert kept[0] == "'" + blank + formula and kept[2] == blank + "x"
    assert escape_formula(" -1.5") == " -1.5"
