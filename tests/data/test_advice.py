"""Each warning is given for a table made for it, and not for one that is as it should be."""

from __future__ import annotations

import math
import warnings
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.tree import DecisionTreeClassifier
from strategies import tables

from rulecover import (
    MIRCOClassifier,
    RCBoostClassifier,
    RulecoverWarning,
    RulePathClassifier,
    RulePathRegressor,
    explain,
)
from rulecover.data import advice
from rulecover.data.advice import (
    balanced_accuracy,
    constants,
    duplicates,
    few_rows,
    given_away,
    guessing,
    looks_like_id,
    shared_rows,
    unbalanced,
)
from rulecover.estimators import advice as advice_of_fits

RNG = np.random.default_rng(0)


@pytest.mark.parametrize(
    ("name", "values", "is_id"),
    [
        ("x", np.arange(200), True),
        ("x", RNG.permutation(2068)[:1100], True),  # a part of the rows
        ("customer_id", RNG.integers(0, 10**9, 100), True),
        ("EmployeeNumber", RNG.integers(0, 10**9, 100), True),
        ("visit id", np.repeat(np.arange(60), 2), True),
        ("x", RNG.integers(0, 10**9, 100), False),  # chance would not repeat any of these
        ("x", RNG.normal(size=200), False),
        ("salary", RNG.integers(1000, 9000, 200), False),
        ("year", np.arange(1900, 2000), False),
        ("store_id", np.arange(200) % 12, False),
        ("arid", RNG.integers(0, 10**9, 100), False),
        ("x", np.arange(10), False),  # too few rows to tell
        ("x", np.where(np.arange(200) % 9, np.arange(200), np.nan), True),
    ],
    ids=str,
)
def test_a_column_is_an_id_by_its_numbers_or_by_its_name(name: str, values: Any, is_id: bool) -> None:
    assert looks_like_id(name, values) is is_id


def test_constant_columns_are_named_in_one_sentence() -> None:
    X = np.column_stack([np.arange(50.0), np.ones(50), np.full(50, np.nan), np.r_[np.ones(25), np.zeros(25)]])

    (found,) = constants(X, ["a", "b", "c", "d"])

    assert found.columns == ("b", "c")
    assert found.command_line == "columns 'b', 'c' have the same value in every row; --drop b --drop c."


def test_a_column_that_repeats_another_is_named_with_it() -> None:
    X = RNG.normal(size=(60, 4))
    X[::7, 1] = np.nan
    X[:, 3] = X[:, 1]

    assert [each.columns for each in duplicates(X, list("abcd"))] == [("b", "d")]
    X[30, 3] = 5.0
    assert duplicates(X, list("abcd")) == []


def test_columns_of_two_values_that_go_together_are_found_however_they_are_coded() -> None:
    sex = RNG.integers(0, 2, 60).astype(float)
    X = np.column_stack([sex, RNG.normal(size=60), 2 - sex, 7 * sex, RNG.integers(0, 3, 60)])

    found = duplicates(X, ["Sex", "b", "SexCode", "Gender", "d"])

    assert [each.columns for each in found] == [("Sex", "SexCode"), ("Sex", "Gender")]
    assert "'Sex' and 'SexCode' have two values each, which go together in every row" in found[0].python
    X[11, 2] = 1 - X[11, 2]
    assert [each.columns for each in duplicates(X, list("abcde"))] == [("a", "d")]


def test_rare_values_that_go_together_may_be_chance() -> None:
    rare = (np.arange(60) == 7).astype(float)

    assert duplicates(np.column_stack([rare, 5 - rare]), ["a", "b"]) == []


def test_names_are_typed_as_a_shell_takes_them_and_cannot_steer_a_terminal() -> None:
    X = np.column_stack([np.arange(30.0), np.ones(30)])

    (found,) = constants(X, ["a", "it's\x1b[0m"])

    assert found.command_line.endswith("--drop 'it'\\''s\\x1b[0m'.")
    assert "\x1b" not in found.python


def test_a_column_that_tells_the_class_is_found_and_a_strong_one_is_not() -> None:
    X, y = load_iris(return_X_y=True)
    tells = np.column_stack([X, 2 * y])

    found = given_away(tells, y, {str(f): [f] for f in range(5)}, classes=True)

    assert [each.columns for each in found] == [("4",)]
    assert "balanced accuracy of 1.000" in found[0].fact


def test_the_levels_of_a_text_column_tell_together() -> None:
    y = np.repeat([0, 1, 2, 3], 30)
    levels = np.eye(4)[y]
    sources = {"word": [0, 1, 2, 3], "noise": [4]}

    found = given_away(np.column_stack([levels, RNG.normal(size=120)]), y, sources, classes=True)

    assert [each.columns for each in found] == [("word",)]


def test_a_number_that_follows_from_a_column_is_given_away() -> None:
    X = RNG.normal(size=(400, 2))
    y = 3 * X[:, 0] + 50

    assert [each.columns for each in given_away(X, y, {"a": [0], "b": [1]}, classes=False)] == [("a",)]
    assert given_away(X, y + RNG.normal(size=400), {"a": [0], "b": [1]}, classes=False) == []


