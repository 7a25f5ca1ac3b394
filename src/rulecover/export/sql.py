"""Rules as SQL, written by sqlglot: a query over a table, or an expression for one row."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

from sqlglot import exp

from rulecover.exceptions import ExportError
from rulecover.export.conditions import Script
from rulecover.export.dialects import Dialect, dialect_named, name
from rulecover.export.exported import vote_of
from rulecover.export.sql_steps import Step, Steps


def to_sql(model: Any, table: str | tuple[str, ...], *, dialect: str, keep: str | Sequence[str] = ()) -> str:
    """A query that predicts for every row of a table.

    Parameters
    ----------
    model
        A fitted model of this package, a `RuleSet` with evidence, or a `Vote`.
    table
        The name of the table; ``("schema", "table")`` names one in a schema.
    dialect
        "postgres", "sqlite", "duckdb", "bigquery", "snowflake", "spark" or "tsql" (SQL Server 2022).
    keep
        A column of the table, or several, to return as they are, such as its key.

    Returns
    -------
    str
        One SELECT. Its columns are those to keep; ``prediction``; for classes one ``probability_…`` each; ``rules``,
        the numbers of the rules that fired, such as ``0,3``; and ``decided_by``, "rules" or the name of the fallback.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from rulecover import MIRCOClassifier
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> query = to_sql(MIRCOClassifier(random_state=0).fit(X, y), "iris", dialect="duckdb")
    >>> query.splitlines()[0]
    'WITH "rows" AS ('
    """
    source = table_named(table)
    steps = Steps(Script(vote_of(model)), dialect_named(dialect), (keep,) if isinstance(keep, str) else tuple(keep))
    return over_table(steps, source, steps.dialect)


def to_sql_expression(model: Any, table: str, *, dialect: str, column: str = "prediction") -> str:
    """An expression for one row of a table, to stand among the columns of a query of your own.

    Parameters
    ----------
    model
        A fitted model of this package, a `RuleSet` with evidence, or a `Vote`.
    table
        The name or alias that the table has in that query.
    dialect
        As in `to_sql`. BigQuery, Snowflake and Spark restrict subqueries like these; use `to_sql` there.
    column
        What the expression gives: any of the columns of `to_sql`.

    Returns
    -------
    str
        A subquery in parentheses.

    Raises
    ------
    ExportError
        If the dialect is not known, or there is no such column.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from rulecover import MIRCOClassifier
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> answer = to_sql_expression(MIRCOClassifier(random_state=0).fit(X, y), "t", dialect="sqlite")
    >>> query = f"SELECT id, {answer} FROM iris AS t"
    """
    return _nested(Steps(Script(vote_of(model)), dialect_named(dialect)), table, column)


def table_named(table: str | tuple[str, ...]) -> exp.Table:
    """A table by its name, or by the names of catalog, schema and table."""
    parts = (table,) if isinstance(table, str) else table
    if not 1 <= len(parts) <= 3 or not all(parts):
        raise ExportError(f"the table is {table!r}; give its name, or a tuple of schema and name.")
    return exp.Table(**dict(zip(("this", "db", "catalog"), map(name, reversed(parts)), strict=False)))


def over_table(
    steps: Callable[[exp.Identifier], Iterable[Step]],
    table: exp.Table,
    dialect: Dialect,
) -> str:
    """A query over a table: every step has a name."""
    source = name(_title("source", table))
    named: list[tuple[str, exp.Select]] = []
    for step in steps(source):
        origin = exp.Table(this=name(named[-1][0])) if named else exp.alias_(table, source, table=True)
        named.append((_title(step.title, table), step.select.from_(origin, copy=False)))
    *earlier, (_, query) = named
    kept = dialect.fence == "materialized" or None
    for title, before in earlier:
        query = query.with_(name(title), as_=_fenced(before, dialect), materialized=kept, copy=False)
    return dialect.text(query)


def _nested(steps: Steps, table: str, wanted: str) -> str:
    """An expression for one row of a table: the same steps, one inside the other."""
    known = steps.script.outputs
    if wanted not in known:
        raise ExportError(f"there is no column {wanted!r}; choose one of {', '.join(map(repr, known))}.")
    *earlier, last = steps(name(table))
    query = earlier[0].select
    for before, step in pairwise([*earlier, replace(last, columns={wanted: last.columns[wanted]})]):
        inner = exp.Subquery(this=_fenced_inside(query, steps.dialect), alias=exp.TableAlias(this=name(before.title)))
        query = step.select.from_(inner, copy=False)
    return steps.dialect.text(exp.Paren(this=query))


def _fenced(query: exp.Select, dialect: Dialect) -> exp.Select:
    return query.offset(0, copy=False) if dialect.fence == "offset" else query


def _fenced_inside(query: exp.Select, dialect: Dialect) -> exp.Select:
    """The same for a subquery, which SQLite cannot materialize, but leaves alone if it has an offset, after a limit."""
    if dialect.fence != "materialized":
        return _fenced(query, dialect)
    return query.limit(-1, copy=False).offset(0, copy=False)


def _title(title: str, table: exp.Table) -> str:
    while title.casefold() == table.name.casefold():  # a step must not read from itself
        title += "_"
    return title
