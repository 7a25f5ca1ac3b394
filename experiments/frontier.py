"""How accurate are few rules? Rule paths next to their forest, boosted trees, covers and other rule learners.

    python experiments/frontier.py --data FOLDER [--tasks path,boosters,covers] [--seeds 25,7,2026]

10 outer folds for each seed, one setting for all data sets; what is tuned is tuned inside the training part. Every
finished piece (task, seed, data set, fold) is appended to the result file at once, and left out the next time.
"""

from __future__ import annotations

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")

import argparse
import warnings
from collections.abc import Callable, Iterator
from copy import copy
from pathlib import Path
from typing import Any

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
from sklearn.tree import DecisionTreeClassifier

from rulecover import MIRCOClassifier, RCBoostClassifier, RulePathClassifier, RuleSet
from rulecover.study import Fold, ResultsFile, load
from rulecover.study.datasets import DATASETS
from rulecover.study.pages import write_page

HERE = Path(__file__).parent
FOLDS = 10
SIZES = (10, 15, 25, 50, 100)
KEY = ["task", "seed", "dataset", "fold"]
FIGURES = ["model", "accuracy", "rules", "clauses", "missed", "log_loss", "brier", "off"]
Rows = Iterator[dict[str, object]]


def forest_of(fold: Fold, **settings) -> RandomForestClassifier:
    return RandomForestClassifier(100, random_state=0, **settings).fit(fold.X_train, fold.y_train)


def row(name: str, model, fold: Fold, rules: float | None = None, clauses: float | None = None) -> dict[str, object]:
    """The accuracy of a model on rows it never saw, its size if it has rules, and how good its probabilities are."""
    said = np.asarray(model.predict(fold.X_test))
    figures: dict[str, object] = {"model": name, "accuracy": float(np.mean(said == fold.y_test))}
    mine = getattr(model, "rules_", None)
    if isinstance(mine, RuleSet):
        rules, clauses = len(mine), float(mine.lengths.mean()) if len(mine) else 0.0
    figures |= {"rules": rules, "clauses": clauses}
    if hasattr(model, "missed"):
        figures["missed"] = float(np.mean(model.missed(fold.X_test)))
    return figures | probabilities(model, fold)


def probabilities(model, fold: Fold) -> dict[str, float]:
    """Log loss (no probability below 0.001), Brier score, and how far the highest one is from the share it gets right.

    The distance is the expected calibration error over ten equal bins.
    """
    n = 1 + max(int(fold.y_train.max()), int(fold.y_test.max()))
    told = np.zeros((len(fold.y_test), n))
    told[:, np.asarray(model.classes_, dtype=int)] = model.predict_proba(fold.X_test)
    own = told[np.arange(len(told)), fold.y_test]
    sure, right = told.max(axis=1), told.argmax(axis=1) == fold.y_test
    bins = np.minimum((sure * 10).astype(int), 9)
    off = np.abs(np.bincount(bins, weights=sure - right, minlength=10)).sum() / len(told)
    brier = np.square(told - np.eye(n)[fold.y_test]).sum(axis=1).mean()
    return {"log_loss": float(-np.log(np.maximum(own, 1e-3)).mean()), "brier": float(brier), "off": float(off)}


def path(fold: Fold) -> Rows:
    """Every size of the default path, and a forest."""
    yield row("forest", forest_of(fold), fold)
    whole = RulePathClassifier(max_rules=max(SIZES), choose="last", random_state=0)
    whole.fit(fold.X_train, fold.y_train)
    for size in SIZES:
        yield row(f"path {size}", whole.at(min(size, whole.n_rules_)), fold)


