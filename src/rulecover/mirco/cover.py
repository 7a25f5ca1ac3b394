"""Algorithm 1 of the paper: a few rules that cover every sample, and vote."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from rulecover.pool import RulePool
from rulecover.rules.ruleset import RuleSet
from rulecover.setcover import Certificate, Cover, CoveringProblem, CoverSolver, Exact, Greedy, Search, verify
from rulecover.targets.samples import Samples
from rulecover.typing import Ints
from rulecover.voting.vote import Vote

#: Seconds that a solver has even if time is up: enough for its greedy start.
_LEAST = 0.01


@dataclass(frozen=True, eq=False)
class Recipe:
    """The steps of Algorithm 1 that may be done in several ways, each a function of its own.

    Parameters
    ----------
    solver
        From the samples to be covered to the solver.
    vote
        How the chosen rules vote.
    demand
        How many rules must cover each sample; one by default.
    max_rules
        A hard limit on their number.
    shorten
        From chosen rules and samples to a pool of shorter rules, among which to choose again.
    fit
        The votes, fitted to the samples.
    deadline
        When a solver with a time limit must be done, by `time.perf_counter`.
    weigh_votes
        Whether the votes of a rule are multiplied by the weight that its model gives to it.
    """

    solver: Callable[[Samples], CoverSolver]
    vote: Callable[[RuleSet], Vote]
    demand: Ints | None = None
    max_rules: int | None = None
    shorten: Callable[[RuleSet, Samples], RulePool] | None = None
    fit: Callable[[Vote, Samples], Vote] | None = None
    deadline: float | None = None
    weigh_votes: bool = False


@dataclass(frozen=True, eq=False)
class RuleCover:
    """The chosen rules and how they vote, what is proved of the choice, and the samples covered too rarely."""

    vote: Vote
    certificate: Certificate
    uncovered: Ints


def minimum_rule_cover(pool: RulePool, samples: Samples, recipe: Recipe) -> RuleCover:
    """The rules of a cheapest cover out of the pool (model (1)), with their votes (eq. (2))."""
    pool, covered, left_out = pool.coverable()
    demand = 1 if recipe.demand is None else recipe.demand[covered]
    coverable = samples.among(covered) if len(left_out) else samples
    choose, begin = recipe.solver(coverable), time.perf_counter()
    if recipe.shorten is not None:
        # Nothing is said about this cover, so it needs no bound.
        plain = replace(choose, bound="fit") if isinstance(choose, Greedy) else choose
        first = _in_time(plain, begin, recipe.deadline, share=0.5)(pool.problem(demand))
        pool = recipe.shorten(pool.written(first.rules), coverable)
    problem = pool.problem(demand)
    cover = _in_time(choose, begin, recipe.deadline)(problem, max_rules=recipe.max_rules)
    if not isinstance(choose, (Greedy, Search, Exact)):  # ours verify their covers themselves
        verify(problem, cover)
    vote = recipe.vote(pool.written(cover.rules).shown_for(samples.X))
    if recipe.weigh_votes and pool.strength is not None:
        vote = vote.times(pool.strength[cover.rules])
    if recipe.fit is not None:
        vote = recipe.fit(vote, samples)
    certificate = replace(cover.certificate.without_proof(), n_left_out=len(left_out))
    return RuleCover(vote, certificate, np.sort(np.concatenate([covered[_short(problem, cover)], left_out])))


def _in_time(solver: CoverSolver, begin: float, deadline: float | None, share: float = 1.0) -> CoverSolver:
    """The solver with a share of the time that it has, and with no more of it than there is left."""
    limit = getattr(solver, "time_limit", None)
    if not isinstance(solver, (Search, Exact)) or limit is None:
        return solver
    ends = begin + limit if deadline is None else min(begin + limit, deadline)
    return replace(solver, time_limit=max(_LEAST, share * (ends - time.perf_counter())))


def _short(problem: CoveringProblem, cover: Cover) -> Ints:
    """The samples that a rule limit leaves covered less often than demanded."""
    return problem.shortfall(cover.rules) if cover.certificate.n_uncovered else np.zeros(0, dtype=np.intp)
