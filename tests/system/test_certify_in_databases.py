"""Rules counted in PostgreSQL and through Ibis, against a plain count of the rows that each rule covers."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import ibis
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from commands import run
from counted import as_plain, frame_of, plain_counts
from exported import HOSTILE, Case, cases, hostile_case, named_case, text_case, truth_case
from postgres import PostgreSQL, server
from sklearn.datasets import load_diabetes, load_iris, make_classification
from sklearn.ensemble import RandomForestClassifier

from rulecover import MIRCOClassifier, MIRCORegressor, certify, cover_table
from rulecover.exceptions import MismatchedDataError
from rulecover.export import to_json


@pytest.fixture(scope="module")
def database() -> Iterator[PostgreSQL]:
    with server() as folder:
        connected = PostgreSQL(folder)
        yield connected
        connected.connection.close()


def test_the_command_line_counts_in_postgresql(database: PostgreSQL, tmp_path: Path) -> None:
    X, y = load_iris(return_X_y=True, as_frame=True)
    few = MIRCOClassifier(max_rules=3, random_state=0).fit(X, y)
    (tmp_path / "model.json").write_text(to_json(few))
    database.fill("iris", list(X), X.to_numpy())
    address = f"postgresql://tester@/postgres?host={database.connection.info.host}"
    answered = run("certify", tmp_path / "model.json", "--database", address, "--table", "public.iris")
    assert answered.stdout.splitlines()[-1] == str(certify(few, X))
    refused = run(
        "certify", tmp_path / "model.json", "--database", "postgresql://x@/x?host=/nowhere", "--table", "iris"
    )
    assert refused.exit_code == 1
    assert "PostgreSQL could not be reached" in refused.stderr


@pytest.mark.parametrize("null", [False, True])
def test_postgresql_counts_random_models(database: PostgreSQL, null: bool) -> None:
    for case in cases()[::6]:
        database.fill("data", case.rules.rules.feature_names, case.X, null=null)
        found = certify(case.rules, "data", connection=database.connection)
        assert as_plain(found) == plain_counts(case, [None] * len(case.X))


@pytest.mark.parametrize("hostile", HOSTILE, ids=ascii)
def test_postgresql_takes_hostile_names_for_names(database: PostgreSQL, hostile: str) -> None:
    case = hostile_case(hostile)
    database.connection.execute("CREATE TABLE IF NOT EXISTS victim (x INTEGER)")
    database.fill(hostile, [*case.rules.rules.feature_names, f"{hostile[:50]} too"], np.c_[case.X, case.X[:, 0] > 0])
    database.connection.execute(f"ALTER TABLE {database.quoted(hostile)} ADD COLUMN label TEXT")
    label = database.quoted("label") + " = " + "'" + hostile.replace("'", "''") + "'"
    database.connection.execute(f"UPDATE {database.quoted(hostile)} SET {label}")
    found = certify(case.rules, hostile, target="label", connection=database.connection)
    assert as_plain(found) == plain_counts(case, [hostile] * len(case.X))
    assert database.rows("SELECT * FROM victim") == []


@pytest.mark.parametrize("drawn", [text_case, named_case, truth_case])
def test_postgresql_counts_texts_and_truth_values(
    database: PostgreSQL, drawn: Callable[[], tuple[Case, list[Any]]]
) -> None:
    case, raw = drawn()
    for kind in ["BOOLEAN"] if drawn is truth_case else database.texts:
        database.text_answers("SELECT id FROM data", raw, kind)
        found = certify(case.rules, "data", connection=database.connection)
        assert as_plain(found) == plain_counts(case, [None] * len(raw))


def test_postgresql_counts_classes_and_adds_up_numbers(database: PostgreSQL) -> None:
    X, y = load_iris(return_X_y=True, as_frame=True)
    few = MIRCOClassifier(max_rules=3, random_state=0).fit(X, y)
    database.fill("iris", [*X, "species"], X.assign(species=y).to_numpy(dtype=float))
    by_class = certify(few, "iris", target="species", connection=database.connection)
    assert as_plain(by_class) == as_plain(certify(few, X.assign(species=y), target="species"))
    X, y = load_diabetes(return_X_y=True, as_frame=True)
    table = X.assign(y=y.where(y > 60))
    few = MIRCORegressor(max_rules=5, random_state=0).fit(X, y)
    database.fill("diabetes", list(table), table.to_numpy())
    found = certify(few, ("public", "diabetes"), target="y", connection=database.connection)
    np.testing.assert_allclose(found.means, certify(few, table, target="y").means)


def test_postgresql_refuses_wrong_tables_in_one_line(database: PostgreSQL) -> None:
    X, y = load_iris(return_X_y=True, as_frame=True)
    few = MIRCOClassifier(random_state=0).fit(X, y)
    database.fill("short", list(X)[:2], X.to_numpy()[:5, :2])
    with pytest.raises(MismatchedDataError, match="the table has no column 'petal"):
        certify(few, "short", connection=database.connection)
    with pytest.raises(MismatchedDataError, match=r"about table 'nowhere': relation .* does not exist$"):
        certify(few, "nowhere", connection=database.connection)


def with_nan(frame: pd.DataFrame) -> pa.Table:
    """The same numbers in Arrow, in which NaN stays a number."""
    return pa.table({name: pa.array(frame[name].to_numpy(), from_pandas=False) for name in frame})


@pytest.mark.parametrize("null", [False, True])
def test_ibis_tables_count_random_models(null: bool) -> None:
    for case in cases()[::10]:
        frame = frame_of(case)
        table = ibis.memtable(pa.Table.from_pandas(frame, preserve_index=False) if null else with_nan(frame))
        assert as_plain(certify(case.rules, table)) == plain_counts(case, [None] * len(frame))


@pytest.mark.parametrize("drawn", [text_case, named_case, truth_case])
def test_ibis_tables_count_texts_and_truth_values(drawn: Callable[[], tuple[Case, list[Any]]]) -> None:
    case, raw = drawn()
    assert as_plain(certify(case.rules, ibis.memtable(pa.Table.from_pylist(raw)))) == plain_counts(
        case, [None] * len(raw)
    )


def test_ibis_tables_take_hostile_names_for_names() -> None:
    for hostile in HOSTILE[::3]:
        case = hostile_case(hostile)
        labels = [hostile, "plain"] * (len(case.X) // 2)
        table = ibis.memtable(with_nan(frame_of(case)).append_column("label", pa.array(labels)))
        assert as_plain(certify(case.rules, table, target="label")) == plain_counts(case, labels)


def test_postgresql_covers_a_table_that_stays_there(database: PostgreSQL) -> None:
    X, y = make_classification(1500, 4, n_informative=3, n_redundant=0, random_state=0)
    frame = pd.DataFrame(X, columns=["a", "b", "rule_0", "d"])
    forest = RandomForestClassifier(10, max_depth=5, random_state=0).fit(frame[:300], y[:300])
    database.fill("orders", [*frame, "kind"], np.c_[X, y])
    few = cover_table(forest, ("public", "orders"), target="kind", sample=100, connection=database.connection)
    covered = few.apply(frame).toarray()
    assert covered.any(axis=1).all()
    assert (covered & (covered.sum(axis=1) == 1)[:, None]).any(axis=0).all()
    assert few.table_cover_.certificate.support.tolist() == covered.sum(axis=0).tolist()
    assert 50 < few.table_cover_.n_sampled < 200
