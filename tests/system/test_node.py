"""Exported JavaScript in a real Node answers as the model does."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from dated import FORMATS, dated_model, some_texts
from exported import (
    HOSTILE,
    Case,
    all_but,
    cases,
    coded_cases,
    hostile_case,
    log_odds_cases,
    named_case,
    text_case,
    truth_case,
)
from mixed_models import MixedModel, mixed_models
from node import by_node, check, known

from rulecover import RCBoostClassifier
from rulecover.data.dates import ISO
from rulecover.exceptions import MismatchedDataError
from rulecover.export import conditions, to_javascript


@pytest.mark.parametrize("made", [cases, log_odds_cases])
def test_exported_javascript_answers_as_the_model_does(made: Callable[[], list[Case]], tmp_path: Path) -> None:
    jobs = [(to_javascript(case.model), known(case)) for case in made()]

    for case, answers in zip(made(), by_node(tmp_path, jobs), strict=True):
        check(case, answers)


def test_a_new_fallback_of_a_known_kind_needs_no_line(new_fallbacks: list[Case], tmp_path: Path) -> None:
    jobs = [(to_javascript(case.model), known(case)) for case in new_fallbacks]

    for case, answers in zip(new_fallbacks, by_node(tmp_path, jobs), strict=True):
        check(case, answers)


def in_json(each: MixedModel) -> pd.DataFrame:
    """The rows with dates as JSON has them: as texts, in JavaScript's own form where they are not texts before."""
    if each.dates_are_texts:
        return each.rows
    return each.rows.assign(hired=[None if moment is None else f"{moment.isoformat()}.000Z" for moment in each.moments])


def test_models_of_mixed_tables_answer_as_they_do_here(tmp_path: Path) -> None:
    jobs = [(to_javascript(each.model), each.plain(in_json(each))) for each in mixed_models()]

    for each, answers in zip(mixed_models(), by_node(tmp_path, jobs), strict=True):
        assert [answer["prediction"] for answer in answers] == each.prediction
        assert [answer["rules"] for answer in answers] == each.fired
        if each.probabilities is not None:
            assert each.has_probabilities([answer["probabilities"] for answer in answers])


@pytest.mark.parametrize("written", [ISO, *FORMATS])
def test_texts_are_dates_as_they_are_to_the_model_or_an_error(written: str, tmp_path: Path) -> None:
    model, some = dated_model(written), [*some_texts(written, 400), None]

    (answers,) = by_node(tmp_path, [(to_javascript(model), [{"when": text} for text in some])])

    n_read = 0
    for text, answer in zip(some, answers, strict=True):
        try:
            (meant,) = model.predict(pd.DataFrame({"when": pd.Series([text], dtype=object)}))
        except MismatchedDataError:
            assert "TypeError: column when is not a date as in training" in answer["error"], text
        else:
            n_read += 1
            assert answer["prediction"] == meant, text
    assert 20 < n_read < len(some) - 20


@pytest.mark.parametrize("written", [ISO, "%d.%m.%Y"])
def test_the_time_of_a_date_is_that_of_utc(written: str, tmp_path: Path) -> None:
    source = to_javascript(dated_model(written)).replace(
        "module.exports = { predict }",
        "module.exports = { predict: (row) => predict({ when: new Date(row.milliseconds) }) }",
    )
    moments = pd.date_range("1949-12-31 23:59:59.5", periods=200, freq="2111h33min")
    milliseconds = (moments.to_numpy().astype("datetime64[ms]").astype(np.int64)).tolist()

    (answers,) = by_node(tmp_path, [(source, [{"milliseconds": each} for each in [*milliseconds, None, "x"]])])

    meant = dated_model(written).predict(pd.DataFrame({"when": [*moments, pd.Timestamp(0)]}))
    assert [answer["prediction"] for answer in answers[:-1]] == meant.tolist()  # the Date of null is that of 0
    assert "TypeError" in answers[-1]["error"]


def test_all_categories_but_some_are_the_others(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(conditions, "conditions_of", all_but)
    jobs = [(to_javascript(case.model), known(case)) for case in coded_cases()]

    for case, answers in zip(coded_cases(), by_node(tmp_path, jobs), strict=True):
        check(case, answers)


def test_hostile_names_of_columns_and_classes_are_only_names(tmp_path: Path) -> None:
    names = [*HOSTILE, '"; globalThis.owned = 1; "', "'; globalThis.owned = 1; '", "`${globalThis.owned = 1}`"]
    hostile = [hostile_case(name) for name in names]
    sources = [to_javascript(case.model) for case in hostile]

    assert not any("</script" in source or "<!--" in source for source in sources)
    jobs = [(source, known(case)) for source, case in zip(sources, hostile, strict=True)]
    for case, answers in zip(hostile, by_node(tmp_path, jobs), strict=True):
        check(case, answers)


@pytest.mark.parametrize("made", [text_case, named_case, truth_case])
def test_levels_and_categories_are_read_from_the_text(tmp_path: Path, made: Any) -> None:
    case, raw = made()
    (answers,) = by_node(tmp_path, [(to_javascript(case.model), raw)])

    check(case, answers)


@pytest.mark.parametrize("row", [{"other": 1}, {"age": "12", "other": 1}, {"age": [], "other": 1}], ids=str)
def test_a_row_that_is_no_row_is_an_error_and_no_answer(tmp_path: Path, row: dict[str, Any]) -> None:
    ((answer,),) = by_node(tmp_path, [(to_javascript(hostile_case("age").model), [row])])

    assert "TypeError" in answer["error"] and "age" in answer["error"]


def test_not_a_number_is_missing_as_null_is(tmp_path: Path) -> None:
    source = to_javascript(hostile_case("age").model)
    both = source.replace("module.exports = { predict }", "module.exports = { predict: (row) => predict(row.nan) }")
    spelled = both.replace("predict(row.nan)", "predict({ age: NaN, other: 2.5 })")
    ((by_nan,), (by_null,)) = by_node(tmp_path, [(spelled, [{}]), (source, [{"age": None, "other": 2.5}])])

    assert by_nan == by_null


def test_truth_values_may_be_given_as_numbers(tmp_path: Path) -> None:
    table = pd.DataFrame({"paid": [True, False] * 10, "size": np.arange(20.0)})
    few = RCBoostClassifier(max_rmp_calls=0, random_state=0).fit(table, table["paid"].to_numpy())
    rows = [{"paid": paid, "size": 1.0} for paid in (True, 1, False, 0)]

    (answers,) = by_node(tmp_path, [(to_javascript(few), rows)])

    assert [each["prediction"] for each in answers] == [True, True, False, False]
