"""Arrays in the byte order of other machines, which some libraries take for other numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from lightgbm import LGBMClassifier
from sklearn.ensemble import RandomForestClassifier
from xgboost import XGBClassifier

from rulecover import MIRCOClassifier, RCBoostClassifier, RulePathClassifier


@pytest.mark.parametrize("kind", [MIRCOClassifier, RulePathClassifier, RCBoostClassifier])
@pytest.mark.parametrize(
    "source",
    [
        LGBMClassifier(n_estimators=3, verbose=-1),
        XGBClassifier(n_estimators=3),
        RandomForestClassifier(3, random_state=0),
    ],
    ids=lambda source: type(source).__name__,
)
def test_rows_in_another_byte_order_are_the_same_rows(kind: Any, source: Any) -> None:
    if kind is RCBoostClassifier and not isinstance(source, RandomForestClassifier):
        source = None
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 3)).round(1)
    y = X[:, 0] * X[:, 1] > 0.1
    settings = {"random_state": 0} if kind is RulePathClassifier else {"random_state": 0, "fallback": "model"}
    model = kind(source, **settings).fit(X, y)
    other = X.astype(X.dtype.newbyteorder())
    again = kind(source, **settings).fit(other, y)

    assert again.rules_ == model.rules_
    for rows in (X, other):
        np.testing.assert_array_equal(again.predict_proba(rows), model.predict_proba(X))
