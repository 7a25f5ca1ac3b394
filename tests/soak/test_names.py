"""Names by a grammar that tries to break out of views, exports, texts and the report."""

from __future__ import annotations

import pytest
from hostile import PIECES, hostile_names, html_structure
from hypothesis import example, given, settings
from names import PLAIN, export_takes_it_for_a_name, text_goes_there_and_back, views_keep_their_structure

from rulecover import RuleSet


@pytest.mark.slow
@settings(max_examples=25)
@given(name=hostile_names().filter(lambda name: name != PLAIN))
def test_a_name_cannot_change_the_structure_of_what_is_shown(name: str) -> None:
    views_keep_their_structure(name)


@given(name=hostile_names())
@example(name=" ")
def test_a_name_is_read_back_from_the_text_of_its_rules(name: str) -> None:
    text_goes_there_and_back(name)


@pytest.mark.slow
@pytest.mark.parametrize("to", ["python", "pandas", "polars", "sqlite", "duckdb"])
@settings(max_examples=15)
@given(name=hostile_names())
def test_an_export_takes_a_name_for_nothing_else(name: str, to: str) -> None:
    export_takes_it_for_a_name(name, to)


@pytest.mark.parametrize("piece", PIECES["control"], ids=ascii)
def test_a_single_rule_is_printed_without_control_characters(piece: str) -> None:
    rule = RuleSet.of_intervals([{0: (0.0, 1.0)}], [f"x{piece}\n"])[0]
    assert str(rule).isprintable() and repr(rule).isprintable()
    assert piece in rule.text


def test_another_tag_is_another_structure() -> None:
    assert html_structure("<p>a</p>") == html_structure("<p>b &lt;b&gt;</p>") != html_structure("<p><b>a</b></p>")
