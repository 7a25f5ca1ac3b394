"""Rules counted where a table is, and covers of tables that stay there.

    python benchmarks/certify.py [--rows 5000000] [--covered 400000] [--proof 50000000] [--out FILE]

CPU time of all threads. Three pieces, left out at 0 rows: what each of 50 rules covers by class, in DuckDB and polars,
next to other ways to count it; covers by sample, proof and repair next to greedy covers of all rows; and both on a
folder of Parquet files.
"""

from __future__ import annotations

import os

for _threads in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[_threads] = "1"

import argparse
import tempfile
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
from sklearn.datasets import make_classification
from sklearn.ensemble import RandomForestClassifier

import rulecover
from rulecover import certify, cover_table, explain
from rulecover.counting.script import rules_alone
from rulecover.study.pages import write_page

COLUMNS, BLOCK, RULES = 10, 1_000_000, 50
NAMES = [f"x{i}" for i in range(COLUMNS)]


def cpu_seconds(task: Callable[[], object]) -> float:
    start = time.process_time()
    task()
    return time.process_time() - start


def seeds() -> tuple[np.ndarray, np.ndarray]:
    """Rows that all tables here are drawn around, and their classes."""
    return make_classification(20_000, COLUMNS, n_informative=8, n_redundant=0, n_classes=3, random_state=0)


def block(n_rows: int, seed: int) -> pd.DataFrame:
    X, y = seeds()
    rng = np.random.default_rng(seed)
    chosen = rng.integers(0, len(X), n_rows)
    noise = rng.normal(scale=0.1, size=(n_rows, COLUMNS)).astype(np.float32)
    frame = pd.DataFrame(X.astype(np.float32)[chosen] + noise, columns=NAMES)
    return frame.assign(kind=np.array(["a", "b", "c"])[y[chosen]])


def trained() -> RandomForestClassifier:
    frame = block(20_000, 1)
    return RandomForestClassifier(50, max_depth=8, random_state=0).fit(frame[NAMES], frame["kind"])


def tests(model: object) -> list[str]:
    """The rules as conditions in SQL."""
    script = rules_alone(model)
    clauses = [
        [f"{NAMES[c.feature]} > {c.above!r}::DOUBLE" for c in rule if c.above is not None]
        + [f"{NAMES[c.feature]} <= {c.up_to!r}::DOUBLE" for c in rule if c.up_to is not None]
        for rule in script.conditions
    ]
    return [" AND ".join(each) for each in clauses]


def other_ways(model: object) -> dict[str, str]:
    """Queries that count the same."""
    each = tests(model)
    flags = ", ".join(f"CASE WHEN {test} THEN 1 ELSE 0 END AS r{j}" for j, test in enumerate(each))
    sums = ", ".join(f"SUM(r{j})" for j in range(len(each)))
    fired = " + ".join(f"r{j}" for j in range(len(each)))
    missed = f"SUM(CASE WHEN {fired} = 0 THEN 1 ELSE 0 END)"
    filters = ", ".join(f"COUNT(*) FILTER ({test})" for test in each)
    nothing = " AND ".join(f"NOT ({test})" for test in each)
    bits = " + ".join(f"({test})::BIGINT * {2**j}" for j, test in enumerate(each))
    return {
        "a sum for each rule": f"SELECT kind, {sums}, {missed} FROM (SELECT kind, {flags} FROM t) GROUP BY kind",
        "a filtered count for each rule": f"SELECT kind, {filters}, COUNT(*) FILTER ({nothing}) FROM t GROUP BY kind",
        "groups, bits by multiplication": (
            f"SELECT kind, bits, COUNT(*) FROM (SELECT kind, {bits} AS bits FROM t) GROUP BY ALL"
        ),
        "reading the columns alone": f"SELECT kind, {', '.join(f'SUM({name})' for name in NAMES)} FROM t GROUP BY kind",
    }


