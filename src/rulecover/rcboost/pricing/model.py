"""Pricing by a trained model: its own leaves are the rules that may enter the pool, and nothing is trained."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from rulecover.pool import leaf_pool
from rulecover.rcboost.pricing.proposal import Proposal
from rulecover.targets.samples import Samples
from rulecover.trees.tree import Leaves, TreeEnsemble
from rulecover.typing import Ints

if TYPE_CHECKING:
    from rulecover.rcboost.pricing.oracles import Duals


@dataclass(frozen=True, eq=False)
class ModelPricing:
    """Trees of a trained model: at each call those whose leaves have the most negative reduced costs together.

    The pool begins with the leaves of the model's first tree. All leaves are priced at every call, so that the bound of
    each call holds for the LP over all rules of the model.

    Parameters
    ----------
    trees
        The trees of the model.
    n_estimators
        Trees per call.
    """

    trees: TreeEnsemble
    n_estimators: int = 20

    repeats_rows = False  # nothing is grown, so that no tie is decided by rounding

    def first(self, data: Samples, tree: Any, seed: int) -> TreeEnsemble:
        """The first tree of the model."""
        return self._some(np.arange(1))

    def __call__(self, data: Samples, duals: Duals, tree: Any, seed: int) -> Proposal:
        pool = leaf_pool(data, self.trees, duals.price, self.trees.names(self.trees.feature_names))
        reduced = pool.evidence.cost - pool.coverage.per_rule(duals.current)
        assert isinstance(pool.source, Leaves)
        gain = np.bincount(pool.source.tree, np.maximum(-reduced, 0.0), minlength=len(self.trees.trees))
        best = np.argsort(-gain, kind="stable")[: self.n_estimators]
        return Proposal(self._some(np.sort(best)), float(reduced.min()))

    def _some(self, trees: Ints) -> TreeEnsemble:
        """Some of the trees alone."""
        every = self.trees
        return replace(
            every,
            trees=tuple(every.trees[k] for k in trees.tolist()),
            routes=tuple(every.routes[k] for k in trees.tolist()),
            output=None if every.output is None else every.output[trees],
            weight=None if every.weight is None else every.weight[trees],
        )
