"""Exported SQL, executed in real databases, answers as the model does."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from databases import Database, DuckDB, SQLite, statements
from exported import HOSTILE, all_but, cases, coded_cases, hostile_case, many_rules, named_case, random_rules, text_case
from sqlglot import exp

from rulecover.exceptions import ExportError
from rulecover.export import conditions, sql_steps, to_sql, to_sql_expression
from rulecover.export.conditions import Script
from rulecover.export.dialects import DIALECTS

DATABASES = (SQLite, DuckDB)


@pytest.fixture(params=DATABASES, ids=lambda kind: kind.dialect)
def database(request: pytest.FixtureRequest) -> Database:
    return request.param()


def test_a_query_answers_as_the_model_does(database: Database) -> None:
    for number, case in enumerate(cases()):
        query = to_sql(case.model, "data", dialect=database.dialect, keep=["id"])

        assert database.answers(query, "data", case, null=number % 2 == 1) == case.table()


def test_all_categories_but_some_are_the_others(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(conditions, "conditions_of", all_but)
    for case in coded_cases():
        query = to_sql(case.model, "data", dialect=database.dialect, keep=["id"])

        assert database.answers(query, "data", case) == case.table()


def test_rules_in_many_blocks_answer_as_in_one(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sql_steps, "BLOCK", 2)
    for case in cases()[:40]:
        query = to_sql(case.model, "data", dialect=database.dialect, keep=["id"])

        assert database.answers(query, "data", case) == case.table()


def test_an_expression_gives_each_column_of_the_query(database: Database) -> None:
    for case in cases()[:16]:
        columns = Script(case.rules).outputs
        each = [to_sql_expression(case.model, "t", dialect=database.dialect, column=column) for column in columns]
        query = f"SELECT t.id, {', '.join(each)} FROM data AS t"

        assert database.answers(query, "data", case) == case.table()


def test_a_pool_of_many_rules_is_split_where_a_query_would_be_too_wide(database: Database) -> None:
    case = many_rules(450)
    query = to_sql(case.model, "data", dialect=database.dialect, keep=["id"])

    assert database.answers(query, "data", case) == case.table()


def test_numbers_are_read_bit_for_bit(database: Database) -> None:
    rng = np.random.default_rng(0)
    bits = np.frombuffer(rng.bytes(8 * 1000))
    values = np.concatenate(
        [bits[np.isfinite(bits)], rng.normal(size=1000), [0.0, 5e-324, 1.7976931348623157e308, 0.1]]
    )
    dialect = DIALECTS[database.dialect]
    for some in np.array_split(values, 10):
        texts = [dialect.text(dialect.number(value)) for value in some.tolist()]

        assert list(database.rows(f"SELECT {', '.join(texts)}")[0]) == some.tolist()


@pytest.mark.parametrize("dialect", DIALECTS)
def test_every_dialect_reads_its_query_back_as_one_statement_with_the_same_names(dialect: str) -> None:
    rng = np.random.default_rng(1)
    names = tuple(name for name in HOSTILE)
    model = random_rules(rng, names=names)
    script = Script(model)
    used = {names[f] for f in script.features}

    (query,) = statements(to_sql(model, HOSTILE[0], dialect=dialect, keep=["id"]), dialect)

    assert isinstance(query, exp.Select)
    assert query.named_selects == ["id", *script.outputs]
    read = {column.name for column in query.find_all(exp.Column) if column.table == "source"}
    assert read == used | {"id"}
    assert HOSTILE[0] in {table.name for table in query.find_all(exp.Table)}
    (expression,) = statements("SELECT " + to_sql_expression(model, "t", dialect=dialect), dialect)
    assert {column.name for column in expression.find_all(exp.Column) if column.table == "t"} == used


@pytest.mark.parametrize("dialect", DIALECTS)
def test_every_kind_of_answer_is_read_back_by_every_dialect(dialect: str) -> None:
    kinds = {(type(case.rules.answer), case.rules.fallback, case.rules.afar is None): case for case in cases()}
    for case in kinds.values():
        (query,) = statements(to_sql(case.model, "data", dialect=dialect), dialect)

        assert query.named_selects == Script(case.rules).outputs
    assert len(kinds) > 12


@pytest.mark.parametrize("hostile", HOSTILE, ids=ascii)
def test_hostile_names_of_columns_classes_and_tables_are_only_names(database: Database, hostile: str) -> None:
    case = hostile_case(hostile)
    database.connection.execute("CREATE TABLE victim (x INTEGER)")
    query = to_sql(case.model, hostile, dialect=database.dialect, keep=["id"])

    assert database.answers(query, hostile, case) == case.table()
    assert database.rows("SELECT * FROM victim") == []


@pytest.mark.parametrize("made", [text_case, named_case])
def test_levels_and_categories_are_read_from_the_text(database: Database, made: Any) -> None:
    case, raw = made()
    query = to_sql(case.model, "data", dialect=database.dialect, keep=["id"])

    assert database.text_answers(query, raw) == case.table()


def test_sqlite_takes_text_that_is_a_number_and_no_other() -> None:
    case, database = hostile_case("age"), SQLite()
    database.connection.execute("CREATE TABLE data (id INTEGER, age TEXT, other TEXT)")
    rows = [(0, "0.5", "2.5"), (1, "", "2.5"), (2, "many", "2.5"), (3, None, "2.5"), (4, "-1e0", "2.5")]
    database.insert("data", 3, rows)
    answers = sorted(database.rows(to_sql(case.model, "data", dialect="sqlite", keep=["id"])))
    meant = case.model.predict_proba([[0.5, 2.5], *[[np.nan, 2.5]] * 3, [-1.0, 2.5]])

    assert [list(row[2:4]) for row in answers] == meant.tolist()


def test_sqlite_complains_about_a_column_that_is_not_there() -> None:
    """It takes a name in double quotes for a text if there is no such column: rules on it would hold for every row."""
    case, database = hostile_case("age"), SQLite()
    database.connection.execute("CREATE TABLE data (id INTEGER, other REAL)")
    query = to_sql(case.model, "data", dialect="sqlite")
    expression = to_sql_expression(case.model, "data", dialect="sqlite")

    for text in (query, f"SELECT {expression} FROM data"):
        with pytest.raises(Exception, match="no such column"):
            database.rows(text)


def test_classes_too_long_for_a_column_name_are_numbered(database: Database) -> None:
    case = hostile_case("x" * 200)
    query = to_sql(case.model, "data", dialect=database.dialect, keep=["id"])

    assert Script(case.rules).outputs[1:3] == ["probability_0", "probability_1"]
    assert database.answers(query, "data", case) == case.table()


def test_what_cannot_be_said_is_refused_with_a_way_out() -> None:
    model = hostile_case("age").model
    with pytest.raises(ExportError, match=r"no SQL dialect 'dbase'.*'postgres', 'sqlite'"):
        to_sql(model, "t", dialect="dbase")
    with pytest.raises(ExportError, match="'prediction'"):
        to_sql(model, "t", dialect="duckdb", keep=["Prediction"])
    with pytest.raises(ExportError, match="'Other' and 'other'"):
        to_sql(hostile_case("Other").model, "t", dialect="duckdb")
    with pytest.raises(ExportError, match="no database has a column named"):
        to_sql(hostile_case("x\0").model, "t", dialect="duckdb")
    with pytest.raises(ExportError, match="table is"):
        to_sql(model, "", dialect="duckdb")
    with pytest.raises(ExportError, match="no column 'klass'"):
        to_sql_expression(model, "t", dialect="duckdb", column="klass")
