"""Rows and targets given in other ways, whose answers are the same: alone, by name, under other labels."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
from comparing import answers, assert_close, assert_same
from soak_cases import Case, Fitted, fit
from soak_tables import one_of

from rulecover.voting.answers import LogOddsClasses

#: Rows that are asked one by one.
_ALONE = 4


def a_row_alone_is_answered_as_among_others(f: Fitted) -> None:
    """In any order and any number of times; probabilities of log-odds may differ in the last bit."""
    rows = np.random.default_rng(f.case.seed).integers(0, len(f.case.asked), 2 * len(f.case.asked))
    expected, covered = answers(f.model, f.data.asked), f.model.apply(f.data.asked).toarray()
    rounding = 1e-13 if isinstance(f.model.vote_.answer, LogOddsClasses) else 0.0
    predicted = f.model.predict(f.data.asked)
    for some in (rows, *rows[:_ALONE, None]):
        asked = _among(f.case, some)
        np.testing.assert_allclose(answers(f.model, asked), expected[some], rtol=rounding)
        np.testing.assert_array_equal(f.model.predict(asked), predicted[some])
        np.testing.assert_array_equal(f.model.apply(asked).toarray(), covered[some])


def _among(case: Case, rows: np.ndarray) -> Any:
    return replace(case, asked=case.asked.iloc[rows].reset_index(drop=True)).data.asked


def columns_are_found_by_their_names(f: Fitted) -> None:
    """In another order, under another index."""
    asked = f.data.asked
    if not isinstance(asked, pd.DataFrame):
        return
    turned = asked[asked.columns[::-1]].set_axis(np.arange(len(asked)) % 3 + 7)
    np.testing.assert_array_equal(answers(f.model, turned), answers(f.model, asked))
    np.testing.assert_array_equal(f.model.apply(turned).toarray(), f.model.apply(asked).toarray())


def targets_and_weights_in_another_form_are_the_same(f: Fitted) -> None:
    """As lists, as columns under another index, in memory that is not to be written to."""
    form = one_of(np.random.default_rng(f.case.seed), _TARGET_FORMS)
    y, weight = (None if each is None else form(each) for each in (f.data.y, f.data.weight))
    assert_same(f, fit(f.case, f.source, replace(f.data, y=y, weight=weight)))


def _read_only(values: np.ndarray) -> np.ndarray:
    values = values.copy()
    values.flags.writeable = False
    return values


def _under_another_index(values: np.ndarray) -> pd.Series:
    return pd.Series(values, index=np.arange(len(values))[::-1] * 2 + 1, name="y")


_TARGET_FORMS = (np.ndarray.tolist, _read_only, _under_another_index, lambda values: np.repeat(values, 2)[::2])


def classes_under_other_labels_are_the_same_classes(f: Fitted) -> None:
    """Labels of another type in the same order: the same rules, with the same probabilities."""
    if f.case.target != "classes" or f.case.explains or f.case.source in _KNOW_CODES:
        return
    known = np.unique(f.case.y)
    named = np.array([f"label {k:03}" for k in range(len(known))], dtype=object)
    settings = {name: _renamed(value, known, named) for name, value in f.case.settings.items()}
    other = f.again(replace(f.case, y=named[np.searchsorted(known, f.case.y)], settings=settings))
    np.testing.assert_array_equal(other.classes_, named)
    np.testing.assert_array_equal(other.apply(f.data.asked).toarray(), f.model.apply(f.data.asked).toarray())
    assert_close(other.predict_proba(f.data.asked), f.model.predict_proba(f.data.asked))


#: Models that are trained on codes from 0 on alone.
_KNOW_CODES = ("xgboost",)


def _renamed(value: Any, known: np.ndarray, named: np.ndarray) -> Any:
    """A setting for each class, under the new labels."""
    if not isinstance(value, dict) or not set(value) <= set(known.tolist()):
        return value
    place = {label: k for k, label in enumerate(known.tolist())}
    return {named[place[label]]: of for label, of in value.items()}
