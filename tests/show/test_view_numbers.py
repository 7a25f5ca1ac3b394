"""Rules that predict numbers, for people: text, frames, HTML, words and the report."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from page import Page
from shown import HOSTILE
from sklearn.datasets import make_friedman1
from sklearn.metrics import r2_score
from sklearn.tree import DecisionTreeRegressor

from rulecover import MIRCORegressor, Summary, write_report
from rulecover.data.columns import Columns
from rulecover.report.report import report_html
from rulecover.report.words import figures_in_words, summary_in_words
from rulecover.show.numbers import format_number, format_signed


def fitted(**options: Any) -> tuple[MIRCORegressor, np.ndarray, np.ndarray]:
    X, y = make_friedman1(300, 5, noise=1.0, random_state=0)
    model = MIRCORegressor(**{"max_rules": 8, "random_state": 0, **options})
    return model.fit(X[::2], y[::2]), X[1::2], y[1::2]


def summary(**options: Any) -> Summary:
    model, X, y = fitted(**options)
    return Summary.of(model, X, y, title="Friedman", compare_with={"forest": model.estimator_})


@pytest.mark.slow
@pytest.mark.parametrize(
    ("options", "header"),
    [
        ({}, ["rule", "adds", "mean", "spread", "support", "if"]),
        ({"ridge": None}, ["rule", "mean", "spread", "support", "if"]),
    ],
)
def test_printed_rules_show_means_and_spreads_and_what_they_add(options: dict, header: list[str]) -> None:
    model, _, _ = fitted(**options)
    lines = str(model.rules_).splitlines()
    assert lines[0].split() == header and len(lines) == len(model.rules_) + 1
    seen = model.rules_.evidence
    for j, line in enumerate(lines[1:]):
        shown = dict(zip(header, line.split(), strict=False))
        assert float(shown["mean"]) == pytest.approx(seen.mean[j], rel=1e-3)
        assert float(shown["spread"]) == pytest.approx(seen.spread[j], rel=1e-3)
        assert float(shown["support"]) == seen.support[j]
        if "adds" in header:
            assert shown["adds"][0] in "+-" and float(shown["adds"]) == pytest.approx(seen.adds[j], rel=1e-3)


def test_a_rule_says_its_mean_and_its_spread() -> None:
    rule = fitted()[0].rules_[0]
    assert rule.purity is None and rule.counts is None
    found = f"{format_number(rule.prediction)} ± {format_number(rule.spread)}"
    assert str(rule) == f"if {rule.text} then {found} ({rule.support:.0f} rows)"


@pytest.mark.slow
def test_the_frame_has_a_line_a_rule_with_all_that_was_found() -> None:
    model, _, _ = fitted()
    frame = model.rules_.to_frame()
    assert list(frame) == ["rule", "clauses", "support", "share", "mean", "spread", "adds", "impurity", "cost"]
    np.testing.assert_allclose(frame["adds"], model.rules_.evidence.adds)
    assert "adds" not in fitted(ridge=None)[0].rules_.to_frame()
    assert list(model.rules_[[2, 0]].to_frame()["adds"]) == [frame["adds"][2], frame["adds"][0]]


def test_a_notebook_shows_a_row_a_rule() -> None:
    rules = fitted()[0].rules_
    names = tuple(f"{HOSTILE}{f}" for f in range(5))
    page = Page(replace(rules, columns=Columns(names))._repr_html_())
    assert page.tags.count("tr") == len(rules) + 1 and "Adds" in page.text
    assert set(page.tags) <= {"div", "style", "table", "thead", "tbody", "tr", "th", "td", "span"}


@pytest.mark.slow
@pytest.mark.parametrize("options", [{}, {"ridge": None}, {"solver": "greedy", "max_rules": 3}])
def test_the_report_shows_each_rule_with_its_bar(options: dict, tmp_path) -> None:
    model, X, y = fitted(**options)
    shown = Summary.of(model, X, y, title=HOSTILE, compare_with={"tree": DecisionTreeRegressor(max_depth=1).fit(X, y)})
    source = report_html(shown)
    page = Page(source)
    assert page.values("span", "class").count("range") == len(model.rules_)
    assert ("Adds" in page.text) == (model.rules_.evidence.adds is not None)
    page.asks_for_nothing()
    assert not {"b", "img", "iframe"} & set(page.tags)
    assert "url(" not in source and "\x1b" not in source
    scopes = [value for tag, name, value in page.attributes if tag == "th" and name == "scope"]
    assert set(scopes) == {"col", "row"} and len(scopes) == page.tags.count("th")
    assert write_report(shown, tmp_path / "report.html").exists()


def test_places_on_the_bars_stay_on_the_bars() -> None:
    page = Page(report_html(summary()))
    styles = [value for tag, name, value in page.attributes if name == "style" and "left:" in value]
    places = [float(part.split(":")[1].rstrip("%")) for style in styles for part in style.split(";") if part]
    assert len(places) > 10 and min(places) >= -0.05 and max(places) <= 100.05


@pytest.mark.slow
def test_a_summary_measures_by_r_squared_beside_the_mean() -> None:
    model, X, y = fitted()
    shown = summary()
    assert shown.scores[0].accuracy == pytest.approx(model.score(X, y))
    assert shown.scores[1].accuracy == pytest.approx(r2_score(y, model.estimator_.predict(X)))
    assert shown.scores[-1].name == "mean of all rows" and shown.scores[-1].accuracy <= 0
    assert "(numbers, " in summary_in_words(shown)
    assert "explain" in figures_in_words(shown)[0] and "of the variance of the model" in figures_in_words(shown)[0]
    assert "mean of all rows" in figures_in_words(replace(shown, missed=0.1))[1]


def test_a_constant_target_is_reported() -> None:
    X, _ = make_friedman1(40, 5, random_state=0)
    model = MIRCORegressor(random_state=0).fit(X, np.full(40, 3.0))
    assert "3 ± 0" in report_html(Summary.of(model, X, np.full(40, 3.0), title="Constant"))


@pytest.mark.parametrize(
    ("number", "text"), [(0.0, "0"), (12345.6, "12346"), (1e20, "1e+20"), (-0.5, "-0.5"), (999.96, "1000")]
)
def test_numbers_are_spoken_in_few_digits(number: float, text: str) -> None:
    assert format_number(number) == text
    assert format_signed(number) == (text if number < 0 else f"+{text}")
