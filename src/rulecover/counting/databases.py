"""A table of a database, which answers queries and is never fetched."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

from sqlglot import exp

from rulecover.counting.certificate import TableCertificate
from rulecover.counting.query import counting_query
from rulecover.counting.script import check_columns
from rulecover.exceptions import MismatchedDataError
from rulecover.export.conditions import Script
from rulecover.export.dialects import DIALECTS, Dialect, dialect_named
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
        check_columns([*steps.columns, *steps.keep], self.columns, self.sql.known_as)
        query = counting_query(script.model, self.name, dialect=self.sql.name, target=target)
        return TableCertificate.from_rows(script.model.rules, self.rows(query))

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
            if hasattr(self.connection, "sql") and not hasattr(self.connection, "cursor"):  # a Spark session
                frame = self.connection.sql(query)
                return list(frame.columns), [tuple(row) for row in frame.collect()]
            cursor = self.connection.cursor()
            try:
                cursor.execute(query)
                return [each[0] for each in cursor.description], [tuple(row) for row in cursor.fetchall()]
            finally:
                cursor.close()
        except Exception as error:  # each driver has errors of its own
            name = self.name if isinstance(self.name, str) else ".".join(self.name)
            reason = str(error).strip().partition("\n")[0]
            raise MismatchedDataError(f"the database did not answer about table {name!r}: {reason}") from error
