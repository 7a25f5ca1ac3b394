"""The votes of rows that no rule covers: added without rounding, in whatever order."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from rulecover import RuleSet
from rulecover.voting.fallback import FALLBACKS, per_comparison
from rulecover.voting.vote import MajorityVote


def test_three_thirds_of_a_vote_tie_with_one_vote() -> None:
    """In floats three times 1/3 of 0.1 is more than 0.1; a tie must be a tie all the same."""
    third = {0: (0.0, 1.0), 1: (5.0, 6.0), 2: (5.0, 6.0)}
    half = {0: (0.0, 1.0), 3: (5.0, 6.0)}
    rules = RuleSet.of_intervals([third, third, third, half], ["a", "b", "c", "d"])
    vote = MajorityVote(rules, np.array([[0.0, 7.0]] * 3 + [[14.0, 0.0]]))

    tally = FALLBACKS["all"](vote, np.array([[0.5, 0.0, 0.0, 0.0]]), None)

    assert tally[0, 0] == tally[0, 1] > 0


@given(st.integers(0, 2**32 - 1))
def test_the_order_of_the_rules_changes_nothing(seed: int) -> None:
    rng = np.random.default_rng(seed)
    names = list("abcdefg")
    rules = [{int(f): (0.0, 1.0) for f in rng.permutation(7)[: rng.integers(1, 8)]} for _ in range(30)]
    votes = rng.random((30, 3)) * 10.0 ** rng.integers(-6, 6)
    order = rng.permutation(30)
    X = rng.random((20, 7)) * 2

    one = FALLBACKS["all"](MajorityVote(RuleSet.of_intervals(rules, names), votes), X, None)
    two = FALLBACKS["all"](MajorityVote(RuleSet.of_intervals([rules[j] for j in order], names), votes[order]), X, None)

    assert (one == two).all()


def test_votes_for_a_comparison_add_up_to_the_votes_of_the_rule() -> None:
    rules = RuleSet.of_intervals([dict.fromkeys(range(n), (0.0, 1.0)) for n in (1, 3, 7)], list("abcdefg"))
    votes = np.array([[4.0], [5.0], [6.0]])

    each = per_comparison(MajorityVote(rules, votes))

    assert (each * rules.lengths[:, None] == votes * 21).all()
