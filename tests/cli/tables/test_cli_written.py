"""Numbers as people write them: recognised by whole columns, reported, and read by predict as by fit."""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np
import openpyxl
import pandas as pd
import pytest
from commands import run, table
from typer.testing import Result

from rulecover.cli.tables import chunks
from rulecover.cli.tables.header import TableFile, read_header
from rulecover.cli.tables.labelled import read_frame
from rulecover.export import from_json

N = 120
RNG = np.random.default_rng(0)
AMOUNTS = RNG.uniform(0.5, 4000, N).round(2)
KIND = np.where(AMOUNTS > 1500, "dear", "cheap")


def european(number: float) -> str:
    return f"{number:,.2f}".translate(str.maketrans(",.", ".,"))


#: Ways to write the same amounts.
WAYS = {
    "plain": str,
    "dollars": lambda x: f"${x:,.2f}",
    "euros": lambda x: f"{european(x)} €",
    "percent": lambda x: f"{x}%",
    "a decimal comma": lambda x: str(x).replace(".", ","),
    "European": european,
    "Swiss": lambda x: f"CHF {x:,.2f}".replace(",", "'"),
    "French": lambda x: f"{x:,.2f}".replace(",", "\u202f").replace(".", ","),
}


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def write(name: str = "rows.csv", separator: str = ";", **columns: object) -> None:
    pd.DataFrame(columns).to_csv(name, sep=separator, index=False)


def fit(*options: object, target: str = "kind", out: str = "model.json") -> Result:
    return run("fit", "rows.csv", "-t", target, "--trees", 5, "-o", out, *options)


def predictions(*options: object, name: str = "rows.csv", model: str = "model.json") -> list[list[str]]:
    done = run("predict", model, name, *options)
    assert done.exit_code == 0, done.output
    return table(done.stdout)


