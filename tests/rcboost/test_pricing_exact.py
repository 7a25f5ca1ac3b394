"""The exact search for rules of negative reduced cost, against all rules there are on tiny data."""

from __future__ import annotations

import itertools
import time

import numpy as np
import pytest
from scipy.optimize import linprog
from sklearn.datasets import load_iris, load_wine, make_classification
from sklearn.tree import DecisionTreeClassifier

from rulecover import RCBoostClassifier
from rulecover.coverage import Coverage
from rulecover.pool import rule_pool
from rulecover.rcboost.pricing.boxes import RuleSpace
from rulecover.rcboost.pricing.exact import ExactPricing
from rulecover.rcboost.pricing.oracles import Duals
from rulecover.rcboost.pricing.proposal import Proposal
from rulecover.setcover.master import Master
from rulecover.targets.classes.impurity import Entropy, Gini
from rulecover.targets.classes.samples import ClassSamples
from rulecover.targets.impurity import Price


def every_rule(X: np.ndarray, max_clauses: int) -> np.ndarray:
    """The sets of samples of all boxes, as masks, rules x samples; NaN satisfies no clause."""
    intervals = []
    for column in X.T:
        values = np.unique(column[~np.isnan(column)])
        pairs = itertools.combinations_with_replacement(values, 2)
        intervals.append([(column >= low) & (column <= high) for low, high in pairs])
    masks = {}
    for size in range(max_clauses + 1):
        for features in itertools.combinations(range(X.shape[1]), size):
            for clauses in itertools.product(*(intervals[f] for f in features)):
                mask = np.logical_and.reduce([np.ones(len(X), dtype=bool), *clauses])
                masks[mask.tobytes()] = mask
    return np.array([mask for mask in masks.values() if mask.any()])


def tiny(seed: int) -> tuple[ClassSamples, np.ndarray, int]:
    rng = np.random.default_rng(seed)
    n, d, classes = int(rng.integers(3, 14)), int(rng.integers(1, 4)), int(rng.integers(2, 4))
    X = rng.integers(0, rng.integers(2, 5), size=(n, d)).astype(float)
    if seed % 3 == 0:
        X[rng.random(X.shape) < 0.15] = np.nan
    weight = None if seed % 2 else rng.random(n) + 0.2
    dual = rng.exponential(size=n) * (rng.random(n) < 0.6) * rng.choice([0.1, 0.3, 1.0])
    return ClassSamples(X, rng.integers(0, classes, n), np.arange(classes), weight), dual, 1 + seed % d


def costs(masks: np.ndarray, data: ClassSamples, impurity=Gini()) -> tuple[np.ndarray, np.ndarray]:  # noqa: B008
    one_hot = np.eye(len(data.classes))[data.y] * (1 if data.weight is None else data.weight[:, None])
    return 1 + impurity(masks @ one_hot), impurity(masks @ one_hot)


def reduced_costs_of(proposal: Proposal, data: ClassSamples, dual: np.ndarray, price: Price) -> np.ndarray:
    pool = rule_pool(data, proposal.rules, price)
    assert len(pool) == len(proposal.rules)  # each rule covers something
    assert len(np.unique(pool.coverage.to_sparse().toarray(), axis=1).T) == len(pool)
    return np.sort(pool.evidence.cost - pool.coverage.per_rule(dual))


@pytest.mark.slow
@pytest.mark.parametrize("impurity", [Gini(), Entropy()], ids=repr)
@pytest.mark.parametrize("max_impurity", [None, 0.0, 0.3, 0.6])
def test_the_best_rules_are_those_of_brute_force(impurity, max_impurity) -> None:
    some = 0
    for seed in range(100):
        data, dual, max_clauses = tiny(seed)
        masks = every_rule(data.X, max_clauses)
        cost, impurities = costs(masks, data, impurity)
        reduced = cost - masks @ dual
        reduced = np.sort(reduced[impurities <= (np.inf if max_impurity is None else max_impurity) + 1e-9])
        expected = reduced[reduced < -1e-9]
        pricing = ExactPricing(max_clauses, None, max_rules=1 + seed % 5, max_impurity=max_impurity, effort=None)
        proposal = pricing(data, Duals(dual, 1 + dual, price := Price(impurity)), None, 0)
        found = reduced_costs_of(proposal, data, dual, price)
        np.testing.assert_allclose(found, expected[: 1 + seed % 5], atol=1e-9)
        least = expected[0] if len(expected) else 0.0
        assert proposal.least_reduced_cost == pytest.approx(least, abs=2e-9)
        some += len(expected) > 0
    assert some > 20


