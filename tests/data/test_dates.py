"""Dates from texts: what is missing, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest

from rulecover.data.dates import ISO, moments
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
