"""Models of a column of dates, whichever way it is written, and texts that are dates, or nearly so."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pandas as pd
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.ensemble import RandomForestRegressor

from rulecover import MIRCORegressor
from rulecover.data.dates import ISO, PARTS, DatePart, is_iso

#: What one of which fits all dates of a column of texts in training.
FORMATS = ("%d.%m.%Y", "%d/%m/%Y", "%m/%d/%Y", "%Y/%m/%d", "%d-%m-%Y", "%m-%d-%Y")


@cache
def dated_model(written: str = ISO) -> Any:
    """A model with rules on every part of the dates in the column "when"."""
    rng = np.random.default_rng(1)
    days = pd.Series(rng.integers(-9000, 20000, 300))
    when = pd.Timestamp("1970-01-01") + pd.to_timedelta(days, unit="D")
    y = when.dt.month + 3 * (when.dt.day_of_week > 4) + 5 * (when.dt.year % 2) + 8 * (days > 4000)
    table = pd.DataFrame({"when": when.dt.strftime("%Y-%m-%d" if is_iso(written) else written)})
    model = MIRCORegressor(RandomForestRegressor(20, max_depth=6, random_state=0), random_state=0).fit(table, y)
    parts = model.rules_.columns.parts
    assert {parts[f].part for f in model.rules_.clauses.columns.tolist()} == set(PARTS)
    assert {part.written for part in parts.values()} == {written}
    return model


def parts_of(value: Any, written: str = ISO) -> list[float]:
    """The parts of a date as a model reads it."""
    values = pd.Series([value], dtype=None if hasattr(value, "dtype") else object).to_numpy()
    return [float(DatePart("when", part, written).read(values)[0]) for part in PARTS]


def _joined(*parts: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    return st.tuples(*parts).map("".join)


def _digits(least: int, most: int) -> st.SearchStrategy[str]:
    numbers = st.integers(least, most) | st.sampled_from([least, most])
    return st.builds(lambda number, width: f"{number:0{width}}", numbers, st.sampled_from([2, 2, 2, 1]))


_YEAR = st.integers(1, 9999).map("{:04}".format) | st.sampled_from(["1900", "1969", "1970", "2000", "2023", "2024"])
_ZONE = st.sampled_from(["", "", "", "Z", " Z", "+02", "+0230", "-00:30", "+05:45", "-11:59", "+24:00", " UTC", "z"])
_SECONDS = st.just("") | _joined(st.just(":"), _digits(0, 60), st.sampled_from(["", ".5", ".999999", ".", ",5"]))
_TIME = st.just("") | _joined(st.sampled_from("T t"), _digits(0, 24), st.just(":"), _digits(0, 60), _SECONDS, _ZONE)


def texts(written: str) -> st.SearchStrategy[str]:
    """Texts that are dates, and some that are not."""
    if is_iso(written):
        made = _joined(_YEAR, st.just("-"), _digits(0, 13), st.just("-"), _digits(0, 32), _TIME)
    else:
        day, month, year = _digits(0, 32), _digits(0, 13), _YEAR | st.just("24")
        made = st.builds(
            lambda d, m, y: written.replace("%d", d).replace("%m", m).replace("%Y", y), day, month, year
        ) | st.just(written)
    return made | made.map(" {} ".format) | st.sampled_from(["", "now", "12:00", "20240105", "2024-02-30", "nan", "5"])


def some_texts(written: str, number: int) -> list[str]:
    """About this many such texts, the same ones at each call."""
    found: dict[str, None] = {}

    @settings(max_examples=number, database=None, derandomize=True)
    @given(texts(written))
    def find(text: str) -> None:
        found[text] = None

    find()
    return list(found)
