"""Exported JavaScript in a real Node answers as the model does."""

from __future__ import annotations

import json
import math
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from exported import (
    HOSTILE,
    Case,
    all_but,
    cases,
    coded_cases,
    hostile_case,
    log_odds_cases,
    named_case,
    text_case,
    truth_case,
)
from mixed_models import mixed_models

from rulecover.export import conditions, to_javascript

#: Reads [[source, rows], …] and writes the answers: numbers as JSON has them, which is bit for bit.
RUNNER = """
const fs = require("fs");
const jobs = JSON.parse(fs.readFileSync(process.argv[2], "utf8"));
const answers = jobs.map(([source, rows]) => {
  const module = { exports: {} };
  new Function("module", source)(module);
  return rows.map((row) => {
    try {
      return module.exports.predict(row);
    } catch (error) {
      return { error: error.name + ": " + error.message };
    }
  });
});
const left = Object.keys(globalThis).filter((name) => name === "owned");
fs.writeFileSync(process.argv[3], JSON.stringify({ answers, left }));
"""


def by_node(folder: Path, jobs: list[tuple[str, list[dict[str, Any]]]]) -> list[list[dict[str, Any]]]:
    """The answers of one Node process to all jobs."""
    (folder / "run.js").write_text(RUNNER)
    (folder / "jobs.json").write_text(json.dumps(jobs, allow_nan=False))
    subprocess.run(["node", "run.js", "jobs.json", "answers.json"], cwd=folder, check=True, timeout=120)
    done = json.loads((folder / "answers.json").read_text())
    assert done["left"] == []
    return done["answers"]


def known(case: Case) -> list[dict[str, float | None]]:
    return [{name: None if math.isnan(value) else value for name, value in row.items()} for row in case.rows()]


def check(case: Case, answers: list[dict[str, Any]]) -> None:
    assert [each["prediction"] for each in answers] == case.prediction
    assert [each["rules"] for each in answers] == case.fired
    assert [each["decided_by"] for each in answers] == case.decided_by
    if case.probabilities is not None:
        assert case.has_probabilities([each["probabilities"] for each in answers])


@pytest.mark.parametrize("made", [cases, log_odds_cases])
def test_exported_javascript_answers_as_the_model_does(made: Callable[[], list[Case]], tmp_path: Path) -> None:
    jobs = [(to_javascript(case.model), known(case)) for case in made()]

    for case, answers in zip(made(), by_node(tmp_path, jobs), strict=True):
        check(case, answers)


def test_models_of_mixed_tables_answer_as_they_do_here(tmp_path: Path) -> None:
    jobs = [(to_javascript(each.model), each.plain(each.as_exported)) for each in mixed_models()]

    for each, answers in zip(mixed_models(), by_node(tmp_path, jobs), strict=True):
        assert [answer["prediction"] for answer in answers] == each.prediction
        assert [answer["rules"] for answer in answers] == each.fired
        if each.probabilities is not None:
            assert each.has_probabilities([answer["probabilities"] for answer in answers])


def test_all_categories_but_some_are_the_others(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(conditions, "conditions_of", all_but)
    jobs = [(to_javascript(case.model), known(case)) for case in coded_cases()]

    for case, answers in zip(coded_cases(), by_node(tmp_path, jobs), strict=True):
        check(case, answers)


def test_hostile_names_of_columns_and_classes_are_only_names(tmp_path: Path) -> None:
    names = [*HOSTILE, '"; globalThis.owned = 1; "', "'; globalThis.owned = 1; '", "`${globalThis.owned = 1}`"]
    hostile = [hostile_case(name) for name in names]
    sources = [to_javascript(case.model) for case in hostile]

    assert not any("</script" in source or "<!--" in source for source in sources)
    jobs = [(source, known(case)) for source, case in zip(sources, hostile, strict=True)]
    for case, answers in zip(hostile, by_node(tmp_path, jobs), strict=True):
        check(case, answers)


@pytest.mark.parametrize("made", [text_case, named_case, truth_case])
def test_levels_and_categories_are_read_from_the_text(tmp_path: Path, made: Any) -> None:
    case, raw = made()
    (answers,) = by_node(tmp_path, [(to_javascript(case.model), raw)])

    check(case, answers)


@pytest.mark.parametrize("row", [{"other": 1}, {"age": "12", "other": 1}, {"age": [], "other": 1}], ids=str)
def test_a_row_that_is_no_row_is_an_error_and_no_answer(tmp_path: Path, row: dict[str, Any]) -> None:
    ((answer,),) = by_node(tmp_path, [(to_javascript(hostile_case("age").model), [row])])

    assert "TypeError" in answer["error"] and "age" in answer["error"]


def test_not_a_number_is_missing_as_null_is(tmp_path: Path) -> None:
    source = to_javascript(hostile_case("age").model)
    both = source.replace("module.exports = { predict }", "module.exports = { predict: (row) => predict(row.nan) }")
    spelled = both.replace("predict(row.nan)", "predict({ age: NaN, other: 2.5 })")
    ((by_nan,), (by_null,)) = by_node(tmp_path, [(spelled, [{}]), (source, [{"age": None, "other": 2.5}])])

    assert by_nan == by_null
