"""Tables with texts, truth values, dates and gaps, and the rules of trees behind their encoder."""

from __future__ import annotations

import datetime as dt
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mixed_tables import mixed_table, odd_rows
from sklearn.base import clone
from sklearn.ensemble import ExtraTreesClassifier, RandomForestClassifier
from sklearn.pipeline import make_pipeline

from rulecover import TableEncoder, explain, read_trees
from rulecover.data.dates import days_of, time_text
from rulecover.export import from_json, to_json


@pytest.mark.slow
@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 10_000), n_rows=st.integers(12, 60), max_levels=st.sampled_from([2, 3, 50]))
def test_trees_behind_the_encoder_send_every_row_where_the_model_sends_it(seed, n_rows, max_levels):
    table, y = mixed_table(n_rows, seed)
    forest = RandomForestClassifier(3, random_state=seed)
    model = make_pipeline(TableEncoder(max_levels), forest).fit(table, y)
    rows = pd.concat([table, odd_rows(table)], ignore_index=True)

    ensemble = read_trees(model)
    X = ensemble.matrix(rows)
    leaves = model[-1].apply(model[:-1].transform(rows))

    for k, (tree, route) in enumerate(zip(ensemble.trees, ensemble.routes, strict=True)):
        assert (tree.apply(X) == leaves[:, k]).all()
        assert (route(ensemble.prepare(X)) == leaves[:, k]).all()


@pytest.mark.slow
@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 10_000))
def test_rules_behind_the_encoder_are_about_the_columns_in_front(seed):
    table, y = mixed_table(40, seed)
    model = make_pipeline(TableEncoder(), ExtraTreesClassifier(2, max_depth=4, random_state=seed)).fit(table, y)
    rows = pd.concat([table, odd_rows(table)], ignore_index=True)

    rules = read_trees(model).rules()
    covered = rules.apply(rows).toarray()  # by name, without the pipeline

    assert (covered.sum(axis=1) == 2).all()  # a leaf of each tree
    dates = {"hired (year)", "hired (month)", "hired (weekday)", "hired (days since 1970-01-01)"}
    assert {rules.feature_names[f] for f in rules.clauses.columns} <= set(table.columns) | dates


def test_a_missing_text_is_a_level_and_an_unseen_one_has_none():
    table = pd.DataFrame({"deck": ["A", "B", None, "A"]})
    encoder = TableEncoder().fit(table)

    unseen = pd.DataFrame({"deck": ["Z", None, np.nan, "B"]})

    assert encoder.get_feature_names_out().tolist() == ["deck = A", "deck = B", "deck = (missing)"]
    assert encoder.transform(unseen).tolist() == [[0, 0, 0], [0, 0, 1], [0, 0, 1], [0, 1, 0]]


def test_rare_levels_are_one_level_that_also_takes_unseen_ones():
    table = pd.DataFrame({"city": ["a"] * 5 + ["b"] * 4 + ["c", "c", "d", "e"]})
    encoder = TableEncoder(max_levels=3).fit(table)

    assert encoder.get_feature_names_out().tolist() == ["city = a", "city = b", "city = (rare)"]
    assert encoder.transform(pd.DataFrame({"city": ["b", "c", "never"]})).tolist() == [[0, 1, 0], [0, 0, 1], [0, 0, 1]]
    assert encoder.notes_ == [
        "column 'city' has 5 levels: the 2 most frequent are told apart, the others are taken together."
    ]


def test_texts_that_name_rows_and_columns_that_say_nothing_are_left_out_with_a_note():
    table = pd.DataFrame(
        {
            "id": [f"row {k}" for k in range(60)],
            "same": "x",
            "empty": [None] * 60,
            "lists": [[1]] * 60,
            "size": np.arange(60.0),
        }
    )
    encoder = TableEncoder().fit(table)

    assert encoder.get_feature_names_out().tolist() == ["size"]
    assert [note.split(":")[0] for note in encoder.notes_] == [
        f"column {name!r} left out" for name in ("id", "same", "empty", "lists")
    ]
    with pytest.raises(ValueError, match="no column is left to make rules of: column 'id' left out"):
        clone(encoder).fit(table[["id"]])


def test_a_column_that_numbers_the_rows_of_a_frame_is_left_out_unless_it_is_asked_for():
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"customer": 1000 + np.arange(60), "size": rng.normal(size=60), "town": ["a", "b"] * 30})
    encoder = TableEncoder().fit(table)

    assert encoder.get_feature_names_out().tolist() == ["size", "town = b"]
    assert encoder.notes_[0].startswith("column 'customer' left out: it looks like an id")
    assert "keep_ids=True" in encoder.notes_[0]
    kept = TableEncoder(keep_ids=True).fit(table)
    assert kept.get_feature_names_out().tolist() == ["customer", "size", "town = b"] and kept.notes_ == []


