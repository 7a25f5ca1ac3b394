"""The loop of Algorithm 2."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Literal

import numpy as np

from rulecover.boosting.admission import Admission
from rulecover.boosting.pricing import Duals
from rulecover.pool import Price, RulePool, TrainingData
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
    objective, most_negative, lp_samples
        Of that optimum; the least reduced cost that was proposed; how many samples the LP had to know.
    seconds_lp, seconds_pricing, seconds_rest
        Where the time went.
    """

    z: Floats
    rules: int
    added: int
    objective: float
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
        The pricing oracle: from duals to an ensemble whose leaves are the proposed rules.
    price, names
        What a rule costs; the names of the columns.
    admit
        Which of the priced rules enter.
    duals
        "equal" or "vertex"; see `Master`.
    """

    def __init__(
        self,
        data: TrainingData,
        first: TreeEnsemble,
        propose: Callable[[Duals], TreeEnsemble],
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
            proposed = self._propose(Duals(relaxation.duals, accumulated))
            clock.append(time.perf_counter())
            priced = self._data.pool(proposed, self._price, self._names)
            reduced = reduced_costs(priced, relaxation.duals)
            columns = priced.take(self._admit(reduced))
            if len(columns):
                self.master.add(columns.coverage, columns.evidence.cost)
                self.pool = self.pool.join(columns)
            self.accumulated = accumulated
            clock.append(time.perf_counter())
            yield _round(self.pool, columns, relaxation, reduced, clock)
            if not len(columns):
                return


def reduced_costs(pool: RulePool, duals: Floats) -> Floats:
    """(1 + wⱼ) - Σ λᵢ over the samples i of rule j, eq. (4)."""
    return pool.evidence.cost - pool.coverage.per_rule(duals)


def _round(pool: RulePool, columns: RulePool, relaxation: Relaxation, reduced: Floats, clock: list[float]) -> Round:
    return Round(
        relaxation.z,
        len(pool),
        len(columns),
        relaxation.objective,
        float(reduced.min()),
        relaxation.n_samples_in_lp,
        *np.diff(clock).tolist(),
    )
