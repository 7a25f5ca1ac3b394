"""The model that rules come from, asked for its predictions; of training rows out of bag, where it has such.

Out-of-bag predictions of a forest are those of the trees that were not trained on a row.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from joblib import parallel_config
from sklearn.base import is_classifier
from sklearn.ensemble import (
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
    VotingClassifier,
    VotingRegressor,
)
from sklearn.frozen import FrozenEstimator
from sklearn.pipeline import Pipeline
from sklearn.utils import check_array

from rulecover.data.encoder import rows_at_a_time
from rulecover.data.frames import in_native_order
from rulecover.estimators.binned import BinnedTrees
from rulecover.estimators.cross_fitted import Honest
from rulecover.estimators.door import rows_of
from rulecover.estimators.other_target import CentredRegressor
from rulecover.estimators.prepare import RuleModel, encoder_of
from rulecover.exceptions import MismatchedDataError, UnreadableModelError
from rulecover.readers.sklearn.models import vote_weights
from rulecover.readers.sklearn.pipelines import unchanged
from rulecover.rulepath.family import RowPredictions
from rulecover.typing import Array, Floats, Ints

_CLASSIFIERS = (RandomForestClassifier, ExtraTreesClassifier)
_FORESTS = (*_CLASSIFIERS, RandomForestRegressor, ExtraTreesRegressor)
#: Models around another one.
_AROUND = (RuleModel, Pipeline, BinnedTrees)
_NOT_ASKED = "do not ask it (model_share=0 in a path, another fallback in a cover)"
#: How XGBoost begins to refuse a row, since 3.1.
_UNSEEN = "Found a category not in the training set"
#: How far probabilities in float32 may lie beyond 0 and 1.
_ROUNDED = 1e-5


@dataclass(frozen=True, eq=False)
class AskedModel:
    """The source model, asked about rows in the form that it was trained on, which `as_seen` gives them.

    It answers on one thread: scikit-learn adds up what the trees of a forest say in the order in which threads are
    done, so that the last digits would differ from call to call.
    """

    model: Any
    as_seen: Callable[[Any], Any]

    @property
    def classes_(self) -> Array:
        """The labels in their order; CatBoost has them in that of its `class_names`."""
        return np.sort(self.model.classes_)

    def predict(self, X: Any) -> Array:
        predicted = self._answer(self.model.predict, X)
        if predicted.ndim == 2 and predicted.shape[1] > 1:
            raise UnreadableModelError(
                f"{_name(self.model)} predicts {predicted.shape[1]} numbers for each row, but a rule predicts "
                f"one; train a model for each, or {_NOT_ASKED}."
            )
        if predicted.dtype.kind == "f" and is_classifier(self.model) and not np.isin(predicted, self.classes_).all():
            raise _raw_scores(self.model)
        return predicted.ravel()  # CatBoost returns a column

    def predict_proba(self, X: Any) -> Floats:
        if not hasattr(self.model, "predict_proba"):
            raise UnreadableModelError(
                f"{type(self.model).__name__} gives no probabilities (predict_proba), but is asked for them; train it "
                f"with them (voting='soft'), or {_NOT_ASKED}."
            )
        shares = self._answer(self.model.predict_proba, X)
        if shares.ndim == 1 or (np.abs(shares - 0.5) > 0.5 + _ROUNDED).any():
            raise _raw_scores(self.model)
        return shares[:, np.argsort(self.model.classes_)]

    def _answer(self, ask: Callable[[Any], Any], X: Any) -> Array:
        rows = in_native_order(self.as_seen(X))
        try:
            with parallel_config("sequential"), warnings.catch_warnings():
                warnings.filterwarnings("ignore", "Found unknown categories")  # as rules do not say so either
                return by_blocks(lambda some, _: np.asarray(ask(some)), self.model, rows)
        except ValueError as error:
            _, refused, rest = str(error).partition(_UNSEEN)
            if not refused:
                raise
            raise MismatchedDataError(
                f"{_name(self.model)} does not predict rows with a category that it never saw "
                f"({refused}{rest.partition(chr(10))[0]}); leave such rows out, or do not ask it (another fallback)."
            ) from error


def by_blocks(answer: Callable[[Any, Ints], Array], model: Any, X: Any) -> Array:
    """What is answered for rows and their numbers, a few at a time where an encoder makes very wide rows of them."""
    encoder = encoder_of(model)
    at_a_time = None if encoder is None else rows_at_a_time(len(encoder.get_feature_names_out()))
    blocks = np.split(np.arange(X.shape[0]), [] if at_a_time is None else range(at_a_time, X.shape[0], at_a_time))
    parts = [answer(X if len(blocks) == 1 else rows_of(X, some), some) for some in blocks]
    return parts[0] if len(parts) == 1 else np.concatenate(parts)


def _name(model: Any) -> str:
    """The name of a model's class; that of the booster itself."""
    return type(getattr(model, "source", model)).__name__


