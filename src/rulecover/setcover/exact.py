"""Covers of least cost, with proof: reductions, search, LP bounds, and branch and bound for what is left."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from rulecover.checkpoint import fingerprint
from rulecover.clock import deadline_of, is_late
from rulecover.exceptions import MemoryLimitError
from rulecover.setcover.bounds import NO_TABLE, Bound, bound_of, fitted_bound, has_room
from rulecover.setcover.certificate import BRANCH_AND_BOUND, certified
from rulecover.setcover.greedy import greedy_picks, in_greedy_order
from rulecover.setcover.kept_stages import KeptStages
from rulecover.setcover.problem import TOLERANCE, Branch, Cover, CoveringProblem, Status
from rulecover.setcover.reduce import Reduced, reduced
from rulecover.setcover.search import (
    MAX_LP_ENTRIES,
    Ended,
    best_of_greedy,
    cover_from_lp,
    guiding_bound,
    improve,
    time_to_finish,
)
from rulecover.setcover.solver import check_effort, check_seed, check_time_limit, memory_of
from rulecover.typing import Floats, Ints

#: Parts of the effort, one after the other, each with the share of the time limit after which it makes way for the
#: proof. The first is enough where little is left to prove after it; the last is for covers so far from their bound
#: that branch and bound will hardly close the gap.
STAGES = ((0.1, 0.15), (0.9, 0.5), (4.0, 0.85))
#: Branch and bound is worth a try if it has at least a second per this many entries of the matrix.
PROVED_PER_SECOND = 1000
#: Rules below which a problem is proved at once (more of them where every cost is a whole number: those are easier),
#: and rules (at mean cost) within which a bound is near.
SMALL, SMALL_WHOLE, NEAR = 300, 1500, 2.0
#: Fix rules by reduced cost again, as long as at least this share of them goes.
WORTHWHILE = 0.03
#: Where every part of a proof is kept, about this many parts.
PARTS = 12
#: What a memory limit leaves out, in words, once there is an LP.
NO_PROOF = "branch and bound"


@dataclass(frozen=True)
class Exact:
    """A cover of least cost, or the best found within the time limit with a bound on any other.

    The problem is reduced, `Search` finds a cover, rules are ruled out by their reduced cost under LP prices, and
    HiGHS proves the rest by branch and bound; where the time is too short for that, the search goes on instead. A
    proof is usual in seconds for covers of up to 15 rules; beyond 20 rules expect a gap. Where more than
    `MAX_LP_ENTRIES` (sample, rule) pairs are left, or those for which the memory limit has room, it does no more than
    `Search`.
    Ctrl-C ends it as the time limit does.

    Parameters
    ----------
    time_limit
        Seconds for everything together, 60 by default; None for no limit.
    effort
        How long to search for a good cover; see `Search`.
    random_state
        The seed of that search; a whole number where there is a checkpoint.
    checkpoint
        A file in which the LP bound and the covers of the search are kept as they are found, and every part of the
        proof, into which branch and bound is then divided; the same problem goes on from there. The cover is the
        same as without a break. The file is removed once the cover is proved.
    memory_limit
        As in `Search`; branch and bound counts as the LP does. What it takes for its nodes, once there are many, is not
        limited.

    Examples
    --------
    >>> from rulecover.coverage import Coverage
    >>> from rulecover.setcover import CoveringProblem, Exact
    >>> coverage = Coverage.of_masks([[1, 1, 1, 1, 0, 0], [1, 1, 0, 0, 1, 0], [0, 0, 1, 1, 0, 1]])
    >>> cover = Exact()(CoveringProblem(coverage, cost=[1.0, 1.1, 1.1]))
    >>> cover.rules.tolist(), str(cover.status)
    ([1, 2], 'optimal')
    """

    time_limit: float | None = 60.0
    effort: float = 2.0
    random_state: int | None = 0
    checkpoint: Any = None
    memory_limit: int | str | None = None

    verifies = True

    def __post_init__(self) -> None:
        check_time_limit(self.time_limit)
        check_effort(self.effort)
        check_seed(self.random_state)
        memory_of(self.memory_limit)
        if self.checkpoint is not None and self.random_state is None:
            raise ValueError(
                "random_state is None; with a checkpoint give a whole number, so that covers are the same."
            )

    def within_seconds(self, seconds: float) -> Exact:
        """The same with another time limit.

        Parameters
        ----------
        seconds
            The new limit, wall-clock time.

        Returns
        -------
        Exact
            A copy; this solver stays as it is.
        """
        return replace(self, time_limit=seconds)

    def kept_in(self, file: Any) -> Exact:
        """The same, its work kept in a checkpoint.

        Parameters
        ----------
        file
            The checkpoint.

        Returns
        -------
        Exact
            A copy; this solver stays as it is.
        """
        return replace(self, checkpoint=file)

    def __call__(self, problem: CoveringProblem, *, max_rules: int | None = None) -> Cover:
        begin = time.perf_counter()
        memory = memory_of(self.memory_limit)
        settings = {"effort": self.effort, "random_state": self.random_state, "memory_limit": memory}
        kept = KeptStages(self.checkpoint, problem, settings)
        rules, remaining, is_whole = best_of_greedy(problem, begin, self.time_limit)
        deadline = time_to_finish(begin, self.time_limit)
        bound = fitted_bound(problem, remaining)
        proved: float | None = None
        in_time = False
        try:
            left = reduced(problem, deadline=deadline, memory=memory)
            bound = _kept_bound(kept, left, bound, begin, deadline)
            rules = cover_from_lp(left, bound, rules, deadline)
            rules, narrowed, ended = self._search(left, bound, rules, begin=begin, deadline=deadline, kept=kept)
            is_open = math.fsum(problem.cost[rules]) > _cost_at_bound(problem, bound)
            if ended != Ended.INTERRUPT and is_open:
                rules, proved, in_time = _prove(problem, narrowed, rules, deadline, kept)
                bound = _with_left_out(bound, narrowed)
            if in_time or not is_open:
                kept.done()
        except (KeyboardInterrupt, TimeoutError):
            pass
        except MemoryLimitError:
            bound, in_time = replace(bound, left_out=NO_TABLE), is_whole
            kept.done()
        finally:
            kept.flush()
        rules = in_greedy_order(problem, rules, deadline=deadline_of(self.time_limit, begin=begin))
        by_search = proved is not None and proved > bound.value
        return certified(
            problem,
            rules if max_rules is None else rules[:max_rules],
            Status.FEASIBLE if in_time else Status.TIME_LIMIT,
            source=BRANCH_AND_BOUND if by_search else bound.source,
            seconds=time.perf_counter() - begin,
            proof=bound.proof,
            proved=bound.value,
            bound=proved if by_search else None,
            count_proof=bound.count_proof,
            max_rules=max_rules,
            left_out=bound.left_out,
        )

    def _search(
        self, left: Reduced, bound: Bound, rules: Ints, *, begin: float, deadline: float | None, kept: KeptStages
    ) -> tuple[Ints, _Narrowed | None, Ended]:
        """A cover by search, and what is left to prove: a short search first, and a long one where proof is far."""
        seed, start = self.random_state, rules
        for stage, (share, of_time) in enumerate(STAGES):
            until = None if deadline is None else begin + of_time * (deadline - begin)
            effort = share * self.effort
            settings = Improvement(effort, seed, until)
            rules, ended = _kept_search(kept, f"search {stage}", left, bound, rules, settings=settings)
            cost = math.fsum(left.problem.cost[rules])
            narrowed = None
            if cost > _cost_at_bound(left.problem, bound):
                narrowed = _narrow(left, bound, _cutoff(left.problem, cost), deadline)
            small = SMALL_WHOLE if left.problem.whole_costs else SMALL
            is_small = narrowed is None or narrowed.left.shape[1] <= small
            is_near = stage == 1 and cost - bound.value <= NEAR * cost / len(rules)
            if is_small or is_near or ended == Ended.INTERRUPT:
                break
            if narrowed is not None and _is_hopeless(narrowed, deadline):
                # From the same start and seed as `Search`, so as not to fall behind it.
                seed = self.random_state
                settings = Improvement(math.inf, seed, deadline)
                found, ended = _kept_search(kept, "long search", left, bound, start, settings=settings)
                rules = min(rules, found, key=lambda cover: math.fsum(left.problem.cost[cover]))
                break
            seed = None if seed is None else seed + 1
        return rules, narrowed, ended


class Improvement(NamedTuple):
    """How long to search, by effort and by the clock, and the seed."""

    effort: float
    random_state: int | None
    deadline: float | None


def _kept_bound(kept: KeptStages, left: Reduced, fitted: Bound, begin: float, deadline: float | None) -> Bound:
    """The bound that was kept, or a new one, which is kept if it is complete."""
    before = kept.bound()
    if before is not None:
        return before
    bound = guiding_bound(left, fitted, begin, deadline)
    if bound.complete and not bound.left_out:
        kept.put_bound(bound)
    return bound


def _kept_search(
    kept: KeptStages, name: str, left: Reduced, bound: Bound, rules: Ints, *, settings: Improvement
) -> tuple[Ints, Ended]:
    """The cover of a search that was kept, or that is made, and kept if it came to its own end."""
    if not kept.is_used:
        return improve(left, bound, rules, **settings._asdict())
    # Prices and the start depend on how far the clock let the LP and the search before come.
    stage = f"{name} of {fingerprint({'bound': bound.value}, bound.duals, rules)}"
    before = kept.rules(stage)
    if before is not None:
        return before, Ended.EFFORT
    found, ended = improve(left, bound, rules, **settings._asdict())
    if ended == Ended.EFFORT:
        kept.put(stage, {"rules": found})
    return found, ended


def _is_hopeless(narrowed: _Narrowed, deadline: float | None) -> bool:
    """Whether branch and bound would not get beyond its root in the time left, which the search can use better."""
    if deadline is None:
        return False
    return bool(narrowed.left.matrix.nnz > PROVED_PER_SECOND * (deadline - time.perf_counter()))


def _cost_at_bound(problem: CoveringProblem, bound: Bound) -> float:
    """The cost up to which a cover meets the bound."""
    proved = problem.round_up(bound.value)
    return proved + 0.5 * TOLERANCE * max(1.0, proved)


def _cutoff(problem: CoveringProblem, cost: float) -> float:
    # Covers whose costs differ by less than this are equal: sums of floats differ by as much, whole numbers by 1.
    return cost - (0.5 if problem.whole_costs else 0.1 * TOLERANCE * max(1.0, cost))


def _prove(
    problem: CoveringProblem, narrowed: _Narrowed | None, rules: Ints, deadline: float | None, kept: KeptStages
) -> tuple[Ints, float, bool]:
    """The best cover at the end, a bound by branch and bound, and whether neither clock nor Ctrl-C ended it."""
    cutoff = _cutoff(problem, math.fsum(problem.cost[rules]))
    if narrowed is None:
        return rules, problem.round_up(cutoff), True
    late, left = is_late(deadline), narrowed.left
    if late or not has_room(left) or (left.memory is None and left.matrix.nnz > MAX_LP_ENTRIES):
        return rules, 0.0, not late
    if kept.is_used and len(left.rules):  # else there is one cover left, and nothing to divide
        return _branch_and_bound_in_parts(problem, narrowed, rules, deadline=deadline, kept=kept)
    return _branch_and_bound(problem, narrowed, rules, cutoff=cutoff, deadline=deadline)


def _with_left_out(bound: Bound, narrowed: _Narrowed | None) -> Bound:
    """The bound, which also says whether a memory limit left out branch and bound."""
    if narrowed is None or has_room(narrowed.left):
        return bound
    return replace(bound, left_out=" and ".join(filter(None, (bound.left_out, NO_PROOF))))


@dataclass(frozen=True, eq=False)
class _Narrowed:
    """A reduced problem over some rules only: any cover below the cutoff is among its covers, or none is.

    Its own rules are numbered as places in `allowed`; `fewest` is the least number of rules of any cover.
    """

    allowed: Ints
    left: Reduced
    fewest: int


def _narrow(left: Reduced, bound: Bound, cutoff: float, deadline: float | None) -> _Narrowed | None:
    """What is left without the rules that no cover below the cutoff has; None if there is no such cover.

    Rules are ruled out by reduced cost and the rest is reduced in turn, as long as it pays.
    """
    problem, allowed = left.problem, np.arange(left.problem.n_rules)
    fewest = bound.min_rules
    while len(left.rules):
        within = allowed[left.rules]
        useful = _least_cost_with(left.problem, bound)[left.rules] < cutoff
        if useful.sum() >= (1 - WORTHWHILE) * len(useful) or (deadline is not None and time.perf_counter() >= deadline):
            return _Narrowed(allowed, left, fewest)
        kept = np.concatenate([allowed[left.forced], within[useful]])
        if (problem.times_covered(kept) < problem.demand).any():
            return None
        before, allowed = allowed, np.sort(kept)
        part = problem.restricted_to(allowed)
        try:
            smaller = reduced(part, deadline=deadline, memory=left.memory)
        except TimeoutError:
            return _Narrowed(before, left, fewest)
        left = smaller
        bound = bound_of(left, fitted_bound(part, greedy_picks(part, deadline=deadline)[1]), deadline=deadline)
        fewest = max(fewest, bound.min_rules)
        if bound.value >= cutoff:
            return None
    return _Narrowed(allowed, left, fewest)


def _least_cost_with(problem: CoveringProblem, bound: Bound) -> Floats:
    """For each rule a bound on the cost of the covers that have it: its reduced cost comes on top."""
    every = [_least_of_branch(problem, branch) for branch in bound.proof]
    plain = _least_of_branch(problem, Branch(bound.duals))
    out: Floats = np.maximum(plain, np.min(every, axis=0))
    return out


def _least_of_branch(problem: CoveringProblem, branch: Branch) -> Floats:
    reduced_cost: Floats = problem.cost - problem.coverage.per_rule(branch.duals) - branch.count_price
    return branch.bound(problem) + np.maximum(reduced_cost, 0.0)


def _branch_and_bound(
    problem: CoveringProblem, narrowed: _Narrowed, rules: Ints, *, cutoff: float, deadline: float | None
) -> tuple[Ints, float, bool]:
    """The best cover found, and a bound on any cover: those that were ruled out cost at least the cutoff."""
    from rulecover.setcover.highs import solve_mip  # highspy is slow to load

    allowed, small = narrowed.allowed, narrowed.left
    place = np.full(problem.n_rules, -1, dtype=np.intp)
    place[allowed] = np.arange(len(allowed))
    known = place[rules]
    start = small.places(known[known >= 0])
    covers = small.matrix[:, start].sum(axis=1) >= small.demand
    solution = solve_mip(
        small.matrix,
        small.cost,
        small.demand,
        count=(narrowed.fewest - len(small.forced), np.inf),
        start=start if covers.all() else None,
        # Whole numbers leave room for covers that are better by a whole step, and each rules out many others.
        heuristics=problem.whole_costs,
        deadline=deadline,
    )
    if solution.columns is not None:
        found = allowed[small.lift(solution.columns)]
        if math.fsum(problem.cost[found]) < cutoff and not len(problem.shortfall(found)):
            rules = found
    return rules, problem.round_up(min(cutoff, solution.bound + small.forced_cost)), solution.finished


def _branch_and_bound_in_parts(
    problem: CoveringProblem, narrowed: _Narrowed, rules: Ints, *, deadline: float | None, kept: KeptStages
) -> tuple[Ints, float, bool]:
    """The same, one part after another: covers whose first rule for some sample is this one, or that one."""
    proved = math.inf
    # What is divided depends on how far the clock let the bounds and the search come: other parts have other names.
    divided = fingerprint(
        {"fewest": narrowed.fewest}, narrowed.allowed, narrowed.left.rules, narrowed.left.forced, rules
    )
    for number, part in enumerate(_parts_of(narrowed.left)):
        before = kept.part(f"part {number} of {divided}")
        if before is not None:
            rules, least = before
        else:
            rules, least, finished = _best_of_part(problem, narrowed, part, rules, deadline)
            if not finished:
                return rules, 0.0, False
            kept.put(f"part {number} of {divided}", {"rules": rules, "bound": np.array(least)})
        proved = min(proved, least)
    return rules, problem.round_up(min(_cutoff(problem, math.fsum(problem.cost[rules])), proved)), True


class _Branching(NamedTuple):
    """A part of all covers: those with a column, and without some others."""

    taken: int
    left_out: Ints


def _parts_of(left: Reduced) -> list[_Branching]:
    """Parts that have every cover in one of them: of a sample's columns, by cost, each is the first that is taken."""
    by_row = left.matrix.tocsr()
    sizes = np.diff(by_row.indptr)
    row = int(np.lexsort((np.arange(len(sizes)), np.abs(sizes - PARTS)))[0])
    columns = by_row.indices[by_row.indptr[row] : by_row.indptr[row + 1]]
    columns = columns[np.lexsort((columns, left.cost[columns]))]
    return [_Branching(int(column), columns[:place]) for place, column in enumerate(columns)]


