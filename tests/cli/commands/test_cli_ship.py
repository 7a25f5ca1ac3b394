"""``rulecover fit``, ``predict``, ``why`` and ``export``: from a table to a model file and back to answers."""

from __future__ import annotations

import csv
import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import pytest
from commands import fruit_folder, run, table
from exported import HOSTILE, hostile_case

from rulecover.cli.options.choices import Format, SqlDialect
from rulecover.cli.options.table import SAVED_MODEL
from rulecover.cli.tables import chunks
from rulecover.export import from_json, json_file, to_json
from rulecover.export.dialects import DIALECTS


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return fruit_folder(tmp_path_factory.mktemp("ship"))


# Fitting --------------------------------------------------------------------------------------------------------------


def test_a_fitted_model_knows_its_columns_and_levels(folder: Path) -> None:
    model = from_json((folder / "model.json").read_text())
    categories = {model.rules.feature_names[f]: set(known) for f, known in model.rules.columns.categories.items()}

    assert set(model.rules.feature_names) >= {"weight", "colour", "ripe"}
    assert "red" in categories["colour"]
    assert categories.get("ripe", {False, True}) == {False, True}


def test_the_same_table_gives_the_same_model_as_csv_as_parquet_and_on_standard_input(folder: Path) -> None:
    options = ("-t", "kind", "--drop", "id", "--trees", 10, "--method", "cover", "--preset", "as-in-paper", "-o", "-")
    by_parquet = run("fit", folder / "fruit.parquet", *options)
    by_stdin = run("fit", "-", *options, stdin=(folder / "fruit.csv").read_bytes())

    def known(text: str) -> dict[str, Any]:
        """All but the command, which names the file."""
        written = json.loads(text)
        del written["provenance"]["made_by"], written["checksum"]
        return written

    model = known((folder / "model.json").read_text())
    assert known(by_parquet.stdout) == known(by_stdin.stdout) == model


@pytest.mark.slow
def test_boosting_can_be_fitted_too(folder: Path) -> None:
    options = ("-t", "kind", "--drop", "id", "--method", "boost", "--calls", 3, "-o", folder / "boosted.json")
    done = run("fit", folder / "fruit.csv", *options, "--fallback", "all")

    assert done.exit_code == 0, done.output
    assert from_json((folder / "boosted.json").read_text()).fallback.name == "all"


# Predicting -----------------------------------------------------------------------------------------------------------


def test_answers_are_those_of_the_model(folder: Path) -> None:
    model = from_json((folder / "model.json").read_text())
    frame = pd.read_csv(folder / "fruit.csv", dtype=str, keep_default_na=False)
    X = frame.assign(
        weight=pd.to_numeric(frame["weight"]),
        colour=frame["colour"].where(frame["colour"] != ""),
        ripe=frame["ripe"].str.capitalize() == "True",
    )

    done = run("predict", folder / "model.json", folder / "fruit.csv", "--exact", "--keep", "id")

    header, *rows = table(done.stdout)
    assert header == ["id", "prediction", "probability_=apple()", "probability_plum", "rules", "decided_by"]
    assert [row[0] for row in rows] == frame["id"].tolist()
    assert [row[1] for row in rows] == model.predict(X).tolist()
    assert [[float(cell) for cell in row[2:4]] for row in rows] == model.predict_proba(X).tolist()


