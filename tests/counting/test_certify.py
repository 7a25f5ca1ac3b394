"""Rules counted in frames and databases, against a plain count of the rows that each rule covers."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from typing import Any

import duckdb
import narwhals as nw
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from counted import as_plain, frame_of, plain_counts
from databases import Database, DuckDB, SQLite
from exported import Case, cases, many_rules, named_case, text_case, truth_case
from sklearn.datasets import load_diabetes, load_iris
from sklearn.ensemble import RandomForestClassifier
from sklearn.tree import DecisionTreeClassifier

from rulecover import MIRCOClassifier, MIRCORegressor, RulePathClassifier, certify
from rulecover.counting.frames import _part_of_date
from rulecover.counting.query import MOST_RULES, counting_query
from rulecover.data.dates import PARTS, DatePart
from rulecover.exceptions import ExportError, MismatchedDataError


def with_nan(frame: pd.DataFrame) -> pl.DataFrame:
    """A frame of polars in which missing numbers are NaN."""
    texts = {name: frame[name].astype(object).where(frame[name].notna(), None).tolist() for name in frame}
    return pl.DataFrame(
        {name: frame[name].to_numpy() if frame[name].dtype.kind == "f" else texts[name] for name in frame}
    )


#: From a pandas frame to the same rows elsewhere.
FRAMES: dict[str, Callable[[pd.DataFrame], Any]] = {
    "pandas": lambda frame: frame,
    "polars": with_nan,
    "polars, lazy": lambda frame: with_nan(frame).lazy(),
    "polars, NULL for NaN": pl.from_pandas,
    "Arrow": lambda frame: pl.from_pandas(frame).to_arrow(),
    "DuckDB": duckdb.from_df,
}
DATABASES: dict[str, Callable[[], Database]] = {"SQLite": SQLite, "DuckDB": DuckDB}


@pytest.mark.slow
@pytest.mark.parametrize("name", FRAMES)
def test_frames_of_every_library_are_counted_alike(name: str) -> None:
    for case in cases()[::5]:
        frame = frame_of(case)
        assert as_plain(certify(case.rules, FRAMES[name](frame))) == plain_counts(case, [None] * len(frame))


@pytest.mark.slow
@pytest.mark.parametrize("name", DATABASES)
def test_databases_are_counted_alike(name: str) -> None:
    for case in cases()[::5]:
        database = DATABASES[name]()
        names = case.rules.rules.feature_names
        database.fill("data", names, case.X, null=True)
        found = certify(case.rules, "data", connection=database.connection)
        assert as_plain(found) == plain_counts(case, [None] * len(case.X))


@pytest.mark.slow
@pytest.mark.parametrize("name", FRAMES)
def test_classes_are_counted_by_rule(name: str) -> None:
    X, y = load_iris(return_X_y=True, as_frame=True)
    labels = np.array(["setosa", "versicolor", "virginica"])[y]
    few = MIRCOClassifier(max_rules=3, random_state=0).fit(X[::2], labels[::2])
    case = Case(few, few.vote_, X.to_numpy())
    found = certify(few, FRAMES[name](X.assign(species=labels)), target="species")
    assert as_plain(found) == plain_counts(case, labels.tolist())
    right = (few.apply(X).toarray() & (labels[:, None] == few.rules_.to_frame()["prediction"].to_numpy())).sum(axis=0)
    assert found.precision.tolist() == (right / few.apply(X).toarray().sum(axis=0)).tolist()


@pytest.mark.slow
@pytest.mark.parametrize("name", FRAMES)
def test_numbers_are_added_up_by_rule(name: str) -> None:
    X, y = load_diabetes(return_X_y=True, as_frame=True)
    few = MIRCORegressor(max_rules=5, random_state=0).fit(X, y)
    found = certify(few, FRAMES[name](X.assign(y=y)), target="y")
    covered = few.apply(X).toarray()
    means = [y[covered[:, j]].mean() for j in range(len(few.rules_))]
    assert found.means is not None
    np.testing.assert_allclose(found.means, means)
    assert found.n_rows.tolist() == [len(X)]
    assert list(found.to_frame()) == ["rule", "support", "training_support", "mean"]


@pytest.mark.slow
@pytest.mark.parametrize("drawn", [text_case, truth_case, named_case])
@pytest.mark.parametrize("name", FRAMES)
def test_texts_categories_and_gaps_are_counted_alike(name: str, drawn: Callable[[], tuple[Case, list[Any]]]) -> None:
    case, raw = drawn()
    found = certify(case.rules, FRAMES[name](pd.DataFrame(raw)))
    assert as_plain(found) == plain_counts(case, [None] * len(raw))


@pytest.mark.slow
@pytest.mark.parametrize("gaps", [False, True])
@pytest.mark.parametrize("kind", [int, bool, float])
@pytest.mark.parametrize("name", ["pandas", "Arrow"])
def test_categories_that_are_no_texts_are_counted_as_what_they_are(name: str, kind: type, gaps: bool) -> None:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"code": rng.integers(0, 2 if kind is bool else 5, 200), "size": rng.normal(size=200)})
    y = (frame["code"] + frame["size"] > 1).astype(int)
    frame["code"] = frame["code"].astype(kind).astype("category").where(rng.random(200) < (0.8 if gaps else 1))
    few = MIRCOClassifier(DecisionTreeClassifier(max_depth=4, random_state=0)).fit(frame, y)
    table = frame.assign(y=y.astype("category").where(frame.index != 7))
    found = certify(few, table if name == "pandas" else pa.Table.from_pandas(table), target="y")
    case = Case(few, few.vote_, frame)
    assert as_plain(found) == plain_counts(case, [None if k == 7 else label for k, label in enumerate(y.tolist())])


@pytest.mark.parametrize("name", FRAMES)
def test_whole_numbers_that_no_double_holds_are_counted(name: str) -> None:
    frame = pd.DataFrame(
        {"size": pd.Series(2**60 + 2**55 * np.arange(40) + 1).where(np.arange(40) != 3).astype("Int64")}
    )
    few = MIRCOClassifier(DecisionTreeClassifier(random_state=0)).fit(frame.astype(float), np.arange(40) > 20)
    assert certify(few, FRAMES[name](frame)).support.tolist() == [rule.support for rule in few.rules_]


@pytest.mark.parametrize("library", [lambda frame: frame, pl.from_pandas, pa.Table.from_pandas])
def test_dates_of_a_time_zone_are_counted_by_their_own_clock(library: Callable[[pd.DataFrame], Any]) -> None:
    hours = pd.Series(pd.date_range("2020-01-01", periods=500, freq="h", tz="Asia/Tokyo"))
    frame = pd.DataFrame({"when": hours, "weekend": hours.dt.day_of_week >= 5})
    few = MIRCOClassifier(DecisionTreeClassifier(random_state=0)).fit(frame[["when"]], frame["weekend"])
    assert certify(few, library(frame), target="weekend").precision.tolist() == [1, 1]


@pytest.mark.slow
@pytest.mark.parametrize("name", FRAMES)
def test_names_that_are_patterns_elsewhere_are_names(name: str) -> None:
    rng = np.random.default_rng(0)
    table = pd.DataFrame(rng.normal(size=(200, 4)), columns=["*", "^.*$", "x", "^x"])
    y = (table["*"] + table["^.*$"] > 0) & (table["^x"] < 1)
    few = RulePathClassifier(max_rules=6, choose="last", random_state=0).fit(table, y)
    assert {"*", "^.*$"} <= {clause.name for rule in few.rules_ for clause in rule.clauses}

    assert as_plain(certify(few, FRAMES[name](table))) == as_plain(certify(few, table))


def test_dates_in_a_column_whose_name_is_a_pattern_elsewhere_are_counted() -> None:
    days = pd.date_range("2024-01-01", periods=100)
    table = pd.DataFrame({"*": days.strftime("%d.%m.%Y"), "size": np.arange(100.0) % 7})
    few = RulePathClassifier(max_rules=2, choose="last", random_state=0).fit(table, days >= "2024-02-10")

    assert as_plain(certify(few, pl.from_pandas(table))) == as_plain(certify(few, table))


def test_parts_add_up_to_the_table(monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = load_iris(return_X_y=True, as_frame=True)
    few = MIRCOClassifier(random_state=0).fit(X, y)
    table = X.assign(species=y)
    whole = as_plain(certify(few, table, target="species"))
    assert as_plain(certify(few, table[:40], target="species") + certify(few, table[40:], target="species")) == whole
    monkeypatch.setattr("rulecover.counting.frames.BLOCK", 13)
    assert as_plain(certify(few, table, target="species")) == whole


def test_what_is_proved_is_said() -> None:
    X, y = load_iris(return_X_y=True, as_frame=True)
    few = MIRCOClassifier(random_state=0).fit(X, y)
    assert str(certify(few, X)) == "Every one of 150 rows is covered by a rule."
    fewer = few.at(1)
    missed = int(fewer.missed(X).sum())
    assert str(certify(fewer, X)).startswith(f"{missed} of 150 rows")
    assert str(certify(few, X[:0])) == "The table has no rows."


def test_labels_that_are_missing_or_new_are_counted_too() -> None:
    X, y = load_iris(return_X_y=True, as_frame=True)
    few = MIRCOClassifier(random_state=0).fit(X, y.astype(str))
    species = y.astype(str).astype(object)
    species[:3], species[3:5] = None, "new"
    found = certify(few, X.assign(species=species), target="species")
    assert dict(zip(found.labels, found.n_rows.tolist(), strict=True)) == {None: 3, "new": 2, "0": 45, "1": 50, "2": 50}


def test_a_path_without_rules_is_counted() -> None:
    X = np.zeros((20, 1))
    path = RulePathClassifier(max_rules=2, choose="last", random_state=0).fit(X, np.arange(20) % 2)
    assert certify(path, pd.DataFrame(X, columns=["x0"])).n_rows.tolist() == [20]


def test_wrong_tables_are_refused() -> None:
    X, y = load_iris(return_X_y=True, as_frame=True)
    few = MIRCOClassifier(random_state=0).fit(X, y)
    with pytest.raises(MismatchedDataError, match="no column 'petal width"):
        certify(few, X.drop(columns="petal width (cm)"))
    with pytest.raises(MismatchedDataError, match="no column 'species'"):
        certify(few, X, target="species")
    with pytest.raises(MismatchedDataError, match="the table is a list"):
        certify(few, [[1.0, 2.0]])
    with pytest.raises(MismatchedDataError, match=r"'petal width \(cm\)' of the table holds values of type String"):
        certify(few, X.assign(**{"petal width (cm)": "wide"}))
    with pytest.raises(ExportError, match=f"a query counts {MOST_RULES} at most"):
        counting_query(few.rules_.take(np.zeros(MOST_RULES + 1, dtype=int)), "t", dialect="duckdb")


class Bare:
    """A connection of a driver that is not known, with what PEP 249 asks for and nothing else."""

    def __init__(self) -> None:
        self.database = sqlite3.connect(":memory:")

    def cursor(self) -> sqlite3.Cursor:
        return self.database.cursor()


@pytest.mark.slow
def test_drivers_that_are_not_known_need_the_dialect() -> None:
    X, y = load_iris(return_X_y=True, as_frame=True)
    few, other = MIRCOClassifier(random_state=0).fit(X, y), Bare()
    X.to_sql("iris", other.database)
    with pytest.raises(MismatchedDataError, match="the connection is a Bare of 'test_certify', whose SQL is not known"):
        certify(few, "iris", connection=other)
    assert certify(few, "iris", connection=other, dialect="sqlite").is_cover
    with pytest.raises(MismatchedDataError, match="the table is a DataFrame; with a connection, give the name"):
        certify(few, X, connection=other)
    with pytest.raises(MismatchedDataError, match="the table is a str; give its connection as well"):
        certify(few, "iris")
    with pytest.raises(MismatchedDataError, match="the table has no column 'petal"):
        X.iloc[:, :2].to_sql("short", other.database)
        certify(few, "short", connection=other, dialect="sqlite")


@pytest.mark.slow
def test_a_target_without_any_class_of_the_model_is_refused() -> None:
    X, y = load_iris(return_X_y=True, as_frame=True)
    few = MIRCOClassifier(random_state=0).fit(X, y)
    with pytest.raises(MismatchedDataError, match=r"'species' holds '0', '1', '2', and the classes .* are 0, 1, 2"):
        certify(few, X.assign(species=y.astype(str)), target="species")


@pytest.mark.slow
def test_numbers_that_are_missing_do_not_count_in_means() -> None:
    X, y = load_diabetes(return_X_y=True, as_frame=True)
    few = MIRCORegressor(max_rules=3, random_state=0).fit(X, y)
    table = X.assign(y=y.where(y > 100))
    covered = few.apply(X).toarray()
    means = [table["y"][covered[:, j]].mean() for j in range(len(few.rules_))]
    for frame in (table, pl.from_pandas(table), with_nan(table)):
        np.testing.assert_allclose(certify(few, frame, target="y").means, means)


@pytest.mark.slow
def test_more_rules_than_bits_of_a_number_are_counted() -> None:
    case = many_rules(60)
    counted = plain_counts(case, [None] * len(case.X))
    for frame in (frame_of(case), duckdb.from_df(frame_of(case))):
        assert as_plain(certify(case.rules, frame)) == counted
    database = DuckDB()
    database.fill("data", case.rules.rules.feature_names, case.X)
    assert as_plain(certify(case.rules, "data", connection=database.connection)) == counted


@pytest.mark.slow
def test_numbers_are_read_as_people_write_them_in_memory_and_refused_elsewhere() -> None:
    x = np.arange(60)
    price = 100.0 + 10 * (x % 7) + 1000 * (x > 30)
    frame = pd.DataFrame({"size": [f"{value} %" for value in x], "price": [f"${value:.2f}" for value in price]})
    few = MIRCORegressor(max_rules=3, random_state=0).fit(frame[["size"]], price)
    plain = certify(few, frame.assign(price=price), target="price")
    for table in (frame, pl.from_pandas(frame)):
        found = certify(few, table, target="price")
        assert as_plain(found) == as_plain(plain)
        np.testing.assert_allclose(found.means, plain.means)
    with pytest.raises(MismatchedDataError, match="column 'size' of the table holds values of type String"):
        certify(few, pl.from_pandas(frame).lazy(), target="price")
    numbers = MIRCORegressor(max_rules=3, random_state=0).fit(pd.DataFrame({"size": x}), price)
    lazy = pl.DataFrame({"size": x, "price": frame["price"].tolist()}).lazy()
    with pytest.raises(MismatchedDataError, match=r"texts such as \$188 are read only in memory"):
        certify(numbers, lazy, target="price")
    with pytest.raises(MismatchedDataError, match="the target 'price' has no number in any row"):
        certify(numbers, pd.DataFrame({"size": x, "price": np.nan}), target="price")


def dated_frame() -> tuple[pd.DataFrame, MIRCOClassifier]:
    """Moments between 1955 and 2030, some of them missing, and rules on all parts of them."""
    rng = np.random.default_rng(0)
    moments = pd.Timestamp("1955-01-01") + pd.to_timedelta(rng.integers(0, 75 * 365 * 86_400, 200), unit="s")
    when = pd.Series(moments.as_unit("us")).where(rng.random(200) < 0.9)
    y = np.where((when.dt.day_of_week > 4) | (when.dt.month == 2) | (when.dt.year == 1999), "yes", "no")
    frame = pd.DataFrame({"when": when, "y": y}, index=rng.permutation(200))
    forest = RandomForestClassifier(8, max_depth=6, random_state=0)
    few = MIRCOClassifier(forest, prune=False, max_rules=12).fit(frame[["when"]], y)
    assert {part.part for f, part in few.rules_.columns.parts.items() if f in few.rules_.clauses.columns} == set(PARTS)
    return frame, few


def counts_by_label(few: MIRCOClassifier, frame: pd.DataFrame) -> dict[str, list[int]]:
    """The rows of each label that each rule covers, and that none does."""
    covered = few.apply(frame[["when"]]).toarray()
    covered = np.column_stack([covered, ~covered.any(axis=1)])
    return {label: covered[frame["y"] == label].sum(axis=0).tolist() for label in ("no", "yes")}


DATED: dict[str, Callable[[pd.DataFrame], Any]] = {
    "pandas": lambda frame: frame,
    "pandas, texts": lambda frame: frame.assign(when=frame["when"].dt.strftime("%Y-%m-%d %H:%M:%S")),
    "pandas, objects": lambda frame: frame.assign(
        when=pd.Series([*pd.DatetimeIndex(frame["when"]).to_pydatetime()], frame.index, dtype=object)
    ),
    "pandas, parts": lambda frame: pd.DataFrame(
        {f"when ({part})": DatePart("when", part).read(frame["when"]) for part in PARTS} | {"y": frame["y"].tolist()}
    ),
    "polars": pl.from_pandas,
    "polars, lazy": lambda frame: pl.from_pandas(frame).lazy(),
    "Arrow": lambda frame: pl.from_pandas(frame).to_arrow(),
    "DuckDB": lambda frame: duckdb.from_arrow(pl.from_pandas(frame).to_arrow()),
}


@pytest.mark.slow
def test_dates_are_taken_apart_where_the_table_is() -> None:
    frame, few = dated_frame()
    expected = counts_by_label(few, frame)
    found = {name: certify(few, as_given(frame), target="y") for name, as_given in DATED.items()}
    found["SQL"] = certify(few, "dated", target="y", connection=duckdb_with(frame))

    for name, certificate in found.items():
        counted = np.vstack([certificate.counts, certificate.n_missed]).T.tolist()
        assert dict(zip(certificate.labels, counted, strict=True)) == expected, name


def duckdb_with(frame: pd.DataFrame) -> duckdb.DuckDBPyConnection:
    connection = duckdb.connect()
    connection.register("dated", pl.from_pandas(frame).to_arrow())
    return connection


@pytest.mark.parametrize("name", ["polars", "polars, lazy", "DuckDB"])
def test_days_without_times_are_taken_apart(name: str) -> None:
    days = pd.date_range("1968-12-25", periods=900, freq="D")
    few = MIRCOClassifier(DecisionTreeClassifier(max_depth=4), prune=False).fit(
        pd.DataFrame({"day": days}), days.day_of_year.to_numpy() == 366
    )
    table = DATED[name](pd.DataFrame({"day": days.date}))

    assert certify(few, table).support.tolist() == few.apply(pd.DataFrame({"day": days})).sum(axis=0).tolist()


def test_texts_are_read_as_dates_in_memory_only() -> None:
    frame = pd.DataFrame({"day": pd.date_range("2024-01-01", periods=60).strftime("%d.%m.%Y")})
    few = MIRCOClassifier(DecisionTreeClassifier(), prune=False).fit(frame, np.arange(60) < 31)

    assert certify(few, frame).support.tolist() == few.apply(frame).sum(axis=0).tolist()
    with pytest.raises(MismatchedDataError, match=r"'day' of .*; make it a column of dates, or give a frame in mem"):
        certify(few, pl.from_pandas(frame).lazy())
    with pytest.raises(MismatchedDataError, match="no column 'day'"):
        certify(few, frame.rename(columns={"day": "date"}))
    in_duckdb = certify(few, "dated", connection=duckdb_with(frame))
    assert in_duckdb.support.tolist() == few.apply(frame).sum(axis=0).tolist()


def test_a_database_is_given_the_parts_of_dates_that_it_would_read_otherwise() -> None:
    frame = pd.DataFrame({"day": [f"2024-{1 + k // 30}-{1 + k % 28}" for k in range(60)]})
    few = MIRCOClassifier(DecisionTreeClassifier(), prune=False).fit(frame, np.arange(60) < 30)

    with pytest.raises(MismatchedDataError, match=r"no column 'day \((month|days since 1970-01-01)\)'.* of 'day'"):
        certify(few, "dated", connection=duckdb_with(frame))


@pytest.mark.parametrize("name", ["polars", "polars, lazy", "Arrow", "DuckDB"])
def test_days_with_times_are_the_same_to_the_last_bit(name: str) -> None:
    moments = pd.date_range("1969-12-01 00:59:59", periods=500, freq="7h13min").as_unit("us")
    table = nw.from_native(DATED[name](pd.DataFrame({"when": moments})))
    part = DatePart("when", PARTS[3])

    found = table.select(days=_part_of_date(part, nw.col("when"), table.collect_schema()["when"])).lazy().collect()

    assert found["days"].to_list() == part.read(moments.to_numpy()).tolist()
