"""Models of fewer trees: for many classes, all of them may take too long even on the fewest rows."""

from __future__ import annotations

import copy
import time
import warnings
from collections.abc import Callable
from numbers import Integral
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
#: Other names of theirs for the same, which decide where they are given.
_ALIASES = ("num_iterations", "num_boost_round", "num_trees")


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
        model.set_params(**_fewer(model, share))
    return model


def share_left(model: Any, share: float) -> float:
    """The share of its trees that a model has left, where it is to have this one: one tree at least in each part.

    Examples
    --------
    >>> from sklearn.ensemble import BaggingClassifier, RandomForestClassifier
    >>> share_left(RandomForestClassifier(10), 0.02), share_left(BaggingClassifier(RandomForestClassifier(50)), 0.02)
    (0.1, 0.02)
    """
    return _n_trees(with_share_of_trees(copy.deepcopy(model), share)) / max(1, _n_trees(model))


def has_trees_to_spare(model: Any) -> bool:
    """Whether a model has more than one tree or round, as far as its settings say.

    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.ensemble import HistGradientBoostingClassifier
    >>> has_trees_to_spare(HistGradientBoostingClassifier()), has_trees_to_spare(LogisticRegression(max_iter=100))
    (True, False)
    """
    return _n_trees(model) > 1


def _fewer(model: Any, share: float) -> dict[str, int]:
    """The settings by which a share of the trees is left: first of those of the model itself, then of its parts."""
    name, count = _setting(model), _count(model)
    kept = max(1, int(share * count))
    fewer = {} if name is None or count == 1 else {name: kept}
    for prefix, part in _parts(model).items():
        fewer |= {f"{prefix}__{each}": n for each, n in _fewer(part, min(1.0, share * count / kept)).items()}
    return fewer


def _n_trees(model: Any) -> int:
    """How many trees or rounds a model and its parts have together, as far as their settings say."""
    inner = sum(_n_trees(part) for part in _parts(model).values())
    return inner if _setting(model) is None else _count(model) * max(1, inner)


def _parts(model: Any) -> dict[str, Any]:
    """The models in a model, by their names."""
    return {name: part for name, part in model.get_params().items() if "__" not in name and hasattr(part, "fit")}


def _count(model: Any) -> int:
    """The number of trees or rounds of a model itself, 1 where it is not counted."""
    name = _setting(model)
    if name is None:
        return 1
    count = model.get_params().get(name)
    count = _COUNTS.get(name) if count is None else count
    return int(count) if isinstance(count, Integral) else 1


def _setting(part: Any) -> str | None:
    """The setting of a model by which its trees are counted, if it has any."""
    known = part.get_params()
    for name in (*_ALIASES, "n_estimators"):
        if name in known:
            return name
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


def trained_with_fewer_trees(
    train: Callable[[float], Any], deadline: float, left: Callable[[float], float] = float
) -> FewTrees | None:
    """A model with as many of its trees as there is time for; ``None`` if there is time for all, or no telling.

    Parameters
    ----------
    train
        From a share of the trees to a model. It may raise an error of its library, for example because rows are few.
    deadline
        When the model must be trained, by `time.perf_counter`. One of the fewest trees is trained in any case.
    left
        From a share of the trees to the one that such a model has, which is larger where it has few.

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
            few = FewTrees(train(_FIRST), left(_FIRST))
            now = time.perf_counter()
            share = few.share * (deadline - now) / max(now - begin, 1e-9)
            if share >= 1.0:
                return None
            return FewTrees(train(share), left(share)) if share >= _WORTH * few.share else few
    except RulecoverError:
        raise
    except Exception:  # of any library
        return None
