"""Greedy against a plain reference, step by step."""

from __future__ import annotations

import functools
import itertools
import time
from typing import Any

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given
from hypothesis import strategies as st
from strategies import brute_force, covering_problems, dense

import rulecover.setcover.greedy as greedy_module
from rulecover.coverage import Coverage, addable
from rulecover.exceptions import UncoveredSamplesError
from rulecover.setcover import Cover, CoveringProblem, Exact, Greedy, Search, Status, verify
from rulecover.setcover.bounds import NO_TABLE
from rulecover.setcover.greedy import (
    Gains,
    Remaining,
    SamplesHere,
    greedy_picks,
    in_greedy_order,
    picks_from,
    prices_charged,
)
from rulecover.typing import Ints


def plain_picks(problem: CoveringProblem) -> list[int]:
    matrix, need = dense(problem).tolist(), problem.demand.tolist()
    weight = [1.0] * problem.n_samples if problem.weight is None else problem.weight.tolist()
    picks: list[int] = []
    while any(n > 0 for n in need):
        best, best_ratio = -1, float("inf")
        for rule in range(problem.n_rules):
            gain = sum(w for row, n, w in zip(matrix, need, weight, strict=True) if n > 0 and row[rule])
            if rule not in picks and gain and problem.cost[rule] / gain < best_ratio:
                best, best_ratio = rule, problem.cost[rule] / gain
        picks.append(best)
        need = [n - row[best] if n > 0 else n for row, n in zip(matrix, need, strict=True)]
    return picks


def plain_removal(problem: CoveringProblem, picks: list[int], *, prefix: bool) -> list[int]:
    matrix, kept = dense(problem), list(picks)
    for rule in sorted(picks, key=lambda j: (problem.cost[j], picks.index(j)), reverse=True):
        rest = [j for j in kept if j != rule]
        if (matrix[:, rest].sum(axis=1) >= problem.demand).all():
            kept = rest
        elif prefix:
            break
    return kept


@pytest.mark.slow
@pytest.mark.parametrize("weighted", [False, True])
@given(data=st.data())
def test_greedy_picks_and_removes_as_the_plain_reference_does(weighted, data):
    problem = data.draw(covering_problems(weighted=weighted))
    picks = plain_picks(problem)
    assert greedy_picks(problem)[0].tolist() == picks
    for redundancy in ("prefix", "strong"):
        cover = Greedy(redundancy=redundancy)(problem)
        assert cover.rules.tolist() == plain_removal(problem, picks, prefix=redundancy == "prefix")
        verify(problem, cover)


def test_a_limit_that_holds_without_redundant_rules_does_not_bind():
    covers = np.array([[1, 1, 1, 1, 1, 0, 0, 0, 0], [0] * 7 + [1, 1], [0] * 6 + [1, 0, 1], [0] * 5 + [1, 0, 1, 0]])
    problem = CoveringProblem.from_sparse(scipy.sparse.csc_array(covers.T), np.ones(4))
    solve = Greedy(redundancy="strong")

    assert len(greedy_picks(problem)[0]) == 4 and solve(problem).rules.tolist() == [0, 2, 3]
    assert solve(problem, max_rules=3).rules.tolist() == [0, 2, 3]
    assert solve(problem, max_rules=3).status != Status.LIMITED == solve(problem, max_rules=2).status


@pytest.mark.slow
@given(problem=covering_problems())
def test_a_rule_limit_keeps_the_first_picks_and_covers_are_nested(problem):
    whole = greedy_picks(problem)[0].tolist()
    for limit in range(1, len(whole) + 1):
        cover = Greedy()(problem, max_rules=limit)
        assert len(cover) <= limit
        if cover.status == Status.LIMITED:
            assert cover.rules.tolist() == whole[:limit]
            assert cover.certificate.n_uncovered == len(problem.shortfall(cover.rules))


