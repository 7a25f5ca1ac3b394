"""Covers by local search: better than greedy, in a time that is known in advance."""

from __future__ import annotations

import enum
import math
import time
from dataclasses import dataclass, replace

import numpy as np

from rulecover.clock import deadline_of, is_late
from rulecover.exceptions import MemoryLimitError
from rulecover.setcover.bounds import NO_TABLE, Bound, bound_of, fitted_bound
from rulecover.setcover.certificate import certified_by
from rulecover.setcover.greedy import (
    Remaining,
    SamplesHere,
    cheapest_prefix,
    greedy_picks,
    in_greedy_order,
    without_redundant,
)
from rulecover.setcover.lagrangian import Refinement
from rulecover.setcover.local import EPSILON, Choice, Core, LocalSearch, core_columns
from rulecover.setcover.problem import TOLERANCE, Cover, CoveringProblem, Status
from rulecover.setcover.reduce import Reduced, reduced
from rulecover.setcover.solver import check_effort, check_seed, check_time_limit, memory_of
from rulecover.typing import Floats, Ints

#: Rounds of ruin and recreate, and steps of row weighting for each, of one unit of effort.
ROUNDS, STEPS_PER_ROUND = 900, 10
#: Columns that a turn of the search is among, at least; each turn has others.
CORE_COLUMNS = 1000
#: A round of refinement takes as long as this many of ruin and recreate with their steps of row weighting.
ROUNDS_PER_REFINEMENT = 25
#: The share of refinement in a turn: at first, the least, the most, and its step towards what finds better covers.
LEAN_FIRST, LEAN_LEAST, LEAN_MOST, LEAN_STEP = 0.5, 0.1, 0.9, 0.2
#: At most this many shares of the LP that are not whole leave a small problem, which branch and bound solves at once.
FEW_SHARES = 60
#: Prices show what to keep only where their bound is near: a cover is refined if the gap is at most this share of it,
#: and costs are whole numbers, so that a bound rules out what is not better by 1. Elsewhere refinement did not help.
REFINABLE = 0.15
#: A core with more entries than this gets fewer rounds, since each takes longer.
EASY_ENTRIES = 40_000
#: Beyond this many (sample, rule) pairs the LP is left out; the prices of the greedy choice guide the search.
MAX_LP_ENTRIES = 2_000_000
#: The share of a time limit that the greedy start may take, and the LP, and that is left for the last checks at least
#: and at most.
GREEDY_SHARE, LP_SHARE, LEAST_TO_FINISH, SHARE_TO_FINISH = 0.4, 0.4, 0.02, 0.2


class Ended(enum.Enum):
    """Why a search came to its end."""

    EFFORT = "all rounds done, or the bound met"
    TIME = "out of time"
    INTERRUPT = "Ctrl-C"


@dataclass(frozen=True)
class Search:
    """Local search among rules of low reduced cost: between greedy and exact.

    Parts of a cover are chosen again by prices made for what is left (Lagrangian relaxation, where costs are whole
    numbers and the bound is near) or by a noisy greedy choice (ruin and recreate), and single rules are exchanged
    (row weighting).

    The cover never costs more than that of `Greedy`, whichever removal it uses. The work is counted in rounds, not in
    seconds, so that equal settings give equal covers on any machine, unless `time_limit` ends it. A bound by the LP
    comes with the cover. Ctrl-C ends the search, and the best cover found so far is returned.

    Parameters
    ----------
    effort
        How long to search, linear in time: 1 is about a second for a thousand samples and 100 trees, 10 about ten.
        It ends earlier if the cover meets its bound.
    random_state
        The seed; None takes a new one each time.
    time_limit
        Seconds after which the best cover found is returned, with the status "time limit"; none by default.
    memory_limit
        The memory that may be taken beyond that of the problem, in bytes or as "4GB" or "500MiB". Where the LP would
        take more it is left out, and the bound is that of dual fitting; where the reductions would, the cover is that
        of `Greedy`. The certificate says so. By default no LP has more than `MAX_LP_ENTRIES` (sample, rule) pairs,
        which take up to 800 MB, and no table of the reductions more than a gigabyte, which takes up to 15 while it
        shrinks; a larger limit also allows larger ones, which take time.

    Notes
    -----
    Sample weights guide the greedy start only.

    Examples
    --------
    >>> from rulecover.coverage import Coverage
    >>> from rulecover.setcover import CoveringProblem, Greedy, Search
    >>> coverage = Coverage.of_masks([[1, 1, 1, 1, 0, 0], [1, 1, 0, 0, 1, 0], [0, 0, 1, 1, 0, 1]])
    >>> problem = CoveringProblem(coverage, cost=[1.0, 1.1, 1.1])
    >>> len(Greedy()(problem)), len(Search()(problem))
    (3, 2)
    """

    effort: float = 1.0
    random_state: int | None = 0
    time_limit: float | None = None
    memory_limit: int | str | None = None

    verifies = True

    def __post_init__(self) -> None:
        check_effort(self.effort)
        check_seed(self.random_state)
        check_time_limit(self.time_limit)
        memory_of(self.memory_limit)

    def within_seconds(self, seconds: float) -> Search:
        """The same with another time limit.

        Parameters
        ----------
        seconds
            The new limit, wall-clock time.

        Returns
        -------
        Search
            A copy; this solver stays as it is.
        """
        return replace(self, time_limit=seconds)

    def __call__(self, problem: CoveringProblem, *, max_rules: int | None = None) -> Cover:
        begin = time.perf_counter()
        rules, remaining, in_time = best_of_greedy(problem, begin, self.time_limit)
        deadline = time_to_finish(begin, self.time_limit)
        bound = fitted_bound(problem, remaining)
        ended = Ended.INTERRUPT
        try:  # a TimeoutError comes before the search, which changes nothing
            left = reduced(problem, deadline=deadline, memory=memory_of(self.memory_limit))
            bound = guiding_bound(left, bound, begin, deadline)
            rules = cover_from_lp(left, bound, rules, deadline)
            rules, ended = improve(
                left, bound, rules, effort=self.effort, random_state=self.random_state, deadline=deadline
            )
        except (KeyboardInterrupt, TimeoutError):
            pass
        except MemoryLimitError:
            bound, ended = replace(bound, left_out=NO_TABLE), Ended.EFFORT if in_time else Ended.TIME
        status = Status.FEASIBLE if ended == Ended.EFFORT and bound.complete else Status.TIME_LIMIT
        until = deadline_of(self.time_limit, begin=begin)
        return finish(problem, rules, bound, status=status, begin=begin, deadline=until, max_rules=max_rules)


