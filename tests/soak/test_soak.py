"""The soak itself: cases come from their numbers alone, what fails shrinks, and what is written runs."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Collection, Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import soak
from command_lines import OPTIONS, Refused, asked, options_of
from drawings import DRAWINGS
from families import FAMILIES, BrokenPromise, commands, keeps, trial_of
from promises import PROMISES
from refusals import EXPECTED, refusal
from running import executed
from shrinking import as_test, shrunk, written
from soak import same_failure, tried
from soak_cases import METHODS, OURS, Case, case_of, presets_of
from soak_tables import DATES

import rulecover
import rulecover.plot
from rulecover.estimators.mirco import WEIGHTS
from rulecover.estimators.path_kinds import POOLS
from rulecover.estimators.rulepath import CHOICES
from rulecover.rcboost.admission import ADMISSIONS
from rulecover.rcboost.pricing.oracles import PRICINGS
from rulecover.rcboost.removal import REMOVALS
from rulecover.rulepath.path import GAINS, PATH_VOTES
from rulecover.targets.classes.impurity import CRITERIA
from rulecover.targets.numbers.impurity import NUMERIC_CRITERIA
from rulecover.voting.classes import VOTES
from rulecover.voting.fallback import FALLBACKS, NUMERIC_FALLBACKS
from rulecover.voting.numbers import MEAN_VOTES

SEED = 7


def cases(n: int) -> list[Case]:
    return [case_of(np.random.default_rng([SEED, number])) for number in range(n)]


def test_a_case_depends_on_its_number_alone() -> None:
    for one, other in zip(cases(5), cases(5), strict=True):
        assert as_test(one, "", "") == as_test(other, "", "")


@pytest.mark.slow
def test_every_method_every_target_and_every_family_comes_up() -> None:
    drawn = cases(300)
    assert {case.method for case in drawn} == {*METHODS}
    assert {case.target for case in drawn} == {"classes", "numbers"}
    assert len({case.source for case in drawn}) > 15 and len({case.kind for case in drawn}) > 8
    assert sum(FAMILIES.values()) == pytest.approx(1.0)
    assert max(len(case.y) for case in drawn) >= 1000
    assert max(len(set(case.y.tolist())) for case in drawn if case.target == "classes") > 9
    assert any(DATES in case.table for case in drawn) and any(case.groups is not None for case in drawn)
    assert any("<" in name for case in drawn for name in case.table)
    assert min(len(case.y) for case in drawn) < 4 and min(case.table.shape[1] for case in drawn) < 3
    assert {case.source for case in drawn} >= set(OURS)
    known = rulecover.TableEncoder().get_params()
    given = [known | case.encoder for case in drawn if case.encoder is not None]
    assert all(len({each[setting] for each in given}) > 1 for setting in known)
    assert any((case.source, case.kind) == ("default", "sparse") for case in drawn)


@pytest.mark.slow
def test_every_preset_comes_up() -> None:
    drawn = cases(300)
    for method, target in {(case.method, case.target) for case in drawn}:
        for name, preset in presets_of(method, target).items():
            alike = [case.settings for case in drawn if (case.method, case.target) == (method, target)]
            assert any(all(repr(each.get(key)) == repr(preset[key]) for key in preset) for each in alike), name
    assert [*presets_of("MIRCO", "classes")] == ["as_in_paper", "accurate"]
    assert [*presets_of("RCBoost", "classes")] == [*presets_of("MIRCO", "numbers")] == ["as_in_paper"]


#: Settings that no case draws, and why.
NOT_DRAWN = {
    "estimator": "it is the source of the case, or None",
    "random_state": "it is the seed of the case",
    "verbose": "it prints progress, and changes nothing else",
    "n_jobs": "promises.the_same_again_on_two_threads",
    "checkpoint": "promises.a_checkpoint_changes_nothing",
    "sparse_output": "promises.rules_are_columns",
}
ESTIMATORS = [name for name in rulecover.__all__ if name.endswith(("Classifier", "Regressor", "Transformer"))]


@pytest.mark.parametrize("name", ESTIMATORS)
def test_every_setting_of_every_estimator_is_drawn_or_has_a_reason_not_to_be(name: str) -> None:
    target = "numbers" if name.endswith("Regressor") else "classes"
    method = METHODS.get(name.removesuffix("Classifier").removesuffix("Regressor"), lambda target: {})
    drawn = {setting for setting, values in method(target).items() if len(set(map(repr, values))) > 1}
    only_one = {"criterion"} if name == "RCBoostRegressor" else set()  # numbers have one

    left = set(getattr(rulecover, name)().get_params()) - drawn - set(NOT_DRAWN) - only_one

    assert left == set()


#: The names by which a setting can be chosen, for classes and for numbers.
CHOSEN_BY_NAME: dict[str, dict[str, tuple[Collection[str], Collection[str]]]] = {
    "MIRCO": {
        "criterion": (CRITERIA, NUMERIC_CRITERIA),
        "vote": ((*VOTES, "fitted", "log-odds"), MEAN_VOTES),
        "fallback": (FALLBACKS, NUMERIC_FALLBACKS),
        "estimator_weights": (WEIGHTS, WEIGHTS),
    },
    "RCBoost": {
        "criterion": (CRITERIA, NUMERIC_CRITERIA),
        "pricing": (PRICINGS, set(PRICINGS) - {"bicriteria", "exact"}),
        "duals": (("equal", "vertex", "near"),) * 2,
        "admit": (ADMISSIONS, ADMISSIONS),
        "remove": (REMOVALS, REMOVALS),
        "vote": (VOTES, MEAN_VOTES),
        "fallback": (FALLBACKS, NUMERIC_FALLBACKS),
    },
    "RulePath": {
        "choose": (CHOICES, CHOICES),
        "pool": (POOLS, POOLS),
        "vote": (PATH_VOTES, ()),
        "gain": (GAINS, ()),
    },
}


@pytest.mark.parametrize("method", CHOSEN_BY_NAME)
def test_every_name_that_can_be_chosen_is_drawn(method: str) -> None:
    for setting, names in CHOSEN_BY_NAME[method].items():
        for target, known in zip(("classes", "numbers"), names, strict=True):
            values = METHODS[method](target).get(setting, ())
            assert set(known) <= {each for each in values if isinstance(each, str)} | {None}, (setting, target)


#: Options of fit that no case draws, and why.
OPTIONS_NOT_DRAWN = {
    **dict.fromkeys(("--target", "--method", "--task", "--out", "--quiet"), "in every case"),
    **dict.fromkeys(("--sheet", "--no-header", "--decimal", "--thousands", "--encoding", "--separator"), "tests/cli"),
    "--missing-values": "tests/cli",
    **dict.fromkeys(("--model", "--estimator-weights"), "a model of every library is explained in Python"),
    "--drop": "a column that is not there",
    "--checkpoint": "promises.a_checkpoint_changes_nothing",
    "--debug": "shows where an error comes from",
    **dict.fromkeys(("--help", "--help-all"), "print and stop"),
}


def test_every_option_of_fit_is_drawn_or_has_a_reason_not_to_be() -> None:
    drawn = {name for options in OPTIONS.values() for name in options}

    assert options_of("fit").keys() - drawn - OPTIONS_NOT_DRAWN.keys() == set()
    assert drawn <= options_of("fit").keys()


def test_every_plot_is_drawn_and_every_promise_is_by_name() -> None:
    assert set(DRAWINGS) == set(rulecover.plot.__all__)
    assert all(reason.partition(".")[2] in PROMISES for reason in NOT_DRAWN.values() if reason.startswith("promises."))


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
@pytest.mark.parametrize("end", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_no_process_is_left_of_a_soak_that_ends_early(end: signal.Signals) -> None:
    with started(soak.__file__, "--minutes", "60", "--jobs", "1") as first:
        children = Path(f"/proc/{first.pid}/task/{first.pid}/children")
        while len(children.read_text().split()) < 2:  # one that tries cases, and one that cleans up after both
            time.sleep(0.1)
        first.send_signal(end)
        assert first.wait(timeout=60) == -end
        first.communicate(timeout=60)  # up to the end of what is printed by any of them


@contextmanager
def started(*words: str) -> Iterator[subprocess.Popen[str]]:
    """Python in a session of its own, of which nothing is left in the end."""
    with subprocess.Popen([sys.executable, *words], stdout=subprocess.PIPE, text=True, start_new_session=True) as one:
        try:
            yield one
        finally:
            with suppress(ProcessLookupError):
                os.killpg(one.pid, signal.SIGKILL)


@pytest.mark.slow
def test_a_case_shrinks_to_the_rows_columns_and_settings_that_matter() -> None:
    case = next(case for case in cases(50) if case.weight is not None and len(case.y) > 30)
    name, label = case.table.columns[1], case.y[5]

    def fails(case: Case) -> bool:
        return name in case.table and label in case.y and "random_state" in case.settings

    small = shrunk(case, fails)

    n_classes = len(set(case.y.tolist())) if case.target == "classes" else 1
    assert len(small.y) == n_classes and [*small.table] == [name] and [*small.settings] == ["random_state"]
    assert small.weight is None


@pytest.mark.slow
def test_what_fails_is_written_as_a_test_that_fails(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def broken(found: Any) -> None:
        raise AssertionError("made to fail")

    monkeypatch.setitem(PROMISES, "a_pickle_is_the_same_model", broken)
    small = (n for n in range(100) if (trial := trial_of(SEED, n)).case is not None and len(trial.case.y) < 14)

    # The first that can be fitted.
    number, [said] = next((n, failed) for n in small if (failed := tried(SEED, n, tmp_path).failed))

    assert f"again: .venv/bin/python tests/soak/soak.py --seed {SEED} --case {number}\n" in said
    assert "made to fail" in said
    [path] = tmp_path.iterdir()
    with pytest.raises(BrokenPromise, match="made to fail"):
        executed(path.read_text(encoding="utf-8"))["test_what_soak_found"]()
    monkeypatch.undo()
    executed(path.read_text(encoding="utf-8"))["test_what_soak_found"]()


@pytest.mark.parametrize("said", ['unrecognized token: ")"', 'a """ b', "a \\N b", ""])
def test_a_test_is_python_whatever_the_error_says(said: str) -> None:
    case = Case("MIRCO", "classes", "tree", "array", *tiny())

    assert "test_what_soak_found" in executed(as_test(case, "views_can_be_shown", said))


