"""What is odd about a table is told by the column, the cell and the way out, by fit and explain alike."""

from __future__ import annotations

import datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from commands import run
from typer.testing import Result

from rulecover.export import from_json

N = 80


def rows(**columns: Any) -> pd.DataFrame:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({name: rng.normal(size=N).round(3) for name in "ab"})
    return frame.assign(**({"y": np.where(frame["a"] > 0, "yes", "no")} | columns))


def trained(frame: pd.DataFrame, path: Path, command: str = "fit", *options: object) -> Result:
    frame.to_parquet(path) if path.suffix == ".parquet" else frame.to_csv(path, index=False)
    out = ["-o", path.with_name("model.json")] if command == "fit" else []
    return run(command, path, "-t", "y", "--trees", 3, *out, *options)


def with_a_word(numbers: Any, word: str, row: int) -> list[str]:
    texts = [str(number) for number in numbers]
    texts[row - 1] = word
    return texts


@pytest.mark.slow
@pytest.mark.parametrize("command", ["fit", "explain"])
@pytest.mark.parametrize("options", [[], ["--task", "numbers"]], ids=str)
def test_a_text_among_the_numbers_of_a_target_is_named(command: str, options: list[str], tmp_path: Path) -> None:
    target = with_a_word(np.linspace(-3, 9, N).round(2), "n.a.", 18)

    done = trained(rows(y=target), tmp_path / "rows.csv", command, *options)

    assert done.exit_code == 1 and done.stdout == ""
    assert done.stderr == (
        "error: the target 'y' holds numbers, but 'n.a.' in data row 18; correct the cell, or leave it empty or "
        "add --missing-values n.a. if nothing is known.\n"
    )


def test_rows_without_a_target_count_where_a_cell_is_named(tmp_path: Path) -> None:
    target = with_a_word(np.linspace(-3, 9, N).round(2), "heavy", 18)

    done = trained(rows(y=["", "", *target[2:]]), tmp_path / "rows.csv")

    assert "'heavy' in data row 18" in done.stderr


