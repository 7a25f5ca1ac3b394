"""Encoders that have looked at some rows of a table, and rows that are encoded block by block."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mixed_tables import mixed_table, odd_rows
from sklearn.ensemble import RandomForestClassifier
from sklearn.pipeline import make_pipeline

from rulecover import TableEncoder, read_trees
from rulecover.data import encoder as encoders
from rulecover.data.encoder import LeftOut, encoding_of
from rulecover.data.fitted_to_some import fitted_to_some, with_rest

ROWS = 40


def late_table() -> pd.DataFrame:
    """Columns whose first half is of another kind than all of them."""
    half, levels = ROWS // 2, [f"level {k % 3}" for k in range(ROWS)]
    return pd.DataFrame(
        {
            "price": [f"${k},000" for k in range(half)] + [f"{k}.5 $" for k in range(half)],
            "price or word": [f"${k % 5}" for k in range(half)] + ["a lot"] * half,
            "day": [f"{k % 28 + 1}.12.2024" for k in range(ROWS)],
            "day or word": [f"{k % 28 + 1}.12.2024" for k in range(half)] + ["soon"] * half,
            "number or word": np.array([*range(half), *["many"] * half], dtype=object),
            "colour": levels[:half] + [f"{level}, later" for level in levels[half:]],
            "hired": pd.to_datetime(["2024-01-01"] * half + ["2025-02-02"] * half),
            "size": np.arange(ROWS) % 7 + 0.5,
        }
    )


def test_what_must_be_known_of_all_rows_is_left_out_or_read_in_all_of_them() -> None:
    table, half = late_table(), np.arange(ROWS // 2)

    some = fitted_to_some(TableEncoder(), table, half)

    left_out = [each.name for each in some.columns_ if not each.made_names]
    assert left_out == ["price", "price or word", "day", "day or word", "number or word"]
    assert some.notes_[0] == "levels of texts and parts of dates were looked for in 20 of 40 rows."
    assert "column 'price' left out: there was no time to read all of its cells." in some.notes_
    parts = ["hired (year)", "hired (month)", "hired (weekday)", "hired (days since 1970-01-01)"]
    levels = [f"colour = level {k}" for k in range(3)]
    assert sorted(some.get_feature_names_out()) == sorted([*levels, *parts, "size"])
    assert some.transform(table).shape == (ROWS, 8)

    whole = with_rest(some, table, time.perf_counter() + 600)

    expected = TableEncoder().fit(table)
    for mine, other in zip(whole.columns_[:5], expected.columns_[:5], strict=True):
        assert type(mine) is type(other)
        np.testing.assert_array_equal(whole_column(mine, table), whole_column(other, table))
    assert not any("no time" in note for note in whole.notes_)
    assert set(expected.notes_) <= set(whole.notes_)


def whole_column(encoded: Any, table: pd.DataFrame) -> Any:
    return encoded.read(table[encoded.name])


def test_without_time_one_column_is_left_in_any_case() -> None:
    table = late_table()[["price", "day"]]

    some = fitted_to_some(TableEncoder(), table, np.arange(10))
    assert not any(each.made_names for each in some.columns_)

    read = with_rest(some, table, time.perf_counter())
    assert [bool(each.made_names) for each in read.columns_] == [True, False]
    constant = pd.DataFrame({"word": ["a"] * 10 + ["b"] * 30})
    found = with_rest(fitted_to_some(TableEncoder(), constant, np.arange(10)), constant, time.perf_counter())
    assert found.get_feature_names_out().tolist() == ["word = b"]
    found = with_rest(fitted_to_some(TableEncoder(), constant[:10], np.arange(5)), constant[:10], time.perf_counter())
    assert found.notes_[1:] == ["column 'word' left out: every value is the same."]


def test_what_is_soon_read_in_all_rows_is_not_left_out_for_its_first_rows() -> None:
    rare = np.arange(ROWS) == ROWS - 1
    table = pd.DataFrame(
        {
            "number": rare * 1.5,
            "truth": rare,
            "category": pd.Categorical(np.where(rare, "rare", "usual")),
            "gap": np.where(rare, 1.0, np.nan),
            "word": np.where(rare, "rare", "usual"),
            "lists": [["list"], *["a", "b"] * 19, "c"],
            "size": np.arange(ROWS) % 7,
        },
        index=[f"row {k}" for k in range(ROWS)],
    )

    some = fitted_to_some(TableEncoder(), table, np.arange(1, 20))

    assert [each.name for each in some.columns_ if not each.made_names] == ["word", "lists"]
    assert some.notes_[1:] == [
        "column 'word' left out: there was no time to read all of its cells.",
        "column 'lists' left out: it holds lists; make a column of each of their parts first.",
    ]


@pytest.mark.parametrize("index", [range(ROWS), [f"row {k}" for k in range(ROWS)]])
def test_the_row_of_an_odd_cell_is_that_of_the_table(index: Any) -> None:
    table = pd.DataFrame({"size": [*map(str, range(30)), "oops", *map(str, range(9))]}, index=index)

    some = fitted_to_some(TableEncoder(max_levels=50), table.assign(other=range(ROWS)), np.arange(20, ROWS))

    assert "column 'size' is taken as text: it holds numbers, but 'oops' in data row 31." in some.notes_


@pytest.mark.parametrize("levels", [1, "a", None])
def test_settings_are_checked_under_a_limit_too(levels: Any) -> None:
    with pytest.raises(ValueError, match=f"max_levels is {levels!r}; it is a whole number, at least 2"):
        fitted_to_some(TableEncoder(max_levels=levels), late_table(), np.arange(10))


@settings(max_examples=30, deadline=None)
@given(
    seed=st.integers(0, 10_000),
    n_some=st.integers(2, ROWS),
    max_levels=st.sampled_from([2, 3, 50]),
    native=st.booleans(),
)
def test_rows_that_were_not_looked_at_are_encoded_as_rows_that_were_never_seen(
    seed, n_some, max_levels, native
) -> None:
    table, _ = mixed_table(ROWS, seed)
    rows = np.sort(np.random.default_rng(seed).permutation(ROWS)[:n_some])
    encoder = TableEncoder(max_levels, native_categories=native)
    some = with_rest(fitted_to_some(encoder, table, rows), table, time.perf_counter() + 600)

    odd = pd.concat([table, odd_rows(table)], ignore_index=True)
    for mine, name in zip(some.columns_, table, strict=True):
        alone = encoding_of(name, table[name].iloc[rows], max_levels)[0]
        expected = encoding_of(name, table[name], max_levels)[0] if isinstance(alone, LeftOut) else alone
        np.testing.assert_array_equal(mine.read(odd[name]), expected.read(odd[name]))
        if not native:
            assert mine.made_names == expected.made_names
    assert encoder.get_params() == some.get_params() and not hasattr(encoder, "columns_")


@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 10_000), n_values=st.integers(1, 500))
def test_rows_reach_the_same_leaves_block_by_block(seed: int, n_values: int) -> None:
    table, y = mixed_table(ROWS, seed)
    model = make_pipeline(TableEncoder(), RandomForestClassifier(4, random_state=seed)).fit(table, y)
    rows = pd.concat([table, odd_rows(table)], ignore_index=True)
    leaves = model[-1].apply(model[:-1].transform(rows))

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(encoders, "_WIDE", 2)
        patched.setattr(encoders, "_VALUES", n_values)
        ensemble = read_trees(model)
    assert not ensemble.keeps_columns
    X = ensemble.matrix(rows)

    for some in (ensemble, ensemble.take(np.arange(2)), ensemble.take(np.array([3, 1]))):
        prepared = some.prepare(X)
        for tree, route in zip(some.trees, some.routes, strict=True):
            assert (route(prepared) == tree.apply(X)).all()
    prepared = ensemble.prepare(X)
    assert all((route(prepared) == leaves[:, k]).all() for k, route in enumerate(ensemble.routes))
    assert ensemble.prepare_first is not None
    assert (ensemble.prepare_first(3, X) == prepared[:, :3]).all()
    one, some_rows = ensemble.prepared_in_time(X[:0], time.perf_counter())
    assert len(one.trees) == 4 and some_rows.shape == (0, 4)


def test_a_number_that_float32_cannot_hold_is_refused_behind_an_encoder_too() -> None:
    table, y = mixed_table(ROWS, 0)
    model = make_pipeline(TableEncoder(), RandomForestClassifier(2, random_state=0)).fit(table, y)
    ensemble = read_trees(model)
    X = ensemble.matrix(table)
    X[3, table.columns.get_loc("income")] = 1e300

    with pytest.raises(ValueError, match="too large for float32"):
        ensemble.prepare(X)
