"""What a fitted model records of where it comes from."""

from __future__ import annotations

import inspect
import numbers
from typing import Any

from sklearn.frozen import FrozenEstimator
from sklearn.pipeline import Pipeline

import rulecover
from rulecover.data.fingerprint import Fingerprint, row_hashes
from rulecover.data.provenance import Provenance, today
from rulecover.rules.ruleset import RuleSet
from rulecover.show.text import cut_to
from rulecover.targets.samples import Samples

#: Settings that do not change what is fitted, or are said elsewhere.
_NOT_SAID = ("estimator", "n_jobs", "verbose", "random_state", "checkpoint")

#: The most letters of a setting.
_LONGEST = 60


def provenance_of(model: Any, rules: RuleSet, rows: Samples | Fingerprint) -> Provenance:
    """Where the rules of a model that has just been fitted come from; of the rows, or their fingerprint."""
    seed = model.random_state
    return Provenance(
        date=today(),
        version=f"rulecover {rulecover.__version__}",
        made_by=_settings(model),
        seed=int(seed) if isinstance(seed, numbers.Integral) else None,
        source=_source(model.estimator_),
        n_columns=int(model.n_features_in_),
        data=rows if isinstance(rows, Fingerprint) else _fingerprint(rules, rows),
    )


def _fingerprint(rules: RuleSet, samples: Samples) -> Fingerprint:
    used = rules.clauses.columns
    names = [rules.feature_names[f] for f in used.tolist()]
    return Fingerprint.of(row_hashes(samples.X, used, names, samples.labels), names)


def _settings(model: Any) -> str:
    """The name of an estimator, and the settings that differ from their defaults."""
    usual = inspect.signature(type(model).__init__).parameters
    given = {name: value for name, value in model.get_params(deep=False).items() if name not in _NOT_SAID}
    changed = {name: _said(value) for name, value in given.items() if _said(value) != _said(usual[name].default)}
    return f"{type(model).__name__}({', '.join(f'{name}={value}' for name, value in changed.items())})"


def _said(value: Any) -> str:
    """A setting in a few letters that are the same each time."""
    if value is None or isinstance(value, (str, bool, int, float, tuple, list, dict)):
        return cut_to(_LONGEST, repr(value))
    return type(value).__name__


def _source(model: Any) -> str:
    model = model.estimator if isinstance(model, FrozenEstimator) else model
    model = model[-1] if isinstance(model, Pipeline) else model
    trees = getattr(model, "estimators_", None)
    size = f" of {len(trees):,} trees" if trees is not None and len(trees) > 1 else ""
    return f"{type(model).__name__}{size}"
