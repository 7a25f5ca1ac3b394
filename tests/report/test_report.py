"""The report: one page with all that is known of a model, escaped, and nothing asked for."""

from __future__ import annotations

import base64
import hashlib
import re
from pathlib import Path
from typing import Any

import lightgbm
import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse
from commands import run
from exported import HOSTILE as NAMES
from page import Page
from shown import HOSTILE, fitted, hostile_rules, summary, with_levels
from sklearn.datasets import load_iris
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.metrics import (
    confusion_matrix,
    mean_absolute_error,
    precision_recall_fscore_support,
    root_mean_squared_error,
)
from sklearn.tree import DecisionTreeClassifier

import rulecover
from rulecover import (
    MIRCOClassifier,
    MIRCORegressor,
    RCBoostClassifier,
    RulePathClassifier,
    RulePathRegressor,
    RuleSet,
    Summary,
    explain,
)
from rulecover.export import vote_of
from rulecover.report.held_out import Confusion, Errors, HeldOutPredictions
from rulecover.report.report import report_html, write_report
from rulecover.report.words import certificate_in_words, figures_in_words
from rulecover.show.text import printable


def test_the_report_shows_each_rule_with_its_bar_and_its_figures() -> None:
    shown = summary()
    page = Page(report_html(shown))

    assert page.values("tr", "data-text") != [] and len(page.values("tr", "data-text")) == len(shown.rules)
    assert page.values("span", "class").count("bar") == len(shown.rules)
    for sentence in certificate_in_words(shown.certificate):
        assert sentence.split(" (")[0] in page.text
    for rule in shown.rules:
        assert all(str(clause) in page.text for clause in rule.clauses)
    for score in shown.scores:
        assert score.name in page.text and score.size in page.text
        for figure in score.figures:
            assert f"{figure.value:.3f}" in page.text
            assert f"{figure.low:.3f}–{figure.high:.3f}" in page.text


def test_every_place_that_the_page_names_is_in_it() -> None:
    page = Page(report_html(summary()))
    places = [value for value in page.values("a", "href") if value]

    assert len(places) > 5
    assert {place.removeprefix("#") for place in places} <= {
        value for _, name, value in page.attributes if name == "id"
    }


def test_labels_point_to_fields_and_no_id_occurs_twice() -> None:
    page = Page(report_html(summary()))
    ids = [value for _, name, value in page.attributes if name == "id"]

    assert len(set(ids)) == len(ids)
    assert set(page.values("label", "for")) <= set(ids)
    assert page.values("label", "for") == [f"field-{c}" for c in range(len(page.model["columns"]))]


def test_the_report_escapes_every_name_and_asks_for_nothing() -> None:
    X, y = load_iris(return_X_y=True, as_frame=True)
    X = X.set_axis([f"{HOSTILE}{f}" for f in range(4)], axis=1)
    labels = np.array([HOSTILE, "<b>b</b>", "' onload='alert(1)"])[y]
    model = MIRCOClassifier(RandomForestClassifier(5, max_depth=3, random_state=0)).fit(X, labels)
    shown = Summary.of(model, X, labels, title=HOSTILE, compare_with={HOSTILE: model}, notes=[HOSTILE])
    source = report_html(shown)
    page = Page(source)

    page.asks_for_nothing()
    assert not {"b", "img", "iframe"} & set(page.tags)
    assert "http" not in source.replace("http-equiv", "") and "url(" not in source and "\x1b" not in source
    assert "<b>b</b>" in page.model["labels"]


ODD = ["<b>x</b>", '"quoted"', "😀", "x" * 200, "</SCRIPT >", "<!--<script>", "\u2029", "{{ 7 * 7 }}"]


@pytest.mark.slow
@pytest.mark.parametrize("name", [*NAMES, *ODD], ids=ascii)
def test_a_hostile_name_stays_inside_the_data_of_the_page(name: str) -> None:
    X, y = load_iris(return_X_y=True)
    frame, labels = pd.DataFrame(X[:, [2]], columns=[name]), np.array([name, "b", "c"])[y]
    model = MIRCOClassifier(DecisionTreeClassifier(max_depth=2, random_state=0)).fit(frame, labels)
    page = Page(report_html(Summary.of(model, frame, labels, title=name)))

    page.asks_for_nothing()
    assert len(page.scripts) == 2
    assert page.scripts[0].isascii() and not set("<>&") & set(page.scripts[0])
    assert not {"b", "img"} & set(page.tags)
    assert [column["name"] for column in page.model["columns"]] == [printable(name)]
    assert printable(name) in page.model["labels"]


