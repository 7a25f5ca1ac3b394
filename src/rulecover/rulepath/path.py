"""The rule path: rule sets of every size from one list of candidates, each the beginning of the next."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from rulecover.coverage import addable
from rulecover.pool import rule_pool
from rulecover.rulepath.candidates import Candidates
from rulecover.rulepath.constraints import Constraints
from rulecover.rulepath.family import RuleFamily
from rulecover.rulepath.forward import ForwardPath, Terms, forward_path
from rulecover.rules.ruleset import RuleSet
from rulecover.targets.impurity import Price
from rulecover.targets.samples import Samples
from rulecover.targets.target import Target
from rulecover.typing import Floats


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
    given
        Rules that enter first, whatever they gain.
    verbose
        Above 0 shows progress on standard error.
    """

    max_rules: int
    terms: Terms
    constraints: Constraints
    target: Target
    given: RuleSet | None = None
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
        verbose=recipe.verbose,
    )
    rules = path.rules if recipe.given is None else recipe.given.join(path.rules)
    rules = _with_evidence(rules, samples, recipe.target).shown_for(samples.X)
    votes = ridge_votes(path, recipe.target)
    return RuleFamily(rules, votes, path.loss, recipe.target, path.least, len(choice))


def distinct_allowed(candidates: Candidates, constraints: Constraints) -> Candidates:
    """The candidates that keep to the constraints; of those that cover the same samples, the one of fewest clauses."""
    rules = candidates.rules()
    allowed = np.flatnonzero(constraints.allows(rules))
    nodes = candidates.take(allowed)
    return nodes.take(nodes.distinct(np.argsort(rules.lengths[allowed], kind="stable")))


def softened_response(samples: Samples, target: Target, model: Any, model_share: float) -> Floats:
    """What the rules are to predict: y and, with a weight of `model_share`, what the model predicts for the samples."""
    response = target.responses(samples.labels)
    if not model_share:
        return response
    return (1.0 - model_share) * response + model_share * target.predicted_responses(model, samples.X)


def ridge_votes(path: ForwardPath, target: Target) -> Floats:
    """The votes of the ridge for every size, sizes x (1 + rules) x outputs, the base first."""
    # Sums of votes are exact: they are the same in whatever order, and on whatever machine, they are added.
    return np.stack([addable(votes) for votes in target.votes(path.votes)])


def _with_evidence(rules: RuleSet, samples: Samples, target: Target) -> RuleSet:
    """The rules with their evidence; if one of those to be kept covers no sample, all without."""
    pool = rule_pool(samples, rules, Price(target.impurity))
    return pool.rules if len(pool) == len(rules) else rules