def size(fold: Fold) -> Rows:
    """The size that is chosen inside the training part."""
    forest = RandomForestClassifier(100, random_state=0)
    chosen = RulePathClassifier(forest, max_rules=50).fit(fold.X_train, fold.y_train)
    yield row("path, one standard error", chosen, fold)
    best = chosen.at(int(chosen.path_["cv_score"].loc[1:].idxmax()))
    yield row("path, best", best, fold)
    near = chosen.path_["cv_score"].loc[1:] >= chosen.model_score_ - 0.01
    yield row("path, within 0.01", chosen.at(int(near.idxmax())) if near.any() else best, fold)


def boosters(fold: Fold) -> Rows:
    """Boosted trees as their libraries set them."""
    ada = AdaBoostClassifier(DecisionTreeClassifier(max_depth=5), n_estimators=100, random_state=0)
    for name, model in {
        "AdaBoost, depth 5": ada,
        "GradientBoosting": GradientBoostingClassifier(random_state=0),
        "HistGradientBoosting": HistGradientBoostingClassifier(random_state=0),
    }.items():
        yield row(name, model.fit(fold.X_train, fold.y_train), fold)


def cover_of(forest: RandomForestClassifier, X: np.ndarray, y: np.ndarray, **settings: Any) -> MIRCOClassifier:
    return MIRCOClassifier.as_in_paper(FrozenEstimator(forest), **settings).fit(X, y)


def covers(fold: Fold) -> Rows:
    """Covers of a forest of depth 10, plain and pruned, by counts and shares, and with votes fitted again."""
    X, y = fold.X_train, fold.y_train
    forest = forest_of(fold, max_depth=10)
    for demand in (1, 3):
        for prune in (False, True):
            cover = cover_of(forest, X, y, demand=demand, prune=prune, vote="shares")
            name = f"{'pruned ' if prune else ''}cover {demand}"
            yield row(name, cover, fold)
            yield row(f"{name}, votes by counts", cover_of(forest, X, y, demand=demand, prune=prune), fold)
            yield row(f"{name}, votes fitted", fitted_again(cover, fold), fold)


def fitted_again(cover: MIRCOClassifier, fold: Fold) -> RulePathClassifier:
    """The rules of a cover with votes by ridge."""
    path = RulePathClassifier(
        FrozenEstimator(cover), max_rules=len(cover.rules_), choose="last", tries=0, min_samples=1
    )
    return path.fit(fold.X_train, fold.y_train)


def own_votes(fold: Fold) -> Rows:
    """Covers with fitted votes of their own, pruned ones also of purer rules."""
    X, y = fold.X_train, fold.y_train
    forest = forest_of(fold, max_depth=10)
    for demand in (1, 3):
        for prune, weight in ((False, 1), (True, 1), (True, 2)):
            cover = cover_of(forest, X, y, demand=demand, prune=prune, impurity_weight=weight, vote="fitted")
            name = f"{'pruned ' if prune else ''}cover {demand}{', impurity weight 2' if weight > 1 else ''}"
            yield row(f"{name}, own votes fitted", cover, fold)


def all_fitted(fold: Fold) -> Rows:
    """Pruned covers of purer rules with votes by ridge for all of them, those that met the same rows included."""
    X, y = fold.X_train, fold.y_train
    forest = forest_of(fold, max_depth=10)
    for demand in (1, 3):
        cover = cover_of(forest, X, y, demand=demand, prune=True, impurity_weight=2, vote="shares")
        path = RulePathClassifier(FrozenEstimator(cover), max_rules=len(cover.rules_), choose="last", keep=cover.rules_)
        yield row(f"pruned cover {demand}, impurity weight 2, all votes fitted", path.fit(X, y), fold)


def pruning(fold: Fold) -> Rows:
    """Covers that are pruned where held-out rows speak for it."""
    forest = RandomForestClassifier(100, max_depth=10, random_state=0)
    for demand in (1, 3):
        cover = MIRCOClassifier.as_in_paper(forest, demand=demand, prune="held-out", vote="fitted")
        cover.fit(fold.X_train, fold.y_train)
        name = f"cover {demand}, pruned by held-out rows"
        yield row(name, cover, fold)
        yield row(f"{name}, votes fitted", fitted_again(cover, fold), fold)


