"""Rules as values: clauses, indexing, text, and which rows they cover."""

from __future__ import annotations

import math
import pickle
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from hypothesis import given
from hypothesis import strategies as st
from strategies import DIGITS, rule_sets, tables

from rulecover import RuleSet, explain
from rulecover.data.categories import CategorySet
from rulecover.data.columns import Columns
from rulecover.exceptions import MismatchedDataError
from rulecover.readers.thresholds import from_float32
from rulecover.rules import comparisons
from rulecover.rules.clauses import CHUNK, Clauses
from rulecover.rules.rule import Clause
from rulecover.show.numbers import short_number, shortest_in
from rulecover.show.short_bounds import decimals_needed

NAMES = ("age", "size", "colour")


def random_rules(rng: np.random.Generator, n_rules: int = 12) -> RuleSet:
    """Intervals with open ends, missing values and sets of categories, on three features."""
    rules = []
    for _ in range(n_rules):
        features = np.flatnonzero(rng.random(3) < 0.6)
        rules.append({int(f): tuple(np.sort(rng.choice(7, 2, replace=False)).astype(float)) for f in features})
    made = Clauses.of_intervals(rules)
    n = len(made.feature)
    codes = [np.flatnonzero(rng.random(6) < 0.5).astype(float) for _ in range(3)]
    clauses = replace(
        made,
        lower=np.where(rng.random(n) < 0.3, -np.inf, made.lower),
        upper=np.where(rng.random(n) < 0.3, np.inf, made.upper),
        missing=rng.random(n) < 0.4,
        category=np.where(made.feature == 2, rng.integers(-1, 3, n), -1),
        category_sets=tuple(CategorySet(tuple(c.tolist()), bool(rng.random() < 0.5)) for c in codes),
    )
    return RuleSet(clauses, Columns(NAMES))


def covers(rules: Clauses, c: int, value: float) -> bool:
    """The meaning of one clause, spelled out."""
    if np.isnan(value):
        return bool(rules.missing[c])
    if rules.category[c] >= 0:
        wanted = rules.category_sets[rules.category[c]]
        return (value in wanted.codes) != wanted.others
    return bool(rules.lower[c] < value <= rules.upper[c])


@given(rule_sets(NAMES, numbers=DIGITS, max_rules=8), tables(len(NAMES)))
def test_rules_cover_the_rows_that_satisfy_every_clause(rules: RuleSet, X: np.ndarray) -> None:
    clauses = rules.clauses
    satisfied = [
        [[covers(clauses, c, row[clauses.feature[c]]) for c in range(a, b)] for a, b in pairwise(clauses.offset)]
        for row in X
    ]
    whole = np.array([[all(clauses) for clauses in row] for row in satisfied])
    share = np.array([[np.mean(clauses) if clauses else 1.0 for clauses in row] for row in satisfied])
    np.testing.assert_array_equal(rules.apply(X).toarray(), whole)
    np.testing.assert_allclose(rules.accepted(X), share)
    each = np.array([[c for rule in row for c in rule] for row in satisfied], dtype=bool)
    np.testing.assert_array_equal(clauses.satisfied(X), each.reshape(len(X), len(clauses.feature)).T)


@given(rule_sets(NAMES, numbers=DIGITS, max_rules=8), tables(len(NAMES)))
def test_few_rows_are_compared_as_many_are(rules: RuleSet, X: np.ndarray) -> None:
    few = rules.apply(X).toarray(), rules.accepted(X)

    with pytest.MonkeyPatch.context() as as_many:
        as_many.setattr(comparisons, "_FEW", 0)
        many = rules.apply(X).toarray(), rules.accepted(X)

    np.testing.assert_array_equal(few[0], many[0])
    np.testing.assert_array_equal(few[1], many[1])


def test_rows_beyond_one_chunk_are_met_alike() -> None:
    rng = np.random.default_rng(0)
    rules = random_rules(rng)
    X = rng.integers(0, 7, size=(CHUNK + 13, 3)).astype(float)
    whole = rules.apply(X).toarray()
    np.testing.assert_array_equal(whole[:50], rules.apply(X[:50]).toarray())
    np.testing.assert_array_equal(whole[-20:], rules.apply(X[-20:]).toarray())
    np.testing.assert_array_equal(rules.clauses.satisfied(X)[:, -20:], rules.clauses.satisfied(X[-20:]))


def test_sparse_rows_are_met_as_dense_ones() -> None:
    rng = np.random.default_rng(1)
    rules = random_rules(rng)
    X = rng.integers(0, 3, size=(40, 3)).astype(float)
    sparse, zeros = scipy.sparse.csc_array(X), (1,)
    np.testing.assert_array_equal(rules.apply(sparse).toarray(), rules.apply(X).toarray())
    np.testing.assert_array_equal(rules.clauses.satisfied(sparse, zeros), rules.clauses.satisfied(X, zeros))


