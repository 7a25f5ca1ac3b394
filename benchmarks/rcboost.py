"""RCBoost timed, each piece as a ratio to a named baseline in the same run.

    python benchmarks/rcboost.py [--rows 1000000] [--tree-rows 200000] [--runs 3] [--only a b c] [--out FILE]

CPU time of one thread, baseline and ours in turn, medians. Without `--only` the page docs/benchmarks-rcboost.md is
written again.
"""

from __future__ import annotations

import os

for _threads in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[_threads] = "1"  # before numpy is imported: one thread each

import argparse
import multiprocessing
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
import xgboost
from rich.console import Console
from rich.progress import Progress
from scipy.optimize import linprog
from sklearn.datasets import make_classification
from sklearn.ensemble import AdaBoostClassifier
from sklearn.metrics import log_loss
from sklearn.tree import DecisionTreeClassifier

from rulecover import RCBoostClassifier
from rulecover.rcboost.generate import BoostRecipe, RuleGeneration
from rulecover.rcboost.pricing.binned import BinnedPricing
from rulecover.rcboost.pricing.oracles import TreePricing
from rulecover.study.pages import write_page
from rulecover.targets.classes.impurity import CRITERIA
from rulecover.targets.classes.samples import ClassSamples
from rulecover.targets.impurity import Price

FEATURES, INFORMATIVE, DEPTH = 20, 10, 6
TREE_ROUNDS, BINNED_ROUNDS, MASTER_ROWS = 20, 50, 5_000
#: Data sets of piece (c): how many pivots a re-solve takes differs much from one path of pools to another.
MASTER_SEEDS = 10
#: Duals that lie on few samples change an exact tree of many rows; shared out equally they are too small.
TREE_DUALS = "vertex"
#: With all features per split, the tree of a million rows stays as it was under the small duals, and the loop ends.
MAX_FEATURES = 4
#: The two ways to grow 50 trees on bins: one per call, and what docs/rcboost.md has for many rows.
WAYS: dict[str, dict[str, Any]] = {
    "one tree per call": {"max_rmp_calls": BINNED_ROUNDS},
    "10 trees per call, near duals": {
        "pricing": BinnedPricing(n_estimators=10),
        "max_rmp_calls": BINNED_ROUNDS // 10,
        "duals": "near",
    },
}
MANY = "10 trees per call, near duals"
#: The goals of piece (b), for a tenth of the rows and for all of them.
GOALS = (3, 1.5)


