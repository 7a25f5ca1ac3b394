"""The model that rules come from, asked for its predictions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from rulecover.exceptions import UnreadableModelError
from rulecover.typing import Array, Floats


@dataclass(frozen=True, eq=False)
class AskedModel:
    """The source model, asked about rows in the form that it was trained on, which `as_seen` gives them."""

    model: Any
    as_seen: Callable[[Any], Any]

    @property
    def classes_(self) -> Array:
        return np.asarray(self.model.classes_)

    def predict(self, X: Any) -> Array:
        return np.asarray(self.model.predict(self.as_seen(X))).ravel()  # CatBoost returns a column

    def predict_proba(self, X: Any) -> Floats:
        if not hasattr(self.model, "predict_proba"):
            raise UnreadableModelError(
                f"{type(self.model).__name__} gives no probabilities (predict_proba), but is asked for them; train it "
                "with them (voting='soft'), or do not ask it (model_share=0 in a path, another fallback in a cover)."
            )
        return np.asarray(self.model.predict_proba(self.as_seen(X)))
