"""Out-of-fold predictions, against copies that are trained by hand."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.datasets import make_friedman1
from sklearn.ensemble import HistGradientBoostingRegressor, RandomForestRegressor, VotingRegressor
from sklearn.tree import DecisionTreeRegressor

from rulecover import RulePathRegressor, read_trees
from rulecover.estimators.cross_fitted import CrossFitted
from rulecover.estimators.out_of_bag import has_out_of_bag, out_of_bag


@pytest.mark.parametrize("weighted", [False, True])
def test_each_row_is_predicted_by_a_copy_that_was_trained_on_the_other_folds(weighted: bool) -> None:
    X, y = make_friedman1(60, random_state=0)
    weight = np.random.default_rng(0).integers(1, 4, 60).astype(float) if weighted else None
    model = CrossFitted(DecisionTreeRegressor(max_depth=3, random_state=0), n_folds=4, random_state=1)

    model.fit(X, y, weight)

    assert np.bincount(model.fold_).tolist() == [15] * 4
    for fold in range(4):
        mine, rest = model.fold_ == fold, model.fold_ != fold
        copy = clone(model.estimator).fit(X[rest], y[rest], None if weight is None else weight[rest])
        assert model.out_of_fold(X)[mine] == pytest.approx(copy.predict(X[mine]))
    some = np.array([50, 3, 59])
    assert (model.out_of_fold(X[some], some) == model.out_of_fold(X)[some]).all()
    assert (model.predict(X) == clone(model.estimator).fit(X, y, weight).predict(X)).all()


def test_rows_that_it_was_not_trained_on_are_predicted_by_some_copy() -> None:
    X, y = make_friedman1(40, random_state=0)
    new, _ = make_friedman1(100, random_state=1)
    model = CrossFitted(DecisionTreeRegressor(random_state=0), random_state=0).fit(X, y)

    each = np.array([copy.predict(new) for copy in model.copies_])

    assert (each == model.out_of_fold(new)).any(axis=0).all()


def test_a_single_row_is_predicted_all_the_same() -> None:
    model = CrossFitted(DecisionTreeRegressor()).fit(np.zeros((1, 2)), [3.0])

    assert model.out_of_fold(np.zeros((1, 2))).tolist() == model.predict(np.zeros((1, 2))).tolist() == [3.0]


def test_the_trees_are_those_of_the_model_on_all_rows_and_members_count_alike() -> None:
    X, y = make_friedman1(80, random_state=0)
    forest = RandomForestRegressor(20, random_state=0)
    boosted = CrossFitted(HistGradientBoostingRegressor(max_iter=3, random_state=0), random_state=0)
    both = VotingRegressor([("forest", forest), ("boosted", boosted)]).fit(X, y)

    assert has_out_of_bag(boosted) and len(read_trees(both).trees) == 23
    mean = 0.5 * out_of_bag(both.estimators_[0], X)[:, 0] + 0.5 * both.estimators_[1].out_of_fold(X)
    np.testing.assert_allclose(out_of_bag(both, X)[:, 0], mean)


@pytest.mark.parametrize(("settings", "share"), [({}, 0.7), ({"pool": "boosted"}, 0.7), ({"pool": "forest"}, 0.5)])
def test_boosted_trees_teach_the_rules_by_what_they_predict_out_of_fold(settings: dict, share: float) -> None:
    X, y = make_friedman1(120, random_state=0)
    frame = pd.DataFrame(X, columns=list("abcdefghij"))
    settings = {"max_rules": 4, "choose": "last", "random_state": 0, **settings}

    usual = RulePathRegressor(**settings).fit(frame, y)

    said = RulePathRegressor(model_share=share, **settings).fit(frame, y)
    assert usual.rules_ == said.rules_ and (usual.vote_.votes == said.vote_.votes).all()
    other = RulePathRegressor(model_share=0.2, **settings).fit(frame, y)
    assert not np.array_equal(usual.predict(frame), other.predict(frame))
