"""Why a row got its prediction, as it is printed."""

from __future__ import annotations

import pandas as pd
import pytest
from sklearn.datasets import load_diabetes, load_iris
from sklearn.ensemble import RandomForestClassifier

from rulecover import MIRCOClassifier, MIRCORegressor, RulePathClassifier
from rulecover.voting.reasons import Reasons

X, Y = load_iris(return_X_y=True, as_frame=True)


def path() -> RulePathClassifier:
    forest = RandomForestClassifier(5, random_state=0)
    return RulePathClassifier(forest, max_rules=4, choose="last", random_state=0).fit(X, Y)


def test_each_row_has_a_block_with_whole_rules() -> None:
    model = path()
    printed = str(model.why(X[:3]))

    assert [line for line in printed.splitlines() if line.startswith("row")] == [
        f"row {k}: {label}" for k, label in enumerate(model.predict(X[:3]))
    ]
    covering = model.apply(X[:1]).indices
    assert all(model.rules_[int(j)].text in printed for j in covering) and "..." not in printed


def test_many_rows_are_cut_off_with_their_number() -> None:
    assert str(path().why(X)).endswith("and 130 more rows")


def test_rows_that_no_rule_covers_say_who_decided() -> None:
    forest = RandomForestClassifier(5, max_depth=2, random_state=0)
    model = MIRCOClassifier(forest, max_rules=1, random_state=0).fit(X, Y)
    missed = X[model.missed(X)][:1]

    assert "(no rule covers it; decided by: closest)" in str(model.why(missed))


@pytest.mark.slow
def test_numbers_are_printed_too() -> None:
    D, y = load_diabetes(return_X_y=True, as_frame=True)
    for settings in ({}, {"ridge": None}):
        model = MIRCORegressor(max_rules=3, random_state=0, **settings).fit(D, y)
        assert str(model.why(D[:2])).startswith(f"row 0: {model.predict(D[:1])[0]:.6g}")


def test_what_pandas_makes_of_it_is_a_plain_frame() -> None:
    found = path().why(X[:2])

    assert isinstance(found, Reasons) and isinstance(found, pd.DataFrame)
    assert type(found[found["row"] == 0]) is pd.DataFrame and type(found.copy()) is pd.DataFrame
    assert "votes_0" in repr(found)


def test_names_cannot_steer_a_terminal() -> None:
    frame = pd.DataFrame({"row": [0], "prediction": ["\x1b[31m"], "rule": [0], "text": ["\x1b[0m > 3"], "vote": [1.0]})

    assert "\x1b" not in str(Reasons(frame))


@pytest.mark.parametrize("vote", ["counts", "log-odds"])
def test_the_source_model_is_named_where_it_decides(vote: str) -> None:
    forest = RandomForestClassifier(5, max_depth=3, random_state=0)
    model = MIRCOClassifier(forest, fallback="model", max_rules=1, vote=vote, random_state=0).fit(X, Y)

    reasons = model.why(X[model.missed(X)])

    assert reasons["text"].tolist()[-1] == "the source model"
    assert set(reasons["text"]) <= {"the source model", "by default"}
