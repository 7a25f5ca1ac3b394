"""A target with one value: every method gives a rule that always holds, and every command takes it."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from commands import run, table

from rulecover.cli.options.choices import Format, MethodName
from rulecover.export import from_json

FEW = {MethodName.COVER: ["--trees", 5], MethodName.BOOST: ["--calls", 2], MethodName.PATH: ["--trees", 5]}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("single")
    rng = np.random.default_rng(0)
    columns = {"a": rng.normal(size=40), "colour": rng.choice(["red", "blue"], 40)}
    pd.DataFrame(columns | {"y": "yes"}).to_csv(made / "classes.csv", index=False)
    pd.DataFrame(columns | {"y": 3.5}).to_csv(made / "numbers.csv", index=False)
    return made


@pytest.mark.slow
@pytest.mark.parametrize(("task", "answer"), [("classes", "yes"), ("numbers", 3.5)])
@pytest.mark.parametrize("method", MethodName)
def test_one_answer_is_one_rule_for_every_command(method: MethodName, task: str, answer: object, folder: Path) -> None:
    model, data = folder / f"{method}-{task}.json", folder / f"{task}.csv"
    fitted = run("fit", data, "-t", "y", "--task", task, "--method", method, *FEW[method], "-o", model)
    _, *rows = table(run("predict", model, data).stdout)
    told = run("why", model, data, "--row", 3).stdout
    reported = run("report", model, data, "-t", "y", "-o", folder / "report.html")

    assert fitted.exit_code == reported.exit_code == 0, fitted.output + reported.output
    assert [rule.text for rule in from_json(model.read_text()).rules] == ["always"]
    assert len(rows) == 40 and {row[0] for row in rows} == {str(answer)}
    assert told.startswith(f"Row 3: the rules use no column\nPrediction: {answer}") and "always" in told
    assert "Try a row" in (folder / "report.html").read_text(encoding="utf-8")


@pytest.mark.slow
@pytest.mark.parametrize(("task", "answer"), [("classes", "yes"), ("numbers", 3.5)])
def test_a_path_without_rules_is_exported_to_every_format(task: str, answer: object, folder: Path) -> None:
    model, data = folder / "path.json", folder / f"{task}.csv"
    run("fit", data, "-t", "y", "--task", task, "--method", "path", "--trees", 5, "-o", model)
    for kind in Format:
        out = folder / f"always.{kind}"
        options = ("--dialect", "sqlite", "--table", "rows") if kind is Format.SQL else ()
        done = run("export", model, "--to", kind, *options, "-o", out)
        assert done.exit_code == 0, done.output

    found: dict[str, object] = {}
    exec((folder / "always.python").read_text(), found)
    rows = sqlite3.connect(":memory:")
    rows.execute("CREATE TABLE rows AS SELECT 1 AS a")
    assert found["predict"]({})["prediction"] == answer  # type: ignore[operator]
    assert rows.execute((folder / "always.sql").read_text()).fetchone()[0] == answer
    assert json.loads(model.read_text())["rules"][0]["clauses"] == []
