"""MIRCO of boosters next to MIRCO of a forest, with and without the weights that a booster gives to its trees.

    python experiments/boosters.py --data FOLDER

10 folds as in Table S.2. Forest: 100 trees of depth 10; gradient boosting, histogram gradient boosting: scikit-learn's
defaults, no early stopping; AdaBoost: 100 trees of depth 5. Greedy covers, votes by counts, missed rows by every rule's
share (fallback "all").
"""

from __future__ import annotations

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")

import argparse
import warnings
from pathlib import Path

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

from rulecover import MIRCOClassifier
from rulecover.study import Fold, load
from rulecover.study.datasets import DATASETS
from rulecover.study.pages import write_page

HERE = Path(__file__).parent
MODELS = {
    "forest": RandomForestClassifier(100, max_depth=10, random_state=0),
    "gradient boosting": GradientBoostingClassifier(random_state=0),
    "histogram boosting": HistGradientBoostingClassifier(early_stopping=False, random_state=0),
    "AdaBoost": AdaBoostClassifier(DecisionTreeClassifier(max_depth=5), n_estimators=100, random_state=0),
}
#: The weights in cost and vote, and what the impurity counts.
SETTINGS = [(weights, impurity) for impurity in (1, 5) for weights in (None, "cost", "vote", "both")]


def one_fold(fold: Fold) -> list[dict]:
    rows = []
    for name, model in MODELS.items():
        model.fit(fold.X_train, fold.y_train)
        accuracy = model.score(fold.X_test, fold.y_test)
        for weights, impurity in SETTINGS:
            if name == "forest" and weights is not None:  # its trees are alike
                continue
            settings = {"estimator_weights": weights, "impurity_weight": impurity, "fallback": "all"}
            few = MIRCOClassifier.as_in_paper(FrozenEstimator(model), **settings).fit(fold.X_train, fold.y_train)
            rows.append(
                {
                    "model": name,
                    "weights": weights or "none",
                    "impurity_weight": impurity,
                    "accuracy": few.score(fold.X_test, fold.y_test),
                    "rules": len(few.rules_),
                    "missed": few.missed(fold.X_test).mean(),
                    "fidelity": few.fidelity(fold.X_test),
                    "model_accuracy": accuracy,
                }
            )
    return rows


def table(results: pd.DataFrame) -> str:
    measured = ["accuracy", "rules", "missed", "fidelity", "model_accuracy"]
    by_set = results.groupby(["dataset", "model", "weights", "impurity_weight"], sort=False)[measured].mean()
    mean = by_set.groupby(["model", "impurity_weight", "weights"], sort=False).mean()
    lines = [
        "# MIRCO of boosters",
        "",
        f"Made by `python experiments/boosters.py --data FOLDER`: means of {results['dataset'].nunique()} data sets, "
        "10 folds each. Weights: where the booster's weights come in (`estimator_weights`).",
        "",
        "| model | its accuracy | impurity weight | weights | accuracy | rules | missed | fidelity |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for (model, impurity, weights), row in mean.iterrows():
        lines.append(
            f"| {model} | {row['model_accuracy']:.3f} | {impurity:g} | {weights} | {row['accuracy']:.3f} "
            f"| {row['rules']:.1f} | {100 * row['missed']:.1f} % | {row['fidelity']:.3f} |"
        )
    lines += [
        "",
        "By data set, impurity weight 5: accuracy (rules) of the forest's rules and of the boosters' with both.",
    ]
    lines += ["", f"| data set | {' | '.join(MODELS)} |", f"|---|{'---|' * len(MODELS)}"]
    for name in by_set.index.unique("dataset"):
        keys = [(name, model, "none" if model == "forest" else "both", 5) for model in MODELS]
        cells = [f"{by_set.loc[key, 'accuracy']:.3f} ({by_set.loc[key, 'rules']:.1f})" for key in keys]
        lines.append(f"| {name} | {' | '.join(cells)} |")
    return "\n".join([*lines, ""])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="folder with one CSV file a data set")
    parser.add_argument("--datasets", default=",".join(DATASETS), help="names, separated by commas")
    parser.add_argument("--out", type=Path, default=HERE / "boosters.csv")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore", UserWarning)  # ecoli has classes with fewer samples than folds
    known = arguments.datasets.split(",")
    done = (
        pd.read_csv(arguments.out, keep_default_na=False) if arguments.out.exists() else pd.DataFrame({"dataset": []})
    )
    for name in track([n for n in known if n not in set(done["dataset"])], "data sets", console=Console(stderr=True)):
        data = load(name, arguments.data)
        rows = [{"dataset": name, "fold": k, **row} for k in range(10) for row in one_fold(Fold.of(data, k))]
        done = pd.concat([done, pd.DataFrame(rows)])
        done.round(6).to_csv(arguments.out, index=False)
    write_page(arguments.out.with_suffix(".md"), text := table(pd.read_csv(arguments.out, keep_default_na=False)))
    print(text)


if __name__ == "__main__":
    main()
