"""Pricing oracles: where rules of negative reduced cost may come from. They propose; the loop prices."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any, Protocol

from sklearn.base import clone, is_regressor
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor

from rulecover.rcboost.pricing.bicriteria import BicriteriaPricing
from rulecover.rcboost.pricing.binned import BinnedPricing
from rulecover.rcboost.pricing.exact import ExactPricing
from rulecover.rcboost.pricing.model import ModelPricing
from rulecover.rcboost.pricing.proposal import Proposed
from rulecover.rcboost.pricing.settings import check_has_settings
from rulecover.readers import read_trees
from rulecover.targets.classes.impurity import Gini
from rulecover.targets.impurity import Price
from rulecover.targets.samples import Samples
from rulecover.trees.tree import TreeEnsemble
from rulecover.typing import Floats


@dataclass(frozen=True, eq=False)
class Duals:
    """The prices of the samples, λᵗ and λ̄ of Algorithm 2.

    Parameters
    ----------
    current
        Those of the last solve. The price of a sample of weight 2 is that of two samples.
    accumulated
        The weight of each sample in a tree: its own, 1 in the paper, plus step times its prices of all solves.
    price
        What a rule costs, for oracles that look for reduced costs.
    deadline
        When the time of RCBoost is up, by `time.perf_counter`, for oracles that can end early.
    read_by
        The same for the trees of a model, all of which are read where a run may go on from a checkpoint.
    """

    current: Floats
    accumulated: Floats
    price: Price = field(default_factory=lambda: Price(Gini()))
    deadline: float = math.inf
    read_by: float = math.inf


class Pricing(Protocol):
    """From data and duals to rules, or an ensemble whose leaves are rules; `seed` differs from call to call.

    One that has searched a whole rule space returns a `Proposal`, with what it has proved.

    One that also has ``first(data, tree, seed) -> TreeEnsemble`` grows the first tree, the start of the pool, as well.

    One that takes over the settings of the tree also has ``check(tree)``, which raises if these are of no use to it; it
    is called before anything is trained.

    One that also has ``first_trees(n_features) -> float`` says how many times as long as the first tree a call takes,
    roughly, so that none is begun that there is no time for.

    One that also has ``of_model(trees) -> Pricing`` takes the trees of a trained model in place of growing some.

    One that has ``usual_calls`` says how many calls there are where nothing else is asked for.

    Rows with small whole numbers as weights are given as repeated rows: scikit-learn's trees round sums of weights, and
    rounding decides ties. One that has ``repeats_rows = False`` gets the weights; its sums must be exact, or its ties
    lenient.
    """

    def __call__(self, data: Samples, duals: Duals, tree: Any, seed: int) -> Proposed: ...


@dataclass(frozen=True)
class TreePricing:
    """The paper's: one tree, grown on samples weighted by the accumulated duals (Algorithm 2, line 6)."""

    def first_trees(self, n_features: int) -> float:
        """A call takes as long as the first tree."""
        return 1.0

    def of_model(self, trees: TreeEnsemble) -> ModelPricing:
        """The same with trees of a trained model: one per call."""
        return ModelPricing(trees, 1)

    def __call__(self, data: Samples, duals: Duals, tree: Any, seed: int) -> TreeEnsemble:
        return read_trees(clone(tree).fit(data.X, data.targets, sample_weight=duals.accumulated))


@dataclass(frozen=True)
class ForestPricing:
    """Several randomised trees per call (S.3), on samples weighted by the accumulated duals.

    Parameters
    ----------
    n_estimators
        Trees per call.
    max_features
        Features tried at each split.
    """

    n_estimators: int = 20
    max_features: Any = "sqrt"

    usual_calls = 5  # each adds a forest

    def check(self, tree: Any) -> None:
        """Raises unless the settings of this model are those of a tree."""
        check_has_settings(tree, "forest")

    def first_trees(self, n_features: int) -> float:
        """A tree takes as long as the first one, but looks at some of the features only.

        >>> ForestPricing(20).first_trees(16)
        5.0
        """
        few = {"sqrt": math.sqrt(n_features), "log2": math.log2(n_features), None: n_features}
        tried = few[self.max_features] if self.max_features in few else float(self.max_features)
        share = tried if isinstance(self.max_features, float) else tried / n_features
        return self.n_estimators * min(1.0, max(share, 1.0 / n_features))

    def of_model(self, trees: TreeEnsemble) -> ModelPricing:
        """The same with trees of a trained model: as many per call."""
        return ModelPricing(trees, self.n_estimators)

    def __call__(self, data: Samples, duals: Duals, tree: Any, seed: int) -> TreeEnsemble:
        kind = RandomForestRegressor if is_regressor(tree) else RandomForestClassifier
        shared = {k: v for k, v in tree.get_params().items() if k in kind().get_params()}
        shared |= {"n_estimators": self.n_estimators, "max_features": self.max_features, "random_state": seed}
        forest = kind(**shared)
        return read_trees(forest.fit(data.X, data.targets, sample_weight=duals.accumulated))


PRICINGS: dict[str, Pricing] = {"tree": TreePricing(), "forest": ForestPricing(), "binned": BinnedPricing()}
PRICINGS |= {"bicriteria": BicriteriaPricing(), "exact": ExactPricing()}
