"""``rulecover certify``: what a saved model covers in a file, or the query that counts it in a database."""

from __future__ import annotations

import json
import sqlite3
import sys
import tracemalloc
from contextlib import closing
from pathlib import Path

import duckdb
import pandas as pd
import pytest
from commands import fruit_folder, run

from rulecover import certify
from rulecover.cli.tables import chunks
from rulecover.counting.certificate import TableCertificate
from rulecover.export import from_json


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return fruit_folder(tmp_path_factory.mktemp("certify"))


@pytest.mark.slow
def test_a_file_is_counted_as_a_frame_is(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(chunks, "CELLS", 400)  # many parts
    answered = run("certify", folder / "model.json", "--table", folder / "fruit.csv", "--target", "kind")
    assert answered.exit_code == 0, answered.output
    model = from_json((folder / "model.json").read_text())
    counted = certify(model, pd.read_csv(folder / "fruit.csv"), target="kind")
    assert answered.stdout.splitlines()[-1] == str(counted)
    shown = counted.to_frame().to_string(index=False, float_format="{:.3f}".format)
    assert sorted(answered.stdout.splitlines()[0].split()) == sorted(shown.splitlines()[0].split())
    assert len(answered.stdout.splitlines()) == len(counted.rules) + 3


@pytest.mark.slow
def test_names_cannot_steer_a_terminal(tmp_path: Path) -> None:
    kinds = ["ripe\u202e\x07", "green"]
    rows = pd.DataFrame({"weight\u202e\x07": range(40), "kind": [kinds[i < 20] for i in range(40)]})
    rows.to_csv(tmp_path / "rows.csv", index=False)
    fit = run("fit", tmp_path / "rows.csv", "-t", "kind", "--trees", 3, "--out", tmp_path / "model.json")
    assert fit.exit_code == 0, fit.output
    answered = run("certify", tmp_path / "model.json", "--table", tmp_path / "rows.csv", "--target", "kind")

    assert answered.exit_code == 0, answered.output
    assert "weight\\u202e\\x07 " in answered.stdout and "count_ripe\\u202e\\x07" in answered.stdout
    assert "\u202e" not in answered.output and "\x07" not in answered.output


@pytest.mark.slow
def test_columns_that_no_rule_uses_take_no_memory_for_every_row(folder: Path, tmp_path: Path) -> None:
    written = json.loads((folder / "model.json").read_text())
    written["columns"] += [f"{number} more" for number in range(200_000)]
    del written["checksum"]
    (tmp_path / "wide.json").write_text(json.dumps(written))
    tracemalloc.start()
    wide = run("certify", tmp_path / "wide.json", "--table", folder / "fruit.csv")
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()

    assert wide.stdout == run("certify", folder / "model.json", "--table", folder / "fruit.csv").stdout
    assert peak < 8 * 300 * 200_000 / 2


@pytest.mark.slow
def test_the_query_counts_the_same_in_a_database(folder: Path) -> None:
    query = run(
        "certify", folder / "model.json", "--table", "main.fruit", "--target", "kind", "--dialect", "duckdb"
    ).stdout
    frame = pd.read_csv(folder / "fruit.csv")
    database = duckdb.connect(config={"threads": 1})
    database.register("frame", frame)
    database.execute("CREATE TABLE fruit AS SELECT * FROM frame")
    rows = database.sql(query.rstrip().rstrip(";")).df().to_dict("records")
    model = from_json((folder / "model.json").read_text())
    mine, by_query = certify(model, frame, target="kind"), TableCertificate.from_rows(model.rules, rows)
    order = [by_query.labels.index(label) for label in mine.labels]
    assert by_query.counts[:, order].tolist() == mine.counts.tolist()
    assert by_query.n_missed[order].tolist() == mine.n_missed.tolist()


@pytest.mark.slow
def test_numbers_are_added_up_over_the_parts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    frame = pd.DataFrame({"x": range(60), "y": [float(i % 7 + (i > 30) * 10) for i in range(60)]})
    frame.to_csv(tmp_path / "data.csv", index=False)
    assert (
        run(
            "fit", tmp_path / "data.csv", "-t", "y", "--task", "numbers", "--trees", 5, "-o", tmp_path / "m.json"
        ).exit_code
        == 0
    )
    whole = run("certify", tmp_path / "m.json", "--table", tmp_path / "data.csv", "-t", "y").stdout
    monkeypatch.setattr(chunks, "CELLS", 20)
    assert run("certify", tmp_path / "m.json", "--table", tmp_path / "data.csv", "-t", "y").stdout == whole
    assert "60 rows" in whole
    frame.assign(y=[f"${value:.2f}" for value in frame["y"]]).to_csv(tmp_path / "dollars.csv", index=False)
    assert run("certify", tmp_path / "m.json", "--table", tmp_path / "dollars.csv", "-t", "y").stdout == whole


@pytest.mark.slow
def test_a_table_that_is_not_there_is_named(folder: Path) -> None:
    answered = run("certify", folder / "model.json", "--table", "nowhere.csv")
    assert answered.exit_code == 1
    assert "there is no file 'nowhere.csv' here" in answered.stderr


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["SQLite", "DuckDB"])
def test_a_table_is_counted_in_its_database(folder: Path, tmp_path: Path, kind: str) -> None:
    frame, path = pd.read_csv(folder / "fruit.csv"), tmp_path / "shop.db"
    if kind == "SQLite":
        with closing(sqlite3.connect(path)) as database:
            frame.to_sql("fruit", database)
    else:
        with closing(duckdb.connect(path, config={"threads": 1})) as database:
            database.register("frame", frame)
            database.execute("CREATE TABLE fruit AS SELECT * FROM frame")
    answered = run("certify", folder / "model.json", "--database", path, "--table", "main.fruit", "--target", "kind")
    assert answered.exit_code == 0, answered.output
    by_file = run("certify", folder / "model.json", "--table", folder / "fruit.csv", "--target", "kind")
    assert answered.stdout.splitlines()[-1] == by_file.stdout.splitlines()[-1]
    assert len(answered.stdout.splitlines()) == len(by_file.stdout.splitlines())
    missing = run("certify", folder / "model.json", "--database", path, "--table", "nowhere")
    assert missing.exit_code == 1
    assert "about table 'nowhere'" in missing.stderr


