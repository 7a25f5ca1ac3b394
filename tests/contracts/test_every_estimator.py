"""What every estimator promises. A new one is a line in `CHECKED`, and one in the lists of `model_cases`."""

from __future__ import annotations

import functools
import inspect
import pickle
from typing import Any

import numpy as np
import pandas as pd
import pytest
from mixed_tables import mixed_table, odd_rows
from model_cases import BALANCED, BOOSTED, COVERS, DRAWN, MIXED, Case, answers, assert_same, data_of, elsewhere
from scipy.special import softmax
from sklearn.base import clone, is_classifier
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor
from sklearn.utils.estimator_checks import parametrize_with_checks

import rulecover
from rulecover import (
    MIRCOClassifier,
    MIRCORegressor,
    RCBoostClassifier,
    RCBoostRegressor,
    RulePathClassifier,
    RulePathRegressor,
    RuleTransformer,
    TableEncoder,
)
from rulecover.estimators.base import VotingModel
from rulecover.export import from_json, to_json
from rulecover.rcboost.pricing.oracles import ForestPricing
from rulecover.setcover import Status
from rulecover.voting.answers import AddedClasses, LogOddsClasses, nearest_probabilities

#: Weights of rows, by the seed of their data, and factors that must not matter.
FACTORS = {
    "equal": (1e-6, 1e6),
    "fractions": (1e-3, 1 / 442, 1e-310),
    "whole, some 0": (1e300, 1e-300, 1 / 442),
}
ALL = [*COVERS, *BOOSTED, BALANCED, *DRAWN]
every_estimator = pytest.mark.parametrize("case", ALL, ids=str)

#: What the checks of scikit-learn are run on.
CHECKED = [
    MIRCOClassifier(RandomForestClassifier(5)),
    RCBoostClassifier(max_rmp_calls=2, pricing=ForestPricing(3)),
    RCBoostClassifier(max_rmp_calls=5, pricing="tree"),
    # As the check of class weights itself sets it: a tree grown until every leaf is pure takes no notice of them.
    MIRCOClassifier(DecisionTreeClassifier(min_weight_fraction_leaf=0.01)),
    MIRCOClassifier(DecisionTreeClassifier(min_weight_fraction_leaf=0.01), demand=2, vote="shares", fallback="all"),
    MIRCOClassifier(DecisionTreeClassifier(min_weight_fraction_leaf=0.01), prune=True, vote="fitted"),
    MIRCOClassifier.accurate(DecisionTreeClassifier(min_weight_fraction_leaf=0.01)),
    MIRCORegressor(RandomForestRegressor(5)),
    MIRCORegressor(DecisionTreeRegressor(max_depth=4), min_samples=3),
    MIRCORegressor.as_in_paper(DecisionTreeRegressor(max_depth=4), demand=2, vote="support", fallback="all"),
    RCBoostRegressor(max_rmp_calls=5),
    RulePathClassifier(RandomForestClassifier(3, max_depth=4), max_rules=6, cv=2),
    RulePathRegressor(RandomForestRegressor(3, max_depth=4), max_rules=6, cv=2),
    RulePathClassifier(DecisionTreeClassifier(min_weight_fraction_leaf=0.01), max_rules=8, within=0.05, cv=2),
    RulePathRegressor(DecisionTreeRegressor(), max_rules=8, choose="best", cv=2),
    RuleTransformer(MIRCOClassifier(DecisionTreeClassifier(max_depth=3, random_state=0))),
    TableEncoder(),
]


def test_every_estimator_is_here() -> None:
    public = {name for name in rulecover.__all__ if hasattr(getattr(rulecover, name), "fit")}
    assert public == {type(estimator).__name__ for estimator in CHECKED}
    assert public == {case.name for case in ALL} | {"RuleTransformer", "TableEncoder"}


@pytest.mark.parametrize("name", sorted({case.name for case in ALL}))
def test_a_method_and_its_target_meet_in_values_alone(name: str) -> None:
    """A class and its mixin have values and public methods for the target, and override no step of the method."""
    kind = getattr(rulecover, name)
    method = next(base for base in kind.__mro__[1:] if issubclass(base, VotingModel))
    of_target = [each for each in kind.__mro__[: kind.__mro__.index(method)] if each.__module__.startswith("rulecover")]
    for each in of_target:
        steps = {name for name, value in vars(each).items() if inspect.isfunction(value) and name[:2] != "__"}
        assert not {step for step in steps if step.startswith("_") or hasattr(method, step)}, each


