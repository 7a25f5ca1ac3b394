"""Dates in exported code and queries: they are read as the model reads them, or refused."""

from __future__ import annotations

import sqlite3
from datetime import UTC, date, datetime, time, timedelta, timezone
from functools import cache
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pytest
import sqlglot
from dated import FORMATS, dated_model, parts_of, texts
from hypothesis import given
from hypothesis import strategies as st
from running import executed
from sqlglot import exp

from rulecover.data.dates import ISO, LOOSE_ISO, PARTS, DatePart
from rulecover.exceptions import MismatchedDataError
from rulecover.export import to_javascript, to_pandas, to_pmml, to_polars, to_python, to_sql
from rulecover.export.dialects import DIALECTS, column
from rulecover.export.polars_expressions import _feature

#: What is a date to all of Python, with the time on its clock; a model takes it so, whatever the time zone.
OBJECTS = [
    date(1900, 2, 28),
    datetime(1969, 12, 31, 23, 59, 59, 999999),
    datetime(2024, 2, 29, 12, 34, 56),
    datetime(2024, 1, 1, 1, tzinfo=UTC),
    datetime(2024, 1, 1, 1, tzinfo=timezone(timedelta(hours=5, minutes=30))),
    pd.Timestamp("2262-04-11 23:47:16.854775807"),
    pd.Timestamp("2024-03-31 02:30", tz="Etc/GMT-3"),
    np.datetime64("1969-12-31T23:59:59.999999999"),
    np.datetime64("2024-12-29"),
    np.datetime64("NaT"),
    pd.NaT,
    None,
    float("nan"),
]


@cache
def reader_of(export: Any, written: str) -> Any:
    """The function of exported code that takes a date apart."""
    return executed(export(dated_model(written)))["_date_part"]


def by_python(value: Any, written: str = ISO) -> list[float]:
    part_of = reader_of(to_python, written)
    return [part_of({"when": value}, "when", part) for part in PARTS]


def by_pandas(value: Any, written: str = ISO) -> list[float]:
    part_of = reader_of(to_pandas, written)
    frame = pd.DataFrame({"when": pd.Series([value, None, value], dtype=object)})
    both = [part_of(frame, "when", part) for part in PARTS]
    assert all(np.isnan(each[1]) for each in both)
    return [float(each[2]) for each in both]


def by_polars(value: Any, written: str = ISO) -> list[float]:
    frame = pl.DataFrame({"when": [value, None]}, strict=False)
    found = frame.select(_feature(DatePart("when", part, written)).alias(part) for part in PARTS)
    return [float("nan") if each is None else each for each in found.row(0)]


READERS = {"python": by_python, "pandas": by_pandas, "polars": by_polars}
REFUSALS = (ValueError, pl.exceptions.PolarsError)


@pytest.mark.parametrize("reader", ["python", "pandas"])
@pytest.mark.parametrize("value", OBJECTS, ids=repr)
def test_a_date_has_the_time_of_its_clock(reader: str, value: Any) -> None:
    np.testing.assert_array_equal(READERS[reader](value), parts_of(value))


@pytest.mark.slow
@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize("written", [ISO, *FORMATS])
@given(data=st.data())
def test_a_text_is_read_as_the_model_reads_it_or_refused(reader: str, written: str, data: st.DataObject) -> None:
    text = data.draw(texts(written))
    try:
        found = READERS[reader](text, written)
    except REFUSALS:
        found = []
    try:
        meant = parts_of(text, written)
    except MismatchedDataError:
        meant = []

    np.testing.assert_array_equal(found, meant)


@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize("value", [5, 5.0, True, time(3), "5", "now", "2023-02-29", "31.12.2024", "2024-01-05T24:00"])
def test_what_is_no_date_is_an_error(reader: str, value: Any) -> None:
    with pytest.raises(REFUSALS, match="when"):
        READERS[reader](value)


def test_polars_takes_dates_of_every_unit_and_refuses_time_zones() -> None:
    moments = np.array([-1, -999_999_999, -1_000_000_000, 1, 0, 86_399_999_999_999]).astype("datetime64[ns]")
    for unit in ("ns", "us", "ms"):
        frame = pl.DataFrame({"when": pl.Series(moments).dt.cast_time_unit(unit)})
        for part in PARTS:
            found = frame.lazy().select(_feature(DatePart("when", part)).alias("part")).collect()["part"]
            assert found.to_list() == DatePart("when", part).read(frame["when"].to_numpy()).tolist()

    aware = pl.DataFrame({"when": [datetime(2024, 1, 5, tzinfo=UTC)]})
    with pytest.raises(pl.exceptions.PolarsError, match="when"):
        aware.select(to_polars(dated_model()))