def test_a_float32_row_is_compared_in_float64() -> None:
    bound = 0.1  # above float32(0.1) rounded down, below it rounded up
    rules = RuleSet.of_intervals([{0: (-np.inf, bound)}], ["x"])
    assert not rules.apply(np.array([[np.float32(0.1)]])).toarray()[0, 0]


@st.composite
def _numbers_next_to_bounds(draw):
    """Bounds of models that compare in float32, or any; and values on, next to and far from them."""
    plain = (
        st.floats(-1e3, 1e3, width=32) | st.floats(-1e300, 1e300) | st.sampled_from([0.0, -0.0, 3.4028235e38, 1e-45])
    )
    bounds = np.array(draw(st.lists(plain, min_size=1, max_size=6)))
    if draw(st.booleans()):
        bounds = from_float32(bounds)
    near = [bounds, np.nextafter(bounds, np.inf), np.nextafter(bounds, -np.inf)]
    with np.errstate(over="ignore"):
        near += [bounds.astype(np.float32).astype(np.float64)]
        near += [np.nextafter(bounds.astype(np.float32), np.float32(side)).astype(np.float64) for side in (-1e38, 1e38)]
    return bounds, np.concatenate([*near, [np.nan, np.inf, -np.inf, 1e300, -1e300]])


@pytest.mark.slow
@given(numbers=_numbers_next_to_bounds(), missing=st.booleans(), kind=st.sampled_from([np.float64, np.float32]))
def test_rows_on_and_next_to_bounds_are_covered_as_plain_comparisons_say(numbers, missing, kind):
    bounds, values = numbers
    with np.errstate(over="ignore"):
        X = values.astype(kind)[:, None]
    intervals = [(low, high) for low in (-np.inf, *bounds) for high in (*bounds, np.inf)]
    meant = [
        [missing if math.isnan(x) else (low < x or low == -np.inf) and bool(x <= high) for low, high in intervals]
        for x in X[:, 0].astype(np.float64).tolist()
    ]
    clauses = [[Clause(0, "x", lower=low, upper=high, missing=missing)] for low, high in intervals]
    rules = RuleSet.of_clauses(clauses, ["x"])
    assert rules.apply(X).toarray().tolist() == meant
    assert rules.accepted(X).tolist() == np.array(meant, dtype=float).tolist()
    assert rules.clauses.satisfied(X).T.tolist() == meant


def test_indexing_slicing_and_iteration() -> None:
    rules = random_rules(np.random.default_rng(2))
    assert len(rules) == 12 and len(list(rules)) == 12
    assert str(rules[-1]) == str(rules[11])
    assert [str(rule) for rule in rules[2:5]] == [str(rules[j]) for j in (2, 3, 4)]
    assert [str(rule) for rule in rules[[7, 1]]] == [str(rules[7]), str(rules[1])]
    assert len(rules[np.arange(12) > 8]) == 3
    assert rules[:] == rules and rules[1:] != rules
    with pytest.raises(IndexError, match="no rule 12: the set has 12 rules"):
        rules[12]


def test_a_pickled_rule_set_is_equal() -> None:
    rules = random_rules(np.random.default_rng(3))
    assert pickle.loads(pickle.dumps(rules)) == rules


def test_clauses_read_as_people_write_them() -> None:
    inf = np.inf
    assert str(Clause(0, "age", 30.0, inf)) == "age > 30"
    assert str(Clause(0, "age", -inf, 2.5)) == "age <= 2.5"
    assert str(Clause(0, "age", 1.0, 2.0, missing=True)) == "(1 < age <= 2 or missing)"
    assert str(Clause(0, "age", inf, inf, missing=True)) == "age is missing"
    assert str(Clause(0, "age", -inf, inf)) == "age is not missing"
    assert str(Clause(0, "c", categories=CategorySet((1.0, 3.0)))) == "c in {1, 3}"
    assert str(Clause(0, "colour", 0.5, inf, level="red")) == "colour = red"
    assert str(Clause(0, "colour", -inf, 0.5, level="red")) == "colour ≠ red"


def test_columns_that_do_not_fit_are_refused() -> None:
    rules = random_rules(np.random.default_rng(4))
    with pytest.raises(MismatchedDataError, match="3 columns"):
        rules.apply(np.zeros((2, 4)))
    with pytest.raises(MismatchedDataError, match="the rules use column 'age', but X has only old, size, colour"):
        rules.apply(pd.DataFrame(np.zeros((2, 3)), columns=["old", "size", "colour"]))


