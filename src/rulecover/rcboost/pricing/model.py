"""Pricing by a trained model: its own leaves are the rules that may enter the pool, and nothing is trained."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from rulecover.clock import cut_in_words
from rulecover.pool import leaf_pool
from rulecover.rcboost.pricing.proposal import Proposal
from rulecover.targets.samples import Samples
from rulecover.trees.tree import Leaves, TreeEnsemble

if TYPE_CHECKING:
    from rulecover.rcboost.pricing.oracles import Duals


#: What it takes to add a rule to the pool and to write it in the end, in seconds, roughly.
_OF_A_RULE = 1e-4


@dataclass(frozen=True, eq=False)
class ModelPricing:
    """Trees of a trained model: at each call those whose leaves have the most negative reduced costs together.

    The pool begins with the leaves of the model's first tree. All leaves are priced at every call, so that the bound of
    each call holds for the LP over all rules of the model. A call for which there is no time to read all trees is one
    of the first of them, without a bound, and proposes as many as there is time for.

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
        return self.trees.take(np.arange(1))

    def __call__(self, data: Samples, duals: Duals, tree: Any, seed: int) -> Proposal:
        names, begin = self.trees.names(self.trees.feature_names), time.perf_counter()
        until = begin + (duals.read_by - begin) / 2 if duals.read_by < math.inf else None
        pool = leaf_pool(data, self.trees, duals.price, names, deadline=until)
        reduced = pool.evidence.cost - pool.coverage.per_rule(duals.current)
        assert isinstance(pool.source, Leaves)
        gain = np.bincount(pool.source.tree, np.maximum(-reduced, 0.0), minlength=len(self.trees.trees))
        best = np.argsort(-gain, kind="stable")[: self.n_estimators]
        n_leaves = np.bincount(pool.source.tree, minlength=len(self.trees.trees))
        n_read, now = int(np.count_nonzero(n_leaves)), time.perf_counter()
        seconds = np.cumsum((now - begin) / n_read + n_leaves[best] * _OF_A_RULE)
        proposed = best[: max(1, np.count_nonzero(seconds <= duals.read_by - now))]
        unread = cut_in_words(n_read, len(self.trees.trees), "trees were read")
        cut = [unread, cut_in_words(len(proposed), len(best), "trees were proposed at a call")]
        least = -math.inf if unread else float(reduced.min())
        return Proposal(self.trees.take(np.sort(proposed)), least, " and ".join(filter(None, cut)))
