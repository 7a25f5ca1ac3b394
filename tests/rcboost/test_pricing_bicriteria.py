"""Our own trees on binned columns, and splits that weigh impurity and negative reduced cost."""

from __future__ import annotations

import gc

import numpy as np
import pytest
import scipy.sparse
from sklearn.datasets import load_iris
from sklearn.tree import DecisionTreeClassifier

from rulecover import RCBoostClassifier
from rulecover.pool import leaf_pool
from rulecover.rcboost.pricing import bins as bins_module
from rulecover.rcboost.pricing.bicriteria import BicriteriaPricing, NonDominated, best_compromise
from rulecover.rcboost.pricing.bins import Bins, bins_of
from rulecover.rcboost.pricing.grower import GrowingSamples, Grown, Limits, Sums, grow
from rulecover.rcboost.pricing.oracles import Duals
from rulecover.targets.classes.impurity import Entropy, Gini
from rulecover.targets.classes.samples import ClassSamples
from rulecover.targets.impurity import Price


def random_data(seed: int, n: int = 120, d: int = 4, classes: int = 3, levels: int = 10**6) -> tuple[np.ndarray, ...]:
    """Columns of values that float32 holds, labels that depend on them a little, weights and duals."""
    rng = np.random.default_rng(seed)
    X = rng.integers(0, levels, size=(n, d)).astype(np.float32).astype(np.float64)
    y = np.argsort(np.argsort(X[:, 0] + X[:, 1] * rng.normal() + levels * rng.normal(size=n))) * classes // n
    weight = 1 + rng.exponential(size=n)
    dual = rng.exponential(size=n) * (rng.random(n) < 0.3) * 20 / n
    return X, y.astype(np.intp), weight, dual


def grown(seed: int, balance: float, **limits) -> tuple[Grown, tuple[np.ndarray, ...]]:
    X, y, weight, dual = random_data(seed)
    samples = GrowingSamples(y, 3, weight, None, dual)
    choose = NonDominated(balance, Price(Gini()))
    return grow(Bins.of(X, 255), samples, choose, Limits(**limits)), (X, y, weight, dual)


def partition(leaf: np.ndarray) -> set[frozenset[int]]:
    return {frozenset(np.flatnonzero(leaf == node).tolist()) for node in np.unique(leaf)}


def leaves_of(tree: DecisionTreeClassifier, X: np.ndarray, y: np.ndarray) -> np.ndarray:
    """The leaf of each row; rounding makes scikit-learn split nodes of one class, which are leaves here."""
    paths = tree.decision_path(X).toarray().astype(bool)
    pure = np.array([len(set(y[rows])) == 1 for rows in paths.T])
    first_pure = np.argmax(paths & pure, axis=1)
    return np.where((paths & pure).any(axis=1), first_pure, tree.apply(X))


def weighted_impurity(leaf: np.ndarray, y: np.ndarray, weight: np.ndarray) -> float:
    sums = np.array([np.bincount(y[leaf == node], weight[leaf == node], minlength=9) for node in np.unique(leaf)])
    return float((sums.sum(axis=1) * Gini()(sums)).sum())


@pytest.mark.slow
@pytest.mark.parametrize("classes", [2, 3, 6])
@pytest.mark.parametrize("depth", [1, 2, 3, 4])
@pytest.mark.parametrize("min_samples_leaf", [1, 7])
def test_by_impurity_alone_it_is_scikit_learns_tree(depth: int, classes: int, min_samples_leaf: int) -> None:
    for seed in range(15):
        X, y, weight, dual = random_data(seed, classes=classes)
        theirs = DecisionTreeClassifier(max_depth=depth, min_samples_leaf=min_samples_leaf, random_state=0)
        expected = leaves_of(theirs.fit(X, y, sample_weight=weight), X, y)
        limits = Limits(max_depth=depth, min_samples_leaf=min_samples_leaf)
        samples = GrowingSamples(y, classes, weight, None, dual)
        mine = grow(Bins.of(X, 255), samples, NonDominated(0.0, Price(Gini())), limits)
        assert partition(mine.leaf) == partition(expected)
        total = weighted_impurity(mine.leaf, y, weight)
        assert total == pytest.approx(weighted_impurity(expected, y, weight), abs=1e-9)


