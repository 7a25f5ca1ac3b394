"""Fitting on a Dask cluster of two workers of this machine, next to the same rows in one process.

    python benchmarks/scale_dask.py [--rows 250000 2000000] [--partitions 1 2 7 64] [--kills 20] [--model [SIZES]]

Workers have one thread each. For each number of rows: the rules and the CPU seconds (those of the client and of both
workers, added up) of a cover as in the paper, of the default cover, of a rule path and of RCBoost, for each number of
partitions and an empty one, and the seconds of a round of the greedy choice; imports are not counted. Then, on fewer
rows, one worker is killed (SIGKILL) at a random moment of each of many fits: the rules must be those of one process.
With `--model`: what a round costs client and workers, by sizes (see benchmarks/dask_model.py). Each result is added to
benchmarks/scale_dask.jsonl, and the tables of docs/scale.md are written again from that file; `--rows --kills 0` does
that alone.
"""

from __future__ import annotations

import os

for _threads in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[_threads] = "1"  # before numpy is imported: one thread each

import argparse
import json
import logging
import platform
import random
import signal
import threading
import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from textwrap import fill
from typing import Any

import dask
import dask.array as da
import distributed
import numpy as np
from dask_model import measured_round, model_table
from sklearn.ensemble import RandomForestClassifier
from sklearn.frozen import FrozenEstimator
from sklearn.tree import DecisionTreeClassifier

import rulecover
from rulecover import MIRCOClassifier, RCBoostClassifier, RulecoverWarning, RulePathClassifier
from rulecover.partitions.dask import DaskParts

COLUMNS, TREES, DEPTH, TRAINED_ON, BLOCK = 20, 100, 10, 50_000, 125_000
RAW = Path(__file__).with_suffix(".jsonl")
PAGE = Path(__file__).parents[1] / "docs" / "scale.md"
#: Between these the tables are written.
BEGIN, END = "<!-- made by benchmarks/scale_dask.py -->", "<!-- end -->"
MODELLED = [25_000, 50_000, 100_000, 400_000]
#: Where workers are killed.
KILLED_ROWS, KILLED_TREES = 10_000, 20
WARMED_UP = 2_000


def block(number: int, n_rows: int) -> tuple[np.ndarray, np.ndarray]:
    """Rows of 20 columns, and two classes that depend on six of them, with noise."""
    generator = np.random.default_rng(number)
    X = generator.normal(size=(n_rows, COLUMNS))
    score = X[:, 0] * X[:, 1] + X[:, 2] - np.abs(X[:, 3]) + X[:, 4] * (X[:, 5] > 0)
    return X, (score + generator.normal(size=n_rows) > 0).astype(np.int64)


def rows(n_rows: int) -> tuple[np.ndarray, np.ndarray]:
    made = [block(k, min(BLOCK, n_rows - start)) for k, start in enumerate(range(0, n_rows, BLOCK), 1)]
    return np.concatenate([X for X, _ in made]), np.concatenate([y for _, y in made])


def on_workers(n_rows: int, n_partitions: int) -> tuple[da.Array, da.Array]:
    """The same rows, made by the workers, in this many partitions and an empty one."""
    X, y = [], []
    for k, start in enumerate(range(0, n_rows, BLOCK), 1):
        size = min(BLOCK, n_rows - start)
        made = dask.delayed(block, nout=2)(k, size)
        X.append(da.from_delayed(made[0], (size, COLUMNS), dtype=float))
        y.append(da.from_delayed(made[1], (size,), dtype=int))
    lengths = (0, *np.diff(np.linspace(0, n_rows, n_partitions + 1).astype(int)).tolist())
    return da.concatenate(X).rechunk((lengths, COLUMNS)), da.concatenate(y).rechunk((lengths,))


def methods(n_trees: int, trained_on: int) -> dict[str, Callable[[], Any]]:
    forest = RandomForestClassifier(n_trees, max_depth=DEPTH, random_state=0).fit(*block(0, trained_on))
    frozen, tree = FrozenEstimator(forest), DecisionTreeClassifier(max_depth=6, max_features="sqrt")
    return {
        "cover as in the paper": lambda: MIRCOClassifier.as_in_paper(frozen),
        "cover": lambda: MIRCOClassifier(frozen),
        "path": lambda: RulePathClassifier(frozen, max_rules=15, choose="last"),
        "RCBoost": lambda: RCBoostClassifier(tree, pricing="binned", max_rmp_calls=10, random_state=0),
    }


