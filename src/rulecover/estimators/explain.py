"""A few rules of a model that is already trained."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import Any, Literal, overload

import numpy as np
import pandas as pd
from sklearn.base import is_regressor
from sklearn.utils.multiclass import type_of_target

from rulecover.estimators.booster import as_estimator, is_booster
from rulecover.estimators.mirco import MIRCOClassifier, MIRCORegressor, frozen
from rulecover.estimators.places import rows_elsewhere
from rulecover.estimators.rcboost import RCBoostClassifier, RCBoostRegressor
from rulecover.estimators.rulepath import RulePathClassifier, RulePathRegressor
from rulecover.exceptions import UnknownOptionError
from rulecover.readers.sklearn.models import best_of
from rulecover.rules.ruleset import RuleSet
from rulecover.show.text import did_you_mean

#: The most rules of a path, where nothing else is asked for: as many as people read, more where there are many classes.
FEW, FEW_PER_CLASS, NOT_MORE = 15, 3, 50

#: The estimators of each method, for classes and for numbers.
METHODS: dict[str, tuple[type, type]] = {
    "path": (RulePathClassifier, RulePathRegressor),
    "cover": (MIRCOClassifier, MIRCORegressor),
    "boost": (RCBoostClassifier, RCBoostRegressor),
}

Path = RulePathClassifier | RulePathRegressor
CoverModel = MIRCOClassifier | MIRCORegressor
Boosting = RCBoostClassifier | RCBoostRegressor


@overload
def explain(
    model: Any, X: Any, y: Any = ..., *, method: Literal["path"] = ..., sample_weight: Any = ..., **options: Any
) -> Path: ...
@overload
def explain(
    model: Any,
    X: Any,
    y: Any = ...,
    *,
    method: Literal["cover"],
    preset: str | None = ...,
    sample_weight: Any = ...,
    **options: Any,
) -> CoverModel: ...
@overload
def explain(
    model: Any,
    X: Any,
    y: Any = ...,
    *,
    method: Literal["boost"],
    preset: str | None = ...,
    sample_weight: Any = ...,
    **options: Any,
) -> Boosting | Path: ...
def explain(
    model: Any,
    X: Any,
    y: Any = None,
    *,
    method: str = "path",
    preset: str | None = None,
    sample_weight: Any = None,
    **options: Any,
) -> Path | CoverModel | Boosting:
    """A few rules of a model that is already trained; the model is never trained again.

    Parameters
    ----------
    model
        A trained tree ensemble that `rulecover.readers` can read, with or without a pipeline in front; the path of a
        model file; a trained `RCBoostClassifier` or `RCBoostRegressor`, from whose pool rules are then chosen; or a
        `RuleSet`, rules of whatever origin: they predict numbers if y has fractions.
    X, y
        Data to choose and weigh the rules by, with labels or with numbers, as the model predicts them: the model's
        training data, or other data with the same columns and labels. Or a table of `open_table` alone, which has y
        in it and is read in blocks.
    method
        "path": the rules that explain most, one after another, with fitted votes: the most accurate small rule set.
        "cover": rules that cover every row, with a certificate of how few they could be (`MIRCOClassifier`). "boost":
        a pool of the model's rules, often hundreds, that enter it by the duals of a covering LP (`RCBoostClassifier`);
        with `max_rules`, a path through that pool.
    preset
        A named set of settings: "as-in-paper" (covers, and boosting of classes), "accurate" (covers of classes) or
        "few-rules" (boosting: at most 100 rules, unless `max_rules` is given); `options` take precedence.
    sample_weight
        What each row counts.
    **options
        Of the method: those of `RulePathClassifier`, `MIRCOClassifier` or `RCBoostClassifier`, or of their regressors.
        `max_rules` is the most rules there may be: in a path 15 by default, or three per class if these are more, and
        50 if `within` is given; in others there is no limit by default, but 20 in a cover of numbers. The size of a
        path is chosen in folds in which rules are chosen and weighed again, but the model stays as it is; with
        ``train_in_folds=True`` copies of it are trained in the folds. Where the model predicts nothing, as a model file
        and rules made by hand, or no probabilities, rules of a path are chosen by the labels alone.

    Returns
    -------
    RulePathClassifier or RulePathRegressor, MIRCOClassifier or MIRCORegressor, RCBoostClassifier or RCBoostRegressor
        Fitted; see its ``rules_``, ``predict`` and ``why``; of a path ``size_reason_``, of others ``certificate_``. A
        boosting of at most `max_rules` is a path, whose ``estimator_`` has the pool.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.ensemble import RandomForestClassifier
    >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    >>> forest = RandomForestClassifier(max_depth=5, random_state=0).fit(X, y)
    >>> few = explain(forest, X, y)
    >>> len(few.rules_) <= 15 < few.n_candidate_rules_, few.score(X, y) > 0.95
    (True, True)
    >>> cover = explain(forest, X, y, method="cover")
    >>> bool(cover.missed(X).any()), cover.certificate_.n_uncovered
    (False, 0)
    >>> boosted = explain(forest, X, y, method="boost")
    >>> len(cover.rules_) < len(boosted.rules_), boosted.score(X, y) > 0.97
    (True, True)
    >>> len(explain(forest, X, y, method="boost", max_rules=10).rules_)
    10
    """
    _check_method(method, preset)
    rows = rows_elsewhere(X, y, sample_weight)
    given = (X, y, sample_weight) if rows is None else (rows, None, None)
    y = y if rows is None else rows.labels
    source = frozen(as_estimator(model, y) if is_booster(model) else best_of(model))
    numbers = _predicts_numbers(source, y)
    kind = METHODS[method][numbers]
    _check_options(method, kind, options)
    settings = _path_settings(model, options, y, numbers=numbers) if method == "path" else options
    if method == "boost":
        make, settings = boosting_of(kind, preset, options)
    else:
        make = kind if preset is None else preset_of(kind, preset)
    fitted: Path | CoverModel | Boosting = make(estimator=source, **settings).fit(*given)
    return fitted


def boosting_of(kind: Any, preset: str | None, options: Mapping[str, Any]) -> tuple[Callable[..., Any], dict[str, Any]]:
    """How RCBoost is made, and its settings: with a limit on the rules, a path through its pool.

    >>> make, settings = boosting_of(RCBoostClassifier, None, {"max_rules": 5, "duals": "vertex"})
    >>> make.__name__, settings
    ('few_rules', {'max_rules': 5, 'duals': 'vertex'})
    """
    settings = dict(options)
    if settings.get("max_rules") is None:
        settings.pop("max_rules", None)
    elif preset is None:
        preset = "few-rules"
    elif preset != "few-rules":
        raise ValueError(
            f"max_rules is {settings['max_rules']!r}, which goes with the preset few-rules; {preset} keeps the rules "
            "that its calls find (max_rmp_calls). Leave one of them out."
        )
    return kind if preset is None else preset_of(kind, preset), settings


def small_path(options: Mapping[str, Any], y: Any, *, numbers: bool) -> dict[str, Any]:
    """The options of a path, of as many rules as people read unless they say otherwise.

    >>> small_path({"vote": "fitted"}, ["a", "b"], numbers=False)
    {'max_rules': 15, 'vote': 'fitted'}
    >>> small_path({}, list("abcdef"), numbers=False), small_path({"within": 0.01}, ["a", "b"], numbers=False)
    ({'max_rules': 18}, {'within': 0.01})
    """
    if options.get("within") is not None:
        return dict(options)
    n_classes = 0 if numbers else len(pd.unique(np.asarray(y).ravel()))  # labels may be missing, which fit refuses
    return {"max_rules": min(max(FEW, FEW_PER_CLASS * n_classes), NOT_MORE), **options}


def preset_of(kind: type, preset: str) -> Callable[..., Any]:
    """The class method of an estimator for a preset of this name."""
    make: Callable[..., Any] | None = getattr(kind, preset.replace("-", "_"), None)
    if make is None or preset not in _PRESETS:
        raise ValueError(f"preset is {preset!r}, which {kind.__name__} does not have; leave it out.")
    return make


_PRESETS = ("as-in-paper", "accurate", "few-rules")


def _path_settings(model: Any, options: Mapping[str, Any], y: Any, *, numbers: bool) -> dict[str, Any]:
    """The model stays as it is in the folds, and is not asked where it does not predict what a path needs."""
    kept: dict[str, Any] = {"train_in_folds": False}
    predicts_nothing = isinstance(model, (str, os.PathLike, RuleSet))
    if predicts_nothing or not (numbers or is_booster(model) or hasattr(model, "predict_proba")):
        kept["model_share"] = 0.0
    if isinstance(model, RuleSet):
        kept["tries"] = 0  # rules made by hand stay as they are
    return kept | small_path(options, y, numbers=numbers)


def _check_method(method: str, preset: str | None) -> None:
    if method not in METHODS:
        raise ValueError(f"method is {method!r}; choose 'path', 'cover' or 'boost'.")
    if preset is not None and method == "path":
        of = "boost" if preset == "few-rules" else "cover"
        raise ValueError(f"preset is {preset!r}, which belongs to method={of!r}, but the method is {method!r}.")


def _check_options(method: str, kind: type, options: Mapping[str, Any]) -> None:
    """Raises for an option that the method does not have, and names the one that has it."""
    known = _options_of(kind)
    for name in sorted(options.keys() - set(known)):
        others = [repr(each) for each, kinds in METHODS.items() if any(name in _options_of(one) for one in kinds)]
        if others:
            way_out = f"it belongs to method={' and '.join(others)}"
            if repr(method) in others:
                way_out = f"it is for {'numbers' if 'Classifier' in kind.__name__ else 'classes'}"
            raise UnknownOptionError(f"{kind.__name__}, which method={method!r} makes, has no {name!r}; {way_out}.")
        raise UnknownOptionError(
            f"explain has no option {name!r}{did_you_mean(name, known)}; with method={method!r} it has those of "
            f"{kind.__name__}: "
            f"{', '.join(known)}."
        )


def _options_of(kind: Any) -> list[str]:
    own = [name for name in kind._get_param_names() if name != "estimator"]
    return ["max_rules", *own] if kind in METHODS["boost"] else own


def _predicts_numbers(source: Any, y: Any) -> bool:
    if isinstance(source, RuleSet):
        return bool(type_of_target(y).startswith("continuous"))
    try:
        return bool(is_regressor(source))
    except (AttributeError, TypeError):
        return False