@pytest.mark.slow
def test_the_size_of_the_parts_changes_nothing(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = run("predict", folder / "model.json", folder / "fruit.csv", "--keep", "id")
    monkeypatch.setattr(chunks, "CELLS", 35)
    parts = run("predict", folder / "model.json", folder / "fruit.csv", "--keep", "id")

    assert parts.stdout == whole.stdout
    assert len(table(whole.stdout)) == 301


def test_csv_parquet_and_standard_input_give_the_same_answers(folder: Path) -> None:
    by_csv = run("predict", folder / "model.json", folder / "fruit.csv", "--exact")
    by_stdin = run("predict", folder / "model.json", "-", "--exact", stdin=(folder / "fruit.csv").read_bytes())
    by_parquet = run("predict", folder / "model.json", folder / "fruit.parquet", "--exact")
    to_parquet = run("predict", folder / "model.json", folder / "fruit.csv", "-o", folder / "out.parquet")
    to_file = run("predict", folder / "model.json", folder / "fruit.csv", "-o", folder / "out.csv", "--exact")

    assert by_csv.stdout == by_stdin.stdout == by_parquet.stdout == (folder / "out.csv").read_text()
    assert pd.read_parquet(folder / "out.parquet").to_csv(index=False) == by_csv.stdout
    assert (to_file.exit_code, to_file.stdout, to_parquet.exit_code) == (0, "", 0)
    assert "300 predictions written" in to_file.stderr


def test_a_formula_is_no_formula_in_what_is_written(folder: Path) -> None:
    done = run("predict", folder / "model.json", folder / "fruit.csv", "--keep", "colour", "--keep", "kind")
    cells = {cell for row in table(done.stdout) for cell in row}

    assert {"'=apple()", "'=1+1"} <= cells
    assert not [cell for cell in cells if cell.startswith(("=", "+", "@", "\t", "\r"))]


@pytest.mark.parametrize("cell", ["=1+1", "+1+1", "-1+1", "@SUM(A1)", "\tx", "-2", "+3.5", "plain", "-inf"])
def test_only_texts_that_are_formulas_are_marked(cell: str) -> None:
    from rulecover.show.spreadsheet import escape_formula

    harmless = cell in ("-2", "+3.5", "plain", "-inf")
    assert escape_formula(cell) == (cell if harmless else f"'{cell}")


@pytest.mark.slow
@pytest.mark.parametrize("hostile", HOSTILE, ids=ascii)
def test_hostile_names_of_columns_classes_and_files_are_only_names(hostile: str, tmp_path: Path) -> None:
    case = hostile_case(hostile.strip())
    model, data, out = (tmp_path / f"{hostile.replace('/', '_')[:50]}.{kind}" for kind in ("json", "csv", "out"))
    model.write_text(to_json(case.model))
    with data.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([case.rules.rules.feature_names, *case.X.tolist()])

    done = run("predict", model, data, "-o", out, "--exact")

    assert done.exit_code == 0, done.output
    _, *rows = table(out.read_text(encoding="utf-8"))
    assert [row[0] for row in rows] == case.prediction
    assert sorted(path.suffix for path in tmp_path.iterdir()) == [".csv", ".json", ".out"]


def test_a_table_without_rows_has_no_answers(folder: Path) -> None:
    header = (folder / "fruit.csv").read_text().splitlines()[0]
    done = run("predict", folder / "model.json", "-", "--exact", stdin=f"{header}\n".encode())

    assert table(done.stdout) == [["prediction", "probability_=apple()", "probability_plum", "rules", "decided_by"]]


def test_columns_that_no_rule_speaks_of_may_be_absent_and_the_order_does_not_matter(folder: Path) -> None:
    frame = pd.read_csv(folder / "fruit.csv", dtype=str, keep_default_na=False)
    shuffled = frame[["ripe", "weight", "colour"]].to_csv(index=False, sep=";")
    done = run("predict", folder / "model.json", "-", stdin=shuffled.encode())

    assert done.stdout == run("predict", folder / "model.json", folder / "fruit.csv").stdout


def test_numbers_are_read_to_the_last_bit(tmp_path: Path) -> None:
    case = hostile_case("x")
    bound = 0.1 + 0.2
    model = json.loads(to_json(case.model))
    model["rules"][0]["clauses"][0]["above"] = bound
    (tmp_path / "model.json").write_text(json.dumps(model))
    values = [np.nextafter(bound, 0), bound, np.nextafter(bound, 1)]
    text = "x,other\n" + "".join(f"{float(value)!r},9\n" for value in values)

    _, *rows = table(run("predict", tmp_path / "model.json", "-", "--edited", stdin=text.encode()).stdout)

    assert [row[3] for row in rows] == ["", "", "0"]


# Telling why, exporting -----------------------------------------------------------------------------------------------


def test_why_names_the_rules_of_a_row(folder: Path) -> None:
    _, *rows = table(run("predict", folder / "model.json", folder / "fruit.csv", "--exact").stdout)
    done = run("why", folder / "model.json", folder / "fruit.csv", "--row", 17)
    numbers = [line.split()[0] for line in done.stdout.splitlines()[4:]]

    assert done.stdout.startswith("Row 17: colour = ")
    assert f"Prediction: {rows[16][0]}" in done.stdout
    assert sorted(numbers) == sorted(rows[16][3].split(","))


@pytest.mark.parametrize("kind", Format)
def test_every_format_can_be_written(folder: Path, kind: Format) -> None:
    options = ("--dialect", "duckdb") if kind is Format.SQL else ()
    done = run("export", folder / "model.json", "--to", kind, *options, "-o", folder / f"rules.{kind}")

    assert done.exit_code == 0, done.output
    assert (folder / f"rules.{kind}").stat().st_size > 200


def test_exported_sql_gives_the_answers_of_predict(folder: Path) -> None:
    (folder / "q.sql").unlink(missing_ok=True)
    options = ("--to", "sql", "--dialect", "duckdb", "--table", "main.fruit", "--keep", "id")
    query = run("export", folder / "model.json", *options).stdout
    connection = duckdb.connect()
    connection.execute(f"CREATE TABLE fruit AS SELECT * FROM read_parquet('{folder / 'fruit.parquet'}')")
    answers = sorted(connection.execute(query).fetchall())
    _, *rows = table(run("predict", folder / "model.json", folder / "fruit.parquet", "--exact").stdout)

    assert [row[1] for row in answers] == [row[0] for row in rows]
    assert [row[2] for row in answers] == [float(row[1]) for row in rows]


def test_the_dialects_of_the_command_line_are_those_of_the_library() -> None:
    assert list(SqlDialect) == list(DIALECTS)


@pytest.mark.slow
def test_the_shell_completes_commands() -> None:
    asked = {"_RULECOVER_COMPLETE": "complete_bash", "COMP_WORDS": "rulecover pre", "COMP_CWORD": "1"}
    code = "import sys; sys.argv = ['rulecover']; from rulecover.cli.main import app; app(prog_name='rulecover')"
    done = subprocess.run(
        [sys.executable, "-c", code], env=os.environ | asked, capture_output=True, text=True, check=False
    )

    assert done.stdout.split() == ["predict"]


# Model files ----------------------------------------------------------------------------------------------------------

READERS = {
    "predict": ("fruit.csv", "--quiet"),
    "why": ("fruit.csv",),
    "report": ("fruit.csv", "-t", "kind", "-o", "-"),
    "export": ("--to", "python"),
}


@pytest.mark.parametrize("command", READERS)
def test_an_edited_model_is_refused_unless_that_is_said(folder: Path, command: str) -> None:
    options = [folder / word if word.endswith(".csv") else word for word in READERS[command]]
    text = (folder / "model.json").read_text()
    edited = folder / "edited.json"
    edited.write_text(re.sub(r'"base": \[[^]]*', '"base": [1.0, 0.0', text))
    assert edited.read_text() != text

    refused = run(command, edited, *options)
    assert refused.exit_code == 1 and "checksum" in refused.output and "--edited" in refused.output
    taken = run(command, edited, *options, "--edited")
    assert taken.exit_code == 0, taken.output


@pytest.mark.parametrize("command", READERS)
def test_a_model_beyond_the_limit_of_size_is_refused_unless_the_limit_is_raised(folder: Path, command: str) -> None:
    options = [folder / word if word.endswith(".csv") else word for word in READERS[command]]
    size = (folder / "model.json").stat().st_size / 1e6

    refused = run(command, folder / "model.json", *options, "--max-model-size", size - 1e-6)
    assert refused.exit_code == 1 and "larger than" in refused.output and "--max-model-size" in refused.output
    taken = run(command, folder / "model.json", *options, "--max-model-size", size + 1e-6)
    assert taken.exit_code == 0, taken.output


def test_the_limit_on_the_command_line_is_that_of_the_library() -> None:
    limit = next(option for option in SAVED_MODEL if option.name == "max_model_size")

    assert limit.default * 1e6 == json_file.MAX_SIZE