def best_of_greedy(
    problem: CoveringProblem, begin: float, time_limit: float | None
) -> tuple[Ints, Remaining[SamplesHere], bool]:
    """The cheaper of the greedy covers by either removal, the state that the choice ended in, and whether in time."""
    deadline = None if time_limit is None else deadline_of(GREEDY_SHARE * time_limit, begin=begin)
    picks, remaining = greedy_picks(problem, deadline=deadline)
    covers = [cheapest_prefix(problem, picks, deadline=deadline), without_redundant(problem, picks, deadline=deadline)]
    return min(covers, key=lambda rules: math.fsum(problem.cost[rules])), remaining, not is_late(deadline)


def time_to_finish(begin: float, time_limit: float | None) -> float | None:
    """When to stop so that the cover is sorted and checked within the limit: that takes no longer than greedy did."""
    if time_limit is None:
        return None
    time_limit = float(time_limit)
    to_finish = max(LEAST_TO_FINISH * time_limit, time.perf_counter() - begin)
    return begin + time_limit - min(to_finish, SHARE_TO_FINISH * time_limit)


def guiding_bound(left: Reduced, fitted: Bound, begin: float, deadline: float | None) -> Bound:
    """The LP bound, for a part of the time that is left; on very large problems the one by dual fitting."""
    if left.memory is None and left.matrix.nnz > MAX_LP_ENTRIES:
        return fitted
    lp_deadline = None if deadline is None else begin + LP_SHARE * (deadline - begin)
    return bound_of(left, fitted, deadline=lp_deadline)


def improve(
    left: Reduced, bound: Bound, rules: Ints, *, effort: float, random_state: int | None, deadline: float | None
) -> tuple[Ints, Ended]:
    """The cover after local search, and why the search ended.

    Parameters
    ----------
    left
        The reduced problem.
    bound
        Its dual prices guide the search, which ends as soon as its value is reached.
    rules
        A cover to start from; it is returned if nothing better is found.
    """
    problem = left.problem
    if not len(left.rules):
        return left.lift(np.zeros(0, dtype=np.intp)), Ended.EFFORT
    cost, proved = math.fsum(problem.cost[rules]), problem.round_up(bound.value)
    if cost <= proved + TOLERANCE * max(1.0, cost):
        return rules, Ended.EFFORT
    if deadline is not None and time.perf_counter() >= deadline:
        return rules, Ended.TIME
    walk = _Walk(left, bound.duals[left.samples], left.places(rules), random_state, deadline)
    goal = proved - left.forced_cost + TOLERANCE * max(1.0, proved)
    ended = walk.run(effort, goal)
    found = left.lift(walk.best)
    covers = not len(problem.shortfall(found))
    return (found if covers and math.fsum(problem.cost[found]) < cost else rules), ended


