"""Random models from a seed: a table, a model of some library, and a method with its settings."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from record_data import KINDS, KNOWN, Data, Target
from record_settings import (
    Settings,
    boosting_settings,
    cover_settings,
    drawn,
    path_settings,
    without_conflicts,
)
from record_sources import MIXED, PLAIN, TRAINABLE, TRAINED, Source, trained
from sklearn.model_selection import KFold
from sklearn.pipeline import make_pipeline
from soak_tables import (
    DATES,
    OTHER_KINDS,
    UNSEEN,
    Rng,
    asked_of,
    groups_of,
    n_rows,
    one_of,
    table_of,
    target_of,
    weight_of,
)

import rulecover
from rulecover.mirco.forward import Forward
from rulecover.rcboost.pricing.binned import BinnedPricing
from rulecover.rcboost.pricing.oracles import ForestPricing
from rulecover.setcover import Exact, Greedy, Search

#: Models that an encoder is put in front of where a table holds words.
ENCODED = ("default", "tree", "forest", "extra trees")
#: The estimators of methods that have presets.
_OF_METHOD = {"MIRCO": "MIRCO", "explain cover": "MIRCO", "RCBoost": "RCBoost"}
#: The settings of an encoder that a case may put there itself; native categories are for models that know them.
ENCODER: dict[str, tuple[Any, ...]] = {"max_levels": (2, 3, 50), "keep_ids": (False, True)}
NATIVE = ("hist gradient boosting", "xgboost", "lightgbm")
#: What RCBoost trains.
SINGLE = ("tree", "default")
_ENDING: dict[Target, str] = {"classes": "Classifier", "numbers": "Regressor"}


def _rules(name: str, settings: Settings, target: Target, seed: int) -> Any:
    """An estimator of the package, whose model is small."""
    inner = TRAINABLE[settings["estimator"]].make(target, seed)
    return getattr(rulecover, name + _ENDING[target])(**{**settings, "estimator": inner, "random_state": seed})


#: Models of rules, which are chosen from again.
OURS: dict[str, Source] = {
    f"rules of {name}": Source(partial(_rules, name, settings), (*PLAIN, *MIXED))
    for name, settings in {
        "MIRCO": {"estimator": "forest"},
        "RCBoost": {"estimator": "tree", "max_rmp_calls": 2, "pricing": "tree"},
        "RulePath": {"estimator": "forest", "max_rules": 5, "choose": "last"},
    }.items()
}
SOURCES = TRAINABLE | TRAINED | OURS
#: Sources that take any name of a column: scikit-learn's own.
TAKES_ANY_NAME = (*ENCODED, "bagging", "gradient boosting", "hist gradient boosting", "adaboost", "voting")
#: Sources that predict nothing, those that give no probabilities of classes, and those that cannot be trained again.
PREDICT_NOTHING = tuple(name for name in TRAINED if name.endswith("file"))
WITHOUT_SHARES = ("voting", *PREDICT_NOTHING)
CANNOT_TRAIN = tuple(name for name in TRAINED if name.endswith(("file", "booster")))


@dataclass(frozen=True, eq=False)
class Case:
    """A model to come, in values that can be printed.

    Parameters
    ----------
    method
        One of `METHODS`.
    target
        Classes or numbers.
    source
        The name of a model of `record_sources`.
    kind
        How the rows are given: one of `record_data.KINDS`.
    table, y, weight
        The training rows.
    asked
        The rows to ask about.
    settings
        Those of the method; what is not there has its default.
    sizes
        Settings of the source that make it smaller.
    seed
        That of the source and of the method.
    groups
        The group of each training row, where folds keep groups together.
    encoder
        Settings of the encoder of tables that is in front of the source, if the case puts one there.
    """

    method: str
    target: Target
    source: str
    kind: str
    table: pd.DataFrame
    y: np.ndarray
    asked: pd.DataFrame
    weight: np.ndarray | None = None
    settings: Settings = field(default_factory=dict)
    sizes: Settings = field(default_factory=dict)
    seed: int = 0
    groups: np.ndarray | None = None
    encoder: Settings | None = None

    @property
    def data(self) -> Data:
        given = (KINDS | OTHER_KINDS)[self.kind]
        truth = self.y[np.arange(len(self.asked)) % len(self.y)]
        return Data(self.kind, self.target, given(self.table), self.y, given(self.asked), truth, self.weight)

    @property
    def explains(self) -> bool:
        """Whether the model is trained before."""
        return self.method.startswith("explain")

    @property
    def is_mixed(self) -> bool:
        return self.kind in MIXED and any(name in self.table for name in (*KNOWN, DATES))

    def take(self, rows: np.ndarray) -> Case:
        """The case of these training rows, in this order; what is set for each row goes with it."""
        n = len(self.y)
        settings = {name: _taken(value, rows, n) for name, value in self.settings.items()}
        weight, groups = (None if each is None else each[rows] for each in (self.weight, self.groups))
        table = self.table.iloc[rows].reset_index(drop=True)
        return replace(self, table=table, y=self.y[rows], weight=weight, settings=settings, groups=groups)


def _taken(value: Any, rows: np.ndarray, n: int) -> Any:
    return value[rows] if isinstance(value, np.ndarray) and len(value) == n else value


# Drawing --------------------------------------------------------------------------------------------------------

#: The solvers that have a name take a second or more.
SOLVERS = (
    *("greedy", "greedy", Greedy(), Greedy("strong"), Greedy(bound="lp"), Greedy(slack=0.5)),
    *(Search(effort=0.02), Exact(effort=0.02)),
    *(Search(effort=0.02, memory_limit=20_000), Exact(effort=0.02, memory_limit="100KB")),
)


#: So long that it cuts nothing, but is looked at; what is cut is in a promise.
_LIMITS = (None, None, None, 1000.0)


def _cover(target: Target) -> dict[str, Any]:
    settings = {**cover_settings(target), "n_jobs": (None,), "time_limit": _LIMITS}
    settings |= {"impurity_weight": (2.0, 1.0, 0.0, 3.0)}
    if target == "classes":
        votes = ("counts", "shares", "fitted", "log-odds", "log-odds")
        return settings | {"solver": SOLVERS, "vote": votes, "prune": (None, False, True, "held-out")}
    return settings | {"solver": ("forward", "forward", Forward(shortlist=3, ridge=0.5, shrinkage=0.0), *SOLVERS)}


def _boost(target: Target) -> dict[str, Any]:
    more = {"vote": ("counts", "shares", "log-odds")} if target == "classes" else {}
    calls = {"max_rmp_calls": (0, 2, 4), "time_limit": _LIMITS}
    of_trees = (ForestPricing(3, max_features=1.0), BinnedPricing(max_bin=4))
    usual = boosting_settings(target)
    more |= {"duals": ("equal", "vertex", "near"), "pricing": (*usual["pricing"], *of_trees)}
    return {**usual, **more, **calls, "n_jobs": (None,)}


def _boost_of_model(target: Target) -> dict[str, Any]:
    """Of a trained model; with `max_rules` it is a path, which has votes of its own."""
    return _boost(target) | {"pricing": ("tree", "forest"), "early_stopping": (False,), "max_rules": (None, None, 4)}


def _path(target: Target) -> dict[str, Any]:
    more: dict[str, Any] = {
        "max_rules": (3, 6),
        "cv": (2, 3, KFold(2, shuffle=True, random_state=0)),
        "model_share": (None, 0.5, 0.0, 1.0),
        "ridge": (None, 5.0, 0.5),
        "choose": ("last", "last", "last", "best", "one-se", None),
        "pool": (None, "forest", "boosted", "both"),
        "n_bins": (None, None, 4),
        "train_in_folds": (True, True, False),
        "time_limit": _LIMITS,
        "scoring": (None, None, None, "r2", "neg_mean_absolute_error"),
        "n_jobs": (None,),
    }
    if target == "classes":
        more |= {"vote": ("fitted", "log-odds"), "gain": (None, None, "squares", "log-loss")}
        more["scoring"] = (None, None, None, "accuracy", "neg_log_loss")
    return path_settings(target) | more


def _few_rules(target: Target) -> dict[str, Any]:
    """Of RCBoost; the path has votes of its own."""
    left_out = ("vote", "fallback", *(["class_weight"] if target == "numbers" else []))
    settings = {name: values for name, values in _boost(target).items() if name not in left_out}
    more = {"vote": ("fitted", "log-odds")} if target == "classes" else {}
    return settings | more | {"max_rules": (3, 6)}


METHODS: dict[str, Callable[[Target], dict[str, Any]]] = {
    "MIRCO": _cover,
    "RCBoost": _boost,
    "RulePath": _path,
    "few rules": _few_rules,
    "explain cover": _cover,
    "explain path": _path,
    "explain boost": _boost_of_model,
}


def case_of(rng: Rng) -> Case:
    """A random case."""
    method = one_of(rng, list(METHODS))
    target: Target = one_of(rng, ["classes", "classes", "numbers"])
    name = one_of(rng, _sources_of(method))
    source = SOURCES[name]
    encoder = _encoder(rng, name)
    kind = one_of(rng, _kinds_of(method, name, source) if encoder is None else MIXED)
    encodes, by_sklearn = encoder is not None or (name in ENCODED and kind in MIXED), name in TAKES_ANY_NAME
    table = table_of(rng, n_rows(rng), words=kind in MIXED, dates=encodes, hostile=by_sklearn)
    y = target_of(rng, table, target, codes=source.codes)
    asked = _asked(rng, table, kind, name)
    seed = int(rng.integers(2**31))
    empty = Case(method, target, name, kind, table, y, asked, weight_of(rng, len(y)), seed=seed, encoder=encoder)
    settings = drawn(rng, METHODS[method](target), empty.data)
    if (known := presets_of(method, target)) and rng.random() < 0.25:
        settings |= known[one_of(rng, list(known))]
    settings = _allowed(settings, empty)
    groups = groups_of(rng, len(y)) if method == "RulePath" and rng.random() < 0.2 else None
    return replace(empty, settings={**settings, "random_state": empty.seed}, groups=groups)


def presets_of(method: str, target: Target) -> dict[str, Settings]:
    """What each preset of a method's estimator changes; those that give another estimator are methods of their own."""
    if method not in _OF_METHOD:
        return {}
    kind = getattr(rulecover, _OF_METHOD[method] + _ENDING[target])
    names = [name for name, each in vars(kind).items() if isinstance(each, classmethod) and not name.startswith("_")]
    made = {name: getattr(kind, name)() for name in names}
    return {name: _changed(model) for name, model in made.items() if isinstance(model, kind)}