def test_an_id_stays_where_no_other_column_would():
    table = pd.DataFrame({"n": np.arange(60), "same": "x"})

    assert TableEncoder().fit(table).get_feature_names_out().tolist() == ["n"]


@pytest.mark.parametrize("kind", ["Int64", "Float64", "int32"])
def test_ids_of_any_type_of_number_are_found(kind):
    table = pd.DataFrame({"n": pd.Series(np.arange(60)).astype(kind), "size": [1.5, 2.5] * 30})
    if kind != "int32":
        table.loc[5, "n"] = pd.NA

    assert TableEncoder().fit(table).get_feature_names_out().tolist() == ["size"]


@pytest.mark.parametrize(
    ("dates", "written"),
    [
        (["2024-02-29", "2025-03-01", None], "ISO8601"),
        (["2024-02-29 12:30:00", "2025-03-01", ""], None),
        (["29.02.2024", "01.03.2025", None], "%d.%m.%Y"),
        (["02/29/2024", "03/01/2025", None], "%m/%d/%Y"),
        (["01/02/2024", "02/01/2025", None], None),  # a day and a month, or a month and a day
        (["2024-02-29", "soon", None], None),
        (["12", "13", "14"], None),
    ],
)
def test_texts_are_dates_only_if_all_are_and_in_one_way(dates, written):
    encoder = TableEncoder().fit(pd.DataFrame({"day": dates, "size": [1, 2, 3]}))

    assert getattr(encoder.columns_[0], "written", None) == written
    if written is not None:
        years = encoder.transform(pd.DataFrame({"day": dates, "size": 0}))[:, 0]
        assert years[:2].tolist() == [2024, 2025]
        assert np.isnan(years[2])
        assert "holds dates" in encoder.notes_[0]


@pytest.mark.slow
@settings(max_examples=50, deadline=None)
@given(days=st.lists(st.dates(dt.date(1800, 1, 1), dt.date(2199, 12, 31)), min_size=2, max_size=6, unique=True))
def test_parts_of_dates_are_those_of_the_calendar(days):
    encoder = TableEncoder().fit(pd.DataFrame({"day": [dt.date(1999, 1, 1), dt.date(2003, 4, 5)]}))

    parts = encoder.transform(pd.DataFrame({"day": days}))
    as_text = TableEncoder().fit(pd.DataFrame({"day": ["1999-01-01", "2003-04-05"]}))

    epoch = dt.date(1970, 1, 1)
    assert parts.tolist() == [[d.year, d.month, d.isoweekday(), (d - epoch).days] for d in days]
    assert (as_text.transform(pd.DataFrame({"day": [d.isoformat() for d in days]})) == parts).all()


def test_frames_of_every_library_are_encoded_alike():
    given = {
        "age": [31.5, None, 40.0],
        "colour": ["red", None, "blue"],
        "paid": [True, False, True],
        "hired": [dt.date(2024, 1, 2), None, dt.date(2025, 2, 3)],
    }
    frames = [pd.DataFrame(given), pl.DataFrame(given), pa.table(given)]

    encoded = [TableEncoder().fit_transform(frame) for frame in frames]

    for each in encoded[1:]:
        np.testing.assert_array_equal(each, encoded[0])
    assert TableEncoder().fit(frames[1]).get_feature_names_out().tolist() == [
        *("age", "colour = blue", "colour = red", "colour = (missing)", "paid = True"),
        *("hired (year)", "hired (month)", "hired (weekday)", "hired (days since 1970-01-01)"),
    ]


def test_a_cell_that_is_no_date_is_named():
    encoder = TableEncoder().fit(pd.DataFrame({"day": ["2024-01-01", "2025-02-02"]}))

    with pytest.raises(ValueError, match="column 'day' holds 'soon', which is not a date as in training"):
        encoder.transform(pd.DataFrame({"day": ["2024-01-01", "soon"]}))
    with pytest.raises(ValueError, match="column 'day' holds '2024', which is not a date as in training"):
        encoder.transform(pd.DataFrame({"day": [2024, 2025]}))


