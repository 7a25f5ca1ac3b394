"""What is known of rules from the training data, rule by rule."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from rulecover.typing import Floats, Ints

if TYPE_CHECKING:
    from rulecover.rules.view import TargetView


@dataclass(frozen=True, eq=False)
class Evidence(ABC):
    """What is known of the rules from the training data, rule by rule.

    Parameters
    ----------
    sums
        Sums over the samples of each rule, rules x columns; the meaning of a column depends on the kind of target.
    impurity, cost
        w and 1 + w, or as the weights in the cost define it.
    totals
        The same sums over all samples of the data.
    """

    sums: Floats
    impurity: Floats
    cost: Floats
    totals: Floats

    def take(self, rules: Ints) -> Self:
        return replace(self, sums=self.sums[rules], impurity=self.impurity[rules], cost=self.cost[rules])

    def join(self, other: Evidence) -> Self:
        """The evidence of these rules, followed by that of others on the same data."""
        return replace(
            self,
            sums=np.concatenate([self.sums, other.sums]),
            impurity=np.concatenate([self.impurity, other.impurity]),
            cost=np.concatenate([self.cost, other.cost]),
        )

    @property
    @abstractmethod
    def support(self) -> Floats:
        """The (weighted) number of samples that each rule covers."""

    @property
    @abstractmethod
    def total(self) -> float:
        """The (weighted) number of all samples."""

    @property
    def samples(self) -> Floats:
        """The support as it is shown: without class weights."""
        return self.support

    @property
    def n_samples(self) -> float:
        """The number of all samples, without class weights."""
        return self.total

    @property
    def shares(self) -> Floats:
        """The sums of each rule over its support."""
        return np.asarray(self.sums / self.support[:, None])

    @abstractmethod
    def facts(self, j: int) -> dict[str, Any]:
        """What is known of one rule, as `Rule` names it."""

    @property
    @abstractmethod
    def view(self) -> TargetView:
        """How views show it."""
