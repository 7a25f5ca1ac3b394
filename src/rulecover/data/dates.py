"""Dates as numbers: the year, the month, the weekday and the days since 1970-01-01."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from numbers import Number
from typing import Any, Literal

import numpy as np
import pandas as pd

from rulecover.exceptions import MismatchedDataError
from rulecover.typing import Array, Floats

#: What is made of a date, in this order: the weekday is 1 for Monday to 7 for Sunday; days have fractions for times.
PARTS = ("year", "month", "weekday", "days since 1970-01-01")

#: The part that orders dates: rules on it are printed with dates.
DAYS = PARTS[3]

#: The parts that never fall as time passes; the others begin again.
RISING = ("year", DAYS)

#: A date as rules are printed with it, and a time of that day.
WRITTEN_DATE = re.compile(r"\d{4}-\d\d-\d\d(?:[ T]\d\d:\d\d(?::\d\d)?)?")
_SECONDS = 86400
#: From the year 1 to the year 9999.
_WRITABLE = (-719162, 2932896)

_EPOCH = np.datetime64(0, "D")

#: How texts may write dates: the ISO standard, and other formats of which exactly one must fit all of them.
ISO = "ISO8601"
#: The same in forms that databases read otherwise, or not at all: 2024-1-5, 2024-01, offsets of time zones.
LOOSE_ISO = "ISO8601, loosely"
_STRICT = re.compile(r"\d{4}-\d\d-\d\d([T ]\d\d:\d\d(:\d\d(\.\d{1,3})?)?)?")
OTHERS = ("%d.%m.%Y", "%d/%m/%Y", "%m/%d/%Y", "%Y/%m/%d", "%d-%m-%Y", "%m-%d-%Y")
#: How dates begin, by whether they are written as in ISO; pandas takes "nan" for a date, too.
_BEGINS = {True: re.compile(r"\d{4}-\d{1,2}(-\d{1,2})?\b"), False: re.compile(r"\d")}
_LOOKS = re.compile(r"\d{1,4}[-./]\d{1,2}[-./]\d{1,4}([T ]\d{1,2}:\d{2}.*)?")

#: What pandas calls objects that are dates.
_DATES = ("datetime64", "datetime", "date")


def holds_dates(column: Any) -> bool:
    """Whether a column of pandas holds dates, as such and not as texts."""
    if pd.api.types.is_datetime64_any_dtype(column) or isinstance(column.dtype, pd.PeriodDtype):
        return True
    return column.dtype == object and pd.api.types.infer_dtype(column, skipna=True) in _DATES


def written_as(texts: Any) -> str | None:
    """The format in which all texts are dates; ``None`` if there is none, or more than one.

    >>> written_as(["2024-12-31", "2025-01-01"]), written_as(["31/12/2024"]), written_as(["01/02/2024"])
    ('ISO8601', '%d/%m/%Y', None)
    """
    distinct = list(dict.fromkeys(texts))
    if not distinct or not all(isinstance(each, str) and _LOOKS.fullmatch(each.strip()) for each in distinct):
        return None
    if _fits(distinct, ISO):
        return ISO if all(map(_STRICT.fullmatch, distinct)) else LOOSE_ISO
    fitting = [each for each in OTHERS if _fits(distinct, each)]
    return fitting[0] if len(fitting) == 1 else None


def dates_among(texts: list[str]) -> list[str]:
    """Those texts that are dates in the one format in which more than half of all are; none if there is no such format.

    >>> dates_among(["2024-12-31", "unknown", "2025-01-01"]), dates_among(["01/02/2024", "soon"])
    (['2024-12-31', '2025-01-01'], [])
    """
    look_so = [text for text in texts if _LOOKS.fullmatch(text.strip())]
    for written in (ISO, *OTHERS) if 2 * len(look_so) > len(texts) else ():
        begin = [text for text in look_so if _BEGINS[is_iso(written)].match(text.strip())]
        read = _parsed(begin, written, errors="coerce").notna()
        known = [text for text, is_date in zip(begin, read, strict=True) if is_date]
        if 2 * len(known) > len(texts) and written_as(known) is not None:
            return known
    return []


def _fits(texts: list[str], written: str) -> bool:
    try:
        _parsed(texts, written)
    except (ValueError, OverflowError):
        return False
    return True


def _parsed(texts: Any, written: str, errors: Literal["raise", "coerce"] = "raise") -> Any:
    stripped = [each.strip() if isinstance(each, str) else each for each in texts]
    begins = _BEGINS[is_iso(written)]
    if any(isinstance(each, str) and begins.match(each) is None for each in stripped):
        raise ValueError("not a date")
    format_ = ISO if is_iso(written) else written
    dates = pd.to_datetime(pd.Series(stripped, dtype=object), format=format_, utc=True, errors=errors)
    return dates.dt.tz_localize(None)


def is_iso(written: str) -> bool:
    """Whether texts write dates as year, month and day."""
    return written in (ISO, LOOSE_ISO)


@dataclass(frozen=True)
class DatePart:
    """One number made of a column of dates.

    Parameters
    ----------
    name
        The column of dates.
    part
        One of `PARTS`.
    written
        How texts write the dates: a format of ``strptime``, `ISO` or `LOOSE_ISO`.
    """

    name: str
    part: str
    written: str = ISO

    @property
    def made_name(self) -> str:
        """What the column of numbers is called."""
        return f"{self.name} ({self.part})"

    def read(self, values: Array) -> Floats:
        """The part of each date, NaN where there is none."""
        return part_of(self.moments(values), self.part)

    def moments(self, values: Array) -> Array:
        """The dates in seconds."""
        return moments(values, self.written, self.name)


def moments(values: Any, written: str, name: str) -> Array:
    """Dates of any type as numpy's, in seconds, NaT where there is none."""
    column = pd.Series(values)
    if isinstance(column.dtype, pd.PeriodDtype):
        column = column.dt.to_timestamp()
    if not pd.api.types.is_datetime64_any_dtype(column):
        column = _moments_of_objects(column, written, name)
    if column.dt.tz is not None:
        column = column.dt.tz_localize(None)
    return np.asarray(column.to_numpy(), dtype="datetime64[s]")