#: What the forest says of rows that its trees saw, in place of what the others say.
IN_BAG = "the target softened by all trees, not those out of bag"

#: Settings of the path that differ from the defaults in one thing each.
INGREDIENTS: dict[str, dict[str, object]] = {
    IN_BAG: {},
    "labels alone as target": {"model_share": 0.0},
    "the forest alone as target": {"model_share": 1.0},
    "no clauses dropped": {"tries": 0},
    "nodes to depth 6": {"max_depth": 6},
    "ridge 1": {"ridge": 1.0},
    "ridge 20": {"ridge": 20.0},
    "shrinkage 5": {"shrinkage": 5.0},
    "shrinkage 50": {"shrinkage": 50.0},
}


def ingredients(fold: Fold) -> Rows:
    """The path with one setting changed at a time."""
    forest = forest_of(fold)
    in_bag = copy(forest).set_params(bootstrap=False)  # as if every tree had seen every row
    for name, changed in INGREDIENTS.items():
        source = FrozenEstimator(in_bag if name == IN_BAG else forest)
        whole = RulePathClassifier(source, max_rules=50, choose="last", **changed).fit(fold.X_train, fold.y_train)
        for size in (10, 25, 50):
            yield row(f"path {size}: {name}", whole.at(min(size, whole.n_rules_)), fold)


def boosting(fold: Fold) -> Rows:
    """The preset of RCBoost for few rules, and the pool that it chooses from."""
    few = RCBoostClassifier.few_rules(random_state=0).fit(fold.X_train, fold.y_train)
    for size in (25, 50, 100):
        yield row(f"RCBoost, few rules, {size}", few.at(min(size, few.n_rules_)), fold)
    yield row("its pool, votes by shares", few.estimator_, fold)


def shares_in_the_optimum(fold: Fold) -> Rows:
    """The same pool, its rules weighed by their shares in the optimum of the LP."""
    pool = RCBoostClassifier.few_rules(random_state=0, rule_weights="z").estimator
    yield row("its pool, votes by z", pool.fit(fold.X_train, fold.y_train), fold)


TASKS: dict[str, Callable[..., Rows]] = {
    "path": path,
    "boosters": boosters,
    "covers": covers,
    "own votes": own_votes,
    "all votes": all_fitted,
    "pruning": pruning,
    "boosting": boosting,
    "z": shares_in_the_optimum,
    "ingredients": ingredients,
    "size": size,
}


def finished(out: Path) -> pd.DataFrame:
    return pd.read_csv(out) if out.exists() else pd.DataFrame(columns=[*KEY, "model", "accuracy"])


def run(arguments: argparse.Namespace) -> None:
    done = set(map(tuple, finished(arguments.out)[KEY].drop_duplicates().itertuples(index=False)))
    names, tasks = arguments.datasets.split(","), arguments.tasks.split(",")
    cells = [(t, s, n) for t in tasks for s in map(int, arguments.seeds.split(",")) for n in names]
    for task, seed, name in track(cells, "data sets", console=Console(stderr=True)):
        left = [fold for fold in range(FOLDS) if (task, seed, name, fold) not in done]
        data = load(name, arguments.data) if left else None
        for fold in left:
            rows = TASKS[task](Fold.of(data, fold, seed))
            piece = pd.DataFrame([{"task": task, "seed": seed, "dataset": name, "fold": fold, **each} for each in rows])
            piece.reindex(columns=KEY + FIGURES).to_csv(
                arguments.out, mode="a", index=False, header=not arguments.out.exists(), float_format="%.5g"
            )


