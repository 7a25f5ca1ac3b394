"""Rules go to JSON and back, answer bit for bit the same, and nothing else is taken for rules."""

from __future__ import annotations

import json
import random
from typing import Any

import jsonschema
import numpy as np
import pandas as pd
import pytest
from exported import HOSTILE, cases, hostile_case, named_case
from sklearn.datasets import load_iris

from rulecover import MIRCOClassifier
from rulecover.exceptions import InvalidModelFileError, RulecoverError
from rulecover.export import ScoredRules, from_json, json_file, schema, to_json


def test_a_loaded_model_answers_bit_for_bit_the_same() -> None:
    for case in cases():
        loaded = from_json(to_json(case.model))

        answers = case.model.predict(case.X)
        assert loaded.predict(case.X).dtype == answers.dtype
        assert loaded.predict(case.X).tolist() == case.prediction
        assert (loaded.apply(case.X) != case.model.apply(case.X)).nnz == 0
        if case.probabilities is not None:
            assert loaded.predict_proba(case.X).tolist() == case.probabilities
        if case.model is not case.rules:
            pd.testing.assert_frame_equal(loaded.why(case.X), case.model.why(case.X))


def test_a_loaded_model_gives_the_same_intervals() -> None:
    known = [case for case in cases() if hasattr(case.model, "predict_interval") and case.model is not case.rules]
    for case in known:
        loaded = from_json(to_json(case.model))

        assert (loaded.predict_interval(case.X, 0.8) == case.model.predict_interval(case.X, 0.8)).all()
    assert len(known) > 10
    with pytest.raises(AttributeError, match="do not know how the numbers spread"):
        from_json(to_json(hostile_case("x").model)).predict_interval([[0.0, 1.0]])


def test_rules_print_the_same_after_the_journey_and_a_second_one_changes_nothing() -> None:
    for case in cases()[::3]:
        written = to_json(case.model)
        loaded = from_json(written)

        assert str(loaded.rules) == str(case.rules.rules)
        assert loaded.rules == case.rules.rules
        assert to_json(loaded) == written


def test_what_is_written_is_what_the_schema_says_and_the_schema_is_sound() -> None:
    jsonschema.Draft202012Validator.check_schema(schema())
    checker = jsonschema.Draft202012Validator(schema())
    for case in cases()[::4]:
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


def test_the_file_has_a_rule_a_line_and_the_same_model_gives_the_same_text() -> None:
    X, y = load_iris(return_X_y=True, as_frame=True)
    models = [MIRCOClassifier(random_state=0).fit(X, y) for _ in range(2)]
    texts = [to_json(model) for model in models]

    assert texts[0] == texts[1]
    assert sum(line.startswith('{"clauses"') for line in texts[0].splitlines()) == len(models[0].rules_)


# What is refused ----------------------------------------------------------------------------------------------------


def sound() -> dict[str, Any]:
    return json.loads(to_json(hostile_case("x").model))


def changed(*path: Any, to: Any) -> dict[str, Any]:
    """A sound file with one value changed."""
    written = part = sound()
    for step in path[:-1]:
        part = part[step]
    part[path[-1]] = to
    return written


CLAUSE = ("rules", 0, "clauses", 0)
MISTAKES = {
    "no rules": (changed("rules", to=[]), "rules"),
    "another format": (changed("format", to="pickle"), "no file of rules"),
    "a newer version": (changed("version", to=2), r"version 2.*update"),
    "no version": (changed("version", to=None), "version None"),
    "a version that is true": (changed("version", to=True), "version True"),
    "a column that is not there": (changed(*CLAUSE, "column", to=9), "column 9"),
    "a column below zero": (changed(*CLAUSE, "column", to=-1), "minimum"),
    "a column that is a text": (changed(*CLAUSE, "column", to="0"), "integer"),
    "an empty interval": (changed(*CLAUSE, "up_to", to=-5.0), "no value is above"),
    "bounds and codes": (changed(*CLAUSE, "in", to=[1.0]), "rules/0/clauses/0"),
    "votes too few": (changed("rules", 0, "votes", to=[1.0]), "where 2 are needed"),
    "votes of text": (changed("rules", 0, "votes", to=["a", "b"]), "votes"),
    "votes without bound": (changed("rules", 0, "votes", to=[10**400, 1]), "rules"),
    "totals of nothing": (changed("totals", to=[0.0, 0.0]), "must have a say"),
    "an unknown fallback": (changed("fallback", to="model"), "fallback"),
    "an unknown word": (changed("evil", to=1), "evil"),
    "labels twice": (changed("answer", "labels", to=["a", "a"]), "labels"),
    "labels of another type": (changed("answer", "type", to="int64"), "rules|labels"),
    "a type that runs code": (changed("answer", "type", to="O8"), "O8"),
    "nothing seen": (changed("rules", 0, "seen", "sums", to=[0.0, 0.0]), "seen some"),
    "a path for some": (changed("rules", 0, "path", to=[]), "some rules have a path"),
    "a list": ([], "no file of rules"),
    "a number": (1, "no file of rules"),
    "categories of no column": (changed("categories", to=[{"column": 7, "labels": ["a"]}]), "column 7"),
    "zeros of no column": (changed("zero_missing", to=[7]), "column 7"),
    "columns twice": (changed("columns", to=["other", "other"]), "twice"),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake_is_named(mistake: str) -> None:
    written, said = MISTAKES[mistake]

    with pytest.raises(InvalidModelFileError, match=said):
        from_json(json.dumps(written))


@pytest.mark.parametrize(
    "text",
    ["", "{", "null", "NaN", "[" * 100_000, '{"format": 1, "format": 2}', b"\xff\xfe\x00", "9" * 5000],
    ids=lambda text: repr(text[:12]),
)
def test_what_is_no_json_is_refused(text: str | bytes) -> None:
    with pytest.raises(InvalidModelFileError):
        from_json(text)


def test_infinite_numbers_are_refused_however_they_are_written() -> None:
    written = to_json(hostile_case("x").model)

    for number in ("1e999", "Infinity", "NaN", "-1e999"):
        with pytest.raises(InvalidModelFileError):
            from_json(written.replace('"votes": [3.0', f'"votes": [{number}'))


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


def test_a_damaged_file_is_refused_or_is_a_sound_model_all_the_same() -> None:
    rng = random.Random(0)
    rows = np.random.default_rng(0).normal(size=(5, 2)) * 3
    written = to_json(hostile_case("x").model)
    for _ in range(3000):
        try:
            model = from_json(mutated(written, rng))
        except RulecoverError:
            continue
        shares = model.predict_proba(rows[:, : model.rules.n_features])
        assert np.isfinite(shares).all() and np.allclose(shares.sum(axis=1), 1)


def test_an_older_version_is_brought_up_to_date_step_by_step(monkeypatch: pytest.MonkeyPatch) -> None:
    """As it will be: version 1 is validated by its own schema, and then changed into version 2, and that into 3."""
    model = hostile_case("x").model
    written = to_json(model)
    steps = []

    def upgrade(step: int) -> Any:
        return lambda file: (steps.append(step), file | {"version": step + 1})[1]

    monkeypatch.setattr(json_file, "VERSION", 3)
    monkeypatch.setattr(json_file, "UPGRADES", {1: upgrade(1), 2: upgrade(2)})

    assert isinstance(from_json(written), ScoredRules)
    assert steps == [1, 2]