def _best_of_part(
    problem: CoveringProblem, narrowed: _Narrowed, part: _Branching, rules: Ints, deadline: float | None
) -> tuple[Ints, float, bool]:
    """The better of the rules and the best cover of a part, a bound on the covers of the part, and whether it holds."""
    from rulecover.setcover.highs import solve_mip  # highspy is slow to load

    small, cost = narrowed.left, math.fsum(problem.cost[rules])
    cutoff = _cutoff(problem, cost)
    columns = np.setdiff1d(np.arange(len(small.rules)), np.append(part.left_out, part.taken))
    need = small.demand - small.matrix[:, [part.taken]].toarray()[:, 0].astype(np.intp)
    matrix = small.matrix[:, columns][need > 0]
    need = need[need > 0]
    if (matrix.sum(axis=1) < need).any():
        return rules, math.inf, True
    paid = small.forced_cost + float(small.cost[part.taken])
    fewest = narrowed.fewest - len(small.forced) - 1
    settings: dict[str, Any] = {"count": (fewest, np.inf), "heuristics": problem.whole_costs, "below": cost - paid}
    solution = solve_mip(matrix, small.cost[columns], need, **settings, deadline=deadline)
    if solution.columns is not None:
        found = narrowed.allowed[small.lift(np.append(columns[solution.columns], part.taken))]
        if math.fsum(problem.cost[found]) < cutoff and not len(problem.shortfall(found)):
            rules = found
    return rules, min(cutoff, solution.bound + paid), solution.finished
