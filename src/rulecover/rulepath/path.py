"""The rule path: rule sets of every size from one list of candidates, each the beginning of the next."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from rulecover.coverage import addable
from rulecover.pool import with_evidence
from rulecover.rulepath.candidates import Candidates
from rulecover.rulepath.constraints import Constraints
from rulecover.rulepath.family import RuleFamily
from rulecover.rulepath.forward import ForwardPath, StartFit, forward_path, stacked
from rulecover.rulepath.logistic import shares_of
from rulecover.rulepath.squares import Terms
from rulecover.rules.ruleset import RuleSet
from rulecover.targets.impurity import Price
from rulecover.targets.samples import Samples
from rulecover.targets.target import Target
from rulecover.typing import Floats
from rulecover.voting.logistic import Patterns
from rulecover.voting.vote import Vote


class VotesBySize(NamedTuple):
    """For each size the votes, sizes x (1 + rules) x outputs, the base first, and what they minimise."""

    votes: Floats
    loss: Floats


class PathSteps(NamedTuple):
    """How rules are chosen, and how they vote.

    Parameters
    ----------
    start
        The loss by which rules are chosen, as `forward_path` takes it.
    votes
        From the chosen rules, the samples and the response to the votes of every size.
    make_vote
        From rules, their votes (the base first) and the target to a `Vote`.
    """

    start: StartFit
    votes: Callable[[ForwardPath, Samples, Floats], VotesBySize]
    make_vote: Callable[[RuleSet, Floats, Target], Vote]


@dataclass(frozen=True, eq=False)
class PathRecipe:
    """The steps of a rule path that can be done in several ways, and its limits.

    Parameters
    ----------
    max_rules
        The size of the largest set.
    terms
        The constants of the choice.
    constraints
        What the rules must keep to.
    target
        What is predicted.
    steps
        How rules are chosen, and how they vote.
    given
        Rules that enter first, whatever they gain.
    deadline
        When the path ends wherever it is, by `time.perf_counter`.
    verbose
        Above 0 shows progress on standard error.
    """

    max_rules: int
    terms: Terms
    constraints: Constraints
    target: Target
    steps: PathSteps
    given: RuleSet | None = None
    deadline: float | None = None
    verbose: int = 0


def rule_path(samples: Samples, candidates: Candidates, response: Floats, recipe: PathRecipe) -> RuleFamily:
    """The rule sets of every size, with votes that are fitted to the response, samples x responses."""
    choice = distinct_allowed(candidates, recipe.constraints)
    path = forward_path(
        choice,
        response,
        samples.X,
        max_rules=recipe.max_rules,
        terms=recipe.terms,
        constraints=recipe.constraints,
        given=recipe.given,
        start=recipe.steps.start,
        deadline=recipe.deadline,
        verbose=recipe.verbose,
    )
    rules = path.rules if recipe.given is None else recipe.given.join(path.rules)
    rules = with_evidence(samples, rules, Price(recipe.target.impurity)).shown_for(samples.X)
    votes, loss = recipe.steps.votes(path, samples, response)
    return RuleFamily(rules, votes, loss, recipe.target, recipe.steps.make_vote, path.least, len(choice))


def distinct_allowed(candidates: Candidates, constraints: Constraints) -> Candidates:
    """The candidates that keep to the constraints; of those that cover the same samples, the one of fewest clauses."""
    rules = candidates.rules()
    allowed = np.flatnonzero(constraints.allows(rules))
    nodes = replace(candidates, source=rules).take(allowed)  # which are not written out again
    return nodes.take(nodes.distinct(np.argsort(rules.lengths[allowed], kind="stable")))


def ridge_votes(path: ForwardPath, samples: Samples, response: Floats, *, target: Target) -> VotesBySize:
    """The votes by which the rules were chosen, by least squares."""
    # Sums of votes are exact: they are the same in whatever order, and on whatever machine, they are added.
    return VotesBySize(np.stack([addable(votes) for votes in target.votes(path.votes)]), path.loss)


def log_odds_votes(path: ForwardPath, samples: Samples, response: Floats, *, strength: float) -> VotesBySize:
    """Votes that add up to log-odds, fitted to the response for every size by the logistic loss."""
    patterns = Patterns.of(path.covered, shares_of(response), samples.weight)
    fits = patterns.fitted_by_size(strength=strength, signs=path.signs)
    return VotesBySize(stacked([fit.votes for fit in fits]), np.array([fit.loss for fit in fits]))


def chosen_log_odds(path: ForwardPath, samples: Samples, response: Floats) -> VotesBySize:
    """The votes by which the rules were chosen, by the logistic loss."""
    return VotesBySize(path.votes, path.loss)
