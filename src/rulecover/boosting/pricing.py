"""Pricing oracles: where rules of negative reduced cost may come from. They propose; the loop prices."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

from sklearn.base import clone
from sklearn.ensemble import RandomForestClassifier

from rulecover.pool import TrainingData
from rulecover.readers import read_trees
from rulecover.trees import TreeEnsemble
from rulecover.typing import Floats


@dataclass(frozen=True, eq=False)
class Duals:
    """The prices of the samples: of the last solve, and added up over all, from 1 (λᵗ and λ̄ of Algorithm 2)."""

    current: Floats
    accumulated: Floats


def weights(data: TrainingData, duals: Duals) -> Floats:
    """What each sample weighs in a tree: its accumulated dual times what it counts at all."""
    return duals.accumulated if data.weight is None else duals.accumulated * data.weight


class Pricing(Protocol):
    """From data and duals to an ensemble whose leaves are the proposed rules; `seed` differs from call to call."""

    def __call__(self, data: TrainingData, duals: Duals, tree: Any, seed: int) -> TreeEnsemble: ...


@dataclass(frozen=True)
class TreePricing:
    """The paper's: one tree, grown on samples weighted by the accumulated duals (Algorithm 2, line 6)."""

    def __call__(self, data: TrainingData, duals: Duals, tree: Any, seed: int) -> TreeEnsemble:
        return read_trees(clone(tree).fit(data.X, data.classes[data.y], sample_weight=weights(data, duals)))


@dataclass(frozen=True)
class ForestPricing:
    """Several randomised trees a call (S.3), on samples weighted by the accumulated duals.

    Parameters
    ----------
    n_estimators
        Trees a call.
    max_features
        Features tried at each split.
    """

    n_estimators: int = 10
    max_features: Any = "sqrt"

    def __call__(self, data: TrainingData, duals: Duals, tree: Any, seed: int) -> TreeEnsemble:
        shared = {k: v for k, v in tree.get_params().items() if k in RandomForestClassifier().get_params()}
        shared |= {"n_estimators": self.n_estimators, "max_features": self.max_features, "random_state": seed}
        forest = RandomForestClassifier(**shared)
        return read_trees(forest.fit(data.X, data.classes[data.y], sample_weight=weights(data, duals)))


PRICINGS: dict[str, Pricing] = {"tree": TreePricing(), "forest": ForestPricing()}
