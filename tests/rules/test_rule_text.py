"""Rules from text and from data frames: what is written is what is meant, and what makes no sense is shown."""

from __future__ import annotations

import math
import time
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from strategies import LABELS, NAMES, NUMBERS, rule_sets

from rulecover import RuleSet
from rulecover.data.columns import Columns
from rulecover.data.dates import DatePart
from rulecover.exceptions import RuleTextError


@given(rule_sets())
def test_the_text_of_a_rule_reads_back_as_the_same_rule(rules: RuleSet) -> None:
    categories = {NAMES[f]: known for f, known in rules.columns.categories.items()}
    again = RuleSet.from_text(rules.to_text(), NAMES, categories=categories)
    assert again == rules
    assert again.columns.categories == rules.columns.categories
    assert again.to_text() == rules.to_text()


@given(NUMBERS)
@example(0.0)
def test_bounds_are_exact_to_the_last_bit(bound: float) -> None:
    around = [bound, math.nextafter(bound, -math.inf), math.nextafter(bound, math.inf)]
    X = np.array([x for x in around if math.isfinite(x)])[:, None]
    meanings = {"<=": np.less_equal, "<": np.less, ">=": np.greater_equal, ">": np.greater, "=": np.equal}
    for sign, meaning in meanings.items():
        for text in (f"x {sign} {bound!r}", f"({bound!r} {sign.translate(str.maketrans('<>', '><'))} x)"):
            if sign == "=" and text.startswith("("):
                continue
            try:
                rules = RuleSet.from_text([text], ["x"])
            except RuleTextError:  # no double is that small or large
                assert not meaning(X[:, 0], bound).any() or abs(bound) == np.finfo(float).max
                continue
            np.testing.assert_array_equal(rules.apply(X).toarray()[:, 0], meaning(X[:, 0], bound), err_msg=text)


@pytest.mark.parametrize(
    ("text", "same"),
    [
        ("age > 30 and income <= 2000", "age > 30 and income <= 2000"),
        ("if age > 30", "age > 30"),
        ("  age>30   and income<=2e3 ", "age > 30 and income <= 2000"),
        ("30 < age", "age > 30"),
        ("50 >= age > 30", "30 < age <= 50"),
        ("30 <= age < 50", "30 <= age < 50"),
        ("age > 30 and age <= 50 and age > 40", "40 < age <= 50"),
        ("income <= 2000 or missing", "(income <= 2000 or missing)"),
        ("(income > 5 or missing) and (income <= 2000 or missing)", "(5 < income <= 2000 or missing)"),
        ("(income > 5 or missing) and income <= 2000", "5 < income <= 2000"),
        ("((age > 3)) or missing", "(age > 3 or missing)"),
        ("age = 3", "age = 3"),
        ("age == 3 and colour == red", "age = 3 and colour = red"),
        ("colour = dark red and age > 3", "age > 3 and colour = dark red"),
        ('colour in {red, "dark, red"}', 'colour in {"dark, red", red}'),
        ("colour not in {red} and colour != blue", "colour not in {blue, red}"),
        ("age in {1, 3} or missing", "(age in {1, 3} or missing)"),
        ("age ≠ 3", "age not in {3}"),
        ("age is missing", "age is missing"),
        ("age is not missing", "age is not missing"),
        ('"age" > 30', "age > 30"),
        ("always", "always"),
    ],
)
def test_a_rule_can_be_written_in_several_ways(text: str, same: str) -> None:
    assert RuleSet.from_text([text], ["age", "income", "colour"]).to_text() == [same]


