"""Models are loaded by skops, which names every type in a file before it makes anything of it."""

from __future__ import annotations

import pickle
from dataclasses import MISSING, fields, is_dataclass
from importlib import import_module
from inspect import isabstract
from pkgutil import walk_packages
from typing import Any

import numpy as np
import pytest
import skops.io
from mixed_tables import mixed_table
from model_cases import MIXED, Case, data_of
from sklearn.base import is_classifier
from sklearn.datasets import load_breast_cancer, load_diabetes
from sklearn.decomposition import PCA
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor, VotingClassifier
from sklearn.pipeline import make_pipeline
from sklearn.tree import DecisionTreeClassifier
from skops.io.exceptions import UntrustedTypesFoundException
from test_every_estimator import ALL

import rulecover
from rulecover import (
    MIRCOClassifier,
    MIRCORegressor,
    RCBoostClassifier,
    RCBoostRegressor,
    RulePathClassifier,
    RulePathRegressor,
    RuleSet,
    RuleTransformer,
)
from rulecover.export.json_file import to_json
from rulecover.export.skops_types import TRUSTED
from rulecover.rcboost.admission import Negative
from rulecover.rcboost.pricing.bicriteria import BicriteriaPricing
from rulecover.rcboost.removal import Stale
from rulecover.targets.classes.impurity import Entropy

CLASSES, NUMBERS = load_breast_cancer(return_X_y=True, as_frame=True), load_diabetes(return_X_y=True)
FOREST, NUMBER_FOREST = (
    RandomForestClassifier(5, max_depth=3, random_state=0),
    RandomForestRegressor(5, max_depth=3, random_state=0),
)
MODELS: dict[str, tuple[Any, Any]] = {
    "a cover": (MIRCOClassifier(FOREST), CLASSES),
    "a cover for numbers": (MIRCORegressor(NUMBER_FOREST), NUMBERS),
    "boosting": (RCBoostClassifier(DecisionTreeClassifier(max_depth=2), max_rmp_calls=1, random_state=0), CLASSES),
    "a path": (RulePathClassifier(FOREST, max_rules=2, cv=2), CLASSES),
    "a path of fitted votes": (RulePathClassifier(FOREST, max_rules=2, choose="last", vote="fitted"), CLASSES),
    "a path for numbers": (RulePathRegressor(NUMBER_FOREST, max_rules=2, choose="last"), NUMBERS),
    "columns of rules": (RuleTransformer(MIRCOClassifier(FOREST)), CLASSES),
}
#: Of the forest in the file: skops does not trust it by itself, and neither do we.
SOURCE = "sklearn.tree._tree.Tree"


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::rulecover.RulecoverWarning")
@pytest.mark.parametrize("name", MODELS)
def test_a_model_is_loaded_by_skops_with_our_list_of_types(name: str) -> None:
    model, (X, y) = MODELS[name]
    model.fit(X, y)
    written = skops.io.dumps(model)
    loaded = skops.io.loads(written, trusted=[*TRUSTED, SOURCE])
    ask = "transform" if isinstance(model, RuleTransformer) else "predict"

    assert np.array_equal(getattr(loaded, ask)(X), getattr(model, ask)(X))
    with pytest.raises(UntrustedTypesFoundException):
        skops.io.loads(written)


@pytest.mark.filterwarnings("ignore::rulecover.RulecoverWarning")
def test_rules_without_their_model_need_our_list_alone() -> None:
    vote = MIRCOClassifier(FOREST).fit(*CLASSES).vote_
    loaded = skops.io.loads(skops.io.dumps(vote), trusted=TRUSTED)

    assert to_json(loaded) == to_json(vote)


@pytest.mark.filterwarnings("ignore::rulecover.RulecoverWarning")
def test_frames_of_a_model_are_the_same_after_a_pickle() -> None:
    boosted, path = (MODELS[name][0].fit(*CLASSES) for name in ("boosting", "a path"))
    again, other = pickle.loads(pickle.dumps(boosted)), pickle.loads(pickle.dumps(path))

    assert again.history_.equals(boosted.history_) and again.history_.index.equals(boosted.history_.index)
    assert other.path_.equals(path.path_) and other.path_.index.equals(path.path_.index)
    assert (again.history_.index.name, other.path_.index.name) == ("call", "rules")