@pytest.mark.parametrize(
    ("database", "reason"),
    [
        ("mysql://shop", "databases of mysql:// cannot be opened here"),
        ("nowhere.db", "there is no file 'nowhere.db' here"),
        ("model.json", "is not a file of SQLite or DuckDB"),
        ("half.db", "half.db' cannot be opened by DuckDB: "),
        ("postgresql://shop:50%off@localhost/shop", "the address of PostgreSQL is not valid; write % and @ in a passw"),
        ("postgresql://localhost:1/shop", "PostgreSQL could not be reached: "),
        ("shop:secret@localhost", "there is no file of that name (it is not shown, as it may hold a password) here"),
    ],
)
def test_databases_that_cannot_be_opened_are_named(folder: Path, database: str, reason: str) -> None:
    (folder / "half.db").write_bytes(b"12345678DUCK")
    named = folder / database if database in ("model.json", "half.db") else database
    answered = run("certify", folder / "model.json", "--database", named, "--table", "fruit")
    assert answered.exit_code == 1
    assert reason in " ".join(answered.stderr.split())
    assert "50%off" not in answered.stderr and "secret" not in answered.stderr


@pytest.mark.parametrize(
    ("package", "database", "reason"),
    [
        ("duckdb", "half.db", "half.db' needs duckdb: pip install duckdb"),
        ("psycopg", "postgresql://localhost/shop", "reading PostgreSQL needs psycopg: pip install 'psycopg[binary]'"),
    ],
)
def test_a_package_that_is_not_installed_is_named(
    package: str, database: str, reason: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "half.db").write_bytes(b"12345678DUCK")
    monkeypatch.setitem(sys.modules, package, None)
    named = folder / database if database == "half.db" else database
    answered = run("certify", folder / "model.json", "--database", named, "--table", "fruit")
    assert answered.exit_code == 1
    assert reason in " ".join(answered.stderr.split())


def test_a_query_is_printed_or_run_but_not_both(folder: Path) -> None:
    answered = run("certify", folder / "model.json", "--database", "a", "--table", "b", "--dialect", "duckdb")
    assert answered.exit_code == 1
    assert "give one of them" in answered.stderr
