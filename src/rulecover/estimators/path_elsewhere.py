"""Rule paths on rows that are not in memory: a size is chosen on a sample, the rules on all rows."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.frozen import FrozenEstimator

from rulecover.clock import TimeLimits, cut_in_words, is_late, training_deadline
from rulecover.estimators.asked import has_out_of_bag
from rulecover.estimators.checks import check_model_fits
from rulecover.estimators.elsewhere import RowsElsewhere, SampledRows
from rulecover.estimators.path_model import PathModel
from rulecover.estimators.prepare import Prepared, fresh
from rulecover.exceptions import MismatchedDataError
from rulecover.partitions.mirco import shown_for_parts
from rulecover.partitions.parts import FEWEST_PASSES, Parts, read_in_time
from rulecover.partitions.path import PathOfParts, rule_path_of_parts, soften_parts, weighed_nodes
from rulecover.rulepath.sizes import size_scores, size_table
from rulecover.targets.samples import Samples

#: To ask trees what they predict takes up to this many times as long as to read them.
_ASKING = 3
#: Trees are read as long as there is time for this many rules, each of which takes a pass over the rows.
_RULES = 5


def fit_path_elsewhere(model: PathModel, rows: RowsElsewhere, groups: Any, begin: float) -> list[str]:
    """Fits a rule path, whose settings are checked, to rows that are not in memory, in the time since it began.

    Returns what there was no time for, in words.
    """
    if groups is not None:
        raise MismatchedDataError("groups is given, but not all rows are in memory; leave it out.")
    placed = rows.check_path(model)
    sample = placed.drawn(model.random_state)
    until = training_deadline(begin, model.time_limit)
    prepared = model._prepare(sample.X, sample.y, sample.weight, deadline=until)
    limits = TimeLimits.of(model.time_limit, begin=begin, shared=not model._takes_all())
    with placed.path_parts(model, prepared, sample) as (parts, head):
        return [prepared.cut, *_follow(model, parts, prepared, head, sample=sample, limits=limits)]


def _follow(
    model: PathModel, parts: Parts, prepared: Prepared, head: Samples, *, sample: SampledRows, limits: TimeLimits
) -> list[str]:
    """Follows a path on rows in many places, once a model is prepared on a sample of them."""
    small, on_sample = (None, []) if model._takes_all() else _on_sample(model, sample, limits.path)
    size = model.max_rules if small is None else small.n_rules_
    (family, fingerprint, ended), cut = _path_of(parts, model, prepared, head, size=size, deadline=limits.end)
    model._family, model.n_candidate_rules_, model.n_sampled_rows_ = family, family.n_candidates, len(sample.y)
    model._take(family.largest)
    model._warn_of_kept()
    if len(model.rules_) < family.largest:  # the fingerprint is that of columns in use
        _, fingerprint = shown_for_parts(parts, model.rules_)
    predicted, not_scored = model._fitted_predictions(sample.X, prepared.samples, prepared.rows, limits.end)
    model.path_ = size_table(family, prepared.samples, size_scores(family, prepared.samples, predicted), None)
    model.size_reason_, model.model_score_ = "the largest set" + model._left_out(), np.nan
    if small is not None:
        model.path_ = model.path_.join(small.path_.filter(like="cv_"))
        model.size_reason_ = f"{small.size_reason_}, on a sample of {len(sample.y):,} rows"
        model.model_score_ = small.model_score_
    model._finished(model.vote_, prepared.samples, fingerprint)
    also = [each for each in on_sample if each and each != not_scored]
    return [*cut, ended, not_scored, f"on a sample {' and '.join(also)}" if also else ""]


def _on_sample(model: PathModel, sample: SampledRows, deadline: float | None) -> tuple[Any, list[str]]:
    """The path of the same model on a sample of the rows, by which a size is chosen, and what there was no time for."""
    kept = {"train_in_folds": False, "pool": None, "n_bins": None, "verbose": 0}
    small: PathModel = fresh(model).set_params(estimator=FrozenEstimator(model.estimator_), **kept)
    begin = time.perf_counter()
    seconds = None if deadline is None else max(0.0, deadline - begin)
    given = sample.X, sample.y, sample.weight
    limits = TimeLimits.of(seconds, begin=begin, shared=True)
    return small, small._choose_size(given, None, small._prepare(*given), limits)


def _path_of(
    parts: Parts, model: PathModel, prepared: Prepared, head: Samples, *, size: int, deadline: float | None
) -> tuple[PathOfParts, list[str]]:
    """The path on all rows, and what there was no time for before it, in words."""
    whole = prepared.source.trees
    assert whole is not None
    names = check_model_fits(whole, prepared.samples.X, model._names())
    trees, begin = read_in_time(parts, whole, deadline, passes=FEWEST_PASSES + _RULES), time.perf_counter()
    depth = model.max_depth or model._usual_depth(head)
    weighed = weighed_nodes(parts, trees, names, max_depth=depth, min_samples=model.min_samples)
    asking = _ASKING * (time.perf_counter() - begin) * len(whole.trees) / len(trees.trees)
    wanted = model._share() or 0.0
    share = 0.0 if is_late(deadline, 2 * asking) else wanted  # half of the time is for the choice
    target = model._target.of(head)
    calibrate = len(target.classes) > 1 and has_out_of_bag(model.estimator_)
    softened = soften_parts(parts, target, share, calibrate=calibrate, totals=weighed.totals)
    usual = model._recipe(weighed.nodes.nodes, head, softened.noise, weighed.total)
    strength = model._votes().ridge_of_log_odds(head, target, softened.noise)
    recipe = replace(usual, max_rules=max(size, 1), deadline=deadline)
    cut = [
        cut_in_words(len(trees.trees), len(whole.trees), "trees were read"),
        "" if share == wanted else "rules were chosen by the labels alone",
    ]
    return rule_path_of_parts(parts, weighed, head, softened, recipe, strength=strength), cut
