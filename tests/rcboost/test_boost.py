"""A run of Algorithm 2 as functions of values: it can go on, is watched, and is what the estimator shows."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from sklearn.tree import DecisionTreeClassifier

from rulecover import RCBoostClassifier
from rulecover.clock import is_late
from rulecover.rcboost.boost import _FIRST_SOLVE, BoostRun, ChangingVote, Watch, boost, boosted
from rulecover.rcboost.generate import BoostRecipe, RuleGeneration
from rulecover.rcboost.pricing.oracles import TreePricing
from rulecover.readers import read_trees
from rulecover.setcover import Status
from rulecover.setcover.master import Master, Relaxation
from rulecover.targets.classes.impurity import Gini
from rulecover.targets.classes.samples import ClassSamples
from rulecover.targets.classes.target import ClassTarget
from rulecover.targets.impurity import Price
from rulecover.targets.samples import Samples
from rulecover.trees.tree import TreeEnsemble
from rulecover.typing import Ints
from rulecover.voting.classes import class_votes
from rulecover.voting.vote import Vote

SEEDS = st.integers(0, 2**31 - 1)
EXAMPLES = settings(max_examples=10, deadline=None)


def drawn(seed: int, n: int = 80) -> ClassSamples:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3)).round(1)
    y = ((X[:, 0] * X[:, 1] + 0.3 * rng.normal(size=n)) > 0).astype(np.intp)
    y[:2] = 0, 1
    return ClassSamples(X, y, np.arange(2))


def names(first: TreeEnsemble) -> tuple[str, ...]:
    return first.names(None)


def begun(samples: ClassSamples, watched: ClassSamples | None = None) -> BoostRun:
    tree = DecisionTreeClassifier(max_depth=3, random_state=0).fit(samples.X, samples.labels)
    generation = RuleGeneration(samples, tree, BoostRecipe(TreePricing(), Price(Gini())), names)
    if watched is None:
        return BoostRun(generation)

    def vote(rules: Ints) -> Vote:
        return class_votes(generation.generated.written(rules))

    return BoostRun(generation, Watch(watched, ClassTarget(watched.classes), vote))


@pytest.mark.slow
@EXAMPLES
@given(SEEDS, st.integers(0, 4), st.integers(0, 4))
def test_a_run_that_goes_on_is_one_run(seed: int, first: int, more: int) -> None:
    samples = drawn(seed)
    in_parts, at_once = begun(samples), begun(samples)
    boost(in_parts, first)
    assume(all(done.added for done in in_parts.rounds))  # it did not end by itself
    boost(in_parts, first + more)
    boost(at_once, first + more)

    one, two = boosted(in_parts), boosted(at_once)

    assert one.rules == two.rules and len(one.stages) == len(two.stages) <= first + more + 1
    for (pool, z), (other, shares) in zip(one.stages, two.stages, strict=True):
        assert pool.tolist() == other.tolist()
        assert z == pytest.approx(shares, abs=1e-6)
    assert one.certificate.objective == pytest.approx(two.certificate.objective)


@pytest.mark.slow
@EXAMPLES
@given(SEEDS)
def test_the_estimator_shows_what_the_run_found(seed: int) -> None:
    samples = drawn(seed)
    run = begun(samples)
    boost(run, 4)
    found = boosted(run)
    tree = DecisionTreeClassifier(max_depth=3, random_state=0)
    model = RCBoostClassifier(tree, max_rmp_calls=4, step=1.0, pricing="tree").fit(samples.X, samples.labels)

    assert model.pool_ == found.rules and model.n_rmp_calls_ == len(found.stages) - 1
    assert model.history_["objective"].tolist() == found.history["objective"].tolist()
    assert model.z_.tolist() == found.stages[-1][1].tolist()


@EXAMPLES
@given(SEEDS, st.integers(1, 3))
def test_a_watched_run_ends_at_its_best_call(seed: int, patience: int) -> None:
    samples, watched = drawn(seed), drawn(seed + 1)
    run = begun(samples, watched)

    boost(run, 12, patience=patience)

    def score(pool: Ints) -> float:
        vote = class_votes(run.generation.generated.written(pool))
        return float(np.mean(vote.decided(vote.added(watched.X)) == watched.labels))

    all_pools = [begun(samples).generation.pool, *(done.pool for done in run.rounds)]
    scores = [score(pool) for pool in all_pools]
    best = int(np.argmax(scores))
    assert len(boosted(run).stages) == 1 + best
    assert len(run.rounds) <= best + patience


def test_no_call_begins_when_time_is_up_and_a_solve_is_still_made() -> None:
    run = begun(drawn(0))

    boost(run, 5, deadline=time.perf_counter() - 1)

    found = boosted(run)
    assert not run.rounds and len(found.history) == 0
    assert found.certificate.bound == pytest.approx(found.certificate.objective) and found.certificate.objective > 0


@EXAMPLES
@given(SEEDS)
def test_votes_of_a_changing_pool_are_those_of_the_pool(seed: int) -> None:
    samples, rng = drawn(seed), np.random.default_rng(seed)
    run = begun(samples)
    boost(run, 3)
    vote = class_votes(run.generation.generated.rules.with_evidence(run.generation.generated.evidence))
    changing = ChangingVote(vote.take, samples.X)

    for _ in range(4):
        pool = np.flatnonzero(rng.random(len(vote)) < 0.5)
        if len(pool):
            sums, fired = changing.to(pool)
            expected = vote.take(pool).added(samples.X)
            assert (sums == expected.sums).all() and (fired == expected.fired).all()


def test_verbose_shows_calls_on_standard_error(capsys: pytest.CaptureFixture[str]) -> None:
    boost(begun(drawn(0)), 2)
    assert capsys.readouterr().err == ""

    boost(begun(drawn(0)), 2, verbose=1)

    shown = capsys.readouterr()
    assert shown.out == "" and "Generating rules" in shown.err


def test_the_first_solve_has_time_of_its_own_and_no_more() -> None:
    run = begun(drawn(0))
    boost(run, 5, deadline=time.perf_counter() - 1)

    begin = time.perf_counter()
    boosted(run, over=False)

    assert begin < run.generation.deadline <= time.perf_counter() + _FIRST_SOLVE


@pytest.mark.parametrize("calls", [1, 3])
@pytest.mark.parametrize("watched", [False, True])
def test_without_time_for_the_last_solve_shares_are_those_of_the_last_call(
    calls: int, watched: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    samples = drawn(1, 400)
    run = begun(samples, samples if watched else None)
    boost(run, calls)
    assert len(run.rounds) == calls
    monkeypatch.setattr(Watch, "best", calls - 1)
    solve = Master.solve

    def in_time(master: Master, *, deadline: float | None = None) -> Relaxation:
        if is_late(deadline):
            raise TimeoutError
        return solve(master, deadline=deadline)

    monkeypatch.setattr(Master, "solve", in_time)
    run.generation.deadline = time.perf_counter() - 1
    found = boosted(run, over=False)

    before, z = run.rounds[max(0, calls - 1 - watched)], found.stages[-1][1]
    assert len(found.stages) == calls + 1 - watched
    assert z[: len(before.z)].tolist() == before.z.tolist()
    assert not z[len(before.z) :].any()
    cost = run.generation.generated.evidence.cost[: len(z)]
    assert found.certificate.objective == pytest.approx(cost @ z) and found.certificate.status == Status.TIME_LIMIT


class FirstTree(TreePricing):
    """Grows the first tree as well, on rows that are not repeated, and notes of how many samples."""

    repeats_rows = False

    def first(self, samples: Samples, tree: Any, seed: int) -> TreeEnsemble:
        grown.append(samples)
        return read_trees(tree)


grown: list[Samples] = []


def test_a_pricing_grows_the_first_tree_of_all_samples_or_of_those_that_it_is_given() -> None:
    samples = replace(drawn(2), weight=np.full(80, 2.0))
    tree = DecisionTreeClassifier(max_depth=3, random_state=0).fit(samples.X, samples.labels)
    recipe = BoostRecipe(FirstTree(), Price(Gini()))
    grown.clear()

    generation = RuleGeneration(samples, tree, recipe, names)
    RuleGeneration(samples, tree, recipe, names, grow=lambda make, some: make(some.among(np.arange(20))))

    assert generation.samples is samples and grown[0] is samples
    assert [len(each.y) for each in grown] == [80, 20]
