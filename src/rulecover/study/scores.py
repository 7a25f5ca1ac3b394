"""What is recorded of a fitted model on a test part."""

from __future__ import annotations

import math
import time
import warnings
from typing import Any

import numpy as np
from sklearn.metrics import accuracy_score, balanced_accuracy_score, log_loss

from rulecover.study.folds import Fold
from rulecover.study.methods import Fitted
from rulecover.typing import Array


def figures_of(done: Fitted, fold: Fold, n_classes: int) -> dict[str, float]:
    """Scores on the test part, sizes and seconds; what does not apply is left out."""
    start = time.perf_counter()
    predictions = np.ravel(done.model.predict(fold.X_test))  # CatBoost returns a column
    seconds = time.perf_counter() - start
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # predictions of a class that this test part lacks
        balanced = balanced_accuracy_score(fold.y_test, predictions)
    figures = {
        "accuracy": accuracy_score(fold.y_test, predictions),
        "balanced_accuracy": balanced,
        "log_loss": _log_loss(done.model, fold, n_classes),
        "missed": np.mean(done.model.missed(fold.X_test)) if hasattr(done.model, "missed") else math.nan,
        "rules": done.rules,
        "clauses": done.clauses,
        "fit_seconds": done.fit_seconds,
        "predict_seconds": seconds,
    }
    if taken := sorted(figures.keys() & done.figures.keys()):
        raise ValueError(f"the figures of a Fitted contain {taken[0]!r}, which the study measures itself; rename it.")
    return {name: float(value) for name, value in (figures | {**done.figures}).items() if not math.isnan(value)}


def _log_loss(model: Any, fold: Fold, n_classes: int) -> float:
    if not hasattr(model, "predict_proba"):
        return math.nan
    given: Array = np.asarray(model.predict_proba(fold.X_test), dtype=np.float64)
    known = np.asarray(getattr(model, "classes_", range(n_classes)), dtype=np.intp)
    if given.shape != (len(fold.y_test), len(known)):
        raise ValueError(
            f"predict_proba gave an array of shape {given.shape} for {len(fold.y_test)} rows and {len(known)} classes; "
            "give the model classes_, the class number of each column."
        )
    shares = np.zeros((len(fold.y_test), n_classes))
    shares[:, known] = given
    shares /= shares.sum(axis=1, keepdims=True)
    return float(log_loss(fold.y_test, shares, labels=np.arange(n_classes)))
