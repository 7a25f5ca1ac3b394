"""Chvátal's greedy algorithm (Algorithm S.1) and the removal of redundant rules."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Generic, Literal, Protocol, TypeVar

import numpy as np

from rulecover.clock import deadline_of, earliest, is_late
from rulecover.setcover.certificate import certified_by
from rulecover.setcover.problem import Cover, CoveringProblem, Status
from rulecover.setcover.solver import check_time_limit, memory_of
from rulecover.typing import Floats, Ints

if TYPE_CHECKING:
    from rulecover.setcover.bounds import Bound

#: The most rules that are tried in one round; and in haste, with the least slack by which they are picked then.
_MOST_AT_ONCE = 64
_MOST_IN_HASTE, _SLACK_IN_HASTE = 1024, 1.0
#: The share of a time limit that the choice may take; the rest is for what comes after it.
_TO_CHOOSE = 0.8


@dataclass(frozen=True, eq=False)
class Gains:
    """Samples that a choice of rules has to do with: their number, and what each rule covers of them.

    Parameters
    ----------
    samples
        How many there are.
    demanded
        Their weights, each as often as the sample demands a rule, added up.
    count, weight
        The number and the weight of those that each rule covers; no weight where every sample counts 1.
    """

    samples: int
    demanded: float
    count: Ints
    weight: Floats | None = None

    def __add__(self, other: Gains) -> Gains:
        """The gains of these and of other samples, kept elsewhere."""
        weight = None if self.weight is None or other.weight is None else self.weight + other.weight
        return Gains(self.samples + other.samples, self.demanded + other.demanded, self.count + other.count, weight)


class OpenSamples(Protocol):
    """The samples that still need rules, wherever they are kept: in this process, or in many places."""

    def gains(self) -> Gains:
        """All of them; the arrays are the caller's."""

    def gains_in_turn(self, rules: Ints) -> Gains:
        """What each of these rules would gain if those before it were picked; nothing is picked."""

    def cover(self, rules: Ints) -> Gains:
        """Picks rules: their samples need one rule less of each. Returns those that need none any more: the settled."""


Samples = TypeVar("Samples", bound=OpenSamples)


class Remaining(Generic[Samples]):
    """What each rule would gain of the samples that are left to cover.

    The state of the greedy algorithm, changed in place; what is known of single samples is in `samples`.

    Attributes
    ----------
    n_open
        How many samples are left to cover.
    count, gain
        The number and the weight of the open samples that each rule covers.
    price
        What the round that picked a rule charged a sample that it settled, per unit of its weight: its share of the
        cost of the rules. 0 for rules that have not been picked.
    collected
        The prices of all settled samples that a rule covers, added up.
    priced
        The prices of all settled samples, each as often as it demands a rule, added up.
    apart
        Whether no two rules cover the same sample, as the leaves of one tree: no pick then changes what others gain.
    """

    def __init__(self, cost: Floats, samples: Samples) -> None:
        gains = samples.gains()
        self.cost, self.samples = cost, samples
        self.n_open, self.count = gains.samples, gains.count
        # Without weights the gain is the count itself: one array under two names.
        self.gain: Floats | Ints = gains.count if gains.weight is None else gains.weight
        self.price: Floats = np.zeros(len(cost))
        self.collected: Floats = np.zeros(len(cost))
        self.priced = 0.0
        self.apart = int(gains.count.sum()) == gains.samples
        self._ratio = np.full(len(cost), np.inf)
        np.divide(cost, self.gain, out=self._ratio, where=self.count > 0)

    def best_buys(self, slack: float, *, in_haste: bool = False) -> Ints:
        """The rule of least cost per sample gained, the lowest index on ties.

        With slack also others that, after those before them, cost at most 1 + slack times as much per sample gained;
        in haste there is a slack of 1 at least, and many more are tried. Of rules that are apart all that gain
        anything, best buy first.
        """
        if self.apart:
            gaining = np.flatnonzero(self.count)
            return np.asarray(gaining[np.argsort(self._ratio[gaining], kind="stable")])
        best = int(np.argmin(self._ratio))
        if not slack and not in_haste:
            return np.array([best])
        highest = (1.0 + (max(slack, _SLACK_IN_HASTE) if in_haste else slack)) * self._ratio[best]
        near = np.flatnonzero(self._ratio <= highest)
        near = near[np.argsort(self._ratio[near], kind="stable")]
        near = self._tried_in_haste(near) if in_haste else near[:_MOST_AT_ONCE]
        if len(near) == 1:
            return near
        gains = self.samples.gains_in_turn(near)
        gain = gains.count if gains.weight is None else gains.weight
        near_enough = (gains.count > 0) & (self.cost[near] <= highest * gain)
        near_enough[0] = True  # the best itself, however its ratio was rounded
        return np.asarray(near[near_enough])

    def _tried_in_haste(self, near: Ints) -> Ints:
        """Some of these rules, best buy first, whose counts add up to about the number of open samples at most."""
        most = int(min(_MOST_IN_HASTE, self.n_open / self.count[near].mean()))
        return near[_half_of_them_first(len(near), most)] if most > 1 else near[:1]

    def cover(self, rules: Ints) -> None:
        """Picks rules: their samples need one rule less of each, and those that need none are settled at a price."""
        if self.apart:
            self._cover_apart(rules)
            return
        price = float(self.cost[rules].sum() / self.gain[rules].sum())
        settled = self.samples.cover(rules)
        changed = np.flatnonzero(settled.count != 0)
        count = settled.count[changed]
        gain: Floats | Ints = count if settled.weight is None else settled.weight[changed]
        self.n_open -= settled.samples
        self.count[changed] -= count
        if settled.weight is not None:
            self.gain[changed] -= gain
        self.collected[changed] += price * gain
        self.priced += price * settled.demanded
        self.price[rules] = price
        self._close(rules)
        self._ratio[changed] = np.inf
        left = changed[self.count[changed] > 0]
        self._ratio[left] = self.cost[left] / self.gain[left]

    def _cover_apart(self, rules: Ints) -> None:
        """The same for rules of which no two cover the same sample, each in a round of its own."""
        self.price[rules] = self._ratio[rules]
        self.collected[rules] = self.price[rules] * self.gain[rules]
        self.priced += float(self.collected[rules].sum())
        self.n_open -= int(self.count[rules].sum())
        self._close(rules)

    def _close(self, rules: Ints) -> None:
        self.count[rules] = 0
        self.gain[rules] = 0
        self._ratio[rules] = np.inf


