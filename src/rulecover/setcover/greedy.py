"""Chvátal's greedy algorithm (Algorithm S.1) and the removal of redundant rules."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from rulecover.setcover.certificate import certified_by
from rulecover.setcover.problem import Branch, Cover, CoveringProblem
from rulecover.setcover.reduce import reduced
from rulecover.setcover.settings import check_time_limit
from rulecover.typing import Floats, Ints

if TYPE_CHECKING:
    from rulecover.setcover.bounds import Bound


class Remaining:
    """What is left to cover, and what each rule would gain.

    The state of the greedy algorithm, changed in place. Every (sample, block) pair is touched a fixed number of times
    in a whole run, whatever the number of rules picked: a block's samples are sorted by rule when one of its rules is
    first picked, and a sample's gains are taken back once, when its demand is met.

    Attributes
    ----------
    need
        How many more rules must cover each sample.
    count, gain
        The number and the weight of the open samples that each rule covers.
    price
        What each sample was charged by the pick that settled it: its share of that rule's cost.
    collected
        The prices of all settled samples that a rule covers, added up.
    """

    def __init__(self, problem: CoveringProblem) -> None:
        self.problem = problem
        self.need: Ints = problem.demand.copy()
        self.count: Ints = problem.coverage.sizes.copy()
        self._weight = problem.weight
        # Without weights the gain is the count itself: one array under two names.
        self.gain = self.count if self._weight is None else problem.coverage.per_rule(self._weight)
        self.n_open = problem.n_samples
        self.price: Floats = np.zeros(problem.n_samples)
        self.collected: Floats = np.zeros(problem.n_rules)
        self._sorted: dict[int, tuple[Ints, Ints]] = {}

    def best_buy(self) -> int:
        """The rule of least cost per sample gained, the lowest index on ties."""
        ratio = np.full(self.problem.n_rules, np.inf)
        np.divide(self.problem.cost, self.gain, out=ratio, where=self.count > 0)
        return int(np.argmin(ratio))

    def cover(self, rule: int) -> None:
        """Picks a rule: its samples need one rule less, and those that need none are settled at its price."""
        covered = self._open_samples(rule)
        price = float(self.problem.cost[rule] / self.gain[rule])
        self.need[covered] -= 1
        self._settle(covered[self.need[covered] == 0], price)
        self.count[rule] = 0
        self.gain[rule] = 0

    def _open_samples(self, rule: int) -> Ints:
        home, number = self.problem.coverage.home(rule)
        if home not in self._sorted:
            self._sorted[home] = self.problem.coverage.blocks[home].by_rule(np.flatnonzero(self.need))
        order, starts = self._sorted[home]
        samples = order[starts[number] : starts[number + 1]]
        return samples[self.need[samples] > 0]

    def _settle(self, samples: Ints, price: float) -> None:
        self.n_open -= len(samples)
        weight = None if self._weight is None else self._weight[samples]
        self.price[samples] = price if weight is None else price * weight
        for block in self.problem.coverage.blocks:
            self.count[block.where] -= (lost := block.sums(None, samples))
            if weight is not None:
                self.gain[block.where] -= (lost := block.sums(weight, samples))
            self.collected[block.where] += price * lost


def greedy_picks(problem: CoveringProblem, *, at_most: int | None = None) -> tuple[Ints, Remaining]:
    """The rules in the order in which Algorithm S.1 picks them, and the state it ends in."""
    remaining = Remaining(problem)  # line 1: ℛ = ℐ
    picks: list[int] = []
    while remaining.n_open and (at_most is None or len(picks) < at_most):  # line 2: until ℛ is empty
        rule = remaining.best_buy()  # line 3: j*
        remaining.cover(rule)  # line 4: its samples leave ℛ
        picks.append(rule)  # line 5: j* enters 𝒥̂
    return np.array(picks, dtype=np.intp), remaining


def cheapest_prefix(problem: CoveringProblem, chosen: Ints) -> Ints:
    """The paper's removal: sorted by cost, the most expensive are dropped while the rest meets every demand."""
    return _without_needless(problem, chosen, stop_at_first=True)


def without_redundant(problem: CoveringProblem, chosen: Ints) -> Ints:
    """A stronger removal: each rule, the most expensive first, is dropped if the rest meets every demand."""
    return _without_needless(problem, chosen, stop_at_first=False)


def _without_needless(problem: CoveringProblem, chosen: Ints, *, stop_at_first: bool) -> Ints:
    times = problem.times_covered(chosen)
    keep = np.ones(len(chosen), dtype=bool)
    for place in np.argsort(problem.cost[chosen], kind="stable")[::-1]:
        samples = problem.coverage.samples_of(chosen[place])
        if (times[samples] > problem.demand[samples]).all():
            keep[place] = False
            times[samples] -= 1
        elif stop_at_first:
            break
    return chosen[keep]


