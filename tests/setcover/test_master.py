"""The restricted master problem: exact for all samples although it carries few of them."""

from __future__ import annotations

import time

import numpy as np
import pytest
from scipy.optimize import linprog
from strategies import random_coverage

from rulecover.coverage import Coverage
from rulecover.exceptions import SolverError, UncoveredSamplesError
from rulecover.setcover.highs import CoveringLP
from rulecover.setcover.master import Master, Signatures


def full_lp(coverage: Coverage, cost: np.ndarray) -> float:
    """The covering LP with one row a sample, solved cold by another door."""
    matrix = coverage.to_sparse().toarray().astype(float)
    answer = linprog(cost, A_ub=-matrix, b_ub=-np.ones(len(matrix)), bounds=(0, None), method="highs")
    return float(answer.fun)


def growing_pools(seed: int, n_samples: int = 200, rounds: int = 5):
    """A first pool that covers all samples, and blocks of rules that come later."""
    rng = np.random.default_rng(seed)
    first = Coverage.of_ids([rng.integers(1, 9, n_samples).astype(np.uint8)], [8], n_samples)
    yield first, 1 + rng.random(8)
    for _ in range(rounds):
        more = random_coverage(rng, n_samples, int(rng.integers(1, 12)))
        yield more, 1 + rng.random(more.n_rules)


def sparse_pools(seed: int):
    """The same with blocks and sparse rules in turn."""
    for place, (coverage, cost) in enumerate(growing_pools(seed)):
        yield (Coverage.of_sparse(coverage.to_sparse()) if (place + seed) % 2 else coverage), cost


@pytest.mark.slow
@pytest.mark.parametrize("pools", [growing_pools, sparse_pools])
@pytest.mark.parametrize("duals", ["equal", "vertex"])
def test_every_optimum_is_that_of_the_full_lp_with_its_duals(duals, pools) -> None:
    for seed in range(16):
        master, whole, costs = None, None, None
        for coverage, cost in pools(seed):
            if master is None:
                master, whole, costs = Master(coverage, cost, duals=duals), coverage, cost
            else:
                master.add(coverage, cost)
                whole, costs = whole.join(coverage), np.concatenate([costs, cost])
            found = master.solve()
            optimum = full_lp(whole, costs)
            covered = whole.per_sample(found.z)
            reduced = costs - whole.per_rule(found.duals)
            assert found.objective == pytest.approx(optimum, abs=1e-6)
            assert costs @ found.z == pytest.approx(optimum, abs=1e-6)
            assert found.duals.sum() == pytest.approx(optimum, abs=1e-6)
            assert (found.z >= -1e-9).all() and (found.duals >= 0).all()
            assert covered.min() >= 1 - 1e-6 and reduced.min() >= -1e-6
            assert np.abs(found.z * reduced).max() < 1e-6  # complementary slackness, both ways
            assert np.abs(found.duals * (covered - 1)).max() < 1e-6


@pytest.mark.slow
@pytest.mark.parametrize("later", [1.0, 1e4])
@pytest.mark.parametrize("factor", [1e3, 1e6, 1e10, 1e14])
def test_large_costs_are_those_of_another_unit(factor: float, later: float) -> None:
    for seed in range(10):
        (first, cost), *more = growing_pools(seed)
        small, large = Master(first, cost), Master(first, factor * cost)
        for coverage, cost in more:
            small.add(coverage, later * cost)
            large.add(coverage, factor * later * cost)
            one, other = small.solve(), large.solve()
            assert other.objective == pytest.approx(factor * one.objective)
            assert other.duals.sum() == pytest.approx(other.objective)
            assert large.cost @ other.z == pytest.approx(other.objective)


@pytest.mark.slow
@pytest.mark.parametrize("duals", ["equal", "vertex"])
def test_every_optimum_is_that_of_the_full_lp_when_rules_leave(duals) -> None:
    for seed in range(30):
        rng = np.random.default_rng(seed)
        pools = growing_pools(seed, rounds=8)
        whole, costs = next(pools)
        master = Master(whole, costs, duals=duals)
        for coverage, cost in pools:
            found = master.solve()
            optimum = full_lp(whole, costs)
            assert found.objective == pytest.approx(optimum, abs=1e-6)
            assert found.duals.sum() == pytest.approx(optimum, abs=1e-6)
            assert whole.per_sample(found.z).min() >= 1 - 1e-6
            np.testing.assert_allclose(found.reduced_cost, costs - whole.per_rule(found.duals), atol=1e-9)
            idle = np.flatnonzero((found.z == 0) & (found.reduced_cost > 0.05))
            gone = idle[rng.random(len(idle)) < 0.7]
            master.remove(gone)
            kept = np.delete(np.arange(len(costs)), gone)
            whole, costs = whole.take(kept), costs[kept]
            if seed % 2:  # solved again at once, or only after more rules have come
                assert master.solve().objective == pytest.approx(optimum, abs=1e-6)
            master.add(coverage, cost)
            whole, costs = whole.join(coverage), np.concatenate([costs, cost])


def test_a_sample_is_in_the_lp_once_whatever_comes_and_goes() -> None:
    def check(master: Master) -> None:
        assert np.flatnonzero(master._is_inside).tolist() == sorted(master._inside)

    (first, cost), *more = growing_pools(0, rounds=8)
    master, again = Master(first, cost), Master(first, cost)
    master.solve()
    check(master)
    again.restore(master.state())
    check(again)
    for coverage, cost in more:
        master.add(coverage, cost)
        check(master)
        found = master.solve()
        check(master)
        master.remove(np.flatnonzero((found.z == 0) & (found.reduced_cost > 0.05)))
        check(master)