def test_weights_in_the_cost_are_heeded() -> None:
    for seed in range(60):
        data, dual, max_clauses = tiny(seed)
        price = Price(Gini(), impurity_weight=2.5)
        masks = every_rule(data.X, max_clauses)
        least = (1 + 2.5 * costs(masks, data)[1] - masks @ dual).min()
        proposal = ExactPricing(max_clauses, None)(data, Duals(dual, 1 + dual, price), None, 0)
        assert proposal.least_reduced_cost == pytest.approx(min(least, 0.0), abs=2e-9)


def test_long_rules_cost_more_where_length_has_a_price() -> None:
    for seed in range(60):
        data, dual, max_clauses = tiny(seed)
        price = Price(Gini(), length_weight=0.1)
        least = np.inf
        for length in range(max_clauses + 1):
            masks = every_rule(data.X, length)
            least = min(least, (costs(masks, data)[0] + 0.1 * length - masks @ dual).min())
        proposal = ExactPricing(max_clauses, None)(data, Duals(dual, 1 + dual, price), None, 0)
        assert proposal.least_reduced_cost == pytest.approx(min(least, 0.0), abs=2e-9)


def test_no_set_of_samples_is_worth_more_than_the_ceiling_of_its_box() -> None:
    rng = np.random.default_rng(0)
    for _ in range(300):
        n, limit = int(rng.integers(1, 9)), float(rng.choice([0.0, 0.25, 0.5, 0.6, np.inf]))
        y, count, dual = rng.integers(0, 3, n), rng.random(n) + 0.1, rng.exponential(size=n) * (rng.random(n) < 0.7)
        space = RuleSpace(None, Price(Gini()), 2, limit)  # type: ignore[arg-type]
        sets = np.array(list(itertools.product([False, True], repeat=n)))[1:]
        one_hot = np.eye(3)[y]
        worth = space.worth(sets @ (one_hot * count[:, None]), sets @ (one_hot * dual[:, None]), 0)
        densest = np.array([(dual / count)[y != k].max(initial=0.0) for k in range(3)])
        ceiling = space.ceiling((one_hot.T @ count)[None], (one_hot.T @ dual)[None], densest, 0)
        assert worth.max() <= ceiling[0] + 1e-9
        assert ceiling[0] <= dual.sum() + 1e-9


@pytest.mark.parametrize(("limit", "others"), [(0.32, 0.25), (0.42, 3 / 7), (0.5, 1.0), (0.6, 1.5), (1.0, np.inf)])
def test_as_much_of_other_classes_as_the_impurity_allows(limit: float, others: float) -> None:
    """A share s of the largest class leaves an impurity of 2 s (1 - s) at least, or 1 - s if s is below a half."""
    space = RuleSpace(None, Price(Gini()), 2, limit)  # type: ignore[arg-type]

    assert space._most_others(np.array([1.0, 2.0])) == pytest.approx([others, 2 * others], rel=1e-3)


def test_rules_are_written_without_needless_bounds_and_cover_what_was_searched() -> None:
    X = np.array([[0.0, 0.0], [1.0, 0.0], [2.0, 1.0], [3.0, 1.0]])
    data = ClassSamples(X, np.array([0, 0, 1, 1]), np.arange(2))
    dual = np.array([0.9, 0.9, 0.0, 0.0])
    rules = ExactPricing(max_rules=1)(data, Duals(dual, 1 + dual), None, 0).rules
    assert str(rules) and [rule.text for rule in rules] == ["x0 <= 1.5"]


