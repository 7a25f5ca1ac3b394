"""What every fallback promises: votes for each missed row, a place in model files, and words for people.

Fallbacks are found by their names; `test_every_export.py` has models with each of them.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from commands import run

from rulecover import MIRCOClassifier, MIRCORegressor, RuleSet
from rulecover.cli.options.table import SETTINGS
from rulecover.export import from_json, to_json
from rulecover.export.json_file import schema
from rulecover.voting.fallback import EXPORTED_FALLBACKS, FALLBACKS, NUMERIC_FALLBACKS, SourceModel, in_words

NAMED = {*FALLBACKS, *NUMERIC_FALLBACKS}
#: Those that need nothing but the rules, which are made by hand here.
CASES = [
    (kind, name)
    for kind, known in ((MIRCOClassifier, FALLBACKS), (MIRCORegressor, NUMERIC_FALLBACKS))
    for name, fallback in known.items()
    if not isinstance(fallback, SourceModel)
]

every_fallback = pytest.mark.parametrize(("kind", "name"), CASES)
every_exported = pytest.mark.parametrize(("kind", "name"), [case for case in CASES if case[1] in EXPORTED_FALLBACKS])


def few_rules(kind: type, name: str) -> tuple[Any, np.ndarray]:
    """Two rules, and the rows that neither covers."""
    X = np.random.default_rng(0).uniform(size=(60, 2))
    y = X[:, 0] > X[:, 1] if kind is MIRCOClassifier else X[:, 0] - X[:, 1]
    rules = RuleSet.of_intervals([{0: (0.8, np.inf), 1: (-np.inf, 0.5)}, {0: (-np.inf, 0.3)}], ["a", "b"])
    model = kind(rules, fallback=name).fit(X, y)
    return model, X[model.missed(X)]


def test_names_are_those_of_the_tables() -> None:
    for known in (FALLBACKS, NUMERIC_FALLBACKS, EXPORTED_FALLBACKS):
        assert [fallback.name for fallback in known.values()] == [*known]


@every_fallback
def test_a_fallback_votes_for_each_row_whatever_the_others(kind: type, name: str) -> None:
    model, rows = few_rules(kind, name)
    vote, fallback = model.vote_, model._fallback()

    votes, weights = fallback(vote, rows, None), fallback.weights(vote, rows)

    assert votes.shape == (len(rows), vote.votes.shape[1]) and np.isfinite(votes).all()
    assert weights.shape == (len(rows), len(vote)) and (weights >= 0).all()
    assert (np.vstack([fallback(vote, row[None], None) for row in rows]) == votes).all()
    assert fallback(vote, rows[:0], None).shape == votes[:0].shape


@pytest.mark.slow
@every_exported
def test_a_model_file_holds_a_fallback_and_rulecover_why_explains_it(kind: type, name: str, tmp_path: Path) -> None:
    model, rows = few_rules(kind, name)
    (tmp_path / "model.json").write_text(to_json(model))
    pd.DataFrame(rows, columns=["a", "b"]).to_csv(tmp_path / "rows.csv", index=False)

    assert (from_json((tmp_path / "model.json").read_text()).predict(rows) == model.predict(rows)).all()
    told = run("why", tmp_path / "model.json", tmp_path / "rows.csv")
    assert told.exit_code == 0 and "No rule covers it; " in told.stdout, told.output


def test_model_files_and_rulecover_fit_know_every_fallback_that_is_exported() -> None:
    offered = next(option.kind for option in SETTINGS if option.name == "fallback")

    assert {*schema()["properties"]["fallback"]["enum"]} == {*EXPORTED_FALLBACKS}
    assert {*offered} == NAMED & {*EXPORTED_FALLBACKS}


@pytest.mark.parametrize("name", sorted(NAMED | {*EXPORTED_FALLBACKS}))
def test_a_fallback_is_described_in_words_of_its_own(name: str) -> None:
    assert in_words(name) != f"{name} predicts" and not in_words(name).endswith(".")