def test_entropy_trees_and_the_least_weight_of_a_leaf_are_scikit_learns_too() -> None:
    for seed in range(15):
        X, y, weight, dual = random_data(seed)
        theirs = DecisionTreeClassifier(
            criterion="entropy", max_depth=4, min_weight_fraction_leaf=0.1, min_samples_split=0.2, random_state=0
        ).fit(X, y, sample_weight=weight)
        choose = NonDominated(0.0, Price(Entropy()))
        samples = GrowingSamples(y, 3, weight, None, dual)
        mine = grow(Bins.of(X, 255), samples, choose, Limits.like(theirs, samples))
        assert partition(mine.leaf) == partition(leaves_of(theirs, X, y))


def test_limits_are_those_of_a_scikit_learn_tree_in_rows_and_in_weight() -> None:
    weight = np.array([1.0, 2.0, 3.0, 4.0, 5.0])
    samples = GrowingSamples(np.zeros(5, dtype=np.intp), 1, weight, None, np.zeros(5))
    repeated = GrowingSamples(np.zeros(5, dtype=np.intp), 1, weight, np.full(5, 2), np.zeros(5))
    tree = DecisionTreeClassifier(
        max_depth=7, min_samples_split=0.5, min_samples_leaf=0.3, min_weight_fraction_leaf=0.2
    )

    assert Limits.like(tree, samples) == Limits(7, 3, 2, 3.0)
    assert Limits.like(tree, repeated) == Limits(7, 5, 3, 3.0)
    assert Limits.like(tree.set_params(min_samples_split=6, min_samples_leaf=4), samples) == Limits(7, 6, 4, 3.0)
    assert Limits.like(object(), samples) == Limits()


@pytest.mark.slow
@pytest.mark.parametrize("balance", [0.0, 0.4, 1.0])
@pytest.mark.parametrize("max_depth", [0, 1, 5, None])
def test_leaves_split_the_samples_and_routes_are_those_of_the_tree(balance: float, max_depth: int | None) -> None:
    for seed in range(10):
        mine, (X, y, _, _) = grown(seed, balance, max_depth=max_depth, min_samples_leaf=1 + seed % 3)
        np.testing.assert_array_equal(mine.tree.apply(X), mine.leaf)
        assert set(mine.leaf) == set(mine.tree.leaves)
        sizes = np.bincount(mine.leaf, minlength=len(mine.tree.left))[mine.tree.leaves]
        assert sizes.sum() == len(y) and sizes.min() >= 1 + seed % 3
        if max_depth is None and seed % 3 == 0:
            assert all(len(set(y[list(leaf)])) == 1 for leaf in partition(mine.leaf))


def test_missing_values_are_sent_where_they_fit_best() -> None:
    for seed in range(20):
        X, y, weight, dual = random_data(seed, levels=12)
        X[np.random.default_rng(seed).random(X.shape) < 0.2] = np.nan
        samples = GrowingSamples(y, 3, weight, None, dual)
        mine = grow(Bins.of(X, 255), samples, NonDominated(0.0, Price(Gini())), Limits(max_depth=1))
        np.testing.assert_array_equal(mine.tree.apply(X), mine.leaf)
        theirs = DecisionTreeClassifier(max_depth=1).fit(X, y, sample_weight=weight).apply(X)
        assert weighted_impurity(mine.leaf, y, weight) <= weighted_impurity(theirs, y, weight) + 1e-9
        deep = grow(Bins.of(X, 255), samples, NonDominated(0.5, Price(Gini())), Limits(max_depth=6))
        np.testing.assert_array_equal(deep.tree.apply(X), deep.leaf)


def test_a_column_that_is_only_there_or_not_can_be_split() -> None:
    X = np.array([[7.0], [7.0], [np.nan], [np.nan]])
    samples = GrowingSamples(np.array([0, 0, 1, 1]), 2, np.ones(4), None, np.zeros(4))
    mine = grow(Bins.of(X, 255), samples, NonDominated(0.0, Price(Gini())), Limits())
    np.testing.assert_array_equal(mine.leaf, [1, 1, 2, 2])
    np.testing.assert_array_equal(mine.tree.apply(X), mine.leaf)