def quiet_worker() -> None:
    warnings.simplefilter("ignore", RulecoverWarning)


@contextmanager
def cluster() -> Iterator[distributed.Client]:
    settings = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": ":0", "silence_logs": logging.CRITICAL}
    # A cluster may raise when it is closed, for workers that were killed.
    with suppress(KeyError), distributed.LocalCluster(**settings) as made, distributed.Client(made) as client:
        client.run(quiet_worker)
        yield client


def cpu_of(client: distributed.Client) -> float:
    return time.process_time() + sum(client.run(time.process_time).values())


def timed(cpu: Callable[[], float], fit: Callable[[], Any]) -> tuple[Any, dict[str, float]]:
    start, used = time.perf_counter(), cpu()
    found = fit()
    return found, {"cpu": round(cpu() - used, 2), "wall": round(time.perf_counter() - start, 2)}


def imported(make: Callable[[], Any]) -> None:
    """A fit of few rows, so that what is imported for it is imported: here, and on both workers."""
    make().fit(*rows(WARMED_UP))
    make().fit(*on_workers(WARMED_UP, 2))


class CountedRounds:
    """How many calls of parts there were, and their seconds."""

    def __init__(self) -> None:
        self.seconds: list[float] = []
        self._results = DaskParts._results

    def __enter__(self) -> CountedRounds:
        def timed_results(parts: DaskParts, call: Any, add: Any) -> list[Any]:
            start = time.perf_counter()
            found = self._results(parts, call, add)
            if call.method == "cover":
                self.seconds.append(time.perf_counter() - start)
            return found

        DaskParts._results = timed_results
        return self

    def __exit__(self, *_: object) -> None:
        DaskParts._results = self._results


def compared(
    client: distributed.Client, n_rows: int, makers: dict[str, Callable[[], Any]], partitions: list[int]
) -> Iterator[dict[str, Any]]:
    X, y = rows(n_rows)
    for name, make in makers.items():
        imported(make)
        one, alone = timed(time.process_time, lambda make=make: make().fit(X, y))
        for n_partitions in partitions:
            given = on_workers(n_rows, n_partitions)
            given = client.persist(given)
            distributed.wait(given)
            with CountedRounds() as rounds:
                many, together = timed(lambda: cpu_of(client), lambda make=make, given=given: make().fit(*given))
            yield {
                "method": name,
                "rows": n_rows,
                "partitions": n_partitions,
                "same": str(one.rules_) == str(many.rules_),
                "rules": len(one.rules_),
                "alone": alone,
                "dask": together,
                "cpu_ratio": round(together["cpu"] / alone["cpu"], 2),
                "wall_ratio": round(together["wall"] / alone["wall"], 2),
                "rounds": len(rounds.seconds),
                "ms_per_round": round(1000 * float(np.median(rounds.seconds)), 2) if rounds.seconds else None,
            }
            del given


class Kill(threading.Thread):
    """Kills a process after some seconds, unless it is gone by then."""

    def __init__(self, after: float, process: int) -> None:
        super().__init__()
        self._after, self._process, self.done = after, process, False

    def run(self) -> None:
        time.sleep(self._after)
        with suppress(ProcessLookupError):
            os.kill(self._process, signal.SIGKILL)
            self.done = True


def killed(client: distributed.Client, n_kills: int, makers: dict[str, Callable[[], Any]]) -> Iterator[dict[str, Any]]:
    """One fit per kill, at a random moment of what the fit takes without one."""
    X, y = rows(KILLED_ROWS)
    for make in makers.values():
        imported(make)
    ones = {name: make().fit(X, y) for name, make in makers.items()}
    usual = {
        name: timed(time.process_time, lambda make=make: make().fit(*on_workers(KILLED_ROWS, 7)))
        for name, make in makers.items()
    }
    moments = random.Random(0)
    for number in range(n_kills):
        name = list(makers)[number % len(makers)]
        if len(client.nthreads()) < 2:  # another one, if the nanny has not started it again
            client.cluster.scale(len(client.cluster.worker_spec) + 1)
        client.wait_for_workers(2, timeout=300)
        victim = moments.choice(sorted(client.run(os.getpid, on_error="ignore").values()))
        after = moments.uniform(0.0, usual[name][1]["wall"])
        kill = Kill(after, victim)
        kill.start()
        many, took = timed(time.process_time, lambda name=name: makers[name]().fit(*on_workers(KILLED_ROWS, 7)))
        in_time = kill.done
        kill.join()
        same = str(ones[name].rules_) == str(many.rules_)
        yield {"method": name, "killed_after": round(after, 2), "in_time": in_time, "same": same, "wall": took["wall"]}


