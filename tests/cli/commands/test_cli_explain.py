"""``rulecover explain`` through typer's runner: what it prints, and where."""

from __future__ import annotations

import csv
import inspect
import re
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from page import Page
from sklearn.base import clone
from sklearn.ensemble import RandomForestClassifier
from sklearn.frozen import FrozenEstimator
from sklearn.model_selection import train_test_split
from sklearn.utils.class_weight import compute_sample_weight
from typer.testing import CliRunner, Result

import rulecover
from rulecover import MIRCOClassifier, RulePathClassifier
from rulecover.cli.errors import in_one_line
from rulecover.cli.main import app
from rulecover.cli.options.option import Option
from rulecover.cli.options.table import EXPLAIN
from rulecover.estimators.mirco import SOLVERS, MIRCORegressor
from rulecover.targets.classes.impurity import CRITERIA
from rulecover.targets.classes.target import ClassTarget
from rulecover.targets.numbers.impurity import NUMERIC_CRITERIA
from rulecover.targets.numbers.target import NumberTarget
from rulecover.voting.fallback import FALLBACKS, NUMERIC_FALLBACKS
from rulecover.voting.voting_on import voting_on

CHOICES: dict[str, Any] = {option.name: option.kind for option in EXPLAIN}


def run(*arguments: object) -> Result:
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def explain(path: Path, *options: object, target: str = "kind") -> Result:
    return run("explain", path, "--target", target, "--trees", 5, "--depth", 4, *options)


def write(path: Path, header: list[str], rows: list[list[object]]) -> Path:
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([header, *rows])
    return path


def fruit_rows(n: int = 60) -> list[list[object]]:
    rng = np.random.default_rng(0)
    colours = rng.choice(["red", "green", "blue"], n)
    weight = rng.normal(100, 20, n).round(1)
    return [[c, w, "apple" if c == "red" or w > 110 else "plum"] for c, w in zip(colours, weight, strict=True)]


@pytest.fixture
def fruit(tmp_path: Path) -> Path:
    return write(tmp_path / "fruit.csv", ["colour", "weight", "kind"], fruit_rows())


def changed(path: Path, header: list[str], rows: list[list[object]]) -> Path:
    return write(path.with_name("changed.csv"), header, rows)


# What is printed ------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_it_prints_a_small_path_next_to_a_cover_and_other_models(fruit: Path) -> None:
    result = explain(fruit)

    assert result.exit_code == 0
    for model in ("these rules", "a cover", "random forest", "decision tree", "most frequent class"):
        assert f"\n{model} " in result.stdout
    assert "a path" not in result.stdout and "What is proved" not in result.stdout
    assert "Every row begins with the default vote" in result.stdout
    assert "agree with the model" in result.stdout
    rules = explain(fruit, "--quiet").stdout.splitlines()[1:]
    assert 1 <= len(rules) <= 15 and result.stderr.startswith("note: ")


@pytest.mark.slow
def test_a_cover_comes_with_what_is_proved_next_to_a_path(fruit: Path) -> None:
    result = explain(fruit, "--method", "cover")

    assert result.exit_code == 0
    for model in ("these rules", "a path", "random forest", "decision tree", "most frequent class"):
        assert f"\n{model} " in result.stdout
    assert "a cover" not in result.stdout
    assert "No choice costs less than" in result.stdout or "Optimal" in result.stdout
    assert result.stderr == ""


@pytest.mark.slow
def test_text_columns_are_shown_by_their_levels(fruit: Path) -> None:
    result = explain(fruit)

    assert "colour = red" in result.stdout
    assert "colour ≠ red" in result.stdout
    assert "> 0" not in result.stdout and "{" not in result.stdout


@pytest.mark.slow
def test_quiet_prints_the_rules_and_nothing_else(fruit: Path) -> None:
    result = explain(fruit, "--quiet", "--drop", "weight")

    lines = result.stdout.splitlines()
    assert lines[0].split() == ["rule", "then", "support", "purity", "if"]
    assert all(line.split()[0] == str(j) for j, line in enumerate(lines[1:]))
    assert result.stderr == ""


@pytest.mark.slow
def test_piped_rules_are_whole_lines_without_colour_however_long(tmp_path: Path) -> None:
    name = "a very long name of a column " * 6
    rows = [[i % 7, i % 3, "yes" if i % 7 > 3 else "no"] for i in range(60)]
    result = explain(write(tmp_path / "long.csv", [name.strip(), "b", "kind"], rows), "--quiet")

    assert result.exit_code == 0
    assert f"{name.strip()} <= 3" in result.stdout
    assert "\x1b" not in result.stdout and "…" not in result.stdout


