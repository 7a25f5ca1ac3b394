"""Covers of Parquet files larger than memory, next to reading them and sending their rows through the forest.

    python benchmarks/scale.py [--rows 100000 1000000] [--memory-limit 4GB] [--folder FOLDER]

For each number of rows, in a process of its own: CPU seconds (of one thread) of `explain` as in the paper (100 trees of
depth 10, 20 columns) and its peak memory, then CPU seconds of reading the same file in blocks and `forest.apply` on
each. The files are made block by block, and removed. Each result is added to benchmarks/scale.jsonl, and the page
docs/benchmarks-scale.md is written again from that file; `--rows` without numbers does that alone.
"""

from __future__ import annotations

import os

for _threads in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[_threads] = "1"  # before numpy is imported: one thread each

import argparse
import json
import platform
import resource
import subprocess
import sys
import tempfile
import time
import warnings
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import sklearn
from sklearn.ensemble import RandomForestClassifier

import rulecover
from rulecover import RulecoverWarning, explain, open_table

COLUMNS, TREES, DEPTH, TRAINED_ON = 20, 100, 10, 50_000
BLOCK = 500_000
RAW = Path(__file__).with_suffix(".jsonl")
PAGE = Path(__file__).parents[1] / "docs" / "benchmarks-scale.md"


HEAD = f"""# Benchmarks of covers of tables larger than memory

Made by `python benchmarks/scale.py` (`make bench-scale`) from [scale.jsonl](../benchmarks/scale.jsonl), to which each
run adds its results; the last one of each size and limit is shown. CPU seconds of one thread; {TREES} trees of depth
{DEPTH}, trained on {TRAINED_ON:,} rows; {COLUMNS} columns of float32 in one Parquet file. The cover is
`explain(…, method="cover", preset="as-in-paper")`, all rows covered; peak memory is that of the whole process.
Exponents are those of the cover's time in rows, from the line above.

| memory limit | rows | read and `forest.apply` in blocks | cover | ratio | rules | peak memory | exponent | date |
|---|---|---|---|---|---|---|---|---|
"""


def drawn(random: np.random.Generator, n_rows: int) -> tuple[np.ndarray, np.ndarray]:
    """Rows of 20 columns, and two classes that depend on six of them, with noise."""
    X = random.normal(size=(n_rows, COLUMNS)).astype(np.float32)
    score = X[:, 0] * X[:, 1] + X[:, 2] - np.abs(X[:, 3]) + X[:, 4] * (X[:, 5] > 0)
    return X, (score + random.normal(size=n_rows) > 0).astype(np.int8)


def write(path: Path, n_rows: int) -> None:
    random = np.random.default_rng(1)
    names = [f"x{f}" for f in range(COLUMNS)]
    schema = pa.schema([*((name, pa.float32()) for name in names), ("y", pa.int8())])
    with pq.ParquetWriter(path, schema, compression="snappy", use_dictionary=False) as file:
        for start in range(0, n_rows, BLOCK):
            X, y = drawn(random, min(BLOCK, n_rows - start))
            file.write_table(pa.table([*X.T.copy(), y], schema=schema), row_group_size=1 << 17)


def forest() -> RandomForestClassifier:
    X, y = drawn(np.random.default_rng(0), TRAINED_ON)
    return RandomForestClassifier(TREES, max_depth=DEPTH, random_state=0, n_jobs=1).fit(X, y)


def apply_in_blocks(model: RandomForestClassifier, path: Path) -> None:
    """What is compared with: rows are read in blocks, and their leaves are thrown away."""
    names = [f"x{f}" for f in range(COLUMNS)]
    for batch in pq.ParquetFile(path).iter_batches(BLOCK, columns=names, use_threads=False):
        model.apply(batch.to_pandas().to_numpy())


