"""A messy table from end to end: fitted, asked, and exported to databases that hold the table itself."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import pytest
from commands import run, table
from mixed_tables import mixed_table, odd_rows

from rulecover import MIRCOClassifier, RuleSet
from rulecover.cli.options.choices import MethodName
from rulecover.data.columns import Columns
from rulecover.export import from_json, to_json
from rulecover.export.exported import vote_of


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("mixed")
    known, y = mixed_table(250, 3)
    known.assign(answer=y, name=[f"row {k}" for k in range(250)]).to_csv(made / "known.csv", index=False)
    rows = pd.concat([mixed_table(60, 4)[0], odd_rows(known)], ignore_index=True)
    rows["grade"] = rows["grade"].where(rows["grade"] != "never seen", 9)
    rows.to_csv(made / "rows.csv", index_label="id")
    for method in MethodName:
        words = ("--trees", 10) if method is not MethodName.BOOST else ("--calls", 1)
        done = run("fit", made / "known.csv", "-t", "answer", "--method", method, *words, "-o", made / f"{method}.json")
        assert done.exit_code == 0, done.output
        assert "column 'hired' holds dates (year-month-day)" in done.stderr
        assert "column 'name' left out: it has 250 different texts" in done.stderr
    return made


def in_database(connection: Any, rows: Any, query: str) -> list[tuple[Any, ...]]:
    """What a query gives for a table with these cells."""
    names = ", ".join(f'"{name}" {kind_of(rows[name])}' for name in rows)
    connection.execute(f"CREATE TABLE data ({names})")
    cells = rows.astype(object).where(rows.notna(), None).itertuples(index=False, name=None)
    connection.executemany(f"INSERT INTO data VALUES ({', '.join('?' * rows.shape[1])})", list(cells))
    return sorted(connection.execute(query).fetchall())


def kind_of(column: Any) -> str:
    if column.name in ("paid", "id"):
        return "BOOLEAN" if column.name == "paid" else "INTEGER"
    return "DOUBLE" if pd.api.types.is_numeric_dtype(column) else "VARCHAR"


@pytest.mark.slow
@pytest.mark.parametrize("method", MethodName)
@pytest.mark.parametrize("dialect", ["sqlite", "duckdb"])
def test_a_database_answers_as_predict_does(method: MethodName, dialect: str, folder: Path) -> None:
    rows = pd.read_csv(folder / "rows.csv")
    connection = sqlite3.connect(":memory:") if dialect == "sqlite" else duckdb.connect()

    words = ("export", folder / f"{method}.json", "--to", "sql", "--dialect", dialect, "--keep", "id")
    found = in_database(connection, rows, run(*words).stdout.rstrip("; \n"))
    _, *predicted = table(run("predict", folder / f"{method}.json", folder / "rows.csv", "--keep", "id").stdout)

    assert [(str(row[0]), row[1], row[-2]) for row in found] == [(row[0], row[1], row[-2]) for row in predicted]
    np.testing.assert_allclose([row[2] for row in found], [float(row[2]) for row in predicted], rtol=1e-13)


@pytest.mark.slow
def test_rules_are_about_the_columns_of_the_table(folder: Path) -> None:
    text = run("export", folder / "cover.json", "--to", "text").stdout
    query = run("export", folder / "cover.json", "--to", "sql", "--dialect", "sqlite").stdout

    assert "over, time = Yes" in text and "over, time = No" in text
    assert "\"over, time\" = 'Yes'" in query and "\"over, time\" <> 'Yes'" in query


@pytest.mark.slow
def test_the_report_and_why_speak_of_the_table(folder: Path) -> None:
    words = (folder / "cover.json", folder / "known.csv")
    done = run("report", *words, "-t", "answer", "-o", folder / "report.html")
    why = run("why", *words, "--row", 1)

    assert done.exit_code == why.exit_code == 0, done.output + why.output
    assert "over, time = " in (folder / "report.html").read_text()
    assert "over, time = " in why.stdout


@pytest.mark.slow
def test_a_level_and_a_gap_that_were_never_seen_have_a_route(folder: Path) -> None:
    row = dict.fromkeys(mixed_table(10, 0)[0].columns, "")
    lines = [row | {"colour": "pink", "hired": "1931-05-06"}, row, row | {"paid": "TRUE", "over, time": "Never"}]
    pd.DataFrame(lines).to_csv(folder / "odd.csv", index=False)

    done = run("predict", folder / "path.json", folder / "odd.csv")

    assert done.exit_code == 0, done.output
    assert len(table(done.stdout)) == 4


# Files of the first version, in which levels are 0/1 columns ----------------------------------------------------------


@pytest.fixture
def old_model(tmp_path: Path) -> Path:
    """A file of version 1: rules on 0/1 columns that stand for colours."""
    X = np.array([[5.0, 1, 0, 0], [6.0, 0, 1, 0], [7.0, 0, 0, 1], [8.0, 0, 0, 0]] * 5)
    names = ("weight", "colour = red", "colour = blue", "colour = (missing)")
    rules = RuleSet.of_intervals(
        [{1: (0.5, np.inf)}, {1: (-np.inf, 0.5), 2: (-np.inf, 0.5)}, {2: (0.5, np.inf)}], names
    )
    vote = vote_of(MIRCOClassifier.as_in_paper(estimator=rules, fallback="majority").fit(X, X[:, 1]))
    levels = {1: ("colour", "red"), 2: ("colour", "blue"), 3: ("colour", "(missing)")}
    old = type(vote)(
        RuleSet(vote.rules.clauses, Columns(names, levels=levels), evidence=vote.rules.evidence),
        vote.votes,
        vote.answer,
        vote.totals,
        vote.fallback,
    )
    written = json.loads(to_json(old)) | {"version": 1}
    del written["checksum"]
    path = tmp_path / "old.json"
    path.write_text(json.dumps(written))
    return path


def test_why_writes_dates_as_dates(tmp_path: Path) -> None:
    days = pd.Series(pd.date_range("2020-01-01", periods=60, freq="20D")).mask(np.arange(60) % 9 == 4)
    late = np.where(days.dt.year > 2021, "late", "early")
    pd.DataFrame({"hired": days, "answer": late}).to_parquet(tmp_path / "rows.parquet")
    words = ("fit", tmp_path / "rows.parquet", "-t", "answer", "--trees", 5, "-o", tmp_path / "model.json")
    assert run(*words).exit_code == 0

    shown, missing = (run("why", tmp_path / "model.json", tmp_path / "rows.parquet", "--row", row) for row in (1, 5))

    assert "Row 1: hired = 2020-01-01" in shown.output
    assert "Row 5: hired = missing" in missing.output


def test_a_file_of_the_first_version_still_predicts(old_model: Path) -> None:
    rows = "weight,colour\n5,red\n6,blue\n7,\n8,green\n"
    done = run("predict", old_model, "-", stdin=rows.encode())

    assert [row[-2] for row in table(done.stdout)[1:]] == ["1", "2", "0", "0"]


@pytest.mark.slow
def test_rules_of_the_first_version_can_be_kept(old_model: Path, tmp_path: Path) -> None:
    colours = ["red", "blue", "", "green"] * 10
    rows = "".join(f"{5 + k % 7},{colour},{int(colour == 'red')}\n" for k, colour in enumerate(colours))
    (tmp_path / "new.csv").write_text(f"weight,colour,y\n{rows}")
    words = ("--method", "path", "--max-rules", 4, "--trees", 5, "--keep", old_model, "-o", tmp_path / "new.json")

    done = run("fit", tmp_path / "new.csv", "-t", "y", *words)
    kept = from_json((tmp_path / "new.json").read_text()).rules

    assert done.exit_code == 0, done.output
    assert [rule.exact for rule in kept][:3] == [
        "(colour not in {blue, red} or missing)",
        "colour = red",
        "colour = blue",
    ]


@pytest.mark.slow
@pytest.mark.parametrize("method", [*MethodName])
def test_a_single_cell_that_is_not_a_date_does_not_stop_folds_without_it(method: MethodName, tmp_path: Path) -> None:
    dates = [f"2024-01-{1 + k % 20:02d}" for k in range(60)]
    data, words = tmp_path / "dates.csv", ("--trees", 10) if method is not MethodName.BOOST else ("--calls", 1)
    kind = np.arange(60) % 2
    pd.DataFrame({"when": ["unknown", *dates[1:]], "size": kind + np.arange(60) % 3, "kind": kind}).to_csv(data)
    done = run("fit", data, "-t", "kind", "--method", method, *words, "--folds", 3, "-o", tmp_path / "model.json")
    assert done.exit_code == 0, done.output
    assert "In 3-fold cross-validation" in done.output
