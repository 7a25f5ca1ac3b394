"""The restricted master problem RMP(𝒥ₜ): the covering LP over a pool that changes, kept alive between solves."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np
import scipy.sparse

from rulecover.coverage import Coverage, SparseBlock
from rulecover.exceptions import SolverError, UncoveredSamplesError
from rulecover.typing import Array, Bools, Floats, Ints, UInts

if TYPE_CHECKING:
    from rulecover.setcover.highs import CoveringLP

#: A sample counts as covered when the shares of its rules add up to 1 less this.
FEASIBLE = 1e-7
#: At most this many samples enter the LP at a time, or as many as there are rules in the first pool, the worst covered
#: first: those that enter never leave, and an LP of few samples is solved in less time.
ENTERING = 100
#: This many of the other short samples are looked at again before all samples are.
WATCHED = 20_000
#: Sums over rules are made for this many samples at a time: they stay in the processor's cache.
_ROWS = 1 << 15
#: Samples are added up again that were this near to a limit: more than rounding to float32 can change.
_NEAR = 1e-3
#: Signatures are compared only where their first bits, which have a place in a small table, are those of a wanted one.
_BITS, _REST = 18, np.uint64(46)
#: As many combinations of rules as a 16-bit number can distinguish; fewer if there are few samples to look them up.
_COMBINATIONS = 1 << 16


class LPState(NamedTuple):
    """Where the LP is between two solves: the samples that it has, and its basis, or prices and shares."""

    inside: Ints
    samples: Array
    rules: Array


@dataclass(frozen=True, eq=False)
class Relaxation:
    """An optimum of the covering LP, or prices and shares near one; see `NearMaster`.

    Parameters
    ----------
    z
        The share of each rule.
    duals
        The price λᵢ of each sample; they add up to the objective.
    objective
        Σ λᵢ; at an optimum Σ (1 + wⱼ) zⱼ, too.
    reduced_cost
        (1 + wⱼ) - Σ λᵢ of each rule: at an optimum zero where it has a share.
    n_samples_in_lp
        How many samples the LP contained; the optimum is exact for all.
    """

    z: Floats
    duals: Floats
    objective: float
    reduced_cost: Floats
    n_samples_in_lp: int


class Signatures:
    """Which samples are covered by exactly the same rules: a 64-bit sum of one random number per rule.

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
        """All samples with the signature of one of these samples, and the place of that one in `of`."""
        return self.with_values(self.value[of])

    def with_values(self, signatures: UInts) -> tuple[Ints, Ints]:
        """All samples with one of these signatures, and the place of that signature among them.

        They differ, unless they clash. A table by the first bits of the signatures leaves few candidates, and only
        those are compared.
        """
        order = np.argsort(signatures)
        wanted = signatures[order]
        some = np.zeros(1 << _BITS, dtype=bool)
        some[(wanted >> _REST).view(np.int64)] = True
        found = np.flatnonzero(some[(self.value >> _REST).view(np.int64)])
        first = np.searchsorted(wanted, self.value[found])
        alike = np.flatnonzero(wanted[np.minimum(first, len(wanted) - 1)] == self.value[found])
        found, first = found[alike], first[alike]
        times = np.searchsorted(wanted, self.value[found], "right") - first  # more than one only where signatures clash
        before = np.cumsum(times) - times
        place = np.arange(times.sum()) + np.repeat(first - before, times)
        return np.repeat(found, times), order[place]


