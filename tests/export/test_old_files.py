"""Model files of version 1, as a development version wrote them, are read and predict what was predicted then.

`predictions.json` has the predictions of that version for a dozen rows of the training data, and for the same rows
moved away from the others, where fallbacks predict more often.
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_diabetes, load_iris

from rulecover.export import from_json, to_json

OLD = Path(__file__).parent / "old_files"
PREDICTED = json.loads((OLD / "predictions.json").read_text(encoding="utf-8"))


def rows_of(name: str) -> pd.DataFrame:
    X = (load_diabetes if "numbers" in name else load_iris)(as_frame=True).data
    step = slice(None, None, len(X) // 12)
    return pd.concat([X[step], (3 * X - X.mean())[step]])


def test_there_is_a_file_for_every_prediction() -> None:
    assert sorted(PREDICTED) == sorted(file.stem for file in OLD.glob("*.json") if file.stem != "predictions")


@pytest.mark.parametrize("name", PREDICTED)
def test_old_files_predict_as_they_did(name: str) -> None:
    text = (OLD / f"{name}.json").read_text(encoding="utf-8")
    assert json.loads(text)["version"] == 1

    vote = from_json(text)

    np.testing.assert_array_equal(vote.predict(rows_of(name)), PREDICTED[name])


@pytest.mark.parametrize("name", PREDICTED)
def test_old_files_are_written_again_in_the_version_of_today(name: str) -> None:
    vote = from_json((OLD / f"{name}.json").read_text(encoding="utf-8"))

    again = from_json(to_json(vote))

    assert str(again.rules) == str(vote.rules)
    np.testing.assert_array_equal(again.predict(rows_of(name)), PREDICTED[name])
