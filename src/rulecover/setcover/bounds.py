"""Lower bounds with proofs: dual prices of the LP, in terms of the samples of the whole problem."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, field, replace

import numpy as np
import scipy.sparse

from rulecover.clock import deadline_of
from rulecover.exceptions import MemoryLimitError
from rulecover.setcover.greedy import Remaining, SamplesHere, dual_fitting, greedy_picks, prices_charged
from rulecover.setcover.local import core_columns
from rulecover.setcover.problem import TOLERANCE, Branch, CoveringProblem
from rulecover.setcover.reduce import Reduced, reduced
from rulecover.setcover.solver import check_time_limit, memory_of
from rulecover.typing import Floats, Ints

#: Rules with a reduced cost below this are missing in the LP.
MISSING = -1e-8
#: A larger share in the LP is not taken for zero.
SHARE = 1e-9
#: Rules that the LP begins with: for each sample, and in all.
RULES_PER_SAMPLE, RULES_AT_FIRST = 5, 1000
#: Rules that enter the LP at a time.
ENTER_AT_A_TIME = 2000

#: Rules are counted where none costs more than this many times the cheapest: elsewhere a count says little about the
#: cost, and its LP can take a hundred times as long.
COUNTABLE = 4.0

#: How many entries of the matrix are handed to the LP per second; where that alone would take too long, there is no LP.
ENTRIES_PER_SECOND = 2_000_000

#: Bytes that an LP takes for each entry of its matrix, and branch and bound before it has many nodes: at most 270 were
#: measured.
BYTES_PER_ENTRY = 400
#: What a memory limit leaves out, in words.
NO_TABLE, NO_LP = "the reductions, the LP and the search", "the LP"


@dataclass(frozen=True, eq=False)
class Bound:
    """A lower bound on the cost of any cover, with its proof.

    Parameters
    ----------
    value
        No cover costs less.
    source
        "dual fitting", "LP" or "LP and count".
    proof, count_proof
        The dual prices that prove `value`, and that no cover has fewer than `min_rules` rules.
    min_rules
        The least number of rules of any cover, as far as proved.
    duals
        Prices of the samples: those of the LP, or of the greedy choice where there was no time for it.
    complete
        Whether it was computed to the end, before any deadline.
    support, shares
        The rules with a share in the LP, and their shares; none where there was no time for it.
    left_out
        What a memory limit left out, in words; empty if nothing.
    """

    value: float
    source: str
    proof: tuple[Branch, ...]
    count_proof: Branch | None
    min_rules: int
    duals: Floats
    complete: bool = True
    support: Ints = field(default_factory=lambda: np.zeros(0, dtype=np.intp))
    shares: Floats = field(default_factory=lambda: np.zeros(0))
    left_out: str = ""


def fitted_bound(problem: CoveringProblem, remaining: Remaining[SamplesHere]) -> Bound:
    """The bound by dual fitting: no LP, but the prices of the greedy choice."""
    scale, value = dual_fitting(remaining)
    branch = Branch(prices_charged(problem, remaining) * scale)
    least = int(problem.demand.max(initial=0))
    return Bound(value, "dual fitting", (branch,), None, least, branch.duals)


def lp_bound(
    problem: CoveringProblem,
    *,
    time_limit: float | None = None,
    memory_limit: int | str | None = None,
    count: bool = True,
) -> Bound:
    """The bound of the covering LP, raised by counting rules, for any cover of the problem.

    At the time limit whatever prices the LP has reached prove a bound; dual fitting is taken where it is better.

    Parameters
    ----------
    problem
        The covering problem.
    time_limit
        Seconds for the LPs; none by default.
    memory_limit
        The memory for the reductions and the LPs, as in `Search`; where they would take more, the bound is that of dual
        fitting. None for no limit on the LPs.
    count
        Whether to prove a least number of rules, and to use it for the bound, with three further LPs; it is left out
        where the costs differ by more than a factor of `COUNTABLE`, or are many and whole numbers.

    Returns
    -------
    Bound
        The bound, and the prices that prove it.

    Examples
    --------
    >>> from rulecover.coverage import Coverage
    >>> triangle = Coverage.of_masks([[1, 1, 0], [0, 1, 1], [1, 0, 1]])
    >>> bound = lp_bound(CoveringProblem(triangle, cost=[1.0, 1.0, 1.5]))
    >>> bound.value, bound.min_rules
    (2.0, 2)
    """
    check_time_limit(time_limit)
    memory, deadline = memory_of(memory_limit), deadline_of(time_limit, begin=time.perf_counter())
    fitted = fitted_bound(problem, greedy_picks(problem, deadline=deadline)[1])
    return better_bound(problem, fitted, deadline=deadline, memory=memory, count=count)


def better_bound(
    problem: CoveringProblem, fitted: Bound, *, deadline: float | None, memory: int | None, count: bool = True
) -> Bound:
    """The bound of the LP where there is time and memory for it, else `fitted`."""
    try:
        left = reduced(problem, deadline=deadline, memory=memory)
        return bound_of(left, fitted, deadline=deadline, count=count)
    except TimeoutError:
        return replace(fitted, complete=False)
    except MemoryLimitError:
        return replace(fitted, left_out=NO_LP)


def has_room(left: Reduced) -> bool:
    """Whether the memory limit has room for the LP of a reduced problem, and for branch and bound."""
    return left.memory is None or BYTES_PER_ENTRY * left.matrix.nnz <= left.memory


def bound_of(left: Reduced, fitted: Bound, *, deadline: float | None = None, count: bool = True) -> Bound:
    """The same, once the problem is reduced; `fitted` is returned where time or memory allows no better."""
    if not has_room(left):
        return replace(fitted, left_out=NO_LP)
    if deadline is not None and time.perf_counter() + left.matrix.nnz / ENTRIES_PER_SECOND >= deadline:
        return replace(fitted, complete=False)
    lp = _WholeLP(left)
    branch, shares, finished = lp.solve(deadline=deadline)
    value = branch.bound(left.problem)
    best = Bound(value, "LP", (branch,), None, fitted.min_rules, branch.duals) if value > fitted.value else fitted
    if not finished:
        return replace(best, complete=False)
    best = replace(best, support=lp.rules[shares > SHARE], shares=shares[shares > SHARE])
    if not (count and _countable(left)):
        return best
    basis = lp.basis()
    ones = np.ones(left.problem.n_rules)
    count_proof, _, finished = lp.solve(cost=ones, deadline=deadline)
    fewest = count_proof.bound(left.problem, ones)
    fewest_rules = max(best.min_rules, math.ceil(fewest - TOLERANCE * max(1.0, fewest)))
    best = replace(best, count_proof=count_proof, min_rules=fewest_rules)
    if not finished:
        return replace(best, complete=False)
    lp.restore(basis)
    return _raised_by_count(lp, best, float(shares.sum()), deadline)


def _countable(left: Reduced) -> bool:
    """Whether the number of rules says something about the cost: not where whole numbers are rounded up in any case."""
    least, most = left.cost.min(initial=np.inf), left.cost.max(initial=0.0)
    rounded = left.problem.whole_costs and least < most and len(left.cost) > RULES_AT_FIRST
    return bool(most <= COUNTABLE * least) and not rounded


def _raised_by_count(lp: _WholeLP, best: Bound, n_rules: float, deadline: float | None) -> Bound:
    """The LP on both sides of a number of rules: a cover has at most k of them or at least k + 1."""
    k = max(math.floor(n_rules + TOLERANCE), best.min_rules - 1)
    if abs(n_rules - round(n_rules)) <= TOLERANCE and k >= best.min_rules:
        return best
    sides = [(k + 1, 1)] if k < best.min_rules else [(k, -1), (k + 1, 1)]
    branches = []
    for count, side in sides:
        branch, _, finished = lp.solve(count=count, side=side, deadline=deadline)
        if not finished:
            return replace(best, complete=False)
        branches.append(branch)
    value = min(branch.bound(lp.problem) for branch in branches)
    binds = all(branch.count_price * side > 0 for branch, (_, side) in zip(branches, sides, strict=True))
    if value <= best.value or not binds:
        return best
    return replace(best, value=value, source="LP and count", proof=tuple(branches))


class _WholeLP:
    """The LP of the whole problem, over some of its rules and those that turn out to be missing.

    It begins with the cheapest rules per sample covered: a tenth of them is mostly enough, at a fifth of the time.
    Prices are checked against every rule of the problem, also those that the reductions removed: with a demand of 1
    a dominated rule has no lower reduced cost than the one that dominates it, but under larger demands, or a count,
    both may be negative.
    """

    def __init__(self, left: Reduced) -> None:
        from rulecover.setcover.highs import CoveringLP  # highspy is slow to load

        self.problem = left.problem
        # Forced rules, with the samples that force them, belong to the LP of the whole problem.
        self.samples = np.concatenate([left.samples, left.forcing])
        self.cost = self.problem.cost
        enough = max(RULES_PER_SAMPLE, int(self.problem.demand.max(initial=1)))
        price = left.cost / np.maximum(1, np.diff(left.matrix.indptr))
        nothing = np.zeros(0, dtype=np.intp)
        begin = core_columns(left.matrix, price, nothing, per_row=enough, near=0.0, at_least=RULES_AT_FIRST)
        self.rules = np.concatenate([left.rules[begin], left.forced])
        matrix = self._columns(self.rules) if len(left.forced) else left.matrix[:, begin]
        self._lp = CoveringLP(matrix, self.cost[self.rules], self.problem.demand[self.samples])

    def _columns(self, rules: Ints) -> scipy.sparse.csc_array:
        return self.problem.coverage.take(rules).among(self.samples).to_sparse()

    def basis(self) -> object:
        return self._lp.basis()

    def restore(self, basis: object) -> None:
        """Back to the costs of the problem, and to a basis of theirs."""
        self._lp.reprice(self.problem.cost[self.rules])
        self.cost = self.problem.cost
        self._lp.set_basis(basis)

    def solve(
        self, *, count: int = 0, side: int = 0, cost: Floats | None = None, deadline: float | None
    ) -> tuple[Branch, Floats, bool]:
        """A proof, the shares of the rules in the LP, and whether the LP was solved to the end."""
        if cost is not None:
            self.cost = cost
            self._lp.reprice(cost[self.rules])
        while True:
            solution = self._lp.solve(count=count, side=side, deadline=deadline)
            duals = np.zeros(self.problem.n_samples)
            duals[self.samples] = solution.duals
            branch = Branch(duals, solution.count_price if side else 0.0, count if side else 0)
            reduced_cost = self.cost - self.problem.coverage.per_rule(duals) - branch.count_price
            reduced_cost[self.rules] = 0.0
            missing = np.flatnonzero(reduced_cost < MISSING)
            if not len(missing) or not solution.finished:
                return branch, solution.shares, solution.finished
            missing = missing[np.argsort(reduced_cost[missing], kind="stable")][:ENTER_AT_A_TIME]
            self._lp.add(self._columns(missing), self.cost[missing])
            self.rules = np.concatenate([self.rules, missing])
