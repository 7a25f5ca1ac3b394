"""Rules in Markdown, LaTeX, CSV and English, by class, and with no more digits than it takes."""

from __future__ import annotations

import csv
import io
import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from shown import fitted, hostile_rules
from sklearn.datasets import load_diabetes, load_iris
from sklearn.ensemble import RandomForestClassifier
from sklearn.tree import DecisionTreeClassifier
from strategies import DataSet, data_sets

from rulecover import MIRCOClassifier, MIRCORegressor, RulePathClassifier, RuleSet, read_trees
from rulecover.data.categories import CategorySet
from rulecover.pool import leaf_pool
from rulecover.rules.grid import rule_grid
from rulecover.rules.rule import Clause, Rule
from rulecover.rules.sentences import condition_in_words
from rulecover.show.grid import Grid, latex_escaped, markdown_escaped
from rulecover.show.spreadsheet import csv_lines, csv_text, escape_formula
from rulecover.targets.classes.evidence import ClassEvidence
from rulecover.targets.classes.impurity import Gini
from rulecover.targets.classes.samples import ClassSamples
from rulecover.targets.impurity import Price


def words(clause: Clause) -> str:
    return condition_in_words(Rule((clause,)))


# Sentences -----------------------------------------------------------------------------------------------------------


def test_a_rule_is_a_sentence_with_its_samples() -> None:
    rules = RuleSet.of_intervals([{0: (127.5, np.inf), 1: (29.9, np.inf)}], ["glucose", "BMI"])
    seen = ClassEvidence(
        np.array([[23.0, 107.0]]), np.zeros(1), np.ones(1), np.array([300.0, 200.0]), np.array(["healthy", "diabetes"])
    )

    assert rules.with_evidence(seen).sentences() == [
        "If glucose is above 127.5 and BMI above 29.9, then diabetes: 107 of 130 rows, 82 %."
    ]


@pytest.mark.parametrize(
    ("clause", "said"),
    [
        (Clause(0, "x", lower=1), "x is above 1"),
        (Clause(0, "x", upper=1.5), "x is at most 1.5"),
        (Clause(0, "x", lower=1, upper=2), "x is above 1 and at most 2"),
        (Clause(0, "x", lower=float(np.nextafter(30, 0))), "x is at least 30"),
        (Clause(0, "x", upper=float(np.nextafter(30, 0))), "x is below 30"),
        (Clause(0, "x", lower=float(np.nextafter(3, 0)), upper=3.0), "x is 3"),
        (Clause(0, "x", lower=1, missing=True), "x is above 1 (or missing)"),
        (Clause(0, "x", lower=np.inf, missing=True), "x is missing"),
        (Clause(0, "x"), "x is known"),
        (Clause(0, "c", lower=0.5, level="red"), "c is red"),
        (Clause(0, "c", upper=0.5, level="red"), "c is not red"),
        (Clause(0, "c", categories=CategorySet((0.0,)), known=("red", "blue", "green")), "c is red"),
        (Clause(0, "c", categories=CategorySet((0.0, 1.0)), known=("a", "b", "c", "d")), "c is a or b"),
        (Clause(0, "c", categories=CategorySet((0.0, 1.0, 2.0)), known=("a", "b", "c", "d")), "c is not d"),
        (Clause(0, "c", categories=CategorySet((0.0, 1.0), others=True)), "c is none of 0 and 1"),
        (Clause(0, "c", categories=CategorySet((), others=True), missing=True), "c is known (or missing)"),
        (Clause(0, "c", categories=CategorySet(()), missing=True), "c is missing"),
        (Clause(0, "x", upper=5, zero=False), "x is at most 5 (but not 0)"),
        (Clause(0, "x", lower=5, zero=True), "x is above 5 (or 0)"),
    ],
    ids=str,
)
def test_every_kind_of_clause_is_put_in_words(clause: Clause, said: str) -> None:
    assert words(clause) == said


def test_three_conditions_are_listed_with_one_verb() -> None:
    rules = RuleSet.from_text(["a > 1 and b <= 2 and c in {u}", "always"], ["a", "b", "c"])

    assert rules.sentences() == ["If a is above 1, b at most 2 and c is u.", "Always."]


