"""``rulecover fit`` and ``report``: every method and its options, trained boosters, and what a model is worth."""

from __future__ import annotations

from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import catboost
import lightgbm
import numpy as np
import pandas as pd
import pytest
import xgboost
from commands import fruit, fruit_folder, run, table
from exported import HOSTILE, hostile_case
from scipy.special import expit

from rulecover import explain
from rulecover.cli.options.choices import MethodName
from rulecover.cli.options.table import SETTINGS
from rulecover.estimators.rulepath import CHOICES
from rulecover.export import from_json, to_json
from rulecover.rcboost.admission import ADMISSIONS
from rulecover.rcboost.pricing.oracles import PRICINGS
from rulecover.rcboost.removal import REMOVALS


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return fruit_folder(tmp_path_factory.mktemp("fit"))


def fitted(folder: Path, *options: object) -> Any:
    out = folder / "fitted.json"
    done = run("fit", folder / "fruit.csv", "-t", "kind", "--drop", "id", "-o", out, *options)
    assert done.exit_code == 0, done.output
    return from_json(out.read_text())


# Methods and options --------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_path_is_fitted_and_its_answers_add_up(folder: Path) -> None:
    model = fitted(folder, "--method", "path", "--max-rules", 4, "--trees", 10)
    told = run("why", folder / "fitted.json", folder / "fruit.csv", "--row", 3).stdout.splitlines()
    _, *rows = table(run("predict", folder / "fitted.json", folder / "fruit.csv", "--exact").stdout)

    assert model.adds_up and 1 <= len(model.rules) <= 4
    assert told[1].startswith(f"Prediction: {rows[2][0]}, with probability ")
    votes = np.array([line.split()[1:3] for line in told[4:]], dtype=float).sum(axis=0)
    likely = expit(votes[0])  # votes are log-odds, those for one class against the other
    assert votes[0] == pytest.approx(-votes[1]) and likely == pytest.approx(float(rows[2][1]), abs=0.02)


def test_the_names_of_choices_are_those_of_the_library() -> None:
    choices = {option.name: option.kind for option in SETTINGS}

    assert choices["pricing"] == tuple(PRICINGS)
    assert choices["admit"] == tuple(ADMISSIONS)
    assert choices["remove"] == tuple(REMOVALS)
    assert choices["choose"] == tuple(CHOICES)


# Trained boosters -----------------------------------------------------------------------------------------------------


def numbers_and_texts() -> tuple[pd.DataFrame, pd.DataFrame, np.ndarray]:
    """The columns as CSV has them, and as the libraries take them; a blank in a name, a gap, a truth, a category."""
    frame = fruit(400)
    frame = frame.assign(ripe=frame["ripe"] == "true", colour=frame["colour"].replace("", "blue"))
    frame = frame.rename(columns={"weight": "net weight"})
    X = frame[["colour", "net weight", "ripe"]]
    return frame, X.assign(colour=X["colour"].astype("category")), (frame["kind"] == "plum").to_numpy(int)


def saved_by_xgboost(path: Path, X: pd.DataFrame, y: np.ndarray) -> None:
    xgboost.XGBClassifier(n_estimators=6, max_depth=3, enable_categorical=True).fit(X, y).save_model(path)


def saved_by_lightgbm(path: Path, X: pd.DataFrame, y: np.ndarray) -> None:
    lightgbm.LGBMClassifier(n_estimators=6, num_leaves=5, verbose=-1).fit(X, y).booster_.save_model(path)


def saved_by_catboost(path: Path, X: pd.DataFrame, y: np.ndarray) -> None:
    X = X.assign(colour=X["colour"].astype(str))
    settings = {"iterations": 6, "depth": 3, "one_hot_max_size": 10, "verbose": 0, "allow_writing_files": False}
    pool = catboost.Pool(X, y, cat_features=["colour"])
    catboost.CatBoostClassifier(**settings).fit(pool).save_model(str(path), format="json", pool=pool)


@pytest.mark.slow
@pytest.mark.parametrize("library", [saved_by_xgboost, saved_by_lightgbm, saved_by_catboost])
@pytest.mark.parametrize("method", ["path", "cover", "boost"])
def test_rules_of_a_trained_booster_are_chosen_by_the_table(library: Any, method: Any, tmp_path: Path) -> None:
    frame, X, y = numbers_and_texts()
    frame.to_csv(tmp_path / "fruit.csv", index=False)
    library(tmp_path / "booster.json", X, y)

    done = run(
        *("fit", tmp_path / "fruit.csv", "-t", "kind", "--method", method, "--seed", 0),
        *("--model", tmp_path / "booster.json", "-o", tmp_path / "few.json"),
    )
    answers = run("predict", tmp_path / "few.json", tmp_path / "fruit.csv", "--exact")

    assert done.exit_code == 0, done.output
    few = explain(str(tmp_path / "booster.json"), X, frame["kind"], method=method, random_state=0)
    _, *rows = table(answers.stdout)
    assert (few.rules_.clauses.category >= 0).any()
    assert [row[0] for row in rows] == few.predict(X).tolist()
    np.testing.assert_allclose([[float(cell) for cell in row[1:3]] for row in rows], few.predict_proba(X), rtol=1e-12)


