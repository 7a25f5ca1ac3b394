"""An exact cover that was broken off goes on from its checkpoint, and is the cover of a run without a break."""

from __future__ import annotations

import itertools
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from strategies import brute_force, covering_problems

from rulecover.coverage import Coverage
from rulecover.exceptions import CheckpointError
from rulecover.setcover import Cover, CoveringProblem, Exact, Status, verify
from rulecover.setcover import exact as module
from rulecover.setcover.kept_stages import KeptStages
from rulecover.setcover.search import improve


def hard_problem(seed: int = 0, n_rules: int = 60, n_samples: int = 80) -> CoveringProblem:
    """A problem that search does not prove: branch and bound is needed."""
    rng = np.random.default_rng(seed)
    masks = rng.random((n_rules, n_samples)) < 0.08
    masks[rng.integers(n_rules, size=n_samples), np.arange(n_samples)] = True
    return CoveringProblem(Coverage.of_masks(masks), cost=1 + rng.random(n_rules))


class Killed(Exception):
    pass


def broken_off(solver: Exact, problem: CoveringProblem, after: int, monkeypatch: pytest.MonkeyPatch) -> bool:
    """Solves, and ends once this many stages are kept; whether there were as many."""
    count, put = itertools.count(1), KeptStages.put

    def put_and_end(self: Any, *args: Any) -> None:
        put(self, *args)
        if next(count) == after:
            raise Killed

    with monkeypatch.context() as patched:
        patched.setattr(KeptStages, "put", put_and_end)
        try:
            solver(problem)
        except Killed:
            return True
        return False


@pytest.mark.slow
def test_a_cover_that_goes_on_is_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    problem = hard_problem()
    alone = Exact(effort=0.2)(problem)
    whole = Exact(effort=0.2, checkpoint=tmp_path / "whole.npz")(problem)
    stages = 0
    solver = Exact(effort=0.2, checkpoint=tmp_path / "cover.npz")
    while broken_off(solver, problem, stages + 1, monkeypatch):
        stages += 1
        again = solver(problem)
        assert again.rules.tolist() == whole.rules.tolist() and again.bound == whole.bound
        assert again.status == whole.status == alone.status == Status.OPTIMAL
    verify(problem, whole)

    assert stages > 5 and whole.objective == pytest.approx(alone.objective, abs=1e-9)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
def test_stages_that_were_done_are_not_done_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    problem, solver = hard_problem(1), Exact(effort=0.1, checkpoint=tmp_path / "cover.npz")
    assert broken_off(solver, problem, 4, monkeypatch)
    for name in ("guiding_bound", "improve"):
        monkeypatch.setattr(module, name, lambda *_, **__: pytest.fail("this was done before"))

    assert solver(problem).status == Status.OPTIMAL


@pytest.mark.slow
def test_a_search_that_there_was_no_lp_for_in_time_is_made_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    problem, solver = hard_problem(4), Exact(effort=0.1, checkpoint=tmp_path / "cover.npz")
    whole = solver(problem)
    with monkeypatch.context() as patched:
        patched.setattr(module, "guiding_bound", lambda left, fitted, *_: replace(fitted, complete=False))
        assert broken_off(solver, problem, 1, monkeypatch)
    searched = []
    monkeypatch.setattr(module, "improve", lambda *args, **names: searched.append(1) or improve(*args, **names))
    again = solver(problem)

    assert searched and again.rules.tolist() == whole.rules.tolist() and again.bound == whole.bound


def by_proof_alone(problem: CoveringProblem, file: Path, monkeypatch: pytest.MonkeyPatch, parts: int) -> Cover:
    """The cover where search finds nothing."""
    with monkeypatch.context() as patched:
        patched.setattr(module, "PARTS", parts)
        patched.setattr(module, "improve", lambda left, bound, rules, **_: (rules, module.Ended.EFFORT))
        patched.setattr(module, "cover_from_lp", lambda left, bound, rules, deadline: rules)
        return Exact(checkpoint=file)(problem)


def test_rules_that_bounds_alone_decide_on_leave_nothing_to_divide(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ids = np.array([[3, 2, 2, 0, 0, 4, 4, 2, 3], [1, 1, 2, 2, 2, 0, 1, 0, 0], [0, 2, 0, 0, 0, 1, 2, 1, 0]])
    ids = np.vstack([ids, [0, 0, 1, 2, 0, 2, 2, 0, 0]])
    place = [[2, 5, 8, 9], [0, 1], [3, 4], [6, 7]]
    masks = np.zeros((10, 9), dtype=bool)
    for mine, rules in zip(ids, place, strict=True):
        masks[rules] = mine == np.arange(1, len(rules) + 1)[:, None]
    cost = [1.12198618, 1.75, 1.0, 1.0, 1.25, 1.0, 1.75, 1.68298871, 1.22279523, 1.52687786]
    problem = CoveringProblem(Coverage.of_masks(masks), cost, demand=[2, 3, 1, 1, 1, 1, 3, 2, 1])

    cover = by_proof_alone(problem, tmp_path / "cover.npz", monkeypatch, parts=1)

    verify(problem, cover)
    assert cover.objective == pytest.approx(brute_force(problem)) and cover.status == Status.OPTIMAL


@pytest.mark.slow
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=25)
@given(problem=covering_problems(max_rules=10), parts=st.integers(1, 4))
def test_parts_of_a_proof_have_every_cover_in_one_of_them(
    problem: CoveringProblem, parts: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Even where search finds nothing, and proof is all there is."""
    cover = by_proof_alone(problem, tmp_path / "cover.npz", monkeypatch, parts)
    verify(problem, cover)

    assert cover.objective == pytest.approx(Exact()(problem).objective) and cover.status == Status.OPTIMAL


def test_the_checkpoint_of_another_problem_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "cover.npz"
    assert broken_off(Exact(checkpoint=file), hard_problem(2), 1, monkeypatch)
    for other, solver in (
        (hard_problem(3), Exact(checkpoint=file)),
        (hard_problem(2), Exact(3.0, checkpoint=file, effort=1)),
    ):
        with pytest.raises(CheckpointError, match="other data or settings"):
            solver(other)
    with pytest.raises(ValueError, match="random_state is None; with a checkpoint"):
        Exact(checkpoint=file, random_state=None)


@pytest.mark.parametrize("lost", ["value", "proof", "prices", "duals"])
def test_a_bound_that_is_not_whole_is_refused(lost: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "cover.npz"
    assert broken_off(Exact(checkpoint=file), hard_problem(2), 1, monkeypatch)
    with np.load(file) as kept:
        arrays = {name: array for name, array in kept.items() if not name.endswith(f"/bound/{lost}")}
        assert len(arrays) == len(kept) - 1
    np.savez(file, **arrays)

    with pytest.raises(CheckpointError, match=r"cover\.npz' does not fit the data; delete it"):
        Exact(checkpoint=file)(hard_problem(2))
