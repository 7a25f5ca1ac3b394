"""Random models of scikit-learn, rows that try every one of their splits, and their own leaves to compare with."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from sklearn.ensemble import (
    AdaBoostClassifier,
    AdaBoostRegressor,
    BaggingClassifier,
    BaggingRegressor,
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
    VotingClassifier,
    VotingRegressor,
)
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor, ExtraTreeClassifier, ExtraTreeRegressor

from rulecover import RuleSet, read_trees
from rulecover.estimators.binned import BinnedTrees
from rulecover.trees.tree import TreeEnsemble

TASKS = ("binary", "multi-class", "regression")


@dataclass(frozen=True)
class ReadModel:
    """The trees of a model as they were read, rows as the model takes them, and its own leaves, by node number."""

    ensemble: TreeEnsemble
    rows: tuple[Any, ...]
    leaves: Callable[[Any], np.ndarray]

    def mismatches(self) -> int:
        """How often trees, routes or rules disagree with the model."""
        return sum(self._mismatches(rows) for rows in self.rows)

    def _mismatches(self, rows: Any) -> int:
        leaves, matrix = self.leaves(rows), self.ensemble.matrix(rows)
        prepared = self.ensemble.prepare(matrix)
        routed = np.column_stack([route(prepared) for route in self.ensemble.routes])
        applied = np.column_stack([tree.apply(matrix) for tree in self.ensemble.trees])
        rules, tree, node = all_leaf_rules(self.ensemble)
        covered = leaves[:, tree] == node
        along_paths = rules.accepted(matrix, along_paths=True) == 1
        pairs = [(routed, leaves), (applied, leaves), (rules.apply(matrix).toarray(), covered), (along_paths, covered)]
        return sum(np.count_nonzero(one != other) for one, other in pairs)


def all_leaf_rules(ensemble: TreeEnsemble) -> tuple[RuleSet, np.ndarray, np.ndarray]:
    """Every leaf of every tree as a rule, with the tree and node it came from."""
    tree = np.concatenate([np.full(len(t.leaves), k) for k, t in enumerate(ensemble.trees)])
    node = np.concatenate([t.leaves for t in ensemble.trees])
    return ensemble.rules(), tree, node


# Data -----------------------------------------------------------------------------------------------------------


def random_rows(rng: np.random.Generator, *, missing: bool) -> np.ndarray:
    """Rows with ties, 0/1 columns, zeros of both signs, tiny and large values, and, if asked for, missing ones."""
    X = rng.normal(size=(40, 4))
    X[:, 0] = np.round(X[:, 0], 1)
    X[:, 1] = X[:, 1] > 0
    X[:, 2] *= 10.0 ** rng.integers(-30, 30)
    X[rng.random(40) < 0.2, 3] = rng.choice([0.0, -0.0])
    if missing:
        X[rng.random(X.shape) < 0.15] = np.nan
    return X


def target(rng: np.random.Generator, X: np.ndarray, task: str) -> np.ndarray:
    signal = np.nan_to_num(X[:, 0]) + np.nan_to_num(X[:, 1]) + rng.normal(scale=0.3, size=len(X))
    if task == "regression":
        return signal
    return np.digitize(signal, np.quantile(signal, [0.5] if task == "binary" else [0.3, 0.6]))


# Trees ----------------------------------------------------------------------------------------------------------


def small(rng: np.random.Generator) -> dict[str, Any]:
    return {"n_estimators": int(rng.integers(1, 4)), "random_state": int(rng.integers(2**31))}


def tree(rng: np.random.Generator, task: str) -> Any:
    grown = DecisionTreeRegressor if task == "regression" else DecisionTreeClassifier
    return grown(max_depth=int(rng.integers(1, 5)), random_state=int(rng.integers(2**31)))


def gradient_boosting(rng: np.random.Generator, task: str) -> Any:
    kind = GradientBoostingRegressor if task == "regression" else GradientBoostingClassifier
    return kind(max_depth=int(rng.integers(1, 4)), subsample=rng.choice([0.6, 1.0]), **small(rng))


def ada_boost(rng: np.random.Generator, task: str) -> Any:
    return (AdaBoostRegressor if task == "regression" else AdaBoostClassifier)(tree(rng, task), **small(rng))


def voting(rng: np.random.Generator, task: str) -> Any:
    if task == "regression":
        return VotingRegressor([("tree", tree(rng, task)), ("bagged", BaggingRegressor(tree(rng, task), **small(rng)))])
    members = [("tree", tree(rng, task)), ("forest", RandomForestClassifier(max_depth=3, **small(rng)))]
    weights = [1.0, 2.5] if rng.random() < 0.5 else None
    return VotingClassifier(members, weights=weights, voting=str(rng.choice(["hard", "soft"])))


def ensembles_of_boosted(rng: np.random.Generator, task: str) -> Any:
    if task == "regression":
        return BaggingRegressor(gradient_boosting(rng, task), max_features=0.6, **small(rng))
    members = [("boosted", gradient_boosting(rng, task)), ("extra", ExtraTreesClassifier(max_depth=3, **small(rng)))]
    return VotingClassifier(members)


def extra_tree(rng: np.random.Generator, task: str) -> Any:
    grown = ExtraTreeRegressor if task == "regression" else ExtraTreeClassifier
    return grown(max_depth=6, random_state=int(rng.integers(2**31)))


def forest(rng: np.random.Generator, task: str, max_depth: int | None = 6) -> Any:
    kind = RandomForestRegressor if task == "regression" else RandomForestClassifier
    return kind(max_depth=max_depth, **small(rng))


def unlimited_forest(rng: np.random.Generator, task: str) -> Any:
    return forest(rng, task, max_depth=None)


def extra_trees(rng: np.random.Generator, task: str) -> Any:
    return (ExtraTreesRegressor if task == "regression" else ExtraTreesClassifier)(max_depth=6, **small(rng))


def bagging(rng: np.random.Generator, task: str, of: Callable[..., Any] = tree) -> Any:
    kind = BaggingRegressor if task == "regression" else BaggingClassifier
    return kind(of(rng, task), max_features=0.6, **small(rng))


def bagging_of_forests(rng: np.random.Generator, task: str) -> Any:
    return bagging(rng, task, forest)


#: How a model is made, and whether it takes missing values.
KINDS: dict[str, tuple[Callable[[np.random.Generator, str], Any], bool]] = {
    "tree": (tree, True),
    "extra tree": (extra_tree, True),
    "forest": (forest, True),
    "unlimited forest": (unlimited_forest, True),
    "extra trees": (extra_trees, True),
    "bagging": (bagging, True),
    "bagging of forests": (bagging_of_forests, True),
    "gradient boosting": (gradient_boosting, False),
    "AdaBoost": (ada_boost, False),
    "voting": (voting, True),
    "bagging and voting of boosted": (ensembles_of_boosted, False),
}


def rows_at_thresholds(ensemble: TreeEnsemble, X: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Random rows with values on each threshold, and one ulp to either side in float64 and in float32."""
    feature = np.concatenate([tree.feature[tree.left >= 0] for tree in ensemble.trees])
    threshold = np.concatenate([tree.threshold[tree.left >= 0] for tree in ensemble.trees])
    exact = threshold.astype(np.float32).astype(np.float64)
    probes = [
        threshold,
        np.nextafter(threshold, np.inf),
        np.nextafter(threshold, -np.inf),
        exact,
        np.nextafter(exact.astype(np.float32), np.float32(np.inf)).astype(np.float64),
        np.nextafter(exact.astype(np.float32), np.float32(-np.inf)).astype(np.float64),
    ]
    rows = X[rng.integers(0, len(X), size=len(probes) * len(feature))].copy()
    rows[np.arange(len(rows)), np.tile(feature, len(probes))] = np.concatenate(probes)
    return rows[~(np.abs(rows) > np.finfo(np.float32).max).any(axis=1)]  # a split off of NaN has threshold inf


