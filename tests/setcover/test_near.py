"""The master problem solved near the optimum: feasible on both sides, within 5 %, and exact at the end."""

from __future__ import annotations

import time

import numpy as np
import pytest
from scipy.optimize import linprog
from strategies import random_coverage

from rulecover.coverage import Coverage
from rulecover.exceptions import SolverError
from rulecover.setcover import near as module
from rulecover.setcover.master import Master
from rulecover.setcover.near import NearMaster


def full_lp(coverage: Coverage, cost: np.ndarray) -> float:
    """The covering LP with one row a sample, solved cold by another door."""
    matrix = coverage.to_sparse().toarray().astype(float)
    return float(linprog(cost, A_ub=-matrix, b_ub=-np.ones(len(matrix)), bounds=(0, None), method="highs").fun)


def growing_pools(seed: int, n_samples: int = 300, rounds: int = 4):
    """Pools, of which the first covers all samples; every other one that comes later is of rules of no tree."""
    rng = np.random.default_rng(seed)
    yield Coverage.of_ids([rng.integers(1, 9, n_samples).astype(np.uint8)], [8], n_samples), 1 + rng.random(8)
    for place in range(rounds):
        more = random_coverage(rng, n_samples, int(rng.integers(10, 40)))
        yield (Coverage.of_sparse(more.to_sparse()) if place % 2 else more), 1 + rng.random(more.n_rules)


def masters(seed: int, **settings):
    """A master problem after each pool that came, with all rules and costs until then."""
    pools = growing_pools(seed)
    whole, costs = next(pools)
    master = NearMaster(whole, costs, **settings)
    yield master, whole, costs
    for coverage, cost in pools:
        master.add(coverage, cost)
        whole, costs = whole.join(coverage), np.concatenate([costs, cost])
        yield master, whole, costs


def check_near(found, whole: Coverage, costs: np.ndarray) -> None:
    optimum = full_lp(whole, costs)
    assert found.objective == pytest.approx(found.duals.sum(), abs=1e-9)
    assert (found.duals >= 0).all() and (costs - whole.per_rule(found.duals)).min() >= -1e-9
    assert (found.z >= 0).all() and whole.per_sample(found.z).min() >= 1 - 1e-9
    assert 0.95 * (costs @ found.z) <= found.objective + 1e-9
    assert found.objective - 1e-6 <= optimum <= costs @ found.z + 1e-6
    np.testing.assert_allclose(found.reduced_cost, costs - whole.per_rule(found.duals), atol=1e-9)


@pytest.mark.parametrize("seed", range(8))
def test_prices_and_shares_are_feasible_and_near_the_optimum_and_exact_at_the_end(seed: int) -> None:
    far = 0
    for master, whole, costs in masters(seed):
        found = master.solve()
        check_near(found, whole, costs)
        exact = master.optimum()
        assert exact.objective == pytest.approx(full_lp(whole, costs), abs=1e-6)
        assert costs @ exact.z == pytest.approx(exact.objective, abs=1e-6)
        assert whole.per_sample(exact.z).min() >= 1 - 1e-6
        np.testing.assert_allclose(exact.reduced_cost, costs - whole.per_rule(exact.duals), atol=1e-9)
        far += found.objective < exact.objective - 1e-4
    assert far  # it did stop before the optimum


def test_the_exact_optimum_in_between_changes_nothing() -> None:
    for (one, *_), (other, *_) in zip(masters(3), masters(3), strict=True):
        other.optimum()
        np.testing.assert_array_equal(one.solve().duals, other.solve().duals)
        other.optimum()


def test_rules_leave_and_come() -> None:
    for seed in range(6):
        gone = 0
        for master, *_ in masters(seed):
            whole, costs = master._coverage, master.cost
            found = master.solve()
            check_near(found, whole, costs)
            idle = np.flatnonzero((found.z == 0) & (found.reduced_cost > 0.05))[::2]
            master.remove(idle)
            gone += len(idle)
            kept = np.delete(np.arange(len(costs)), idle)
            check_near(master.solve(), whole.take(kept), costs[kept])
        assert gone


