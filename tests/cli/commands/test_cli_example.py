"""``rulecover example``: the table that ships with the package."""

from __future__ import annotations

import io
from pathlib import Path

import pandas as pd
import pytest
from commands import process, run


def test_the_example_is_a_real_table_with_texts_and_gaps() -> None:
    table = pd.read_csv(io.StringIO(run("example").stdout))

    assert table.shape == (344, 8)
    assert set(table["species"]) == {"Adelie", "Chinstrap", "Gentoo"}
    assert table["sex"].isna().sum() == 11


def test_the_parts_of_the_example_are_all_of_it_and_each_has_every_species() -> None:
    whole, train, held_out = (
        run("example", "--part", part).stdout.splitlines() for part in ("all", "train", "held-out")
    )

    assert whole[0] == train[0] == held_out[0]
    assert sorted(train[1:] + held_out[1:]) == sorted(whole[1:])
    assert len(held_out) == 1 + 344 // 4
    assert {row.split(",")[0] for row in held_out[1:]} == {"Adelie", "Chinstrap", "Gentoo"}


@pytest.mark.slow
def test_the_example_goes_to_a_file_or_a_stream_byte_for_byte(tmp_path: Path) -> None:
    done = run("example", "--out", tmp_path / "penguins.csv")

    assert (done.exit_code, done.output) == (0, "")
    assert (tmp_path / "penguins.csv").read_text(encoding="utf-8") == process("example").stdout
