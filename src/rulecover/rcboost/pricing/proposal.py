"""What a pricing oracle returns if it has proved a bound as well."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TypeAlias

from rulecover.rules.ruleset import RuleSet
from rulecover.trees.tree import TreeEnsemble


@dataclass(frozen=True, eq=False)
class Proposal:
    """Rules, and what the search for them has proved.

    Parameters
    ----------
    rules
        The leaves of an ensemble, or rules as they are.
    least_reduced_cost
        No rule of the oracle's rule space has a lower reduced cost; minus infinity if that is not known.
    unread
        What part of the rule space there was no time for, in words.
    """

    rules: TreeEnsemble | RuleSet
    least_reduced_cost: float
    unread: str = ""

    def bound(self, objective: float) -> float:
        """A bound from below on the LP over the pool and the whole rule space, from the optimum over the pool."""
        return math.nan if self.least_reduced_cost == -math.inf else farley_bound(objective, self.least_reduced_cost)


def farley_bound(objective: float, least_reduced_cost: float) -> float:
    """A bound from below on the covering LP over more rules, from the optimum over some and the least reduced cost.

    Say no reduced cost is below -r. Then the duals of no rule add up to more than its cost + r, and as every cost is at
    least 1, to no more than (1 + r) times its cost: the duals over 1 + r are feasible for the dual of the LP over all
    rules (Farley's bound). With r = 0 it is the objective: no rule that is left out would help.
    """
    return objective / (1.0 + max(0.0, -least_reduced_cost))


#: What an oracle may return.
Proposed: TypeAlias = TreeEnsemble | RuleSet | Proposal