def test_numbers_as_people_write_them_are_numbers_in_rules_too():
    share = [f"{k % 50},5 %" for k in range(80)]
    table = pd.DataFrame({"share": share, "colour": ["red", "blue"] * 40, "zip": ["01234", "90210"] * 40})
    y = np.array([k % 50 >= 20 for k in range(80)])

    model = make_pipeline(TableEncoder(), RandomForestClassifier(3, max_depth=2, random_state=0)).fit(table, y)
    few = explain(model, table, y)

    assert model[0].get_feature_names_out().tolist() == ["share", "colour = red", "zip = 90210"]
    assert "column 'share' is read as numbers: '0,5 %' is 0.5." in model[0].notes_
    assert few.score(table, y) == 1.0
    assert (from_json(to_json(few)).predict(table) == y).all()
    assert (few.rules_.apply(table.assign(share=[k % 50 + 0.5 for k in range(80)])) != few.apply(table)).nnz == 0
    with pytest.raises(ValueError, match="column 'share' holds '5 \\$'"):
        few.predict(table.assign(share="5 $"))


@pytest.mark.parametrize("levels", [1, 2.5, "all"])
def test_a_number_of_levels_that_is_none_is_refused(levels):
    with pytest.raises(ValueError, match=f"max_levels is {levels!r}; it is a whole number, at least 2"):
        TableEncoder(levels).fit(pd.DataFrame({"a": [1.0, 2.0]}))


def test_arrays_are_encoded_as_frames_of_the_same_cells():
    rows = np.array([["red", 1.0], ["blue", 2.0], ["red", None], ["green", 4.0]], dtype=object)
    frame = pd.DataFrame({"x0": rows[:, 0], "x1": rows[:, 1].astype(float)})
    ours, theirs = TableEncoder().fit(rows), TableEncoder().fit(frame)

    assert ours.get_feature_names_out().tolist() == theirs.get_feature_names_out().tolist()
    np.testing.assert_array_equal(ours.transform(rows), theirs.transform(frame))
    with pytest.raises(ValueError, match="minimum of 2 is required"):
        TableEncoder().fit(rows[:1])
    np.testing.assert_array_equal(ours.transform(rows[:1]), theirs.transform(frame[:1]))


@pytest.mark.parametrize("kind", ["zone", "periods"])
def test_dates_of_a_zone_and_periods_are_read_by_their_calendar(kind):
    days = pd.date_range("2020-01-30", periods=40, freq="D")
    given = days.tz_localize("Asia/Tokyo") if kind == "zone" else days.to_period("D")
    plain, other = (TableEncoder().fit(pd.DataFrame({"day": each})) for each in (days, given))

    assert plain.get_feature_names_out().tolist() == other.get_feature_names_out().tolist()
    np.testing.assert_array_equal(
        plain.transform(pd.DataFrame({"day": days})), other.transform(pd.DataFrame({"day": given}))
    )


def test_many_numbers_with_a_few_words_among_them_are_left_out_with_the_cell():
    cells = [str(number) for number in range(200)]
    cells[7] = "unknown?"
    encoder = TableEncoder(max_levels=5).fit(pd.DataFrame({"amount": cells, "b": np.arange(200) % 7}))

    (note,) = [note for note in encoder.notes_ if "amount" in note]
    assert "it holds numbers, but" in note and "unknown?" in note and "correct the cell" in note


@given(st.integers(-(10**10), 10**10), st.sampled_from([-1, 0, 1]))
def test_a_time_in_words_is_the_last_second_that_is_not_after_the_number(second, beside):
    """Whatever the product of a number of days and the seconds of a day is rounded to."""
    days = second / 86400
    days = days if not beside else float(np.nextafter(days, beside * np.inf))
    text = time_text(days)
    assert text is not None
    last = round(days_of(text) * 86400)

    assert last == second - (beside < 0)


@pytest.mark.parametrize("library", [pd.DataFrame, pl.DataFrame])
def test_a_dash_among_numbers_is_a_missing_number(library: Any) -> None:
    table = library({"size": ["1.5", "-", "7", "2"], "price": ["$5", "$1,200", " - ", "$3"]})

    encoder = TableEncoder().fit(table)

    np.testing.assert_array_equal(encoder.transform(table), [[1.5, 5], [np.nan, 1200], [7, np.nan], [2, 3]])
    assert encoder.notes_ == [
        "column 'size' is read as numbers: '-' is taken as missing.",
        "column 'price' is read as numbers: '$1,200' is 1200 and '-' is taken as missing.",
    ]
    with pytest.raises(ValueError, match=r"column .size. holds .n\.a\.. in row 0"):
        encoder.transform(library({"size": ["n.a."], "price": ["$5"]}))
