"""Whether the rules of a cover are better off without needless clauses, by rows that were held out."""

from __future__ import annotations

import time
import warnings
from typing import Any

import numpy as np
from sklearn.frozen import FrozenEstimator
from sklearn.utils import _safe_indexing, indexable

from rulecover.clock import TimeLimits
from rulecover.estimators.checks import for_labels, sample_weights, without_checkpoint
from rulecover.estimators.held_out import folds_of, in_a_fold
from rulecover.estimators.prepare import fresh
from rulecover.exceptions import CutShortWarning
from rulecover.typing import Array

_FOLDS = 3


def pruning_pays(model: Any, X: Any, y: Array, sample_weight: Any, limits: TimeLimits) -> bool:
    """Whether pruned covers are as accurate as plain ones on held-out rows, but for one standard error.

    In each of three folds the estimator is trained again; a trained one is left as it is, and a copy is trained. No
    fold is begun that would end after half of the time; if there was time for none, pruning pays.
    """
    weight = sample_weights(X, y, sample_weight, model.class_weight)
    (X,) = indexable(X)
    gains: list[float] = []
    n_classes = len(np.unique(y))
    folds = folds_of(_FOLDS, X, y, classes=True, random_state=model.random_state)
    begin, seconds = time.perf_counter(), limits.seconds
    for done, (train, test) in enumerate(folds):
        seconds = max(seconds, (time.perf_counter() - begin) / max(1, done))
        if limits.path is not None and time.perf_counter() + seconds > limits.path:
            said = f"time_limit is {model.time_limit:g} s: whether to prune was decided in {done} of {len(folds)} folds"
            warnings.warn(f"{said}; give more time, or prune=True.", CutShortWarning, stacklevel=5)
            if not gains:
                return True
            break
        ours, theirs = (None if weight is None else weight[rows] for rows in (train, test))
        if ours is not None and theirs is not None and not (ours.any() and theirs.any()):
            continue
        counted = train if ours is None else train[ours > 0]
        if len(np.unique(y[counted])) < min(2, n_classes):  # not every library trains on one class
            continue
        part = {} if ours is None else {"sample_weight": ours}
        with in_a_fold(), warnings.catch_warnings():
            warnings.simplefilter("ignore", CutShortWarning)  # of a part of the time, which nobody has set
            plain = _among(model, train, y, _share(limits, len(folds) - done)).fit(
                _safe_indexing(X, train), y[train], **part
            )
            frozen = fresh(plain).set_params(estimator=FrozenEstimator(plain.estimator_), prune=True)
            short = frozen.fit(_safe_indexing(X, train), y[train], **part)
        before, after = (each.score(_safe_indexing(X, test), y[test], theirs) for each in (plain, short))
        gains.append(after - before)
    if not gains:
        return False
    error = np.std(gains, ddof=1) / np.sqrt(len(gains)) if len(gains) > 1 else 0.0
    return bool(np.mean(gains) >= -error)


def _share(limits: TimeLimits, n_folds: int) -> float | None:
    """The seconds for each of the two covers in one of this many folds, the training of their model included."""
    return None if limits.path is None else max(1e-3, limits.path - time.perf_counter()) / (2 * n_folds)


def _among(model: Any, rows: Array, y: Array, seconds: float | None) -> Any:
    """The same plain cover, for some of the rows, in time."""
    plain = without_checkpoint(fresh(model)).set_params(prune=False, class_weight=None)  # it is in the weights already
    plain.set_params(time_limit=seconds)
    if isinstance(model.estimator, FrozenEstimator):
        plain.set_params(estimator=fresh(model.estimator.estimator))
    if not isinstance(model.demand, dict) and np.ndim(model.demand) == 1:
        plain.set_params(demand=np.asarray(model.demand)[rows])
    return for_labels(plain, y[rows])
