"""Rules counted where a table is, and covers of tables that stay there.

    python benchmarks/certify.py [--rows 5000000] [--covered 400000] [--proof 50000000]

CPU time of all threads. Three pieces, left out at 0 rows: what each of 50 rules covers by class, in DuckDB and polars,
next to other ways to count it; covers by sample, proof and repair next to greedy covers of all rows; and both on a
folder of Parquet files. Each result is added to benchmarks/certify.jsonl, and docs/benchmarks-certify.md is written
again from the last result of each piece and size; `--rows 0 --covered 0 --proof 0` does that alone.
"""

from __future__ import annotations

import os

for _threads in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[_threads] = "1"

import argparse
import json
import platform
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from statistics import mean
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

RAW = Path(__file__).with_suffix(".jsonl")
PAGE = Path(__file__).parents[1] / "docs" / "benchmarks-certify.md"
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


def counting(n_rows: int, runs: int) -> dict[str, Any]:
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
    seconds = {name: round(min(cpu_seconds(way) for _ in range(runs)), 3) for name, way in ways.items()}
    return {"rows": len(frame), "clauses": sum(map(len, rules_alone(model).conditions)), "seconds": seconds}


def covering(n_rows: int, sample: int, seeds: int) -> dict[str, Any]:
    frame, forest, runs = block(n_rows, 7), trained(), []
    for prune in (False, True):
        whole = explain(forest, frame[NAMES], frame["kind"], method="cover", prune=prune, random_state=0)
        of_all = {
            "all_rules": len(whole.rules_),
            "all_cost": round(float(whole.rules_.evidence.cost.sum()), 3),
            "all_accuracy": round(float((whole.predict(frame[NAMES]) == frame["kind"]).mean()), 4),
        }
        for seed in range(seeds):
            few = cover_table(
                forest, duckdb.from_df(frame), target="kind", sample=sample, prune=prune, random_state=seed
            )
            found = few.table_cover_
            assert certify(few, frame).is_cover
            mine = {
                "sampled": found.n_sampled,
                "repaired": found.n_repaired,
                "rounds": found.n_rounds,
                "rules": len(few.rules_),
                "cost": round(float(found.cost), 3),
                "accuracy": round(float((few.predict(frame[NAMES]) == frame["kind"]).mean()), 4),
            }
            runs.append({"pruned": prune, "seed": seed, **mine, **of_all})
    return {"rows": n_rows, "sample": sample, "runs": runs}


