"""How long fits take under a time limit, on a table that is too large for it.

    python benchmarks/limits.py [--rows 50000 200000 1000000] [--classes 100 500 2000] [--limits 1 3 10] [--busy]

Seconds on the wall and of the processor, by one thread. The first methods take a forest that was trained before, on
5,000 of the rows, or boosted trees, or trees of full size; those that "train" train it on the rows, or on as many as
there is time for, as RCBoost does with its first tree. Those "on a table" read the rows from a Parquet file; those "of
texts and dates" have a frame without numbers, those "behind" an encoder its texts alone; those "for 500 classes" have
twenty rows of each. The last ones train models that are slow by themselves, of many trees, columns or settings. A limit
is about time on the wall; on a machine that is busy with other work, `--busy` has the limits kept by the time of the
processor instead, which is the same on one that is not. With `--out benchmarks/limits` raw results go to a `.json`
file, and the page to a `.md` file.
"""

from __future__ import annotations

import os

for _threads in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[_threads] = "1"

import argparse
import json
import platform
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

on_the_wall = time.perf_counter
if "--busy" in sys.argv:
    time.perf_counter = time.process_time  # for everybody

import numpy as np
import pandas as pd
from catboost import CatBoostClassifier
from lightgbm import LGBMClassifier
from sklearn.base import clone
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier, RandomForestRegressor
from sklearn.frozen import FrozenEstimator
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, OrdinalEncoder
from xgboost import XGBClassifier

from rulecover import MIRCOClassifier, MIRCORegressor, RCBoostClassifier, RulePathClassifier, open_table
from rulecover.exceptions import CutShortWarning
from rulecover.study.pages import write_page

TREES, DEPTH, COLUMNS, TRAINED_ON, BOOSTED = 30, 8, 15, 5000, 1000
#: The rows that trees of full size are trained on.
FULL = 50_000
ONE_HOT = OneHotEncoder(handle_unknown="ignore", max_categories=50)
#: Rows and columns of tables of texts.
TEXTS = [(100_000, 50), (1_000_000, 15)]
SEARCHED = {"max_depth": [3, 5, 8, 12], "n_estimators": [100, 200, 300]}
CATBOOST: dict[str, Any] = {
    "iterations": 200,
    "random_state": 0,
    "verbose": False,
    "allow_writing_files": False,
    "thread_count": 1,
}


