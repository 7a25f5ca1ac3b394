"""What people use instead, with default settings, on the same folds.

Each needs a package of its own, is imported in its own processes only, and runs in one thread.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from math import nan
from typing import Any

import numpy as np
import pandas as pd
from sklearn.ensemble import HistGradientBoostingClassifier

from rulecover.study.folds import Fold
from rulecover.study.methods import Fitted, fitted, register
from rulecover.study.paper_methods import of_leaves, tuned_forest
from rulecover.typing import Array


def histogram_boosting(fold: Fold) -> dict[str, Fitted]:
    """scikit-learn's histogram gradient boosting."""
    return {"HGB": of_leaves(fitted(HistGradientBoostingClassifier(random_state=fold.seed), fold))}


def xgboost(fold: Fold) -> dict[str, Fitted]:
    """XGBoost."""
    from xgboost import XGBClassifier

    return {"XGBoost": of_leaves(fitted(XGBClassifier(random_state=fold.seed, n_jobs=1), fold))}


def lightgbm(fold: Fold) -> dict[str, Fitted]:
    """LightGBM."""
    from lightgbm import LGBMClassifier

    return {"LightGBM": of_leaves(fitted(LGBMClassifier(random_state=fold.seed, n_jobs=1, verbosity=-1), fold))}


def ebm(fold: Fold) -> dict[str, Fitted]:
    """The explainable boosting machine; its terms are shape functions, not rules.

    Where classes overlap it stops by itself after some hundred rounds per term. Where they do not, its default of
    50,000 can take many minutes per fold, as on wine.
    """
    from interpret.glassbox import ExplainableBoostingClassifier

    done = fitted(ExplainableBoostingClassifier(max_rounds=1_000, random_state=fold.seed, n_jobs=1), fold)
    return {"EBM": Fitted(done.model, done.fit_seconds, len(done.model.term_names_))}


def rux(fold: Fold) -> dict[str, Fitted]:
    """Rule extraction by ruleopt, on the very forest that MIRCO covers."""
    from ruleopt import RUXClassifier
    from ruleopt.solver import HiGHSSolver

    forest = tuned_forest(fold)
    # A solver of its own: ruleopt's default one is shared by all instances.
    done = fitted(RUXClassifier(forest.model, solver=HiGHSSolver(), random_state=fold.seed), fold)
    return {"RUX": _of_ruleopt(done)}


def rug(fold: Fold) -> dict[str, Fitted]:
    """Rule generation by ruleopt, trees of depth 5."""
    from ruleopt import RUGClassifier
    from ruleopt.solver import HiGHSSolver

    done = fitted(RUGClassifier(solver=HiGHSSolver(), max_depth=5, random_state=fold.seed), fold)
    return {"RUG": _of_ruleopt(done)}


class _Ruleopt:
    """A model of ruleopt that knows which rows it misses."""

    def __init__(self, model: Any) -> None:
        self._model = model
        self.classes_ = np.asarray(model.classes_)

    def predict(self, X: Array) -> Array:
        return np.asarray(self._model.predict(X))

    def predict_proba(self, X: Array) -> Array:
        return np.asarray(self._model.predict_proba(X))

    def missed(self, X: Array) -> Array:
        _, rules_per_row, _ = self._model.predict(X, predict_info=True)
        missed: Array = np.asarray(rules_per_row) == 0
        return missed


def _of_ruleopt(done: Fitted) -> Fitted:
    rules = done.model.decision_rules_
    lengths = [len(rule) for rule in (rules.values() if isinstance(rules, dict) else rules)]
    return Fitted(_Ruleopt(done.model), done.fit_seconds, len(lengths), float(np.mean(lengths)))


def rulefit(fold: Fold) -> dict[str, Fitted]:
    """RuleFit by imodels; two classes only. Linear terms count as rules of one clause."""
    from imodels import RuleFitClassifier

    done = fitted(RuleFitClassifier(random_state=fold.seed), fold)
    terms = done.model.get_rules().query("coef != 0")["rule"]
    clauses = float(terms.map(_features_in).mean()) if len(terms) else nan
    return {"RuleFit": Fitted(done.model, done.fit_seconds, len(terms), clauses)}


