"""Rules as expressions of narwhals, counted in the library or database that a frame belongs to."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import reduce
from operator import and_
from typing import Any

import narwhals as nw
import numpy as np
import pandas as pd

from rulecover.counting.certificate import KNOWN, MISSED, ROWS, SUM, TARGET, TITLES, TableCertificate
from rulecover.counting.groups import MOST_GROUPS, RowGroups
from rulecover.counting.script import check_columns, words
from rulecover.data.dates import DatePart
from rulecover.data.frames import UNSEEN, ZERO, as_pandas, categories_of, numbers
from rulecover.data.inputs import Coded, Input, Level, Number, TableInput
from rulecover.data.written_numbers import Notation, Undecided, recognise
from rulecover.exceptions import MismatchedDataError
from rulecover.export.conditions import Condition, Script

#: Rows of a frame in memory that are counted at a time.
BLOCK = 1_000_000

#: The columns whose values may be texts.
_TEXTS = (nw.String, nw.Object)
#: The types of categories.
_CATEGORIES = (nw.Categorical, nw.Enum)

#: The days from the first of January of the year 1 to that of 1970, and one more.
_EPOCH = 719_163

#: What a hash is divided by to draw rows.
_PARTS = 1_000_003

Frame = nw.LazyFrame[Any] | nw.DataFrame[Any]


@dataclass(frozen=True, eq=False)
class FrameTable:
    """A frame of any library that narwhals supports."""

    frame: Frame

    def certificate(self, script: Script, target: str | None) -> TableCertificate:
        """What each rule covers in this frame, counted by its library."""
        return counted(script, with_numbers(script, self.frame, target), target)

    @property
    def columns(self) -> list[str]:
        """The names of its columns."""
        return list(self.frame.collect_schema())

    def groups(self, script: Script, target: str) -> RowGroups:
        """The rows in groups that the same rules cover."""
        found = patterns(script, self.frame, target).head(MOST_GROUPS + 1)
        return RowGroups.from_rows(len(script.conditions), _collected(found))

    def sample(self, columns: list[str], n_rows: int, seed: int) -> pd.DataFrame:
        """About this many rows, drawn by the library of the frame."""
        (counted,) = _collected(self.frame.select(nw.len().alias(ROWS)))
        share = n_rows / max(int(counted[ROWS]), 1)
        frame, given = _addressed(self.frame, self.columns)
        kept = frame.select(**{f"column_{k}": given[name] for k, name in enumerate(columns)})
        return _fetched(kept if share >= 1 else _drawn(kept, share, seed), columns)

    def missed(self, script: Script, columns: list[str], at_most: int) -> pd.DataFrame:
        """Rows that no rule covers."""
        packed = _packed(script, _read(script, self.frame, None, columns))
        nothing = reduce(and_, (nw.col(word) == 0 for word in words(len(script.conditions))))
        return _fetched(packed.filter(nothing).head(at_most), columns)


def with_numbers(script: Script, frame: Frame, target: str | None) -> Frame:
    """A frame in memory with a target of texts such as ``$1,188`` as numbers, where the rules predict numbers."""
    if not isinstance(frame, nw.DataFrame) or target is None or script.classes is not None:
        return frame
    if frame.schema.get(target) not in _TEXTS:
        return frame
    texts = frame[target].to_list()
    notation = recognise([*{text for text in texts if text is not None}])
    notation = notation.likely if isinstance(notation, Undecided) else notation
    if not isinstance(notation, Notation):
        return frame
    values = numbers(np.array(texts, dtype=object), target, notation=notation)
    return frame.with_columns(_series(frame, target, values))


def counted(script: Script, frame: Frame, target: str | None) -> TableCertificate:
    """How many rows each rule covers, in one pass over the frame."""
    rules = script.model.rules
    if isinstance(frame, nw.DataFrame) and len(frame) > BLOCK:
        parts = (frame[start : start + BLOCK] for start in range(0, len(frame), BLOCK))
        return reduce(TableCertificate.__add__, (counted(script, part, target) for part in parts))
    kept = _kept(script, target)
    if isinstance(frame, nw.DataFrame) and not len(frame) and (kept or target is None):
        _read(script, frame, target)  # checks the columns; some versions of narwhals find no groups of no rows
        return RowGroups.from_rows(len(rules), []).certificate(rules)
    grouped = patterns(script, frame, target)
    if isinstance(grouped, nw.DataFrame) and (kept or target is None):  # the groups are here already
        return RowGroups.from_rows(len(rules), _collected(grouped)).certificate(rules)
    return TableCertificate.from_rows(rules, _collected(_counts(script, grouped, kept)))


def patterns(script: Script, frame: Frame, target: str | None = None) -> Frame:
    """The rows of a frame in groups that the same rules cover: these rules as bits of whole numbers, and how many rows.

    Where the target is a class, groups are of one class. There are few groups, and only numbers are compared to find
    that of a row, which takes much less time than to add up what each rule covers.
    """
    by_number = target is not None and script.classes is None
    keys = [*_kept(script, target), *words(len(script.conditions))]
    aggregates = [nw.len().alias(ROWS)]
    if by_number:
        aggregates += [nw.col(TARGET).sum().alias(SUM), nw.col(TARGET).count().alias(KNOWN)]
    return _packed(script, _read(script, frame, target)).group_by(*keys).agg(*aggregates)


def _kept(script: Script, target: str | None) -> list[str]:
    return [TARGET] if target is not None and script.classes is not None else []


def _read(script: Script, frame: Frame, target: str | None, also: Sequence[str] = ()) -> Frame:
    """The target and other columns, and for each rule whether it covers a row."""
    there = list(frame.collect_schema())
    inputs = _inputs(script, there)
    check_columns([*(each.name for each in inputs.values()), *([] if target is None else [target])], there)
    if isinstance(frame, nw.DataFrame):
        frame = _decoded(frame, [*(each.name for each in inputs.values()), *([] if target is None else [target])])
        frame, inputs = _read_in_memory(frame, inputs)
    schema = dict(frame.collect_schema())
    frame, given = _addressed(frame, list(schema))
    columns = {f"x_{f}": _value(each, given[each.name], schema[each.name]) for f, each in inputs.items()}
    if target is not None:
        columns[TARGET] = _target(target, given[target], schema[target], by_number=script.classes is None)
    columns |= {f"column_{k}": given[name] for k, name in enumerate(also)}
    if not columns:  # rules that always hold ask for no column
        columns["x_none"] = next(iter(given.values()))
    flags = {f"rule_{j}": _covers(script, rule) for j, rule in enumerate(script.conditions)}
    kept = [name for name in columns if not name.startswith("x_")]
    return frame.select(**columns).with_columns(**flags).select(*kept, *flags)


def _inputs(script: Script, there: list[str]) -> dict[int, TableInput]:
    """Where the values of each column in use come from: dates themselves, unless the table has only their parts."""
    columns = script.model.rules.columns
    made = {f: script.model.inputs[f] for f in script.features}
    only_parts = {f for f, part in columns.parts.items() if part.name not in there and columns.names[f] in there}
    return {f: each if f in only_parts else columns.parts.get(f, each) for f, each in made.items()}


def _decoded(frame: nw.DataFrame[Any], names: Sequence[str]) -> nw.DataFrame[Any]:
    """The frame with categories of other types, such as numbers, as these types: their texts are not the labels."""
    for name in names:
        if frame.schema[name] in _CATEGORIES and (kind := categories_of(frame[name]).dtype) != nw.String:
            if frame.implementation.is_pandas_like() and frame[name].null_count():  # numpy has no gaps in other types
                kind = nw.Float64() if kind.is_numeric() else nw.Object()
            frame = frame.with_columns(frame[name].cast(kind))
    return frame


def _read_in_memory(
    frame: nw.DataFrame[Any], inputs: dict[int, TableInput]
) -> tuple[nw.DataFrame[Any], dict[int, TableInput]]:
    """The frame with numbers in columns of their own for dates, and for texts that are numbers to people.

    For large whole numbers in Arrow, too, which casts none to doubles that these do not hold to the last digit.
    """
    inputs = dict(inputs)
    large = (nw.Int64, nw.UInt64) if frame.implementation.is_pyarrow() else ()
    for f, each in inputs.items():
        written = isinstance(each, Number) and each.notation is not None and frame.schema[each.name] in _TEXTS
        if written or isinstance(each, DatePart) or (isinstance(each, Number) and frame.schema[each.name] in large):
            values = each.read(as_pandas(nw.to_native(frame[each.name].to_frame()))[each.name])
            name = _new_name(f"{each.name} as numbers {f}", frame.columns)
            frame = frame.with_columns(_series(frame, name, values))
            inputs[f] = Number(name, isinstance(each, Number) and each.zero_missing)
    return frame, inputs


def _series(frame: nw.DataFrame[Any], name: str, values: Any) -> nw.Series[Any]:
    """A column of the same library as the frame."""
    return nw.from_dict({name: values}, backend=frame.implementation)[name]


def _new_name(name: str, there: list[str]) -> str:
    return _new_name(f"{name}_", there) if name in there else name


def _addressed(frame: Frame, names: list[str]) -> tuple[Frame, dict[str, nw.Expr]]:
    """The frame, and each of its columns, under other names where names are taken for syntax.

    Spark takes dots and quotes so, DuckDB and polars a star, and polars texts such as ``^x$``. Older versions of
    narwhals lose quotes on the way to DuckDB.
    """
    plain = [f"column_{k}" for k in range(len(names))]
    native: Any = nw.to_native(frame)
    if frame.implementation.is_spark_like():
        renamed = native.toDF(*plain)
    elif frame.implementation.is_polars() and any(name == "*" or name.startswith("^") for name in names):
        renamed = native.rename(dict(zip(names, plain, strict=True)))
    elif frame.implementation.is_duckdb() and any(name == "*" or '"' in name for name in names):
        renamed = native.project(", ".join(map(_renamed, names, plain)))
    else:
        return frame, {name: nw.col(name) for name in names}
    return nw.from_native(renamed), dict(zip(names, map(nw.col, plain), strict=True))


def _renamed(name: str, plain: str) -> str:
    """A column under another name, in SQL."""
    return '"{}" AS {}'.format(name.replace('"', '""'), plain)


def _packed(script: Script, flags: Frame) -> Frame:
    """The target, and the flags of all rules as bits: the sum of a power of two for each rule that covers a row."""
    packed, arrow = {}, flags.implementation.is_pyarrow()
    for word, rules in words(len(script.conditions)).items():
        # With older versions of narwhals, Arrow takes neither branch where a condition is unknown.
        covered = [nw.col(f"rule_{j}").fill_null(False) if arrow else nw.col(f"rule_{j}") for j in rules]
        bits = [
            nw.when(each).then(_whole(2 ** (j - rules[0]))).otherwise(_whole(0))
            for j, each in zip(rules, covered, strict=True)
        ]
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


def _drawn(frame: Frame, share: float, seed: int) -> Frame:
    """A share of the rows, each drawn by itself."""
    if isinstance(frame, nw.DataFrame):
        return frame.sample(fraction=share, seed=seed)
    native, made_by = nw.to_native(frame), frame.implementation
    drawn: Any
    if made_by.is_polars():
        import polars as pl

        drawn = native.filter(pl.int_range(pl.len()).hash(seed) % _PARTS < int(share * _PARTS))
    elif made_by.is_duckdb():
        drawn = native.query("drawn", f"FROM drawn USING SAMPLE {100 * share} PERCENT (bernoulli, {seed})")
    elif made_by.is_spark_like():
        drawn = native.sample(fraction=share, seed=seed)
    elif made_by.is_ibis():
        drawn = native.sample(share, seed=seed)
    else:
        kind = type(native).__name__
        raise MismatchedDataError(f"rows of a {kind} cannot be drawn here; give sample as a frame of rows.")
    made: Frame = nw.from_native(drawn)
    return made


def _fetched(frame: Frame, columns: list[str]) -> pd.DataFrame:
    """The rows in memory, under the names of their columns."""
    found = frame.collect() if isinstance(frame, nw.LazyFrame) else frame
    rows = found.select(*(f"column_{k}" for k in range(len(columns)))).to_pandas()
    return rows.set_axis(columns, axis=1).reset_index(drop=True)


def _collected(frame: Frame) -> list[dict[str, Any]]:
    found = frame.collect() if isinstance(frame, nw.LazyFrame) else frame
    return [dict(row) for row in found.rows(named=True)]


# Columns --------------------------------------------------------------------------------------------------------------


def _value(each: TableInput, given: nw.Expr, kind: Any) -> nw.Expr:
    """A column as its conditions read it: NULL where it is missing, texts for categories."""
    if isinstance(each, DatePart):
        return _part_of_date(each, given, kind)
    if isinstance(each, (Coded, Level)):
        return given.cast(nw.String) if kind in _CATEGORIES else given
    if not (kind.is_numeric() or kind == nw.Boolean):
        raise MismatchedDataError(
            f"column {each.name!r} of the table holds values of type {kind}, but the rules compare numbers there; make "
            "it a column of numbers."
        )
    number = given.cast(nw.Float64)
    known = ~number.is_nan() & (number.abs() > ZERO) if each.zero_missing else ~number.is_nan()
    return nw.when(known).then(number)


def _part_of_date(part: DatePart, given: nw.Expr, kind: Any) -> nw.Expr:
    """A part of each date as a number; days are made of parts that every library knows."""
    if kind not in (nw.Date, nw.Datetime):
        raise MismatchedDataError(
            f"column {part.name!r} of the table holds values of type {kind}, but the rules use the {part.part} of its "
            "dates; make it a column of dates, or give a frame in memory, where texts are read as in training."
        )
    if part.part in ("year", "month", "weekday"):
        found: nw.Expr = getattr(given.dt, part.part)()
        return found.cast(nw.Float64)
    before = given.dt.year().cast(nw.Int64) - 1
    days = before * 365 + before // 4 - before // 100 + before // 400 + given.dt.ordinal_day().cast(nw.Int64) - _EPOCH
    seconds = (days * 86400 + _second_of_day(given, kind)).cast(nw.Float64)
    # By a column: polars multiplies by the reciprocal of a number, which is rounded twice.
    return seconds / (seconds * 0.0 + 86400.0)


def _second_of_day(given: nw.Expr, kind: Any) -> nw.Expr:
    if kind == nw.Date:
        return _whole(0)
    hour, minute, second = (each.cast(nw.Int64) for each in (given.dt.hour(), given.dt.minute(), given.dt.second()))
    return (hour * 60 + minute) * 60 + second


def _target(name: str, given: nw.Expr, kind: Any, *, by_number: bool) -> nw.Expr:
    if not by_number:
        return given.cast(nw.String) if kind in _CATEGORIES else given
    if not kind.is_numeric():
        raise MismatchedDataError(
            f"the target {name!r} holds values of type {kind}, but the rules predict numbers; texts such as $188 are "
            "read only in memory, and only if all of them are numbers: make it a column of numbers."
        )
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
