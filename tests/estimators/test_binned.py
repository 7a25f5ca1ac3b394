"""Trees on binned columns: where columns are cut, and rules that say what the model itself says."""

from __future__ import annotations

import math
import pickle
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor
from sklearn.utils.estimator_checks import parametrize_with_checks
from sklearn_models import all_leaf_rules
from strategies import DIGITS_OR_MISSING, DataSet, data_sets

from rulecover import MIRCOClassifier, RulePathClassifier, RulePathRegressor, read_trees
from rulecover.estimators.binned import BinnedTrees, round_bins
from rulecover.export import from_json, to_json

#: Values that recur, others that lie close to each other, and missing ones.
CELLS = (
    DIGITS_OR_MISSING | st.floats(-1.0, 1.0).map(lambda x: x / 3) | st.integers(-4, 4).map(lambda k: 1e6 + k * 2e-10)
)


def on_and_next_to_cuts(trees: BinnedTrees, X: np.ndarray) -> np.ndarray:
    """The rows, each column in turn with every value at which it is cut, the doubles next to it, NaN and far values."""
    rows = [X]
    for f, cuts in enumerate(trees.bins_.cuts):
        beside = np.concatenate([cuts, np.nextafter(cuts, -math.inf), np.nextafter(cuts, math.inf)])
        for value in [*beside.tolist(), math.nan, -1e300, 1e300]:
            probe = X[:3].copy()
            probe[:, f] = value
            rows.append(probe)
    return np.vstack(rows)


# Rules ----------------------------------------------------------------------------------------------------------------


@pytest.mark.slow
@settings(max_examples=60)
@given(data_sets(n_classes=3, cells=CELLS, max_rows=25), st.integers(2, 8), st.booleans())
def test_every_row_is_covered_by_the_rule_of_its_own_leaf(data: DataSet, n_bins: int, weighted: bool) -> None:
    forest = RandomForestClassifier(3, random_state=0)
    trees = BinnedTrees(forest, n_bins).fit(data.X, data.y, data.weight if weighted else None)
    rows = on_and_next_to_cuts(trees, data.X)

    rules, tree, node = all_leaf_rules(read_trees(trees))

    leaves = trees.estimator_.apply(trees.binned(rows))
    assert (rules.apply(rows).toarray() == (leaves[:, tree] == node)).all()
    bounds = np.concatenate([rules.clauses.lower, rules.clauses.upper])
    assert set(bounds[np.isfinite(bounds)]) <= set(np.concatenate(trees.bins_.cuts))


@given(data_sets(n_classes=2, cells=CELLS, min_rows=4), st.integers(2, 6))
def test_the_rows_of_a_bin_are_one_to_the_model(data: DataSet, n_bins: int) -> None:
    trees = BinnedTrees(DecisionTreeClassifier(random_state=0), n_bins).fit(data.X, data.y)
    rows = on_and_next_to_cuts(trees, data.X)

    numbers = trees.binned(rows)

    slow = [[sum(x > cut for cut in trees.bins_.cuts[f]) for f, x in enumerate(row)] for row in rows]
    assert (np.isnan(numbers) == np.isnan(rows)).all()
    assert (np.where(np.isnan(rows), 0, numbers) == np.where(np.isnan(rows), 0, slow)).all()
    assert (trees.predict_proba(rows) == trees.estimator_.predict_proba(numbers)).all()


@pytest.mark.slow
def test_bounds_are_printed_as_they_are() -> None:
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    path = RulePathClassifier(n_bins=10, choose="last", max_rules=30, random_state=0).fit(X, y)

    assert path.rules_.shown is not None
    assert (path.rules_.shown.lower == path.rules_.clauses.lower).all()
    assert (path.rules_.shown.upper == path.rules_.clauses.upper).all()
    assert from_json(to_json(path)).rules == path.rules_


# Cuts -----------------------------------------------------------------------------------------------------------------


@given(data_sets(cells=CELLS), st.integers(2, 8))
def test_columns_are_cut_at_numbers_that_leave_rows_on_both_sides(data: DataSet, n_bins: int) -> None:
    for column, cuts in zip(data.X.T, round_bins(data.X, n_bins, None).cuts, strict=True):
        assert len(cuts) < n_bins
        assert (np.diff(cuts) > 0).all()
        assert all((column <= cut).any() and (column > cut).any() for cut in cuts)