@pytest.mark.slow
def test_the_same_seed_gives_the_same_output(fruit: Path) -> None:
    first, second, other = (explain(fruit, "--seed", seed, "--jobs", jobs) for seed, jobs in ((3, 1), (3, 2), (4, 1)))

    assert first.stdout == second.stdout != other.stdout


@pytest.mark.slow
def test_a_limit_on_the_rules_holds_and_is_spoken_of(fruit: Path) -> None:
    result = explain(fruit, "--max-rules", 1, "--method", "cover")

    assert "1 rule out of" in result.stdout
    assert "limit on the number of rules leaves" in result.stdout


@pytest.mark.slow
@pytest.mark.parametrize("options", [["--max-rules", 4], ["--within", 0.05], ["--method", "path"]], ids=str)
def test_rules_for_accuracy_come_with_votes_and_other_sizes(fruit: Path, options: list[object], tmp_path: Path) -> None:
    result = explain(fruit, *options, "--report", tmp_path / "r.html")

    assert result.exit_code == 0, result.output
    assert "Every row begins with the default vote" in result.stdout
    chosen_by = "accuracy" if "--within" in options else "Brier score (the lower the better)"
    assert f"Cross-validated {chosen_by} on the training rows by the number of rules: 1 rule 0." in result.stdout
    assert re.search(r"^ +0  (apple|plum) \+\d+(\.\d+)? ", result.stdout, flags=re.MULTILINE)
    assert "What is proved" not in result.stdout
    assert "default vote" in (tmp_path / "r.html").read_text(encoding="utf-8")


@pytest.mark.slow
def test_the_limit_on_rules_holds_for_a_path(fruit: Path) -> None:
    result = explain(fruit, "--max-rules", 3, "--quiet")

    assert 1 <= len(result.stdout.splitlines()) - 1 <= 3


@pytest.mark.slow
def test_a_distance_from_the_forest_that_no_path_keeps_is_noted(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    rows = [[*rng.integers(0, 3, 4)] for _ in range(200)]
    data = write(tmp_path / "sums.csv", [*"abcd", "kind"], [[*row, f"k{sum(row) % 4}"] for row in rows])

    result = explain(data, "--within", 0, "--max-rules", 1)

    assert result.exit_code == 0
    assert "note: no set of up to 1 rules is surely within 0 of the model by accuracy" in result.stderr


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (
            ["--within", 0.1, "--solver", "search"],
            "--solver belongs to --method cover, but the method is path; add --me",
        ),
        (["--method", "path", "--demand", 2], "--demand belongs to --method cover, but the method is path"),
        (["--vote", "counts"], "--vote is 'counts'; choose one of 'log-odds', 'fitted'."),
        (["--method", "cover", "--within", 0.1], "--within belongs to --method path, but the method is cover"),
        (["--method", "boost", "--demand", 3], "--demand belongs to --method cover, but the method is boost"),
    ],
    ids=str,
)
def test_options_that_contradict_the_method_are_refused(fruit: Path, options: list[object], said: str) -> None:
    result = explain(fruit, *options)

    assert result.exit_code == 1
    assert said in result.stderr


@pytest.mark.slow
def test_every_setting_of_the_rules_is_taken(fruit: Path) -> None:
    settings = "--demand 2 --vote shares --fallback model --criterion entropy --impurity-weight 2 --length-weight 0.1"

    result = explain(fruit, "--method", "cover", *settings.split(), "--test-size", 0.4)

    assert result.exit_code == 0
    assert "24 held-out rows" in result.stdout
    assert "the weights that were set" in result.stdout


