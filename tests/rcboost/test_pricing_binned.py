"""Trees on binned features: weighted Gini trees, read exactly, that keep every promise of the loop."""

from __future__ import annotations

import gc
import pickle
import sys

import numpy as np
import pytest
import scipy.sparse
import xgboost
from sklearn.datasets import load_iris, make_classification
from sklearn.tree import DecisionTreeClassifier

from rulecover import RCBoostClassifier
from rulecover.exceptions import MismatchedDataError
from rulecover.rcboost.pricing import binned
from rulecover.rcboost.pricing.binned import BinnedPricing
from rulecover.rcboost.pricing.grown import GrownTree
from rulecover.rcboost.pricing.oracles import Duals
from rulecover.readers.thresholds import below_float32
from rulecover.targets.classes.samples import ClassSamples
from rulecover.trees.tree import Tree


def data(seed: int = 0, n: int = 300, classes: int = 3) -> tuple[np.ndarray, np.ndarray]:
    X, y = make_classification(n, 8, n_informative=5, n_classes=classes, flip_y=0.1, random_state=seed)
    return X, y


def training(X: np.ndarray, y: np.ndarray, weight: np.ndarray | None = None) -> ClassSamples:
    return ClassSamples(X, y, np.unique(y), weight)


def boosted(**settings) -> RCBoostClassifier:
    return RCBoostClassifier(**{"max_rmp_calls": 12, "pricing": "binned", "random_state": 0, **settings})


def weighted_gini(leaf: np.ndarray, y: np.ndarray, weight: np.ndarray) -> float:
    sums = np.zeros((leaf.max() + 1, y.max() + 1))
    np.add.at(sums, (leaf, y), weight)
    total = sums.sum(axis=1)
    return float((total - np.square(sums).sum(axis=1) / np.where(total > 0, total, 1)).sum() / weight.sum())


@pytest.mark.slow
@pytest.mark.parametrize("classes", [2, 3, 5])
@pytest.mark.parametrize("depth", [1, 2, 3, 4])
def test_it_is_a_weighted_gini_tree(classes: int, depth: int) -> None:
    for seed in range(4):
        X, y = data(seed, classes=classes)
        X = np.round(X * 4)  # few distinct values: every one has its bin
        weight = 1 + np.random.default_rng(seed).exponential(size=len(y))
        tree = DecisionTreeClassifier(max_depth=depth, random_state=0)
        ensemble = BinnedPricing()(training(X, y), Duals(weight, weight), tree, 0)
        leaf = ensemble.routes[0](X)
        theirs = tree.fit(X, y, sample_weight=weight).apply(X)
        assert weighted_gini(leaf, y, weight) == pytest.approx(weighted_gini(theirs, y, weight), abs=1e-6)


def beside_thresholds(X: np.ndarray, ensemble) -> np.ndarray:
    """Rows with one value on a threshold, a step of float32 or float64 next to it, or missing."""
    tree, rows = ensemble.trees[0], []
    for node in np.flatnonzero(tree.left >= 0):
        t = tree.threshold[node]
        f = np.float32(t)
        values = [t, np.nextafter(t, -np.inf), np.nextafter(t, np.inf), f, np.nan]
        values += [np.nextafter(f, np.float32(-np.inf)), np.nextafter(f, np.float32(np.inf))]
        for value in values:
            row = X[len(rows) % len(X)].copy()
            row[tree.feature[node]] = value
            rows.append(row)
    return np.array(rows)


