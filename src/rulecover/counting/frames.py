"""Rules as expressions of narwhals, counted in the library or database that a frame belongs to."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import reduce
from operator import and_
from typing import Any

import narwhals as nw

from rulecover.counting.certificate import MISSED, ROWS, SUM, TARGET, TableCertificate
from rulecover.data.frames import UNSEEN
from rulecover.data.inputs import ZERO, Coded, Input, Level
from rulecover.exceptions import MismatchedDataError
from rulecover.export.conditions import Condition, Script
from rulecover.export.exported import vote_of

#: Rows of a frame in memory that are counted at a time.
BLOCK = 1_000_000

Frame = nw.LazyFrame[Any] | nw.DataFrame[Any]


def rules_alone(model: Any) -> Script:
    """The rules of a model as conditions, without the comparisons of their trees that a fallback may need."""
    vote = vote_of(model)
    return Script(replace(vote, rules=replace(vote.rules, paths=None)))


def counted(script: Script, frame: Frame, target: str | None) -> TableCertificate:
    """How many rows each rule covers, in one pass over the frame."""
    rules = script.model.rules
    if isinstance(frame, nw.DataFrame) and len(frame) > BLOCK:
        parts = (frame[start : start + BLOCK] for start in range(0, len(frame), BLOCK))
        return reduce(TableCertificate.__add__, (counted(script, part, target) for part in parts))
    read = _read(script, frame, target)
    rows = _numbers(read, script) if target is not None and script.classes is None else _classes(read, script, target)
    return TableCertificate.from_rows(rules, rows)


def _read(script: Script, frame: Frame, target: str | None) -> Frame:
    """The target, and for each rule whether it covers a row."""
    schema = dict(frame.collect_schema())
    for name in [*script.columns, *([] if target is None else [target])]:
        if name not in schema:
            known = ", ".join(list(schema)[:5]) + ("…" if len(schema) > 5 else "")
            raise MismatchedDataError(f"the table has no column {name!r}; it has {known}.")
    inputs = ((f, script.model.inputs[f]) for f in script.features)
    columns = {f"x_{f}": _value(each, schema[each.name]) for f, each in inputs}
    if target is not None:
        columns[TARGET] = _target(target, schema[target], numbers=script.classes is None)
    if not columns:  # rules that always hold ask for no column
        columns["x_none"] = nw.col(next(iter(schema)))
    values = frame.select(**columns)
    flags = {f"rule_{j}": _covers(script, rule) for j, rule in enumerate(script.conditions)}
    kept = [] if target is None else [TARGET]
    return values.with_columns(**flags).select(*kept, *flags)


def _classes(read: Frame, script: Script, target: str | None) -> list[dict[str, Any]]:
    """One row per label, or one for all rows."""
    names = [f"rule_{j}" for j in range(len(script.conditions))]
    counted = [nw.col(name).sum() for name in (*names, MISSED)]
    read = read.with_columns(nw.lit(1).alias(ROWS), (1 - nw.max_horizontal(*names)).alias(MISSED))
    if target is None:
        return _collected(read.select(*counted, nw.col(ROWS).sum()))
    return _collected(read.group_by(TARGET).agg(*counted, nw.col(ROWS).sum()))


def _numbers(read: Frame, script: Script) -> list[dict[str, Any]]:
    names = [f"rule_{j}" for j in range(len(script.conditions))]
    sums = {f"sum_{j}": nw.col(name) * nw.col(TARGET) for j, name in enumerate(names)} | {SUM: nw.col(TARGET)}
    read = read.with_columns(nw.lit(1).alias(ROWS), (1 - nw.max_horizontal(*names)).alias(MISSED), **sums)
    return _collected(read.select(*(nw.col(name).sum() for name in (*names, *sums, ROWS, MISSED))))


def _collected(frame: Frame) -> list[dict[str, Any]]:
    found = frame.collect() if isinstance(frame, nw.LazyFrame) else frame
    return [dict(row) for row in found.rows(named=True)]


# Columns --------------------------------------------------------------------------------------------------------------


def _value(each: Input, kind: Any) -> nw.Expr:
    """A column as its conditions read it: NULL where it is missing, texts for categories."""
    given = nw.col(each.name)
    if isinstance(each, (Coded, Level)):
        return given.cast(nw.String) if kind in (nw.Categorical, nw.Enum) else given
    if not (kind.is_numeric() or kind == nw.Boolean):
        raise MismatchedDataError(
            f"column {each.name!r} of the table holds values of type {kind}, but the rules compare numbers there."
        )
    number = given.cast(nw.Float64)
    known = ~number.is_nan() & (number.abs() > ZERO) if each.zero_missing else ~number.is_nan()
    return nw.when(known).then(number)


def _target(name: str, kind: Any, *, numbers: bool) -> nw.Expr:
    if not numbers:
        return nw.col(name).cast(nw.String) if kind in (nw.Categorical, nw.Enum) else nw.col(name)
    if not kind.is_numeric():
        raise MismatchedDataError(f"the target {name!r} holds values of type {kind}, but the rules predict numbers.")
    return nw.col(name).cast(nw.Float64)


# Rules ----------------------------------------------------------------------------------------------------------------


def _covers(script: Script, rule: list[Condition]) -> nw.Expr:
    """1 where a row satisfies every condition, 0 elsewhere."""
    tests = [_test(condition, script.model.inputs[condition.feature]) for condition in rule]
    return nw.when(reduce(and_, tests)).then(nw.lit(1)).otherwise(nw.lit(0)) if tests else nw.lit(1)


def _test(condition: Condition, each: Input) -> nw.Expr:
    x = nw.col(f"x_{condition.feature}")
    if isinstance(each, Level):
        return _level_test(condition, each, x)
    known = ~x.is_null()
    if condition.impossible:
        passes = nw.lit(False)  # a literal
    elif isinstance(each, Coded):
        passes = known & _coded_test(condition, each, x)
    elif condition.codes is not None:
        found = x.is_in(list(condition.codes))
        passes = known & (~found if condition.others else found)
    else:
        bounds = [x > condition.above] if condition.above is not None else []
        bounds += [x <= condition.up_to] if condition.up_to is not None else []
        passes = reduce(and_, bounds, known)
    return x.is_null() | passes if condition.missing else passes


def _coded_test(condition: Condition, each: Coded, x: nw.Expr) -> nw.Expr:
    """Whether the code of a known value passes, in terms of the values themselves."""
    passes = _passes(condition)
    if passes(UNSEEN):
        return ~x.is_in([label for label, code in each.codes if not passes(code)])
    return x.is_in([label for label, code in each.codes if passes(code)])


def _level_test(condition: Condition, each: Level, x: nw.Expr) -> nw.Expr:
    """Whether 1 for a level, or 0 for any other value, passes."""
    passes = _passes(condition)
    is_level = x.is_null() if each.level is None else ~x.is_null() & x.cast(nw.String).is_in(_spellings(each.level))
    if passes(1.0) == passes(0.0):
        return nw.lit(passes(1.0))
    return is_level if passes(1.0) else ~is_level


def _spellings(level: str) -> list[str]:
    """How libraries write a level; truth values in small letters, too."""
    return [level, level.lower()] if level in ("True", "False") else [level]


def _passes(condition: Condition) -> Callable[[float], bool]:
    """Whether a known value satisfies a condition."""

    def passes(value: float) -> bool:
        if condition.impossible:
            return False
        if condition.codes is not None:
            return (value in condition.codes) != condition.others
        above = condition.above is None or value > condition.above
        return above and (condition.up_to is None or value <= condition.up_to)

    return passes