@pytest.mark.slow
def test_numbers_and_added_votes_have_sentences_too() -> None:
    X, y = load_diabetes(return_X_y=True, as_frame=True)
    fitted_values = MIRCORegressor(max_rules=3, random_state=0).fit(X, y)
    means = MIRCORegressor(max_rules=3, random_state=0, ridge=None).fit(X, y)
    path = RulePathClassifier(
        RandomForestClassifier(5, random_state=0), max_rules=2, choose="last", random_state=0
    ).fit(X, np.where(y > 140, "high", "low"))

    assert all(re.search(r"then [+-][\d.]+ \(the mean is [\d.]+ ± ", each) for each in fitted_values.rules_.sentences())
    assert all(re.search(r"then [\d.]+ ± [\d.]+ over \d+ rows\.$", each) for each in means.rules_.sentences())
    default, *others = path.vote_.sentences()
    assert re.fullmatch(r"By default log-odds [+-][\d.]+ for low\.", default)
    assert len(others) == 2 and all(re.search(r", then log-odds [+-][\d.]+ for low\.$", each) for each in others)
    shares = RulePathClassifier(RandomForestClassifier(5, random_state=0), max_rules=2, choose="last", vote="fitted")
    default, *others = shares.fit(X, np.where(y > 140, "high", "low")).vote_.sentences()
    assert re.fullmatch(r"By default \+[\d.]+ for high and \+[\d.]+ for low\.", default)
    assert len(others) == 2 and all(" for high and " in each for each in others)


# Digits --------------------------------------------------------------------------------------------------------------


@pytest.mark.slow
@given(
    data_sets(cells=st.integers(-(10**7), 10**7).map(float) | st.just(np.nan), n_classes=2, max_rows=60),
    st.integers(0, 6),
    st.integers(-8, 8),
)
def test_printed_bounds_send_every_training_row_to_the_same_side(data: DataSet, digits: int, scale: int) -> None:
    X, y = np.round(data.X / 10**6, digits) * 10.0**scale, data.y
    tree = read_trees(DecisionTreeClassifier(max_depth=4, random_state=0).fit(X, y))
    rules = leaf_pool(ClassSamples(X, y, np.arange(2)), tree, Price(Gini()), ("a", "b", "c")).rules.shown_for(X)
    printed = RuleSet.from_text([rule.text for rule in rules], rules.feature_names)

    np.testing.assert_array_equal(printed.apply(X).toarray(), rules.apply(X).toarray())


# Markdown and LaTeX --------------------------------------------------------------------------------------------------


def test_a_table_in_markdown_has_a_line_a_rule() -> None:
    rules = fitted()[0].rules_
    lines = rules.to_markdown().splitlines()

    assert lines[:2] == ["| rule | then | support | purity | if |", "| ---: | --- | ---: | ---: | --- |"]
    assert len(lines) == len(rules) + 2
    assert all(len(re.findall(r"(?<!\\)\|", line)) == 6 for line in hostile_rules().to_markdown().splitlines())


@given(st.text(alphabet=list("ab |\\`*_<>[]&;#~$x1")))
def test_markdown_shows_a_text_as_it_is(text: str) -> None:
    escaped = markdown_escaped(text)

    assert re.sub(r"\\([^a-z0-9\s])", r"\1", escaped) == text  # a backslash before punctuation is not shown
    assert not re.search(r"(?<!\\)(?:\\\\)*[|`*\[\]]", escaped)
    assert not re.search(r"(?<!\\)(?:\\\\)*<[A-Za-z/!?]", escaped)


def test_a_table_in_latex_is_balanced_and_escaped() -> None:
    text = hostile_rules().to_latex()
    body = [line for line in text.splitlines() if line.endswith(r"\\")]

    assert text.startswith(r"\begin{tabular}{rlrrp{0.6\linewidth}}") and text.rstrip().endswith(r"\end{tabular}")
    assert all(len(re.findall(r"(?<!\\)&", line)) == 4 for line in body)
    assert not re.search(r"(?<![\\$])[<>]", text)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a_b & 5 %", r"a\_b \& 5 \%"),
        ("x <= 3", r"x $\leq$ 3"),
        (r"\input{/etc/passwd}", r"\textbackslash{}input\{/etc/passwd\}"),
        ("$x^2$", r"\$x\textasciicircum{}2\$"),
        ("a ~ b # c", r"a \textasciitilde{} b \# c"),
    ],
)
def test_latex_shows_a_text_as_it_is(text: str, shown: str) -> None:
    assert latex_escaped(text) == shown


def test_no_rules_print_as_such_and_as_an_empty_table() -> None:
    none = RuleSet.of_intervals([], ["size"])

    assert str(none) == "no rules"
    assert none.to_markdown().count("\n") == 2
    assert none.sentences() == []


def test_added_votes_are_printed_in_every_markup() -> None:
    X, y = load_iris(return_X_y=True)
    path = RulePathClassifier(
        RandomForestClassifier(5, random_state=0), max_rules=3, choose="last", random_state=0
    ).fit(X, y)

    assert path.vote_.to_markdown().splitlines()[0] == "| rule | support | 0 | 1 | 2 | if |"
    assert "by default" in path.vote_.to_latex()


