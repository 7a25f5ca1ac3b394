"""Histogram gradient boosting: the values of its leaves."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.exceptions import NotFittedError
from sklearn_models import grown_hist, random_rows, target

from rulecover import explain, read_trees
from rulecover.exceptions import MismatchedDataError


def test_leaf_values_add_up_to_the_model_s_raw_predictions() -> None:
    rng = np.random.default_rng(0)
    X = random_rows(rng, missing=True)
    y = target(rng, X, "multi-class")
    model = grown_hist(rng, "multi-class").fit(X, y)
    ensemble = read_trees(model)
    assert ensemble.output is not None
    raw = np.tile(np.ravel(model._baseline_prediction), (len(X), 1))
    for tree, route, k in zip(ensemble.trees, ensemble.routes, ensemble.output, strict=True):
        assert tree.value is not None
        raw[:, k] += tree.value[route(ensemble.prepare(X)), 0]
    np.testing.assert_allclose(raw, model.decision_function(X))


def test_an_untrained_model_is_not_read() -> None:
    with pytest.raises(NotFittedError):
        read_trees(HistGradientBoostingClassifier())


def test_sparse_rows_are_refused_as_the_model_refuses_them() -> None:
    X, y = np.array([[0.0], [1.0]] * 20), np.array([0, 1] * 20)
    model = HistGradientBoostingClassifier(max_iter=1, min_samples_leaf=1).fit(X, y)
    with pytest.raises(
        MismatchedDataError, match=r"HistGradientBoosting does not take sparse rows; pass X.toarray\(\)"
    ):
        explain(model, scipy.sparse.csr_array(X), y, method="cover")
