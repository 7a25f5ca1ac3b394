"""How HiGHS is spoken to: what it refuses is an error, and a basis that was kept is gone on from."""

from __future__ import annotations

import highspy
import numpy as np
import pytest
import scipy.sparse
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog
from strategies import covering_problems, random_coverage

from rulecover.exceptions import SolverError
from rulecover.setcover import CoveringProblem
from rulecover.setcover import highs as module
from rulecover.setcover.highs import CoveringLP, _call, _quiet_highs, _unit, solve_mip
from rulecover.setcover.master import Master


@pytest.mark.parametrize(
    ("method", "given", "what"),
    [("setOptionValue", ("no such option", 1), "no such option"), ("changeColCost", (3, 1.0), "changeColCost")],
)
def test_what_highs_refuses_is_an_error(method: str, given: tuple, what: str) -> None:
    with pytest.raises(SolverError, match=rf"^HiGHS refused '{what}'\.$"):
        _call(_quiet_highs(), method, *given)


def test_highs_is_quiet_and_on_one_thread(capfd: pytest.CaptureFixture) -> None:
    matrix = scipy.sparse.csc_array(np.eye(3))
    CoveringLP(matrix, np.ones(3), np.ones(3, dtype=np.intp)).solve()

    assert capfd.readouterr() == ("", "")
    assert _quiet_highs().getOptionValue("threads")[1] == 1


@pytest.mark.parametrize(("largest", "unit"), [(1.0, 1.0), (1024.0, 1.0), (1025.0, 2.0), (2048.0, 2.0), (5000.0, 8.0)])
def test_costs_of_ordinary_size_stay_as_they_are_and_others_are_divided(largest: float, unit: float) -> None:
    assert _unit(np.array([0.5, largest])) == unit
    assert _unit(np.zeros(0)) == 1.0


def test_highs_asks_once_per_iteration_whether_to_stop_however_often_it_solves() -> None:
    lp = CoveringLP(scipy.sparse.csc_array(np.eye(3)), np.ones(3), np.ones(3, dtype=np.intp))
    for _ in range(4):
        lp.solve()

    assert len(lp._highs.cbSimplexInterrupt.callbacks) == 1


@pytest.mark.parametrize("place", ["cost", "demand"])
@pytest.mark.parametrize("solve", [CoveringLP, solve_mip], ids=["LP", "MIP"])
def test_numbers_that_are_not_finite_are_refused(place: str, solve) -> None:
    cost, demand = np.ones(2), np.ones(2)
    (cost if place == "cost" else demand)[1] = np.nan

    with pytest.raises(SolverError, match="the covering LP has a cost or demand that is not a finite number"):
        solve(scipy.sparse.csc_array(np.eye(2)), cost, demand)


def test_rules_that_come_later_must_have_finite_costs() -> None:
    matrix = scipy.sparse.csc_array(np.eye(2))
    lp = CoveringLP(matrix, np.ones(2), np.ones(2, dtype=np.intp))

    with pytest.raises(SolverError, match="not a finite number"):
        lp.add(matrix, np.array([1.0, np.inf]))


def test_a_solve_that_takes_too_many_steps_from_its_basis_begins_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(2)
    matrix = scipy.sparse.csc_array(random_coverage(rng, 90, 30).to_sparse().astype(float))
    cost, demand, called = 1 + rng.random(30), np.ones(90, dtype=np.intp), []
    found = CoveringLP(matrix, cost, demand).solve()

    def with_few_steps(highs: object, method: str, *given: object) -> None:
        called.append(method)
        limited = given[0] == "simplex_iteration_limit" and given[1] != highspy.kHighsIInf if given else False
        _call(highs, method, *(("simplex_iteration_limit", 2) if limited else given))

    monkeypatch.setattr(module, "_call", with_few_steps)
    again = CoveringLP(matrix, cost, demand).solve()

    assert "clearSolver" in called and again.finished
    assert again.objective == pytest.approx(found.objective)