@pytest.mark.slow
@pytest.mark.parametrize("classes", [2, 4])
def test_leaves_are_those_of_xgboost_on_every_row_and_beside_thresholds(classes: int, monkeypatch) -> None:
    seen = []
    parsed = binned.parse_tree
    monkeypatch.setattr(binned, "parse_tree", lambda booster: seen.append(booster) or parsed(booster))
    for seed in range(6):
        X, y = data(seed, n=2000, classes=classes)
        X[np.random.default_rng(seed).random(X.shape) < 0.1] = np.nan
        X[:, 0] = np.round(X[:, 0])
        ensemble = BinnedPricing(max_bin=16 if seed % 2 else 256).first(
            training(X, y), DecisionTreeClassifier(max_depth=6), 0
        )
        leaf, tree = ensemble.routes[0](X), ensemble.trees[0]
        for rows in (X, beside_thresholds(X, ensemble)):
            own = seen[-1].predict(xgboost.DMatrix(rows), pred_leaf=True).astype(int)
            np.testing.assert_array_equal(tree.apply(rows), own)
        np.testing.assert_array_equal(leaf, tree.apply(X))
        assert set(np.unique(leaf)) <= set(tree.leaves)


@pytest.mark.parametrize("classes", [2, 3])
def test_bins_from_a_part_of_the_rows_route_every_row_as_their_thresholds_say(classes: int, monkeypatch) -> None:
    monkeypatch.setattr(binned, "SKETCHED", 50)
    X, y = data(3, n=3000, classes=classes)
    X[7, 1], X[11, 2], X[:500, 3] = 1e6, -1e6, np.nan
    ensemble = BinnedPricing(max_bin=32).first(training(X, y), DecisionTreeClassifier(max_depth=8), 0)
    np.testing.assert_array_equal(ensemble.routes[0](X), ensemble.trees[0].apply(X))


