"""Another threshold than one half: votes are moved, so that predictions, files and every export follow."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from rulecover.coverage import addable
from rulecover.typing import Bools, Floats
from rulecover.voting.answers import AddedClasses, Classes, LogOddsClasses, in_log_odds_units
from rulecover.voting.fallback import Default, SourceModel
from rulecover.voting.vote import Vote


def at_threshold(vote: Vote, place: int, threshold: float) -> Vote:
    """The vote that predicts the class at this place where its probability was above the threshold.

    The probabilities move along: one half is where the threshold was.

    Parameters
    ----------
    vote
        A vote on two classes.
    place
        The number of the class.
    threshold
        Above 0 and below 1.
    """
    _check(vote, threshold)
    factors = np.where(np.arange(2) == place, 1.0 - threshold, threshold)
    moved = replace(vote, totals=addable(vote.totals * factors))
    if isinstance(vote.answer, LogOddsClasses):
        return replace(moved, base=in_log_odds_units(vote.base + np.log(factors) - np.log(factors[::-1])))
    if isinstance(vote.answer, AddedClasses):
        base, *votes = addable(np.vstack([vote.base + factors - 0.5, vote.votes]))
        return replace(moved, base=base, votes=np.asarray(votes).reshape(vote.votes.shape))
    return replace(moved, votes=addable(vote.votes * factors))


def _check(vote: Vote, threshold: float) -> None:
    if not isinstance(vote.answer, Classes) or len(vote.answer.labels) != 2:
        raise ValueError("a threshold is for two classes; these rules predict something else.")
    if not 0 < threshold < 1:
        raise ValueError(f"threshold is {threshold}; give a probability above 0 and below 1.")
    by_rules = isinstance(vote.answer, LogOddsClasses) or not isinstance(vote.answer, AddedClasses)
    if isinstance(vote.fallback, SourceModel) or not (by_rules or isinstance(vote.fallback, Default)):
        raise ValueError(
            f"a threshold cannot be set where the fallback {vote.fallback.name!r} predicts for missed rows of such "
            "votes; choose another fallback, or vote='log-odds'."
        )


def threshold_for(
    positive: Bools,
    share: Floats,
    *,
    recall: float | None = None,
    precision: float | None = None,
    cost: float | None = None,
) -> float:
    """The threshold on the probability of a class that does what is asked for; it lies between two probabilities.

    Parameters
    ----------
    positive, share
        Which rows are of the class, and its probability for each row.
    recall
        At least this share of the rows of the class is found, with as few false alarms as possible.
    precision
        At least this share of the predictions of the class is right, and as many rows as possible are found.
    cost
        What a missed row of the class costs, if a false alarm costs 1: the sum of costs is as small as possible.

    Examples
    --------
    >>> share, positive = np.array([0.9, 0.7, 0.4, 0.2]), np.array([True, False, True, False])
    >>> round(threshold_for(positive, share, recall=1.0), 3)
    0.3
    """
    asked = {name: value for name, value in (("recall", recall), ("precision", precision), ("cost", cost)) if value}
    if len(asked) != 1:
        raise ValueError("give one of recall, precision and cost, above 0.")
    if not positive.any():
        raise ValueError("no row is of the class that the threshold is for; give rows of both classes.")
    share = np.where(share < 2 * _LEAST, 0.0, share)
    rising, which = np.unique(np.append(share, 0.0), return_inverse=True)  # what is impossible is never predicted
    begins = np.diff(rising, prepend=-1.0) > _LEAST  # votes that are moved are rounded, too
    which = (np.cumsum(begins) - 1)[which.ravel()[:-1]]
    lowest, highest = rising[begins], rising[np.append(begins[1:], True)]
    if len(lowest) == 1:
        raise ValueError("every probability of the class is 0; no threshold finds any row.")
    found = np.cumsum(np.bincount(which, weights=positive, minlength=len(lowest))[:0:-1])
    alarms = np.cumsum(np.bincount(which, weights=~positive, minlength=len(lowest))[:0:-1])
    ((name, value),) = asked.items()
    level = len(lowest) - 1 - _place(name, value, found, alarms, int(positive.sum()))
    return float(np.clip((lowest[level] + highest[level - 1]) / 2.0, _LEAST, 1 - _LEAST))


#: The lowest threshold that is chosen; what is less probable is impossible, and what differs by no more is equal.
_LEAST = 1e-12


def _place(name: str, value: float, found: Any, alarms: Any, n: int) -> int:
    """The place of the lowest probability that is still predicted as the class."""
    if name == "cost":
        return int(np.argmin(value * (n - found) + alarms))
    if value > 1:
        raise ValueError(f"{name} is {value}; it is a share, at most 1.")
    if name == "recall" and found[-1] < value * n - 1e-9:
        raise ValueError(f"recall is {value}, but {found[-1] / n:.3f} is the most; the other rows have probability 0.")
    if name == "recall":
        return int(np.argmax(found >= value * n - 1e-9))
    fine = np.flatnonzero(found >= value * (found + alarms) - 1e-9)
    if not fine.size:
        best = float((found / (found + alarms)).max())
        raise ValueError(f"precision is {value}, but no threshold has more than {best:.3f}; ask for less.")
    return int(fine[-1])
