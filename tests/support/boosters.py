"""Random models of XGBoost, LightGBM and CatBoost, and rows that try every one of their splits."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import catboost
import lightgbm
import numpy as np
import xgboost
from sklearn_models import all_leaf_rules

from rulecover import read_trees
from rulecover.trees.tree import TreeEnsemble

#: Columns of the random data: numbers with ties, 0/1, of any size, with many zeros, plain; and two of categories.
N_NUMERIC = 5
N_CATEGORIES = (4, 40)


@dataclass(frozen=True)
class Case:
    """A trained model and how its library is asked.

    Parameters
    ----------
    model
        The model.
    X
        The data that it was trained on, categories as codes.
    leaves
        From rows to the library's numbers of their leaves, rows x trees.
    raw
        From rows to the sum that the trees add up to, rows x outputs.
    save
        Writes the model to a file.
    takes_infinity
        Whether the library does.
    given
        From rows of codes to rows as the library takes them.
    """

    model: Any
    X: np.ndarray
    leaves: Callable[[np.ndarray], np.ndarray]
    raw: Callable[[np.ndarray], np.ndarray]
    save: Callable[[str], Any]
    takes_infinity: bool = True
    given: Callable[[np.ndarray], Any] = lambda rows: rows


def random_columns(rng: np.random.Generator, *, n: int, missing: bool, categories: bool) -> np.ndarray:
    X = rng.normal(size=(n, N_NUMERIC + len(N_CATEGORIES) * categories))
    X[:, 0] = np.round(X[:, 0], 1)
    X[:, 1] = X[:, 1] > 0
    X[:, 2] *= 10.0 ** rng.integers(-30, 30)
    X[:, 3] = rng.integers(-2, 3, n) * rng.choice([1.0, 0.1, 1e-36])
    if missing:
        X[:, 1:][rng.random((n, X.shape[1] - 1)) < 0.15] = np.nan
    for k, size in enumerate(N_CATEGORIES[: X.shape[1] - N_NUMERIC]):
        X[:, N_NUMERIC + k] = np.where(np.isnan(X[:, N_NUMERIC + k]), np.nan, rng.integers(0, size, n))
    return X


def random_target(rng: np.random.Generator, X: np.ndarray, n_classes: int) -> np.ndarray:
    """Classes by number, or a number for each row if there are none; all columns have a say."""
    known = np.where(np.isnan(X), 0.7, X)
    spread = np.abs(known).max(axis=0)
    score = np.sin(3 * known / np.where(spread > 0, spread, 1)) @ rng.normal(size=X.shape[1])
    score += rng.normal(size=len(X)) * 0.3 + sum(np.sin(5 * known[:, c]) for c in range(N_NUMERIC, X.shape[1]))
    return np.argsort(np.argsort(score)) * n_classes // len(X) if n_classes else score


def settings(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray, int, bool]:
    """Data and target, the number of classes (0: regression), and whether there are categories."""
    n_classes, categories = int(rng.choice([0, 2, 3])), bool(rng.random() < 0.6)
    X = random_columns(rng, n=int(rng.integers(20, 80)), missing=bool(rng.random() < 0.5), categories=categories)
    return X, random_target(rng, X, n_classes), n_classes, categories


def one_of(rng: np.random.Generator, *choices: Any) -> Any:
    return choices[int(rng.integers(len(choices)))]


# XGBoost ----------------------------------------------------------------------------------------------------------


def xgboost_case(seed: int) -> Case:
    rng = np.random.default_rng(seed)
    X, y, n_classes, categories = settings(rng)
    types = ["q"] * N_NUMERIC + ["c"] * (X.shape[1] - N_NUMERIC)
    param: dict[str, Any] = {
        "booster": one_of(rng, "gbtree", "gbtree", "dart"),
        "tree_method": one_of(rng, "hist", "approx") if categories else one_of(rng, "hist", "approx", "exact"),
        "max_depth": int(rng.integers(1, 6)),
        "gamma": one_of(rng, 0.0, 0.0, 0.3),
        "subsample": one_of(rng, 1.0, 0.6),
        "num_parallel_tree": one_of(rng, 1, 1, 3),
        "max_cat_to_onehot": one_of(rng, 1, 3, 50),
        "min_child_weight": 0.0,
        "rate_drop": 0.3,
        "eta": 0.5,
        "seed": seed % 2**31,
        "nthread": 1,
        "verbosity": 0,
    }
    if param["booster"] == "gbtree":
        del param["rate_drop"]
    if n_classes > 2:
        param |= {"objective": "multi:softprob", "num_class": n_classes}
        if not categories and rng.random() < 0.7:
            param |= {"multi_strategy": "multi_output_tree", "tree_method": "hist", "booster": "gbtree"}
            param.pop("rate_drop", None)
    else:
        param["objective"] = "binary:logistic" if n_classes else "reg:squarederror"
    if n_classes == 0 and not categories and rng.random() < 0.3:
        y = np.column_stack([y, y[::-1]])

    def matrix(rows: np.ndarray, label: np.ndarray | None = None) -> Any:
        return xgboost.DMatrix(rows, label, feature_types=types, enable_categorical=categories)

    booster = xgboost.train(param, matrix(X, y), num_boost_round=int(rng.integers(1, 4)))
    return Case(
        model=booster,
        X=X,
        leaves=lambda rows: booster.predict(matrix(rows), pred_leaf=True).reshape(len(rows), -1),
        raw=lambda rows: booster.predict(matrix(rows), output_margin=True).reshape(len(rows), -1),
        save=booster.save_model,
        takes_infinity=False,
    )


# LightGBM ---------------------------------------------------------------------------------------------------------


def lightgbm_case(seed: int) -> Case:
    rng = np.random.default_rng(seed)
    X, y, n_classes, _ = settings(rng)
    param: dict[str, Any] = {
        "boosting": one_of(rng, "gbdt", "gbdt", "dart", "rf"),
        "num_leaves": int(rng.integers(2, 12)),
        "min_data_in_leaf": 2,
        "min_data_in_bin": 1,
        "min_sum_hessian_in_leaf": 0.0,
        "min_data_per_group": 1,
        "cat_smooth": 0.0,
        "cat_l2": 0.0,
        "max_cat_to_onehot": one_of(rng, 1, 8),
        "zero_as_missing": bool(rng.random() < 0.4),
        "use_missing": bool(rng.random() < 0.8),
        "extra_trees": bool(rng.random() < 0.3),
        "bagging_fraction": 0.7,
        "bagging_freq": 1,
        "objective": {0: "regression", 2: "binary", 3: "multiclass"}[n_classes],
        "seed": seed % 2**31,
        "num_threads": 1,
        "verbosity": -1,
        "force_col_wise": True,
    }
    if n_classes > 2:
        param["num_class"] = n_classes
    categorical = list(range(N_NUMERIC, X.shape[1]))
    data = lightgbm.Dataset(X, y, categorical_feature=categorical, params={"verbosity": -1})
    booster = lightgbm.train(param, data, num_boost_round=int(rng.integers(1, 4)))
    rounds = booster.num_trees() // booster.num_model_per_iteration() if param["boosting"] == "rf" else 1
    return Case(
        model=booster,
        X=X,
        leaves=lambda rows: booster.predict(rows, pred_leaf=True).reshape(len(rows), -1).astype(int),
        raw=lambda rows: booster.predict(rows, raw_score=True).reshape(len(rows), -1) / max(rounds, 1),
        save=booster.save_model,
    )


# CatBoost ---------------------------------------------------------------------------------------------------------


def category_texts(rng: np.random.Generator, size: int) -> np.ndarray:
    """Categories of all lengths, since the hash of a text depends on that."""
    letters = np.array(list("abcxyzäß漢 .-0123456789"))
    texts = ["".join(rng.choice(letters, int(rng.choice([1, 3, 7, 12, 25, 50, 90])))) for _ in range(size)]
    return np.array([f"{text}{k}" for k, text in enumerate(texts)], dtype=object)


def catboost_case(seed: int) -> Case:
    """Categories are whole numbers or texts; unseen ones, and missing ones, are a text that is not among them."""
    rng = np.random.default_rng(seed)
    X, y, n_classes, categories = settings(rng)
    X[:, N_NUMERIC:] = np.nan_to_num(X[:, N_NUMERIC:])
    texts = [category_texts(rng, size) if rng.random() < 0.5 else None for size in N_CATEGORIES]

    def given(rows: np.ndarray) -> Any:
        if not categories:
            return rows
        out = rows.astype(object)
        for k, known in enumerate(texts):
            codes = rows[:, N_NUMERIC + k]
            inside = (codes >= 0) & (codes < N_CATEGORIES[k])
            codes = np.where(inside, codes, 0).astype(int)
            out[:, N_NUMERIC + k] = np.where(inside, codes if known is None else known[codes], "never seen")
        return out

    model = catboost.CatBoost(
        {
            "loss_function": {0: "RMSE", 2: "Logloss", 3: "MultiClass"}[n_classes],
            "iterations": int(rng.integers(1, 4)),
            "depth": int(rng.integers(1, 5)),
            "grow_policy": one_of(rng, "SymmetricTree", "Depthwise", "Lossguide"),
            "nan_mode": one_of(rng, "Min", "Max"),
            "one_hot_max_size": 255,
            "random_seed": seed % 2**31,
            "thread_count": 1,
            "verbose": False,
            "allow_writing_files": False,
            "min_data_in_leaf": 1,
        }
    )
    columns = list(range(N_NUMERIC, X.shape[1]))
    model.fit(given(X), y, cat_features=columns)

    def pool(rows: np.ndarray) -> Any:
        return catboost.Pool(given(rows), cat_features=columns)

    return Case(
        model=model,
        X=X,
        leaves=lambda rows: model.calc_leaf_indexes(pool(rows)).reshape(len(rows), -1),
        raw=lambda rows: model.predict(pool(rows), prediction_type="RawFormulaVal").reshape(len(rows), -1),
        save=lambda path: model.save_model(path, format="json"),
        given=given,
    )


CASES = {"xgboost": xgboost_case, "lightgbm": lightgbm_case, "catboost": catboost_case}


# What is tried --------------------------------------------------------------------------------------------------


def probes(case: Case, ensemble: TreeEnsemble, rng: np.random.Generator) -> np.ndarray:
    """Rows with values on each threshold and one ulp next to it, in float64 and float32, and other odd values."""
    inner = [tree.left >= 0 for tree in ensemble.trees]
    numeric = [some & (tree.feature < N_NUMERIC) for some, tree in zip(inner, ensemble.trees, strict=True)]
    feature = np.concatenate([tree.feature[some] for some, tree in zip(numeric, ensemble.trees, strict=True)])
    threshold = np.concatenate([tree.threshold[some] for some, tree in zip(numeric, ensemble.trees, strict=True)])
    feature, threshold = np.unique(np.column_stack([feature, threshold]), axis=0).T
    with np.errstate(over="ignore"):
        exact = threshold.astype(np.float32)
        values = [
            threshold,
            np.nextafter(threshold, np.inf),
            np.nextafter(threshold, -np.inf),
            exact.astype(np.float64),
        ]
        values += [np.nextafter(exact, np.float32(side)).astype(np.float64) for side in (np.inf, -np.inf)]
    odd = [np.nan, 0.0, -0.0, 1.0, 1e-36, -1e-36, 1e-35, -1e-35, 1e-40, 3e38, -3e38]
    odd += [np.inf, -np.inf, 1e300] if case.takes_infinity else []
    odd += [sign * near for sign in (-1, 1) for near in _beside(np.float64(np.float32(1e-35)))]
    codes = [*range(-1, max(N_CATEGORIES) + 2), np.nan, 2.0**20]
    n_columns = case.X.shape[1]
    column = [np.tile(feature, len(values)), np.repeat(np.arange(N_NUMERIC), len(odd))]
    value = [np.concatenate(values), np.tile(odd, N_NUMERIC)]
    for f in range(N_NUMERIC, n_columns):
        column.append(np.full(len(codes), f))
        value.append(np.array(codes))
    rows = case.X[rng.integers(0, len(case.X), sum(map(len, column)))].copy()
    rows[np.arange(len(rows)), np.concatenate(column).astype(int)] = np.concatenate(value)
    return np.vstack([case.X, rows, _shuffled(rng, rows)])


def _beside(value: np.float64) -> list[float]:
    return [float(value), float(np.nextafter(value, 0)), float(np.nextafter(value, 1))]


def _shuffled(rng: np.random.Generator, rows: np.ndarray) -> np.ndarray:
    """The same values, each column in another order: many odd ones meet in one row."""
    return rng.permuted(rows, axis=0)


def mismatches(case: Case, seed: int = 0) -> int:
    """How often trees, rules or routes, read from the model or from its file, disagree with the library."""
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder) / "model.json")
        case.save(path)
        read, saved = read_trees(case.model), read_trees(path)
    rows = probes(case, read, np.random.default_rng(seed))
    wrong = sum(not same_trees(a, b) for a, b in zip(read.trees, saved.trees, strict=True))
    with np.errstate(over="ignore"):
        narrow = rows.astype(np.float32)
    for given in (rows, narrow):
        wrong += _mismatches(case, read, given) + _mismatches(case, saved, given)
    return wrong


def _mismatches(case: Case, ensemble: TreeEnsemble, rows: np.ndarray) -> int:
    leaves = case.leaves(rows)
    coded = rows.copy()
    for f, known in ensemble.categories.items():
        if hasattr(known, "codes"):
            coded[:, f] = known.codes(case.given(rows)[:, f])
    prepared = ensemble.prepare(coded)
    nodes = np.column_stack([route(prepared) for route in ensemble.routes])
    wrong = sum(not same_partition(leaves[:, k], nodes[:, k]) for k in range(leaves.shape[1]))
    rules, tree, node = all_leaf_rules(ensemble)
    covered = nodes[:, tree] == node
    wrong += np.count_nonzero(rules.apply(coded).toarray() != covered)
    wrong += np.count_nonzero((rules.accepted(coded, along_paths=True) == 1) != covered)
    return int(wrong) + (not sums_agree(ensemble, nodes, case.raw(rows)))


def same_partition(one: np.ndarray, two: np.ndarray) -> bool:
    """Whether two numberings of leaves part the rows alike."""
    pairs = np.unique(np.column_stack([one, two]), axis=0)
    return len(pairs) == len(np.unique(one)) == len(np.unique(two))


def sums_agree(ensemble: TreeEnsemble, nodes: np.ndarray, raw: np.ndarray) -> bool:
    """Whether the values of the leaves add up to what the library adds up, but for what it starts with."""
    total = np.zeros_like(raw, dtype=np.float64)
    for k, (tree, output) in enumerate(zip(ensemble.trees, ensemble.output, strict=True)):
        total[:, slice(None) if output < 0 else [output]] += tree.value[nodes[:, k]]
    rest = raw - total
    return bool(np.ptp(rest, axis=0).max() <= 1e-4 * max(1.0, np.abs(total).max()))


def same_trees(one: Any, two: Any) -> bool:
    names = ("feature", "threshold", "left", "right", "missing_left", "value")
    same = all(np.array_equal(getattr(one, name), getattr(two, name)) for name in names)
    if one.category is None or two.category is None:
        return same and one.category is two.category
    sets = zip(one.category_sets, two.category_sets, strict=True)
    return same and np.array_equal(one.category, two.category) and all(np.array_equal(a, b) for a, b in sets)
