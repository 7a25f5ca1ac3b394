"""Models of fewer trees: all of them may take too long even on the fewest rows."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from itertools import islice
from numbers import Integral
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone
from sklearn.frozen import FrozenEstimator
from sklearn.model_selection import ParameterGrid, ParameterSampler
from sklearn.model_selection._search import BaseSearchCV

from rulecover.estimators.in_time import SamplingOrder
from rulecover.exceptions import RulecoverError
from rulecover.typing import Ints

#: A share of which every model has one tree, or one round of trees.
_ONE_TREE = 1e-9
#: A model of fewer times as many trees is not worth its time.
_WORTH = 2.0
#: How many times as many trees the next model may have, unless all surely take no longer than there is time for.
_STEP = 4.0
#: How many times as long as others before a tree may take.
_SLOWER = 1.5
#: How time grows with the rows of more classes, as a power of them: each split is weighed for every class.
_POWER = 2.2
#: Seconds that trees have in any case.
_AT_LEAST = 0.5
#: The shortest time that is told from none, in seconds.
_SHORTEST = 1e-9
#: The settings by which libraries count trees, or rounds of them, and the numbers that they take by default.
_COUNTS = {"n_estimators": 100, "iterations": 1000, "max_iter": None}
#: Other names of theirs for the same, which decide where they are given; and more of LightGBM.
_ALIASES = ("num_iterations", "num_boost_round", "num_trees")
_OF_LIGHTGBM = ("num_iteration", "n_iter", "num_tree", "num_round", "num_rounds", "nrounds", "max_iter")
#: How many settings of a search are looked at, and how many folds it has if that depends on the rows.
_LOOKED_AT, _FOLDS = 20, 100


def with_share_of_trees(model: Any, share: float) -> Any:
    """The same model, which is changed, with a share of its trees or rounds, one at least in each part of it.

    Of a search, whose trees are those of all its fits, the model that it is for is left, with its own settings.

    Examples
    --------
    >>> from sklearn.ensemble import RandomForestClassifier, VotingClassifier
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> vote = VotingClassifier([("forest", RandomForestClassifier(50)), ("tree", DecisionTreeClassifier())])
    >>> [with_share_of_trees(vote, share).estimators[0][1].n_estimators for share in (0.5, 0.001)]
    [25, 1]
    """
    if share >= 1.0:
        return model
    if isinstance(model, BaseSearchCV):
        return with_share_of_trees(model.estimator, _share_of_one_fit(model, share))
    name, count, kept = _counted(model, share)
    changed: dict[str, Any] = {} if name is None or kept == count else {name: kept}
    for place, part in _parts(model).items():
        few = with_share_of_trees(part, share * count / kept)
        if few is not part:
            changed[place] = few
    return model.set_params(**changed)


def share_left(model: Any, share: float) -> float:
    """The share of its trees that a model has left, where it is to have this one: one tree at least in each part.

    Examples
    --------
    >>> from sklearn.ensemble import BaggingClassifier, RandomForestClassifier
    >>> share_left(RandomForestClassifier(10), 0.02), share_left(BaggingClassifier(RandomForestClassifier(50)), 0.02)
    (0.1, 0.02)
    """
    return max(1, _n_trees(model, share)) / max(1, _n_trees(model))


def has_trees_to_spare(model: Any) -> bool:
    """Whether a model has more than one tree or round, as far as its settings say.

    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.ensemble import HistGradientBoostingClassifier
    >>> has_trees_to_spare(HistGradientBoostingClassifier()), has_trees_to_spare(LogisticRegression(max_iter=100))
    (True, False)
    """
    return _n_trees(model) > 1


def trees_in_words(model: Any, share: float) -> str:
    """With how many of its trees a model was trained that has a share of them left, if not with all.

    >>> from sklearn.ensemble import RandomForestClassifier
    >>> from sklearn.model_selection import GridSearchCV
    >>> search = GridSearchCV(RandomForestClassifier(50), {"max_depth": [2, 3]}, cv=2)
    >>> [trees_in_words(search, share) for share in (1 / 250, 1 / 5, 1.0)]
    ['without its search, with 2 % of its trees', 'without its search', '']
    """
    if share >= 1.0:
        return ""
    part = max(1, _n_trees(model, share)) / max(1, _n_trees(model, share, searches=False))
    percent = f"{min(100 * part, 99.0):.2g}" if part >= 1e-4 else "less than 0.01"
    trees = f"with {percent} % of its trees" if part < 1.0 else ""
    return ", ".join(filter(None, ["without its search" if _has_search(model) else "", trees]))


def _n_trees(model: Any, share: float = 1.0, *, searches: bool = True) -> int:
    """How many trees or rounds a model and its parts have together, as far as their settings say.

    Parameters
    ----------
    model
        The model, which may have no trees.
    share
        With this share of its trees.
    searches
        Whether the trees of a search are those of all its fits; if not, the whole model is counted without searches.
    """
    if isinstance(model, BaseSearchCV):
        if not searches:
            return _n_trees(model.estimator, searches=False)
        return _n_trees_tried(model) if share >= 1.0 else _n_trees(model.estimator, _share_of_one_fit(model, share))
    share = share if searches else 1.0
    name, count, kept = _counted(model, share)
    inner = sum(_n_trees(part, share * count / kept, searches=searches) for part in _parts(model).values())
    return inner if name is None else kept * max(1, inner)


def _counted(model: Any, share: float) -> tuple[str | None, int, int]:
    """The setting by which the trees of a model itself are counted, if any; how many it has, and a share of them."""
    known = model.get_params(deep=False)
    name = _setting(model, known)
    count = None if name is None else known.get(name)
    count = _COUNTS.get(str(name)) if count is None else count
    n_trees = max(1, int(count)) if isinstance(count, Integral) else 1
    return name, n_trees, max(1, min(n_trees, int(share * n_trees + 1e-9)))


def _setting(model: Any, known: dict[str, Any]) -> str | None:
    library = type(model).__module__.partition(".")[0]
    names: tuple[str, ...] = (*_ALIASES, *(_OF_LIGHTGBM if library == "lightgbm" else ()), "n_estimators")
    for name in names:
        if name in known:
            return name
    if library == "catboost":
        return "iterations"
    return "max_iter" if "max_leaf_nodes" in known and "max_iter" in known else None


def _parts(model: Any) -> dict[str, Any]:
    """The models in a model, by their names, but for those that are not trained again."""
    return {
        name: part
        for name, part in model.get_params().items()
        if "__" not in name and hasattr(part, "fit") and not isinstance(part, FrozenEstimator)
    }


# Searches -------------------------------------------------------------------------------------------------------------


def _has_search(model: Any) -> bool:
    return isinstance(model, BaseSearchCV) or any(_has_search(part) for part in _parts(model).values())


def _share_of_one_fit(search: BaseSearchCV, share: float) -> float:
    """The share of its own trees that the model of a search has, where the search is to have a share of all."""
    return share * _n_trees_tried(search) / max(1, _n_trees(search.estimator))


def _n_trees_tried(search: BaseSearchCV) -> int:
    """The trees of all fits of a search: each setting in each fold, and the best one once more.

    >>> from sklearn.ensemble import RandomForestClassifier
    >>> from sklearn.model_selection import GridSearchCV
    >>> _n_trees_tried(GridSearchCV(RandomForestClassifier(10), {"max_depth": [1, 2], "n_estimators": [20, 40]}, cv=3))
    390
    """
    try:
        n_settings, looked_at = _settings_tried(search)
        models = [clone(search.estimator).set_params(**settings) for settings in looked_at]
        mean = float(np.mean([max(1, _n_trees(model)) for model in models]))
    except Exception:  # the search says itself what is wrong with its settings
        n_settings, mean = 1, float(max(1, _n_trees(search.estimator)))
    return int(mean * (n_settings * _n_folds(search.cv) + 1))


def _settings_tried(search: BaseSearchCV) -> tuple[int, list[dict[str, Any]]]:
    """How many settings a search tries, and some of them."""
    known = search.get_params(deep=False)
    if "param_grid" in known:
        grid = ParameterGrid(known["param_grid"])
        return len(grid), list(islice(grid, _LOOKED_AT))
    n_settings = int(known.get("n_iter") or known["n_candidates"])
    return n_settings, list(ParameterSampler(known["param_distributions"], min(n_settings, _LOOKED_AT), random_state=0))


def _n_folds(cv: Any) -> int:
    """How many folds a search has; folds that can be asked for once are not asked for."""
    if cv is None:
        return 5
    if isinstance(cv, Integral):
        return int(cv)
    try:
        return int(cv.get_n_splits()) if hasattr(cv, "get_n_splits") else len(cv)
    except (TypeError, ValueError):  # by rows or groups
        return _FOLDS


# Training -------------------------------------------------------------------------------------------------------------


class FewTrees(NamedTuple):
    """A model that was trained with a share of its trees, on some of the rows.

    Parameters
    ----------
    model
        The model; ``None`` if there is time for all trees, which are not trained here, or if there is no telling.
    share
        The share of its trees.
    n_rows
        On how many of the rows it was trained, or could be trained without an error.
    """

    model: Any
    share: float
    n_rows: int


def trained_with_fewer_trees(
    train: Callable[[Ints, float], Any], order: SamplingOrder, deadline: float, left: Callable[[float], float] = float
) -> FewTrees:
    """A model with as many of its trees as there is time for on few rows.

    One tree is trained first, or a round of them, on the fewest rows. If there is time, rows of all classes come next,
    then more trees.

    Parameters
    ----------
    train
        From rows and a share of the trees to a model. Where it raises an error of its library, for example because rows
        are few, more rows are taken.
    order
        The rows, in the order in which they are taken.
    deadline
        When the model must be trained, by `time.perf_counter`; trees that take half a second have that in any case.
    left
        From a share of the trees to the one that such a model has, which is larger where it has few.

    Examples
    --------
    >>> order = SamplingOrder(np.arange(5000), least=1000, fewest=1000)
    >>> def train(rows, share):
    ...     time.sleep(0.35)
    ...     return "a model"
    >>> trained_with_fewer_trees(train, order, time.perf_counter() + 60, lambda share: max(share, 0.6))
    FewTrees(model=None, share=1.0, n_rows=1000)
    >>> trained_with_fewer_trees(train, order, time.perf_counter(), lambda share: max(share, 0.6))
    FewTrees(model='a model', share=0.6, n_rows=1000)
    """
    deadline = max(deadline, time.perf_counter() + _AT_LEAST)

    def timed(n_rows: int, share: float) -> tuple[FewTrees, float]:
        begin = time.perf_counter()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about rows that were taken at random
            few = FewTrees(train(order.rows[:n_rows], share), left(share), n_rows)
        return few, max(time.perf_counter() - begin, _SHORTEST)

    one = _with_one_tree(timed, order, deadline)
    if one is None:
        return FewTrees(None, 1.0, order.least)
    few, share = _with_more_trees(timed, *one, deadline, left)
    if share < 1.0:
        return few
    if few.n_rows >= order.least:
        return FewTrees(None, 1.0, few.n_rows)
    return few if few.share == 1.0 else timed(few.n_rows, 1.0)[0]


def _with_one_tree(
    timed: Callable[[int, float], tuple[FewTrees, float]], order: SamplingOrder, deadline: float
) -> tuple[FewTrees, float] | None:
    """A model of one tree on rows of all classes, or of some, and its seconds; ``None`` if all rows are an error."""
    n_rows = order.fewest
    while True:
        try:
            few, seconds = timed(n_rows, _ONE_TREE)
        except RulecoverError:
            raise
        except Exception:  # of any library
            if n_rows == len(order.rows):
                return None
            n_rows = order.least if n_rows < order.least else min(2 * n_rows, len(order.rows))
            continue
        if n_rows >= order.least or seconds * (order.least / n_rows) ** _POWER > deadline - time.perf_counter():
            return few, seconds
        n_rows = order.least


def _with_more_trees(
    timed: Callable[[int, float], tuple[FewTrees, float]],
    few: FewTrees,
    seconds: float,
    deadline: float,
    left: Callable[[float], float],
) -> tuple[FewTrees, float]:
    """A model of more trees as long as there is time for them, after one that took some seconds.

    And the share of the trees that there is time for next, 1 or more if all.
    """
    pace = seconds / few.share
    while True:
        time_left = deadline - time.perf_counter()
        share = _next_share(few.share, seconds, pace, time_left)
        if share >= 1.0 or left(share) <= few.share:
            return few, share
        before, (few, seconds_now) = few, timed(few.n_rows, share)
        slope = max(0.0, seconds_now - seconds) / (few.share - before.share)
        pace, seconds = min(seconds_now / few.share, max(_SLOWER * slope, _SHORTEST)), seconds_now


def _next_share(share: float, seconds: float, pace: float, left: float) -> float:
    """The share of the trees to train next, 1 or more if all; the same as before if that is enough.

    Parameters
    ----------
    share, seconds
        What was trained, and how long that took.
    pace
        The seconds that all trees would take beyond what training takes besides.
    left
        How many seconds are left.

    >>> [_next_share(0.01, 0.1, 10.0, left) for left in (0.15, 0.5, 5.0, 20.0)]
    [0.01, 0.04, 0.04, 2.0]
    >>> round(_next_share(0.05, 0.14, 1.5, 0.5), 2)
    0.2
    """
    surely = left * share / seconds
    larger = min(share + (left - seconds) / pace, _STEP * share)
    if surely >= 1.0:
        return surely
    return larger if larger >= _WORTH * share else share
