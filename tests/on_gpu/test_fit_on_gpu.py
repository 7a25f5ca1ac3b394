"""Covers of rows on a GPU through the estimators: the rules, votes and fingerprints are those of the CPU."""

from __future__ import annotations

from typing import Any

import cupy as cp
import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.frozen import FrozenEstimator

from rulecover import MIRCOClassifier, MIRCORegressor, RulePathClassifier, explain
from rulecover.exceptions import CutShortWarning
from rulecover.setcover import Greedy


def random_data(seed: int, n: int = 3000) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    X = np.round(rng.normal(size=(n, 6)), [0, 1, 2, 6][seed % 4])
    y = np.digitize(X[:, 0] + X[:, 1] * X[:, 2] + rng.normal(size=n) / 3, [-0.5, 0.5][: 1 + seed % 2])
    return X, np.array([10, 20, 30])[y]


def forest_of(X: np.ndarray, y: np.ndarray) -> Any:
    return RandomForestClassifier(20, max_depth=6, random_state=0).fit(X, y)


SETTINGS = [
    {},
    {"prune": False},
    {"vote": "counts"},
    {"vote": "fitted", "demand": 2},
    {"demand": {10: 3}},
    {"max_rules": 4},
    {"criterion": "entropy", "length_weight": 0.1},
]


@pytest.mark.parametrize("settings", SETTINGS, ids=str)
@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_rules_and_votes_are_those_of_the_cpu(settings: dict[str, Any], kind: type) -> None:
    for seed in range(4):
        X, y = random_data(seed)
        X = X.astype(kind)
        X[::50, 0] = np.nan
        model = FrozenEstimator(forest_of(X, y))
        here = MIRCOClassifier(model, solver=Greedy(), **settings).fit(X, y)
        there = MIRCOClassifier(model, solver=Greedy(), **settings).fit(cp.asarray(X), cp.asarray(y))
        assert there.rules_.to_text() == here.rules_.to_text()
        assert str(there.rules_) == str(here.rules_)
        np.testing.assert_allclose(there.vote_.votes, here.vote_.votes, atol=1e-5)
        assert there.provenance_.data == here.provenance_.data
        assert there.certificate_.objective == pytest.approx(here.certificate_.objective)
        assert there.predict(cp.asarray(X)).get().tolist() == here.predict(X).tolist()


@pytest.mark.parametrize("fallback", ["closest", "all", "majority", "model"])
def test_missed_rows_have_the_same_predictions(fallback: str) -> None:
    X, y = random_data(1)
    forest = forest_of(X, y)
    here = MIRCOClassifier(FrozenEstimator(forest), fallback=fallback, max_rules=3).fit(X, y)
    assert here.missed(X).any()
    assert here.predict(cp.asarray(X)).get().tolist() == here.predict(X).tolist()
    np.testing.assert_allclose(here.predict_proba(cp.asarray(X)).get(), here.predict_proba(X), rtol=1e-12)


def test_weights_act_as_repeated_rows() -> None:
    X, y = random_data(3)
    weight = np.random.default_rng(0).integers(0, 4, size=len(y))
    model, repeated = FrozenEstimator(forest_of(X, y)), np.repeat(np.arange(len(y)), weight)
    one = MIRCOClassifier.as_in_paper(model).fit(cp.asarray(X), cp.asarray(y), cp.asarray(weight))
    other = MIRCOClassifier.as_in_paper(model).fit(cp.asarray(X[repeated]), cp.asarray(y[repeated]))
    assert one.rules_.to_text() == other.rules_.to_text()
    assert np.array_equal(one.vote_.votes, other.vote_.votes)


@pytest.mark.parametrize("scale", [0.01, 1e6])
def test_weights_count_as_on_the_cpu(scale: float) -> None:
    X, y = random_data(2)
    weight = scale * np.random.default_rng(0).choice([1.0, 0.001, 2.5, 0.7], size=len(y))
    model = FrozenEstimator(forest_of(X, y))
    here = MIRCOClassifier.as_in_paper(model).fit(X, y, weight)
    there = MIRCOClassifier.as_in_paper(model).fit(cp.asarray(X), cp.asarray(y), cp.asarray(weight))
    assert there.rules_.to_text() == here.rules_.to_text()
    assert np.array_equal(there.vote_.votes, here.vote_.votes)


def test_labels_may_be_texts_that_are_not_on_the_device() -> None:
    X, y = random_data(2)
    texts = np.array(["low", "middle", "high"])[y // 10 - 1]
    model = forest_of(X, texts)
    found = explain(model, cp.asarray(X), texts, method="cover")
    assert found.predict(cp.asarray(X)).tolist() == found.predict(X).tolist()


def test_a_path_predicts_rows_on_the_device() -> None:
    X, y = random_data(1)
    path = RulePathClassifier(max_rules=8, choose="last", random_state=0).fit(X, y)
    assert path.predict(cp.asarray(X)).get().tolist() == path.predict(X).tolist()
    with pytest.raises(TypeError, match=r"give X\.get\(\)"):
        path.apply(cp.asarray(X))


def test_a_cover_that_is_late_is_one_of_the_first_tree() -> None:
    X, y = random_data(0)
    model = FrozenEstimator(forest_of(X, y))
    free, limited = (
        MIRCOClassifier(model, time_limit=limit).fit(cp.asarray(X), cp.asarray(y)) for limit in (None, 1000)
    )
    assert limited.rules_ == free.rules_
    with pytest.warns(CutShortWarning, match="1 of .* trees were read"):
        cut = MIRCOClassifier(model, time_limit=1e-6).fit(cp.asarray(X), cp.asarray(y))
    assert cut.rules_.apply(X).sum(axis=1).min() >= 1


def test_what_is_not_supported_is_refused_in_a_line() -> None:
    X, y = random_data(0)
    model, on_device = FrozenEstimator(forest_of(X, y)), (cp.asarray(X), cp.asarray(y))
    for settings, match in [
        ({"estimator": RandomForestClassifier()}, "no model is trained"),
        ({"estimator": model, "class_weight": "balanced"}, "class_weight"),
        ({"estimator": model, "solver": "exact"}, "solver is 'exact'"),
    ]:
        with pytest.raises((TypeError, ValueError), match=match):
            MIRCOClassifier(**settings).fit(*on_device)
    regressor = FrozenEstimator(RandomForestRegressor(n_estimators=5).fit(X, y))
    with pytest.raises(TypeError, match="numbers are predicted"):
        MIRCORegressor.as_in_paper(regressor).fit(*on_device)
    X[-1, 0] = np.inf
    with pytest.raises(ValueError, match="infinite"):
        MIRCOClassifier(model).fit(cp.asarray(X), on_device[1])
    with pytest.raises(ValueError, match="labels that the model never saw"):
        MIRCOClassifier(model).fit(on_device[0], cp.where(cp.arange(len(y)) == len(y) - 1, 77, on_device[1]))
    with pytest.raises(ValueError, match="shape"):
        MIRCOClassifier(model).fit(on_device[0], on_device[1][:-1])
    with pytest.raises(ValueError, match="sample_weight"):
        MIRCOClassifier(model).fit(*on_device, cp.full(len(y), -1.0))
