"""What all models of rules that predict numbers share."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from sklearn.base import RegressorMixin, is_regressor
from sklearn.frozen import FrozenEstimator
from sklearn.metrics import r2_score
from sklearn.utils.validation import check_is_fitted

from rulecover.estimators.base import RuleModel, VotingModel
from rulecover.estimators.centred import CentredRegressor, without_centre
from rulecover.estimators.checks import chosen, real_number, sample_weights
from rulecover.estimators.prepare import Prepared
from rulecover.exceptions import UnreadableModelError
from rulecover.rules.ruleset import RuleSet
from rulecover.targets.numbers.samples import NumberSamples, far_centre
from rulecover.typing import Array, Floats
from rulecover.voting.fallback import NUMERIC_FALLBACKS, Fallback
from rulecover.voting.numbers import mean_votes
from rulecover.voting.vote import Vote


class NumberModel(RegressorMixin, RuleModel):
    """A model of rules that predicts a number."""

    _classifier: ClassVar[str]

    def _prepare(self, X: Any, y: Any, sample_weight: Any) -> Prepared:
        shape: tuple[int, ...] = np.shape(y) if isinstance(y, (list, tuple)) else getattr(y, "shape", ())
        if len(shape) == 2 and shape[1] > 1:
            raise ValueError(
                f"y has {shape[1]} columns, but a rule predicts one number; train one model for each column."
            )
        return super()._prepare(X, y, sample_weight)

    def _check_target(self, y: Array) -> Array:
        if np.asarray(y).dtype.kind in "mM":
            raise ValueError("y holds dates or durations; give numbers, such as days since the first one.")
        try:
            numbers = np.asarray(y, dtype=np.float64)
        except (TypeError, ValueError) as error:
            raise ValueError(
                f"y holds {_no_number(y)!r}, but {type(self).__name__} predicts numbers; give numbers, or use "
                f"{self._classifier} for classes."
            ) from error
        wrong = np.flatnonzero(~np.isfinite(numbers))
        if wrong.size:
            raise ValueError(
                f"Input y contains NaN or infinity: sample {wrong[0]} has {numbers[wrong[0]]}; leave such rows out."
            )
        return numbers

    def _check_kind(self, estimator: Any) -> None:
        if not is_regressor(estimator):
            inner = estimator.estimator if isinstance(estimator, FrozenEstimator) else estimator
            raise UnreadableModelError(
                f"{type(inner).__name__} is no regressor, but {type(self).__name__} works on regressors; "
                f"give a model of numbers, or use {self._classifier}."
            )

    def _trained(self, estimator: Any, X: Any, y: Array, weight: Floats | None) -> Any:
        """The estimator, trained around the mean of numbers that are far from zero."""
        estimator = without_centre(estimator)
        centre = 0.0 if isinstance(estimator, (RuleModel, RuleSet, FrozenEstimator)) else far_centre(y, weight)
        if not centre:
            return super()._trained(estimator, X, y, weight)
        return CentredRegressor(super()._trained(estimator, X, y - centre, weight), centre)

    def _weights(self, X: Any, y: Array, sample_weight: Any) -> Floats | None:
        return sample_weights(X, y, sample_weight, None)

    def _samples(self, X: Any, y: Array, weight: Floats | None, rows: Floats | None) -> NumberSamples:
        return NumberSamples.of(X, y, weight)


class RuleRegressor(NumberModel, VotingModel):
    """A model of rules that vote on a number."""

    vote: str
    scale: Any

    # Predicting -------------------------------------------------------------------------------------------------

    def predict_interval(self, X: Any, coverage: float = 0.9) -> Floats:
        """An interval for each row that should hold its number with this probability, rows x (lower, upper).

        Its middle is the prediction; its width comes from the spread of the numbers that the covering rules met. With
        plain means that is the variance of the covering rules' numbers, within the rules and between their means; with
        refitted values the mean squared error over each covering rule's training samples. Errors are taken to be
        normal.

        Parameters
        ----------
        X
            Rows x columns.
        coverage
            The probability, between 0 and 1.
        """
        check_is_fitted(self)
        tally = self._tally(self._check_rows(X), X)
        return self.vote_.interval(tally, real_number("coverage", coverage))

    def fidelity(self, X: Any) -> float:
        """How much of the source model's answers the rules explain: R² with the model's answers in place of y."""
        rows = self._check_rows(X, whole=True)
        mine = self.vote_.decided(self._tally(rows, X))
        return float(r2_score(self._model(X, np.arange(len(mine))).predict(rows), mine))

    # Fitting ----------------------------------------------------------------------------------------------------

    def _samples(self, X: Any, y: Array, weight: Floats | None, rows: Floats | None) -> NumberSamples:
        return NumberSamples.of(X, y, weight, scale=self._checked_scale())

    def _checked_scale(self) -> float | None:
        if isinstance(self.scale, str):
            if self.scale != "auto":
                raise ValueError(f"scale is {self.scale!r}; give 'auto' or a number above 0, in squared units of y.")
            return None
        return real_number("scale", self.scale, above=True)

    def _fallback(self) -> Fallback:
        fallback: Fallback = chosen("fallback", self.fallback, NUMERIC_FALLBACKS, ("name", "weights"))
        return fallback

    def _vote_of(self, rules: RuleSet) -> Vote:
        return mean_votes(rules, self.vote)


def _no_number(y: Array) -> Any:
    """The first value that is none."""
    for value in np.asarray(y, dtype=object).ravel():
        try:
            float(value)
        except (TypeError, ValueError):
            return value
    return y.dtype
