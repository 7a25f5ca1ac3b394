"""Estimators with settings of all kinds, from the seed of their data. A new estimator is a line in these lists."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import is_classifier
from sklearn.datasets import make_classification, make_regression
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.frozen import FrozenEstimator
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from rulecover import (
    MIRCOClassifier,
    MIRCORegressor,
    RCBoostClassifier,
    RCBoostRegressor,
    RulePathClassifier,
    RulePathRegressor,
)
from rulecover.rcboost.pricing.oracles import ForestPricing
from rulecover.setcover import Search


class Case(NamedTuple):
    """An estimator that is to be trained, from the seed of its data."""

    name: str
    made: Callable[[int], Any]
    settings: dict[str, Any]

    def __hash__(self) -> int:
        return id(self)

    def __str__(self) -> str:
        settings = ", ".join(f"{name}={value}" for name, value in self.settings.items())
        return f"{self.name}({settings})"


def classes(seed: int) -> tuple[np.ndarray, np.ndarray]:
    X, y = make_classification(120, 6, n_informative=4, n_classes=3, flip_y=0.1, random_state=seed)
    return X.round(3), y


def numbers(seed: int) -> tuple[np.ndarray, np.ndarray]:
    X, y = make_regression(120, 6, n_informative=4, noise=20.0, random_state=seed)
    return X.round(3), y


def two_classes(seed: int) -> tuple[np.ndarray, np.ndarray]:
    X, y = classes(seed)
    return X, (y > 0).astype(int)


def forest(seed: int) -> FrozenEstimator:
    """A trained forest: what it is does not depend on weights, what is made of it does."""
    return FrozenEstimator(
        RandomForestClassifier(8, max_depth=4, bootstrap=False, random_state=seed).fit(*classes(seed))
    )


def forest_of_numbers(seed: int) -> FrozenEstimator:
    model = RandomForestRegressor(8, max_depth=4, max_features=2, bootstrap=False, random_state=seed)
    return FrozenEstimator(model.fit(*numbers(seed)))


def drawn_forest(seed: int) -> RandomForestClassifier:
    """A forest that is trained with what is made of it, on rows that it draws."""
    return RandomForestClassifier(10, random_state=seed)


def drawn_forest_of_numbers(seed: int) -> RandomForestRegressor:
    return RandomForestRegressor(10, random_state=seed)


def case(kind: type, source: Callable[[int], Any] | None = None, **settings: Any) -> Case:
    def made(seed: int) -> Any:
        given = {} if source is None else {"estimator": source(seed)}
        return kind(**given, **settings, random_state=seed)

    return Case(kind.__name__, made, settings)


def tree(seed: int) -> DecisionTreeClassifier:
    return DecisionTreeClassifier(max_depth=3, random_state=seed)


def tree_of_numbers(seed: int) -> DecisionTreeRegressor:
    return DecisionTreeRegressor(max_depth=3, random_state=seed)


#: Covers and paths, with settings under which rules are chosen and samples are counted.
COVERS = [
    case(MIRCOClassifier, forest),
    case(MIRCOClassifier, forest, max_rules=6, vote="fitted"),
    case(MIRCOClassifier, forest, max_rules=6, vote="log-odds"),
    case(MIRCOClassifier, forest, prune=True, vote="shares", fallback="all"),
    case(MIRCOClassifier, forest, criterion="entropy", demand=2, class_weight="balanced"),
    case(MIRCOClassifier, tree),
    case(MIRCORegressor, forest_of_numbers, max_rules=10),
    case(MIRCORegressor, forest_of_numbers, max_rules=3, min_samples=4),
    case(MIRCORegressor, forest_of_numbers, solver="greedy", ridge=None, vote="precision"),
    case(MIRCORegressor, forest_of_numbers, min_samples=0.05, ridge=None, vote="support", fallback="closest"),
    case(RulePathClassifier, forest, max_rules=8, choose="last"),
    case(RulePathClassifier, forest, max_rules=8, choose="last", min_samples=5, class_weight={0: 0.5}),
    case(RulePathRegressor, forest_of_numbers, max_rules=8, choose="last"),
    case(RulePathRegressor, forest_of_numbers, max_rules=8, choose="last", min_samples=6, tries=0),
]

#: What 20 trees per call would do, at a fifth of the time.
FEW_TREES = ForestPricing(4)

#: RCBoost, with calls that add rules.
BOOSTED = [
    case(RCBoostClassifier, tree, max_rmp_calls=5, pricing=FEW_TREES),
    case(RCBoostClassifier, tree, max_rmp_calls=5, pricing=FEW_TREES, duals="vertex", step=1.0),
    case(RCBoostClassifier, tree, max_rmp_calls=5, pricing=FEW_TREES, vote="log-odds"),
    case(RCBoostRegressor, tree_of_numbers, max_rmp_calls=5),
]

#: The same with weights that are fractions: scikit-learn's trees round their sums, which decides between splits that
#: part the training rows in the same way.
BALANCED = case(RCBoostClassifier, tree, max_rmp_calls=5, pricing=FEW_TREES, class_weight="balanced")

#: Those that draw or split rows: repeated rows are drawn and split otherwise.
DRAWN = [
    case(MIRCOClassifier, drawn_forest, max_rules=6),
    case(MIRCOClassifier, forest, prune="held-out"),
    case(MIRCOClassifier, forest, solver=Search(effort=0.1), max_rules=5),
    case(MIRCORegressor, drawn_forest_of_numbers, max_rules=6),
    case(RulePathClassifier, forest, max_rules=8, choose="best", cv=2),
    case(RulePathRegressor, forest_of_numbers, max_rules=5, choose="best", cv=2),
    case(RCBoostClassifier, tree, max_rmp_calls=5, pricing=FEW_TREES, early_stopping=True),
    case(RCBoostRegressor, tree_of_numbers, max_rmp_calls=5, early_stopping=True),
    case(RCBoostClassifier, tree, max_rmp_calls=1, pricing="forest"),
    case(RCBoostClassifier, tree, max_rmp_calls=3, pricing="binned"),
]

#: Those for tables with texts, truth values, categories, dates and gaps; their trees are trained on the table.
MIXED = [
    case(MIRCOClassifier, drawn_forest, max_rules=6),
    case(RCBoostClassifier, tree, max_rmp_calls=1, pricing=FEW_TREES),
    case(RulePathClassifier, drawn_forest, max_rules=5, choose="last"),
    case(MIRCORegressor, drawn_forest_of_numbers, max_rules=6),
    case(RCBoostRegressor, tree_of_numbers, max_rmp_calls=1),
    case(RulePathRegressor, drawn_forest_of_numbers, max_rules=5, choose="last"),
]


def data_of(case: Case, seed: int) -> tuple[np.ndarray, np.ndarray]:
    return classes(seed) if is_classifier(case.made(seed)) else numbers(seed)


def answers(model: Any, X: np.ndarray) -> np.ndarray:
    return model.predict_proba(X) if is_classifier(model) else model.predict(X)


def assert_same(one: Any, other: Any, X: np.ndarray, tolerance: float = 0.0) -> None:
    assert [str(rule) for rule in one.rules_] == [str(rule) for rule in other.rules_]
    assert len(one.rules_) > 1
    rows = elsewhere(X)
    scale = np.abs(answers(one, rows)).max()
    np.testing.assert_allclose(answers(one, rows), answers(other, rows), rtol=0, atol=tolerance * scale)


def elsewhere(X: np.ndarray) -> np.ndarray:
    """The rows and others, some of them far from all rules."""
    return np.vstack([X, X + 0.3, X[::-1] * 1.5])
