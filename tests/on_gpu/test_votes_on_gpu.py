"""Rules predict the same for rows on a GPU as for the same rows in the memory of the CPU, to the last digit."""

from __future__ import annotations

import cupy as cp
import numpy as np
import pytest
from exported import Case, cases, log_odds_cases, probes

from rulecover.gpu.votes import predictions, probabilities, tallies
from rulecover.voting.answers import Classes
from rulecover.voting.vote import Vote


def of_numbers(case: Case) -> bool:
    """Whether no rule asks for categories, and no row asks a model."""
    return not (case.rules.rules.clauses.category >= 0).any() and case.rules.fallback.name != "model"


VOTES = [case.rules for case in [*cases(), *log_odds_cases()] if of_numbers(case)]


def rows_for(vote: Vote, kind: type, seed: int = 0) -> np.ndarray:
    """Rows on and next to every bound, with gaps."""
    return np.asarray(probes(vote.rules, np.random.default_rng(seed))).astype(kind)


@pytest.mark.parametrize("kind", [np.float32, np.float64])
@pytest.mark.parametrize("order", ["C", "F"])
def test_sums_are_the_same_to_the_last_bit(kind: type, order: str) -> None:
    assert len(VOTES) > 100
    for vote in VOTES:
        X = rows_for(vote, kind)
        on_device = next(iter(tallies(vote, cp.asarray(X, order=order))))
        here = vote.tally(X.astype(np.float64))
        assert np.array_equal(on_device.fired.get(), here.fired)
        covered = here.fired > 0
        assert np.array_equal(on_device.sums.get()[covered], here.sums[covered])
        # Means of missed rows are rounded, and how depends on how many rows are asked about together.
        np.testing.assert_allclose(
            on_device.sums.get(), here.sums, rtol=0 if isinstance(vote.answer, Classes) else 1e-14
        )


def test_predictions_and_probabilities_are_the_same() -> None:
    for vote in VOTES:
        X = rows_for(vote, np.float64, seed=1)
        found = predictions(vote, cp.asarray(X))
        found = found if isinstance(found, np.ndarray) else found.get()
        if isinstance(vote.answer, Classes):
            assert found.tolist() == vote.predict(X).tolist()
            shares = probabilities(vote, cp.asarray(X)).get()
            np.testing.assert_allclose(shares, vote.predict_proba(X), rtol=1e-14)  # exp differs in the last bit
        else:
            np.testing.assert_allclose(found, vote.predict(X), rtol=1e-15)