def test_missing_values_unseen_in_a_node_go_with_the_larger_side() -> None:
    X = np.arange(10.0)[:, None]
    samples = GrowingSamples((X[:, 0] > 6).astype(np.intp), 2, np.ones(10), None, np.zeros(10))
    mine = grow(Bins.of(X, 255), samples, NonDominated(0.0, Price(Gini())), Limits())
    assert mine.tree.apply(np.array([[np.nan]])) == 1 and mine.tree.threshold[0] == 6.5


def test_few_bins_hold_about_as_many_rows_each_and_thresholds_part_them() -> None:
    X = np.random.default_rng(0).normal(size=(1000, 3))
    X[:, 1] = np.round(X[:, 1])
    few = Bins.of(X, 16)
    assert few.codes.dtype == np.uint8 and few.n_bins == 16
    counts = np.bincount(few.codes[0])
    assert counts.min() > 50 and counts.max() < 75
    assert len(few.cuts[1]) == len(np.unique(X[:, 1])) - 1
    for f, cuts in enumerate(few.cuts):
        np.testing.assert_array_equal(few.codes[f], (X[:, [f]] > cuts).sum(axis=1))
        np.testing.assert_array_equal(few.threshold(np.array([f]), np.array([len(cuts)])), [np.inf])


def test_neighbouring_doubles_are_told_apart() -> None:
    low = 1.0 + np.finfo(float).eps
    X = np.array([[low], [np.nextafter(low, 2)], [1e308], [1.7e308]])
    np.testing.assert_array_equal(Bins.of(X, None).codes, [[0, 1, 2, 3]])


@pytest.mark.slow
def test_bins_are_made_once_and_forgotten_with_the_data() -> None:
    X, y, _, _ = random_data(0)
    data = ClassSamples(X, y, np.arange(3))
    assert bins_of(data, 16) is bins_of(data, 16) is not bins_of(data, 8)
    before = len(bins_module._KNOWN)
    del data
    gc.collect()
    assert len(bins_module._KNOWN) == before - 1


def test_sparse_columns_have_the_bins_of_dense_ones() -> None:
    X = np.random.default_rng(0).integers(0, 3, size=(50, 4)).astype(float)
    np.testing.assert_array_equal(Bins.of(scipy.sparse.csr_array(X), 255).codes, Bins.of(X, 255).codes)


class Recorder(NonDominated):
    """The chooser, which remembers what it was offered and took."""

    def __call__(self, left: Sums, right: Sums, allowed: np.ndarray) -> np.ndarray:
        chosen = super().__call__(left, right, allowed)
        self.__dict__.setdefault("seen", []).append((left, right, allowed, chosen))
        return chosen


@pytest.mark.parametrize("balance", [0.0, 0.2, 0.5, 0.9, 1.0])
def test_no_other_split_beats_the_chosen_one_in_both(balance: float) -> None:
    strict_choices = 0
    for seed in range(10):
        X, y, weight, dual = random_data(seed, n=40, d=3, levels=15)
        choose = NonDominated(balance, Price(Gini()))
        tree = grow(Bins.of(X, 255), GrowingSamples(y, 3, weight, None, dual), choose, Limits(max_depth=1)).tree
        mine = _naive_pair(X[:, tree.feature[0]] <= tree.threshold[0], y, weight, dual)
        splits = [X[:, f] <= t for f in range(3) for t in np.unique(X[:, f])[:-1]]
        points = [_naive_pair(split, y, weight, dual) for split in splits]
        assert any(np.allclose(mine, point, atol=1e-12) for point in points)
        for one, two in points:
            assert not (one > mine[0] + 1e-9 and two >= mine[1] - 1e-12)
            assert not (one >= mine[0] - 1e-12 and two > mine[1] + 1e-9)
        strict_choices += len({round(two, 9) for _, two in points}) > 1
    assert strict_choices > 5  # the reduced costs had a say


def _naive_pair(left, y, weight, dual) -> tuple[float, float]:
    impurity, negative = 0.0, 0.0
    for side in (left, ~left):
        shares = np.array([weight[side & (y == k)].sum() for k in range(3)]) / weight[side].sum()
        impurity += weight[side].sum() * (1 - (shares**2).sum())
        counts = np.bincount(y[side], minlength=3) / side.sum()
        negative += max(0.0, dual[side].sum() - 1 - (1 - (counts**2).sum()))
    return -impurity, negative


