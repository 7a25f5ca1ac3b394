"""The choice by the logistic loss, and the response that rules are fitted to, against brute force."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.optimize import minimize_scalar
from scipy.special import log_softmax, softmax
from sklearn.datasets import make_classification
from sklearn.ensemble import (
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
    VotingClassifier,
)
from strategies import DataSet, candidate_sets

from rulecover import RulePathClassifier, RulePathRegressor, read_trees
from rulecover.estimators.cross_fitted import CrossFitted
from rulecover.estimators.path_kinds import class_pool
from rulecover.estimators.trend import ClassifierWithTrend
from rulecover.rulepath import candidates as candidates_module
from rulecover.rulepath import logistic
from rulecover.rulepath.candidates import Candidates, node_candidates
from rulecover.rulepath.forward import forward_path
from rulecover.rulepath.logistic import LogisticFit, shares_of
from rulecover.rulepath.response import calibrated, noise_of
from rulecover.rulepath.squares import Terms
from rulecover.voting.logistic import logistic_votes

SEEDS = st.integers(0, 2**32 - 1)
TERMS = Terms(0.5, 3.0, 2)


def drawn(seed: int, n_classes: int, *, weighted: bool = False) -> tuple[Candidates, np.ndarray, np.ndarray]:
    """Candidates, the rows, and the response: half the label and half noise."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(70, 3)).round(1)
    y = np.digitize(X[:, 0] + X[:, 1] * (X[:, 2] > 0), np.linspace(-1, 1, n_classes + 1)[1:-1])
    forest = RandomForestClassifier(4, max_depth=3, random_state=seed % 2**31).fit(X, y)
    weight = rng.integers(1, 4, len(X)).astype(float) if weighted else None
    candidates = node_candidates(read_trees(forest), X, weight, ("a", "b", "c"), max_depth=3, min_samples=2)
    shares = 0.5 * np.eye(n_classes)[y] + 0.5 * rng.dirichlet(np.ones(n_classes), len(X))
    return candidates, X, shares[:, 1:] if n_classes == 2 else shares


@st.composite
def responses(draw: Any, *, weighted: bool = False) -> tuple[Candidates, np.ndarray]:
    """Candidates, and the shares of two to four classes in each row; of two classes that of the second alone."""
    candidates, data = draw(candidate_sets(weighted=weighted))
    parts = draw(arrays(float, (len(data.y), draw(st.integers(2, 4))), elements=st.integers(1, 9).map(float)))
    shares = parts / parts.sum(axis=1, keepdims=True)
    return candidates, shares[:, 1:] if shares.shape[1] == 2 else shares


@pytest.mark.slow
@settings(max_examples=25)
@given(responses() | responses(weighted=True))
def test_the_gain_is_that_of_newtons_step(drawn: tuple[Candidates, np.ndarray]) -> None:
    candidates, response = drawn
    n_classes = shares_of(response).shape[1]
    weight = np.ones(len(response)) if candidates.weight is None else candidates.weight
    fit = LogisticFit(candidates, response, TERMS)
    fit.enter(candidates.covered(0), 0)

    gains = fit.gains(np.zeros(len(candidates), dtype=int), np.ones(len(candidates), dtype=bool))

    base, vote = fit.votes[-1]
    sums = base + candidates.covered(0)[:, None] * vote
    p = softmax(sums * (0.5 if n_classes == 2 else 1.0), axis=1)
    left, curved = shares_of(response) - p, p * (1 - p)
    total = weight @ curved
    for j in range(len(candidates)):
        mine = candidates.covered(j)
        g, h = weight[mine] @ left[mine], weight[mine] @ curved[mine]
        gain = g**2 / (h * (1 - h / total) + TERMS.shrinkage * total / weight.sum())
        expected = gain[1] if n_classes == 2 else gain.sum()
        if expected > 2e-9:
            assert gains[j] == pytest.approx(expected, rel=1e-6, abs=2e-9)
        else:  # -1 where nothing is explained
            assert gains[j] <= 4e-9
    masks = np.array([candidates.covered(j) for j in range(len(candidates))])
    alone = fit.gains_of(masks, np.zeros(len(masks), dtype=int))
    known = (masks == candidates.covered(0)).all(axis=1)
    assert alone[~known] == pytest.approx(gains[~known], rel=1e-6, abs=2e-9) and (alone[known] == -1).all()


