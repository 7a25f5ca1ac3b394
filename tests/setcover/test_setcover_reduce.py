"""Reductions leave the least cost alone."""

from __future__ import annotations

import time
from random import Random

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from strategies import brute_force, covering_problems, random_coverage, random_problem

import rulecover.setcover.dominance as dominance_module
import rulecover.setcover.reduce as reduce_module
from rulecover.coverage import Coverage
from rulecover.rules.clauses import offsets
from rulecover.setcover import CoveringProblem, Exact, Greedy, Search, Status
from rulecover.setcover.bounds import lp_bound
from rulecover.setcover.dominance import contained_pairs
from rulecover.setcover.reduce import Reduced, reduced


def optimum_of(left: Reduced) -> float:
    """The forced rules and the best choice among those left, tried one by one."""
    if not len(left.rules):
        return left.forced_cost
    masks = left.matrix.toarray().T
    return left.forced_cost + brute_force(CoveringProblem(Coverage.of_masks(masks), left.cost, left.demand))


def is_consistent(left: Reduced) -> bool:
    """Whether the matrix is what the coverage says of the rows and columns that are left."""
    whole = left.problem.coverage.to_sparse().toarray()
    same = (left.matrix.toarray() == whole[np.ix_(left.samples, left.rules)]).all()
    given_by_forced = whole[np.ix_(left.samples, left.forced)].sum(axis=1)
    return bool(same and (left.demand == left.problem.demand[left.samples] - given_by_forced).all())


@pytest.mark.parametrize("max_demand", [1, 2, 4])
@given(data=st.data())
def test_reductions_keep_the_optimum(max_demand, data):
    problem = data.draw(covering_problems(max_demand=max_demand, max_samples=9))
    left = reduced(problem)
    assert is_consistent(left)
    assert optimum_of(left) == pytest.approx(brute_force(problem), abs=1e-9)


def test_most_problems_get_smaller():
    problems = [random_problem(np.random.default_rng(seed), max_samples=9) for seed in range(200)]
    assert sum(len(reduced(problem).rules) < problem.n_rules for problem in problems) > 80


@given(data=st.data(), problem=covering_problems(max_demand=2))
def test_reductions_of_some_of_the_rules_keep_their_optimum(data, problem):
    without = data.draw(st.sets(st.integers(0, problem.n_rules - 1), max_size=2))
    some = np.setdiff1d(np.arange(problem.n_rules), sorted(without))
    assume((problem.times_covered(some) >= problem.demand).all())
    left = reduced(problem, rules=some)
    assert set(left.rules) | set(left.forced) <= set(some)
    assert is_consistent(left)
    assert optimum_of(left) == pytest.approx(brute_force(problem.restricted_to(some)), abs=1e-9)


@given(problem=covering_problems(max_demand=2))
def test_a_reduced_problem_has_no_sample_without_choice(problem):
    left = reduced(problem)
    assert (left.matrix.sum(axis=1) > left.demand).all()
    assert (left.demand >= 1).all()


def test_equal_samples_are_merged_with_the_largest_demand():
    coverage = Coverage.of_masks([[1, 1, 0, 1], [1, 1, 1, 0], [1, 1, 0, 1], [1, 1, 1, 0]])
    left = reduced(CoveringProblem(coverage, cost=[1.0, 1.0, 1.5, 1.5], demand=[1, 3, 1, 1]))
    assert 0 not in left.samples


def test_a_dominated_rule_goes_under_demand_one_but_may_be_needed_under_two():
    coverage = Coverage.of_masks([[1, 1, 1], [1, 1, 0], [0, 1, 1]])
    cost = [1.0, 1.2, 1.2]
    assert reduced(CoveringProblem(coverage, cost)).forced.tolist() == [0]
    left = reduced(CoveringProblem(coverage, cost, demand=[1, 2, 1]))
    assert len(left.forced) + len(left.rules) >= 2
    assert optimum_of(left) == pytest.approx(2.2)


