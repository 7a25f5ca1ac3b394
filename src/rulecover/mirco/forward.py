"""A cover of few rules that explain much, chosen one after another from a list that covers every sample often."""

from __future__ import annotations

import time
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from rulecover.clock import deadline_of
from rulecover.coverage import Coverage
from rulecover.rulepath.forward import DIGITS
from rulecover.rulepath.squares import ForwardFit, Terms
from rulecover.setcover import Cover, CoveringProblem, CoverSolver, Greedy, Status
from rulecover.setcover.bounds import fitted_bound
from rulecover.setcover.certificate import certified_by
from rulecover.setcover.greedy import greedy_picks
from rulecover.setcover.solver import check_time_limit
from rulecover.targets.numbers.samples import NumberSamples
from rulecover.targets.samples import Samples
from rulecover.typing import Bools, Floats, Ints

#: The shares of a time limit after which the greedy choice for the bound is done, and the list; and the least seconds
#: for the list.
_SHARES, _LEAST = (0.25, 0.5), 0.01


@dataclass(frozen=True)
class Forward:
    """A few rules that explain most of the squared error and still cover every sample.

    First a cover in which every sample is covered `shortlist` times, at least cost (the paper's problem, with a higher
    demand): it leaves a few hundred out of thousands of rules. Of these, rules are taken one after another: each time
    the one that explains most of what is left; after each, what the rules add is fitted again by ridge regression. As
    soon as the rules that may still be taken are just enough to cover the samples that are still open,
    only such rules are.

    Parameters
    ----------
    shortlist
        How often the list covers each sample.
    ridge
        The penalty on the squares of what rules add.
    shrinkage
        When rules compete, each is judged as if it covered this many more samples that carry no information.
    solver
        The solver that chooses the list.
    time_limit
        Seconds after which only the rules are taken that the samples still need, with the status "time limit"; none by
        default. The list takes up to half of them, if its solver can be told so.
    """

    shortlist: int = 20
    ridge: float = 5.0
    shrinkage: float = 20.0
    solver: CoverSolver = field(default_factory=Greedy)
    time_limit: float | None = None

    target = "numbers"

    def __post_init__(self) -> None:
        check_time_limit(self.time_limit)
        if isinstance(self.shortlist, bool) or not isinstance(self.shortlist, (int, np.integer)) or self.shortlist < 1:
            raise ValueError(f"shortlist is {self.shortlist!r}; give a whole number of at least 1.")
        for name, above in (("ridge", True), ("shrinkage", False)):
            value = getattr(self, name)
            if not np.isfinite(value) or value < 0 or (above and value == 0):
                raise ValueError(f"{name} is {value!r}; give a number {'above 0' if above else 'of at least 0'}.")

    def within_seconds(self, seconds: float) -> Forward:
        """The same with another time limit."""
        return replace(self, time_limit=seconds)

    def for_samples(self, samples: Samples) -> CoverSolver:
        """The solver for samples of numbers."""
        assert isinstance(samples, NumberSamples)
        return self.on(samples.z, samples.count)

    def on(self, z: Floats, weight: Floats) -> CoverSolver:
        """The solver for samples with these numbers."""

        def solve(problem: CoveringProblem, *, max_rules: int | None = None) -> Cover:
            start = time.perf_counter()
            deadline, priced, listed_by = (self._end_of(share, begin=start) for share in (1.0, *_SHARES))
            _, remaining = greedy_picks(problem, deadline=priced)
            bound = fitted_bound(problem, remaining)
            listed, is_whole = self._shortlisted(problem, listed_by)
            rules, in_time = self.choose(problem, listed, z, weight, max_rules=max_rules, deadline=deadline)
            status = Status.FEASIBLE if in_time and is_whole else Status.TIME_LIMIT
            return certified_by(bound, problem, rules, begin=start, status=status, max_rules=max_rules)

        return solve

    def choose(
        self,
        problem: CoveringProblem,
        listed: Ints,
        z: Floats,
        weight: Floats,
        *,
        max_rules: int | None = None,
        deadline: float | None = None,
    ) -> tuple[Ints, bool]:
        """The rules that are taken from the list, in their order, and whether there was time to choose them all."""
        among = problem.restricted_to(listed)
        fit = ForwardFit(_Listed(among.coverage, weight), z[:, None], Terms(self.ridge, self.shrinkage))
        limit = len(listed) if max_rules is None else min(max_rules, len(listed))
        any_sign, free = np.zeros(len(listed), dtype=np.intp), np.ones(len(listed), dtype=bool)
        needed = _Needed(among, deadline)
        chosen: list[int] = []
        while len(chosen) < limit:
            if deadline is not None and time.perf_counter() >= deadline:
                chosen += needed.rest(chosen)[: limit - len(chosen)].tolist()
                return listed[chosen], False
            gain = fit.gains(any_sign, free)
            if gain.max() > 0:
                allowed = needed.allowed(limit - len(chosen), chosen)
            elif not (allowed := needed.rest(chosen)).size:
                break
            best = int(allowed[np.argmax(np.round(gain[allowed] / abs(gain.max()), DIGITS))])
            chosen.append(best)
            free[best] = False
            fit.enter(needed.cover(best), sign=0)
        return listed[chosen], True

    def _end_of(self, share: float, *, begin: float) -> float | None:
        """When a share of the time is over."""
        return None if self.time_limit is None else deadline_of(share * self.time_limit, begin=begin)

    def _shortlisted(self, problem: CoveringProblem, deadline: float | None) -> tuple[Ints, bool]:
        """The rules of a cheap cover with a high demand, the cheapest of those that cover the same samples.

        And whether there was time to choose it.
        """
        distinct = _distinct(problem) if problem.demand.max() == 1 else np.arange(problem.n_rules)
        kept = problem.restricted_to(distinct)
        often = CoveringProblem(kept.coverage, kept.cost, np.maximum(kept.demand, self.shortlist), kept.weight)
        solver: Any = self.solver
        if deadline is not None and hasattr(solver, "within_seconds"):
            left = max(_LEAST, deadline - time.perf_counter())
            own = getattr(solver, "time_limit", None)
            solver = solver.within_seconds(left if own is None else min(left, own))
        cover = solver(often)
        return np.sort(distinct[cover.rules]), cover.status != Status.TIME_LIMIT


