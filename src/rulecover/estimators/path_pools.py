"""The models that the candidates of a path come from where no estimator is given."""

from __future__ import annotations

from typing import Any

from sklearn.ensemble import (
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
    VotingClassifier,
    VotingRegressor,
)

from rulecover.estimators.cross_fitted import CrossFitted

#: Where candidates come from if no estimator is given.
POOLS = ("forest", "boosted", "both")

#: About this many trees are boosted for classes, and for numbers.
_CLASS_TREES, _NUMBER_TREES = 100, 50
#: They are shallow, and each split sees a part of the columns.
_SHALLOW = {"max_depth": 4, "max_features": 0.5, "min_samples_leaf": 5, "early_stopping": False}


def class_pool(pool: str | None, n_classes: int, n_jobs: int | None, *, rare: bool = False) -> Any:
    """A forest, boosted trees or both; by default a forest for two classes, both for more and where one of two is rare.

    >>> class_pool(None, 2, None)
    RandomForestClassifier()
    >>> class_pool("boosted", 20, None).max_iter
    10
    """
    forest = RandomForestClassifier(n_jobs=n_jobs)
    rounds = max(10, _CLASS_TREES // (n_classes if n_classes > 2 else 1))
    boosted = HistGradientBoostingClassifier(max_iter=rounds, **_SHALLOW)
    both = VotingClassifier([("forest", forest), ("boosted", boosted)], voting="soft")
    return {"forest": forest, "boosted": boosted, "both": both}[pool or ("both" if rare or n_classes > 2 else "forest")]


def number_pool(pool: str | None, n_jobs: int | None) -> Any:
    """The same for regression, by default both; the boosted trees also predict their training rows out of fold.

    >>> [name for name, _ in number_pool(None, None).estimators]
    ['forest', 'boosted']
    """
    forest = RandomForestRegressor(n_jobs=n_jobs)
    boosted = CrossFitted(HistGradientBoostingRegressor(max_iter=_NUMBER_TREES, learning_rate=0.2, **_SHALLOW))
    both = VotingRegressor([("forest", forest), ("boosted", boosted)])
    return {"forest": forest, "boosted": boosted, "both": both}[pool or "both"]
