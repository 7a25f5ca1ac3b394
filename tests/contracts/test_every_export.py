"""What every export promises: executed, it answers as the model does. A new format is a line in `EXPORTS`.

What needs more than Python to run is in `tests/system/`.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
from databases import DuckDB, SQLite
from exported import ASKED, HOSTILE, Case, all_but, cases, coded_cases, hostile_case, log_odds_cases
from running import by_expression, by_json, by_onnx, by_pandas, by_polars, by_python, by_query

from rulecover import export
from rulecover.export import conditions

Answers = Callable[[Case], list[tuple[Any, ...]]]
#: The function that exports, and what runs the export on the rows of a case.
EXPORTS: dict[str, tuple[str, Answers]] = {
    "python": ("to_python", by_python),
    "pandas": ("to_pandas", by_pandas),
    "polars": ("to_polars", by_polars),
    "onnx": ("to_onnx", by_onnx),
    "json": ("to_json", by_json),
    "sqlite": ("to_sql", partial(by_query, kind=SQLite)),
    "sqlite, missing as NULL": ("to_sql", partial(by_query, kind=SQLite, null=True)),
    "sqlite, expressions": ("to_sql_expression", partial(by_expression, kind=SQLite)),
    "duckdb": ("to_sql", partial(by_query, kind=DuckDB)),
    "duckdb, missing as NULL": ("to_sql", partial(by_query, kind=DuckDB, null=True)),
    "duckdb, expressions": ("to_sql_expression", partial(by_expression, kind=DuckDB)),
}
#: In Node and Java.
IN_SYSTEM = {"to_javascript", "to_pmml"}

every_export = pytest.mark.parametrize("name", EXPORTS)


def some(all_cases: list[Case], name: str) -> list[Case]:
    """All cases, but for what takes long: every fourth for a query, each query others, and few for expressions.

    With `make test-exports` all cases, and all expressions of fewer than 12 rules.
    """
    if "expressions" in name:  # which grow with the square of the number of rules
        return [case for case in all_cases if len(case.rules.rules) < 12][:: 1 if ASKED else 15]
    if ASKED:
        return all_cases
    queries = [each for each, (function, _) in EXPORTS.items() if function == "to_sql"]
    return all_cases[queries.index(name) :: len(queries)] if name in queries else all_cases


def test_every_export_is_here() -> None:
    assert {name for name in export.__all__ if name.startswith("to_")} == {
        name for name, _ in EXPORTS.values()
    } | IN_SYSTEM


@pytest.mark.slow
@every_export
def test_an_export_answers_as_the_model_does(name: str) -> None:
    answers = EXPORTS[name][1]
    for case in some(cases(), name):
        assert case.agrees_with(answers(case))


@pytest.mark.slow
@every_export
def test_an_export_adds_up_log_odds_as_the_model_does(name: str) -> None:
    answers = EXPORTS[name][1]
    for case in some(log_odds_cases(), name):
        assert case.agrees_with(answers(case))


@pytest.mark.slow
@every_export
def test_all_categories_but_some_are_the_others(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(conditions, "conditions_of", all_but)
    answers = EXPORTS[name][1]
    for case in some(coded_cases(), name):
        assert case.agrees_with(answers(case))


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in EXPORTS if name != "json"])
def test_a_new_fallback_of_a_known_kind_needs_no_line_in_an_export(name: str, new_fallbacks: list[Case]) -> None:
    for case in new_fallbacks:
        assert case.agrees_with(EXPORTS[name][1](case))


@pytest.mark.slow
@pytest.mark.parametrize("hostile", HOSTILE, ids=ascii)
@every_export
def test_hostile_names_of_columns_and_classes_are_only_names(name: str, hostile: str) -> None:
    case = hostile_case(hostile)
    assert EXPORTS[name][1](case) == case.table()
