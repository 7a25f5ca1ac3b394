"""The values that every setting of every estimator is tried with; where a setting depends on the data, a function."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pandas as pd
from record_data import Data, Target
from record_names import named

from rulecover import RuleSet

Settings = dict[str, Any]


def _solvers() -> list[Any]:
    greedy, search, exact = (named(name, "rulecover.setcover") for name in ("Greedy", "Search", "Exact"))
    return ["greedy", "greedy", "search", "exact", greedy(), search(effort=0.2, random_state=3), exact(effort=0.5)]


def _demand_per_row(data: Data) -> np.ndarray:
    return 1 + np.arange(len(data.y)) % 2


def _demand_per_class(data: Data) -> dict[Any, int]:
    return {data.labels[-1]: 2}


def _weight_per_class(data: Data) -> dict[Any, float]:
    return {data.labels[0]: 2.5}


def _first_column(data: Data) -> list[Any]:
    return [0] if data.columns is None else [data.columns[0]]


def _second_column(data: Data) -> list[Any]:
    place = data.number_column(1)
    return [place] if data.columns is None else [data.columns[place]]


def _monotone(data: Data) -> dict[Any, int] | None:
    if data.target == "classes" and len(data.labels) > 2:  # order asks for two
        return None
    places = {0: 1} | ({last: -1} if (last := data.number_column(2)) else {})
    return places if data.columns is None else {data.columns[place]: sign for place, sign in places.items()}


def numeric_columns(data: Data) -> list[str]:
    """The names of the columns, those of the rules where the data have none."""
    return data.columns or [f"x{f}" for f in range(data.X.shape[1])]


def kept_rules(data: Data) -> RuleSet:
    """Two rules by hand on the first columns."""
    last = data.number_column(3)
    return RuleSet.of_intervals([{0: (0.25, np.inf)}, {0: (-np.inf, 0.25), last: (0.5, 1.5)}], numeric_columns(data))


_SHARED_COVER: dict[str, Sequence[Any]] = {
    "demand": (1, 1, 1, 2, _demand_per_row),
    "impurity_weight": (1.0, 1.0, 0.0, 3.0),
    "length_weight": (0.0, 0.0, 0.2),
    "estimator_weights": ("both", "cost", "vote", None),
    "time_limit": (None, None, 1000.0),
    "n_jobs": (None, None, 2),
}


def cover_settings(target: Target) -> dict[str, Sequence[Any]]:
    """For MIRCO."""
    if target == "classes":
        return _SHARED_COVER | {
            "criterion": ("gini", "gini", "entropy", "log_loss", named("Entropy", "rulecover.impurity")()),
            "solver": _solvers(),
            "demand": (1, 1, 2, _demand_per_class, _demand_per_row),
            "max_rules": (None, None, 2, 5),
            "prune": (False, False, True, "held-out"),
            "vote": ("counts", "shares", "fitted"),
            "fallback": ("closest", "all", "majority", "model", "closest"),
            "class_weight": (None, None, "balanced", _weight_per_class),
        }
    return _SHARED_COVER | {
        "criterion": ("squared_error", named("SquaredError", "rulecover.impurity")()),
        "scale": ("auto", "auto", 0.5),
        "solver": ("forward", "forward", *_solvers()),
        "max_rules": (20, None, 3, 6),
        "min_samples": ("auto", 1, 2, 0.1),
        "vote": ("equal", "support", "precision"),
        "ridge": (5.0, None, 0.5),
        "fallback": ("mean", "closest", "all", "model"),
    }


def boosting_settings(target: Target) -> dict[str, Sequence[Any]]:
    """For RCBoost; removal and admission with settings of their own, too."""
    negative, stale = named("Negative", "rulecover.boosting.admission"), named("Stale", "rulecover.boosting.removal")
    shared: dict[str, Sequence[Any]] = {
        "max_rmp_calls": (0, 3, 5, 8),
        "duals": ("equal", "vertex"),
        "step": ("even", 1.0, 0.3),
        "pricing": ("tree", "forest", "binned", "bicriteria", "exact"),
        "admit": ("all", "all", "best", negative(at_most=3)),
        "remove": (None, None, "stale", stale(above=0.1, calls=1)),
        "rule_weights": (None, "z"),
        "early_stopping": (False, False, True, 2),
        "warm_start": (False, True),
        "on_interrupt": ("raise", "keep"),
        "n_jobs": (None, None, 2),
    }
    if target == "classes":
        return shared | {
            "criterion": ("gini", "entropy", "log_loss"),
            "vote": ("counts", "shares"),
            "fallback": ("closest", "all", "majority", "model"),
            "class_weight": (None, "balanced", _weight_per_class),
        }
    return shared | {
        "pricing": ("tree", "forest", "binned"),  # the others search by classes
        "criterion": ("squared_error",),
        "scale": ("auto", 0.5),
        "vote": ("equal", "support", "precision"),
        "fallback": ("mean", "closest", "all", "model"),
    }


def path_settings(target: Target) -> dict[str, Sequence[Any]]:
    """For rule paths."""
    shared: dict[str, Sequence[Any]] = {
        "max_rules": (4, 8, 15),
        "choose": ("one-se", "best", "last", "last"),
        "within": (None, None, None, 0.05),
        "cv": (2, 3),
        "max_depth": (None, 2),
        "min_samples": (2, 5),
        "model_share": (0.5, 0.0, 1.0),
        "ridge": (5.0, 0.5),
        "shrinkage": (None, 2.0),
        "tries": (5, 0),
        "max_clauses": (None, None, 1, 2),
        "forbidden": (None, None, _first_column),
        "required": (None, None, None, _second_column),
        "monotone": (None, None, _monotone),
        "keep": (None, None, None, kept_rules),
        "n_jobs": (None, None, 2),
    }
    return shared | ({"class_weight": (None, "balanced", _weight_per_class)} if target == "classes" else {})


def drawn(rng: np.random.Generator, table: dict[str, Sequence[Any]], data: Data) -> Settings:
    """One value of each setting, those that depend on the data worked out."""
    picked = {name: values[int(rng.integers(len(values)))] for name, values in table.items()}
    return {name: value(data) if is_of_data(value) else value for name, value in picked.items()}


def without_conflicts(settings: Settings) -> Settings:
    """The settings of a path whose constraints allow the rules that are to be kept."""
    free = dict.fromkeys(("forbidden", "monotone", "max_clauses"))
    return settings if settings["keep"] is None else settings | free


def is_of_data(value: Any) -> bool:
    """Whether a value is a function of the data, and not a component that can be called."""
    return getattr(value, "__module__", None) == __name__


def rules_from_text(data: Data) -> RuleSet:
    names = numeric_columns(data)
    first, truth = names[0], names[3]
    texts = [f"{first} <= 0.2", f"({first} > -0.5 or missing) and {truth} = 1", f"-1 <= {first} < 1", f"{truth} < 0.5"]
    return RuleSet.from_text(texts, feature_names=names)


def rules_from_frame(data: Data) -> RuleSet:
    names = numeric_columns(data)
    lines = {"rule": ["a", "a", "b", "c"], "feature": [names[0], names[3], names[0], names[3]]}
    bounds = {"lower": [-0.3, None, None, 0.5], "upper": [None, 0.5, 0.4, None], "missing": [True, False, True, False]}
    return RuleSet.from_frame(pd.DataFrame(lines | bounds), names)


RULES_BY_HAND: tuple[Callable[[Data], RuleSet], ...] = (rules_from_text, rules_from_frame, kept_rules)

#: Settings that are refused, by the end of the name of the estimator's class.
MISTAKES: tuple[tuple[str, Settings], ...] = (
    ("MIRCO", {"solver": "fast"}),
    ("MIRCO", {"fallback": "hope"}),
    ("MIRCO", {"demand": 0}),
    ("MIRCO", {"max_rules": 2.5}),
    ("MIRCO", {"estimator_weights": "all"}),
    ("MIRCO", {"length_weight": -1.0}),
    ("RCBoost", {"pricing": "free"}),
    ("RCBoost", {"duals": "dual"}),
    ("RCBoost", {"max_rmp_calls": -1}),
    ("RCBoost", {"step": "odd"}),
    ("RulePath", {"choose": "worst"}),
    ("RulePath", {"max_rules": 0}),
    ("RulePath", {"forbidden": ["no such column"]}),
    ("RulePath", {"model_share": 2.0}),
    ("RulePath", {"monotone": {0: 3}}),
    ("RulePath", {"keep": "rule"}),
)