@pytest.mark.slow
@pytest.mark.parametrize("weighted", [False, True])
@given(data=st.data(), slack=st.sampled_from([1e-17, 0.01, 0.3, 1.0, 2.0]))
def test_with_slack_every_pick_is_nearly_the_best_buy_of_its_moment(weighted, data, slack):
    problem = data.draw(covering_problems(weighted=weighted))
    matrix, need = dense(problem), problem.demand.copy()
    weight = np.ones(problem.n_samples) if problem.weight is None else problem.weight
    remaining = Remaining(problem.cost, SamplesHere(problem))
    if slack == 1.0:  # that of a choice whose time is up
        picks = picks_from(remaining, deadline=time.perf_counter() - 1).tolist()
    else:
        picks = picks_from(remaining, slack=slack).tolist()
    for place, rule in enumerate(picks):
        gain = ((need > 0) * weight) @ matrix
        gain[picks[:place]] = 0
        ratio = problem.cost[gain > 0] / gain[gain > 0]
        assert gain[rule] > 0 and problem.cost[rule] / gain[rule] <= (1 + slack) * ratio.min() * (1 + 1e-12)
        need = np.maximum(need - matrix[:, rule], 0)
    assert not need.any()
    verify(problem, Greedy(slack=slack)(problem))


def rounds_of(problem: CoveringProblem, **settings: Any) -> list[list[int]]:
    """The rules that are picked in each round."""
    rounds: list[list[int]] = []

    class Watched(SamplesHere):
        def cover(self, rules: Ints) -> Gains:
            rounds.append(rules.tolist())
            return super().cover(rules)

    picks = picks_from(Remaining(problem.cost, Watched(problem)), **settings)
    assert picks.tolist() == list(itertools.chain(*rounds))
    return rounds


def test_slack_saves_rounds():
    # A thousand rules with a sample each: all are equally good buys, and none is in the way; and an expensive one.
    masks = np.vstack([np.eye(1000, dtype=int), np.ones((1, 1000), dtype=int)])
    problem = CoveringProblem(Coverage.of_masks(masks), cost=np.append(np.ones(1000), 1e6))
    assert len(rounds_of(problem)) == 1000
    assert [len(picked) for picked in rounds_of(problem, slack=0.1)] == [64] * 15 + [40]
    assert rounds_of(problem, deadline=time.perf_counter() - 1) == [list(range(1000))]
    # Of equal trees one leaf each is picked, however many copies there are.
    tree = 1 + np.arange(6000) // 2
    copies = Coverage.of_ids([tree.astype(np.uint16)] * 40, [3000] * 40, 6000)
    several = CoveringProblem(copies, np.tile(1 + np.random.default_rng(0).random(3000), 40))
    rounds = rounds_of(several, deadline=time.perf_counter() - 1)
    assert sum(map(len, rounds)) == 3000 and len(rounds) < 150
    assert len(rounds_of(problem, deadline=time.perf_counter() + 1000)) == 1000


def test_with_slack_a_rule_that_would_gain_little_weight_after_others_waits_for_its_round():
    coverage = Coverage.of_masks([[1, 1, 0, 0], [0, 1, 1, 1]])
    light = CoveringProblem(coverage, [1.0, 1.0], weight=np.array([1.0, 1.0, 0.01, 0.01]))  # 50 per unit, not 0.98
    assert rounds_of(light, slack=1.0) == [[0], [1]]
    assert rounds_of(CoveringProblem(coverage, [1.0, 1.0]), slack=2.0) == [[1, 0]]


@pytest.mark.parametrize("weighted", [False, True])
@given(data=st.data(), slack=st.sampled_from([0.0, 0.3]), late=st.booleans())
def test_what_rules_collect_are_the_prices_of_the_samples_that_they_cover(weighted, data, slack, late):
    problem = data.draw(covering_problems(weighted=weighted))
    remaining = Remaining(problem.cost, SamplesHere(problem))
    picks = picks_from(remaining, slack=slack, deadline=time.perf_counter() - 1 if late else None)
    prices = prices_charged(problem, remaining)
    np.testing.assert_allclose(remaining.collected, problem.coverage.per_rule(prices), rtol=1e-9)
    np.testing.assert_allclose(remaining.priced, problem.demand @ prices, rtol=1e-9)
    if slack == 0 and not late and problem.demand.max() == 1:
        np.testing.assert_allclose(remaining.priced, problem.cost[picks].sum(), rtol=1e-9)


