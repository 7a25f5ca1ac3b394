"""Real databases with one table in them."""

from __future__ import annotations

import math
import sqlite3
from collections.abc import Sequence
from typing import Any

import duckdb
import numpy as np
import sqlglot
from exported import Case
from sqlglot import exp


class Database:
    """A connection, and the SQL of the database behind it."""

    dialect: str
    double: str
    #: Types of text columns, some of which take texts that differ for the same.
    texts: tuple[str, ...] = ("VARCHAR(50)",)

    def __init__(self, connection: Any) -> None:
        self.connection = connection

    def rows(self, query: str) -> list[tuple[Any, ...]]:
        return [tuple(row) for row in self.connection.execute(query).fetchall()]

    def insert(self, table: str, width: int, rows: Sequence[Sequence[Any]]) -> None:
        self.connection.executemany(f"INSERT INTO {self.quoted(table)} VALUES ({', '.join('?' * width)})", rows)

    def quoted(self, name: str) -> str:
        return exp.to_identifier(name, quoted=True).sql(dialect=self.dialect)

    def fill(self, table: str, names: Sequence[str], X: np.ndarray, *, null: bool = False) -> None:
        """A table of the rows, numbered in a column named id; NaN as it is, or as NULL."""
        columns = ", ".join(f"{self.quoted(name)} {self.double}" for name in names)
        self.connection.execute(f"DROP TABLE IF EXISTS {self.quoted(table)}")
        self.connection.execute(f"CREATE TABLE {self.quoted(table)} (id INTEGER, {columns})")
        cells = [[None if null and math.isnan(value) else value for value in row] for row in X.tolist()]
        self.insert(table, 1 + len(names), [(i, *row) for i, row in enumerate(cells)])

    def answers(self, query: str, table: str, case: Case, *, null: bool = False) -> list[tuple[Any, ...]]:
        """What a query over the rows of a case gives, by their number."""
        self.fill(table, case.rules.rules.feature_names, case.X, null=null)
        return [row[1:] for row in sorted(self.rows(query), key=lambda row: row[0])]

    def text_answers(self, query: str, raw: list[dict[str, Any]], text: str = "VARCHAR(50)") -> list[tuple[Any, ...]]:
        """What a query over a table of an age and a colour, of this type, gives, by the rows' numbers."""
        self.connection.execute("DROP TABLE IF EXISTS data")
        self.connection.execute(f"CREATE TABLE data (id INTEGER, age {self.double}, colour {text})")
        self.insert("data", 3, [(i, row["age"], row["colour"]) for i, row in enumerate(raw)])
        return [row[1:] for row in sorted(self.rows(query), key=lambda row: row[0])]


class SQLite(Database):
    dialect, double = "sqlite", "REAL"
    texts = ("VARCHAR(50)", "TEXT COLLATE NOCASE", "TEXT COLLATE RTRIM", "BLOB")

    def __init__(self) -> None:
        super().__init__(sqlite3.connect(":memory:"))


class DuckDB(Database):
    dialect, double = "duckdb", "DOUBLE"
    texts = ("VARCHAR(50)", "VARCHAR COLLATE NOCASE")

    def __init__(self) -> None:
        super().__init__(duckdb.connect(config={"threads": 1}))

    def insert(self, table: str, width: int, rows: Sequence[Sequence[Any]]) -> None:
        # One statement for all rows: this database takes long over each.
        marks = ", ".join([f"({', '.join('?' * width)})"] * len(rows))
        self.connection.execute(
            f"INSERT INTO {self.quoted(table)} VALUES {marks}", [cell for row in rows for cell in row]
        )


def statements(text: str, dialect: str) -> list[Any]:
    """What a text says in a dialect."""
    return sqlglot.parse(text, read=dialect)