def test_a_column_of_pandas_may_have_any_type_of_dates() -> None:
    moments = pd.Series(pd.to_datetime(["1969-12-31 23:59:59.5", "2024-02-29 12:00", None], format="ISO8601"))
    part_of = reader_of(to_pandas, ISO)
    columns = {
        "nanoseconds": moments.astype("datetime64[ns]"),
        "time zone": moments.dt.tz_localize("Etc/GMT+7"),
        "periods": moments.dt.to_period("h"),
        "Arrow": moments.astype("timestamp[us][pyarrow]"),
        "texts": moments.astype(str).where(moments.notna()).astype("string"),
    }
    for kind, values in columns.items():
        for part in PARTS:
            meant = DatePart("when", part).read(values.array if kind == "periods" else np.asarray(values))
            np.testing.assert_array_equal(part_of(pd.DataFrame({"when": values}), "when", part), meant, err_msg=kind)


# Queries --------------------------------------------------------------------------------------------------------------


def in_database(connection: Any, dialect: str, text: str | None, written: str) -> list[float]:
    sql = DIALECTS[dialect]
    connection.execute("DROP TABLE IF EXISTS data")
    connection.execute('CREATE TABLE data ("when" VARCHAR)')
    connection.execute("INSERT INTO data VALUES (?)", [text])
    parts = [sql.part_of_date(column("when"), DatePart("when", part, written)) for part in PARTS]
    (row,) = connection.execute(sql.text(exp.select(*parts).from_("data"))).fetchall()
    return [float("nan") if each is None else each for each in row]


@pytest.mark.slow
@pytest.mark.parametrize("dialect", ["sqlite", "duckdb"])
@pytest.mark.parametrize("written", FORMATS)
@given(data=st.data())
def test_a_query_reads_texts_in_the_order_of_training(dialect: str, written: str, data: st.DataObject) -> None:
    connection = sqlite3.connect(":memory:") if dialect == "sqlite" else duckdb.connect()
    text = data.draw(texts(written).filter(lambda text: text and text[:5].find("-") != 4))
    try:
        found = in_database(connection, dialect, text, written)
    except duckdb.ConversionException:
        found = []
    try:
        meant = parts_of(text, written)
    except MismatchedDataError:
        meant = [float("nan")] * 4 if dialect == "sqlite" else []

    np.testing.assert_array_equal(found, meant)


@pytest.mark.parametrize("text", ["2023-02-29", "2024-04-31", "now", "12:00", "2460000", "2460000.5", "x", ""])
def test_what_sqlite_alone_takes_for_a_date_is_missing_there(text: str) -> None:
    assert np.isnan(in_database(sqlite3.connect(":memory:"), "sqlite", text, ISO)).all()


MOMENTS = ["0001-01-01", "1969-12-31 23:59:59", "2000-02-29 12:34:56", "2024-01-01", "2024-12-29 00:00:01"]


@pytest.mark.parametrize("dialect", ["bigquery", "snowflake", "spark", "tsql"])
@pytest.mark.parametrize("kind", ["TIMESTAMP", "VARCHAR"])
def test_other_databases_count_days_as_we_do_if_duckdb_is_told_what_their_queries_say(dialect: str, kind: str) -> None:
    sql = DIALECTS[dialect]
    parts = [sql.part_of_date(column("when"), DatePart("when", part)) for part in PARTS]
    (query,) = sqlglot.transpile(sql.text(exp.select(*parts).from_("data")), read=dialect, write="duckdb")
    connection = duckdb.connect()
    connection.execute(f'CREATE TABLE data ("when" {kind})')
    connection.executemany("INSERT INTO data VALUES (?)", [[each] for each in [*MOMENTS, None]])

    rows = connection.execute(query.replace("AS REAL", "AS DOUBLE")).fetchall()  # SQL Server's FLOAT has 64 bits

    assert rows == [*map(tuple, map(parts_of, MOMENTS)), (None,) * 4]


@pytest.mark.parametrize("dialect", DIALECTS)
def test_a_query_asks_for_the_dates_themselves(dialect: str) -> None:
    query = to_sql(dated_model(), "data", dialect=dialect)

    (rows,) = [each for each in sqlglot.parse_one(query, dialect=dialect).find_all(exp.CTE) if each.alias == "rows"]
    assert {each.name for each in rows.find_all(exp.Column)} == {"when"}


@pytest.mark.parametrize("export", [to_python, to_pandas, to_javascript])
def test_code_has_rules_in_words(export: Any) -> None:
    source = export(dated_model())

    assert all(f" {j}: {rule.text}\n" in source for j, rule in enumerate(dated_model().rules_))


@pytest.mark.parametrize("export", [to_python, to_pandas, to_javascript, to_pmml])
def test_code_asks_for_the_dates_themselves(export: Any) -> None:
    source = export(dated_model()).replace('"', "'")

    assert "'when'" in source and "'when (" not in source


def test_dates_that_databases_read_otherwise_are_columns_of_parts() -> None:
    assert not any(sql.takes_apart(DatePart("when", "year", LOOSE_ISO)) for sql in DIALECTS.values())