def test_an_id_does_not_give_the_answer_away_by_heart() -> None:
    y = RNG.integers(0, 2, 300)

    assert given_away(np.arange(300.0)[:, None], y, {"id": [0]}, classes=True) == []


def test_a_rare_class_is_named_with_its_share() -> None:
    (found,) = unbalanced(np.r_[np.zeros(997), np.ones(3)].astype(int))

    assert "only 3 of 1,000 rows (0.3 %) are of class '1'" in found.fact
    assert unbalanced(np.arange(100) % 2) == [] and unbalanced(np.zeros(50)) == []


def test_rows_in_both_parts_are_counted() -> None:
    X, y = RNG.normal(size=(200, 3)), RNG.integers(0, 2, 200)
    X[::5, 1], X[::5, 2] = np.nan, -0.0
    held_out, truth = np.vstack([X[:10] + 0.0, RNG.normal(size=(90, 3))]), np.r_[y[:10], RNG.integers(0, 2, 90)]

    (found,) = shared_rows(X, held_out, y, truth)

    assert found.fact.startswith("10 of 100 held-out rows (10 %) equal a training row")
    assert shared_rows(X, held_out[10:], y, truth[10:]) == []
    assert shared_rows(X, held_out, y, 1 - truth) == []  # with other labels these are other rows


def test_rules_on_one_or_two_rows_are_counted() -> None:
    assert few_rows(np.array([30.0, 2.0, 1.0]))[0].fact.startswith("2 of 3 rules rest on one or two")
    assert few_rows(np.array([30.0, 2.0]))[0].fact.startswith("rule 1 rests on one or two")
    assert few_rows(np.array([30.0, 3.0])) == []


def test_rules_are_guessing_if_no_measure_is_better() -> None:
    assert guessing({"accuracy": (0.8, 0.8), "balanced accuracy": (0.49, 0.5)}, "better on held-out rows") != []
    assert guessing({"accuracy": (0.7, 0.8), "balanced accuracy": (0.6, 0.5)}, "better on held-out rows") == []


# In Python ------------------------------------------------------------------------------------------------------------


def said(fit: Any) -> list[str]:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        fit()
    assert all(issubclass(each.category, RulecoverWarning) for each in caught)
    return [str(each.message) for each in caught]


def small(estimator: Any = RandomForestClassifier) -> Any:
    return estimator(10, max_depth=4, min_samples_leaf=3, random_state=0)


def test_fit_warns_of_an_id_that_a_rule_uses() -> None:
    X = pd.DataFrame({"a": RNG.normal(size=300), "id": np.arange(300)})
    y = (X["id"] > 150).astype(int)

    (found, given) = said(lambda: MIRCOClassifier(small(), random_state=0).fit(X, y))

    assert found.startswith("column 'id' looks like an id") and found.endswith("; leave it out of X.")
    assert given.startswith("column 'id' alone predicts the target")


def test_fit_warns_of_an_answer_that_is_given_away() -> None:
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    for model in (RulePathClassifier(small(), max_rules=3, choose="last"), RCBoostClassifier(max_rmp_calls=1)):
        found = said(lambda model=model: model.set_params(random_state=0).fit(X.assign(benign=1 - y), y))
        assert any(each.startswith("column 'benign' alone predicts") for each in found)


