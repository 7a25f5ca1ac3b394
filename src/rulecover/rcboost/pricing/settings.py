"""The settings of a tree, which some pricings take over when they grow trees of their own."""

from __future__ import annotations

from typing import Any

from sklearn.ensemble import ExtraTreesClassifier, ExtraTreesRegressor, RandomForestClassifier, RandomForestRegressor
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from rulecover.exceptions import UnreadableModelError

_TREES = (DecisionTreeClassifier, DecisionTreeRegressor)
_FORESTS = (RandomForestClassifier, RandomForestRegressor, ExtraTreesClassifier, ExtraTreesRegressor)


def check_has_settings(model: Any, pricing: str) -> None:
    """Raises unless this is a tree of scikit-learn, or a forest: others have settings of other names and meanings."""
    if not isinstance(model, _TREES + _FORESTS):
        raise UnreadableModelError(
            f"pricing={pricing!r} grows trees by the settings of the estimator, but {type(model).__name__} is not a "
            "scikit-learn tree or forest; give one of these, or choose pricing='tree'."
        )