def test_with_few_bins_the_search_is_exact_over_these() -> None:
    for seed in range(30):
        rng = np.random.default_rng(seed)
        X, y = rng.normal(size=(40, 2)), rng.integers(0, 2, 40)
        dual = rng.exponential(size=40) * 0.1
        data = ClassSamples(X, y, np.arange(2))
        proposal = ExactPricing(2, 4)(data, Duals(dual, 1 + dual), None, 0)
        from rulecover.rcboost.pricing.bins import bins_of

        coarse = every_rule(bins_of(data, 4).codes.T.astype(float), 2)
        least = (costs(coarse, data)[0] - coarse @ dual).min()
        assert proposal.least_reduced_cost == pytest.approx(min(least, 0.0), abs=2e-9)


# The bound ----------------------------------------------------------------------------------------------------


def covering_lp(masks: np.ndarray, cost: np.ndarray) -> float:
    return float(linprog(cost, A_ub=-masks.T.astype(float), b_ub=-np.ones(masks.shape[1])).fun)


@pytest.mark.slow
@pytest.mark.parametrize("duals", ["equal", "vertex"])
def test_the_bound_holds_in_every_round_and_is_tight_at_the_end(duals: str) -> None:
    for seed in range(40):
        rng = np.random.default_rng(seed)
        X, y = rng.integers(0, 4, size=(12, 2)).astype(float), rng.integers(0, 3, 12)
        pricing = ExactPricing(2, None, max_rules=3, effort=None)
        tree = DecisionTreeClassifier(max_depth=3)
        model = RCBoostClassifier(tree, pricing=pricing, duals=duals, max_rmp_calls=200, random_state=0).fit(X, y)
        masks = every_rule(X, 2)
        data = ClassSamples(X, np.unique(y, return_inverse=True)[1], np.unique(y))
        optimum = covering_lp(masks, costs(masks, data)[0])
        history = model.history_
        assert (history["bound"] <= optimum + 1e-6).all()
        assert (history["objective"] >= optimum - 1e-6).all()
        assert history["added"].iloc[-1] == 0
        assert history["bound"].iloc[-1] == pytest.approx(optimum, abs=1e-5)
        assert model.certificate_.objective == pytest.approx(optimum, abs=1e-5)


@pytest.mark.slow
def test_the_bound_holds_when_time_is_up_or_rules_are_kept_out() -> None:
    for seed in range(20):
        rng = np.random.default_rng(seed)
        X, y = rng.integers(0, 5, size=(14, 3)).astype(float), rng.integers(0, 2, 14)
        data = ClassSamples(X, y, np.arange(2))
        masks = every_rule(X, 3)
        cost, impurity = costs(masks, data)
        pure = impurity <= 0.3
        for keep, pricing in (
            (np.ones(len(cost), dtype=bool), ExactPricing(3, None, time_limit=1e-9)),
            (pure, ExactPricing(3, None, max_impurity=0.3)),
        ):
            # Any pool that covers: each sample alone.
            alone = np.eye(14, dtype=bool)
            relaxation = Master(Coverage.of_masks(alone), np.ones(14)).solve()
            proposal = pricing(data, Duals(relaxation.duals, 1 + relaxation.duals), None, 0)
            least = (cost - masks @ relaxation.duals)[keep].min()
            assert proposal.least_reduced_cost <= least + 1e-9
            both = np.concatenate([masks[keep], alone])
            optimum = covering_lp(both, np.concatenate([cost[keep], np.ones(14)]))
            assert proposal.bound(relaxation.objective) <= optimum + 1e-9


def test_a_bound_from_no_negative_rule_is_the_objective() -> None:
    assert Proposal(None, 0.0).bound(7.0) == 7.0  # type: ignore[arg-type]
    assert Proposal(None, -1.0).bound(7.0) == 3.5  # type: ignore[arg-type]


@pytest.mark.slow
def test_time_limits_are_kept() -> None:
    X, y = make_classification(2000, 20, n_informative=10, random_state=0)
    data = ClassSamples(X, y, np.arange(2))
    dual = np.random.default_rng(0).exponential(size=2000) * 3 / 2000
    for max_bins in (32, None):
        start = time.perf_counter()
        proposal = ExactPricing(4, max_bins, time_limit=0.5)(data, Duals(dual, 1 + dual), None, 0)
        assert time.perf_counter() - start < 10  # a busy machine
        assert proposal.least_reduced_cost < 0 < len(proposal.rules)


