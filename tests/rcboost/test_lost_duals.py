"""Costs that are too far apart for the LP, which loses its duals in rounding: what is certified is true anyway."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_diabetes

from rulecover import RCBoostRegressor
from rulecover.rcboost.generate import RuleGeneration
from rulecover.setcover import Status


@pytest.mark.parametrize("left", [0.0, 0.5])
def test_the_cost_is_that_of_the_rules_where_the_duals_are_lost(left: float, monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = load_diabetes(return_X_y=True)
    whole = RCBoostRegressor(pricing="tree", max_rmp_calls=3, random_state=0).fit(X, y).certificate_
    solved = RuleGeneration.optimum

    def lost(generation: RuleGeneration) -> Any:
        relaxation = solved(generation)
        return replace(relaxation, objective=left * relaxation.objective)

    monkeypatch.setattr(RuleGeneration, "optimum", lost)
    model = RCBoostRegressor(pricing="tree", max_rmp_calls=3, random_state=0).fit(X, y)

    certificate, cost = model.certificate_, model.pool_.evidence.cost
    assert whole.status == Status.OPTIMAL and whole.bound == whole.objective
    assert certificate.status == Status.FEASIBLE
    assert certificate.objective == float(cost @ model.z_) == pytest.approx(whole.objective, rel=1e-5)
    assert certificate.bound == max(left * whole.objective, float(cost.min()))
    assert np.isfinite(certificate.objective)