class Packs:
    """Coverage with several blocks in one 16-bit number per sample, so that a sum over rules takes few look-ups.

    In a block of v - 1 rules of the pool, what covers a sample is one of v values; those of blocks whose v multiply to
    at most 2^16 are one number. Rules that come from no tree stay in their sparse blocks.

    Parameters
    ----------
    n_samples
        The number of samples.
    n_looked_up
        That of all samples, where these are a part of them: sums are then added in the same order in every part.
    """

    def __init__(self, n_samples: int, n_looked_up: int | None = None) -> None:
        self._n_samples = n_samples
        self._combinations = min(_COMBINATIONS, max(256, (n_looked_up or n_samples) // 4))
        self._packs: list[tuple[UInts, list[Ints]]] = []
        self._sparse: list[SparseBlock] = []
        self._room = 0
        self._last: Floats | None = None
        self._least: Array = np.zeros(0, dtype=np.float32)
        self._fallen = 0.0

    def add(self, coverage: Coverage, first: int) -> None:
        """Takes in more rules, of which the first is rule number `first`."""
        for block in coverage.blocks:
            if isinstance(block, SparseBlock):
                self._sparse.append(block.moved(first))
                continue
            n_values, rules = len(block.rules) + 1, block.rules + first
            if n_values > self._room:
                self._packs.append((block.ids.astype(max(block.ids.dtype, np.dtype(np.uint16))), [rules]))
                self._room = self._combinations // n_values
                continue
            keys, blocks = self._packs[-1]
            keys *= np.uint16(n_values)
            keys += block.ids
            blocks.append(rules)
            self._room //= n_values

    def per_sample(self, values: Floats, among: Ints | None = None) -> Floats:
        """Σ values[j] over the rules j in J(i), for every sample i (of `among`)."""
        looked_up = [(keys, table) for keys, rules in self._packs if (table := _sums(rules, values)).any()]
        out = np.zeros(self._n_samples if among is None else len(among))
        part = np.empty(min(_ROWS, len(out)))
        for start in range(0, len(out), _ROWS):
            sums = out[start : start + _ROWS]
            rows = slice(start, start + _ROWS) if among is None else among[start : start + _ROWS]
            for keys, table in looked_up:
                sums += np.take(table, keys[rows], out=part[: len(sums)], mode="clip")  # no copy, unlike "raise"
        for block in self._sparse:
            out += (block if among is None else block.among(among)).lookup(values)
        return out

    def below(self, values: Floats, limit: float) -> tuple[Ints, Floats]:
        """The samples whose sum over their rules is below a limit, and these sums.

        A sum falls by no more than the largest fall of a value in each block: only samples that were near enough to
        the limit when they were last looked at are added up again.
        """
        near = self._near(values, limit)
        sums = self.per_sample(values, near)
        if near is None:
            self._least, self._fallen = sums.astype(np.float32), 0.0
        else:
            self._least[near] = sums + self._fallen
        self._last = values
        found = np.flatnonzero(sums < limit)
        return found if near is None else near[found], sums[found]

    def _near(self, values: Floats, limit: float) -> Ints | None:
        """The samples whose sums may be below the limit; ``None`` for all, where these are many or not known."""
        if self._last is None:
            return None
        self._fallen += self._largest_fall(self._last, values)
        near = np.flatnonzero(self._least < limit + self._fallen + _NEAR)
        return near if 2 * len(near) < self._n_samples else None

    def _largest_fall(self, before: Floats, now: Floats) -> float:
        """No sum has fallen by more than this; rules that came since then had the value 0 before."""
        fall = np.concatenate([before, np.zeros(len(now) - len(before))]) - now
        of_blocks = sum(float(fall[rules].max(initial=0.0)) for _, blocks in self._packs for rules in blocks)
        return of_blocks + sum(float(np.maximum(fall[block.rules], 0.0).sum()) for block in self._sparse)

    def same(self, samples: Ints, others: Ints) -> Bools:
        """Which of the samples are covered by exactly the rules that cover the other one."""
        same = np.ones(len(samples), dtype=bool)
        for keys, _ in self._packs:
            same &= keys[samples] == keys[others]
        for block in self._sparse:
            same &= block.alike(others, samples)
        return same


def _sums(blocks: list[Ints], values: Floats) -> Floats:
    """The sum of the values of each combination of rules, one of each block or none."""
    table = np.zeros(1)
    for rules in blocks:
        table = np.add.outer(table, np.concatenate([[0.0], values[rules]])).ravel()
    return table


class Master:
    """The restricted master problem, re-solved from its last basis as rules come and go.

    The LP does not have one row per sample. Samples with the same coverage are one; of these only those that bind are
    in it: it is solved over the samples it has, those that come out short are added, worst first, and it is solved
    again until none is short. Of many samples, those that were short before are looked at first, and all only once
    none of these is; the last look is at all of them, so the optimum is exact for all samples. Which samples enter
    depends on what covers them alone, not on the order of the rows.

    Parameters
    ----------
    coverage, cost
        The first rules, which must cover every sample.
    duals
        "equal" shares the price of a group equally among its samples; "vertex" leaves it with the first of them, as a
        simplex code does that is given every sample.
    weight
        What each sample counts, if not 1: one that counts 2 has the share of two samples.
    """

    def __init__(
        self,
        coverage: Coverage,
        cost: Floats,
        *,
        duals: Literal["equal", "vertex"] = "equal",
        weight: Floats | None = None,
    ) -> None:
        if (missed := coverage.missed()).size:
            raise UncoveredSamplesError(
                f"{missed.size} samples are covered by no rule of the first pool, the first is sample {missed[0]}."
            )
        self._duals, self._weight = duals, weight
        self._coverage = Coverage((), coverage.n_samples, 0)
        self._signatures = Signatures(coverage.n_samples)
        self._packs = Packs(coverage.n_samples)
        self._lp: CoveringLP | None = None
        self._watched: Ints = np.zeros(0, dtype=np.intp)
        self._inside: Ints = np.zeros(0, dtype=np.intp)
        self._is_inside: Bools = np.zeros(coverage.n_samples, dtype=bool)
        self.cost: Floats = np.zeros(0)
        self.add(coverage, cost)

    def add(self, coverage: Coverage, cost: Floats) -> None:
        """More rules over the same samples."""
        samples, place = self._with_same_rules(*self._signatures.members(self._inside), self._inside)
        self._signatures.add(coverage)
        if self._inside.size:
            self._hand_over(samples, place, coverage.times_covered(np.arange(coverage.n_rules)))
        if self._lp is not None:
            self._lp.add(coverage.among(self._inside).to_sparse(), cost)
        self._packs.add(coverage, self._coverage.n_rules)
        self._watched = self._watched[:0]  # new rules split groups, and row order chose which sample stands for one
        self._coverage = self._coverage.join(coverage)
        self.cost = np.concatenate([self.cost, cost])

    def remove(self, rules: Ints) -> None:
        """Takes out rules that the others can do without; the samples that the last basis needs stay in the LP.

        Rules with no share in the last optimum can always go: it stays feasible, so the optimum does not rise.

        Raises
        ------
        UncoveredSamplesError
            If a sample would be left without a rule; nothing is taken out then.
        """
        kept = np.delete(np.arange(len(self.cost)), rules)
        coverage = self._coverage.take(kept)
        if (missed := coverage.missed()).size:
            raise UncoveredSamplesError(
                f"without these rules {missed.size} samples are covered by none, the first is sample {missed[0]}."
            )
        self._coverage, self.cost = coverage, self.cost[kept]
        self._signatures, self._packs = Signatures(coverage.n_samples), Packs(coverage.n_samples)
        self._signatures.add(coverage)
        self._packs.add(coverage, 0)
        self._watched = self._watched[:0]
        if self._lp is not None:
            self._is_inside[self._inside] = False
            self._inside = self._inside[self._lp.keep(kept)]
            self._is_inside[self._inside] = True

    def _hand_over(self, samples: Ints, place: Ints, times: Ints) -> None:
        """New rules split a group: its place in the LP goes to those of its samples that they cover least.

        To the LP as it was, all samples of the group are the same. Ties go by signature: which samples are in
        the LP does not depend on the order of the rows.
        """
        order = np.lexsort((self._signatures.value[samples], times[samples], place))
        _, first = np.unique(place[order], return_index=True)
        self._is_inside[self._inside] = False
        self._inside = samples[order[first]]
        self._is_inside[self._inside] = True

    def solve(self, *, deadline: float | None = None) -> Relaxation:
        """The optimum over all samples.

        Raises
        ------
        SolverError
            If the LP engine ends with anything but an optimum; the message has its status.
        TimeoutError
            If there is no optimum by the deadline, by `time.perf_counter`.
        """
        if self._lp is None:
            self._begin(self._first())
        while True:
            assert self._lp is not None
            solution = self._lp.solve(deadline=deadline)
            if not solution.finished and deadline is not None:
                raise TimeoutError("the restricted master problem was not solved in time.")
            if not solution.finished:
                raise SolverError("the restricted master problem was not solved to the end.")
            short = self._short(solution.shares)
            if not short.size:
                break
            self._enter(short[:ENTERING])
        prices = solution.duals
        reduced = self.cost - self._coverage.among(self._inside[prices > 0]).per_rule(prices[prices > 0])
        return Relaxation(solution.shares, self._spread(prices), float(prices.sum()), reduced, len(self._inside))

    def optimum(self, *, deadline: float | None = None) -> Relaxation:
        """The optimum where `solve` may stop near it; here it does not."""
        return self.solve(deadline=deadline)

    def state(self) -> LPState:
        """Where the LP is, to go on from there with the same rules; it has been solved before."""
        assert self._lp is not None
        return LPState(self._inside, *self._lp.basis_codes())

    def restore(self, state: LPState) -> None:
        """Goes on where an LP over the same rules was: its next solve is the same, step by step."""
        self._begin(state.inside)
        assert self._lp is not None
        self._lp.set_basis_codes(state.samples, state.rules)

    def _first(self) -> Ints:
        """The samples that a first LP has."""
        n_samples = self._coverage.n_samples
        return self._distinct(np.arange(n_samples), np.zeros(n_samples))[: max(ENTERING, len(self.cost))]

    def _begin(self, samples: Ints) -> None:
        """Begins an LP of these samples."""
        from rulecover.setcover.highs import CoveringLP  # highspy is slow to load

        self._inside, self._is_inside = samples, np.zeros(self._coverage.n_samples, dtype=bool)
        self._is_inside[samples] = True
        demand = np.ones(len(samples), dtype=np.intp)
        self._lp = CoveringLP(self._coverage.among(samples).to_sparse(), self.cost, demand)

    def _short(self, shares: Floats) -> Ints:
        """Samples that these shares cover too little, the worst first: none only if there is none among all."""
        if self._watched.size and len(self._is_inside) > WATCHED:
            covered = self._packs.per_sample(shares, self._watched)
            short = np.flatnonzero((covered < 1.0 - FEASIBLE) & ~self._is_inside[self._watched])
            if short.size:
                return self._distinct(self._watched[short], covered[short])
        short, covered = self._packs.below(shares, 1.0 - FEASIBLE)
        outside = np.flatnonzero(~self._is_inside[short])
        worst_first = self._distinct(short[outside], covered[outside])
        self._watched = np.concatenate([worst_first[ENTERING:], self._watched])[:WATCHED]
        return worst_first

    def _distinct(self, samples: Ints, covered: Floats) -> Ints:
        """One sample of each group, the worst covered first; ties by signature, so that row order does not matter."""
        if len(samples) > WATCHED:
            worst = np.partition(covered, WATCHED)[WATCHED]
            samples, covered = samples[covered <= worst], covered[covered <= worst]
        signature, first = np.unique(self._signatures.value[samples], return_index=True)
        order = np.lexsort((signature, np.round(covered[first], 9)))
        return samples[first[order]]

    def _enter(self, samples: Ints) -> None:
        assert self._lp is not None
        self._lp.add_samples(scipy.sparse.csr_array(self._coverage.among(samples).to_sparse()))
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
        samples, place = self._with_same_rules(*self._signatures.members(holders), holders)
        weight = None if self._weight is None else self._weight[samples]
        size = np.bincount(place, weights=weight, minlength=len(holders))
        share = prices[priced][place] / size[place]
        duals[samples] = share if weight is None else share * weight
        return duals

    def _with_same_rules(self, samples: Ints, place: Ints, holders: Ints) -> tuple[Ints, Ints]:
        """Those of the samples that are covered by exactly the rules of their group's holder."""
        same = self._packs.same(samples, holders[place])
        return samples[same], place[same]