@given(data_sets(cells=CELLS), st.integers(2, 8), st.data())
def test_weights_are_repeated_rows_and_rows_of_weight_zero_are_not_there(
    data: DataSet, n_bins: int, drawn: st.DataObject
) -> None:
    extra = np.array(drawn.draw(st.lists(st.tuples(*[CELLS] * 3), max_size=5))).reshape(-1, 3)
    X, weight = np.vstack([data.X, extra]), np.concatenate([data.weight, np.zeros(len(extra))])

    weighted = round_bins(X, n_bins, weight).cuts

    repeated = round_bins(np.repeat(data.X, data.weight.astype(int), axis=0), n_bins, None).cuts
    assert [cuts.tolist() for cuts in weighted] == [cuts.tolist() for cuts in repeated]


@pytest.mark.parametrize(
    "column", [np.full(20, 7.0), np.full(20, np.nan), np.r_[np.full(10, np.nan), np.full(10, -1.0)]]
)
def test_a_column_of_one_value_is_not_cut(column: np.ndarray) -> None:
    X = np.column_stack([column, np.arange(20.0)])
    trees = BinnedTrees(DecisionTreeClassifier(), 4).fit(X, np.arange(20) > 9)

    assert trees.bins_.cuts[0].tolist() == []
    assert trees.score(X, np.arange(20) > 9) > 0.9


def test_few_values_are_all_told_apart() -> None:
    values = np.array([-3.0, 0.125, 0.5, 2.0])
    (cuts,) = round_bins(np.repeat(values, [1, 50, 2, 1])[:, None], 4, None).cuts

    assert np.searchsorted(cuts, values).tolist() == [0, 1, 2, 3]
    assert cuts.tolist() == [0.0, 0.2, 1.0]


@pytest.mark.parametrize("n_bins", [2, 10, 20])
def test_bins_are_about_equal_and_their_ends_round(n_bins: int) -> None:
    column = np.random.default_rng(0).normal(5000.0, 1000.0, 2000)
    (cuts,) = round_bins(column[:, None], n_bins, None).cuts

    share = np.searchsorted(np.sort(column), cuts) / len(column) * n_bins
    assert len(cuts) == n_bins - 1
    assert (np.abs(share - np.arange(1, n_bins)) <= 0.51).all()
    assert (cuts % (100.0 if n_bins <= 10 else 10.0) == 0).all()


# Paths ----------------------------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("pool", [None, "forest", "boosted", "both"])
@pytest.mark.parametrize(
    ("kind", "load"),
    [(RulePathClassifier, load_breast_cancer), (RulePathClassifier, load_iris), (RulePathRegressor, load_diabetes)],
)
def test_the_rules_of_a_path_have_the_cuts_of_its_pool_as_bounds(kind: type, load: Any, pool: str | None) -> None:
    X, y = load(return_X_y=True)
    path = kind(pool=pool, n_bins=6, max_rules=8, choose="last", random_state=0).fit(X, y)

    clauses, cuts = path.rules_.clauses, path.estimator_.bins_.cuts
    assert len(path.rules_) == 8
    for f, bounds in zip(clauses.feature, np.column_stack([clauses.lower, clauses.upper]), strict=True):
        assert set(bounds[np.isfinite(bounds)]) <= set(cuts[f])
    plain = kind(pool=pool, max_rules=8, choose="last", random_state=0).fit(X, y)
    assert path.score(X, y) > plain.score(X, y) - 0.1


@pytest.mark.slow
def test_rules_lie_at_most_three_splits_deep_unless_asked_for() -> None:
    X, y = load_breast_cancer(return_X_y=True)

    def longest(**how: Any) -> int:
        path = RulePathClassifier(choose="last", tries=0, random_state=0, **how).fit(X, y)
        assert path.rules_.paths is not None
        return int(np.diff(path.rules_.paths.offset).max())

    assert longest(n_bins=10) == 3
    assert longest(n_bins=10, max_depth=5) == 5
    assert longest() == 4