def data(rows: int) -> tuple[Any, Any, Any]:
    """Numbers, classes that depend on some of them with noise, and what they depend on as a number."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(rows, COLUMNS))
    z = X[:, 0] * X[:, 1] + np.sin(2 * X[:, 2]) + (X[:, 3] > 0.5) + rng.normal(size=rows)
    return X, (z > 0.3).astype(int), z


def framed(X: Any) -> pd.DataFrame:
    return pd.DataFrame(X, columns=[f"x{f}" for f in range(COLUMNS)])


def fits_on_table(rows: int, folder: str) -> dict[str, tuple[Callable[[float], Any], Any, Any]]:
    """The same for fits that read the rows from a file in a folder: what opens it, in place of X, and no y."""
    X, y, _ = data(rows)
    frame = framed(X)
    some = slice(0, TRAINED_ON)
    forest = FrozenEstimator(RandomForestClassifier(TREES, max_depth=DEPTH, random_state=0).fit(frame[some], y[some]))
    frame.assign(y=y).to_parquet(Path(folder) / f"{rows}.parquet", index=False)
    opened = partial(open_table, Path(folder) / f"{rows}.parquet", target="y")
    settings: dict[str, Any] = {"train_in_folds": False, "random_state": 0}
    return {
        "cover on a table": (lambda limit: MIRCOClassifier(forest, time_limit=limit), opened, None),
        "trains a forest, cover on a table": (
            lambda limit: MIRCOClassifier(clone(forest.estimator), time_limit=limit, random_state=0),
            *(opened, None),
        ),
        "path on a table": (lambda limit: RulePathClassifier(forest, time_limit=limit, **settings), opened, None),
        "trains by default, path on a table": (
            lambda limit: RulePathClassifier(time_limit=limit, random_state=0),
            *(opened, None),
        ),
    }


def fits_for_classes(n_classes: int) -> dict[str, tuple[Callable[[float], Any], Any, Any]]:
    """The same for many classes of twenty rows each."""
    rng = np.random.default_rng(0)
    y = np.repeat(np.arange(n_classes), 20)
    X = 3 * rng.normal(size=(n_classes, COLUMNS))[y] + rng.normal(size=(len(y), COLUMNS))
    return fits_by_default(f"for {n_classes:,} classes", X, y)


def fits_by_default(words: str, X: Any, y: Any) -> dict[str, tuple[Callable[[float], Any], Any, Any]]:
    """The same for each method as it is by default."""
    return {
        f"trains a forest, cover {words}": (lambda limit: MIRCOClassifier(time_limit=limit, random_state=0), X, y),
        f"trains by default, path {words}": (lambda limit: RulePathClassifier(time_limit=limit, random_state=0), X, y),
        f"RCBoost {words}": (lambda limit: RCBoostClassifier(time_limit=limit, random_state=0), X, y),
    }


def table_of_texts(rows: int, columns: int) -> tuple[pd.DataFrame, Any]:
    """Texts of few levels and of many, digits as texts, prices, dates in texts and dates; and classes."""
    rng = np.random.default_rng(0)
    days = pd.Timestamp("2000-01-01") + pd.to_timedelta(np.arange(8000), unit="D")
    kinds: list[Callable[[], Any]] = [
        *(partial(rng.choice, [f"level {k}" for k in range(levels)], rows) for levels in (5, 50, 500, 20_000)),
        lambda: rng.integers(0, 20_000, rows).astype(str),
        lambda: np.array([f"${k / 100:,.2f}" for k in range(500_000)])[rng.integers(0, 500_000, rows)],
        lambda: days.strftime("%d.%m.%Y").to_numpy()[rng.integers(0, 8000, rows)],
        lambda: days.to_numpy()[rng.integers(0, 8000, rows)],
    ]
    table = pd.DataFrame({f"x{f}": kinds[f % len(kinds)]() for f in range(columns)})
    return table, ((table["x0"] == "level 1") | (rng.random(rows) > 0.7)).astype(int)


def fits_to_texts(rows: int, columns: int) -> dict[str, tuple[Callable[[float], Any], Any, Any]]:
    """The same for a table of texts and dates, and for its texts behind encoders of scikit-learn."""
    table, y = table_of_texts(rows, columns)
    texts = table[[name for f, name in enumerate(table) if f % 8 < 5]]
    found = fits_by_default(f"of {columns} texts and dates", table, y)
    forest, histograms = RandomForestClassifier(random_state=0), HistGradientBoostingClassifier(random_state=0)
    unknown = {"handle_unknown": "use_encoded_value", "unknown_value": -1}
    for name, trains, kept in (
        ("a one-hot encoder", make_pipeline(ONE_HOT, forest), make_pipeline(ONE_HOT, forest)),
        (
            "an ordinal encoder",
            make_pipeline(OrdinalEncoder(), histograms),
            make_pipeline(OrdinalEncoder(**unknown), histograms),
        ),
    ):
        before = FrozenEstimator(kept.fit(texts[:TRAINED_ON], y[:TRAINED_ON]))
        for method, kind in (("cover", MIRCOClassifier), ("path", RulePathClassifier)):
            for how, source in (("trains, ", trains), ("", before)):
                found[f"{how}{method} of {texts.shape[1]} texts behind {name}"] = (
                    lambda limit, kind=kind, source=source: kind(source, time_limit=limit, random_state=0),
                    *(texts, y),
                )
    return found


def fits_of_slow_models() -> dict[str, tuple[Callable[[float], Any], Any, Any]]:
    """The same for models that take long to train on few rows as well."""
    X, y, _ = data(2000)
    wide = np.random.default_rng(0).normal(size=(500, 5000))
    classes = np.arange(1200) % 60
    found: dict[str, tuple[Callable[[float], Any], Any, Any]] = {}
    for name, source, rows, labels in (
        ("a forest of 100,000 trees", RandomForestClassifier(100_000, random_state=0), X, y),
        ("a search for 12 settings", GridSearchCV(RandomForestClassifier(random_state=0), SEARCHED), X, y),
        ("CatBoost on 5,000 columns", CatBoostClassifier(**CATBOOST), wide, wide[:, 0] > 0),
        ("histograms of 5,000 columns", HistGradientBoostingClassifier(random_state=0), wide, wide[:, 0] > 0),
        ("LightGBM for 60 classes", LGBMClassifier(n_estimators=200, n_jobs=1, verbose=-1), X[:1200], classes),
        ("XGBoost for 60 classes", XGBClassifier(n_estimators=200, n_jobs=1), X[:1200], classes),
        ("CatBoost for 60 classes", CatBoostClassifier(**CATBOOST), X[:1200], classes),
    ):
        found[f"trains {name}, cover"] = (
            lambda limit, source=source: MIRCOClassifier(source, time_limit=limit, random_state=0),
            *(rows, labels),
        )
    return found


def fits(rows: int) -> dict[str, tuple[Callable[[float], Any], Any, Any]]:
    """For each method a function from a limit to a model to be fitted, and the data."""
    X, y, z = data(rows)
    some = slice(0, TRAINED_ON)
    forest = FrozenEstimator(RandomForestClassifier(TREES, max_depth=DEPTH, random_state=0).fit(X[some], y[some]))
    numbers = FrozenEstimator(RandomForestRegressor(TREES, max_depth=DEPTH, random_state=0).fit(X[some], z[some]))
    boosted = FrozenEstimator(LGBMClassifier(n_estimators=BOOSTED, n_jobs=1, verbose=-1).fit(X[some], y[some]))

    def covers(solver: str, **settings: Any) -> Callable[[float], Any]:
        return lambda limit: MIRCOClassifier(forest, solver=solver, time_limit=limit, random_state=0, **settings)

    return {
        "cover, greedy": (covers("greedy"), X, y),
        "cover, search": (covers("search"), X, y),
        "cover, exact": (covers("exact"), X, y),
        "cover, exact, not pruned": (covers("exact", prune=False), X, y),
        f"cover, {BOOSTED:,} boosted trees": (
            lambda limit: MIRCOClassifier(boosted, time_limit=limit, random_state=0),
            *(X, y),
        ),
        f"path, {BOOSTED:,} boosted trees": (
            lambda limit: RulePathClassifier(boosted, time_limit=limit, random_state=0, train_in_folds=False),
            *(X, y),
        ),
        "cover, forward": (lambda limit: MIRCORegressor(numbers, time_limit=limit), X, z),
        "path, kept model": (
            lambda limit: RulePathClassifier(forest, time_limit=limit, train_in_folds=False, random_state=0),
            *(X, y),
        ),
        "path, models in folds": (lambda limit: RulePathClassifier(forest, time_limit=limit, random_state=0), X, y),
        "trains a forest, cover": (
            lambda limit: MIRCOClassifier(clone(forest.estimator), time_limit=limit, random_state=0),
            *(X, y),
        ),
        "trains by default, path": (lambda limit: RulePathClassifier(time_limit=limit, random_state=0), X, y),
        "trains a forest, cover of numbers": (lambda limit: MIRCORegressor(time_limit=limit, random_state=0), X, z),
        "RCBoost, trees": (
            lambda limit: RCBoostClassifier(pricing="tree", time_limit=limit, random_state=0),
            *(X, y),
        ),
        "RCBoost, forests": (lambda limit: RCBoostClassifier(time_limit=limit, random_state=0), X, y),
    }


def fits_of_full_trees(rows: int, folder: str) -> dict[str, tuple[Callable[[float], Any], Any, Any]]:
    """The same for trees of thousands of leaves; the table is there already."""
    X, y, _ = data(rows)
    forest = FrozenEstimator(RandomForestClassifier(TREES, random_state=0, n_jobs=-1).fit(framed(X[:FULL]), y[:FULL]))
    opened = partial(open_table, Path(folder) / f"{rows}.parquet", target="y")
    frame = framed(X)
    kinds: dict[str, tuple[Any, dict[str, Any]]] = {
        "cover, greedy": (MIRCOClassifier, {}),
        "cover, greedy, not pruned": (MIRCOClassifier, {"prune": False}),
        "cover, search": (MIRCOClassifier, {"solver": "search"}),
        "path": (RulePathClassifier, {"train_in_folds": False}),
        "cover on a table": (MIRCOClassifier, {}),
    }
    return {
        f"{name}, trees of full size": (
            lambda limit, kind=kind, settings=settings: kind(forest, time_limit=limit, random_state=0, **settings),
            *((opened, None) if "table" in name else (frame, y)),
        )
        for name, (kind, settings) in kinds.items()
    }


def fits_here_and_on_table(rows: int, folder: str) -> dict[str, tuple[Callable[[float], Any], Any, Any]]:
    return fits(rows) | fits_on_table(rows, folder) | fits_of_full_trees(rows, folder)


def measured(model: Any, X: Any, y: Any) -> dict[str, Any]:
    """The seconds of a fit, and what was cut."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        wall, processor = on_the_wall(), time.process_time()
        model.fit(X() if callable(X) else X, y)  # a table that was read before would know its targets
        taken = {"wall": on_the_wall() - wall, "processor": time.process_time() - processor}
    notes = [
        str(each.message).partition(": ")[2].partition(";")[0] for each in caught if each.category is CutShortWarning
    ]
    if hasattr(model, "certificate_"):
        notes.append(f"{model.certificate_.n_rules} rules, {model.certificate_.status}")
    return taken | {"cut": "; ".join(notes)}