def _features_in(term: str) -> int:
    """How many features a term of RuleFit uses: ``x1 > 2 and x1 <= 5`` is one clause."""
    return len({condition.split()[0] for condition in term.split(" and ")})


def figs(fold: Fold) -> dict[str, Fitted]:
    """FIGS by imodels; a rule is a leaf."""
    from imodels import FIGSClassifier

    with _seeded(fold.seed):  # its stumps ignore its random_state
        done = fitted(FIGSClassifier(random_state=fold.seed), fold)
    lengths = [length for tree in done.model.trees_ for length in _leaf_lengths(tree, frozenset())]
    return {"FIGS": Fitted(done.model, done.fit_seconds, len(lengths), float(np.mean(lengths)))}


def _leaf_lengths(node: Any, features: frozenset[int]) -> list[int]:
    """The number of clauses of each leaf, where clauses on one feature count as one."""
    if node.left is None:
        return [len(features)]
    below = features | {node.feature}
    return [*_leaf_lengths(node.left, below), *_leaf_lengths(node.right, below)]


@contextmanager
def _seeded(seed: int) -> Iterator[None]:
    """Seeds what is drawn from numpy's shared generator, and leaves it as it was."""
    before = np.random.get_state()  # noqa: NPY002 - the generator that libraries share is the old one
    np.random.seed(seed)  # noqa: NPY002
    try:
        yield
    finally:
        np.random.set_state(before)  # noqa: NPY002


def ripper(fold: Fold) -> dict[str, Fitted]:
    """RIPPER by wittgenstein; two classes only. A row that no rule covers is of class 0, and counts as missed."""
    model = _Ripper(fold.seed)
    start = time.perf_counter()
    model.fit(fold.X_train, fold.y_train)
    seconds = time.perf_counter() - start
    lengths = [len(rule.conds) for rule in model.ripper.ruleset_.rules]
    return {"RIPPER": Fitted(model, seconds, len(lengths), float(np.mean(lengths)) if lengths else nan)}


class _Ripper:
    """RIPPER on arrays: its package wants a data frame with the class in it."""

    def __init__(self, seed: int) -> None:
        from wittgenstein import RIPPER

        self.ripper = RIPPER(random_state=seed)
        self.classes_ = np.array([0, 1])

    def fit(self, X: Array, y: Array) -> None:
        self.ripper.fit(self._table(X).assign(target=y), class_feat="target", pos_class=1)

    def predict(self, X: Array) -> Array:
        return np.asarray(self.ripper.predict(self._table(X)), dtype=np.int64)

    def predict_proba(self, X: Array) -> Array:
        return np.asarray(self.ripper.predict_proba(self._table(X)))

    def missed(self, X: Array) -> Array:
        missed: Array = self.predict(X) == 0
        return missed

    @staticmethod
    def _table(X: Array) -> Any:
        return pd.DataFrame(X, columns=[f"x{f}" for f in range(X.shape[1])])


def _peer(name: str, learn: Callable[[Fold], dict[str, Fitted]], package: str, *, two_classes: bool = False) -> None:
    register(name, learn, requires=(package,), extra=f"peers-{package}", alone=True, two_classes=two_classes)


_peer("HGB", histogram_boosting, "sklearn")
_peer("XGBoost", xgboost, "xgboost")
_peer("LightGBM", lightgbm, "lightgbm")
_peer("EBM", ebm, "interpret")
_peer("RUX", rux, "ruleopt")
_peer("RUG", rug, "ruleopt")
_peer("RuleFit", rulefit, "imodels", two_classes=True)
_peer("FIGS", figs, "imodels")
_peer("RIPPER", ripper, "wittgenstein", two_classes=True)