def _changed(model: Any) -> Settings:
    """The settings of a model that are not the default; but so many calls would take long."""
    usual, given = type(model)().get_params(deep=False), model.get_params(deep=False)
    return {name: value for name, value in given.items() if value != usual[name] and name != "max_rmp_calls"}


def _allowed(settings: Settings, case: Case) -> Settings:
    """The settings, those left out that do not go together."""
    name = case.source
    if "path" in case.method.lower():
        settings = without_conflicts(settings)
        if name != "default":  # they are in place of an estimator
            settings |= {"pool": None, "n_bins": None}
        elif case.kind == "sparse" and settings["n_bins"] is None:
            settings["pool"] = one_of(np.random.default_rng(case.seed), [None, "forest"])
        if settings["forbidden"] == settings["required"]:  # of a table with one column of numbers
            settings["required"] = None
        if settings.get("vote") == "fitted" and settings.get("gain") == "log-loss":
            settings["gain"] = None
        if name in WITHOUT_SHARES and settings["scoring"] == "neg_log_loss":
            settings["scoring"] = None
        if name in CANNOT_TRAIN:
            settings["train_in_folds"] = False
        if name in PREDICT_NOTHING:
            settings |= {"model_share": 0.0, "within": None}
    if case.method == "explain boost" and settings["max_rules"] is not None:
        votes = {"vote": {"counts": "fitted"}.get(settings["vote"], "log-odds")} if case.target == "classes" else {}
        settings = {key: value for key, value in settings.items() if key not in ("vote", "fallback")} | votes
    if case.kind == "sparse" and _is_binned(settings.get("pricing")):
        settings["pricing"] = "tree"
    if name in CANNOT_TRAIN and settings.get("prune") == "held-out":
        settings["prune"] = True
    if name in WITHOUT_SHARES and settings.get("fallback") == "model":
        settings["fallback"] = "all"
    return settings