def _raw_scores(model: Any) -> UnreadableModelError:
    """The error for what libraries predict where they do not know what an objective means."""
    return UnreadableModelError(
        f"{_name(model)} was trained with an objective of your own, and gives raw scores in place of classes and "
        f"probabilities; train it with an objective of its library, or {_NOT_ASKED}."
    )


def out_of_bag(model: Any, X: Any, places: Ints | None = None) -> Floats | None:
    """The mean over the trees that did not draw a row, rows x outputs; NaN for a row that every tree drew.

    ``None`` if the model is not a forest whose trees drew rows. Where they drew among other rows, each row is predicted
    by some of the trees: a little less surely, not wrongly.

    Parameters
    ----------
    model
        A trained forest of scikit-learn, one behind a pipeline or on binned columns, or rules that were made of one.
    X
        Rows, as the model takes them.
    places
        Where they are among the rows that the model was trained with; by default they are all of these.

    Examples
    --------
    >>> X, y = np.arange(40.0)[:, None], np.repeat([0, 1], 20)
    >>> forest = RandomForestClassifier(oob_score=True, random_state=0).fit(X, y)
    >>> bool(np.allclose(out_of_bag(forest, X), forest.oob_decision_function_))
    True
    """
    if not has_out_of_bag(model):
        return None
    if isinstance(model, _AROUND):
        return out_of_bag(_inside(model), _as_seen_inside(model, X), places)
    if isinstance(model, CentredRegressor):
        predicted = out_of_bag(model.estimator, X, places)
        return None if predicted is None else model.origin.read(predicted)
    if isinstance(model, Honest):
        return model.out_of_fold(X, places).reshape(X.shape[0], -1)
    if isinstance(model, (VotingClassifier, VotingRegressor)):
        return _mean_of_members(_members(model), X, places)
    # As the trees of a forest take rows: checked once, not once per tree.
    rows = check_array(X, dtype=np.float32, accept_sparse="csr", ensure_all_finite=False)
    places = np.arange(rows.shape[0]) if places is None else places
    method = "predict_proba" if isinstance(model, _CLASSIFIERS) else "predict"
    total = np.zeros((rows.shape[0], len(model.classes_) if isinstance(model, _CLASSIFIERS) else model.n_outputs_))
    trees = np.zeros((rows.shape[0], 1))
    for tree, drawn in zip(model.estimators_, model.estimators_samples_, strict=True):
        seen = np.zeros(1 + max(int(places.max()), int(drawn.max())), dtype=bool)
        seen[drawn] = True
        free = np.flatnonzero(~seen[places])
        if free.size:
            total[free] += getattr(tree, method)(rows[free], check_input=False).reshape(len(free), -1)
            trees[free] += 1.0
    return np.asarray(np.where(trees > 0, total / np.maximum(trees, 1.0), np.nan))


def _inside(model: Any) -> Any:
    return model[-1] if isinstance(model, Pipeline) else model.estimator_