def test_too_large_a_table_is_left_alone(monkeypatch):
    monkeypatch.setattr(reduce_module, "MAX_CELLS", 1)

    @given(problem=covering_problems())
    @settings(max_examples=50)
    def keeps_the_optimum(problem):
        assert optimum_of(reduced(problem)) == pytest.approx(brute_force(problem))

    keeps_the_optimum()


def test_rows_are_compared_in_runs_of_as_many_pairs_as_are_allowed(monkeypatch):
    monkeypatch.setattr(dominance_module, "PAIRS_AT_A_TIME", 4)

    runs = [(run.start, run.stop) for run in dominance_module._parts_of(np.array([1, 1, 2, 5, 0, 4, 1]))]

    assert runs == [(0, 3), (3, 4), (4, 6), (6, 7)]


def test_small_parts_and_a_deadline_change_nothing_but_the_size(monkeypatch):
    monkeypatch.setattr(dominance_module, "PAIRS_AT_A_TIME", 7)
    monkeypatch.setattr(dominance_module, "SINGLE_STEPS", 1)

    @given(problem=covering_problems(max_samples=30, max_rules=8))
    def keeps_the_optimum(problem):
        assert optimum_of(reduced(problem)) == pytest.approx(brute_force(problem))
        assert optimum_of(reduced(problem, deadline=0.0)) == pytest.approx(brute_force(problem))

    keeps_the_optimum()


def test_rules_of_a_forest_shrink_to_those_that_nothing_dominates():
    rng = np.random.default_rng(0)
    coverage = random_coverage(rng, 40, 60)
    problem = CoveringProblem(coverage, 1 + rng.integers(0, 3, 60) / 4)
    left = reduced(problem)
    matrix, cost = left.matrix.toarray().astype(int), left.cost
    inside = (matrix.T @ (1 - matrix)) == 0
    for j in range(len(cost)):
        assert not [b for b in range(len(cost)) if b != j and inside[j, b] and cost[b] <= cost[j]]
    within = ((1 - matrix) @ matrix.T) == 0
    for k in range(len(matrix)):
        assert not [i for i in range(len(matrix)) if i != k and within[k, i]]


@pytest.mark.parametrize("solver", [Search(time_limit=0.1), Exact(time_limit=0.1), Greedy(bound="lp", time_limit=0.1)])
def test_a_large_problem_is_not_reduced_when_time_is_up(solver, monkeypatch):
    """The greedy cover is there, and what it proves."""
    rng = np.random.default_rng(0)
    problem = CoveringProblem(random_coverage(rng, 40, 60), 1 + rng.integers(0, 3, 60) / 4)
    monkeypatch.setattr(reduce_module, "FEW_CELLS", 10)
    monkeypatch.setattr(reduce_module, "CELLS_PER_SECOND", 1)
    with pytest.raises(TimeoutError):
        reduced(problem, deadline=time.perf_counter() + 1.0)
    cover = solver(problem)

    assert cover.certificate.source == "dual fitting" and not len(problem.shortfall(cover.rules))
    assert isinstance(solver, Greedy) or cover.status == Status.TIME_LIMIT
    assert not lp_bound(problem, time_limit=0.1).complete


@given(st.integers(20, 70), st.integers(1, 6), st.randoms(use_true_random=False))
def test_pairs_of_sets_are_compared_member_by_member_however_long_they_are(
    most: int, n_sets: int, random: Random
) -> None:
    sets = [sorted(random.sample(range(most + 5), random.randint(1, most))) for _ in range(n_sets)]
    sets += [sorted({*mine, most + 7}) for mine in sets]
    pairs = [(k, j) for k in range(len(sets)) for j in range(len(sets))]
    left, right = np.array(pairs).T
    has = np.array([[member in mine for mine in sets] for member in range(most + 8)])

    found = contained_pairs(
        left, right, offsets([len(mine) for mine in sets]), np.concatenate(sets), lambda m, r: has[m, r], known=0
    )
    assert sorted(found.tolist()) == [n for n, (k, j) in enumerate(pairs) if set(sets[k]) <= set(sets[j])]
