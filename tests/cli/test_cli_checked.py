"""What is checked is what is saved, and what is saved comes with cross-validated figures."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from commands import run
from sklearn.ensemble import RandomForestClassifier
from sklearn.frozen import FrozenEstimator
from sklearn.model_selection import train_test_split

from rulecover import RulePathClassifier
from rulecover.cli.cross_validated import cross_validated, folds_of_table
from rulecover.cli.tables.labelled import Table
from rulecover.export import from_json

WORDS = ("-t", "y", "--trees", 6, "--depth", 4)


def rows() -> pd.DataFrame:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(240, 3)).round(2), columns=list("abc"))
    frame["y"] = np.where(frame["a"] + frame["b"] + rng.normal(0, 0.6, 240) > 0.5, "yes", "no")
    return frame


@pytest.fixture
def table(tmp_path: Path) -> Path:
    rows().to_csv(tmp_path / "rows.csv", index=False)
    return tmp_path / "rows.csv"


@pytest.mark.slow
def test_the_rules_that_were_checked_are_saved(table: Path, tmp_path: Path) -> None:
    done = run("explain", table, *WORDS, "--save", tmp_path / "model.json")
    frame = rows()
    X_train, X_test, y_train, _ = train_test_split(
        frame[list("abc")], frame["y"], test_size=0.25, random_state=0, stratify=frame["y"]
    )
    forest = RandomForestClassifier(6, max_depth=4, random_state=0).fit(X_train, y_train)
    path = RulePathClassifier(FrozenEstimator(forest), max_rules=15, random_state=0).fit(X_train, y_train)

    saved = from_json((tmp_path / "model.json").read_text())
    assert done.exit_code == 0, done.output
    assert f"The {len(path.rules_)} rules above, as they were checked, written to" in done.stdout
    assert [rule.text for rule in saved.rules] == [rule.text for rule in path.rules_]
    np.testing.assert_array_equal(saved.predict(X_test), path.predict(X_test))
    assert all(rule.text in done.stdout for rule in saved.rules)


@pytest.mark.slow
def test_a_refit_saves_what_fit_writes_and_says_so(table: Path, tmp_path: Path) -> None:
    done = run("explain", table, *WORDS, "--save", tmp_path / "all.json", "--refit")
    run("fit", table, *WORDS, "--folds", 0, "-o", tmp_path / "fit.json")

    assert "trained on all 240 rows written to" in done.stdout and "other rules than those above" in done.stdout
    again, fitted = (from_json((tmp_path / name).read_text()) for name in ("all.json", "fit.json"))
    assert again.rules == fitted.rules and (again.votes == fitted.votes).all()


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--refit"], "--refit is about the rules that --save writes; add --save FILE"),
        (["--save", "-"], "--save - would mix the model with what is printed; name a file"),
        (["--save", "m.json", "--method", "cover", "--fallback", "model"], "--fallback model needs the forest"),
        (["--save", "nowhere/m.json"], "there is no folder 'nowhere'"),
    ],
    ids=str,
)
def test_what_cannot_be_saved_is_refused_before_any_work(table: Path, options: list[str], said: str) -> None:
    done = run("explain", table, *WORDS, *options)

    assert done.exit_code == 1 and done.stdout == ""
    assert said in done.stderr


@pytest.mark.slow
def test_fit_prints_cross_validated_figures_next_to_other_models(table: Path, tmp_path: Path) -> None:
    with_figures = run("fit", table, *WORDS, "--folds", 3, "-o", tmp_path / "a.json")
    without = run("fit", table, *WORDS, "--folds", 0, "-o", tmp_path / "b.json")

    assert with_figures.exit_code == without.exit_code == 0, with_figures.output
    assert "In 3-fold cross-validation" in with_figures.stdout and "cross-validation" not in without.stdout
    assert re.search(r"^such rules +0\.\d+", with_figures.stdout, flags=re.MULTILINE)
    for other in ("random forest", "decision tree", "most frequent class"):
        assert re.search(rf"^{other} +0\.\d+", with_figures.stdout, flags=re.MULTILINE)
    one, other = (from_json((tmp_path / name).read_text()) for name in ("a.json", "b.json"))
    assert one.rules == other.rules and (one.votes == other.votes).all()


def test_figures_are_those_of_models_that_did_not_see_the_rows() -> None:
    frame = rows()
    data = Table("rows", frame[list("abc")], frame["y"].to_numpy(), {})
    folds = folds_of_table(data, 4, seed=0)

    def train(X: pd.DataFrame, y: np.ndarray) -> dict[str, RandomForestClassifier]:
        return {"forest": RandomForestClassifier(5, max_depth=3, random_state=0).fit(X, y)}

    (score,) = cross_validated(data, train, folds)

    right = [
        train(data.X.iloc[learn], data.y[learn])["forest"].predict(data.X.iloc[check]) == data.y[check]
        for learn, check in folds
    ]
    assert sorted(np.concatenate([check for _, check in folds]).tolist()) == list(range(240))
    assert score["accuracy"].value == pytest.approx(np.concatenate(right).mean())


@pytest.mark.slow
def test_numbers_have_their_figures(table: Path, tmp_path: Path) -> None:
    frame = rows().assign(price=lambda data: (3 * data["a"] + data["b"]).round(2))
    frame.drop(columns="y").to_csv(tmp_path / "prices.csv", index=False)
    done = run("fit", tmp_path / "prices.csv", "-t", "price", "--trees", 6, "--folds", 2, "-o", tmp_path / "m.json")

    assert done.exit_code == 0, done.output
    assert "In 2-fold cross-validation" in done.stdout and "R²" in done.stdout
    assert "decision tree" in done.stdout and "mean of all rows" in done.stdout
