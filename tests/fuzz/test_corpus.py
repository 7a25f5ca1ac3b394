"""The texts of the corpus, and some damage to each: refused by errors of our own, or read. `make fuzz` tries more."""

from __future__ import annotations

import json
from typing import Any

import fuzz as fuzzing
import pytest
import targets
from targets import TARGETS, damaged, tried

from rulecover.exceptions import RulecoverError

every_loader = pytest.mark.parametrize("name", TARGETS)


def test_every_loader_has_a_corpus() -> None:
    assert {path.stem for path in (fuzzing.FOLDER / "corpus").iterdir()} == {*TARGETS}


@pytest.mark.slow
@every_loader
def test_texts_of_the_corpus_and_damaged_ones_are_refused_or_read(name: str) -> None:
    for seed, text in enumerate(fuzzing.corpus(name)):
        tried(name, text)
        tried(name, damaged(name, text, seed))


@every_loader
def test_some_texts_of_the_corpus_are_read(name: str) -> None:
    def is_read(text: str) -> bool:
        try:
            TARGETS[name][0](text)
        except RulecoverError:
            return False
        return True

    assert any(map(is_read, fuzzing.corpus(name)[:5]))


def test_an_error_that_is_not_our_own_is_a_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(text: str) -> Any:
        raise KeyError(text)

    monkeypatch.setattr(targets, "read_text", broken)
    with pytest.raises(KeyError):
        tried("xgboost", "{}")


def test_short_texts_that_reach_new_code_join_the_corpus(monkeypatch: pytest.MonkeyPatch, tmp_path: Any) -> None:
    monkeypatch.setattr(fuzzing, "corpus_file", lambda name: tmp_path / f"{name}.jsonl")
    (tmp_path / "text.jsonl").write_text(json.dumps("always") + "\n")

    fuzzing.keep_short("text", ["a > 3\n", "always", "x" * 5000, "é"])

    assert fuzzing.corpus("text") == ["always", "é", "a > 3\n"]
