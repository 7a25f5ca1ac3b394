"""A few rules of a model that is already trained."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sklearn.base import is_regressor
from sklearn.utils.multiclass import type_of_target

from rulecover.estimators.booster import as_estimator, is_booster
from rulecover.estimators.mirco import MIRCOClassifier, MIRCORegressor, frozen
from rulecover.exceptions import UnknownOptionError
from rulecover.readers.sklearn.models import best_of
from rulecover.rules.ruleset import RuleSet


def explain(
    model: Any, X: Any, y: Any, *, sample_weight: Any = None, **options: Any
) -> MIRCOClassifier | MIRCORegressor:
    """A few rules of a model that is already trained; the model is never trained again.

    Parameters
    ----------
    model
        A trained tree ensemble that `rulecover.readers` can read, with or without a pipeline in front; a trained
        `RCBoostClassifier` or `RCBoostRegressor`, whose pool is then covered (Algorithm 1 from the line that evaluates
        impurities); or a `RuleSet`, rules of whatever origin: they predict numbers if y has fractions.
    X, y
        Data to choose and price the rules by, with labels or with numbers, as the model predicts them: the model's
        training data, or other data with the same columns and labels.
    sample_weight
        What each row counts.
    **options
        As in `MIRCOClassifier`, or in `MIRCORegressor` for a regressor.

    Returns
    -------
    MIRCOClassifier or MIRCORegressor
        Fitted; see its ``rules_``, ``certificate_``, ``predict`` and ``why``.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.ensemble import RandomForestClassifier
    >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    >>> forest = RandomForestClassifier(max_depth=5, random_state=0).fit(X, y)
    >>> few = explain(forest, X, y)
    >>> len(few.rules_) < 20 < few.n_candidate_rules_
    True
    """
    source = frozen(as_estimator(model, y) if is_booster(model) else best_of(model))
    kind = _kind_for(source, y)
    _check_options(kind, options)
    return kind(source, **options).fit(X, y, sample_weight=sample_weight)


def _check_options(kind: type[MIRCOClassifier] | type[MIRCORegressor], options: Mapping[str, Any]) -> None:
    """Raises for an option of `explain` that covers do not have."""
    known = [name for name in kind._get_param_names() if name != "estimator"]
    for name in sorted(options.keys() - set(known)):
        path = kind.__name__.replace("MIRCO", "RulePath")
        raise UnknownOptionError(
            f"explain has no option {name!r}; it has those of {kind.__name__}: {', '.join(known)}. For a rule path and "
            f"its options, give {path}(FrozenEstimator(model), …).fit(X, y)."
        )


def _kind_for(source: Any, y: Any) -> type[MIRCOClassifier] | type[MIRCORegressor]:
    """The estimator that covers a source of this kind, or refuses it."""
    if isinstance(source, RuleSet):
        return MIRCORegressor if type_of_target(y).startswith("continuous") else MIRCOClassifier
    try:
        return MIRCORegressor if is_regressor(source) else MIRCOClassifier
    except (AttributeError, TypeError):
        return MIRCOClassifier
