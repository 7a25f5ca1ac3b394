"""The soak itself: cases come from their numbers alone, what fails shrinks, and what is written runs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from families import FAMILIES, BrokenPromise, keeps, trial_of
from promises import PROMISES
from running import executed
from shrinking import as_test, shrunk, written
from soak import refusal, tried
from soak_cases import METHODS, Case, case_of

#: The first number under this seed of a small model that can be fitted.
SEED = 7


def cases(n: int) -> list[Case]:
    return [case_of(np.random.default_rng([SEED, number])) for number in range(n)]


def test_a_case_depends_on_its_number_alone() -> None:
    for one, other in zip(cases(5), cases(5), strict=True):
        assert as_test(one, "", "") == as_test(other, "", "")


@pytest.mark.slow
def test_every_method_every_target_and_every_family_comes_up() -> None:
    drawn = cases(100)
    assert {case.method for case in drawn} == {*METHODS}
    assert {case.target for case in drawn} == {"classes", "numbers"}
    assert len({case.source for case in drawn}) > 15 and len({case.kind for case in drawn}) > 8
    assert sum(FAMILIES.values()) == pytest.approx(1.0)


@pytest.mark.slow
@pytest.mark.parametrize("number", range(12))
def test_cases_keep_what_is_promised(number: int, tmp_path: Path) -> None:
    assert tried(SEED, number, tmp_path).failed == []


def test_rows_are_repeated_by_weights_that_have_no_common_factor() -> None:
    """Two weights of 2 are as good as two of 1, but two rows repeated twice are four, which `min_samples` counts."""
    rows = pd.DataFrame({"size": [1.0, 2.0]})
    sizes = {"max_depth": 1, "n_estimators": 1}
    drawn = {"settings": {"min_samples": 2}, "sizes": sizes, "seed": 911410405}
    case = Case(
        "explain cover", "numbers", "extra trees", "array", rows, np.array([2794.3, -7777.2]), rows[:1], **drawn
    )

    keeps(case, "repeated_rows_are_weights", "a_factor_of_all_weights_changes_nothing")


@pytest.mark.slow
def test_a_case_shrinks_to_the_rows_columns_and_settings_that_matter() -> None:
    case = next(case for case in cases(50) if case.weight is not None and len(case.y) > 30)
    name, label = case.table.columns[1], case.y[5]

    def fails(case: Case) -> bool:
        return name in case.table and label in case.y and "random_state" in case.settings

    small = shrunk(case, fails)

    assert len(small.y) == 1 and [*small.table] == [name] and [*small.settings] == ["random_state"]
    assert small.weight is None


@pytest.mark.slow
def test_what_fails_is_written_as_a_test_that_fails(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def broken(found: Any) -> None:
        raise AssertionError("made to fail")

    monkeypatch.setitem(PROMISES, "a_pickle_is_the_same_model", broken)
    number = next(n for n in range(100) if (trial := trial_of(SEED, n)).case is not None and len(trial.case.y) < 14)

    [said] = tried(SEED, number, tmp_path).failed

    assert f"--seed {SEED} --case {number}" in said and "made to fail" in said
    [path] = tmp_path.iterdir()
    with pytest.raises(BrokenPromise, match="made to fail"):
        executed(path.read_text(encoding="utf-8"))["test_what_soak_found"]()
    monkeypatch.undo()
    executed(path.read_text(encoding="utf-8"))["test_what_soak_found"]()


def test_values_are_written_as_python() -> None:
    names = {"np": np, "nan": np.nan, "inf": np.inf}
    for value in (np.array([1.5, np.nan]), np.array(["a'b", "c"], dtype=object), np.array([True]), {"a": [1, None]}):
        assert repr(eval(written(value), names)) == repr(value)


def test_refusals_are_errors_on_purpose_and_faults_are_not() -> None:
    def reason_of(error: Exception) -> str | None:
        try:
            raise error
        except Exception as raised:
            return refusal(raised)

    assert reason_of(TypeError("'NoneType' object is not iterable")) is None
    assert reason_of(ValueError("operands could not be broadcast together")) is None
    with pytest.raises(ValueError, match="max_rules") as caught:
        keeps(Case("MIRCO", "classes", "tree", "array", *tiny(), settings={"max_rules": 0}))
    assert refusal(caught.value) == "ValueError: max_rules is …; it must be at least …."


def tiny() -> tuple[Any, np.ndarray, Any]:
    case = cases(1)[0]
    return case.table, np.arange(len(case.y)) % 2, case.asked
