"""RCBoost's column of Table S.3, with the first tree (iniDT) beside it.

The paper's protocol: 10 outer and 4 inner stratified folds; depth 5, 10 or 20 and a bound of 5, 10, 50, 100 or 200
RMP calls chosen by accuracy inside the training part. One fit serves every bound, through its stages.

    python experiments/rcboost.py --data FOLDER [--seeds 25,7,1,2,3] [--duals vertex]

A seed shuffles the folds and seeds the trees; 25 is the paper's. Every fold is appended to the result file as it is
done, and folds that are there are not run again.
"""

from __future__ import annotations

import argparse
import csv
import itertools
import os

os.environ.setdefault("OMP_NUM_THREADS", "1")  # the folds are the parallel part

import warnings
from pathlib import Path

import datasets
import numpy as np
import pandas as pd
from joblib import Parallel, delayed
from rich.console import Console
from rich.progress import track
from sklearn.model_selection import StratifiedKFold
from sklearn.tree import DecisionTreeClassifier

from rulecover import RCBoostClassifier

HERE = Path(__file__).parent
DEPTHS = [5, 10, 20]
CALLS = [5, 10, 50, 100, 200]
FIELDS = ["dataset", "seed", "duals", "fold", "inidt", "rcb", "depth", "bound", "calls", "rules", "seconds"]


def boosted(depth: int, seed: int, duals: str) -> RCBoostClassifier:
    tree = DecisionTreeClassifier(max_depth=depth, random_state=seed)
    return RCBoostClassifier.as_in_paper(tree, max_rmp_calls=max(CALLS), duals=duals, random_state=seed)


def scores(model: RCBoostClassifier, X: np.ndarray, y: np.ndarray) -> list[float]:
    """The accuracy under each bound on the number of calls."""
    stages = [float(np.mean(answer == y)) for answer in model.staged_predict(X)]
    return [stages[min(bound, len(stages) - 1)] for bound in CALLS]


def splits(X: np.ndarray, y: np.ndarray, n: int, seed: int) -> list[tuple[np.ndarray, np.ndarray]]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # ecoli has classes with fewer samples than folds
        return list(StratifiedKFold(n, shuffle=True, random_state=seed).split(X, y))


def one_fold(data: Path, name: str, seed: int, duals: str, fold: int) -> dict[str, object]:
    frame, y = datasets.load(data, name)
    X = frame.to_numpy()
    train, test = splits(X, y, 10, seed)[fold]
    table = np.zeros((len(DEPTHS), len(CALLS)))
    for learn, check in splits(X[train], y[train], 4, seed):
        for d, depth in enumerate(DEPTHS):
            model = boosted(depth, seed, duals).fit(X[train][learn], y[train][learn])
            table[d] += scores(model, X[train][check], y[train][check])
    d, c = np.unravel_index(np.argmax(np.round(table, 9)), table.shape)
    model = boosted(DEPTHS[d], seed, duals).set_params(max_rmp_calls=CALLS[c]).fit(X[train], y[train])
    return {
        "dataset": name, "seed": seed, "duals": duals, "fold": fold,
        "inidt": model.initial_estimator_.score(X[test], y[test]), "rcb": model.score(X[test], y[test]),
        "depth": DEPTHS[d], "bound": CALLS[c], "calls": model.n_rmp_calls_, "rules": len(model.rules_),
        "seconds": round(float(model.history_.filter(like="seconds").to_numpy().sum()), 3),
    }  # fmt: skip


def run(data: Path, names: list[str], seeds: list[int], duals: str, *, out: Path, jobs: int) -> None:
    done = set()
    if out.exists():
        done = {(r["dataset"], int(r["seed"]), r["duals"], int(r["fold"])) for r in csv.DictReader(out.open())}
    cells = [(n, s, duals, f) for s, n, f in itertools.product(seeds, names, range(10)) if (n, s, duals, f) not in done]
    with out.open("a", newline="") as file:
        writer = csv.DictWriter(file, FIELDS)
        if not out.stat().st_size:
            writer.writeheader()
        results = Parallel(jobs, return_as="generator_unordered")(delayed(one_fold)(data, *cell) for cell in cells)
        for result in track(results, "folds", total=len(cells), console=Console(stderr=True)):
            writer.writerow(result)
            file.flush()


def table(out: Path, duals: str) -> str:
    """Means over folds and seeds beside the printed ones, as Markdown."""
    every = pd.read_csv(out)
    ours = every[every["duals"] == duals].groupby("dataset")
    mean, std, size = ours.mean(numeric_only=True), ours.std(numeric_only=True), ours.size()
    paper = pd.read_csv(HERE / "paper_table_s3.csv", index_col="dataset")
    seeds = sorted(every.loc[every["duals"] == duals, "seed"].unique().tolist())
    lines = [
        f"# RCBoost as in the paper, duals {duals!r}",
        "",
        f"Made by `python experiments/rcboost.py --data FOLDER --duals {duals}`, seeds {', '.join(map(str, seeds))}.",
        "Each cell: our mean (standard deviation over folds and seeds) / the paper's.",
        "",
        "| data set | iniDT | RCB | difference | RMP calls | rules | folds run |",
        "|---|---|---|---|---|---|---|",
    ]
    for name in [name for name in datasets.NAMES if name in mean.index]:
        row, theirs = mean.loc[name], paper.loc[name]
        lines.append(
            f"| {name} | {row['inidt']:.3f} ({std.loc[name, 'inidt']:.2f}) / {theirs['inidt_accuracy_mean']:.2f} "
            f"| {row['rcb']:.3f} ({std.loc[name, 'rcb']:.2f}) / {theirs['rcb_accuracy_mean']:.2f} "
            f"| {row['rcb'] - theirs['rcb_accuracy_mean']:+.3f} | {row['calls']:.1f} | {row['rules']:.0f} "
            f"| {size[name]} |"
        )
    known = paper.loc[mean.index]
    off = mean["rcb"] - known["rcb_accuracy_mean"]
    lines += [
        f"| **mean** | {mean['inidt'].mean():.4f} / {known['inidt_accuracy_mean'].mean():.4f} "
        f"| {mean['rcb'].mean():.4f} / {known['rcb_accuracy_mean'].mean():.4f} | {off.mean():+.4f} "
        f"| {mean['calls'].mean():.1f} | {mean['rules'].mean():.0f} | {size.sum()} |",
        "",
        f"Within 0.03 of the paper or better: {(off >= -0.03).sum()} of {len(off)} data sets.",
        "",
    ]
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="folder with one CSV file a data set")
    parser.add_argument("--datasets", default=",".join(datasets.NAMES), help="names, separated by commas")
    parser.add_argument("--seeds", default="25,7,1,2,3")
    parser.add_argument("--duals", choices=["vertex", "equal"], default="vertex", help="vertex is the paper's reading")
    parser.add_argument("--out", type=Path, default=HERE / "rcboost.csv")
    parser.add_argument("--jobs", type=int, default=1)
    arguments = parser.parse_args()
    names = datasets.known(arguments.datasets)
    seeds = [int(seed) for seed in arguments.seeds.split(",")]
    run(arguments.data, names, seeds, arguments.duals, out=arguments.out, jobs=arguments.jobs)
    text = table(arguments.out, arguments.duals)
    (arguments.out.parent / f"{arguments.out.stem}_{arguments.duals}.md").write_text(text)
    print(text)


if __name__ == "__main__":
    main()
