"""Which votes and which fallback are best for a cover? Accuracy and log loss on 5 folds of the data sets.

    python experiments/covers_votes.py --data FOLDER [--datasets wine,seeds] [--seeds 7]

One forest of 100 trees of depth 10 per fold, covered once and three times, pruned or not. A seed shuffles the folds and
seeds the forest. Probabilities below 0.001 count as 0.001 in the log loss, so that one sure mistake is not all of it.
"""

from __future__ import annotations

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")

import argparse
import itertools
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from rich.console import Console
from rich.progress import track
from sklearn.ensemble import RandomForestClassifier
from sklearn.frozen import FrozenEstimator

from rulecover import MIRCOClassifier
from rulecover.study import DATASETS, Data, load
from rulecover.study.folds import splits
from rulecover.study.pages import write_page

HERE = Path(__file__).parent
FOLDS = 5
VOTES = ("counts", "shares", "fitted", "log-odds")
FALLBACKS = ("closest", "all", "majority", "model")
#: How a cover is made, how it votes, and what predicts for rows that it misses.
COVER = ["demand", "prune", "vote", "fallback"]
DEFAULTS = (1, False, "counts", "closest")
LEAST = 1e-3


def one_fold(data: Data, number: int, seed: int) -> Iterator[dict[str, Any]]:
    train, test = splits(data.y, FOLDS, seed)[number]
    X, y = data.X[train], data.y[train]
    forest = RandomForestClassifier(100, max_depth=10, random_state=seed).fit(X, y)
    cell = {"seed": seed, "dataset": data.name, "fold": number}
    yield cell | {"vote": "forest"} | scores(forest, data.X[test], data.y[test])
    for demand, prune, vote in itertools.product((1, 3), (False, True), VOTES):
        cover = MIRCOClassifier(FrozenEstimator(forest), demand=demand, prune=prune, vote=vote).fit(X, y)
        size = {"rules": len(cover.rules_), "clauses": cover.rules_.lengths.sum()}
        for fallback in FALLBACKS:
            found = scores(cover.set_params(fallback=fallback), data.X[test], data.y[test])
            made = dict(zip(COVER, (demand, prune, vote, fallback), strict=True))
            yield cell | made | size | {"missed": cover.missed(data.X[test]).mean()} | found


def scores(model: Any, X: np.ndarray, y: np.ndarray) -> dict[str, float]:
    """Accuracy and log loss; a class that was not in the training part has the least probability."""
    known = y[:, None] == model.classes_
    right = np.where(known, model.predict_proba(X), 0.0).sum(axis=1)
    return {"accuracy": np.mean(model.predict(X) == y), "log_loss": -np.log(np.maximum(right, LEAST)).mean()}


def table(rows: pd.DataFrame) -> str:
    of_sets = rows.fillna({"fallback": "-", "demand": 0, "prune": False}).astype({"demand": int, "prune": bool})
    of_sets = of_sets.groupby([*COVER, "dataset"], sort=False).mean(numeric_only=True)
    mean = of_sets.groupby(level=COVER, sort=False).mean()
    wide = of_sets["accuracy"].unstack("dataset")
    off = wide.sub(wide.loc[DEFAULTS], axis=1)
    forest = mean.xs("forest", level="vote").iloc[0]
    seeds = ", ".join(map(str, rows["seed"].unique()))
    lines = [
        "# Votes and fallbacks of covers",
        "",
        f"Made by `python experiments/covers_votes.py --data FOLDER`, seed {seeds}, {FOLDS} folds, the same for all.",
        f"Means over {wide.shape[1]} data sets. Covers are of a forest of 100 trees of depth 10, which has an accuracy",
        f"of {forest['accuracy']:.4f} and a log loss of {forest['log_loss']:.3f}; probabilities below {LEAST} count as",
        f"{LEAST}. Cells with four figures: the fallbacks closest / all / majority / model. The difference is between",
        'the accuracy with "closest" and that of the defaults, with its standard error over the data sets.',
        "",
        "| demand | pruned | votes | accuracy | difference | log loss | rules | clauses | missed |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for cover, each in mean.drop("forest", level="vote").groupby(level=COVER[:3], sort=False):
        by_fallback = each.droplevel(COVER[:3]).loc[list(FALLBACKS)]
        apart = off.loc[(*cover, "closest")]
        cells = [f"{cover[0]}", "yes" if cover[1] else "no", cover[2]]
        cells += [" / ".join(f"{value:.4f}" for value in by_fallback["accuracy"])]
        cells += [f"{apart.mean():+.4f} ({apart.sem():.4f})"]
        cells += [" / ".join(f"{value:.3f}" for value in by_fallback["log_loss"])]
        first = by_fallback.iloc[0]
        cells += [f"{first['rules']:.1f}", f"{first['clauses']:.0f}", f"{100 * first['missed']:.1f} %"]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join([*lines, ""])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="folder with one CSV file per data set")
    parser.add_argument("--datasets", default=",".join(DATASETS), help="which of them, with commas between")
    parser.add_argument("--seeds", default="7")
    parser.add_argument("--out", type=Path, default=HERE / "covers_votes.csv")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore", UserWarning)  # ecoli has classes with fewer samples than folds
    data = [load(name, arguments.data) for name in arguments.datasets.split(",")]
    cells = list(itertools.product(map(int, arguments.seeds.split(",")), data, range(FOLDS)))
    rows = [
        row
        for seed, each, number in track(cells, "folds", console=Console(stderr=True))
        for row in one_fold(each, number, seed)
    ]
    frame = pd.DataFrame(rows)
    frame.round(5).to_csv(arguments.out, index=False)
    text = table(frame.round(5))
    write_page(arguments.out.with_suffix(".md"), text)
    print(text)


if __name__ == "__main__":
    main()