def leaves_of_trees(model: Any, X: np.ndarray) -> np.ndarray:
    """The leaf of each row in each tree, by scikit-learn's own `apply`."""
    if hasattr(model, "apply"):
        return model.apply(X).reshape(X.shape[0], -1)
    used = getattr(model, "estimators_features_", [slice(None)] * len(model.estimators_))
    members = zip(model.estimators_, used, strict=True)
    return np.hstack([leaves_of_trees(member, X[:, columns]) for member, columns in members])


def read_model(kind: str, seed: int) -> ReadModel:
    """A random model of this kind, for each task in turn, every other one with missing values if it takes them."""
    make, takes_missing = KINDS[kind]
    rng, task = np.random.default_rng(seed), TASKS[seed % 3]
    X = random_rows(rng, missing=takes_missing and seed % 2 == 0)
    model = make(rng, task).fit(X, target(rng, X, task))
    ensemble = read_trees(model)
    probes = np.vstack([X, rows_at_thresholds(ensemble, X, rng)])
    return ReadModel(ensemble, (probes, probes.astype(np.float32)), lambda rows: leaves_of_trees(model, rows))


# Histogram gradient boosting ------------------------------------------------------------------------------------

COLOURS = np.array(["red", "green", "blue", "dark, red"], dtype=object)


def grown_hist(rng: np.random.Generator, task: str, **settings: Any) -> Any:
    kind = HistGradientBoostingRegressor if task == "regression" else HistGradientBoostingClassifier
    sizes = {"max_iter": int(rng.integers(1, 4)), "max_leaf_nodes": int(rng.integers(2, 9)), "min_samples_leaf": 3}
    return kind(**sizes, max_bins=int(rng.integers(32, 255)), early_stopping=False, random_state=0, **settings)


def leaves_of_hist(model: Any, X: Any) -> np.ndarray:
    """The node of each row in each tree, told by the model's own compiled predictors."""
    prepared = model._preprocess_X(X, reset=False)
    bitsets = model._bin_mapper.make_known_categories_bitsets()
    leaves = []
    for predictor in (predictor for iteration in model._predictors for predictor in iteration):
        nodes = predictor.nodes.copy()
        nodes["value"] = np.arange(len(nodes))
        numbered = type(predictor)(nodes, predictor.binned_left_cat_bitsets, predictor.raw_left_cat_bitsets)
        leaves.append(numbered.predict(np.asarray(prepared, dtype=np.float64), *bitsets, n_threads=1))
    return np.column_stack(leaves).astype(int)


