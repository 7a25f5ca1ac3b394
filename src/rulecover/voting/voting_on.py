"""How rules vote on each kind of target: the names of votes and fallbacks, and what makes a `Vote`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from rulecover.rules.ruleset import RuleSet
from rulecover.targets.samples import Samples
from rulecover.targets.target import Target
from rulecover.typing import Floats, Ints
from rulecover.voting.classes import VOTES, added_class_votes, class_votes, fitted_class_votes, log_odds_votes
from rulecover.voting.fallback import FALLBACKS, NUMERIC_FALLBACKS, Fallback
from rulecover.voting.numbers import MEAN_VOTES, added_values, mean_votes
from rulecover.voting.vote import Vote

#: From plain votes, which rule covers which row (rows x rules, dense or sparse), and the class and the weight of each
#: row, to votes that are fitted to these rows. Rows may stand for groups of equal rows, with the weight of all of them.
FittedVote = Callable[[Vote, Any, Ints, Floats | None], Vote]


class Voting(NamedTuple):
    """How rules vote on one kind of target."""

    #: The names of votes that follow from the evidence of rules, and what makes a `Vote` by such a name.
    kinds: tuple[str, ...]
    plain: Callable[[RuleSet, str], Vote]
    #: The names of votes that are fitted to rows, and what fits them.
    fitted: dict[str, FittedVote]
    #: From rules, votes that add up (the base first) and the target to a `Vote`.
    added: Callable[[RuleSet, Floats, Target], Vote]
    #: What predicts for missed rows, by name.
    fallbacks: dict[str, Fallback]

    @property
    def names(self) -> tuple[str, ...]:
        """The names of all votes."""
        return (*self.kinds, *self.fitted)

    def fitted_to(self, samples: Samples, name: str, plain: Vote) -> Vote:
        """The votes by this name: fitted to samples, or the plain ones where nothing is fitted."""
        fit = self.fitted.get(name)
        return plain if fit is None else fit(plain, plain.rules.apply(samples.X), samples.y, samples.weight)


_FITTED: dict[str, FittedVote] = {"fitted": fitted_class_votes, "log-odds": log_odds_votes}

_VOTING = {
    "classes": Voting(VOTES, class_votes, _FITTED, added_class_votes, FALLBACKS),
    "numbers": Voting(MEAN_VOTES, mean_votes, {}, added_values, NUMERIC_FALLBACKS),
}


def voting_on(target: Target) -> Voting:
    """How rules vote on this kind of target."""
    return _VOTING[target.name]
