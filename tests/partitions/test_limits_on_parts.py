"""Time limits of fits whose rows are not in memory: what was cut is said, and what is kept is whole."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from sklearn.base import clone
from sklearn.datasets import make_classification
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.frozen import FrozenEstimator

from rulecover import (
    MIRCOClassifier,
    MIRCORegressor,
    RulePathClassifier,
    RulePathRegressor,
    open_table,
)
from rulecover.estimators.in_time import fitted_to_groups
from rulecover.exceptions import CutShortWarning
from rulecover.partitions import mirco as in_parts
from rulecover.partitions import part
from rulecover.partitions.mirco import Grouped
from rulecover.partitions.parts import LocalParts, done_in_time
from rulecover.partitions.path import FitInParts
from rulecover.partitions.table import TableInBlocks
from rulecover.setcover import Greedy, Status

NAMES = [f"x{f}" for f in range(6)]
FOREST = RandomForestClassifier(12, max_depth=5, random_state=0)
#: A limit that is never reached, and one that is over at once.
GENEROUS, NO_TIME = 10_000, 1e-6


def drawn_frame(n_rows: int = 3000) -> pd.DataFrame:
    X, y = make_classification(n_rows, 6, n_informative=5, n_redundant=0, flip_y=0.1, random_state=0)
    frame = pd.DataFrame(X, columns=NAMES)
    frame["y"] = np.where(y, "yes", "no")
    frame["number"] = X[:, 0] * X[:, 1] + X[:, 2]
    return frame


def table_of(frame: pd.DataFrame, target: str = "y", *, seconds: float = 0.0, **settings: Any) -> TableInBlocks:
    """A table of four blocks, one of them without rows, each of which takes some seconds to be read."""

    def blocks() -> Iterator[pd.DataFrame]:
        for rows in (slice(0, 1000), slice(1000, 1000), slice(1000, 2400), slice(2400, None)):
            time.sleep(seconds)
            yield frame.iloc[rows]

    return open_table(blocks, target=target, **settings)


def test_a_limit_that_is_not_reached_changes_nothing():
    frame = drawn_frame()[[*NAMES, "y"]]
    free = MIRCOClassifier(FOREST, random_state=0).fit(table_of(frame))
    limited = MIRCOClassifier(FOREST, random_state=0, time_limit=GENEROUS).fit(table_of(frame))
    assert limited.rules_ == free.rules_ and limited.certificate_.status == free.certificate_.status
    assert np.array_equal(limited.vote_.votes, free.vote_.votes)
    assert limited.certificate_.objective == free.certificate_.objective
    assert limited.provenance_.data == free.provenance_.data


def test_a_cover_of_numbers_takes_a_limit():
    frame = drawn_frame()[[*NAMES, "number"]]
    cover = MIRCORegressor.as_in_paper(RandomForestRegressor(5, max_depth=4, random_state=0), random_state=0)
    free, limited = (
        clone(cover).set_params(time_limit=limit).fit(table_of(frame, "number")) for limit in (None, GENEROUS)
    )
    assert limited.rules_ == free.rules_
    with pytest.warns(CutShortWarning, match="1 of 5 trees were read; give more time"):
        cut = clone(cover).set_params(time_limit=NO_TIME).fit(table_of(frame, "number"))
    assert cut.rules_.apply(frame[NAMES].to_numpy()).sum(axis=1).min() == 1


@pytest.mark.parametrize("prune", [True, False])
def test_a_cover_that_is_late_is_one_of_all_rows_all_the_same(prune):
    frame = drawn_frame()[[*NAMES, "y"]]
    said = "1 of 12 trees were read" + (r" and 0 of \d+ rules were pruned" if prune else "")
    model = MIRCOClassifier(FOREST, prune=prune, time_limit=NO_TIME, random_state=0)
    with pytest.warns(CutShortWarning, match=rf"time_limit is 1e-06 s: the model was trained on 1,000 of .*{said};"):
        cover = model.fit(table_of(frame))
    covered = cover.rules_.apply(frame[NAMES].to_numpy())
    assert covered.sum(axis=1).min() >= 1 and cover.rules_.evidence.support.sum() >= len(frame)
    assert cover.certificate_.status == Status.TIME_LIMIT and cover.certificate_.n_uncovered == 0
    assert cover.provenance_.data.rows == len(frame)


@pytest.mark.parametrize("prune", [True, False])
def test_rules_that_there_is_no_time_to_group_rows_by_are_neither_pruned_nor_weighed(prune, monkeypatch):
    monkeypatch.setattr(part, "_COVERED", 1e-3)
    frame = drawn_frame()[[*NAMES, "y"]]
    forest = FrozenEstimator(clone(FOREST).fit(frame[NAMES], frame["y"]))
    with pytest.warns(CutShortWarning, match="0 of .* rules were pruned and " * prune + "votes were not fitted"):
        cover = MIRCOClassifier(forest, prune=prune, time_limit=GENEROUS, random_state=0).fit(table_of(frame))
    assert cover.rules_.apply(frame[NAMES].to_numpy()).sum(axis=1).min() >= 1
    assert cover.score(frame[NAMES], frame["y"]) > 0.7


@pytest.mark.slow
def test_a_cover_by_trees_of_thousands_of_leaves_is_chosen_in_time():
    random = np.random.default_rng(0)
    frame = pd.DataFrame({"a": random.random(60_000), "b": random.random(60_000), "y": random.integers(0, 2, 60_000)})
    forest = FrozenEstimator(RandomForestClassifier(8, random_state=0).fit(frame[["a", "b"]], frame["y"]))
    begin = time.process_time()
    with pytest.warns(CutShortWarning, match="rules were pruned and votes were not fitted"):
        cover = MIRCOClassifier(forest, time_limit=1, random_state=0).fit(open_table(lambda: iter([frame]), target="y"))
    assert time.process_time() - begin < 4
    assert cover.rules_.apply(frame[["a", "b"]].to_numpy()).sum(axis=1).min() >= 1
    assert cover.certificate_.status == Status.TIME_LIMIT and cover.certificate_.n_uncovered == 0


@pytest.mark.parametrize("own", [False, True])
def test_both_choices_of_a_pruned_cover_share_the_time_and_the_last_says_if_the_first_was_cut(own, monkeypatch):
    frame = drawn_frame()[[*NAMES, "y"]]
    forest = FrozenEstimator(clone(FOREST).fit(frame[NAMES], frame["y"]))
    told: list[float] = []
    first, last = in_parts.greedy_cover, in_parts.TimedSolver.__call__

    def cut(*given: Any, deadline: float, **more: Any) -> Any:
        told.append(deadline - time.perf_counter())
        cover = first(*given, deadline=deadline, **more)
        return replace(cover, certificate=replace(cover.certificate, status=Status.TIME_LIMIT))

    def watched(solver: Any, *given: Any, **more: Any) -> Any:
        told.append(solver.ends - time.perf_counter())
        return last(solver, *given, **more)

    monkeypatch.setattr(in_parts, "greedy_cover", cut)
    monkeypatch.setattr(in_parts.TimedSolver, "__call__", watched)
    limits: dict[str, Any] = {"solver": Greedy(time_limit=60)} if own else {"time_limit": 60}
    cover = MIRCOClassifier(forest, random_state=0, **limits).fit(table_of(frame))
    assert len(told) == 2 and told[0] <= 30 and told[1] <= 60
    assert cover.certificate_.status == Status.TIME_LIMIT


def test_a_table_that_is_slow_to_read_leaves_time_for_few_trees():
    frame = drawn_frame()[[*NAMES, "y"]]
    forest = FrozenEstimator(clone(FOREST).fit(frame[NAMES], frame["y"]))
    with pytest.warns(CutShortWarning, match=r"time_limit is 0\.2 s: 1 of 12 trees were read"):
        cover = MIRCOClassifier(forest, time_limit=0.2, random_state=0).fit(table_of(frame, seconds=0.05))
    assert cover.rules_.apply(frame[NAMES].to_numpy()).sum(axis=1).min() >= 1
    assert cover.certificate_.status == Status.TIME_LIMIT


@pytest.mark.parametrize("first", [0, 10])
def test_a_table_whose_first_block_is_small_takes_a_limit(first):
    frame = drawn_frame()[[*NAMES, "y"]]
    table = open_table(lambda: iter([frame[:first], frame[first:1500], frame[1500:]]), target="y")
    free = MIRCOClassifier(FOREST, random_state=0).fit(table)
    assert MIRCOClassifier(FOREST, random_state=0, time_limit=GENEROUS).fit(table).rules_ == free.rules_


# Paths ----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("settings", [{}, {"choose": "last", "gain": "log-loss"}], ids=str)
def test_a_limit_that_is_not_reached_changes_no_path(settings):
    frame = drawn_frame()[[*NAMES, "y"]]
    made = {"max_rules": 5, "random_state": 0, **settings}
    free, limited = (
        RulePathClassifier(FOREST, time_limit=limit, **made).fit(table_of(frame, sample_rows=1500))
        for limit in (None, GENEROUS)
    )
    assert limited.rules_ == free.rules_ and limited.size_reason_ == free.size_reason_
    assert np.array_equal(limited.vote_.votes, free.vote_.votes)
    assert limited.path_.equals(free.path_) and limited.provenance_.data == free.provenance_.data


def test_a_path_that_is_late_has_one_rule_of_one_tree():
    frame = drawn_frame()[[*NAMES, "y"]]
    forest = FrozenEstimator(clone(FOREST).fit(frame[NAMES], frame["y"]))
    said = "1 of 12 trees were read and rules were chosen by the labels alone and the path ends at 1 of up to 5 rules"
    with pytest.warns(CutShortWarning, match=f"time_limit is 1e-06 s: {said}; give more time"):
        cut = RulePathClassifier(forest, max_rules=5, choose="last", time_limit=NO_TIME).fit(table_of(frame))
    assert cut.n_rules_ == 1 and f"(time_limit is 1e-06 s: {said})" in cut.size_reason_
    one = FrozenEstimator(forest.estimator.estimators_[0])
    frame["y"] = (frame["y"] == "yes").astype(float)  # as the trees of a forest know the classes
    free = RulePathClassifier(one, max_rules=5, choose="last", model_share=0).fit(table_of(frame))
    X = frame[NAMES].to_numpy()
    assert np.array_equal(free.rules_[:1].apply(X).toarray(), cut.rules_.apply(X).toarray())


def test_a_size_that_there_is_no_time_to_choose_is_said_to_be_the_largest():
    frame = drawn_frame()[[*NAMES, "number"]]
    model = RandomForestRegressor(5, max_depth=3, random_state=0)
    with pytest.warns(CutShortWarning, match=r"on a sample .*its size was chosen in 0 of 5 folds"):
        cut = RulePathRegressor(model, max_rules=5, time_limit=NO_TIME, model_share=0.5, random_state=0).fit(
            table_of(frame, "number")
        )
    assert cut.n_rules_ == 1 and "on a sample of 3,000 rows (time_limit is 1e-06 s: " in cut.size_reason_


def test_a_path_ends_in_time_to_show_its_rules(monkeypatch):
    frame = drawn_frame()[[*NAMES, "y"]]
    forest = FrozenEstimator(clone(FOREST).fit(frame[NAMES], frame["y"]))
    model = RulePathClassifier(forest, max_rules=8, choose="last", gain="squares")
    free = clone(model).fit(table_of(frame))
    enter, now = FitInParts.enter, time.perf_counter

    def slow(*args: Any) -> None:
        enter(*args)
        late.append(30.0)

    late: list[float] = []
    monkeypatch.setattr(FitInParts, "enter", slow)
    monkeypatch.setattr(time, "perf_counter", lambda: now() + sum(late))
    with pytest.warns(CutShortWarning, match="time_limit is 80 s: the path ends at 3 of up to 8 rules"):
        cut = clone(model).set_params(time_limit=80).fit(table_of(frame))
    assert cut.rules_.to_text() == free.at(3).rules_.to_text()
    assert np.allclose(cut.vote_.votes, free.at(3).vote_.votes)


# How it is decided ----------------------------------------------------------------------------------------------------


class _Timed:
    """A part of known pace."""

    def __init__(self, loading: float, work: float) -> None:
        self._seconds = np.array([loading, work])

    def pace(self, method: str, *arguments: Any) -> Any:
        return self._seconds


def test_half_of_the_time_that_loading_leaves_is_for_the_work():
    parts = LocalParts([_Timed(0.1, 1.0), _Timed(9.0, 9.0)], sizes=[100, 300])
    assert parts.pace("leaf_sums").tolist() == [0.4, 4.0]

    def done(seconds: float | None) -> int:
        deadline = None if seconds is None else time.perf_counter() + seconds
        return done_in_time(parts, 100, deadline, "leaf_sums", passes=5)

    assert done(None) == done(1000.0) == 100
    assert done(-1.0) == done(1.0) == 0
    assert done(6.0) in (49, 50)


def test_votes_are_fitted_to_the_largest_groups_where_there_is_no_time_for_all():
    counts = np.arange(5000.0)
    rows = Grouped(
        scipy.sparse.csr_array(np.ones((5000, 1), dtype=bool)), np.ones((5000, 2)), counts, np.arange(5000) % 2
    )

    def fit(vote: Any, covered: Any, y: Any, weight: Any) -> Any:
        time.sleep(0.001)
        return len(y)

    assert fitted_to_groups(fit, None, rows, None) == (5000, "")
    assert fitted_to_groups(fit, None, rows, time.perf_counter() + 60) == (5000, "")
    n_rows, said = fitted_to_groups(fit, None, rows, time.perf_counter())
    assert n_rows == 1000 and said == f"{int(counts[4000:].sum()):,} of {int(counts.sum()):,} rows"
