"""Rough inverses of the second derivatives: near the exact ones, and the votes that are found by them are the best."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import softmax
from test_logistic import assert_best, random_problem

from rulecover.voting import logistic, preconditioner
from rulecover.voting.logistic import Patterns, _Problem
from rulecover.voting.preconditioner import PerClass, centred, shared


def problem_of(
    rng: np.random.Generator, *, n: int = 400, rules: int = 12, classes: int = 4, strength: float = 1.0
) -> Any:
    """A problem in the form in which it is solved, and the probabilities of its patterns at some votes."""
    drawn = random_problem(rng, n, rules, classes)
    patterns = Patterns.of(*drawn)
    votes = rng.normal(size=(1 + rules, classes))
    columns = np.column_stack([np.ones(len(patterns.sums)), patterns.covered])
    scores = columns @ votes
    shares = softmax(scores, axis=1).T if classes > 2 else softmax(scores, axis=1).T[1:]
    return _Problem.of(patterns.covered, patterns.sums, strength), shares


def exact(problem: Any, shares: np.ndarray, left: np.ndarray) -> np.ndarray:
    """The gradient of each class by the inverse of its own second derivatives."""
    columns, penalty = problem.columns.every(1).astype(float), np.diag(problem.penalty)
    curved = [columns.T * mine @ columns + penalty for mine in problem.curvature_within(shares)]
    return centred(np.linalg.solve(curved, left[:, :, None])[:, :, 0])


@contextmanager
def computed_again(first: int, again: int) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(preconditioner, "_FIRST", first)
        patched.setattr(preconditioner, "_AGAIN", again)
        yield


@pytest.mark.parametrize("classes", [2, 3, 6])
def test_what_is_computed_is_the_inverse_of_each_class(classes: int) -> None:
    rng = np.random.default_rng(classes)
    problem, shares = problem_of(rng, rules=7, classes=classes)
    left = centred(rng.normal(size=(len(shares), 8)))

    found = PerClass()(problem, shares)(left)

    np.testing.assert_allclose(found, exact(problem, shares, left), rtol=2e-4, atol=1e-5)


@pytest.mark.parametrize("classes", [2, 3, 6])
def test_columns_that_come_in_one_by_one_give_the_same_inverse(classes: int) -> None:
    rng = np.random.default_rng(classes)
    covered, *rest = random_problem(rng, 300, 9, classes)
    left = centred(rng.normal(size=(max(1, classes if classes > 2 else 1), 10)))
    growing = PerClass()
    with computed_again(first=1, again=100):
        for rules in (0, 1, 2, 5, 9):
            patterns = Patterns.of(covered[:, :rules], *rest)
            problem = _Problem.of(patterns.covered, patterns.sums, 1.0)
            shares = np.full((len(left), len(patterns.sums)), 1.0 / classes)
            found = growing(problem, shares)(left[:, : 1 + rules])

    np.testing.assert_allclose(found, PerClass()(problem, shares)(left), rtol=1e-2, atol=1e-3)
    assert growing._computed == 1


@settings(max_examples=30)
@given(st.integers(0, 2**31), st.sampled_from([1e-6, 0.1, 10.0]), st.integers(2, 5))
def test_an_inverse_keeps_the_direction_down_although_columns_repeat(seed: int, strength: float, classes: int) -> None:
    rng = np.random.default_rng(seed)
    drawn = random_problem(rng, 60, 3, classes)
    covered = drawn.covered[:, rng.integers(0, 3, 14)]  # the same rules again and again
    growing = PerClass()
    for rules in range(15):
        patterns = Patterns.of(covered[:, :rules], *drawn[1:])
        problem = _Problem.of(patterns.covered, patterns.sums, strength)
        votes = rng.normal(scale=2.0, size=(classes, 1 + rules))
        shares = softmax(problem.columns.scores(votes), axis=0)[-len(problem.target) :]
        left = centred(rng.normal(size=(len(problem.target), 1 + rules)))
        for inverse in (growing(problem, shares), shared(problem, shares)):
            along = inverse(left)
            assert np.isfinite(along).all()
            assert (left * along).sum() > 0


@pytest.mark.parametrize("change", ["classes", "fewer rules"])
def test_another_problem_begins_anew(change: str) -> None:
    rng = np.random.default_rng(0)
    growing = PerClass()
    growing(*problem_of(rng, rules=12, classes=4))
    problem, shares = (
        problem_of(rng, rules=12, classes=3) if change == "classes" else problem_of(rng, rules=9, classes=4)
    )
    left = centred(rng.normal(size=(len(shares), len(problem.penalty))))

    np.testing.assert_array_equal(growing(problem, shares)(left), PerClass()(problem, shares)(left))


@pytest.mark.parametrize(("rules", "classes"), [(94, 3), (95, 3), (80, 90)])
def test_too_many_numbers_are_shared_by_the_classes(rules: int, classes: int) -> None:
    rng = np.random.default_rng(0)
    problem, shares = problem_of(rng, n=150, rules=rules, classes=classes)
    left = centred(rng.normal(size=(classes, 1 + rules)))
    growing = PerClass()

    found = growing(problem, shares)(left)

    is_shared = (found == shared(problem, shares)(left)).all()
    assert is_shared == ((rules, classes) != (94, 3)) == (growing._computed == 0)


@pytest.mark.slow
@pytest.mark.parametrize("classes", [2, 3, 7])
@pytest.mark.parametrize("n", [300, 6000])
def test_the_votes_of_every_size_are_the_best(n: int, classes: int) -> None:
    problem = random_problem(np.random.default_rng(classes), n, 30, classes)

    fits = Patterns.of(*problem).fitted_by_size(strength=1.0)

    for size in (0, 1, 7, 8, 9, 10, 17, 25, 30):
        assert_best(problem._replace(covered=problem.covered[:, :size]), fits[size].votes, 1.0)
    assert all(before.loss >= after.loss for before, after in pairwise(fits))


@pytest.mark.slow
def test_steps_for_many_classes_take_fewer_products(monkeypatch: pytest.MonkeyPatch) -> None:
    problem = random_problem(np.random.default_rng(1), 800, 40, 8)
    n_products, curvature = 0, _Problem.curvature

    def counted(self: Any, shares: Any) -> Any:
        curved = curvature(self, shares)

        def product(direction: Any) -> Any:
            nonlocal n_products
            n_products += 1
            return curved(direction)

        return product

    monkeypatch.setattr(_Problem, "curvature", counted)
    Patterns.of(*problem).fitted_by_size(strength=1.0)
    per_class, n_products = n_products, 0
    monkeypatch.setattr(logistic, "PerClass", lambda: shared)
    Patterns.of(*problem).fitted_by_size(strength=1.0)

    assert 0 < per_class < 0.75 * n_products


@pytest.mark.parametrize("classes", [2, 5])
def test_the_curvature_within_a_class_is_that_of_its_own_log_odds(classes: int) -> None:
    rng = np.random.default_rng(classes)
    problem, shares = problem_of(rng, rules=5, classes=classes)
    direction = np.zeros((len(shares), 6))
    direction[0] = rng.normal(size=6)

    along = problem.curvature(shares)(direction)[0] - problem.penalty * direction[0]

    within = problem.curvature_within(shares)[:1]
    own = within if classes == 2 else within * (classes - 1) / classes  # as if it had all that moves
    np.testing.assert_allclose(along, problem.columns.sums(own * problem.columns.scores(direction[:1]))[0], rtol=1e-4)


def test_what_is_shared_by_two_classes_is_the_inverse() -> None:
    rng = np.random.default_rng(0)
    problem, shares = problem_of(rng, rules=7, classes=2)
    left = rng.normal(size=(1, 8))

    np.testing.assert_allclose(shared(problem, shares)(left), exact(problem, shares, left), rtol=1e-6)


def test_votes_of_every_size_keep_to_their_signs() -> None:
    problem = random_problem(np.random.default_rng(2), 200, 6, 2)
    free = Patterns.of(*problem).fitted_by_size(strength=1.0)
    signs = -np.sign(free[-1].votes[1:, 1]).astype(np.intp)

    for size, (votes, _) in enumerate(Patterns.of(*problem).fitted_by_size(strength=1.0, signs=signs)):
        assert (signs[:size] * votes[1:, 1] >= 0).all()