@pytest.mark.slow
def test_numbers_far_from_zero_are_predicted_as_those_close_to_it() -> None:
    X, y = load_diabetes(return_X_y=True)
    near, far = (
        RulePathRegressor(n_bins=8, max_rules=10, choose="last", random_state=0).fit(X, each) for each in (y, y + 1e9)
    )

    assert far.rules_.to_text() == near.rules_.to_text()
    assert far.predict(X) - 1e9 == pytest.approx(near.predict(X), abs=1.0)  # sums of squares are rounded differently


@pytest.mark.slow
def test_frames_and_sparse_rows_are_cut_as_arrays_and_missing_values_have_a_side() -> None:
    X, y = load_iris(return_X_y=True)
    X[::7, 2] = np.nan
    frame = pd.DataFrame(X, columns=["a", "b", "c", "d"])
    path = RulePathClassifier(n_bins=5, max_rules=5, choose="last", random_state=0)
    of_array, of_frame = clone(path).fit(X, y), clone(path).fit(frame, y)

    assert (of_array.predict_proba(X) == of_frame.predict_proba(frame)).all()
    assert (of_frame.predict(frame[["d", "c", "b", "a"]]) == of_array.predict(X)).all()
    assert of_frame.rules_.feature_names == ("a", "b", "c", "d")
    whole = np.where(np.isnan(X), 0.0, X)
    of_sparse = clone(path).fit(scipy.sparse.csr_array(whole), y)
    assert of_sparse.rules_.to_text() == clone(path).fit(whole, y).rules_.to_text()


@pytest.mark.slow
def test_forbidden_columns_are_not_used_and_a_path_survives_pickle() -> None:
    X, y = load_iris(return_X_y=True)
    path = RulePathClassifier(n_bins=5, max_rules=5, choose="last", forbidden=[2], random_state=0).fit(X, y)

    again = pickle.loads(pickle.dumps(path))

    assert 2 not in path.rules_.clauses.columns
    assert path.estimator_.bins_.cuts[2].tolist() == []
    assert (again.predict_proba(X) == path.predict_proba(X)).all()
    assert again.fidelity(X) == path.fidelity(X)


@pytest.mark.parametrize(
    ("how", "error", "message"),
    [
        ({"n_bins": 1}, ValueError, "n_bins is 1; it must be at least 2"),
        ({"n_bins": 2.5}, TypeError, "n_bins is 2.5; it must be a whole number"),
        ({"n_bins": 5, "estimator": RandomForestClassifier()}, ValueError, "n_bins is 5, but an estimator is given"),
    ],
)
def test_wrong_numbers_of_bins_are_named(how: dict[str, Any], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        RulePathClassifier(**how).fit(*load_iris(return_X_y=True))


# As an estimator ------------------------------------------------------------------------------------------------------


def test_any_method_takes_trees_on_binned_columns() -> None:
    X, y = load_iris(return_X_y=True)
    cover = MIRCOClassifier(BinnedTrees(RandomForestClassifier(10, random_state=0), 5)).fit(X, y)

    bounds = np.concatenate([cover.rules_.clauses.lower, cover.rules_.clauses.upper])
    assert set(bounds[np.isfinite(bounds)]) <= set(np.concatenate(cover.estimator_.bins_.cuts))
    assert cover.score(X, y) > 0.9
    assert not cover.missed(X).any()


def test_it_is_what_the_model_inside_is() -> None:
    classes, numbers = BinnedTrees(DecisionTreeClassifier()), BinnedTrees(RandomForestRegressor())

    assert is_classifier(classes) and hasattr(classes, "predict_proba")
    assert is_regressor(numbers) and not hasattr(numbers, "predict_proba")


@pytest.mark.slow
@parametrize_with_checks(
    [BinnedTrees(tree(random_state=0)) for tree in (DecisionTreeClassifier, DecisionTreeRegressor)]
)
def test_the_checks_of_scikit_learn_pass(estimator: Any, check: Any) -> None:
    check(estimator)


def test_boosted_trees_on_bins_take_a_frame_of_categories() -> None:
    colours = pd.Series(["red", "green", "red", "blue"] * 10, dtype="category")
    X = pd.DataFrame({"colour": colours, "size": np.arange(40.0)})

    path = RulePathClassifier(pool="boosted", n_bins=4, max_rules=3, random_state=0).fit(X, colours == "red")

    assert path.score(X, colours == "red") == 1.0 and "colour" in str(path.rules_)
