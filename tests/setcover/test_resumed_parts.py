"""An exact cover that goes on from a checkpoint claims no more than one that was never interrupted."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from rulecover.coverage import Coverage
from rulecover.setcover import CoveringProblem, Exact


@pytest.mark.slow
@pytest.mark.parametrize("limit", [0.05, 0.15, 0.25, 0.3])
def test_parts_of_a_proof_that_time_divided_otherwise_are_not_taken_for_others(limit: float, tmp_path: Path) -> None:
    rng = np.random.default_rng(8)
    masks = rng.random((60, 70)) < 0.12
    masks[0, ~masks.any(axis=0)] = True
    problem = CoveringProblem(Coverage.of_masks(masks), cost=1 + rng.random(60))
    best = Exact(time_limit=None)(problem).objective
    file = tmp_path / "cover.npz"
    Exact(time_limit=limit, checkpoint=file)(problem)
    assert Exact(time_limit=None, checkpoint=file)(problem).objective == pytest.approx(best)
