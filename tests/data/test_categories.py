"""Sets of codes, many at once."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from rulecover.data import categories
from rulecover.data.categories import Lookup, is_in

WHOLE = st.sampled_from([0.0, 1.0, 2.0, 3.0, 7.0])
CODES = WHOLE | st.sampled_from([-1.0, 2.5, 2.0**40])
VALUES = CODES | st.sampled_from([np.nan, np.inf, -np.inf, -0.0, -0.5, -7.0, 0.5, 8.0, 1e300, 2.0**63, -(2.0**63)])
SETS = st.lists(WHOLE, unique=True).map(sorted) | st.lists(CODES, unique=True).map(sorted)


@given(
    sets=st.lists(SETS, max_size=4),
    values=st.lists(VALUES, max_size=8),
    n_places=st.sampled_from([0, 2**24]),
)
def test_values_are_looked_up_in_their_sets(sets: list[list[float]], values: list[float], n_places: int) -> None:
    pairs = [(value, k) for value in values for k in range(len(sets))]
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(categories, "_PLACES", n_places)
        lookup = Lookup.of([np.array(each) for each in sets])
        found = lookup(np.array([value for value, _ in pairs]), np.array([k for _, k in pairs], dtype=np.intp))

    assert found.tolist() == [value in sets[k] for value, k in pairs]


@example(codes=[2.0, 2.5], values=[2.0, 2.5, 3.0])
@given(codes=SETS, values=st.lists(VALUES, max_size=8))
def test_values_are_told_from_codes(codes: list[float], values: list[float]) -> None:
    found = is_in(np.array(values), np.array(codes))

    assert found.tolist() == [value in codes for value in values]


def test_a_few_large_codes_take_little_memory() -> None:
    lookup = Lookup.of([np.array([1.0, 2.0**24 - 1])])

    assert lookup(np.array([1.0, 5.0, 2.0**24 - 1]), np.zeros(3, dtype=np.intp)).tolist() == [True, False, True]
    assert len(pickle.dumps(lookup)) < 10_000