def test_in_haste_no_round_looks_at_many_more_samples_than_are_open():
    random = np.random.default_rng(0)
    ids = [np.unique(random.geometric(0.2, 3000), return_inverse=True)[1] + 1 for _ in range(50)]
    coverage = Coverage.of_ids([each.astype(np.uint8) for each in ids], [each.max() for each in ids], 3000)
    problem = CoveringProblem(coverage, 1 + random.random(coverage.n_rules))
    looked_at: list[float] = []

    class Watched(SamplesHere):
        def gains_in_turn(self, rules: Ints) -> Gains:
            looked_at.append(remaining.count[rules].sum() / remaining.n_open)
            return super().gains_in_turn(rules)

    remaining = Remaining(problem.cost, Watched(problem))
    picks = picks_from(remaining, deadline=time.perf_counter() - 1)
    assert not len(problem.shortfall(picks)) and max(looked_at) < 1.5


@pytest.mark.slow
@pytest.mark.parametrize("weighted", [False, True])
@given(
    rule_of=st.lists(st.integers(0, 9), min_size=1, max_size=40),
    costs=st.lists(st.sampled_from([1.0, 1.25, 1.5, 3.0]), min_size=10, max_size=10),
    limit=st.none() | st.integers(1, 6),
    seed=st.integers(0, 99),
)
def test_rules_of_one_tree_are_all_picked_at_once_in_the_order_of_the_reference(weighted, rule_of, costs, limit, seed):
    number = np.unique(rule_of, return_inverse=True)[1]
    n_rules = number.max() + 1
    weight = addable(np.random.default_rng(seed).random(len(number)) + 0.1) if weighted else None
    coverage = Coverage.of_ids([(number + 1).astype(np.uint8)], [n_rules], len(number))
    problem = CoveringProblem(coverage, np.array(costs[:n_rules]), weight=weight)
    remaining = Remaining(problem.cost, SamplesHere(problem))
    picks = np.append(picks_from(remaining, at_most=limit), picks_from(remaining)).tolist()
    assert picks == plain_picks(problem)
    gain = coverage.per_rule(np.ones(len(number)) if weight is None else weight)
    price = (problem.cost / gain)[number] * (1.0 if weight is None else weight)
    np.testing.assert_allclose(prices_charged(problem, remaining), price, rtol=1e-12)
    cover = Greedy()(problem)
    assert cover.rules.tolist() == picks and cover.status == Status.OPTIMAL
    verify(problem, cover)


@functools.cache
def many_rules(n_trees: int = 12, n_samples: int = 200_000, n_leaves: int = 10_000) -> CoveringProblem:
    """Trees of thousands of leaves, of which each sample is in one by chance: thousands of rules are needed."""
    random = np.random.default_rng(0)
    ids = [1 + np.minimum(random.geometric(5 / n_leaves, n_samples), n_leaves) for _ in range(n_trees)]
    ids = [np.unique(each, return_inverse=True)[1] + 1 for each in ids]
    coverage = Coverage.of_ids([each.astype(np.uint16) for each in ids], [each.max() for each in ids], n_samples)
    return CoveringProblem(coverage, 1 + random.random(coverage.n_rules))


def test_a_choice_in_haste_is_said_to_be_cut_whatever_comes_after(monkeypatch: pytest.MonkeyPatch) -> None:
    problem = many_rules(2, 5000, 1000)
    free = Search(memory_limit=1)(problem)
    assert free.status == Status.FEASIBLE and free.certificate.left_out == NO_TABLE
    limited = Search(memory_limit=1, time_limit=1e-6), Exact(memory_limit=1, time_limit=1e-6)
    assert [solver(problem).status for solver in limited] == [Status.TIME_LIMIT] * 2
    removed, clock, late_by = greedy_module._without_needless, time.perf_counter, [0.0]
    monkeypatch.setattr(time, "perf_counter", lambda: clock() + late_by[0])

    def slowly(*given: Any, **more: Any) -> Any:
        late_by[0] += 61.0
        return removed(*given, **more)

    monkeypatch.setattr(greedy_module, "_without_needless", slowly)
    assert Greedy("strong", time_limit=60)(problem).status == Status.TIME_LIMIT

    def hurried(*given: Any, **more: Any) -> Any:
        late_by[0] = 50.0  # of 60, of which a part is for what comes after
        return picks_from(*given, **more)

    monkeypatch.setattr(greedy_module, "_without_needless", removed)
    monkeypatch.setattr(greedy_module, "picks_from", hurried)
    late_by[0] = 0.0
    assert Greedy(time_limit=60)(problem).status == Status.TIME_LIMIT
    late_by[0] = 0.0
    assert Greedy(time_limit=600)(problem).status == Status.FEASIBLE


@functools.cache
def in_all_time() -> Cover:
    return Greedy()(many_rules())


