"""Rules and figures for people: text, HTML and words."""

from __future__ import annotations

from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_iris, make_classification
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import RandomForestClassifier
from sklearn.tree import DecisionTreeClassifier

from rulecover import MIRCOClassifier, RuleSet, explain
from rulecover.setcover import Certificate, Status
from rulecover.view.report import report_html, write_report
from rulecover.view.summary import Summary
from rulecover.view.text import aligned, percent, printable
from rulecover.view.words import certificate_in_words, cost_in_words, figures_in_words, summary_in_words

HOSTILE = "<script>alert('x')</script>\x1b[31m\n[bold]"


def fitted(**options: Any) -> tuple[MIRCOClassifier, Any, Any]:
    X, y = load_iris(return_X_y=True, as_frame=True)
    forest = RandomForestClassifier(10, max_depth=4, random_state=0).fit(X[::2], y[::2])
    return explain(forest, X[::2], y[::2], **options), X[1::2], y[1::2]


def summary(**options: Any) -> Summary:
    model, X, y = fitted(**options)
    return Summary.of(model, X, y, title="Iris", beside={"forest": model.estimator_})


def hostile_rules() -> RuleSet:
    X, y = make_classification(80, n_features=4, random_state=0)
    forest = RandomForestClassifier(5, max_depth=3, random_state=0).fit(X, y)
    rules = explain(forest, X, y).rules_
    assert rules.evidence is not None
    classes = np.array([HOSTILE, "<b>other"])
    names = tuple(f"{HOSTILE}{f}" for f in range(4))
    return replace(rules, feature_names=names, evidence=replace(rules.evidence, classes=classes))


class Page(HTMLParser):
    """The tags, the attributes and the text of a page, and whether every tag is closed in its order."""

    EMPTY = ("meta", "br", "img", "link")

    def __init__(self, source: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str, str | None]] = []
        self.text = ""
        self.open: list[str] = []
        self.feed(source)
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += [(tag, name, value) for name, value in attrs]
        if tag not in self.EMPTY:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data


# Text -----------------------------------------------------------------------------------------------------------


def test_printed_rules_stand_in_columns_under_their_header() -> None:
    lines = str(fitted()[0].rules_).splitlines()

    assert lines[0].split() == ["rule", "then", "samples", "purity", "if"]
    at = lines[0].index("if")
    assert all(line[at - 1] == " " != line[at] for line in lines)


def test_rules_that_have_not_met_data_print_their_conditions_alone() -> None:
    rules = RuleSet.of_intervals([{0: (1, 2)}, {}], ["size"])

    assert str(rules) == "rule  if\n   0  1 < size <= 2\n   1  always"


def test_no_rules_print_as_such() -> None:
    assert str(RuleSet.of_intervals([], ["size"])) == "no rules"


def test_a_name_with_line_ends_and_escapes_stays_on_its_line() -> None:
    rules = hostile_rules()

    assert len(str(rules).splitlines()) == len(rules) + 1
    assert "\x1b" not in str(rules) and "\\x1b[31m\\n[bold]" in str(rules)


def test_wide_and_combining_letters_do_not_shift_columns() -> None:
    lines = aligned([("色", "x"), ("ab", "y"), ("e\u0301e", "z")], right=(False, False)).splitlines()

    assert lines == ["色  x", "ab  y", "e\u0301e  z"]


def test_a_purity_below_one_is_never_shown_as_a_hundred() -> None:
    assert [percent(p) for p in (0, 0.001, 0.994, 0.996, 1)] == ["0 %", "<1 %", "99 %", ">99 %", "100 %"]


@pytest.mark.parametrize(
    ("text", "shown"), [("a b", "a b"), ("a\nb", "a\\nb"), ("\u202e", "\\u202e"), ("≠ é 色", "≠ é 色")]
)
def test_only_what_cannot_be_seen_is_written_out(text: str, shown: str) -> None:
    assert printable(text) == shown


# HTML -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("rules", [hostile_rules(), replace(hostile_rules(), evidence=None)], ids=["seen", "unseen"])
def test_a_notebook_shows_names_as_text(rules: RuleSet) -> None:
    page = Page(rules._repr_html_())

    assert set(page.tags) <= {"table", "thead", "tbody", "tr", "th", "td"}
    assert "<script>alert('x')</script>" in page.text
    assert page.tags.count("tr") == len(rules) + 1


def test_the_report_shows_each_rule_with_its_bar_and_its_figures() -> None:
    shown = summary()
    page = Page(report_html(shown))

    assert page.tags.count("tr") == 1 + len(shown.scores) + 1 + len(shown.rules) + 1 + len(features_of(shown.rules))
    assert sum(value == "bar" for tag, name, value in page.attributes if name == "class") == len(shown.rules)
    for sentence in certificate_in_words(shown.certificate):
        assert sentence.split(" (")[0] in page.text
    for rule in shown.rules:
        assert all(str(clause) in page.text for clause in rule.clauses)


def features_of(rules: RuleSet) -> set[str]:
    return {clause.name for rule in rules for clause in rule.clauses}


