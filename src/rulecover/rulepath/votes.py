"""How the rules of a path vote, and by which loss they are chosen, as it is set."""

from __future__ import annotations

from functools import partial
from typing import NamedTuple

from rulecover.rulepath.logistic import LogisticFit
from rulecover.rulepath.path import PathSteps, chosen_log_odds, log_odds_votes, ridge_votes
from rulecover.rulepath.response import ridge_by_noise
from rulecover.rulepath.squares import ForwardFit
from rulecover.targets.classes.samples import ClassSamples
from rulecover.targets.samples import Samples
from rulecover.targets.target import Target
from rulecover.typing import Floats
from rulecover.voting.classes import log_odds_class_votes
from rulecover.voting.voting_on import voting_on

#: How the rules of a path vote for classes, and by which gain they are chosen.
PATH_VOTES, GAINS = ("log-odds", "fitted"), ("squares", "log-loss")
#: The usual penalty on votes that add up to shares or numbers.
_RIDGE = 5.0
#: A class is rare if its share of the rows is below this.
_RARE = 0.05


class PathVotes(NamedTuple):
    """How the rules of a path vote.

    Parameters
    ----------
    vote
        What votes add up to: "log-odds", or shares and numbers, "fitted" by least squares.
    gain
        By what the next rule is chosen: "squares" or "log-loss"; by default what suits the classes.
    ridge
        The penalty on the squares of the votes; by default the usual one.
    """

    vote: str
    gain: str | None
    ridge: float | None

    def steps(self, samples: Samples, target: Target, noise: float | None) -> PathSteps:
        """How rules are chosen, and how they vote; `noise` is that of a `Response`."""
        if self.vote == "fitted" or len(target.classes) < 2:
            return PathSteps(ForwardFit, partial(ridge_votes, target=target), voting_on(target).added)
        if self._by_log_loss(samples):
            return PathSteps(LogisticFit, chosen_log_odds, log_odds_class_votes)
        return PathSteps(ForwardFit, partial(log_odds_votes, strength=self._ridge(noise)), log_odds_class_votes)

    def ridge_of_choice(self, samples: Samples, noise: float | None) -> float:
        """The penalty on the votes by which rules are chosen."""
        if self.vote == "log-odds" and not self._by_log_loss(samples):
            return _RIDGE  # the votes of the choice are not those that are kept
        return self._ridge(noise)

    def ridge_of_log_odds(self, samples: Samples, target: Target, noise: float | None) -> float | None:
        """The penalty on log-odds that are fitted to chosen rules; ``None`` for votes by which the rules are chosen."""
        if self.vote != "log-odds" or len(target.classes) < 2 or self._by_log_loss(samples):
            return None
        return self._ridge(noise)

    def _ridge(self, noise: float | None) -> float:
        if self.ridge is not None:
            return self.ridge
        return ridge_by_noise(noise) if self.vote == "log-odds" else _RIDGE

    def _by_log_loss(self, samples: Samples) -> bool:
        """Whether rules are chosen by the gain of the logistic loss."""
        assert isinstance(samples, ClassSamples)
        many = len(samples.totals) > 2 or one_of_two_is_rare(samples.totals)
        gain = self.gain or ("log-loss" if many else "squares")
        return self.vote == "log-odds" and gain == "log-loss" and len(samples.totals) > 1


def one_of_two_is_rare(totals: Floats) -> bool:
    """Whether there are two classes, and one of them has hardly any of the rows."""
    return len(totals) == 2 and bool(totals.min() < _RARE * totals.sum())
