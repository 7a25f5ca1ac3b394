"""Pieces of the rewriting of trees on original columns, next to the obvious way to compute them."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rulecover.readers.sklearn import rewriting
from rulecover.readers.sklearn.origins import CategoryOrigin, Scaling, by_label
from rulecover.readers.sklearn.rewriting import _distinct_rows


@given(
    st.lists(st.lists(st.sampled_from([0.0, 0.0, 1.0, 2.5, -1.0, np.nan]), min_size=2, max_size=2), min_size=1),
    st.sampled_from([0, 1]),
    st.sampled_from([(), (Scaling(minus=0.3, over=0.7),)]),
)
def test_different_numbers_of_labels_are_those_of_all_labels(
    table: list[list[float]], column: int, steps: tuple[Scaling, ...]
) -> None:
    labels = tuple(f"level {k}" for k in range(len(table)))
    origin = CategoryOrigin(0, labels, by_label(np.array(table)), column, (None,), None, steps)
    expected = np.array(table)[:, column]
    for step in steps:
        expected = step(expected)

    distinct, place = origin.distinct_values

    np.testing.assert_array_equal(origin.values, expected)
    np.testing.assert_array_equal(distinct, np.unique(expected))
    np.testing.assert_array_equal(distinct[place], expected)


@pytest.mark.parametrize("short", [0, 12])
@given(rows=st.integers(1, 5).flatmap(lambda n: st.lists(st.lists(st.booleans(), min_size=n, max_size=n), min_size=1)))
def test_short_rows_are_told_apart_as_by_sorting_them(short: int, rows: list[list[bool]]) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(rewriting, "_SHORT", short)
        patterns, place = _distinct_rows(np.array(rows))
    expected, expected_place = np.unique(np.array(rows), axis=0, return_inverse=True)

    assert patterns.tolist() == expected.tolist() and place.tolist() == expected_place.tolist()
