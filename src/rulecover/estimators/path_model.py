"""What folds and rows elsewhere need of a rule path, of which they follow a part."""

from __future__ import annotations

from typing import Any, Protocol, Self

import pandas as pd

from rulecover.clock import TimeLimits
from rulecover.data.fingerprint import Fingerprint
from rulecover.estimators.elsewhere import PathElsewhere
from rulecover.estimators.prepare import Prepared
from rulecover.rulepath.candidates import Candidates
from rulecover.rulepath.family import RowPredictions, RuleFamily
from rulecover.rulepath.folds import PathData
from rulecover.rulepath.path import PathRecipe
from rulecover.rules.ruleset import RuleSet
from rulecover.targets.samples import Samples
from rulecover.typing import Ints
from rulecover.voting.vote import Vote


class PathModel(PathElsewhere, Protocol):
    """The settings, the state and the steps of `RulePathClassifier` and `RulePathRegressor` that others take."""

    max_depth: int | None
    min_samples: int
    cv: Any
    within: float | None
    train_in_folds: bool

    estimator_: Any
    vote_: Vote
    rules_: RuleSet
    path_: pd.DataFrame
    size_reason_: str
    model_score_: float
    n_candidate_rules_: int
    n_sampled_rows_: int
    _family: RuleFamily

    def set_params(self, **settings: Any) -> Any: ...

    def _takes_all(self) -> bool: ...

    def _recipe(
        self, candidates: Candidates, samples: Samples, noise: float | None, total: float | None = None
    ) -> PathRecipe: ...

    def _usual_depth(self, samples: Samples) -> int: ...

    def _follow(self, X: Any, prepared: Prepared, deadline: float | None) -> PathData: ...

    def _choose_size(
        self, given: tuple[Any, Any, Any], groups: Any, prepared: Prepared, limits: TimeLimits
    ) -> list[str]: ...

    def _take(self, size: int) -> None: ...

    def _warn_of_kept(self) -> None: ...

    def _left_out(self) -> str: ...

    def _check_rows(self, X: Any, *, whole: bool = False) -> Any: ...

    def _fitted_predictions(
        self, X: Any, samples: Samples, places: Ints, end: float | None
    ) -> tuple[RowPredictions | None, str]: ...

    def _finished(
        self, vote: Vote, seen: Samples, rows: Samples | Fingerprint | None = None, *, named: Vote | None = None
    ) -> Self: ...
