"""Rules as expressions of narwhals, counted in the library or database that a frame belongs to."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import reduce
from operator import and_
from typing import Any

import narwhals as nw

from rulecover.counting.certificate import KNOWN, MISSED, ROWS, SUM, TARGET, TITLES, TableCertificate
from rulecover.counting.script import check_columns, words
from rulecover.data.frames import UNSEEN
from rulecover.data.inputs import ZERO, Coded, Input, Level
from rulecover.exceptions import MismatchedDataError
from rulecover.export.conditions import Condition, Script

#: Rows of a frame in memory that are counted at a time.
BLOCK = 1_000_000

Frame = nw.LazyFrame[Any] | nw.DataFrame[Any]


@dataclass(frozen=True, eq=False)
class FrameTable:
    """A frame of any library that narwhals supports."""

    frame: Frame

    def certificate(self, script: Script, target: str | None) -> TableCertificate:
        """What each rule covers in this frame, counted by its library."""
        return counted(script, self.frame, target)


def counted(script: Script, frame: Frame, target: str | None) -> TableCertificate:
    """How many rows each rule covers, in one pass over the frame."""
    rules = script.model.rules
    if isinstance(frame, nw.DataFrame) and len(frame) > BLOCK:
        parts = (frame[start : start + BLOCK] for start in range(0, len(frame), BLOCK))
        return reduce(TableCertificate.__add__, (counted(script, part, target) for part in parts))
    kept = _kept(script, target)
    return TableCertificate.from_rows(rules, _collected(_counts(script, patterns(script, frame, target), kept)))


def patterns(script: Script, frame: Frame, target: str | None = None) -> Frame:
    """The rows of a frame in groups that the same rules cover: these rules as bits of whole numbers, and how many rows.

    Where the target is a class, groups are of one class. There are few groups, and only numbers are compared to find
    that of a row, which takes much less time than to add up what each rule covers.
    """
    numbers = target is not None and script.classes is None
    keys = [*_kept(script, target), *words(len(script.conditions))]
    aggregates = [nw.len().alias(ROWS)]
    if numbers:
        aggregates += [nw.col(TARGET).sum().alias(SUM), nw.col(TARGET).count().alias(KNOWN)]
    return _packed(script, _read(script, frame, target)).group_by(*keys).agg(*aggregates)


def _kept(script: Script, target: str | None) -> list[str]:
    return [TARGET] if target is not None and script.classes is not None else []


def _read(script: Script, frame: Frame, target: str | None) -> Frame:
    """The target, and for each rule whether it covers a row."""
    schema = dict(frame.collect_schema())
    check_columns([*script.columns, *([] if target is None else [target])], schema)
    frame, given = _addressed(frame, list(schema))
    inputs = {f: script.model.inputs[f] for f in script.features}
    columns = {f"x_{f}": _value(each, given[each.name], schema[each.name]) for f, each in inputs.items()}
    if target is not None:
        columns[TARGET] = _target(target, given[target], schema[target], numbers=script.classes is None)
    if not columns:  # rules that always hold ask for no column
        columns["x_none"] = next(iter(given.values()))
    flags = {f"rule_{j}": _covers(script, rule) for j, rule in enumerate(script.conditions)}
    return frame.select(**columns).with_columns(**flags).select(*([] if target is None else [TARGET]), *flags)


def _addressed(frame: Frame, names: list[str]) -> tuple[Frame, dict[str, nw.Expr]]:
    """The frame, and each of its columns; Spark takes dots and quotes in a name for syntax, so it gets other names."""
    if not frame.implementation.is_spark_like():
        return frame, {name: nw.col(name) for name in names}
    plain = [f"column_{k}" for k in range(len(names))]
    return nw.from_native(nw.to_native(frame).toDF(*plain)), dict(zip(names, map(nw.col, plain), strict=True))


def _packed(script: Script, flags: Frame) -> Frame:
    """The target, and the flags of all rules as bits: the sum of a power of two for each rule that covers a row."""
    packed = {}
    for word, rules in words(len(script.conditions)).items():
        bits = [nw.when(nw.col(f"rule_{j}")).then(_whole(2 ** (j - rules[0]))).otherwise(_whole(0)) for j in rules]
        packed[word] = _balanced_sum(bits)
    flags = flags.with_columns(**packed)
    return flags.select(*(name for name in flags.collect_schema() if not name.startswith("rule_")))


def _counts(script: Script, grouped: Frame, kept: list[str]) -> Frame:
    """One row per label, or one for all rows, from groups of rows that the same rules cover."""
    packed = words(len(script.conditions))
    added = [name for name in (ROWS, KNOWN, SUM) if name in grouped.collect_schema()]
    columns = {MISSED: _times(reduce(and_, (nw.col(word) == 0 for word in packed)), ROWS)}
    for word, rules in packed.items():
        elsewhere = [nw.col(other) == 0 for other in packed if other != word]
        for j in rules:
            bit = 2 ** (j - rules[0])
            covers = (nw.col(word) // bit) % 2
            columns |= {f"{TITLES[name]}_{j}": covers * nw.col(name) for name in added}
            columns[f"alone_{j}"] = _times(reduce(and_, elsewhere, nw.col(word) == bit), ROWS)
    frame = grouped.with_columns(**columns)
    sums = [nw.col(name).sum() for name in (*added, *columns)]
    return frame.group_by(*kept).agg(*sums) if kept else frame.select(*sums)


def _times(which: nw.Expr, name: str) -> nw.Expr:
    return nw.when(which).then(nw.col(name)).otherwise(_whole(0))


def _whole(value: int) -> nw.Expr:
    return nw.lit(value, nw.Int64)


def _balanced_sum(terms: list[nw.Expr]) -> nw.Expr:
    """The sum, half and half: engines limit how deep an expression may be."""
    half = len(terms) // 2
    return _balanced_sum(terms[:half]) + _balanced_sum(terms[half:]) if half else terms[0]


def _collected(frame: Frame) -> list[dict[str, Any]]:
    found = frame.collect() if isinstance(frame, nw.LazyFrame) else frame
    return [dict(row) for row in found.rows(named=True)]


# Columns --------------------------------------------------------------------------------------------------------------


def _value(each: Input, given: nw.Expr, kind: Any) -> nw.Expr:
    """A column as its conditions read it: NULL where it is missing, texts for categories."""
    if isinstance(each, (Coded, Level)):
        return given.cast(nw.String) if kind in (nw.Categorical, nw.Enum) else given
    if not (kind.is_numeric() or kind == nw.Boolean):
        raise MismatchedDataError(
            f"column {each.name!r} of the table holds values of type {kind}, but the rules compare numbers there."
        )
    number = given.cast(nw.Float64)
    known = ~number.is_nan() & (number.abs() > ZERO) if each.zero_missing else ~number.is_nan()
    return nw.when(known).then(number)


def _target(name: str, given: nw.Expr, kind: Any, *, numbers: bool) -> nw.Expr:
    if not numbers:
        return given.cast(nw.String) if kind in (nw.Categorical, nw.Enum) else given
    if not kind.is_numeric():
        raise MismatchedDataError(f"the target {name!r} holds values of type {kind}, but the rules predict numbers.")
    number = given.cast(nw.Float64)
    return nw.when(~number.is_nan()).then(number)


# Rules ----------------------------------------------------------------------------------------------------------------


def _covers(script: Script, rule: list[Condition]) -> nw.Expr:
    """Whether a row satisfies every condition; unknown where it does not, too."""
    tests = [_test(condition, script.model.inputs[condition.feature]) for condition in rule]
    return reduce(and_, tests) if tests else nw.lit(True)


def _test(condition: Condition, each: Input) -> nw.Expr:
    x = nw.col(f"x_{condition.feature}")
    if isinstance(each, Level):
        return _level_test(condition, each, x)
    passes = _known_test(condition, each, x)
    return x.is_null() | passes if condition.missing else passes


def _known_test(condition: Condition, each: Input, x: nw.Expr) -> nw.Expr:
    """Whether a known value passes; false or unknown where the value is missing."""
    if condition.impossible:
        return nw.lit(False)
    if isinstance(each, Coded):
        return _coded_test(condition, each, x)
    if condition.codes is not None:
        return _one_of(x, list(condition.codes), others=condition.others)
    bounds = [x > condition.above] if condition.above is not None else []
    bounds += [x <= condition.up_to] if condition.up_to is not None else []
    return reduce(and_, bounds) if bounds else ~x.is_null()


def _coded_test(condition: Condition, each: Coded, x: nw.Expr) -> nw.Expr:
    """Whether the code of a known value passes, in terms of the values themselves."""
    passes = _passes(condition)
    others = passes(UNSEEN)
    return _one_of(x, [label for label, code in each.codes if passes(code) != others], others=others)


def _one_of(x: nw.Expr, values: list[Any], *, others: bool) -> nw.Expr:
    """Whether a known value is one of these, or is not."""
    if not values:
        return ~x.is_null() if others else nw.lit(False)
    return ~x.is_null() & ~x.is_in(values) if others else x.is_in(values)


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