def test_only_the_script_of_the_report_may_run() -> None:
    page = Page(report_html(summary()))
    (allowed,) = [value for value in page.values("meta", "content") if value and "script-src" in value]
    digest = base64.b64encode(hashlib.sha256(page.scripts[1].encode()).digest()).decode()

    assert f"script-src 'sha256-{digest}'" in allowed
    assert "default-src 'none'" in allowed


def test_columns_of_the_report_are_named_for_screen_readers() -> None:
    page = Page(report_html(summary()))

    scopes = page.values("th", "scope")
    assert set(scopes) == {"col", "row"} and len(scopes) == page.tags.count("th")
    assert page.values("html", "lang") == ["en"]
    assert all(value for tag, name, value in page.attributes if name == "aria-label")


def test_the_bar_of_a_rule_says_its_class_counts() -> None:
    shown = summary()
    counts = shown.rules[0].counts
    assert counts is not None
    label = ", ".join(f"{name} {count:.0f}" for name, count in counts.items() if count)

    assert ("span", "aria-label", label) in Page(report_html(shown)).attributes


def test_a_rule_that_always_holds_and_more_classes_than_colours_are_shown() -> None:
    rng = np.random.default_rng(0)
    X, y = rng.random((120, 2)), rng.integers(0, 12, 120)
    stump = DecisionTreeClassifier(max_depth=1, min_samples_leaf=60).fit(X, y)
    lone = DecisionTreeClassifier(max_depth=1).fit(X[:2], [0, 0])
    many = Summary.of(explain(stump, X, y, method="cover"), X, y, title="Many classes")
    one = Summary.of(explain(lone, X[:2], [0, 0], method="cover"), X[:2], [0, 0], title="One class")

    assert "c8" in report_html(many)
    assert "always" in Page(report_html(one)).text


def test_weighted_counts_are_shown_as_they_are() -> None:
    X, y = load_iris(return_X_y=True)
    model = MIRCOClassifier(DecisionTreeClassifier(max_depth=2, random_state=0))
    model.fit(X, y, sample_weight=np.where(y == 0, 0.5, 0.25))
    Page(report_html(Summary.of(model, X, y, title="Twice the first class")))

    assert str(model.rules_).splitlines()[1].split()[2] == "100"


def test_a_report_is_written_whole_or_not_at_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "report.html"
    path.write_text("old")

    def fail(self: Path, target: Path) -> None:
        raise OSError("the disk is full")

    monkeypatch.setattr(Path, "replace", fail)
    with pytest.raises(OSError, match="disk is full"):
        write_report(summary(), path)

    assert path.read_text() == "old"
    assert [found.name for found in tmp_path.iterdir()] == ["report.html"]


# Answers and truth ---------------------------------------------------------------------------------------------------


def held_out(seed: int = 0, n: int = 200) -> tuple[Any, HeldOutPredictions]:
    rng = np.random.default_rng(seed)
    labels = np.array(["a", "b", "c"])
    return labels, HeldOutPredictions(labels[rng.integers(0, 3, n)], labels[rng.integers(0, 2, n)], rng.random(n) < 0.1)


def test_the_confusion_matrix_is_that_of_scikit_learn() -> None:
    labels, seen = held_out()
    found = Confusion.of(labels, seen)

    np.testing.assert_array_equal(found.counts, confusion_matrix(seen.truth, seen.predicted, labels=labels))
    precision, recall, f1, rows = precision_recall_fscore_support(
        seen.truth, seen.predicted, labels=labels, zero_division=0
    )
    for k, line in enumerate(found.lines):
        assert (line.rows, line.recall.value, line.f1) == pytest.approx((rows[k], recall[k], f1[k]))
        assert line.precision.is_defined == (k < 2)  # nobody said c
        assert line.precision.value == pytest.approx(precision[k] if k < 2 else np.nan, nan_ok=True)


def test_a_class_that_no_rule_knows_has_a_line_of_its_own() -> None:
    found = Confusion.of(
        np.array(["a"]), HeldOutPredictions(np.array(["a", "new"]), np.array(["a", "a"]), np.zeros(2, bool))
    )

    assert found.names == ("a", "new")
    assert found.counts.tolist() == [[1, 0], [1, 0]]