def modelled(client: distributed.Client, sizes: list[int], make: Callable[[], Any]) -> Iterator[dict[str, Any]]:
    """The costs of rounds for each size, its rows in two partitions; the first fit, of imports, is not counted."""
    imported(make)
    for n_rows in sizes:
        given = client.persist(on_workers(n_rows, 2))
        distributed.wait(given)
        yield measured_round(client, n_rows, make, given)
        del given


# Results --------------------------------------------------------------------------------------------------------------


def add(line: dict[str, Any]) -> None:
    """Prints and keeps a result at once: a cluster whose workers were killed may fail when it is closed."""
    text = json.dumps(line)
    print(text, flush=True)
    with RAW.open("a", encoding="utf-8") as file:
        file.write(text + "\n")


def known() -> list[dict[str, Any]]:
    """All results so far."""
    return [json.loads(line) for line in RAW.read_text(encoding="utf-8").splitlines()]


def tables(results: list[dict[str, Any]]) -> str:
    """The tables of docs/scale.md: the last result of each method, size and partitioning."""
    last = {(each["rows"], each["method"], each["partitions"]): each for each in results if "alone" in each}
    fits = [last[key] for key in sorted(last)]
    lines = [
        "| method | rows | partitions | rules | the same | one process, CPU s | Dask, CPU s | CPU ratio | wall ratio |",
        "|---|---|---|---|---|---|---|---|---|",
        *(
            f"| {each['method']} | {each['rows']:,} | {each['partitions']} | {each['rules']} "
            f"| {'yes' if each['same'] else '**no**'} | {each['alone']['cpu']:.1f} | {each['dask']['cpu']:.1f} "
            f"| {each['cpu_ratio']:.2f} | {each['wall_ratio']:.2f} |"
            for each in fits
        ),
    ]
    killed_fits = [each for each in results if each.get("in_time")]
    if killed_fits:
        times = ", ".join(f"{name} {n}" for name, n in Counter(each["method"] for each in killed_fits).items())
        same = sum(each["same"] for each in killed_fits)
        said = (
            f"One worker was killed at a random moment of each of {len(killed_fits)} fits of 10,000 to 20,000 rows "
            f"({times}): the rules were those of one process in {same} of them."
        )
        lines += ["", fill(said, 120)]
    if rounds := [each for each in results if "model" in each]:
        lines += ["", "What a round costs, by `--model`:", "", model_table(rounds)]
    return "\n".join(lines).rstrip() + "\n"


def write_page() -> None:
    before, _, rest = PAGE.read_text(encoding="utf-8").partition(BEGIN)
    _, _, after = rest.partition(END)
    PAGE.write_text(f"{before}{BEGIN}\n\n{tables(known())}\n{END}{after}", encoding="utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, nargs="*", default=[250_000, 2_000_000])
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--partitions", type=int, nargs="*", default=[1, 2, 7, 64])
    parser.add_argument("--methods", nargs="*", help="some of the methods, by name")
    parser.add_argument("--model", type=int, nargs="*", help="sizes of which rounds are counted")
    options = parser.parse_args()
    warnings.simplefilter("ignore", RulecoverWarning)
    sizes = MODELLED if options.model == [] else options.model or []
    if options.rows or options.kills or sizes:
        measure(options, sizes)
    write_page()


def measure(options: argparse.Namespace, sizes: list[int]) -> None:
    def chosen(*forest: int) -> dict[str, Callable[[], Any]]:
        return {name: make for name, make in methods(*forest).items() if not options.methods or name in options.methods}

    versions = {each.__name__: each.__version__ for each in (rulecover, dask, distributed, np)}
    date = datetime.now(UTC).date().isoformat()
    add({"versions": versions, "machine": f"{os.cpu_count()} cores, {platform.machine()}", "date": date})
    with cluster() as client:
        if sizes:
            for line in modelled(client, sizes, methods(TREES, TRAINED_ON)["cover as in the paper"]):
                add(line)
        makers = chosen(TREES, TRAINED_ON) if options.rows else {}
        for n_rows in options.rows:
            for line in compared(client, n_rows, makers, options.partitions):
                add(line)
        for line in killed(client, options.kills, chosen(KILLED_TREES, KILLED_ROWS)) if options.kills else ():
            add(line)


if __name__ == "__main__":
    main()
