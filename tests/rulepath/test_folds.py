"""Folds that keep the model: the same as a path through the nodes of its trees on a part of the rows."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest
from sklearn.datasets import make_classification
from sklearn.ensemble import RandomForestClassifier

from rulecover import read_trees
from rulecover.rulepath.candidates import node_candidates
from rulecover.rulepath.constraints import Constraints
from rulecover.rulepath.family import RowPredictions
from rulecover.rulepath.folds import PathData, scores_with_kept_model
from rulecover.rulepath.path import PathRecipe, PathSteps, ridge_votes, rule_path
from rulecover.rulepath.response import Response
from rulecover.rulepath.sizes import size_scores
from rulecover.rulepath.squares import ForwardFit, Terms
from rulecover.targets.classes.samples import ClassSamples
from rulecover.targets.classes.target import ClassTarget
from rulecover.voting.classes import added_class_votes

NAMES = tuple(f"x{k}" for k in range(5))
LEAST = 3


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("left_out", [0, 7])
def test_scores_are_those_of_paths_made_from_a_part_of_the_rows(weighted: bool, left_out: int) -> None:
    X, y = make_classification(160, 5, n_informative=4, n_redundant=0, random_state=left_out)
    rng = np.random.default_rng(0)
    weight = rng.integers(1, 4, len(y)).astype(float) if weighted else None
    trees = read_trees(RandomForestClassifier(8, max_depth=4, random_state=0).fit(X, y))
    target = ClassTarget(np.unique(y))
    samples = target.samples(X, y, weight, None, None)
    assert isinstance(samples, ClassSamples)
    places = np.arange(left_out, len(y))
    data = PathData(
        samples.among(places), places, _nodes(trees, X[places], _part(weight, places)), Response(_response(y[places]))
    )
    model = RowPredictions(rng.permutation(y)[places])
    order = rng.permutation(len(y))
    folds = [(order[40:], order[:40]), (order[:100], order[100:])]

    found = scores_with_kept_model(data, folds, partial(_recipe, target=target), model, min_samples=LEAST)

    for fold, mine in zip(folds, found, strict=True):
        learn, check = (rows[rows >= left_out] for rows in fold)
        nodes = _nodes(trees, X[learn], _part(weight, learn))
        family = rule_path(samples.among(learn), nodes, _response(y[learn]), _recipe(nodes, target))
        expected = size_scores(family, samples.among(check), model.among(check - left_out))
        np.testing.assert_allclose(mine.score, expected.score)
        np.testing.assert_allclose(mine.fidelity, expected.fidelity)
        assert mine.model == pytest.approx(expected.model)


def test_without_a_model_there_is_no_fidelity() -> None:
    X, y = make_classification(80, 5, random_state=1)
    target = ClassTarget(np.unique(y))
    trees = read_trees(RandomForestClassifier(4, max_depth=3, random_state=0).fit(X, y))
    data = PathData(
        target.samples(X, y, None, None, None), np.arange(80), _nodes(trees, X, None), Response(_response(y))
    )

    (scores,) = scores_with_kept_model(
        data, [(np.arange(40), np.arange(40, 80))], partial(_recipe, target=target), None, min_samples=LEAST
    )

    assert np.isnan(scores.fidelity).all() and np.isnan(scores.model) and not np.isnan(scores.score).any()


def _part(weight, rows):
    return None if weight is None else weight[rows]


def _nodes(trees, X, weight):
    return node_candidates(trees, X, weight, NAMES, max_depth=3, min_samples=LEAST)


def _response(y):
    return (y == 1).astype(float)[:, None]


def _recipe(candidates, target):
    steps = PathSteps(ForwardFit, partial(ridge_votes, target=target), added_class_votes)
    return PathRecipe(4, Terms(5.0, 8.0, 2), Constraints.of(NAMES), target, steps)
