"""What rule paths do in their own way where classes are predicted, or numbers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from sklearn.ensemble import (
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
    VotingClassifier,
    VotingRegressor,
)

from rulecover.estimators.cross_fitted import CrossFitted
from rulecover.estimators.trend import ClassifierWithTrend, RegressorWithTrend
from rulecover.rulepath.path import one_of_two_is_rare
from rulecover.targets.classes.samples import ClassSamples
from rulecover.targets.samples import Samples

#: Where candidates come from if no estimator is given.
POOLS = ("forest", "boosted", "both")

#: The usual share of a model's predictions in what the rules are to predict.
SHARE = 0.5

#: About this many trees are boosted for classes, and for numbers.
_CLASS_TREES, _NUMBER_TREES = 100, 50
#: They are shallow, and each split sees a part of the columns.
_SHALLOW = {"max_depth": 4, "max_features": 0.5, "min_samples_leaf": 5, "early_stopping": False}


class SizeChoice(NamedTuple):
    """How a size is chosen, and by which scoring and its name; ``None`` for the score of the estimator itself."""

    choose: str
    scoring: Any
    name: str | None


class PathKind(NamedTuple):
    """What a path does in its own way where classes are predicted, or numbers.

    Parameters
    ----------
    score
        The name of the score of the estimator itself.
    pool
        What is trained where no estimator is given: from the name of a pool, y and the number of threads.
    choice
        How a size is chosen if nothing else is asked for.
    share_of_boosted
        The usual share of the predictions of a pool of boosted trees, `None` if it depends on how noisy the target is.
    """

    score: str
    pool: Callable[[str | None, Any, int | None], Any]
    choice: Callable[[Samples], SizeChoice]
    share_of_boosted: float | None


def class_pool(pool: str | None, y: Any, n_jobs: int | None) -> Any:
    """A forest, boosted trees or both; by default a forest for two classes, both for more and where one of two is rare.

    A linear trend predicts together with the forest, but not with boosted trees, which have no out-of-bag predictions.

    >>> class_pool(None, [0, 1], None)
    ClassifierWithTrend(estimator=RandomForestClassifier())
    >>> class_pool("boosted", list("abcdefghijklmnopqrst"), None).max_iter
    10
    """
    counts = np.array([*Counter(np.asarray(y).ravel().tolist()).values()], dtype=np.float64)
    forest = ClassifierWithTrend(RandomForestClassifier(n_jobs=n_jobs))
    rounds = max(10, _CLASS_TREES // (len(counts) if len(counts) > 2 else 1))
    boosted = HistGradientBoostingClassifier(max_iter=rounds, **_SHALLOW)
    both = VotingClassifier([("forest", forest), ("boosted", boosted)], voting="soft")
    usual = "both" if len(counts) > 2 or one_of_two_is_rare(counts) else "forest"
    return {"forest": forest, "boosted": boosted, "both": both}[pool or usual]


def number_pool(pool: str | None, y: Any, n_jobs: int | None) -> Any:
    """The same for regression, by default both; boosted trees predict their training rows out of fold, with a trend.

    >>> [name for name, _ in number_pool(None, [0.5, 1.5], None).estimator.estimators]
    ['forest', 'boosted']
    """
    forest = RandomForestRegressor(n_jobs=n_jobs)
    boosted = CrossFitted(HistGradientBoostingRegressor(max_iter=_NUMBER_TREES, learning_rate=0.2, **_SHALLOW))
    both = VotingRegressor([("forest", forest), ("boosted", boosted)])
    return {"forest": forest, "boosted": RegressorWithTrend(boosted), "both": RegressorWithTrend(both)}[pool or "both"]


def _class_choice(samples: Samples) -> SizeChoice:
    """By the Brier score, or by the log loss where a class is rare: it depends more on what is said of rare rows."""
    assert isinstance(samples, ClassSamples)
    shares = samples.totals if samples.class_weight is None else samples.totals / samples.class_weight
    if one_of_two_is_rare(shares) and shares.min() > 0:
        return SizeChoice("best", "neg_log_loss", "neg_log_loss")
    return SizeChoice("one-se", "neg_brier_score", "neg_brier_score")


def _number_choice(samples: Samples) -> SizeChoice:
    return SizeChoice("one-se", None, None)


CLASS_PATHS = PathKind("accuracy", class_pool, _class_choice, SHARE)
NUMBER_PATHS = PathKind("R²", number_pool, _number_choice, None)
