"""Parts of the rows on the workers of a Dask cluster: calls go down, sums come up, rows stay where they are."""

from __future__ import annotations

import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import reduce
from typing import TYPE_CHECKING, Any, NamedTuple
from weakref import WeakKeyDictionary, finalize

import numpy as np

from rulecover.exceptions import LostClusterError
from rulecover.partitions.freed_memory import FREED_MEMORY
from rulecover.typing import Floats

if TYPE_CHECKING:
    from distributed import Client, Future

#: Of two results of a method, for some parts each, the one for all of them.
Add = Callable[[Any, Any], Any]

#: The address of each client's scheduler, which the client forgets once it is gone.
_ADDRESSES: WeakKeyDictionary[Client, str] = WeakKeyDictionary()

#: How often the scheduler is asked whether a worker that has not answered is still there, in seconds.
_LOOK = 1.0
#: Workers may be lost this many times in one call before it is given up: a part may be too large for any of them.
_LOSSES = 5


class Call(NamedTuple):
    """A method of all parts, and its arguments."""

    method: str
    arguments: tuple[Any, ...]


class Shard:
    """The parts that live together on one worker, an actor: made of the rows of each when they are first called."""

    def __init__(self, make: Callable[[Any], Any], *rows: Any) -> None:
        self._make, self._rows = make, rows
        self._parts: list[Any] | None = None
        FREED_MEMORY.keep()
        finalize(self, FREED_MEMORY.give_back)

    def run(self, calls: Sequence[Call], add: Add | None = None) -> list[Any] | Exception:
        """What the last of these calls returns, part by part, or only the sum if they are to be added.

        An error is returned too, as the worker is well.
        """
        results: list[Any] = []
        try:
            if self._parts is None:
                self._parts = [self._make(rows) for rows in self._rows]
            for method, arguments in calls:
                results = [getattr(part, method)(*arguments) for part in self._parts]
            return results if add is None else [reduce(add, results)]
        except Exception as error:
            return error


class _WorkerGoneError(Exception):
    """A worker that is gone, and with it all that it held."""


@dataclass(eq=False)
class _PlacedShard:
    """A shard as the client knows it: its worker, the places of its parts among all, and the actor once it is made."""

    worker: str
    places: list[int]
    making: Future
    actor: Any = None


