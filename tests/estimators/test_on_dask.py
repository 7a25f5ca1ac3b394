"""Estimators on Dask arrays and frames: the rules, votes and predictions of the same rows in memory."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import dask.array as da
import dask.dataframe as dd
import distributed
import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier, RandomForestRegressor
from sklearn.frozen import FrozenEstimator
from sklearn.tree import DecisionTreeClassifier

from rulecover import (
    MIRCOClassifier,
    MIRCORegressor,
    RCBoostClassifier,
    RCBoostRegressor,
    RulePathClassifier,
    RulePathRegressor,
    explain,
    open_table,
)
from rulecover.exceptions import CutShortWarning, MismatchedDataError
from rulecover.partitions.dask import Shard
from rulecover.rcboost.pricing.binned import BinnedPricing

N = 600


@pytest.fixture(scope="module", autouse=True)
def client() -> Iterator[Any]:
    """Two workers in this process; those of their own are killed elsewhere."""
    with (
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, processes=False, dashboard_address=":0") as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client


@pytest.fixture(scope="module")
def data() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    random = np.random.default_rng(0)
    X = random.normal(size=(N, 4))
    y = np.array(["no", "yes", "maybe"])[(X[:, 0] * X[:, 1] > 0).astype(int) + (X[:, 2] > 1)]
    return X, y, random.integers(0, 4, N).astype(float)


@pytest.fixture(scope="module")
def forest(data) -> RandomForestClassifier:
    return RandomForestClassifier(10, max_depth=5, random_state=0).fit(*data[:2])


def assert_same(ours: Any, theirs: Any) -> None:
    assert str(ours.rules_) == str(theirs.rules_)
    np.testing.assert_array_equal(ours.vote_.votes, theirs.vote_.votes)
    assert ours.certificate_.n_uncovered == theirs.certificate_.n_uncovered
    assert ours.provenance_.data == theirs.provenance_.data
    assert ours.n_candidate_rules_ == theirs.n_candidate_rules_


@pytest.mark.slow
@pytest.mark.parametrize(
    ("make", "n_partitions"), [*((MIRCOClassifier, n) for n in (1, 2, 64)), (MIRCOClassifier.as_in_paper, 7)]
)
def test_rules_are_those_of_one_process_for_any_partitioning(data, forest, make, n_partitions):
    X, y, _ = data
    lengths = (*np.diff(np.linspace(0, N, n_partitions + 1).astype(int)).tolist(), 0, 0)
    rows = da.from_array(X, chunks=(lengths, 2)), da.from_array(y, chunks=N // 3)
    model = FrozenEstimator(forest)
    assert_same(make(model).fit(*rows), make(model).fit(X, y))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("weights", "settings"),
    [
        ("none", {"class_weight": "balanced"}),
        ("any", {"class_weight": {"yes": 3.0, "no": 0.5}}),
    ],
)
def test_weights_count_as_in_one_process(data, forest, settings, weights):
    X, y, whole = data
    weight = {"none": None, "whole": whole, "any": whole * np.pi + np.linspace(0, 1, N)}[weights]
    mine = None if weight is None else da.from_array(weight, chunks=100)
    ours, theirs = (MIRCOClassifier(FrozenEstimator(forest), **settings) for _ in range(2))
    ours.fit(da.from_array(X, chunks=(250, 4)), da.from_array(y, chunks=100), mine)
    assert_same(ours, theirs.fit(X, y, weight))


@pytest.mark.slow
@pytest.mark.parametrize(
    "model",
    [
        MIRCOClassifier(),
        MIRCOClassifier.as_in_paper(),
        RulePathClassifier(choose="last", max_rules=5),
        RulePathClassifier(choose="last", max_rules=5, gain="squares"),
    ],
    ids=["cover", "as in the paper", "path", "path by least squares"],
)
def test_each_worker_sends_one_vector_of_sums_however_many_parts_it_has(data, forest, model, monkeypatch):
    X, y, _ = data
    monkeypatch.setattr("rulecover.estimators.on_dask._ROWS_OF_PART", 50)
    sent: dict[str, list[Any]] = {}
    run = Shard.run

    def recorded(shard: Shard, calls: Any, add: Any = None) -> Any:
        sent[calls[-1].method] = run(shard, calls, add)
        return sent[calls[-1].method]

    monkeypatch.setattr(Shard, "run", recorded)
    model = clone(model).set_params(estimator=FrozenEstimator(forest))
    rows = da.from_array(X, chunks=(30, 4)), da.from_array(y, chunks=30)
    assert str(model.fit(*rows).rules_) == str(clone(model).fit(X, y).rules_)
    several = {method: results for method, results in sent.items() if len(results) > 1}
    assert max(np.size(each) for results in several.values() for each in results) <= 6
    assert {"leaf_sums", "seen"} <= set(sent) - set(several)


@pytest.mark.slow
def test_limits_and_demands_are_those_of_one_process(data, forest):
    X, y, _ = data
    rows = da.from_array(X, chunks=(250, 4)), da.from_array(y, chunks=250)
    for settings in ({"max_rules": 3}, {"demand": 2, "prune": False}, {"demand": {"yes": 2}, "vote": "fitted"}):
        assert_same(*(MIRCOClassifier(FrozenEstimator(forest), **settings).fit(*each) for each in (rows, (X, y))))


@pytest.mark.slow
def test_the_fingerprint_of_boosted_rules_is_that_of_the_columns_that_are_left():
    X = np.random.default_rng(6).normal(size=(300, 15))
    y = (X[:, 0] > 0).astype(int)
    tree = DecisionTreeClassifier(max_depth=2, max_features="sqrt")
    ours, theirs = (
        RCBoostClassifier(tree, pricing="binned", max_rmp_calls=4, rule_weights="z", random_state=6) for _ in range(2)
    )
    ours.fit(da.from_array(X, chunks=(100, 15)), da.from_array(y, chunks=100))
    theirs.fit(X, y)
    assert set(ours.rules_.clauses.columns) < set(ours.pool_.clauses.columns)
    assert ours.provenance_.data == theirs.provenance_.data


@pytest.mark.slow
@pytest.mark.parametrize(
    ("weights", "settings"),
    [("whole", {"vote": "log-odds"}), ("none", {"class_weight": "balanced", "rule_weights": "z"})],
)
def test_boosting_generates_the_rules_of_one_process(data, weights, settings):
    X, y, whole = data
    weight = whole if weights == "whole" else None
    mine = None if weight is None else da.from_array(weight, chunks=100)
    tree = DecisionTreeClassifier(max_depth=3, max_features="sqrt")
    ours, theirs = (
        RCBoostClassifier(tree, pricing="binned", max_rmp_calls=4, random_state=1, **settings) for _ in range(2)
    )
    ours.fit(da.from_array(X, chunks=((200, 0, 150, 250), 4)), da.from_array(y, chunks=N), mine)
    theirs.fit(X, y, weight)
    assert str(ours.pool_) == str(theirs.pool_)
    assert str(ours.rules_) == str(theirs.rules_)
    np.testing.assert_allclose(ours.vote_.votes, theirs.vote_.votes, rtol=1e-6)
    np.testing.assert_array_equal(ours.z_, theirs.z_)
    assert ours.certificate_.objective == theirs.certificate_.objective
    assert ours.provenance_.data == theirs.provenance_.data
    np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))


@pytest.mark.slow
@pytest.mark.parametrize(("weighted", "n_classes"), [(False, 2), (True, 2), (False, 3)])
def test_paths_are_those_of_one_process(data, weighted, n_classes):
    X, y, whole = data
    label, weight = y if n_classes == 3 else np.where(y == "yes", "yes", "no"), whole if weighted else None
    forest = RandomForestClassifier(10, max_depth=4, random_state=0).fit(X, label)
    rows = da.from_array(X, chunks=((200, 0, 150, 250), 4)), da.from_array(label, chunks=N)
    mine = None if weight is None else da.from_array(weight, chunks=100)
    settings = {"max_rules": 6, "choose": "last", "sample_weight": None}
    ours = explain(forest, *rows, **{**settings, "sample_weight": mine})
    theirs = explain(forest, X, label, **{**settings, "sample_weight": weight})
    assert str(ours.rules_) == str(theirs.rules_)
    np.testing.assert_allclose(ours.vote_.votes, theirs.vote_.votes, rtol=1e-9)
    assert ours.provenance_.data == theirs.provenance_.data
    assert ours.n_candidate_rules_ == theirs.n_candidate_rules_


@pytest.mark.slow
@pytest.mark.parametrize("weights", ["none", "whole", "any"])
def test_numbers_are_explained_as_in_one_process(data, weights):
    X, _, whole = data
    y = X[:, 0] * X[:, 1] + np.abs(X[:, 2]) + 100.0
    weight = {"none": None, "whole": whole, "any": whole * np.pi}[weights]
    model = FrozenEstimator(RandomForestRegressor(8, max_depth=4, random_state=0).fit(X, y))
    chunks = (200, 0, 150, 250)
    rows = da.from_array(X, chunks=(chunks, 4)), da.from_array(y, chunks=N)
    mine = None if weight is None else da.from_array(weight, chunks=100)
    for make in (
        lambda: MIRCORegressor.as_in_paper(model),
        lambda: RulePathRegressor(model, max_rules=5, choose="last"),
        lambda: RCBoostRegressor(pricing="binned", max_rmp_calls=2, random_state=1),
    ):
        ours, theirs = make().fit(*rows, mine), make().fit(X, y, weight)
        assert str(ours.rules_) == str(theirs.rules_)
        assert ours.provenance_.data == theirs.provenance_.data
        np.testing.assert_allclose(ours.predict(rows[0]).compute(), theirs.predict(X), rtol=1e-12)


@pytest.mark.slow
def test_a_model_is_trained_on_all_rows_where_they_are_few(data):
    X, y, _ = data
    rows = da.from_array(X, chunks=(250, 4)), da.from_array(y, chunks=250)
    forest = RandomForestClassifier(5, max_depth=4)
    assert_same(*(MIRCOClassifier(forest, random_state=3).fit(*each) for each in (rows, (X, y))))


@pytest.mark.slow
def test_frames_with_categories_and_gaps(data):
    X, y, _ = data
    table = pd.DataFrame(X, columns=list("abcd"))
    table["e"] = pd.Categorical(np.where(X[:, 3] > 0, "up", np.where(X[:, 3] > -1, "mid", "down")))
    table.loc[::7, "a"] = np.nan
    model = HistGradientBoostingClassifier(max_iter=5, categorical_features="from_dtype", max_depth=3).fit(table, y)
    frame = dd.from_pandas(table.assign(y=y), npartitions=3)
    ours, theirs = explain(model, frame, "y", method="cover"), explain(model, table, y, method="cover")
    assert_same(ours, theirs)
    np.testing.assert_array_equal(ours.predict(frame.drop(columns="y")).compute(), theirs.predict(table))
    np.testing.assert_array_equal(ours.predict_proba(frame.drop(columns="y")).compute(), theirs.predict_proba(table))


@pytest.mark.slow
@pytest.mark.parametrize(
    "model",
    [
        MIRCOClassifier(random_state=0),
        RulePathClassifier(choose="last", max_rules=4, random_state=0),
        RCBoostClassifier(pricing="binned", max_rmp_calls=2, vote="log-odds", random_state=0),
    ],
    ids=lambda model: type(model).__name__,
)
def test_a_time_limit_that_is_not_reached_changes_nothing(data, model):
    X, y, _ = data
    rows = da.from_array(X, chunks=((200, 0, 150, 250), 4)), da.from_array(y, chunks=N)
    model.set_params(estimator=DecisionTreeClassifier(max_depth=4, random_state=0))
    free, limited = (clone(model).set_params(time_limit=limit).fit(*rows) for limit in (None, 10_000))
    assert limited.rules_ == free.rules_
    np.testing.assert_array_equal(limited.vote_.votes, free.vote_.votes)


def test_a_cover_that_is_late_is_that_of_the_same_table(data, forest):
    X, y, _ = data
    frame = pd.DataFrame(X, columns=list("abcd"))
    late = MIRCOClassifier(FrozenEstimator(forest), time_limit=1e-6)
    tables = open_table([frame.assign(y=y)], target="y"), dd.from_pandas(frame.assign(y=y), npartitions=3)
    with pytest.warns(CutShortWarning, match=r"1 of 10 trees were read and 0 of \d+ rules were pruned"):
        one, other = clone(late).fit(tables[0]), clone(late).fit(tables[1], "y")
    assert_same(other, one)
    assert other.certificate_.status == "time limit" and other.rules_.apply(X).sum(axis=1).min() >= 1


def test_a_path_that_is_late_has_one_rule(data, forest):
    X, y, _ = data
    rows = da.from_array(X, chunks=(250, 4)), da.from_array(y, chunks=250)
    with pytest.warns(CutShortWarning, match="1 of 10 trees were read and rules were chosen by the labels alone"):
        path = RulePathClassifier(FrozenEstimator(forest), max_rules=4, time_limit=1e-6).fit(*rows)
    assert path.n_rules_ == 1


@pytest.mark.parametrize("kind", [RCBoostClassifier, RCBoostRegressor])
def test_the_first_tree_of_a_boosting_that_is_late_is_one_of_a_sample(kind):
    X = np.random.default_rng(1).normal(size=(3000, 4))
    y = X[:, 0] * X[:, 1] if kind is RCBoostRegressor else X[:, 0] * X[:, 1] > 0
    rows = da.from_array(X, chunks=(700, 4)), da.from_array(y, chunks=700)
    with pytest.warns(CutShortWarning, match=r"the model was trained on 1,000 of 3,000 rows; give more time") as caught:
        model = kind(pricing="binned", max_rmp_calls=4, time_limit=1e-6, random_state=0).fit(*rows)
    assert any("0 of up to 4 calls were made" in str(each.message) for each in caught)
    assert model.certificate_.status == "time limit" and model.n_rmp_calls_ == 0
    assert model.rules_.apply(X).sum(axis=1).min() == model.rules_.apply(X).sum(axis=1).max() == 1
    assert model.rules_.evidence.support.sum() == 3000


def test_predictions_are_dask_arrays_in_the_chunks_of_x(data, forest):
    X, y, _ = data
    cover = MIRCOClassifier(FrozenEstimator(forest)).fit(X, y)
    rows = da.from_array(X, chunks=((0, 400, 200), 2))
    predicted, shares = cover.predict(rows), cover.predict_proba(rows)
    assert predicted.chunks == ((400, 200),) and shares.chunks == ((400, 200), (3,))
    np.testing.assert_array_equal(predicted.compute(), cover.predict(X))
    np.testing.assert_array_equal(shares.compute(), cover.predict_proba(X))
    assert cover.score(rows, y) == cover.score(X, y)


def test_what_needs_all_rows_in_one_place_is_refused(data, forest):
    X, y, _ = data
    rows = da.from_array(X, chunks=(250, 4)), da.from_array(y, chunks=250)
    with pytest.raises(ValueError, match="solver is 'exact', which needs all rows in memory"):
        MIRCOClassifier(FrozenEstimator(forest), solver="exact").fit(*rows)
    for settings, message in (
        ({}, "pricing is ForestPricing, which needs all rows in one place; choose pricing='binned'"),
        ({"pricing": BinnedPricing(n_estimators=5)}, "n_estimators of BinnedPricing is 5, but rows in many places"),
        ({"pricing": "binned", "early_stopping": True}, "early_stopping is True, which needs all rows in one place"),
    ):
        with pytest.raises(MismatchedDataError, match=message):
            RCBoostClassifier(**settings).fit(*rows)


def test_labels_that_the_model_never_saw_are_one_clear_error(data, forest):
    X, y, _ = data
    other = np.where(np.arange(N) == 500, "never", y.astype(object))
    with pytest.raises(MismatchedDataError, match=r"labels that the model never saw: \['never'\]"):
        MIRCOClassifier(FrozenEstimator(forest)).fit(
            da.from_array(X, chunks=(250, 4)), da.from_array(other, chunks=250)
        )