def measured(path: Path, limit: str) -> dict[str, float]:
    """CPU seconds of both, the number of rules, and the peak memory of this process up to the cover."""
    model = forest()
    begin = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RulecoverWarning)
        cover = explain(model, open_table(path, target="y", memory_limit=limit), method="cover", preset="as-in-paper")
    seconds, peak = time.process_time() - begin, peak_memory()
    found = {"cover": seconds, "peak": peak, "rules": len(cover.rules_), "rows": cover.provenance_.data.rows}
    begin = time.process_time()
    apply_in_blocks(model, path)
    return found | {"apply": time.process_time() - begin, "uncovered": cover.certificate_.n_uncovered}


def peak_memory() -> int:
    """The most bytes that this process has held; what `getrusage` says may be that of the process that started it."""
    status = Path("/proc/self/status")
    if not status.exists():
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    (found,) = (line for line in status.read_text().splitlines() if line.startswith("VmHWM"))
    return int(found.split()[1]) * 1024


def in_own_process(path: Path, limit: str) -> dict[str, float]:
    command = [sys.executable, __file__, "--measure", str(path), "--memory-limit", limit]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    figures: dict[str, float] = json.loads(done.stdout)
    return figures


def newest(results: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The last result of each size and limit, by limit and size."""
    by_case = {(bytes_of(each["limit"]), each["rows"]): each for each in results}
    return [by_case[case] for case in sorted(by_case)]


def bytes_of(limit: str) -> int:
    return open_table([pd.DataFrame({"x": [0.0], "y": [0]})], target="y", memory_limit=limit).memory_limit


def page(results: list[dict[str, Any]]) -> str:
    lines = []
    before: dict[str, Any] | None = None
    for each in newest(results):
        exponent = ""
        if before is not None and before["limit"] == each["limit"]:
            exponent = f"{np.log(each['cover'] / before['cover']) / np.log(each['rows'] / before['rows']):.2f}"
        lines.append(
            f"| {each['limit']} | {each['rows']:,} | {each['apply']:.1f} s | {each['cover']:.1f} s "
            f"| **{each['ratio']:.2f}** | {each['rules']} | {each['peak'] / 1e9:.2f} GB | {exponent} | {each['date']} |"
        )
        before = each
    return HEAD + "\n".join([*lines, *(f"\n{line}" for line in sorted(set(map(dated, results)))), ""])


def dated(result: dict[str, Any]) -> str:
    """The day of a result and the versions that it was made with, as below other pages of results."""
    versions = ", ".join(map(" ".join, result["versions"].items()))
    return f"*Results of {result['date']}, with {versions}; {result['machine']}.*"


def known() -> list[dict[str, Any]]:
    """All results so far."""
    return [json.loads(line) for line in RAW.read_text(encoding="utf-8").splitlines()] if RAW.exists() else []


def run(n_rows: int, limit: str, folder: Path) -> dict[str, Any]:
    path = folder / "rows.parquet"
    write(path, n_rows)
    figures = in_own_process(path, limit)
    path.unlink()
    packages = {"rulecover": rulecover, "scikit-learn": sklearn, "numpy": np, "pyarrow": pa}
    versions = {name: package.__version__ for name, package in packages.items()}
    return {
        **figures,
        "limit": limit,
        "ratio": round(figures["cover"] / figures["apply"], 3),
        "date": datetime.now(UTC).date().isoformat(),
        "machine": f"{os.cpu_count()} cores, {platform.machine()}",
        "versions": versions | {"Python": platform.python_version()},
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, nargs="*", default=[100_000, 1_000_000])
    parser.add_argument("--memory-limit", default="4GB")
    parser.add_argument("--folder", type=Path, help="where the files are made; a temporary folder by default")
    parser.add_argument("--measure", type=Path, help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.measure:
        print(json.dumps(measured(asked.measure, asked.memory_limit)))
        return
    with tempfile.TemporaryDirectory(dir=asked.folder) as folder:
        for n_rows in asked.rows:
            line = json.dumps(run(n_rows, asked.memory_limit, Path(folder)))
            print(line, flush=True)
            with RAW.open("a", encoding="utf-8") as file:
                file.write(line + "\n")
    PAGE.write_text(page(known()), encoding="utf-8")


if __name__ == "__main__":
    main()