def test_rules_and_model_are_compared_row_by_row() -> None:
    seen = HeldOutPredictions(
        np.array(list("aaabb")), np.array(list("aabba")), np.zeros(5, bool), np.array(list("abaca"))
    )

    assert [count for _, count in seen.compared_with_model()] == [1, 2, 1, 1, 0]


def test_errors_of_numbers_are_those_of_scikit_learn() -> None:
    rng = np.random.default_rng(0)
    true, said = rng.normal(size=1000), rng.normal(size=1000)
    found = Errors.of(HeldOutPredictions(true, said, np.zeros(1000, bool)))

    assert found.mean == pytest.approx(mean_absolute_error(true, said))
    assert found.root_mean_square == pytest.approx(root_mean_squared_error(true, said))
    assert len(found.points) <= 400 and np.min(found.points) >= 0 and np.max(found.points) <= 100


def test_missed_rows_are_counted_and_lead_to_the_row() -> None:
    X, y = load_iris(return_X_y=True, as_frame=True)
    forest = RandomForestClassifier(20, max_depth=4, random_state=0)
    model = MIRCOClassifier(forest, max_rules=2, random_state=0).fit(X[::2], y[::2])
    missed = model.missed(X[1::2])
    page = Page(report_html(Summary.of(model, X[1::2], y[1::2], title="Iris")))
    right = int((model.predict(X[1::2])[missed] == y[1::2][missed]).sum())

    assert missed.any()
    assert f"{missed.sum()} of 75 held-out rows; the prediction is right for {right} of them" in page.words
    linked = [page.model["rows"][int(place or 0)] for place in page.values("a", "data-row")]
    assert [row["number"] for row in linked] == np.flatnonzero(missed)[:24].tolist()


# The data of the page ------------------------------------------------------------------------------------------------


def test_the_page_has_the_rows_as_they_are_and_what_is_said_of_them() -> None:
    model, X, y = fitted()
    rows = Page(report_html(Summary.of(model, X, y, title="Iris"))).model["rows"]
    used = model.rules_.clauses.columns.tolist()

    assert [row["number"] for row in rows] == list(range(len(X)))
    np.testing.assert_array_equal([row["values"] for row in rows], X.to_numpy()[:, used])
    assert [row["predicted"] for row in rows] == [str(label) for label in model.predict(X)]


def test_of_many_rows_the_wrong_and_missed_ones_come_first() -> None:
    rng = np.random.default_rng(0)
    X, y = rng.random((2000, 3)), rng.integers(0, 2, 2000)
    model = explain(DecisionTreeClassifier(max_depth=1, random_state=0).fit(X, y), X, y, method="cover")
    rows = Summary.of(model, X, y, title="Noise").trial
    assert rows is not None
    wrong = np.flatnonzero(model.predict(X) != y)

    assert len(rows.rows) == 200
    assert [row["number"] for row in rows.rows] == wrong[:200].tolist()


def kinds() -> list[Any]:
    X, y = load_iris(return_X_y=True, as_frame=True)
    colours = X.assign(colour=pd.Categorical(np.array(["red", "blue", "green"])[y]))
    hist = HistGradientBoostingClassifier(max_iter=3, categorical_features="from_dtype", random_state=0)
    path = {"max_rules": 3, "choose": "last", "random_state": 0}
    number = X["petal width (cm)"]
    return [
        (MIRCOClassifier(hist), colours, y),
        (rulecover.RCBoostClassifier(max_rmp_calls=2, random_state=0), X, y),
        (RulePathClassifier(RandomForestClassifier(5, random_state=0), **path), X, y),
        (RulePathRegressor(random_state=0, max_rules=3, choose="last"), X.iloc[:, :3], number),
        (MIRCORegressor(max_rules=4, random_state=0), X.iloc[:, :3], number),
        (MIRCORegressor(max_rules=4, random_state=0, ridge=None, fallback="closest"), X.iloc[:, :3], number),
        (MIRCOClassifier(RandomForestClassifier(5, random_state=0), fallback="model", max_rules=2), X, y),
    ]


@pytest.mark.slow
@pytest.mark.parametrize("place", range(7))
def test_every_kind_of_model_has_a_whole_report(place: int) -> None:
    model, X, y = kinds()[place]
    shown = Summary.of(model.fit(X, y), X, y, title="Iris")
    page = Page(report_html(shown))

    page.asks_for_nothing()
    assert shown.trial is not None and len(page.model["rules"]) == len(model.rules_)
    for part in (
        "On the training rows",
        "The rules",
        "Try a row",
        "Predictions and truth",
        "Which rules cover the same rows",
    ):
        assert part in page.text


