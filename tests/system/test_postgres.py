"""Exported SQL in a real PostgreSQL answers as the model does."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import psycopg
import pytest
from dated import FORMATS, parts_of, some_texts
from exported import (
    HOSTILE,
    Case,
    all_but,
    cases,
    coded_cases,
    hostile_case,
    log_odds_cases,
    many_rules,
    named_case,
    text_case,
    truth_case,
)
from mixed_models import mixed_models
from postgres import PostgreSQL, server
from sqlglot import exp

from rulecover.data.dates import PARTS, DatePart
from rulecover.exceptions import MismatchedDataError
from rulecover.export import conditions, to_sql, to_sql_expression
from rulecover.export.conditions import Script
from rulecover.export.dialects import DIALECTS, column


@pytest.fixture(scope="module")
def database() -> Iterator[PostgreSQL]:
    with server() as folder:
        connected = PostgreSQL(folder)
        yield connected
        connected.connection.close()


@pytest.mark.parametrize("made", [cases, log_odds_cases])
def test_a_query_answers_as_the_model_does(made: Callable[[], list[Case]], database: PostgreSQL) -> None:
    for number, case in enumerate(made()):
        query = to_sql(case.model, "data", dialect="postgres", keep=["id"])

        assert case.agrees_with(database.answers(query, "data", case, null=number % 2 == 1))


#: The types of the columns that do not hold numbers.
KINDS = {
    "colour": "TEXT",
    "over, time": "TEXT",
    "size": "TEXT",
    "town": "TEXT",
    "paid": "BOOLEAN",
    "grade": "INTEGER",
}


def test_models_of_mixed_tables_answer_as_they_do_here(database: PostgreSQL) -> None:
    for each in mixed_models():
        names = list(each.rows.columns)
        kinds = KINDS | {"hired": "TEXT" if each.dates_are_texts else "TIMESTAMP"}
        columns = ", ".join(f"{database.quoted(name)} {kinds.get(name, 'DOUBLE PRECISION')}" for name in names)
        database.connection.execute("DROP TABLE IF EXISTS data")
        database.connection.execute(f"CREATE TABLE data (id INTEGER, {columns})")
        cells = [(k, *row.values()) for k, row in enumerate(each.plain(each.rows))]
        database.insert("data", 1 + len(names), cells)

        answers = sorted(database.rows(to_sql(each.model, "data", dialect="postgres", keep=["id"])))

        assert [row[1] for row in answers] == each.prediction
        assert [row[-2] for row in answers] == [",".join(map(str, rules)) for rules in each.fired]
        if each.probabilities is not None:
            assert each.has_probabilities([list(row[2:-2]) for row in answers])


def test_all_categories_but_some_are_the_others(database: PostgreSQL, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(conditions, "conditions_of", all_but)
    for case in coded_cases():
        query = to_sql(case.model, "data", dialect="postgres", keep=["id"])

        assert database.answers(query, "data", case) == case.table()


def test_an_expression_gives_each_column_of_the_query(database: PostgreSQL) -> None:
    for case in cases()[:16]:
        columns = Script(case.rules).outputs
        each = [to_sql_expression(case.model, "t", dialect="postgres", column=column) for column in columns]

        assert database.answers(f"SELECT t.id, {', '.join(each)} FROM data AS t", "data", case) == case.table()


def test_a_pool_of_many_rules_is_split_where_a_query_would_be_too_wide(database: PostgreSQL) -> None:
    case = many_rules(1700)

    query = to_sql(case.model, "data", dialect="postgres", keep=["id"])

    assert database.answers(query, "data", case) == case.table()


@pytest.mark.parametrize("made", [text_case, named_case])
def test_levels_and_categories_are_read_from_the_text(database: PostgreSQL, made: Any) -> None:
    case, raw = made()
    query = to_sql(case.model, "data", dialect="postgres", keep=["id"])

    for text in database.texts:
        assert database.text_answers(query, raw, text) == case.table(), text


def test_a_column_of_truth_values_has_the_levels_true_and_false(database: PostgreSQL) -> None:
    case, raw = truth_case()
    query = to_sql(case.model, "data", dialect="postgres", keep=["id"])

    assert database.text_answers(query, raw, "BOOLEAN") == case.table()


@pytest.mark.parametrize("kind", ["VARCHAR", "TIMESTAMP"])
def test_dates_are_taken_apart_as_we_do(database: PostgreSQL, kind: str) -> None:
    sql, values = DIALECTS["postgres"], ["1969-12-31 23:59:59", "2000-02-29 12:34:56", "2024-01-01", "2024-12-29"]
    given = exp.cast(exp.column("day"), kind)
    for part in PARTS:
        days = exp.values([(each,) for each in values], alias="days", columns=["day"])
        query = sql.text(exp.select(sql.part_of_date(given.copy(), DatePart("day", part))).from_(days))

        assert [row[0] for row in database.rows(query)] == DatePart("day", part).read(np.array(values)).tolist()


@pytest.mark.parametrize("written", FORMATS)
def test_texts_are_read_in_the_order_of_training_or_refused(database: PostgreSQL, written: str) -> None:
    sql = DIALECTS["postgres"]
    parts = [sql.part_of_date(column("day"), DatePart("day", part, written)) for part in PARTS]

    def answer(texts: list[str]) -> list[Any]:
        days = exp.values([(each,) for each in texts], alias="days", columns=["day"])
        return [list(row) for row in database.rows(sql.text(exp.select(*parts).from_(days)))]

    dates, others = {}, []
    for text in some_texts(written, 300):
        try:
            dates[text] = parts_of(text, written)
        except MismatchedDataError:
            others.append(text)
    dates.pop("", None)

    assert len(dates) > 20 and answer(list(dates)) == list(dates.values())
    for text in ["1.2.03", "2/3/04", "2-3-04", *others[:20]]:
        if text[4:5] != "-":  # as dates of the database are, when they are texts
            with pytest.raises(psycopg.errors.DataError, match=r"not as in training|out of range"):
                answer([text])


def test_names_that_the_database_cuts_off_are_found_all_the_same(database: PostgreSQL) -> None:
    case = hostile_case("ö" * 200)

    assert database.answers(to_sql(case.model, "data", dialect="postgres", keep=["id"]), "data", case) == case.table()


def test_numbers_are_read_bit_for_bit(database: PostgreSQL) -> None:
    bits = np.frombuffer(np.random.default_rng(0).bytes(8 * 3000))
    values = [*bits[np.isfinite(bits)].tolist(), 5e-324, 1.7976931348623157e308, 0.1]
    dialect = DIALECTS["postgres"]
    for some in np.array_split(values, 10):
        texts = [dialect.text(dialect.number(value)) for value in some.tolist()]

        assert list(database.rows(f"SELECT {', '.join(texts)}")[0]) == some.tolist()


@pytest.mark.parametrize("hostile", HOSTILE, ids=ascii)
def test_hostile_names_of_columns_classes_and_tables_are_only_names(database: PostgreSQL, hostile: str) -> None:
    case = hostile_case(hostile)
    database.connection.execute("CREATE TABLE IF NOT EXISTS victim (x INTEGER)")
    query = to_sql(case.model, hostile, dialect="postgres", keep=["id"])

    assert database.answers(query, hostile, case) == case.table()
    assert database.rows("SELECT * FROM victim") == []
