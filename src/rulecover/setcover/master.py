"""The restricted master problem RMP(𝒥ₜ): the covering LP over a pool that grows, kept alive between solves."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
import scipy.sparse

from rulecover.coverage import Coverage
from rulecover.exceptions import SolverError, UncoveredSamplesError
from rulecover.setcover.highs import CoveringLP
from rulecover.typing import Bools, Floats, Ints

#: A sample counts as covered when the shares of its rules add up to 1 less this.
FEASIBLE = 1e-7
#: At most so many samples enter the LP at a time, the worst covered first.
_ENTERING = 1000


@dataclass(frozen=True, eq=False)
class Relaxation:
    """An optimum of the covering LP.

    Parameters
    ----------
    z
        The share of each rule.
    duals
        The price λᵢ of each sample; they add up to the objective.
    objective
        Σ (1 + wⱼ) zⱼ.
    n_samples_in_lp
        How many samples the LP had to know; the optimum is exact for all.
    """

    z: Floats
    duals: Floats
    objective: float
    n_samples_in_lp: int


class Signatures:
    """Which samples are covered by exactly the same rules: a 64-bit sum of one random number a rule.

    Adding rules adds to the sums; no sample is ever compared with all others. Groups whose price matters are checked
    rule by rule, so that a clash of two sums, as unlikely as it is, costs nothing but a group that stays apart.
    """

    def __init__(self, n_samples: int) -> None:
        self.value = np.zeros(n_samples, dtype=np.uint64)
        self._rng = np.random.default_rng(0)

    def add(self, coverage: Coverage) -> None:
        """Takes the rules of `coverage` into the sums."""
        numbers = self._rng.integers(1, 2**63, size=coverage.n_rules, dtype=np.uint64)
        for block in coverage.blocks:
            self.value += block.lookup(numbers)

    def members(self, of: Ints) -> tuple[Ints, Ints]:
        """All samples with the signature of one of these samples, and the place of that one in `of`.

        The given samples have signatures that differ. A table by the first bits of the signatures leaves few
        candidates, and only those are compared.
        """
        wanted = self.value[of]
        shift = np.uint64(44)
        table = np.full(1 << 20, -1, dtype=np.int32)
        slots = (wanted >> shift).astype(np.intp)
        table[slots] = np.arange(len(of))
        crowded = np.flatnonzero(table[slots] != np.arange(len(of)))  # another one has taken the slot
        place = table[(self.value >> shift).astype(np.intp)]
        found = np.flatnonzero(place >= 0)
        found = found[self.value[found] == wanted[place[found]]]
        rest = [np.flatnonzero(self.value == wanted[k]) for k in crowded]
        samples = np.concatenate([found, *rest])
        places = np.concatenate([place[found], *(np.full(len(r), k) for k, r in zip(crowded, rest, strict=True))])
        return samples, places.astype(np.intp)


class Master:
    """The restricted master problem, re-solved from its last basis as rules are added.

    The LP does not carry one row a sample. Samples with the same coverage are one; of these only those that bind are
    in it: it is solved over the samples it has, those that come out short are added, worst first, and it is solved
    again until none is short. So the optimum is exact for all samples. Which samples enter depends on what covers
    them alone, not on the order of the rows.

    Parameters
    ----------
    coverage, cost
        The first rules, which must cover every sample.
    duals
        "equal" shares the price of a group equally among its samples; "vertex" leaves it with the first of them, as a
        simplex code does that is given every sample.
    """

    def __init__(self, coverage: Coverage, cost: Floats, *, duals: Literal["equal", "vertex"] = "equal") -> None:
        if (missed := coverage.missed()).size:
            raise UncoveredSamplesError(
                f"{missed.size} samples are covered by no rule of the first pool, the first is sample {missed[0]}."
            )
        self._duals = duals
        self._coverage = Coverage((), coverage.n_samples, 0)
        self._signatures = Signatures(coverage.n_samples)
        self._lp: CoveringLP | None = None
        self._inside: Ints = np.zeros(0, dtype=np.intp)
        self._is_inside: Bools = np.zeros(coverage.n_samples, dtype=bool)
        self.cost: Floats = np.zeros(0)
        self.add(coverage, cost)

    def add(self, coverage: Coverage, cost: Floats) -> None:
        """More rules over the same samples."""
        samples, place = self._verified(*self._signatures.members(self._inside), self._inside)
        self._signatures.add(coverage)
        if self._lp is not None:
            self._hand_over(samples, place, coverage.times_covered(np.arange(coverage.n_rules)))
            self._lp.add(coverage.among(self._inside).to_sparse(), cost)
        self._coverage = self._coverage.join(coverage)
        self.cost = np.concatenate([self.cost, cost])

    def _hand_over(self, samples: Ints, place: Ints, times: Ints) -> None:
        """New rules part a group: its place in the LP goes to those of its samples that they cover least.

        To the LP as it was, all samples of the group are the same. Ties go by signature: the order of the rows has no
        say in which samples are in the LP.
        """
        order = np.lexsort((self._signatures.value[samples], times[samples], place))
        _, first = np.unique(place[order], return_index=True)
        self._is_inside[self._inside] = False
        self._inside = samples[order[first]]
        self._is_inside[self._inside] = True

    def solve(self) -> Relaxation:
        """The optimum over all samples.

        Raises
        ------
        SolverError
            If the LP engine ends with anything but an optimum; the message has its status.
        """
        if self._lp is None:
            self._enter(self._distinct(np.arange(self._coverage.n_samples), np.zeros(self._coverage.n_samples)))
        while True:
            assert self._lp is not None
            answer = self._lp.solve()
            if not answer.finished:
                raise SolverError("the restricted master problem was not solved to the end.")
            covered = self._coverage.per_sample(answer.shares)
            short = np.flatnonzero((covered < 1.0 - FEASIBLE) & ~self._is_inside)
            if not short.size:
                break
            self._enter(self._distinct(short, covered[short]))
        return Relaxation(answer.shares, self._spread(answer.duals), float(answer.duals.sum()), len(self._inside))

    def _distinct(self, samples: Ints, covered: Floats) -> Ints:
        """One sample of each group, the worst covered first; ties by signature, so that row order has no say."""
        if len(samples) > 20 * _ENTERING:
            worst = np.partition(covered, 20 * _ENTERING)[20 * _ENTERING]
            samples, covered = samples[covered <= worst], covered[covered <= worst]
        signature, first = np.unique(self._signatures.value[samples], return_index=True)
        order = np.lexsort((signature, np.round(covered[first], 9)))
        return samples[first[order[:_ENTERING]]]

    def _enter(self, samples: Ints) -> None:
        by_sample = self._coverage.among(samples).to_sparse()
        if self._lp is None:
            self._lp = CoveringLP(by_sample, self.cost, np.ones(len(samples), dtype=np.intp))
        else:
            self._lp.add_samples(scipy.sparse.csr_array(by_sample))
        self._inside = np.concatenate([self._inside, samples])
        self._is_inside[samples] = True

    def _spread(self, prices: Floats) -> Floats:
        """The price of each sample from those in the LP."""
        priced = np.flatnonzero(prices > 0)
        duals = np.zeros(self._coverage.n_samples)
        if self._duals == "vertex":
            duals[self._inside[priced]] = prices[priced]
            return duals
        holders = self._inside[priced]
        samples, place = self._verified(*self._signatures.members(holders), holders)
        size = np.bincount(place, minlength=len(holders))
        duals[samples] = prices[priced][place] / size[place]
        return duals

    def _verified(self, samples: Ints, place: Ints, holders: Ints) -> tuple[Ints, Ints]:
        """Those of the samples that are covered by exactly the rules of their group's holder."""
        same = np.ones(len(samples), dtype=bool)
        for block in self._coverage.blocks:
            same &= block.ids[samples] == block.ids[holders[place]]
        return samples[same], place[same]