def proving(n_rows: int, folder: Path) -> dict[str, Any]:
    for seed in range(max(1, n_rows // BLOCK)):
        rows = block(min(BLOCK, n_rows), 1000 + seed)
        pl.from_pandas(rows).write_parquet(folder / f"{seed}.parquet", compression="lz4")
    files = list(folder.iterdir())
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
    return {
        "rows": int(certificate.n_rows.sum()),
        "files": len(files),
        "GB": round(sum(path.stat().st_size for path in files) / 1e9, 2),
        "rules": len(few.rules_),
        "cover_table": round(covering_took, 1),
        "certify": round(proof_took, 1),
        "said": [str(few.table_cover_), str(certificate)],
    }


# Results --------------------------------------------------------------------------------------------------------------


def counting_page(each: dict[str, Any]) -> str:
    lines = [f"| {name} | {taken:.2f} | {each['rows'] / taken:,.0f} |" for name, taken in each["seconds"].items()]
    return f"""## {RULES} rules x {each["rows"]:,} rows, by class, with missed rows

{each["clauses"]} clauses on {COLUMNS} columns, three classes.

| what | CPU seconds | rows per CPU second |
|---|---|---|
{chr(10).join(lines)}
"""


def covering_page(each: dict[str, Any]) -> str:
    lines = [
        f"| {run['pruned']} | {run['seed']} | {run['sampled']:,} | {run['repaired']:,} | {run['rounds']} "
        f"| {run['rules']} ({run['all_rules']}) | {run['cost']:.1f} ({run['all_cost']:.1f}) "
        f"| {100 * (run['cost'] / run['all_cost'] - 1):+.1f} % | {run['accuracy']:.4f} ({run['all_accuracy']:.4f}) |"
        for run in each["runs"]
    ]
    less = mean(run["all_accuracy"] - run["accuracy"] for run in each["runs"] if run["pruned"])
    return f"""## Sample, prove, repair on {each["rows"]:,} rows

A sample of {each["sample"]:,} rows. In parentheses: the greedy cover of all rows. All rows are covered in every run.

| pruned | seed | sampled | missed, fetched | rounds | rules | cost | difference | accuracy |
|---|---|---|---|---|---|---|---|---|
{chr(10).join(lines)}

Rules that are pruned on the rows that were fetched are less accurate than those pruned on all rows, by {less:.3f} on
average here. So `cover_table` does not prune unless it is asked to.
"""


def proving_page(each: dict[str, Any]) -> str:
    said = "\n\n".join(f"> {text}" for text in each["said"])
    speed = f"{each['rows'] / each['certify']:,.0f} rows per CPU second, {each['rules']} rules"
    return f"""## The proof on {each["rows"]:,} rows of Parquet

{each["files"]} files, {each["GB"]:.1f} GB, read by DuckDB. `cover_table(…, prune=True)` took {each["cover_table"]:.0f}
CPU seconds, `certify` {each["certify"]:.0f} ({speed}). What they say:

{said}
"""


PAGES = {"counting": counting_page, "covering": covering_page, "proving": proving_page}


def page(results: list[dict[str, Any]]) -> str:
    """The last result of each piece and size; of the counts and of the proof only the largest."""
    last = {(each["piece"], each["rows"]): each for each in results}
    parts = []
    for piece, text in PAGES.items():
        mine = sorted((each for each in last.values() if each["piece"] == piece), key=lambda each: -each["rows"])
        parts += [f"{text(each)}\n{dated(each)}\n" for each in (mine if piece == "covering" else mine[:1])]
    head = "# Counting and covering where the data live\n\nMade by `python benchmarks/certify.py` from "
    head += f"[{RAW.name}](../benchmarks/{RAW.name}): CPU time of all threads.\n"
    return "\n".join([head, *parts])


def dated(each: dict[str, Any]) -> str:
    versions = ", ".join(map(" ".join, each["versions"].items()))
    return f"*Results of {each['date']}, with {versions}.*"


def add(piece: str, found: dict[str, Any]) -> None:
    """Prints and keeps a result."""
    versions = {name: package.__version__ for name, package in VERSIONS.items()} | {"Python": platform.python_version()}
    line = {"piece": piece, **found, "date": datetime.now(UTC).date().isoformat(), "versions": versions}
    print(PAGES[piece](line), flush=True)
    with RAW.open("a", encoding="utf-8") as file:
        file.write(json.dumps(line) + "\n")


VERSIONS = {"rulecover": rulecover, "DuckDB": duckdb, "polars": pl, "numpy": np}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=5_000_000)
    parser.add_argument("--covered", type=int, default=400_000)
    parser.add_argument("--sample", type=int, default=20_000)
    parser.add_argument("--seeds", type=int, default=3, help="samples that are drawn for covers")
    parser.add_argument("--proof", type=int, default=50_000_000)
    parser.add_argument("--runs", type=int, default=1)
    parser.add_argument("--folder", type=Path, default=None)
    options = parser.parse_args()
    warnings.simplefilter("ignore", rulecover.exceptions.RulecoverWarning)
    for piece, found in measured(options):
        add(piece, found)
    PAGE.write_text(page([json.loads(line) for line in RAW.read_text(encoding="utf-8").splitlines()]), encoding="utf-8")


def measured(options: argparse.Namespace) -> Iterator[tuple[str, dict[str, Any]]]:
    if options.rows:
        yield "counting", counting(options.rows, options.runs)
    if options.covered:
        yield "covering", covering(options.covered, options.sample, options.seeds)
    if options.proof:
        with tempfile.TemporaryDirectory(dir=options.folder) as folder:
            yield "proving", proving(options.proof, Path(folder))


if __name__ == "__main__":
    main()
