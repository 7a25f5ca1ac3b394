"""Databases as people name them: files of SQLite and DuckDB, addresses of PostgreSQL."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from rulecover.cli.errors import CommandError

#: What the addresses of PostgreSQL begin with.
POSTGRES = ("postgresql://", "postgres://")

#: Where a file has which bytes.
_SQLITE, _DUCKDB = slice(0, 16), slice(8, 12)


def connected(database: str) -> Any:
    """A connection to a database, which is only read."""
    if database.startswith(POSTGRES):
        return _postgres(database)
    if "://" in database:
        scheme = database.partition("://")[0]
        raise CommandError(
            f"databases of {scheme}:// cannot be opened here, only postgresql:// and files of SQLite and DuckDB; "
            "--dialect prints the query for others."
        )
    path = Path(database)
    if not path.is_file():
        shown = (
            "of that name (it is not shown, as it may hold a password)" if _may_be_secret(database) else repr(database)
        )
        raise CommandError(f"there is no file {shown} here; --database takes a file or postgresql://….")
    with path.open("rb") as file:
        first = file.read(16)
    if first[_SQLITE] == b"SQLite format 3\0":
        import sqlite3

        return sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True)
    if first[_DUCKDB] == b"DUCK":
        return _duckdb(path)
    raise CommandError(f"{database!r} is not a file of SQLite or DuckDB; a file of rows goes to --table alone.")


def _duckdb(path: Path) -> Any:
    try:
        import duckdb
    except ImportError as error:
        raise CommandError(f"reading {str(path)!r} needs duckdb: pip install duckdb") from error
    try:  # views of the file may not read others
        return duckdb.connect(path, read_only=True, config={"enable_external_access": "false"})
    except duckdb.Error as error:
        why = " ".join(str(error).split())
        raise CommandError(f"{str(path)!r} cannot be opened by DuckDB: {why}") from error


def _may_be_secret(database: str) -> bool:
    return "@" in database or "password" in database.lower()


def _postgres(address: str) -> Any:
    try:
        import psycopg
    except ImportError as error:
        raise CommandError("reading PostgreSQL needs psycopg: pip install 'psycopg[binary]'") from error
    try:
        connection = psycopg.connect(address)
    except psycopg.OperationalError as error:
        raise CommandError(f"PostgreSQL could not be reached: {str(error).strip().partition(chr(10))[0]}") from error
    except psycopg.Error as error:
        raise CommandError(
            "the address of PostgreSQL is not valid; write % and @ in a password as %25 and %40."
        ) from error
    connection.read_only = True
    return connection
