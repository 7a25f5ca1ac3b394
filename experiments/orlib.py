"""How good are the covers on OR-Library's set covering problems? Greedy, search and exact next to HiGHS alone.

    python experiments/orlib.py --data FOLDER [--instances scp41,rail507] [--limits 10,30] [--out experiments/orlib.csv]

FOLDER holds the files of OR-Library, gzipped or not, as `scp41.txt.gz`: rows and columns, the cost of each column, then
for each row the number of its columns and the columns. Files named `rail...` list columns instead: cost, number of
rows, rows. Results go to the CSV file as they come, in the place of earlier ones, and the table is written next to it.
"""

from __future__ import annotations

import argparse
import csv
import gzip
import os
import time
from collections.abc import Callable
from pathlib import Path

import highspy
import numpy as np
import scipy.sparse

from rulecover.setcover import CoveringProblem, Exact, Greedy, Search, verify
from rulecover.study.pages import write_page

#: The least cost known, from the literature.
BEST_KNOWN = {
    "scp41": 429, "scp410": 514, "scp51": 253, "scp61": 138, "scpa1": 253, "scpa5": 236, "scpc1": 227, "scpnre1": 29,
    "scpnrg1": 176, "rail507": 174, "rail516": 182,
}  # fmt: skip
#: Seconds, total cost and what is proved.
Answer = tuple[float, float, str]


def read(path: Path) -> CoveringProblem:
    """The problem of one file."""
    text = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
    numbers = np.array(text.split(), dtype=np.intp)
    n_rows, n_columns = numbers[:2].tolist()
    if path.name.startswith("rail"):
        owner, members, cost = lists(numbers[2:], n_columns, with_cost=True)
        return problem(members - 1, owner, cost, (n_rows, n_columns))
    owner, members, _ = lists(numbers[2 + n_columns :], n_rows, with_cost=False)
    return problem(owner, members - 1, numbers[2 : 2 + n_columns], (n_rows, n_columns))