def _moments_of_objects(column: Any, written: str, name: str) -> Any:
    """Dates from texts, empty ones being missing, and from date objects; each distinct value is converted once."""
    which, known = pd.factorize(column.astype(object).mask(column.isin([""]), None).to_numpy())
    texts = [each for each in known if isinstance(each, str)]
    try:
        by_text = dict(zip(texts, _parsed(texts, written), strict=True)) if texts else {}
        dates = [by_text[each] if isinstance(each, str) else _timestamp(each) for each in known]
    except (ValueError, TypeError, OverflowError) as error:
        wrong = next(each for each in known if not _is_date(each, written))
        raise MismatchedDataError(
            f"column {name!r} holds {str(wrong)[:40]!r}, which is not a date as in training "
            f"({'YYYY-MM-DD' if is_iso(written) else written}); correct it, or leave it empty if nothing is known."
        ) from error
    return pd.Series(pd.to_datetime(pd.Series([*dates, pd.NaT])).to_numpy()[which])


def _timestamp(value: Any) -> Any:
    """A date of pandas; it would take a number for nanoseconds."""
    if isinstance(value, Number):
        raise TypeError(f"{value!r} is a number")
    return pd.Timestamp(value)


def _is_date(value: Any, written: str) -> bool:
    if isinstance(value, str):
        return _fits([value], written)
    try:
        _timestamp(value)
    except (ValueError, TypeError, OverflowError):
        return False
    return True


# Days in words --------------------------------------------------------------------------------------------------------


def date_text(days: float) -> str | None:
    """The date that is a whole number of days since 1970-01-01; ``None`` beyond the years 1 to 9999.

    >>> date_text(18439.0), date_text(1e9)
    ('2020-06-26', None)
    """
    return str(np.datetime64(int(days), "D")) if _WRITABLE[0] <= days <= _WRITABLE[1] else None


def time_text(days: float) -> str | None:
    """The last second of all that are at most a number of days since 1970-01-01.

    Times are read in seconds, so that a comparison with this second is a comparison with the number.

    >>> time_text(18439.5), time_text(18439.57), time_text(-1e9)
    ('2020-06-26 12:00', '2020-06-26 13:40:48', None)
    """
    if not _WRITABLE[0] <= days < _WRITABLE[1]:
        return None
    second = int(np.floor(days * _SECONDS))
    while (second + 1) / _SECONDS <= days:
        second += 1
    while second / _SECONDS > days:
        second -= 1
    return str(np.datetime64(second, "s")).replace("T", " ").removesuffix(":00")


def days_of(text: str) -> float:
    """The days since 1970-01-01 of a date, or of a time, as `date_text` and `time_text` write them.

    >>> days_of("2020-06-26"), days_of("2020-06-26 12:00")
    (18439.0, 18439.5)
    """
    return float(np.datetime64(text.replace(" ", "T"), "s").astype(np.int64)) / _SECONDS


def part_of(dates: Array, part: str) -> Floats:
    """A part of each date.

    >>> part_of(np.array(["2024-02-29T12:00", "NaT"], dtype="datetime64[s]"), "days since 1970-01-01")
    array([19782.5,     nan])
    """
    return next(parts_of(dates, [part]))


def parts_of(dates: Array, parts: Iterable[str]) -> Iterator[Floats]:
    """Parts of each date, one part after the other.

    Those of the calendar are read once for each day between the first and the last, if dates are more than these.
    """
    missing = np.isnat(dates)
    days = np.where(missing, _EPOCH, dates.astype("datetime64[D]"))
    first, last = (days.min(), days.max()) if len(days) else (_EPOCH, _EPOCH)
    all_days = np.arange(first, last + 1) if (last - first).astype(np.int64) < len(days) else None
    place = None if all_days is None else (days - first).astype(np.intp)
    for part in parts:
        if part == DAYS:
            values = dates.astype(np.int64) / _SECONDS
        else:
            values = _of_days(days, part) if all_days is None else _of_days(all_days, part)[place]
        yield np.where(missing, np.nan, values) if missing.any() else values


def _of_days(days: Array, part: str) -> Floats:
    numbers: Array
    if part == "year":
        numbers = days.astype("datetime64[Y]").astype(np.int64) + 1970
    elif part == "month":
        numbers = days.astype("datetime64[M]").astype(np.int64) % 12 + 1
    else:
        numbers = (days.astype(np.int64) + 3) % 7 + 1
    return numbers.astype(np.float64)
