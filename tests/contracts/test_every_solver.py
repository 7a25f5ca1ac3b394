"""What every solver of covering problems promises. A new solver is a line in `SOLVERS`."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import as_sparse, brute_force, covering_problems, fewest_rules, random_coverage

from rulecover.estimators import mirco
from rulecover.exceptions import InvalidCertificateError
from rulecover.setcover import CoveringProblem, CoverSolver, Exact, Greedy, Search, Status, lp_bound, verify
from rulecover.setcover.greedy import in_greedy_order

TINY = 1e-6
SOLVERS: list[CoverSolver] = [
    Greedy(),
    Greedy("strong"),
    Greedy(bound="lp"),
    Search(effort=0.02),
    Exact(effort=0.02),
]
#: From the best cover to the worst: none of them is worse than those after it.
BEST_FIRST: list[CoverSolver] = [Exact(effort=0.01), Search(effort=0.02), Greedy("strong")]

every_solver = pytest.mark.parametrize("solve", SOLVERS, ids=repr)
few_examples = settings(max_examples=40)


def test_every_solver_that_has_a_name_is_here() -> None:
    named = {type(made(1.0, 0)) for made in mirco.SOLVERS.values()}
    assert named <= {type(solve) for solve in SOLVERS}


@every_solver
def test_a_solver_is_a_cover_solver_and_hashable(solve: CoverSolver) -> None:
    assert isinstance(solve, CoverSolver)
    assert hash(solve) == hash(type(solve)(**{name: getattr(solve, name) for name in solve.__dataclass_fields__}))


@pytest.mark.slow
@every_solver
@few_examples
@given(problem=covering_problems(weighted=True))
def test_a_cover_meets_every_demand_and_its_certificate_holds(solve: CoverSolver, problem: CoveringProblem) -> None:
    cover = solve(problem)
    verify(problem, cover)
    best = brute_force(problem)
    assert not len(problem.shortfall(cover.rules))
    assert cover.bound - TINY <= best <= cover.objective + TINY
    assert cover.certificate.min_rules <= fewest_rules(problem) <= len(cover)
    assert cover.status != Status.OPTIMAL or cover.objective == pytest.approx(best, abs=TINY)


@pytest.mark.slow
@every_solver
@few_examples
@given(problem=covering_problems(max_samples=14, max_rules=10))
def test_the_same_problem_has_the_same_cover(solve: CoverSolver, problem: CoveringProblem) -> None:
    assert solve(problem).rules.tolist() == solve(problem).rules.tolist()


@pytest.mark.slow
@every_solver
@few_examples
@given(problem=covering_problems(max_samples=14, max_rules=10))
def test_sparse_rules_have_the_cover_that_blocks_have(solve: CoverSolver, problem: CoveringProblem) -> None:
    sparse = as_sparse(problem)
    cover, expected = solve(sparse), solve(problem)
    verify(sparse, cover)
    assert cover.rules.tolist() == expected.rules.tolist()
    assert (cover.bound, cover.status) == (pytest.approx(expected.bound, abs=TINY), expected.status)


@pytest.mark.slow
@every_solver
@pytest.mark.parametrize("number", [np.float16, np.float32, np.int64, float])
def test_a_time_limit_is_any_kind_of_number(solve: Any, number: Any) -> None:
    rng = np.random.default_rng(0)
    problem = CoveringProblem(random_coverage(rng, 40, 20), 1 + rng.random(20))
    cover = replace(solve, time_limit=number(60))(problem)
    assert (cover.rules.tolist(), cover.status) == (solve(problem).rules.tolist(), solve(problem).status)


@pytest.mark.slow
@every_solver
@few_examples
@given(problem=covering_problems())
def test_a_rule_limit_leaves_the_best_buys_and_says_what_is_uncovered(
    solve: CoverSolver, problem: CoveringProblem
) -> None:
    whole = solve(problem)
    for limit in range(1, len(whole) + 2):
        cover = solve(problem, max_rules=limit)
        verify(problem, cover)
        assert len(cover) <= limit
        assert (cover.status == Status.LIMITED) == (limit < len(whole))
        assert cover.certificate.n_uncovered == len(problem.shortfall(cover.rules))


@pytest.mark.slow
@every_solver
@few_examples
@given(problem=covering_problems())
def test_a_certificate_of_another_problem_is_rejected(solve: CoverSolver, problem: CoveringProblem) -> None:
    dearer = CoveringProblem(problem.coverage, problem.cost * 1.5, problem.demand)
    with pytest.raises(InvalidCertificateError):
        verify(dearer, solve(problem))


@pytest.mark.slow
@pytest.mark.parametrize("max_demand", [1, 3])
@given(data=st.data())
def test_lp_is_below_exact_is_below_search_is_below_greedy(max_demand: int, data: Any) -> None:
    problem = data.draw(covering_problems(max_demand=max_demand))
    covers = [solve(problem) for solve in BEST_FIRST]
    objectives = [lp_bound(problem).value, *(cover.objective for cover in covers)]
    assert (np.diff(objectives) >= -TINY).all()
    assert covers[-1].objective <= Greedy("prefix")(problem).objective + TINY
    assert covers[0].status == Status.OPTIMAL
    assert covers[0].objective == pytest.approx(brute_force(problem), abs=TINY)
    for cover in covers[:2]:
        assert cover.rules.tolist() == in_greedy_order(problem, cover.rules).tolist()


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(12))
def test_larger_problems_are_solved_and_proved(seed: int) -> None:
    rng = np.random.default_rng(seed)
    problem = CoveringProblem(random_coverage(rng, 60, 80), 1 + rng.random(80), demand=1 + seed % 3)
    exact, search = Exact(effort=0.1)(problem), Search(effort=0.1)(problem)
    assert exact.status == Status.OPTIMAL
    assert lp_bound(problem).value - TINY <= exact.objective <= search.objective + TINY
    assert search.objective <= Greedy("strong")(problem).objective + TINY
    verify(problem, exact)
