"""Rules counted and proved on a table that stays where it is."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import narwhals as nw

from rulecover.counting.certificate import TableCertificate
from rulecover.counting.frames import FrameTable
from rulecover.counting.script import rules_alone
from rulecover.exceptions import MismatchedDataError, MissingExtraError
from rulecover.export.conditions import Script
from rulecover.show.text import some_of

if TYPE_CHECKING:
    from rulecover.counting.databases import DatabaseTable


def certify(
    model: Any,
    table: Any,
    *,
    target: str | None = None,
    connection: Any = None,
    dialect: str | None = None,
) -> TableCertificate:
    """How many rows of a table each rule covers, and the proof that every row is covered, or how many are not.

    The rows are counted in one pass by the library or database that the table belongs to; none of them is fetched.

    Parameters
    ----------
    model
        A fitted model of this package, a `RuleSet` with evidence, or a `Vote`.
    table
        A frame of pandas, polars (lazy ones too), Arrow or PySpark, a DuckDB relation or an Ibis table; or, with a
        `connection`, the name of a table, or its schema and name as a tuple.
    target
        The column with the true classes or numbers, if the table has it.
    connection
        The database of the table: a connection of sqlite3, DuckDB, psycopg or any other driver of DB-API 2.0, or a
        Spark session.
    dialect
        The SQL of the database, as in `rulecover.export.to_sql`; needed only for drivers that are not recognised.

    Returns
    -------
    TableCertificate
        See its ``is_cover``, ``support``, ``precision`` and ``to_frame``.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from rulecover import MIRCOClassifier
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> mirco = MIRCOClassifier(max_rules=2, random_state=0).fit(X, y)
    >>> certify(mirco, X).is_cover
    False
    """
    script = rules_alone(model)
    certificate = table_of(table, connection, dialect).certificate(script, target)
    _check_labels(script, certificate, target)
    return certificate


def table_of(table: Any, connection: Any = None, dialect: str | None = None) -> FrameTable | DatabaseTable:
    """A table as something that counts rules: a frame of any library, or a table of a database."""
    if connection is not None:
        if not isinstance(table, (str, tuple)):
            raise MismatchedDataError(
                f"the table is a {type(table).__name__}; with a connection, give the name of the table."
            )
        try:
            from rulecover.counting.databases import DatabaseTable
        except ModuleNotFoundError as error:
            raise MissingExtraError(
                "counting in a database needs the package sqlglot; install it with: pip install 'rulecover[sql]'"
            ) from error

        return DatabaseTable(connection, table, dialect)
    try:
        return FrameTable(nw.from_native(table))
    except TypeError as error:
        way_out = (
            "give its connection as well"
            if isinstance(table, (str, tuple))
            else ("give a data frame of pandas, polars, Arrow or PySpark, a DuckDB relation or an Ibis table")
        )
        raise MismatchedDataError(f"the table is a {type(table).__name__}; {way_out}.") from error


def _check_labels(script: Script, certificate: TableCertificate, target: str | None) -> None:
    """Raises if none of the labels of the target is a class of the model, or none of its numbers is known."""
    if certificate.n_known is not None and certificate.n_rows.sum() and not certificate.n_known[-1]:
        raise MismatchedDataError(f"the target {target!r} has no number in any row, but the rules predict numbers.")
    found = [label for label in certificate.labels if label is not None]
    if target is None or script.classes is None or not found or set(found) & set(script.classes):
        return
    raise MismatchedDataError(
        f"the target {target!r} holds {some_of(found)}, and the classes of the model are {some_of(script.classes)}; "
        "give the column with these classes."
    )