@pytest.mark.slow
@pytest.mark.parametrize("way", WAYS)
def test_a_column_gives_the_same_rules_and_predictions_however_it_is_written(
    way: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(amount=AMOUNTS, kind=KIND)
    fit(out="plain.json")
    expected = predictions(model="plain.json")
    texts = [WAYS[way](float(x)) for x in AMOUNTS]
    write(amount=texts, kind=KIND)

    done = fit()

    rules, plain = (from_json(Path(name).read_text()) for name in ("model.json", "plain.json"))
    assert done.exit_code == 0, done.output
    assert str(rules.rules) == str(plain.rules)
    assert predictions() == expected
    monkeypatch.setattr(chunks, "CELLS", 8)  # a few rows at a time are read as all at once
    assert predictions() == expected
    if way != "plain":
        telling = [line for line in done.stderr.splitlines() if "column 'amount' is read as numbers: " in line]
        assert len(telling) == 1


@pytest.mark.slow
def test_notes_show_a_cell_and_its_number() -> None:
    write(share=[f"{x}%" for x in AMOUNTS], price=[f"{european(x)} €" for x in AMOUNTS], kind=KIND)

    said = fit().stderr

    longest = max(AMOUNTS, key=lambda x: (x >= 1000, -list(AMOUNTS).index(x)))
    assert f"note: column 'price' is read as numbers: '{european(longest)} €' is {longest:.12g}." in said
    assert f"note: column 'share' is read as numbers: '{AMOUNTS[0]}%' is {AMOUNTS[0]:.12g}." in said


@pytest.mark.slow
def test_a_percentage_is_read_alike_with_and_without_its_sign() -> None:
    write(share=[f"{x}%" for x in AMOUNTS], kind=KIND)
    fit()
    expected = predictions()

    write(share=AMOUNTS, kind=KIND)

    assert predictions() == expected


@pytest.mark.slow
@pytest.mark.parametrize(
    ("trained", "new", "said"),
    [
        (
            ["5.5%", "7.5%"],
            "€5",
            "has '€5' in data row 1, but the model takes numbers there, written with a decimal point and %;",
        ),
        (
            ["$5.5", "$7.5"],
            "5.5 €",
            "'5.5 €' in data row 1, but the model takes numbers there, written with a decimal point and $;",
        ),
        (
            ["5,5", "7,5"],
            "5.5",
            "'5.5' in data row 1, but the model takes numbers there, written with a decimal comma; write it so",
        ),
        (
            [5.5, 7.5],
            "5,5",
            "'5,5' in data row 1, but the model takes numbers there; write it so, or say how numbers are",
        ),
        ([5.5, 7.5], "5%", "'5%' in data row 1, but the model takes numbers there; write it so"),
        ([5.5, 7.5], "heavy", "'heavy' in data row 1, but the model takes numbers there; correct the cell"),
    ],
)
def test_a_cell_in_another_notation_is_refused_and_not_guessed(trained: list[object], new: str, said: str) -> None:
    write(amount=trained * 30, kind=["low", "high"] * 30)
    assert fit().exit_code == 0
    write("new.csv", amount=[new])

    done = run("predict", "model.json", "new.csv")

    assert done.exit_code == 1 and said in done.stderr, done.stderr


@pytest.mark.slow
def test_marks_can_be_named_for_new_cells() -> None:
    write(amount=["5.5", "1207.5"] * 30, kind=["low", "high"] * 30)
    fit()
    write("new.csv", amount=["5,5", "1.207,5"])
    write("grouped.csv", amount=["5.5", "1,207.5"])

    assert [row[0] for row in predictions("--decimal", ",", name="new.csv")] == ["prediction", "low", "high"]
    assert [row[0] for row in predictions("--thousands", ",", name="grouped.csv")] == ["prediction", "low", "high"]


# What a column alone cannot decide -----------------------------------------------------------------------------------

THREE = ["1,234", "5,678", "2,345", "7,891"]


@pytest.mark.slow
def test_an_undecided_column_stays_text_with_a_note() -> None:
    write(amount=THREE * 10, size=[1, 2, 3, 4] * 10, kind=["a", "b"] * 20)

    done = fit()

    assert done.exit_code == 0, done.output
    assert (
        "column 'amount' is taken as text: '1,234' may be 1234 or 1.234; --decimal . or --decimal , decides."
        in done.stderr
    )


@pytest.mark.slow
def test_prices_with_three_digits_after_a_mark_are_thousands_and_a_note_says_so() -> None:
    write(price=["$1,545", "$877", "$3,479", "$591"] * 10, kind=["a", "b"] * 20)

    done = fit()

    assert done.exit_code == 0, done.output
    assert (
        "note: column 'price' is read as numbers: '$1,545' is 1545, so ',' is taken to separate thousands; "
        "--decimal , reads '$1,545' as 1.545." in done.stderr
    )
    assert "price >= 1212" in done.stdout


@pytest.mark.slow
def test_a_column_that_is_dropped_is_not_noted_and_decides_nothing() -> None:
    write(amount=THREE * 10, other=["0,5", "0,7"] * 20, kind=["a", "b"] * 20, size=[1, 2, 3, 4] * 10)

    done = fit("--drop", "other")

    assert done.exit_code == 0, done.output
    assert "'other'" not in done.stderr and "column 'amount' is taken as text" in done.stderr


@pytest.mark.slow
@pytest.mark.parametrize(("decimal", "value"), [(".", "1234"), (",", "1.234")])
def test_a_named_mark_decides(decimal: str, value: str) -> None:
    write(amount=THREE * 10, kind=["a", "b"] * 20)

    assert f"column 'amount' is read as numbers: '1,234' is {value}." in fit("--decimal", decimal).stderr


@pytest.mark.slow
@pytest.mark.parametrize(("other", "value"), [("0,5", "1.234"), ("0.5", "1234"), ("$0.5", "1234")])
def test_the_other_columns_decide_where_they_are_clear(other: str, value: str) -> None:
    write(amount=THREE * 10, other=[other, other.replace("5", "7")] * 20, kind=["a", "b"] * 20)

    assert f"column 'amount' is read as numbers: '1,234' is {value}." in fit().stderr


@pytest.mark.slow
def test_points_between_thousands_are_seen_where_other_columns_have_decimal_commas() -> None:
    write(amount=["1.234", "5.678"] * 20, other=["0,5", "0,7"] * 20, kind=["a", "b"] * 20)

    done = fit()

    assert "column 'amount' is read as numbers: '1.234' is 1234." in done.stderr
    assert predictions()[1][0] == "a" and predictions()[2][0] == "b"


@pytest.mark.slow
def test_points_stay_decimal_points_in_a_table_without_commas() -> None:
    write(amount=["1.234", "5.678"] * 20, other=["1,x", "2"] * 20, kind=["a", "b"] * 20)

    assert "note: column 'amount'" not in fit().stderr


@pytest.mark.slow
def test_units_that_differ_leave_a_column_text() -> None:
    write(share=["5%", "0.07"] * 20, size=[1, 2, 3, 4] * 10, kind=["a", "b"] * 20)

    said = fit().stderr

    assert "column 'share' is taken as text: '5%' and '0.07' are in different units; write all cells alike." in said


PRICES = [f"${k}.50" for k in range(1, 21)] * 3


@pytest.mark.slow
def test_a_text_among_prices_is_named() -> None:
    write(price=[*PRICES[:6], "unknown", *PRICES[7:]], kind=["a", "b"] * 30, size=[1, 2, 3] * 20)

    told = "it holds numbers such as '$1.50', but 'unknown' in data row 7; correct the cell, or leave it empty"
    assert f"column 'price' is taken as text: {told}" in fit().stderr
    assert f"the target 'price' cannot be read as numbers: {told}" in fit(target="price").stderr


# Targets, codes, Excel ----------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_target_of_prices_is_predicted_as_a_number_and_reported_on() -> None:
    write(size=AMOUNTS.round(-1), price=[f"{european(x)} €" for x in AMOUNTS])

    fitted = fit(target="price")
    done = run("report", "model.json", "rows.csv", "-t", "price", "-o", "report.html")

    assert "'price' has 120 different numbers and is predicted as a number" in fitted.stderr
    assert done.exit_code == 0, done.output
    assert "R²" in done.stdout


@pytest.mark.slow
def test_classes_that_are_prices_are_reported_on() -> None:
    write(size=[1, 2, 3, 4] * 10, price=["$1", "$1", "$2", "$2"] * 10)

    assert fit(target="price").exit_code == 0
    assert run("report", "model.json", "rows.csv", "-t", "price", "-o", "report.html").exit_code == 0


def test_a_target_that_cannot_be_decided_is_refused() -> None:
    write(size=[1, 2, 3, 4] * 10, price=THREE * 10)

    assert "the target 'price' cannot be read as numbers: '1,234' may be 1234 or 1.234" in fit(target="price").stderr


def test_codes_with_leading_zeros_stay_text_and_are_found_again() -> None:
    write(
        zip=["01234", "90210", "1234", "00501"] * 15,
        month=["01", "02", "11", "12"] * 15,
        kind=["a", "b", "b", "a"] * 15,
    )

    done = fit("--method", "cover")

    assert "note: column 'zip' is taken as text: '01234' begins with a zero, as codes do." in done.stderr
    assert "note: column 'month'" not in done.stderr
    assert [row[0] for row in predictions()[1:5]] == ["a", "b", "b", "a"]


@pytest.mark.parametrize("before", range(65530, 65540))
def test_a_code_is_found_wherever_it_lies(before: int, folder: Path) -> None:
    path = folder / "codes.csv"
    text = "zip,kind\n" + "12345,a\n" * 8190
    path.write_text(f"{text}{'1' * (before - len(text) - 3)},a\n01234,b\n")
    header = read_header(TableFile(path))

    read_frame(header)

    assert header.file.found.codes
    path.write_text(f"{text}1{'0' * (before - len(text) - 3)},a\n10234,b\n")  # zeros within cells are none
    header = read_header(TableFile(path))
    read_frame(header)
    assert not header.file.found.codes


@pytest.mark.slow
def test_numbers_of_excel_need_no_marks() -> None:
    write(amount=[european(x) for x in AMOUNTS], kind=KIND)
    fit()
    expected = predictions()
    book = openpyxl.Workbook()
    for row in [["amount"], *([float(x)] for x in AMOUNTS)]:
        book.active.append(row)
    book.save("rows.xlsx")

    assert predictions(name="rows.xlsx") == expected
    assert predictions("--decimal", ",", name="rows.xlsx") == expected


@pytest.mark.slow
def test_numbers_of_parquet_need_no_marks_and_texts_are_read_as_in_csv() -> None:
    write(amount=[f"{european(x)} €" for x in AMOUNTS], kind=KIND)
    fit()
    expected = predictions()
    pd.DataFrame({"amount": AMOUNTS}).to_parquet("rows.parquet")
    pd.DataFrame({"amount": [f"{european(x)} €" for x in AMOUNTS]}).to_parquet("texts.parquet")

    assert predictions(name="rows.parquet") == predictions(name="texts.parquet") == expected


def test_what_is_recognised_is_kept_in_the_model_file() -> None:
    write(share=[f"{x}%" for x in AMOUNTS], price=[european(x) for x in AMOUNTS], size=AMOUNTS, kind=KIND)
    fit("--method", "cover")

    text = Path("model.json").read_text()
    columns = from_json(text).rules.columns
    assert {columns.names[f]: str(each) for f, each in columns.notations.items()} == {
        "share": "with a decimal point and %",
        "price": "with a decimal comma",
    }


@pytest.mark.slow
def test_missing_cells_and_none_stay_missing() -> None:
    texts = ["$5", "", "None", "$7"] * 10
    write(amount=texts, kind=["a", "b", "b", "a"] * 10)

    done = fit()

    assert "column 'amount' is read as numbers" in done.stderr
    assert [row[0] for row in predictions()[1:5]] == ["a", "b", "b", "a"]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--decimal", ";"], "--decimal is ';'; the decimal mark is '.' or ','."),
        (["--thousands", "x"], "--thousands is 'x'; the mark is one of ',', '.', ' ', \"'\"."),
        (["--decimal", ",", "--thousands", ","], "--decimal and --thousands are both ','; leave one of them out."),
    ],
)
def test_odd_marks_are_refused(options: list[str], said: str) -> None:
    write(amount=AMOUNTS, kind=KIND)

    assert said in fit(*options).stderr


