"""The master problem solved to within a few percent, by a first-order method, for pools that grow by many rules."""

from __future__ import annotations

import copy

import numpy as np
import scipy.sparse

from rulecover.clock import is_late
from rulecover.coverage import Coverage
from rulecover.setcover.master import LPState, Master, Relaxation
from rulecover.typing import Array, Floats, Ints

#: The proved distance from the optimum at which a solve ends.
TOLERANCE = 0.05
#: Steps of the first-order method between two looks at all samples; and after how many looks the LP is solved exactly.
STEPS, LOOKS = 200, 30
#: At most this many samples enter at a look: they cost less than they do in a simplex method.
_ENTERING = 200
#: How much longer the steps of shares are than those of prices: a sample is covered by many rules.
_PRIMAL_WEIGHT = 4.0
#: Samples that are covered by no more than this, or that have a price, begin the exact solve.
_BARELY = 1.1
_TINY = float(np.finfo(np.float64).tiny)


class NearMaster(Master):
    """A master problem that is solved near the optimum as rules come and go, and exactly at the end, by `optimum`.

    Hundreds of new rules take thousands of simplex steps. Here prices and shares come from the primal-dual method of
    Chambolle and Pock (2011), with the diagonal steps of Pock and Chambolle (2011), begun where the last solve ended.
    Prices are scaled down until no rule of the pool has a negative reduced cost, shares are scaled up until they cover
    every sample: both are feasible then, so that the optimum lies between what they add up to. A solve ends where these
    are within `TOLERANCE` of each other; should that fail, it is exact.

    As in `Master`, the LP has those samples only that were short of cover, and they do not depend on the order of rows.
    The objective of a `Relaxation` is the sum of the prices, a lower bound on the optimum; `z` costs up to 5 % more.

    Parameters
    ----------
    coverage, cost, weight
        As in `Master`. Prices are shared equally in a group.
    """

    def __init__(self, coverage: Coverage, cost: Floats, *, weight: Floats | None = None) -> None:
        self._prices: Array = np.zeros(0)
        self._shares: Array = np.zeros(0)
        super().__init__(coverage, cost, weight=weight)

    def add(self, coverage: Coverage, cost: Floats) -> None:
        """More rules over the same samples."""
        super().add(coverage, cost)
        self._shares = np.concatenate([self._shares, np.zeros(len(cost))])

    def remove(self, rules: Ints) -> None:
        """Takes out rules that the others can do without."""
        super().remove(rules)
        self._shares = np.delete(self._shares, rules)
        # What only these rules told apart is one group again.
        _, first, group = np.unique(self._signatures.value[self._inside], return_index=True, return_inverse=True)
        self._inside, self._prices = self._inside[first], np.bincount(group, self._prices, len(first))

    def solve(self, *, deadline: float | None = None) -> Relaxation:
        """Prices and shares near the optimum.

        Raises
        ------
        SolverError
            If the LP engine, which is asked where this fails, ends with anything but an optimum.
        TimeoutError
            If time is up, by `time.perf_counter`.
        """
        return self._near(deadline) or self._exact(deadline)

    def optimum(self, *, deadline: float | None = None) -> Relaxation:
        """The exact optimum over all samples; the next `solve` begins where the last one ended all the same."""
        copied = copy.copy(self)
        copied._near(deadline)
        return copied._exact(deadline)

    def _near(self, deadline: float | None) -> Relaxation | None:
        """Prices and shares near the optimum; ``None`` if they do not come near it."""
        if not self._inside.size:
            self._take_in(self._first())
        for _ in range(LOOKS):
            if is_late(deadline):
                raise TimeoutError("the restricted master problem was not solved in time.")
            by_rule = self._approach()
            short, covered = self._packs.below(self._shares, 1.0)
            least = float(covered.min(initial=1.0))
            if least > 0 and (found := self._feasible(by_rule, least)) is not None:
                return found
            worst_first = self._distinct(short, covered)
            signatures = self._signatures.value
            known = np.isin(signatures[worst_first], signatures[self._inside])
            self._take_in(worst_first[~known][:_ENTERING])
        return None

    def _feasible(self, by_rule: scipy.sparse.csr_array, least: float) -> Relaxation | None:
        """Prices and shares scaled until they are feasible, given how little a sample is covered, if these are near."""
        prices = self._prices / max(float((by_rule @ self._prices / self.cost).max()), _TINY)
        shares = np.minimum(self._shares / least, 1.0)
        if not prices.sum() >= (1 - TOLERANCE) * (self.cost @ shares):
            return None
        reduced = self.cost - by_rule @ prices
        return Relaxation(shares, self._spread(prices), float(prices.sum()), reduced, len(self._inside))

    def _exact(self, deadline: float | None) -> Relaxation:
        """The optimum, begun with the samples that are barely covered; shares and prices here stay as they are."""
        exact = copy.copy(self)
        barely = self._coverage.among(self._inside).per_sample(self._shares) < _BARELY
        exact._begin(self._inside[barely | (self._prices > 0)])
        return super(NearMaster, exact).solve(deadline=deadline)

    def state(self) -> LPState:
        """Where the solve is, to go on from there with the same rules."""
        return LPState(self._inside, self._prices, self._shares)

    def restore(self, state: LPState) -> None:
        """Goes on where a solve over the same rules was."""
        self._inside, self._prices, self._shares = state

    def _take_in(self, samples: Ints) -> None:
        self._inside = np.concatenate([self._inside, samples])
        self._prices = np.concatenate([self._prices, np.zeros(len(samples))])

    def _approach(self) -> scipy.sparse.csr_array:
        """Some steps towards the optimum over the samples inside; returns these samples by rule."""
        by_sample = scipy.sparse.csr_array(self._coverage.among(self._inside).to_sparse()).astype(np.float64)
        by_rule = scipy.sparse.csr_array(by_sample.T)
        unit = float(self.cost.mean())
        prices, shares = approach(by_sample, by_rule, self.cost / unit, self._prices / unit, self._shares)
        self._prices, self._shares = unit * prices, shares
        return by_rule


def approach(
    by_sample: scipy.sparse.csr_array, by_rule: scipy.sparse.csr_array, cost: Floats, prices: Floats, shares: Floats
) -> tuple[Floats, Floats]:
    """The means of prices and shares over some steps of the first-order method, which begins at those given."""
    step_of_shares = _PRIMAL_WEIGHT / np.maximum(np.diff(by_rule.indptr), 1)
    step_of_prices = 1.0 / (_PRIMAL_WEIGHT * np.diff(by_sample.indptr))
    all_prices, all_shares = np.zeros_like(prices), np.zeros_like(shares)
    for _ in range(STEPS):
        # Not capped at 1, as the optimum is by itself: the price of a cap would let rules have negative reduced costs.
        moved = np.maximum(shares - step_of_shares * (cost - by_rule @ prices), 0.0)
        prices = np.maximum(prices + step_of_prices * (1.0 - by_sample @ (2 * moved - shares)), 0.0)
        shares = moved
        all_prices += prices
        all_shares += shares
    return all_prices / STEPS, all_shares / STEPS
