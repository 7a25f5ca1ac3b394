"""The threshold that --threshold asks for, chosen in folds of the training rows."""

from __future__ import annotations

import warnings
from copy import copy
from typing import Any

import numpy as np
from sklearn.frozen import FrozenEstimator
from sklearn.model_selection import StratifiedKFold

from rulecover.cli.errors import CommandError
from rulecover.estimators.checks import without_checkpoint
from rulecover.estimators.held_out import shares_in_folds
from rulecover.estimators.prepare import for_folds, fresh
from rulecover.exceptions import CutShortWarning
from rulecover.voting.threshold import threshold_for

#: The folds, where every class has enough rows for them.
_FOLDS = 5


def with_threshold(
    few: Any, X: Any, y: Any, asked: tuple[str, float], *, seed: int, train_again: bool, time_limit: float | None = None
) -> tuple[Any, str]:
    """The rules with the threshold that does what is asked for, and how it was chosen, in a sentence.

    The time limit is for models that are trained again for it.
    """
    labels, sizes = np.unique(y, return_counts=True)
    if len(labels) != 2:
        raise CommandError(f"--threshold is for two classes, but the target has {len(labels)}; leave it out.")
    (name, value), place = asked, int(sizes.argmin())
    if train_again and sizes.min() >= _FOLDS:
        shares, rows = (
            _shares_in_folds(_within(few, time_limit), X, y, seed, labels[place]),
            f"{_FOLDS} folds of the training rows",
        )
    else:
        shares, rows = few.predict_proba(X)[:, place], "the training rows"
    try:
        threshold = threshold_for(np.asarray(y) == labels[place], shares, **{name: value})
        moved = few.at_threshold(threshold, labels[place])
    except ValueError as error:
        raise CommandError(f"--threshold {name}={value:g}: {error}") from error
    words = (
        f"{str(labels[place])!r} is predicted from a probability of {threshold:.3g} on, for {name} {value:g} on {rows}."
    )
    return moved, words


def _within(few: Any, seconds: float | None) -> Any:
    """The rules, to be trained again in the folds in this many seconds."""
    return few if seconds is None else copy(few).set_params(time_limit=seconds / _FOLDS)


def _shares_in_folds(few: Any, X: Any, y: Any, seed: int, label: Any) -> Any:
    """The probability of a label for the training rows, by models that were not trained on them."""
    again = without_checkpoint(fresh(few))
    if isinstance(few.estimator, FrozenEstimator):
        again.set_params(estimator=fresh(few.estimator.estimator))
    if "choose" in again.get_params():  # the size is chosen already
        again.set_params(choose="last", max_rules=max(len(few.rules_), 1), within=None)
    folds = StratifiedKFold(_FOLDS, shuffle=True, random_state=seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CutShortWarning)  # of a part of the time, which nobody has set
        return shares_in_folds(again, for_folds(few, X), y, folds.split(X, y), label)
