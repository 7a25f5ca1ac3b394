"""How rules vote on each kind of target: the names of votes and fallbacks, and what makes a `Vote`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from rulecover.rules.ruleset import RuleSet
from rulecover.targets.target import Target
from rulecover.typing import Floats
from rulecover.voting.classes import VOTES, added_class_votes, class_votes
from rulecover.voting.fallback import FALLBACKS, NUMERIC_FALLBACKS, Fallback
from rulecover.voting.numbers import MEAN_VOTES, added_values, mean_votes
from rulecover.voting.vote import Vote


@dataclass(frozen=True, eq=False)
class Voting:
    """How rules vote on one kind of target.

    Parameters
    ----------
    kinds
        The names of votes that follow from what rules have found.
    plain
        From rules and such a name to a `Vote`.
    added
        From rules, votes that add up (the base first) and the target to a `Vote`.
    fallbacks
        What predicts for missed rows, by name.
    """

    kinds: tuple[str, ...]
    plain: Callable[[RuleSet, str], Vote]
    added: Callable[[RuleSet, Floats, Target], Vote]
    fallbacks: dict[str, Fallback]


_VOTING = {
    "classes": Voting(VOTES, class_votes, added_class_votes, FALLBACKS),
    "numbers": Voting(MEAN_VOTES, mean_votes, added_values, NUMERIC_FALLBACKS),
}


def voting_on(target: Target) -> Voting:
    """How rules vote on this kind of target."""
    return _VOTING[target.name]
