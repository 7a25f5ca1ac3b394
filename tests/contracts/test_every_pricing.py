"""What every pricing of RCBoost promises. A new one is a line in `PRICINGS`."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import wraps
from typing import Any

import numpy as np
import pytest
from catboost import CatBoostClassifier
from lightgbm import LGBMClassifier
from sklearn.datasets import load_iris, make_classification
from sklearn.ensemble import (
    AdaBoostClassifier,
    BaggingClassifier,
    GradientBoostingClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
)
from sklearn.tree import DecisionTreeClassifier
from weighted_rows import added_alike, both, same_rules, table
from xgboost import XGBClassifier

from rulecover import RCBoostClassifier, RCBoostRegressor, RuleSet
from rulecover.coverage import Coverage
from rulecover.exceptions import UnreadableModelError
from rulecover.rcboost.pricing import oracles
from rulecover.rcboost.pricing.bicriteria import BicriteriaPricing
from rulecover.rcboost.pricing.binned import BinnedPricing
from rulecover.rcboost.pricing.exact import ExactPricing
from rulecover.rcboost.pricing.oracles import ForestPricing, Pricing, TreePricing
from rulecover.rcboost.pricing.proposal import Proposal
from rulecover.setcover.master import Master
from rulecover.targets.classes.impurity import Gini
from rulecover.targets.samples import repeats

PRICINGS: dict[str, Pricing] = {
    "tree": TreePricing(),
    "forest": ForestPricing(3),
    "binned": BinnedPricing(),
    "binned, few bins": BinnedPricing(max_bin=8),
    "bicriteria": BicriteriaPricing(),
    "bicriteria, impurity alone": BicriteriaPricing(0.0),
    "bicriteria, reduced cost alone": BicriteriaPricing(1.0),
    "exact": ExactPricing(max_bins=16),
    "exact, pure rules": ExactPricing(2, 12, max_impurity=0.2),
}
#: Those that price rules for numbers, too.
FOR_NUMBERS = ("tree", "forest", "binned")
#: Those that add up weights without rounding, or break ties leniently, so that rows need not be repeated.
EXACT_SUMS = [name for name, pricing in PRICINGS.items() if not getattr(pricing, "repeats_rows", True)]
#: Few calls where one brings many rules.
CALLS = {"forest": 3, "exact": 3, "exact, pure rules": 3}

every_pricing = pytest.mark.parametrize("name", PRICINGS)


@dataclass
class Spy:
    """A pricing that remembers what it was given, and what it proposed."""

    pricing: Any
    seen: list[tuple[Any, Any, Any]] = field(default_factory=list)

    def __call__(self, data: Any, duals: Any, tree: Any, seed: int) -> Any:
        proposed = self.pricing(data, duals, tree, seed)
        self.seen.append((data, duals, proposed))
        return proposed

    def __getattr__(self, name: str) -> Any:
        if name not in ("check", "first", "repeats_rows"):
            raise AttributeError(name)
        return getattr(self.pricing, name)


def rules_of(proposed: Any) -> RuleSet:
    rules = proposed.rules if isinstance(proposed, Proposal) else proposed
    return rules if isinstance(rules, RuleSet) else rules.rules()


def reduced_costs(data: Any, duals: Any, proposed: Any) -> np.ndarray:
    """By hand: 1 and the Gini index of the rows that a rule covers, less their prices."""
    covered = rules_of(proposed).apply(data.X).toarray().T.astype(float)
    covered = covered[covered.any(axis=1)]
    each = np.eye(len(data.classes))[data.y] * (1 if data.weight is None else data.weight[:, None])
    return 1 + Gini()(covered @ each) - covered @ duals.current


def fitted(name: str, seed: int, *, duals: str = "equal", weighted: bool = False) -> tuple[Any, Spy, Any]:
    """A model, what its pricing saw, and the data without rows of weight 0."""
    n_classes = 2 + seed % 2
    X, y = make_classification(150, 6, n_informative=4, n_classes=n_classes, flip_y=0.1, random_state=seed)
    weight = np.random.default_rng(seed).integers(0, 4, len(y)) if weighted else np.ones(len(y))
    spy = Spy(PRICINGS[name])
    model = RCBoostClassifier(pricing=spy, duals=duals, max_rmp_calls=CALLS.get(name, 8), random_state=0)
    model.fit(X, y, sample_weight=weight if weighted else None)
    counted = weight > 0
    return model, spy, (X[counted], y[counted], weight[counted])


def test_every_pricing_that_has_a_name_is_here() -> None:
    assert {type(pricing) for pricing in oracles.PRICINGS.values()} == {type(pricing) for pricing in PRICINGS.values()}


@pytest.mark.slow
@every_pricing
@pytest.mark.parametrize("duals", ["equal", "vertex"])
@pytest.mark.parametrize("weighted", [False, True])
def test_column_generation_keeps_its_promises(name: str, duals: str, weighted: bool) -> None:
    for seed in range(2):
        model, spy, (X, y, weight) = fitted(name, seed, duals=duals, weighted=weighted)
        history = model.history_
        assert (np.diff([*history["objective"], model.certificate_.objective]) <= 1e-6).all()
        for (_, given, _), objective in zip(spy.seen, history["objective"], strict=True):
            assert given.current.sum() == pytest.approx(objective, abs=1e-6)
            assert given.accumulated.min() >= 1
        covered, cost = model.pool_.apply(X).toarray(), model.pool_.evidence.cost
        np.testing.assert_allclose(
            covered.T.astype(float) @ (np.eye(2 + seed)[y] * weight[:, None]), model.pool_.evidence.sums
        )
        final = Master(Coverage.of_masks(covered.T), cost).solve()
        assert final.objective == pytest.approx(model.certificate_.objective, abs=1e-6)
        assert (cost - covered.T @ final.duals).min() > -1e-6
        assert not model.missed(np.random.default_rng(seed).normal(size=(50, 6))).any()


@pytest.mark.slow
@every_pricing
@pytest.mark.parametrize("weighted", [False, True])
def test_rules_have_the_reduced_cost_that_is_claimed(name: str, weighted: bool) -> None:
    for seed in range(2):
        model, spy, _ = fitted(name, seed, weighted=weighted)
        for seen, claimed in zip(spy.seen, model.history_["most_negative"], strict=True):
            found = reduced_costs(*seen)
            assert min(found, default=0.0) == pytest.approx(claimed, abs=1e-9)
            if isinstance(seen[2], Proposal):
                assert seen[2].least_reduced_cost <= min(found, default=0.0) + 1e-9
        assert model.history_["added"].sum() > 0
        proved = [isinstance(proposed, Proposal) for _, _, proposed in spy.seen]
        assert (model.history_["bound"].notna() == proved).all()
        assert not (model.history_["bound"] > model.certificate_.objective + 1e-6).any()


@pytest.mark.slow
@every_pricing
def test_the_same_seed_gives_the_same_pool(name: str) -> None:
    one, two = (fitted(name, 1)[0] for _ in range(2))
    assert one.pool_ == two.pool_
    assert one.history_["added"].tolist() == two.history_["added"].tolist()


@pytest.mark.slow
@every_pricing
def test_no_rule_enters_twice(name: str) -> None:
    model, _, _ = fitted(name, 0)
    assert len(model.pool_.clauses.first_of_equal()) == len(model.pool_)


# Other models than a tree ---------------------------------------------------------------------------------------

OTHER_MODELS = {
    "CatBoost": CatBoostClassifier(iterations=2, verbose=False, allow_writing_files=False),
    "LightGBM": LGBMClassifier(n_estimators=2, verbosity=-1),
    "XGBoost": XGBClassifier(n_estimators=2),
    "AdaBoost": AdaBoostClassifier(n_estimators=2),
    "bagging": BaggingClassifier(n_estimators=2),
    "gradient boosting": GradientBoostingClassifier(n_estimators=2),
    "histogram boosting": HistGradientBoostingClassifier(max_iter=2),
}
#: Those that take over the settings of the estimator, which must be a tree or a forest then.
BY_SETTINGS = ("forest", "binned", "binned, few bins")


@pytest.mark.slow
@every_pricing
@pytest.mark.parametrize("other", OTHER_MODELS)
def test_another_model_makes_the_first_pool_or_is_refused_before_it_is_trained(
    name: str, other: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    X, y = load_iris(return_X_y=True)
    model, trained = OTHER_MODELS[other], []
    fit = type(model).fit

    @wraps(fit)
    def noted(*given: Any, **more: Any) -> Any:
        trained.append(given)
        return fit(*given, **more)

    monkeypatch.setattr(type(model), "fit", noted)
    boosting = RCBoostClassifier(model, pricing=PRICINGS[name], max_rmp_calls=1, random_state=0)

    if name in BY_SETTINGS:
        with pytest.raises(UnreadableModelError, match=f"{type(model).__name__} is not a scikit-learn tree or forest"):
            boosting.fit(X, y)
        assert trained == []
    else:
        assert not boosting.fit(X, y).missed(X).any() and trained


@every_pricing
def test_a_forest_has_the_settings_of_its_trees(name: str) -> None:
    X, y = load_iris(return_X_y=True)
    forest = RandomForestClassifier(3, max_depth=2, random_state=0)

    boosting = RCBoostClassifier(forest, pricing=PRICINGS[name], max_rmp_calls=1, random_state=0)

    assert boosting.fit(X, y).pool_.lengths.max() <= 2


# A row of weight 3 is three rows --------------------------------------------------------------------------------


@pytest.mark.slow
@every_pricing
def test_weights_of_a_classifier_are_repeated_rows(name: str) -> None:
    added = added_alike(RCBoostClassifier, pricing=PRICINGS[name], max_rmp_calls=CALLS.get(name, 8))
    assert added > (40 if name == "bicriteria, reduced cost alone" else 50)


@pytest.mark.slow
@pytest.mark.parametrize("name", FOR_NUMBERS)
def test_weights_of_a_regressor_are_repeated_rows(name: str) -> None:
    assert added_alike(RCBoostRegressor, pricing=PRICINGS[name], max_rmp_calls=CALLS.get(name, 8)) > 50


@pytest.mark.slow
@pytest.mark.parametrize("name", EXACT_SUMS)
def test_large_weights_are_repeated_rows_where_sums_are_exact(name: str) -> None:
    added = 0
    for seed in range(4):
        X, y, weight = table(seed, 120)
        weight = 1 + 17 * (weight - 1)
        assert repeats(weight.astype(float)) is None
        tree = DecisionTreeClassifier(max_depth=4, random_state=0)
        weighted, repeated = both(
            RCBoostClassifier, tree, (X, y, weight), pricing=PRICINGS[name], max_rmp_calls=CALLS.get(name, 8)
        )
        added += same_rules(weighted, repeated)
    assert added > 10
