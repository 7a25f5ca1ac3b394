"""Impurities of rules, worked out for some rules at a time."""

from __future__ import annotations

import numpy as np
import pytest

from rulecover.targets.classes import impurity
from rulecover.targets.classes.impurity import CRITERIA


@pytest.mark.parametrize("name", CRITERIA)
@pytest.mark.parametrize("block", [1, 7, 40, 10**6])
def test_blocks_change_no_bit(name: str, block: int, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    sums = rng.uniform(size=(50, 13)) * (rng.uniform(size=(50, 13)) < 0.5) + 1e-3
    shares = sums / sums.sum(axis=1, keepdims=True)
    wanted = np.maximum(1.0 - np.square(shares).sum(axis=1), 0.0)
    if name != "gini":
        wanted = -(shares * np.log2(shares)).sum(axis=1)
    monkeypatch.setattr(impurity, "_BLOCK", block)

    np.testing.assert_array_equal(CRITERIA[name](sums), wanted)
    assert CRITERIA[name](np.zeros((0, 3))).shape == (0,)
