"""What users would pick instead, at the settings their makers chose, on the same folds.

Each needs a package of its own, is imported in its own processes only, and is as fast or slow as one thread makes it.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from math import nan
from typing import Any

import numpy as np
import pandas as pd
from sklearn.ensemble import HistGradientBoostingClassifier

from rulecover.study.folds import Fold
from rulecover.study.methods import Fitted, fitted, register
from rulecover.study.paper_methods import tuned_forest
from rulecover.typing import Array


def histogram_boosting(fold: Fold) -> dict[str, Fitted]:
    """scikit-learn's histogram gradient boosting."""
    done = fitted(HistGradientBoostingClassifier(random_state=fold.seed), fold)
    leaves = sum(tree.get_n_leaf_nodes() for trees in done.model._predictors for tree in trees)
    return {"HGB": _sized(done, leaves)}


def xgboost(fold: Fold) -> dict[str, Fitted]:
    """XGBoost."""
    from xgboost import XGBClassifier

    done = fitted(XGBClassifier(random_state=fold.seed, n_jobs=1), fold)
    nodes = done.model.get_booster().trees_to_dataframe()
    return {"XGBoost": _sized(done, int((nodes["Feature"] == "Leaf").sum()))}


def lightgbm(fold: Fold) -> dict[str, Fitted]:
    """LightGBM."""
    from lightgbm import LGBMClassifier

    done = fitted(LGBMClassifier(random_state=fold.seed, n_jobs=1, verbosity=-1), fold)
    trees = done.model.booster_.dump_model()["tree_info"]
    return {"LightGBM": _sized(done, sum(tree["num_leaves"] for tree in trees))}


def ebm(fold: Fold) -> dict[str, Fitted]:
    """The explainable boosting machine; its terms are shape functions, not rules.

    Where classes overlap it stops by itself after some hundred rounds a term. Where they do not, its default of 50,000
    can go on for many minutes a fold, as on wine.
    """
    from interpret.glassbox import ExplainableBoostingClassifier

    done = fitted(ExplainableBoostingClassifier(max_rounds=1_000, random_state=fold.seed, n_jobs=1), fold)
    return {"EBM": _sized(done, len(done.model.term_names_))}


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
    """A model of ruleopt that says which rows it misses."""

    def __init__(self, model: Any) -> None:
        self._model = model
        self.classes_ = np.asarray(model.classes_)

    def predict(self, X: Array) -> Array:
        return np.asarray(self._model.predict(X))

    def predict_proba(self, X: Array) -> Array:
        return np.asarray(self._model.predict_proba(X))

    def missed(self, X: Array) -> Array:
        _, rules_a_row, _ = self._model.predict(X, predict_info=True)
        missed: Array = np.asarray(rules_a_row) == 0
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
    clauses = float(terms.str.split(" and ").map(len).mean()) if len(terms) else nan
    return {"RuleFit": Fitted(done.model, done.fit_seconds, len(terms), clauses)}


def figs(fold: Fold) -> dict[str, Fitted]:
    """FIGS by imodels; a rule is a leaf."""
    from imodels import FIGSClassifier

    done = fitted(FIGSClassifier(random_state=fold.seed), fold)
    depths = [depth for tree in done.model.trees_ for depth in _leaf_depths(tree, 0)]
    return {"FIGS": Fitted(done.model, done.fit_seconds, len(depths), float(np.mean(depths)))}


def _leaf_depths(node: Any, depth: int) -> list[int]:
    if node.left is None:
        return [depth]
    return [*_leaf_depths(node.left, depth + 1), *_leaf_depths(node.right, depth + 1)]


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


def _sized(done: Fitted, size: int) -> Fitted:
    return Fitted(done.model, done.fit_seconds, size)


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