@pytest.mark.slow
@settings(max_examples=15, deadline=None)
@given(SEEDS, st.integers(2, 4))
def test_votes_of_every_size_are_fitted_to_its_rules_and_the_loss_never_rises(seed: int, n_classes: int) -> None:
    candidates, X, response = drawn(seed, n_classes)

    path = forward_path(candidates, response, X, max_rules=4, terms=TERMS, start=LogisticFit)

    covered = path.rules.apply(X).toarray()
    assert (covered == path.covered).all()
    for size in range(len(path.rules) + 1):
        alone = logistic_votes(covered[:, :size], shares_of(response), strength=TERMS.ridge)
        assert path.votes[size, : size + 1] == pytest.approx(alone, abs=1e-5)
        assert not path.votes[size, size + 1 :].any()
    assert (np.diff(path.loss) <= 1e-7 * abs(path.loss[0])).all()


@pytest.mark.slow
@settings(max_examples=15, deadline=None)
@given(SEEDS, st.integers(2, 4))
def test_weights_are_repeated_rows_in_the_choice_by_the_logistic_loss(seed: int, n_classes: int) -> None:
    candidates, X, response = drawn(seed, n_classes, weighted=True)
    again = np.repeat(np.arange(len(X)), candidates.weight.astype(int))
    repeated = Candidates(
        candidates.cells[again], candidates.tree, candidates.first, candidates.last, candidates.empty, candidates.source
    )

    weighted = forward_path(candidates, response, X, max_rules=4, terms=TERMS, start=LogisticFit)
    plain = forward_path(repeated, response[again], X[again], max_rules=4, terms=TERMS, start=LogisticFit)

    assert weighted.rules == plain.rules
    assert weighted.votes == pytest.approx(plain.votes, abs=1e-5)


@settings(max_examples=20)
@given(candidate_sets(weighted=True), st.integers(1, 9))
def test_many_columns_are_summed_as_one_by_one(drawn: tuple[Candidates, DataSet], columns: int) -> None:
    candidates, data = drawn
    values = np.column_stack([np.roll(data.y, k) for k in range(columns)])

    one_by_one = [candidates.sums(values[:, [k]])[:, 0] for k in range(columns)]

    assert (candidates.sums(values) == np.column_stack(one_by_one)).all()