def test_the_report_escapes_every_name_and_asks_for_nothing() -> None:
    shown = replace(summary(), rules=hostile_rules(), title=HOSTILE, notes=(HOSTILE,))
    source = report_html(shown)
    page = Page(source)

    assert not {"script", "b", "img", "link", "a", "iframe"} & set(page.tags)
    assert not [name for _, name, _ in page.attributes if name.startswith("on") or name in ("src", "href")]
    assert "http" not in source and "url(" not in source and "\x1b" not in source


def test_columns_of_the_report_are_named_for_screen_readers() -> None:
    page = Page(report_html(summary()))

    scopes = [value for tag, name, value in page.attributes if tag == "th" and name == "scope"]
    assert set(scopes) == {"col", "row"} and len(scopes) == page.tags.count("th")
    assert any(name == "lang" for tag, name, _ in page.attributes if tag == "html")
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
    many = Summary.of(explain(stump, X, y), X, y, title="Many classes")
    one = Summary.of(explain(lone, X[:2], [0, 0]), X[:2], [0, 0], title="One class")

    assert "c8" in report_html(many)
    assert "always" in Page(report_html(one)).text


def test_weighted_counts_are_shown_as_they_are() -> None:
    X, y = load_iris(return_X_y=True)
    model = MIRCOClassifier(DecisionTreeClassifier(max_depth=2, random_state=0))
    model.fit(X, y, sample_weight=np.full(len(y), 0.5))
    Page(report_html(Summary.of(model, X, y, title="Halves")))

    assert str(model.rules_).splitlines()[1].split()[2] == "25"


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


# Words ----------------------------------------------------------------------------------------------------------


def certificate(status: Status, **changes: Any) -> Certificate:
    plain = {"objective": 10.0, "bound": 8.0, "source": "LP", "status": status, "n_rules": 9, "seconds": 0.1}
    return Certificate(**(plain | changes))


@pytest.mark.parametrize(
    ("said", "words"),
    [
        (certificate(Status.OPTIMAL, bound=10.0), "Optimal: these 9 rules cover every training row"),
        (certificate(Status.FEASIBLE), "(by linear programming), so a better one could save 20 % of the cost at most"),
        (certificate(Status.FEASIBLE, source="dual fitting"), "may be weak"),
        (certificate(Status.TIME_LIMIT), "The time was up"),
        (certificate(Status.TIME_LIMIT, min_rules=7), "fewer than 7 rules"),
        (certificate(Status.OPTIMAL, bound=10.0, min_rules=9), "fewer than 9 rules: these are as few as can be"),
        (certificate(Status.LIMITED, n_uncovered=4), "leaves 4 training rows"),
        (certificate(Status.FEASIBLE, n_capped=3), "3 rows could not be covered as often as asked"),
        (certificate(Status.FEASIBLE, n_rules=1, bound=10.0), "covered by this one rule"),
    ],
)
def test_a_certificate_is_put_in_words(said: Certificate, words: str) -> None:
    assert words in " ".join(certificate_in_words(said))


def test_only_a_proved_cover_is_called_optimal() -> None:
    for status in (Status.FEASIBLE, Status.TIME_LIMIT):
        assert "ptimal" not in " ".join(certificate_in_words(certificate(status)))


def test_a_limited_cover_claims_no_bound() -> None:
    assert "No choice" not in " ".join(certificate_in_words(certificate(Status.LIMITED, n_uncovered=1, min_rules=5)))


def test_figures_say_who_answers_for_missed_rows() -> None:
    shown = summary()

    assert "almost meets" in figures_in_words(replace(shown, missed=0.1, fallback="closest"))[1]
    assert "mine answers" in figures_in_words(replace(shown, missed=0.1, fallback="mine"))[1]
    assert "Every held-out row" in figures_in_words(replace(shown, missed=0.0))[1]


def test_the_cost_is_described_as_it_was_set() -> None:
    assert "1 plus its impurity" in cost_in_words(summary().rules)
    assert "weights that were set" in cost_in_words(summary(length_weight=0.5).rules)


def test_a_summary_measures_the_model_on_the_rows_it_is_given() -> None:
    model, X, y = fitted()
    shown = Summary.of(model, X, y, title="Iris", beside={"forest": model.estimator_})

    assert shown.scores[0].accuracy == model.score(X, y)
    assert shown.scores[1].accuracy == model.estimator_.score(X, y)
    assert shown.missed == model.missed(X).mean()
    assert shown.fidelity == model.fidelity(X)
    assert shown.scores[1].size == f"{model.n_candidate_rules_} rules in 10 trees"
    assert f"checked on {len(y)} held-out rows" in summary_in_words(shown)


def test_models_beside_the_rules_may_be_of_any_kind() -> None:
    model, X, y = fitted()
    others = {"tree": DecisionTreeClassifier(max_depth=1).fit(X, y), "guess": DummyClassifier().fit(X, y)}
    shown = Summary.of(model, X, y, title="Iris", beside=others)

    assert [score.size for score in shown.scores[1:3]] == ["2 rules (leaves)", ""]