@pytest.mark.parametrize(
    ("text", "position", "what"),
    [
        ("", 0, "the name of a column"),
        ("agee > 3", 0, r"the name of a column \(age, colour, income\)"),
        ("age > ", 6, "expected a number"),
        ("age > high", 6, "expected a number"),
        ("age > 3,000", 7, '"and" or the end'),
        ("age > 3 and", 11, "the name of a column"),
        ("age > 3 or income > 2", 11, "write two rules"),
        ("(age > 3", 8, r'"\)"'),
        ("age > 3)", 7, '"and" or the end'),
        ("age is old", 7, '"missing" or "not missing"'),
        ("colour in red", 10, '"{"'),
        ("colour in {red", 14, '"," or "}"'),
        ("colour in {}", 11, "a category"),
        ("3 < age > 2", 8, '"<" or "<="'),
        ("age > 3 and income", 18, "a comparison"),
        ("age > 3 and age < 2", 12, "no value of 'age'"),
        ("age is missing and age > 2", 19, "no value of 'age'"),
        ("colour = red and colour = blue", 17, "no value of 'colour'"),
        ("age > inf", 0, "no value of 'age'"),
        ("size = medium", 7, "'size' has no category 'medium', it has small, large"),
        ("size > 1 and size <= 3", 0, "'size' has categories, not numbers"),
        ("(" * 5000 + "age > 3", None, "too many brackets"),
    ],
    ids=lambda value: value[:25] if isinstance(value, str) else None,
)
def test_text_that_makes_no_sense_is_shown_with_the_place(text: str, position: int | None, what: str) -> None:
    names = ["age", "income", "colour"] + (["size"] if "size" in text else [])
    known = {"size": ["small", "large"]} if "size" in text else {}
    with pytest.raises(RuleTextError, match=what) as raised:
        RuleSet.from_text(["always", text], names, categories=known)
    message = str(raised.value)
    assert message.startswith("rule 1, position ")
    if position is not None:
        assert f"position {position}: " in message
        assert message.splitlines()[-1] == "    " + " " * position + "^"


DAMAGE = st.tuples(
    st.integers(0, 80), st.integers(0, 3), st.sampled_from(["", "(", ")", "{", '"', " and ", "<", "7", "\0"])
)


@given(st.lists(DAMAGE, min_size=1, max_size=5))
def test_damaged_text_is_refused_or_means_something(damage: list[tuple[int, int, str]]) -> None:
    text = list('30 < age <= 50 and (income <= 2000 or missing) and colour in {red, "dark, red"}')
    for place, length, other in damage:
        text[place : place + length] = other
    try:
        rules = RuleSet.from_text(["".join(text)], ["age", "income", "colour"])
    except RuleTextError:
        return
    assert len(rules) == 1


def test_words_make_a_column_of_categories_that_takes_their_labels() -> None:
    rules = RuleSet.from_text(["colour in {red, blue} and age > 3", "colour not in {red}"], ["age", "colour"])
    assert rules.columns.categories == {1: ("blue", "red")}
    columns: dict[str, list[Any]] = {"colour": ["red", "green", None, "blue"], "age": [9, 9, 9, 1]}
    frame = pd.DataFrame(columns)
    expected = [[True, False], [False, True], [False, False], [False, True]]
    for X in (frame, pl.DataFrame(columns), pa.table(columns)):
        np.testing.assert_array_equal(rules.apply(X).toarray(), expected)
    as_category = frame.astype({"colour": "category"})
    np.testing.assert_array_equal(rules.apply(as_category).toarray(), expected)


def test_levels_of_0_1_columns_are_read_by_their_names() -> None:
    levels = {1: ("colour", "red"), 2: ("colour", "dark blue")}
    names = ["age", "colour=red", "colour=dark blue"]
    texts = ["colour = red and age > 3", "colour ≠ dark blue"]
    rules = RuleSet.from_text(texts, names, levels=levels)
    assert rules.to_text() == ["age > 3 and colour = red", texts[1]]
    assert rules.apply(np.array([[5.0, 1.0, 0.0], [5.0, 0.0, 1.0]])).toarray().tolist() == [
        [True, True],
        [False, False],
    ]
    with pytest.raises(RuleTextError, match="'colour' has levels red, dark blue; name one of them"):
        RuleSet.from_text(["colour = green"], names, levels=levels)
    with pytest.raises(RuleTextError, match="write = or ≠"):
        RuleSet.from_text(["colour > 3"], names, levels=levels)
    with pytest.raises(RuleTextError, match="'sex' is male or not: write = male or ≠ male"):
        RuleSet.from_text(["sex = female"], ["sex = male"], levels={0: ("sex", "male")})


