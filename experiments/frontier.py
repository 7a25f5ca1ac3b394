"""How accurate are few rules? Rule paths beside the forest they come from, boosted trees and covers.

    python experiments/frontier.py --data FOLDER [--tasks path,boosters,size,covers] [--seeds 25,7,1]

10 outer folds for each seed, one setting for all data sets; what is tuned is tuned inside the training part. Every
finished piece (task, seed, data set, fold) is appended to the result file at once, and left out the next time.
"""

from __future__ import annotations

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")

import argparse
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path

import datasets
import numpy as np
import pandas as pd
from rich.console import Console
from rich.progress import track
from sklearn.ensemble import (
    AdaBoostClassifier,
    GradientBoostingClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
)
from sklearn.frozen import FrozenEstimator
from sklearn.model_selection import StratifiedKFold
from sklearn.tree import DecisionTreeClassifier

from rulecover import RCBoostClassifier, RulePathClassifier, explain

HERE = Path(__file__).parent
FOLDS = 10
SIZES = (10, 15, 25, 50, 100)
KEY = ["task", "seed", "dataset", "fold"]
Rows = Iterator[dict[str, object]]


def forest_of(X, y) -> RandomForestClassifier:
    return RandomForestClassifier(100, random_state=0).fit(X, y)


def row(name: str, model, X, y) -> dict[str, object]:
    """The accuracy of a model on rows it never saw, and its size if it has rules."""
    rules = getattr(model, "rules_", None)
    figures: dict[str, object] = {"model": name, "accuracy": float(np.mean(model.predict(X) == y))}
    if rules is not None:
        figures |= {"rules": len(rules), "clauses": float(rules.lengths.mean()) if len(rules) else 0.0}
        figures |= {"missed": float(model.missed(X).mean())}
    return figures


def path(X, y, X_test, y_test) -> Rows:
    """Every size from the forest, and the forest."""
    forest = forest_of(X, y)
    yield row("forest", forest, X_test, y_test)
    whole = RulePathClassifier(FrozenEstimator(forest), max_rules=max(SIZES), choose="last").fit(X, y)
    for size in SIZES:
        yield row(f"path {size}", whole.at(min(size, whole.n_rules_)), X_test, y_test)


def size(X, y, X_test, y_test) -> Rows:
    """The size that is chosen inside the training part."""
    forest = RandomForestClassifier(100, random_state=0)
    chosen = RulePathClassifier(forest, max_rules=50).fit(X, y)
    yield row("path, one standard error", chosen, X_test, y_test)
    best = chosen.at(int(chosen.path_["cv_score"].loc[1:].idxmax()))
    yield row("path, best", best, X_test, y_test)
    near = chosen.path_["cv_score"].loc[1:] >= chosen.model_score_ - 0.01
    yield row("path, within 0.01", chosen.at(int(near.idxmax())) if near.any() else best, X_test, y_test)


def boosters(X, y, X_test, y_test) -> Rows:
    """Boosted trees as their libraries set them."""
    ada = AdaBoostClassifier(DecisionTreeClassifier(max_depth=5), n_estimators=100, random_state=0)
    yield row("AdaBoost, depth 5", ada.fit(X, y), X_test, y_test)
    yield row("GradientBoosting", GradientBoostingClassifier(random_state=0).fit(X, y), X_test, y_test)
    yield row("HistGradientBoosting", HistGradientBoostingClassifier(random_state=0).fit(X, y), X_test, y_test)


def covers(X, y, X_test, y_test) -> Rows:
    """Covers of a forest of depth 10, plain and pruned, by shares, and with votes fitted again."""
    forest = RandomForestClassifier(100, max_depth=10, random_state=0).fit(X, y)
    for demand in (1, 3):
        for prune in (False, True):
            cover = explain(forest, X, y, demand=demand, prune=prune, vote="shares")
            name = f"{'pruned ' if prune else ''}cover {demand}"
            yield row(name, cover, X_test, y_test)
            path = RulePathClassifier(
                FrozenEstimator(cover), max_rules=len(cover.rules_), choose="last", tries=0, min_samples=1
            )
            yield row(f"{name}, votes fitted", path.fit(X, y), X_test, y_test)


