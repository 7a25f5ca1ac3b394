"""Exports of models on tables with texts, truth values and dates: they are about the columns of the table."""

from __future__ import annotations

import sqlite3
from functools import cache
from typing import Any

import duckdb
import numpy as np
import onnxruntime
import pandas as pd
import polars as pl
import pytest
from mixed_models import mixed_models
from mixed_tables import mixed_table, odd_rows
from running import executed
from sklearn.ensemble import RandomForestClassifier
from sqlglot import exp

from rulecover import MIRCOClassifier, RCBoostClassifier, RulePathClassifier, RuleSet
from rulecover.data.categories import CategorySet
from rulecover.data.dates import PARTS, DatePart
from rulecover.export import (
    from_json,
    to_json,
    to_onnx,
    to_pandas,
    to_polars,
    to_python,
    to_sql,
    to_sql_expression,
)
from rulecover.export.dialects import DIALECTS, column
from rulecover.rules.rule import Clause

MODELS = {
    "cover": MIRCOClassifier(RandomForestClassifier(10, max_depth=5), random_state=0),
    "boost": RCBoostClassifier(max_rmp_calls=1, random_state=0),
    "path": RulePathClassifier(RandomForestClassifier(10), max_rules=8, choose="last", random_state=0),
}


@cache
def fitted(name: str, seed: int) -> tuple[Any, Any]:
    """A model, and rows to ask it about, with levels that it never saw and gaps."""
    table, y = mixed_table(150, seed)
    rows = pd.concat([table, odd_rows(table)], ignore_index=True)
    rows["grade"] = rows["grade"].where(rows["grade"] != "never seen", 9).astype("Int64")
    return MODELS[name].fit(table, y), rows


def answers_of(model: Any, rows: Any) -> list[tuple[Any, str]]:
    covered = model.apply(rows).toarray()
    fired = [",".join(map(str, np.flatnonzero(row))) for row in covered]
    return list(zip(model.predict(rows).tolist(), fired, strict=True))


def by_python(model: Any, rows: Any) -> list[tuple[Any, str]]:
    predict = executed(to_python(model))["predict"]
    plain = rows.astype(object).where(rows.notna(), None).to_dict("records")
    answers = [predict(row) for row in plain]
    return [(each["prediction"], ",".join(map(str, each["rules"]))) for each in answers]


def by_pandas(model: Any, rows: Any) -> list[tuple[Any, str]]:
    answers = executed(to_pandas(model))["predict"](rows)
    return list(zip(answers["prediction"], answers["rules"], strict=True))


def by_polars(model: Any, rows: Any) -> list[tuple[Any, str]]:
    plain = {name: rows[name].astype(object).where(rows[name].notna(), None).tolist() for name in rows}
    answers = pl.DataFrame(plain).select(to_polars(model)).unnest("answer")
    return list(zip(answers["prediction"], answers["rules"], strict=True))


def by_onnx(model: Any, rows: Any) -> list[tuple[Any, str]]:
    loaded = from_json(to_json(model))
    X = loaded.rules.check_columns(rows)  # codes, as the graph takes them
    session = onnxruntime.InferenceSession(to_onnx(model).SerializeToString())
    predicted, fired = session.run(["prediction", "rules"], {"X": X})
    return list(zip(predicted.tolist(), [",".join(map(str, np.flatnonzero(row))) for row in fired], strict=True))


def in_duckdb(rows: Any, query: str) -> list[tuple[Any, ...]]:
    connection = duckdb.connect()
    texts = {
        "hired": "TIMESTAMP" if "hired" in rows and rows["hired"].dtype.kind == "M" else "VARCHAR",
        "town": "VARCHAR",
        "colour": "VARCHAR",
        "over, time": "VARCHAR",
        "size": "VARCHAR",
        "paid": "BOOLEAN",
        "grade": "INTEGER",
    }
    columns = ", ".join(f'"{name}" {texts.get(name, "DOUBLE")}' for name in rows.columns)
    connection.execute(f"CREATE TABLE data (id INTEGER, {columns})")
    connection.executemany(f"INSERT INTO data VALUES ({', '.join('?' * (1 + rows.shape[1]))})", cells(rows))
    return connection.execute(query).fetchall()


def in_sqlite(rows: Any, query: str) -> list[tuple[Any, ...]]:
    connection = sqlite3.connect(":memory:")
    names = ", ".join('"{}"'.format(name.replace('"', '""')) for name in rows.columns)
    connection.execute(f"CREATE TABLE data (id INTEGER, {names})")
    connection.executemany(f"INSERT INTO data VALUES ({', '.join('?' * (1 + rows.shape[1]))})", cells(rows))
    return connection.execute(query).fetchall()


