"""Covers of Parquet files larger than memory, next to reading them and sending their rows through the forest.

    python benchmarks/scale.py [--rows 100000 1000000] [--memory-limit 4GB] [--folder FOLDER] [--out FILE]

For each number of rows, in a process of its own: CPU seconds (of one thread) of `explain` as in the paper (100 trees of
depth 10, 20 columns) and its peak memory, then CPU seconds of reading the same file in blocks and `forest.apply` on
each. The files are made block by block, and removed.
"""

from __future__ import annotations

import os

for _threads in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[_threads] = "1"  # before numpy is imported: one thread each

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from sklearn.ensemble import RandomForestClassifier

from rulecover import RulecoverWarning, explain, open_table
from rulecover.study.pages import write_page

COLUMNS, TREES, DEPTH, TRAINED_ON = 20, 100, 10, 50_000
BLOCK = 500_000


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
    seconds, peak = time.process_time() - begin, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    found = {"cover": seconds, "peak": peak, "rules": len(cover.rules_), "rows": cover.provenance_.data.rows}
    print(json.dumps(found), file=sys.stderr, flush=True)
    begin = time.process_time()
    apply_in_blocks(model, path)
    return found | {"apply": time.process_time() - begin, "uncovered": cover.certificate_.n_uncovered}


def in_own_process(path: Path, limit: str) -> dict[str, float]:
    command = [sys.executable, __file__, "--measure", str(path), "--memory-limit", limit]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    figures: dict[str, float] = json.loads(done.stdout)
    return figures


def table(found: list[dict[str, float]], limit: str) -> str:
    lines = [
        "# Covers of tables larger than memory",
        "",
        f"Made by `python benchmarks/scale.py`: {os.cpu_count()} cores, one thread, memory limit {limit}.",
        f"CPU seconds; {TREES} trees of depth {DEPTH}, {COLUMNS} columns of float32 in one Parquet file.",
        "",
        '| rows | read and `forest.apply` in blocks | `explain(…, method="cover")` as in the paper | ratio | rules '
        "| peak memory | exponent |",
        "|---|---|---|---|---|---|---|",
    ]
    for place, each in enumerate(found):
        exponent = ""
        if place:
            before = found[place - 1]
            exponent = f"{np.log(each['cover'] / before['cover']) / np.log(each['rows'] / before['rows']):.2f}"
        lines.append(
            f"| {each['rows']:,} | {each['apply']:.1f} s | {each['cover']:.1f} s "
            f"| **{each['cover'] / each['apply']:.2f}** | {each['rules']} | {each['peak'] / 1e9:.2f} GB | {exponent} |"
        )
    return "\n".join(lines) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, nargs="+", default=[100_000, 1_000_000])
    parser.add_argument("--memory-limit", default="4GB")
    parser.add_argument("--folder", type=Path, help="where the files are made; a temporary folder by default")
    parser.add_argument("--out", type=Path)
    parser.add_argument("--measure", type=Path, help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.measure:
        print(json.dumps(measured(asked.measure, asked.memory_limit)))
        return
    found = []
    with tempfile.TemporaryDirectory(dir=asked.folder) as folder:
        for n_rows in asked.rows:
            path = Path(folder) / "rows.parquet"
            write(path, n_rows)
            found.append(in_own_process(path, asked.memory_limit))
            print(json.dumps(found[-1]), flush=True)
            path.unlink()
    text = table(found, asked.memory_limit)
    print(text)
    if asked.out:
        write_page(asked.out, text, "pyarrow")


if __name__ == "__main__":
    main()
