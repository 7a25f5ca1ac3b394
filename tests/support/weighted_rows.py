"""Data with whole weights, and models of weighted rows next to those of repeated rows."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import is_classifier
from sklearn.datasets import make_classification, make_regression
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor


def table(seed: int, n: int = 200) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    X, y = make_classification(n, 8, n_informative=5, n_classes=3, flip_y=0.1, random_state=seed)
    X = np.round(X) if seed % 3 == 0 else X  # with many ties, and without
    return X, y, np.random.default_rng(seed).integers(1, 4, n)


def numbers(seed: int, n: int = 200) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    X, y = make_regression(n, 6, noise=20.0, random_state=seed)
    return X, y, np.random.default_rng(seed).integers(1, 4, n)


def both(model: type, tree: Any, data: tuple[np.ndarray, ...], **settings: Any) -> tuple[Any, Any]:
    """The model of weighted rows and that of repeated rows."""
    X, y, weight = data
    settings = {"max_rmp_calls": 8, "random_state": 0, **settings}
    weighted = model(tree, **settings).fit(X, y, sample_weight=weight)
    return weighted, model(tree, **settings).fit(np.repeat(X, weight, axis=0), np.repeat(y, weight))


def same_rules(one: Any, other: Any) -> int:
    """Compares the pools; how many rules were added to the first one."""
    assert [rule.text for rule in one.pool_] == [rule.text for rule in other.pool_]
    np.testing.assert_allclose(one.pool_.evidence.sums, other.pool_.evidence.sums, atol=1e-9)
    assert one.history_["added"].tolist() == other.history_["added"].tolist()
    return int(one.history_["added"].sum())


def added_alike(model: type, **settings: Any) -> int:
    """Compares rules and predictions of weighted rows with those of repeated rows; how many rules were added."""
    if is_classifier(model()):
        return sum(_compared(model, table(seed), seed % 4, **settings) for seed in range(6))
    return sum(_compared(model, numbers(seed), seed % 3, **settings) for seed in range(6))


def _compared(model: type, data: tuple[np.ndarray, ...], depth: int, **settings: Any) -> int:
    classes = is_classifier(model())
    tree = (DecisionTreeClassifier if classes else DecisionTreeRegressor)(max_depth=3 + depth, random_state=0)
    weighted, repeated = both(model, tree, data, **settings)
    if classes:
        np.testing.assert_allclose(weighted.predict_proba(data[0]), repeated.predict_proba(data[0]), atol=1e-9)
    else:
        np.testing.assert_allclose(weighted.predict(data[0]), repeated.predict(data[0]), rtol=1e-9)
    return same_rules(weighted, repeated)