def in_greedy_order(problem: CoveringProblem, chosen: Ints) -> Ints:
    """The same rules, best buy first: as the greedy algorithm would pick them if there were no others."""
    chosen = np.sort(chosen)
    picks, _ = greedy_picks(problem.restricted_to(chosen))
    rest = np.setdiff1d(np.arange(len(chosen)), picks)
    ordered: Ints = chosen[np.concatenate([picks, rest])]
    return ordered


def dual_fitting(problem: CoveringProblem, remaining: Remaining) -> tuple[Branch, float]:
    """The best multiple of the greedy prices as dual solution, and the bound it proves; no pass over the coverage.

    The bound of the scaled prices, s·dᵀp + Σ min(0, cⱼ - s·rⱼ) with rⱼ the prices that rule j collects, is concave
    and piecewise linear in s with kinks at cⱼ/rⱼ, so its top is found by sorting the kinks.
    """
    collected = np.maximum(remaining.collected, 0.0)
    useful = np.flatnonzero(collected)
    kinks = problem.cost[useful] / collected[useful]
    order = np.argsort(kinks, kind="stable")
    priced = float(problem.demand @ remaining.price)
    # Beyond each kink the slope falls by what that rule collects.
    slope = priced - np.cumsum(collected[useful][order])
    best = int(np.searchsorted(-slope, 0.0))
    scale = float(kinks[order][min(best, len(order) - 1)]) if len(order) else 0.0
    bound = scale * priced + float(np.minimum(problem.cost - scale * collected, 0.0).sum())
    return Branch(remaining.price * scale), bound


REDUNDANCY = {"prefix": cheapest_prefix, "strong": without_redundant}


@dataclass(frozen=True)
class Greedy:
    """Chvátal's greedy algorithm exactly as Algorithm S.1: the paper's way to choose rules.

    Ties go to the lowest rule index: trees in order, leaves by node number.

    Parameters
    ----------
    redundancy
        What is removed at the end: "prefix" as in the paper (sorted by cost, the most expensive are dropped while the
        rest covers), or "strong" (any rule that the others make needless, the most expensive first; never more rules).
    bound
        Where the bound on any other cover comes from: "fit" (the greedy prices, scaled: at no cost), or "lp" (the
        covering LP: two to three times as high, in seconds).
    time_limit
        Seconds for everything together, no limit by default. The LP has what the greedy choice leaves; the greedy
        choice itself, mostly milliseconds, is never cut short: a part of it would not be a cover.

    Examples
    --------
    >>> from rulecover.coverage import Coverage
    >>> from rulecover.setcover import CoveringProblem, Greedy
    >>> coverage = Coverage.of_masks([[1, 1, 0, 0], [0, 0, 1, 1], [0, 1, 1, 0]])
    >>> cover = Greedy()(CoveringProblem(coverage, cost=[1.0, 1.0, 1.0]))
    >>> cover.rules.tolist(), cover.objective
    ([0, 1], 2.0)
    """

    redundancy: Literal["prefix", "strong"] = "prefix"
    bound: Literal["fit", "lp"] = "fit"
    time_limit: float | None = None

    def __post_init__(self) -> None:
        if self.redundancy not in REDUNDANCY:
            raise ValueError(f"redundancy is {self.redundancy!r}; choose one of {sorted(REDUNDANCY)}.")
        if self.bound not in ("fit", "lp"):
            raise ValueError(f"bound is {self.bound!r}; choose one of ['fit', 'lp'].")
        check_time_limit(self.time_limit)

    def __call__(self, problem: CoveringProblem, *, max_rules: int | None = None) -> Cover:
        start = time.perf_counter()
        picks, remaining = greedy_picks(problem)
        rules = REDUNDANCY[self.redundancy](problem, picks)
        bound = self._bound(problem, remaining, None if self.time_limit is None else start + self.time_limit)
        if max_rules is not None and len(picks) > max_rules:
            rules = picks[:max_rules]  # as they were picked: under limits that bind, rule sets are nested
        return certified_by(bound, problem, rules, begin=start, max_rules=max_rules)

    def _bound(self, problem: CoveringProblem, remaining: Remaining, deadline: float | None) -> Bound:
        from rulecover.setcover.bounds import bound_of, fitted_bound  # they build on this module

        fitted = fitted_bound(problem, remaining)
        if self.bound == "fit":
            return fitted
        return bound_of(reduced(problem, deadline=deadline), fitted, deadline=deadline)
