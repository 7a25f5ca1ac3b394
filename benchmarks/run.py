"""Timed pieces, each as a ratio to a named baseline in the same run.

    python benchmarks/run.py [--data FOLDER] [--out docs/benchmarks.md] [--runs 5]

CPU time of one thread, baseline and ours in turn, medians. `--data` names a folder with `magic.csv` for piece (c);
without it data of the same size are generated.
"""

from __future__ import annotations

import os

for _threads in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[_threads] = "1"  # before numpy is imported: one thread each

import argparse
import time
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from statistics import median

import numpy as np
import pandas as pd
from rich.console import Console
from rich.progress import Progress
from sklearn.datasets import make_classification
from sklearn.ensemble import RandomForestClassifier
from sklearn.frozen import FrozenEstimator

from rulecover import MIRCOClassifier
from rulecover.study.pages import write_page

ROWS, FEATURES, TREES, DEPTH = 500_000, 20, 100, 10
TRAINED_ON = 50_000


def cpu_seconds(task: Callable[[], object]) -> float:
    start = time.process_time()
    task()
    return time.process_time() - start


def in_turn(runs: int, tick: Callable[[str], None], **tasks: Callable[[], object]) -> dict[str, float]:
    """The median CPU seconds of each task, run one after the other, again and again."""
    seconds: dict[str, list[float]] = {name: [] for name in tasks}
    for _ in range(runs):
        for name, task in tasks.items():
            tick(name)
            seconds[name].append(cpu_seconds(task))
    return {name: median(taken) for name, taken in seconds.items()}


def cover(model: RandomForestClassifier, X: np.ndarray, y: np.ndarray, **settings: int) -> MIRCOClassifier:
    return MIRCOClassifier.as_in_paper(FrozenEstimator(model), **settings).fit(X, y)


def forest() -> RandomForestClassifier:
    return RandomForestClassifier(TREES, max_depth=DEPTH, random_state=0, n_jobs=1)


def cover_of_many_rows(model, X, y, runs: int, tick) -> list[str]:
    """Piece (a): everything MIRCO does once the forest is trained, next to one `forest.apply`."""
    lines, ours = [], {}
    for n in (ROWS // 10, ROWS):
        part, labels = X[:n], y[:n]
        taken = in_turn(
            runs, tick, apply=lambda p=part: model.apply(p), cover=lambda p=part, t=labels: cover(model, p, t)
        )
        ours[n] = taken["cover"]
        lines.append(
            f"| (a) MIRCO as in the paper, {n:,} rows x {TREES} trees | `forest.apply(X)`: {taken['apply']:.2f} s "
            f"| {taken['cover']:.2f} s | **{taken['cover'] / taken['apply']:.2f} x the time** |"
        )
    exponent = np.log(ours[ROWS] / ours[ROWS // 10]) / np.log(10)
    lines.append(
        f"| (a) growth from {ROWS // 10:,} to {ROWS:,} rows | linear: exponent 1 | | exponent **{exponent:.2f}** |"
    )
    tick("memory")
    tracemalloc.start()
    cover(model, X, y)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    lines.append(
        f"| (a) peak memory above the input, {ROWS:,} rows | bytes per (row, tree) pair | {peak / 2**20:.0f} MiB "
        f"| **{peak / (ROWS * TREES):.2f} bytes** |"
    )
    return lines


def predictions(model, X, y, runs: int, tick) -> list[str]:
    """Piece (b): predict on a million rows by the rules and by the forest."""
    many, few = cover(model, X, y), cover(model, X, y, max_rules=50)
    million = np.vstack([X, X])[:1_000_000]
    taken = in_turn(
        runs,
        tick,
        forest=lambda: model.predict(million),
        many=lambda: many.predict(million),
        few=lambda: few.predict(million),
    )
    return [
        f"| (b) `predict`, 1,000,000 rows, {len(mirco.rules_)} rules | the forest's: {taken['forest']:.2f} s "
        f"| {taken[name]:.2f} s | **{taken['forest'] / taken[name]:.1f} times as fast** |"
        for name, mirco in (("many", many), ("few", few))
    ]


def cover_next_to_training(data: Path | None, runs: int, tick) -> list[str]:
    """Piece (c): 15,000 rows of magic, next to the training of the forest."""
    if data is None:
        X, y = make_classification(15_000, 10, n_informative=6, random_state=0)
        name = "generated, as large as magic"
    else:
        table = pd.read_csv(data / "magic.csv").sample(15_000, random_state=0)
        y = table.pop("target").to_numpy()
        X, name = table.to_numpy(), "magic"
    model = forest().fit(X, y)
    taken = in_turn(runs, tick, training=lambda: forest().fit(X, y), cover=lambda: cover(model, X, y))
    return [
        f"| (c) MIRCO as in the paper, 15,000 rows ({name}) | training the forest: {taken['training']:.2f} s "
        f"| {taken['cover']:.2f} s | **{taken['cover'] / taken['training']:.3f} x the time** |"
    ]


def page(lines: list[str], runs: int) -> str:
    return "\n".join(
        [
            "# Benchmarks",
            "",
            "Made by `make bench`: CPU time of one thread,",
            f"baseline and ours in turn, medians of {runs} runs. Data: `make_classification`, {FEATURES} features, 10",
            f"of them informative; forest of {TREES} trees of depth {DEPTH}, trained on {TRAINED_ON:,} rows. The",
            "cover is the greedy one.",
            "",
            "| what | baseline | ours | ratio |",
            "|---|---|---|---|",
            *lines,
            "",
            "Memory: two bytes per (row, tree) pair stay while the rules are chosen (one for trees of up to 255",
            "leaves), plus the rows in float32 while the trees are read.",
            "",
        ]
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, help="folder with magic.csv")
    parser.add_argument("--out", type=Path, default=Path(__file__).parents[1] / "docs" / "benchmarks.md")
    parser.add_argument("--runs", type=int, default=5)
    arguments = parser.parse_args()
    with Progress(console=Console(stderr=True)) as progress:
        bar = progress.add_task("data", total=9 * arguments.runs + 1)

        def tick(name: str) -> None:
            progress.update(bar, advance=1, description=name)

        X, y = make_classification(ROWS, FEATURES, n_informative=10, random_state=0)
        model = forest().fit(X[:TRAINED_ON], y[:TRAINED_ON])
        lines = cover_of_many_rows(model, X, y, arguments.runs, tick)
        lines += predictions(model, X, y, arguments.runs, tick)
        lines += cover_next_to_training(arguments.data, arguments.runs, tick)
    write_page(arguments.out, text := page(lines, arguments.runs))
    print(text)


if __name__ == "__main__":
    main()
