"""Rules go to JSON and back, answer bit for bit the same, and nothing else is taken for rules."""

from __future__ import annotations

import functools
import json
import random
import re
import sys
import time
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import replace
from typing import Any

import jsonschema
import numpy as np
import pandas as pd
import pytest
from damage import changed_json
from exported import HOSTILE, Case, cases, hostile_case, log_odds_cases, many_rules, named_case, text_case
from sklearn.datasets import load_iris
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from rulecover import MIRCOClassifier, MIRCORegressor, RulePathClassifier, RuleSet
from rulecover.data.categories import HashedCategories
from rulecover.data.dates import ISO, LOOSE_ISO, OTHERS
from rulecover.exceptions import ExportError, InvalidModelFileError, RulecoverError, UnreadableModelError
from rulecover.export import Vote, from_json, json_file, json_schema, schema, to_json
from rulecover.export.json_model import model_of
from rulecover.voting.answers import Classes


@pytest.mark.slow
@pytest.mark.parametrize("made", [cases, log_odds_cases])
def test_a_loaded_model_answers_bit_for_bit_the_same(made: Callable[[], list[Case]]) -> None:
    for case in made():
        loaded = from_json(to_json(case.model))

        answers = case.model.predict(case.X)
        assert loaded.predict(case.X).dtype == answers.dtype
        assert loaded.predict(case.X).tolist() == case.prediction
        assert (loaded.apply(case.X) != case.model.apply(case.X)).nnz == 0
        if case.probabilities is not None:
            assert loaded.predict_proba(case.X).tolist() == case.probabilities
        if case.model is not case.rules:
            pd.testing.assert_frame_equal(loaded.why(case.X), case.model.why(case.X))


@pytest.mark.slow
def test_a_loaded_model_gives_the_same_intervals() -> None:
    known = [case for case in cases() if hasattr(case.model, "predict_interval") and case.model is not case.rules]
    for case in known:
        loaded = from_json(to_json(case.model))

        assert (loaded.predict_interval(case.X, 0.8) == case.model.predict_interval(case.X, 0.8)).all()
    assert len(known) > 10
    with pytest.raises(AttributeError, match="no spread is stored"):
        from_json(to_json(hostile_case("x").model)).predict_interval([[0.0, 1.0]])


@pytest.mark.slow
def test_rules_print_the_same_after_the_journey_and_a_second_one_changes_nothing() -> None:
    for case in (*cases()[::3], *log_odds_cases()[::3]):
        written = to_json(case.model)
        loaded = from_json(written)

        assert str(loaded.rules) == str(case.rules.rules)
        assert loaded.rules == case.rules.rules
        assert to_json(loaded) == written


@pytest.mark.slow
def test_what_is_written_is_what_the_schema_says_and_the_schema_is_sound() -> None:
    jsonschema.Draft202012Validator.check_schema(schema())
    checker = jsonschema.Draft202012Validator(schema())
    for case in (*cases()[::4], *log_odds_cases()[::8]):
        checker.validate(json.loads(to_json(case.model)))


@pytest.mark.parametrize("hostile", HOSTILE, ids=ascii)
def test_any_name_survives(hostile: str) -> None:
    loaded = from_json(to_json(hostile_case(hostile).model).encode())

    assert loaded.rules.feature_names[0] == hostile
    assert loaded.answer.votes[0] == hostile


def test_names_of_categories_and_zeros_that_are_missing_survive() -> None:
    case, raw = named_case()
    loaded = from_json(to_json(case.model))

    assert loaded.predict_proba(pd.DataFrame(raw)).tolist() == case.probabilities
    assert to_json(loaded) == to_json(case.model)


@pytest.mark.slow
def test_the_file_has_a_rule_a_line_and_the_same_model_gives_the_same_text() -> None:
    X, y = load_iris(return_X_y=True, as_frame=True)
    models = [MIRCOClassifier(random_state=0).fit(X, y) for _ in range(2)]
    texts = [to_json(model) for model in models]

    assert texts[0] == texts[1]
    assert sum(line.startswith('{"clauses"') for line in texts[0].splitlines()) == len(models[0].rules_)


