"""Costs that are too far apart for the LP: what is certified is true all the same."""

from __future__ import annotations

import warnings

import numpy as np

from rulecover import RCBoostRegressor
from rulecover.setcover import Status


def test_costs_whose_duals_are_lost_are_those_of_the_rules() -> None:
    X = np.array([[4.0, 0.0], [1.0, 1.0], [6.0, 0.0], [2.0, 1.0], [5.0, 0.0], [3.0, 2.0]])
    y = np.array([7.2e13, 2.6e3, 1.4e9, 4.6e6, 2.5e7, 7.2e13])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = RCBoostRegressor(pricing="tree", scale=0.5, random_state=0).fit(X, y)

    certificate = model.certificate_
    cost = model.pool_.evidence.cost
    assert 1.0 <= certificate.bound <= certificate.objective
    np.testing.assert_allclose(certificate.objective, float(cost @ model.z_), rtol=1e-5)
    if certificate.bound < certificate.objective:
        assert certificate.status == Status.FEASIBLE
