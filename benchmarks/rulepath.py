"""The path to 50 rules next to the training of the forest it comes from.

    python benchmarks/rulepath.py [--out docs/benchmarks-paths.md] [--rows 1000,2000,5000,20000,50000] [--runs 3]

CPU time of one thread, forest and path in turn, medians. The path is all that comes after the forest: reading its
trees, choosing and shortening 50 rules, fitting their votes, and the table of all sizes.
"""

from __future__ import annotations

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")

import argparse
import time
from pathlib import Path
from statistics import median

from sklearn.base import clone
from sklearn.datasets import make_classification, make_regression
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.frozen import FrozenEstimator

from rulecover import RulePathClassifier, RulePathRegressor
from rulecover.study.pages import write_page

FEATURES = 20


def seconds(action) -> float:
    start = time.process_time()
    action()
    return time.process_time() - start


def tasks(n: int):
    X, y = make_classification(n, FEATURES, n_informative=8, flip_y=0.1, random_state=0)
    yield "2 classes", X, y, RandomForestClassifier(100, random_state=0), RulePathClassifier
    for classes in (5, 10):
        X, y = make_classification(n, FEATURES, n_informative=8, n_classes=classes, flip_y=0.1, random_state=0)
        yield f"{classes} classes", X, y, RandomForestClassifier(100, random_state=0), RulePathClassifier
    X, y = make_regression(n, FEATURES, n_informative=8, noise=10.0, random_state=0)
    yield "numbers", X, y, RandomForestRegressor(100, max_features="sqrt", random_state=0), RulePathRegressor


def measured(X, y, forest, path_of, runs: int) -> tuple[float, float, float, float]:
    """Seconds for a forest, its path, the model that a path trains by default, and the path through that."""
    spent = []
    for _ in range(runs):
        trained = seconds(lambda: forest.fit(X, y))
        path = path_of(FrozenEstimator(forest), max_rules=50, choose="last")
        followed = seconds(lambda path=path: path.fit(X, y))
        assert path.n_rules_ == 50
        default = path_of(max_rules=50, choose="last", random_state=0)
        whole = seconds(lambda default=default: default.fit(X, y))
        again = clone(default.estimator_)
        model = seconds(lambda again=again: again.fit(X, y))
        spent.append((trained, followed, model, whole - model))
    return tuple(map(median, zip(*spent, strict=True)))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=Path(__file__).parents[1] / "docs" / "benchmarks-paths.md")
    parser.add_argument("--rows", default="1000,2000,5000,20000,50000")
    parser.add_argument("--runs", type=int, default=3)
    arguments = parser.parse_args()
    lines = [
        "# The path to 50 rules next to the training of its forest",
        "",
        f"Made by `python benchmarks/rulepath.py`: CPU seconds of one thread, medians; runs: {arguments.runs}.",
        f"Generated data of {FEATURES} columns, forests of 100 trees of any depth. The path is all that comes after",
        "the forest: reading trees, choosing and shortening 50 rules, fitting votes, and the table of all sizes.",
        'For more than two classes rules are chosen by the logistic loss, which takes longer. "Model" is what a path',
        "trains where none is given: the forest with a linear trend, for numbers and for more than two classes with",
        "boosted trees, too; its path has their nodes to choose from. Seconds depend on what else the machine does.",
        "",
        "| data | rows | forest | path | path / forest | microseconds per row | model | its path | its path / model |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for n in map(int, arguments.rows.split(",")):
        for name, X, y, forest, path_of in tasks(n):
            forest_s, path_s, model_s, rest_s = measured(X, y, forest, path_of, arguments.runs)
            cells = (
                name,
                f"{n:,}",
                f"{forest_s:.2f}",
                f"{path_s:.2f}",
                f"{path_s / forest_s:.2f}",
                f"{1e6 * path_s / n:.0f}",
                f"{model_s:.2f}",
                f"{rest_s:.2f}",
                f"{rest_s / model_s:.2f}",
            )
            lines.append(f"| {' | '.join(cells)} |")
            print(lines[-1], flush=True)
    write_page(arguments.out, "\n".join(lines))


if __name__ == "__main__":
    main()