#: Settings with objects of their own in the trained model.
SPECIAL: dict[str, tuple[Any, Any]] = {
    "bins": (RulePathClassifier(n_bins=5, max_rules=2, choose="last", random_state=0), CLASSES),
    "bins for numbers": (RulePathRegressor(n_bins=5, max_rules=2, choose="last", random_state=0), NUMBERS),
    "rules of a boosting": (RulePathClassifier(pool="boosted", max_rules=2, choose="last", random_state=0), CLASSES),
    "trees of bins": (RCBoostClassifier(pricing="binned", max_rmp_calls=1, random_state=0), CLASSES),
    "trees of bins for numbers": (RCBoostRegressor(pricing="binned", max_rmp_calls=1, random_state=0), NUMBERS),
    "admission and removal": (
        RCBoostClassifier(
            pricing=BicriteriaPricing(),
            admit=Negative(at_most=3),
            remove=Stale(0.1, 1),
            max_rmp_calls=1,
            random_state=0,
        ),
        CLASSES,
    ),
    "rules to keep": (
        RulePathClassifier(
            FOREST, keep=RuleSet.of_intervals([{0: (0.0, 5.0)}], CLASSES[0].columns), max_rules=2, choose="last"
        ),
        CLASSES,
    ),
    "a pipeline": (MIRCOClassifier(make_pipeline(PCA(3), FOREST), random_state=0), CLASSES),
    "pipelines": (
        MIRCOClassifier(VotingClassifier([(name, make_pipeline(PCA(2), FOREST)) for name in "ab"]), random_state=0),
        CLASSES,
    ),
    "entropy": (MIRCOClassifier(FOREST, criterion=Entropy(), random_state=0), CLASSES),
    "a majority": (MIRCOClassifier(FOREST, vote="counts", fallback="majority", random_state=0), CLASSES),
    "a source model": (MIRCOClassifier(FOREST, fallback="model", random_state=0), CLASSES),
}


def untrusted(model: Any) -> list[str]:
    """Types in the file of a model that neither we nor scikit-learn have made known."""
    found = skops.io.get_untrusted_types(data=skops.io.dumps(model))
    return [name for name in found if name not in TRUSTED and not name.startswith("sklearn.")]


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::rulecover.RulecoverWarning")
@pytest.mark.parametrize("case", ALL, ids=str)
def test_every_estimator_holds_types_of_our_list_alone(case: Case) -> None:
    assert untrusted(case.made(0).fit(*data_of(case, 0))) == []


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::rulecover.RulecoverWarning")
@pytest.mark.parametrize("case", MIXED, ids=str)
def test_every_estimator_of_tables_holds_types_of_our_list_alone(case: Case) -> None:
    table, y = mixed_table(90, 0)
    target = y if is_classifier(case.made(0)) else table["children"].to_numpy() + 2.0 * (y == "yes")

    assert untrusted(case.made(0).fit(table, target)) == []


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::rulecover.RulecoverWarning")
@pytest.mark.parametrize("name", SPECIAL)
def test_every_setting_leaves_types_of_our_list_alone(name: str) -> None:
    model, data = SPECIAL[name]

    assert untrusted(model.fit(*data)) == []


def test_every_component_is_on_the_list() -> None:
    """A setting of ours is an object that can be called and made without arguments, such as a solver."""
    folders = ("setcover", "mirco", "rcboost", "targets", "voting.fallback")
    modules = [
        import_module(each.name)
        for each in walk_packages(rulecover.__path__, "rulecover.")
        if each.name.startswith(tuple(f"rulecover.{folder}" for folder in folders))
    ]
    components = {
        f"{module.__name__}.{name}"
        for module in modules
        for name, kind in vars(module).items()
        if isinstance(kind, type) and kind.__module__ == module.__name__ and not name.startswith("_")
        if is_dataclass(kind) and not isabstract(kind) and "__call__" in dir(kind)
        if all(field.default is not MISSING or field.default_factory is not MISSING for field in fields(kind))
    }

    assert len(components) > 10
    assert sorted(components - set(TRUSTED)) == []


def test_every_type_on_the_list_is_there() -> None:
    for name in TRUSTED:
        module, _, kind = name.rpartition(".")
        assert getattr(import_module(module), kind).__module__ == module