@pytest.mark.parametrize("duals", ["equal", "vertex"])
def test_a_master_that_goes_on_is_at_its_optimum_at_once(duals: str) -> None:
    rng = np.random.default_rng(0)
    coverage = random_coverage(rng, 150, 40)
    cost = 1 + rng.random(40)
    master = Master(coverage, cost, duals=duals)
    found = master.solve()

    again = Master(coverage, cost, duals=duals)
    again.restore(master.state())
    same = again.solve()

    np.testing.assert_allclose(same.z, found.z, atol=1e-9)
    np.testing.assert_allclose(same.duals, found.duals, atol=1e-9)
    assert same.objective == pytest.approx(found.objective)
    assert again._lp._highs.getInfo().simplex_iteration_count == 0
    # One that begins anew has to look for it.
    fresh = Master(coverage, cost, duals=duals)
    fresh.solve()
    assert fresh._lp._highs.getInfo().simplex_iteration_count > 0


def test_a_basis_of_another_size_is_left_alone_and_one_of_the_same_is_gone_back_to() -> None:
    rng = np.random.default_rng(1)
    coverage = random_coverage(rng, 60, 20)
    matrix = scipy.sparse.csc_array(coverage.to_sparse().astype(float))
    lp = CoveringLP(matrix, 1 + rng.random(20), np.ones(60, dtype=np.intp))
    first = lp.solve()
    basis, codes = lp.basis(), lp.basis_codes()

    lp.add(matrix[:, :3], np.full(3, 0.5))
    cheaper = lp.solve()
    lp.set_basis(basis)
    assert lp.solve().objective == pytest.approx(cheaper.objective)
    assert cheaper.objective <= first.objective

    assert [len(each) for each in codes] == [60, 20]
    same = lp.basis_codes()
    lp.set_basis_codes(*same)
    assert all((a == b).all() for a, b in zip(lp.basis_codes(), same, strict=True))


def by_linprog(matrix: np.ndarray, cost: np.ndarray, demand: np.ndarray, count: int, side: int) -> float:
    """The same LP as its primal, by SciPy: shares between 0 and 1, at most or at least so many rules in all."""
    rows, least = (
        [-matrix, *([-side * np.ones((1, len(cost)))] if side else [])],
        [-demand, *([[-side * count]] if side else [])],
    )
    found = linprog(cost, A_ub=np.vstack(rows), b_ub=np.concatenate(least), bounds=(0.0, 1.0))
    return float(found.fun)


@settings(deadline=None)
@given(
    covering_problems(max_rules=8, max_samples=10),
    st.sampled_from([1.0, 1e4, 1e7]),
    st.sampled_from([-1, 0, 1]),
    st.integers(0, 3),
    st.data(),
)
def test_the_lp_is_that_of_covers_whatever_their_costs_and_number(
    problem: CoveringProblem, scale: float, side: int, more: int, data: st.DataObject
) -> None:
    """With rules that come later, whose costs may be larger, and with other costs in the end."""
    matrix, whole = problem.coverage.to_sparse().tocsc(), problem.coverage.to_sparse().toarray().astype(float)
    first = data.draw(st.integers(1, problem.n_rules))
    fewest = int(np.ceil(by_linprog(whole, np.ones(problem.n_rules), problem.demand, 0, 0) - 1e-9))
    count = min(problem.n_rules, fewest + more)

    lp = CoveringLP(matrix[:, :first], problem.cost[:first], problem.demand)
    assume((whole[:, :first].sum(axis=1) >= problem.demand).all())
    cost = np.concatenate([problem.cost[:first], scale * problem.cost[first:]])
    lp.add(matrix[:, first:], cost[first:])
    assert lp.solve(count=count, side=side).objective == pytest.approx(
        by_linprog(whole, cost, problem.demand, count, side), rel=1e-6
    )
    other = scale * problem.cost[::-1]
    lp.reprice(other)
    assert lp.solve(count=count, side=side).objective == pytest.approx(
        by_linprog(whole, other, problem.demand, count, side), rel=1e-6
    )


@pytest.mark.parametrize(
    ("count", "side", "objective"), [(1, -1, 5.0), (2, -1, 4.0), (3, 0, 3.0), (4, 1, 8.0), (3, 1, 3.0)]
)
def test_the_lp_keeps_to_a_number_of_rules(count: int, side: int, objective: float) -> None:
    matrix = scipy.sparse.csc_array(np.column_stack([np.eye(3), np.ones(3)]))
    solved = CoveringLP(matrix, np.array([1.0, 1.0, 1.0, 5.0]), np.ones(3, dtype=np.intp)).solve(count=count, side=side)

    assert solved.objective == pytest.approx(objective)
    assert solved.count_price * side >= 0.0
