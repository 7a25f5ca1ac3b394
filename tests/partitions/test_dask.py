"""Parts on a Dask cluster of two worker processes, of which some die."""

from __future__ import annotations

import os
import pickle
import signal
from collections.abc import Iterator
from functools import partial
from operator import add
from typing import Any

import distributed
import numpy as np
import pytest
from parts_on_workers import Toy, part_of
from sklearn.ensemble import RandomForestClassifier

from rulecover.exceptions import LostClusterError
from rulecover.partitions.cover import greedy_cover
from rulecover.partitions.dask import Call, DaskParts, Shard, submitted_near
from rulecover.pool import leaf_pool
from rulecover.readers import read_trees
from rulecover.setcover import Greedy
from rulecover.targets.classes.impurity import Gini
from rulecover.targets.classes.samples import ClassSamples
from rulecover.targets.impurity import Price


@pytest.fixture(scope="module")
def client() -> Iterator[Any]:
    with (
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0") as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client


def rows_on(client: Any, n: int) -> list[Any]:
    return [client.submit(np.arange, k, pure=False) for k in range(n)]


def _worker() -> str:
    return str(distributed.get_worker().address)


@pytest.mark.slow
def test_results_come_in_the_order_of_the_parts(client):
    parts = DaskParts(client, rows_on(client, 7), Toy)
    assert list(parts.map("add", 1)) == [sum(range(k)) + 1 for k in range(7)]
    assert list(parts.map("add", 2)) == [sum(range(k)) + 3 for k in range(7)]
    assert {shard.worker for shard in parts._shards} == set(client.nthreads())


def test_tasks_run_on_the_worker_that_has_their_rows(client):
    for home in client.nthreads():
        assert {submitted_near(client, home, _worker).result() for _ in range(4)} == {home}


def test_an_error_of_a_part_is_raised_as_it_is(client):
    with pytest.raises(ValueError, match="a part that does not work"):
        DaskParts(client, rows_on(client, 3), Toy).map("fail")


@pytest.mark.slow
def test_parts_of_a_worker_that_dies_are_made_again_with_all_that_was_done_to_them(client, tmp_path):
    parts = DaskParts(client, rows_on(client, 5), Toy)
    parts.map("add", 1)
    assert list(parts.map("die_once", str(tmp_path / "dead"))) == [sum(range(k)) + 1.5 for k in range(5)]
    assert list(parts.map("add", 10)) == [sum(range(k)) + 11.5 for k in range(5)]


@pytest.mark.slow
def test_a_worker_adds_up_for_its_parts_and_sends_one_result():
    random = np.random.default_rng(0)
    X = random.normal(size=(300, 3))
    y = (X[:, 0] > 0).astype(int)
    trees = read_trees(RandomForestClassifier(5, max_depth=4, random_state=0).fit(X, y))
    make = partial(part_of, trees=trees, samples=ClassSamples(X, y, np.arange(2)))
    call = [Call("leaf_sums", ())]
    (one,) = Shard(make, np.arange(300)).run(call, np.add)
    (several,) = Shard(make, *np.split(np.arange(300), [50, 50, 200])).run(call, np.add)
    assert several.tolist() == one.tolist()
    assert len(pickle.dumps(several)) == len(pickle.dumps(one))


@pytest.mark.slow
def test_sums_are_right_also_if_a_worker_dies_while_it_adds_up(client, tmp_path):
    parts = DaskParts(client, rows_on(client, 5), Toy)
    assert parts.reduced(add, "add", 1) == sum(sum(range(k)) + 1 for k in range(5))
    assert parts.reduced(add, "die_once", str(tmp_path / "dead")) == sum(sum(range(k)) + 1.5 for k in range(5))
    assert list(parts.map("add", 10)) == [sum(range(k)) + 11.5 for k in range(5)]


class Deadly:
    """Parts one of whose workers is killed just before some of the calls."""

    def __init__(self, parts: DaskParts, moments: set[int]) -> None:
        self._parts, self._moments, self._calls = parts, moments, 0

    def map(self, method: str, *arguments: Any) -> Iterator[Any]:
        self._kill()
        return self._parts.map(method, *arguments)

    def reduced(self, add: Any, method: str, *arguments: Any) -> Any:
        self._kill()
        return self._parts.reduced(add, method, *arguments)

    def _kill(self) -> None:
        self._calls += 1
        if self._calls in self._moments:
            os.kill(next(iter(self._parts.client.run(os.getpid).values())), signal.SIGKILL)


@pytest.mark.slow
def test_the_greedy_cover_is_that_of_one_process_also_if_workers_die(client):
    random = np.random.default_rng(0)
    X = random.normal(size=(400, 4))
    y = (X[:, 0] * X[:, 1] > 0).astype(int)
    trees = read_trees(RandomForestClassifier(8, max_depth=5, random_state=0).fit(X, y))
    samples = ClassSamples(X, y, np.arange(2))
    pool = leaf_pool(samples, trees, Price(Gini()), ("a", "b", "c", "d"))
    blocks = np.split(np.arange(400), [150, 150, 390])  # one of them is empty
    rows = [client.submit(np.array, block, pure=False) for block in blocks]
    parts = Deadly(DaskParts(client, rows, partial(part_of, trees=trees, samples=samples)), {7})
    leaves = np.flatnonzero(sum(parts.map("leaf_sums")).any(axis=1))
    cover = greedy_cover(parts, pool.evidence.cost, leaves, np.array(1))
    assert cover.rules.tolist() == Greedy()(pool.problem()).rules.tolist()
    assert parts._calls > 10


@pytest.mark.slow
def test_parts_that_are_too_much_for_every_worker_are_given_up(client, monkeypatch):
    monkeypatch.setattr("rulecover.partitions.dask._LOSSES", 0)
    parts = DaskParts(client, rows_on(client, 1), Toy)
    with pytest.raises(LostClusterError, match="lost 0 times in a row in 'add'; give them more memory"):
        parts.map("add", 1)


@pytest.mark.slow
def test_a_cluster_that_goes_away_is_one_clear_error():
    with distributed.LocalCluster(n_workers=1, processes=False, dashboard_address=":0") as cluster:
        client = distributed.Client(cluster)
        address = client.scheduler.address
        parts = DaskParts(client, rows_on(client, 2), Toy)
    with pytest.raises(LostClusterError, match=f"the Dask cluster {address} is gone; connect to one that runs"):
        parts.map("add", 1)
    client.close()


@pytest.mark.slow
def test_a_cluster_without_workers_is_one_clear_error():
    with (
        distributed.LocalCluster(n_workers=0, processes=False, dashboard_address=":0") as cluster,
        distributed.Client(cluster) as client,
        pytest.raises(LostClusterError, match="has had no worker for 0"),
    ):
        DaskParts(client, rows_on(client, 2), Toy, patience=0.1)