@pytest.mark.slow
@pytest.mark.parametrize("command", ["fit", "explain"])
def test_labels_that_mix_numbers_and_texts_are_classes_with_a_note(command: str, tmp_path: Path) -> None:
    few = trained(rows(y=with_a_word([0, 1] * (N // 2), "two", 6)), tmp_path / "rows.csv", command)
    half = trained(rows(y=[1, "x"] * (N // 2)), tmp_path / "rows.csv", command)

    told = "note: the target 'y' holds numbers, but also {} in data row {}; each is taken as a class of its own."
    assert few.exit_code == half.exit_code == 0, few.output + half.output
    assert told.format("'two'", 6) in few.stderr
    assert told.format("'x'", 2) in half.stderr


@pytest.mark.slow
def test_a_text_among_the_numbers_of_a_column_is_named(tmp_path: Path) -> None:
    many = with_a_word(rows()["b"], "oops", 5)
    few = with_a_word([1, 2, 3, 4] * (N // 4), "?!", 7)

    done = trained(rows(many=many, few=few), tmp_path / "rows.csv")

    assert done.exit_code == 0, done.output
    assert "column 'many' left out: it holds numbers, but 'oops' in data row 5; correct the cell" in done.stderr
    assert "column 'few' is taken as text: it holds numbers, but '?!' in data row 7." in done.stderr
    assert from_json((tmp_path / "model.json").read_text()).rules.feature_names[:3] == ("a", "b", "few")


DATES = {
    "dates and times": pd.date_range("2020-01-01", periods=N),
    "few dates": pd.to_datetime(["2020-01-01", "2021-01-01"] * (N // 2)),
    "dates": [datetime.date(2020, 1, 1 + row % 9) for row in range(N)],
    "spans": pd.to_timedelta(np.arange(N) % 5, unit="D"),
}


@pytest.mark.slow
@pytest.mark.parametrize("suffix", ["parquet", "csv"])
@pytest.mark.parametrize("kind", DATES)
def test_dates_become_numbers_and_are_not_a_target(kind: str, suffix: str, tmp_path: Path) -> None:
    as_column = trained(rows(when=DATES[kind]), tmp_path / f"rows.{suffix}")
    as_target = trained(rows(y=DATES[kind]), tmp_path / "rows.parquet")
    names = from_json((tmp_path / "model.json").read_text()).rules.feature_names

    assert as_column.exit_code == 0, as_column.output
    if kind != "spans":
        assert {"when (days since 1970-01-01)"} <= set(names)
        assert ("column 'when' holds dates (year-month-day)" in as_column.stderr) == (suffix == "csv")
    elif suffix == "parquet":
        assert "column 'when' left out: it holds times; turn them into numbers first" in as_column.stderr
    assert as_target.exit_code == 1
    assert as_target.stderr.startswith("error: 'y' cannot be the target: it holds ")


@pytest.mark.slow
def test_predictions_from_dates_are_the_same_from_every_file(tmp_path: Path) -> None:
    frame = rows(when=DATES["dates and times"], y=["early"] * (N // 2) + ["late"] * (N // 2)).drop(columns=["a", "b"])
    assert trained(frame, tmp_path / "rows.csv").exit_code == 0
    frame.to_parquet(tmp_path / "rows.parquet")

    by_csv, by_parquet = (
        run("predict", tmp_path / "model.json", tmp_path / f"rows.{kind}") for kind in ("csv", "parquet")
    )

    assert by_csv.exit_code == 0, by_csv.output
    assert by_csv.stdout == by_parquet.stdout
    assert [line.split(",")[0] for line in by_csv.stdout.splitlines()[1:]] == frame["y"].tolist()


@pytest.mark.slow
def test_lists_are_left_out_and_decimals_are_numbers(tmp_path: Path) -> None:
    frame = rows(parts=[[1, 2]] * N, price=[Decimal(row) / 4 for row in range(N)])

    done = trained(frame, tmp_path / "rows.parquet")
    as_target = trained(frame.assign(y=frame["price"]), tmp_path / "rows.parquet")

    assert "column 'parts' left out: it holds lists" in done.stderr
    assert "price" in from_json((tmp_path / "model.json").read_text()).rules.feature_names
    assert "'y' has 80 different numbers and is predicted as a number" in as_target.stderr


@pytest.mark.slow
@pytest.mark.parametrize("cells", [[b"a", b"b"], [b"\xff\0", b"b"]], ids=["letters", "no letters"])
def test_bytes_are_left_out(cells: list[bytes], tmp_path: Path) -> None:
    frame = rows(raw=[cells[row % 2] for row in range(N)])
    done = trained(frame, tmp_path / "rows.parquet")
    as_target = trained(frame.assign(y=frame["raw"]), tmp_path / "rows.parquet")

    assert done.exit_code == 0, done.output
    assert "column 'raw' left out: it holds bytes; turn them into texts first." in done.stderr
    assert "'y' cannot be the target: it holds bytes" in as_target.stderr


def test_nothing_but_times_is_nothing_to_explain_by(tmp_path: Path) -> None:
    done = trained(rows(when=DATES["spans"]).drop(columns=["a", "b"]), tmp_path / "rows.parquet")

    assert done.exit_code == 1
    assert "no column is left to explain 'y' by: column 'when' left out: it holds times" in done.stderr


def test_names_of_a_parquet_file_are_taken_as_they_are(tmp_path: Path) -> None:
    """Unlike those of a header of text, where spaces around a name are layout."""
    frame = rows().rename(columns={"a": " a ", "b": "b\t"})

    done = trained(frame, tmp_path / "rows.parquet")
    without = trained(frame, tmp_path / "rows.parquet", "fit", "--drop", "b\t")
    stripped = trained(frame, tmp_path / "rows.parquet", "fit", "--drop", "b")
    as_csv = trained(frame, tmp_path / "rows.csv", "fit", "--drop", "b")

    assert done.exit_code == without.exit_code == as_csv.exit_code == 0, without.output
    assert from_json((tmp_path / "model.json").read_text()).rules.feature_names == ("a",)
    assert stripped.exit_code == 1 and "has no column 'b' (did you mean 'b\\t'?)" in stripped.stderr


@pytest.mark.slow
@pytest.mark.parametrize("written", ["%Y-%m-%d", "%d/%m/%Y"])
@pytest.mark.parametrize("odd", ["unknown", "2024-02-30"])
def test_a_text_among_dates_is_noted_wherever_it_is_held_out(written: str, odd: str, tmp_path: Path) -> None:
    days = pd.to_datetime("2024-01-20") + pd.to_timedelta(np.arange(N) % 20, "D")
    path = tmp_path / "rows.csv"

    for row in (8, 30, 51, 70):  # some are among the held-out rows
        done = trained(rows(when=with_a_word(days.strftime(written), odd, row)), path, "explain", "--max-rules", 2)
        assert done.exit_code == 0, done.output
        assert f"column 'when' is taken as text: it holds dates, but '{odd}' in data row {row}." in done.stderr
        assert f"if '{odd}' among dates means that nothing is known, add --missing-values {odd}." in done.stderr

    done = trained(rows(when=with_a_word(days.strftime(written), odd, 8)), path, "explain", "--missing-values", odd)
    assert "column 'when' holds dates" in done.stderr


def test_dates_of_which_a_single_one_tells_day_and_month_apart_are_dates_wherever_it_is(tmp_path: Path) -> None:
    for row in range(0, N, 9):
        days = pd.Series(pd.to_datetime("2024-01-05") + pd.to_timedelta(31 * (np.arange(N) % 10), "D"))
        days = days.where(days.dt.day <= 12, pd.Timestamp("2024-03-04"))
        days[row] = pd.Timestamp("2024-01-31")
        late = np.where(days > pd.Timestamp("2024-03-04"), "yes", "no")
        frame = pd.DataFrame({"when": days.dt.strftime("%d/%m/%Y"), "y": late})
        model = tmp_path / "model.json"

        done = trained(frame, tmp_path / "rows.csv", "explain", "--max-rules", 1, "--save", model)
        predicted = run("predict", model, tmp_path / "rows.csv")

        assert done.exit_code == 0 and predicted.exit_code == 0, done.output + predicted.output
        saved = from_json(model.read_text())
        assert {part.written for part in saved.rules.columns.parts.values()} == {"%d/%m/%Y"}
        assert [line.split(",")[0] for line in predicted.stdout.splitlines()[1:]] == saved.predict(frame).tolist()


def test_rules_on_dates_can_be_kept(tmp_path: Path) -> None:
    days = pd.to_datetime("2024-01-20") + pd.to_timedelta(3 * np.arange(N), "D")
    frame = rows(when=days.strftime("%d.%m.%Y"))
    (tmp_path / "keep.txt").write_text("when > 2024-05-31 and a > 0\n")

    first = trained(frame, tmp_path / "rows.csv", "fit", "--folds", 0, "--keep", tmp_path / "keep.txt")
    (tmp_path / "model.json").rename(tmp_path / "first.json")
    again = trained(frame, tmp_path / "rows.csv", "fit", "--folds", 0, "--keep", tmp_path / "first.json")

    assert first.exit_code == 0 and again.exit_code == 0, first.output + again.output
    kept = from_json((tmp_path / "model.json").read_text()).rules[0].text
    assert kept == "a > 0 and when >= 2024-06-01" and kept in first.stdout and kept in again.stdout


def test_dates_may_be_required_and_rise_or_fall(tmp_path: Path) -> None:
    days = pd.Series(pd.to_datetime("2024-01-20") + pd.to_timedelta(3 * np.arange(N), "D"))
    frame = rows(when=days.dt.strftime("%d.%m.%Y"), y=np.where(days.dt.month > 5, "yes", "no"))
    frame.to_csv(tmp_path / "rows.csv", index=False)
    made = ["-o", tmp_path / "model.json", "--folds", 0, "--max-rules", 3, "--require", "when"]

    done = run("fit", tmp_path / "rows.csv", "-t", "y", *made, "--rising", "when")
    against = run("fit", tmp_path / "rows.csv", "-t", "y", *made, "--falling", "when")

    assert done.exit_code == 0, done.output
    shown = str(from_json((tmp_path / "model.json").read_text()).rules)
    assert "when" in shown and "month" not in shown
    assert against.exit_code == 1 and "uses 'when', which is required" in against.stderr


@pytest.mark.parametrize("pool", [[], ["--pool", "boosted"]], ids=str)
def test_dates_are_forbidden_with_all_their_parts(pool: list[str], tmp_path: Path) -> None:
    days = pd.Series(pd.to_datetime("2024-01-20") + pd.to_timedelta(3 * np.arange(N), "D"))
    frame = rows(when=days.dt.strftime("%d.%m.%Y"), y=np.where(days.dt.month > 5, "yes", "no"))
    frame.to_csv(tmp_path / "rows.csv", index=False)
    made = ["-o", tmp_path / "model.json", "--folds", 0, "--max-rules", 3, *pool]

    free = run("fit", tmp_path / "rows.csv", "-t", "y", *made)
    done = run("fit", tmp_path / "rows.csv", "-t", "y", *made, "--forbid", "when")

    assert free.exit_code == 0 and "when" in free.stdout
    assert done.exit_code == 0 and "when" not in done.stdout, done.output
