"""Rules that may not change; `tests/golden/golden.py --renew` writes the table again, for a change that is meant."""

from __future__ import annotations

import json

import pytest
from golden import GOLDEN, differences, found, in_lines, kept


def test_every_model_is_in_the_table() -> None:
    assert [*kept()] == [*GOLDEN]


@pytest.mark.slow
@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize("name", GOLDEN)
def test_rules_are_what_they_were(name: str, n_jobs: int) -> None:
    assert differences(found(name, n_jobs), kept()[name]) == []


def test_another_rule_and_another_number_are_differences() -> None:
    one = {"rules": ["x <= 1"], "answers": [[0.5, 0.5]]}
    assert differences(one, {**one, "rules": ["x <= 2"]}) != []
    assert differences(one, {**one, "answers": [[0.5, 0.5001]]}) != []
    assert differences(one, {**one, "objective": 1.0}) != []
    assert differences(one, one) == []


def test_the_table_is_written_as_it_is_read() -> None:
    assert json.loads(in_lines(kept())) == kept()
