"""What is fuzzed: each loader as a function of a text that raises only where the loader is at fault.

A text is refused by an error of our own, or what is read can be used, written and read again.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable

import numpy as np
from damage import JSON_DAMAGE, TEXT_DAMAGE, Damage, check_sound, swapped_letters

from rulecover import RuleSet
from rulecover.exceptions import RulecoverError
from rulecover.export import from_json, to_json
from rulecover.readers.files.model_file import read_text

#: Columns that rule texts may name; one of categories, one that stands for a level.
NAMES = ("a", "b b", "colour", "x <= 3", "if", "size = L")
_KNOWN = {"colour": ["red", "dark, red", "and"]}
_LEVELS = {5: ("size", "L")}
#: Rows of wider tables are not made.
_WIDEST = 200


def read_model(text: str) -> None:
    """A model file of XGBoost, LightGBM or CatBoost: what is read is trees."""
    ensemble = read_text(text)
    if ensemble.n_features <= _WIDEST:
        check_sound(ensemble)


def read_rules(text: str) -> None:
    """A file of rules: what is read predicts, is printed, and is written and read as before."""
    model = from_json(text)
    again = from_json(to_json(model))
    assert to_json(again) == to_json(model)
    assert str(model)
    if model.rules.n_features <= _WIDEST:
        rows = np.array([[0.0], [1.5], [np.nan], [-1e300]]) * np.ones(model.rules.n_features)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)  # numbers near the largest there are
            assert list(map(repr, again.predict(rows))) == list(map(repr, model.predict(rows)))


def read_rule(text: str) -> None:
    """The text of a rule: what is read is written as a text of the same rule."""
    rules = RuleSet.from_text([text], NAMES, categories=_KNOWN, levels=_LEVELS)
    # A level that the text names need not be written again: next to `=` one after `!=` says nothing.
    known = {NAMES[f]: list(levels) for f, levels in rules.columns.categories.items()}
    again = RuleSet.from_text(rules.to_text(), NAMES, categories=known, levels=_LEVELS)
    # Of a column of zeros and ones any bound between them says the same.
    assert again == rules or 5 in rules.clauses.columns, rules.to_text()
    assert str(rules) and rules.sentences()
    rows = np.array([[0.0], [1.0], [1.5], [np.nan], [3.0]]) * np.ones(len(NAMES))
    rows[:, 5] = [0.0, 1.0, 0.0, 1.0, 1.0]
    np.testing.assert_array_equal(again.apply(rows).toarray(), rules.apply(rows).toarray())


#: For each loader: the function, and the kinds of damage that suit its texts.
TARGETS: dict[str, tuple[Callable[[str], None], tuple[Damage, ...]]] = {
    "xgboost": (read_model, JSON_DAMAGE[:-1]),
    "lightgbm": (read_model, TEXT_DAMAGE),
    "catboost": (read_model, JSON_DAMAGE[:-1]),
    "json": (read_rules, JSON_DAMAGE[:-1]),
    "text": (read_rule, (swapped_letters,)),
}


def tried(name: str, text: str) -> None:
    """Raises if the loader is at fault."""
    try:
        TARGETS[name][0](text)
    except RulecoverError:
        return


def damaged(name: str, text: str, seed: int) -> str:
    """The text, damaged in one of the ways that suit it."""
    rng = np.random.default_rng(seed)
    kinds = TARGETS[name][1]
    try:
        return kinds[int(rng.integers(len(kinds)))](rng, text)
    except (ValueError, IndexError, RecursionError):  # too short, or damaged beyond JSON already
        return text + "{"
