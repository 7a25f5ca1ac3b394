"""MIRCO as its users see it: rules, votes, fallbacks, weights, limits, and the same answer every time."""

from __future__ import annotations

import pickle
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from scipy.optimize import lsq_linear
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_iris, load_wine, make_classification
from sklearn.ensemble import BaggingClassifier, ExtraTreesClassifier, RandomForestClassifier
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss
from sklearn.model_selection import GridSearchCV, cross_val_score, train_test_split
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.class_weight import compute_sample_weight

from rulecover import MIRCOClassifier, explain
from rulecover.exceptions import InvalidCertificateError
from rulecover.readers.sklearn import models
from rulecover.setcover import Cover, Greedy, Status, verify
from rulecover.setcover.greedy import greedy_picks
from rulecover.targets.classes.impurity import Entropy, Gini

#: Algorithm 1 of the paper on a trained model.
paper_cover = partial(explain, method="cover", preset="as-in-paper")


def data(seed: int = 0, n: int = 300, classes: int = 3) -> tuple[np.ndarray, np.ndarray]:
    return make_classification(n, 8, n_informative=5, n_classes=classes, random_state=seed)


def forest(seed: int = 0, **settings) -> RandomForestClassifier:
    return RandomForestClassifier(**{"n_estimators": 15, "max_depth": 5, "random_state": seed, **settings})


def naive_mirco(model, X, y) -> tuple[list[tuple[int, int]], dict[tuple[int, int], np.ndarray]]:
    """Algorithm 1 with Algorithm S.1 in plain loops: the chosen (tree, leaf) pairs, and every leaf's class counts."""
    leaves, K = model.apply(X), y.max() + 1
    counts = {}
    for t in range(leaves.shape[1]):
        for leaf in sorted(set(leaves[:, t])):
            counts[t, leaf] = np.bincount(y[leaves[:, t] == leaf], minlength=K)
    cost = {key: 2 - float(np.square(n / n.sum()).sum()) for key, n in counts.items()}
    uncovered, picks = set(range(len(X))), []
    while uncovered:
        best = None
        for t, leaf in counts:  # trees in order, leaves by node number: the first of equals wins
            gain = sum(leaves[i, t] == leaf for i in uncovered)
            if gain and (best is None or cost[t, leaf] / gain < best[0] - 1e-12):
                best = cost[t, leaf] / gain, (t, leaf)
        picks.append(best[1])
        uncovered -= {i for i in uncovered if leaves[i, best[1][0]] == best[1][1]}
    by_cost = sorted(picks, key=lambda key: cost[key])
    while all(any(leaves[i, t] == leaf for t, leaf in by_cost[:-1]) for i in range(len(X))):
        by_cost.pop()
    return [key for key in picks if key in by_cost], counts


def test_the_rules_are_those_of_the_paper_in_plain_loops() -> None:
    for seed in range(6):
        X, y = data(seed, n=120)
        model = forest(seed, n_estimators=6, max_depth=4).fit(X, y)
        chosen, counts = naive_mirco(model, X, y)
        mirco = MIRCOClassifier.as_in_paper(FrozenEstimator(model)).fit(X, y)
        np.testing.assert_array_equal(mirco.rules_.evidence.sums, [counts[key] for key in chosen])
        leaves = model.apply(X)
        expected = np.column_stack([leaves[:, t] == leaf for t, leaf in chosen])
        np.testing.assert_array_equal(mirco.apply(X).toarray(), expected)
        assert mirco.n_candidate_rules_ == len(counts)


@pytest.mark.parametrize("vote", ["counts", "shares"])
def test_covered_rows_go_to_the_class_with_most_votes(vote: str) -> None:
    X, y = data(1)
    mirco = paper_cover(forest().fit(X, y), X, y, vote=vote)
    sums = mirco.rules_.evidence.sums
    votes = sums if vote == "counts" else sums / sums.sum(axis=1, keepdims=True)
    tally = mirco.apply(X).toarray().astype(float) @ votes
    np.testing.assert_allclose(mirco.predict_proba(X), tally / tally.sum(axis=1, keepdims=True))
    clear = np.ptp(np.sort(tally, axis=1)[:, -2:], axis=1) > 1e-9
    np.testing.assert_array_equal(mirco.predict(X)[clear], mirco.classes_[tally.argmax(axis=1)][clear])