@pytest.mark.slow
def test_a_booster_without_names_takes_the_columns_in_their_order(tmp_path: Path) -> None:
    frame, X, y = numbers_and_texts()
    frame.to_csv(tmp_path / "fruit.csv", index=False)
    plain = X[["net weight", "ripe"]].to_numpy(dtype=float)
    xgboost.XGBClassifier(n_estimators=4, max_depth=2).fit(plain, y).save_model(tmp_path / "booster.json")
    words = ("fit", tmp_path / "fruit.csv", "-t", "kind", "--model", tmp_path / "booster.json")

    refused = run(*words, "-o", tmp_path / "few.json")
    taken = run(*words, "-o", tmp_path / "few.json", "--drop", "id", "--drop", "colour")

    assert refused.exit_code == 1 and "2 columns without names, but the table has 4" in refused.stderr
    assert taken.exit_code == 0 and "in the order of the table" in taken.stderr
    assert "net weight" in taken.stdout


@pytest.mark.slow
def test_a_booster_of_other_columns_is_refused_by_the_name_of_one(tmp_path: Path) -> None:
    frame, X, y = numbers_and_texts()
    frame.drop(columns="ripe").to_csv(tmp_path / "fruit.csv", index=False)
    saved_by_xgboost(tmp_path / "booster.json", X, y)

    done = run("fit", tmp_path / "fruit.csv", "-t", "kind", "--model", tmp_path / "booster.json")

    assert done.exit_code == 1
    assert "booster.json was trained on the column 'ripe', which the table does not have; it has 'id'" in done.stderr


# Reports --------------------------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("method", MethodName)
def test_a_report_has_the_figures_of_the_rows_that_are_given(folder: Path, method: MethodName) -> None:
    fitted(folder, "--method", method, *(["--calls", 2] if method is MethodName.BOOST else ["--trees", 5]))
    others = fruit(120, seed=1)
    others.to_csv(folder / "others.csv", index=False)
    _, *rows = table(run("predict", folder / "fitted.json", folder / "others.csv", "--exact").stdout)
    accuracy = np.mean([row[0] for row in rows] == others["kind"].to_numpy())

    done = run("report", folder / "fitted.json", folder / "others.csv", "-t", "kind", "-o", folder / "r.html")

    assert done.exit_code == 0, done.output
    page = (folder / "r.html").read_text(encoding="utf-8")
    assert f"{accuracy:.3f}" in done.stdout and f"{accuracy:.3f}" in page
    assert "120 held-out rows" in page and "others.csv" in page
    assert page.endswith("</html>\n")


@pytest.mark.slow
def test_a_report_goes_to_standard_output_and_comes_from_standard_input(folder: Path) -> None:
    data = (folder / "fruit.csv").read_bytes()
    by_stdin = run("report", folder / "model.json", "-", "-t", "kind", "-o", "-", stdin=data)
    quiet = run("report", folder / "model.json", folder / "fruit.csv", "-t", "kind", "-o", folder / "q.html", "-q")

    assert by_stdin.stdout.startswith("<!doctype html>") and "standard input" in by_stdin.stdout
    assert quiet.output == ""


@pytest.mark.slow
def test_rows_without_an_answer_are_left_out_with_a_note(folder: Path) -> None:
    frame = fruit(50, seed=2)
    frame.loc[:9, "kind"] = None
    frame.to_csv(folder / "gaps.csv", index=False)

    done = run("report", folder / "model.json", folder / "gaps.csv", "-t", "kind", "-o", folder / "r.html")

    assert "10 rows without a value of 'kind' left out" in done.stderr
    assert "40 held-out rows" in (folder / "r.html").read_text(encoding="utf-8")


@pytest.mark.slow
@pytest.mark.parametrize("labels", [[0, 1], [-1, 7], [False, True], ["a", "b"]], ids=str)
def test_right_answers_are_read_in_the_types_of_the_model(labels: list[Any], tmp_path: Path) -> None:
    frame = fruit(200).assign(kind=lambda f: np.where(f["weight"] > 100, labels[1], labels[0]))
    for path in (tmp_path / "a.csv", tmp_path / "a.parquet"):
        frame.to_csv(path, index=False) if path.suffix == ".csv" else frame.to_parquet(path)
        run("fit", path, "-t", "kind", "--drop", "id", "--trees", 5, "-o", tmp_path / "m.json")
        done = run("report", tmp_path / "m.json", path, "-t", "kind", "-o", tmp_path / "r.html")

        assert done.exit_code == 0, done.output
        assert "1.000" in done.stdout


class Elements(HTMLParser):
    """The elements of a page and the names of their attributes, in order."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.found: list[tuple[str, list[str]]] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, [name for name, _ in attrs]))


def reported(name: str, folder: Path) -> list[tuple[str, list[str]]]:
    """The elements of the report on a model whose column, class and data file have this name."""
    case = hostile_case(name)
    (folder / "m.json").write_text(to_json(case.model))
    data = folder / f"{name.replace('/', '_')[:50]}.csv"
    frame = pd.DataFrame(case.X, columns=list(case.rules.rules.feature_names)).assign(truth=case.prediction)
    frame.to_csv(data, index=False)
    done = run("report", folder / "m.json", data, "-t", "truth", "-o", folder / "r.html")
    assert done.exit_code == 0, done.output
    return Elements((folder / "r.html").read_text(encoding="utf-8")).found


@pytest.mark.slow
@pytest.mark.parametrize("hostile", HOSTILE, ids=ascii)
def test_hostile_names_are_only_names_in_a_report(hostile: str, tmp_path: Path) -> None:
    name = hostile.strip() or f"x{hostile}x"

    assert reported(name, tmp_path) == reported("harmless", tmp_path)