@pytest.mark.slow
def test_pruning_class_weights_and_demand_by_class_are_those_of_fit(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(200, 4)).round(2), columns=list("abcd"))
    y = np.where(X["a"] + X["b"] + rng.normal(0, 0.7, 200) > 1.5, "yes", "no")
    X.assign(y=y).to_csv(tmp_path / "rows.csv", index=False)
    words = {
        "--prune no": {"prune": False},
        "--class-weight yes=9": {"class_weight": {"yes": 9}},
        "--demand yes=2": {"demand": {"yes": 2}},
    }
    X_train, _, y_train, _ = train_test_split(X, y, test_size=0.25, random_state=0, stratify=y)
    forest = RandomForestClassifier(5, max_depth=4, random_state=0).fit(X_train, y_train)

    def weighted(class_weight: Any) -> RandomForestClassifier:
        return clone(forest).fit(X_train, y_train, compute_sample_weight(class_weight, y_train))

    for options, settings in words.items():
        source = weighted(settings["class_weight"]) if "class_weight" in settings else forest
        few = rulecover.explain(source, X_train, y_train, random_state=0, method="cover", **settings)
        said = explain(tmp_path / "rows.csv", "--method", "cover", *options.split(), "--quiet", target="y")
        shown = [line.split("  ")[-1] for line in said.stdout.splitlines()[1:]]
        assert shown == [rule.text for rule in few.rules_]
    source = FrozenEstimator(weighted("balanced"))
    path = RulePathClassifier(source, max_rules=3, class_weight="balanced", random_state=0)
    said = explain(tmp_path / "rows.csv", "--max-rules", 3, "--class-weight", "balanced", "--quiet", target="y")
    assert [line.split("  ")[-1] for line in said.stdout.splitlines()[1:]] == [
        rule.text for rule in path.fit(X_train, y_train).rules_
    ]


@pytest.mark.slow
@pytest.mark.parametrize("options", [("--method", "cover"), ("--max-rules", 3)], ids=str)
def test_class_weights_are_not_rows_to_be_counted(tmp_path: Path, options: tuple[Any, ...]) -> None:
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(400, 4)).round(2), columns=list("abcd"))
    y = np.where(np.arange(400) < 64, "yes", "no")
    X["a"] += 1.5 * (y == "yes")
    X.assign(y=y).to_csv(tmp_path / "rows.csv", index=False)

    said = explain(tmp_path / "rows.csv", "--class-weight", "balanced", *options, target="y").stdout

    frequent = next(line for line in said.splitlines() if "most frequent class" in line)
    assert "0.84" in frequent
    rules = explain(tmp_path / "rows.csv", "--class-weight", "balanced", "--quiet", *options, target="y").stdout
    head, *lines = rules.splitlines()
    end = head.index("support") + len("support")
    assert lines and all(line[:end].split()[-1].isdigit() for line in lines)


@pytest.mark.slow
@pytest.mark.parametrize("solver", SOLVERS)
def test_every_solver_can_be_named(fruit: Path, solver: str) -> None:
    result = explain(fruit, "--method", "cover", "--solver", solver, "--time-limit", 5)

    assert result.exit_code == 0, result.stderr
    assert "What is proved" in result.stdout


def test_the_defaults_of_covers_are_those_of_the_library() -> None:
    theirs = inspect.signature(MIRCOClassifier).parameters
    shown = {option.sets: option.default for option in EXPLAIN if isinstance(option, Option) and option.methods}

    given = {name: default for name, default in shown.items() if default is not None and name}
    assert given == {"length_weight": 0.0}
    assert {name: theirs[name].default for name in given} == given


def test_the_names_of_choices_are_those_of_the_library() -> None:
    assert {*CHOICES["solver"]} == {*SOLVERS, *MIRCORegressor._kind.solvers}
    assert {*CHOICES["fallback"]} == {*FALLBACKS, *NUMERIC_FALLBACKS}
    assert CHOICES["criterion"] == (*CRITERIA, *NUMERIC_CRITERIA)
    assert CHOICES["vote"] == (*voting_on(ClassTarget()).names, *voting_on(NumberTarget()).names)


@pytest.mark.slow
@pytest.mark.parametrize("task", ["classes", "numbers"])
def test_boosting_is_explained_too(fruit: Path, prices: Path, task: str) -> None:
    result = explain(
        fruit if task == "classes" else prices, "--method", "boost", target="kind" if task == "classes" else "price"
    )

    assert result.exit_code == 0, result.stderr
    assert "random forest" in result.stdout and "decision tree" in result.stdout
    assert "What is proved" not in result.stdout


# Numbers --------------------------------------------------------------------------------------------------------


@pytest.fixture
def prices(tmp_path: Path) -> Path:
    rows = [[c, w, round(3 * w + (50 if c == "red" else 0), 2)] for c, w, _ in fruit_rows(120)]
    return write(tmp_path / "prices.csv", ["colour", "weight", "price"], rows)


