"""Dask arrays and frames as they come in: what fits together, and one clear error where something does not."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import dask.array as da
import dask.dataframe as dd
import distributed
import numpy as np
import pandas as pd
import pytest
from dask import delayed

from rulecover.exceptions import LostClusterError, MismatchedDataError
from rulecover.partitions.dask_rows import DaskRows, dask_rows

N = 20


@pytest.fixture(scope="module", autouse=True)
def client() -> Iterator[Any]:
    """A cluster in this process: nothing here depends on where rows are."""
    with (
        distributed.LocalCluster(n_workers=1, processes=False, dashboard_address=":0") as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client


@pytest.fixture
def table() -> pd.DataFrame:
    rng = np.random.default_rng(0)
    colour = pd.Categorical(rng.choice(list("rgb"), N), categories=list("rgb"))
    return pd.DataFrame({"a": rng.normal(size=N), "b": rng.normal(size=N), "colour": colour, "y": np.arange(N) % 3})


def gathered(rows: DaskRows) -> tuple[Any, Any, Any]:
    """All rows, as one."""
    blocks = rows.client.gather(list(rows.futures))
    X = [np.asarray(block.X) for block in blocks]
    y = [np.asarray(block.y).ravel() for block in blocks]
    weight = [block.weight for block in blocks]
    return np.concatenate(X), np.concatenate(y), None if weight[0] is None else np.concatenate(weight)


def test_arrays_in_other_chunks_are_matched_row_by_row(table):
    X, y = table[["a", "b"]].to_numpy(), table["y"].to_numpy()
    rows = dask_rows(da.from_array(X, chunks=(7, 1)), da.from_array(y, chunks=3), da.from_array(y + 1.0, chunks=20))
    found = gathered(rows)
    np.testing.assert_array_equal(found[0], X)
    np.testing.assert_array_equal(found[1], y)
    np.testing.assert_array_equal(found[2], y + 1.0)
    assert rows.n_rows.tolist() == [7, 7, 6]
    assert rows.labels.tolist() == [0, 1, 2]


def test_y_may_be_in_memory_where_lengths_are_known(table):
    X, y = table[["a", "b"]].to_numpy(), table["y"].to_numpy()
    np.testing.assert_array_equal(gathered(dask_rows(da.from_array(X, chunks=(7, 2)), y))[1], y)


@pytest.mark.parametrize("y", ["y", None])
def test_frames_keep_names_and_empty_partitions(table, y):
    frame = dd.from_pandas(table, npartitions=4)
    frame = frame[frame["a"] > -0.2]
    rows = dask_rows(frame, "y") if y else dask_rows(frame.drop(columns="y"), frame["y"])
    X, found, _ = gathered(rows)
    assert len(X) == (table["a"] > -0.2).sum() == rows.n_rows.sum()
    np.testing.assert_array_equal(found, table["y"][table["a"] > -0.2])
    assert list(rows.empty.X.columns) == ["a", "b", "colour"] and len(rows.empty.X) == 0


def partitions(*frames: pd.DataFrame) -> dd.DataFrame:
    """A Dask frame of just these partitions, whatever is in them."""
    return dd.from_delayed([delayed(frame) for frame in frames], meta=frames[0], verify_meta=False)


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (lambda t: t.drop(columns="b"), r"a partition lacks a column that others have: \['b'\] not in index"),
        (lambda t: t.assign(colour=t["colour"].cat.add_categories("w")), "column 'colour' has other categories in"),
        (lambda t: t.assign(y=[1.0, np.nan] * (N // 2)), "row 1 of partition 1 has no label"),
        (lambda t: t.assign(y=["a"] * N), "numbers in some partitions and words in others"),
    ],
)
def test_partitions_that_do_not_fit_each_other_are_one_clear_error(table, spoil, message):
    frame = partitions(table, spoil(table))
    with pytest.raises(ValueError, match=message):
        _ = dask_rows(frame, "y").labels


@pytest.mark.parametrize(
    ("columns", "message"), [(["a"], "partition 1 lacks column 'b'"), (["b", "a"], "partition 1 has the columns b, a")]
)
def test_columns_that_differ_between_partitions_are_one_clear_error(table, columns, message):
    frame = partitions(table[["a", "b"]], table[columns])
    with pytest.raises(MismatchedDataError, match=message):
        dask_rows(frame, partitions(table, table)["y"])


def test_what_does_not_fit_x_is_one_clear_error(table):
    frame = dd.from_pandas(table, npartitions=2)
    X, array = frame[["a", "b"]], da.from_array(table[["a", "b"]].to_numpy(), chunks=(7, 2))
    for given, y, message in (
        (X, dd.from_pandas(table, npartitions=3)["y"], "X has 2 partitions and y has 3, of unknown length"),
        (X, table["y"], "y is an array in memory, but the lengths"),
        (array, table["y"][1:], "X has 20 rows, but y has 19"),
        (array, da.zeros(19, chunks=19), "X has 20 rows, but y has 19"),
        (X, partitions(table, table)["y"], "partition 0 has 10 rows in X, but 20 in y"),
        (X, "z", "X has no column 'z'"),
        (da.zeros((20, 2, 2), chunks=10), table["y"], "X has 3 dimensions; give rows x columns"),
        (X[X["a"] > 100], frame["y"][frame["a"] > 100], "X has no rows in any of its 2 partitions"),
    ):
        with pytest.raises(MismatchedDataError, match=message):
            dask_rows(given, y)


def test_an_error_of_the_graph_is_raised_as_it_is():
    broken = dd.from_delayed([delayed(np.divide)(None, 2)], meta=pd.DataFrame({"a": [1.0]}), verify_meta=False)
    with pytest.raises(TypeError):
        dask_rows(broken, broken["a"])


def test_without_a_client_the_way_out_is_named(monkeypatch, table):
    def none() -> None:
        raise ValueError("No global client found")

    monkeypatch.setattr(distributed, "get_client", none)
    with pytest.raises(LostClusterError, match=r"start one on this machine by distributed\.Client\(\)"):
        dask_rows(dd.from_pandas(table, npartitions=2), "y")
