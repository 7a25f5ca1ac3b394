"""Models of fewer trees: all of them may take too long even on the fewest rows."""

from __future__ import annotations

import copy
import time
import warnings
from collections.abc import Callable
from numbers import Integral
from typing import Any, NamedTuple

from sklearn.model_selection import ParameterGrid, check_cv
from sklearn.model_selection._search import BaseSearchCV

from rulecover.estimators.in_time import SamplingOrder
from rulecover.exceptions import RulecoverError
from rulecover.typing import Ints

#: A share of which every model has one tree, or one round of trees.
_ONE = 1e-9
#: A model of fewer times as many trees is not worth its time.
_WORTH = 2.0
#: How many times as many trees the next model may have, unless all surely take no longer than there is time for.
_STEP = 4.0
#: How many times as long as others before a tree may take.
_SLOWER = 1.5
#: How time grows with the rows of more classes, as a power of them: each split is weighed for every class.
_POWER = 2.2
#: Seconds that trees have in any case, and as good as none.
_AT_LEAST, _TINY = 0.5, 1e-9
#: The settings by which libraries count trees, or rounds of them, and the numbers that they take by default.
_COUNTS = {"n_estimators": 100, "iterations": 1000, "max_iter": None}
#: Other names of theirs for the same, which decide where they are given.
_ALIASES = ("num_iterations", "num_boost_round", "num_trees")
#: How many settings or folds a search has, where that depends on the rows.
_UNKNOWN = 100


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
        return with_share_of_trees(model.estimator, share * _n_fits(model))
    return model.set_params(**_fewer(model, share))


def share_left(model: Any, share: float) -> float:
    """The share of its trees that a model has left, where it is to have this one: one tree at least in each part.

    Examples
    --------
    >>> from sklearn.ensemble import BaggingClassifier, RandomForestClassifier
    >>> share_left(RandomForestClassifier(10), 0.02), share_left(BaggingClassifier(RandomForestClassifier(50)), 0.02)
    (0.1, 0.02)
    """
    return max(1, _n_trees(with_share_of_trees(copy.deepcopy(model), share))) / max(1, _n_trees(model))


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
    if isinstance(model, BaseSearchCV):
        return _n_fits(model) * max(1, _n_trees(model.estimator))
    inner = sum(_n_trees(part) for part in _parts(model).values())
    return inner if _setting(model) is None else _count(model) * max(1, inner)


def _n_fits(search: BaseSearchCV) -> int:
    """How often a search trains a model: each setting in each fold, and the best one once more.

    >>> from sklearn.model_selection import GridSearchCV
    >>> _n_fits(GridSearchCV(None, {"max_depth": [1, 2], "criterion": ["gini", "entropy"]}, cv=3))
    13
    """
    known = search.get_params(deep=False)
    tried = len(ParameterGrid(known["param_grid"])) if "param_grid" in known else known.get("n_iter", _UNKNOWN)
    try:
        folds = check_cv(search.cv).get_n_splits()
    except (TypeError, ValueError):  # by rows or groups
        folds = _UNKNOWN
    return int(tried) * int(folds) + 1


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
    """A model that was trained with a share of its trees, on some of the rows."""

    model: Any
    share: float
    n_rows: int

    @property
    def in_words(self) -> str:
        """With how many trees it was trained, if not with all.

        >>> [FewTrees(None, share, 1000).in_words for share in (0.049, 1.0)]
        ['with 4.9 % of its trees', '']
        """
        return f"with {100 * self.share:.2g} % of its trees" if self.share < 1.0 else ""


def trained_with_fewer_trees(
    train: Callable[[Ints, float], Any], order: SamplingOrder, deadline: float, left: Callable[[float], float] = float
) -> FewTrees | None:
    """A model with as many of its trees as there is time for on few rows; ``None`` if there is time for all.

    One tree is trained first, or a round of them, on the fewest rows. If there is time, rows of all classes come next,
    then more trees.

    Parameters
    ----------
    train
        From rows and a share of the trees to a model. It may raise an error of its library, for example because rows
        are few; then there is no telling how long trees take.
    order
        The rows, in the order in which they are taken.
    deadline
        When the model must be trained, by `time.perf_counter`; trees that take half a second have that in any case.
    left
        From a share of the trees to the one that such a model has, which is larger where it has few.

    Examples
    --------
    >>> import numpy as np
    >>> order = SamplingOrder(np.arange(5000), least=1000, fewest=1000)
    >>> def train(rows, share):
    ...     time.sleep(0.35)
    >>> trained_with_fewer_trees(train, order, time.perf_counter() + 60, lambda share: max(share, 0.6))
    >>> trained_with_fewer_trees(train, order, time.perf_counter(), lambda share: max(share, 0.6))
    FewTrees(model=None, share=0.6, n_rows=1000)
    """
    deadline = max(deadline, time.perf_counter() + _AT_LEAST)
    n_rows, share, before = order.fewest, _ONE, None
    while True:
        begin = time.perf_counter()
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # about rows that were taken at random
                few = FewTrees(train(order.rows[:n_rows], share), left(share), n_rows)
        except RulecoverError:
            raise
        except Exception:  # of any library
            if n_rows == order.least:
                return None
            n_rows = order.least
            continue
        now = time.perf_counter()
        timed = _Timed(few.share, max(now - begin, _TINY))
        if n_rows < order.least:
            if timed.seconds * (order.least / n_rows) ** _POWER > deadline - now:
                return few
            n_rows = order.least
            continue
        share = _next_share(timed, before, deadline - now)
        if share >= 1.0:
            return None
        if left(share) <= few.share:
            return few
        before = timed


class _Timed(NamedTuple):
    """How long it took to train a share of the trees."""

    share: float
    seconds: float


def _next_share(timed: _Timed, before: _Timed | None, left: float) -> float:
    """The share of the trees to train next, 1 or more if all; the same as before if that is enough.

    What training takes beside its trees is known from the share before.

    >>> [_next_share(_Timed(0.01, 0.1), None, left) for left in (0.15, 0.5, 5.0, 20.0)]
    [0.01, 0.04, 0.04, 2.0]
    >>> round(_next_share(_Timed(0.05, 0.14), _Timed(0.01, 0.1), 0.5), 3)
    0.2
    """
    of_a_share = timed.seconds / timed.share
    surely = left / of_a_share
    if surely >= 1.0:
        return surely
    if before is not None:
        slope = (timed.seconds - before.seconds) / (timed.share - before.share)
        of_a_share = min(of_a_share, max(_SLOWER * slope, _TINY))
    affordable = timed.share + (left - timed.seconds) / of_a_share
    larger = min(affordable, _STEP * timed.share)
    return larger if larger >= _WORTH * timed.share else timed.share
