"""The loop of Algorithm 2."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from rulecover.boosting.admission import Admission
from rulecover.boosting.pricing import Duals
from rulecover.boosting.proposal import Proposal, Proposed
from rulecover.pool import Price, RulePool, Samples
from rulecover.rules import RuleSet
from rulecover.setcover.master import Master, Relaxation
from rulecover.trees import TreeEnsemble
from rulecover.typing import Floats


@dataclass(frozen=True, eq=False)
class Round:
    """What one pass through the loop found.

    Parameters
    ----------
    z
        The optimum of the LP over the pool as it was before.
    rules, added
        The size of the pool after the pass, and how many rules it added.
    objective, bound, most_negative, lp_samples
        Of that optimum; a bound from below on the LP over all rules that the pricing can find, NaN if it proves none;
        the least reduced cost that was proposed; how many samples the LP had to know.
    seconds_lp, seconds_pricing, seconds_rest
        Where the time went.
    """

    z: Floats
    rules: int
    added: int
    objective: float
    bound: float
    most_negative: float
    lp_samples: int
    seconds_lp: float
    seconds_pricing: float
    seconds_rest: float


class RuleGeneration:
    """Algorithm 2 between two rounds: the pool, the live master problem and the accumulated duals.

    Iterating runs the loop, one `Round` a pass, until no proposed rule has negative reduced cost. Costs use unweighted
    impurity; the duals only steer the trees.

    Parameters
    ----------
    data
        The samples.
    first
        The tree whose leaves are the first pool.
    propose
        The pricing oracle: from duals to rules, or to an ensemble whose leaves are the rules, or to a `Proposal`.
    price, names
        What a rule costs; the names of the columns.
    admit
        Which of the priced rules enter.
    duals
        "equal" or "vertex"; see `Master`.
    """

    def __init__(
        self,
        data: Samples,
        first: TreeEnsemble,
        propose: Callable[[Duals], Proposed],
        *,
        price: Price,
        names: tuple[str, ...],
        admit: Admission,
        duals: Literal["equal", "vertex"] = "equal",
    ) -> None:
        self._data, self._propose, self._admit = data, propose, admit
        self._price, self._names = price, names
        self.pool = data.pool(first, price, names)
        self.master = Master(self.pool.coverage, self.pool.evidence.cost, duals=duals)
        self.accumulated: Floats = np.ones(len(data.y))

    def __iter__(self) -> Iterator[Round]:
        while True:
            clock = [time.perf_counter()]
            relaxation = self.master.solve()
            clock.append(time.perf_counter())
            # Many duals are zero, and a tree weighted by them alone would not see those samples: they accumulate.
            accumulated = self.accumulated + relaxation.duals
            proposed = self._propose(Duals(relaxation.duals, accumulated, self._price))
            clock.append(time.perf_counter())
            priced, bound = self._met(proposed), _bound(proposed, relaxation.objective)
            reduced = reduced_costs(priced, relaxation.duals)
            columns = priced.take(self._admit(reduced))
            if len(columns):
                self.master.add(columns.coverage, columns.evidence.cost)
                self.pool = self.pool.join(columns)
            self.accumulated = accumulated
            clock.append(time.perf_counter())
            yield _round(self.pool, columns, relaxation, bound=bound, reduced=reduced, clock=clock)
            if not len(columns):
                return

    def _met(self, proposed: Proposed) -> RulePool:
        """The proposed rules, met with the data and priced."""
        rules = proposed.rules if isinstance(proposed, Proposal) else proposed
        if isinstance(rules, RuleSet):
            return self._data.pool_of(replace(rules, feature_names=self._names), self._price)
        return self._data.pool(rules, self._price, self._names)


def reduced_costs(pool: RulePool, duals: Floats) -> Floats:
    """(1 + wⱼ) - Σ λᵢ over the samples i of rule j, eq. (4)."""
    return pool.evidence.cost - pool.coverage.per_rule(duals)


def _bound(proposed: Proposed, objective: float) -> float:
    return proposed.bound(objective) if isinstance(proposed, Proposal) else np.nan


def _round(
    pool: RulePool, columns: RulePool, relaxation: Relaxation, *, bound: float, reduced: Floats, clock: list[float]
) -> Round:
    return Round(
        relaxation.z,
        len(pool),
        len(columns),
        relaxation.objective,
        bound,
        float(reduced.min()) if len(reduced) else 0.0,
        relaxation.n_samples_in_lp,
        *np.diff(clock).tolist(),
    )
