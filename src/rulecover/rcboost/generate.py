"""The loop of Algorithm 2."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from rulecover.data.categories import CategorySet
from rulecover.data.columns import Columns
from rulecover.pool import RulePool, leaf_pool, rule_pool
from rulecover.rcboost.admission import Admission
from rulecover.rcboost.pricing.oracles import Duals
from rulecover.rcboost.pricing.proposal import Proposal, Proposed
from rulecover.rcboost.removal import Removal
from rulecover.rules.ruleset import RuleSet
from rulecover.setcover.master import Master, Relaxation
from rulecover.targets.impurity import Price
from rulecover.targets.samples import Samples
from rulecover.trees.tree import TreeEnsemble
from rulecover.typing import Floats, Ints


@dataclass(frozen=True, eq=False)
class Round:
    """What one pass through the loop found.

    Parameters
    ----------
    z
        The optimum of the LP over the pool as it was before: a share for each rule generated until then.
    pool
        The rules in the pool after the pass, by their place among all that were generated.
    rules, added, removed
        The size of the pool after the pass, how many rules entered it, and how many left.
    objective, bound, most_negative, lp_samples
        Of that optimum; a bound from below on the LP over all rules that the pricing can find, NaN if it proves none;
        the least reduced cost that was proposed; how many samples the LP had to know.
    seconds_lp, seconds_pricing, seconds_rest
        Where the time went.
    """

    z: Floats
    pool: Ints
    rules: int
    added: int
    removed: int
    objective: float
    bound: float
    most_negative: float
    lp_samples: int
    seconds_lp: float
    seconds_pricing: float
    seconds_rest: float

    @property
    def seconds(self) -> float:
        return self.seconds_lp + self.seconds_pricing + self.seconds_rest


class RuleGeneration:
    """Algorithm 2 between two rounds: the rules, the live master problem and the accumulated duals.

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
    admit, remove
        Which of the priced rules enter the pool, and which leave it, if any do.
    duals
        "equal" or "vertex"; see `Master`.
    step
        The factor by which duals enter the weights of the samples, 1 in the paper; ``None`` is the `even_step`.

    Attributes
    ----------
    generated
        All rules that ever entered.
    pool
        Those that are in the pool, by their place there.
    master
        The restricted master problem over the pool, once it has been solved.
    deadline
        When time is up, by `time.perf_counter`: a solve that takes longer is a TimeoutError, after which the rules and
        the pool are as they were. A tree that is being grown is not cut short.
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
        remove: Removal | None = None,
        duals: Literal["equal", "vertex"] = "equal",
        step: float | None = 1.0,
    ) -> None:
        self._data, self._propose, self._admit, self._remove = data, propose, admit, remove
        self._price, self._names, self._duals, self._step = price, names, duals, step
        self.generated = leaf_pool(data, first, price, names).distinct()
        self.pool: Ints = np.arange(len(self.generated))
        self._category_sets: dict[CategorySet, int] = {}
        #: The place of each rule among all that were generated.
        self._places = {key: j for j, key in enumerate(self.generated.rules.clauses.keys(self._category_sets))}
        self._first_weight = np.ones(len(data.y)) if data.weight is None else data.weight
        self.accumulated: Floats = self._first_weight
        self._dear_for: Ints = np.zeros(len(self.pool), dtype=np.intp)
        self.master: Master | None = None
        self.deadline: float | None = None

    def __iter__(self) -> Iterator[Round]:
        while True:
            clock = [time.perf_counter()]
            relaxation = self.solve()
            clock.append(time.perf_counter())
            # Many duals are zero, and a tree weighted by them alone would not see those samples: they accumulate.
            step = even_step(relaxation.objective, self._first_weight) if self._step is None else self._step
            accumulated = self.accumulated + step * relaxation.duals
            deadline = np.inf if self.deadline is None else self.deadline
            proposed = self._propose(Duals(relaxation.duals, accumulated, self._price, deadline))
            clock.append(time.perf_counter())
            priced, bound = self._met(proposed), _bound(proposed, relaxation.objective)
            reduced = reduced_costs(priced, relaxation.duals)
            stale, z = self._stale(relaxation), self.over_all(relaxation.z)
            n_added = self._exchange(stale, priced.take(self._admit(reduced)))
            self.accumulated = accumulated
            clock.append(time.perf_counter())
            yield Round(
                z,
                self.pool,
                rules=len(self.pool),
                added=n_added,
                removed=len(stale),
                objective=relaxation.objective,
                bound=bound,
                most_negative=float(reduced.min()) if len(reduced) else 0.0,
                lp_samples=relaxation.n_samples_in_lp,
                **_seconds(clock),
            )
            if not n_added:
                return

    def solve(self) -> Relaxation:
        """RMP(𝒥ₜ): the optimum over the pool, from the last basis if there is one."""
        master, self.master = self.master, None  # one that is cut short is not used again
        if master is None:
            pool = self.generated.take(self.pool)
            master = Master(pool.coverage, pool.evidence.cost, duals=self._duals, weight=self._data.weight)
        relaxation = master.solve(deadline=self.deadline)
        self.master = master
        return relaxation

    def over_all(self, z: Floats) -> Floats:
        """Shares of the rules in the pool as shares of all rules generated."""
        shares = np.zeros(len(self.generated))
        shares[self.pool] = z
        return shares

    def _stale(self, relaxation: Relaxation) -> Ints:
        """The rules, by their place in the pool, that have been too dear for long."""
        if self._remove is None:
            return np.zeros(0, dtype=np.intp)
        dear = self._remove(relaxation.reduced_cost) & (relaxation.z == 0)
        self._dear_for = np.where(dear, self._dear_for + 1, 0)
        return np.flatnonzero(self._dear_for >= self._remove.calls)

    def _exchange(self, stale: Ints, columns: RulePool) -> int:
        """Rules leave the pool, and others enter it, each once: the pool is a set. How many entered."""
        master, self.master = self.master, None
        assert master is not None
        if len(stale):
            master.remove(stale)
        places = dict(self._places)
        keys = columns.rules.clauses.keys(self._category_sets)
        place = np.array([places.setdefault(key, len(places)) for key in keys], dtype=np.intp)
        place, first = np.unique(place, return_index=True)
        outside = np.setdiff1d(place, self.pool)
        columns = columns.take(first[np.searchsorted(place, outside)])
        if len(columns):
            master.add(columns.coverage, columns.evidence.cost)
        new = columns.take(np.flatnonzero(outside >= len(self.generated)))  # others have left, and come back
        generated = self.generated.join(new) if len(new) else self.generated
        pool = np.concatenate([np.delete(self.pool, stale), outside])
        dear_for = np.concatenate([np.delete(self._dear_for, stale), np.zeros(len(columns), dtype=np.intp)])
        self.generated, self.pool, self._dear_for, self.master = generated, pool, dear_for, master
        self._places = places
        return len(columns)

    def _met(self, proposed: Proposed) -> RulePool:
        """The proposed rules, met with the data and priced."""
        rules = proposed.rules if isinstance(proposed, Proposal) else proposed
        if isinstance(rules, RuleSet):
            return rule_pool(self._data, replace(rules, columns=Columns(self._names)), self._price)
        return leaf_pool(self._data, rules, self._price, self._names)


def even_step(objective: float, weight: Floats) -> float:
    """The factor by which the duals of one call add a tenth of what all samples weigh at first.

    Duals add up to the objective, however many samples there are: beside a weight of 1 for each of a million they are
    nothing, and the next tree would be the last one again.
    """
    return 0.1 * float(weight.sum()) / objective


def reduced_costs(pool: RulePool, duals: Floats) -> Floats:
    """(1 + wⱼ) - Σ λᵢ over the samples i of rule j, eq. (4)."""
    return pool.evidence.cost - pool.coverage.per_rule(duals)


def _bound(proposed: Proposed, objective: float) -> float:
    return proposed.bound(objective) if isinstance(proposed, Proposal) else np.nan


def _seconds(clock: list[float]) -> dict[str, float]:
    return dict(zip(("seconds_lp", "seconds_pricing", "seconds_rest"), np.diff(clock).tolist(), strict=True))