def lists(numbers: np.ndarray, n_lists: int, *, with_cost: bool) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The members of every list and the list of each: a list is its cost, if it has one, its length and its members."""
    starts, cost, place = [], [], 0
    for _ in range(n_lists):
        if place + with_cost >= len(numbers):
            raise ValueError(f"the file ends early: {len(starts)} lists of {n_lists}; is this a set covering file?")
        if with_cost:
            cost.append(numbers[place])
            place += 1
        starts.append((place + 1, int(numbers[place])))
        place += 1 + int(numbers[place])
    if place != len(numbers):
        raise ValueError(f"{len(numbers)} numbers where {place} are expected; is this a set covering file?")
    members = np.concatenate([numbers[first : first + count] for first, count in starts])
    return np.repeat(np.arange(n_lists), [count for _, count in starts]), members, np.array(cost)


def problem(rows: np.ndarray, columns: np.ndarray, cost: np.ndarray, shape: tuple[int, int]) -> CoveringProblem:
    matrix = scipy.sparse.coo_array((np.ones(len(rows), dtype=bool), (rows, columns)), shape=shape)
    return CoveringProblem.from_sparse(matrix, cost)


def by_highs(problem: CoveringProblem, limit: float) -> Answer:
    """HiGHS alone, on the problem as it is: one thread, its own settings."""
    begin = time.perf_counter()
    matrix = problem.coverage.to_sparse()
    lp = highspy.HighsLp()
    lp.num_row_, lp.num_col_ = matrix.shape
    lp.col_cost_, lp.col_lower_, lp.col_upper_ = problem.cost, np.zeros(lp.num_col_), np.ones(lp.num_col_)
    lp.row_lower_, lp.row_upper_ = np.ones(lp.num_row_), np.full(lp.num_row_, highspy.kHighsInf)
    lp.a_matrix_.format_ = highspy.MatrixFormat.kColwise
    lp.a_matrix_.start_, lp.a_matrix_.index_ = matrix.indptr, matrix.indices
    lp.a_matrix_.value_ = np.ones(matrix.nnz)
    lp.integrality_ = [highspy.HighsVarType.kInteger] * lp.num_col_
    highs = highspy.Highs()
    for name, value in (("output_flag", False), ("threads", 1), ("time_limit", limit)):
        highs.setOptionValue(name, value)
    highs.passModel(lp)
    highs.run()
    seconds = time.perf_counter() - begin
    info = highs.getInfo()
    proved = "optimal" if highs.getModelStatus() == highspy.HighsModelStatus.kOptimal else "time limit"
    return seconds, float(info.objective_function_value), proved


def by(solver: Greedy | Search | Exact) -> Callable[[CoveringProblem, float], Answer]:
    def solve(problem: CoveringProblem, limit: float) -> Answer:
        begin = time.perf_counter()
        cover = solver(problem)
        seconds = time.perf_counter() - begin
        verify(problem, cover)
        return seconds, cover.objective, str(cover.status)

    return solve


def measure(name: str, path: Path, limits: list[float]) -> list[dict[str, str]]:
    """The rows of one instance: greedy once, then each of the others at each limit."""
    instance = read(path)
    runs = [("Greedy", 0.0, by(Greedy()))]
    for limit in limits:
        runs.append(("HiGHS", limit, by_highs))
        runs.append(("Search", limit, by(Search(effort=1000, time_limit=limit))))
        runs.append(("Exact", limit, by(Exact(time_limit=limit))))
    rows = []
    for solver, limit, solve in runs:
        seconds, cost, status = solve(instance, limit)
        rows.append(
            {
                "instance": name, "rows": str(instance.n_samples), "columns": str(instance.n_rules),
                "best_known": str(BEST_KNOWN.get(name, "")), "solver": solver, "limit": f"{limit:g}",
                "cost": f"{cost:g}", "status": status, "seconds": f"{seconds:.2f}",
            }
        )  # fmt: skip
        print(rows[-1], flush=True)
    return rows


def as_markdown(rows: list[dict[str, str]]) -> str:
    limits = sorted({float(row["limit"]) for row in rows} - {0.0})
    columns = [("Greedy", 0.0), *((solver, limit) for limit in limits for solver in ("HiGHS", "Search", "Exact"))]
    found = {(row["instance"], row["solver"], float(row["limit"])): row for row in rows}
    heads = ["instance", "rows x columns", "best known", "Greedy"]
    heads += [f"{solver}, {limit:g} s" for solver, limit in columns[1:]]
    lines = [
        "# Set covering problems of OR-Library",
        "",
        "Made by `make table-orlib DATA=FOLDER` (single instances again by `python experiments/orlib.py --data FOLDER"
        f" --instances NAMES`): one thread of a shared machine with {os.cpu_count()} cores.",
        "",
        "Cells are *cost (seconds)*, `*` where the cost is proved to be the least. Limits are wall-clock time, and"
        " other programs ran on the machine: another run can differ by a unit or two where a limit ends it. HiGHS is"
        " alone, on the problem as it is, with its own settings. Search goes on until the limit or until its cover"
        " meets its bound. Every cover was checked by `verify`.",
        "",
        "| " + " | ".join(heads) + " |",
        "|" + "---|" * len(heads),
    ]
    for name in sorted(
        {row["instance"] for row in rows}, key=lambda name: (name.startswith("rail"), _size(found, name))
    ):
        greedy = found[name, "Greedy", 0.0]
        cells = [name, f"{greedy['rows']} x {greedy['columns']}", greedy["best_known"]]
        cells += [_cell(found.get((name, *column))) for column in columns]
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def _size(found: dict[tuple[str, str, float], dict[str, str]], name: str) -> tuple[int, str]:
    return int(found[name, "Greedy", 0.0]["columns"]), name


def _cell(row: dict[str, str] | None) -> str:
    if row is None:
        return ""
    return f"{row['cost']}{'*' * (row['status'] == 'optimal')} ({float(row['seconds']):.1f})"


def write(out: Path, name: str, rows: list[dict[str, str]]) -> None:
    """Puts the rows of an instance in the place of its earlier ones, and the table in Markdown next to them."""
    known: list[dict[str, str]] = []
    if out.exists():
        with out.open(newline="") as file:
            known = [row for row in csv.DictReader(file) if row["instance"] != name]
    with out.open("w", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(known + rows)
    write_page(out.with_suffix(".md"), as_markdown(known + rows))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="folder of the files")
    parser.add_argument("--instances", help="which of them, with commas between; all by default")
    parser.add_argument("--limits", default="10,30", help="seconds, with commas between")
    parser.add_argument("--out", type=Path, default=Path("experiments/orlib.csv"), help="the results")
    options = parser.parse_args()
    files = {path.name.split(".")[0]: path for path in sorted(options.data.glob("*.txt*"))}
    names = options.instances.split(",") if options.instances else list(files)
    if unknown := set(names) - set(files):
        parser.error(f"{options.data} has no files of {sorted(unknown)}, but of {sorted(files)}")
    for name in names:
        write(options.out, name, measure(name, files[name], [float(limit) for limit in options.limits.split(",")]))


if __name__ == "__main__":
    main()
