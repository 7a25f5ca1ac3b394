"""Exported SQL in real databases and dialects; that it answers as the model does is a contract."""

from __future__ import annotations

import re
import sqlite3
from typing import Any

import numpy as np
import pandas as pd
import pytest
import sqlglot
from databases import Database, DuckDB, SQLite, statements
from exported import (
    HOSTILE,
    cases,
    hostile_case,
    many_rules,
    named_case,
    random_rules,
    text_case,
    truth_case,
)
from sklearn.datasets import load_digits
from sklearn.ensemble import RandomForestClassifier
from sqlglot import exp

from rulecover import MIRCOClassifier
from rulecover.exceptions import ExportError, MismatchedDataError
from rulecover.export import sql_steps, to_sql, to_sql_expression
from rulecover.export.conditions import Script
from rulecover.export.dialects import DIALECTS

DATABASES = (SQLite, DuckDB)


@pytest.fixture(params=DATABASES, ids=lambda kind: kind.dialect)
def database(request: pytest.FixtureRequest) -> Database:
    return request.param()


@pytest.mark.slow
def test_rules_in_many_blocks_answer_as_in_one(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sql_steps, "BLOCK", 2)
    for case in cases()[:40]:
        query = to_sql(case.model, "data", dialect=database.dialect, keep=["id"])

        assert case.agrees_with(database.answers(query, "data", case))


@pytest.mark.slow
def test_a_pool_of_many_rules_is_split_where_a_query_would_be_too_wide(database: Database) -> None:
    case = many_rules(450)
    query = to_sql(case.model, "data", dialect=database.dialect, keep=["id"])

    assert database.answers(query, "data", case) == case.table()


@pytest.mark.slow
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


def test_sqlite_reads_no_decimal_that_it_may_read_wrong() -> None:
    """Decimals of up to 15 digits that are exactly the number stay; all others are written by whole numbers."""
    dialect = DIALECTS["sqlite"]
    as_it_is = [0.5, -2.75, 12345678901234.5, 999999999999.125, 2.0**-10]
    in_parts = [0.1, 123456789012345.5, 1234567890123.125, 1e15 + 0.5, 2.0**-30, 1 / 3]
    for value in as_it_is:
        assert f"CAST({abs(value)}e0 AS REAL)" in dialect.text(dialect.number(value))
    for value in in_parts:
        assert re.fullmatch(r"\(\s*(CAST\(\d+ AS REAL\)[\s*/]*)+\)", dialect.text(dialect.number(value)))


@pytest.mark.slow
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


@pytest.mark.slow
@pytest.mark.parametrize("dialect", DIALECTS)
def test_every_kind_of_answer_is_read_back_by_every_dialect(dialect: str) -> None:
    kinds = {
        (type(case.rules.answer), case.rules.fallback.name, case.rules.fallback_votes is None): case for case in cases()
    }
    for case in kinds.values():
        (query,) = statements(to_sql(case.model, "data", dialect=dialect), dialect)

        assert query.named_selects == Script(case.rules).outputs
    assert len(kinds) > 12


@pytest.mark.slow
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

    for text in database.texts:
        assert database.text_answers(query, raw, text) == case.table(), text


def test_a_column_of_truth_values_has_the_levels_true_and_false(database: Database) -> None:
    case, raw = truth_case()
    query = to_sql(case.model, "data", dialect=database.dialect, keep=["id"])

    assert database.text_answers(query, raw, "BOOLEAN") == case.table()


def test_truth_values_as_classes_are_bits_where_there_are_no_words_for_them() -> None:
    X = np.random.default_rng(0).uniform(size=(60, 2))
    model = MIRCOClassifier(RandomForestClassifier(2, max_depth=2, random_state=0)).fit(X, X[:, 0] > 0.5)

    queries = {dialect: to_sql(model, "data", dialect=dialect) for dialect in ("tsql", "duckdb")}

    assert "CAST(1 AS BIT)" in queries["tsql"] and "TRUE" not in queries["tsql"]
    assert "TRUE" in queries["duckdb"] and "BIT" not in queries["duckdb"]


#: Texts that are numbers as a whole, in part, or not at all.
CELLS = (
    *("0.5", " 0.5\n", "+.5", "5.", "-1e0", "1E+2", "1e400", "-0", "9007199254740993", "0" * 30 + "1"),
    *("", " ", "many", "2020-01-01", "12:30", "1e", "1e5.5", "1.2.3", "--1", "1-", ".", "-", "e5", "0x10", "1_000"),
    *("1,5", "1 2", "12abc", "٣", "0.5\xa0", "nan", "NULL", "true"),
)


@pytest.mark.parametrize("kind", ["TEXT", "NUMERIC", "REAL", "BLOB", "DATE"])
def test_sqlite_takes_text_for_a_number_where_the_model_does_and_no_other(kind: str) -> None:
    case, database = hostile_case("age"), SQLite()
    database.connection.execute(f"CREATE TABLE data (id INTEGER, age {kind}, other TEXT)")
    database.insert("data", 3, [(i, cell, "2.5") for i, cell in enumerate(CELLS)])
    answers = sorted(database.rows(to_sql(case.model, "data", dialect="sqlite", keep=["id"])))

    for answer, cell in zip(answers, CELLS, strict=True):
        try:
            meant = case.model.predict_proba(pd.DataFrame({"age": [cell], "other": ["2.5"]}, dtype=object))
        except MismatchedDataError:
            meant = case.model.predict_proba([[np.nan, 2.5]])
        assert list(answer[2:4]) == meant[0].tolist(), cell


