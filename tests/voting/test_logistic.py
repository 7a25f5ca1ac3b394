"""Votes by the logistic loss: the minimum that scikit-learn finds, whatever the rows, weights and rules."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import expit, softmax
from sklearn.linear_model import LogisticRegression
from threadpoolctl import threadpool_limits

from rulecover.voting import columns, logistic, preconditioner
from rulecover.voting.answers import LOG_ODDS_UNIT, LogOddsClasses
from rulecover.voting.logistic import GrowingPatterns, Patterns, logistic_votes

STRENGTHS = st.sampled_from([0.01, 1.0, 10.0])


class Problem(NamedTuple):
    """Rows by the rules that cover them, the shares of the classes in each, and whole weights."""

    covered: np.ndarray
    target: np.ndarray
    weight: np.ndarray


@st.composite
def problems(draw: Any, *, min_rules: int = 0, n_classes: int | None = None) -> Problem:
    rules, classes = draw(st.integers(min_rules, 5)), n_classes or draw(st.integers(1, 4))
    shares = st.tuples(*[st.integers(0, 3)] * classes).filter(any)
    row = st.tuples(st.tuples(*[st.booleans()] * rules), shares, st.integers(0, 3))
    covered, sums, weight = zip(*draw(st.lists(row, min_size=1, max_size=12)), strict=True)
    counts = np.array(sums, dtype=float)
    return Problem(
        np.array(covered, dtype=bool).reshape(len(weight), rules),
        counts / counts.sum(axis=1, keepdims=True),
        np.array(weight, dtype=float),
    )


def random_problem(rng: np.random.Generator, n: int, rules: int, classes: int) -> Problem:
    covered = rng.random((n, rules)) < rng.uniform(0.05, 0.6, rules)
    scores = covered @ rng.normal(size=(rules, classes)) + rng.normal(size=classes)
    hard = np.eye(classes)[(scores + rng.gumbel(size=scores.shape)).argmax(axis=1)]
    return Problem(covered, 0.5 * hard + 0.5 * softmax(scores, axis=1), rng.uniform(0.2, 3.0, n))


def smoothed(problem: Problem) -> np.ndarray:
    """The weight of each row for each class, one row more being spread over all of them."""
    total = problem.weight.sum()
    return problem.weight[:, None] * (total * problem.target + 1 / problem.target.shape[1]) / (total + 1)


def gradient(problem: Problem, votes: np.ndarray, strength: float) -> np.ndarray:
    """The gradient of the loss at the base and the votes: one column for two classes, otherwise one per class."""
    columns = np.column_stack([np.ones(len(problem.covered)), problem.covered])
    wanted = smoothed(problem)
    sums = columns @ votes
    penalty = strength * np.vstack([np.zeros_like(votes[:1]), votes[1:]])
    if votes.shape[1] == 2:
        return columns.T @ (wanted.sum(axis=1) * expit(sums[:, 1]) - wanted[:, 1]) + penalty[:, 1]
    return columns.T @ (wanted.sum(axis=1, keepdims=True) * softmax(sums, axis=1) - wanted) + penalty


def by_scikit_learn(problem: Problem, strength: float) -> np.ndarray:
    """The same regression, each row given once per class, weighted by the share of the class."""
    n, classes = problem.target.shape
    covered = np.column_stack([problem.covered, np.zeros(n)])  # it wants at least one column
    X, y = np.repeat(covered.astype(float), classes, axis=0), np.tile(np.arange(classes), n)
    model = LogisticRegression(C=1 / strength, tol=1e-8, max_iter=1000, solver="newton-cholesky")
    model.fit(X, y, sample_weight=smoothed(problem).ravel())
    votes = np.vstack([model.intercept_, model.coef_.T[:-1]])
    votes[0] -= votes[0].mean() if classes > 2 else 0.0
    return np.hstack([-votes, votes]) if classes == 2 else votes


def assert_best(problem: Problem, votes: np.ndarray, strength: float) -> None:
    assert np.isfinite(votes).all()
    tolerance = 4 * LOG_ODDS_UNIT * (strength + problem.weight.sum()) * (1 + problem.covered.shape[1])
    np.testing.assert_allclose(gradient(problem, votes, strength), 0.0, atol=tolerance)


@given(problems(), st.booleans())
def test_patterns_of_sparse_sums_are_those_of_dense_ones(problem: Problem, many: bool) -> None:
    covered, target, weight = problem
    sums = target * weight[:, None]
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(logistic, "_MANY_RULES", -1 if many else 100)
        dense, sparse = Patterns.of_sums(covered, sums), Patterns.of_sums(covered, scipy.sparse.csr_array(sums))

    np.testing.assert_allclose(sparse.sums, dense.sums, rtol=1e-12)
    np.testing.assert_array_equal(sparse.first, dense.first)
    assert (sparse.covered != dense.covered).sum() == 0


@pytest.mark.slow
@given(problems(), STRENGTHS)
def test_the_gradient_is_zero(problem: Problem, strength: float) -> None:
    votes = logistic_votes(*problem, strength=strength)

    assert votes.shape == (1 + problem.covered.shape[1], problem.target.shape[1])
    assert_best(problem, votes, strength)
    np.testing.assert_allclose(votes.sum(axis=1), 0.0, atol=4 * LOG_ODDS_UNIT)


@pytest.mark.slow
@pytest.mark.parametrize("classes", [2, 3, 7])
@pytest.mark.parametrize("rules", [0, 1, 30])
@pytest.mark.parametrize("strength", [0.5, 10.0])
def test_scikit_learn_finds_the_same_votes(classes: int, rules: int, strength: float) -> None:
    problem = random_problem(np.random.default_rng(rules), 200, rules, classes)

    votes = logistic_votes(*problem, strength=strength)

    np.testing.assert_allclose(votes, by_scikit_learn(problem, strength), atol=2e-5)


@pytest.mark.parametrize("classes", [2, 3])
def test_what_one_rule_tells_apart_perfectly_has_finite_votes(classes: int) -> None:
    y = np.arange(60) % classes
    covered = y[:, None] == np.arange(1, classes)
    problem = Problem(covered, np.eye(classes)[y], np.ones(60))

    votes = logistic_votes(*problem, strength=1e-3)

    np.testing.assert_allclose(votes, by_scikit_learn(problem, 1e-3), atol=1e-4)
    assert 3 < votes.max() < 20


@pytest.mark.parametrize("classes", [2, 3])
def test_votes_are_finite_even_without_a_penalty(classes: int) -> None:
    y = np.arange(60) % classes
    covered = np.repeat(y[:, None] == np.arange(1, classes), 2, axis=1)  # each rule is there twice
    votes = logistic_votes(covered, np.eye(classes)[y], strength=1e-300)

    shares = LogOddsClasses(np.arange(classes)).probabilities(covered @ votes[1:] + votes[0])

    np.testing.assert_allclose(shares, smoothed(Problem(covered, np.eye(classes)[y], np.ones(60))), rtol=1e-3)


@pytest.mark.slow
@given(problems(), STRENGTHS)
def test_a_weight_is_as_good_as_repeated_rows(problem: Problem, strength: float) -> None:
    times = problem.weight.astype(int)
    repeated = np.repeat(problem.covered, times, axis=0), np.repeat(problem.target, times, axis=0)

    weighted = logistic_votes(*problem, strength=strength)

    np.testing.assert_allclose(weighted, logistic_votes(*repeated, strength=strength), atol=2 * LOG_ODDS_UNIT)


@pytest.mark.slow
@given(problems(), STRENGTHS, st.data())
def test_the_order_of_rows_and_rules_changes_nothing(problem: Problem, strength: float, data: Any) -> None:
    rows = np.array(data.draw(st.permutations(range(len(problem.covered)))), dtype=int)
    rules = np.array(data.draw(st.permutations(range(problem.covered.shape[1]))), dtype=int)
    moved = Problem(problem.covered[rows][:, rules], problem.target[rows], problem.weight[rows])

    votes = logistic_votes(*problem, strength=strength)

    same = votes[np.concatenate([[0], 1 + rules])]
    np.testing.assert_allclose(logistic_votes(*moved, strength=strength), same, atol=4 * LOG_ODDS_UNIT)


@pytest.mark.slow
@given(problems(), STRENGTHS)
def test_each_size_has_the_votes_of_a_fit_of_its_own(problem: Problem, strength: float) -> None:
    fits = Patterns.of(*problem).fitted_by_size(strength=strength)

    assert len(fits) == 1 + problem.covered.shape[1]
    for size, (votes, _) in enumerate(fits):
        alone = logistic_votes(problem.covered[:, :size], *problem[1:], strength=strength)
        np.testing.assert_allclose(votes, alone, atol=4 * LOG_ODDS_UNIT)


@pytest.mark.slow
@given(problems(n_classes=2, min_rules=1), STRENGTHS, st.data())
def test_votes_keep_to_their_signs_and_are_the_best_that_do(problem: Problem, strength: float, data: Any) -> None:
    rules = problem.covered.shape[1]
    signs = np.array(data.draw(st.lists(st.sampled_from([-1, 0, 1]), min_size=rules, max_size=rules)))

    votes = logistic_votes(*problem, strength=strength, signs=signs)

    mine, slope = votes[1:, 1], gradient(problem, votes, strength)[1:]
    assert (signs * mine >= 0).all()
    tolerance = 4 * LOG_ODDS_UNIT * (strength + problem.weight.sum()) * (1 + rules)
    held = (signs != 0) & (mine == 0)
    assert (signs[held] * slope[held] >= -tolerance).all()
    np.testing.assert_allclose(slope[~held], 0.0, atol=tolerance)


@pytest.mark.parametrize("classes", [2, 4])
def test_a_start_has_no_effect_on_the_votes(classes: int) -> None:
    rng = np.random.default_rng(3)
    problem = random_problem(rng, 300, 12, classes)
    starts = rng.normal(scale=5.0, size=(1 + 12, classes)), rng.normal(size=(5, classes))

    votes = logistic_votes(*problem, strength=2.0)

    for start in starts:
        started = logistic_votes(*problem, strength=2.0, start=start - start.mean(axis=1, keepdims=True))
        np.testing.assert_allclose(started, votes, atol=2 * LOG_ODDS_UNIT)


@pytest.mark.parametrize("size", [0.1, 10.0])
def test_a_start_has_no_effect_on_votes_that_are_held_to_signs(size: float) -> None:
    problem = random_problem(np.random.default_rng(3), 300, 12, 2)
    free = logistic_votes(*problem, strength=2.0)[:, 1]
    signs = np.sign(free[1:]).astype(np.intp) * np.tile([1, -1, 1], 4)
    start = size * np.append(0.0, signs)

    votes = logistic_votes(*problem, strength=2.0, signs=signs)
    started = logistic_votes(*problem, strength=2.0, signs=signs, start=np.column_stack([-start, start]))

    assert 0 < np.count_nonzero(votes[1:, 1]) < 12
    np.testing.assert_allclose(started, votes, atol=2 * LOG_ODDS_UNIT)


@pytest.mark.parametrize("classes", [2, 3])
def test_more_rules_than_can_be_grouped_have_the_same_votes(classes: int, monkeypatch: pytest.MonkeyPatch) -> None:
    problem = random_problem(np.random.default_rng(5), 200, 40, classes)
    grouped = logistic_votes(*problem, strength=5.0)
    monkeypatch.setattr(logistic, "_MANY_RULES", 20)
    monkeypatch.setattr(preconditioner, "MANY_COLUMNS", 20)

    votes = logistic_votes(scipy.sparse.csr_array(problem.covered), *problem[1:], strength=5.0)

    assert len(Patterns.of(*problem).sums) == 200
    np.testing.assert_allclose(votes, grouped, atol=4 * LOG_ODDS_UNIT)


@pytest.mark.parametrize("block", [2**18, 1])
def test_columns_in_full_by_blocks_of_rows_have_the_same_votes(block: int, monkeypatch: pytest.MonkeyPatch) -> None:
    problem = random_problem(np.random.default_rng(6), 200, 12, 4)
    monkeypatch.setattr(columns, "_ON_ONE_THREAD", block)
    in_full = logistic_votes(*problem, strength=2.0)
    monkeypatch.setattr(columns, "_FEW_NUMBERS", 0)

    votes = logistic_votes(*problem, strength=2.0)

    assert_best(problem, in_full, 2.0)
    np.testing.assert_allclose(in_full, votes, atol=2 * LOG_ODDS_UNIT)


def test_votes_of_next_to_no_penalty_are_found_in_double_precision(monkeypatch: pytest.MonkeyPatch) -> None:
    problem = random_problem(np.random.default_rng(7), 20, 28, 4)
    in_full = logistic_votes(*problem, strength=1e-6)
    monkeypatch.setattr(columns, "_FEW_NUMBERS", 0)

    np.testing.assert_array_equal(in_full, logistic_votes(*problem, strength=1e-6))


@pytest.mark.slow
@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("rules", [12, 100])
def test_many_rows_have_the_best_votes_although_steps_are_found_from_some(rules: int, classes: int) -> None:
    problem = random_problem(np.random.default_rng(9), 8_000, rules, classes)

    votes = logistic_votes(*problem, strength=2.0)

    assert len(Patterns.of(*problem).sums) > preconditioner._ROWS_PER_COLUMN * (1 + rules)
    assert_best(problem, votes, 2.0)


@pytest.mark.parametrize("classes", [2, 3])
def test_a_class_without_rows_is_possible_all_the_same(classes: int) -> None:
    covered, target = np.ones((9, 1), dtype=bool), np.eye(classes)[np.zeros(9, dtype=int)]

    votes = logistic_votes(covered, target, strength=1.0)

    shares = LogOddsClasses(np.arange(classes)).probabilities(votes.sum(axis=0, keepdims=True))
    np.testing.assert_allclose(shares[0, 1:], 0.1 / classes, rtol=1e-4)


@pytest.mark.parametrize("classes", [2, 3, 4])
def test_where_all_classes_are_alike_there_is_nothing_to_find(classes: int) -> None:
    covered = np.array([[False, False], [False, False], [False, True], [False, False]])
    target, weight = np.full((4, classes), 1 / classes), np.array([2.0, 3.0, 1.0, 3.0])

    assert (logistic_votes(covered, target, weight, strength=0.01) == 0).all()


@pytest.mark.parametrize("rows", [0, 4])
@pytest.mark.parametrize("classes", [1, 2, 3])
def test_without_any_weight_nothing_is_known(rows: int, classes: int) -> None:
    covered, target = np.ones((rows, 2), dtype=bool), np.full((rows, classes), 1 / classes)

    assert (logistic_votes(covered, target, np.zeros(rows), strength=1.0) == 0).all()


@pytest.mark.slow
@pytest.mark.parametrize("classes", [2, 5])
def test_the_votes_are_the_same_on_any_number_of_threads(classes: int) -> None:
    problem = random_problem(np.random.default_rng(8), 5_000, 60, classes)
    found = []
    for threads in (1, 2, 4):
        with threadpool_limits(threads):
            by_size = Patterns.of(problem.covered[:, :20], *problem[1:]).fitted_by_size(strength=10.0)
            found.append(np.vstack([logistic_votes(*problem, strength=10.0), *(votes for votes, _ in by_size)]))

    assert (found[0] == found[1]).all() and (found[0] == found[2]).all()


@pytest.mark.parametrize("rules", [0, 1, 8, 64, 65, 130])
def test_rows_with_the_same_rules_are_one_pattern(rules: int) -> None:
    rng = np.random.default_rng(rules)
    problem = random_problem(rng, 40, rules, 3)
    again = Problem(*(np.concatenate([part, part[::-1]]) for part in problem))

    patterns = Patterns.of(*again)

    unique, where = np.unique(again.covered, axis=0, return_inverse=True)
    order = np.lexsort(patterns.covered.T[::-1]) if rules else np.arange(1)
    assert (patterns.covered[order] == unique).all()
    sums = np.zeros((len(unique), 3))
    np.add.at(sums, where.ravel(), smoothed(again))
    np.testing.assert_allclose(patterns.sums[order], sums, rtol=1e-12)


@given(problems())
def test_patterns_grow_rule_by_rule_to_those_of_all_rules(problem: Problem) -> None:
    growing = GrowingPatterns(problem.target, problem.weight)
    for rules in range(problem.covered.shape[1] + 1):
        if rules:
            growing.add(problem.covered[:, rules - 1])
        grown = growing.patterns()

        expected = Patterns.of(problem.covered[:, :rules], problem.target, problem.weight)
        assert (grown.covered == expected.covered).all() and (grown.first == expected.first).all()
        np.testing.assert_allclose(grown.sums, expected.sums, rtol=1e-12)


sums_of_two = st.floats(-2000, 2000).map(lambda x: [-x, x])
sums_of_more = st.lists(st.floats(-2000, 2000), min_size=3, max_size=6)


@given(sums_of_two | sums_of_more)
def test_probabilities_are_those_of_the_log_odds_and_never_0_or_1(sums: list[float]) -> None:
    given = np.array([sums])
    expected = expit(given) if len(sums) == 2 else softmax(given, axis=1)

    shares = LogOddsClasses(np.arange(len(sums))).probabilities(given)

    assert (shares > 0).all() and (shares < 1).all()
    np.testing.assert_allclose(shares.sum(), 1.0, rtol=1e-15)
    np.testing.assert_allclose(shares, expected, atol=1e-12)
    assert shares[0, given.argmax()] == shares.max()


@given(st.lists(st.integers(0, 1000), min_size=2, max_size=6).filter(any))
def test_sums_that_stand_for_counts_have_their_shares_as_probabilities(counts: list[int]) -> None:
    answer, array = LogOddsClasses(np.arange(len(counts))), np.array([counts], dtype=float)

    shares = answer.probabilities(answer.sums_of(array))

    np.testing.assert_allclose(shares, array / array.sum(), rtol=1e-5, atol=1e-12)
