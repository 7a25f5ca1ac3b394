"""Rules and figures for people: text, HTML and words."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from page import Page
from shown import fitted, hostile_rules, summary
from sklearn.dummy import DummyClassifier
from sklearn.tree import DecisionTreeClassifier

from rulecover import RuleSet, explain
from rulecover.report.summary import Summary
from rulecover.report.words import certificate_in_words, cost_in_words, figures_in_words, summary_in_words
from rulecover.setcover import Certificate, Status
from rulecover.show.text import aligned, percent, printable

# Text -----------------------------------------------------------------------------------------------------------


def test_printed_rules_stand_in_columns_under_their_header() -> None:
    lines = str(fitted()[0].rules_).splitlines()

    assert lines[0].split() == ["rule", "then", "support", "purity", "if"]
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

    assert set(page.tags) <= {"div", "style", "table", "thead", "tbody", "tr", "th", "td", "span"}
    assert "<script>alert('x')</script>" in page.text
    assert page.tags.count("tr") == len(rules) + 1


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

    assert (
        "largest share of satisfied clauses vote" in figures_in_words(replace(shown, missed=0.1, fallback="closest"))[1]
    )
    assert "mine predicts" in figures_in_words(replace(shown, missed=0.1, fallback="mine"))[1]
    assert "Every held-out row" in figures_in_words(replace(shown, missed=0.0))[1]


def test_the_cost_is_described_as_it_was_set() -> None:
    assert "1 plus its impurity" in cost_in_words(summary().rules)
    assert "weights that were set" in cost_in_words(summary(length_weight=0.5).rules)


def test_a_summary_measures_the_model_on_the_rows_it_is_given() -> None:
    model, X, y = fitted()
    shown = Summary.of(model, X, y, title="Iris", compare_with={"forest": model.estimator_})

    assert shown.scores[0].accuracy == model.score(X, y)
    assert shown.scores[1].accuracy == model.estimator_.score(X, y)
    assert shown.missed == model.missed(X).mean()
    assert shown.fidelity == model.fidelity(X)
    assert shown.scores[1].size == f"{model.n_candidate_rules_} rules in 10 trees"
    assert f"checked on {len(y)} held-out rows" in summary_in_words(shown)


def test_models_beside_the_rules_may_be_of_any_kind() -> None:
    model, X, y = fitted()
    others = {"tree": DecisionTreeClassifier(max_depth=1).fit(X, y), "guess": DummyClassifier().fit(X, y)}
    others["leaf"] = DecisionTreeClassifier(max_leaf_nodes=2, min_samples_leaf=len(y)).fit(X, y)
    shown = Summary.of(model, X, y, title="Iris", compare_with=others)

    assert [score.size for score in shown.scores[1:4]] == ["2 rules (leaves)", "", "1 rule (leaf)"]


def test_of_many_classes_five_default_votes_are_named() -> None:
    X, y = np.arange(336.0)[:, None], np.array([f"c{k // 3:03}" for k in range(336)])
    seen = explain(DecisionTreeClassifier().fit(X, y), X, y, method="cover").rules_.evidence
    assert seen is not None

    (sentence,) = seen.view.start_in_words([tuple(np.linspace(-1, 1.5, 112))])

    assert "+1.5 for c111, … (107 more classes); the votes" in sentence and sentence.count(" for ") == 5
