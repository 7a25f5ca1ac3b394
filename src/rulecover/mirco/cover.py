"""Algorithm 1 of the paper: a few rules that cover every sample, and vote."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

import numpy as np

from rulecover.mirco.timed import TimedSolver
from rulecover.pool import RulePool
from rulecover.rules.ruleset import RuleSet
from rulecover.setcover import Certificate, Cover, CoveringProblem, Status
from rulecover.targets.samples import Samples
from rulecover.typing import Floats, Ints
from rulecover.voting.vote import Vote


@dataclass(frozen=True, eq=False, kw_only=True)
class CoverRecipe:
    """The steps of Algorithm 1 that are the same wherever rows are.

    Parameters
    ----------
    vote
        How the chosen rules vote.
    demand
        How many rules must cover each sample; one by default.
    max_rules
        A hard limit on their number.
    weigh_votes
        Whether the votes of a rule are multiplied by the weight that its model gives to it.
    """

    vote: Callable[[RuleSet], Vote]
    demand: Ints | None = None
    max_rules: int | None = None
    weigh_votes: bool = False

    def plain_vote(self, chosen: RuleSet, strength: Floats | None) -> Vote:
        """How chosen rules vote before votes are fitted, given the weights of the rules in their model, if any."""
        vote = self.vote(chosen)
        return vote if strength is None or not self.weigh_votes else vote.times(strength)


@dataclass(frozen=True, eq=False, kw_only=True)
class Recipe(CoverRecipe):
    """The steps of Algorithm 1 that may be done in several ways, each a function of its own.

    Parameters
    ----------
    solver
        From the samples to be covered to what chooses among the rules.
    shorten
        From chosen rules and samples to a pool of shorter rules, among which to choose again, and what time cut short.
    fit
        The votes, fitted to the samples, and what time cut short.
    """

    solver: Callable[[Samples], TimedSolver]
    shorten: Callable[[RulePool, Samples], tuple[RulePool, str]] | None = None
    fit: Callable[[Vote, Samples], tuple[Vote, str]] | None = None


@dataclass(frozen=True, eq=False)
class RuleCover:
    """The chosen rules and how they vote, what is proved of the choice, and the samples covered too rarely.

    `cut` says in words what there was no time for, if anything, apart from the choice itself, and `votes_cut` what
    there was no time for once rules were chosen.
    """

    vote: Vote
    certificate: Certificate
    uncovered: Ints
    cut: str = field(default="", kw_only=True)
    votes_cut: str = field(default="", kw_only=True)


def minimum_rule_cover(pool: RulePool, samples: Samples, recipe: Recipe) -> RuleCover:
    """The rules of a cheapest cover out of the pool (model (1)), with their votes (eq. (2))."""
    whole, (pool, covered, left_out) = pool, pool.coverable()
    choose, cut, ended = recipe.solver(_among(samples, covered)), "", False
    if recipe.shorten is not None:
        first = choose.first_choice(pool.problem(_demand(recipe, covered)))
        ended = first.certificate.status == Status.TIME_LIMIT
        # Shorter rules may cover samples that no other rule does, and their evidence is that of all samples.
        whole, cut = recipe.shorten(whole.take(first.rules), samples)
        pool, covered, left_out = whole.coverable()
        choose = replace(choose, samples=_among(samples, covered))
    problem = pool.problem(_demand(recipe, covered))
    cover = choose(problem, max_rules=recipe.max_rules)
    certificate = replace(cover.certificate.without_proof(), n_left_out=len(left_out))
    if ended and certificate.status != Status.LIMITED:  # it knows of the last choice alone
        certificate = replace(certificate, status=Status.TIME_LIMIT)
    uncovered = np.sort(np.concatenate([covered[_short(problem, cover)], left_out]))
    vote, votes_cut = _voting(pool, cover.rules, samples, recipe)
    return RuleCover(vote, certificate, uncovered, cut=cut, votes_cut=votes_cut)


def _among(samples: Samples, covered: Ints) -> Samples:
    """The samples that some rule covers."""
    return samples if len(covered) == len(samples.y) else samples.among(covered)


def _demand(recipe: Recipe, covered: Ints) -> int | Ints:
    """How many rules must cover each of these samples."""
    return 1 if recipe.demand is None else recipe.demand[covered]


def _voting(pool: RulePool, chosen: Ints, samples: Samples, recipe: Recipe) -> tuple[Vote, str]:
    """How the chosen rules of the pool vote, and what there was no time for."""
    rules = pool.written(chosen).shown_for(samples.X)
    vote = recipe.plain_vote(rules, None if pool.strength is None else pool.strength[chosen])
    return (vote, "") if recipe.fit is None else recipe.fit(vote, samples)


def _short(problem: CoveringProblem, cover: Cover) -> Ints:
    """The samples that a rule limit leaves covered less often than demanded."""
    return problem.shortfall(cover.rules) if cover.certificate.n_uncovered else np.zeros(0, dtype=np.intp)
