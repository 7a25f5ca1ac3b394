"""A first line that is a row already is recognised, and a header is not taken for one."""

from __future__ import annotations

from pathlib import Path

import pytest
from commands import run

from rulecover.cli.tables.first_line import looks_like_data

WITHOUT_HEADER = {
    "numbers and texts": "39,State-gov,77516,HS,13,<=50K;50,Private,83311,HS,13,>50K;38,Private,215646,HS,9,<=50K",
    "numbers as people write them": "1360,blue,08.02.2020,34.3%,$1 545;1317,red,19.01.2015,24.8%,$1 877",
    "texts that recur": "p,x,s,n;e,x,y,w;p,b,s,w;e,x,s,n",
    "truths": "True,7.5,a b;False,8.5,c d;True,9.5,e f",
    "the same row again": "x,low,3;x,low,3;x,high,4",
    "a missing value first": "?,7,red;5,8,blue;6,9,red",
}
WITH_HEADER = {
    "names": "age,job,wage;39,clerk,7;40,cook,8",
    "years": "country,2018,2019,2020;Chad,2100,1950,2000;Peru,2200,2210,2250",
    "some years": "country,2000,2010,2015,2020;Chad,2100,1950,2000,3;Peru,2200,2210,2250,4",
    "years, latest first": "country,2020,2015,2000;Chad,2100,1950,2000;Peru,2200,2210,2250",
    "one year": "country,2020,total;Chad,2100,1950;Peru,2200,2210",
    "days": "country,1/22/20,1/23/20,1/24/20;Chad,5,7,8;Peru,1,2,3",
    "numbered columns": "0,1,2,3;5.1,1.2,3.3,4;4.1,2.2,1.3,2",
    "wavelengths": "sample,400,402,404,406;a,411,400,390,500;b,408,401,409,410",
    "texts only": "name,town;Ann,Rome;Bob,Bonn;Cid,Rome",
    "a header that comes again": "name,town;Ann,Rome;name,town;Cid,Rome",
    "a name among words": "word,count;word,5;name,7",
    "sizes unlike the numbers below": "item,7,90000;a,1500,3;b,1700,4;c,1650,5",
}


def _lines(text: str) -> list[list[str]]:
    return [line.split(",") for line in text.split(";")]


@pytest.mark.parametrize("case", WITHOUT_HEADER)
def test_a_row_is_recognised_by_the_rows_below_it(case: str) -> None:
    names, *rows = _lines(WITHOUT_HEADER[case])
    assert looks_like_data(names, rows)


@pytest.mark.parametrize("case", WITH_HEADER)
def test_a_header_is_not_taken_for_a_row(case: str) -> None:
    names, *rows = _lines(WITH_HEADER[case])
    assert not looks_like_data(names, rows)


def test_where_no_row_is_known_most_names_must_be_numbers() -> None:
    assert looks_like_data(["5.1", "3.5", "1.4", "0.2", "setosa"])
    assert not looks_like_data(["39", "State-gov", "77516", "Bachelors", "13", "<=50K"])


def test_an_unknown_target_of_a_file_without_a_header_names_the_way_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("rows.csv").write_text(WITHOUT_HEADER["numbers and texts"].replace(";", "\n"), encoding="utf-8")

    done = run("explain", "rows.csv", "--target", "income")

    assert done.exit_code == 1
    assert "has no column 'income'" in done.stderr and "--no-header takes it as a row." in done.stderr


def test_a_file_without_a_header_is_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    rows = [f"{20 + 7 * k % 31},{'red' if k % 3 else 'blue'},{'high' if 7 * k % 31 > 12 else 'low'}" for k in range(40)]
    Path("rows.csv").write_text("\n".join(rows), encoding="utf-8")

    done = run("fit", "rows.csv", "--target", "low", "--trees", 3, "--folds", 0)

    assert "note: The first line of rows.csv looks like data" in done.stderr


def test_a_row_with_the_same_cell_twice_is_advised_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("rows.csv").write_text("5,5,low\n" + "4,7,high\n5,3,low\n" * 15, encoding="utf-8")

    done = run("explain", "rows.csv", "--target", "low")

    assert done.exit_code == 1 and done.stderr.count("--no-header") == 1
