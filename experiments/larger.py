"""Rule paths on larger data, next to the forest they come from, boosted trees and other rule learners.

    python experiments/larger.py --data FOLDER [--folds 5] [--rows 2000] [--seconds 40]

5 outer folds (seed 25), all models at the settings of their makers. Peers that are slow on many rows are trained on a
sample of the training part, as large as --rows says, and left out where a fit takes more CPU time than --seconds. Every
finished piece (fold, data set) is appended to the result file at once, and left out the next time.
"""

from __future__ import annotations

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")

import argparse
import signal
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
from frontier import HERE, row
from rich.console import Console
from rich.progress import track
from sklearn.ensemble import RandomForestClassifier
from sklearn.frozen import FrozenEstimator
from sklearn.model_selection import train_test_split

from rulecover import RulePathClassifier
from rulecover.study import METHODS, Fold, load
from rulecover.study.folds import splits
from rulecover.study.pages import write_page

FOLDS, SEED = 5, 25
SETS = "compas,magic,bank_mkt,default,skinnonskin,adult,agaricus-lepiota"
SIZES = (10, 25, 50, 100)
FAST, SLOW = ("XGBoost", "LightGBM"), ("FIGS", "RuleFit", "RUG", "EBM")
FIGURES = ["model", "accuracy", "rules", "clauses", "missed", "rows", "seconds"]


class TooSlow(Exception):
    """A fit took more CPU time than it was given."""


@contextmanager
def at_most(seconds: float) -> Iterator[None]:
    """Raises inside once so much CPU time has gone by."""

    def stop(*_: object) -> None:
        raise TooSlow

    before = signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0.0)
        signal.signal(signal.SIGPROF, before)


def models(fold: Fold, most_rows: int, most_seconds: float) -> Iterator[dict[str, object]]:
    """Every model of a fold: the forest, its path, and the others."""
    start = time.process_time()
    forest = RandomForestClassifier(100, random_state=0).fit(fold.X_train, fold.y_train)
    trained = time.process_time()
    rows = len(fold.y_train)
    leaves = sum(tree.get_n_leaves() for tree in forest.estimators_)
    yield row("forest", forest, fold, leaves) | {"rows": rows, "seconds": trained - start}
    path = RulePathClassifier(FrozenEstimator(forest), max_rules=max(SIZES), choose="last")
    path.fit(fold.X_train, fold.y_train)
    followed = time.process_time()
    for size in SIZES:
        mine = path.at(min(size, path.n_rules_))
        yield row(f"path {size}", mine, fold) | {"rows": rows, "seconds": followed - start}
    few = sample(fold, most_rows)
    for name in FAST:
        yield peer(name, fold, fold)
    for name in SLOW:
        found = []
        with suppress(TooSlow), at_most(most_seconds):
            found.append(peer(name, few, fold))
        yield from found


def peer(name: str, learned: Fold, fold: Fold) -> dict[str, object]:
    """A method of the study, trained on one fold and asked about another."""
    start = time.process_time()
    done = METHODS[name].learn(learned)[name]
    seconds = time.process_time() - start
    figures = row(name, done.model, fold, done.rules, done.clauses)
    return figures | {"rows": len(learned.y_train), "seconds": seconds}


def sample(fold: Fold, most_rows: int) -> Fold:
    """The same fold with so many training rows at most."""
    if len(fold.y_train) <= most_rows:
        return fold
    X, _, y, _ = train_test_split(
        fold.X_train, fold.y_train, train_size=most_rows, stratify=fold.y_train, random_state=0
    )
    return replace(fold, X_train=X, y_train=y)


def run(arguments: argparse.Namespace) -> None:
    out = arguments.out
    done = set() if not out.exists() else set(pd.read_csv(out)[["fold", "dataset"]].itertuples(index=False, name=None))
    cells = [(fold, name) for fold in range(arguments.folds) for name in arguments.datasets.split(",")]
    for number, name in track(cells, "folds", console=Console(stderr=True)):
        if (number, name) in done:
            continue
        data = load(name, arguments.data)
        train, test = splits(data.y, FOLDS, SEED)[number]
        fold = Fold(data.X[train], data.y[train], data.X[test], data.y[test], SEED)
        piece = pd.DataFrame(
            [{"fold": number, "dataset": name, **each} for each in models(fold, arguments.rows, arguments.seconds)]
        )
        piece.reindex(columns=["fold", "dataset", *FIGURES]).to_csv(
            out, mode="a", index=False, header=not out.exists(), float_format="%.5g"
        )


def table(results: pd.DataFrame) -> str:
    """Accuracy and rules of each model on each data set, means over the folds."""
    by_set = results.groupby(["dataset", "model"], sort=False).mean(numeric_only=True)
    names = ["forest", *(f"path {size}" for size in SIZES), *FAST, *SLOW]
    lines = [f"| data set | folds | {' | '.join(names)} |", "|---" * (len(names) + 2) + "|"]
    for name in results["dataset"].unique():
        folds = results.loc[results["dataset"] == name, "fold"].nunique()
        cells = []
        for model in names:
            done = results.loc[(results["dataset"] == name) & (results["model"] == model), "fold"].nunique()
            if done < folds:
                cells.append(f"too slow in {folds - done} folds" if done else "too slow")
                continue
            mine = by_set.loc[(name, model)]
            cells.append(f"{mine['accuracy']:.4f}" + ("" if np.isnan(mine["rules"]) else f" ({mine['rules']:.0f})"))
        lines.append(f"| {name} | {folds} | {' | '.join(cells)} |")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="folder with one CSV file a data set")
    parser.add_argument("--datasets", default=SETS, help="names, separated by commas")
    parser.add_argument("--folds", type=int, default=FOLDS, help="so many of the five")
    parser.add_argument("--rows", type=int, default=2000, help="training rows of the slow peers at most")
    parser.add_argument("--seconds", type=float, default=40.0, help="CPU time of one of their fits at most")
    parser.add_argument("--out", type=Path, default=HERE / "larger.csv")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")  # of the peers
    run(arguments)
    text = f"""# Rule paths on larger data

Made by `python experiments/larger.py --data FOLDER`: 5-fold cross-validation (seed 25), mean accuracy, in brackets the
number of rules (leaves of forest and boosted trees, terms of EBM). All models at the settings of their makers (EBM with
at most 1,000 rounds), one thread; {", ".join(SLOW)} on at most {arguments.rows:,} rows of each training part and
{arguments.seconds:g} CPU seconds (else "too slow"), all others on all rows. Rows with gaps are left out, words one-hot
encoded.

{table(pd.read_csv(arguments.out))}
"""
    write_page(arguments.out.with_suffix(".md"), text, "lightgbm", "interpret-core", "imodels")
    print(text)


if __name__ == "__main__":
    main()
