"""The rule path as a function of values, and the choice of a size."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.ensemble import RandomForestClassifier
from sklearn.frozen import FrozenEstimator

from rulecover import RulePathClassifier, read_trees
from rulecover.rulepath.candidates import node_candidates
from rulecover.rulepath.constraints import Constraints
from rulecover.rulepath.family import RowPredictions, RuleFamily
from rulecover.rulepath.forward import ForwardPath
from rulecover.rulepath.path import (
    PathRecipe,
    PathSteps,
    PathVotes,
    distinct_allowed,
    log_odds_votes,
    ridge_votes,
    rule_path,
)
from rulecover.rulepath.response import softened_response
from rulecover.rulepath.sizes import HeldOut, LabelledRows, SizeScores, best, chosen_size, size_scores
from rulecover.rulepath.squares import ForwardFit, Terms, usual_shrinkage
from rulecover.rules.ruleset import RuleSet
from rulecover.targets.classes.samples import ClassSamples
from rulecover.targets.classes.target import ClassTarget
from rulecover.voting.classes import added_class_votes

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
        PathSteps(ForwardFit, partial(ridge_votes, target=target), added_class_votes),
    )
    return rule_path(samples, candidates, softened_response(samples, target, None, 0.0).values, recipe), forest, samples


@pytest.mark.slow
@settings(max_examples=15, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(2, 3))
def test_the_function_and_the_estimator_follow_the_same_path(seed: int, n_classes: int) -> None:
    family, forest, samples = followed(seed, n_classes)
    settings = {"max_rules": MOST, "max_depth": 4, "model_share": 0.0, "choose": "last", "vote": "fitted"}
    model = RulePathClassifier(FrozenEstimator(forest), **settings)
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


@pytest.mark.slow
@settings(max_examples=15, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(2, 3))
def test_the_score_of_every_size_is_the_accuracy_of_its_vote(seed: int, n_classes: int) -> None:
    family, forest, samples = followed(seed, n_classes)
    weight = np.random.default_rng(seed).integers(1, 4, len(samples.y)).astype(float)
    predicted = forest.predict(samples.X)

    found = size_scores(family, LabelledRows(samples.X, samples.labels, weight), RowPredictions(predicted))

    votes = [family.vote(size).predict(samples.X) for size in family.sizes]
    assert found.score == pytest.approx([np.average(vote == samples.labels, weights=weight) for vote in votes])
    assert found.fidelity == pytest.approx([np.average(vote == predicted, weights=weight) for vote in votes])
    assert found.model == pytest.approx(np.average(predicted == samples.labels, weights=weight))
    assert (found.chosen_by == found.score).all() and found.model_chosen_by == found.model


def test_a_fold_whose_path_ended_sooner_is_as_good_at_larger_sizes() -> None:
    folds = (np.array([0.1, 0.5]), np.array([0.2, 0.3, 0.4]))

    found = HeldOut.of([SizeScores(each, each / 2, -each, 0.9, -0.9) for each in folds], 3)

    assert found.score.tolist() == [[0.1, 0.5, 0.5], [0.2, 0.3, 0.4]]
    assert found.fidelity.tolist() == [[0.05, 0.25, 0.25], [0.1, 0.15, 0.2]] and found.model.tolist() == [0.9, 0.9]
    assert (found.chosen_by == -found.score).all() and found.model_chosen_by.tolist() == [-0.9, -0.9]


def in_folds(scores: np.ndarray, model: float) -> HeldOut:
    """The scores of every size, folds x sizes, and the same score of the model in each fold."""
    models = np.full(len(scores), model)
    return HeldOut(scores, scores, scores, models, models)


def test_the_size_that_is_chosen_has_what_is_required_and_at_least_one_rule() -> None:
    family, _, _ = followed(0, 2)
    required, _, _ = followed(0, 2, Constraints.of(NAMES, required=["c"]))
    scores = np.tile(np.linspace(0.9, 0.8, family.largest + 1), (2, 1))
    falling = in_folds(scores, 0.9)

    assert best(scores) == 0
    assert chosen_size(family, falling, "best").size == 1
    assert chosen_size(required, falling, "best").size == max(1, required.least)
    assert chosen_size(family, None, "last").size == family.largest


def test_where_no_size_is_near_the_model_the_best_is_taken_with_a_warning() -> None:
    family, _, _ = followed(0, 2)
    scores = np.tile(np.linspace(0.5, 0.8, family.largest + 1), (2, 1))
    held_out = in_folds(scores, 0.95)

    assert chosen_size(family, held_out, "one-se", 0.2).size < family.largest
    with pytest.warns(UserWarning, match="surely within 0.01 of the model by score; the best"):
        assert chosen_size(family, held_out, "one-se", 0.01).size == family.largest


def test_one_standard_error_is_that_of_the_difference_in_each_fold() -> None:
    family, _, _ = followed(0, 2)
    hard = np.linspace(0.0, 0.4, 5)[:, None]  # folds differ far more than sizes do
    sizes = np.linspace(0.0, 0.1, family.largest + 1)[None]
    clear, noisy = hard + sizes, hard + sizes + 0.05 * np.random.default_rng(0).normal(size=(5, family.largest + 1))

    assert chosen_size(family, in_folds(clear, 0.9), "one-se").size == family.largest
    top = 1 + best(noisy[:, 1:])
    behind = noisy[:, [top]] - noisy
    near = behind.mean(axis=0) <= behind.std(axis=0, ddof=1) / np.sqrt(5)
    assert chosen_size(family, in_folds(noisy, 0.9), "one-se").size == 1 + int(near[1:].argmax())


def test_folds_in_which_a_score_is_not_defined_do_not_count() -> None:
    family, _, _ = followed(0, 2)
    rising = np.tile(np.linspace(0.5, 0.8, family.largest + 1), (3, 1))
    falling = rising[:, ::-1].copy()
    one = np.where(np.arange(3)[:, None] == 1, np.nan, rising)

    assert chosen_size(family, in_folds(one, 0.9), "best").size == family.largest
    assert chosen_size(family, in_folds(falling, 0.9), "best").size == 1
    with pytest.raises(ValueError, match="ROC AUC is not defined in any fold"):
        chosen_size(family, in_folds(np.full_like(rising, np.nan), 0.9), "best", by="roc_auc")


def test_rules_whose_votes_are_next_to_nothing_are_left_out_unless_they_are_asked_for() -> None:
    family, _, samples = followed(0, 2)
    votes = family.votes.copy()
    votes[4, 2] = 1e-4 * np.abs(votes[4]).max()
    quiet = replace(family, votes=votes)

    assert quiet.vote(4).rules == family.rules.take(np.array([0, 2, 3]))
    assert quiet.vote(5).rules == family.rules[:5]
    assert replace(quiet, least=2).vote(4).rules == family.rules[:4]
    every = family.make_vote(family.rules[:4], votes[4, :5], family.target)
    np.testing.assert_allclose(quiet.vote(4).predict_proba(samples.X), every.predict_proba(samples.X), atol=1e-3)


@pytest.mark.parametrize(
    ("votes", "ridge"),
    [
        (PathVotes("log-odds", "log-loss", None), 4.0),
        (PathVotes("log-odds", "squares", None), 5.0),
        (PathVotes("fitted", None, None), 5.0),
        (PathVotes("fitted", None, 2.0), 2.0),
    ],
)
def test_the_penalty_of_the_choice_follows_the_noise_where_its_log_odds_are_kept(
    votes: PathVotes, ridge: float
) -> None:
    _, samples = drawn(0, 2)
    assert votes.ridge_of_choice(samples, noise=1.0) == ridge


@pytest.mark.parametrize("sign", [1, 0, -1])
def test_log_odds_that_are_fitted_to_a_chosen_path_keep_to_its_signs(sign: int) -> None:
    _, samples = drawn(0, 2)
    covered = (samples.y == 0)[:, None]  # speaks against the second class
    rules = RuleSet.of_intervals([{0: (-np.inf, 0.0)}], NAMES)
    path = ForwardPath(rules, covered, np.array([sign]), np.zeros((2, 2, 1)), np.zeros(2), 0)
    shares = np.eye(2)[samples.y][:, 1:]

    votes = log_odds_votes(path, samples, shares, strength=1.0).votes[1, 1]
    assert (votes == 0.0).all() if sign == 1 else votes[1] < 0.0 < votes[0]
