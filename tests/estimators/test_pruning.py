"""Covers of pruned rules, and demands by class and by row."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.datasets import make_classification
from sklearn.ensemble import RandomForestClassifier
from sklearn.frozen import FrozenEstimator
from sklearn.model_selection import GridSearchCV
from strategies import DataSet, data_sets, ensemble_of, trees
from tictactoe import LINES, tic_tac_toe

from rulecover import MIRCOClassifier, explain
from rulecover.clock import TimeLimits
from rulecover.estimators.pruning import pruning_pays
from rulecover.mirco.prune import needed_clauses, pruned_in_time
from rulecover.pool import leaf_pool
from rulecover.targets.classes.impurity import Gini
from rulecover.targets.classes.samples import ClassSamples, weights_by_class
from rulecover.targets.impurity import Price
from rulecover.trees.tree import Tree

FOREST = RandomForestClassifier(20, max_depth=6, random_state=0)


def noisy(seed: int = 0, n: int = 200, classes: int = 2) -> tuple[np.ndarray, np.ndarray]:
    return make_classification(n, 8, n_informative=4, n_classes=classes, flip_y=0.1, random_state=seed)


@pytest.mark.slow
@given(data_sets(n_classes=2), st.lists(trees(), min_size=1, max_size=3))
@settings(max_examples=25)
def test_a_pruned_rule_covers_what_it_covered_and_is_no_less_sure(drawn: DataSet, several: list[Tree]) -> None:
    X, y, weight = drawn
    data = ClassSamples(X, y, np.array([0, 1]), weight)
    rules = leaf_pool(data, ensemble_of(several), Price(Gini()), ("a", "b", "c")).rules
    rules = rules[np.flatnonzero(rules.lengths)]

    short = [pruned_in_time(rules[j : j + 1], data)[0] for j in range(len(rules))]

    prior = np.bincount(y, weights=weight, minlength=2) / weight.sum()
    for j, rule in enumerate(short):
        before, after = rules[j : j + 1].apply(X).toarray()[:, 0], rule.apply(X).toarray()[:, 0]
        assert (after | ~before).all()
        assert 1 <= rule.lengths[0] <= rules.lengths[j]
        counts = [np.bincount(y[mask], weights=weight[mask], minlength=2) for mask in (before, after)]
        h = counts[0].argmax()
        sure = [(count[h] + prior[h]) / (count.sum() + 1) for count in counts]
        assert sure[1] >= sure[0] - 1e-12


@given(st.integers(0, 2**32 - 1), st.integers(1, 6))
def test_rows_of_a_pattern_can_be_counted_together(seed: int, n_classes: int) -> None:
    rng = np.random.default_rng(seed)
    patterns, row = rng.random((4, 9)) < 0.7, rng.integers(0, 9, 40)
    y, weight = rng.integers(0, n_classes, 40), rng.integers(1, 4, 40).astype(float)
    patterns[:, row[0]] = True
    by_pattern = np.zeros((9, n_classes))
    np.add.at(by_pattern, (row, y), weight)
    totals = by_pattern.sum(axis=0)

    alone = needed_clauses(patterns[:, row], weights_by_class(y, weight, n_classes), totals)

    np.testing.assert_array_equal(alone, needed_clauses(patterns, by_pattern, totals))


@pytest.mark.slow
@pytest.mark.parametrize("demand", [1, 3])
@pytest.mark.parametrize("solver", ["greedy", "search"])
def test_a_pruned_cover_has_fewer_and_shorter_rules_and_covers_every_row(solver: str, demand: int) -> None:
    X, y = noisy()
    forest = clone(FOREST).fit(X, y)
    plain, short = (
        explain(forest, X, y, solver=solver, demand=demand, prune=prune, random_state=0, method="cover")
        for prune in (False, True)
    )

    assert short.pruned_ and not plain.pruned_
    assert len(short.rules_) <= len(plain.rules_)
    assert short.rules_.lengths.mean() < plain.rules_.lengths.mean()
    times = np.asarray(short.apply(X).sum(axis=1)).ravel()
    assert times.min() >= 1
    assert (times < demand).sum() <= short.certificate_.n_capped
    assert short.certificate_.n_uncovered == 0


@pytest.mark.slow
def test_a_pruned_cover_finds_lines_of_tic_tac_toe() -> None:
    X, y = tic_tac_toe()

    plain, short = (MIRCOClassifier(prune=prune, random_state=0).fit(X, y) for prune in (False, True))

    won = {tuple(clause.name for clause in rule.clauses) for rule in short.rules_ if rule.prediction}
    assert len(won & {tuple(f"x{square}" for square in line) for line in LINES}) >= 6
    assert len(short.rules_) < len(plain.rules_)
    assert short.score(X, y) > 0.99


@pytest.mark.slow
def test_held_out_rows_decide_whether_to_prune() -> None:
    X, y = noisy()
    mirco = MIRCOClassifier(FOREST, prune="held-out")

    fitted = clone(mirco).fit(X, y)

    assert fitted.pruned_ == pruning_pays(mirco, X, y, None, TimeLimits(0.0))
    by_hand = MIRCOClassifier(FOREST, prune=bool(fitted.pruned_)).fit(X, y)
    assert fitted.rules_ == by_hand.rules_


SMALL = RandomForestClassifier(3, max_depth=3, random_state=0)


@pytest.mark.parametrize(("pruned", "pays"), [(0.4, False), (0.5, True), (0.6, True)])
def test_pruning_pays_where_pruned_covers_are_no_less_accurate(
    pruned: float, pays: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    X, y = noisy(n=60)
    monkeypatch.setattr(MIRCOClassifier, "score", lambda cover, *_: pruned if cover.prune else 0.5)

    assert pruning_pays(MIRCOClassifier(SMALL), X, y, None, TimeLimits(0.0)) == pays


def test_folds_are_trained_and_scored_with_the_weights_of_their_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = noisy(n=60)
    weight = np.random.default_rng(0).integers(1, 4, 60).astype(float)
    seen, fit, score = [], MIRCOClassifier.fit, MIRCOClassifier.score

    def noted_fit(cover: Any, X: Any, y: Any, sample_weight: Any = None) -> Any:
        seen.append((X, sample_weight))
        return fit(cover, X, y, sample_weight)

    def noted_score(cover: Any, X: Any, y: Any, sample_weight: Any = None) -> float:
        seen.append((X, sample_weight))
        return score(cover, X, y, sample_weight)

    monkeypatch.setattr(MIRCOClassifier, "fit", noted_fit)
    monkeypatch.setattr(MIRCOClassifier, "score", noted_score)
    pruning_pays(MIRCOClassifier(SMALL), X, y, weight, TimeLimits(0.0))

    place = {row.tobytes(): j for j, row in enumerate(X)}
    assert len(seen) == 3 * 4
    for rows, counts in seen:
        assert counts.tolist() == [weight[place[row.tobytes()]] for row in rows]


def test_folds_without_a_row_that_counts_decide_nothing() -> None:
    X, y = noisy(n=60)
    weight = np.zeros(60)
    weight[[np.argmin(y), np.argmax(y)]] = 1.0

    assert not pruning_pays(MIRCOClassifier(SMALL), X, y, weight, TimeLimits(0.0))


@pytest.mark.slow
def test_pruning_is_refused_where_fine_regions_matter() -> None:
    """A board of small squares: every clause is needed, but a rule that loses one hardly loses purity."""
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(900, 2))
    y = ((X * 6).astype(int).sum(axis=1) % 2).astype(int)
    flipped = rng.random(900) < 0.02
    deep = RandomForestClassifier(30, random_state=0)

    mirco = MIRCOClassifier.as_in_paper(
        FrozenEstimator(clone(deep).fit(X, y ^ flipped)), prune="held-out", vote="shares"
    )
    mirco.fit(X, y ^ flipped)

    both = [
        explain(mirco.estimator_, X, y, method="cover", preset="as-in-paper", prune=prune, vote="shares").score(X, y)
        for prune in (False, True)
    ]
    assert mirco.pruned_ == (both[1] >= both[0] - 0.02)


def test_rare_classes_can_be_covered_more_often() -> None:
    X, y = noisy(classes=3)
    labels = np.array(["often", "rare", "some"])[y]
    forest = clone(FOREST).fit(X, labels)

    mirco = explain(forest, X, labels, demand={"rare": 3}, method="cover")

    times = np.asarray(mirco.apply(X).sum(axis=1)).ravel()
    assert times[labels == "rare"].min() >= 3
    assert times[labels != "rare"].min() >= 1
    assert mirco.covering_problem(X, labels).demand.tolist() == np.where(labels == "rare", 3, 1).tolist()


def test_rows_can_be_covered_more_often_and_weightless_rows_not_at_all() -> None:
    X, y = noisy()
    forest = clone(FOREST).fit(X, y)
    demand, weight = 1 + np.arange(len(y)) % 3, (np.arange(len(y)) >= 20).astype(float)

    mirco = explain(forest, X, y, demand=demand, sample_weight=weight, method="cover")

    times = np.asarray(mirco.apply(X).sum(axis=1)).ravel()
    assert (times >= demand)[20:].all()


@pytest.mark.slow
def test_a_grid_search_tries_pruning_and_demands() -> None:
    X, y = noisy()

    search = GridSearchCV(MIRCOClassifier(FOREST), {"prune": [False, True], "demand": [1, {0: 2}]}, cv=2).fit(X, y)

    assert search.best_score_ > 0.6


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"demand": {"blue": 2}}, "demand names 'blue'"),
        ({"demand": {0: 0}}, r"demand\[0\] is 0"),
        ({"demand": [1, 2]}, r"demand has shape \(2,\), but there are 200 rows"),
        ({"demand": [0] * 200}, "at least 1, but has 0"),
        ({"demand": [1.5] * 200}, "whole numbers"),
        ({"prune": "maybe"}, "prune is 'maybe'"),
        ({"prune": 1}, "prune is 1"),
    ],
    ids=str,
)
def test_settings_that_make_no_sense_are_named(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        MIRCOClassifier(FOREST, **settings).fit(*noisy())