@dataclass(eq=False)
class DaskParts:
    """Parts of the rows on the workers of a Dask cluster, each made and kept where its rows are.

    A worker that dies takes its parts along. They are made again on workers that are alive, from their rows, which Dask
    still has or computes again, and all calls until then are repeated: a part must change by calls alone.

    Parameters
    ----------
    client
        A client of `distributed`.
    rows
        For each part its rows, as futures.
    make
        From the rows of a part to the part.
    patience
        The seconds to wait for a worker, if there is none.
    passing
        Methods whose calls are not repeated: what they change in a part does not last.
    """

    client: Client
    rows: Sequence[Future]
    make: Callable[[Any], Any]
    patience: float = 60.0
    passing: frozenset[str] = frozenset()
    _calls: list[Call] = field(default_factory=list, init=False)
    _shards: list[_PlacedShard] = field(default_factory=list, init=False)

    def __post_init__(self) -> None:
        awaited(self.client, self.rows, self.patience)
        self._make = kept_by_scheduler(self.client, self.make)
        self._shards = self._place(range(len(self.rows)))

    def __len__(self) -> int:
        return len(self.rows)

    def map(self, method: str, *arguments: Any) -> Iterator[Any]:
        """What a method returns for each part, in the order of the parts; it is called even if nobody reads that."""
        return iter(self._results(Call(method, arguments), None))

    def reduced(self, add: Add, method: str, *arguments: Any) -> Any:
        """What a method returns for all parts, added up: each worker adds up for its own parts, and sends one result.

        Parts are added in an order that depends on where they are: the sum must be the same in any.
        """
        return reduce(add, self._results(Call(method, arguments), add))

    def pace(self, method: str, *arguments: Any) -> Floats:
        """As in `Parts`: that of the slowest worker, whose parts are called one after another."""
        return np.asarray(np.max(self._results(Call("pace", (method, *arguments)), np.add), axis=0))

    def close(self) -> None:
        """Lets the parts go."""
        self._shards.clear()

    # Calls ------------------------------------------------------------------------------------------------------

    def _results(self, call: Call, add: Add | None) -> list[Any]:
        """The results of all parts in their order; those of one worker as one if they are to be added."""
        found: dict[int, Any] = {}
        answers = [(shard, self._send(shard, [call], add)) for shard in self._shards]
        for _ in range(_LOSSES):
            lost = [shard for shard, answer in answers if not self._take(found, shard, answer)]
            if not lost:
                self._calls += [] if call.method in self.passing else [call]
                return [found[place] for place in sorted(found)]
            answers = [(shard, self._send(shard, [*self._calls, call], add)) for shard in self._replaced(lost)]
        raise LostClusterError(
            f"Dask workers were lost {_LOSSES} times in a row in {call.method!r}; give them more memory, or make "
            "partitions smaller."
        )

    def _send(self, shard: _PlacedShard, calls: Sequence[Call], add: Add | None) -> Any:
        """What will be the answer of a shard; ``None`` if it is gone."""
        try:
            if shard.actor is None:
                shard.actor = self._result(shard, shard.making)
            return shard.actor.run(calls, add)
        except (_WorkerGoneError, RuntimeError):  # the latter from Dask, for an actor that it knows is gone
            return None

    def _take(self, found: dict[int, Any], shard: _PlacedShard, answer: Any) -> bool:
        """Whether there is an answer; it goes to `found`, by the places of its parts, a sum by the first of them."""
        try:
            results = None if answer is None else self._result(shard, answer)
        except _WorkerGoneError:
            results = None
        if isinstance(results, Exception):
            raise results
        found.update(zip(shard.places, results or (), strict=False))
        return results is not None

    def _result(self, shard: _PlacedShard, future: Any) -> Any:
        """What a future holds, unless its worker is gone."""
        while True:
            try:
                return future.result(timeout=_LOOK)
            except TimeoutError:
                if shard.worker not in workers_of(self.client):
                    raise _WorkerGoneError from None
            except Exception as error:
                raise _WorkerGoneError from error

    # Places -----------------------------------------------------------------------------------------------------

    def _replaced(self, lost: Sequence[_PlacedShard]) -> list[_PlacedShard]:
        """New shards for the parts of those that are lost."""
        self._shards = [shard for shard in self._shards if shard not in lost]
        awaited(self.client, self.rows, self.patience)
        new = self._place(sorted(place for shard in lost for place in shard.places))
        self._shards += new
        return new

    def _place(self, places: Iterable[int]) -> list[_PlacedShard]:
        """Shards for these parts, each on a worker that has its rows unless that has more than others."""
        load = Counter(dict.fromkeys(some_workers(self.client, self.patience), 0))
        for shard in self._shards:
            load[shard.worker] += len(shard.places) if shard.worker in load else 0
        places = list(places)
        homes = homes_of(self.client, [self.rows[place] for place in places], load)
        shards: dict[str, list[int]] = {}
        for place, worker in zip(places, homes, strict=True):
            shards.setdefault(worker, []).append(place)
        return [_PlacedShard(worker, mine, self._making(worker, mine)) for worker, mine in shards.items()]

    def _making(self, worker: str, places: Sequence[int]) -> Future:
        rows = [self.rows[place] for place in places]
        return self.client.submit(Shard, self._make, *rows, actor=True, workers=[worker], pure=False)


def joined_by_worker(
    client: Client, futures: Sequence[Future], n_rows: Sequence[int], *, most: float, patience: float = 60.0
) -> list[Future]:
    """Partitions that are on the same worker together, as tuples of at most this many rows: fewer parts, fewer calls.

    Those without rows are left out, unless there are no others.
    """
    groups = grouped_by_worker(client, futures, n_rows, most=most, patience=patience)
    return [submitted_near(client, home, _together, *mine) for home, mine in groups]