def test_rules_that_samples_need_do_not_leave() -> None:
    coverage = Coverage.of_masks([[True, True, False], [False, True, True]])
    master = Master(coverage, np.ones(2))
    with pytest.raises(UncoveredSamplesError, match="1 samples are covered by none, the first is sample 2"):
        master.remove(np.array([1]))
    assert master.solve().objective == pytest.approx(2.0)


@pytest.mark.slow
def test_shuffled_samples_leave_objective_and_group_duals_alone() -> None:
    for seed in range(20):
        pools = list(growing_pools(seed))
        shuffle = np.random.default_rng(seed).permutation(200)
        plain, shuffled = (Master(c.among(rows), cost) for rows in (np.arange(200), shuffle) for c, cost in pools[:1])
        for coverage, cost in pools[1:]:
            plain.add(coverage, cost)
            shuffled.add(coverage.among(shuffle), cost)
            one, other = plain.solve(), shuffled.solve()
            assert one.objective == pytest.approx(other.objective, abs=1e-9)
            np.testing.assert_allclose(one.duals[shuffle], other.duals, atol=1e-9)


def test_samples_covered_by_the_same_rules_have_equal_duals() -> None:
    for seed in range(20):
        pools = list(growing_pools(seed, rounds=2))
        master = Master(*pools[0])
        whole = pools[0][0]
        for coverage, cost in pools[1:]:
            master.add(coverage, cost)
            whole = whole.join(coverage)
        duals = master.solve().duals
        _, group = np.unique(whole.to_sparse().toarray(), axis=0, return_inverse=True)
        for g in np.unique(group):
            assert np.ptp(duals[group == g]) < 1e-12


def test_the_lp_stays_small() -> None:
    rng = np.random.default_rng(0)
    n = 20_000
    ids = [rng.integers(1, 31, n).astype(np.uint8) for _ in range(6)]
    first, rest = Coverage.of_ids(ids[:1], [30], n), Coverage.of_ids(ids[1:], [30] * 5, n)
    master = Master(first, 1 + rng.random(30))
    master.add(rest, 1 + rng.random(150))
    assert master.solve().n_samples_in_lp < n / 5


def test_signatures_group_samples_as_a_sort_of_all_rows_does() -> None:
    rng = np.random.default_rng(1)
    coverage = random_coverage(rng, 500, 6)
    signatures = Signatures(500)
    signatures.add(coverage)
    _, group = np.unique(coverage.to_sparse().toarray(), axis=0, return_inverse=True)
    _, by_hash = np.unique(signatures.value, return_inverse=True)
    assert len(np.unique(group)) == len(np.unique(by_hash)) == len(set(zip(group, by_hash, strict=True)))
    _, first = np.unique(signatures.value, return_index=True)
    samples, place = signatures.members(first)
    assert sorted(samples) == list(range(500))
    np.testing.assert_array_equal(signatures.value[samples], signatures.value[first][place])


def test_samples_with_the_same_rules_share_their_price_by_weight() -> None:
    coverage = Coverage.of_masks([[1, 1, 0, 0], [0, 0, 1, 1]])
    master = Master(coverage, np.array([1.0, 1.5]), weight=np.array([1.0, 3.0, 2.0, 1.0]))
    assert master.solve().duals.tolist() == pytest.approx([0.25, 0.75, 1.0, 0.5])


def test_a_clash_of_signatures_is_noticed() -> None:
    coverage = Coverage.of_masks([[1, 1, 0, 0], [0, 0, 1, 1]])
    master = Master(coverage, np.array([1.0, 1.5]))
    master.solve()
    master._signatures.value[:] = 7  # as if all rules had drawn the same number
    duals = master.solve().duals
    assert coverage.per_rule(duals) == pytest.approx([1.0, 1.5])


def test_a_first_pool_that_misses_a_sample_is_refused() -> None:
    with pytest.raises(UncoveredSamplesError, match="the first is sample 1"):
        Master(Coverage.of_masks([[1, 0]]), np.array([1.0]))


def test_an_optimum_that_comes_too_late_is_no_optimum_and_a_deadline_holds_once() -> None:
    pools = list(growing_pools(0, n_samples=1000, rounds=40))
    coverage, cost = pools[0]
    for more, costs in pools[1:]:
        coverage, cost = coverage.join(more), np.concatenate([cost, costs])
    master = Master(coverage, cost)
    with pytest.raises(TimeoutError, match="the restricted master problem was not solved in time"):
        master.solve(deadline=time.perf_counter() - 1)
    assert master.solve().objective == pytest.approx(full_lp(coverage, cost), abs=1e-6)


@pytest.mark.parametrize("wrong", [np.nan, np.inf])
def test_a_cost_that_is_not_a_number_is_refused_before_it_is_called_optimal(wrong: float) -> None:
    coverage, _ = next(growing_pools(0))
    cost = np.where(np.arange(8) == 3, wrong, 1.0)
    with pytest.raises(SolverError, match="the covering LP has a cost or demand that is not a finite number"):
        CoveringLP(coverage.to_sparse(), cost, np.ones(200, dtype=np.intp))