def test_it_falls_back_to_the_exact_optimum(monkeypatch) -> None:
    monkeypatch.setattr(module, "LOOKS", 2)
    monkeypatch.setattr(module, "STEPS", 1)
    for master, whole, costs in masters(0):
        found = master.solve()
        assert found.objective == pytest.approx(full_lp(whole, costs), abs=1e-6)
        assert (costs - whole.per_rule(found.duals)).min() >= -1e-6


@pytest.mark.parametrize("weight", [None, np.tile([1.0, 2.0, 3.0], 100)])
def test_groups_have_equal_duals_whatever_the_order_of_rows(weight) -> None:
    shuffle = np.random.default_rng(0).permutation(300)
    (first, cost), *more = growing_pools(5)
    plain = NearMaster(first, cost, weight=weight)
    shuffled = NearMaster(first.among(shuffle), cost, weight=None if weight is None else weight[shuffle])
    whole = first
    np.testing.assert_allclose(plain.solve().duals[shuffle], shuffled.solve().duals, atol=1e-9)
    for coverage, cost in more:
        plain.add(coverage, cost)
        shuffled.add(coverage.among(shuffle), cost)
        whole = whole.join(coverage)
        one, other = plain.solve(), shuffled.solve()
        assert one.objective == pytest.approx(other.objective, abs=1e-9)
        np.testing.assert_allclose(one.duals[shuffle], other.duals, atol=1e-9)
        _, group = np.unique(whole.to_sparse().toarray(), axis=0, return_inverse=True)
        each = one.duals / (1.0 if weight is None else weight)
        assert max(np.ptp(each[group == g]) for g in np.unique(group)) < 1e-12


@pytest.mark.parametrize("factor", [1e-3, 1e6, 1e12])
def test_costs_may_be_of_any_size(factor: float) -> None:
    (first, cost), *more = growing_pools(2)
    small, large = NearMaster(first, cost), NearMaster(first, factor * cost)
    for coverage, cost in more:
        small.add(coverage, cost)
        large.add(coverage, factor * cost)
        assert large.solve().objective == pytest.approx(factor * small.solve().objective)


def test_it_goes_on_where_it_was() -> None:
    *_, (master, whole, costs) = masters(1)
    again = NearMaster(whole, costs)
    again._signatures = master._signatures  # numbers are drawn per call of `add`
    again.restore(master.state())

    np.testing.assert_array_equal(again.solve().duals, master.solve().duals)


def test_it_takes_fewer_samples_than_there_are_and_keeps_deadlines() -> None:
    rng = np.random.default_rng(0)
    n = 20_000
    ids = [rng.integers(1, 31, n).astype(np.uint8) for _ in range(6)]
    coverage, cost = Coverage.of_ids(ids, [30] * 6, n), 1 + rng.random(180)
    master = NearMaster(coverage, cost)
    with pytest.raises(TimeoutError, match="the restricted master problem was not solved in time"):
        master.solve(deadline=time.perf_counter() - 1)
    found = master.solve()
    assert found.n_samples_in_lp < n / 3
    assert 0.95 * Master(coverage, cost).solve().objective <= found.objective
    assert master.optimum().objective == pytest.approx(Master(coverage, cost).solve().objective, abs=1e-6)


def test_a_cost_that_is_not_a_number_is_refused() -> None:
    coverage, cost = next(growing_pools(0))
    with pytest.raises(SolverError, match="not a finite number"), np.errstate(all="ignore"):
        NearMaster(coverage, np.where(np.arange(8) == 3, np.nan, cost)).solve()


def test_it_comes_near_where_rules_are_used_whole(monkeypatch) -> None:
    monkeypatch.setattr(NearMaster, "_exact", None)  # were shares capped at 1, the cap would have a price
    rng = np.random.default_rng(0)
    for _ in range(20):
        coverage, cost = random_coverage(rng, 60, int(rng.integers(1, 30))), 1 + rng.random(30)
        check_near(NearMaster(coverage, cost[: coverage.n_rules]).solve(), coverage, cost[: coverage.n_rules])
