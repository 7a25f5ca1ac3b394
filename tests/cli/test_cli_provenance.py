"""Model files and reports say where they come from."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from commands import fruit, run
from page import Page


@pytest.fixture
def table(tmp_path: Path) -> Path:
    fruit().to_csv(tmp_path / "fruit.csv", index=False)
    return tmp_path / "fruit.csv"


def fit(table: Path, out: Path, *options: object) -> None:
    result = run("fit", table, "--target", "kind", "--trees", 5, "--seed", 3, "-o", out, *options)
    assert result.exit_code == 0, result.stderr


@pytest.mark.slow
def test_the_file_has_the_command_without_what_does_not_change_the_rules(table: Path, tmp_path: Path) -> None:
    fit(table, tmp_path / "a.json", "--method", "cover", "--drop", "id", "--quiet", "--jobs", 2)
    found = json.loads((tmp_path / "a.json").read_text())["provenance"]

    assert found["made_by"].startswith(f"rulecover fit {table} --target kind")
    assert found["made_by"].endswith("--drop id --trees 5 --seed 3") and found["seed"] == 3
    fit(table, tmp_path / "b.json", "--method", "cover", "--drop", "id")
    assert (tmp_path / "a.json").read_text() == (tmp_path / "b.json").read_text()


@pytest.mark.slow
def test_a_report_on_the_training_rows_says_so(table: Path, tmp_path: Path) -> None:
    fit(table, tmp_path / "a.json")
    result = run("report", tmp_path / "a.json", table, "--target", "kind", "-o", tmp_path / "r.html")
    page = Page((tmp_path / "r.html").read_text(encoding="utf-8"))

    assert "warning: these are the rows that the rules were trained on" in result.stderr
    assert result.stdout.startswith("On the training rows")
    assert "On the training rows" in page.text and "Where these rules come from" in page.text
    assert "--seed 3" in page.text and "300, with" in page.text
    assert not re.search("held.out", page.words.replace("that were held out", ""), re.IGNORECASE)


@pytest.mark.slow
def test_a_report_of_explain_has_its_command(table: Path, tmp_path: Path) -> None:
    run("explain", table, "--target", "kind", "--trees", 5, "--report", tmp_path / "r.html", "--quiet")

    assert f"rulecover explain {table} --target kind --trees 5" in Page((tmp_path / "r.html").read_text()).text


@pytest.mark.slow
def test_rules_that_explain_saves_have_its_command(table: Path, tmp_path: Path) -> None:
    run("explain", table, "--target", "kind", "--trees", 5, "--max-rules", 3, "--save", tmp_path / "a.json", "--quiet")

    made_by = json.loads((tmp_path / "a.json").read_text())["provenance"]["made_by"]
    assert made_by == f"rulecover explain {table} --target kind --trees 5 --max-rules 3"


@pytest.mark.slow
def test_a_report_on_other_rows_does_not(table: Path, tmp_path: Path) -> None:
    fit(table, tmp_path / "a.json")
    fruit(seed=1).to_csv(tmp_path / "new.csv", index=False)
    result = run("report", tmp_path / "a.json", tmp_path / "new.csv", "--target", "kind", "-o", tmp_path / "r.html")

    assert "trained on" not in result.stderr and result.stdout.startswith("On held-out rows")