def samples(rows: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    return make_classification(rows, FEATURES, n_informative=INFORMATIVE, random_state=seed)


def cpu_seconds(task: Callable[[], object]) -> tuple[float, object]:
    start = time.process_time()
    result = task()
    return time.process_time() - start, result


class TimedTree(DecisionTreeClassifier):
    """A tree that adds up the CPU seconds of all fits."""

    seconds = 0.0

    def fit(self, X, y, sample_weight=None, check_input=True):
        taken, _ = cpu_seconds(lambda: super(TimedTree, self).fit(X, y, sample_weight, check_input))
        TimedTree.seconds += taken
        return self


def next_to_adaboost(rows: int, runs: int, tick) -> list[str]:
    """Piece (a): scikit-learn's trees, as many as AdaBoost's."""
    X, y = samples(rows)
    ours, theirs, outside, calls = [], [], [], 0
    for _ in range(runs):
        tick("(a) RCBoost")
        TimedTree.seconds = 0.0
        tree = TimedTree(max_depth=DEPTH, random_state=0)
        boosting = RCBoostClassifier.as_in_paper(tree, max_rmp_calls=TREE_ROUNDS, duals=TREE_DUALS)
        taken, model = cpu_seconds(lambda b=boosting: b.fit(X, y))
        ours.append(taken)
        outside.append(1 - TimedTree.seconds / taken)
        calls = model.n_rmp_calls_
        tick("(a) AdaBoost")
        plain = DecisionTreeClassifier(max_depth=DEPTH, random_state=0)
        boosted = AdaBoostClassifier(plain, n_estimators=calls, random_state=0)
        theirs.append(cpu_seconds(lambda b=boosted: b.fit(X, y))[0])
    what = f"(a) scikit-learn trees, {rows:,} rows, {calls} rounds"
    return [
        f"| {what}: time | AdaBoost, same trees and rounds: {median(theirs):.1f} s | {median(ours):.1f} s "
        f"| **{median(ours) / median(theirs):.2f} x the time** (goal 1.2) |",
        f"| {what}: outside tree growing | its own total | {median(outside) * median(ours):.1f} s "
        f"| **{100 * median(outside):.1f} %** (goal 15 %) |",
    ]


def xgboost_training(X: np.ndarray, y: np.ndarray) -> object:
    """Bins, and as many trees of the same settings, each on the residuals of those before."""
    settings = {"tree_method": "hist", "objective": "reg:squarederror", "multi_strategy": "multi_output_tree"}
    settings |= {"eta": 1.0, "lambda": 0.0, "min_child_weight": 0.0, "base_score": 0.0, "max_depth": DEPTH}
    settings |= {"nthread": 1, "seed": 0, "colsample_bynode": MAX_FEATURES / FEATURES}
    return xgboost.train(settings, xgboost.QuantileDMatrix(X, label=y, nthread=1), BINNED_ROUNDS)


def binned_training(X: np.ndarray, y: np.ndarray, way: str) -> RCBoostClassifier:
    tree = DecisionTreeClassifier(max_depth=DEPTH, max_features=MAX_FEATURES)
    return RCBoostClassifier(tree, **{"pricing": "binned", "step": 1.0, "random_state": 0, **WAYS[way]}).fit(X, y)


def peak_of_training(folder: str, queue) -> None:
    """In a process of its own: the most memory with the data read, and after the fit, in KiB."""
    X, y = np.load(f"{folder}/X.npy"), np.load(f"{folder}/y.npy")
    before = most_memory()
    binned_training(X, y, MANY)
    queue.put((before, most_memory()))


def most_memory() -> int:
    """The most memory this process has held, in KiB; `ru_maxrss` would count what its parent held."""
    status = Path("/proc/self/status").read_text()
    return int(next(line for line in status.splitlines() if line.startswith("VmHWM:")).split()[1])


def peak_memory(X: np.ndarray, y: np.ndarray) -> tuple[float, float]:
    context = multiprocessing.get_context("spawn")
    queue = context.Queue()
    with tempfile.TemporaryDirectory() as folder:
        np.save(f"{folder}/X.npy", X)
        np.save(f"{folder}/y.npy", y)
        child = context.Process(target=peak_of_training, args=(folder, queue))
        child.start()
        before, after = queue.get()
        child.join()
    return before / 2**10, after / 2**10


def next_to_xgboost(rows: int, runs: int, tick) -> list[str]:
    """Piece (b): trees on bins, next to XGBoost's own training of as many."""
    X, y = samples(rows + rows // 10)
    held_out = X[rows:], y[rows:]
    lines, spent, known = [], {}, 0
    for n, goal in zip((rows // 10, rows), GOALS, strict=True):
        ours: dict[str, list[float]] = {way: [] for way in WAYS}
        theirs, models = [], {}
        for _ in range(runs):
            tick(f"(b) XGBoost, {n:,} rows")
            theirs.append(cpu_seconds(lambda n=n: xgboost_training(X[:n], y[:n]))[0])
            for way in WAYS:
                tick(f"(b) RCBoost, {way}, {n:,} rows")
                taken, models[way] = cpu_seconds(lambda n=n, way=way: binned_training(X[:n], y[:n], way))
                ours[way].append(taken)
        for way, model in models.items():
            spent[way, n] = median(ours[way])
            lines.append(
                f"| (b) binned trees, {n:,} rows, {way}: {model.n_rmp_calls_} calls, {len(model.rules_)} rules, "
                f"{of_held_out(model, *held_out)} | XGBoost, {BINNED_ROUNDS} such trees: {median(theirs):.1f} s "
                f"| {spent[way, n]:.1f} s | **{spent[way, n] / median(theirs):.2f} x the time** (goal {goal}) |"
            )
        known = int(models[MANY].history_["lp_samples"].max())
    exponent = np.log10(spent[MANY, rows] / spent[MANY, rows // 10])
    tick("(b) memory")
    before, after = peak_memory(X[:rows], y[:rows])
    return [
        *lines,
        f"| (b) {MANY}: growth from {rows // 10:,} to {rows:,} rows | linear: exponent 1 | | exponent "
        f"**{exponent:.2f}** (goal 1.1) |",
        f"| (b) {MANY}: samples in the LP, {rows:,} rows | all samples | {known:,} "
        f"| **{100 * known / rows:.2f} %** (goal 5 %) |",
        f"| (b) {MANY}: peak memory, {rows:,} rows | with the data read: {before:.0f} MiB | {after:.0f} MiB "
        f"| **{after - before:.0f} MiB more** |",
    ]


def of_held_out(model: RCBoostClassifier, X: np.ndarray, y: np.ndarray) -> str:
    """How good a model is on rows that it has not seen."""
    return f"held-out accuracy {model.score(X, y):.4f}, log loss {log_loss(y, model.predict_proba(X)):.3f}"


class TimedMaster:
    """A master problem that is timed, and next to it a cold solve of the full LP by another door."""

    def __init__(self, generation: RuleGeneration) -> None:
        generation.solve()
        self._generation, self._master = generation, generation.master
        self.warm, self.cold, self._adding = [], [], 0.0

    def add(self, coverage, cost) -> None:
        self._adding, _ = cpu_seconds(lambda: self._master.add(coverage, cost))

    def solve(self, *, deadline=None):
        taken, relaxation = cpu_seconds(lambda: self._master.solve(deadline=deadline))
        pool = self._generation.generated
        matrix = pool.coverage.to_sparse().astype(np.float64)
        short = -np.ones(pool.coverage.n_samples)
        cold, full = cpu_seconds(lambda: linprog(pool.evidence.cost, A_ub=-matrix, b_ub=short, method="highs"))
        assert abs(full.fun - relaxation.objective) < 1e-6
        if self._adding:  # the first solve is cold for both
            self.warm.append(taken + self._adding)
            self.cold.append(cold)
        return relaxation


def pools_of_trees(seed: int) -> tuple[TimedMaster, int]:
    """The master problem of a whole run, timed, and the size of the last pool."""
    X, y = samples(MASTER_ROWS, seed)
    tree = DecisionTreeClassifier(max_depth=DEPTH, random_state=0).fit(X, y)
    data = ClassSamples(X, y, np.unique(y))
    generation = RuleGeneration(
        data,
        tree,
        BoostRecipe(TreePricing(), Price(CRITERIA["gini"])),
        lambda first: tuple(f"x{f}" for f in range(FEATURES)),
    )
    timed = generation.master = TimedMaster(generation)
    for _, _round in zip(range(TREE_ROUNDS + 1), generation, strict=False):
        pass
    return timed, len(generation.generated)


def warm_next_to_cold(tick) -> list[str]:
    """Piece (c): re-solves of the master problem, on pools from real trees."""
    tick("(c) master problem")
    runs = [pools_of_trees(seed) for seed in range(MASTER_SEEDS)]
    warm, cold = (np.array([np.mean(getattr(timed, name)) for timed, _ in runs]) for name in ("warm", "cold"))
    ratio, rules = cold / warm, [size for _, size in runs]
    return [
        f"| (c) re-solve of the master problem, {MASTER_ROWS:,} rows, {min(rules)} to {max(rules)} rules, "
        f"{MASTER_SEEDS} data sets x {TREE_ROUNDS} rounds | cold `scipy.optimize.linprog`: {1e3 * cold.mean():.0f} ms "
        f"| {1e3 * warm.mean():.1f} ms | **{cold.mean() / warm.mean():.1f} times as fast**, by data set "
        f"{ratio.min():.1f} to {ratio.max():.1f} (goal 5) |"
    ]


def page(lines: list[str], command: str, runs: int) -> str:
    return "\n".join(
        [
            "# Benchmarks of RCBoost",
            "",
            f"Made by `{command}`: CPU time of one thread,",
            f"baseline and ours in turn, medians of {runs} runs ((a): of one). Data: `make_classification`,",
            f"{FEATURES} features, {INFORMATIVE} of them informative, two classes; trees of depth {DEPTH}.",
            "",
            "| what | baseline | ours | ratio |",
            "|---|---|---|---|",
            *lines,
            "",
            "(a) AdaBoost makes as many rounds as RCBoost did; RCBoost has its first tree besides. It has",
            f"{TREE_DUALS} duals here: equal ones are small on so many rows, and the loop ended after 3 rounds.",
            f"(b) [rcboost.md](rcboost.md#many-rows) describes both ways to grow {BINNED_ROUNDS} trees. "
            "As many rows are",
            "held out as a tenth of all. Bin building is counted on both sides. Trees try",
            f"{MAX_FEATURES} features per split on both sides: with all of them, the tree of a million rows does not",
            "change under duals that are small compared with the weight 1 of each row, and the loop ends. Our bins are",
            "made from 200,000 rows, XGBoost's own from all.",
            "(c) Adding the rules is counted as part of the re-solve; each optimum is compared with that of `linprog`.",
            "",
        ]
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=1_000_000, help="rows of piece (b), and a tenth of them")
    parser.add_argument("--tree-rows", type=int, default=200_000, help="rows of piece (a)")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--only", nargs="+", choices="abc", help="some pieces only; writes no page")
    parser.add_argument("--out", type=Path, default=Path(__file__).parents[1] / "docs" / "benchmarks-rcboost.md")
    arguments = parser.parse_args()
    wanted = arguments.only or "abc"
    lines: list[str] = []
    with Progress(console=Console(stderr=True)) as progress:
        bar = progress.add_task("data", total=None)

        def tick(name: str) -> None:
            progress.update(bar, description=name)

        if "c" in wanted:
            lines += warm_next_to_cold(tick)
        if "b" in wanted:
            lines = next_to_xgboost(arguments.rows, arguments.runs, tick) + lines
        if "a" in wanted:
            lines = next_to_adaboost(arguments.tree_rows, 1, tick) + lines
    settings = f"--rows {arguments.rows} --tree-rows {arguments.tree_rows} --runs {arguments.runs}"
    text = page(lines, f"python benchmarks/rcboost.py {settings}", arguments.runs)
    if arguments.only is None:
        write_page(arguments.out, text, "xgboost-cpu")
    print(text)


if __name__ == "__main__":
    main()
