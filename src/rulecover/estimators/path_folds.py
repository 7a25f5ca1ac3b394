"""The sizes of a rule path scored in folds, by models that are trained again or by the model that is there."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from contextlib import nullcontext, suppress
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.base import is_classifier
from sklearn.frozen import FrozenEstimator
from sklearn.utils import indexable

from rulecover.checkpoint import Checkpoint, Entry, fingerprint
from rulecover.clock import TimeLimits, check_in_time
from rulecover.estimators.asked import OutOfBagModel, has_out_of_bag
from rulecover.estimators.checks import for_labels, sample_weights, settings_that_matter, without_checkpoint
from rulecover.estimators.held_out import FoldPart, folds_one_by_one, in_a_fold, parts_of
from rulecover.estimators.in_time import in_time, some_of
from rulecover.estimators.path_model import PathModel
from rulecover.estimators.prepare import RuleModel, for_folds, fresh
from rulecover.estimators.scoring import model_predictions, score_function
from rulecover.exceptions import UnreadableModelError
from rulecover.progress import tracked
from rulecover.rulepath.candidates import Candidates
from rulecover.rulepath.family import RowPredictions
from rulecover.rulepath.folds import PathData, scores_with_kept_model
from rulecover.rulepath.path import PathRecipe
from rulecover.rulepath.sizes import HeldOut, LabelledRows, SizeScores, size_scores
from rulecover.typing import Ints

#: Rows to learn from, and rows to check on.
Fold = tuple[Ints, Ints]


def held_out_scores(
    model: PathModel, given: tuple[Any, Any, Any], groups: Any, *, scoring: Any, of: PathData, limits: TimeLimits
) -> tuple[HeldOut | None, str]:
    """The scores of every size in folds, and which folds there was no time for, if any, in words.

    Parameters
    ----------
    model
        The path, which was followed on all rows.
    given
        X, y and the weights of rows, as in `fit`.
    groups
        The group of each row.
    scoring
        The score by which a size is chosen; ``None`` for that of the estimator itself.
    of
        What the path was made from.
    limits
        When time is up.
    """
    X, y, sample_weight = given
    y = model._target.check(np.asarray(y).ravel(), type(model).__name__)
    # A model of some rows, since there was no time for all, has none for folds either.
    seconds = limits.seconds if of.all_trained or not model.train_in_folds else np.inf
    trains = model.train_in_folds and np.isfinite(seconds)
    rows, groups = indexable(for_folds(model.estimator_, X) if trains else X, groups)
    settings = {"classes": is_classifier(model), "random_state": model.random_state, "groups": groups}
    folds, n_folds = folds_one_by_one(model.cv, rows, y, **settings)
    if model.checkpoint is not None:  # which is of all of them; others may be too many to be there at once
        folds = list(folds)
    shown = tracked(folds, "Cross-validating", total=n_folds, verbose=model.verbose)
    parts = rows, y, sample_weights(X, y, sample_weight, model.class_weight)
    try:
        score = (
            _by_trained_models(model, parts, scoring, limits.end)
            if model.train_in_folds
            else _by_kept_model(model, X, of, scoring, limits.end)
        )
    except TimeoutError:
        return None, _done_in_words(0, n_folds)
    with nullcontext() if model.checkpoint is None else _checkpoint(model, of, folds) as file:
        scores, done = _in_time(score, shown, seconds=seconds, deadline=limits.end, file=file)
    if file is not None and done == n_folds:
        file.remove()
    return (HeldOut.of(scores, model._family.largest + 1) if scores else None), _done_in_words(done, n_folds)


def _done_in_words(done: int, n_folds: int) -> str:
    return "" if done == n_folds else f"its size was chosen in {done} of {n_folds} folds"


def _checkpoint(model: PathModel, data: PathData, folds: Iterable[Fold]) -> Checkpoint:
    """The file of the scores in folds; it is of these data, settings, folds and rules to choose from."""
    samples, candidates = data.samples, data.candidates
    arrays = samples.X, samples.labels, samples.weight, data.response.values, candidates.first, candidates.last
    rows = [part for fold in folds for part in fold]
    return Checkpoint(model.checkpoint, "a rule path", fingerprint(settings_that_matter(model), *arrays, *rows))


def _in_time(
    score: Callable[[Fold], list[SizeScores]],
    folds: Iterable[Fold],
    *,
    seconds: float,
    deadline: float | None = None,
    file: Checkpoint | None = None,
) -> tuple[list[SizeScores], int]:
    """The scores in the folds, and the number of folds that there was time for.

    Parameters
    ----------
    score
        From a fold to its scores, or to none if it has no rows; a TimeoutError if time is up.
    folds
        The folds.
    seconds
        What a fold takes, roughly; no fold is begun that would end after the deadline.
    deadline
        When time is up, by `time.perf_counter`.
    file
        Has the scores of folds that were done before, and takes the others.
    """
    scores: list[SizeScores] = []
    done = 0
    for fold in folds:
        kept = None if file is None else _kept_scores(file, f"fold {done}")
        begin = time.perf_counter()
        if kept is None and deadline is not None and begin + seconds > deadline:
            break
        try:
            found = score(fold) if kept is None else [kept]
        except TimeoutError:
            break
        seconds = max(seconds, time.perf_counter() - begin)
        if file is not None and kept is None:
            file.put({f"fold {done}": _written(one) for one in found})
        scores += found
        done += 1
    return scores, done


def _written(scores: SizeScores) -> Entry:
    return {name: np.asarray(value) for name, value in scores._asdict().items()}


def _kept_scores(file: Checkpoint, name: str) -> SizeScores | None:
    """The scores in a fold that was done before; ``None`` if it was not."""
    kept = file.get(name)
    if kept is None:
        return None
    with file.fitting():
        numbers = {"model": float(kept["model"]), "model_chosen_by": float(kept["model_chosen_by"])}
        return SizeScores(score=kept["score"], fidelity=kept["fidelity"], chosen_by=kept["chosen_by"], **numbers)


# Models that are trained again ----------------------------------------------------------------------------------------


def _by_trained_models(
    model: PathModel, rows: tuple[Any, Any, Any], scoring: Any, deadline: float | None
) -> Callable[[Fold], list[SizeScores]]:
    again = _for_a_part(model)
    # What training takes is known where the model was trained on all rows, and not cut short.
    until = deadline if isinstance(model.estimator, (FrozenEstimator, RuleModel)) else None

    def score(fold: Fold) -> list[SizeScores]:
        parts = parts_of([fold], *rows)
        with in_a_fold():
            return [
                _scores_on(for_labels(fresh(again), part[0].y), *part, scoring, deadline=deadline, until=until)
                for part in parts
            ]

    return score


def _for_a_part(model: PathModel) -> PathModel:
    """The same settings for a part of the rows, whose weights have those of the classes in them."""
    again: PathModel = without_checkpoint(fresh(model)).set_params(verbose=0)
    if is_classifier(model):
        again.set_params(class_weight=None)
    if isinstance(model.estimator, FrozenEstimator):
        again.set_params(estimator=fresh(model.estimator.estimator))
    return again


def _scores_on(
    model: PathModel, learn: FoldPart, check: FoldPart, scoring: Any, *, deadline: float | None, until: float | None
) -> SizeScores:
    """The scores of every size of the path on some rows, once it has followed the path on others.

    A model that cannot be trained on all of them until then is an error, as if time were up.
    """
    prepared = model._prepare(*learn, deadline=until)
    if prepared.cut:
        raise TimeoutError(prepared.cut)
    model._follow(learn.X, prepared, deadline)
    check_in_time(deadline)
    rows, classes = model._check_rows(check.X, whole=True), model._family.target.classes

    def ask(some: Ints) -> RowPredictions:
        return model_predictions(model._model(check.X, some), some_of(rows, some), classes)

    predicted = in_time(ask, np.arange(len(check.y)), deadline)
    by = None if scoring is None else score_function(scoring, classes)
    checked = LabelledRows(rows, check.y, np.ones(len(check.y)) if check.weight is None else check.weight)
    return size_scores(model._family, checked, predicted, by)


# The model that is there ----------------------------------------------------------------------------------------------


def _by_kept_model(
    model: PathModel, X: Any, data: PathData, scoring: Any, deadline: float | None
) -> Callable[[Fold], list[SizeScores]]:
    by = None if scoring is None else score_function(scoring, model._target.of(data.samples).classes)
    predicted = _out_of_bag_predictions(model, X, data, deadline)
    if predicted is None and model.within is not None:
        raise UnreadableModelError(
            f"within is {model.within:g}, which is measured from the model's score, but this model does not "
            "predict; give max_rules in place of it."
        )

    def recipe_for(candidates: Candidates) -> PathRecipe:
        return replace(model._recipe(candidates, data.samples, data.response.noise), deadline=deadline)

    def score(fold: Fold) -> list[SizeScores]:
        scores = scores_with_kept_model(data, [fold], recipe_for, predicted, min_samples=model.min_samples, by=by)
        check_in_time(deadline)
        return scores

    return score


def _out_of_bag_predictions(model: PathModel, X: Any, data: PathData, deadline: float | None) -> RowPredictions | None:
    """What the source model predicts, out of bag where it has such predictions; ``None`` if it cannot be asked."""
    classes = model._target.of(data.samples).classes
    drawn_from = data.drawn_from if has_out_of_bag(model.estimator_) else None

    def ask(some: Ints) -> RowPredictions:
        rows, source = some_of(data.samples.X, some), model._model(X, data.places[some])
        if drawn_from is not None:
            return OutOfBagModel(source, drawn_from[some]).predictions(rows, classes)
        return model_predictions(source, rows, classes)

    with suppress(UnreadableModelError):
        return in_time(ask, np.arange(len(data.places)), deadline)
    return None
