"""The same pieces with an earlier version and with this one: CPU time, in processes that take turns.

    python benchmarks/against.py COMMIT [--runs 5] [--only cover predict] [--out FILE]

The earlier version is checked out into a temporary folder and run with the same packages. A piece is done three times
in each process, of which the quickest counts; the table has medians over the processes. Covers, votes and boosting are
those of the paper, so that defaults that were changed do not count. `--out` appends raw results, one line per process.
"""

from __future__ import annotations

import os

for _threads in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[_threads] = "1"  # before numpy is imported: one thread each

import argparse
import json
import subprocess
import sys
import tempfile
import time
import warnings
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import product
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
from sklearn.datasets import load_iris, make_classification, make_regression
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.frozen import FrozenEstimator

ROOT = Path(__file__).parents[1]
ROWS, TREES = 200_000, 100
Piece = tuple[str, Callable[[], object]]


def cover_of(model: Any, X: np.ndarray, y: np.ndarray, **settings: int) -> Any:
    from rulecover import MIRCOClassifier

    make = getattr(MIRCOClassifier, "as_in_paper", MIRCOClassifier)  # the first versions had no other
    return make(FrozenEstimator(model), **settings).fit(X, y)


def rows(n: int = ROWS) -> tuple[np.ndarray, np.ndarray]:
    return make_classification(n, 20, n_informative=10, random_state=0)


def forest(X: np.ndarray, y: np.ndarray) -> RandomForestClassifier:
    return RandomForestClassifier(TREES, max_depth=10, random_state=0).fit(X[:20_000], y[:20_000])


def cover() -> Iterator[Piece]:
    X, y = rows()
    model = forest(X, y)
    for n in (ROWS, 5_000):
        yield f"cover, {n:,} rows x {TREES} trees", lambda n=n: cover_of(model, X[:n], y[:n])
    few, labels = load_iris(return_X_y=True)
    small = RandomForestClassifier(TREES, random_state=0).fit(few, labels)
    yield "cover, iris, 20 times", lambda: [cover_of(small, few, labels) for _ in range(20)]


def predict() -> Iterator[Piece]:
    X, y = rows()
    model = forest(X, y)
    whole, few = cover_of(model, X, y), cover_of(model, X, y, max_rules=50)
    yield f"predict, {ROWS:,} rows, {len(whole.rules_)} rules", lambda: whole.predict(X)
    yield f"predict, {ROWS:,} rows, 50 rules", lambda: few.predict(X)
    yield "predict, 10 rows, 50 times", lambda: [few.predict(X[:10]) for _ in range(50)]


def path() -> Iterator[Piece]:
    from rulecover import RulePathClassifier, RulePathRegressor

    settings: dict[str, Any] = {"max_rules": 50, "choose": "last"}
    by_squares = settings | ({"vote": "fitted"} if hasattr(RulePathClassifier(), "vote") else {})
    X, y = rows(10_000)
    model = FrozenEstimator(RandomForestClassifier(TREES, random_state=0).fit(X, y))
    yield "path to 50 rules, 10,000 rows", lambda: RulePathClassifier(model, **by_squares).fit(X, y)
    Xn, numbers = make_regression(10_000, 20, n_informative=8, noise=10.0, random_state=0)
    regressor = RandomForestRegressor(TREES, max_features="sqrt", random_state=0).fit(Xn, numbers)
    frozen = FrozenEstimator(regressor)
    yield "path to 50 rules, 10,000 numbers", lambda: RulePathRegressor(frozen, **settings).fit(Xn, numbers)


def rcboost() -> Iterator[Piece]:
    from rulecover import RCBoostClassifier

    X, y = rows(5_000)
    yield "RCBoost, 5,000 rows", lambda: RCBoostClassifier.as_in_paper(random_state=0).fit(X, y)


def lightgbm() -> Iterator[Piece]:
    import lightgbm

    X, y = rows(20_000)
    model = lightgbm.LGBMClassifier(n_estimators=TREES, verbose=-1, n_jobs=1).fit(X, y)
    for n in (1_000, 20_000):
        yield f"cover of LightGBM, {n:,} rows x {TREES} trees", lambda n=n: cover_of(model, X[:n], y[:n])


PIECES = {piece.__name__: piece for piece in (cover, predict, path, rcboost, lightgbm)}


def timed(name: str) -> dict[str, float]:
    """The quickest of three, in CPU seconds, of each piece of a group."""
    warnings.simplefilter("ignore")
    seconds = {}
    for title, task in PIECES[name]():
        taken = []
        for _ in range(3):
            start = time.process_time()
            task()
            taken.append(time.process_time() - start)
        seconds[title] = min(taken)
    return seconds


def timed_elsewhere(name: str, source: Path) -> dict[str, float]:
    call = [sys.executable, __file__, "--timed", name]
    done = subprocess.run(
        call, check=False, env=os.environ | {"PYTHONPATH": str(source)}, capture_output=True, text=True
    )
    if done.returncode:
        raise SystemExit(f"{name} could not be timed with {source}:\n{done.stderr}")
    return json.loads(done.stdout)


@contextmanager
def checked_out(commit: str) -> Iterator[Path]:
    """A temporary folder with the files of a commit."""
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(["git", "-C", ROOT, "worktree", "add", "-q", "--detach", f"{folder}/before", commit], check=True)
        try:
            yield Path(folder) / "before"
        finally:
            subprocess.run(["git", "-C", ROOT, "worktree", "remove", "--force", f"{folder}/before"], check=True)


def table(taken: dict[str, dict[str, list[float]]], commit: str) -> str:
    lines = [f"| piece | {commit}, CPU s | this version, CPU s | ratio |", "|---|---|---|---|"]
    for title, by in taken.items():
        before, now = median(by["before"]), median(by["now"])
        lines.append(f"| {title} | {before:.3f} | {now:.3f} | {now / before:.2f} |")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("commit", nargs="?")
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--only", nargs="+", choices=PIECES, default=list(PIECES))
    parser.add_argument("--out", type=Path)
    parser.add_argument("--timed", choices=PIECES, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.timed:
        print(json.dumps(timed(arguments.timed)))
        return
    if arguments.commit is None:
        parser.error("name a commit to compare with, as in: python benchmarks/against.py HEAD~20")
    taken: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    with checked_out(arguments.commit) as before:
        for _, name, which in product(range(arguments.runs), arguments.only, ("before", "now")):
            seconds = timed_elsewhere(name, (before if which == "before" else ROOT) / "src")
            for title, each in seconds.items():
                taken[title][which].append(each)
            if arguments.out:
                with arguments.out.open("a", encoding="utf-8") as file:
                    file.write(json.dumps({"commit": arguments.commit, "version": which, "seconds": seconds}) + "\n")
    print(table(taken, arguments.commit))


if __name__ == "__main__":
    main()
