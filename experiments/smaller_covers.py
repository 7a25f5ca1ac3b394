"""Is a smaller cover as accurate? Greedy next to search with effort 1, on 10 folds of the small data sets.

    python experiments/smaller_covers.py --data FOLDER

Forests of 100 trees of depth 10 on the training part; missed rows by every rule's share (fallback "all").
"""

from __future__ import annotations

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")

import argparse
from pathlib import Path

import pandas as pd
from rich.console import Console
from rich.progress import track
from sklearn.ensemble import RandomForestClassifier
from sklearn.frozen import FrozenEstimator

from rulecover import MIRCOClassifier
from rulecover.study import Fold, load
from rulecover.study.pages import write_page

HERE = Path(__file__).parent
SETS = "wdbc,diabetes,ecoli,glass,liver,ionosphere,seeds,wine,banknote,transfusion,ildp"


def cover(forest: RandomForestClassifier, **settings: str) -> MIRCOClassifier:
    return MIRCOClassifier.as_in_paper(FrozenEstimator(forest), fallback="all", **settings)


def one_fold(fold: Fold) -> dict[str, float]:
    X_train, y_train, X_test, y_test = fold.X_train, fold.y_train, fold.X_test, fold.y_test
    forest = RandomForestClassifier(100, max_depth=10, random_state=0).fit(X_train, y_train)
    row = {"forest": forest.score(X_test, y_test)}
    for solver in ("greedy", "search"):
        few = cover(forest, solver=solver).fit(X_train, y_train)
        row[f"{solver}_rules"] = len(few.rules_)
        row[f"{solver}_missed"] = few.missed(X_test).mean()
        row[f"{solver}_counts"] = few.score(X_test, y_test)
        shares = cover(forest, solver=solver, vote="shares").fit(X_train, y_train)
        row[f"{solver}_shares"] = shares.score(X_test, y_test)
    return row


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="folder with one CSV file a data set")
    parser.add_argument("--datasets", default=SETS, help="names, separated by commas")
    parser.add_argument("--out", type=Path, default=HERE / "smaller_covers.csv")
    arguments = parser.parse_args()
    rows = []
    names = arguments.datasets.split(",")
    for name in track(names, "data sets", console=Console(stderr=True)):
        data = load(name, arguments.data)
        rows += [{"dataset": name, "fold": number, **one_fold(Fold.of(data, number))} for number in range(10)]
    results = pd.DataFrame(rows)
    results.to_csv(arguments.out, index=False)
    write_page(arguments.out.with_suffix(".md"), text := table(results))
    print(text)


def table(results: pd.DataFrame) -> str:
    mean = results.groupby("dataset", sort=False).mean().drop(columns="fold")
    mean.loc["**mean**"] = mean.mean()
    lines = [
        "# Is a smaller cover as accurate?",
        "",
        "Made by `python experiments/smaller_covers.py --data FOLDER`. Cells: greedy / search with effort 1.",
        "",
        "| data set | rules | accuracy, counts | accuracy, shares | missed | forest |",
        "|---|---|---|---|---|---|",
    ]
    for name, row in mean.iterrows():
        cells = [f"{row['greedy_rules']:.1f} / {row['search_rules']:.1f}"]
        cells += [f"{row[f'greedy_{vote}']:.3f} / {row[f'search_{vote}']:.3f}" for vote in ("counts", "shares")]
        cells += [f"{100 * row['greedy_missed']:.1f} / {100 * row['search_missed']:.1f} %", f"{row['forest']:.3f}"]
        lines.append(f"| {name} | {' | '.join(cells)} |")
    last = mean.loc["**mean**"]
    return "\n".join(
        [*lines, "", f"Search has {last['search_rules'] / last['greedy_rules']:.3f} times the rules of greedy.", ""]
    )


if __name__ == "__main__":
    main()
