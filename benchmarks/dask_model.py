"""What a round of the greedy choice costs on a Dask cluster, and what that means for more rows and workers.

Imported by benchmarks/scale_dask.py (`--model`). Each worker counts the CPU seconds of its parts and the bytes that it
sends, method by method; the client counts its own CPU seconds for each call. From two small sizes follow the seconds of
a part per row and per round, those of the client per worker and round, and the bytes of a vector; larger sizes are then
predicted, and measured beside. What is said of a billion rows follows from the two largest sizes.
"""

from __future__ import annotations

import pickle
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from textwrap import fill
from typing import Any

import numpy as np

from rulecover.partitions import dask as in_dask
from rulecover.partitions.dask import DaskParts, Shard

#: What is asked for: rows, workers, and the bytes that the client can take per second (1 Gbit/s).
BILLION, WORKERS, BANDWIDTH = 1_000_000_000, 50, 125e6


def count_on_worker() -> None:
    """Has a worker count what its parts cost; called on each."""
    counted: dict[str, list[float]] = {"counting": [0, 0.0, 0.0]}
    run = getattr(Shard, "uncounted", Shard.run)

    def counting_run(shard: Shard, calls: Any, add: Any = None) -> Any:
        start = time.thread_time()
        found = run(shard, calls, add)
        mine = counted.setdefault(calls[-1].method, [0, 0.0, 0.0])
        middle = time.thread_time()
        mine[:] = [mine[0] + 1, mine[1] + middle - start, mine[2] + len(pickle.dumps(found, protocol=5))]
        counted["counting"][1] += time.thread_time() - middle
        return found

    Shard.uncounted, Shard.run = run, counting_run
    in_dask.counted = counted


def counted_on_worker() -> dict[str, list[float]]:
    """Calls, CPU seconds and bytes of each method."""
    return in_dask.counted


@contextmanager
def counted_on_client() -> Iterator[dict[str, list[float]]]:
    """The calls of each method, and the CPU seconds of the client for them."""
    counted: dict[str, list[float]] = {}
    results = DaskParts._results

    def counting_results(parts: DaskParts, call: Any, add: Any) -> list[Any]:
        start = time.process_time()
        found = results(parts, call, add)
        mine = counted.setdefault(call.method, [0, 0.0])
        mine[:] = [mine[0] + 1, mine[1] + time.process_time() - start]
        return found

    DaskParts._results = counting_results
    try:
        yield counted
    finally:
        DaskParts._results = results


def measured_round(client: Any, n_rows: int, make: Callable[[], Any], given: Any) -> dict[str, Any]:
    """One cover as in the paper, on rows that are on the workers: the means of all workers."""
    client.run(count_on_worker)
    before, start = sum(client.run(time.process_time).values()), time.process_time()
    with counted_on_client() as mine:
        fitted = make().fit(*given)
    client_cpu, of_all = time.process_time() - start, sum(client.run(time.process_time).values()) - before
    of_workers = [each for each in client.run(counted_on_worker).values() if "cover" in each]
    of_parts = sum(seconds for each in of_workers for _, seconds, _ in each.values())
    rounds = int(mine["cover"][0])
    names = [name for name in of_workers[0] if name != "counting"]
    seconds = {name: float(np.mean([each[name][1] for each in of_workers])) for name in names}
    sent = {name: float(np.mean([each[name][2] for each in of_workers])) for name in names}
    return {
        "model": "cover as in the paper",
        "rows": n_rows,
        "workers": len(of_workers),
        "rounds": rounds,
        "leaves": int(sum(tree.get_n_leaves() for tree in fitted.estimator_.estimators_)),
        "worker_seconds": {name: round(each, 4) for name, each in seconds.items()},
        "worker_seconds_besides": round((of_all - of_parts) / len(of_workers), 4),
        "bytes_per_round": round(sent["cover"] / rounds),
        "bytes_per_worker": round(sum(sent.values())),
        "client_ms_per_round": round(1000 * mine["cover"][1] / rounds, 3),
        "client_seconds": round(client_cpu, 3),
        "client_seconds_in_calls": round(sum(each[1] for each in mine.values()), 3),
    }


