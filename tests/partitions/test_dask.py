"""Parts on a Dask cluster of two worker processes, of which some die."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import distributed
import numpy as np
import pytest

from rulecover.exceptions import LostClusterError
from rulecover.partitions.dask import DaskParts


class Toy:
    """A part that remembers what was added."""

    def __init__(self, rows: Any) -> None:
        self.total = float(np.sum(rows))

    def add(self, number: float) -> float:
        self.total += number
        return self.total

    def die_once(self, mark: str) -> float:
        """Ends its process, unless that was done before."""
        if not Path(mark).exists():
            Path(mark).touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return self.add(0.5)

    def die(self) -> None:
        os.kill(os.getpid(), signal.SIGKILL)

    def fail(self) -> None:
        raise ValueError("a part that does not work")


@pytest.fixture(scope="module")
def client() -> Iterator[Any]:
    with (
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0") as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client


def rows_on(client: Any, n: int) -> list[Any]:
    return [client.submit(np.arange, k, pure=False) for k in range(n)]


def test_results_come_in_the_order_of_the_parts(client):
    parts = DaskParts(client, rows_on(client, 7), Toy)
    assert list(parts.map("add", 1)) == [sum(range(k)) + 1 for k in range(7)]
    assert list(parts.map("add", 2)) == [sum(range(k)) + 3 for k in range(7)]
    assert {shard.worker for shard in parts._shards} == set(client.nthreads())


def test_an_error_of_a_part_is_raised_as_it_is(client):
    with pytest.raises(ValueError, match="a part that does not work"):
        DaskParts(client, rows_on(client, 3), Toy).map("fail")


def test_parts_of_a_worker_that_dies_are_made_again_with_all_that_was_done_to_them(client, tmp_path):
    parts = DaskParts(client, rows_on(client, 5), Toy)
    parts.map("add", 1)
    parts.map("die_once", str(tmp_path / "first"))
    parts.map("add", 10)
    assert list(parts.map("die_once", str(tmp_path / "second"))) == [sum(range(k)) + 12 for k in range(5)]
    assert list(parts.map("add", 0)) == [sum(range(k)) + 12 for k in range(5)]


def test_parts_that_are_too_much_for_every_worker_are_given_up(client, monkeypatch):
    monkeypatch.setattr("rulecover.partitions.dask._LOSSES", 1)
    parts = DaskParts(client, rows_on(client, 1), Toy)
    with pytest.raises(LostClusterError, match="1 times in a row in 'die'"):
        parts.map("die")


def test_a_cluster_that_goes_away_is_one_clear_error():
    with distributed.LocalCluster(n_workers=1, processes=False, dashboard_address=":0") as cluster:
        client = distributed.Client(cluster)
        parts = DaskParts(client, rows_on(client, 2), Toy)
    with pytest.raises(LostClusterError, match="is gone; connect to one that runs"):
        parts.map("add", 1)
    client.close()


def test_a_cluster_without_workers_is_one_clear_error():
    with (
        distributed.LocalCluster(n_workers=0, processes=False, dashboard_address=":0") as cluster,
        distributed.Client(cluster) as client,
        pytest.raises(LostClusterError, match="has had no worker for 0"),
    ):
        DaskParts(client, rows_on(client, 2), Toy, patience=0.1)
