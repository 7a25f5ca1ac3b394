"""Paths of many comparisons as rules of one clause per feature."""

from __future__ import annotations

import numpy as np

from rulecover.rules.clauses import Clauses
from rulecover.trees.tree import merge_comparisons
from rulecover.typing import Ints


def paths(feature: Ints) -> Clauses:
    """Rules of two comparisons with one bound each, on these features."""
    n = len(feature)
    return Clauses(
        offset=np.arange(0, n + 1, 2),
        feature=feature,
        lower=np.full(n, -np.inf),
        upper=np.arange(n, dtype=np.float64),
        missing=np.zeros(n, dtype=bool),
        category=np.full(n, -1),
        category_sets=(),
    )


def test_clauses_stay_with_their_rules_whatever_their_number_and_that_of_the_features() -> None:
    many, last = 60_000, 2**30  # a rule, a feature and a place in one number have more than 63 bits

    merged = merge_comparisons(paths(np.tile([last, last - 1], many)))

    few = merge_comparisons(paths(np.tile([1, 0], many)))
    np.testing.assert_array_equal(merged.upper, few.upper)
    np.testing.assert_array_equal(merged.upper[:4], [1.0, 0.0, 3.0, 2.0])
    np.testing.assert_array_equal(merged.feature, few.feature + last - 1)