def grouped_by_worker(
    client: Client, futures: Sequence[Future], n_rows: Sequence[int], *, most: float, patience: float = 60.0
) -> list[tuple[str, list[Future]]]:
    """The partitions that `joined_by_worker` joins, each group with its worker."""
    awaited(client, futures, patience)
    full = [future for future, n in zip(futures, n_rows, strict=True) if n] or list(futures[:1])
    sizes = [n for n in n_rows if n] or [0]
    homes = homes_of(client, full, Counter(dict.fromkeys(some_workers(client, patience), 0)))
    groups: dict[tuple[str, int], list[Future]] = {}
    before: Counter[str] = Counter()
    for future, home, size in zip(full, homes, sizes, strict=True):
        before[home] += size
        groups.setdefault((home, int((before[home] - 1) // most)), []).append(future)
    return [(home, mine) for (home, _), mine in groups.items()]


def submitted_near(client: Client, home: str, task: Callable[..., Any], *arguments: Any) -> Future:
    """A task for the worker that has its rows: Dask does not see how large these are, and would move them."""
    return client.submit(task, *arguments, workers=[home], allow_other_workers=True, pure=False)


def _together(*values: Any) -> tuple[Any, ...]:
    return values


def homes_of(client: Client, futures: Sequence[Future], load: Counter[str]) -> list[str]:
    """For each future a worker that has it, unless that has more than others; `load` is what workers have already."""
    holders = client.who_has(futures)
    most = -(-(sum(load.values()) + len(futures)) // len(load))
    homes = []
    for future in futures:
        near = [worker for worker in holders.get(future.key, ()) if load.get(worker, most) < most]
        homes.append(min(near or load, key=load.__getitem__))
        load[homes[-1]] += 1
    return homes


def workers_of(client: Client) -> list[str]:
    """The addresses of the workers that are alive."""
    remember_address(client)
    if client.status != "running":
        raise _no_cluster(client)
    try:
        return list(client.nthreads())
    except (OSError, TimeoutError, RuntimeError) as error:
        raise _no_cluster(client) from error


def some_workers(client: Client, patience: float) -> list[str]:
    """The workers, once there is one."""
    deadline = time.monotonic() + patience
    while not (found := workers_of(client)):
        if time.monotonic() > deadline:
            raise LostClusterError(
                f"the Dask cluster {_name(client)} has had no worker for {patience:g} seconds; start workers, and fit "
                "again."
            )
        time.sleep(0.1)
    return found


def awaited(client: Client, futures: Sequence[Future], patience: float) -> None:
    """Waits for futures to be computed; an error of one of them is raised."""
    from distributed import wait

    remember_address(client)
    until = time.monotonic() + patience  # what a dead worker had is called lost until it is computed again
    while True:
        try:
            wait(futures, timeout=_LOOK)
        except TimeoutError:
            some_workers(client, patience)
        except Exception:  # of the cluster; those of the futures are looked at below
            workers_of(client)
        states = {future.status for future in futures}
        if "pending" in states:
            until = time.monotonic() + patience
        elif "lost" not in states or time.monotonic() > until:
            break
    for future in futures:
        if future.status == "error":
            future.result()
        if future.status != "finished":
            workers_of(client)
            raise LostClusterError(
                f"Dask has lost {future.key!r}, and cannot compute it again; give data that Dask reads or makes itself."
            )


def kept_by_scheduler(client: Client, value: Any) -> Future:
    """A value for all workers that outlives each of them; what is scattered dies with the workers that have it."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Sending large graph")  # once, and not by task
        return client.submit(_same, value, pure=False)


def _same(value: Any) -> Any:
    return value


def _no_cluster(client: Client) -> LostClusterError:
    return LostClusterError(f"the Dask cluster {_name(client)} is gone; connect to one that runs, and fit again.")


def remember_address(client: Client) -> None:
    """Keeps the address of a client's scheduler for messages on it, as long as the client is there."""
    if client.scheduler is not None:
        _ADDRESSES[client] = str(client.scheduler.address)


def _name(client: Client) -> str:
    return _ADDRESSES.get(client, "without an address")