def counting(n_rows: int, runs: int) -> str:
    frame = pd.concat([block(min(BLOCK, n_rows), seed) for seed in range(max(1, n_rows // BLOCK))], ignore_index=True)
    small = frame[:20_000]
    model = explain(trained(), small[NAMES], small["kind"], method="cover", prune=False, vote="counts").at(RULES)
    database = duckdb.connect()
    database.register("frame", frame)
    database.execute("CREATE TABLE t AS SELECT * FROM frame")
    lazy = pl.from_pandas(frame).lazy()
    ways: dict[str, Callable[[], object]] = {
        "**certify**, DuckDB": lambda: certify(model, database.table("t"), target="kind"),
        "**certify**, DuckDB, by SQL": lambda: certify(model, "t", target="kind", connection=database),
        "**certify**, polars, lazy": lambda: certify(model, lazy, target="kind"),
        "**certify**, pandas, in blocks": lambda: certify(model, frame, target="kind"),
    }
    for name, query in other_ways(model).items():
        ways[f"DuckDB, {name}"] = lambda query=query: database.execute(query).fetchall()
    seconds = {name: min(cpu_seconds(way) for _ in range(runs)) for name, way in ways.items()}
    lines = [f"| {name} | {taken:.2f} | {len(frame) / taken:,.0f} |" for name, taken in seconds.items()]
    n_clauses = sum(map(len, rules_alone(model).conditions))
    return f"""## {RULES} rules x {len(frame):,} rows, by class, with missed rows

{n_clauses} clauses on {COLUMNS} columns, three classes.

| what | CPU seconds | rows per CPU second |
|---|---|---|
{chr(10).join(lines)}
"""


def covering(n_rows: int, sample: int) -> str:
    frame, forest, lines = block(n_rows, 7), trained(), []
    for prune in (False, True):
        whole = explain(forest, frame[NAMES], frame["kind"], method="cover", prune=prune, random_state=0)
        greedy = float(whole.rules_.evidence.cost.sum())
        right = (whole.predict(frame[NAMES]) == frame["kind"]).mean()
        for seed in range(3):
            few = cover_table(
                forest, duckdb.from_df(frame), target="kind", sample=sample, prune=prune, random_state=seed
            )
            found = few.table_cover_
            assert certify(few, frame).is_cover
            lines.append(
                f"| {prune} | {seed} | {found.n_sampled:,} | {found.n_repaired:,} | {found.n_rounds} "
                f"| {len(few.rules_)} ({len(whole.rules_)}) | {found.cost:.1f} ({greedy:.1f}) "
                f"| {100 * (found.cost / greedy - 1):+.1f} % "
                f"| {(few.predict(frame[NAMES]) == frame['kind']).mean():.4f} ({right:.4f}) |"
            )
    return f"""## Sample, prove, repair on {n_rows:,} rows

In parentheses: the greedy cover of all rows. All rows are covered in every run.

| pruned | seed | sampled | missed, fetched | rounds | rules | cost | difference | accuracy |
|---|---|---|---|---|---|---|---|---|
{chr(10).join(lines)}
"""


def proving(n_rows: int, folder: Path) -> str:
    for seed in range(n_rows // BLOCK):
        pl.from_pandas(block(BLOCK, 1000 + seed)).write_parquet(folder / f"{seed}.parquet", compression="lz4")
    size = sum(path.stat().st_size for path in folder.iterdir()) / 1e9
    table = duckdb.connect(config={"memory_limit": "4GB"}).read_parquet(f"{folder}/*.parquet")
    forest = trained()
    found: dict[str, Any] = {}

    def cover() -> None:
        found["few"] = cover_table(forest, table, target="kind", sample=100_000, prune=True)

    covering_took = cpu_seconds(cover)
    few = found["few"]
    proof_took = cpu_seconds(lambda: found.update(certificate=certify(few, table, target="kind")))
    certificate = found["certificate"]
    assert certificate.is_cover
    n_counted = int(certificate.n_rows.sum())
    return f"""## The proof on {n_counted:,} rows of Parquet

{n_rows // BLOCK} files, {size:.1f} GB, read by DuckDB. `cover_table` took {covering_took:.0f} CPU seconds, `certify`
{proof_took:.0f} ({n_counted / proof_took:,.0f} rows per CPU second, {len(few.rules_)} rules). What they say:

> {few.table_cover_}

> {certificate}
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=5_000_000)
    parser.add_argument("--covered", type=int, default=400_000)
    parser.add_argument("--sample", type=int, default=20_000)
    parser.add_argument("--proof", type=int, default=50_000_000)
    parser.add_argument("--runs", type=int, default=1)
    parser.add_argument("--folder", type=Path, default=None)
    parser.add_argument("--out", type=Path, default=None)
    options = parser.parse_args()
    warnings.simplefilter("ignore", rulecover.exceptions.RulecoverWarning)
    parts = [
        """# Counting and covering where the data live

Made by `python benchmarks/certify.py`: CPU time of all threads.
"""
    ]
    with tempfile.TemporaryDirectory(dir=options.folder) as folder:
        pieces: list[Callable[[], str]] = [
            lambda: counting(options.rows, options.runs),
            lambda: covering(options.covered, options.sample),
            lambda: proving(options.proof, Path(folder)),
        ]
        sizes = [options.rows, options.covered, options.proof]
        for piece in [piece for piece, size in zip(pieces, sizes, strict=True) if size]:
            parts.append(piece())
            print(parts[-1], flush=True)
    if options.out:
        write_page(options.out, "\n".join(parts), "duckdb", "polars")


if __name__ == "__main__":
    main()
