"""Exported PMML, evaluated by JPMML, answers as the model does."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from exported import HOSTILE, Case, all_but, cases, coded_cases, hostile_case, log_odds_cases, named_case, text_case
from jpmml_evaluator import make_evaluator
from jpmml_evaluator.jpype import JPypeBackend
from mixed_models import mixed_models

from rulecover.export import conditions, to_pmml
from rulecover.export.conditions import Script


@pytest.fixture(scope="module")
def java() -> Iterator[JPypeBackend]:
    for made in (cases, log_odds_cases, coded_cases, mixed_models):  # Java leaves LAPACK too little stack to fit models
        made()
    backend = JPypeBackend()
    yield backend
    backend.shutdown() if hasattr(backend, "shutdown") else None


def by_jpmml(java: Any, folder: Path, case: Case, frame: pd.DataFrame | None = None) -> pd.DataFrame:
    path = folder / "rules.pmml"
    path.write_text(to_pmml(case.model), encoding="utf-8")
    evaluator = make_evaluator(str(path), backend=java).verify()
    if frame is None:
        frame = pd.DataFrame(case.X, columns=list(case.rules.rules.feature_names))
    return evaluator.evaluateAll(frame.astype(object).where(frame.notna(), None), nan_as_missing=True)


def check(case: Case, answers: pd.DataFrame) -> None:
    target = next(name for name in answers.columns if name.endswith("class"))
    assert answers[target].tolist() == case.prediction
    if case.probabilities is not None:
        titles = Script(case.rules).outputs[1:-2]
        assert case.has_probabilities(answers[titles].to_numpy(dtype=np.float64).tolist())
        assert answers["decided_by"].tolist() == case.decided_by


@pytest.mark.parametrize("made", [cases, log_odds_cases])
def test_exported_pmml_answers_as_the_model_does(made: Callable[[], list[Case]], java: Any, tmp_path: Path) -> None:
    for case in made():
        check(case, by_jpmml(java, tmp_path, case))


def test_a_new_fallback_of_a_known_kind_needs_no_line(java: Any, new_fallbacks: list[Case], tmp_path: Path) -> None:
    for case in new_fallbacks:
        check(case, by_jpmml(java, tmp_path, case))


def test_models_of_mixed_tables_answer_as_they_do_here(java: Any, tmp_path: Path) -> None:
    path = tmp_path / "rules.pmml"
    for each in mixed_models():
        path.write_text(to_pmml(each.model), encoding="utf-8")
        evaluator = make_evaluator(str(path), backend=java).verify()
        frame = pd.DataFrame(each.plain(each.rows), dtype=object)
        frame["hired"] = [None if moment is None else moment.isoformat() for moment in each.moments]
        answers = evaluator.evaluateAll(frame, nan_as_missing=True)

        target = next(name for name in answers.columns if name.endswith("class"))
        assert answers[target].tolist() == each.prediction
        if each.probabilities is not None:
            titles = Script(each.vote).outputs[1:-2]
            assert each.has_probabilities(answers[titles].to_numpy(dtype=np.float64).tolist())


def test_all_categories_but_some_are_the_others(java: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(conditions, "conditions_of", all_but)
    for case in coded_cases():
        check(case, by_jpmml(java, tmp_path, case))


def test_hostile_names_of_columns_and_classes_are_only_names(java: Any, tmp_path: Path) -> None:
    for hostile in HOSTILE:
        case = hostile_case(hostile)
        check(case, by_jpmml(java, tmp_path, case))


@pytest.mark.parametrize("made", [text_case, named_case])
def test_levels_and_categories_are_read_from_the_text(java: Any, tmp_path: Path, made: Any) -> None:
    case, raw = made()

    check(case, by_jpmml(java, tmp_path, case, pd.DataFrame(raw)))
