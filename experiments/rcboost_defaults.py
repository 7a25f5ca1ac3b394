"""Which settings should RCBoost have by default? Untuned accuracy and log loss on 5 folds of the small data sets.

    python experiments/rcboost_defaults.py --data FOLDER [--seeds 7]

Each setting differs from the defaults in what its line says. A seed shuffles the folds and seeds the trees. The log
loss is that of `covers_votes.py`.
"""

from __future__ import annotations

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")

import argparse
import itertools
import time
import warnings
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pandas as pd
from covers_votes import FOLDS, scores
from rich.console import Console
from rich.progress import track
from sklearn.ensemble import GradientBoostingClassifier, RandomForestClassifier

from rulecover import RCBoostClassifier
from rulecover.rcboost.pricing.oracles import ForestPricing
from rulecover.study import Data, load
from rulecover.study.folds import splits
from rulecover.study.pages import write_page

HERE = Path(__file__).parent
SETS = "liver,seeds,wine,glass,ecoli,tic-tac-toe,ildp,diabetes,transfusion,ionosphere,wdbc,banknote,oilspill"
TREE = {"pricing": "tree", "max_rmp_calls": 50}
MODELS: dict[str, Callable[..., Any]] = {
    "defaults": RCBoostClassifier,
    "votes by counts": partial(RCBoostClassifier, vote="counts"),
    "votes by log-odds": partial(RCBoostClassifier, vote="log-odds"),
    "10 trees per call": partial(RCBoostClassifier, pricing=ForestPricing(10)),
    "10 calls": partial(RCBoostClassifier, max_rmp_calls=10),
    "votes by z": partial(RCBoostClassifier, rule_weights="z"),
    "one tree per call, 50 calls": partial(RCBoostClassifier, **TREE),
    "the same, votes by counts": partial(RCBoostClassifier, vote="counts", **TREE),
    "the same, votes by log-odds": partial(RCBoostClassifier, vote="log-odds", **TREE),
    "`as_in_paper()`": RCBoostClassifier.as_in_paper,
    "`few_rules(50)`": partial(RCBoostClassifier.few_rules, 50),
    "`few_rules(25)`": partial(RCBoostClassifier.few_rules, 25),
    "GradientBoosting": GradientBoostingClassifier,
    "forest of 100 trees": RandomForestClassifier,
}


def one_fold(data: Data, number: int, seed: int, make: Callable[..., Any]) -> dict[str, float]:
    train, test = splits(data.y, FOLDS, seed)[number]
    start = time.process_time()
    model = make(random_state=seed).fit(data.X[train], data.y[train])
    found = {"seconds": time.process_time() - start} | scores(model, data.X[test], data.y[test])
    if not hasattr(model, "rules_"):
        return found
    return found | {"rules": len(model.rules_), "clauses": model.rules_.lengths.sum()}


def table(rows: pd.DataFrame) -> str:
    of_sets = rows.groupby(["setting", "dataset"], sort=False).mean(numeric_only=True)
    mean = of_sets.groupby(level="setting", sort=False).mean()
    off = of_sets["accuracy"].unstack("setting").pipe(lambda each: each.sub(each["defaults"], axis=0))
    seeds = ", ".join(map(str, rows["seed"].unique()))
    lines = [
        "# RCBoost's settings",
        "",
        f"Made by `python experiments/rcboost_defaults.py --data FOLDER`, seed {seeds}, {FOLDS} folds. Means over",
        f"{len(off)} data sets; nothing is tuned. The difference is to the defaults, with its standard error over the",
        "data sets.",
        "",
        "| setting | accuracy | difference | log loss | rules | clauses | CPU seconds |",
        "|---|---|---|---|---|---|---|",
    ]
    for name, line in mean.iterrows():
        size = [f"{line[each]:.0f}" if line[each] > 0 else "" for each in ("rules", "clauses")]
        cells = [name, f"{line['accuracy']:.4f}", f"{off[name].mean():+.4f} ({off[name].sem():.4f})"]
        cells += [f"{line['log_loss']:.3f}", *size, f"{line['seconds']:.2f}"]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join([*lines, ""])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="folder with one CSV file per data set")
    parser.add_argument("--datasets", default=SETS, help="which of them, with commas between")
    parser.add_argument("--seeds", default="7")
    parser.add_argument("--out", type=Path, default=HERE / "rcboost_defaults.csv")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore", UserWarning)  # ecoli has classes with fewer samples than folds
    data = {name: load(name, arguments.data) for name in arguments.datasets.split(",")}
    seeds = [int(seed) for seed in arguments.seeds.split(",")]
    cells = list(itertools.product(seeds, data, range(FOLDS), MODELS))
    rows = [
        {"seed": seed, "dataset": dataset, "fold": number, "setting": name}
        | one_fold(data[dataset], number, seed, MODELS[name])
        for seed, dataset, number, name in track(cells, "folds", console=Console(stderr=True))
    ]
    frame = pd.DataFrame(rows).round(5)
    frame.to_csv(arguments.out, index=False)
    text = table(frame)
    write_page(arguments.out.with_suffix(".md"), text)
    print(text)


if __name__ == "__main__":
    main()