@pytest.mark.parametrize("text", ["sex = male = male", "sex = male ≠ female", "sex = male in {0, 1}"])
def test_a_column_that_stands_for_a_level_has_no_categories_of_its_own(text: str) -> None:
    with pytest.raises(RuleTextError, match="'sex = male' is 0 or 1, not a category"):
        RuleSet.from_text([text], ["sex = male"], levels={0: ("sex", "male")})
    rules = RuleSet.from_text(["sex = male = 1", "sex = male <= 0.5"], ["sex = male"], levels={0: ("sex", "male")})
    assert rules.apply(np.array([[0.0], [1.0]])).toarray().T.tolist() == [[False, True], [True, False]]


@pytest.mark.parametrize("sign", ["=", "≠"])
@pytest.mark.parametrize("level", [*filter(None, LABELS), "(missing)", "a and b", "a) or missing", "red and age > 3"])
def test_levels_are_read_back_whatever_is_in_them(level: str, sign: str) -> None:
    levels = {1: ("colour", level), 2: ("colour", "a"), 3: ("colour", "blue")}
    texts = [f"colour {sign} {level}", f"age > 3 and colour {sign} {level}", f"(colour {sign} {level} or missing)"]
    rules = RuleSet.from_text(texts, ["age", "c1", "c2", "c3"], levels=levels)
    assert rules.to_text() == texts
    assert set(rules.clauses.feature.tolist()) == {0, 1}


@pytest.mark.parametrize("sign", ["=", "≠"])
def test_spaces_around_a_level_are_its_own_if_there_is_one_more(sign: str) -> None:
    levels = {0: ("colour", "red"), 1: ("colour", "red "), 2: ("colour", " red"), 3: ("colour", " red ")}
    names = ["c0", "c1", "c2", "c3", "z"]
    for column, (_, level) in levels.items():
        texts = [f"colour {sign} {level}", f"(colour {sign} {level} or missing)", f"colour {sign} {level} and z > 1"]
        rules = RuleSet.from_text(texts, names, levels=levels)
        assert [rule.clauses[0].feature for rule in rules] == [column] * 3
        assert rules.to_text() == texts
    assert RuleSet.from_text([f"colour{sign}red"], names, levels=levels)[0].clauses[0].feature == 0


def test_spaces_around_a_name_are_its_own_if_there_is_one_more() -> None:
    names = ["s", " s", "s ", " s "]
    for f, name in enumerate(names):
        texts = [f"{name} <= 3", f"1 < {name} <= 3", f"({name} > 3 or missing)", f"{name} in {{1, 2}}"]
        rules = RuleSet.from_text([*texts, *(f"{names[f - 1]} > 0 and {text}" for text in texts)], names)
        assert all(f in [clause.feature for clause in rule.clauses] for rule in rules)
        assert rules.to_text()[:4] == texts


def test_a_level_is_no_longer_than_the_rule_makes_sense() -> None:
    levels = {0: ("colour", "a"), 1: ("colour", "a and b")}
    rules = RuleSet.from_text(["colour = a and b > 3", "colour = a and b"], ["c0", "c1", "b"], levels=levels)
    assert [[clause.feature for clause in rule.clauses] for rule in rules] == [[0, 2], [1]]


@pytest.mark.parametrize("library", [pd.DataFrame, pl.DataFrame, pa.table], ids=["pandas", "polars", "arrow"])
def test_rules_come_from_frames_of_any_library(library: Any) -> None:
    texts = ["age > 30 and (size <= 9 or missing)", "always", "5 < age <= 7"]
    expected = RuleSet.from_text(texts, ["age", "size"])
    assert RuleSet.from_frame(library({"rule": texts, "support": [1, 2, 3]}), ["age", "size"]) == expected
    lines = {
        "rule": [7, 7, 3, 3],
        "feature": ["size", "age", "age", "age"],
        "lower": [None, 30.0, 5.0, None],
        "upper": [9.0, None, None, 7.0],
        "missing": [True, False, False, False],
    }
    assert RuleSet.from_frame(library(lines), ["age", "size"]) == expected[[0, 2]]


