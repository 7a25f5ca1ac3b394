"""Algorithm 1 as a function of a pool, without an estimator."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import DataSet, brute_force, data_sets, ensemble_of, trees

from rulecover.mirco.cover import Recipe, minimum_rule_cover
from rulecover.mirco.prune import pruned_pool
from rulecover.mirco.timed import TimedSolver
from rulecover.pool import RulePool, leaf_pool
from rulecover.setcover import Exact, Greedy
from rulecover.targets.classes.impurity import Gini
from rulecover.targets.classes.samples import ClassSamples
from rulecover.targets.impurity import Price
from rulecover.trees.tree import Tree
from rulecover.voting.classes import class_votes

few_trees = st.lists(trees(max_splits=3), min_size=1, max_size=2)


def pool_of(data: DataSet, several: list[Tree]) -> tuple[RulePool, ClassSamples]:
    samples = ClassSamples(data.X, data.y, np.array(["a", "b", "c"]))
    return leaf_pool(samples, ensemble_of(several), Price(Gini()), ("x", "y", "z")), samples


@pytest.mark.slow
@given(data=data_sets(n_classes=3), several=few_trees)
def test_algorithm_1_finds_a_cheapest_cover_whose_rules_vote_by_what_they_cover(
    data: DataSet, several: list[Tree]
) -> None:
    pool, samples = pool_of(data, several)

    found = minimum_rule_cover(pool, samples, Recipe(vote=class_votes, solver=partial(TimedSolver.of, Exact())))

    covered = found.vote.rules.apply(data.X).toarray()
    counts = [np.bincount(data.y[mine], minlength=3) for mine in covered.T.astype(bool)]
    impurities = [1 - ((count / count.sum()) ** 2).sum() for count in counts]
    assert covered.any(axis=1).all() and not found.uncovered.size
    assert found.vote.votes.tolist() == np.array(counts).tolist()
    np.testing.assert_allclose(sum(1 + impurity for impurity in impurities), brute_force(pool.problem(1)))


@given(data=data_sets(n_classes=3), several=few_trees)
def test_rows_beyond_the_limit_on_rules_are_named(data: DataSet, several: list[Tree]) -> None:
    pool, samples = pool_of(data, several)

    recipe = Recipe(vote=class_votes, solver=partial(TimedSolver.of, Greedy()), max_rules=1)
    found = minimum_rule_cover(pool, samples, recipe)

    covered = found.vote.rules.apply(data.X).toarray().any(axis=1)
    assert len(found.vote) == 1 and found.uncovered.tolist() == np.flatnonzero(~covered).tolist()


@given(data=data_sets(n_classes=3), several=few_trees)
def test_rows_that_no_rule_covers_are_left_out_of_the_proof(data: DataSet, several: list[Tree]) -> None:
    pool, samples = pool_of(data, several)
    pool = pool.take(np.array([0]))

    found = minimum_rule_cover(pool, samples, Recipe(vote=class_votes, solver=partial(TimedSolver.of, Greedy())))

    assert found.uncovered.tolist() == pool.coverage.missed().tolist()
    assert found.certificate.n_left_out == len(found.uncovered)


@given(data=data_sets(n_classes=3), several=few_trees)
def test_pruned_rules_are_rules_of_all_rows_even_of_those_that_no_rule_covered_before(
    data: DataSet, several: list[Tree]
) -> None:
    pool, samples = pool_of(data, several)
    pool = pool.take(np.array([0]))

    shorten = partial(pruned_pool, price=Price(Gini()))
    recipe = Recipe(vote=class_votes, solver=partial(TimedSolver.of, Greedy()), shorten=shorten)
    found = minimum_rule_cover(pool, samples, recipe)

    covered = found.vote.rules.apply(data.X).toarray().astype(bool)
    assert found.uncovered.tolist() == np.flatnonzero(~covered.any(axis=1)).tolist()
    counts = [np.bincount(data.y[mine], minlength=3).tolist() for mine in covered.T]
    assert found.vote.votes.tolist() == found.vote.rules.evidence.sums.tolist() == counts
    assert found.vote.rules.evidence.totals.tolist() == np.bincount(data.y, minlength=3).tolist()