def _as_seen_inside(model: Any, X: Any) -> Any:
    """Rows as the model inside takes them."""
    if isinstance(model, BinnedTrees):
        return model.binned(X)
    return model[:-1].transform(X) if isinstance(model, Pipeline) and len(model) > 1 else X


def _mean_of_members(members: list[tuple[Any, float]], X: Any, places: Ints | None) -> Floats:
    """By what the members count in the vote."""
    predicted, weights = zip(*((out_of_bag(member, X, places), weight) for member, weight in members), strict=True)
    return np.asarray(np.average(predicted, axis=0, weights=weights))


def _members(model: VotingClassifier | VotingRegressor) -> list[tuple[Any, float]]:
    """The members of a vote that have out-of-bag predictions, with what they count; the others are not asked."""
    pairs = zip(model.estimators_, vote_weights(model).tolist(), strict=True)
    return [(member, weight) for member, weight in pairs if weight > 0 and has_out_of_bag(member)]


def has_out_of_bag(model: Any) -> bool:
    """Whether `out_of_bag` has predictions of this model.

    >>> has_out_of_bag(RandomForestClassifier()), has_out_of_bag(ExtraTreesClassifier())
    (True, False)
    """
    if isinstance(model, RuleModel) and _may_train_on_some_rows(model):
        return False
    if isinstance(model, _AROUND):
        return has_out_of_bag(_inside(model))
    if isinstance(model, CentredRegressor):
        return has_out_of_bag(model.estimator)
    if isinstance(model, (VotingClassifier, VotingRegressor)):
        return bool(_members(model))
    return isinstance(model, Honest) or (isinstance(model, _FORESTS) and bool(model.bootstrap))


def _may_train_on_some_rows(model: Any) -> bool:
    """Whether the trees of a model of rules may have seen only some of its rows, whose places are not known here."""
    cut = getattr(model, "time_limit", None) is not None or bool(getattr(model, "early_stopping", None))
    return cut and not isinstance(model.estimator, FrozenEstimator)


@dataclass(frozen=True, eq=False)
class OutOfBagModel:
    """A trained model that predicts its training rows by the trees that were not trained on them, if there are such.

    Parameters
    ----------
    source
        The model, which also predicts where no such tree does.
    places
        As in `out_of_bag`.
    """

    source: AskedModel
    places: Ints

    def predict_proba(self, X: Any) -> Floats:
        """The shares of the classes."""
        return self._out_of_bag_first(X, _shares)

    def predict(self, X: Any) -> Array:
        """The numbers of a regressor."""
        return self._out_of_bag_first(X, lambda source, rows: source.predict(rows)[:, None])[:, 0]

    def predictions(self, X: Any, classes: Array) -> RowPredictions:
        """What is predicted for rows, and for classes the shares."""
        if not len(classes):
            return RowPredictions(self.predict(X))
        shares = self.predict_proba(X)
        return RowPredictions(np.asarray(self.source.classes_)[shares.argmax(axis=1)], shares)

    def _out_of_bag_first(self, X: Any, predicted: Callable[[AskedModel, Any], Floats]) -> Floats:
        model = self.source.model
        if not has_out_of_bag(model):
            return predicted(self.source, X)
        seen = self.source.as_seen(X)
        out = by_blocks(lambda rows, some: _known_out_of_bag(model, rows, self.places[some]), model, seen)
        unknown = np.flatnonzero(np.isnan(out).any(axis=1))
        if unknown.size:
            out[unknown] = predicted(replace(self.source, as_seen=unchanged), rows_of(seen, unknown))
        return out


def _known_out_of_bag(model: Any, X: Any, places: Ints) -> Floats:
    found = out_of_bag(model, X, places)
    assert found is not None
    return found


def _shares(source: AskedModel, X: Any) -> Floats:
    """The shares by a model; of a vote without shares whose members have some, all for one class."""
    if has_out_of_bag(source.model) and not hasattr(source.model, "predict_proba"):
        return np.asarray(source.predict(X)[:, None] == source.classes_, dtype=np.float64)
    return source.predict_proba(X)
