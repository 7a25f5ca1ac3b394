"""The bins that the parts of RCBoost share on a Dask cluster."""

from __future__ import annotations

import numpy as np
import pytest
import xgboost

from rulecover.partitions.dask_boost import _borders


@pytest.mark.parametrize("max_bin", [2, 16, 256])
def test_the_borders_of_bins_are_rows_that_make_the_same_bins(max_bin):
    random = np.random.default_rng(max_bin)
    X = random.normal(size=(5000, 9))
    X[:, 1], X[:, 2], X[:, 3] = X[:, 1] > 0, random.integers(0, 256, 5000), random.integers(0, 258, 5000)
    X[:, 4], X[:, 5], X[:, 6] = 3.0, np.nan, np.where(X[:, 6] > 0, np.nan, X[:, 6])
    X[:, 7], X[:, 8] = np.exp(20 * X[:, 7]), 1e-30 * X[:, 8]
    few = _borders(X, max_bin, 1)
    assert len(few) <= max_bin + 1
    cuts, ours = (xgboost.QuantileDMatrix(rows, max_bin=max_bin).get_quantile_cut() for rows in (X, few))
    for one, other in zip(cuts, ours, strict=True):
        np.testing.assert_array_equal(one, other)