def _is_binned(pricing: Any) -> bool:
    return pricing == "binned" or isinstance(pricing, BinnedPricing)


def _encoder(rng: Rng, name: str) -> Settings | None:
    """One time in six the settings of an encoder in front of a source that takes one."""
    takes = name in NATIVE or (name in ENCODED and name != "default")
    if not takes or rng.random() > 1 / 6:
        return None
    drawn = {setting: one_of(rng, values) for setting, values in ENCODER.items()}
    return drawn | {"native_categories": name in NATIVE and bool(rng.random() < 0.5)}


def _sources_of(method: str) -> list[str]:
    if method in ("RCBoost", "few rules"):
        return list(SINGLE)
    if method.startswith("explain"):
        return [name for name in SOURCES if name != "default" and (method != "explain boost" or name not in OURS)]
    return [*TRAINABLE, *OURS]


def _kinds_of(method: str, name: str, source: Source) -> tuple[str, ...]:
    encodes = name in ENCODED and not method.startswith("explain")
    kinds = (*source.kinds, "sparse") if name == "default" else source.kinds
    return (*kinds, *MIXED) if encodes else kinds


def _asked(rng: Rng, table: pd.DataFrame, kind: str, name: str) -> pd.DataFrame:
    asked = asked_of(rng, table)
    if kind in ("words", "texts") and rng.random() < 0.5:
        asked.loc[asked.index[:4], "colour"] = UNSEEN
    return asked