@pytest.mark.slow
def test_standard_input_is_read_alike() -> None:
    write(amount=[european(x) for x in AMOUNTS], kind=KIND)
    fit()

    piped = run("predict", "model.json", "-", stdin=Path("rows.csv").read_bytes())

    assert list(pd.read_csv(io.StringIO(piped.stdout))["prediction"]) == [row[0] for row in predictions()[1:]]


# Cells without a number ---------------------------------------------------------------------------------------------

NUMBERS = [round(0.1 * k, 1) for k in range(60)]
HALVES = ["a"] * 30 + ["b"] * 30


def with_gaps(cells: list[float], gap: object, written: str = "{}") -> list[object]:
    """The cells, of which every seventh is not known."""
    return [gap if k % 7 == 0 else written.format(cell) for k, cell in enumerate(cells)]


@pytest.mark.slow
@pytest.mark.parametrize("written", ["{}", "${}"])
def test_a_dash_among_numbers_is_a_missing_number_in_every_command(written: str) -> None:
    write(amount=with_gaps(NUMBERS, ""), kind=HALVES)
    fit(out="empty.json")
    expected = predictions(model="empty.json")
    write(amount=with_gaps(NUMBERS, "-", written), kind=HALVES)

    done = fit()

    assert "column 'amount' is read as numbers: '-' is taken as missing (9 cells); write 0 there if it" in done.stderr
    assert predictions() == expected
    assert from_json(Path("model.json").read_text()).rules.columns.notations[0].missing == ("-",)
    assert "Row 1: amount = missing" in run("why", "model.json", "rows.csv").stdout
    assert " of 60 rows " in run("certify", "model.json", "--table", "rows.csv", "-t", "kind").stdout
    assert run("report", "model.json", "rows.csv", "-t", "kind", "-o", "report.html").exit_code == 0
    pd.read_csv("rows.csv", sep=";").to_parquet("rows.parquet")
    assert predictions(name="rows.parquet") == expected
    assert fit(target="amount").exit_code == 1  # a target must be clear


