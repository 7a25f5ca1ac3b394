"""Which settings should RCBoost have by default? Untuned accuracy on 10 folds of the small data sets.

    python experiments/rcboost_defaults.py --data FOLDER [--seeds 25,7,1]

Each setting differs from the defaults in what its line says. A seed shuffles the folds and seeds the trees.
"""

from __future__ import annotations

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")

import argparse
import itertools
import time
import warnings
from pathlib import Path

import pandas as pd
from rich.console import Console
from rich.progress import track
from sklearn.tree import DecisionTreeClassifier

from rulecover import RCBoostClassifier
from rulecover.study import Fold, load

HERE = Path(__file__).parent
SETS = "liver,seeds,wine,glass,ecoli,tic-tac-toe,ildp,diabetes,transfusion,ionosphere,wdbc,banknote,oilspill"
SETTINGS = {
    "defaults": {},
    "depth 5": {"max_depth": 5},
    "step 1 (paper)": {"step": 1.0},
    "step 1, depth 5": {"step": 1.0, "max_depth": 5},
    "vertex duals, step 1 (paper)": {"duals": "vertex", "step": 1.0},
    "vertex duals": {"duals": "vertex"},
    "votes by shares": {"vote": "shares"},
    "10 calls": {"max_rmp_calls": 10},
    "stale rules leave": {"remove": "stale"},
    "votes by z": {"rule_weights": "z"},
    "forest pricing, 5 calls, shares": {"pricing": "forest", "max_rmp_calls": 5, "vote": "shares"},
}


def one_fold(fold: Fold, *, max_depth: int = 10, **settings: object) -> dict[str, float]:
    tree = DecisionTreeClassifier(max_depth=max_depth, min_weight_fraction_leaf=1e-6, random_state=fold.seed)
    start = time.process_time()
    model = RCBoostClassifier(tree, random_state=fold.seed, **settings).fit(fold.X_train, fold.y_train)
    seconds = time.process_time() - start
    accuracy = model.score(fold.X_test, fold.y_test)
    return {"accuracy": accuracy, "rules": len(model.rules_), "calls": model.n_rmp_calls_, "seconds": seconds}


def table(rows: pd.DataFrame) -> str:
    of_sets = rows.groupby(["setting", "dataset"], sort=False).mean(numeric_only=True)
    mean = of_sets.groupby(level="setting", sort=False).mean()
    off = of_sets["accuracy"].unstack("setting").pipe(lambda each: each.sub(each["defaults"], axis=0))
    seeds = ", ".join(map(str, rows["seed"].unique()))
    lines = [
        "# RCBoost's settings",
        "",
        f"Made by `python experiments/rcboost_defaults.py --data FOLDER`, seeds {seeds}. Means over {len(off)} data",
        "sets; nothing is tuned. The difference is to the defaults, with its standard error over the data sets.",
        "",
        "| setting | accuracy | difference | rules | calls | CPU seconds |",
        "|---|---|---|---|---|---|",
    ]
    for name, line in mean.iterrows():
        error = off[name].std() / len(off) ** 0.5
        lines.append(
            f"| {name} | {line['accuracy']:.4f} | {off[name].mean():+.4f} ({error:.4f}) "
            f"| {line['rules']:.0f} | {line['calls']:.1f} | {line['seconds']:.2f} |"
        )
    return "\n".join([*lines, ""])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="folder with one CSV file a data set")
    parser.add_argument("--seeds", default="25,7,1")
    parser.add_argument("--out", type=Path, default=HERE / "rcboost_defaults.csv")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore", UserWarning)  # ecoli has classes with fewer samples than folds
    data = {name: load(name, arguments.data) for name in SETS.split(",")}
    seeds = [int(seed) for seed in arguments.seeds.split(",")]
    cells = list(itertools.product(seeds, SETTINGS, data, range(10)))
    rows = [
        {"seed": seed, "setting": name, "dataset": dataset, "fold": number}
        | one_fold(Fold.of(data[dataset], number, seed), **SETTINGS[name])
        for seed, name, dataset, number in track(cells, "folds", console=Console(stderr=True))
    ]
    frame = pd.DataFrame(rows)
    frame.groupby(["seed", "setting", "dataset"], sort=False).mean(numeric_only=True).drop(columns="fold").round(
        5
    ).to_csv(arguments.out)
    text = table(frame)
    arguments.out.with_suffix(".md").write_text(text)
    print(text)


if __name__ == "__main__":
    main()