@pytest.mark.slow
def test_a_path_without_rules_has_a_report_without_a_row_to_try() -> None:
    X, y = load_iris(return_X_y=True)
    classes = RulePathClassifier(RandomForestClassifier(5, random_state=0), max_rules=2, choose="last", random_state=0)
    numbers = RulePathRegressor(max_rules=2, choose="last", random_state=0)
    for model, target in ((classes.fit(X, y).at(0), y), (numbers.fit(X[:, :3], X[:, 3]).at(0), X[:, 3])):
        page = Page(report_html(Summary.of(model, X[:, : model.n_features_in_], target, title="None")))
        assert "Try a row" not in page.text and "0 rules" in page.text


@pytest.mark.parametrize("made", [scipy.sparse.csr_array, lambda X: pl.DataFrame(X, schema=list("abcd"))])
def test_rows_come_in_any_form(made: Any) -> None:
    X, y = load_iris(return_X_y=True)
    model = MIRCOClassifier(RandomForestClassifier(5, max_depth=3, random_state=0)).fit(made(X), y)
    page = Page(report_html(Summary.of(model, made(X), y, title="Iris")))
    used = model.rules_.clauses.columns.tolist()

    np.testing.assert_array_equal([row["values"] for row in page.model["rows"]], X[:, used])


def test_rules_made_by_hand_have_a_report_without_a_model_to_compare_with() -> None:
    X, y = load_iris(return_X_y=True)
    rules = RuleSet.from_text(["x2 <= 2.5", "x2 > 2.5 and x3 <= 1.7", "x3 > 1.7"], ["x0", "x1", "x2", "x3"])
    page = Page(report_html(Summary.of(explain(rules, X, y, method="cover"), X, y, title="Mine")))

    assert "Agreement with the model" not in page.text and "Compared with the model" not in page.text


@pytest.mark.parametrize("numbers", [False, True])
def test_rules_of_a_model_file_have_a_report_without_a_model_to_compare_with(numbers: bool, tmp_path: Path) -> None:
    X, y = load_iris(return_X_y=True)
    model = lightgbm.LGBMRegressor if numbers else lightgbm.LGBMClassifier
    path = tmp_path / "model.txt"
    model(n_estimators=3, verbose=-1, n_jobs=1).fit(X, y).booster_.save_model(path)
    shown = Summary.of(explain(path, X, y, method="cover"), X, y, title="File")
    page = Page(write_report(shown, tmp_path / "report.html").read_text(encoding="utf-8"))

    assert shown.fidelity is None
    assert "with the model" not in page.text and "Beside the model" not in page.text


def test_a_vote_has_a_report_as_well() -> None:
    model, X, y = fitted()
    shown = Summary.of(vote_of(model), X, y, title="Iris")

    assert shown.scores[0].accuracy == model.score(X, y)
    assert shown.n_candidates is None and shown.fidelity is None
    assert "4 rules, chosen on" in Page(report_html(shown)).words


def test_a_fallback_of_your_own_is_not_answered_by_the_page() -> None:
    class Mine:
        name = "mine"

        def weights(self, vote: Any, X: Any) -> Any:
            return np.zeros((X.shape[0], len(vote.rules)))

        def __call__(self, vote: Any, X: Any, model: Any) -> Any:
            return np.tile([1.0, 0.0, 0.0], (X.shape[0], 1))

    model, X, y = fitted(fallback=Mine(), max_rules=1)

    page = Page(report_html(Summary.of(model, X, y, title="Iris"))).model
    assert not page["has_fallback"] and page["fallback_in_words"] == "mine predicts"


def test_rules_on_levels_are_tried_by_level() -> None:
    names, levels = ["age", "colour = red"], {1: ("colour", "red")}
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"age": rng.uniform(0, 90, 80), "colour = red": rng.integers(0, 2, 80).astype(float)})
    y = np.where((X["age"] > 40) & (X["colour = red"] > 0), "yes", "no")
    model = explain(DecisionTreeClassifier(max_depth=2, random_state=0).fit(X, y), X, y, method="cover")
    shown = Summary.of(model, X, y, title="Levels", shown=with_levels(model.rules_, levels))
    assert shown.trial is not None
    column = next(each for each in shown.trial.columns if each["name"] == "colour")

    assert names[1] not in [each["name"] for each in shown.trial.columns]
    assert column["names"] == ["red", "another"]
    assert [row["values"][shown.trial.columns.index(column)] == "red" for row in shown.trial.rows] == (
        X["colour = red"] == 1
    ).tolist()