@given(st.floats(-1e6, 1e6), st.floats(1e-9, 1e3), st.floats(0, 1))
def test_a_shown_number_lies_in_its_gap_and_no_shorter_one_does(low: float, width: float, where: float) -> None:
    high = low + width
    near = low + where * width
    if not low <= near < high:
        return
    shown = shortest_in(low, high, near)
    assert low <= shown < high
    digits = len(short_number(shown).partition(".")[2])
    if "e" not in short_number(shown) and 0 < digits < 12:
        shorter = np.floor(high * 10 ** (digits - 1)) / 10 ** (digits - 1)
        assert not (low <= shorter < high) or np.isclose(shorter, low, rtol=1e-12) or np.isclose(shorter, high)


@given(
    st.lists(
        st.tuples(
            st.floats(-1e6, 1e6), st.floats(-17, 3), st.floats(-17, 3), st.integers(-300, 300), st.integers(0, 9)
        ),
        min_size=1,
    )
)
def test_no_number_in_a_gap_has_fewer_decimals_than_are_said_to_be_needed(drawn: list[Any]) -> None:
    gaps = []
    for near, below, above, exponent, decimals in drawn:
        scale = 10.0 ** (exponent if exponent % 3 == 0 else exponent % 9)
        low, high = near - 10**below, near + 10**above
        if exponent % 2:
            low, high = round(low, decimals), round(high, decimals)
        low = -np.inf if exponent % 11 == 0 else min(low, near) * scale
        high = np.inf if exponent % 13 == 0 else max(high, float(np.nextafter(near, np.inf))) * scale
        if low <= near * scale < high:
            gaps.append((low, high, near * scale))
    low, high = np.array([each[:2] for each in gaps]).reshape(-1, 2).T
    needed = decimals_needed(low, high).tolist()
    assert [shortest_in(*gap, first) for gap, first in zip(gaps, needed, strict=True)] == [
        shortest_in(*gap) for gap in gaps
    ]
    assert decimals_needed(np.array([2.41, 0.12345]), np.array([2.49, 0.12346])).tolist() == [2, 5]


def test_shown_bounds_change_no_training_row() -> None:
    from sklearn.datasets import load_wine
    from sklearn.ensemble import RandomForestClassifier

    X, y = load_wine(return_X_y=True, as_frame=True)
    forest = RandomForestClassifier(n_estimators=20, random_state=0).fit(X, y)
    rules = explain(forest, X, y, method="cover").rules_
    assert rules.shown is not None
    shown = replace(rules, clauses=rules.shown)
    np.testing.assert_array_equal(shown.apply(X).toarray(), rules.apply(X).toarray())
    exact = sum(len(short_number(b)) for b in rules.clauses.lower)
    assert sum(len(short_number(b)) for b in shown.clauses.lower) < exact / 2


@given(
    st.lists(st.integers(-30, 60), min_size=1, max_size=8),
    st.lists(st.floats(-40, 70), min_size=2, max_size=2, unique=True),
)
def test_a_printed_condition_on_whole_numbers_is_right_for_whole_numbers_that_were_never_seen(
    seen: list[int], ends: list[float]
) -> None:
    rules = RuleSet.of_intervals([{0: (ends[0], np.inf)}, {0: (-np.inf, ends[0])}, {0: (min(ends), max(ends))}], ["x"])
    shown = rules.shown_for(np.array(seen, dtype=float)[:, None])
    every = np.arange(-100.0, 100.0)[:, None]
    assert shown.shown is not None
    assert (replace(shown, clauses=shown.shown).apply(every) != rules.apply(every)).nnz == 0
    text = str(shown[0].clauses[0])
    if "=" in text and ">=" not in text:  # the largest number that was seen
        assert text == f"x = {max(seen)}"
    else:
        assert (RuleSet.from_text([text], ["x"]).apply(every) != rules[[0]].apply(every)).nnz == 0


def test_gaps_of_many_rows_are_those_of_a_full_sort() -> None:
    from rulecover.show.short_bounds import gaps

    rng = np.random.default_rng(0)
    for values in (
        rng.normal(size=60_000),
        np.exp(5 * rng.normal(size=60_000)),
        rng.integers(0, 5, 60_000).astype(float),
        np.full(60_000, 3.0),
        np.concatenate([[1e300], rng.random(59_999)]),
    ):
        bounds = np.unique(np.concatenate([rng.choice(values, 20), rng.normal(size=20), [values.max() + 1]]))
        below, above = gaps(values, bounds)
        for t, b, a in zip(bounds, below, above, strict=True):
            assert b == values[values <= t].max(initial=-np.inf)
            assert a == values[values > t].min(initial=np.inf)