def test_a_clause_that_only_missing_values_meet_survives() -> None:
    written = changed(*CLAUSE, to={"column": 0, "above": 2.0, "up_to": 2.0, "missing": True})
    vote = from_json(json.dumps(written))

    assert vote.rules.apply(np.array([[np.nan, 0.0], [2.0, 0.0], [3.0, 0.0]])).toarray()[:, 0].tolist() == [
        True,
        False,
        False,
    ]


# What is refused ----------------------------------------------------------------------------------------------------


def sound() -> dict[str, Any]:
    """A file as somebody might write it by hand, without a checksum."""
    written = json.loads(to_json(hostile_case("x").model))
    del written["checksum"]
    return written


def changed(*path: Any, to: Any) -> dict[str, Any]:
    """A sound file with one value changed."""
    written = part = sound()
    for step in path[:-1]:
        part = part[step]
    part[path[-1]] = to
    return written


CLAUSE = ("rules", 0, "clauses", 0)
LEVEL, CODES = {"column": 1, "name": "colour", "level": "a"}, {"column": 1, "labels": ["a", "b"]}
MISTAKES = {
    "no rules": (changed("rules", to=[]), "rules"),
    "another format": (changed("format", to="pickle"), "not a file of rules"),
    "a newer version": (changed("version", to=3), r"version 3.*update"),
    "log-odds in version 1": (changed("answer", "kind", to="log-odds") | {"version": 1}, "answer/kind"),
    "log-odds beyond all bounds": (
        changed("answer", "kind", to="log-odds") | {"base": [-1e9, 1e9]},
        r"a vote is 1e\+09; log-odds must be between",
    ),
    "log-odds of nothing": (
        changed("answer", "kind", to="log-odds") | {"totals": [0.0, 0.0]},
        "must be positive",
    ),
    "no version": (changed("version", to=None), "version None"),
    "a version that is true": (changed("version", to=True), "version True"),
    "a column that is not there": (changed(*CLAUSE, "column", to=9), "column 9"),
    "the column after the last": (changed(*CLAUSE, "column", to=2), "column 2"),
    "a column below zero": (changed(*CLAUSE, "column", to=-1), "minimum"),
    "a column that is a text": (changed(*CLAUSE, "column", to="0"), "integer"),
    "an empty interval": (changed(*CLAUSE, "up_to", to=-5.0), "no value is above"),
    "an interval of no value": (changed(*CLAUSE, "up_to", to=0.0), "no value is above 0.0"),
    "bounds and codes": (changed(*CLAUSE, "in", to=[1.0]), "rules/0/clauses/0"),
    "votes too few": (changed("rules", 0, "votes", to=[1.0]), "where 2 are needed"),
    "votes of a fallback for some rules": (changed("rules", 0, "afar", to=[0.5, 0.5]), "afar"),
    "votes of text": (changed("rules", 0, "votes", to=["a", "b"]), "votes"),
    "votes without bound": (changed("rules", 0, "votes", to=[10**400, 1]), "rules"),
    "totals of nothing": (changed("totals", to=[0.0, 0.0]), "must be positive"),
    "an unknown fallback": (changed("fallback", to="model"), "fallback"),
    "an unknown word": (changed("evil", to=1), "evil"),
    "labels twice": (changed("answer", "labels", to=["a", "a"]), "labels"),
    "labels of another type": (changed("answer", "type", to="int64"), "rules|labels"),
    "a type that runs code": (changed("answer", "type", to="O8"), "O8"),
    "nothing seen": (changed("rules", 0, "seen", "sums", to=[0.0, 0.0]), "seen some"),
    "too many seen": (changed("rules", 0, "seen", "sums", to=[1e308, 1e308]), r"1e\+308 samples of a class"),
    "too many of all": (changed("totals", to=[1e308, 1e308]), r"1e\+308 samples of a class"),
    "too small a weight": (changed("answer", "class_weights", to=[1e-320, 1.0]), "inf samples of a class"),
    "rules that saw nothing at all": (
        sound() | {"rules": [{key: rule[key] for key in rule if key != "seen"} for rule in sound()["rules"]]},
        "rules that vote for classes must have 'seen'",
    ),
    "a path for some": (changed("rules", 0, "path", to=[]), "some rules have .path"),
    "a list": ([], "not a file of rules"),
    "a number": (1, "not a file of rules"),
    "categories of no column": (changed("categories", to=[{"column": 7, "labels": ["a"]}]), "column 7"),
    "levels of no column": (changed("levels", to=[{"column": 2, "name": "c", "level": "a"}]), "column 2"),
    "a column of two levels": (
        changed("levels", to=[LEVEL, LEVEL | {"level": "b"}]),
        "column 1 has two entries in levels",
    ),
    "categories of a column twice": (
        changed("categories", to=[CODES, CODES]),
        "column 1 has two entries in categories",
    ),
    "levels and categories of a column": (
        changed("levels", to=[LEVEL]) | {"categories": [CODES]},
        "levels and in categ",
    ),
    "a notation of no mark": (
        changed("notations", to=[{"column": 0, "decimal": ";", "thousands": "", "unit": ""}]),
        "notations",
    ),
    "a notation of one mark for two things": (
        changed("notations", to=[{"column": 0, "decimal": ",", "thousands": ",", "unit": ""}]),
        "choose marks of decimals and thousands that differ",
    ),
    "dates of another format": (
        changed("dates", to=[{"column": 0, "name": "day", "part": "year", "written": "(a+)+%Y%m%d"}]),
        "dates/0/written, .* is not .ISO8601",
    ),
    "zeros of a column twice": (changed("zero_missing", to=[1, 0, 1]), "column 1 has two entries in zero_missing"),
    "zeros of no column": (changed("zero_missing", to=[7]), "column 7"),
    "columns twice": (changed("columns", to=["other", "other"]), "twice"),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake_is_named(mistake: str) -> None:
    written, said = MISTAKES[mistake]

    with pytest.raises(InvalidModelFileError, match=said):
        from_json(json.dumps(written))


@functools.cache
def written_numbers() -> str:
    X = np.array([[0.0], [0.0], [1.0], [1.0], [2.0], [2.0]])
    model = MIRCORegressor(DecisionTreeRegressor(max_depth=1, random_state=0)).fit(X, [1.0, 2.0, 1.0, 2.0, 7.0, 8.0])
    return to_json(model)


def numbers(change: Callable[[dict[str, Any]], Any]) -> dict[str, Any]:
    """A file of rules that predict a number, changed."""
    written = json.loads(written_numbers())
    del written["checksum"]
    change(written)
    return written


NUMBER_MISTAKES: dict[str, tuple[Callable[[dict[str, Any]], Any], str]] = {
    "squares without numbers": (
        lambda w: [w.pop("numbers"), [rule.pop("seen") for rule in w["rules"]]],
        "rules with squares must have 'numbers'",
    ),
    "a unit of nothing": (
        lambda w: w["answer"].update(unit=0.0),
        "in answer/unit, 0.0 is not above 0",
    ),
    "numbers seen in no unit": (lambda w: w["numbers"].update(unit=-1.0), "in numbers/unit, -1.0 is not above"),
    "numbers that were never seen": (
        lambda w: [rule.pop("seen") for rule in w["rules"]],
        "rules that vote on a number must have 'seen'",
    ),
    "rules that saw nothing": (
        lambda w: w["rules"][0]["seen"]["sums"].__setitem__(0, 0.0),
        "rules must have seen some samples",
    ),
}


@pytest.mark.parametrize("mistake", NUMBER_MISTAKES)
def test_a_mistake_in_rules_that_predict_a_number_is_named(mistake: str) -> None:
    from_json(json.dumps(numbers(lambda written: None)))
    change, said = NUMBER_MISTAKES[mistake]

    with pytest.raises(InvalidModelFileError, match=said):
        from_json(json.dumps(numbers(change)))


def test_a_class_weight_survives() -> None:
    X, y = np.array([[0.0], [1.0], [2.0], [3.0]] * 5), np.array(["no", "no", "no", "yes"] * 5)
    tree = DecisionTreeClassifier(max_depth=1, random_state=0)
    model = RulePathClassifier(tree, max_rules=1, choose="last", class_weight={"yes": 3.0}).fit(X, y)
    written = json.loads(to_json(model))

    assert written["answer"]["class_weights"] == [1.0, 3.0]
    assert from_json(to_json(model)).predict_proba(X).tolist() == model.predict_proba(X).tolist()
    assert to_json(from_json(to_json(model))) == to_json(model)


# What cannot be written ---------------------------------------------------------------------------------------------


def test_rules_that_saw_no_data_cannot_be_exported() -> None:
    rules, classes = RuleSet.of_intervals([{0: (1.0, np.inf)}], ["a"]), Classes(np.array(["no", "yes"]))
    with pytest.raises(ExportError, match="these rules have no evidence and cannot vote; use the rules_ of a fitted"):
        to_json(rules)
    with pytest.raises(ValueError, match="the rules have no evidence, which rules that vote for classes need"):
        to_json(Vote(rules, np.array([[0.0, 1.0]]), classes, np.array([1.0, 1.0])))
    with pytest.raises(ValueError, match="there are no rules; a model needs at least one"):
        to_json(Vote(rules[:0], np.zeros((0, 2)), classes, np.array([1.0, 1.0])))


def test_the_largest_log_odds_are_a_million() -> None:
    X = np.random.default_rng(0).uniform(size=(40, 1))
    rules = RuleSet.of_intervals([{0: (-np.inf, 0.5)}, {0: (0.5, np.inf)}], ["x"])
    written = json.loads(to_json(MIRCOClassifier(rules, vote="log-odds").fit(X, X[:, 0] > 0.4)))
    votes = written["rules"][0]["votes"]

    written["rules"][0]["votes"] = [1e6] * len(votes)
    assert (model_of(written).votes[0] == 1e6).all()
    written["rules"][0]["votes"] = [1e6 + 1] * len(votes)
    with pytest.raises(ValueError, match="a vote is 1e\\+06; log-odds must be between -1000000 and 1000000"):
        model_of(written)


def test_other_objects_cannot_be_exported() -> None:
    with pytest.raises(UnreadableModelError, match="DecisionTreeClassifier cannot be exported; pass a fitted model"):
        to_json(DecisionTreeClassifier().fit([[0.0], [1.0]], [0, 1]))


def test_a_category_that_is_known_by_a_number_only_cannot_be_exported() -> None:
    case = hostile_case("x").model
    columns = replace(case.rules.columns, categories={0: HashedCategories((7, 9), ((7, "red"),))})
    with pytest.raises(ExportError, match="the model knows some categories of column 'x' only by a number"):
        to_json(replace(case, rules=replace(case.rules, columns=columns)))


@pytest.mark.parametrize(
    "text",
    ["", "{", "null", "NaN", "[" * 100_000, '{"format": 1, "format": 2}', b"\xff\xfe\x00", "9" * 5000],
    ids=lambda text: repr(text[:12]),
)
def test_what_is_no_json_is_refused(text: str | bytes) -> None:
    with pytest.raises(InvalidModelFileError):
        from_json(text)


def test_dates_are_written_in_a_format_that_fit_recognises() -> None:
    form = schema()["properties"]["dates"]["items"]["properties"]["written"]

    assert form["enum"] == [ISO, LOOSE_ISO, *OTHERS]


def test_nesting_without_end_is_refused_wherever_it_may_still_be_read() -> None:
    written = json.dumps(changed("columns", to="here"))
    for depth in range(sys.getrecursionlimit() // 2, sys.getrecursionlimit()):
        with pytest.raises(InvalidModelFileError):
            from_json(written.replace('"here"', "[" * depth + "]" * depth))


@pytest.mark.parametrize(("longest", "n_labels"), [(1_000, 1_001), (1_001, 2)])
def test_a_long_label_does_not_take_its_room_for_every_class(longest: int, n_labels: int) -> None:
    labels = ["x" * longest, *map(str, range(n_labels - 1))]
    text = json.dumps(of_classes(labels))
    loaded = from_json(text)

    assert loaded.answer.labels.tolist() == labels and loaded.answer.labels.dtype == object
    assert to_json(from_json(to_json(loaded))) == to_json(loaded)


def test_labels_of_texts_are_texts() -> None:
    labels = ["x" * 1_000, *map(str, range(999))]

    assert from_json(json.dumps(of_classes(labels))).answer.labels.dtype.kind == "U"


def of_classes(labels: list[str]) -> dict[str, Any]:
    """A file of a rule for these classes."""
    ones = [1.0] * len(labels)
    answer = {"kind": "classes", "labels": labels, "type": "str"}
    rule = {"clauses": [], "votes": ones, "seen": {"sums": ones, "impurity": 0.0, "cost": 1.0}}
    return sound() | {"answer": answer, "totals": ones, "base": ones, "rules": [rule]}


def test_infinite_numbers_are_refused_however_they_are_written() -> None:
    written = to_json(hostile_case("x").model)

    for number in ("1e999", "Infinity", "NaN", "-1e999"):
        with pytest.raises(InvalidModelFileError):
            from_json(written.replace('"votes": [3.0', f'"votes": [{number}'))


@pytest.mark.parametrize("name", ["centre", "unit", "default", "cost", "adds", "impurity"])
@pytest.mark.parametrize("number", ["1e999", "-1e999", f"1{'0' * 400}"], ids=lambda number: number[:6])
def test_a_number_beyond_all_floats_is_refused_wherever_it_is(name: str, number: str) -> None:
    """Read as infinite, it would be predicted, and could not be written again."""
    written = json.dumps(numbers(lambda written: None))
    large, n_changed = re.subn(rf'"{name}": [-+.e0-9]+', f'"{name}": {number}', written, count=1)

    assert n_changed == 1
    with pytest.raises(InvalidModelFileError, match=r"^this is not a valid file of rules: \S{,20} is too large for"):
        from_json(large)


def test_half_a_file_is_no_file() -> None:
    written = to_json(hostile_case("x").model)
    for end in range(0, len(written) - 2, 7):
        with pytest.raises(InvalidModelFileError):
            from_json(written[:end])


def mutated(written: str, rng: random.Random) -> str:
    """The text with some characters, numbers or lines changed."""
    kind = rng.random()
    if kind < 0.4:
        place = rng.randrange(len(written))
        return written[:place] + chr(rng.randrange(32, 127)) + written[place + 1 :]
    if kind < 0.6:
        lines = written.splitlines()
        rng.shuffle(lines)
        return "\n".join(lines)
    numbers = [i for i, c in enumerate(written) if c.isdigit()]
    place = rng.choice(numbers)
    return (
        written[:place]
        + rng.choice(["-1", "99", "1e308", "1e-400", "null", '"x"', "[]", "true"])
        + written[place + 1 :]
    )


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["classes", "log-odds"])
def test_a_damaged_file_is_refused_or_is_a_sound_model_all_the_same(kind: str) -> None:
    rng = random.Random(0)
    rows = np.random.default_rng(0).normal(size=(5, 2)) * 3
    written = json.dumps(changed("answer", "kind", to=kind), indent=0)
    for _ in range(3000):
        try:
            model = from_json(mutated(written, rng))
        except RulecoverError:
            continue
        shares = model.predict_proba(rows[:, : model.rules.n_features])
        assert np.isfinite(shares).all() and np.allclose(shares.sum(axis=1), 1)


# The schema, checked by our own means -------------------------------------------------------------------------------


@pytest.mark.slow
def test_our_own_checker_takes_what_the_schema_allows_and_nothing_else() -> None:
    """Against the validator of another project, on files changed at random places."""
    rng, meant = np.random.default_rng(0), jsonschema.Draft202012Validator(schema())
    texts = [to_json(case.model) for case in (*cases()[:20], *log_odds_cases()[:8], named_case()[0], text_case()[0])]
    taken = 0
    for number in range(1000):
        written = json.loads(changed_json(rng, texts[number % len(texts)]))
        try:
            json_schema.checker(schema())(written)
        except json_schema.SchemaMismatch as error:
            assert not meant.is_valid(written)
            place = written
            for step in error.path:
                place = place[step]
        else:
            assert meant.is_valid(written)
            taken += 1
    assert 100 < taken < 900


VALUES = [1, 1.0, True, "1", [1], {"a": 1}, None, 1.5, [], {}, -1, 0, [True, 1], [1, 1.0]]


@pytest.mark.parametrize(
    "part",
    [
        *(
            {"type": kind}
            for kind in ("integer", "number", "string", "boolean", "array", "object", ["string", "number"])
        ),
        *({"const": 1}, {"const": True}, {"enum": ["1", 0]}, {"minimum": 0}, {"exclusiveMinimum": 0}, {"minItems": 1}),
        *({"uniqueItems": True}, {"items": {"type": "number"}}, {"items": False}, {"required": ["a"]}),
        *({"properties": {"a": False}}, {"properties": {}, "additionalProperties": False}),
        *({"if": {"type": "number"}, "then": {"minimum": 1}, "else": {"type": "string"}}, {"if": {"const": 1}}),
        *({"dependentSchemas": {"a": {"required": ["b"]}}}, {"dependentSchemas": {"a": True}}),
        *({"$ref": "#/$defs/a", "minimum": 0, "$defs": {"a": {"type": "integer"}}}, {"description": "anything"}),
    ],
    ids=str,
)
def test_each_keyword_means_what_it_says(part: dict[str, Any]) -> None:
    check, meant = json_schema.checker(part), jsonschema.Draft202012Validator(part)
    for value in VALUES:
        with nullcontext() if meant.is_valid(value) else pytest.raises(json_schema.SchemaMismatch):
            check(value)


def test_a_keyword_that_nobody_checks_is_an_error_of_the_schema() -> None:
    for part in ({"pattern": "a"}, {"items": {"maxItems": 1}}, {"properties": {}, "additionalProperties": {}}):
        with pytest.raises(NotImplementedError):
            json_schema.checker(part)


@pytest.mark.slow
def test_a_file_is_checked_much_faster_than_by_an_interpreter_of_schemas() -> None:
    written = json.loads(to_json(many_rules(500).model))
    ours, theirs = json_schema.checker(schema()), jsonschema.Draft202012Validator(schema())

    def seconds(check: Any) -> float:
        start = time.process_time()
        check(written)
        return time.process_time() - start

    assert 5 * min(seconds(ours) for _ in range(3)) < seconds(theirs.validate)


# Damage -------------------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_flipped_bit_is_found_or_changes_nothing() -> None:
    rng = random.Random(0)
    damaged = (*cases()[:20], *log_odds_cases()[:8], named_case()[0], text_case()[0])
    texts = [to_json(case.model).encode() for case in damaged]
    refused = 0
    for number in range(1000):
        text = texts[number % len(texts)]
        place, bit = rng.randrange(len(text)), 1 << rng.randrange(8)
        try:
            model = from_json(text[:place] + bytes([text[place] ^ bit]) + text[place + 1 :])
        except InvalidModelFileError:
            refused += 1
        else:
            assert to_json(model).encode() == text
    assert refused > 950


def test_a_file_that_was_edited_is_refused_unless_that_is_said() -> None:
    written = to_json(hostile_case("x").model)
    edited = written.replace('"votes": [3.0', '"votes": [4.0')
    assert edited != written

    with pytest.raises(InvalidModelFileError, match=r"checksum.*edited=True.*--edited"):
        from_json(edited)
    model = from_json(edited, edited=True)
    assert model.votes[0, 0] == 4
    assert from_json(to_json(model)).votes[0, 0] == 4
    by_hand = {key: value for key, value in json.loads(edited).items() if key != "checksum"}
    assert from_json(json.dumps(by_hand)).votes[0, 0] == 4


def test_order_and_spaces_do_not_matter_to_the_checksum() -> None:
    written = to_json(hostile_case("größer").model)
    turned = dict(reversed(json.loads(written).items()))

    for text in (json.dumps(turned, indent=4, ensure_ascii=False), json.dumps(turned, separators=(",", ":"))):
        assert to_json(from_json(text)) == written


def test_a_file_from_before_there_were_checksums_is_read() -> None:
    text = """{"format": "rulecover rules", "version": 1, "written_by": "rulecover 0.1.0.dev0",
    "answer": {"kind": "classes", "labels": ["no", "yes"], "type": "str"}, "columns": ["age", "colour = red"],
    "levels": [{"column": 1, "name": "colour", "level": "red"}], "categories": [], "zero_missing": [],
    "fallback": "closest", "totals": [4.0, 3.0], "base": [0.0, 0.0], "rules": [
    {"clauses": [{"column": 0, "above": 30.5, "missing": true}, {"column": 1, "above": 0.5, "shown": {"above": 0.0}}],
     "votes": [3.0, 1.0], "seen": {"sums": [3.0, 1.0], "impurity": 0.375, "cost": 1.0}},
    {"clauses": [{"column": 0, "up_to": 30.5}], "votes": [1.0, 2.0],
     "seen": {"sums": [1.0, 2.0], "impurity": 0.4444444444444444, "cost": 1.0}}]}"""
    rows = pd.DataFrame({"age": [40.0, 20.0], "colour": ["red", "blue"]})

    assert from_json(text).predict(rows).tolist() == ["no", "yes"]


def as_version_1(text: str) -> str:
    """The file as it was written before there were log-odds, provenance and more about columns."""
    later = {"provenance", "dates", "notations", "whole", "frequent"}
    written = {key: value for key, value in json.loads(text).items() if key not in later} | {"version": 1}
    return json.dumps(written | {"checksum": json_file._checksum(written)})


@pytest.mark.slow
def test_files_of_version_1_mean_what_they_meant() -> None:
    checker = jsonschema.Draft202012Validator(schema(1))
    for case in cases():
        text = to_json(case.model)
        if '"kind": "log-odds"' in text:  # which version 1 did not have
            continue
        older = as_version_1(text)

        loaded = from_json(older)

        checker.validate(json.loads(older))
        assert loaded.predict(case.X).tolist() == case.prediction
        assert as_version_1(to_json(loaded)) == older
        with pytest.raises(InvalidModelFileError, match="checksum"):
            from_json(older.replace('"version": 1', '"version": 2'))


def test_a_file_beyond_the_limit_of_size_is_refused_before_it_is_read() -> None:
    written = to_json(hostile_case("x").model)

    for text in (written, written.encode()):
        with pytest.raises(InvalidModelFileError, match=r"larger than 0\.0005 MB.*max_size"):
            from_json(text, max_size=500)
        assert from_json(text, max_size=len(text)).rules == from_json(text, max_size=None).rules
    with pytest.raises(InvalidModelFileError, match="larger than 100 MB"):
        from_json(" " * 100_000_001)


def test_an_older_version_is_brought_up_to_date_step_by_step(monkeypatch: pytest.MonkeyPatch) -> None:
    """As it will be: version 1 is validated by its own schema, and then changed into version 2, and that into 3."""
    written = as_version_1(to_json(hostile_case("x").model))
    steps = []

    def upgrade(step: int) -> Any:
        return lambda file: (steps.append(step), file | {"version": step + 1})[1]

    monkeypatch.setattr(json_file, "VERSION", 3)
    monkeypatch.setattr(json_file, "UPGRADES", {1: upgrade(1), 2: upgrade(2)})

    assert isinstance(from_json(written), Vote)
    assert steps == [1, 2]
