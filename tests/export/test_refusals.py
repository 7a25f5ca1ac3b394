"""What cannot be exported, or is not a file of rules, is refused with the whole reason and the way out."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.linear_model import LogisticRegression
from sqlglot import exp

from rulecover import MIRCOClassifier, RuleSet
from rulecover.data.categories import HashedCategories
from rulecover.exceptions import ExportError, InvalidModelFileError, UnreadableModelError
from rulecover.export import from_json, to_json
from rulecover.export.dialects import _quotient
from rulecover.export.exported import _check_columns, vote_of
from rulecover.export.javascript_code import to_javascript
from rulecover.export.json_schema import SchemaMismatch, checker
from rulecover.export.polars_expressions import to_polars
from rulecover.voting.answers import Classes, Mean
from rulecover.voting.fallback import CLOSEST, SourceModel
from rulecover.voting.vote import Vote

X, Y = load_iris(return_X_y=True)
FITTED = MIRCOClassifier(random_state=0).fit(X, Y)
VOTE = FITTED.vote_
NUMBERS = Vote(VOTE.rules, np.ones((len(VOTE), 2)), Mean(), np.array([1.0, 1.0]))


def renamed(vote: Vote, names: tuple[str, ...]) -> Vote:
    return replace(vote, rules=replace(vote.rules, columns=replace(vote.rules.columns, names=names)))


def hashed(vote: Vote, texts: dict[int, str]) -> Vote:
    used = int(vote.rules.clauses.columns[0])
    known = {used: HashedCategories((5, 6), texts)}
    return replace(vote, rules=replace(vote.rules, columns=replace(vote.rules.columns, categories=known)))


@pytest.mark.parametrize(
    ("made", "error", "message"),
    [
        (
            lambda: vote_of(LogisticRegression()),
            UnreadableModelError,
            "LogisticRegression cannot be exported; pass a fitted model of rules, such as MIRCOClassifier, "
            "RCBoostRegressor or RulePathClassifier, the rules_ of one, or a Vote.",
        ),
        (
            lambda: vote_of(VOTE.take(np.zeros(0, dtype=int))),
            ValueError,
            "there are no rules; a model needs at least one.",
        ),
        (
            lambda: vote_of(replace(VOTE, rules=replace(VOTE.rules, evidence=None))),
            ValueError,
            "the rules have no evidence, which rules that vote for classes need; use the rules_ of a fitted model.",
        ),
        (
            lambda: vote_of(RuleSet.from_text(["a > 1"], ["a"])),
            ExportError,
            "these rules have no evidence and cannot vote; use the rules_ of a fitted model.",
        ),
        (
            lambda: vote_of(renamed(VOTE, ("a", "b", "a", "c"))),
            ValueError,
            "a column name occurs twice among ['a', 'b', 'a', 'c']; rename one.",
        ),
        (
            lambda: vote_of(replace(VOTE, totals=np.zeros(3))),
            ValueError,
            "totals is [0.0, 0.0, 0.0]; the votes of the training data must be positive.",
        ),
        (
            lambda: vote_of(replace(NUMBERS, totals=np.array([1.0, 0.0]))),
            ValueError,
            "totals is [1.0, 0.0]; the votes of the training data must be positive.",
        ),
        *(
            (
                lambda fallback=fallback: vote_of(replace(VOTE, fallback=fallback)),
                ExportError,
                f"the fallback {fallback.name!r} cannot be exported: it asks the source model, or is an object of your "
                "own; choose another first, for example by model.set_params(fallback='closest').",
            )
            for fallback in (SourceModel(), replace(CLOSEST, name="mine"))
        ),
        (
            lambda: _check_columns(VOTE.rules, 0),
            ExportError,
            f"column {VOTE.rules.feature_names[int(VOTE.rules.clauses.columns[-1])]!r} is made by the model's pipeline "
            "and is not in any table; train on the columns it makes.",
        ),
        (
            lambda: vote_of(hashed(VOTE, {5: "red"})),
            ExportError,
            f"the model knows some categories of column "
            f"{VOTE.rules.feature_names[int(VOTE.rules.clauses.columns[0])]!r} only by a number; explain it with data "
            "in which all of them occur.",
        ),
        (
            lambda: to_javascript(VOTE, name="not a name"),
            ExportError,
            "'not a name' is not a valid function name; choose another, such as 'predict'.",
        ),
        (
            lambda: to_javascript(replace(VOTE, answer=Classes(np.array([1, 2, 2**53 + 2])))),
            ExportError,
            "the class 9007199254740994 is too large for a number in JavaScript; train with labels that are text.",
        ),
    ],
)
def test_what_cannot_be_exported_is_refused(made: Any, error: type, message: str) -> None:
    with pytest.raises(error) as raised:
        made()

    assert str(raised.value) == message


def test_what_can_be_exported_is_taken() -> None:
    assert vote_of(VOTE) is VOTE and vote_of(NUMBERS) is NUMBERS
    _check_columns(VOTE.rules, 4)
    text = to_javascript(replace(VOTE, answer=Classes(np.array([1, 2, 2**53 - 1]))))
    assert str(2**53 - 1) in text


# Files --------------------------------------------------------------------------------------------------------------


def changed(**fields: Any) -> str:
    written = json.loads(to_json(FITTED))
    return json.dumps(
        {name: value for name, value in (written | fields).items() if name != "checksum" or fields.get(name)}
    )


@pytest.mark.parametrize(
    ("text", "settings", "message"),
    [
        (
            to_json(FITTED),
            {"max_size": 100},
            "the file is larger than 0.0001 MB, the limit; pass max_size to from_json, or --max-model-size on the "
            "command line, to read it.",
        ),
        (
            changed(checksum="0" * 64),
            {},
            "the file does not match its checksum: it is damaged, or was edited by hand. Write it again; or, if the "
            'edit was meant, delete its "checksum", or pass edited=True to from_json, --edited on the command line.',
        ),
        (changed(format="other"), {}, 'this is not a file of rules: it does not have "format": "rulecover rules".'),
        ("[]", {}, 'this is not a file of rules: it does not have "format": "rulecover rules".'),
    ],
)
def test_what_is_not_a_file_of_rules_is_refused(text: str, settings: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidModelFileError) as raised:
        from_json(text, **settings)

    from rulecover.export.json_file import FORMAT

    assert str(raised.value) == message.replace("rulecover rules", FORMAT)


@pytest.mark.parametrize("version", [0, 99, True, "1", None])
def test_a_version_that_is_not_known_is_refused(version: Any) -> None:
    from rulecover.export.json_file import VERSION

    with pytest.raises(InvalidModelFileError) as raised:
        from_json(changed(version=version))

    assert str(raised.value) == (
        f"the file is of version {version!r}, and this rulecover reads versions 1 to {VERSION}; update rulecover to "
        "read a newer one."
    )


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ('{"a": NaN}', "(NaN is not a number in JSON)"),
        ('{"a": -Infinity}', "(-Infinity is not a number in JSON)"),
        ('{"a": 1, "a": 2}', "(a name occurs twice among ['a', 'a'])"),
        ('{"a": ', "(Expecting value: line 1 column 7 (char 6))"),
    ],
)
def test_what_is_not_json_is_refused_with_the_reason(text: str, reason: str) -> None:
    with pytest.raises(InvalidModelFileError) as raised:
        from_json(text)

    said = f"this is not JSON, or only a part of it {reason}; write the file again with to_json."
    assert str(raised.value) == said


@pytest.mark.parametrize(
    ("part", "wrong", "right", "message"),
    [
        ({"type": "string"}, 1, "a", "1 is not of type string"),
        ({"type": ["string", "number"]}, [], 1, "[] is not of type string or number"),
        ({"type": "integer"}, 1.5, 2.0, "1.5 is not of type integer"),
        ({"type": "integer"}, True, 2, "true is not of type integer"),
        ({"enum": ["a", 1]}, "b", 1, '"b" is not "a" or 1'),
        ({"const": 1}, True, 1, "true is not 1"),
        ({"minimum": 2}, 1, 2, "1 is less than the minimum of 2"),
        ({"exclusiveMinimum": 2}, 2, 3, "2 is not above 2"),
        ({"minItems": 2}, [1], [1, 2], "[1] has fewer than 2 entries"),
        ({"uniqueItems": True}, [1, 1.0], [1, True], "[1, 1.0] has an entry twice"),
        ({"properties": {"a": True}, "additionalProperties": False}, {"b": 1}, {"a": 1}, '"b" is not known here'),
        ({"required": ["a"]}, {}, {"a": 1}, '"a" is missing'),
        ({"if": {"type": "string"}, "then": False}, "a", 1, "this is not allowed here"),
        ({"if": {"type": "string"}, "else": False}, 1, "a", "this is not allowed here"),
        ({"dependentSchemas": {"a": False}}, {"a": 1}, {"b": 1}, "this is not allowed here"),
        ({"type": "string"}, ["x" * 120], "x", '["' + "x" * 97 + "… is not of type string"),
        ({"type": "string"}, ["x" * 96], "x", '["' + "x" * 96 + '"] is not of type string'),
    ],
)
def test_what_a_schema_does_not_allow_is_said(part: Any, wrong: Any, right: Any, message: str) -> None:
    check = checker(part)
    check(right)
    with pytest.raises(SchemaMismatch) as raised:
        check(wrong)

    assert raised.value.args[0] == message


# Numbers in SQL -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("value", [0.1, -1 / 3, 1e300, 2.0**60 + 2.0**10, -(2.0**53), 1e-20, 2.0**1023, 5e-324])
def test_numbers_in_sql_are_whole_numbers_and_powers_that_doubles_hold(value: float) -> None:
    written = _quotient(value)

    whole = [int(literal.this) for literal in written.find_all(exp.Literal)]

    assert whole and all(float(number) == number for number in whole)
    assert bool(written.find(exp.Neg)) == (value < 0)


def test_half_a_character_in_a_name_is_refused_by_polars_in_our_words() -> None:
    """Such as a file of rules may have, where JSON writes it in ASCII."""
    names = tuple(f"{name}\ud800" for name in VOTE.rules.columns.names)
    with pytest.raises(ExportError, match=r"has a character that polars cannot hold \('\\ud800'\); rename it"):
        to_polars(renamed(VOTE, names))