def test_the_frame_tells_what_each_rule_found() -> None:
    X = pd.DataFrame({"a": [1.0, 2.0, 3.0, 4.0], "b": [0.0, 0.0, 1.0, 1.0]})
    y = np.array(["no", "no", "yes", "no"])
    from sklearn.tree import DecisionTreeClassifier

    frame = explain(
        DecisionTreeClassifier(max_depth=1).fit(X, y), X, y, method="cover", preset="as-in-paper"
    ).rules_.to_frame()
    found = (
        frame.set_index("rule").loc["a >= 3"]
        if "a >= 3" in set(frame["rule"])
        else frame.set_index("rule").loc["b = 1"]
    )
    assert (found["clauses"], found["support"], found["share"]) == (1, 2, 0.5)
    assert (found["count_no"], found["count_yes"], found["purity"], found["impurity"], found["cost"]) == (
        1,
        1,
        0.5,
        0.5,
        1.5,
    )
    assert found["prediction"] == "no" and found["lift"] == pytest.approx(0.5 / 0.75)


def test_the_frame_of_rules_that_saw_no_data_has_their_conditions_alone() -> None:
    frame = RuleSet.of_intervals([{0: (1.0, math.inf)}, {0: (-math.inf, 1.0), 1: (0.0, 2.0)}], ["a", "b"]).to_frame()
    assert frame.columns.tolist() == ["rule", "clauses"] and frame["clauses"].tolist() == [1, 2]


def test_html_escapes_the_names_of_columns_and_classes() -> None:
    from sklearn.tree import DecisionTreeClassifier

    X = pd.DataFrame({"<b>x</b>": [0.0, 1.0]})
    y = np.array(["<script>", "&"])
    html = explain(DecisionTreeClassifier().fit(X, y), X, y, method="cover").rules_._repr_html_()
    assert "<b>x" not in html and "<script>" not in html
    assert "&lt;b&gt;x&lt;/b&gt;" in html and "&lt;script&gt;" in html and "&amp;" in html


def test_intervals_that_hold_nothing_or_name_no_column_are_refused() -> None:
    with pytest.raises(ValueError, match="no column 3"):
        RuleSet.of_intervals([{3: (1, 2)}], ["a"])
    for interval in ((2, 1), (np.nan, 1)):
        with pytest.raises(ValueError, match="is empty"):
            RuleSet.of_intervals([{0: interval}], ["a"])


@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_bounds_at_the_end_of_float32_cover_without_a_warning(kind: type) -> None:
    largest = float(np.finfo(np.float32).max)
    rules = RuleSet.of_intervals([{0: (-largest, 1.5)}, {0: (-np.inf, -largest)}, {0: (largest, np.inf)}], ["x"])
    rows = np.array([[0.0], [2.0], [-largest], [largest]], dtype=kind)
    assert rules.apply(rows).toarray().T.tolist() == [[1, 0, 0, 0], [0, 0, 1, 0], [0, 0, 0, 0]]


@pytest.mark.parametrize("kind", [np.float32, np.float64])
@pytest.mark.parametrize("low", [-(2.0**128 - 2.0**103), np.nextafter(float(np.finfo(np.float32).min), -np.inf)])
def test_a_bound_that_is_too_low_for_float32_is_a_bound(low: float, kind: type) -> None:
    rules = RuleSet.of_intervals([{0: (low, np.inf)}, {0: (-np.inf, low)}], ["x"])
    rows = np.array([[np.finfo(np.float32).min], [-np.inf], [0.0]], dtype=kind)
    assert rules.apply(rows).toarray().T.tolist() == [[1, 0, 1], [0, 1, 0]]


MANY = tuple(f"town {k}" for k in range(30))


@pytest.mark.parametrize(
    ("codes", "others", "words"),
    [
        (range(20, 30), False, "town is none of the 20 most frequent"),
        (range(20), True, "town is none of the 20 most frequent"),
        (range(20), False, "town is one of the 20 most frequent"),
        (range(20, 30), True, "town is one of the 20 most frequent"),
    ],
)
def test_all_rare_categories_and_all_others_are_named_as_a_group(codes: range, others: bool, words: str) -> None:
    clause = Clause(0, "town", categories=CategorySet(tuple(map(float, codes)), others=others), known=MANY, frequent=20)

    assert str(clause) == words
    assert clause.exact != words and "town 2" in clause.exact


def test_any_other_set_of_categories_is_listed() -> None:
    clause = Clause(0, "town", categories=CategorySet((0.0, 25.0)), known=MANY, frequent=20)
    assert str(clause) == "town in {town 0, town 25}"


def test_rules_and_clauses_are_equal_to_nothing_else() -> None:
    rules = RuleSet.of_intervals([{0: (1.0, math.inf)}], ["a"])
    assert rules != "a > 1" and rules.clauses != "a > 1"
    assert rules == RuleSet.of_intervals([{0: (1.0, math.inf)}], ["a"])