# Fitting --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Fitted:
    """A fitted case: the source that was trained before, if it was, and the model."""

    case: Case
    source: Any
    model: Any

    @cached_property
    def data(self) -> Data:
        return self.case.data

    def again(self, case: Case) -> Any:
        """The model of another case, of the same source."""
        return fit(case, self.source)


def source_of(case: Case, folder: Path) -> Any:
    """The source as the method takes it: trained where it explains, its booster or its file where its name says so."""
    model = SOURCES[case.source].make(case.target, case.seed)
    if case.sizes:
        model.set_params(**case.sizes)
    if case.encoder is not None:
        model = make_pipeline(rulecover.TableEncoder(**case.encoder), model)
    return trained(case.source, model, case.data, folder) if case.explains else model


def fit(case: Case, source: Any, data: Data | None = None) -> Any:
    """The model of a case, of its own rows or of the same in another form."""
    data = case.data if data is None else data
    weight = {} if data.weight is None else {"sample_weight": data.weight}
    if case.explains:
        method = case.method.removeprefix("explain ")
        return rulecover.explain(source, data.X, data.y, method=method, **weight, **case.settings)
    groups = {} if case.groups is None else {"groups": case.groups}
    return estimator_of(case, source).fit(data.X, data.y, **weight, **groups)


def estimator_of(case: Case, source: Any) -> Any:
    """The estimator of a case that trains its source itself, not fitted."""
    if case.method == "few rules":
        tree = {} if source is None else {"estimator": source}
        return getattr(rulecover, "RCBoost" + _ENDING[case.target]).few_rules(**case.settings, **tree)
    return getattr(rulecover, case.method + _ENDING[case.target])(source, **case.settings)


def fitted(case: Case, folder: Path) -> Fitted:
    """The case, fitted; a folder takes the file of a model that is read from one."""
    source = source_of(case, folder)
    return Fitted(case, source, fit(case, source))
