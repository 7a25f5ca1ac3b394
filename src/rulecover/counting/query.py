"""The query that counts what rules cover, for databases that a table does not leave."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

from sqlglot import exp

from rulecover.counting.certificate import MISSED, ROWS, SUM, TARGET
from rulecover.counting.frames import rules_alone
from rulecover.exceptions import ExportError
from rulecover.export.conditions import Script
from rulecover.export.dialects import case, column, dialect_named, double, joined, whole
from rulecover.export.sql import over_table, table_named
from rulecover.export.sql_steps import Step, Steps

#: PostgreSQL has at most 1,664 columns in a query, SQL Server 1,024.
MOST_RULES = 500


def counting_query(model: Any, table: str | tuple[str, ...], *, dialect: str, target: str | None = None) -> str:
    """A query that counts, in one pass over a table, the rows that each rule covers and those that none does.

    Parameters
    ----------
    model
        A fitted model of this package, a `RuleSet` with evidence, or a `Vote`.
    table, dialect
        As in `rulecover.export.sql.to_sql`.
    target
        The column with the true classes or numbers, if the table has it.

    Returns
    -------
    str
        One SELECT. For classes it returns a row per value of the target (``target``); ``rows`` and ``missed``; and
        ``rule_0``, ``rule_1``, …, the rows of each rule. For numbers also their sums, ``sum_0``, … and ``sum``.
        `TableCertificate.from_rows` reads its rows.

    Examples
    --------
    >>> import sqlite3
    >>> from sklearn.datasets import load_iris
    >>> from rulecover import MIRCOClassifier
    >>> from rulecover.counting.certificate import TableCertificate
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> mirco = MIRCOClassifier(random_state=0).fit(X, y)
    >>> database = sqlite3.connect(":memory:")
    >>> _ = X.assign(species=y).to_sql("iris", database)
    >>> database.row_factory = sqlite3.Row
    >>> rows = database.execute(counting_query(mirco, "iris", dialect="sqlite", target="species")).fetchall()
    >>> print(TableCertificate.from_rows(mirco.rules_, list(map(dict, rows))))
    Every one of 150 rows is covered by a rule.
    """
    script = rules_alone(model)
    if len(script.conditions) > MOST_RULES:
        raise ExportError(
            f"there are {len(script.conditions)} rules, and a query counts {MOST_RULES} at most; take fewer."
        )
    steps = Steps(script, dialect_named(dialect), () if target is None else (target,))
    by_class = target is not None and script.classes is not None
    groups = [column("keep_0")] if by_class else []
    return over_table(partial(_counting, steps), table_named(table), steps.dialect, groups)


def _counting(steps: Steps, source: exp.Identifier) -> Iterator[Step]:
    """The columns as numbers; for each rule whether it covers a row, worked out once; and the sums of these."""
    yield Step("rows", steps.rows(source))
    kept = {f"keep_{i}": column(f"keep_{i}") for i in range(len(steps.keep))}
    yield Step("rules", kept | {f"rule_{j}": steps.covers(j) for j in range(len(steps.script.conditions))})
    yield Step("counts", _counts(steps.script, has_target=bool(steps.keep)))


def _counts(script: Script, *, has_target: bool) -> dict[str, exp.Expression]:
    rules = [f"rule_{j}" for j in range(len(script.conditions))]
    fired = joined(exp.Add, [column(title) for title in rules])
    missed = case((exp.EQ(this=exp.Paren(this=fired), expression=whole(0)), whole(1)), default=whole(0))
    columns: dict[str, exp.Expression] = {}
    if has_target and script.classes is not None:
        columns[TARGET] = column("keep_0")
    columns |= {ROWS: exp.Count(this=exp.Star()), MISSED: exp.Sum(this=missed)}
    columns |= {title: exp.Sum(this=column(title)) for title in rules}
    if has_target and script.classes is None:
        y = double(column("keep_0"))
        columns |= {f"sum_{j}": exp.Sum(this=exp.Mul(this=column(r), expression=y.copy())) for j, r in enumerate(rules)}
        columns[SUM] = exp.Sum(this=y)
    return columns