def cover_from_lp(left: Reduced, bound: Bound, rules: Ints, deadline: float | None) -> Ints:
    """The best cover among these rules and those with a share in the LP, if most of the shares are whole."""
    from rulecover.setcover.highs import solve_mip  # highspy is slow to load

    whole = int(np.count_nonzero(bound.shares > 1 - TOLERANCE))
    if not 0 < len(bound.shares) <= whole + min(whole, FEW_SHARES):
        return rules
    problem, columns = left.problem, np.union1d(bound.support, rules)
    matrix = problem.coverage.take(columns).among(left.samples).to_sparse()
    solution = solve_mip(matrix, problem.cost[columns], problem.demand[left.samples], deadline=deadline)
    if solution.columns is None:
        return rules
    found = np.union1d(columns[solution.columns], left.forced)
    covers = [found, rules] if not len(problem.shortfall(found)) else [rules]
    return min(covers, key=lambda cover: math.fsum(problem.cost[cover]))


class _Walk:
    """Local search in turns, each among other columns: those of low reduced cost, by chance lower or higher.

    Parameters
    ----------
    left, duals
        The reduced problem, and prices of its rows.
    best
        Columns to start from; what they leave open is filled up.
    """

    def __init__(self, left: Reduced, duals: Floats, best: Ints, random_state: int | None, deadline: float | None):
        self.left, self.duals, self.best, self.deadline = left, duals, best, deadline
        self.reduced_cost: Floats = left.cost - left.matrix.T @ duals
        self.random = np.random.default_rng(random_state)
        self.lean = 0.0

    def run(self, effort: float, goal: float) -> Ended:
        """Every move in turn, a little longer each time."""
        spent, turn = 0.0, 0
        while spent < ROUNDS * effort:
            turn += 1
            search, columns = self._turn()
            near = search.best_cost - goal <= REFINABLE * search.best_cost
            if near and not self.lean and self.left.problem.whole_costs:
                self.lean = LEAN_FIRST
            share = min(150.0 * turn, ROUNDS * effort - spent)
            spent += share
            # Rounds take longer in a core with more entries, so there are fewer of them.
            rounds = share * min(1.0, EASY_ENTRIES / max(1, search.core.n_entries)) ** 0.5
            try:
                with np.errstate(divide="ignore", invalid="ignore"):
                    self._moves(search, rounds, goal)
            except KeyboardInterrupt:
                return Ended.INTERRUPT
            finally:
                self.best = columns[search.best]
            if search.best_cost <= goal:
                return Ended.EFFORT
            if search.out_of_time():
                return Ended.TIME
        return Ended.EFFORT

    def _moves(self, search: LocalSearch, rounds: float, goal: float) -> None:
        """Both kinds of moves, and more of the one that finds better covers in the next turn."""
        costs = [search.best_cost]
        if self.lean:
            Refinement(search, goal).run(math.ceil(self.lean * rounds / ROUNDS_PER_REFINEMENT))
        costs.append(search.best_cost)
        if search.best_cost > goal:
            search.ruin_and_recreate(math.ceil((1 - self.lean) * rounds))
            search.row_weighting(STEPS_PER_ROUND * math.ceil((1 - self.lean) * rounds))
        costs.append(search.best_cost)
        better = (costs[1] < costs[0] - EPSILON) - (costs[2] < costs[1] - EPSILON)
        if self.lean:
            self.lean = min(LEAN_MOST, max(LEAN_LEAST, self.lean + LEAN_STEP * better))

    def _turn(self) -> tuple[LocalSearch, Ints]:
        left = self.left
        score = self.reduced_cost * self.random.uniform(0.0, 2.0, len(self.reduced_cost))
        columns = core_columns(left.matrix, score, self.best, at_least=CORE_COLUMNS)
        core = Core(left.matrix[:, columns], left.cost[columns], left.demand, self.duals)
        start = _start(core, np.searchsorted(columns, self.best))
        return LocalSearch(core, start, int(self.random.integers(2**32)), self.deadline), columns


def _start(core: Core, columns: Ints) -> list[int]:
    """The cheaper of what greedy makes of some columns, and of none."""
    covers = []
    starts: list[list[int]] = [columns.tolist(), []]
    for chosen in starts:
        choice = Choice(core, chosen)
        with np.errstate(divide="ignore", invalid="ignore"):
            choice.fill(core.cost)
        choice.drop_redundant()
        choice.swap()
        choice.drop_redundant()
        covers.append(sorted(choice.chosen))
    return min(covers, key=core.total)


def finish(
    problem: CoveringProblem,
    rules: Ints,
    bound: Bound,
    *,
    status: Status,
    begin: float,
    deadline: float | None,
    max_rules: int | None,
) -> Cover:
    """The cover in greedy order, cut to `max_rules`, with its certificate."""
    rules = in_greedy_order(problem, rules, deadline=deadline)
    if max_rules is not None:
        rules = rules[:max_rules]
    return certified_by(bound, problem, rules, begin=begin, status=status, max_rules=max_rules)
