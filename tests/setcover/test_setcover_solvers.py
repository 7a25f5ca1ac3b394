"""Search, exact and the LP bound against scipy, and within limits of time; what all solvers share is a contract."""

from __future__ import annotations

import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import Bounds, LinearConstraint, linprog, milp
from sklearn.datasets import load_digits
from sklearn.ensemble import RandomForestClassifier
from strategies import as_sparse, brute_force, covering_problems, dense, random_coverage

from rulecover.coverage import Coverage, smallest_uint
from rulecover.setcover import CoveringProblem, Exact, Greedy, Search, Status, lp_bound, verify
from rulecover.setcover.bounds import bound_of, fitted_bound
from rulecover.setcover.greedy import greedy_picks
from rulecover.setcover.highs import solve_mip
from rulecover.setcover.lagrangian import Refinement
from rulecover.setcover.local import Core, LocalSearch
from rulecover.setcover.reduce import reduced

TINY = 1e-6


def lp_by_scipy(problem: CoveringProblem, cost: np.ndarray | None = None) -> float:
    answer = linprog(problem.cost if cost is None else cost, A_ub=-dense(problem), b_ub=-problem.demand, bounds=(0, 1))
    return float(answer.fun)


@pytest.fixture(scope="module")
def digits() -> CoveringProblem:
    """The leaves of a forest on 1797 digits: far too hard to be solved in seconds."""
    return leaves_of_digits(1797, 60)


def leaves_of_digits(n_rows: int, n_trees: int) -> CoveringProblem:
    X, y = (part[:n_rows] for part in load_digits(return_X_y=True))
    forest = RandomForestClassifier(n_trees, max_depth=8, random_state=0).fit(X, y)
    ids, sizes = [], []
    for leaves in forest.apply(X).T:
        _, number = np.unique(leaves, return_inverse=True)
        sizes.append(int(number.max()) + 1)
        ids.append((number + 1).astype(smallest_uint(sizes[-1])))
    coverage = Coverage.of_ids(ids, sizes, len(y))
    counts = np.stack([coverage.per_rule((y == label).astype(float)) for label in range(10)], axis=1)
    return CoveringProblem(coverage, 2 - ((counts / counts.sum(axis=1, keepdims=True)) ** 2).sum(axis=1))


@pytest.mark.slow
@pytest.mark.parametrize("max_demand", [1, 3])
@given(data=st.data())
def test_the_lp_bound_is_the_lp_of_scipy_raised_by_the_count(max_demand, data):
    problem = data.draw(covering_problems(max_demand=max_demand))
    plain, raised = lp_bound(problem, count=False), lp_bound(problem)
    assert plain.value == pytest.approx(lp_by_scipy(problem), abs=TINY)
    assert plain.value - TINY <= raised.value <= brute_force(problem) + TINY
    fewest = lp_by_scipy(problem, np.ones(problem.n_rules))
    assert raised.min_rules == max(int(np.ceil(fewest - TINY)), problem.demand.max())


def test_a_count_raises_the_bound_where_the_lp_takes_parts_of_rules():
    # Each rule covers two of three samples: the LP takes a half of each, and a cover needs two.
    problem = CoveringProblem(Coverage.of_masks(~np.eye(3, dtype=bool)), np.array([1.0, 1.25, 1.5]))

    plain, raised = lp_bound(problem, count=False), lp_bound(problem)

    assert (plain.source, plain.value) == ("LP", pytest.approx(1.875))
    assert (raised.source, raised.value) == ("LP and count", pytest.approx(2.25))
    assert raised.min_rules == 2 and all(branch.count_price > 0 for branch in raised.proof)


@pytest.mark.slow
@pytest.mark.parametrize("factor", [1e6, 1e10, 1e14])
def test_costs_in_another_unit_leave_bounds_and_optima_alone(factor):
    for seed in range(20):
        rng = np.random.default_rng(seed)
        problem = CoveringProblem(random_coverage(rng, 40, 40), 1 + rng.random(40), demand=1 + seed % 3)
        other = CoveringProblem(problem.coverage, factor * problem.cost, problem.demand)
        assert lp_bound(other, count=False).value == pytest.approx(factor * lp_bound(problem, count=False).value)
        exact, same = Exact(effort=0.01)(problem), Exact(effort=0.01)(other)
        assert same.objective == pytest.approx(factor * exact.objective), seed
        assert same.status == exact.status == Status.OPTIMAL
        assert same.bound == pytest.approx(factor * exact.bound, rel=1e-5)
        verify(other, same)


