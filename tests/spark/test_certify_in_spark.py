"""Rules counted in Spark, in frames and by SQL, against a plain count of the rows that each rule covers."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pandas as pd
import pytest
from counted import as_plain, frame_of, plain_counts
from exported import HOSTILE, Case, cases, hostile_case, named_case, text_case, truth_case
from sklearn.datasets import load_diabetes
from sklearn.tree import DecisionTreeClassifier

from rulecover import MIRCOClassifier, MIRCORegressor, certify
from rulecover.exceptions import MismatchedDataError

QUICK = {
    "spark.ui.enabled": "false",
    "spark.sql.shuffle.partitions": "1",
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.adaptive.enabled": "false",
    "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
    "spark.ui.showConsoleProgress": "false",
}
KINDS = {"f": "double", "i": "bigint", "b": "boolean"}

pytestmark = pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas")


@pytest.fixture(scope="module")
def spark() -> Iterator[Any]:
    cases()  # Java may leave LAPACK too little stack to fit models
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "PySpark does not yet fully support pandas")
        from pyspark.sql import SparkSession

        builder = SparkSession.builder.master("local[1]")
        for key, value in QUICK.items():
            builder = builder.config(key, value)
        session = builder.getOrCreate()
    yield session
    session.stop()


def in_spark(spark: Any, frame: pd.DataFrame) -> Any:
    """The same rows in Spark, registered as the table ``data``; NaN is a number there, and a missing text is NULL."""
    names = ["`" + name.replace("`", "``") + "`" for name in frame]
    kinds = [
        KINDS.get(frame[name].dtype.kind, "boolean" if True in frame[name].tolist() else "string") for name in frame
    ]
    numbers = [frame[name].dtype.kind in KINDS for name in frame]
    cells = [
        [None if not number and pd.isna(cell) else cell for cell in frame[name].tolist()]
        for name, number in zip(frame, numbers, strict=True)
    ]
    schema = ", ".join(f"{name} {kind}" for name, kind in zip(names, kinds, strict=True))
    made = spark.createDataFrame(list(zip(*cells, strict=True)), schema)
    made.createOrReplaceTempView("data")
    return made


@pytest.mark.parametrize("by_sql", [False, True], ids=["frame", "SQL"])
def test_spark_counts_random_models(spark: Any, by_sql: bool) -> None:
    for case in cases()[::30]:
        frame = in_spark(spark, frame_of(case))
        found = certify(case.rules, "data", connection=spark) if by_sql else certify(case.rules, frame)
        assert as_plain(found) == plain_counts(case, [None] * len(case.X))


@pytest.mark.parametrize("by_sql", [False, True], ids=["frame", "SQL"])
@pytest.mark.parametrize("drawn", [text_case, named_case, truth_case])
def test_spark_counts_texts_and_truth_values(
    spark: Any, drawn: Callable[[], tuple[Case, list[Any]]], by_sql: bool
) -> None:
    case, raw = drawn()
    frame = in_spark(spark, pd.DataFrame(raw))
    found = certify(case.rules, "data", connection=spark) if by_sql else certify(case.rules, frame)
    assert as_plain(found) == plain_counts(case, [None] * len(raw))


@pytest.mark.parametrize("by_sql", [False, True], ids=["frame", "SQL"])
@pytest.mark.parametrize("hostile", [HOSTILE[0], HOSTILE[2], "a.b", "größe µ 体重 😀", "rule_0"], ids=ascii)
def test_spark_takes_hostile_names_for_names(spark: Any, hostile: str, by_sql: bool) -> None:
    case = hostile_case(hostile)
    labels = [hostile, "plain"] * (len(case.X) // 2)
    frame = in_spark(spark, frame_of(case).assign(label=labels))
    where: dict[str, Any] = {"connection": spark} if by_sql else {}
    found = certify(case.rules, "data" if by_sql else frame, target="label", **where)
    assert as_plain(found) == plain_counts(case, labels)


@pytest.mark.parametrize("by_sql", [False, True], ids=["frame", "SQL"])
def test_spark_adds_up_numbers(spark: Any, by_sql: bool) -> None:
    X, y = load_diabetes(return_X_y=True, as_frame=True)
    few = MIRCORegressor(max_rules=5, random_state=0).fit(X, y)
    table = X.assign(y=y.where(y > 60))
    frame = in_spark(spark, table)
    where: dict[str, Any] = {"connection": spark} if by_sql else {}
    found = certify(few, "data" if by_sql else frame, target="y", **where)
    np.testing.assert_allclose(found.means, certify(few, table, target="y").means)


def test_spark_refuses_a_table_without_a_column(spark: Any) -> None:
    case = hostile_case("wide")
    frame = in_spark(spark, frame_of(case).drop(columns="wide"))
    for where in ({"table": frame}, {"table": "data", "connection": spark}):
        with pytest.raises(MismatchedDataError, match="the table has no column 'wide'; it has other"):
            certify(case.rules, **where)


@pytest.mark.parametrize("by_sql", [False, True], ids=["frame", "SQL"])
def test_dates_are_taken_apart_where_the_table_is(spark: Any, by_sql: bool) -> None:
    moments = pd.Series(pd.date_range("1968-12-20 07:30:01", periods=90, freq="53D"))
    y = moments.dt.month % 3 == 0
    few = MIRCOClassifier(DecisionTreeClassifier(max_depth=6, random_state=0), prune=False).fit(
        pd.DataFrame({"when": moments}), y
    )
    table = spark.createDataFrame([(each.to_pydatetime(),) for each in moments], "`when` timestamp_ntz")
    table.createOrReplaceTempView("moments")

    counted = certify(few, "moments", connection=spark) if by_sql else certify(few, table)

    assert counted.support.tolist() == few.apply(pd.DataFrame({"when": moments})).sum(axis=0).tolist()
