"""The rule path as a function of values, and the choice of a size."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.ensemble import RandomForestClassifier
from sklearn.frozen import FrozenEstimator

from rulecover import RulePathClassifier, read_trees
from rulecover.rulepath.candidates import node_candidates
from rulecover.rulepath.constraints import Constraints
from rulecover.rulepath.family import RuleFamily
from rulecover.rulepath.forward import Terms, usual_shrinkage
from rulecover.rulepath.path import PathRecipe, distinct_allowed, rule_path, softened_response
from rulecover.rulepath.sizes import SizeScores, best, chosen_size, size_scores
from rulecover.targets.classes.samples import ClassSamples
from rulecover.targets.classes.target import ClassTarget

NAMES = ("a", "b", "c")
MOST = 6


def drawn(seed: int, n_classes: int) -> tuple[RandomForestClassifier, ClassSamples]:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(60, len(NAMES))).round(1)
    y = (np.digitize(X[:, 0] + 0.5 * rng.normal(size=60), [-0.5, 0.5][: n_classes - 1])).astype(np.intp)
    y[:n_classes] = np.arange(n_classes)
    forest = RandomForestClassifier(n_estimators=5, max_depth=4, random_state=seed % 2**31).fit(X, y)
    return forest, ClassSamples(X, y, np.arange(n_classes))


def followed(
    seed: int, n_classes: int, constraints: Constraints | None = None
) -> tuple[RuleFamily, RandomForestClassifier, ClassSamples]:
    forest, samples = drawn(seed, n_classes)
    candidates = node_candidates(read_trees(forest), samples.X, None, NAMES, max_depth=4, min_samples=2)
    target = ClassTarget(samples.classes)
    recipe = PathRecipe(
        MOST,
        Terms(5.0, usual_shrinkage(candidates.total), 5),
        constraints or Constraints.of(NAMES),
        target,
    )
    return rule_path(samples, candidates, softened_response(samples, target, None, 0.0), recipe), forest, samples


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(2, 3))
def test_the_function_and_the_estimator_follow_the_same_path(seed: int, n_classes: int) -> None:
    family, forest, samples = followed(seed, n_classes)
    model = RulePathClassifier(FrozenEstimator(forest), max_rules=MOST, max_depth=4, model_share=0.0, choose="last")
    model.fit(samples.X, samples.y)

    assert family.n_candidates == model.n_candidate_rules_
    for size in family.sizes.tolist():
        mine, theirs = family.vote(size), model.at(size).vote_
        assert (mine.votes == theirs.votes).all() and (mine.base == theirs.base).all()
        assert (mine.predict(samples.X) == model.at(size).predict(samples.X)).all()


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 2**32 - 1), st.sampled_from(NAMES), st.integers(1, 3))
def test_only_allowed_rules_that_cover_different_samples_are_chosen_from(seed: int, column: str, most: int) -> None:
    forest, samples = drawn(seed, 2)
    candidates = node_candidates(read_trees(forest), samples.X, None, NAMES, max_depth=4, min_samples=2)
    constraints = Constraints.of(NAMES, forbidden=[column], max_clauses=most)

    kept = distinct_allowed(candidates, constraints)

    covered = candidates.rules().apply(samples.X).toarray().T
    allowed = covered[constraints.allows(candidates.rules())]
    mine = kept.rules().apply(samples.X).toarray().T
    assert {row.tobytes() for row in mine} == {row.tobytes() for row in allowed}
    assert len({row.tobytes() for row in mine}) == len(kept)
    assert constraints.allows(kept.rules()).all()


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(2, 3))
def test_the_score_of_every_size_is_the_accuracy_of_its_vote(seed: int, n_classes: int) -> None:
    family, forest, samples = followed(seed, n_classes)
    weight = np.random.default_rng(seed).integers(1, 4, len(samples.y)).astype(float)
    predicted = forest.predict(samples.X)

    found = size_scores(family, samples.X, samples.labels, weight, predicted)

    votes = [family.vote(size).predict(samples.X) for size in family.sizes]
    assert found.score == pytest.approx([np.average(vote == samples.labels, weights=weight) for vote in votes])
    assert found.fidelity == pytest.approx([np.average(vote == predicted, weights=weight) for vote in votes])
    assert found.model == pytest.approx(np.average(predicted == samples.labels, weights=weight))


def test_a_fold_whose_path_ended_sooner_is_as_good_at_larger_sizes() -> None:
    short, long = (SizeScores(np.array(each), np.array(each) / 2, 0.9) for each in ([0.1, 0.5], [0.2, 0.3, 0.4]))

    found = SizeScores.in_folds([short, long], 3)

    assert found.score.tolist() == [[0.1, 0.5, 0.5], [0.2, 0.3, 0.4]]
    assert found.fidelity.tolist() == [[0.05, 0.25, 0.25], [0.1, 0.15, 0.2]] and found.model.tolist() == [0.9, 0.9]


def test_the_size_that_is_chosen_has_what_is_required_and_at_least_one_rule() -> None:
    family, _, _ = followed(0, 2)
    required, _, _ = followed(0, 2, Constraints.of(NAMES, required=["c"]))
    scores = np.tile(np.linspace(0.9, 0.8, family.largest + 1), (2, 1))
    falling = SizeScores(scores, scores, np.array([0.9, 0.9]))

    assert best(scores) == 0
    assert chosen_size(family, falling, "best") == 1
    assert chosen_size(required, falling, "best") == max(1, required.least)
    assert chosen_size(family, None, "last") == family.largest


def test_where_no_size_is_near_the_model_the_best_is_taken_with_a_warning() -> None:
    family, _, _ = followed(0, 2)
    scores = np.tile(np.linspace(0.5, 0.8, family.largest + 1), (2, 1))
    held_out = SizeScores(scores, scores, np.array([0.95, 0.95]))

    assert chosen_size(family, held_out, "one-se", 0.2) < family.largest
    with pytest.warns(UserWarning, match="comes within 0.01 of the model"):
        assert chosen_size(family, held_out, "one-se", 0.01) == family.largest