@pytest.mark.slow
@settings(max_examples=40)
@given(data=st.data(), problem=covering_problems(max_samples=20, max_rules=10))
def test_shuffled_samples_and_rules_leave_the_optimum_alone(data, problem):
    samples, rules = (
        np.array(data.draw(st.permutations(range(size)))) for size in (problem.n_samples, problem.n_rules)
    )
    coverage = problem.coverage.take(rules).among(samples)
    shuffled = CoveringProblem(coverage, problem.cost[rules], problem.demand[samples])
    assert Exact(effort=0.01)(shuffled).objective == pytest.approx(Exact(effort=0.01)(problem).objective, abs=TINY)


@pytest.mark.slow
def test_equal_seeds_give_equal_covers(digits):
    settings = Search(effort=0.1, random_state=3)
    assert settings(digits).rules.tolist() == settings(digits).rules.tolist()


@pytest.mark.slow
@settings(max_examples=30)
@given(problem=covering_problems(weighted=True))
def test_sample_weights_do_not_stop_a_solver(problem):
    assert Exact(effort=0.01)(problem).objective == pytest.approx(brute_force(problem), abs=TINY)
    verify(problem, Search(effort=0.01)(problem))


@pytest.mark.slow
@pytest.mark.parametrize("limit", [0.5, 2.0])
@pytest.mark.parametrize("solver", [Exact, Search])
def test_the_time_limit_holds_on_a_hard_problem(digits, solver, limit):
    begin = time.perf_counter()
    cover = solver(time_limit=limit, effort=1000)(digits)
    assert time.perf_counter() - begin < 2 * limit + 2
    assert cover.status == Status.TIME_LIMIT
    assert cover.bound <= cover.objective <= Greedy("strong")(digits).objective + TINY
    verify(digits, cover)


@pytest.mark.slow
def test_a_bound_cut_short_is_still_a_bound(digits):
    whole = lp_bound(digits).value
    fitted = fitted_bound(digits, greedy_picks(digits)[1])
    left = reduced(digits)
    for seconds in (0.0, 0.02, 0.1):
        bound = bound_of(left, fitted, deadline=time.perf_counter() + seconds)
        assert fitted.value <= bound.value <= whole + TINY
        assert min(branch.bound(digits) for branch in bound.proof) == pytest.approx(bound.value)


@pytest.mark.parametrize("limit", [0, -1.0, float("nan"), "soon", True, 10**400], ids=lambda limit: str(limit)[:5])
def test_a_time_limit_is_a_number_of_seconds_above_zero_for_all(limit):
    problem = CoveringProblem(Coverage.of_masks([[1, 1]]), cost=[1.0])
    for bounded in (
        lambda: lp_bound(problem, time_limit=limit),
        lambda: Exact(limit),
        lambda: Search(time_limit=limit),
    ):
        with pytest.raises(ValueError, match=r"time_limit is .*; give a positive number of seconds, or None"):
            bounded()


@pytest.mark.slow
def test_exact_says_at_least_as_much_as_the_lp():
    digits = leaves_of_digits(500, 20)
    cover = Exact(time_limit=3, effort=0.2)(digits)  # the LP takes a tenth of a second, or many on a busy machine
    assert cover.bound >= lp_bound(digits).value - TINY


@pytest.mark.slow
@pytest.mark.parametrize(
    "solve", [Search(effort=1000), Exact(time_limit=None, effort=1000), Exact(None, 0.01)], ids=repr
)
def test_ctrl_c_ends_with_the_best_cover_found(digits, solve):
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a library that another test loaded may have taken it
    timer = threading.Timer(3.0, lambda: signal.raise_signal(signal.SIGINT))
    timer.start()
    cover = solve(digits)
    assert cover.status == Status.TIME_LIMIT
    verify(digits, cover)


@pytest.mark.slow
def test_highspy_is_not_loaded_before_it_is_needed():
    code = "import sys, rulecover.setcover; assert 'highspy' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.parametrize("solver", [Search, Exact])
