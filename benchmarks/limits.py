"""How long fits take under a time limit, on a table that is too large for it.

    python benchmarks/limits.py [--rows 50000] [--limits 3] [--busy] [--out benchmarks/limits.md]

The forest is trained before, and is not cut short; what is measured is the rest of the fit. A limit is about time on
the wall; on a machine that is busy with other work, `--busy` measures, and limits, the time of the processor instead,
which is the same on one that is not.
"""

from __future__ import annotations

import os

for _threads in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[_threads] = "1"

import argparse
import platform
import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

if "--busy" in sys.argv:
    time.perf_counter = time.process_time  # for everybody

import numpy as np
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.frozen import FrozenEstimator

from rulecover import MIRCOClassifier, MIRCORegressor, RCBoostClassifier, RulePathClassifier
from rulecover.exceptions import CutShortWarning
from rulecover.study.pages import write_page

TREES, DEPTH, COLUMNS = 30, 8, 15


def data(rows: int) -> tuple[Any, Any, Any]:
    """Numbers, classes that depend on some of them with noise, and what they depend on as a number."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(rows, COLUMNS))
    z = X[:, 0] * X[:, 1] + np.sin(2 * X[:, 2]) + (X[:, 3] > 0.5) + rng.normal(size=rows)
    return X, (z > 0.3).astype(int), z


def fits(rows: int) -> dict[str, tuple[Callable[[float], Any], Any, Any]]:
    """For each method a function from a limit to a model to be fitted, and the data."""
    X, y, z = data(rows)
    forest = FrozenEstimator(RandomForestClassifier(TREES, max_depth=DEPTH, random_state=0, n_jobs=-1).fit(X, y))
    numbers = FrozenEstimator(RandomForestRegressor(TREES, max_depth=DEPTH, random_state=0, n_jobs=-1).fit(X, z))

    def covers(solver: str, **settings: Any) -> Callable[[float], Any]:
        return lambda limit: MIRCOClassifier(forest, solver=solver, time_limit=limit, random_state=0, **settings)

    return {
        "cover, greedy": (covers("greedy"), X, y),
        "cover, search": (covers("search"), X, y),
        "cover, exact": (covers("exact"), X, y),
        "cover, exact, not pruned": (covers("exact", prune=False), X, y),
        "cover, forward": (lambda limit: MIRCORegressor(numbers, time_limit=limit), X, z),
        "path, kept model": (
            lambda limit: RulePathClassifier(forest, time_limit=limit, train_in_folds=False, random_state=0),
            *(X, y),
        ),
        "path, models in folds": (lambda limit: RulePathClassifier(forest, time_limit=limit, random_state=0), X, y),
        "RCBoost, trees": (
            lambda limit: RCBoostClassifier(pricing="tree", time_limit=limit, random_state=0),
            *(X, y),
        ),
        "RCBoost, forests": (lambda limit: RCBoostClassifier(time_limit=limit, random_state=0), X, y),
    }


def measured(model: Any, X: Any, y: Any) -> tuple[float, str]:
    """The seconds of a fit, and what was cut."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        begin = time.perf_counter()
        model.fit(X, y)
        taken = time.perf_counter() - begin
    notes = [
        str(each.message).partition(": ")[2].partition(";")[0] for each in caught if each.category is CutShortWarning
    ]
    if hasattr(model, "certificate_"):
        notes.append(f"{model.certificate_.n_rules} rules, {model.certificate_.status}")
    return taken, "; ".join(notes)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=50_000)
    parser.add_argument("--limits", type=float, nargs="+", default=[3.0])
    parser.add_argument("--busy", action="store_true", help="take the time of the processor for that of the wall")
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    lines = [
        "# Fits under a time limit",
        "",
        f"{options.rows:,} rows, {COLUMNS} columns, a forest of {TREES} trees of depth {DEPTH}, trained before, by "
        f"`python benchmarks/limits.py --rows {options.rows}`, on {platform.machine()}."
        + (
            " The seconds are those of the processor, since the machine was busy with other work."
            if options.busy
            else ""
        ),
        "",
        "| method | limit, s | taken, s | what was cut |",
        "|---|---|---|---|",
    ]
    for name, (make, X, y) in fits(options.rows).items():
        for limit in options.limits:
            taken, notes = measured(make(limit), X, y)
            lines.append(f"| {name} | {limit:g} | {taken:.1f} | {notes} |")
            print(lines[-1], flush=True)
    if options.out:
        write_page(options.out, "\n".join(lines))


if __name__ == "__main__":
    main()
