"""What columns hold: texts among numbers and dates are found in every row where they are."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rulecover.data.kinds import odd_text, rare_odd_text

CELLS = st.sampled_from(["5", "7.5", " 3", "1e3", "nan", "n.a.", "red", "", "True", 4, 2.5, True, None, np.nan, b"5"])


@given(st.lists(CELLS, min_size=1, max_size=12), st.sampled_from([object, "category"]))
def test_texts_among_numbers_are_those_that_are_none_by_themselves(cells: list[Any], kind: Any) -> None:
    values = np.empty(len(cells), dtype=object)
    values[:] = cells
    column = pd.Series(values, dtype=object)
    if kind == "category":
        if len({type(cell) for cell in cells} - {type(None)}) > 1:  # pandas refuses some, and takes 1 for True
            return
        column = column.astype("category")

    found = odd_text(column)

    known = [(row, str(cell)) for row, cell in enumerate(column.tolist()) if not pd.isna(cell)]
    odd = [(row, text) for row, text in known if np.isnan(float(pd.to_numeric(text, errors="coerce")))]
    if not 0 < len(odd) < len(known):
        assert found is None
        return
    assert found is not None
    assert (found.texts, found.row, found.count) == (
        tuple(dict.fromkeys(text for _, text in odd)),
        odd[0][0] + 1,
        len(odd),
    )
    numbers = [float(text) for row, text in known if (row, text) not in odd]
    np.testing.assert_array_equal(found.others, numbers)


@pytest.mark.parametrize("kind", [object, "string"])
def test_a_word_among_dates_is_found(kind: Any) -> None:
    column = pd.Series(["2024-01-05", None, "2024-01-06", "soon", "2024-01-05", "2024-02-07"], dtype=kind)

    found = rare_odd_text(column)

    assert found is not None
    assert (found.texts, found.row, found.count, found.among) == (("soon",), 4, 1, "dates")
    assert list(found.others) == ["2024-01-05", "2024-01-06", "2024-01-05", "2024-02-07"]
