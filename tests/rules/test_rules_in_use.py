"""What is done with rules besides matching rows: joined, moved to other columns and codes, counted, put in words."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from hypothesis import given
from hypothesis import strategies as st
from strategies import DIGITS, LABELS, holds_categories, rule_sets, tables

from rulecover import RuleSet
from rulecover.data.categories import CategorySet
from rulecover.data.dates import DAYS, DatePart
from rulecover.exceptions import RuleTextError
from rulecover.rules.features import feature_use, strips
from rulecover.rules.levels import readable
from rulecover.rules.overlaps import Overlaps
from rulecover.rules.rule import Clause
from rulecover.rules.sentences import condition_in_words, rule_sentence

SOME_RULES = rule_sets("abc", numbers=DIGITS, max_rules=6)
CODES = DIGITS | st.sampled_from([math.nan, 9.0, 10.0])

# Joined, and on other data ------------------------------------------------------------------------------------------


@pytest.mark.slow
@given(SOME_RULES, SOME_RULES, tables(3, cells=CODES))
def test_joined_rules_cover_what_each_of_them_covers(one: RuleSet, two: RuleSet, X: np.ndarray) -> None:
    joined = one.join(two)

    np.testing.assert_array_equal(
        joined.apply(X).toarray(), np.hstack([one.apply(X).toarray(), two.apply(X).toarray()])
    )
    assert joined.to_text() == [*one.to_text(), *two.to_text()] and joined.columns == one.columns


def test_rules_that_are_taken_keep_their_paths_and_the_clauses_that_are_shown() -> None:
    rules, others = (RuleSet.from_text([f"a > {k}", f"b > {k} and c <= 2", f"c > {k}"], "abc") for k in range(2))

    taken = replace(rules, paths=others.clauses, shown=others.clauses).take(np.array([2, 0]))

    assert taken.to_text() == ["c > 0", "a > 0"]
    assert taken.paths == taken.shown == others.take(np.array([2, 0])).clauses
    assert rules.take(np.array([1])).paths is None and rules.take(np.array([1])).shown is None


@pytest.mark.slow
@given(SOME_RULES, SOME_RULES)
def test_equal_rules_are_found_once(one: RuleSet, two: RuleSet) -> None:
    rules = one.join(two).join(one)

    first = rules.clauses.first_of_equal()

    texts = rules.to_text()
    assert first.tolist() == [j for j, text in enumerate(texts) if text not in texts[:j]]


@pytest.mark.slow
@given(SOME_RULES, tables(3, cells=CODES), st.permutations(range(5)))
def test_rules_on_other_columns_cover_the_same_rows(rules: RuleSet, X: np.ndarray, order: list[int]) -> None:
    place = np.array(order[:3])
    wide = np.full((len(X), 5), 99.0)
    wide[:, place] = X
    names = tuple(dict(zip(place.tolist(), "abc", strict=True)).get(f, f"other {f}") for f in range(5))

    moved = replace(rules, paths=rules.clauses, shown=rules.clauses).on_columns(names, place)

    np.testing.assert_array_equal(moved.apply(wide).toarray(), rules.apply(X).toarray())
    assert moved.feature_names == names
    assert [rule.text for rule in moved] == [rule.text for rule in rules]
    assert moved.paths == moved.shown == moved.clauses
    assert rules.on_columns(names, place).paths is None and rules.on_columns(names, place).shown is None


@pytest.mark.slow
@given(SOME_RULES, tables(3, cells=CODES), st.permutations(range(len(LABELS))))
def test_rules_in_other_codes_name_the_same_categories(rules: RuleSet, X: np.ndarray, order: list[int]) -> None:
    column = next(f for f in range(3) if holds_categories(f))
    other = replace(rules.columns, categories={column: tuple(LABELS[code] for code in order)}, zero_missing=(0,))
    code_of = {float(code): float(new) for new, code in enumerate(order)}
    recoded = X.copy()
    recoded[:, column] = [code_of.get(code, math.nan) for code in X[:, column]]
    known = X.copy()
    known[:, column] = [code if code in code_of else math.nan for code in X[:, column]]
    known[known[:, 0] == 0, 0] = math.nan

    moved = replace(rules, paths=rules.clauses).in_codes_of(other)

    np.testing.assert_array_equal(moved.apply(recoded).toarray(), rules.apply(known).toarray())
    assert moved.columns.categories == other.categories and moved.columns.zero_missing == (0,)
    assert moved.paths is None


def test_intervals_on_numbered_categories_become_sets_and_others_stay() -> None:
    rules = RuleSet.from_text(["size > 2 and age > 30", "size <= 5 and age <= 4", "size in {3}"], ["size", "age"])
    numbered = replace(rules.columns, categories={0: (1, 3, 5, 9)})

    moved = rules.in_codes_of(numbered)

    assert [rule.text for rule in moved] == ["size ≠ 1 and age > 30", "size ≠ 9 and age <= 4", "size = 3"]
    assert moved.to_text() == ["size in {3, 5, 9} and age > 30", "size in {1, 3, 5} and age <= 4", "size = 3"]
    codes = np.array([[0.0, 31.0], [1.0, 31.0], [3.0, 4.0], [2.0, 4.0]])
    values = np.array([[1.0, 31.0], [3.0, 31.0], [9.0, 4.0], [5.0, 4.0]])
    np.testing.assert_array_equal(moved.apply(codes).toarray(), rules.apply(values).toarray())
    plain = RuleSet.from_text(["age > 30"], ["size", "age"])
    same = replace(plain, paths=plain.clauses).in_codes_of(replace(plain.columns, zero_missing=(1,)))
    assert same == plain and same.paths == plain.clauses and same.columns.zero_missing == (1,)
    assert plain.in_codes_of(numbered).to_text() == ["age > 30"]


# Levels of text columns ---------------------------------------------------------------------------------------------

#: A column of numbers, one of three colours, and one of two sizes, which another column stands between.
LEVELS = {1: ("colour", "red"), 2: ("colour", "blue"), 3: ("colour", "green"), 4: ("size", "L"), 6: ("size", "S")}
ENCODED = ("age", "colour_red", "colour_blue", "colour_green", "size_L", "income", "size_S")
ROWS = np.array(
    [
        [age, *np.eye(3)[colour], size, income, 1.0 - size]
        for age, colour, size, income in itertools.product((1.0, 5.0), range(3), (0.0, 1.0), (2.0, 8.0))
    ]
)
BOUNDS = st.sampled_from([(-np.inf, 0.5), (0.5, np.inf)])
ENCODED_RULES = st.lists(
    st.fixed_dictionaries(
        {}, optional={f: BOUNDS if f in LEVELS else st.sampled_from([(-np.inf, 3.0), (3.0, np.inf)]) for f in range(7)}
    ),
    min_size=1,
    max_size=4,
)


@pytest.mark.slow
@given(ENCODED_RULES)
def test_rules_on_levels_in_fewer_words_cover_the_same_rows(rules: list[dict[int, tuple[float, float]]]) -> None:
    # A row has one level of each column: a rule that asks for two of them covers nothing, and is left out.
    some = [rule for rule in rules if sum(rule.get(f, (0, 0))[0] == 0.5 for f in (1, 2, 3)) <= 1]
    some = [rule for rule in some if rule.get(4, "none") != rule.get(6)]
    encoded = RuleSet.of_intervals(some, ENCODED)

    shown = readable(encoded, LEVELS)

    np.testing.assert_array_equal(shown.apply(ROWS).toarray(), encoded.apply(ROWS).toarray())
    assert (shown.lengths <= encoded.lengths).all() and len(shown) == len(encoded)
    for rule in shown:
        sizes, colours = ([clause for clause in rule.clauses if clause.name == name] for name in ("size", "colour"))
        assert len(sizes) <= 1 and len(colours) in (0, 1, 3)


def test_levels_are_said_as_shortly_as_they_can_be() -> None:
    low, high = (-np.inf, 0.5), (0.5, np.inf)
    rules = RuleSet.of_intervals(
        [
            {0: (3.0, np.inf), 1: high, 2: low},
            {1: low, 3: low, 5: (-np.inf, 3.0)},
            {1: low},
            {4: low},
            {6: high, 4: low},
            {},
        ],
        ENCODED,
    )

    shown = readable(rules, LEVELS)

    assert [rule.text for rule in shown] == [
        "age > 3 and colour = red",
        "colour = blue and income <= 3",
        "colour ≠ red",
        "size = S",
        "size = S",
        "always",
    ]
    alone = readable(RuleSet.of_intervals([{0: low}], ["is_new"]), {0: ("new", "yes")})
    assert [rule.text for rule in alone] == ["new ≠ yes"]
    rounded = replace(
        rules, shown=replace(rules.clauses, lower=np.where(rules.clauses.lower == 3, 4.0, rules.clauses.lower))
    )
    assert readable(rounded, LEVELS)[0].text == "age > 4 and colour = red"
    assert readable(rounded, LEVELS).clauses == shown.clauses


# Counted ------------------------------------------------------------------------------------------------------------


@pytest.mark.slow
@given(
    st.lists(st.tuples(*[st.booleans()] * 11), min_size=1, max_size=20).map(np.array),
    st.integers(1, 12),
    st.integers(1, 8),
)
def test_combinations_of_rules_are_counted(covered: np.ndarray, max_rules: int, max_sets: int) -> None:
    found = Overlaps.of(scipy.sparse.csr_array(covered), max_sets=max_sets, max_rules=max_rules)

    largest = sorted(range(11), key=lambda j: (-covered[:, j].sum(), j))[:max_rules]
    assert found.rules.tolist() == sorted(largest)
    counted = Counter(map(tuple, covered[:, sorted(largest)].tolist()))  # in the order of the rows
    expected = counted.most_common(max_sets)
    assert [(tuple(m), n) for m, n in zip(found.members.tolist(), found.sizes.tolist(), strict=True)] == expected
    assert found.n_rows == len(covered)


@pytest.mark.parametrize("sparse", [False, True])
def test_a_strip_has_the_values_of_a_feature_class_by_class_and_the_bounds(sparse: bool) -> None:
    rules = RuleSet.from_text(
        ["age > 30 and colour = red", "20 < age <= 30", "income is missing"], ["age", "colour", "income"]
    )
    X = np.array([[20.0, 0, 1], [60.0, 0, 1], [21.5, 0, 1], [20.5, 0, 1], [np.nan, 0, 1], [np.inf, 0, 1]])

    found = strips(rules, scipy.sparse.csr_array(X) if sparse else X, np.array([0, 1, 1, 1, 0, 0]))

    assert list(found) == ["age"]
    strip = found["age"]
    assert strip.bounds == (0.0, 25.0) and strip.ends == ("20", "60")
    # From 20 to 60 in 40 bars of width 1: two rows in the first, which is the highest, one in the second and the last.
    assert strip.bars == (
        (0.0, 2.5, 0.0, 0.5, 0),
        (0.0, 2.5, 0.5, 1.0, 1),
        (2.5, 2.5, 0.0, 0.5, 1),
        (97.5, 2.5, 0.0, 0.5, 1),
    )
    assert [bar[4] for bar in strips(rules, X)["age"].bars] == [0, 0, 0]


def test_a_strip_of_one_value_has_some_width_and_bounds_count_as_values() -> None:
    rules = RuleSet.from_text(["age > 30"], ["age"])

    only = strips(rules, np.array([[30.0]]))["age"]
    beyond = strips(rules, np.array([[10.0], [20.0]]))["age"]
    none = strips(rules, np.array([[np.nan]]))["age"]

    assert only.ends == ("29.5", "30.5") and only.bounds == (50.0,) and only.bars == ((50.0, 2.5, 0.0, 1.0, 0),)
    assert beyond.ends == ("10", "30") and beyond.bounds == (100.0,)
    assert none.bars == () and none.ends == ("29.5", "30.5")


def test_the_ends_of_a_strip_of_days_are_dates() -> None:
    rules = RuleSet.from_text(["hired (days since 1970-01-01) > 18439"], ["age", "hired (days since 1970-01-01)"])
    part = {1: DatePart("hired", DAYS)}
    rules = replace(rules, columns=replace(rules.columns, parts=part, whole={1: (18000.0, 18700.0)}))

    found = strips(rules, np.array([[1.0, 18000.0], [2.0, 18700.0]]))

    assert list(found) == ["hired"] and found["hired"].ends == ("2019-04-14", "2021-03-14")


def test_a_feature_is_used_by_as_many_rules_as_name_it() -> None:
    texts = ["b > 3 and a > 1", "a <= 1", "c in {1, 2} and (b <= 5 or missing)", "a in {1} and a > 0"]

    assert feature_use(RuleSet.from_text(texts, ["a", "b", "c", "d"])) == [("a", 3), ("b", 2), ("c", 1)]


# In words -----------------------------------------------------------------------------------------------------------


def below(number: float) -> float:
    return math.nextafter(number, -math.inf)


MANY = tuple(f"c{code}" for code in range(20))
FREQUENT = CategorySet(tuple(map(float, range(12))))
RARE = CategorySet(tuple(map(float, range(12, 20))))


@pytest.mark.parametrize(
    ("clause", "text", "words"),
    [
        (Clause(0, "x", upper=5.0, zero=False), "x <= 5 but not 0", "at most 5 (but not 0)"),
        (Clause(0, "x", upper=0.0, zero=False), "x <= 0 but not 0", "at most 0 (but not 0)"),
        (Clause(0, "x", lower=0.0, zero=False), "x > 0", "above 0"),
        (Clause(0, "x", lower=5.0, zero=True, missing=True), "(x > 5 or 0 or missing)", "above 5 (or 0 or missing)"),
        (Clause(0, "x", lower=0.0, zero=True, missing=True), "(x > 0 or 0 or missing)", "above 0 (or 0 or missing)"),
        (Clause(0, "x", upper=0.0, zero=True), "x <= 0", "at most 0"),
        (Clause(0, "x", upper=-1.0, zero=True), "(x <= -1 or 0)", "at most -1 (or 0)"),
        (Clause(0, "x", zero=False), "x is neither 0 nor missing", "known (but not 0)"),
        (Clause(0, "x"), "x is not missing", "known"),
        (Clause(0, "x", missing=True), "x is anything", "known (or missing)"),
        (Clause(0, "x", lower=math.inf, missing=True, zero=True), "x is 0 or missing", "0 or missing"),
        (Clause(0, "x", lower=math.inf, missing=True), "x is missing", "missing"),
        (Clause(0, "x", lower=math.inf), "x is missing", "missing"),
        (Clause(0, "x", lower=2.5, whole=(0.0, 9.0)), "x >= 3", "at least 3"),
        (Clause(0, "x", upper=2.5, whole=(0.0, 9.0)), "x <= 2", "at most 2"),
        (Clause(0, "x", lower=2.5, upper=5.5, whole=(0.0, 9.0)), "3 <= x <= 5", "at least 3 and at most 5"),
        (Clause(0, "x", lower=2.5, upper=3.5, whole=(0.0, 9.0)), "x = 3", "3"),
        (Clause(0, "x", upper=0.5, whole=(0.0, 9.0)), "x = 0", "0"),
        (Clause(0, "x", lower=8.5, whole=(0.0, 9.0)), "x = 9", "9"),
        (Clause(0, "x", lower=2.0, upper=2.5, whole=(0.0, 9.0)), "2 < x <= 2.5", "above 2 and at most 2.5"),
        (Clause(0, "x", lower=1.0, upper=2.0), "1 < x <= 2", "above 1 and at most 2"),
        (Clause(0, "x", lower=below(1.0), upper=below(2.0)), "1 <= x < 2", "at least 1 and below 2"),
        (Clause(0, "x", lower=below(3.0), upper=3.0), "x = 3", "3"),
        (Clause(0, "c", upper=0.0, level="red"), "c ≠ red", "not red"),
        (Clause(0, "c", lower=0.0, level="red"), "c = red", "red"),
        (Clause(0, "c", lower=1.0, level="red"), "c > 1", "above 1"),
        (Clause(0, "c", upper=1.0, level="red"), "c <= 1", "at most 1"),
        (Clause(0, "c", upper=-1.0, level="red"), "c <= -1", "at most -1"),
        (Clause(0, "c", categories=CategorySet(()), missing=True), "c is missing", "missing"),
        (Clause(0, "c", categories=CategorySet((), others=True)), "c is not missing", "known"),
        (
            Clause(0, "c", categories=FREQUENT, known=MANY, frequent=12),
            "c is one of the 12 most frequent",
            "one of the 12 most frequent",
        ),
        (
            Clause(0, "c", categories=RARE, known=MANY, frequent=12),
            "c is none of the 12 most frequent",
            "none of the 12 most frequent",
        ),
        (
            Clause(0, "c", categories=replace(FREQUENT, others=True), known=MANY, frequent=12),
            "c is none of the 12 most frequent",
            "none of the 12 most frequent",
        ),
        (
            Clause(0, "c", categories=replace(RARE, others=True), known=MANY, frequent=12),
            "c is one of the 12 most frequent",
            "one of the 12 most frequent",
        ),
        (Clause(0, "c", categories=CategorySet((1.0,)), known=MANY, frequent=12), "c = c1", "c1"),
        (
            Clause(0, "c", categories=CategorySet(tuple(map(float, range(10)))), known=MANY[:12], frequent=10),
            "c not in {c10, c11}",
            "none of c10 and c11",
        ),
    ],
    ids=str,
)
def test_a_clause_is_written_and_put_in_words(clause: Clause, text: str, words: str) -> None:
    from rulecover.rules.rule import Rule

    assert str(clause) == text
    assert condition_in_words(Rule((clause,))) == f"{clause.name} is {words}"


def test_a_sentence_needs_neither_a_condition_nor_a_conclusion() -> None:
    always, one = RuleSet.from_text(["always", "b is missing and a > 1"], ["a", "b"])

    assert rule_sentence(always, "") == "Always." and rule_sentence(always, "yes") == "In any case yes."
    assert rule_sentence(one, "") == "If a is above 1 and b is missing."
    assert rule_sentence(one, "yes") == "If a is above 1 and b is missing, then yes."
    assert one.exact == one.text == "a > 1 and b is missing" and always.exact == always.text == "always"


def test_a_rule_is_whole_in_print_and_cut_off_where_python_shows_it() -> None:
    name = "n" * 85
    short, long = RuleSet.from_text([f"{name} > 12345678", f"{name} > 123456789"], [name])

    assert len(str(short)) == 99 and repr(short) == f"<Rule: {short}>"
    assert str(long) == f"if {name} > 123456789" and repr(long) == f"<Rule: {long}>"
    longer = RuleSet.from_text([f"{name} > 1234567890"], [name])[0]
    assert repr(longer) == f"<Rule: if {name} > 12345678…>" and str(longer).endswith("90")


def test_what_is_known_of_a_rule_stands_behind_it() -> None:
    rule = RuleSet.from_text(["a > 1"], ["a"])[0]

    assert str(replace(rule, prediction="yes", support=1.0, purity=1.0)) == "if a > 1 then yes (1 row, 100 %)"
    assert str(replace(rule, prediction="yes", support=2.5, purity=0.875)) == "if a > 1 then yes (2.5 rows, 88 %)"
    assert str(replace(rule, prediction=2.0, support=3.0)) == "if a > 1 then 2 ± 0 (3 rows)"
    assert str(replace(rule, prediction=2.0, support=3.0, spread=0.5)) == "if a > 1 then 2 ± 0.5 (3 rows)"


# Mistakes in texts --------------------------------------------------------------------------------------------------

NAMES = ["age", "income", "colour", "size", "b", "é"]


@pytest.mark.parametrize(
    ("text", "message", "place"),
    [
        ("agee > 3", "expected the name of a column (age, b, colour, income, size…) here", 0),
        ("age\t>\nhigh", "expected a number here", 6),
        ("> 3", "expected the name of a column (age, b, colour, income, size…) here", 0),
        ("3 < ", "expected the name of a column (age, b, colour, income, size…) here", 4),
        ("3 < age > 2", 'expected "<" or "<=" here', 8),
        ("3 > age <= 2", 'expected ">" or ">=" here', 8),
        ("3 < age <= ", "expected a number here", 11),
        ("age > 3 or income > 2", 'expected "missing" (rules have no other "or": write two rules) here', 11),
        ("(age > 3", 'expected ")" here', 8),
        ("age > 3)", 'expected "and" or the end of the rule here', 7),
        ("age is old", 'expected "missing" or "not missing" here', 7),
        ("colour in red", 'expected "{" here', 10),
        ("colour in {red", 'expected "," or "}" here', 14),
        ("colour in {red, ", "expected a category here", 16),
        ("colour = ", "expected a number or a category here", 9),
        ("age > 3 and income", 'expected a comparison, "in" or "is" here', 18),
        ("age > 3 and age < 2", "no value of 'age' satisfies the rule up to here", 12),
        ("size = medium", "'size' has no category 'medium', it has small, large", 7),
        ("size > 1", "'size' has categories, not numbers: write in {…}", 0),
    ],
)
def test_a_mistake_is_shown_with_the_whole_rule_and_a_mark_below(text: str, message: str, place: int) -> None:
    with pytest.raises(RuleTextError) as raised:
        RuleSet.from_text(["always", text], NAMES, categories={"size": ["small", "large"]})

    shown = text.replace("\t", " ").replace("\n", " ")
    assert str(raised.value) == f"rule 1, position {place}: {message}\n    {shown}\n    {' ' * place}^"


def test_of_few_names_all_are_listed_and_a_name_can_be_in_quotes() -> None:
    with pytest.raises(RuleTextError, match=r"expected the name of a column \(a, b, c, d, e\) here"):
        RuleSet.from_text(["f > 3"], list("abcde"))
    assert RuleSet.from_text(['"a" > 3 and "b" is missing'], list("ab")).to_text() == ["a > 3 and b is missing"]
    # What is in quotes is as in JSON where it can be, and otherwise as it is.
    assert RuleSet.from_text(['"a\\tb" > 3'], ["a\tb"]).clauses.feature.tolist() == [0]
    assert RuleSet.from_text(['"a\\qb" > 3'], ["x", "a\\qb"]).clauses.feature.tolist() == [1]


@pytest.mark.parametrize(
    ("levels", "text", "message"),
    [
        ({0: ("new", "yes")}, "new = no", "'new' is yes or not: write = yes or ≠ yes"),
        ({0: ("c", "a"), 1: ("c", "b")}, "c = d", "'c' has levels a, b; name one of them"),
        ({0: ("c", "a"), 1: ("c", "b")}, "c in {a, b}", "'c' has levels a, b; name one of them"),
        ({0: ("c", "a"), 1: ("c", "b")}, "c > 3", "'c' has levels, so write = or ≠ and one of them"),
    ],
)
def test_a_level_that_there_is_not_is_refused(levels: Any, text: str, message: str) -> None:
    with pytest.raises(RuleTextError) as raised:
        RuleSet.from_text([text], ["x1", "x2"], levels=levels)

    assert str(raised.value).splitlines()[0].endswith(f": {message}")


def test_frames_that_hold_no_rules_are_refused_with_what_they_hold() -> None:
    with pytest.raises(RuleTextError) as raised:
        RuleSet.from_frame(pd.DataFrame({"text": ["age > 3"], "note": [""]}), ["age"])
    assert str(raised.value) == "a frame of rules needs a column 'rule', but this one has text, note."
    with pytest.raises(RuleTextError, match=r"line 1 is about 'size', but there is no column of that name\."):
        RuleSet.from_frame(pd.DataFrame({"rule": [0, 0], "feature": ["age", "size"]}), ["age"])
    lines = pd.DataFrame({"rule": ["a", "b", "b"], "feature": ["age"] * 3, "lower": [1, 3, None], "upper": [2, 5, 3]})
    with pytest.raises(RuleTextError) as raised:
        RuleSet.from_frame(lines, ["age"])
    assert str(raised.value).startswith("rule 1, position 2: no value of 'age' satisfies the rule up to here\n")
    assert "the lines of rule 'b'" in str(raised.value)


@pytest.mark.parametrize(
    ("texts", "known"),
    [
        (["paid = True"], (False, True)),
        (["paid = True", "paid ≠ False"], (False, True)),
        (['paid = "True"'], ("True",)),
        (["paid = True", "paid = maybe"], ("True", "maybe")),
        (["paid in {3, later}"], ("3", "later")),
    ],
)
def test_true_and_false_are_truth_values_unless_other_words_or_quotes_are_there(texts: list[str], known: Any) -> None:
    assert RuleSet.from_text(texts, ["paid"]).columns.categories == {0: known}


def test_the_column_of_a_wrong_interval_is_named_with_its_bounds() -> None:
    with pytest.raises(ValueError, match=r"^there is no column 2: there are 2 columns, numbered from 0\.$"):
        RuleSet.of_intervals([{2: (0, 1)}], ["a", "b"])
    with pytest.raises(ValueError, match=r"^there is no column -1: there are 2 columns"):
        RuleSet.of_intervals([{-1: (0, 1)}], ["a", "b"])
    with pytest.raises(ValueError, match=r"^the interval \(1, 1\] of column 0 is empty; give lower < upper\.$"):
        RuleSet.of_intervals([{0: (1, 1)}], ["a", "b"])
    with pytest.raises(IndexError, match="there is no rule 1: the set has 1 rules, numbered from 0"):
        RuleSet.of_intervals([{0: (0, 1)}], ["a"])[1]
    assert RuleSet.of_intervals([{0: (0, 1)}], ["a"])[-1].text == "0 < a <= 1"


@pytest.mark.parametrize("only", [0.0, -30.0, 1e17, -1e30])
def test_a_strip_of_one_value_has_it_in_the_middle(only: float) -> None:
    strip = strips(RuleSet.of_intervals([{0: (-np.inf, only)}], ["age"]), np.array([[only]]))["age"]

    assert strip.bounds == pytest.approx((50.0,), abs=1e-6) and len(strip.bars) == 1