@pytest.mark.slow
def test_a_dash_is_refused_where_the_training_table_had_none() -> None:
    write(amount=NUMBERS, kind=HALVES)
    fit()
    write("new.csv", amount=["-", "5"])

    done = run("predict", "model.json", "new.csv")

    assert done.exit_code == 1
    told = "'-' in data row 1, but the model takes numbers there; correct the cell, or leave it empty or add"
    assert f"{told} --missing-values - if nothing is known." in done.stderr
    assert len(predictions("--missing-values", "-", name="new.csv")) == 3


@pytest.mark.slow
def test_a_dash_among_texts_stays_a_text() -> None:
    write(sign=["+", "-"] * 30, kind=HALVES, amount=NUMBERS)

    assert "'sign'" not in fit().stderr


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_texts_that_mean_missing_can_be_named_and_are_kept_in_the_model_file(kind: str) -> None:
    def table_with(gap: object, other: object) -> None:
        colours = [["red", "blue", "red", other][k % 4] for k in range(60)]
        write(amount=with_gaps(NUMBERS, gap), colour=colours, kind=HALVES)
        if kind == "parquet":
            pd.read_csv("rows.csv", sep=";").to_parquet("rows.parquet")

    name = f"rows.{kind}"
    settings = ("--method", "cover", "--trees", 5, "--folds", 0, "--max-levels", 60)
    table_with("", "")
    run("fit", name, "-t", "kind", "-o", "empty.json", *settings)
    expected = predictions(model="empty.json", name=name)
    table_with("unknown", "not said")

    said = run("fit", name, "-t", "kind", *settings).stderr
    named = ("--missing-values", "unknown", "--missing-values", "not said")
    done = run("fit", name, "-t", "kind", *settings, *named)

    assert "column 'amount' is taken as text: it holds numbers, but 'unknown' in data row 1" in said
    assert "if 'unknown' among numbers means that nothing is known, add --missing-values unknown." in said
    assert done.exit_code == 0, done.output
    assert "'unknown'" not in done.stderr
    assert predictions(name=name) == expected
    assert predictions(*named, name=name) == expected
    assert predictions("--keep", "amount", name=name)[1][0] == "unknown"  # as it is in the file
    loaded = from_json(Path("model.json").read_text())
    assert loaded.rules.columns.missing_values == ("unknown", "not said")


@pytest.mark.slow
def test_labels_that_mean_missing_leave_rows_out_in_fit_and_in_report() -> None:
    write(amount=NUMBERS, kind=["unknown", *HALVES[1:]])

    done = fit("--missing-values", "unknown")
    shown = run("report", "model.json", "rows.csv", "-t", "kind", "-o", "report.html")

    assert "1 row without a value of 'kind' left out." in done.stderr
    assert shown.exit_code == 0, shown.output
    assert "1 row without a value of 'kind' left out." in shown.stderr


@pytest.mark.slow
def test_a_number_can_mean_missing() -> None:
    write(amount=with_gaps(NUMBERS, ""), kind=HALVES)
    fit(out="empty.json")
    expected = predictions(model="empty.json")
    write(amount=with_gaps(NUMBERS, -999), kind=HALVES)

    done = fit("--missing-values", "-999")

    assert done.exit_code == 0, done.output
    assert predictions() == expected
