"""Rows on a GPU where they cannot be used: the error comes before the first of them is looked at."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.frozen import FrozenEstimator

from rulecover import MIRCOClassifier, MIRCORegressor, RCBoostClassifier, RulePathClassifier

X, Y = np.arange(40.0).reshape(20, 2) % 7, np.arange(20) % 2


class OnDevice:
    """An array that says that it is on a GPU, and nothing else."""

    __cuda_array_interface__ = None


@cache
def forest() -> FrozenEstimator:
    return FrozenEstimator(RandomForestClassifier(2, max_depth=2, random_state=0).fit(X, Y))


@pytest.mark.parametrize("method", ["apply", "missed", "why", "fidelity"])
def test_views_of_rows_on_a_gpu_are_refused_with_the_way_out(method: str) -> None:
    model = MIRCOClassifier(forest()).fit(X, Y)
    with pytest.raises(
        TypeError, match=r"X is on a GPU, where only fit, predict and predict_proba work; give X\.get\("
    ):
        getattr(model, method)(OnDevice())


@pytest.mark.parametrize("model", [RulePathClassifier(), RCBoostClassifier()], ids=lambda model: type(model).__name__)
def test_only_covers_are_fitted_to_rows_on_a_gpu(model: Any) -> None:
    name = type(model).__name__
    with pytest.raises(
        TypeError, match=rf"X is on a GPU, where {name} is not fitted; give X\.get\(\), or choose a cover"
    ):
        model.fit(OnDevice(), Y)


def test_covers_of_rows_on_a_gpu_need_a_trained_model_of_classes() -> None:
    with pytest.raises(
        TypeError, match="X is on a GPU, where no model is trained; give a trained one, as in MIRCOClass"
    ):
        MIRCOClassifier(RandomForestClassifier()).fit(OnDevice(), Y)
    with pytest.raises(
        TypeError, match=r"class_weight is given, which is not supported for rows on a GPU; give X\.get"
    ):
        MIRCOClassifier(forest(), class_weight="balanced").fit(OnDevice(), Y)
    numbers = FrozenEstimator(RandomForestRegressor(2, random_state=0).fit(X, Y))
    with pytest.raises(
        TypeError, match=r"numbers are predicted, which is not supported for rows on a GPU; give X\.get"
    ):
        MIRCORegressor(numbers).fit(OnDevice(), Y)
