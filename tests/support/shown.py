"""Rules to show: of iris, and with names that try to break out of what shows them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.datasets import load_iris, make_classification
from sklearn.ensemble import RandomForestClassifier

from rulecover import MIRCOClassifier, RuleSet, explain
from rulecover.data.columns import Levels
from rulecover.report.summary import Summary

HOSTILE = "<script>alert('x')</script>\x1b[31m\n[bold]"


def fitted(**options: Any) -> tuple[MIRCOClassifier, Any, Any]:
    X, y = load_iris(return_X_y=True, as_frame=True)
    forest = RandomForestClassifier(10, max_depth=4, random_state=0).fit(X[::2], y[::2])
    return explain(forest, X[::2], y[::2], method="cover", preset="as-in-paper", **options), X[1::2], y[1::2]


def summary(**options: Any) -> Summary:
    model, X, y = fitted(**options)
    return Summary.of(model, X, y, title="Iris", compare_with={"forest": model.estimator_})


def hostile_rules() -> RuleSet:
    X, y = make_classification(80, n_features=4, random_state=0)
    forest = RandomForestClassifier(5, max_depth=3, random_state=0).fit(X, y)
    rules = explain(forest, X, y, method="cover", preset="as-in-paper").rules_
    assert rules.evidence is not None
    classes = np.array([HOSTILE, "<b>other"])
    names = tuple(f"{HOSTILE}{f}" for f in range(4))
    named = replace(rules, columns=replace(rules.columns, names=names))
    return named.with_evidence(replace(rules.evidence, classes=classes))


def with_levels(rules: RuleSet, levels: Levels) -> RuleSet:
    return replace(rules, columns=replace(rules.columns, levels=levels))
