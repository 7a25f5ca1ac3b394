"""Clauses that a rule is better off without."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from rulecover.rules.ruleset import RuleSet
from rulecover.typing import Bools, Floats, Ints

#: Gains that differ by less than this share are equal.
_ROUNDING = 1e-9


@dataclass(frozen=True, eq=False)
class Shortened:
    """A rule without needless clauses: which clauses it keeps, which samples it covers now, and what it gains."""

    kept: Bools
    covered: Bools
    gain: float


def satisfied(rules: RuleSet, X: Any) -> Bools:
    """Which samples satisfy which clause of some rules, clauses x samples."""
    return rules.clauses.satisfied(X, rules.columns.zero_missing)


def shortened(passed: Bools, gains: Callable[[Bools, Bools], Floats], needed: Bools | None = None) -> Shortened:
    """Drops one clause after another, each time the one without which the gain is largest, while it does not fall.

    Parameters
    ----------
    passed
        Which samples satisfy which clause of the rule, clauses x samples; see `satisfied`.
    gains
        From masks over the samples (rules x samples) and the clauses that each keeps (rules x clauses) to their gains.
    needed
        Clauses that must stay.
    """
    kept, missed = np.ones(len(passed), dtype=bool), ~passed
    failed = missed.sum(axis=0, dtype=np.int32)  # clauses that are kept and not satisfied
    dropped = _dropped(kept, needed)
    # The whole rule is evaluated with those that it may become: one call takes hardly longer than another.
    covered = np.vstack([failed == 0, failed == missed[dropped]])
    gain, *found = gains(covered, np.vstack([kept, _without(kept, dropped)])).tolist()
    while found:
        # A clause that tells no sample apart changes the gain by rounding alone, and which way is chance.
        highest = max(found)
        best = next(place for place, each in enumerate(found) if each >= highest - _ROUNDING * abs(highest))
        if found[best] < gain - _ROUNDING * abs(gain):
            break
        gain = found[best]
        failed -= missed[dropped[best]]
        kept[dropped[best]] = False
        dropped = _dropped(kept, needed)
        found = gains(failed == missed[dropped], _without(kept, dropped)).tolist() if dropped.size else []
    return Shortened(kept, failed == 0, gain)


def _dropped(kept: Bools, needed: Bools | None) -> Ints:
    """The clauses of which one may be dropped: none, if it is the last."""
    return np.flatnonzero((kept if needed is None else kept & ~needed) & (kept.sum() > 1))


def _without(kept: Bools, dropped: Ints) -> Bools:
    """What is kept without each of these clauses in turn, dropped x clauses."""
    fewer = np.repeat(kept[None], len(dropped), axis=0)
    fewer[np.arange(len(dropped)), dropped] = False
    return fewer
