"""How good are the covers? Greedy, search and exact on forests of 100 trees, one row a data set.

    python experiments/covers.py --data FOLDER [--datasets wine,seeds] [--out experiments/covers.csv]

FOLDER holds one CSV file a data set whose last column is `target`; `digits` comes from scikit-learn. The rows go to
the CSV file as they come, in the place of earlier ones, and the table in Markdown is written next to it.
"""

from __future__ import annotations

import argparse
import csv
import os
import statistics
from pathlib import Path

import numpy as np
from rich.progress import Progress
from sklearn.datasets import load_digits
from sklearn.ensemble import RandomForestClassifier

from rulecover.coverage import Coverage, smallest_uint
from rulecover.setcover import Cover, CoveringProblem, Exact, Greedy, Search, Status, verify
from rulecover.study import load
from rulecover.study.pages import write_page

#: From the smallest to the largest.
NAMES = [
    "wine",
    "seeds",
    "glass",
    "ecoli",
    "liver",
    "ionosphere",
    "wdbc",
    "ildp",
    "transfusion",
    "diabetes",
    "oilspill",
    "tic-tac-toe",
    "banknote",
    "phoneme",
    "mammography",
    "digits",
]


def read(name: str, folder: Path) -> tuple[np.ndarray, np.ndarray]:
    if name == "digits":
        return load_digits(return_X_y=True)
    data = load(name, folder)
    return data.X, data.y


def forest_problem(X: np.ndarray, y: np.ndarray) -> CoveringProblem:
    """The leaves of a forest of 100 trees of depth 10, at a cost of 1 + Gini impurity over all rows."""
    forest = RandomForestClassifier(100, max_depth=10, random_state=0).fit(X, y)
    classes, label = np.unique(y, return_inverse=True)
    ids, sizes = [], []
    for leaves in forest.apply(X).T:
        _, number = np.unique(leaves, return_inverse=True)
        sizes.append(int(number.max()) + 1)
        ids.append((number + 1).astype(smallest_uint(sizes[-1])))
    coverage = Coverage.of_ids(ids, sizes, len(y))
    counts = np.stack([coverage.per_rule((label == k).astype(float)) for k in range(len(classes))], axis=1)
    return CoveringProblem(coverage, 2 - ((counts / counts.sum(axis=1, keepdims=True)) ** 2).sum(axis=1))


def checked(problem: CoveringProblem, cover: Cover) -> Cover:
    verify(problem, cover)
    return cover


def measure(name: str, problem: CoveringProblem) -> dict[str, object]:
    """One row of the table: five seeds of the long search where the optimum is proved, three where it is not."""
    greedy = checked(problem, Greedy()(problem))
    short = checked(problem, Search(effort=1)(problem))
    exact = checked(problem, Exact(time_limit=60)(problem))
    proved = exact.status == Status.OPTIMAL
    long = [checked(problem, Search(effort=10, random_state=seed)(problem)) for seed in range(1, 6 if proved else 4)]
    costs = [cover.objective for cover in long]
    middle = min(long, key=lambda cover: abs(cover.objective - statistics.median(costs)))
    at_optimum = sum(cost <= exact.objective + 1e-6 for cost in costs)
    return {
        "dataset": name,
        "samples": problem.n_samples,
        "rules": problem.n_rules,
        "greedy": greedy.objective,
        "greedy_rules": len(greedy),
        "short": short.objective,
        "short_rules": len(short),
        "short_seconds": short.certificate.seconds,
        "long": middle.objective,
        "long_rules": len(middle),
        "long_seconds": statistics.median(cover.certificate.seconds for cover in long),
        "long_seeds": " ".join(f"{cost:.6f}" for cost in costs),
        "long_at_optimum": f"{at_optimum} of {len(long)}" if proved else "-",
        "exact": exact.objective,
        "exact_rules": len(exact),
        "status": str(exact.status),
        "bound": exact.bound,
        "min_rules": exact.certificate.min_rules,
        "gap": exact.certificate.gap,
        "exact_seconds": exact.certificate.seconds,
    }


def as_markdown(rows: list[dict[str, str]]) -> str:
    lines = [
        "# Covers of a forest",
        "",
        "Made by `python experiments/covers.py --data FOLDER` (single data sets again by `--datasets NAMES`): one"
        f" thread of a shared machine with {os.cpu_count()} cores; seconds vary with its load.",
        "",
        "Forests of 100 trees, depth 10, `random_state=0`, on all rows; cost 1 + Gini impurity. Cells are"
        " *cost (rules)*. Search with effort 1 has seed 0; with effort 10 the median of seeds 1 to 5 where the optimum"
        " is proved, of seeds 1 to 3 elsewhere. Exact has 60 s in all; *optimal* means proved, else the gap to the"
        " bound is given. N: no cover has fewer rules.",
        "",
        "| data set | samples x rules | greedy | search, effort 1 | s | search, effort 10 | s | seeds at optimum "
        "| exact | bound | N | | s |",
        "|---|---|---|---|---|---|---|---|---|---|---|---|---|",
    ]
    for row in rows:
        verdict = "optimal" if row["status"] == "optimal" else f"gap {100 * float(row['gap']):.1f} %"
        cells = [row["dataset"], f"{row['samples']} x {row['rules']}"]
        cells += [f"{float(row['greedy']):.2f} ({row['greedy_rules']})"]
        for key in ("short", "long"):
            cells += [f"{float(row[key]):.2f} ({row[key + '_rules']})", f"{float(row[key + '_seconds']):.1f}"]
        cells += [
            row["long_at_optimum"],
            f"{float(row['exact']):.2f} ({row['exact_rules']})",
            f"{float(row['bound']):.2f}",
        ]
        cells += [row["min_rules"], verdict, f"{float(row['exact_seconds']):.1f}"]
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="folder of the CSV files")
    parser.add_argument("--datasets", default=",".join(NAMES), help="which of them, with commas between")
    parser.add_argument("--out", type=Path, default=Path("experiments/covers.csv"), help="the results, row by row")
    options = parser.parse_args()
    names = options.datasets.split(",")
    if unknown := set(names) - set(NAMES):
        parser.error(f"unknown data sets {sorted(unknown)}; choose from {NAMES}")
    with Progress() as progress:
        task = progress.add_task("covers", total=len(names))
        for name in names:
            progress.update(task, description=name)
            row = measure(name, forest_problem(*read(name, options.data)))
            write(options.out, {key: str(value) for key, value in row.items()})
            progress.advance(task)


def write(out: Path, row: dict[str, str]) -> None:
    """Puts a row in the place of an earlier one of the same data set, and the whole table in Markdown next to it."""
    rows = {}
    if out.exists():
        with out.open(newline="") as file:
            rows = {known["dataset"]: known for known in csv.DictReader(file)}
    rows[row["dataset"]] = row
    ordered = [rows[name] for name in NAMES if name in rows]
    with out.open("w", newline="") as file:
        writer = csv.DictWriter(file, list(row))
        writer.writeheader()
        writer.writerows(ordered)
    write_page(out.with_suffix(".md"), as_markdown(ordered))


if __name__ == "__main__":
    main()