@pytest.mark.parametrize(
    "settings",
    [{"effort": 0}, {"effort": -1.0}, {"effort": float("nan")}, {"effort": True}, {"time_limit": 0.0},
     {"time_limit": "60"}, {"random_state": -1}, {"random_state": 1.5}, {"random_state": True}],
    ids=repr,
)  # fmt: skip
def test_bad_settings_raise_with_name_and_value(solver, settings):
    (name, value), = settings.items()  # fmt: skip
    with pytest.raises(ValueError, match=f"{name} is {value!r}; give a"):
        solver(**settings)


@pytest.mark.slow
@pytest.mark.parametrize("solve", [Greedy(), Search(effort=0.1), Exact(effort=0.1)], ids=repr)
def test_sparse_rules_have_the_cover_that_blocks_have_on_larger_problems(solve):
    for seed in range(4):
        rng = np.random.default_rng(seed)
        weight = 0.5 + rng.random(80) if seed % 2 else None
        problem = CoveringProblem(random_coverage(rng, 80, 100), 1 + rng.random(100), 1 + seed % 3, weight)
        assert solve(as_sparse(problem)).rules.tolist() == solve(problem).rules.tolist()


@pytest.mark.slow
@settings(max_examples=40)
@given(data=st.data(), whole=covering_problems(max_rules=10))
def test_blocks_and_sparse_rules_go_together(data, whole):
    part = data.draw(st.integers(0, whole.n_rules))
    trees, others = (whole.coverage.take(np.arange(*ends)) for ends in ((0, part), (part, whole.n_rules)))
    mixed = trees.join(Coverage.of_sparse(others.to_sparse()))
    problem = CoveringProblem(mixed, whole.cost, whole.demand)
    assert (mixed.to_sparse() != whole.coverage.to_sparse()).nnz == 0
    assert Greedy()(problem).rules.tolist() == Greedy()(whole).rules.tolist()
    assert Exact(effort=0.01)(problem).objective == pytest.approx(brute_force(whole), abs=TINY)


def whole_problem(seed: int, n_rows: int = 150, n_rules: int = 600) -> CoveringProblem:
    """A random problem of whole costs, of no tree."""
    rng = np.random.default_rng(seed)
    row = np.concatenate([np.arange(n_rows), rng.integers(0, n_rows, 4 * n_rules)])
    rule = rng.integers(0, n_rules, len(row))
    matrix = scipy.sparse.coo_array((np.ones(len(row)), (row, rule)), shape=(n_rows, n_rules))
    return CoveringProblem.from_sparse(matrix, rng.integers(1, 100, n_rules))


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
def test_exact_is_as_good_as_scipys_mip_and_search_is_near_on_whole_costs(seed):
    problem = whole_problem(seed)
    constraint = LinearConstraint(problem.coverage.to_sparse().astype(float), lb=1.0)
    best = milp(problem.cost, constraints=constraint, integrality=1, bounds=Bounds(0, 1)).fun
    exact, search = Exact(effort=0.2)(problem), Search(effort=0.3)(problem)
    assert exact.status == Status.OPTIMAL
    assert exact.objective == exact.bound == pytest.approx(best)
    assert best - TINY <= search.objective <= 1.02 * best
    assert search.bound == round(search.bound)
    verify(problem, exact)
    verify(problem, search)


@pytest.mark.slow
def test_a_search_takes_whole_shares_of_the_lp_at_once():
    rng = np.random.default_rng(0)
    first = np.concatenate([np.arange(400), rng.integers(0, 400, 2600)])
    row = np.arange(400)[:, None]
    matrix = (first <= row) & (row <= first + rng.integers(0, 9, 3000))  # intervals: the LP has whole shares
    problem = CoveringProblem.from_sparse(scipy.sparse.csr_array(matrix), rng.integers(1, 30, 3000))
    cover = Search(effort=1e-3)(problem)
    assert cover.status == Status.OPTIMAL
    verify(problem, cover)