def table(results: pd.DataFrame) -> str:
    """Means over the data sets of each seed, and over the seeds, for models that have been run on all of them."""
    by_set = results.groupby(["model", "seed", "dataset"], sort=False).mean(numeric_only=True).drop(columns="fold")
    by_set = by_set[results.groupby(["model", "seed", "dataset"], sort=False).size() == FOLDS]
    lines = [
        "| model | accuracy | without liver | by seed | rules | clauses per rule | missed | log loss | Brier | off |",
        "|---|---|---|---|---|---|---|---|---|---|",
    ]
    for model in results.loc[results["task"] != "ingredients", "model"].unique():
        mine = by_set[by_set.index.get_level_values("model") == model].reset_index()
        whole = mine.groupby("seed").filter(lambda part: len(part) == len(DATASETS))
        if whole.empty:
            continue
        seeds = whole.groupby("seed", sort=False)["accuracy"].mean()
        mean, bare = seeds.mean(), whole[whole["dataset"] != "liver"].groupby("seed")["accuracy"].mean().mean()
        each = ", ".join(f"{seed}: {value:.4f}" for seed, value in seeds.items())
        rules, clauses, missed = (whole[column].mean() for column in ("rules", "clauses", "missed"))
        sizes = ["", "", ""] if np.isnan(rules) else [f"{rules:.1f}", f"{clauses:.1f}", f"{100 * missed:.1f} %"]
        told = [f"{whole[column].mean():.3f}" for column in ("log_loss", "brier", "off")]
        lines.append(f"| {model} | {mean:.4f} | {bare:.4f} | {each} | {' | '.join(sizes + told)} |")
    return "\n".join(lines)


#: Other rule learners of the study, run on the same folds by `rulecover study peers`, and the study's MIRCO.
PEERS = ("MIRCO", "RUX", "RUG", "RuleFit", "FIGS", "RIPPER")


def peers(folder: Path) -> pd.DataFrame:
    """What the study has of other rule learners: a row for each fold."""
    rows = [
        {"model": model, "seed": cell.seed, "dataset": cell.dataset, "fold": cell.fold, **outcome.models[model]}
        for cell, outcome in ResultsFile(folder / "results.jsonl").done().items()
        for model in set(PEERS) & set(outcome.models)
    ]
    return pd.DataFrame(rows, columns=["model", "seed", "dataset", "fold", "accuracy", "rules"])


def next_to_others(results: pd.DataFrame, theirs: pd.DataFrame) -> str:
    """Each of the other rule learners and the path, on the folds that both have been run on."""
    fold = ["seed", "dataset", "fold"]
    paths = results[results["task"] == "path"].pivot_table(index=fold, columns="model", values="accuracy")
    lines = ["| model | data sets | folds | accuracy | rules | path 10 | path 25 | path 50 |", "|---" * 8 + "|"]
    for model in PEERS:
        mine = theirs[theirs["model"] == model].set_index(fold)[["accuracy", "rules"]].join(paths, how="inner")
        if mine.empty:
            continue
        by_set = mine.groupby(["seed", "dataset"]).mean()
        mean = by_set[["accuracy", "rules", "path 10", "path 25", "path 50"]].mean()
        figures = [
            f"{mean['accuracy']:.4f}",
            f"{mean['rules']:.1f}",
            *(f"{mean[f'path {k}']:.4f}" for k in (10, 25, 50)),
        ]
        sets = by_set.index.get_level_values("dataset").nunique()
        lines.append(f"| {model} | {sets} | {len(mine)} | {' | '.join(figures)} |")
    return "\n".join(lines)


def difference(folds: pd.DataFrame, first: str, second: str) -> tuple[float, float]:
    """Mean and standard error, over the data sets, of the difference of two models; columns of accuracies by fold."""
    by_set = (folds[first] - folds[second]).dropna().groupby("dataset").mean()
    return by_set.mean(), by_set.std() / np.sqrt(len(by_set))


