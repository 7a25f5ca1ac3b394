"""Whether two fitted models are the same, and what is known of one."""

from __future__ import annotations

from typing import Any

import numpy as np
from soak_cases import Fitted

from rulecover.exceptions import ExportError
from rulecover.export.exported import vote_of
from rulecover.voting.answers import Classes

#: Models whose columns may be made by what stands in front of them, or whose categories may be known by a hash alone.
_MAKES_COLUMNS = ("one-hot pipeline", "ordinal pipeline", "scaled pipeline", "catboost with texts")


def answers(model: Any, rows: Any) -> np.ndarray:
    """Probabilities of classes, or numbers."""
    return model.predict_proba(rows) if isinstance(model.vote_.answer, Classes) else model.predict(rows)


def assert_close(one: np.ndarray, other: np.ndarray, tolerance: float = 1e-9, spread: float = 0.0) -> None:
    """The same numbers but for rounding, which is that of the numbers, or of those that they are differences of."""
    scale = max(float(np.abs(np.asarray(other, dtype=float)).max(initial=0.0)), spread)
    np.testing.assert_allclose(one, other, rtol=0, atol=tolerance * scale)


def assert_same(f: Fitted, other: Any, tolerance: float = 0.0) -> None:
    """The same rules, and the same answers."""
    assert [rule.text for rule in f.model.rules_] == [rule.text for rule in other.rules_]
    assert f.model.rules_ == other.rules_
    # A mean of numbers around zero is zero only up to the rounding of these numbers.
    spread = float(np.ptp(np.asarray(f.case.y, dtype=float))) if f.case.target == "numbers" else 0.0
    assert_close(answers(f.model, f.data.asked), answers(other, f.data.asked), tolerance, spread)


def has_evidence(f: Fitted) -> bool:
    """Whether there are rules, and all of them cover training rows, as those to be kept need not do."""
    return len(f.model.rules_) > 0 and f.model.rules_.evidence is not None


def is_exported(f: Fitted) -> bool:
    """Whether the rules are a model by themselves, on columns of the table."""
    if not has_evidence(f):
        return False
    try:
        vote_of(f.model)
    except ExportError as error:
        assert f.case.settings.get("fallback") == "model" or f.case.source in _MAKES_COLUMNS, error
        return False
    return True
