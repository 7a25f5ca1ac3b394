"""Whether the steps of pipelines see a table first, also in models around pipelines."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import VotingClassifier, VotingRegressor
from sklearn.frozen import FrozenEstimator
from sklearn.model_selection._search import BaseSearchCV
from sklearn.pipeline import Pipeline

from rulecover.data.encoder import TableEncoder
from rulecover.estimators.levels_of_steps import OF_NUMBERS

_VOTES = (VotingClassifier, VotingRegressor)


def has_steps_first(model: Any) -> bool:
    """Whether steps of pipelines see the rows first, so that a model takes whatever these take.

    Of models around pipelines, all of these must begin with steps that take more than numbers. Several that begin with
    an encoder of ours do not count: each would encode the table in its own way.

    >>> from sklearn.model_selection import GridSearchCV
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> pipeline = make_pipeline(TableEncoder(), DecisionTreeClassifier())
    >>> [has_steps_first(each) for each in (GridSearchCV(pipeline, {}), pipeline[-1], CalibratedClassifierCV(pipeline))]
    [True, False, False]
    """
    if isinstance(model, Pipeline):
        return True
    first = [_first_steps(each) for each in _innermost(model)]
    takes_tables = all(any(type(step) not in OF_NUMBERS for step in steps) for steps in first)
    ours = all(steps and isinstance(steps[0], TableEncoder) for steps in first)
    return takes_tables and not (ours and _trains_several(model))


def _innermost(model: Any) -> Iterator[Any]:
    """The models inside searches, calibrations and votes."""
    if isinstance(model, (BaseSearchCV, CalibratedClassifierCV, FrozenEstimator)):
        yield from _innermost(model.estimator)
    elif isinstance(model, _VOTES):
        for _, member in model.estimators:
            yield from () if isinstance(member, str) else _innermost(member)  # others are dropped
    else:
        yield model


def _first_steps(model: Any) -> list[Any]:
    """What is in front of the model of a pipeline; nothing for other models."""
    return list(_transformers(model.steps[:-1])) if isinstance(model, Pipeline) else []


def _transformers(steps: list[tuple[str, Any]]) -> Iterator[Any]:
    for _, step in steps:
        if isinstance(step, Pipeline):
            yield from _transformers(step.steps)
        elif step is not None and not isinstance(step, str):  # "passthrough"
            yield step


def _trains_several(model: Any) -> bool:
    """Whether several models are trained, none of which is there already."""
    if isinstance(model, FrozenEstimator):
        return False
    if isinstance(model, BaseSearchCV):
        return _trains_several(model.estimator)
    if isinstance(model, CalibratedClassifierCV):
        return not isinstance(model.estimator, FrozenEstimator)
    return isinstance(model, _VOTES) and not any(isinstance(member, FrozenEstimator) for _, member in model.estimators)