def _half_of_them_first(n: int, most: int) -> Ints:
    """Places among n, at most so many: half of them the first, the others all over the rest.

    Trees that repeat each other have many copies of the best buys, of which one is picked.

    >>> _half_of_them_first(5, 8), _half_of_them_first(100, 8)
    (array([0, 1, 2, 3, 4]), array([ 0,  1,  2,  3,  4, 35, 67, 99]))
    """
    if n <= most:
        return np.arange(n)
    return np.concatenate([np.arange(most // 2), np.linspace(most // 2, n - 1, most // 2).astype(np.intp)])


class SamplesHere:
    """The open samples of a covering problem, changed in place.

    Every (sample, block) pair is touched a fixed number of times in a whole run, whatever the number of rules picked: a
    block's samples are sorted by rule when one of its rules is first picked, and a sample's gains are taken back once,
    when its demand is met.
    """

    def __init__(self, problem: CoveringProblem) -> None:
        self.problem = problem
        self._need: Ints = problem.demand.copy()
        self._settled_by = np.full(problem.n_samples, -1, dtype=np.int32)
        self._sorted: dict[int, tuple[Ints, Ints]] = {}

    def gains(self) -> Gains:
        problem, weight = self.problem, self.problem.weight
        gain = None if weight is None else problem.coverage.per_rule(weight)
        return Gains(problem.n_samples, self._demanded(slice(None)), problem.coverage.sizes.copy(), gain)

    def gains_in_turn(self, rules: Ints) -> Gains:
        need, weight = self._need.copy(), self.problem.weight
        covered = list(self._covered_in_turn(rules, need))
        count = np.array([len(each) for each in covered], dtype=np.intp)
        return Gains(0, 0.0, count, None if weight is None else np.array([weight[each].sum() for each in covered]))

    def cover(self, rules: Ints) -> Gains:
        covered = np.concatenate(list(self._covered_in_turn(rules, self._need)))
        settled = covered[self._need[covered] == 0]
        if len(rules) > 1:
            settled = np.unique(settled)
        self._settled_by[settled] = rules[0]  # or any other of the round
        return self._gains_of(settled)

    def prices(self, price: Floats) -> Floats:
        """The price of the round that settled each sample, given that of each rule; 0 where none has."""
        of_round: Floats = np.append(price, 0.0)[self._settled_by]
        return of_round

    def _covered_in_turn(self, rules: Ints, need: Ints) -> Iterator[Ints]:
        """The samples of each rule that still need one, which then need one less: `need` is changed in place."""
        for rule in rules.tolist():
            samples = self._samples_of(rule)
            covered = samples[need[samples] > 0]
            need[covered] -= 1
            yield covered

    def _samples_of(self, rule: int) -> Ints:
        """The samples of a rule that were open when its block was sorted."""
        home, number = self.problem.coverage.home(rule)
        if home not in self._sorted:
            self._sorted[home] = self.problem.coverage.blocks[home].by_rule(np.flatnonzero(self._need))
        order, starts = self._sorted[home]
        return order[starts[number] : starts[number + 1]]

    def _gains_of(self, samples: Ints) -> Gains:
        weight = None if self.problem.weight is None else self.problem.weight[samples]
        count = np.empty(self.problem.n_rules, dtype=np.intp)
        gain = None if weight is None else np.empty(self.problem.n_rules)
        for block in self.problem.coverage.blocks:
            count[block.where] = block.sums(None, samples)
            if gain is not None:
                gain[block.where] = block.sums(weight, samples)
        return Gains(len(samples), self._demanded(samples), count, gain)

    def _demanded(self, samples: Ints | slice) -> float:
        demand, weight = self.problem.demand[samples], self.problem.weight
        return float(demand.sum() if weight is None else demand @ weight[samples])


def greedy_picks(problem: CoveringProblem, *, deadline: float | None = None) -> tuple[Ints, Remaining[SamplesHere]]:
    """The rules in the order in which Algorithm S.1 picks them, and the state it ends in."""
    remaining = Remaining(problem.cost, SamplesHere(problem))
    return picks_from(remaining, deadline=deadline), remaining


def picks_from(
    remaining: Remaining[Any], *, at_most: int | None = None, slack: float = 0.0, deadline: float | None = None
) -> Ints:
    """Algorithm S.1, on samples wherever they are: line 1, ℛ = ℐ, is the state that is given, changed in place.

    From the deadline on, by `time.perf_counter`, rules are picked in haste.
    """
    picks: list[int] = []
    while remaining.n_open and (at_most is None or len(picks) < at_most):  # line 2: until ℛ is empty
        rules = remaining.best_buys(slack, in_haste=is_late(deadline))  # line 3: j*, with slack more than one
        if at_most is not None:
            rules = rules[: at_most - len(picks)]
        remaining.cover(rules)  # line 4: its samples leave ℛ
        picks.extend(rules.tolist())  # line 5: j* enters 𝒥̂
    return np.array(picks, dtype=np.intp)


def prices_charged(problem: CoveringProblem, remaining: Remaining[SamplesHere]) -> Floats:
    """What each sample was charged by the round that settled it, 0 where none has."""
    if remaining.apart:
        price = problem.coverage.per_sample(remaining.price)
    else:
        price = remaining.samples.prices(remaining.price)
    return price if problem.weight is None else price * problem.weight


def cheapest_prefix(problem: CoveringProblem, chosen: Ints, *, deadline: float | None = None) -> Ints:
    """The paper's removal: sorted by cost, the most expensive are dropped while the rest meets every demand.

    None is dropped after the deadline, by `time.perf_counter`.
    """
    return _without_needless(problem, chosen, stop_at_first=True, deadline=deadline)


def without_redundant(problem: CoveringProblem, chosen: Ints, *, deadline: float | None = None) -> Ints:
    """A stronger removal: each rule, the most expensive first, is dropped if the rest meets every demand."""
    return _without_needless(problem, chosen, stop_at_first=False, deadline=deadline)


def _without_needless(problem: CoveringProblem, chosen: Ints, *, stop_at_first: bool, deadline: float | None) -> Ints:
    times = problem.times_covered(chosen)
    keep = np.ones(len(chosen), dtype=bool)
    # Rules that are needed now are needed when others have been dropped.
    needed = problem.coverage.per_rule((times <= problem.demand).astype(np.float64))[chosen] > 0
    for place in np.argsort(problem.cost[chosen], kind="stable")[::-1]:
        samples = None if needed[place] or is_late(deadline) else problem.coverage.samples_of(chosen[place])
        if samples is not None and (times[samples] > problem.demand[samples]).all():
            keep[place] = False
            times[samples] -= 1
        elif stop_at_first:
            break
    return chosen[keep]


def in_greedy_order(problem: CoveringProblem, chosen: Ints, *, deadline: float | None = None) -> Ints:
    """The same rules, best buy first: as the greedy algorithm would pick them if there were no others."""
    chosen = np.sort(chosen)
    picks, _ = greedy_picks(problem.restricted_to(chosen), deadline=deadline)
    rest = np.setdiff1d(np.arange(len(chosen)), picks)
    ordered: Ints = chosen[np.concatenate([picks, rest])]
    return ordered


def dual_fitting(remaining: Remaining[Any]) -> tuple[float, float]:
    """The factor by which the greedy prices are the best dual solution, and the bound it proves; no pass over samples.

    The bound of the scaled prices, s·dᵀp + Σ min(0, cⱼ - s·rⱼ) with rⱼ the prices that rule j collects, is concave
    and piecewise linear in s with kinks at cⱼ/rⱼ, so its top is found by sorting the kinks.
    """
    collected = np.maximum(remaining.collected, 0.0)
    useful = np.flatnonzero(collected)
    kinks = remaining.cost[useful] / collected[useful]
    order = np.argsort(kinks, kind="stable")
    # Beyond each kink the slope falls by what that rule collects.
    slope = remaining.priced - np.cumsum(collected[useful][order])
    best = int(np.searchsorted(-slope, 0.0))
    scale = float(kinks[order][min(best, len(order) - 1)]) if len(order) else 0.0
    return scale, scale * remaining.priced + float(np.minimum(remaining.cost - scale * collected, 0.0).sum())


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
    slack
        0 picks one rule in each round, as in the paper. With a larger number a round also picks others (at most 64)
        that, after those before them, cost at most 1 + slack times as much per sample gained as the best: the cost is
        guaranteed to be at most 1 + slack times what the greedy algorithm guarantees. It saves rounds, which is for
        rows on many machines.
    time_limit
        Seconds for everything together, no limit by default. Once most of it is over, the rest of the choice is made
        in rounds with a slack of 1, each of up to a thousand rules. The LP has what the choice leaves.
    memory_limit
        The memory for the LP, as in `Search`; None for no limit. The greedy choice takes one or two bytes for each
        sample and tree.
    bound_time_limit
        Seconds for the LP, within those for everything; no limit of its own by default.

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
    slack: float = 0.0
    time_limit: float | None = None
    memory_limit: int | str | None = None
    bound_time_limit: float | None = None

    verifies = True

    def __post_init__(self) -> None:
        if self.redundancy not in REDUNDANCY:
            raise ValueError(f"redundancy is {self.redundancy!r}; choose one of {sorted(REDUNDANCY)}.")
        if self.bound not in ("fit", "lp"):
            raise ValueError(f"bound is {self.bound!r}; choose one of ['fit', 'lp'].")
        if not 0 <= self.slack < np.inf:
            raise ValueError(f"slack is {self.slack!r}; give a number of at least 0.")
        check_time_limit(self.time_limit)
        check_time_limit(self.bound_time_limit, "bound_time_limit")
        memory_of(self.memory_limit)

    def within_seconds(self, seconds: float) -> Greedy:
        """The same with another time limit, if it is not above its own.

        Parameters
        ----------
        seconds
            The new limit, wall-clock time.

        Returns
        -------
        Greedy
            A copy; this solver stays as it is.
        """
        return replace(self, time_limit=seconds if self.time_limit is None else min(seconds, self.time_limit))

    def without_bound(self) -> Greedy:
        """The same choice, with the bound that costs nothing.

        Returns
        -------
        Greedy
            A copy; this solver stays as it is.
        """
        return replace(self, bound="fit")

    def __call__(self, problem: CoveringProblem, *, max_rules: int | None = None) -> Cover:
        begin = time.perf_counter()
        deadline = deadline_of(self.time_limit, begin=begin)
        to_choose = None if self.time_limit is None else deadline_of(_TO_CHOOSE * self.time_limit, begin=begin)
        remaining = Remaining(problem.cost, SamplesHere(problem))
        picks = picks_from(remaining, at_most=max_rules, slack=self.slack, deadline=to_choose)
        rest = picks_from(remaining, slack=self.slack, deadline=to_choose)  # the bound is of all samples
        in_time = not is_late(to_choose)
        picks = np.append(picks, rest)
        rules = REDUNDANCY[self.redundancy](problem, picks, deadline=deadline)
        status = Status.FEASIBLE if in_time and not is_late(deadline) else Status.TIME_LIMIT
        bound = self._bound(problem, remaining, deadline)
        if max_rules is not None and len(rules) > max_rules:
            rules = picks[:max_rules]  # as they were picked: under limits that bind, rule sets are nested
        return certified_by(bound, problem, rules, begin=begin, status=status, max_rules=max_rules)

    def _bound(self, problem: CoveringProblem, remaining: Remaining[SamplesHere], deadline: float | None) -> Bound:
        from rulecover.setcover.bounds import better_bound, fitted_bound  # they build on this module

        fitted = fitted_bound(problem, remaining)
        if self.bound == "fit" or is_late(deadline):
            return fitted
        of_bound = deadline_of(self.bound_time_limit, begin=time.perf_counter())
        return better_bound(problem, fitted, deadline=earliest(deadline, of_bound), memory=memory_of(self.memory_limit))