def test_a_frame_that_holds_no_rules_is_refused() -> None:
    with pytest.raises(RuleTextError, match="needs a column 'rule', but this one has text"):
        RuleSet.from_frame(pd.DataFrame({"text": ["age > 3"]}), ["age"])
    with pytest.raises(RuleTextError, match="line 0 is about 'size', but there is no column of that name"):
        RuleSet.from_frame(pd.DataFrame({"rule": [0], "feature": ["size"]}), ["age"])
    with pytest.raises(RuleTextError, match=r"line 0: no value lies in \(3.0, 2.0\]"):
        RuleSet.from_frame(pd.DataFrame({"rule": [0], "feature": ["age"], "lower": [3], "upper": [2]}), ["age"])


def test_texts_and_names_that_cannot_be_told_apart_are_refused() -> None:
    with pytest.raises(RuleTextError, match="a single text, 'age > 3'; pass a list"):
        RuleSet.from_text("age > 3", ["age"])
    with pytest.raises(RuleTextError, match="names must differ"):
        RuleSet.from_text(["age > 3"], ["age", "age"])
    with pytest.raises(RuleTextError, match="categories are given for 'size', but there is no column"):
        RuleSet.from_text(["age > 3"], ["age"], categories={"size": ["s"]})


def test_the_printed_text_of_fitted_rules_reads_back_as_rules_that_meet_the_same_training_rows() -> None:
    from sklearn.datasets import load_wine

    from rulecover import MIRCOClassifier

    X, y = load_wine(return_X_y=True, as_frame=True)
    rules = MIRCOClassifier(random_state=0).fit(X, y).rules_
    printed = RuleSet.from_frame(rules.to_frame(), list(X.columns))
    np.testing.assert_array_equal(printed.apply(X).toarray(), rules.apply(X).toarray())
    assert RuleSet.from_text(rules.to_text(), list(X.columns)) == rules


@pytest.mark.slow
def test_a_thousand_conditions_are_read() -> None:
    text = " and ".join(f"a <= {k}" for k in range(3000, 0, -1))
    assert RuleSet.from_text([text], ["a"])[0].text == "a <= 1"
    several = " and ".join(f"(x{k} > {k} or missing)" for k in range(1500))
    assert RuleSet.from_text([several], [f"x{k}" for k in range(1500)]).lengths.tolist() == [1500]