def changes(results: pd.DataFrame) -> str:
    """What each changed setting does to the mean accuracy, on the folds that both have been run on."""
    folds = results.pivot_table(index=["seed", "dataset", "fold"], columns="model", values="accuracy")
    heading = "| setting | 10 rules | 25 rules | 50 rules | folds | clauses per rule at 25 |"
    lines = [heading, "|---|---|---|---|---|---|"]
    clauses = results.groupby("model")["clauses"].mean()
    for name in ["", *(f": {setting}" for setting in INGREDIENTS)]:
        if f"path 10{name}" not in folds:
            continue
        both = folds[[f"path {size}{each}" for size in (10, 25, 50) for each in {"", name}]].dropna()
        cells = []
        for size in (10, 25, 50):
            whole = both[f"path {size}"].groupby(["seed", "dataset"]).mean().mean()
            mean, error = difference(both, f"path {size}{name}", f"path {size}")
            cells.append(f"{mean:+.4f} ± {error:.4f}" if name else f"{whole:.4f}")
        cells += [str(len(both)), f"{clauses[f'path 25{name}']:.1f}"]
        lines.append(f"| {name[2:] or 'the defaults'} | {' | '.join(cells)} |")
    return "\n".join(lines)


def per_set(results: pd.DataFrame) -> str:
    """The mean accuracy on each data set over the seeds that have been run."""
    results = results[results["task"] != "ingredients"]
    wide = results.pivot_table(index="model", columns="dataset", values="accuracy", aggfunc="mean", sort=False)
    lines = [f"| model | {' | '.join(wide.columns)} |", "|---" * (len(wide.columns) + 1) + "|"]
    for name, values in wide.iterrows():
        cells = ["" if np.isnan(value) else f"{value:.3f}" for value in values]
        lines.append(f"| {name} | {' | '.join(cells)} |")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="folder with one CSV file per data set")
    parser.add_argument("--datasets", default=",".join(DATASETS), help="names, separated by commas")
    parser.add_argument("--tasks", default=",".join(TASKS), help="of " + ", ".join(TASKS))
    parser.add_argument("--seeds", default="25,7,2026", help="of the outer folds")
    parser.add_argument("--out", type=Path, default=HERE / "frontier.csv")
    parser.add_argument("--study", type=Path, default=HERE / "study", help="results of rulecover study peers")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore", UserWarning)  # ecoli has classes with fewer samples than folds
    run(arguments)
    text = page(finished(arguments.out), peers(arguments.study))
    write_page(arguments.out.with_suffix(".md"), text)
    print(text)


def page(results: pd.DataFrame, theirs: pd.DataFrame) -> str:
    """All tables, from the results and those of other rule learners."""
    seeds = ", ".join(map(str, sorted(results["seed"].unique())))
    return f"""# How accurate are few rules?

Made by `python experiments/frontier.py --data FOLDER`: 10 folds for each of the seeds {seeds}, one setting for all data
sets, forests of 100 trees. In `frontier.csv` paths and fitted votes are by least squares, as they were before votes
became log-odds; `log_odds.csv` has the default path as it is now. Mean accuracy over the 15 data sets; a seed counts
for a model once all data sets of it have been run. The target of liver marks a split of the data and not a diagnosis.
"Own votes fitted" is `vote="fitted"` of a cover, "votes fitted" a path over its rules, which takes one of those that
met the same rows, "all votes fitted" a path that keeps them all. Log loss is that of probabilities held to 0.001 at
least; "off" is the distance of the highest probability from the share of rows on which it is right (expected
calibration error, ten bins per fold).

{table(results)}

Other rule learners at the sizes of their makers, as `rulecover study peers` ran them, and paths on the same folds of
the same data sets (RuleFit and RIPPER tell two classes apart and no more; MIRCO and RUX are of tuned forests):

{next_to_others(results, theirs)}

What each ingredient brings: the change of the mean accuracy over the data sets where one setting is changed, with its
standard error over the data sets, on the folds that have been run with it (150 are all of a seed).

{changes(results)}

Mean accuracy by data set, over the seeds that have been run:

{per_set(results)}
"""


if __name__ == "__main__":
    main()