@pytest.mark.slow
@pytest.mark.parametrize(
    "settings", [{}, {"demand": 3, "prune": True}, {"class_weight": "balanced", "demand": 2}, {"max_rules": 4}]
)
def test_fitted_votes_are_the_least_squares_that_they_are_said_to_be(settings: dict[str, Any]) -> None:
    X, y = data(5)
    model = forest().fit(X, y)
    mirco, plain = (paper_cover(model, X, y, vote=vote, **settings) for vote in ("fitted", "shares"))
    covered = mirco.apply(X).toarray().astype(float)
    np.testing.assert_array_equal(covered, plain.apply(X).toarray())
    weight = np.ones(len(y)) if "class_weight" not in settings else compute_sample_weight("balanced", y)
    met = covered.any(axis=1)
    prior = plain.vote_.votes / np.average(covered[met].sum(axis=1), weights=weight[met])
    design = np.vstack([np.sqrt(weight)[:, None] * covered, np.sqrt(20.0) * np.eye(len(prior))])
    for k, label in enumerate(mirco.classes_):
        aim = np.concatenate([np.sqrt(weight) * (y == label), np.sqrt(20.0) * prior[:, k]])
        best = lsq_linear(design, aim, (0.01 * prior[:, k], np.inf), method="bvls", tol=1e-14)
        np.testing.assert_allclose(mirco.vote_.votes[:, k], best.x, atol=1e-6)
    assert (mirco.vote_.votes.sum(axis=1) > 0).all()
    tally = (covered @ mirco.vote_.votes)[met]
    np.testing.assert_allclose(mirco.predict_proba(X[met]), tally / tally.sum(axis=1, keepdims=True), atol=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("scale", [1e-12, 1e15, 1e30, 1e150])
def test_fitted_votes_bear_weights_of_any_size(scale: float) -> None:
    X, y = data(5)
    mirco = paper_cover(forest().fit(X, y), X, y, demand=2, vote="fitted", sample_weight=np.full(len(y), scale))
    assert mirco.score(X, y) > 0.8 and (mirco.vote_.votes >= 0).all()


@pytest.mark.parametrize(("vote", "tolerance"), [("fitted", 1e-9), ("log-odds", 1e-5)])
def test_votes_count_a_row_of_weight_3_as_three_rows(vote: str, tolerance: float) -> None:
    X, y = data(6)
    model = forest().fit(X, y)
    count = np.random.default_rng(6).integers(1, 4, len(y))
    often = paper_cover(model, np.repeat(X, count, axis=0), np.repeat(y, count), demand=2, vote=vote)
    weighted = paper_cover(model, X, y, sample_weight=count, demand=2, vote=vote)
    np.testing.assert_allclose(weighted.predict_proba(X), often.predict_proba(X), atol=tolerance)


@pytest.mark.slow
@pytest.mark.parametrize(
    "settings", [{}, {"demand": 3, "prune": True}, {"class_weight": "balanced", "demand": 2}, {"max_rules": 4}]
)
def test_log_odds_are_those_of_a_logistic_regression_on_the_rules(settings: dict[str, Any]) -> None:
    X, y = data(5)
    model = forest().fit(X, y)
    mirco, plain = (paper_cover(model, X, y, vote=vote, **settings) for vote in ("log-odds", "shares"))
    assert mirco.rules_ == plain.rules_
    weight = np.ones(len(y)) if "class_weight" not in settings else compute_sample_weight("balanced", y)
    smoothed = np.eye(len(mirco.classes_))[y] + 1 / (len(y) * len(mirco.classes_))  # one row in all, of every class
    regression = LogisticRegression(C=1 / (2.0 * (1 + 1 / len(y))), solver="newton-cholesky", tol=1e-9)
    covered, classes = mirco.apply(X).toarray().astype(float), np.tile(mirco.classes_, len(y))
    each = (weight[:, None] * smoothed).ravel()
    regression.fit(np.repeat(covered, len(mirco.classes_), axis=0), classes, sample_weight=each)

    met = ~mirco.missed(X)

    np.testing.assert_allclose(mirco.vote_.votes, regression.coef_.T, atol=1e-5)
    np.testing.assert_allclose(mirco.predict_proba(X)[met], regression.predict_proba(covered)[met], atol=1e-5)
    assert (mirco.predict_proba(X) > 0).all() and (mirco.predict_proba(X) < 1).all()


@pytest.mark.parametrize("scale", [1e-150, 1e-12, 1e15, 1e150])
def test_log_odds_bear_weights_of_any_size(scale: float) -> None:
    X, y = data(5)
    mirco = paper_cover(forest().fit(X, y), X, y, demand=2, vote="log-odds", sample_weight=np.full(len(y), scale))
    assert np.isfinite(mirco.predict_proba(X)).all() and mirco.score(X, y) > 0.8


@pytest.mark.slow
def test_the_accurate_preset_covers_three_times_and_predicts_new_rows_better() -> None:
    scores = []
    for seed in range(4):
        X, y = data(seed, n=600)
        model, new = forest(n_estimators=50, max_depth=10).fit(X[:300], y[:300]), (X[300:], y[300:])
        plain = MIRCOClassifier.as_in_paper(FrozenEstimator(model)).fit(X[:300], y[:300])
        accurate = MIRCOClassifier.accurate(FrozenEstimator(model)).fit(X[:300], y[:300])
        assert accurate.apply(X[:300]).sum(axis=1).min() == 3 and accurate.pruned_
        scores.append([(m.score(*new), -log_loss(new[1], m.predict_proba(new[0]))) for m in (accurate, plain)])

    accurate, plain = np.mean(scores, axis=0)
    assert (accurate > plain + 0.02).all()
    assert MIRCOClassifier.accurate(demand=1, vote="shares").get_params()["vote"] == "shares"


@pytest.mark.parametrize("fallback", ["closest", "all", "majority", "model"])
def test_rows_that_no_rule_covers_have_probabilities_by_every_fallback(fallback: str) -> None:
    X, y = data(7)
    mirco = paper_cover(forest().fit(X, y), X, y, max_rules=2, vote="log-odds", fallback=fallback)
    missed = mirco.missed(X)
    shares = mirco.predict_proba(X)[missed]
    assert missed.any() and (shares > 0).all() and (shares < 1).all()
    np.testing.assert_allclose(shares.sum(axis=1), 1.0)
    if fallback == "model":
        np.testing.assert_allclose(shares, mirco.estimator_.predict_proba(X[missed]), rtol=1e-5, atol=1e-12)
    if fallback == "majority":
        np.testing.assert_allclose(shares, np.tile(np.bincount(y) / len(y), (len(shares), 1)), rtol=1e-5)


def test_ties_in_a_vote_go_to_the_first_class() -> None:
    tree = DecisionTreeClassifier().fit([[0.0], [0.0]], ["b", "a"])
    assert paper_cover(tree, [[0.0], [0.0]], ["b", "a"]).predict([[0.0]]) == ["a"]


def missing_rows() -> tuple[MIRCOClassifier, np.ndarray]:
    """A model under a limit of rules, and rows that it misses."""
    X, y = data(2)
    mirco = paper_cover(forest().fit(X, y), X, y, max_rules=3)
    far = np.random.default_rng(0).normal(scale=4, size=(300, 8))
    missed = far[mirco.missed(far)]
    assert len(missed) > 10
    return mirco, missed


def test_closest_asks_the_rules_with_the_largest_share_of_accepted_clauses() -> None:
    mirco, X = missing_rows()
    rules, clauses = mirco.rules_, mirco.rules_.clauses
    for x, answer in zip(X, mirco.set_params(fallback="closest").predict(X), strict=True):
        shares = []
        for j in range(len(rules)):
            mine = range(clauses.offset[j], clauses.offset[j + 1])
            shares.append(np.mean([clauses.lower[c] < x[clauses.feature[c]] <= clauses.upper[c] for c in mine]))
        tally = rules.evidence.sums[np.array(shares) == max(shares)].sum(axis=0)
        assert answer == mirco.classes_[tally.argmax()]


def test_all_lets_every_rule_vote_by_its_share_of_the_comparisons_of_its_path() -> None:
    mirco, X = missing_rows()
    rules, paths = mirco.rules_, mirco.rules_.paths
    for x, answer in zip(X, mirco.set_params(fallback="all").predict_proba(X), strict=True):
        tally = np.zeros(len(mirco.classes_))
        for j in range(len(rules)):
            mine = range(paths.offset[j], paths.offset[j + 1])
            taken = [paths.lower[c] < x[paths.feature[c]] <= paths.upper[c] for c in mine]
            tally += rules.evidence.sums[j] * np.mean(taken)
        np.testing.assert_allclose(answer, tally / tally.sum())


def test_majority_and_model_answer_for_missed_rows() -> None:
    mirco, X = missing_rows()
    totals = mirco.rules_.evidence.totals
    assert (mirco.set_params(fallback="majority").predict(X) == mirco.classes_[totals.argmax()]).all()
    np.testing.assert_array_equal(mirco.set_params(fallback="model").predict(X), mirco.estimator_.predict(X))
    np.testing.assert_allclose(mirco.predict_proba(X), mirco.estimator_.predict_proba(X))


def test_the_model_answers_in_the_columns_it_was_trained_with() -> None:
    X, y = load_wine(return_X_y=True, as_frame=True)
    mirco = paper_cover(forest().fit(X, y), X, y, max_rules=1, fallback="model")
    missed = X[mirco.missed(X)]
    np.testing.assert_array_equal(mirco.predict(missed), mirco.estimator_.predict(missed))
    assert mirco.fidelity(missed) == 1.0


def test_why_names_the_rules_that_fired_and_their_votes_add_up() -> None:
    X, y = data(3)
    mirco = paper_cover(forest().fit(X, y), X, y)
    reasons = mirco.why(X[:40])
    fired = np.zeros((40, len(mirco.rules_)), dtype=bool)
    fired[reasons["row"], reasons["rule"]] = True
    np.testing.assert_array_equal(fired, mirco.apply(X[:40]).toarray())
    votes = reasons.groupby("row")[[f"votes_{k}" for k in mirco.classes_]].sum().to_numpy()
    np.testing.assert_allclose(votes / votes.sum(axis=1, keepdims=True), mirco.predict_proba(X[:40]))
    np.testing.assert_array_equal(reasons.groupby("row")["prediction"].first(), mirco.predict(X[:40]))
    assert set(reasons["decided_by"]) == {"rules"}


@pytest.mark.parametrize("fallback", ["closest", "all", "majority", "model"])
def test_why_tells_how_the_fallback_decided(fallback: str) -> None:
    mirco, X = missing_rows()
    reasons = mirco.set_params(fallback=fallback).why(X)
    assert set(reasons["decided_by"]) == {fallback}
    assert set(reasons["row"]) == set(range(len(X)))
    assert (reasons["rule"] == -1).all() == (fallback in ("majority", "model"))
    votes = reasons.groupby("row")[[f"votes_{k}" for k in mirco.classes_]].sum().to_numpy()
    np.testing.assert_allclose(votes / votes.sum(axis=1, keepdims=True), mirco.predict_proba(X))


def test_limits_on_the_number_of_rules_are_nested_and_report_what_stays_uncovered() -> None:
    X, y = data(4)
    model = forest().fit(X, y)
    free = paper_cover(model, X, y)
    previous: set[str] = set()
    for limit in range(1, len(greedy_picks(free.covering_problem(X, y))[0])):
        mirco = paper_cover(model, X, y, max_rules=limit)
        texts = {rule.text for rule in mirco.rules_}
        assert len(mirco.rules_) == limit and previous <= texts
        previous = texts
        assert mirco.certificate_.status == Status.LIMITED
        np.testing.assert_array_equal(mirco.uncovered_, np.flatnonzero(mirco.missed(X)))
        assert mirco.certificate_.n_uncovered == len(mirco.uncovered_) > 0
    assert len(previous) > 3
    unbound = paper_cover(model, X, y, max_rules=1000)
    assert unbound.rules_ == free.rules_ and len(unbound.uncovered_) == 0


@pytest.mark.slow
@pytest.mark.parametrize("solver", ["greedy", "search", "exact"])
def test_every_sample_is_covered_as_often_as_demanded(solver: str) -> None:
    X, y = data(5, n=150)
    model = forest(n_estimators=8).fit(X, y)
    for demand in (1, 2, 3):
        mirco = paper_cover(model, X, y, demand=demand, solver=solver, time_limit=20, random_state=0)
        texts = [rule.text for rule in mirco.rules_]
        assert len(set(texts)) == len(texts)
        times = np.asarray(mirco.apply(X).sum(axis=1)).ravel()
        capped = mirco.certificate_.n_capped
        assert (times < demand).sum() <= capped
        assert mirco.certificate_.n_uncovered == 0
    assert paper_cover(model, X, y, demand=100).certificate_.n_capped == len(X)


@pytest.mark.slow
def test_solvers_give_ever_cheaper_covers() -> None:
    X, y = data(6, n=200)
    model = forest().fit(X, y)
    greedy, search, exact = (
        paper_cover(model, X, y, solver=solver, random_state=0, time_limit=60).certificate_
        for solver in ("greedy", "search", "exact")
    )
    assert greedy.objective >= search.objective - 1e-9 >= exact.objective - 2e-9
    assert greedy.bound <= exact.objective + 1e-9 and search.bound <= exact.objective + 1e-9


def test_weights_count_as_repeated_rows() -> None:
    X, y = data(7, n=150)
    model = forest().fit(X, y)
    weight = np.random.default_rng(0).integers(0, 4, len(y))
    repeated = paper_cover(model, np.repeat(X, weight, axis=0), np.repeat(y, weight))
    weighted = paper_cover(model, X, y, sample_weight=weight)
    assert weighted.rules_ == repeated.rules_
    np.testing.assert_allclose(weighted.rules_.evidence.sums, repeated.rules_.evidence.sums)
    np.testing.assert_array_equal(weighted.predict(X), repeated.predict(X))


@pytest.mark.slow
def test_weights_of_any_size_end_in_a_cover_whatever_the_order_of_the_rows() -> None:
    X, y = load_wine(return_X_y=True)
    model = forest(n_estimators=20).fit(X, y)
    rng = np.random.default_rng(0)
    tiny = np.where(np.arange(len(y)) % 3, 1.0, 1e-17)
    assert not paper_cover(model, X, y, sample_weight=tiny).missed(X).any()
    for weight in (rng.choice([0.1, 0.3, 0.7, 1.1], len(y)), rng.random(len(y)), tiny):
        whole = paper_cover(model, X, y, sample_weight=weight)
        for seed in range(5):
            rows = np.random.default_rng(seed).permutation(len(y))
            assert paper_cover(model, X[rows], y[rows], sample_weight=weight[rows]).rules_ == whole.rules_


def test_weighted_greedy_breaks_ties_as_exact_arithmetic_does() -> None:
    X, y = load_wine(return_X_y=True)
    weight = np.random.default_rng(1).choice([0.1, 0.3, 0.7, 1.1], len(y))
    problem = paper_cover(forest(n_estimators=20).fit(X, y), X, y).covering_problem(X, y, sample_weight=weight)
    exact = [Fraction(w) for w in problem.weight]
    open_samples, picks = set(range(len(y))), []
    covered = [set(problem.coverage.samples_of(j).tolist()) for j in range(problem.n_rules)]
    while open_samples:
        gains = [sum((exact[i] for i in mine & open_samples), Fraction(0)) for mine in covered]
        ratios = [problem.cost[j] / float(gain) if gain else np.inf for j, gain in enumerate(gains)]
        picks.append(int(np.argmin(ratios)))
        open_samples -= covered[picks[-1]]
    assert greedy_picks(problem)[0].tolist() == picks


def test_balanced_class_weights_give_every_class_the_same_total() -> None:
    X, y = data(9, classes=2)
    y[:60] = 0
    mirco = paper_cover(forest().fit(X, y), X, y, class_weight="balanced")
    totals = mirco.rules_.evidence.totals
    assert totals == pytest.approx([len(y) / 2] * 2)
    weight = np.where(y == 0, 3.0, 1.0)
    weighted = paper_cover(mirco.estimator_, X, y, class_weight="balanced", sample_weight=weight)
    assert weighted.rules_.evidence.totals == pytest.approx([weight.sum() / 2] * 2)


def test_one_rule_found_in_several_trees_covers_once() -> None:
    X, y = data(10, classes=2)
    same = BaggingClassifier(
        DecisionTreeClassifier(max_depth=3, random_state=0), n_estimators=4, bootstrap=False, random_state=0
    ).fit(X, y)
    for tree in same.estimators_:
        tree.fit(X, y)  # trees that are equal, which the bagging's seeds need not make them
    mirco = paper_cover(same, X, y, demand=2)
    texts = [rule.text for rule in mirco.rules_]
    assert len(set(texts)) == len(texts)
    assert mirco.n_candidate_rules_ == paper_cover(same, X, y).n_candidate_rules_ > len(mirco.rules_)


def test_rules_that_differ_in_missing_values_alone_are_two() -> None:
    from dataclasses import replace

    from rulecover.rules.clauses import Clauses

    clauses = Clauses.of_intervals([{0: (0.0, 1.0)}, {0: (-0.0, 1.0)}, {0: (0.0, 1.0)}])
    assert clauses.first_of_equal().tolist() == [0]
    assert replace(clauses, missing=np.array([False, False, True])).first_of_equal().tolist() == [0, 2]


def test_a_cover_of_a_foreign_solver_is_verified() -> None:
    X, y = data(3)

    def careless(problem, *, max_rules=None):
        whole = Greedy()(problem)
        return Cover(whole.rules[:1], whole.certificate)

    with pytest.raises(InvalidCertificateError):
        paper_cover(forest().fit(X, y), X, y, solver=careless)


def test_sparse_rows_are_answered_by_a_model_of_a_data_frame() -> None:
    X, y = load_iris(return_X_y=True, as_frame=True)
    mirco = paper_cover(forest().fit(X, y), X, y, max_rules=1, fallback="model")
    with pytest.warns(UserWarning, match="feature names"):
        assert mirco.fidelity(scipy.sparse.csr_array(X.to_numpy())) == mirco.fidelity(X)


def test_rows_of_weight_zero_need_no_cover() -> None:
    X, y = data(8)
    model = forest().fit(X, y)
    weight = (np.arange(len(y)) < 40).astype(float)
    mirco = paper_cover(model, X, y, sample_weight=weight)
    assert not mirco.missed(X[:40]).any()
    assert mirco.rules_.evidence.totals.sum() == 40
    assert mirco.rules_ == paper_cover(model, X[:40], y[:40]).rules_


def test_class_weights_multiply_sample_weights() -> None:
    X, y = data(9, classes=2)
    model = forest(max_depth=2).fit(X, y)
    plain, heavy = (
        paper_cover(model, X, y),
        paper_cover(model, X, y, class_weight={0: 1, 1: 10}),
    )
    by_hand = paper_cover(model, X, y, sample_weight=np.where(y == 1, 10.0, 1.0))
    assert heavy.rules_ == by_hand.rules_
    np.testing.assert_array_equal(heavy.predict(X), by_hand.predict(X))
    assert (heavy.predict(X) == 1).sum() > (plain.predict(X) == 1).sum()


def test_weights_in_the_cost_do_what_they_say() -> None:
    X, y = data(10)
    model = forest(max_depth=4).fit(X, y)
    for criterion, impurity in (("gini", Gini()), ("entropy", Entropy()), ("log_loss", Entropy()), (Gini(), Gini())):
        mirco = paper_cover(model, X, y, criterion=criterion, impurity_weight=2.0, length_weight=0.1)
        seen = mirco.rules_.evidence
        np.testing.assert_allclose(seen.impurity, impurity(seen.sums))
        np.testing.assert_allclose(seen.cost, 1 + 2 * seen.impurity + 0.1 * mirco.rules_.lengths)
    short = paper_cover(model, X, y, length_weight=5.0)
    assert short.rules_.lengths.mean() < paper_cover(model, X, y).rules_.lengths.mean()


@pytest.mark.slow
@pytest.mark.parametrize(
    "labels",
    [["no", "yes"], [-5, 3], [False, True], [0.0, 1.0], [10**12, 10**12 + 1]],
    ids=["strings", "negative", "booleans", "floats", "large"],
)
def test_any_labels_will_do(labels: list) -> None:
    X, y = data(11, classes=2)
    y = np.array(labels)[y]
    mirco = MIRCOClassifier(forest()).fit(X, y)
    assert set(mirco.predict(X)) <= set(labels)
    assert mirco.score(X, y) > 0.65
    assert mirco.rules_[0].prediction in labels


def test_a_single_class_gives_one_rule() -> None:
    mirco = MIRCOClassifier(random_state=0).fit(np.arange(10.0)[:, None], ["only"] * 10)
    assert len(mirco.rules_) == 1 and mirco.certificate_.status == Status.OPTIMAL
    assert mirco.predict([[99.0]]) == ["only"]


def test_missing_values_follow_the_forest() -> None:
    X, y = data(12)
    X[np.random.default_rng(0).random(X.shape) < 0.2] = np.nan
    train, test = np.arange(200), np.arange(200, 300)
    mirco = MIRCOClassifier(forest()).fit(X[train], y[train])
    assert not mirco.missed(X[train]).any()
    assert mirco.score(X[test], y[test]) > 0.5
    assert any("missing" in rule.text for rule in mirco.rules_)


def test_complete_data_are_not_told_of_missing_values() -> None:
    X, y = data(12)
    assert not any("missing" in rule.text for rule in MIRCOClassifier(forest()).fit(X, y).rules_)


def test_a_frozen_model_is_not_trained_again_and_an_open_one_is() -> None:
    X, y = data(13)
    model = forest().fit(X, y)
    frozen = MIRCOClassifier(FrozenEstimator(model)).fit(X[:50], y[:50])
    assert frozen.estimator_ is model
    opened = MIRCOClassifier(model).fit(X[:50], y[:50])
    assert opened.estimator_ is not model and not np.array_equal(opened.estimator_.apply(X), model.apply(X))
    assert explain(model, X, y, method="cover").rules_ == MIRCOClassifier(FrozenEstimator(model)).fit(X, y).rules_


@pytest.mark.parametrize(
    "model",
    [
        DecisionTreeClassifier(max_depth=4, random_state=0),
        ExtraTreesClassifier(n_estimators=10, max_depth=6, random_state=0),
        BaggingClassifier(DecisionTreeClassifier(max_depth=5), n_estimators=10, max_features=0.5, random_state=0),
    ],
    ids=lambda model: type(model).__name__,
)
def test_every_kind_of_ensemble_is_covered(model) -> None:
    X, y = data(14)
    mirco = paper_cover(model.fit(X, y), X, y)
    assert not mirco.missed(X).any()
    assert mirco.score(X, y) > 0.5


def test_other_data_than_the_forest_saw_are_priced_by_those_data() -> None:
    X, y = data(15)
    model = forest().fit(X[:200], y[:200])
    mirco = paper_cover(model, X[200:], y[200:])
    assert not mirco.missed(X[200:]).any()
    np.testing.assert_array_equal(mirco.rules_.evidence.support, mirco.apply(X[200:]).sum(axis=0))


def test_the_certificate_can_be_checked_by_anyone() -> None:
    X, y = data(16)
    mirco = paper_cover(forest().fit(X, y), X, y)
    problem = mirco.covering_problem(X, y)
    cover = Greedy()(problem)
    assert verify(problem, cover).objective == pytest.approx(mirco.certificate_.objective)
    assert problem.n_rules == mirco.n_candidate_rules_


@pytest.mark.slow
def test_one_thread_and_two_give_the_same_rules() -> None:
    X, y = data(17)
    one = MIRCOClassifier(n_jobs=1, random_state=3).fit(X, y)
    two = MIRCOClassifier(n_jobs=2, random_state=3).fit(X, y)
    assert one.rules_ == two.rules_


@pytest.mark.slow
@pytest.mark.parametrize("solver", ["greedy", "search", "exact"])
def test_the_order_of_the_rows_does_not_matter(solver: str) -> None:
    X, y = data(18, n=150)
    model = forest().fit(X, y)
    shuffle = np.random.default_rng(0).permutation(len(y))
    one = paper_cover(model, X, y, solver=solver, random_state=0)
    other = paper_cover(model, X[shuffle], y[shuffle], solver=solver, random_state=0)
    assert one.rules_ == other.rules_


@pytest.mark.slow
def test_the_same_seed_gives_the_same_rules() -> None:
    X, y = data(19)
    rules = [MIRCOClassifier(solver="search", random_state=5).fit(X, y).rules_ for _ in range(2)]
    assert rules[0] == rules[1]


@pytest.mark.slow
def test_a_pickled_cloned_and_searched_model_works() -> None:
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    mirco = MIRCOClassifier(forest(), max_rules=10).fit(X, y)
    again = pickle.loads(pickle.dumps(mirco))
    np.testing.assert_array_equal(again.predict(X), mirco.predict(X))
    assert again.rules_ == mirco.rules_ and clone(mirco).get_params()["max_rules"] == 10
    grid = {"max_rules": [2, 8], "solver": ["greedy", Greedy(redundancy="strong")], "estimator__max_depth": [3]}
    search = GridSearchCV(MIRCOClassifier(forest()), grid, cv=3).fit(X, y)
    assert search.best_score_ > 0.85
    assert cross_val_score(mirco, X, y, cv=3).mean() > 0.85


def test_names_of_a_data_frame_are_kept() -> None:
    X, y = load_iris(return_X_y=True, as_frame=True)
    mirco = MIRCOClassifier(random_state=0).fit(X, y)
    assert mirco.rules_.feature_names == tuple(X.columns)
    assert "petal" in str(mirco.rules_)
    arrays = paper_cover(mirco.estimator_, X.to_numpy(), y)
    assert arrays.rules_.feature_names == tuple(X.columns)


@pytest.mark.slow
def test_accuracy_stays_near_the_forest() -> None:
    X, y = load_breast_cancer(return_X_y=True)
    X_train, X_test, y_train, y_test = train_test_split(X, y, random_state=0)
    mirco = MIRCOClassifier(random_state=0).fit(X_train, y_train)
    assert mirco.score(X_test, y_test) > mirco.estimator_.score(X_test, y_test) - 0.05
    assert mirco.fidelity(X_test) > 0.9


def test_verbose_shows_progress_on_standard_error(capsys) -> None:
    X, y = data(20)
    MIRCOClassifier(forest(), verbose=1).fit(X, y)
    captured = capsys.readouterr()
    assert captured.out == "" and "Reading trees" in captured.err


def test_a_column_of_a_pandas_type_is_taken_as_numbers() -> None:
    X, y = data(21)
    frame = pd.DataFrame(X, columns=list("abcdefgh")).astype({"a": "float32"})
    assert MIRCOClassifier(forest()).fit(frame, pd.Series(y)).score(frame, y) > 0.5


def test_trees_of_a_trained_model_that_is_trained_again_are_not_read_before(monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = load_iris(return_X_y=True)
    forest = RandomForestClassifier(5, random_state=0).fit(X, y)
    read: list[object] = []
    made = models._of_trees
    monkeypatch.setattr(models, "_of_trees", lambda model, trees: read.append(model) or made(model, trees))

    mirco = MIRCOClassifier(forest, random_state=0).fit(X, y)

    assert read == [mirco.estimator_]