def test_values_are_written_as_python() -> None:
    names = {"np": np, "nan": np.nan, "inf": np.inf}
    dates = np.array(["2024-02-29", "NaT"], dtype="datetime64[us]")
    for value in (
        dates,
        np.array([1.5, np.nan]),
        np.array(["a'b", "c"], dtype=object),
        np.array([True]),
        {"a": [1, None]},
    ):
        assert repr(eval(written(value), names)) == repr(value)


def test_only_sentences_that_were_thought_of_are_refusals() -> None:
    case = Case("RulePath", "classes", "tree", "array", *tiny(), settings={"choose": "last", "required": [0]})
    constant = replace(case, table=case.table.assign(**{case.table.columns[0]: 1.0}))

    with pytest.raises(ValueError, match="which is required") as caught:
        keeps(constant)

    assert refusal(caught.value) in EXPECTED
    for error in (TypeError("'NoneType' object is not iterable"), ValueError("max_rules is 0; it must be at least 1.")):
        assert refusal(error) is None
    with pytest.raises(ValueError, match="max_rules") as caught:
        keeps(replace(case, settings={"max_rules": 0}))
    assert refusal(caught.value) is None


def test_a_smaller_case_fails_in_the_same_words_or_it_is_another_failure() -> None:
    case = Case("MIRCO", "classes", "tree", "array", *tiny(), settings={"max_rules": 0})

    assert same_failure(case, "", ValueError("max_rules is -7; it must be at least 1."))
    assert not same_failure(case, "", ValueError("min_samples is -7; it must be at least 1."))
    assert not same_failure(case, "", TypeError("max_rules is -7; it must be at least 1."))


def test_no_class_is_lost_where_a_case_is_made_smaller() -> None:
    case = next(case for case in cases(50) if case.target == "classes" and len(set(case.y.tolist())) > 2)

    assert set(shrunk(case, lambda smaller: True).y.tolist()) == set(case.y.tolist())


def test_a_promise_holds_of_a_case_without_settings() -> None:
    keeps(Case("MIRCO", "classes", "tree", "array", *tiny()), "every_row_is_covered_or_listed")


@pytest.mark.slow
def test_the_command_keeps_its_promises_too(tmp_path: Path) -> None:
    for number in range(2):
        commands(np.random.default_rng([SEED, number])).check()


def test_a_command_that_ends_with_an_error_says_so_in_its_words() -> None:
    with pytest.raises(Refused, match="--max-rules"):
        asked("fit", "data.csv", "--max-rules", "many")


def tiny() -> tuple[Any, np.ndarray, Any]:
    case = cases(1)[0]
    return case.table, np.arange(len(case.y)) % 2, case.asked