@pytest.mark.slow
def test_a_target_of_many_numbers_is_predicted_as_a_number(prices: Path, tmp_path: Path) -> None:
    result = explain(prices, "--max-rules", 8, "--report", tmp_path / "prices.html", target="price")

    assert result.exit_code == 0, result.stderr
    assert "is predicted as a number" in result.stderr
    heads = [line.split() for line in result.stdout.splitlines()]
    assert ["rule", "adds", "mean", "spread", "support", "held", "out", "mean", "there", "if"] in heads
    assert "R²" in result.stdout and "mean of all rows" in result.stdout and "numbers, 3" in result.stdout
    score = float(next(line for line in result.stdout.splitlines() if line.startswith("these rules")).split()[2])
    assert score > 0.7
    page = Page((tmp_path / "prices.html").read_text(encoding="utf-8"))
    assert "R²" in page.text and "Spread" in page.text


@pytest.mark.slow
@pytest.mark.parametrize("solver", CHOICES["solver"])
def test_every_solver_can_be_named_for_numbers(prices: Path, solver: str) -> None:
    result = explain(prices, "--method", "cover", "--solver", solver, "--time-limit", 5, target="price")

    assert result.exit_code == 0, result.stderr
    assert "What is proved" in result.stdout


@pytest.mark.parametrize("option", ["--prune no", "--class-weight balanced"])
def test_options_of_classes_are_refused_for_numbers(prices: Path, option: str) -> None:
    result = explain(prices, "--method", "cover", *option.split(), target="price")

    assert result.exit_code == 1
    assert f"{option.split(maxsplit=1)[0]} is for classes, but the target is predicted as a number" in result.stderr


@pytest.mark.slow
def test_every_setting_is_taken_for_numbers(prices: Path) -> None:
    settings = "--demand 2 --vote support --fallback model --criterion squared_error --impurity-weight 3"
    result = explain(prices, "--method", "cover", *settings.split(), "--quiet", target="price")

    assert result.exit_code == 0, result.stderr
    assert result.stdout.splitlines()[0].split() == ["rule", "mean", "spread", "support", "if"]


@pytest.mark.slow
@pytest.mark.parametrize("asked", ["--within 0.1", "--max-rules 4", "--method path"])
def test_a_path_of_numbers_begins_with_a_default_and_adds(prices: Path, tmp_path: Path, asked: str) -> None:
    result = explain(prices, *asked.split(), "--report", tmp_path / "prices.html", target="price")
    assert result.exit_code == 0, result.stderr
    assert "Every row begins with" in result.stdout and "adds" in result.stdout.splitlines()[2]
    assert "Cross-validated R²" in result.stdout and "What is proved" not in result.stdout
    assert "the rules that cover it add to that" in (tmp_path / "prices.html").read_text(encoding="utf-8")


@pytest.mark.slow
def test_a_cover_of_numbers_says_what_every_row_begins_with(prices: Path) -> None:
    assert "Every row begins with" in explain(prices, "--method", "cover", target="price").stdout
    plain = explain(prices, "--method", "cover", "--vote", "equal", target="price")
    assert plain.exit_code == 0 and "Every row begins with" not in plain.stdout


@pytest.mark.slow
@pytest.mark.parametrize("method", ["cover", "path"])
def test_one_number_for_all_rows_is_what_they_begin_with(tmp_path: Path, method: str) -> None:
    path = write(tmp_path / "same.csv", ["a", "price"], [[i % 7, 3.5] for i in range(40)])
    asked = ("--task", "numbers", "--method", method, "--report", tmp_path / "same.html")
    result = explain(path, *asked, target="price")
    assert result.exit_code == 0, result.stderr
    assert "begins with 3.5" in result.stdout and "3.5" in (tmp_path / "same.html").read_text(encoding="utf-8")


