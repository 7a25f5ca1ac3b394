"""Algorithm 2 on rows in many places: the LP and the pool are here; coverage, duals and trees are with the rows."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any, NamedTuple

import numpy as np

from rulecover.data.fingerprint import Fingerprint
from rulecover.exceptions import LostClusterError, MismatchedDataError
from rulecover.partitions.boost_master import CoverageInParts, MasterOfParts
from rulecover.partitions.mirco import shown_for_parts
from rulecover.partitions.parts import Parts
from rulecover.pool import RulePool, priced
from rulecover.rcboost.generate import BoostRecipe, RuleGeneration, even_step
from rulecover.rcboost.pricing.binned import BinnedPricing, SummedWeights, limits, sampling, tree_settings
from rulecover.rcboost.pricing.oracles import Duals
from rulecover.rcboost.pricing.proposal import Proposed
from rulecover.rules.ruleset import RuleSet
from rulecover.setcover.master import Relaxation
from rulecover.targets.samples import Samples
from rulecover.trees.tree import Leaves, Tree, TreeEnsemble
from rulecover.typing import Floats

#: A tree that parts grow together is begun again at most this many times if one of them is lost meanwhile.
_TRIES = 5


class _Weights(NamedTuple):
    """What the rows of all parts count, and weigh in the next tree; see `BoostPart.weights`."""

    n_parts: int
    n_rows: int
    counted: float
    least: float
    total: float


def binned_pricing(recipe: BoostRecipe) -> BinnedPricing:
    """The pricing, if the steps are for rows in many places."""
    if recipe.duals == "near":
        raise MismatchedDataError("duals is 'near', which needs all rows in one place; choose 'equal'.")
    if recipe.duals != "equal":
        raise MismatchedDataError(f"duals is {recipe.duals!r}, which depends on the order of rows; choose 'equal'.")
    if not isinstance(recipe.pricing, BinnedPricing):
        raise MismatchedDataError(
            f"pricing is {type(recipe.pricing).__name__}, which needs all rows in one place; choose pricing='binned'."
        )
    if recipe.pricing.n_estimators > 1:
        raise MismatchedDataError(
            f"n_estimators of BinnedPricing is {recipe.pricing.n_estimators}, but rows in many places grow one tree "
            "per call; give n_estimators=1, and more calls (max_rmp_calls)."
        )
    return recipe.pricing


class GenerationInParts(RuleGeneration):
    """`RuleGeneration` where the samples are in many places; the pricing is that of trees on binned columns.

    Parameters
    ----------
    parts
        Those of `BoostPart`.
    link
        Starts a tracker, by which parts that grow a tree together find each other, for this many of them; returns what
        each part needs to know. It is not called if there is only one part.
    samples
        Samples without rows, of the same kind, columns and labels.
    tree
        The settings of trees.
    recipe, names, seed
        As in `RuleGeneration`.
    first
        From a seed, the number of rows and the number of parts to the first tree, or to ``None`` if parts are to grow
        it; by default they do.
    """

    def __init__(
        self,
        parts: Parts,
        link: Callable[[int], Mapping[str, Any]],
        samples: Samples,
        tree: Any,
        *,
        recipe: BoostRecipe,
        names: Callable[[TreeEnsemble], tuple[str, ...]],
        seed: int = 0,
        first: Callable[[int, int, int], TreeEnsemble | None] | None = None,
    ) -> None:
        self._pricing = binned_pricing(recipe)
        self._tree, self._recipe, self._seeds = tree, recipe, np.random.default_rng(seed)
        self.parts, self._link, self.samples = parts, link, samples
        weights = self._weights()
        self._n_samples, self._n_parts = weights.n_rows, weights.n_parts
        self._total, self._scale = weights.counted, 1.0 / min(1.0, weights.counted / weights.n_rows)
        self._n_trees = 0
        seed = self._seed()
        tree = None if first is None else first(seed, self._n_samples, self._n_parts)
        tree = self._grow(seed) if tree is None else tree  # line 2
        self._names = names(tree)
        self._begin(self._priced(tree).distinct())
        self.accumulated = np.zeros(0)  # line 1: it is with the rows

    def _new_master(self) -> MasterOfParts:
        pool = self.generated.take(self.pool)
        return MasterOfParts(self.parts, self._n_samples, pool.coverage, pool.evidence.cost)

    def _accumulate(self, relaxation: Relaxation) -> Duals:
        step = self._recipe.step
        if step is None:
            step = even_step(relaxation.objective, np.array([self._total]))
        self.master.spread(step)
        return Duals(relaxation.duals, self.accumulated, self._recipe.price)

    def _propose(self, duals: Duals) -> TreeEnsemble:
        return self._grow(self._seed())

    def _grow(self, seed: int) -> TreeEnsemble:
        """A tree that all parts grow together; begun again if one of them is lost meanwhile."""
        weights, n_features = self._weights(), self.samples.X.shape[1]
        summed = SummedWeights(weights.counted, weights.least * self._scale, weights.total * self._scale)
        settings = tree_settings(self._pricing.max_bin, one_target=self.samples.outputs.shape[1] == 1)
        settings |= limits(self._tree, summed) | sampling(self._tree, n_features, seed)
        for _ in range(_TRIES):
            link = self._link(self._n_parts) if self._n_parts > 1 else None
            list(self.parts.map("begin_tree", settings, self._scale, link))
            found = list(self.parts.map("end_tree"))
            if all(isinstance(each, Tree) for each in found):
                return TreeEnsemble((found[0],), (), prepare=np.asarray, n_features=n_features)
        raise LostClusterError(f"no tree could be grown in {_TRIES} attempts; the last error: {found}")

    def _priced(self, proposed: Proposed) -> RulePool:
        """The leaves of a tree that hold a row, with their costs."""
        assert isinstance(proposed, TreeEnsemble)
        (tree,) = proposed.trees
        answers = list(self.parts.map("follow", tree))
        sums, duals = (np.sum([answer[k] for answer in answers], axis=0) for k in range(2))
        node = np.flatnonzero(sums.any(axis=1))
        leaves = Leaves((tree,), np.zeros(len(node), dtype=np.intp), node, proposed.columns_named(self._names))
        coverage = CoverageInParts.of_nodes(np.full(len(node), self._n_trees), node, self._n_samples)
        self._n_trees, self._priced_duals = self._n_trees + 1, duals[node]
        evidence = priced(self.samples, leaves, sums[node], self._recipe.price, totals=sums.sum(axis=0))
        return RulePool(leaves, coverage, evidence)

    def _reduced_costs(self, pool: RulePool, relaxation: Relaxation) -> Floats:
        return np.asarray(pool.evidence.cost - self._priced_duals)

    def shown(self, rules: RuleSet) -> RuleSet:
        shown, self._fingerprint = shown_for_parts(self.parts, rules)
        return shown

    def fingerprint_of(self, rules: RuleSet) -> Fingerprint:
        """The fingerprint of the rows in the columns of these rules, once rules are shown."""
        used = tuple(rules.feature_names[f] for f in rules.clauses.columns.tolist())
        return self._fingerprint if used == self._fingerprint.columns else shown_for_parts(self.parts, rules)[1]

    def _weights(self) -> _Weights:
        found = np.array(list(self.parts.map("weights")))
        n_rows, count, least, total = found.T
        return _Weights(len(found), int(n_rows.sum()), count.sum(), least.min(), total.sum())


def start_tracker(host: str, n_parts: int) -> dict[str, Any]:
    """Starts a tracker in this process, by which parts that grow a tree together find each other."""
    from xgboost.tracker import RabitTracker

    tracker = RabitTracker(n_workers=n_parts, host_ip=host)
    tracker.start()
    threading.Thread(target=_wait_for_parts, args=(tracker,), daemon=True).start()
    return dict(tracker.worker_args())


def _wait_for_parts(tracker: Any) -> None:
    """Keeps a tracker until its parts are done, or lost."""
    with suppress(Exception):
        tracker.wait_for()
    with suppress(Exception):
        tracker.free()