def line(found: dict[str, Any]) -> str:
    """A result as a line of a table."""
    seconds = f"{found['processor']:.1f} | {found['wall']:.1f}"
    return f"| {found['rows']:,} | {found['method']} | {found['limit']:g} | {seconds} | {found['cut']} |"


def page(results: list[dict[str, Any]], command: str, *, busy: bool) -> str:
    """All results as a page."""
    late = max(each["processor"] - each["limit"] for each in results)
    said = [
        "# Fits under a time limit",
        "",
        f"{COLUMNS} columns of numbers where the method does not say otherwise, a forest of {TREES} trees of depth "
        f"{DEPTH}, trained before on {TRAINED_ON:,} of the rows where the method does not say that it trains one, one "
        f"thread; trees of full size are trained on {FULL:,} rows; "
        f"by `{command}`, on {platform.machine()}. Raw results: [limits.json](limits.json).",
        "",
        f"The latest ended {late:.1f} s of the processor after its limit."
        + (" The machine was busy with other work: limits are kept by the time of the processor." if busy else ""),
        "",
        "| rows | method | limit, s | taken, processor s | taken, wall s | what was cut |",
        "|---|---|---|---|---|---|",
    ]
    return "\n".join([*said, *map(line, results), ""])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, nargs="*", default=[50_000, 200_000, 1_000_000])
    parser.add_argument("--classes", type=int, nargs="*", default=[100, 500, 2000])
    parser.add_argument("--limits", type=float, nargs="+", default=[1.0, 3.0, 10.0])
    parser.add_argument("--busy", action="store_true", help="take the time of the processor for that of the wall")
    parser.add_argument("--out", type=Path, help="where the page and the raw results go, without an ending")
    options = parser.parse_args()
    results: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory() as folder:
        tables = [(rows, partial(fits_here_and_on_table, rows, folder)) for rows in options.rows]
        many_classes = [(20 * n, partial(fits_for_classes, n)) for n in options.classes]
        most = max(options.rows, default=0)
        texts = [(rows, partial(fits_to_texts, rows, columns)) for rows, columns in TEXTS if rows <= most]
        for rows, fits_to in [*tables, *texts, *many_classes, (None, fits_of_slow_models)]:
            for name, (make, X, y) in fits_to().items():
                for limit in options.limits:
                    found = measured(make(limit), X, y)
                    results.append({"rows": rows or len(y), "method": name, "limit": limit, **found})
                    print(line(results[-1]), flush=True)
    if options.out:
        options.out.with_suffix(".json").write_text(json.dumps(results, indent=1) + "\n")
        command = " ".join(["python benchmarks/limits.py", *sys.argv[1:]])
        write_page(options.out.with_suffix(".md"), page(results, command, busy=options.busy))


if __name__ == "__main__":
    main()