# scikit-learn ---------------------------------------------------------------------------------------------------

# What scikit-learn lists as expected failures of its own forests, for the same reason: a bootstrap draws other rows
# when rows are weighted, repeated or left out.
OF_THE_FOREST = {
    "check_sample_weight_equivalence_on_dense_data": "sample_weight is not equivalent to repeating under bootstrap",
    "check_sample_weight_equivalence_on_sparse_data": "sample_weight is not equivalent to repeating under bootstrap",
}


def expected_failures(estimator: Any) -> dict[str, str]:
    inside = getattr(estimator, "estimator", None)
    bootstraps = isinstance(inside, (RandomForestClassifier, RandomForestRegressor)) and inside.bootstrap
    return OF_THE_FOREST if bootstraps else {}


@pytest.mark.slow
@parametrize_with_checks(CHECKED, expected_failed_checks=expected_failures)
def test_the_checks_of_scikit_learn_pass(estimator: Any, check: Any) -> None:
    check(estimator)


@functools.cache
def fitted(case: Case) -> Any:
    return case.made(4).fit(*data_of(case, 4))


@pytest.mark.slow
@every_estimator
def test_a_clone_is_not_fitted_and_has_the_same_settings(case: Case) -> None:
    model = case.made(4)
    again = clone(fitted(case))
    assert not [name for name in vars(again) if name.endswith("_")]
    assert repr(again) == repr(model)
    assert again.get_params().keys() == model.get_params().keys()
    assert {name: again.get_params()[name] for name in case.settings} == case.settings


@pytest.mark.slow
@every_estimator
def test_the_same_seed_gives_the_same_rules_and_answers_on_one_thread_and_two(case: Case) -> None:
    X, y = data_of(case, 4)
    for n_jobs in (1, 2):
        assert_same(fitted(case), case.made(4).set_params(n_jobs=n_jobs).fit(X, y), X)


@pytest.mark.slow
@every_estimator
def test_a_pickled_model_answers_as_before(case: Case) -> None:
    X, _ = data_of(case, 4)
    again = pickle.loads(pickle.dumps(fitted(case)))
    assert again.rules_ == fitted(case).rules_
    assert_same(fitted(case), again, X)


@pytest.mark.slow
@pytest.mark.parametrize("seed", [0, 1, 2])
@pytest.mark.parametrize("case", MIXED, ids=str)
def test_columns_of_every_kind_are_taken_and_rules_are_about_them(case: Case, seed: int) -> None:
    table, y = mixed_table(90, seed)
    target = y if is_classifier(case.made(seed)) else table["children"].to_numpy() + 2.0 * (y == "yes")
    rows = pd.concat([table, odd_rows(table)], ignore_index=True)
    model = case.made(seed).fit(table, target)

    weighted = case.made(seed).fit(table, target, sample_weight=np.full(len(y), 0.001))
    for other in (weighted, pickle.loads(pickle.dumps(model)), from_json(to_json(model))):
        assert [str(rule) for rule in getattr(other, "rules_", None) or other.rules] == list(map(str, model.rules_))
        np.testing.assert_array_equal(other.predict(rows), model.predict(rows))
    assert {clause.name.split(" (")[0] for rule in model.rules_ for clause in rule.clauses} <= set(table.columns)
    np.testing.assert_array_equal(model.rules_.apply(rows).toarray(), model.apply(rows).toarray())


# Rules ----------------------------------------------------------------------------------------------------------


@pytest.mark.slow
@every_estimator
def test_a_model_goes_to_json_and_back_and_answers_as_before(case: Case) -> None:
    X, _ = data_of(case, 4)
    loaded = from_json(to_json(fitted(case)))
    rows = elsewhere(X)
    assert loaded.rules == fitted(case).rules_
    np.testing.assert_array_equal(loaded.predict(rows), fitted(case).predict(rows))
    if is_classifier(fitted(case)):
        np.testing.assert_array_equal(loaded.predict_proba(rows), fitted(case).predict_proba(rows))