def test_very_many_rules_are_not_asked_how_often_they_are_right_where_time_is_limited(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    monkeypatch.setattr(advice_of_fits, "_OF_A_CLAUSE", 0.5)

    def given_away(time_limit: float | None) -> bool:
        path = RulePathClassifier(small(), max_rules=3, choose="last", random_state=0, time_limit=time_limit)
        return any("alone predicts" in each for each in said(lambda: path.fit(X.assign(benign=1 - y), y)))

    assert given_away(None) and given_away(1e4) and not given_away(60)


def test_fit_warns_of_rare_classes_unless_they_have_weights() -> None:
    X, y = RNG.normal(size=(1000, 3)), (np.arange(1000) % 50 == 0).astype(int)
    X[:, 0] += 4 * y

    def fit(**settings: Any) -> Any:
        return RulePathClassifier(small(), max_rules=2, choose="last", random_state=0, **settings).fit(X, y)

    assert any("20 of 1,000 rows (2 %)" in each for each in said(fit))
    assert not any("20 of 1,000" in each for each in said(lambda: fit(class_weight="balanced")))


def test_fit_warns_of_rules_on_single_rows_and_of_columns_that_repeat() -> None:
    X, y = RNG.normal(size=(60, 2)), RNG.integers(0, 2, 60)
    X = np.column_stack([X, X[:, 0], np.ones(60)])

    found = said(
        lambda: explain(RandomForestClassifier(5, random_state=0).fit(X, y), X, y, method="cover", prune=False)
    )

    assert any("on one or two training rows" in each for each in found)
    assert any(each.startswith("column 'x3' has the same value") for each in found)
    assert any("'x0' and 'x2' are equal" in each for each in found)


def test_fit_warns_of_rules_that_predict_the_same_for_all_rows() -> None:
    X, y = RNG.normal(size=(200, 2)), np.arange(200) % 10 == 0
    path = RulePathClassifier(small(), max_rules=1, choose="last", random_state=0)

    found = said(lambda: path.fit(X, y))

    assert not path.predict(X).any()
    assert any(each.startswith("by balanced accuracy the rules are not better on the training rows") for each in found)


def test_fit_is_silent_on_plain_data_and_on_sparse_ones() -> None:
    X, y = load_diabetes(return_X_y=True, as_frame=True)
    path = RulePathRegressor(small(RandomForestRegressor), max_rules=5, choose="last", random_state=0)
    irises, kinds = load_iris(return_X_y=True)
    some = RulePathClassifier(small(), max_rules=5, choose="last", random_state=0)

    assert said(lambda: path.fit(X, y)) == []
    assert said(lambda: some.fit(scipy.sparse.csr_array(irises), kinds)) == []


@given(
    rows=st.lists(st.tuples(st.integers(0, 3), st.integers(0, 2), st.integers(0, 9)), min_size=20, max_size=60),
    digits=st.sampled_from([1.0, 1e-9]),
    gaps=st.booleans(),
)
def test_a_column_is_given_up_early_only_where_it_would_be_in_the_end(
    rows: list[tuple[int, int, int]], digits: float, gaps: bool
) -> None:
    group, label, noise = np.array(rows).T
    # Mostly in order of the labels; in float32 some of the numbers are equal.
    x = (np.sort(label) + (noise == 0) + group * digits).astype(float)[:, None]
    if gaps:
        x[::7] = np.nan
    y = np.sort(label)

    found = given_away(x, y, {"x": [0]}, classes=True)
    with pytest.MonkeyPatch.context() as without:
        without.setattr(advice, "_accuracy_at_most", lambda x, y: 1.0)
        in_the_end = given_away(x, y, {"x": [0]}, classes=True)

    assert found == in_the_end


@given(rows=st.lists(st.tuples(st.integers(0, 30), st.integers(0, 2)), min_size=2, max_size=40))
def test_no_tree_of_one_column_does_better_than_the_bound(rows: list[tuple[int, int]]) -> None:
    x, y = np.array(rows, dtype=float).T
    tree = DecisionTreeClassifier(min_samples_leaf=2, random_state=0).fit(x[:, None], y)

    assert balanced_accuracy(y, tree.predict(x[:, None])) <= advice._accuracy_at_most(x, y)


def test_numbers_beyond_float32_are_tried_too() -> None:
    X = np.linspace(-1.0, 1.0, 40)[:, None]
    y = (X[:, 0] > 0).astype(int)
    X[-1] = 1e300

    assert [each.kind for each in given_away(X, y, {"x": [0]}, classes=True)] == ["given away"]


@given(tables(4, cells=st.sampled_from([0.0, 1.0, 2.0, math.nan]), min_rows=1, max_rows=40), st.booleans())
def test_columns_that_say_the_same_are_found_as_by_comparing_all_of_them(X: np.ndarray, mirrored: bool) -> None:
    X = np.column_stack([X, 3.0 - 2.0 * X[:, :1] if mirrored else X[:, :1]])
    names = list("abcde")
    expected = []
    for f in range(5):
        twin = next((g for g in range(f) if advice._say_the_same(X[:, g], X[:, f])), None)
        if twin is not None and not advice._equal(X[:, f], X[0, f]).all():
            expected.append((names[twin], names[f]))

    assert [each.columns for each in duplicates(X, names)] == expected


def test_a_target_that_numbers_the_rows_is_named() -> None:
    (said,) = advice.id_target("customer_id", np.arange(100))
    assert "the target 'customer_id' looks like an id, which rules cannot predict" in str(said)
    assert advice.id_target("kind", np.arange(100) % 3) == []


def test_columns_that_differ_in_one_row_do_not_say_the_same() -> None:
    rng = np.random.default_rng(0)
    one = (rng.random(5000) < 0.3).astype(float)
    other = one.copy()
    other[2501] = 1.0 - other[2501]  # a row that a glance does not see

    assert duplicates(np.column_stack([one, other]), ["a", "b"]) == []
    assert len(duplicates(np.column_stack([one, 1.0 - one]), ["a", "b"])) == 1


@given(
    n_rows=st.integers(1, 600),
    n_different=st.integers(1, 600),
    span=st.sampled_from([1, 3, 1000]),
    name=st.sampled_from(["x", "customer_id", "year"]),
    seed=st.integers(0, 100),
)
def test_an_id_is_found_as_by_looking_at_all_rows(
    n_rows: int, n_different: int, span: int, name: str, seed: int
) -> None:
    rng = np.random.default_rng(seed)
    numbers = span * np.resize(rng.permutation(n_different), n_rows).astype(float)

    different = len(set(numbers.tolist()))
    pairs = n_rows**2 / (2.0 * (numbers.max() - numbers.min() + 1.0))
    by_chance = different == n_rows and pairs >= 10
    expected = n_rows >= 20 and name != "year" and (2 * different >= n_rows if name == "customer_id" else by_chance)

    assert looks_like_id(name, numbers) == expected