@pytest.mark.slow
def test_five_hundred_rules_make_a_page_of_a_few_megabytes() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(600, 8))
    y = rng.integers(0, 3, 600)
    forest = RandomForestClassifier(60, max_depth=12, random_state=0)
    model = MIRCOClassifier(forest, demand=30).fit(X, y)
    assert len(model.rules_) >= 500
    source = report_html(Summary.of(model, X, y, title="Many"))

    assert len(source) < 5e6
    assert len(re.findall(r"<tr role=\"row\" data-text", source)) == len(model.rules_)


def test_names_are_the_same_in_the_set_of_rules_as_in_the_report() -> None:
    rules = hostile_rules()

    assert rules.evidence is not None
    assert len(rules.evidence.view.report(rules, ()).rows) == len(rules)


def forest_without_gaps() -> tuple[Any, Any, Any]:
    """Rules of several trees: where nothing was missing, each sends a missing value its own way."""
    X, y = load_iris(return_X_y=True, as_frame=True)
    forest = RandomForestClassifier(10, max_depth=3, random_state=0).fit(X, y)
    return explain(forest, X, y, method="cover"), X, y


def test_where_nothing_is_missing_a_field_cannot_be_left_empty() -> None:
    model, X, y = forest_without_gaps()
    trial = Summary.of(model, X, y, title="Iris").trial
    assert trial is not None

    assert [column["missing"] for column in trial.columns] == [False] * len(trial.columns)
    assert "or missing" not in " ".join(rule.text for rule in model.rules_)


@pytest.mark.parametrize("training", [True, False], ids=["in training", "held out"])
def test_where_something_is_missing_a_field_can_be_left_empty(training: bool) -> None:
    X, y = load_iris(return_X_y=True, as_frame=True)
    gaps = X.copy()
    gaps.iloc[::3, 3] = np.nan
    learnt, held_out = (gaps, X) if training else (X, gaps)
    forest = RandomForestClassifier(10, max_depth=3, random_state=0).fit(learnt, y)
    trial = Summary.of(explain(forest, learnt, y, method="cover"), held_out, y, title="Iris").trial
    assert trial is not None

    can_be = {column["name"]: column["missing"] for column in trial.columns}
    assert can_be.pop("petal width (cm)") and not any(can_be.values())


@pytest.mark.slow
def test_a_held_out_level_that_no_rule_asks_for_has_its_name(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    colour = rng.choice(["red", "green", "blue"], 200)
    frame = pd.DataFrame(
        {"colour": colour, "age": rng.uniform(0, 90, 200), "buys": np.where(colour == "red", "yes", "no")}
    )
    frame.to_csv(tmp_path / "data.csv", index=False)
    options = ("-t", "buys", "--trees", 3, "--quiet")
    assert run("fit", tmp_path / "data.csv", *options, "--max-rules", 2, "--out", tmp_path / "m.json").exit_code == 0
    told = run("report", tmp_path / "m.json", tmp_path / "data.csv", "-t", "buys", "--out", tmp_path / "r.html")
    assert told.exit_code == 0, told.output

    model = Page((tmp_path / "r.html").read_text(encoding="utf-8")).model
    place = next(k for k, column in enumerate(model["columns"]) if column["name"] == "colour")
    column = model["columns"][place]
    name_of = dict(zip(column["values"], column["names"], strict=True))
    shown = [name_of[row["values"][place]] for row in model["rows"]]
    assert shown == [colour[row["number"]] for row in model["rows"]]
    assert sorted(model["columns"][place]["names"]) == ["another", "blue", "green", "red"]


def test_missed_rows_are_said_to_be_covered_by_no_rule() -> None:
    model, X, y = fitted(max_rules=1)
    words = " ".join(figures_in_words(Summary.of(model, X, y, title="Iris")))

    assert "of the held-out rows are not covered by any rule; for such a row" in words and "No rule covers" not in words


def test_nothing_is_proved_about_the_rules_of_a_boosting() -> None:
    X, y = load_iris(return_X_y=True, as_frame=True)
    model = RCBoostClassifier(max_rmp_calls=3, random_state=0).fit(X, y)

    assert model.certificate_.source == "LP"
    assert Summary.of(model, X, y, title="Iris").certificate is None