@pytest.mark.slow
@pytest.mark.parametrize(
    "solver", [Greedy(time_limit=0.3), Greedy("strong", "lp", time_limit=0.3), Search(time_limit=0.3), Exact(0.3)]
)
def test_a_choice_among_very_many_rules_ends_in_time(solver):
    problem = many_rules()
    begin = time.process_time()
    cover = solver(problem)
    assert time.process_time() - begin < 3
    assert cover.status == Status.TIME_LIMIT and not len(problem.shortfall(cover.rules))
    verify(problem, cover)
    free = in_all_time()
    assert cover.objective < 1.5 * free.objective and free.status != Status.TIME_LIMIT


@pytest.mark.parametrize("slack", [-0.1, float("nan"), float("inf")])
def test_slack_is_a_number_of_at_least_zero(slack):
    with pytest.raises(ValueError, match="slack is"):
        Greedy(slack=slack)


def test_ties_go_to_the_lowest_index():
    problem = CoveringProblem(Coverage.of_masks([[0, 1, 1], [1, 1, 0], [1, 1, 0]]), cost=[1.0, 1.0, 1.0])
    assert Greedy()(problem).rules.tolist() == [0, 1]


@pytest.mark.slow
@given(problem=covering_problems())
def test_a_greedy_cover_meets_every_demand_and_never_beats_the_optimum(problem):
    cover = Greedy()(problem)
    assert not len(problem.shortfall(cover.rules))
    assert cover.bound - 1e-9 <= brute_force(problem) <= cover.objective + 1e-9


@pytest.mark.slow
@given(problem=covering_problems())
def test_the_greedy_order_keeps_the_rules(problem):
    rules = Greedy()(problem).rules
    assert sorted(in_greedy_order(problem, rules)) == sorted(rules)


@pytest.mark.slow
@given(problem=covering_problems())
def test_the_lp_bound_can_be_had_with_a_greedy_cover(problem):
    fit, lp = Greedy()(problem), Greedy(bound="lp")(problem)
    assert fit.rules.tolist() == lp.rules.tolist()
    assert fit.bound <= lp.bound + 1e-6
    verify(problem, lp)


def test_a_sample_that_no_rule_covers_raises():
    with pytest.raises(UncoveredSamplesError, match="the first is sample 1"):
        CoveringProblem(Coverage.of_masks([[1, 0, 1]]), cost=[1.0])


@pytest.mark.parametrize("weight", [[1.0, 1.0], [1.0, 0.0, 1.0], [1.0, np.inf, 1.0], [1.0, -2.0, 1.0]])
def test_weights_that_count_no_sample_are_refused(weight: list[float]):
    with pytest.raises(
        ValueError, match="weights must be positive and finite, one per sample; leave samples of weight"
    ):
        CoveringProblem(Coverage.of_masks([[1, 1, 1]]), cost=[1.0], weight=np.array(weight))


@pytest.mark.parametrize(
    "settings",
    [
        {"redundancy": "none"},
        {"bound": "best"},
        {"bound": "lp", "time_limit": 0},
        {"time_limit": -1.0},
        {"bound_time_limit": 0},
    ],
)
def test_bad_settings_raise(settings):
    with pytest.raises(ValueError, match=rf"^{list(settings)[-1]} is .*; (choose one of|give a positive number)"):
        Greedy(**settings)


def test_the_time_limit_counts_from_the_start_of_the_greedy_choice(monkeypatch: pytest.MonkeyPatch) -> None:
    problem = CoveringProblem(Coverage.of_masks([[1, 1, 0], [0, 1, 1], [1, 0, 1]]), cost=[1.0, 1.0, 1.5])
    solver = Greedy(bound="lp", time_limit=60.0)
    in_time = solver(problem)
    clock, late_by, choose = time.perf_counter, [0.0], greedy_module.picks_from

    def slowly(*given: Any, **more: Any) -> Any:
        late_by[0] += 61.0
        return choose(*given, **more)

    monkeypatch.setattr(time, "perf_counter", lambda: clock() + late_by[0])
    monkeypatch.setattr(greedy_module, "picks_from", slowly)
    late = solver(problem)

    assert in_time.certificate.source != "dual fitting"
    assert late.certificate.source == "dual fitting"
    assert late.rules.tolist() == in_time.rules.tolist()
    verify(problem, late)