class _Listed:
    """Sums over the samples of listed rules, as `ForwardFit` takes them."""

    def __init__(self, coverage: Coverage, weight: Floats) -> None:
        self._coverage, self.weight = coverage, weight
        self.total, self.sizes = float(weight.sum()), coverage.per_rule(weight)

    def __len__(self) -> int:
        return self._coverage.n_rules

    def sums(self, values: Floats) -> Floats:
        return np.stack([self._coverage.per_rule(self.weight * column) for column in values.T], axis=1)

    def overlap(self, covered: Bools) -> Floats:
        return self._coverage.per_rule(np.where(covered, self.weight, 0.0))


class _Needed:
    """The samples still to be covered, and rules that would cover them; changed in place."""

    def __init__(self, problem: CoveringProblem, deadline: float | None = None) -> None:
        self._problem, self._deadline = problem, deadline
        self._need: Ints = problem.demand.copy()
        self._rest = self.rest([])

    def allowed(self, left: int, chosen: list[int]) -> Ints:
        """The rules of which one may be taken, if `left` may: all, as long as the others can cover the rest."""
        if len(self._rest) >= left:
            self._rest = self.rest(chosen)
        return np.arange(self._problem.n_rules) if len(self._rest) < left else self._rest[:left]

    def cover(self, rule: int) -> Bools:
        """Takes the rule; returns the samples that it covers."""
        covered = np.zeros(self._problem.n_samples, dtype=bool)
        covered[self._problem.coverage.samples_of(rule)] = True
        self._need[covered] = np.maximum(self._need[covered] - 1, 0)
        return covered

    def rest(self, chosen: list[int]) -> Ints:
        """Few rules, besides the chosen ones, that cover all that is still open."""
        still_open = np.flatnonzero(self._need)
        if not still_open.size:
            return np.zeros(0, dtype=np.intp)
        others = np.setdiff1d(np.arange(self._problem.n_rules), chosen)
        coverage = self._problem.coverage.take(others).among(still_open)
        weight = None if self._problem.weight is None else self._problem.weight[still_open]
        left = CoveringProblem(coverage, np.ones(len(others)), self._need[still_open], weight)
        picks, _ = greedy_picks(left, deadline=self._deadline)
        return np.asarray(others[picks])


def _distinct(problem: CoveringProblem) -> Ints:
    """The cheapest of the rules that cover the same samples, which are recognised by sums of random numbers."""
    largest = 2 ** (52 - problem.n_samples.bit_length())
    marks = np.random.default_rng(0).integers(1, largest, size=(2, problem.n_samples)).astype(np.float64)
    alike = np.column_stack([problem.coverage.per_rule(mark) for mark in marks])
    by_cost = np.argsort(problem.cost, kind="stable")
    _, first = np.unique(alike[by_cost], axis=0, return_index=True)
    return np.sort(by_cost[first])
