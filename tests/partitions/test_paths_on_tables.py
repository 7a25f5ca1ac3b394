"""Rule paths from tables that are read in blocks: the same rules and votes as from the same rows in memory."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.frozen import FrozenEstimator

from rulecover import RulePathClassifier, RulePathRegressor, RuleSet, explain, open_table
from rulecover.exceptions import RulecoverWarning

NAMES = list("abcd")


def drawn_frame(n_rows: int = 500) -> pd.DataFrame:
    random = np.random.default_rng(1)
    frame = pd.DataFrame(random.normal(size=(n_rows, 4)).round(2), columns=NAMES)
    score = frame["a"] + frame["b"] * frame["c"] + random.normal(size=n_rows) / 2
    frame["y"] = np.where(score > 0.2, "yes", "no")
    frame["number"] = score
    frame["three"] = np.digitize(score, [-0.5, 0.5])
    frame["weight"] = random.choice([0.0, 1.0, 1.0, 3.0], n_rows)
    return frame


def blocks_of(frame: pd.DataFrame) -> list[pd.DataFrame]:
    return [frame[:9], frame[9:9], frame[9:300], frame[300:]]


def assert_same_path(ours: Any, theirs: Any) -> None:
    assert ours.rules_.to_text() == theirs.rules_.to_text()
    assert str(ours.rules_) == str(theirs.rules_)
    assert np.allclose(ours.vote_.votes, theirs.vote_.votes, rtol=1e-9, atol=1e-9)
    assert np.allclose(ours.vote_.base, theirs.vote_.base, rtol=1e-9, atol=1e-9)
    assert ours.n_candidate_rules_ == theirs.n_candidate_rules_
    assert ours.provenance_.data == theirs.provenance_.data


@pytest.mark.slow
@pytest.mark.parametrize(
    ("target", "weight", "settings"),
    [
        ("y", None, {}),
        ("y", "weight", {"class_weight": "balanced"}),
        ("y", None, {"tries": 0, "vote": "fitted", "model_share": 0.0}),
        ("y", None, {"monotone": {"a": 1}, "required": ["d"], "max_clauses": 2}),
        ("y", None, {"keep": RuleSet.of_intervals([{0: (0.5, np.inf)}], NAMES)}),
        ("three", None, {"gain": "squares"}),
        ("three", None, {}),
        ("three", "weight", {"class_weight": "balanced", "model_share": 0.0, "tries": 0}),
        ("y", None, {"gain": "log-loss", "monotone": {"a": 1}}),
        ("number", "weight", {"model_share": 0.5}),
    ],
)
def test_a_path_of_a_given_size_is_the_same_from_a_table(target, weight, settings):
    frame = drawn_frame()
    numbers = target == "number"
    kind, forest = (
        (RulePathRegressor, RandomForestRegressor) if numbers else (RulePathClassifier, RandomForestClassifier)
    )
    made = {"max_rules": 8, "choose": "last", "random_state": 0, **settings}
    model = forest(15, max_depth=4, random_state=0)
    weights = None if weight is None else frame[weight]
    theirs = kind(model, **made).fit(frame[NAMES], frame[target], weights)
    kept = frame[[*NAMES, target, *([] if weight is None else [weight])]]

    ours = kind(model, **made).fit(open_table(blocks_of(kept), target=target, weight=weight))

    assert_same_path(ours, theirs)
    assert np.array_equal(ours.path_.index, theirs.path_.index)


@pytest.mark.slow
def test_trees_and_a_trend_teach_rows_of_a_table_as_those_in_memory():
    frame = drawn_frame()[[*NAMES, "number"]]
    frame["number"] += 2 * frame["d"]
    model = RulePathRegressor(max_rules=8, choose="last", model_share=0.5, random_state=0)
    theirs = clone(model).fit(frame[NAMES], frame["number"])

    halves = [frame[:250], frame[250:]]
    ours, other = (clone(model).fit(open_table(parts, target="number")) for parts in (blocks_of(frame), halves))

    assert_same_path(ours, theirs)
    assert 0 < ours.estimator_.trend_share_ == theirs.estimator_.trend_share_ < 1
    assert ours.rules_ == other.rules_ and np.array_equal(ours.vote_.votes, other.vote_.votes)


def test_a_rule_to_be_kept_that_covers_no_row_of_a_table_is_left_out():
    frame = drawn_frame()[[*NAMES, "y"]]
    rules = RuleSet.of_intervals([{0: (1e6, np.inf)}, {0: (0.5, np.inf)}], NAMES)
    model = RandomForestClassifier(3, max_depth=3, random_state=0)

    with pytest.warns(RulecoverWarning, match="is to be kept, but covers no training row") as warned:
        path = RulePathClassifier(model, keep=rules, max_rules=4, random_state=0).fit(
            open_table(blocks_of(frame), target="y", sample_rows=300)
        )

    assert path.rules_[:1] == rules[1:] and path.rules_.evidence.support.min() > 0
    assert len([each for each in warned if "kept" in str(each.message)]) == 1


def test_explain_chooses_a_size_on_a_sample_and_rules_on_all_rows():
    frame = drawn_frame()[[*NAMES, "y"]]
    model = RandomForestClassifier(10, max_depth=4, random_state=0).fit(frame[NAMES], frame["y"])

    ours = explain(model, open_table(blocks_of(frame), target="y", sample_rows=300), max_rules=6)

    assert "on a sample of 300 rows" in ours.size_reason_
    assert 1 <= ours.n_rules_ <= 6 and "cv_score" in ours.path_.columns
    assert ours.provenance_.data.rows == len(frame)
    same_size = RulePathClassifier(FrozenEstimator(model), max_rules=ours.n_rules_, choose="last").fit(
        frame[NAMES], frame["y"]
    )
    assert ours.rules_.to_text() == same_size.rules_.to_text()


def test_what_needs_all_rows_in_memory_is_refused_by_paths():
    model = RandomForestClassifier(3, max_depth=2, random_state=0)
    path = RulePathClassifier(model, choose="last", max_rules=3, random_state=0, checkpoint="path.npz")
    with pytest.raises(ValueError, match=r"checkpoint is given.*needs all rows in memory"):
        path.fit(open_table([drawn_frame()[[*NAMES, "three"]]], target="three"))
