"""Rule paths on binned columns: how often the same rules are found again, and what that costs.

    python experiments/steadier.py --data FOLDER [--pairs 1]

A third of the rows is held out, and a path is followed on each of two bootstraps of the others, without bins, with 10
and with 20; as often as --pairs says, each time with other rows held out. Where the depth of the candidates is not
named it is the usual one: 3 in bins, otherwise 4, and 8 from 2,000 rows on or for more than two classes. Every finished
data set is appended to the result file at once, and left out the next time.
"""

from __future__ import annotations

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")

import argparse
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd
from rich.console import Console
from rich.progress import track
from sklearn.base import clone
from sklearn.metrics import log_loss
from sklearn.model_selection import train_test_split

from rulecover import RulePathClassifier, RuleSet
from rulecover.study import Data, load
from rulecover.study.pages import write_page

HERE = Path(__file__).parent
SETS = (
    "wdbc,glass,diabetes,seeds,banknote,ionosphere,ecoli,ildp,liver,oilspill,transfusion,wine,tic-tac-toe,phoneme,"
    "mammography"
)
SIZES = (10, 25, 50)
#: The settings of a path, by name.
SETTINGS = {
    "no bins": {},
    "no bins, depth 3": {"max_depth": 3},
    "10 bins": {"n_bins": 10},
    "20 bins": {"n_bins": 20},
    "10 bins, depth 4": {"n_bins": 10, "max_depth": 4},
}


def pair_of_bootstraps(data: Data, seed: int) -> Iterator[dict[str, object]]:
    """Every setting and size: what the paths of two bootstraps share, and how good they are on held-out rows."""
    rng = np.random.default_rng(seed)
    kept, held_out = train_test_split(np.arange(len(data.y)), test_size=1 / 3, stratify=data.y, random_state=seed)
    draws = [drawn(kept, data.y, rng) for _ in range(2)]
    for name, settings in SETTINGS.items():
        path = RulePathClassifier(max_rules=max(SIZES), choose="last", random_state=seed, **settings)
        both = [clone(path).fit(data.X[rows], data.y[rows]) for rows in draws]
        for size in SIZES:
            pair = [each.at(min(size, each.n_rules_)) for each in both]
            figures = np.mean([scores(each, data.X[held_out], data.y[held_out]) for each in pair], axis=0)
            shared = {f"same_{what}": overlap(pair, what) for what in ("rules", "columns")}
            yield {"setting": name, "size": size, **dict(zip(FIGURES, figures, strict=True)), **shared}


FIGURES = ("accuracy", "log_loss", "clauses")


def drawn(kept: np.ndarray, y: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """A bootstrap of the rows with as many of each class."""
    return np.concatenate([rng.choice(mine := kept[y[kept] == label], len(mine)) for label in np.unique(y)])


def scores(model: RulePathClassifier, X: np.ndarray, y: np.ndarray) -> tuple[float, ...]:
    shares = model.predict_proba(X)
    return model.score(X, y), log_loss(y, shares, labels=model.classes_), float(np.mean(model.rules_.lengths))


def overlap(pair: list[RulePathClassifier], what: str) -> float:
    """The share of the rules of one model that the other has, too."""
    one, other = (described(model.rules_, bounds=what == "rules") for model in pair)
    return 2 * len(one & other) / max(len(one) + len(other), 1)


def described(rules: RuleSet, *, bounds: bool) -> set[frozenset[tuple[object, ...]]]:
    """Columns and directions of the clauses of each rule, with the bounds as they are printed or without."""
    clauses = rules.shown or rules.clauses
    ends = clauses.lower, clauses.upper
    if not bounds:
        ends = np.isfinite(clauses.lower), np.isfinite(clauses.upper)
    parts = list(zip(clauses.feature.tolist(), ends[0].tolist(), ends[1].tolist(), strict=True))
    return {frozenset(parts[a:b]) for a, b in zip(clauses.offset[:-1], clauses.offset[1:], strict=True)}


def run(arguments: argparse.Namespace) -> None:
    out = arguments.out
    done = set(pd.read_csv(out)["dataset"]) if out.exists() else set()
    for name in track(arguments.datasets.split(","), "data sets", console=Console(stderr=True)):
        if name in done:
            continue
        data = load(name, arguments.data)
        rows = [
            {"dataset": name, "pair": seed, **each}
            for seed in range(arguments.pairs)
            for each in pair_of_bootstraps(data, seed)
        ]
        pd.DataFrame(rows).to_csv(out, mode="a", index=False, header=not out.exists(), float_format="%.5g")


def table(results: pd.DataFrame) -> str:
    """Means over the data sets; differences to paths without bins, with standard errors over the data sets."""
    by_set = results.groupby(["setting", "size", "dataset"]).mean(numeric_only=True)
    lines = [
        "| setting | rules | accuracy | difference | log loss | difference | clauses per rule | same rule | "
        "same columns and directions |",
        "|---" * 9 + "|",
    ]
    for name in SETTINGS:
        for size in SIZES:
            mine, plain = by_set.loc[(name, size)], by_set.loc[("no bins", size)]
            mean = mine.mean()
            apart = {key: "" if name == "no bins" else difference(mine[key] - plain[key]) for key in FIGURES[:2]}
            lines.append(
                f"| {name} | {size} | {mean['accuracy']:.4f} | {apart['accuracy']} | {mean['log_loss']:.3f} | "
                f"{apart['log_loss']} | {mean['clauses']:.2f} | {mean['same_rules']:.1%} | {mean['same_columns']:.1%} |"
            )
    return "\n".join(lines)


def difference(apart: pd.Series) -> str:
    return f"{apart.mean():+.4f} ± {apart.std(ddof=1) / np.sqrt(len(apart)):.4f}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="folder with one CSV file per data set")
    parser.add_argument("--datasets", default=SETS, help="names, separated by commas")
    parser.add_argument("--pairs", type=int, default=1, help="pairs of bootstraps per data set")
    parser.add_argument("--out", type=Path, default=HERE / "steadier.csv")
    arguments = parser.parse_args()
    run(arguments)
    results = pd.read_csv(arguments.out)
    text = f"""# Rule paths on binned columns

Made by `python experiments/steadier.py --data FOLDER`: {results["dataset"].nunique()} data sets, on each two
bootstraps of two thirds of the rows, scores on the other third. "Same rule"
is the share of the rules of one bootstrap that the other one has, too, with the same printed bounds; "same columns and
directions" leaves the bounds out. Differences are to "no bins" at the same number of rules, ± the standard error over
the data sets.

{table(results)}
"""
    write_page(arguments.out.with_suffix(".md"), text)
    print(text)


if __name__ == "__main__":
    main()
