"""Dates from texts: what is missing, and what is refused."""

from __future__ import annotations

import datetime as dt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rulecover.data.dates import DAYS, ISO, PARTS, moments, part_of, parts_of
from rulecover.exceptions import MismatchedDataError

WRITTEN = {ISO: "2024-12-31", "%d.%m.%Y": "31.12.2024", "%m/%d/%Y": "12/31/2024"}


@pytest.mark.parametrize("written", WRITTEN)
def test_an_empty_text_is_a_missing_date(written: str) -> None:
    found = moments([WRITTEN[written], "", None], written, "hired")

    assert found.astype("datetime64[D]").tolist() == [np.datetime64("2024-12-31").item(), None, None]


@pytest.mark.parametrize("written", WRITTEN)
@pytest.mark.parametrize("text", ["nan", "NaT", "none", "-", "now"])
def test_a_word_is_not_a_date(written: str, text: str) -> None:
    with pytest.raises(MismatchedDataError, match=f"'hired' holds '{text}', which is not a date as in training"):
        moments([WRITTEN[written], text], written, "hired")


@given(
    first=st.integers(-700_000, 2_800_000),
    after=st.lists(st.none() | st.integers(0, 60 * 86400), max_size=40),
    far=st.booleans(),
)
def test_parts_are_read_alike_of_few_days_and_of_many(first: int, after: list[int | None], far: bool) -> None:
    seconds = [None if each is None else first * 86400 + each * (1000 if far else 1) for each in after]
    dates = np.array(seconds, dtype="datetime64[s]")
    known = [np.datetime64(each, "s") for each in seconds if each is not None]

    for part, values in zip(PARTS, parts_of(dates, PARTS), strict=True):
        one_by_one = [_of_one(each, part) for each in known]
        assert values[~np.isnat(dates)].tolist() == one_by_one
        assert np.isnan(values[np.isnat(dates)]).all()
        np.testing.assert_array_equal(part_of(dates, part), values)


def _of_one(date: np.datetime64, part: str) -> float:
    """A part of a date by Python's own calendar."""
    seconds = int(date.astype(np.int64))
    day = dt.date.fromordinal(dt.date(1970, 1, 1).toordinal() + seconds // 86400)
    return {"year": day.year, "month": day.month, "weekday": day.isoweekday(), DAYS: seconds / 86400}[part]
