"""The most accurate few rules as methods of the study."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import load_iris

from rulecover.study import METHODS, Data, Fold

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def fold() -> Fold:
    X, y = load_iris(return_X_y=True)
    return Fold.of(Data("iris", X, y, ("a", "b", "c"), (150, 4)), 0, seed=7)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["Path", "Cover", "RCB-few"])
def test_a_fold_gives_the_models_that_the_method_names_with_their_sizes(name: str, fold: Fold) -> None:
    found = METHODS[name].learn(fold)

    assert tuple(found) == METHODS[name].models
    for done in found.values():
        assert done.rules == len(done.model.rules_) >= 1
        assert done.clauses == pytest.approx(done.model.rules_.lengths.mean())
        assert np.mean(done.model.predict(fold.X_test) == fold.y_test) > 0.8


@pytest.mark.slow
def test_sizes_of_paths_are_limits_and_covers_meet_their_demand(fold: Fold) -> None:
    paths, covers = METHODS["Path"].learn(fold), METHODS["Cover"].learn(fold)

    assert paths["Path-10"].rules == 10 < paths["Path-25"].rules == 25
    assert covers["Cover-1"].model.estimator_.apply(fold.X_train).sum(axis=1).min() >= 1
    assert covers["Cover-1"].rules < covers["Cover-3"].rules
