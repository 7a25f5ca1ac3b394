"""What every vote promises: estimators and the command line take it by name, and files keep it.

Votes are found by their names in `voting_on`; `test_every_export.py` has models with many of them.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from rulecover import MIRCOClassifier, MIRCORegressor, RCBoostClassifier, RCBoostRegressor, RuleSet, open_table
from rulecover.cli.options.table import SETTINGS
from rulecover.export import from_json, to_json
from rulecover.targets.classes.target import ClassTarget
from rulecover.targets.numbers.target import NumberTarget
from rulecover.targets.target import Target
from rulecover.voting import voting_on as table_of_votes
from rulecover.voting.vote import Vote
from rulecover.voting.voting_on import voting_on

TARGETS: tuple[Target, ...] = (ClassTarget(), NumberTarget())
CASES = [(target, name) for target in TARGETS for name in voting_on(target).names]
FITTED = [(target, name) for target, name in CASES if name in voting_on(target).fitted]

every_vote = pytest.mark.parametrize(("target", "name"), CASES, ids=str)


def data_of(target: Target) -> tuple[np.ndarray, np.ndarray]:
    X = np.random.default_rng(0).uniform(size=(90, 3)).round(1)
    score = X[:, 0] + X[:, 1] ** 2
    return X, np.digitize(score, [0.4, 0.9]) if target.name == "classes" else score


def cover(target: Target, **settings: Any) -> Any:
    kind = MIRCOClassifier if target.name == "classes" else MIRCORegressor
    plain = {} if target.name == "classes" else {"ridge": None}
    return kind(random_state=0, **plain, **settings)


def boost(target: Target, **settings: Any) -> Any:
    kind = RCBoostClassifier if target.name == "classes" else RCBoostRegressor
    return kind(max_rmp_calls=2, random_state=0, **settings)


@pytest.mark.slow
@every_vote
def test_a_cover_votes_by_it_and_files_keep_it(target: Target, name: str) -> None:
    X, y = data_of(target)
    model = cover(target, vote=name).fit(X, y)

    assert np.isfinite(model.vote_.votes).all() and len(model.vote_.votes) == len(model.rules_)
    np.testing.assert_array_equal(from_json(to_json(model)).predict(X), model.predict(X))
    assert set(model.why(X)["rule"]) <= set(range(-1, len(model.rules_)))


@every_vote
def test_boosted_rules_vote_by_it_unless_it_is_for_covers(target: Target, name: str) -> None:
    X, y = data_of(target)
    if name == "fitted":
        with pytest.raises(ValueError, match="vote is 'fitted'; choose one of 'counts', 'shares', 'log-odds'"):
            boost(target, vote=name).fit(X, y)
        return

    model = boost(target, vote=name).fit(X, y)

    np.testing.assert_array_equal(from_json(to_json(model)).predict(X), model.predict(X))


@pytest.mark.slow
@pytest.mark.parametrize(("target", "name"), FITTED, ids=str)
def test_rows_in_many_places_fit_the_same_votes(target: Target, name: str, tmp_path: Any) -> None:
    import pandas as pd

    X, y = data_of(target)
    file = tmp_path / "rows.parquet"
    pd.DataFrame(X, columns=["a", "b", "c"]).assign(y=y).to_parquet(file)
    rules = cover(target, vote=name, prune=False).fit(pd.read_parquet(file)[["a", "b", "c"]], y)

    elsewhere = cover(target, vote=name, prune=False).fit(open_table(file, target="y"))

    assert str(elsewhere.rules_) == str(rules.rules_)
    np.testing.assert_allclose(elsewhere.vote_.votes, rules.vote_.votes, atol=1e-6)


@pytest.mark.parametrize(("target", "name"), FITTED, ids=str)
def test_a_row_of_weight_two_is_two_rows(target: Target, name: str) -> None:
    X, y = data_of(target)
    rules = RuleSet.of_intervals([{0: (0.5, np.inf)}, {1: (-np.inf, 0.4)}, {0: (-np.inf, 0.7)}], ["a", "b", "c"])
    weight = np.where(X[:, 2] > 0.5, 2, 1)

    weighted = cover(target, estimator=rules, vote=name).fit(X, y, sample_weight=weight)
    repeated = cover(target, estimator=rules, vote=name).fit(np.repeat(X, weight, axis=0), np.repeat(y, weight))

    np.testing.assert_allclose(weighted.vote_.votes, repeated.vote_.votes, atol=1e-6)


@pytest.mark.parametrize("target", TARGETS, ids=str)
def test_another_name_is_refused_with_those_there_are(target: Target) -> None:
    with pytest.raises(
        ValueError, match="vote is 'loudest'; choose one of " + ", ".join(map(repr, voting_on(target).names))
    ):
        cover(target, vote="loudest").fit(*data_of(target))


def test_the_command_line_takes_every_name() -> None:
    choices = next(option for option in SETTINGS if option.name == "vote").kind

    assert {name for _, name in CASES} == set(choices)


def test_a_vote_that_enters_the_table_is_one_of_every_estimator(monkeypatch: pytest.MonkeyPatch) -> None:
    target = ClassTarget()

    def doubled(plain: Vote, covered: Any, y: Any, weight: Any) -> Vote:
        return replace(plain, votes=2 * plain.votes)

    fitted = {**voting_on(target).fitted, "doubled": doubled}
    monkeypatch.setitem(table_of_votes._VOTING, "classes", voting_on(target)._replace(fitted=fitted))
    X, y = data_of(target)

    for make in (cover, boost):
        twice, once = (make(target, vote=name).fit(X, y).vote_ for name in ("doubled", "shares"))
        np.testing.assert_array_equal(twice.votes, 2 * once.votes)