@pytest.mark.slow
def test_rules_do_not_depend_on_the_clock(monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = make_classification(1000, 12, n_informative=8, random_state=0)
    dual = np.random.default_rng(0).exponential(size=1000) * 60 / 1000

    def rules(pricing: ExactPricing) -> list[str]:
        proposal = pricing(ClassSamples(X, y, np.arange(2)), Duals(dual, 1 + dual), None, 0)
        return [rule.text for rule in proposal.rules]

    pricings = [ExactPricing(4, max_impurity=0.1, effort=effort) for effort in (0.5, 0.02)]
    long, short = map(rules, pricings)
    seconds = itertools.count(0, 1000)
    monkeypatch.setattr(time, "perf_counter", lambda: float(next(seconds)))
    assert [rules(pricing) for pricing in pricings] == [long, short] and long != short
    assert ExactPricing().time_limit is None  # by name it knows no clock


@pytest.mark.slow
def test_more_effort_proves_more() -> None:
    X, y = make_classification(1000, 12, n_informative=8, random_state=0)
    data = ClassSamples(X, y, np.arange(2))
    dual = np.random.default_rng(0).exponential(size=1000) * 3 / 1000
    least = [
        ExactPricing(4, effort=effort)(data, Duals(dual, 1 + dual), None, 0).least_reduced_cost
        for effort in (1e-9, 0.1, 1.0)
    ]
    assert least == sorted(least) and least[0] < least[-1]


# In the loop --------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_by_name_it_gives_the_same_pool_every_time() -> None:
    X, y = load_iris(return_X_y=True)
    one, two = (RCBoostClassifier(pricing="exact", max_rmp_calls=3, random_state=0).fit(X, y) for _ in range(2))
    assert one.rules_ == two.rules_ and len(one.rules_) > 20


def test_over_all_rules_the_lp_settles_for_the_one_that_covers_everything() -> None:
    X, y = load_iris(return_X_y=True)
    model = RCBoostClassifier(pricing=ExactPricing(1), max_rmp_calls=100, random_state=0).fit(X, y)
    assert model.certificate_.objective == pytest.approx(1 + 2 / 3)
    assert model.history_["bound"].iloc[-1] == pytest.approx(1 + 2 / 3, abs=1e-5)
    assert "always" in {rule.text for rule in model.rules_}


def test_rules_and_leaves_live_in_one_pool_with_their_names_and_comparisons() -> None:
    X, y = load_wine(return_X_y=True, as_frame=True)
    pricing = ExactPricing(2, 8, max_impurity=0.1, time_limit=1.0)
    model = RCBoostClassifier(pricing=pricing, rule_weights="z", fallback="all", max_rmp_calls=3, random_state=0).fit(
        X, y
    )
    assert model.pool_.feature_names == tuple(X.columns)
    assert model.pool_.paths is not None and len(model.pool_.paths.offset) == len(model.pool_) + 1
    far = X * 3 - 5
    assert len(model.predict(far)) == len(X)
    accepted = model.pool_.accepted(X.to_numpy(), along_paths=True)
    np.testing.assert_array_equal(accepted == 1, model.pool_.apply(X).toarray())


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ({"max_clauses": 0}, "max_clauses is 0; give a whole number of at least 1"),
        ({"max_clauses": 1.5}, "max_clauses is 1.5"),
        ({"max_rules": 0}, "max_rules is 0"),
        ({"max_bins": 1}, "max_bins is 1; give a whole number of at least 2, or None"),
        ({"max_impurity": -0.5}, "max_impurity is -0.5"),
        ({"max_impurity": "low"}, "max_impurity is 'low'"),
        ({"time_limit": 0}, "time_limit is 0"),
        ({"effort": 0}, "effort is 0; give a positive number"),
    ],
)
def test_settings_out_of_range_are_named_with_their_value(setting, message) -> None:
    with pytest.raises(ValueError, match=message):
        ExactPricing(**setting)
