"""The greedy cover of rows in parts is that of the same rows in one process, rule for rule."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.ensemble import RandomForestClassifier

from rulecover.coverage import addable
from rulecover.partitions.cover import greedy_cover
from rulecover.partitions.part import LeafNumbers, Part
from rulecover.partitions.parts import LocalParts
from rulecover.partitions.store import InMemory, SpillToDisk
from rulecover.pool import RulePool, leaf_pool
from rulecover.readers import read_trees
from rulecover.setcover import Cover, CoveringProblem, Greedy, Status
from rulecover.setcover.greedy import dual_fitting, greedy_picks
from rulecover.targets.classes.impurity import Gini
from rulecover.targets.classes.samples import ClassSamples
from rulecover.targets.impurity import Price
from rulecover.trees.tree import TreeEnsemble

#: What rows are drawn by, where they are cut, and how many rules must cover each: one number, or one for each class.
DRAWN: dict[str, Any] = {
    "seed": st.integers(0, 10**6),
    "cuts": st.lists(st.integers(0, 10**6), max_size=6),
    "demand": st.integers(1, 4) | st.lists(st.integers(1, 3), min_size=3, max_size=3),
}


def drawn_samples(seed: int, *, weighted: bool) -> tuple[TreeEnsemble, ClassSamples]:
    random = np.random.default_rng(seed)
    n_rows = int(random.integers(5, 120))
    X = random.integers(0, 6, (n_rows, 3)).astype(np.float64)
    y = random.integers(0, 3, n_rows)
    model = RandomForestClassifier(int(random.integers(1, 10)), max_depth=4, random_state=seed % 1000).fit(X, y)
    weight = addable(random.random(n_rows) + 0.01) if weighted else None
    return read_trees(model), ClassSamples(X, y, np.arange(3), weight)


def parts_of(samples: ClassSamples, trees: TreeEnsemble, cuts: list[int], store: Any = None) -> LocalParts:
    """The rows cut at these places; two equal cuts make an empty part."""
    blocks = np.split(np.arange(len(samples.y)), sorted(cut % (len(samples.y) + 1) for cut in cuts))
    return LocalParts([Part(trees, lambda rows=rows: samples.among(rows), store) for rows in blocks])


def covered_in_parts(parts: LocalParts, pool: RulePool, trees: TreeEnsemble, demand: Any, **options: Any) -> Cover:
    sums = sum(parts.map("leaf_sums"))
    leaves = np.flatnonzero(sums.any(axis=1))
    assert (sums[leaves] == pool.evidence.sums).all()
    assert LeafNumbers(trees).tree[leaves].tolist() == pool.source.tree.tolist()
    total = None if pool.weight is None else float(pool.weight.sum())
    return greedy_cover(parts, pool.evidence.cost, leaves, demand, total_weight=total, **options)


def problem_of(pool: RulePool, samples: ClassSamples, demand: Any) -> CoveringProblem:
    """The problem with one demand for all rows, or one for each class."""
    return pool.problem(demand if demand.ndim == 0 else demand[samples.y])


def assert_same(ours: Cover, theirs: Cover) -> None:
    assert ours.rules.tolist() == theirs.rules.tolist()
    for name in ("objective", "bound", "status", "source", "n_rules", "min_rules", "n_uncovered", "n_capped"):
        assert getattr(ours.certificate, name) == getattr(theirs.certificate, name), name


@pytest.mark.slow
@pytest.mark.parametrize("weighted", [False, True])
@settings(max_examples=40)
@given(
    **DRAWN,
    solver=st.sampled_from([Greedy(), Greedy(redundancy="strong"), Greedy(slack=0.5), Greedy(slack=3)]),
    max_rules=st.none() | st.integers(1, 6),
)
def test_the_cover_is_the_same_for_any_partitioning(weighted, seed, cuts, demand, *, solver, max_rules):
    trees, samples = drawn_samples(seed, weighted=weighted)
    pool = leaf_pool(samples, trees, Price(Gini()), ("a", "b", "c"))
    wanted = np.asarray(demand)
    theirs = solver(problem_of(pool, samples, wanted), max_rules=max_rules)

    parts = parts_of(samples, trees, cuts)
    ours = covered_in_parts(parts, pool, trees, wanted, solver=solver, max_rules=max_rules)

    assert_same(ours, theirs)


@pytest.mark.slow
@pytest.mark.parametrize("weighted", [False, True])
@settings(max_examples=40)
@given(**DRAWN)
def test_what_is_chosen_in_haste_is_the_same_for_any_partitioning(weighted, seed, cuts, demand):
    trees, samples = drawn_samples(seed, weighted=weighted)
    pool = leaf_pool(samples, trees, Price(Gini()), ("a", "b", "c"))
    wanted, late = np.asarray(demand), time.perf_counter() - 1
    problem = problem_of(pool, samples, wanted)
    picks, remaining = greedy_picks(problem, deadline=late)

    ours = covered_in_parts(parts_of(samples, trees, cuts), pool, trees, wanted, deadline=late)

    assert ours.rules.tolist() == picks.tolist() and ours.status in (Status.TIME_LIMIT, Status.OPTIMAL)
    assert ours.bound == min(dual_fitting(remaining)[1], ours.objective)
    assert not len(problem.shortfall(ours.rules))


def test_the_cover_is_the_same_with_leaf_ids_on_disk(tmp_path):
    trees, samples = drawn_samples(7, weighted=True)
    pool = leaf_pool(samples, trees, Price(Gini()), ("a", "b", "c"))
    store = SpillToDisk(limit=100, folder=str(tmp_path))

    parts = parts_of(samples, trees, [10, 40, 41], store)
    ours = covered_in_parts(parts, pool, trees, np.asarray(1))

    assert_same(ours, Greedy()(pool.problem()))
    assert list(tmp_path.rglob("*.ids"))
    store.close()
    assert not list(tmp_path.iterdir())


def test_a_part_that_is_lost_is_made_again_by_the_same_calls():
    trees, samples = drawn_samples(3, weighted=False)
    calls = [
        ("leaf_sums",),
        ("start_cover", np.arange(len(LeafNumbers(trees))), np.asarray(1)),
        ("cover", np.array([0])),
        ("cover", np.array([2, 3])),
    ]
    first, second = (Part(trees, lambda: samples, InMemory()) for _ in range(2))
    for name, *arguments in calls:
        getattr(first, name)(*arguments)
    for name, *arguments in calls:
        getattr(second, name)(*arguments)

    one, two = first.cover(np.array([1])), second.cover(np.array([1]))

    assert (one.samples, one.count.tolist()) == (two.samples, two.count.tolist())