@st.composite
def predictions(draw: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Probabilities of classes for some rows, the class of each, one in each row, and weights."""
    n, n_classes = draw(st.integers(1, 20)), draw(st.integers(2, 5))
    parts = draw(arrays(float, (n, n_classes), elements=st.integers(1, 30).map(float)))
    truth = np.eye(n_classes)[draw(st.lists(st.integers(0, n_classes - 1), min_size=n, max_size=n))]
    return (
        parts / parts.sum(axis=1, keepdims=True),
        truth,
        draw(arrays(float, n, elements=st.sampled_from([1.0, 2, 3]))),
    )


@settings(max_examples=30)
@given(predictions())
def test_shares_are_calibrated_by_the_best_exponent(drawn: tuple[np.ndarray, np.ndarray, np.ndarray]) -> None:
    shares, truth, weight = drawn
    n_classes = shares.shape[1]

    found, loss = calibrated(shares, truth, weight)

    logs = np.log(np.maximum(shares, 1e-3 / n_classes))
    best = minimize_scalar(lambda t: -weight @ (truth * log_softmax(np.exp(t) * logs, axis=1)).sum(axis=1)).x
    if -1.4 < best < 2.4:
        assert found == pytest.approx(softmax(np.exp(best) * logs, axis=1), abs=1e-2)
    assert (found.argmax(axis=1) == shares.argmax(axis=1)).all() and found.sum(axis=1) == pytest.approx(1.0)
    assert loss == pytest.approx(-weight @ np.log((found * truth).sum(axis=1)))
    assert (calibrated(shares, truth, 8.0 * weight).shares == found).all()


@settings(deadline=None)
@given(st.lists(st.floats(1.0, 50.0), min_size=2, max_size=5), st.floats(0.0, 1.5))
def test_noise_is_the_share_of_the_log_loss_that_is_left(totals: list[float], left: float) -> None:
    weights = np.array(totals)
    shares = weights / weights.sum()
    alone = -weights.sum() * (shares @ np.log(shares))

    assert noise_of(left * alone, weights) == pytest.approx(min(1.0, left), abs=1e-3)
    assert noise_of(1e6 * left * alone, 1e6 * weights) == noise_of(left * alone, weights)


def test_a_single_class_has_no_noise() -> None:
    assert noise_of(0.0, np.array([7.0])) == noise_of(0.0, np.array([7.0, 0.0])) == 0.0


def test_votes_are_smaller_where_classes_are_noisier() -> None:
    X, y = make_classification(300, 6, n_informative=4, random_state=0)
    rng = np.random.default_rng(0)
    noisy = np.where(rng.random(len(y)) < 0.35, 1 - y, y)
    forest = RandomForestClassifier(30, random_state=0)

    penalties = []
    for labels in (y, noisy):
        path = RulePathClassifier(forest, max_rules=3, choose="last").fit(X, labels)
        data = path._follow(X, path._prepare(X, labels, None), None)
        assert data.response.noise is not None
        target = path._target.of(data.samples)
        penalties.append(path._votes().ridge_of_log_odds(data.samples, target, data.response.noise))
        given = RulePathClassifier(forest, max_rules=3, choose="last", ridge=penalties[-1]).fit(X, labels)
        np.testing.assert_array_equal(path.vote_.votes, given.vote_.votes)

    assert 0.25 < penalties[0] < penalties[1] <= 4.0


# The pools ------------------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_candidates_come_from_the_pool_that_is_asked_for() -> None:
    two, three = (make_classification(90, n_informative=5, n_classes=k, random_state=0) for k in (2, 3))
    settings = {"max_rules": 3, "choose": "last", "random_state": 0}

    usual = RulePathClassifier(**settings).fit(*two).estimator_
    assert isinstance(usual, ClassifierWithTrend) and isinstance(usual.estimator_, RandomForestClassifier)
    forest, boosted = RulePathClassifier(**settings).fit(*three).estimator_.estimators_
    assert isinstance(forest, ClassifierWithTrend) and isinstance(forest.estimator_, RandomForestClassifier)
    assert isinstance(boosted, HistGradientBoostingClassifier)
    boosted = RulePathClassifier(pool="boosted", **settings).fit(*two).estimator_
    assert isinstance(boosted, HistGradientBoostingClassifier)
    both = RulePathClassifier(pool="both", **settings).fit(*two)
    assert both.n_candidate_rules_ > RulePathClassifier(pool="forest", **settings).fit(*two).n_candidate_rules_
    forest, boosted = RulePathRegressor(**settings).fit(*two).estimator_.estimator_.estimators_
    assert isinstance(forest, RandomForestRegressor) and isinstance(boosted, CrossFitted)
    assert isinstance(boosted.estimator_, HistGradientBoostingRegressor)


@pytest.mark.slow
@pytest.mark.parametrize("regression", [False, True])
def test_both_pools_take_missing_values_and_repeat_with_the_seed(regression: bool) -> None:
    X, y = make_classification(120, n_informative=6, n_classes=3, random_state=0)
    X[np.random.default_rng(0).random(X.shape) < 0.1] = np.nan
    kind = RulePathRegressor if regression else RulePathClassifier

    one, two = (kind(max_rules=5, choose="last", random_state=3, n_jobs=jobs).fit(X, y) for jobs in (1, 2))

    assert one.rules_ == two.rules_ and (one.vote_.votes == two.vote_.votes).all()
    assert one.score(X, y) > 0.3


def test_bad_pools_votes_and_gains_are_refused_with_the_way_out() -> None:
    X, y = make_classification(60, random_state=0)
    for given_settings, message in (
        ({"pool": "trees"}, "pool is 'trees'; give one of 'forest', 'boosted', 'both'"),
        ({"pool": "both", "estimator": RandomForestClassifier()}, "an estimator is given; leave one of them out"),
        ({"vote": "logits"}, "vote is 'logits'; choose one of 'log-odds', 'fitted'"),
        ({"gain": "gini"}, "gain is 'gini'; choose one of None, 'squares', 'log-loss'"),
        ({"vote": "fitted", "gain": "log-loss"}, "needs vote='log-odds'"),
    ):
        with pytest.raises(ValueError, match=message):
            RulePathClassifier(**given_settings).fit(X, y)


@pytest.mark.slow
@settings(max_examples=25)
@given(responses() | responses(weighted=True), st.sampled_from([1, 2, 64]))
def test_candidates_that_lead_are_judged_by_what_is_left_now(
    drawn: tuple[Candidates, np.ndarray], at_a_time: int
) -> None:
    candidates, response = drawn
    signs, free = np.zeros(len(candidates), dtype=int), np.arange(len(candidates)) % 7 > 0
    fit = LogisticFit(candidates, response, TERMS)
    for j in range(8):
        fit.enter(candidates.covered(j % len(candidates)), 0)
        with pytest.MonkeyPatch.context() as patched:
            patched.setattr(logistic, "_JUDGED", at_a_time)
            gains = fit.gains(signs, free)

    masks = np.array([candidates.covered(j) for j in range(len(candidates))])
    sums = candidates.sums_of(np.arange(len(masks)), fit._slopes)
    np.testing.assert_array_equal(sums, candidates.sums(fit._slopes))
    leading = [j for j in np.argsort(-gains)[: TERMS.tries] if gains[j] > 0]
    assert gains[leading] == pytest.approx(fit._newton.gain(sums, signs)[leading], rel=1e-9)
    assert (gains[~free] == -1).all()


def test_rules_for_a_rare_class_come_from_a_forest_and_boosted_trees() -> None:
    y = np.repeat([0, 1], [96, 4])

    assert [name for name, _ in class_pool(None, y, None).estimators] == ["forest", "boosted"]
    assert isinstance(class_pool(None, y[3:], None), VotingClassifier)
    assert isinstance(class_pool(None, np.repeat([0, 1], [95, 5]), None), ClassifierWithTrend)
    assert isinstance(class_pool("forest", y, None), ClassifierWithTrend)


def test_a_gain_is_the_square_of_the_residuals_over_the_curvature_that_the_base_leaves() -> None:
    rng = np.random.default_rng(0)
    residual, curvature, whole = rng.normal(size=(6, 3)), rng.uniform(0.1, 2.0, (6, 3)), np.array([5.0, 6.0, 7.0])
    sums = np.hstack([residual, curvature])
    newton = logistic.NewtonGains(TERMS, 20.0)
    newton.start(whole)

    spread = curvature * (1 - curvature / whole) + TERMS.shrinkage * whole / 20.0
    expected = (residual**2 / spread).sum(axis=1)
    assert newton.gain(sums, np.zeros(6, dtype=int)) == pytest.approx(expected)
    held = newton.gain(sums, np.ones(6, dtype=int))
    assert held == pytest.approx(np.where(residual[:, -1] > 0, expected, -1.0))
    assert (sums == np.hstack([residual, curvature])).all()


@pytest.mark.parametrize("few", [1, 5, 64, 300])
@pytest.mark.parametrize("kind", ["some are near", "few are near", "ties", "nothing"])
def test_the_few_highest_gains_are_found(few: int, kind: str) -> None:
    rng = np.random.default_rng(few)
    gains = {
        "some are near": rng.uniform(0.0, 9.0, 200),
        "few are near": np.append(rng.uniform(0.0, 1.0, 199), 100.0),
        "ties": rng.integers(-1, 3, 200).astype(float),
        "nothing": np.full(200, -1.0),
    }[kind]

    places = logistic._highest(gains, few)

    assert len(set(places.tolist())) == len(places)
    assert np.sort(gains[places]).tolist() == np.sort(gains)[-few:].tolist()


def test_a_vote_keeps_to_its_sign_when_a_rule_enters() -> None:
    candidates, _, response = drawn(1, 2)
    fit = LogisticFit(candidates, response, TERMS)
    fit.enter(candidates.covered(0), 0)
    sign = -int(np.sign(fit.votes[-1][1, 1]))
    held = LogisticFit(candidates, response, TERMS)

    held.enter(candidates.covered(0), sign)

    assert fit.votes[-1][1, 1] != 0
    assert held.votes[-1][1, 1] == 0


@pytest.mark.parametrize("columns", [4, 5])
def test_many_columns_are_summed_in_pieces(columns: int, monkeypatch: pytest.MonkeyPatch) -> None:
    candidates, X, _ = drawn(2, 3, weighted=True)
    values = np.random.default_rng(0).integers(-9, 9, (len(X), columns)).astype(float)
    at_once = candidates.sums(values)
    monkeypatch.setattr(candidates_module, "_PAIRS_OF_COLUMNS", 40)

    assert (candidates.sums(values) == at_once).all()
    assert candidates.weight is not None
    of_third = (values * candidates.weight[:, None])[candidates.covered(3)].sum(axis=0)
    assert at_once[3].tolist() == of_third.tolist()
