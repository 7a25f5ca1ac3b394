"""The script of the report, in a real Node, answers as the model does."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from exported import Case, cases, log_odds_cases, named_case, text_case
from sklearn.datasets import load_iris
from sklearn.ensemble import RandomForestClassifier

from rulecover import Summary, explain
from rulecover.report.page_model import PredictedRows, Trial, trial_of
from rulecover.show.text import printable

#: Reads models with their rows, and writes what the page would say of each row, and of each change that it offers.
RUNNER = """
const models = JSON.parse(require("fs").readFileSync(process.argv[2], "utf8"));
const said = models.map((model) => {
  const answerer = makeAnswerer(model);
  return model.rows.map((row) => {
    const found = answerer.answer(featuresOf(model.columns, row.values));
    const offers = changes(model, answerer, row.values);
    return { prediction: found.prediction, shares: found.shares, fired: found.fired, by: found.decidedBy, offers };
  });
});
require("fs").writeFileSync(process.argv[3], JSON.stringify(said));
"""


def trial(case: Case) -> Trial:
    said = np.array(case.prediction, dtype=object)
    missed = np.array([not fired for fired in case.fired])
    found = trial_of(case.model, case.rules.rules, PredictedRows(case.X, said, said, missed), missing=True)
    assert found is not None
    return found


def by_page(folder: Path, trials: list[Trial]) -> list[list[dict[str, Any]]]:
    source = (files("rulecover.report") / "templates" / "answer.js").read_text(encoding="utf-8")
    (folder / "run.js").write_text(source + RUNNER, encoding="utf-8")
    (folder / "models.json").write_text("[" + ",".join(each.json() for each in trials) + "]", encoding="utf-8")
    subprocess.run(["node", "run.js", "models.json", "said.json"], cwd=folder, check=True, timeout=240)
    answers: list[list[dict[str, Any]]] = json.loads((folder / "said.json").read_text())
    return answers


def check(case: Case, found: Trial, answers: list[dict[str, Any]]) -> None:
    assert len(answers) == len(case.X)
    labels = found.data["labels"]
    if labels is None:
        assert [each["prediction"] for each in answers] == case.prediction
    else:
        places = [list(map(str, case.rules.answer.labels.tolist())).index(str(said)) for said in case.prediction]
        assert [each["prediction"] for each in answers] == places
        assert case.has_probabilities([each["shares"] for each in answers])
    assert [each["fired"] for each in answers] == case.fired
    assert [each["by"] for each in answers] == case.decided_by


@pytest.mark.parametrize("made", [cases, log_odds_cases])
def test_the_page_answers_as_the_model_does(made: Callable[[], list[Case]], tmp_path: Path) -> None:
    trials = [trial(case) for case in made()]

    for case, found, answers in zip(made(), trials, by_page(tmp_path, trials), strict=True):
        check(case, found, answers)


def test_a_new_fallback_of_a_known_kind_needs_no_line(new_fallbacks: list[Case], tmp_path: Path) -> None:
    trials = [trial(case) for case in new_fallbacks]

    for case, found, answers in zip(new_fallbacks, trials, by_page(tmp_path, trials), strict=True):
        check(case, found, answers)


def test_what_the_page_offers_changes_the_answer_as_it_says(tmp_path: Path) -> None:
    trials = [trial(case) for case in cases()[:60]]
    offered = 0
    for case, found, answers in zip(cases(), trials, by_page(tmp_path, trials), strict=False):
        for x, row in zip(case.X, answers, strict=True):
            for offer in row["offers"]:
                changed = x.copy()
                for step in offer["steps"]:
                    (feature,) = found.columns[step["column"]]["features"]
                    changed[feature] = np.nan if step["value"] is None else step["value"]
                said = case.rules.predict(changed[None])[0]
                labels = found.data["labels"]
                if labels is None:
                    assert said == offer["prediction"]
                else:
                    assert printable(str(said)) == labels[offer["prediction"]]
                offered += 1
    assert offered > 500


def test_nothing_that_never_was_missing_is_offered_as_missing(tmp_path: Path) -> None:
    X, y = load_iris(return_X_y=True, as_frame=True)
    model = explain(RandomForestClassifier(10, max_depth=3, random_state=0).fit(X, y), X, y, method="cover")
    found = Summary.of(model, X, y, title="Iris").trial
    assert found is not None
    (answers,) = by_page(tmp_path, [found])

    steps = [step for row in answers for offer in row["offers"] for step in offer["steps"]]
    assert len(steps) > 50 and all(step["value"] is not None for step in steps)


def test_columns_of_whole_numbers_are_offered_whole_numbers(tmp_path: Path) -> None:
    random = np.random.default_rng(0)
    X = np.column_stack([random.integers(0, 5, 300), random.normal(size=300)]).astype(float)
    y = X[:, 0] + X[:, 1] > 2
    model = explain(RandomForestClassifier(10, max_depth=4, random_state=0).fit(X, y), X, y, max_rules=6)
    found = Summary.of(model, X, y, title="Whole").trial
    assert found is not None
    (answers,) = by_page(tmp_path, [found])

    steps = [step for row in answers for offer in row["offers"] for step in offer["steps"]]
    whole = [float(step["value"]).is_integer() for step in steps if found.columns[step["column"]]["features"] == [0]]
    assert len(whole) > 20 and all(whole)


@pytest.mark.parametrize("made", [text_case, named_case])
def test_levels_and_categories_are_chosen_by_name(tmp_path: Path, made: Any) -> None:
    case, raw = made()
    found = trial(case)
    (answers,) = by_page(tmp_path, [found])

    check(case, found, answers)
    colour = next(column for column in found.columns if column["name"] == "colour")
    place = found.columns.index(colour)
    for row, given in zip(found.rows, raw, strict=True):
        chosen = colour["names"][colour["values"].index(row["values"][place])]
        wanted = "missing" if given["colour"] is None else given["colour"]
        assert chosen in (wanted, "another")
        assert (chosen == "another") == (wanted not in colour["names"])
