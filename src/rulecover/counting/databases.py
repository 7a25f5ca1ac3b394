"""A table of a database, which answers queries and is never fetched."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import pandas as pd
from sqlglot import exp

from rulecover.counting.certificate import TableCertificate
from rulecover.counting.groups import MOST_GROUPS, RowGroups
from rulecover.counting.query import counting_query, groups_query, missed_query
from rulecover.counting.script import check_columns
from rulecover.exceptions import MismatchedDataError
from rulecover.export.conditions import Script
from rulecover.export.dialects import DIALECTS, Dialect, column, dialect_named
from rulecover.export.sql import table_named
from rulecover.export.sql_steps import Steps

#: The packages whose connections are recognised, and the SQL of their databases.
DRIVERS = {
    "sqlite3": "sqlite",
    "_duckdb": "duckdb",
    "duckdb": "duckdb",
    "psycopg": "postgres",
    "psycopg2": "postgres",
    "pg8000": "postgres",
    "pymssql": "tsql",
    "snowflake": "snowflake",
    "google": "bigquery",
    "pyspark": "spark",
}

#: How databases draw a share of the rows of a table.
SAMPLED = {
    "sqlite": "WHERE ABS(RANDOM() % 1000003) < 1000003 * {share}",
    "duckdb": "USING SAMPLE {percent} PERCENT (bernoulli, {seed})",
    "postgres": "TABLESAMPLE BERNOULLI ({percent}) REPEATABLE ({seed})",
    "spark": "TABLESAMPLE ({percent} PERCENT) REPEATABLE ({seed})",
    "snowflake": "SAMPLE BERNOULLI ({percent}) SEED ({seed})",
}


@dataclass(frozen=True, eq=False)
class DatabaseTable:
    """A table of a database.

    Parameters
    ----------
    connection
        A connection as PEP 249 defines it (DB-API 2.0), or a Spark session.
    name
        The name of the table; ``("schema", "table")`` names one in a schema.
    dialect
        The SQL of the database; ``None`` for that of the connection, if its package is known.
    """

    connection: Any
    name: str | tuple[str, ...]
    dialect: str | None = None

    def certificate(self, script: Script, target: str | None) -> TableCertificate:
        """What each rule covers in this table, counted by the database."""
        steps = Steps(script, self.sql, () if target is None else (target,))
        known = script.model.rules.columns
        parts = {known.names[f]: part for f, part in known.parts.items()}
        check_columns([*steps.columns, *steps.keep], self.columns, self.sql.known_as, parts)
        query = counting_query(script.model, self.name, dialect=self.sql.name, target=target)
        return TableCertificate.from_rows(script.model.rules, self.rows(query))

    def groups(self, script: Script, target: str) -> RowGroups:
        """The rows in groups that the same rules cover."""
        query = groups_query(script, self.name, dialect=self.sql.name, target=target, at_most=MOST_GROUPS + 1)
        return RowGroups.from_rows(len(script.conditions), self.rows(query))

    def sample(self, columns: list[str], n_rows: int, seed: int) -> pd.DataFrame:
        """About this many rows, drawn by the database."""
        table = table_named(self.name)
        (counted,) = self.rows(self.sql.text(exp.select("COUNT(*) AS n").from_(table)))
        share = n_rows / max(int(counted["n"]), 1)
        if share < 1 and self.sql.name not in SAMPLED:
            raise MismatchedDataError(f"rows cannot be drawn in {self.sql.name} here; give sample as a frame of rows.")
        query = self.sql.text(exp.select(*map(column, columns)).from_(table))
        drawn = SAMPLED[self.sql.name].format(percent=100 * share, share=share, seed=seed) if share < 1 else ""
        return self._frame(f"{query} {drawn}", columns)

    def missed(self, script: Script, columns: list[str], at_most: int) -> pd.DataFrame:
        """Rows that no rule covers."""
        query = missed_query(script, self.name, dialect=self.sql.name, columns=columns, at_most=at_most)
        return self._frame(query, columns)

    def _frame(self, query: str, columns: list[str]) -> pd.DataFrame:
        return pd.DataFrame(self._answer(query)[1], columns=columns)

    @cached_property
    def sql(self) -> Dialect:
        """The SQL of the database."""
        if self.dialect is not None:
            return dialect_named(self.dialect)
        package = type(self.connection).__module__.split(".")[0]
        if package not in DRIVERS:
            raise MismatchedDataError(
                f"the connection is a {type(self.connection).__name__} of {package!r}, whose SQL is not known here; "
                f"give dialect as well, one of {', '.join(map(repr, DIALECTS))}."
            )
        return DIALECTS[DRIVERS[package]]

    @cached_property
    def columns(self) -> list[str]:
        """The names of its columns."""
        nothing = exp.select("*").from_(table_named(self.name)).limit(0)
        return self._answer(self.sql.text(nothing))[0]

    def rows(self, query: str) -> list[dict[str, Any]]:
        """What a query returns."""
        names, rows = self._answer(query)
        return [dict(zip(names, row, strict=True)) for row in rows]

    def _answer(self, query: str) -> tuple[list[str], list[tuple[Any, ...]]]:
        try:
            if self.sql.name == "spark" and hasattr(self.connection, "sql"):  # a session
                frame = self.connection.sql(query)
                return list(frame.columns), [tuple(row) for row in frame.collect()]
            # A cursor of DuckDB does not see the frames that are registered with its connection.
            execute = getattr(self.connection, "execute", None) or _execute_by_cursor(self.connection)
            found = execute(query)
            return [each[0] for each in found.description], [tuple(row) for row in found.fetchall()]
        except Exception as error:  # each driver has errors of its own
            name = self.name if isinstance(self.name, str) else ".".join(self.name)
            reason = str(error).strip().partition("\n")[0]
            raise MismatchedDataError(f"the database did not answer about table {name!r}: {reason}") from error


def _execute_by_cursor(connection: Any) -> Callable[[str], Any]:
    """As PEP 249 has it: a cursor executes queries, and has their rows."""

    def execute(query: str) -> Any:
        cursor = connection.cursor()
        cursor.execute(query)
        return cursor

    return execute
