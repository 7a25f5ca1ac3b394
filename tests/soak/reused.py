"""Fitted models used further: rules as a source of rules, thresholds that are looked for, and covers of tables."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from refusals import refusal
from sklearn.model_selection import KFold
from soak_cases import CANNOT_TRAIN, OURS, PREDICT_NOTHING, Fitted

from rulecover import RuleSet, cover_table, explain
from rulecover.voting.threshold import threshold_for

_TARGET = "what is to be predicted"
_TINY = 1e-9


def rules_are_a_source_of_rules(f: Fitted) -> None:
    """Of a cover and of a path; rows that none of the rules covers are listed."""
    rules = f.model.rules_
    if f.case.is_mixed or not len(rules):
        return
    texts = _exact_texts(rules)
    weight = {} if f.case.weight is None else {"sample_weight": f.case.weight}
    cover = explain(rules, f.data.X, f.data.y, method="cover", preset="as-in-paper", **weight)
    path = explain(rules, f.data.X, f.data.y, max_rules=3, choose="last", **weight)
    assert _exact_texts(cover.rules_) <= texts
    assert _exact_texts(path.rules_) <= texts
    counted = np.ones(len(f.case.y), dtype=bool) if f.case.weight is None else f.case.weight > 0
    covered = ~f.model.missed(f.data.X) & counted
    assert not cover.missed(f.data.X)[covered].any() or cover.certificate_.status.name == "LIMITED"
    np.testing.assert_array_equal(cover.uncovered_, np.flatnonzero(~covered & counted))


def _exact_texts(rules: RuleSet) -> set[str]:
    """The rules with all digits; what is shown, and the ends of whole numbers, depend on the rows that were seen."""
    return {rule.text for rule in replace(rules, shown=None, columns=replace(rules.columns, whole={}))}


def fidelity_is_how_often_the_model_is_followed(f: Fitted) -> None:
    """The share of rows on which model and rules agree, or R²."""
    if f.case.source in PREDICT_NOTHING:
        return
    found = f.model.fidelity(f.data.asked)
    assert found <= 1 and (f.case.target == "numbers" or found >= 0)
    if f.case.explains and f.case.target == "classes" and f.case.source not in CANNOT_TRAIN:
        told = np.asarray(f.source.predict(f.data.asked)).ravel()
        np.testing.assert_allclose(found, np.mean(told == f.model.predict(f.data.asked)), atol=_TINY)


def a_threshold_does_what_is_asked_for(f: Fitted) -> None:
    """Recall, precision or cost on the training rows, next to every threshold there could be."""
    if f.case.target != "classes" or len(f.model.classes_) != 2:
        return
    label = f.model.classes_[f.case.seed % 2]
    share = f.model.predict_proba(f.data.X)[:, f.case.seed % 2]
    positive = f.case.y == label
    for asked in ({"recall": 0.8}, {"precision": 0.6}, {"cost": 3.0}):
        ((name, value),) = asked.items()
        levels = np.unique(share[share > 0])
        levels = levels[np.diff(levels, prepend=-1.0) > 1e-12]  # others differ by rounding
        best = max((_merit(name, value, share >= level, positive) for level in levels), default=-np.inf)
        try:
            found = f.model.tuned(f.data.X, f.data.y, label=label, **asked).predict(f.data.X) == label
        except ValueError as error:
            assert "a threshold cannot be set" in str(error) or best == -np.inf, error
            continue
        assert _merit(name, value, found, positive) >= best - _TINY, asked


def a_threshold_is_chosen_in_folds(f: Fitted) -> None:
    """The same as the one for the probabilities of models that are trained here, fold by fold."""
    by_row = any(isinstance(value, np.ndarray) for value in f.case.settings.values())
    if f.case.target != "classes" or len(f.model.classes_) != 2 or by_row:
        return
    place = f.case.seed % 2
    label, folds = f.model.classes_[place], KFold(2, shuffle=True, random_state=f.case.seed)
    try:
        tuned = f.model.tuned(f.data.X, f.data.y, label=label, cost=3.0, cv=folds)
    except Exception as error:  # in a fold a model may be refused that is not on all rows
        of = f"{f.case.method}, {f.case.target}, {f.case.source}, {f.case.kind}"
        assert any(each in str(error) for each in _NO_THRESHOLD) or refusal(error, of) is not None, error
        return
    if f.case.is_mixed:  # what a column of a table holds is said by all rows
        return
    share = _shares_in_folds(f, folds, place)
    known = ~np.isnan(share)
    threshold = threshold_for((f.case.y == label)[known], share[known], cost=3.0)
    np.testing.assert_array_equal(
        tuned.predict(f.data.asked), f.model.at_threshold(threshold, label).predict(f.data.asked)
    )


_NO_THRESHOLD = ("a threshold cannot be set", "every probability of the class is 0", "to train on")


def _shares_in_folds(f: Fitted, folds: KFold, place: int) -> np.ndarray:
    """The probability of a class by models that saw the other folds only, NaN where they saw one class."""
    plain, share = replace(f.case, weight=None, groups=None), np.full(len(f.case.y), np.nan)
    for learn, check in folds.split(f.case.y):
        if len(set(f.case.y[learn].tolist())) == 2:
            share[check] = f.again(plain.take(learn)).predict_proba(plain.take(check).data.X)[:, place]
    return share


def _merit(name: str, value: float, found: np.ndarray, positive: np.ndarray) -> float:
    """How good these answers are, the higher the better; minus infinity if they are not what is asked for."""
    hits, alarms = int((found & positive).sum()), int((found & ~positive).sum())
    if name == "cost":
        return float(-(value * (int(positive.sum()) - hits) + alarms))
    if name == "recall":
        return float(-alarms) if hits >= value * positive.sum() - _TINY else -np.inf
    return float(hits) if hits >= value * (hits + alarms) - _TINY else -np.inf


def a_table_is_covered_where_it_is(f: Fitted) -> None:
    """Every row that some leaf covers is, and evidence is counted on all rows."""
    if not (f.case.explains and f.case.target == "classes" and f.case.kind in ("frame", "frame with gaps")):
        return
    if f.case.source in OURS and f.source.missed(f.data.X).any():  # which is refused
        return
    table = f.data.X.assign(**{_TARGET: f.case.y})
    few = cover_table(f.source, table, target=_TARGET, sample=max(2, len(table) // 2), random_state=f.case.seed)
    covered = few.apply(f.data.X).toarray()
    assert covered.any(axis=1).all() and few.table_cover_.certificate.is_cover
    np.testing.assert_array_equal(few.table_cover_.certificate.support, covered.sum(axis=0))
    counts = np.array([[(column & (f.case.y == label)).sum() for label in few.classes_] for column in covered.T])
    np.testing.assert_array_equal(few.rules_.evidence.sums, counts)
