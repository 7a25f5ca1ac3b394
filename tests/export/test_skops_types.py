"""Models are loaded by skops, which names every type in a file before it makes anything of it."""

from __future__ import annotations

import pickle
from importlib import import_module
from typing import Any

import numpy as np
import pytest
import skops.io
from sklearn.datasets import load_breast_cancer, load_diabetes
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.tree import DecisionTreeClassifier
from skops.io.exceptions import UntrustedTypesFoundException

from rulecover import (
    MIRCOClassifier,
    MIRCORegressor,
    RCBoostClassifier,
    RulePathClassifier,
    RulePathRegressor,
    RuleTransformer,
)
from rulecover.export.json_file import to_json
from rulecover.export.skops_types import TRUSTED

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


def test_every_type_on_the_list_is_there() -> None:
    for name in TRUSTED:
        module, _, kind = name.rpartition(".")
        assert getattr(import_module(module), kind).__module__ == module