#: Settings of the path that differ from the defaults in one thing each.
INGREDIENTS: dict[str, dict[str, object]] = {
    "no clauses dropped": {"tries": 0},
    "labels alone as target": {"model_share": 0.0},
    "the forest alone as target": {"model_share": 1.0},
    "nodes to depth 6": {"max_depth": 6},
    "ridge 1": {"ridge": 1.0},
    "ridge 40": {"ridge": 40.0},
    "shrinkage 5": {"shrinkage": 5.0},
    "shrinkage 200": {"shrinkage": 200.0},
}


def ingredients(X, y, X_test, y_test) -> Rows:
    """The path with one setting changed at a time."""
    forest = FrozenEstimator(forest_of(X, y))
    for name, changed in INGREDIENTS.items():
        whole = RulePathClassifier(forest, max_rules=50, choose="last", **changed).fit(X, y)
        for size in (10, 25, 50):
            yield row(f"path {size}: {name}", whole.at(min(size, whole.n_rules_)), X_test, y_test)


def boosting(X, y, X_test, y_test) -> Rows:
    """Column generation with forests, and a path through its pool."""
    boosted = RCBoostClassifier(pricing="forest", max_rmp_calls=5, vote="shares", random_state=0).fit(X, y)
    yield row("RCBoost, forest pricing", boosted, X_test, y_test)
    whole = RulePathClassifier(FrozenEstimator(boosted), max_rules=100, choose="last").fit(X, y)
    for size in (10, 25, 50, 100):
        yield row(f"path {size} of RCBoost", whole.at(min(size, whole.n_rules_)), X_test, y_test)


TASKS: dict[str, Callable[..., Rows]] = {
    "path": path,
    "boosters": boosters,
    "size": size,
    "covers": covers,
    "boosting": boosting,
    "ingredients": ingredients,
}


def finished(out: Path) -> pd.DataFrame:
    return pd.read_csv(out) if out.exists() else pd.DataFrame(columns=[*KEY, "model", "accuracy"])


def run(arguments: argparse.Namespace) -> None:
    done = set(map(tuple, finished(arguments.out)[KEY].drop_duplicates().itertuples(index=False)))
    names = datasets.known(arguments.datasets)
    cells = [(t, s, n) for t in arguments.tasks.split(",") for s in map(int, arguments.seeds.split(",")) for n in names]
    for task, seed, name in track(cells, "data sets", console=Console(stderr=True)):
        X, y = datasets.load(arguments.data, name)
        X = X.to_numpy()
        for fold, (train, test) in enumerate(StratifiedKFold(FOLDS, shuffle=True, random_state=seed).split(X, y)):
            if (task, seed, name, fold) in done:
                continue
            rows = TASKS[task](X[train], y[train], X[test], y[test])
            piece = pd.DataFrame([{"task": task, "seed": seed, "dataset": name, "fold": fold, **each} for each in rows])
            columns = [*KEY, "model", "accuracy", "rules", "clauses", "missed"]
            piece.reindex(columns=columns).to_csv(
                arguments.out, mode="a", index=False, header=not arguments.out.exists(), float_format="%.5f"
            )