def test_leaves_of_equal_value_are_told_apart() -> None:
    X = np.arange(40.0)[:, None]
    y = (np.arange(40) // 10) % 2  # pure leaves, two of each class
    ensemble = BinnedPricing().first(training(X, y), DecisionTreeClassifier(max_depth=3), 0)
    leaf = ensemble.routes[0](X)
    assert len(np.unique(leaf)) >= 4
    np.testing.assert_array_equal(leaf, ensemble.trees[0].apply(X))


@pytest.mark.parametrize("seed", range(5))
def test_many_leaves_of_few_values_are_told_apart_without_another_pass(seed: int, monkeypatch) -> None:
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 12, (1500, 4)).astype(np.float64)
    X[rng.random(X.shape) < 0.05] = np.nan
    y = (np.nan_to_num(X[:, 0]) // 3 + np.nan_to_num(X[:, 1]) // 4 + (X[:, 2] > 9)) % 2
    trees = []
    monkeypatch.setattr(
        xgboost.Booster,
        "predict",
        lambda booster, matrix, *given, plain=xgboost.Booster.predict, **named: (
            trees.append(named) or plain(booster, matrix, *given, **named)
        ),
    )
    ensemble = BinnedPricing().first(training(X, y.astype(int)), DecisionTreeClassifier(max_depth=8), 0)

    assert trees == [{}]
    assert len(ensemble.trees[0].leaves) > 10
    np.testing.assert_array_equal(ensemble.routes[0](X), ensemble.trees[0].apply(X))


def test_below_float32_is_the_last_double_that_rounds_below() -> None:
    rng = np.random.default_rng(0)
    thresholds = np.concatenate(
        [rng.normal(size=200), 10.0 ** rng.integers(-44, 38, 200), [0.0, 1.0, -1.0, 1e-45, 3.0e38]]
    ).astype(np.float32)
    t = below_float32(thresholds)
    assert (t.astype(np.float32) < thresholds).all()
    assert not (np.nextafter(t, np.inf).astype(np.float32) < thresholds).any()
    doubles = below_float32(np.array([0.1, 0.3]))  # no float32: nothing lies between them and the next one
    assert (doubles.astype(np.float32) < [0.1, 0.3]).all()


@pytest.mark.slow
@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("max_features", [None, "sqrt"])
def test_the_same_seed_gives_the_same_pool_on_one_thread_and_two(classes: int, max_features) -> None:
    X, y = data(10, n=2000, classes=classes)
    tree = DecisionTreeClassifier(max_depth=5, max_features=max_features)
    one, two = (boosted(estimator=tree, pricing=BinnedPricing(n_jobs=jobs)).fit(X, y) for jobs in (1, 2))
    assert one.rules_ == two.rules_
    assert one.history_["added"].tolist() == two.history_["added"].tolist()


def test_a_tree_on_some_features_a_split_differs_from_call_to_call() -> None:
    X, y = data(4, n=2000, classes=2)
    samples, tree = training(X, y), DecisionTreeClassifier(max_depth=4, max_features=2)
    ones = Duals(np.ones(len(y)), np.ones(len(y)))
    features = {BinnedPricing()(samples, ones, tree, seed).trees[0].feature.tobytes() for seed in range(5)}
    assert len(features) > 1


@pytest.mark.parametrize("classes", [2, 3])
def test_several_trees_per_call_are_those_of_their_seeds(classes: int) -> None:
    X, y = data(classes=classes)
    samples, weight = training(X, y), np.ones(len(y))
    tree = DecisionTreeClassifier(max_depth=3, max_features=2)

    several = BinnedPricing(n_estimators=3)(samples, Duals(weight, weight), tree, 7)

    assert len(several.trees) == 3 and not np.array_equal(several.trees[0].threshold, several.trees[1].threshold)
    for number, (grown, route) in enumerate(zip(several.trees, several.routes, strict=True)):
        alone = BinnedPricing()(samples, Duals(weight, weight), tree, 7 + number)
        assert np.array_equal(grown.threshold, alone.trees[0].threshold)
        assert np.array_equal(route(samples.X), grown.apply(X))


def test_several_trees_per_call_propose_more_rules() -> None:
    X, y = data(n=1000, classes=2)
    tree = DecisionTreeClassifier(max_depth=4, max_features="sqrt")

    several = boosted(estimator=tree, pricing=BinnedPricing(n_estimators=5), max_rmp_calls=3).fit(X, y)
    single = boosted(estimator=tree, max_rmp_calls=3).fit(X, y)

    assert several.n_rmp_calls_ == single.n_rmp_calls_ == 3
    assert several.history_["added"].sum() > single.history_["added"].sum()
    with pytest.raises(ValueError, match="n_estimators is 0; at least one tree"):
        BinnedPricing(n_estimators=0)


def test_leaves_of_many_trees_are_not_looked_for_again(monkeypatch) -> None:
    X, y = data(n=1000, classes=2)
    tree = DecisionTreeClassifier(max_depth=4, max_features="sqrt")
    looked_for = []
    apply = Tree.apply
    monkeypatch.setattr(Tree, "apply", lambda tree, rows: looked_for.append(len(rows)) or apply(tree, rows))

    several = boosted(estimator=tree, pricing=BinnedPricing(n_estimators=12), max_rmp_calls=3).fit(X, y)

    assert several.n_rmp_calls_ == 3 and not looked_for


def test_weights_count_as_repeated_rows_and_their_scale_does_not_count() -> None:
    X, y = data(9, classes=2)
    X = np.round(X * 4)
    weight = np.random.default_rng(0).integers(1, 4, len(y))
    tree = DecisionTreeClassifier(max_depth=3)
    weighted = boosted(estimator=tree, max_rmp_calls=0).fit(X, y, sample_weight=weight)
    repeated = boosted(estimator=tree, max_rmp_calls=0).fit(np.repeat(X, weight, axis=0), np.repeat(y, weight))
    tiny = boosted(estimator=tree, max_rmp_calls=0).fit(X, y, sample_weight=weight * 1e-9)
    np.testing.assert_array_equal(weighted.predict(X), repeated.predict(X))
    np.testing.assert_array_equal(weighted.predict(X), tiny.predict(X))
    np.testing.assert_allclose(weighted.rules_.evidence.sums, repeated.rules_.evidence.sums)


@pytest.mark.slow
def test_the_first_tree_predicts_like_stage_0() -> None:
    for classes in (2, 3):
        X, y = data(2, classes=classes)
        labels = np.array(["a", "b", "c"])[y]
        model = boosted().fit(X, labels)
        assert isinstance(model.initial_estimator_, GrownTree)
        assert model.initial_estimator_.get_n_leaves() == len(model._stages[0][0])
        stages, shares = list(model.staged_predict(X)), list(model.staged_predict_proba(X))
        np.testing.assert_array_equal(stages[0], model.initial_estimator_.predict(X))
        np.testing.assert_allclose(shares[0], model.initial_estimator_.predict_proba(X))
        again = pickle.loads(pickle.dumps(model))
        np.testing.assert_array_equal(again.predict(X), model.predict(X))
        assert again.initial_estimator_.score(X, labels) == model.initial_estimator_.score(X, labels) > 0.6
        assert model.fidelity(X) > 0.7


def test_limits_of_the_tree_are_heeded() -> None:
    X, y = data(5, n=1000, classes=2)
    few = boosted(estimator=DecisionTreeClassifier(max_leaf_nodes=5), max_rmp_calls=0).fit(X, y)
    assert len(few.rules_) == 5
    large = boosted(estimator=DecisionTreeClassifier(min_samples_leaf=50), max_rmp_calls=0).fit(X, y)
    assert large.rules_.evidence.sums.sum(axis=1).min() >= 50
    share = boosted(estimator=DecisionTreeClassifier(min_samples_leaf=0.2), max_rmp_calls=0).fit(X, y)
    assert share.rules_.evidence.sums.sum(axis=1).min() >= 200
    deep = boosted(estimator=DecisionTreeClassifier(max_depth=None), max_rmp_calls=0).fit(X, y)
    assert deep.score(X, y) > 0.99


def test_it_stops_early_on_rows_with_missing_values_too() -> None:
    X, y = data(6, n=600, classes=2)
    X[::7, 2] = np.nan
    model = boosted(early_stopping=3, max_rmp_calls=40).fit(X, y)
    assert model.n_rmp_calls_ < 40 and model.score(X, y) > 0.7


@pytest.mark.slow
def test_bins_are_made_once_a_fit_and_let_go_after_it(monkeypatch) -> None:
    made = []
    monkeypatch.setattr(
        xgboost,
        "QuantileDMatrix",
        lambda *a, _make=xgboost.QuantileDMatrix, **k: made.append(_make(*a, **k)) or made[-1],
    )
    X, y = data(7)
    model = boosted().fit(X, y)
    assert model.n_rmp_calls_ > 1 and len(made) == 1
    gc.collect()
    assert len(binned._BINS) == 0


def test_what_it_cannot_take_is_said() -> None:
    X, y = load_iris(return_X_y=True)
    with pytest.raises(MismatchedDataError, match=r"does not support sparse X; give X.toarray\(\)"):
        boosted().fit(scipy.sparse.csr_matrix(X), y)
    with pytest.raises(MismatchedDataError, match="too large for float32"):
        boosted().fit(X * 1e300, y)
    with pytest.raises(ValueError, match="5 features, but the tree was grown on 4"):
        boosted(max_rmp_calls=1).fit(X, y).initial_estimator_.predict(np.zeros((1, 5)))


@pytest.mark.parametrize("setting", [{"max_depth": 0}, {"max_features": "all"}])
def test_trees_out_of_range_are_named_with_the_value(setting) -> None:
    X, y = load_iris(return_X_y=True)
    with pytest.raises(ValueError, match=f"{next(iter(setting))} of the tree is"):
        boosted(estimator=DecisionTreeClassifier(**setting)).fit(X, y)


def test_a_missing_library_is_named_with_the_way_to_get_it(monkeypatch) -> None:
    monkeypatch.setitem(sys.modules, "xgboost", None)
    X, y = load_iris(return_X_y=True)
    with pytest.raises(ImportError, match=r"pip install 'rulecover\[binned\]'"):
        boosted().fit(X, y)


def test_an_old_xgboost_is_refused_with_the_way_out(monkeypatch) -> None:
    monkeypatch.setattr(xgboost, "__version__", "2.1.4")
    with pytest.raises(
        ImportError, match=r"3\.1 or later, but 2\.1\.4 is installed: pip install 'rulecover\[binned\]'"
    ):
        boosted().fit(*data())
