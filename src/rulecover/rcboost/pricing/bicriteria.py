"""Pricing by a tree whose splits weigh impurity and negative reduced cost (S.3 of the paper)."""

from __future__ import annotations

import numbers
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from rulecover.rcboost.pricing.bins import bins_of, check_max_bins
from rulecover.rcboost.pricing.grower import GrowingSamples, Grown, Limits, Sums, grow
from rulecover.targets.classes.samples import with_classes
from rulecover.targets.impurity import Price
from rulecover.targets.samples import Samples
from rulecover.trees.tree import TreeEnsemble
from rulecover.typing import Bools, Floats, Ints

if TYPE_CHECKING:
    from rulecover.rcboost.pricing.oracles import Duals

#: Scores from 0 to 1 that differ by less are equal: sums taken in another order.
_TIE = 1e-12
#: The values of splits that are not allowed; finite, so that 0 times it is not NaN.
_IMPOSSIBLE = -1e30


@dataclass(frozen=True)
class BicriteriaPricing:
    """One tree per call; each split is chosen among those that no other beats in both impurity and reduced cost.

    A split has two values: by how much it lowers the impurity of samples weighted by the accumulated duals, as in the
    paper's tree, and how negative the reduced costs of its two children are together, by the duals of the last solve
    (a child whose reduced cost is not negative adds nothing). Of the pairs that no other dominates, the best weighted
    sum wins, each value scaled to run from 0 to 1 over these pairs; ties go to the larger plain sum, then to the
    first column, then to the lowest threshold.

    The tree grows on binned columns. From the estimator of RCBoost it takes the depth and the least samples and weight
    of a leaf, and nothing else: no random columns, no pruning. It is the same for every seed.

    Parameters
    ----------
    balance
        The weight of the reduced cost, from 0 (impurity only: a plain tree) to 1 (reduced cost only).
    max_bins
        The largest number of bins per column; a column with fewer values has a bin for each.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from rulecover import RCBoostClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> boosted = RCBoostClassifier(pricing=BicriteriaPricing(balance=0.2), max_rmp_calls=5, random_state=0).fit(X, y)
    >>> boosted.score(X, y) > 0.95
    True
    """

    balance: float = 0.25
    max_bins: int = 255

    repeats_rows: ClassVar[bool] = False

    def __post_init__(self) -> None:
        balance: Any = self.balance
        if isinstance(balance, bool) or not isinstance(balance, numbers.Real) or not 0 <= float(balance) <= 1:
            raise ValueError(f"balance is {self.balance!r}; give a number from 0 (impurity) to 1 (reduced cost).")
        check_max_bins(self.max_bins, none_allowed=False)

    def __call__(self, data: Samples, duals: Duals, tree: Any, seed: int) -> TreeEnsemble:
        data = with_classes(data, "bicriteria pricing")
        samples = GrowingSamples(data.y, len(data.classes), duals.accumulated, data.weight, duals.current)
        choose = NonDominated(self.balance, duals.price)
        grown = grow(bins_of(data, self.max_bins), samples, choose, Limits.like(tree, samples))
        return TreeEnsemble(
            trees=(grown.tree,),
            routes=(partial(_route, grown, data.X),),
            prepare=lambda X: X,
            n_features=data.X.shape[1],
        )


def _route(grown: Grown, known: Any, X: Any) -> Ints:
    """The leaf of each row; for the rows that the tree was grown on, it is known."""
    return grown.leaf if X is known else grown.tree.apply(X)


@dataclass(frozen=True, eq=False)
class NonDominated:
    """Chooses splits by impurity and reduced cost; see `BicriteriaPricing`."""

    balance: float
    price: Price

    def __call__(self, left: Sums, right: Sums, allowed: Bools) -> Ints:
        decrease, negative = np.full(allowed.shape, _IMPOSSIBLE), np.full(allowed.shape, _IMPOSSIBLE)
        places = np.nonzero(allowed)
        sides = left.at(places), right.at(places)
        # The impurity of the node itself is the same for all its splits.
        decrease[places] = -sum(side.weight.sum(axis=1) * self.price.impurity(side.weight) for side in sides)
        negative[places] = sum(self._negative_part(side) for side in sides)
        return best_compromise(decrease, negative, self.balance)

    def _negative_part(self, side: Sums) -> Floats:
        cost = 1.0 + self.price.impurity_weight * self.price.impurity(side.count)
        return np.maximum(side.dual - cost, 0.0)


def best_compromise(first: Floats, second: Floats, balance: float) -> Ints:
    """For each row the place of the pair that is best in the weighted sum of two values, both as large as can be.

    Values are scaled by their range over the pairs that no other dominates. The ends of that set are the best pairs by
    one value and then by the other, so the set itself need not be listed: no pair that is dominated has the best sum.

    >>> best_compromise(np.array([[0.0, 5.0, 9.0]]), np.array([[4.0, 3.0, 0.0]]), balance=0.5)
    array([1])
    """
    one, two = _scaled(first, second), _scaled(second, first)
    score = (1 - balance) * one + balance * two
    both = np.where(score >= score.max(axis=1, keepdims=True) - _TIE, one + two, -np.inf)
    return np.asarray(np.argmax(both >= both.max(axis=1, keepdims=True) - _TIE, axis=1))


def _scaled(values: Floats, others: Floats) -> Floats:
    """Values from -1, where the other value is best, to 0, where this one is; dominated pairs may be lower still."""
    highest = values.max(axis=1, keepdims=True)
    lowest = np.where(others == others.max(axis=1, keepdims=True), values, -np.inf).max(axis=1, keepdims=True)
    spread, size = highest - lowest, np.maximum(np.abs(highest), 1.0)
    # A spread that is mere rounding must not be blown up to 1.
    scaled: Floats = (values - highest) / np.where(spread > 1e-10 * size, spread, size)
    return scaled
