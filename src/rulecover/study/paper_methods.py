"""The methods of the paper's numerical section, with its grids."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from sklearn.ensemble import AdaBoostClassifier, GradientBoostingClassifier, RandomForestClassifier
from sklearn.frozen import FrozenEstimator
from sklearn.tree import DecisionTreeClassifier

from rulecover import MIRCOClassifier, RCBoostClassifier, read_trees
from rulecover.study.folds import Fold
from rulecover.study.methods import Fitted, fitted, register
from rulecover.study.tuning import TuningGrid
from rulecover.typing import Array

TREES = (10, 50, 100)
CALLS = (5, 10, 50, 100, 200)


def _tree(depth: int, _: int, seed: int) -> Any:
    return DecisionTreeClassifier(max_depth=depth, random_state=seed)


def _forest(depth: int, trees: int, seed: int) -> Any:
    return RandomForestClassifier(trees, max_depth=depth, random_state=seed)


def _ada(depth: int, trees: int, seed: int) -> Any:
    return AdaBoostClassifier(DecisionTreeClassifier(max_depth=depth), n_estimators=trees, random_state=seed)


def _gradient(depth: int, trees: int, seed: int) -> Any:
    return GradientBoostingClassifier(max_depth=depth, n_estimators=trees, random_state=seed)


def _rcboost(depth: int, calls: int, seed: int, *, duals: str = "vertex") -> Any:
    tree = _tree(depth, 0, seed)
    return RCBoostClassifier.as_in_paper(tree, max_rmp_calls=calls, duals=duals, random_state=seed)


def forest_stages(forest: Any, X: Array) -> Iterator[Array]:
    """The predictions of the forest's first tree, of its first two, and so on.

    A forest's first trees are those of a smaller forest of the same seed, so these are the predictions of that forest.
    """
    votes: Any = 0.0
    for n, tree in enumerate(forest.estimators_, start=1):
        votes = votes + tree.predict_proba(X)
        yield forest.classes_[np.argmax(votes / n, axis=1)]


def _staged(model: Any, X: Array) -> Iterator[Array]:
    stages: Iterator[Array] = model.staged_predict(X)
    return stages


TREE = TuningGrid(_tree, lambda model, X: [model.predict(X)], bounds=(1,))
FOREST = TuningGrid(_forest, forest_stages, bounds=TREES)
ADA = TuningGrid(_ada, _staged, bounds=TREES)
GRADIENT = TuningGrid(_gradient, _staged, bounds=TREES)
RCBOOST = TuningGrid(_rcboost, _staged, bounds=CALLS, first=0, digits=9)
RCBOOST_EQUAL = replace(RCBOOST, make=partial(_rcboost, duals="equal"))


def decision_tree(fold: Fold) -> dict[str, Fitted]:
    """A decision tree, its depth tuned."""
    depth, _ = TREE.best(fold)
    return {"DT": of_leaves(fitted(_tree(depth, 1, fold.seed), fold, figures={"depth": depth}))}


def tuned_forest(fold: Fold) -> Fitted:
    """A random forest, its depth and number of trees tuned."""
    depth, trees = FOREST.best(fold)
    return of_leaves(fitted(_forest(depth, trees, fold.seed), fold, figures={"depth": depth, "trees": trees}))


def mirco(fold: Fold) -> dict[str, Fitted]:
    """The tuned forest, and the rules that cover it; missed rows as in the authors' program."""
    forest = tuned_forest(fold)
    start = time.perf_counter()
    cover = MIRCOClassifier.as_in_paper(FrozenEstimator(forest.model), fallback="all")
    cover.fit(fold.X_train, fold.y_train)
    seconds = time.perf_counter() - start
    lengths = cover.rules_.lengths
    return {"RF": forest, "MIRCO": Fitted(cover, seconds, len(lengths), float(lengths.mean()))}


def ada(fold: Fold) -> dict[str, Fitted]:
    """AdaBoost on trees."""
    depth, trees = ADA.best(fold)
    return {"ADA": of_leaves(fitted(_ada(depth, trees, fold.seed), fold, figures={"depth": depth, "trees": trees}))}


def gradient(fold: Fold) -> dict[str, Fitted]:
    """Gradient boosting."""
    depth, trees = GRADIENT.best(fold)
    model = _gradient(depth, trees, fold.seed)
    return {"GB": of_leaves(fitted(model, fold, figures={"depth": depth, "trees": trees}))}


def rcboost(fold: Fold) -> dict[str, Fitted]:
    """RCBoost as in the paper, and the first tree that it starts from."""
    done = _tuned_rcboost(RCBOOST, fold)
    first = Fitted(done.model.initial_estimator_, figures={"depth": done.figures["depth"]})
    return {"iniDT": of_leaves(first), "RCB": done}


def rcboost_equal(fold: Fold) -> dict[str, Fitted]:
    """The same, where rows that are covered by the same rules share their dual equally: the paper leaves that open."""
    return {"RCB-equal": _tuned_rcboost(RCBOOST_EQUAL, fold)}


def _tuned_rcboost(grid: TuningGrid, fold: Fold) -> Fitted:
    depth, bound = grid.best(fold)
    done = fitted(grid.make(depth, bound, fold.seed), fold)
    model, lengths = done.model, done.model.rules_.lengths
    figures = {"depth": depth, "bound": bound, "calls": model.n_rmp_calls_}
    return Fitted(model, done.fit_seconds, len(lengths), float(lengths.mean()), figures)


def of_leaves(done: Fitted) -> Fitted:
    """The same with the number of its leaves, and of their clauses, where those on one feature count as one."""
    lengths = read_trees(done.model).rules().lengths
    return Fitted(done.model, done.fit_seconds, len(lengths), float(lengths.mean()), done.figures)


register("DT", decision_tree, alone=False)
register("MIRCO", mirco, models=("RF", "MIRCO"), alone=False)
register("ADA", ada, alone=False)
register("GB", gradient, alone=False)
register("RCB", rcboost, models=("iniDT", "RCB"), alone=False)
register("RCB-equal", rcboost_equal, alone=False)