@pytest.mark.slow
@every_estimator
def test_reasons_name_the_rules_that_cover_a_row_and_add_up_to_its_answer(case: Case) -> None:
    model, rows = fitted(case), elsewhere(data_of(case, 4)[0])
    reasons = model.why(rows)
    np.testing.assert_array_equal(reasons["prediction"], model.predict(rows)[reasons["row"]])
    covered = reasons[(~model.missed(rows))[reasons["row"]] & (reasons["rule"] >= 0)]
    named = np.zeros((len(rows), len(model.rules_)), dtype=bool)
    named[covered["row"], covered["rule"]] = True
    np.testing.assert_array_equal(named, model.apply(rows).toarray())
    scale = np.abs(answers(model, rows)).max()
    sums, asked = added_up(model, reasons)
    np.testing.assert_allclose(sums, answers(model, rows)[asked], rtol=0, atol=1e-9 * scale)


def added_up(model: Any, reasons: Any) -> tuple[np.ndarray, np.ndarray]:
    """The answers that the reasons amount to, and the rows that they are for."""
    columns = [name for name in reasons if name == "vote" or name.startswith("votes_")]
    if columns:
        votes = reasons.groupby("row")[columns].sum()
        return shares(model, votes.to_numpy()) if len(columns) > 1 else votes["vote"].to_numpy(), votes.index
    by_rules = reasons[reasons["decided_by"] == "rules"]  # at a distance, rules have a say but add nothing
    if "adds" in by_rules:
        added = by_rules.groupby("row")["adds"].sum()
        base = model.vote_.answer.decided(model.vote_.base[None])
        return added.to_numpy() + base, added.index
    said = (
        by_rules.assign(value=by_rules["value"] * by_rules["mean_weight"])
        .groupby("row")[["value", "mean_weight"]]
        .sum()
    )
    return (said["value"] / said["mean_weight"]).to_numpy(), said.index


def shares(model: Any, votes: np.ndarray) -> np.ndarray:
    if isinstance(model.vote_.answer, LogOddsClasses):
        return softmax(model.vote_.answer.scale * votes, axis=1)
    added = isinstance(model.vote_.answer, AddedClasses)
    return nearest_probabilities(votes) if added else votes / votes.sum(axis=1, keepdims=True)


@pytest.mark.slow
@pytest.mark.parametrize("case", [case for case in ALL if not case.name.startswith("RulePath")], ids=str)
def test_a_certificate_bounds_the_cost_of_the_rules(case: Case) -> None:
    certificate = fitted(case).certificate_
    limited = certificate.status == Status.LIMITED  # the bound is that of whole covers
    assert 0 < certificate.objective < np.inf
    assert limited or certificate.bound <= certificate.objective + 1e-9
    assert limited == (certificate.n_uncovered > 0)


# Weights --------------------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("kind", FACTORS)
@every_estimator
def test_a_factor_of_all_weights_changes_nothing(case: Case, kind: str) -> None:
    seed = list(FACTORS).index(kind)
    X, y = data_of(case, seed)
    rng = np.random.default_rng(seed)
    drawn = [np.ones(len(y)), rng.uniform(0.2, 3.0, len(y)), rng.integers(0, 4, len(y)).astype(float)]
    weight = drawn[seed]
    plain = case.made(seed).fit(X, y, sample_weight=weight)
    for factor in FACTORS[kind]:
        assert_same(plain, case.made(seed).fit(X, y, sample_weight=weight * factor), X)


@pytest.mark.slow
@every_estimator
def test_equal_weights_are_no_weights(case: Case) -> None:
    X, y = data_of(case, 3)
    assert_same(case.made(3).fit(X, y), case.made(3).fit(X, y, sample_weight=np.full(len(y), 0.001)), X)


@pytest.mark.slow
@pytest.mark.parametrize("least", [0, 1, 2])
@pytest.mark.parametrize("case", [*COVERS, *BOOSTED], ids=str)
def test_whole_weights_are_repeated_rows(case: Case, least: int) -> None:
    X, y = data_of(case, least)
    weight = np.random.default_rng(least).integers(least, 4, len(y))
    repeated = case.made(least).fit(np.repeat(X, weight, axis=0), np.repeat(y, weight))
    assert_same(repeated, case.made(least).fit(X, y, sample_weight=weight), X, tolerance=1e-9)
    assert_same(repeated, case.made(least).fit(X, y, sample_weight=0.1 * weight), X, tolerance=1e-9)
