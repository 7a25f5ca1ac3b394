"""A cover of rows on a GPU, and its predictions, next to the same on one core of the CPU.

    python benchmarks/gpu.py [--rows 1e6 1e7 1e8] [--out benchmarks/gpu.json]

A forest of 100 trees of depth 10 is trained on 50,000 rows. The rows to cover are drawn on the device, so that nothing
is transferred but sums and rules. Each fit is done three times; the first one, which compiles kernels, is not counted.
At 1,000,000 rows the CPU fits too, and the rules must be the same.
"""

from __future__ import annotations

import os

for _threads in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[_threads] = "1"  # before numpy is imported: one thread each

import argparse
import json
import platform
import time
from pathlib import Path
from typing import Any

import cupy as cp
import numpy as np
from sklearn.ensemble import RandomForestClassifier
from sklearn.frozen import FrozenEstimator

import rulecover
from rulecover import MIRCOClassifier

COLUMNS, TREES, DEPTH, TRAINED_ON, COMPARED = 20, 100, 10, 50_000, 1_000_000


def rows(n: int, seed: int = 0) -> tuple[Any, Any]:
    """Columns of noise, and a class that depends on three of them."""
    random = cp.random.default_rng(seed)
    X = random.standard_normal((n, COLUMNS), dtype=np.float32)
    noise = 0.3 * random.standard_normal(n, dtype=np.float32)
    return X, (X[:, 0] + X[:, 1] * X[:, 2] + noise > 0).astype(np.uint8)


def seconds(task: Any) -> tuple[float, Any]:
    """Wall-clock time until the device is done, and what came out."""
    cp.cuda.Device().synchronize()
    start = time.perf_counter()
    out = task()
    cp.cuda.Device().synchronize()
    return time.perf_counter() - start, out


def fastest(task: Any, runs: int = 2) -> tuple[float, Any]:
    """The median of some runs after one that is not counted."""
    task()
    taken = [seconds(task) for _ in range(runs)]
    return float(np.median([each for each, _ in taken])), taken[-1][1]


def measured(forest: Any, n: int, settings: str) -> dict[str, Any]:
    """One cover and its predictions on the device; at `COMPARED` rows on the CPU too."""
    X, y = rows(n, seed=1)
    make = MIRCOClassifier.as_in_paper if settings == "as in the paper" else MIRCOClassifier
    fit, model = fastest(lambda: make(FrozenEstimator(forest)).fit(X, y))
    predict, _ = fastest(lambda: model.predict(X))
    found = {"rows": n, "settings": settings, "rules": len(model.rules_), "fit_s": fit, "predict_s": predict}
    if n == COMPARED:
        here, there = (X.get(), y.get()), time.process_time()
        same = make(FrozenEstimator(forest), n_jobs=1, solver=model.solver).fit(*here)
        found["fit_cpu_s"] = time.process_time() - there
        found["same_rules"] = same.rules_.to_text() == model.rules_.to_text()
        found["same_predictions"] = bool((same.predict(here[0]) == model.predict(X).get()).all())
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=float, nargs="+", default=[1e6, 1e7, 1e8])
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    X, y = rows(TRAINED_ON)
    forest = RandomForestClassifier(TREES, max_depth=DEPTH, random_state=0, n_jobs=-1).fit(X.get(), y.get())
    forest.set_params(n_jobs=1)
    device = cp.cuda.runtime.getDeviceProperties(0)["name"].decode()
    results = []
    for n in map(int, options.rows):
        for settings in ("as in the paper", "defaults"):
            results.append(measured(forest, n, settings))
            print(json.dumps(results[-1]), flush=True)
            cp.get_default_memory_pool().free_all_blocks()
    versions = {"rulecover": rulecover.__version__, "cupy": cp.__version__, "python": platform.python_version()}
    if options.out:
        text = json.dumps({"device": device, "versions": versions, "results": results}, indent=1)
        options.out.write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