def test_names_of_steps_are_free_for_columns_to_keep(database: Database) -> None:
    case = hostile_case("age")
    keep = ["id", "votes_0", "x_0", "fired", "list", "total", "true"]
    kept = ", ".join(f"{database.quoted(name)} INTEGER" for name in keep)
    database.connection.execute(f"CREATE TABLE data (age {database.double}, other {database.double}, {kept})")
    database.insert("data", 9, [(*row, i, 91, 92, 93, 94, 95, 96) for i, row in enumerate(case.X.tolist())])
    answers = sorted(database.rows(to_sql(case.model, "data", dialect=database.dialect, keep=keep)))

    assert [row[:7] for row in answers] == [(i, 91, 92, 93, 94, 95, 96) for i in range(len(case.X))]
    assert [row[7:] for row in answers] == case.table()


@pytest.mark.slow
def test_names_that_are_one_in_a_database_are_refused_there_and_nowhere_else() -> None:
    long = "x" * 62
    pairs = {
        ("Other", "other"): {"sqlite", "duckdb", "bigquery", "spark", "tsql"},
        ("Ä", "ä"): {"bigquery", "spark", "tsql"},
        (f"{long}a", f"{long}b"): set(),
        (f"{long}ab", f"{long}ac"): {"postgres"},
        (f"{long}öb", f"{long}öc"): {"postgres"},
        (f"{long}aö", f"{long}aü"): {"postgres"},
    }
    for names, meant in pairs.items():
        model = random_rules(np.random.default_rng(0), names=names)
        assert len(Script(model).features) == 2

        refused = {
            dialect for dialect in DIALECTS if not exported_to(dialect, model, "does not distinguish the columns")
        }
        assert refused == meant, names


def test_names_that_are_too_long_for_a_database_are_refused() -> None:
    limits = {128: set(), 129: {"tsql"}, 256: {"tsql", "snowflake"}, 301: {"tsql", "snowflake", "bigquery"}}
    for length, meant in limits.items():
        model = hostile_case("ö" * length).model

        refused = {dialect for dialect in DIALECTS if not exported_to(dialect, model, f"name of {length} characters")}
        assert refused == meant


def exported_to(dialect: str, model: Any, message: str) -> bool:
    """Whether there is a query; if there is none, the error says so."""
    try:
        return bool(to_sql(model, "data", dialect=dialect))
    except ExportError as error:
        assert message in str(error)
        return False


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
    for dialect in DIALECTS:
        with pytest.raises(ExportError, match="the query returns a column 'rules' of its own"):
            to_sql(model, "t", dialect=dialect, keep=["id", "rules"])
    with pytest.raises(ExportError, match="'Other' and 'other'"):
        to_sql(hostile_case("Other").model, "t", dialect="duckdb")
    with pytest.raises(ExportError, match="databases cannot have a column named"):
        to_sql(hostile_case("x\0").model, "t", dialect="duckdb")
    with pytest.raises(ExportError, match="table is"):
        to_sql(model, "", dialect="duckdb")
    with pytest.raises(ExportError, match="no column 'klass'"):
        to_sql_expression(model, "t", dialect="duckdb", column="klass")


def test_one_column_to_keep_is_given_by_its_name() -> None:
    model = many_rules(3).model
    one, several = (to_sql(model, "data", dialect="duckdb", keep=keep) for keep in ("id", ["id"]))

    assert one == several


def test_the_largest_of_some_terms_is_max_in_sqlite_whatever_sqlglot_makes_of_it() -> None:
    largest = DIALECTS["sqlite"].greatest([exp.column("a"), exp.column("b")])

    assert not isinstance(largest, exp.Greatest)
    assert largest.sql() == "MAX(a, b)"


def test_sqlite_does_not_write_out_the_steps_of_an_expression_wherever_they_are_used() -> None:
    """Its program has fewer instructions than the expression has words, and not a hundred times as many."""
    X, y = load_digits(return_X_y=True)
    forest = RandomForestClassifier(3, max_depth=4, random_state=0)
    model = MIRCOClassifier(forest).fit(X[:60], y[:60])
    database = sqlite3.connect(":memory:")
    database.execute(f"CREATE TABLE data ({', '.join(f'x{k} REAL' for k in range(64))})")
    answer = to_sql_expression(model, "t", dialect="sqlite")
    program = database.execute(f"EXPLAIN SELECT {answer} FROM data AS t").fetchall()

    assert len(program) < len(answer.split())


@pytest.mark.parametrize("dialect", ["postgres", "tsql"])
def test_every_step_of_an_expression_has_a_name_where_databases_ask_for_one(dialect: str) -> None:
    made = random_rules(np.random.default_rng(0))
    parsed = sqlglot.parse_one(f"SELECT {to_sql_expression(made, 't', dialect=dialect)} FROM t", dialect=dialect)

    inner = [each for each in parsed.find_all(exp.Subquery) if isinstance(each.parent, exp.From)]
    assert inner and all(each.alias for each in inner)
