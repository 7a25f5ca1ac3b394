"""The query that counts what rules cover, for databases that a table does not leave."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from typing import Any

from sqlglot import exp

from rulecover.counting.certificate import KNOWN, MISSED, ROWS, SUM, TARGET, TITLES
from rulecover.counting.script import rules_alone, words
from rulecover.exceptions import ExportError
from rulecover.export.conditions import Script
from rulecover.export.dialects import case, column, dialect_named, joined, large, whole
from rulecover.export.sql import over_table, table_named
from rulecover.export.sql_steps import Step, Steps

#: PostgreSQL has at most 1,664 columns in a query; four of them are of one rule.
MOST_RULES = 400


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
        One SELECT. For classes it returns a row per value of the target (``target``); ``rows`` and ``missed``;
        ``rule_0``, ``rule_1``, …, the rows of each rule; and ``alone_0``, …, those that no other rule covers. For
        numbers also their sums, ``sum_0``, … and ``sum``, and how many are known, ``known_0``, … and ``known``.
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
    return over_table(partial(_counting, steps), table_named(table), steps.dialect)


def groups_query(script: Script, table: str | tuple[str, ...], *, dialect: str, target: str, at_most: int) -> str:
    """A query for the rows in groups that the same rules cover."""
    steps = Steps(script, dialect_named(dialect), (target,))
    packed = words(len(script.conditions))
    names = {word: column(word) for word in packed}

    def grouped(source: exp.Identifier) -> Iterator[Step]:
        *earlier, _ = _counting(steps, source)
        yield from earlier
        yield Step("found", {TARGET: column("keep_0"), **names, ROWS: column("n")}, at_most=at_most)

    return over_table(grouped, table_named(table), steps.dialect)


def missed_query(
    script: Script, table: str | tuple[str, ...], *, dialect: str, columns: Sequence[str], at_most: int
) -> str:
    """A query for rows that no rule covers."""
    steps = Steps(script, dialect_named(dialect), tuple(columns))
    packed = words(len(script.conditions))
    kept = {f"keep_{k}": column(f"keep_{k}") for k in range(len(columns))}

    def missed(source: exp.Identifier) -> Iterator[Step]:
        yield Step("rows", steps.rows(source))
        yield Step("words", kept | {word: _bits(steps, rules) for word, rules in packed.items()})
        yield Step("found", dict(kept), where=_no_rule(packed), at_most=at_most)

    return over_table(missed, table_named(table), steps.dialect)


def _counting(steps: Steps, source: exp.Identifier) -> Iterator[Step]:
    """The columns as numbers; the rules of each row as bits; groups of rows with the same rules; and sums of these."""
    yield Step("rows", steps.rows(source))
    by_class = bool(steps.keep) and steps.script.classes is not None
    packed = words(len(steps.script.conditions))
    kept = {"keep_0": column("keep_0")} if steps.keep else {}
    yield Step("words", kept | {word: _bits(steps, rules) for word, rules in packed.items()})
    keys = [*(["keep_0"] if by_class else []), *packed]
    groups: dict[str, exp.Expression] = {key: column(key) for key in keys} | {"n": exp.Count(this=exp.Star())}
    if steps.keep and not by_class:
        y = steps.dialect.known(column("keep_0"))
        groups |= {"sum_of": exp.Sum(this=y), "known_of": exp.Count(this=y.copy())}
    yield Step("patterns", groups, groups=tuple(keys))
    yield Step("counts", _counts(packed, list(groups)), groups=("keep_0",) if by_class else ())


def _no_rule(packed: Iterable[str]) -> exp.Expression:
    return joined(exp.And, [_equals(column(word), 0) for word in packed])


def _bits(steps: Steps, rules: range) -> exp.Expression:
    """A power of two for each of these rules that covers a row, added up."""
    powers = [(j, large(2 ** (j - rules[0]))) for j in rules]
    return joined(exp.Add, [steps.covers(j, power) for j, power in powers])


def _counts(packed: dict[str, range], columns: list[str]) -> dict[str, exp.Expression]:
    """What each rule covers, from groups of rows that the same rules cover."""
    added = {ROWS: "n"} | ({SUM: "sum_of", KNOWN: "known_of"} if "sum_of" in columns else {})
    counts: dict[str, exp.Expression] = {TARGET: column("keep_0")} if "keep_0" in columns else {}
    counts |= {title: exp.Sum(this=column(n)) for title, n in added.items()}
    counts[MISSED] = _sum_where(_no_rule(packed), "n")
    for word, rules in packed.items():
        elsewhere = [_equals(column(other), 0) for other in packed if other != word]
        for j in rules:
            bit = 2 ** (j - rules[0])
            masked = exp.Paren(this=exp.BitwiseAnd(this=column(word), expression=large(bit)))
            covers = exp.NEQ(this=masked, expression=whole(0))
            counts |= {f"{TITLES[title]}_{j}": _sum_where(covers.copy(), n) for title, n in added.items()}
            counts[f"alone_{j}"] = _sum_where(joined(exp.And, [_equals(column(word), bit), *elsewhere]), "n")
    return counts


def _equals(value: exp.Expression, number: int) -> exp.Expression:
    return exp.EQ(this=value, expression=large(number))


def _sum_where(test: exp.Expression, title: str) -> exp.Expression:
    return exp.Sum(this=case((test, column(title)), default=whole(0)))
