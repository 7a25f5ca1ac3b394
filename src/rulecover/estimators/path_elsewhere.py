"""Rule paths on rows that are not in memory: a size is chosen on a sample, the rules on all rows."""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.frozen import FrozenEstimator

from rulecover.data.fingerprint import Fingerprint
from rulecover.estimators.asked import has_out_of_bag
from rulecover.estimators.checks import check_model_fits
from rulecover.estimators.elsewhere import RowsElsewhere, SampledRows
from rulecover.estimators.path_model import PathModel
from rulecover.estimators.prepare import Prepared, fresh
from rulecover.exceptions import MismatchedDataError
from rulecover.partitions.mirco import shown_for_parts
from rulecover.partitions.parts import Parts
from rulecover.partitions.path import rule_path_of_parts, soften_parts, weighed_nodes
from rulecover.rulepath.family import RuleFamily
from rulecover.rulepath.sizes import size_scores, size_table
from rulecover.targets.samples import Samples


def fit_path_elsewhere(model: PathModel, rows: RowsElsewhere, groups: Any) -> None:
    """Fits a rule path, whose settings are checked, to rows that are not in memory."""
    if groups is not None:
        raise MismatchedDataError("groups is given, but not all rows are in memory; leave it out.")
    placed = rows.check_path(model)
    sample = placed.drawn(model.random_state)
    prepared = model._prepare(sample.X, sample.y, sample.weight)
    with placed.path_parts(model, prepared, sample) as (parts, head):
        _follow(model, parts, prepared, head, sample)


def _follow(model: PathModel, parts: Parts, prepared: Prepared, head: Samples, sample: SampledRows) -> None:
    """Follows a path on rows in many places, once a model is prepared on a sample of them."""
    small = None if model._takes_all() else _on_sample(model, sample)
    size = model.max_rules if small is None else small.n_rules_
    family, fingerprint = _family_of(parts, model, prepared, head, size)
    model._family, model.n_candidate_rules_, model.n_sampled_rows_ = family, family.n_candidates, len(sample.y)
    model._take(family.largest)
    model._warn_of_kept()
    if len(model.rules_) < family.largest:  # the fingerprint is that of columns in use
        _, fingerprint = shown_for_parts(parts, model.rules_)
    predicted, _ = model._fitted_predictions(sample.X, prepared.samples, prepared.rows)
    model.path_ = size_table(family, prepared.samples, size_scores(family, prepared.samples, predicted), None)
    model.size_reason_, model.model_score_ = "the largest set" + model._left_out(), np.nan
    if small is not None:
        model.path_ = model.path_.join(small.path_.filter(like="cv_"))
        model.size_reason_ = f"{small.size_reason_}, on a sample of {len(sample.y):,} rows"
        model.model_score_ = small.model_score_
    model._finished(model.vote_, prepared.samples, fingerprint)


def _on_sample(model: PathModel, sample: SampledRows) -> Any:
    """The path of the same model on a sample of the rows, by which a size is chosen."""
    kept = {"train_in_folds": False, "pool": None, "n_bins": None, "verbose": 0}
    small = fresh(model).set_params(estimator=FrozenEstimator(model.estimator_), **kept)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", ".* is to be kept")  # it may cover other rows
        return small.fit(sample.X, sample.y, sample.weight)


def _family_of(
    parts: Parts, model: PathModel, prepared: Prepared, head: Samples, size: int
) -> tuple[RuleFamily, Fingerprint]:
    """The path on all rows, and their fingerprint."""
    trees = prepared.source.trees
    assert trees is not None
    names = check_model_fits(trees, prepared.samples.X, model._names())
    depth = model.max_depth or model._usual_depth(head)
    weighed = weighed_nodes(parts, trees, names, max_depth=depth, min_samples=model.min_samples)
    target = model._target.of(head)
    calibrate = len(target.classes) > 1 and has_out_of_bag(model.estimator_)
    softened = soften_parts(parts, target, model._share() or 0.0, calibrate=calibrate, totals=weighed.totals)
    usual = model._recipe(weighed.nodes.nodes, head, softened.noise, weighed.total)
    strength = model._votes().ridge_of_log_odds(head, target, softened.noise)
    recipe = replace(usual, max_rules=max(size, 1))
    return rule_path_of_parts(parts, weighed, head, softened, recipe, strength=strength)
