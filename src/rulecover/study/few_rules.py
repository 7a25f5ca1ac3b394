"""The most accurate few rules, on the folds of the study: paths, pruned covers with fitted votes, RCBoost's preset."""

from __future__ import annotations

from typing import Any

from sklearn.ensemble import RandomForestClassifier
from sklearn.frozen import FrozenEstimator

from rulecover import MIRCOClassifier, RCBoostClassifier, RulePathClassifier
from rulecover.study.folds import Fold
from rulecover.study.methods import Fitted, fitted, register

SIZES = (10, 25, 50, 100)
DEMANDS = (1, 3)


def rule_paths(fold: Fold) -> dict[str, Fitted]:
    """Rule paths of several sizes from one forest of 100 trees."""
    forest = RandomForestClassifier(100, random_state=fold.seed)
    done = fitted(RulePathClassifier(forest, max_rules=max(SIZES), choose="last"), fold)
    sizes = {f"Path-{size}": done.model.at(min(size, done.model.n_rules_)) for size in SIZES}
    return {name: _with_size(model, done.fit_seconds) for name, model in sizes.items()}


def covers(fold: Fold) -> dict[str, Fitted]:
    """Pruned covers of a forest of depth 10, votes by ridge: every training row covered once, and three times."""
    forest = RandomForestClassifier(100, max_depth=10, random_state=fold.seed).fit(fold.X_train, fold.y_train)
    found = {}
    for demand in DEMANDS:
        done = fitted(MIRCOClassifier.as_in_paper(FrozenEstimator(forest), demand=demand, prune=True), fold)
        votes = fitted(
            RulePathClassifier(
                FrozenEstimator(done.model),
                max_rules=len(done.model.rules_),
                choose="last",
                tries=0,
                min_samples=1,
            ),
            fold,
        )
        found[f"Cover-{demand}"] = _with_size(votes.model, done.fit_seconds + votes.fit_seconds)
    return found


def boosted(fold: Fold) -> dict[str, Fitted]:
    """RCBoost's preset for at most 100 rules."""
    done = fitted(RCBoostClassifier.few_rules(100, random_state=fold.seed), fold)
    return {"RCB-few": _with_size(done.model, done.fit_seconds)}


def _with_size(model: Any, seconds: float) -> Fitted:
    lengths = model.rules_.lengths
    return Fitted(model, seconds, len(lengths), float(lengths.mean()) if len(lengths) else 0.0)


register("Path", rule_paths, models=[f"Path-{size}" for size in SIZES], alone=False)
register("Cover", covers, models=[f"Cover-{demand}" for demand in DEMANDS], alone=False)
register("RCB-few", boosted, alone=False)