def test_a_table_of_rules_with_votes_says_what_each_votes_for() -> None:
    rules = RuleSet.of_intervals([{0: (1.0, np.inf)}, {0: (-np.inf, 1.0)}], ["x"])
    seen = ClassEvidence(
        np.array([[9.0, 1.0], [2.0, 8.0]]), np.zeros(2), np.ones(2), np.array([11.0, 9.0]), np.array(["no", "yes"])
    )

    grid = rule_grid(rules.with_evidence(seen), votes=[(-0.5, 0.5), (0.25, -0.25)])

    assert [row[:4] for row in grid.rows] == [("0", "yes +0.5", "10", "10 %"), ("1", "no +0.25", "10", "20 %")]


# By class ------------------------------------------------------------------------------------------------------------


def test_rules_by_class_keep_their_numbers() -> None:
    rules = fitted()[0].rules_
    groups = rules.by_class()
    parts = str(groups).split("\n\n")

    assert len(parts) == len(groups.titles) == len({rule.prediction for rule in rules})
    for title, part in zip(groups.titles, parts, strict=True):
        lines = part.splitlines()
        assert lines[0] == title
        mine = [int(line.split()[0]) for line in lines[2:]]
        assert mine == [j for j, rule in enumerate(rules) if str(rule.prediction) == title]
    by_rule = [
        [rules.sentences()[j] for j, rule in enumerate(rules) if str(rule.prediction) == t] for t in groups.titles
    ]
    assert groups.sentences() == by_rule
    assert groups.to_markdown().count("| rule |") == len(groups.titles)
    assert groups.to_latex().count(r"\multicolumn{5}{l}{\textbf{") == len(groups.titles)
    assert groups._repr_html_().count("<table") == len(groups.titles)


def test_rules_without_classes_cannot_be_grouped_by_class() -> None:
    with pytest.raises(ValueError, match="do not predict classes"):
        RuleSet.from_text(["x > 1"], ["x"]).by_class()


# Spreadsheets --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("cell", ["=1+1", "+cmd|' /C calc'!A0", "-2+3", "@SUM(1)", "\t=1", "\r=1", "\n=1", "＝1+1"])
def test_no_cell_of_a_csv_file_begins_a_formula(cell: str) -> None:
    X, y = load_iris(return_X_y=True, as_frame=True)
    model = MIRCOClassifier(DecisionTreeClassifier(max_depth=2, random_state=0)).fit(
        X.set_axis([f"{cell}{f}" for f in range(4)], axis=1), np.array([cell, "b", "c"])[y]
    )
    cells = [each for row in csv.reader(io.StringIO(model.rules_.to_csv(), newline="")) for each in row]

    assert any(each.startswith(f"'{cell}") for each in cells)
    assert not [each for each in cells if escape_formula(each) != each]


@pytest.mark.parametrize("end", ["\n", ",", ";"])
def test_an_end_of_line_inside_a_cell_begins_no_line(end: str) -> None:
    rows = [["a\r=1+1", "b\n=2", 3], ["c", 'd"', 4]]
    text = "".join(line.removesuffix(end) + "\r\n" for line in csv_lines(rows, end))

    assert list(csv.reader(io.StringIO(text, newline=""))) == [[str(cell) for cell in row] for row in rows]


def test_numbers_stay_numbers_in_csv() -> None:
    import pandas as pd

    assert csv_text(pd.DataFrame({"a": [-1.5, 2.0], "b": ["-3", "x"]})) == "a,b\n-1.5,-3\n2.0,x\n"


# Notebooks -----------------------------------------------------------------------------------------------------------


def test_a_long_table_in_a_notebook_ends_early_and_says_so() -> None:
    html = Grid(("rule",), [(str(j),) for j in range(100)], (True,)).html()

    assert html.count("<tr>") == 61 and "and 40 more" in html


def test_a_fitted_model_shows_its_rules_in_a_notebook() -> None:
    unfitted = MIRCOClassifier.as_in_paper(DecisionTreeClassifier(max_depth=2, random_state=0))
    plain = unfitted._repr_html_()
    model = unfitted.fit(*load_iris(return_X_y=True))

    assert "rulecover" not in re.findall(r'<table class="(\w+)"', plain)
    for html in (model._repr_html_(), model._repr_mimebundle_()["text/html"]):
        assert model.rules_._repr_html_() in html
    assert "sk-estimator" in model._repr_html_() and "sk-estimator" in plain


@pytest.mark.slow
@pytest.mark.parametrize("vote", ["counts", "shares", "fitted"])
def test_votes_are_their_own_unless_they_are_counts_or_shares(vote: str) -> None:
    model = MIRCOClassifier(vote=vote, random_state=0).fit(*load_iris(return_X_y=True))

    assert model.vote_.is_plain == (vote != "fitted")
    assert not model.vote_.times(np.linspace(1, 2, len(model.rules_))).is_plain