def cells(rows: Any) -> list[tuple[Any, ...]]:
    plain = rows.astype(object).where(rows.notna(), None)
    if "hired" in plain:
        texts = [None if each is None else str(each) for each in plain["hired"]]
        plain["hired"] = pd.Series(texts, index=plain.index, dtype=object)
    return [(k, *row) for k, row in enumerate(plain.itertuples(index=False, name=None))]


def by_query(run: Any, dialect: str, model: Any, rows: Any) -> list[tuple[Any, str]]:
    found = sorted(run(rows, to_sql(model, "data", dialect=dialect, keep=["id"])))
    return [(row[1], row[-2]) for row in found]


def by_expression(run: Any, dialect: str, model: Any, rows: Any) -> list[tuple[Any, str]]:
    each = [to_sql_expression(model, "t", dialect=dialect, column=column) for column in ("prediction", "rules")]
    return [row[1:] for row in sorted(run(rows, f"SELECT t.id, {', '.join(each)} FROM data AS t"))]


RUNS = {
    "python": by_python,
    "pandas": by_pandas,
    "polars": by_polars,
    "onnx": by_onnx,
    "duckdb": lambda model, rows: by_query(in_duckdb, "duckdb", model, rows),
    "sqlite": lambda model, rows: by_query(in_sqlite, "sqlite", model, rows),
    "sqlite, expressions": lambda model, rows: by_expression(in_sqlite, "sqlite", model, rows),
}


@pytest.mark.slow
@pytest.mark.parametrize("run", RUNS)
@pytest.mark.parametrize("name", MODELS)
def test_an_export_answers_as_the_model_does_on_the_columns_of_the_table(name, run):
    for seed in (1, 2):
        model, rows = fitted(name, seed)

        assert RUNS[run](model, rows) == answers_of(model, rows)


@pytest.mark.slow
@pytest.mark.parametrize("run", RUNS)
def test_an_export_of_a_random_model_answers_as_the_model_does(run):
    for each in mixed_models():
        if "expressions" not in run or len(each.vote) < 12:  # which grow with the square of the number of rules
            assert RUNS[run](each.model, each.rows) == answers_of(each.model, each.rows)


@pytest.mark.slow
@pytest.mark.parametrize("name", MODELS)
def test_a_file_answers_from_the_table_itself(name):
    model, rows = fitted(name, 1)

    loaded = from_json(to_json(model))

    assert (loaded.predict(rows) == model.predict(rows)).all()
    assert [str(rule) for rule in loaded.rules] == [str(rule) for rule in model.rules_]


MOMENTS = [
    *("1969-12-31 23:59:59", "1970-01-01", "2000-02-29 12:34:56", "2023-12-31", "2024-01-01", "2024-02-29"),
    *(f"2024-01-{day:02}" for day in range(2, 9)),
]


@pytest.mark.parametrize("part", PARTS)
@pytest.mark.parametrize("dialect", ["duckdb", "sqlite"])
def test_a_database_takes_dates_apart_as_we_do(dialect, part):
    connection = duckdb.connect() if dialect == "duckdb" else sqlite3.connect(":memory:")
    connection.execute('CREATE TABLE data (id INTEGER, "when" VARCHAR)')
    connection.executemany("INSERT INTO data VALUES (?, ?)", list(enumerate([*MOMENTS, None])))
    sql = DIALECTS[dialect]

    query = sql.text(exp.select("id", sql.part_of_date(column("when"), DatePart("when", part))).from_("data"))

    expected = [*DatePart("when", part).read(np.array(MOMENTS)).tolist(), None]
    assert [row[1] for row in sorted(connection.execute(query).fetchall())] == expected


def test_a_query_compares_columns_with_texts():
    table = pd.DataFrame({"alive": ["yes", "no"] * 20, "who": ["child", "man", "woman", "other"] * 10})
    texts = ["alive ≠ yes", "alive = yes and who in {child, woman}", "who not in {man, other}"]
    rules = RuleSet.from_text(texts, ["alive", "who"])

    few = MIRCOClassifier(rules, demand=2, fallback="majority").fit(table, table["alive"])
    query = to_sql(few, "passengers", dialect="duckdb")

    for comparison in ("alive\" <> 'yes'", "alive\" = 'yes'", "who\" IN ('child', 'woman')"):
        assert comparison in query
    assert "NOT \"who\" IN ('man', 'other')" in query


@pytest.mark.parametrize("run", RUNS)
def test_an_export_of_rules_on_missing_texts_alone_takes_texts(run):
    rows = pd.DataFrame({"colour": ["red", None, "blue"], "over, time": ["No", "Yes", None]})
    missing = Clause(0, "colour", np.inf, np.inf, missing=True, categories=CategorySet(()))
    rules = RuleSet.of_clauses([[missing]], ["colour", "over, time"], categories={0: ("blue", "red")})
    model = MIRCOClassifier(rules, vote="counts", fallback="majority").fit(rows, ["a", "b", "a"])

    assert RUNS[run](model, rows) == [("a", ""), ("b", "0"), ("a", "")]