@pytest.mark.slow
def test_a_few_numbers_are_classes_unless_they_are_said_to_be_numbers(tmp_path: Path) -> None:
    path = write(tmp_path / "stars.csv", ["a", "kind"], [[i % 40, (i % 40) // 10] for i in range(120)])

    assert "4 classes" in explain(path).stdout
    assert "numbers, 1.5" in explain(path, "--task", "numbers").stdout


# What is read ---------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_missing_numbers_stay_missing_and_missing_text_is_a_level(tmp_path: Path) -> None:
    rows = [[c if i % 4 else "", w if i % 5 else "NA", k] for i, (c, w, k) in enumerate(fruit_rows(80))]
    rows = [[c, w, "none" if c == "" else k] for c, w, k in rows]
    result = explain(write(tmp_path / "gaps.csv", ["colour", "weight", "kind"], rows))

    assert result.exit_code == 0
    assert "colour is missing" in result.stdout
    assert "NaN" not in result.stdout


@pytest.mark.slow
def test_a_class_named_none_is_a_class_and_not_a_gap(tmp_path: Path) -> None:
    rows = [[i, "None" if i < 20 else "some"] for i in range(40)]
    result = explain(write(tmp_path / "none.csv", ["a", "kind"], rows))

    assert "None" in result.stdout and "2 classes" in result.stdout


@pytest.mark.slow
def test_numbers_with_none_for_gaps_stay_numbers(tmp_path: Path) -> None:
    rows = [[i if i % 9 else "None", "low" if i < 20 else "high"] for i in range(40)]
    result = explain(write(tmp_path / "none.csv", ["a", "kind"], rows), "--max-levels", 5)

    assert result.exit_code == 0 and "left out" not in result.stderr
    assert "a <= " in result.stdout


@pytest.mark.slow
def test_boolean_columns_and_targets_are_shown_as_true_and_false(tmp_path: Path) -> None:
    rows = [[i % 2 == 0, i % 3 == 0, i % 2 == 0] for i in range(40)]
    result = explain(write(tmp_path / "flags.csv", ["member", "other", "kind"], rows))

    assert "member = True" in result.stdout and "member = False" in result.stdout


@pytest.mark.slow
def test_a_target_that_looks_like_numbers_is_shown_as_whole_numbers(tmp_path: Path) -> None:
    rows = [[i, "2.0" if i < 20 else "-1.0"] for i in range(40)]
    result = explain(write(tmp_path / "numbers.csv", ["a", "kind"], rows), "--quiet")

    assert {line.split()[1] for line in result.stdout.splitlines()[1:]} == {"2", "-1"}


@pytest.mark.slow
@pytest.mark.parametrize("separator", [";", "\t", "|"])
def test_other_separators_are_guessed_and_spaces_around_names_dropped(tmp_path: Path, separator: str) -> None:
    lines = [separator.join([" colour", "weight ", "kind"]), *(separator.join(map(str, row)) for row in fruit_rows())]
    path = tmp_path / "fruit.txt"
    path.write_text("\ufeff" + "\n".join(lines), encoding="utf-8")

    assert "colour = red" in explain(path).stdout


@pytest.mark.slow
def test_rows_without_a_class_are_left_out_and_counted(fruit: Path) -> None:
    rows = [[c, w, "" if i < 3 else k] for i, (c, w, k) in enumerate(fruit_rows())]
    result = explain(changed(fruit, ["colour", "weight", "kind"], rows))

    assert "3 rows without a value of 'kind' left out" in result.stderr


@pytest.mark.slow
def test_columns_that_say_nothing_are_left_out_by_name_with_the_reason(fruit: Path) -> None:
    rows = [[i, f"person {i}", "", "same", *row] for i, row in enumerate(fruit_rows())]
    result = explain(changed(fruit, ["", "name", "empty", "constant", "colour", "weight", "kind"], rows))

    assert result.exit_code == 0
    assert "column 1 has no name" in result.stderr
    assert "'name' left out: it has 60 different texts, such as 'person 0'" in result.stderr
    assert "'empty' left out: every value is missing" in result.stderr
    assert "'constant' left out: every value is the same" in result.stderr
    assert "person" not in result.stdout


@pytest.mark.slow
def test_rare_levels_are_taken_together(fruit: Path) -> None:
    rows = [[f"town {i % 6}", *row] for i, row in enumerate(fruit_rows())]
    path = changed(fruit, ["town", "colour", "weight", "kind"], rows)

    together = "'town' has 6 levels: the 4 most frequent are told apart, the others are taken together"
    assert together in explain(path, "--max-levels", 5).stderr
    assert together not in explain(path, "--max-levels", 6).stderr


def test_one_class_only_gives_one_rule_or_none(tmp_path: Path) -> None:
    data = write(tmp_path / "one.csv", ["a", "kind"], [[i, "yes"] for i in range(20)])
    cover, path = explain(data, "--method", "cover"), explain(data)

    assert cover.exit_code == path.exit_code == 0
    assert "1 rule out of" in cover.stdout and "always" in cover.stdout
    assert "0 rules out of" in path.stdout and "+1 for yes" in path.stdout
    assert "every row is of class 'yes'" in cover.stderr and "every row is of class 'yes'" in path.stderr


@pytest.mark.slow
def test_a_class_with_a_single_row_is_no_reason_to_fail(fruit: Path) -> None:
    rows = [[c, w, "kiwi" if i == 0 else k] for i, (c, w, k) in enumerate(fruit_rows())]
    result = explain(changed(fruit, ["colour", "weight", "kind"], rows))

    assert result.exit_code == 0
    assert "class 'kiwi' has too few rows (1)" in result.stderr


# Hostile names --------------------------------------------------------------------------------------------------

HOSTILE = ["[bold]x[/bold]", "<script>alert(1)</script>", '"><img src=x onerror=alert(1)>', "[/]", "{{ 7*7 }}", "a & b"]


def hostile_file(path: Path) -> Path:
    rng = np.random.default_rng(1)
    values = rng.integers(0, 5, (120, len(HOSTILE)))
    classes = [HOSTILE[int(row.argmax())] for row in values]
    rows = [[*map(int, row), HOSTILE[int(row[0])], label] for row, label in zip(values, classes, strict=True)]
    return write(path, [*HOSTILE, "[red]text", "[link=x]kind"], rows)


@pytest.mark.slow
def test_markup_in_names_levels_and_classes_is_printed_as_it_is(tmp_path: Path) -> None:
    result = explain(hostile_file(tmp_path / "[bold]data.csv"), "--method", "cover", target="[link=x]kind")

    assert result.exit_code == 0
    for name in ("[bold]x[/bold]", "<script>alert(1)</script>", "{{ 7*7 }}", "[red]text = "):
        assert name in result.stdout
    assert "[bold]data.csv" in result.stdout


@pytest.mark.slow
def test_markup_in_names_is_text_in_the_report(tmp_path: Path) -> None:
    report = tmp_path / "report.html"
    explain(hostile_file(tmp_path / "data.csv"), "--report", report, target="[link=x]kind")

    page = Page(report.read_text(encoding="utf-8"))
    page.asks_for_nothing()
    assert not {"img", "b", "iframe"} & set(page.tags)
    assert "<script>alert(1)</script>" in page.text and "{{ 7*7 }}" in page.text


@pytest.mark.slow
def test_control_characters_in_names_cannot_steer_a_terminal(tmp_path: Path) -> None:
    rows = [[i, "a\x1b[31m\nb" if i < 20 else "c"] for i in range(40)]
    result = explain(write(tmp_path / "data.csv", ["x\x1b]0;title\x07\r", "kind"], rows))

    assert result.exit_code == 0
    assert "\x1b" not in result.output and "\x07" not in result.output
    assert "a\\x1b[31m\\nb" in result.stdout


@pytest.mark.slow
def test_names_of_files_cannot_steer_a_terminal(tmp_path: Path) -> None:
    path = write(tmp_path / "in\x07\u202e.csv", ["x", "kind"], [[i, "ab"[i < 20]] for i in range(40)])
    result = explain(path, "--report", tmp_path / "out\x07\u202e.html")

    assert result.exit_code == 0
    assert "Report written to" in result.stdout and "out\\x07\\u202e.html" in result.stdout
    assert "\x07" not in result.output and "\u202e" not in result.output
    assert in_one_line(OSError(13, "denied", "in\x1b[31m")) == "in\\x1b[31m: denied"


def test_an_error_that_names_a_hostile_column_is_one_line(tmp_path: Path) -> None:
    path = write(tmp_path / "data.csv", ["x\x1b[31m\ny", "[red]"], [[i, i] for i in range(20)])
    result = explain(path, target="[blue]")

    assert result.exit_code == 1
    assert "\x1b" not in result.stderr and len(result.stderr.splitlines()) == 1
    assert "'[red]'" in result.stderr


# The report -----------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_the_report_is_one_file_that_asks_for_nothing_else(fruit: Path, tmp_path: Path) -> None:
    report = tmp_path / "report.html"
    result = explain(fruit, "--method", "cover", "--report", report)

    text = report.read_text(encoding="utf-8")
    page = Page(text)
    assert f"Report written to {report}" in result.stdout
    page.asks_for_nothing()
    assert "http:" not in text and "https:" not in text and "url(" not in text and "@import" not in text
    assert "colour = red" in page.text and "What is proved" in page.text
    assert [path.name for path in tmp_path.iterdir() if "part" in path.name] == []


@pytest.mark.slow
def test_a_report_replaces_an_older_one_whole_and_is_readable_by_others(fruit: Path, tmp_path: Path) -> None:
    report, plain = tmp_path / "report.html", tmp_path / "plain"
    report.write_text("old")
    plain.write_text("")
    explain(fruit, "--report", report)

    assert report.read_text(encoding="utf-8").startswith("<!doctype html>")
    assert report.stat().st_mode == plain.stat().st_mode


def test_a_report_into_a_folder_that_is_not_there_fails_before_any_work(fruit: Path, tmp_path: Path) -> None:
    result = explain(fruit, "--report", tmp_path / "nowhere" / "report.html")

    assert result.exit_code == 1
    assert "nowhere" in result.stderr and len(result.stderr.splitlines()) == 1
    assert result.stdout == ""


# Errors ---------------------------------------------------------------------------------------------------------


def refused(result: Result) -> str:
    """The one line of an error."""
    assert result.exit_code == 1
    assert result.stdout == ""
    assert isinstance(result.exception, SystemExit)
    (line,) = result.stderr.splitlines()
    assert line.startswith("error: ")
    return line


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    assert "there is no file" in refused(explain(tmp_path / "nothing.csv"))


def test_a_folder_is_no_file(tmp_path: Path) -> None:
    assert str(tmp_path) in refused(explain(tmp_path))


@pytest.mark.parametrize("content", [b"", b"\n\n", b"  \n"])
def test_an_empty_file_is_called_empty(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "empty.csv"
    path.write_bytes(content)

    assert "is empty" in refused(explain(path))


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"PK\x03\x04\xff\xfe\x00\x00", "is damaged or cut short"),
        ("a,kind\nмосква,1\n".encode("koi8-r"), "is neither UTF-8 nor Windows-1252; save it as CSV (UTF-8)"),
        (b"a\x00b,c\n", "save the table as CSV (UTF-8)"),
    ],
)
def test_a_file_that_is_no_text_is_refused_with_the_way_out(tmp_path: Path, content: bytes, said: str) -> None:
    path = tmp_path / "table.xlsx"
    path.write_bytes(content)

    assert said in refused(explain(path))


@pytest.mark.parametrize("extra", ["1,2,3\n", "1,2,3\n" * 20])
def test_rows_longer_than_the_header_are_refused(tmp_path: Path, extra: str) -> None:
    path = tmp_path / "ragged.csv"
    path.write_text("a,kind\n1,x\n" * 1 + extra)

    assert "not a valid CSV" in refused(explain(path))


def test_without_a_target_the_columns_are_listed(fruit: Path) -> None:
    assert "--target; " in (line := refused(run("explain", fruit))) and "'colour', 'weight', 'kind'" in line


def test_a_target_that_is_not_there_lists_the_columns(fruit: Path) -> None:
    assert "no column 'sort'; it has 'colour', 'weight', 'kind'" in refused(explain(fruit, target="sort"))


def test_a_dropped_column_that_is_not_there_lists_the_columns(fruit: Path) -> None:
    assert "no column 'size'; it has 'colour'" in refused(explain(fruit, "--drop", "size"))


def test_the_target_cannot_be_dropped(fruit: Path) -> None:
    assert "is the target" in refused(explain(fruit, "--drop", "kind"))


def test_too_few_rows_are_counted(tmp_path: Path) -> None:
    path = write(tmp_path / "few.csv", ["a", "kind"], [[i, "x"] for i in range(9)])

    assert "has 9 rows" in (line := refused(explain(path))) and "at least 10" in line


def test_a_header_without_rows_is_too_few(tmp_path: Path) -> None:
    assert "has 0 rows" in refused(explain(write(tmp_path / "header.csv", ["a", "kind"], [])))


@pytest.mark.parametrize("values", [np.arange(60) / 7, np.arange(60)])
def test_a_measurement_as_classes_is_refused_with_the_reason(tmp_path: Path, values: np.ndarray) -> None:
    path = write(tmp_path / "price.csv", ["a", "kind"], [[i, v] for i, v in enumerate(values)])

    assert "60 different numbers" in (line := refused(explain(path, "--task", "classes"))) and "measurement" in line


def test_text_as_numbers_is_refused_with_the_reason(fruit: Path) -> None:
    assert "which is not a number" in refused(explain(fruit, "--task", "numbers"))


@pytest.mark.parametrize(
    ("option", "value"), [("--vote", "counts"), ("--fallback", "majority"), ("--criterion", "gini")]
)
def test_settings_of_classes_are_refused_for_numbers(prices: Path, option: str, value: str) -> None:
    assert f"is {value!r}; choose one of" in refused(
        explain(prices, "--method", "cover", option, value, "--task", "numbers", target="price")
    )


def test_settings_of_numbers_are_refused_for_classes(fruit: Path) -> None:
    assert "solver is 'forward'; choose one of 'greedy'" in refused(
        explain(fruit, "--method", "cover", "--solver", "forward")
    )


def test_a_target_of_names_is_refused(tmp_path: Path) -> None:
    path = write(tmp_path / "names.csv", ["a", "kind"], [[i, f"person {i}"] for i in range(30)])

    assert "30 different values in 30 rows" in refused(explain(path))


def test_an_infinite_target_is_refused(tmp_path: Path) -> None:
    path = write(tmp_path / "inf.csv", ["a", "kind"], [[i, "inf" if i == 3 else 1] for i in range(30)])

    assert "'kind' has infinite values" in refused(explain(path))


def test_columns_of_one_name_are_refused(fruit: Path) -> None:
    path = changed(fruit, ["colour", "colour", "kind"], fruit_rows())

    assert "more than one column named 'colour'" in refused(explain(path))


@pytest.mark.parametrize("value", ["inf", "-inf", "1e300"])
def test_values_that_no_tree_can_compare_are_found_by_row(fruit: Path, value: str) -> None:
    rows = [[c, value if i == 6 else w, k] for i, (c, w, k) in enumerate(fruit_rows())]
    line = refused(explain(changed(fruit, ["colour", "weight", "kind"], rows)))

    assert "'weight' has" in line and "data row 7" in line and "--drop" in line


def test_nothing_to_explain_by_is_refused_with_the_reasons(tmp_path: Path) -> None:
    path = write(tmp_path / "ids.csv", ["id", "kind"], [[f"id {i}", i % 2] for i in range(60)])

    line = refused(explain(path))
    assert "no column is left" in line and "60 different texts" in line


def test_a_file_with_the_target_alone_is_refused(tmp_path: Path) -> None:
    path = write(tmp_path / "alone.csv", ["kind"], [[i % 2] for i in range(60)])

    assert "'kind' is the only column" in refused(explain(path))


@pytest.mark.parametrize("share", [0, 1, 1.5])
def test_a_held_out_share_out_of_range_is_refused(fruit: Path, share: float) -> None:
    assert "between 0 and 1" in refused(explain(fruit, "--test-size", share))


def test_a_held_out_share_that_leaves_nothing_is_refused(tmp_path: Path) -> None:
    path = write(tmp_path / "few.csv", ["a", "kind"], [[i, "x"] for i in range(10)])

    assert "leaves none to learn from" in refused(explain(path, "--test-size", 0.99))


def test_a_separator_of_two_characters_is_refused(fruit: Path) -> None:
    assert "single character" in refused(explain(fruit, "--separator", "::"))


@pytest.mark.parametrize(
    "options", [["--solver", "magic"], ["--trees", 0], ["--depth", 0], ["--max-rules", 0], ["--demand", 0], ["--wrong"]]
)
def test_a_wrong_option_is_a_usage_error_with_code_two(fruit: Path, options: list[object]) -> None:
    result = explain(fruit, *options)

    assert result.exit_code == 2
    assert str(options[0]) in result.stderr and result.stdout == ""


def test_debug_shows_the_trace(tmp_path: Path) -> None:
    result = explain(tmp_path / "nothing.csv", "--debug")

    assert result.exit_code == 1
    assert type(result.exception).__name__ == "CommandError"


@pytest.mark.parametrize(
    "option", [("--jobs", 0), ("--time-limit", 0), ("--impurity-weight", -1), ("--length-weight", -2)], ids=str
)
def test_numbers_out_of_range_are_refused_by_the_name_of_the_option(fruit: Path, option: tuple[str, int]) -> None:
    result = explain(fruit, *option)
    assert result.exit_code == 2
    assert option[0] in result.stderr


@pytest.mark.slow
def test_a_few_fractional_numbers_are_classes(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    b = rng.normal(size=80)
    pd.DataFrame({"b": b, "y": np.where(b > 0, 1.5, 0.5)}).to_csv(tmp_path / "half.csv", index=False)
    result = explain(tmp_path / "half.csv", target="y")
    assert result.exit_code == 0, result.stderr
    assert "0.5" in result.stdout and "1.5" in result.stdout


@pytest.mark.slow
def test_the_comparison_says_how_large_the_forest_is_and_warns_only_of_rules_that_are_shown(fruit: Path) -> None:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        shown = explain(fruit)
    assert re.search(r"random forest .* rules in 5 trees", shown.stdout)
    assert not [warning for warning in caught if "rests on" in str(warning.message)]