@pytest.mark.slow
@pytest.mark.parametrize(
    "text",
    [
        "a <= {ones}x",
        "a <= 1.{ones}x",
        "a <= 1e{ones}x",
        "a = x{spaces}y z ,",
        "a{spaces}<= 1{spaces}z",
        "a = {words}, q",
        'a in {{"{ones}',
        "a in {{{listed}",
        "a = x and {words}",
        "a <= 1{ands} and nothing",
    ],
)
def test_the_time_that_a_text_takes_grows_no_faster_than_the_text(text: str) -> None:
    def seconds(n: int) -> float:
        pieces = {"ones": "1" * n, "spaces": " " * n, "words": "word " * n, "listed": "x, " * n}
        long = text.format(**pieces, ands=" and a <= 2" * (n // 10))
        started = time.process_time()
        with pytest.raises(RuleTextError):
            RuleSet.from_text([long], ["a", "b b", "c"])
        return time.process_time() - started

    assert min(seconds(20_000) for _ in range(3)) < 40 * min(seconds(2_000) for _ in range(3)) + 0.05


# Dates ----------------------------------------------------------------------------------------------------------------

DATES = Columns(
    ("age", "hired", "hired (year)", "hired (days since 1970-01-01)"),
    parts={2: DatePart("hired", "year"), 3: DatePart("hired", "days since 1970-01-01")},
)


def dated(*intervals: tuple[float, float], values: list[float]) -> RuleSet:
    """Rules on the days of dates, printed for training rows with these days."""
    rules = replace(RuleSet.of_intervals([{3: each} for each in intervals], DATES.names), columns=DATES)
    rows = np.zeros((len(values), 4))
    rows[:, 3] = values
    return rules.shown_for(rows)


def test_days_are_printed_as_dates() -> None:
    rules = dated((18438.5, np.inf), (-np.inf, 18438.5), (18438.5, 18500.25), (18438.5, 18439.5), values=[18000, 18700])

    assert [rule.text for rule in rules] == [
        "hired >= 2020-06-26",
        "hired <= 2020-06-25",
        "2020-06-26 <= hired <= 2020-08-26",
        "hired = 2020-06-26",
    ]
    assert rules.sentences() == [
        "If hired is 2020-06-26 or later.",
        "If hired is 2020-06-25 or earlier.",
        "If hired is from 2020-06-26 to 2020-08-26.",
        "If hired is 2020-06-26.",
    ]
    assert rules.to_text()[0] == "hired (days since 1970-01-01) > 18438.5"
    assert rules[0].exact == "hired (days since 1970-01-01) > 18438"


def test_days_with_times_are_printed_with_times() -> None:
    rules = dated(
        (18438.5, np.inf), (-np.inf, 18438.0), (18438.25, 18439.57), values=[18000.3, 18438.4, 18438.6, 18700]
    )

    assert rules[1].text.startswith("hired <= ") and ":" in rules[1].text
    every = np.zeros((200_000, 4))
    every[:, 3] = (18438 * 86400 + np.arange(-20_000, 180_000)) / 86400
    printed = RuleSet.from_text([rule.text for rule in replace(rules, shown=None)], DATES.names)
    assert (printed.apply(every) != rules.apply(every)).nnz == 0


@given(
    st.lists(st.integers(-40_000, 60_000), min_size=1, max_size=5),
    st.lists(st.floats(-50_000, 70_000), min_size=2, max_size=2, unique=True),
)
def test_printed_dates_are_read_back_as_the_same_condition_on_dates(seen: list[int], ends: list[float]) -> None:
    intervals = (ends[0], np.inf), (-np.inf, ends[0]), (min(ends), max(ends))
    rules = dated(*intervals, values=[float(day) for day in seen])
    # A bound at the end of what was seen is printed as "=", which is meant for the rows that were seen.
    texts = [(j, rule.text) for j, rule in enumerate(rules) if " = " not in rule.text and "(days" not in rule.text]
    every = np.zeros((130_000, 4))
    every[:, 3] = np.arange(-55_000, 75_000)
    for j, text in texts:
        assert (RuleSet.from_text([text], DATES.names).apply(every) != rules[[j]].apply(every)).nnz == 0


def test_dates_are_read_wherever_a_number_is() -> None:
    texts = ["hired > 2020-06-26", "hired < 2020-06-26 12:00", "hired = 2020-06-26", "(hired >= 2020-06-26 or missing)"]
    rules = RuleSet.from_text([*texts, "hired is missing", "age > 30 and 2019-01-01 <= hired"], DATES.names)

    assert [rule.exact for rule in rules] == [
        "hired (days since 1970-01-01) > 18439",
        "hired (days since 1970-01-01) < 18439.5",
        "hired (days since 1970-01-01) = 18439",
        "(hired (days since 1970-01-01) >= 18439 or missing)",
        "hired (days since 1970-01-01) is missing",
        "age > 30 and hired (days since 1970-01-01) >= 17897",
    ]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("age > 2020-06-26", "'age' is not a column of dates"),
        ("hired > 2020-13-26", "expected a date that there is"),
        ("2020-01-01 < hired < 5", "expected"),
    ],
)
def test_dates_that_make_no_sense_are_refused(text: str, said: str) -> None:
    with pytest.raises(RuleTextError, match=said):
        RuleSet.from_text([text], DATES.names)
