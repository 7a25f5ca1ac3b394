"""Covers of tables that stay where they are, against brute force on all rows."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from functools import cache
from typing import Any

import duckdb
import lightgbm
import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.datasets import make_classification
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.pipeline import make_pipeline
from sklearn.tree import DecisionTreeClassifier

from rulecover import RulePathClassifier, Summary, certify, cover_table, explain, open_table, read_trees
from rulecover.counting import cover_table as module
from rulecover.counting import groups
from rulecover.data.encoder import TableEncoder
from rulecover.exceptions import CutShortWarning, MismatchedDataError
from rulecover.setcover import Search
from rulecover.voting.classes import log_odds_votes


@cache
def rows() -> tuple[RandomForestClassifier, pd.DataFrame]:
    """A forest, and a table that it was trained on a tenth of; some columns have names that need care."""
    X, y = make_classification(
        3000, 5, n_informative=4, n_redundant=0, n_classes=3, n_clusters_per_class=1, random_state=0
    )
    frame = pd.DataFrame(X, columns=["rule_0", "word_0", 'it\'s "big"', "x.y", "target"])
    names = np.array(["a", "b", "c"])[y]
    forest = RandomForestClassifier(15, max_depth=5, random_state=0).fit(frame[:300], names[:300])
    return forest, frame.assign(kind=names)


def in_sqlite(frame: pd.DataFrame) -> dict[str, Any]:
    database = sqlite3.connect(":memory:")
    frame.to_sql("data", database, index=False)
    return {"table": "data", "connection": database}


def in_duckdb(frame: pd.DataFrame) -> dict[str, Any]:
    database = duckdb.connect(config={"threads": 1})
    database.register("data", frame)
    return {"table": "data", "connection": database}


#: From a pandas frame to the same rows elsewhere.
PLACES: dict[str, Callable[[pd.DataFrame], dict[str, Any]]] = {
    "pandas": lambda frame: {"table": frame},
    "polars, lazy": lambda frame: {"table": pl.from_pandas(frame).lazy()},
    "DuckDB": lambda frame: {"table": duckdb.from_df(frame)},
    "DuckDB, SQL": in_duckdb,
    "SQLite": in_sqlite,
}


def test_a_model_of_lightgbm_knows_columns_with_blanks_by_other_names() -> None:
    frame = pd.DataFrame({"net weight": np.arange(60.0), "size": np.arange(60) % 7})
    kind = np.where(frame["net weight"] > 30, "heavy", "light")
    model = lightgbm.LGBMClassifier(n_estimators=2, min_child_samples=5, verbose=-1, n_jobs=1).fit(frame, kind)

    few = cover_table(model, frame.assign(kind=kind), target="kind", sample=40)

    assert few.table_cover_.certificate.is_cover and "net weight" in str(few.rules_)


@pytest.mark.slow
@pytest.mark.parametrize("name", PLACES)
def test_every_row_is_covered_and_no_rule_is_redundant(name: str) -> None:
    forest, frame = rows()
    X, kind = frame.drop(columns="kind"), frame["kind"].to_numpy()
    few = cover_table(forest, **PLACES[name](frame), target="kind", sample=150, random_state=0)
    proved = few.table_cover_
    covered = few.apply(X).toarray()
    times = covered.sum(axis=1)
    assert times.min() > 0
    assert proved.certificate.is_cover
    assert ((times == 1)[:, None] & covered).any(axis=0).all()
    counts = np.array([[(covered[:, j] & (kind == label)).sum() for label in "abc"] for j in range(len(few.rules_))])
    np.testing.assert_array_equal(few.rules_.evidence.sums, counts)
    np.testing.assert_array_equal(proved.certificate.support, counts.sum(axis=1))
    assert proved.cost == pytest.approx(few.rules_.evidence.cost.sum())
    assert 50 < proved.n_sampled < 300 < len(frame)
    assert proved.n_rounds >= 1
    assert proved.n_repaired < len(frame) / 4


@pytest.mark.slow
def test_votes_are_those_of_all_rows() -> None:
    forest, frame = rows()
    few = cover_table(forest, duckdb.from_df(frame), target="kind", sample=150)
    covered = few.apply(frame.drop(columns="kind"))
    fitted = log_odds_votes(few.vote_, covered, np.searchsorted(few.classes_, frame["kind"]))
    np.testing.assert_allclose(few.vote_.votes, fitted.votes, atol=1e-6)
    np.testing.assert_allclose(few.vote_.base, fitted.base, atol=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize("prune", [True, False])
def test_the_cost_is_near_to_that_of_a_cover_of_all_rows(prune: bool) -> None:
    forest, frame = rows()
    X, kind = frame.drop(columns="kind"), frame["kind"]
    whole = explain(forest, X, kind, method="cover", prune=prune)
    few = cover_table(forest, frame, target="kind", sample=600, prune=prune)
    assert few.table_cover_.cost <= 1.15 * whole.rules_.evidence.cost.sum()


@pytest.mark.slow
def test_rules_are_leaves_unless_pruning_is_asked_for() -> None:
    forest, frame = rows()
    leaves = set(read_trees(forest).rules().to_text())

    few = cover_table(forest, frame, target="kind", sample=300)
    short = cover_table(forest, frame, target="kind", sample=300, prune=True)

    assert set(few.rules_.to_text()) <= leaves
    assert short.rules_.lengths.mean() < few.rules_.lengths.mean()
    with pytest.raises(ValueError, match="three rules cover every row; cover_table covers each once"):
        cover_table(forest, frame, target="kind", preset="accurate")


@pytest.mark.slow
def test_a_sample_that_saw_one_corner_is_repaired_in_rounds(monkeypatch: pytest.MonkeyPatch) -> None:
    forest, frame = rows()
    monkeypatch.setattr(module, "FEWEST_FETCHED", 20)
    corner = frame.sort_values("rule_0")[:20]
    few = cover_table(forest, duckdb.from_df(frame), target="kind", sample=corner, prune=False)
    proved = few.table_cover_
    assert proved.n_sampled == 20
    assert proved.n_rounds > 1
    assert proved.n_repaired <= 20 * proved.n_rounds
    assert certify(few, frame).is_cover
    assert f"a sample of 20 rows and {proved.n_repaired:,} that its rules missed" in str(proved)
    assert "Every one of 3,000 rows is covered by a rule." in str(proved)


@pytest.mark.slow
def test_what_cannot_be_covered_is_said_in_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    forest, frame = rows()
    small = frame[:200]
    with pytest.raises(MismatchedDataError, match="the table has no column 'sort'"):
        cover_table(forest, small, target="sort")
    with pytest.raises(MismatchedDataError, match="the table has no column 'rule_0'"):
        cover_table(forest, small.drop(columns="rule_0"), target="kind")
    with pytest.raises(MismatchedDataError, match="no row was drawn: the table is empty"):
        cover_table(forest, small[:0], target="kind")
    with pytest.raises(MismatchedDataError, match="the target 'kind' is missing in some rows"):
        cover_table(forest, small.assign(kind=small["kind"].where(small["kind"] != "a")), target="kind")
    for sample in (0, 2.5, True, None, "half"):
        with pytest.raises(ValueError, match=f"sample is {sample!r}; give the number of rows"):
            cover_table(forest, small, target="kind", sample=sample)
    with pytest.raises(ValueError, match="demand is 2, but the rules of cover_table cover every row once"):
        cover_table(forest, small, target="kind", demand=2)
    with pytest.raises(ValueError, match="time_limit is 0"):
        cover_table(forest, small, target="kind", time_limit=0)
    new = small.assign(kind=np.where(np.arange(200) == 150, "new", small["kind"]))
    with pytest.raises(
        MismatchedDataError, match=r"the target is 'new' in some rows .* not a class of the model: 'a', 'b'"
    ):
        cover_table(forest, new, target="kind", sample=small[:150])
    monkeypatch.setattr(groups, "MOST_GROUPS", 2)
    with pytest.raises(MismatchedDataError, match="the rules overlap in more than 2 ways"):
        cover_table(forest, small, target="kind")


def test_numbers_are_refused() -> None:
    _, frame = rows()
    X = frame.drop(columns="kind")[:100]
    forest = RandomForestRegressor(3, max_depth=3, random_state=0).fit(X, X["x.y"])
    with pytest.raises(MismatchedDataError, match="RandomForestRegressor predicts numbers; cover_table is for classes"):
        cover_table(forest, X.assign(y=X["x.y"]), target="y")


@pytest.mark.slow
@pytest.mark.parametrize("name", ["pandas", "polars, lazy", "DuckDB", "DuckDB, SQL"])
def test_tables_with_dates_are_covered(name: str) -> None:
    days = pd.date_range("2020-01-01", periods=2000, freq="D")
    frame = pd.DataFrame({"day": days})
    y = np.where(days.month > 6, "second", "first")
    forest = make_pipeline(TableEncoder(), RandomForestClassifier(10, max_depth=5, random_state=0)).fit(frame, y)

    few = cover_table(forest, **PLACES[name](frame.assign(half=y)), target="half", sample=300)

    assert few.table_cover_.certificate.is_cover
    assert few.rules_.evidence.samples.tolist() == few.apply(frame).sum(axis=0).tolist()


@pytest.mark.slow
@pytest.mark.parametrize("name", PLACES)
@pytest.mark.parametrize("random_state", [None, np.random.RandomState(3)], ids=["None", "RandomState"])
def test_rows_can_be_drawn_by_every_kind_of_random_state(name: str, random_state: Any) -> None:
    frame = pd.DataFrame({"x": np.arange(60.0)}).assign(y=np.arange(60) % 7 > 3)
    tree = DecisionTreeClassifier(max_depth=3).fit(frame[["x"]], frame["y"])
    plain = {"solver": "greedy", "vote": "counts", "prune": False, "fallback": "majority"}

    few = cover_table(tree, **PLACES[name](frame), target="y", sample=30, random_state=random_state, **plain)

    assert few.table_cover_.certificate.is_cover


def test_a_model_that_is_fitted_again_forgets_the_table() -> None:
    frame = pd.DataFrame({"x": np.arange(60.0)}).assign(y=np.arange(60) % 7 > 3)
    tree = DecisionTreeClassifier(max_depth=3).fit(frame[["x"]], frame["y"])
    few = cover_table(tree, frame, target="y", sample=30)
    path = RulePathClassifier(tree, max_rules=2, choose="last", random_state=0)
    for model in (few, path):
        fitted = model if model is few else path.fit(open_table([frame], target="y"))
        assert hasattr(fitted, "table_cover_" if model is few else "n_sampled_rows_")

        fitted.fit(frame[["x"]], frame["y"])

        assert not hasattr(fitted, "table_cover_") and not hasattr(fitted, "n_sampled_rows_")


# Time limits ----------------------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("name", ["pandas", "DuckDB, SQL", "SQLite"])
def test_with_time_to_spare_the_model_is_that_of_no_limit(name: str) -> None:
    forest, frame = rows()
    frame = frame[:2000]
    corner = frame.sort_values("rule_0")[:200]
    few = cover_table(forest, **PLACES[name](frame), target="kind", sample=corner, solver="greedy")

    timed = cover_table(forest, **PLACES[name](frame), target="kind", sample=corner, solver="greedy", time_limit=600)

    assert timed.rules_.to_text() == few.rules_.to_text() and timed.time_limit == 600
    np.testing.assert_array_equal(timed.vote_.votes, few.vote_.votes)
    assert few.table_cover_.n_rounds > 0 and str(timed.table_cover_) == str(few.table_cover_)
    assert timed.table_cover_.status == "feasible" and timed.table_cover_.n_uncovered == 0


@pytest.mark.slow
@pytest.mark.parametrize("name", ["pandas", "DuckDB, SQL", "SQLite"])
def test_rows_that_there_is_no_time_for_are_left_uncovered_and_counted(name: str) -> None:
    forest, frame = rows()
    X = frame.drop(columns="kind")
    corner = frame.sort_values("rule_0")[:200]

    with pytest.warns(
        CutShortWarning, match=r"time_limit is 1e-06 s: .* of 3,000 rows are not covered, after 0 rounds"
    ):
        few = cover_table(forest, **PLACES[name](frame), target="kind", sample=corner, time_limit=1e-6)

    proved, missed = few.table_cover_, few.missed(X)
    assert proved.status == "time limit" and 0 < proved.n_uncovered == missed.sum() < len(frame)
    assert f"{proved.n_uncovered:,} of 3,000 rows" in str(proved) and "are not covered by any rule" in str(proved)
    assert str(proved).endswith("The time limit ended the repair before every row was covered.")
    assert set(few.predict(X[missed])) <= {"a", "b", "c"}
    assert few.rules_.evidence.samples.tolist() == few.apply(X).sum(axis=0).tolist()


@pytest.mark.slow
def test_rounds_of_repair_are_not_begun_if_they_would_end_too_late(monkeypatch: pytest.MonkeyPatch) -> None:
    forest, frame = rows()
    monkeypatch.setattr(module, "FEWEST_FETCHED", 20)
    corner = frame.sort_values("rule_0")[:20]
    begun: list[int] = []

    def two_rounds(clock: Any, n_rules: int) -> bool:
        begun.append(n_rules)
        return len(begun) <= 2

    monkeypatch.setattr(module._Clock, "has_round", two_rounds)
    with pytest.warns(
        CutShortWarning, match="rows are not covered, after 2 rounds of repair; give more time, or a larg"
    ):
        few = cover_table(forest, frame, target="kind", sample=corner, time_limit=600)

    assert few.table_cover_.n_rounds == 2 and begun == sorted(begun)
    monkeypatch.setattr(module._Clock, "can_finish", lambda clock, n_rules: False)
    begun.clear()
    with pytest.warns(CutShortWarning, match="after 0 rounds of repair"):
        first = cover_table(forest, frame, target="kind", sample=corner, time_limit=600)

    assert first.table_cover_.n_uncovered > few.table_cover_.n_uncovered > 0


def test_a_choice_that_was_cut_short_is_said_to_be(monkeypatch: pytest.MonkeyPatch) -> None:
    forest, frame = rows()
    chosen = module._Clock.chosen

    def cut(clock: Any, choose: Any) -> Any:
        few = chosen(clock, choose)
        clock.was_cut = True
        return few

    monkeypatch.setattr(module._Clock, "chosen", cut)
    with pytest.warns(CutShortWarning, match="time_limit is 60 s: a choice of rules was cut short; give more time"):
        few = cover_table(forest, frame[:60], target="kind", sample=60, solver="greedy", time_limit=60)

    assert few.table_cover_.certificate.is_cover and few.table_cover_.status == "time limit"
    assert str(few.table_cover_).endswith("The time limit ended a choice of rules before it was done.")


def test_a_solver_that_ran_out_of_its_own_time_does_not_hide_rows_that_no_rule_covers() -> None:
    forest, frame = rows()
    small = frame[:1000]
    rules = read_trees(forest).rules()
    some = rules.take(np.arange(0, len(rules), 4))
    covered = some.hits(small.drop(columns="kind").to_numpy())[0]
    seen = small[np.isin(np.arange(1000), covered)][:50]
    with pytest.raises(MismatchedDataError, match="rows or more are covered by no rule of the model"):
        cover_table(some, small, target="kind", sample=seen, solver=Search(time_limit=1e-6))


@pytest.mark.parametrize("time_limit", [None, 600])
def test_rules_of_a_sample_from_elsewhere_that_cover_no_row_are_dropped(time_limit: float | None) -> None:
    frame = pd.DataFrame({"x": np.arange(60.0)}).assign(y=np.arange(60) // 20)
    tree = DecisionTreeClassifier().fit(frame[["x"]], frame["y"])
    table = frame[20:]
    few = cover_table(tree, table, target="y", sample=frame[:40], time_limit=time_limit, solver="greedy")

    assert certify(few, table).is_cover and len(few.rules_) == 2
    with pytest.raises(MismatchedDataError, match="the rules chosen on the sample cover no row of the table"):
        cover_table(tree, table, target="y", sample=frame[:20], time_limit=1e-6, solver="greedy")


def test_a_report_of_a_cover_of_a_table_has_no_certificate_of_its_rows() -> None:
    frame = pd.DataFrame({"x": np.arange(60.0)}).assign(y=np.arange(60) % 7 > 3)
    tree = DecisionTreeClassifier(max_depth=3).fit(frame[["x"]], frame["y"])
    few = cover_table(tree, frame, target="y", sample=30)

    assert Summary.of(few, frame[["x"]], frame["y"], title="rows").certificate is None
