"""Bounds and stages as a checkpoint keeps them: all fields come back, and other problems have other names."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given
from hypothesis import strategies as st
from strategies import covering_problems, random_problem

from rulecover.setcover import Branch, CoveringProblem, lp_bound
from rulecover.setcover.bounds import Bound
from rulecover.setcover.kept_stages import KeptStages, _bound, _written, problem_fingerprint


def same(one: Any, two: Any) -> bool:
    if isinstance(one, Branch):
        return all(same(getattr(one, field.name), getattr(two, field.name)) for field in fields(Branch))
    if isinstance(one, tuple):
        return len(one) == len(two) and all(map(same, one, two))
    return bool(np.array_equal(one, two)) and type(one) is type(two)


@pytest.mark.slow
@given(covering_problems())
def test_a_bound_that_is_kept_is_the_same(problem: CoveringProblem) -> None:
    bound = lp_bound(problem)

    again = _bound(_written(bound))

    assert all(same(getattr(again, field.name), getattr(bound, field.name)) for field in fields(Bound))


def test_stages_are_kept_by_the_name_of_their_problem(tmp_path: Path) -> None:
    problem = random_problem(np.random.default_rng(0))
    kept = KeptStages(tmp_path / "cover.npz", problem, {"effort": 1.0})
    assert kept.is_used and kept.rules("greedy") is None and kept.bound() is None
    kept.put("greedy", {"rules": np.array([2, 0])})
    kept.put_bound(lp_bound(problem))
    kept.flush()

    again = KeptStages(tmp_path / "cover.npz", problem, {"effort": 1.0})
    assert again.rules("greedy").tolist() == [2, 0] and again.get("greedy").keys() == {"rules"}
    assert again.bound().value == lp_bound(problem).value and again.bound().source == lp_bound(problem).source
    again.done()
    assert not (tmp_path / "cover.npz").exists()

    none = KeptStages(None, problem, {})
    none.put("greedy", {"rules": np.array([2, 0])})
    none.put_bound(lp_bound(problem))
    none.flush()
    none.done()
    assert not none.is_used and none.rules("greedy") is None


@pytest.mark.slow
@given(covering_problems(weighted=True), st.integers(0, 11), st.integers(0, 8))
def test_another_problem_has_another_fingerprint(problem: CoveringProblem, sample: int, rule: int) -> None:
    sample, rule = sample % problem.n_samples, rule % problem.n_rules
    name = problem_fingerprint(problem, {"a": 1})
    matrix = problem.coverage.to_sparse().toarray().astype(int)
    others = [problem_fingerprint(problem, {"a": 2})]
    cost, weight = problem.cost.copy(), problem.weight.copy()
    cost[rule] += 0.5
    weight[sample] += 1.0
    others.append(
        problem_fingerprint(CoveringProblem(problem.coverage, cost, problem.demand, problem.weight), {"a": 1})
    )
    others.append(
        problem_fingerprint(CoveringProblem(problem.coverage, problem.cost, problem.demand, weight), {"a": 1})
    )
    if matrix[sample].sum() > 1 or not matrix[sample, rule]:
        matrix[sample, rule] = 1 - matrix[sample, rule]
        changed = CoveringProblem.from_sparse(scipy.sparse.csr_array(matrix), problem.cost, 1, problem.weight)
        plain = CoveringProblem(problem.coverage, problem.cost, 1, problem.weight)
        assert problem_fingerprint(changed, {}) != problem_fingerprint(plain, {})

    assert name not in others and name == problem_fingerprint(problem, {"a": 1})