def test_the_splits_that_are_weighed_have_the_sums_of_their_rows() -> None:
    X, y, weight, dual = random_data(3, n=60, d=2, levels=9)
    count = np.random.default_rng(0).random(60) + 0.5
    choose = Recorder(0.5, Price(Gini()))
    grow(bins := Bins.of(X, 255), GrowingSamples(y, 3, weight, count, dual), choose, Limits(max_depth=1))
    left, right, allowed, _ = choose.__dict__["seen"][0]
    for place in np.flatnonzero(allowed[0]):
        f, code = divmod(place, bins.n_bins)
        rows = bins.codes[f] <= code
        for side, inside in ((left, rows), (right, ~rows)):
            assert side.size[0, place] == inside.sum()
            assert side.dual[0, place] == pytest.approx(dual[inside].sum())
            for part, of in ((side.weight, weight), (side.count, count)):
                expected = np.bincount(y[inside], of[inside], minlength=3)
                np.testing.assert_allclose(part[0, place], expected, atol=1e-12)


@pytest.mark.parametrize(("balance", "place"), [(0.0, 2), (0.5, 1), (1.0, 0)])
def test_the_balance_moves_the_choice_along_the_non_dominated_pairs(balance: float, place: int) -> None:
    one, two = np.array([[1.0, 8.0, 10.0, 8.0, 0.9, 10.0]]), np.array([[5.0, 4.5, 2.0, 4.5, 5.0, 1.0]])
    assert best_compromise(one, two, balance).tolist() == [place]


def test_many_nodes_are_looked_at_in_groups(monkeypatch: pytest.MonkeyPatch) -> None:
    whole, _ = grown(1, 0.5)
    monkeypatch.setattr("rulecover.rcboost.pricing.grower._CELLS", 1)
    one_by_one, _ = grown(1, 0.5)
    np.testing.assert_array_equal(whole.leaf, one_by_one.leaf)
    np.testing.assert_array_equal(whole.tree.threshold, one_by_one.tree.threshold)


# In the loop --------------------------------------------------------------------------------------------------


def test_the_same_data_give_the_same_pool_and_sparse_and_missing_values_will_do() -> None:
    X, y = load_iris(return_X_y=True)
    settings = {"pricing": "bicriteria", "max_rmp_calls": 4}
    one, two = (RCBoostClassifier(**settings, random_state=0).fit(X, y) for _ in range(2))
    assert one.rules_ == two.rules_
    sparse = RCBoostClassifier(**settings, random_state=0).fit(scipy.sparse.csr_array(X), y)
    np.testing.assert_array_equal(sparse.predict(X), one.predict(X))
    X = np.where(np.random.default_rng(0).random(X.shape) < 0.2, np.nan, X)
    model = RCBoostClassifier(**settings, random_state=0).fit(X, y)
    assert model.score(X, y) > 0.9
    sums = model.pool_.apply(X).toarray().astype(float).T @ np.eye(3)[y]
    np.testing.assert_allclose(sums, model.pool_.evidence.sums)


def test_weights_count_in_costs_and_duals_steer() -> None:
    X, y, weight, dual = random_data(0)
    data = ClassSamples(X, y, np.arange(3), weight)
    ensemble = BicriteriaPricing(0.5)(data, Duals(dual, 1 + dual), DecisionTreeClassifier(max_depth=3), 0)
    pool = leaf_pool(data, ensemble, Price(Gini()), tuple("abcd"))
    np.testing.assert_allclose(pool.evidence.sums.sum(axis=0), np.bincount(y, weight))
    np.testing.assert_array_equal(ensemble.routes[0](X.copy()), ensemble.routes[0](X))


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ({"balance": -0.1}, "balance is -0.1"),
        ({"balance": float("nan")}, "balance is nan"),
        ({"balance": "much"}, "balance is 'much'"),
        ({"balance": True}, "balance is True"),
        ({"max_bins": 1}, "max_bins is 1; give a whole number of at least 2"),
        ({"max_bins": None}, "max_bins is None"),
    ],
)
def test_settings_out_of_range_are_named_with_their_value(setting, message) -> None:
    with pytest.raises(ValueError, match=message):
        BicriteriaPricing(**setting)
