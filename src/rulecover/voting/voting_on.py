"""How rules vote on each kind of target: the names of votes and fallbacks, and what makes a `Vote`."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from rulecover.rules.ruleset import RuleSet
from rulecover.targets.samples import Samples
from rulecover.targets.target import Target
from rulecover.typing import Floats
from rulecover.voting.classes import VOTES, added_class_votes, class_votes, log_odds_votes
from rulecover.voting.fallback import FALLBACKS, NUMERIC_FALLBACKS, Fallback
from rulecover.voting.numbers import MEAN_VOTES, added_values, mean_votes
from rulecover.voting.vote import Vote


class Voting(NamedTuple):
    """How rules vote on one kind of target."""

    #: The names of votes that follow from the evidence of rules, and what makes a `Vote` by such a name.
    kinds: tuple[str, ...]
    plain: Callable[[RuleSet, str], Vote]
    #: The names of votes that are fitted to samples, and what fits them, given the plain ones.
    fitted: dict[str, Callable[[Vote, Samples], Vote]]
    #: From rules, votes that add up (the base first) and the target to a `Vote`.
    added: Callable[[RuleSet, Floats, Target], Vote]
    #: What predicts for missed rows, by name.
    fallbacks: dict[str, Fallback]


_VOTING = {
    "classes": Voting(VOTES, class_votes, {"log-odds": log_odds_votes}, added_class_votes, FALLBACKS),
    "numbers": Voting(MEAN_VOTES, mean_votes, {}, added_values, NUMERIC_FALLBACKS),
}


def voting_on(target: Target) -> Voting:
    """How rules vote on this kind of target."""
    return _VOTING[target.name]