@dataclass(frozen=True)
class RoundCosts:
    """Costs of a cover by its rows, rounds and workers.

    Parameters
    ----------
    per_row, per_round
        CPU seconds of the parts of a worker.
    besides
        CPU seconds of a worker for one round, besides those of its parts: to receive a call and to send a vector.
    per_vector
        CPU seconds of the client for the vector of one worker in one round.
    own
        CPU seconds of the client for one round, besides.
    size, largest
        Bytes of a vector, and at most: 8 for each leaf, once rows are at all of them.
    first, more
        Rounds for one row, and for each time that rows double.
    """

    per_row: float
    per_round: float
    besides: float
    per_vector: float
    own: float
    size: float
    largest: float
    first: float
    more: float

    @classmethod
    def of(cls, small: dict[str, Any], large: dict[str, Any]) -> RoundCosts:
        """From two sizes; what does not depend on rows is their mean."""
        both = small, large
        rounds = np.array([each["rounds"] for each in both], dtype=float)
        rows = np.array([each["rows"] / each["workers"] for each in both])
        cover = np.array([each["worker_seconds"]["cover"] for each in both])
        by_row, per_round = np.linalg.solve(np.column_stack([rows, rounds]), cover)
        by_row, per_round = max(by_row, 0.0), max(per_round, 0.0)
        others = [sum(each["worker_seconds"].values()) - each["worker_seconds"]["cover"] for each in both]
        more = float(np.diff(rounds)[0] / np.log2(large["rows"] / small["rows"]))
        return cls(
            per_row=float(by_row + sum(others) / rows.sum()),
            per_round=float(per_round),
            besides=float(np.mean([each["worker_seconds_besides"] / each["rounds"] for each in both])),
            per_vector=float(np.mean([each["client_ms_per_round"] / each["workers"] for each in both]) / 1000),
            own=float(
                np.mean([(each["client_seconds"] - each["client_seconds_in_calls"]) / each["rounds"] for each in both])
            ),
            size=float(large["bytes_per_round"]),
            largest=8.0 * large["leaves"],
            first=float(rounds[0] - more * np.log2(small["rows"])),
            more=more,
        )

    def rounds(self, rows: float) -> float:
        return self.first + self.more * float(np.log2(rows))

    def part_seconds(self, rows: float, workers: int) -> float:
        return self.per_row * rows / workers + self.per_round * self.rounds(rows)

    def predicted(self, each: dict[str, Any]) -> list[float]:
        """For a run of as many rows and workers, what `_measured` has of it."""
        rows, workers = each["rows"], each["workers"]
        client = 1000 * self.per_vector * workers
        return [self.rounds(rows), self.part_seconds(rows, workers), 1000 * self.besides, client, self.size]


def model_table(results: Sequence[dict[str, Any]]) -> str:
    """What was measured beside what the two smallest sizes predict, and the prediction for many rows and workers."""
    found = sorted({each["rows"]: each for each in results}.values(), key=lambda each: each["rows"])
    costs = RoundCosts.of(*found[:2])
    lines = [
        "| rows | rounds | predicted | parts of a worker, CPU s | predicted | rest of a worker per round, CPU ms "
        "| predicted | client per round, CPU ms | predicted | bytes per worker and round | predicted |",
        "|---|---|---|---|---|---|---|---|---|---|---|",
    ]
    for place, each in enumerate(found):
        cells = [
            f"{seen:,.{digits}f} | {f'{told:,.{digits}f} ({told / seen - 1:+.0%})' if place > 1 else ''}"
            for seen, told, digits in zip(_measured(each), costs.predicted(each), (0, 2, 2, 2, 0), strict=True)
        ]
        lines.append(f"| {each['rows']:,} | {' | '.join(cells)} |")
    return "\n".join([*lines, "", *_on_paper(RoundCosts.of(*found[-2:])), ""])


def _measured(each: dict[str, Any]) -> list[float]:
    """Rounds, seconds of parts, milliseconds of the rest of a worker and of the client per round, and bytes."""
    besides = 1000 * each["worker_seconds_besides"] / each["rounds"]
    parts = sum(each["worker_seconds"].values())
    return [each["rounds"], parts, besides, each["client_ms_per_round"], each["bytes_per_round"]]


def _on_paper(costs: RoundCosts) -> list[str]:
    """The costs, and what they come to for a billion rows."""
    rounds, parts = costs.rounds(BILLION), costs.part_seconds(BILLION, WORKERS)
    besides, network = rounds * costs.besides, rounds * WORKERS * costs.largest / BANDWIDTH
    client = rounds * (WORKERS * costs.per_vector + costs.own)
    minutes = (parts + besides + network + client) / 60
    found = (
        "Predicted is what follows from the two smallest sizes. Costs from the two largest: "
        f"{1e6 * costs.per_row:.1f} µs per row and {1000 * costs.per_round:.2f} ms "
        f"per round for the parts of a worker, and {1000 * costs.besides:.1f} ms per round for what else its process "
        f"does; {1000 * costs.per_vector:.2f} ms per worker and round for the client, and {1000 * costs.own:.2f} ms "
        f"per round besides; {costs.size:,.0f} bytes per worker and round, at most {costs.largest:,.0f} (8 for each "
        f"leaf); {costs.more:.1f} more rounds each time that rows double."
    )
    paper = (
        f"**On paper, {BILLION:,} rows on {WORKERS} workers**: {BILLION // WORKERS:,} rows each, {parts:.0f} s for the "
        f"parts of a worker and {besides:.1f} s for what else it does; {rounds:.0f} rounds, in each of which "
        f"{WORKERS * costs.largest / 1e6:.0f} MB come to the client: {network:.0f} s at {BANDWIDTH / 1e6:.0f} MB/s "
        f"(1 Gbit/s), and {client:.0f} s of its CPU. Together {minutes:.1f} minutes with cores like these, if nothing "
        "overlaps. Nobody has run this."
    )
    return [fill(found, 120), "", fill(paper, 120)]
