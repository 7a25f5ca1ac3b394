"""Clauses that a rule is better off without."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from rulecover.rules.ruleset import RuleSet
from rulecover.typing import Bools, Floats

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
    one_by_one = replace(rules.clauses, offset=np.arange(len(rules.clauses.feature) + 1))
    parts = [covered for _, covered in one_by_one.covered_chunks(X, rules.columns.zero_missing)]
    return np.concatenate(parts, axis=1)


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
    kept = np.ones(len(passed), dtype=bool)
    failed = (~passed).sum(axis=0)  # clauses that are kept and not satisfied
    gain = float(gains((failed == 0)[None], kept[None])[0])
    while kept.sum() > 1:
        open_to = np.flatnonzero(kept if needed is None else kept & ~needed)
        if not open_to.size:
            break
        without = failed[None] == ~passed[open_to]
        fewer = np.repeat(kept[None], len(open_to), axis=0)
        fewer[np.arange(len(open_to)), open_to] = False
        found = gains(without, fewer)
        # A clause that tells no sample apart changes the gain by rounding alone, and which way is chance.
        best = int(np.flatnonzero(found >= found.max() - _ROUNDING * abs(found.max()))[0])
        if found[best] < gain - _ROUNDING * abs(gain):
            break
        gain = float(found[best])
        failed = failed - ~passed[open_to[best]]
        kept[open_to[best]] = False
    return Shortened(kept, failed == 0, gain)
