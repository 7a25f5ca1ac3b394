"""Models of fewer trees: for many classes, all of them may take too long even on the fewest rows."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

from rulecover.exceptions import RulecoverError

#: With more classes than this, few rows do not make training quick: each split is weighed for every class.
MANY_CLASSES = 50
#: The share of its trees by which it is judged how long a model takes with all of them.
_FIRST = 0.02
#: A model of fewer times as many trees is not worth its time.
_WORTH = 2.0
#: The settings by which libraries count trees, or rounds of them, and the numbers that they take by default.
_COUNTS = {"n_estimators": 100, "iterations": 1000, "max_iter": None}


def with_share_of_trees(model: Any, share: float) -> Any:
    """The same model, which is changed, with a share of its trees or rounds, one at least in each part of it.

    Examples
    --------
    >>> from sklearn.ensemble import RandomForestClassifier, VotingClassifier
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> vote = VotingClassifier([("forest", RandomForestClassifier(50)), ("tree", DecisionTreeClassifier())])
    >>> [with_share_of_trees(vote, share).estimators[0][1].n_estimators for share in (0.5, 0.001)]
    [25, 1]
    """
    if share < 1.0:
        model.set_params(**{name: max(1, int(share * count)) for name, count in _counts(model).items()})
    return model


def has_trees_to_spare(model: Any) -> bool:
    """Whether a model has more than one tree or round, as far as its settings say.

    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.ensemble import HistGradientBoostingClassifier
    >>> has_trees_to_spare(HistGradientBoostingClassifier()), has_trees_to_spare(LogisticRegression(max_iter=100))
    (True, False)
    """
    return any(count > 1 for count in _counts(model).values())


def _counts(model: Any) -> dict[str, int]:
    """The number of trees or rounds of each part of a model, by the names of the settings."""
    settings = model.get_params()
    parts = {"": model} | {f"{name}__": part for name, part in settings.items() if hasattr(part, "fit")}
    found = {}
    for prefix, part in parts.items():
        name = _setting(part)
        if name is not None:
            count = part.get_params().get(name)
            found[prefix + name] = _COUNTS[name] if count is None else count
    return {name: count for name, count in found.items() if isinstance(count, int)}


def _setting(part: Any) -> str | None:
    """The setting of a model by which its trees are counted, if it has any."""
    known = part.get_params()
    if "n_estimators" in known:
        return "n_estimators"
    if type(part).__module__.startswith("catboost."):
        return "iterations"
    return "max_iter" if "max_leaf_nodes" in known and "max_iter" in known else None


class FewTrees(NamedTuple):
    """A model that was trained with a share of its trees."""

    model: Any
    share: float

    @property
    def in_words(self) -> str:
        """What there was no time for.

        >>> FewTrees(None, 0.049).in_words
        'the model was trained with 5 % of its trees'
        """
        return f"the model was trained with {100 * self.share:.0f} % of its trees"


def trained_with_fewer_trees(train: Callable[[float], Any], deadline: float) -> FewTrees | None:
    """A model with as many of its trees as there is time for; ``None`` if there is time for all, or no telling.

    Parameters
    ----------
    train
        From a share of the trees to a model. It may raise an error of its library, for example because rows are few.
    deadline
        When the model must be trained, by `time.perf_counter`. One of the fewest trees is trained in any case.

    Examples
    --------
    >>> trained_with_fewer_trees(str, time.perf_counter() + 60)
    >>> trained_with_fewer_trees(str, time.perf_counter())
    FewTrees(model='0.02', share=0.02)
    """
    begin = time.perf_counter()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about rows that were taken at random
            few = FewTrees(train(_FIRST), _FIRST)
            now = time.perf_counter()
            share = _FIRST * (deadline - now) / max(now - begin, 1e-9)
            if share >= 1.0:
                return None
            return FewTrees(train(share), share) if share >= _WORTH * _FIRST else few
    except RulecoverError:
        raise
    except Exception:  # of any library
        return None
