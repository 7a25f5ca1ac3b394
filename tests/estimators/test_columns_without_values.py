"""Columns without any value, in all rows or in those of a fold: every pool and every library trains on the others."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from record_sources import TRAINABLE
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor, VotingClassifier

from rulecover import MIRCOClassifier, RulePathClassifier, RulePathRegressor
from rulecover.estimators.cross_fitted import CrossFitted

N = 60
NUMBERS = np.arange(float(N)) ** 2
#: Libraries that take missing values.
TAKE_GAPS = [name for name, source in TRAINABLE.items() if "gaps" in source.kinds]


def rows(known: int = 0) -> np.ndarray:
    """The first column has as many values as asked for, in the first rows."""
    first = np.where(np.arange(N) < known, 1.0 * np.arange(N), np.nan)
    return np.column_stack([first, np.arange(N) % 7, np.arange(N)])


@pytest.mark.parametrize("pool", [None, "forest", "boosted", "both"])
@pytest.mark.parametrize("known", [0, 1])
@pytest.mark.parametrize("frame", [False, True])
def test_every_pool_trains_without_a_column(pool: str | None, known: int, frame: bool) -> None:
    X: Any = pd.DataFrame(rows(known), columns=list("abc")) if frame else rows(known)
    settings: dict[str, Any] = {"pool": pool, "max_rules": 3, "cv": 2, "random_state": 0}

    for path in (RulePathClassifier(**settings).fit(X, NUMBERS > 900), RulePathRegressor(**settings).fit(X, NUMBERS)):
        assert 0 < len(path.rules_) <= 3
        assert known or 0 not in path.rules_.clauses.columns
        assert len(path.predict(X)) == N


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:Skipping features without any observed values")  # of an imputer of scikit-learn
@pytest.mark.parametrize("name", TAKE_GAPS)
def test_every_library_trains_in_folds_without_a_column(name: str) -> None:
    model = TRAINABLE[name].make("classes", 0)

    path = RulePathClassifier(model, choose="best", cv=3, max_rules=2, random_state=0).fit(rows(1), (NUMBERS > 900) * 1)
    cover = MIRCOClassifier(model, prune="held-out", random_state=0).fit(rows(), (NUMBERS > 900) * 1)

    assert len(path.rules_) > 0 and len(cover.rules_) > 0


def test_models_of_histograms_inside_others_train_too() -> None:
    boosted = HistGradientBoostingClassifier(max_iter=2)
    vote = VotingClassifier([("one", boosted), ("two", boosted)])

    assert len(MIRCOClassifier(vote).fit(rows(), NUMBERS > 900).rules_) > 0
    assert len(CrossFitted(HistGradientBoostingRegressor(max_iter=2)).fit(rows(1), NUMBERS).copies_) == 3


@pytest.mark.parametrize("frame", [False, True])
def test_values_in_rows_of_weight_zero_are_none(frame: bool) -> None:
    X: Any = pd.DataFrame(rows(5), columns=list("abc")) if frame else rows(5)
    weight = (np.arange(N) >= 5) * 1.0

    for model in (HistGradientBoostingClassifier(max_iter=2), TRAINABLE["hist gradient boosting"].make("classes", 0)):
        cover = MIRCOClassifier(model, random_state=0).fit(X, NUMBERS > 900, weight)
        assert 0 not in cover.rules_.clauses.columns and not cover.missed(X).any()
    assert len(CrossFitted(HistGradientBoostingRegressor(max_iter=2)).fit(rows(5), NUMBERS, weight).copies_) == 3