def table(results: pd.DataFrame) -> str:
    """Means over the data sets of each seed, and over the seeds, for models that have been run on all of them."""
    by_set = results.groupby(["model", "seed", "dataset"], sort=False).mean(numeric_only=True).drop(columns="fold")
    by_set = by_set[results.groupby(["model", "seed", "dataset"], sort=False).size() == FOLDS]
    lines = [
        "| model | accuracy | without liver | by seed | rules | clauses a rule | missed |",
        "|---|---|---|---|---|---|---|",
    ]
    for model in results.loc[results["task"] != "ingredients", "model"].unique():
        mine = by_set[by_set.index.get_level_values("model") == model].reset_index()
        whole = mine.groupby("seed").filter(lambda part: len(part) == len(datasets.NAMES))
        if whole.empty:
            continue
        seeds = whole.groupby("seed", sort=False)["accuracy"].mean()
        mean, bare = seeds.mean(), whole[whole["dataset"] != "liver"].groupby("seed")["accuracy"].mean().mean()
        each = ", ".join(f"{seed}: {value:.4f}" for seed, value in seeds.items())
        rules, clauses, missed = (whole[column].mean() for column in ("rules", "clauses", "missed"))
        sizes = ["", "", ""] if np.isnan(rules) else [f"{rules:.1f}", f"{clauses:.1f}", f"{100 * missed:.1f} %"]
        lines.append(f"| {model} | {mean:.4f} | {bare:.4f} | {each} | {' | '.join(sizes)} |")
    return "\n".join(lines)


def changes(results: pd.DataFrame) -> str:
    """What each changed setting does to the mean accuracy, on the folds that both have been run on."""
    folds = results.pivot_table(index=["seed", "dataset", "fold"], columns="model", values="accuracy")
    lines = ["| setting | 10 rules | 25 rules | 50 rules | folds | clauses a rule at 25 |", "|---|---|---|---|---|---|"]
    clauses = results.groupby("model")["clauses"].mean()
    for name in ["", *(f": {setting}" for setting in INGREDIENTS)]:
        if f"path 10{name}" not in folds:
            continue
        both = folds[[f"path {size}{each}" for size in (10, 25, 50) for each in {"", name}]].dropna()
        cells = []
        for size in (10, 25, 50):
            by_set = (both[f"path {size}{name}"] - both[f"path {size}"]).groupby(["seed", "dataset"])
            mean, error = by_set.mean().mean(), np.sqrt((by_set.var() / by_set.count()).sum()) / len(by_set)
            cells.append(f"{both[f'path {size}'].mean():.4f}" if not name else f"{mean:+.4f} ± {error:.4f}")
        cells += [str(len(both)), f"{clauses[f'path 25{name}']:.1f}"]
        lines.append(f"| {name[2:] or 'the defaults'} | {' | '.join(cells)} |")
    return "\n".join(lines)


def per_set(results: pd.DataFrame) -> str:
    """The mean accuracy on each data set over the seeds that have been run."""
    results = results[results["task"] != "ingredients"]
    wide = results.pivot_table(index="dataset", columns="model", values="accuracy", aggfunc="mean", sort=False)
    lines = [f"| data set | {' | '.join(wide.columns)} |", "|---" * (len(wide.columns) + 1) + "|"]
    for name, values in wide.iterrows():
        cells = ["" if np.isnan(value) else f"{value:.3f}" for value in values]
        lines.append(f"| {name} | {' | '.join(cells)} |")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="folder with one CSV file a data set")
    parser.add_argument("--datasets", default=",".join(datasets.NAMES), help="names, separated by commas")
    parser.add_argument("--tasks", default=",".join(TASKS), help="of " + ", ".join(TASKS))
    parser.add_argument("--seeds", default="25,7,1", help="of the outer folds")
    parser.add_argument("--out", type=Path, default=HERE / "frontier.csv")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore", UserWarning)  # ecoli has classes with fewer samples than folds
    run(arguments)
    results = finished(arguments.out)
    seeds = ", ".join(map(str, results["seed"].unique()))
    text = f"""# How accurate are few rules?

Made by `python experiments/frontier.py --data FOLDER`: 10 folds for each of the seeds {seeds}, one setting for all data
sets (the defaults of `RulePathClassifier`), forests of 100 trees. Mean accuracy over the 15 data sets; a seed counts
for a model once all data sets of it have been run. The target of liver marks a split of the data and not a diagnosis.

{table(results)}

What each ingredient brings: the change of the mean accuracy over the data sets where one setting is changed, with its
standard error over the folds.

{changes(results)}

Mean accuracy by data set, over the seeds that have been run:

{per_set(results)}
"""
    arguments.out.with_suffix(".md").write_text(text)
    print(text)


if __name__ == "__main__":
    main()