@pytest.mark.slow
def test_equal_seeds_give_equal_covers_by_refinement():
    problem = whole_problem(0)
    solve = Search(effort=0.2, random_state=3)
    assert solve(problem).rules.tolist() == solve(problem).rules.tolist()


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
def test_refinement_finds_better_covers_and_counts_them_right(seed):
    problem = whole_problem(seed)
    left = reduced(problem)
    duals = lp_bound(problem).duals[left.samples]
    core = Core(left.matrix, left.cost, left.demand, duals)
    start = left.places(Greedy("strong")(problem).rules).tolist()
    search = LocalSearch(core, start, seed, None)
    with np.errstate(divide="ignore", invalid="ignore"):
        Refinement(search, goal=0.0).run(10)
    assert (core.matrix[:, search.best].sum(axis=1) >= core.demand).all()
    assert search.best_cost == core.total(search.best) < core.total(start)


@pytest.mark.slow
@pytest.mark.parametrize(
    "solve", [Greedy(bound="lp", time_limit=1.0), Search(1000, time_limit=1.0), Exact(1.0)], ids=repr
)
def test_the_time_limit_holds_for_many_rules_of_no_tree(solve):
    problem = whole_problem(0, n_rows=500, n_rules=30_000)
    begin = time.perf_counter()
    cover = solve(problem)
    assert time.perf_counter() - begin < 2.5  # a busy machine may take a little more than the second
    verify(problem, cover)


def test_greedy_on_sparse_rules_touches_what_is_left_only():
    problem = whole_problem(0, n_rows=500, n_rules=60_000)
    begin = time.process_time()
    Greedy()(problem)
    assert time.process_time() - begin < 5.0  # a tenth of a second on a quiet machine, 40 with a block per rule


MATRIX = scipy.sparse.csr_array(np.array([[1, 0, 1], [1, 1, 0]]))


@pytest.mark.parametrize(
    ("matrix", "cost", "message"),
    [
        (MATRIX, [1.0, 2.0], r"cost has shape \(2,\), but there are 3 rules"),
        (MATRIX, [1.0, np.nan, 1.0], "rule 1 costs nan; costs must be positive"),
        (MATRIX, [1.0, 1.0, -2.0], "rule 2 costs -2.0; costs must be positive"),
        (2 * MATRIX, [1.0, 1.0, 1.0], "the entry of row 0 and rule 0 is 2; entries must be 0 or 1"),
        (0.5 * MATRIX, [1.0, 1.0, 1.0], "row 0 and rule 0 is 0.5"),
        (scipy.sparse.csr_array([[1, 0], [0, 0]]), [1.0, 1.0], "1 samples are covered by no rule, .* sample 1"),
        (np.eye(2), [1.0, 1.0], r"matrix is a ndarray of shape \(2, 2\); give a two-dimensional SciPy sparse array"),
        ([[1, 0]], [1.0, 1.0], "matrix is a list; give a two-dimensional SciPy sparse array"),
    ],
)  # fmt: skip
def test_bad_sparse_problems_are_refused_with_what_is_wrong(matrix, cost, message):
    with pytest.raises(ValueError, match=message):
        CoveringProblem.from_sparse(matrix, cost)


def test_stored_zeros_cover_nothing_and_repeated_entries_are_one():
    matrix = scipy.sparse.coo_array(([1, 1, 0, 1], ([0, 0, 0, 1], [0, 0, 1, 1])), shape=(2, 2))
    problem = CoveringProblem.from_sparse(matrix, [1.0, 1.0])
    assert problem.coverage.sizes.tolist() == [1, 1]
    assert Greedy()(problem).rules.tolist() == [0, 1]


@pytest.mark.parametrize("solve", [Search(effort=0.02), Exact(effort=0.02)], ids=repr)
def test_costs_beyond_those_that_highs_takes_for_finite_are_covered_too(solve: Search | Exact) -> None:
    """As of rules for numbers of 1e10, one squared unit of which costs as much as a rule."""
    matrix = scipy.sparse.csc_array(np.array([[1, 1, 0, 1], [1, 1, 1, 1], [0, 1, 0, 1], [0, 0, 0, 1], [0, 0, 1, 1]]))
    cost, demand = np.array([3.3e8, 2.3e8, 1.8e18, 2.4e21]), np.array([2, 2, 2, 1, 2])
    problem = CoveringProblem.from_sparse(matrix.astype(bool), cost, demand=demand)

    cover = solve(problem)

    assert verify(problem, cover).objective == pytest.approx(brute_force(problem))
    assert solve_mip(matrix.astype(float), cost, demand).columns is None