def numeric_probes(ensemble: Any, X: np.ndarray, rng: np.random.Generator, columns: Any) -> np.ndarray:
    """Rows with values on each threshold of these columns and one ulp next to, zeros, infinities and NaN."""
    pairs = [
        (f, t)
        for tree in ensemble.trees
        for f, t in zip(tree.feature[tree.left >= 0], tree.threshold[tree.left >= 0], strict=True)
        if f in columns
    ]
    values = [(f, x) for f, t in pairs for x in (t, np.nextafter(t, -np.inf), np.nextafter(t, np.inf), np.float32(t))]
    values += [(f, x) for f in columns for x in (0.0, -0.0, np.inf, -np.inf, np.nan, 1e308)]
    rows = X[rng.integers(0, len(X), len(values))].copy()
    for row, (f, x) in zip(rows, values, strict=True):
        row[f] = x
    return rows


def hist_on_numbers(seed: int) -> ReadModel:
    rng, task = np.random.default_rng(seed), TASKS[seed % 3]
    X = random_rows(rng, missing=seed % 2 == 0)
    if seed % 5 == 0:
        X[rng.random(X.shape) < 0.05] = np.inf
    model = grown_hist(rng, task).fit(X, target(rng, np.where(np.isinf(X), 9.0, X), task))
    ensemble = read_trees(model)
    probes = np.vstack([X, numeric_probes(ensemble, X, rng, range(4))])
    return ReadModel(ensemble, (probes, probes.astype(np.float32)), lambda rows: leaves_of_hist(model, rows))


def hist_on_category_numbers(seed: int) -> ReadModel:
    rng, task = np.random.default_rng(seed), TASKS[seed % 3]
    X = random_rows(rng, missing=seed % 2 == 0)
    X[:, 2] = rng.integers(0, 30, len(X))
    X[:, 0] = rng.choice([-3.0, 0.0, 0.5, 7.0, np.nan], len(X))
    y = target(rng, X, task)
    model = grown_hist(rng, task, categorical_features=[0, 2] if seed % 4 else [2]).fit(X, y)
    ensemble = read_trees(model)
    assert ensemble.columns is not None
    strange = X[rng.integers(0, len(X), 40)].copy()
    strange[:, 2] = rng.choice([31.0, -1.0, 0.5, 256.0, 257.0, -0.0, np.nan], 40)
    strange[:, 0] = rng.choice([-3.0, -0.0, 1.0, np.nan], 40)
    probes = np.vstack([X, strange, numeric_probes(ensemble, X, rng, [1, 3])])
    return ReadModel(ensemble, (probes,), lambda rows: leaves_of_hist(model, rows))


def hist_on_frames(seed: int) -> ReadModel:
    rng, task = np.random.default_rng(seed), TASKS[seed % 3]
    X = random_rows(rng, missing=seed % 2 == 0)
    frame = pd.DataFrame(X[:, 1:], columns=["b", "c", "d"])
    labels = rng.choice(COLOURS, len(X))
    labels[rng.random(len(X)) < 0.1] = None
    frame.insert(int(rng.integers(0, 4)), "colour", pd.Categorical(labels))
    frame["size"] = pd.Categorical(rng.integers(3, 7, len(X)))
    y = target(rng, X, task) + (labels == "red") * (task == "regression")
    model = grown_hist(rng, task).fit(frame, y)
    ensemble = read_trees(model)
    assert ensemble.columns is not None and "colour" in (ensemble.feature_names or ())
    strange = frame.astype({"colour": object, "size": object}).sample(30, replace=True, random_state=seed)
    strange["colour"] = rng.choice(np.array(["pink", None, "blue", "dark, red"], dtype=object), 30)
    strange["size"] = rng.choice(np.array([3, 99, 6], dtype=object), 30)
    return ReadModel(ensemble, (frame, strange), lambda rows: leaves_of_hist(model, rows))


# Binned columns -------------------------------------------------------------------------------------------------


def binned(seed: int) -> ReadModel:
    """A random model on binned columns, every other one with missing values if it takes them."""
    rng, task = np.random.default_rng(seed), TASKS[seed % 3]
    inside = (forest, voting, grown_hist, gradient_boosting)[seed % 4]
    X = random_rows(rng, missing=inside is not gradient_boosting and seed % 2 == 0)
    weight = rng.integers(1, 4, len(X)) if seed % 5 == 0 and inside is not voting else None
    trees = BinnedTrees(inside(rng, task), n_bins=int(rng.integers(2, 12))).fit(X, target(rng, X, task), weight)
    leaves = leaves_of_hist if inside is grown_hist else leaves_of_trees
    ensemble = read_trees(trees)
    probes = np.vstack([X, rows_at_thresholds(ensemble, X, rng)])
    return ReadModel(
        ensemble, (probes, probes.astype(np.float32)), lambda rows: leaves(trees.estimator_, trees.binned(rows))
    )
