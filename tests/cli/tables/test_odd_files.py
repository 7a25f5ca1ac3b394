"""Files as people have them: each is read as a person would read it, or refused in one line with the way out."""

from __future__ import annotations

import bz2
import contextlib
import datetime
import gzip
import io
import json
import lzma
import os
import pickle
import sys
import tarfile
import tempfile
import threading
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import openpyxl
import pandas as pd
import pytest
from commands import run, table
from hypothesis import given
from hypothesis import strategies as st

from rulecover.cli.tables.encoding import for_forests
from rulecover.cli.tables.header import TableFile, read_header
from rulecover.cli.tables.labelled import labelled_table, read_frame
from rulecover.cli.tables.letters import _guessed
from rulecover.cli.tables.opening import utf8
from rulecover.cli.tables.reading import Reading
from rulecover.cli.tables.streams import Found
from rulecover.exceptions import RulecoverError

N = 40
HEIGHT, TOWN = "Größe", "Ort"


def rows() -> list[list[str]]:
    """A header and rows: numbers with gaps, towns with umlauts, and a kind that the numbers tell."""
    rng = np.random.default_rng(0)
    heights = rng.uniform(1, 9, N).round(2)
    towns = rng.choice(["Köln", "Bad Ems", "Lübeck"], N)
    cells = [[f"{h}", f"{t}", "high" if h > 5 else "low"] for h, t in zip(heights, towns, strict=True)]
    cells[3][0] = ""
    return [[HEIGHT, TOWN, "kind"], *cells]


ROWS = rows()


def csv(separator: str = ",", ends: str = "\n", given: list[list[str]] = ROWS) -> str:
    return "".join(separator.join(row) + ends for row in given)


def zipped(**members: str | bytes) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name.replace("_DOT_", ".").replace("_IN_", "/"), content)
    return file.getvalue()


def excel(*sheets: tuple[str, list[list[Any]]]) -> bytes:
    book, file = openpyxl.Workbook(), io.BytesIO()
    book.remove(book.active)
    for name, cells in sheets:
        sheet = book.create_sheet(name)
        for row in cells:
            sheet.append(row)
    book.save(file)
    return file.getvalue()


def with_sheet(book: bytes, old: str, new: str) -> bytes:
    """An Excel file whose first sheet is written otherwise."""
    file = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(book)) as given, zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as made:
        for member in given.infolist():
            content = given.read(member)
            if member.filename.endswith("sheet1.xml"):
                assert old.encode() in content
                content = content.replace(old.encode(), new.encode())
            made.writestr(member, content)
    return file.getvalue()


def typed(cells: list[list[str]] = ROWS) -> list[list[Any]]:
    """The cells as Excel has them."""
    return [cells[0], *([float(row[0]) if row[0] else None, *row[1:]] for row in cells[1:])]


def tarred(content: bytes) -> bytes:
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode="w") as archive:
        member = tarfile.TarInfo("rows.csv")
        member.size = len(content)
        archive.addfile(member, io.BytesIO(content))
    return file.getvalue()


def parquet(frame: pd.DataFrame) -> bytes:
    file = io.BytesIO()
    frame.to_parquet(file)
    return file.getvalue()


def packed(content: bytes, times: int) -> bytes:
    for _ in range(times):
        content = gzip.compress(content)
    return content


UTF8 = csv().encode()
MORE_SEPARATORS = [ROWS[0], *([*row, ""] for row in ROWS[1:])]
TWO_SHEETS = excel(("Rows", typed()), ("Notes", [["written by", "me"]]))

#: Files that hold the same table: the name, what is in it, the options, and a part of the notes.
READ: dict[str, tuple[str, bytes, list[str], str]] = {
    "plain": ("rows.csv", UTF8, [], ""),
    "a byte order mark": ("rows.csv", csv().encode("utf-8-sig"), [], ""),
    "UTF-16 with a mark": ("rows.csv", csv().encode("utf-16"), [], "rows.csv is read as UTF-16."),
    "UTF-16, big end first": ("rows.csv", b"\xfe\xff" + csv().encode("utf-16-be"), [], "rows.csv is read as UTF-16."),
    "UTF-16 without a mark": ("rows.csv", csv().encode("utf-16-le"), [], "rows.csv is read as UTF-16-LE."),
    "UTF-32": ("rows.csv", csv().encode("utf-32"), [], "rows.csv is read as UTF-32."),
    "Windows-1252": ("rows.csv", csv().encode("cp1252"), [], "rows.csv is not UTF-8 and is read as Windows-1252"),
    "latin-1 by name": ("rows.csv", csv().encode("latin-1"), ["--encoding", "latin-1"], ""),
    "the Mac's encoding by name": ("rows.csv", csv().encode("mac-roman"), ["--encoding", "mac-roman"], ""),
    "semicolons": ("rows.csv", csv(";").encode(), [], ""),
    "tabs": ("rows.tsv", csv("\t").encode(), [], ""),
    "bars": ("rows.txt", csv("|").encode(), [], ""),
    "another separator": ("rows.csv", csv("^").encode(), ["--separator", "^"], ""),
    "Excel's hint of the separator": ("rows.csv", ("sep=;\r\n" + csv(";", "\r\n")).encode(), [], ""),
    "lines of Windows": ("rows.csv", csv(ends="\r\n").encode(), [], ""),
    "lines of old Macs": ("rows.csv", csv(ends="\r").encode(), [], ""),
    "no line end at the end": ("rows.csv", csv().rstrip("\n").encode(), [], ""),
    "empty lines": ("rows.csv", ("\n\n" + csv(ends="\n\n")).encode(), [], ""),
    "separators at the end of rows": (
        "rows.csv",
        csv(given=[ROWS[0], *([*row, ""] for row in ROWS[1:])]).encode(),
        [],
        "",
    ),
    "quoted cells": ("rows.csv", csv(given=[[f'"{cell}"' for cell in row] for row in ROWS]).encode(), [], ""),
    "blanks after separators": ("rows.csv", csv(", ").encode(), [], ""),
    "gz": ("rows.csv.gz", gzip.compress(UTF8), [], ""),
    "gz in gz": ("rows.csv.gz", packed(UTF8, 10), [], ""),
    "gz by another name": ("rows.csv", gzip.compress(UTF8), [], ""),
    "bz2": ("rows.csv.bz2", bz2.compress(UTF8), [], ""),
    "xz": ("rows.csv.xz", lzma.compress(UTF8), [], ""),
    "gz of Windows-1252": ("rows.gz", gzip.compress(csv(";").encode("cp1252")), [], "read as Windows-1252"),
    "zip": ("rows.zip", zipped(rows_DOT_csv=UTF8), [], "'rows.csv' in rows.zip is read."),
    "zip with a readme and a Mac's folder": (
        "rows.zip",
        zipped(a_IN_rows_DOT_csv=UTF8, README_DOT_md="hello", __MACOSX_IN__rows_DOT_csv=b"\0\1"),
        [],
        "'a/rows.csv' in rows.zip is read.",
    ),
    "zip with a choice": (
        "rows.zip",
        zipped(rows_DOT_csv=UTF8, other_DOT_csv="a,b\n1,2\n"),
        ["--sheet", "rows.csv"],
        "",
    ),
    "Excel": ("rows.xlsx", excel(("Rows", typed())), [], ""),
    "Excel with two sheets": ("rows.xlsx", TWO_SHEETS, [], "the first sheet of rows.xlsx, 'Rows', is read; --sheet"),
    "Excel with a sheet by name": (
        "rows.xlsx",
        excel(("Notes", [["me"]]), ("Rows", typed())),
        ["--sheet", "Rows"],
        "",
    ),
    "Excel with empty rows": ("rows.xlsx", excel(("Rows", [[], *typed(), [], [None, None]])), [], ""),
    "Excel that says it is smaller": (
        "rows.xlsx",
        with_sheet(excel(("Rows", typed())), f"A1:C{N + 1}", "A1:B20"),
        [],
        "",
    ),
    "Excel that says it is larger": (
        "rows.xlsx",
        with_sheet(excel(("Rows", typed())), f"A1:C{N + 1}", "A1:XFD1048576"),
        [],
        "",
    ),
    "Excel in a zip": ("rows.zip", zipped(rows_DOT_xlsx=excel(("Rows", typed()))), [], "'rows.xlsx' in rows.zip"),
    "Parquet": ("rows.parquet", parquet(pd.read_csv(io.StringIO(csv()))), [], ""),
    "a separator in a name": (
        "rows.csv",
        csv(";").replace(TOWN, "Ort, Land").encode(),
        [],
        "",
    ),
}

#: Files that are refused: the name, what is in it, the options, and what is said.
REFUSED: dict[str, tuple[str, bytes | None, list[str], str]] = {
    "nothing there": ("rows.csv", None, [], "there is no file 'rows.csv' here; check the name and the folder."),
    "an address": ("https://example.org/rows.csv", None, [], "is an address, and only files are read; download it"),
    "an empty file": ("rows.csv", b"", [], "rows.csv is empty; it needs a header line and rows below it."),
    "blanks": ("rows.csv", b" \n\n  \n", [], "rows.csv is empty"),
    "an empty gz": ("rows.csv.gz", gzip.compress(b""), [], "rows.csv.gz is empty"),
    "only a header": (
        "rows.csv",
        b"a,kind\n",
        [],
        "rows.csv has 0 rows with a value of 'kind'; at least 10",
    ),
    "Excel with a row too far": (
        "rows.xlsx",
        with_sheet(excel(("Rows", typed())), f'<row r="{N}">', '<row r="99999999999">'),
        [],
        "rows.xlsx is damaged or cut short (a row is beyond the 1,048,576 that a sheet has); fetch or save it again.",
    ),
    "a PDF file": ("rows.csv", b"%PDF-1.7\n%\xe2\xe3", [], "rows.csv is a PDF file, not a table in text; copy"),
    "an old Excel file": ("rows.xls", b"\xd0\xcf\x11\xe0\xa1\xb1", [], "is an old Excel file (.xls), not a table"),
    "a picture": ("rows.csv", b"\x89PNG\r\n\x1a\n\0\0", [], "rows.csv is a picture, not a table"),
    "a pickle": ("rows.csv", pickle.dumps([1, 2]), [], "rows.csv is a Python pickle, not a table in text; save"),
    "a tar archive": ("rows.tar", tarred(UTF8), [], "rows.tar is a tar archive, not a table in text; unpack it first."),
    "a compressed tar archive": ("rows.tgz", gzip.compress(tarred(UTF8)), [], "rows.tgz is a tar archive"),
    "Parquet by another name": (
        "rows.csv",
        parquet(pd.DataFrame({"a": [1]})),
        [],
        "rows.csv is a Parquet file, not a table in text; let its name end in .parquet.",
    ),
    "CSV that is called Parquet": ("rows.parquet", UTF8, [], "rows.parquet is not a valid Parquet file"),
    "JSON": ("rows.csv", json.dumps([{"a": 1}]).encode(), [], "rows.csv is JSON, not a table; save"),
    "a web page": ("rows.csv", b"<!DOCTYPE html>\n<html>", [], "rows.csv is a web page or XML, not a table; save"),
    "an office document": ("rows.zip", zipped(word_IN_document_DOT_xml=b"<w/>"), [], "is an office document, not a"),
    "an empty zip": ("rows.zip", zipped(), [], "rows.zip is a zip archive without a file in it"),
    "several tables in a zip": (
        "rows.zip",
        zipped(a_DOT_csv=UTF8, b_DOT_csv=UTF8),
        [],
        "rows.zip is a zip archive of several files; choose one with --sheet: 'a.csv', 'b.csv'.",
    ),
    "no such table in a zip": (
        "rows.zip",
        zipped(a_DOT_csv=UTF8),
        ["--sheet", "x.csv"],
        "rows.zip is a zip archive without a file 'x.csv'; it has 'a.csv'.",
    ),
    "no such sheet": (
        "rows.xlsx",
        TWO_SHEETS,
        ["--sheet", "rows"],
        "rows.xlsx has no sheet 'rows'; it has 'Rows', 'Notes'",
    ),
    "gz without end": (
        "rows.csv.gz",
        packed(UTF8, 11),
        [],
        "rows.csv.gz is packed more than 10 times over; unpack it first.",
    ),
    "half of a gz": ("rows.csv.gz", gzip.compress(UTF8)[:-20], [], "rows.csv.gz is damaged or cut short"),
    "half of an Excel file": ("rows.xlsx", TWO_SHEETS[:800], [], "rows.xlsx is damaged or cut short"),
    "bytes": ("rows.csv", bytes(range(256)) * 4, [], "rows.csv is n"),
    "zeros": ("rows.csv", bytes(100), [], "rows.csv is not a CSV file: it is not text"),
    "Cyrillic": (
        "rows.csv",
        "город,kind\nМосква,1\n".encode("cp1251"),
        [],
        "rows.csv is neither UTF-8 nor Windows-1252; save it as CSV (UTF-8), or name its encoding with --encoding",
    ),
    "two encodings in one": ("rows.csv", UTF8 + "Köln".encode("cp1252"), [], "not in one encoding throughout"),
    "another encoding than the one named": (
        "rows.csv",
        csv().encode("cp1252"),
        ["--encoding", "utf-8"],
        "rows.csv is not text in utf-8",
    ),
    "no such encoding": (
        "rows.csv",
        UTF8,
        ["--encoding", "ebcdic-42"],
        "there is no encoding 'ebcdic-42'; common",
    ),
    "a separator of two characters": ("rows.csv", UTF8, ["--separator", "||"], "must be a single character"),
    "no header": (
        "rows.csv",
        b"5.1,3.5,1.4,low\n" + b"4.9,3.0,1.5,high\n" * 30,
        [],
        "The first line of rows.csv looks like data, not like names of columns; --no-header takes it as a row.",
    ),
    "no header, and no cells": ("rows.csv", b",,\n" * 30, ["--no-header"], "rows.csv is empty; it needs rows"),
    "no header, and the same twice": ("rows.csv", b"x,x,low\n" * 30, [], "add --no-header if its first line is a row"),
    "a title above the header": (
        "rows.csv",
        b"Sales 2020\n\n" + UTF8,
        [],
        "it has 'Sales 2020'. If that is not all, name the separator with --separator, or delete the lines above",
    ),
    "blanks between cells": (
        "rows.csv",
        csv(" ").encode(),
        [],
        "If that is not all, name the separator with --separator",
    ),
    "one name for two columns": (
        "rows.csv",
        b"a,a,kind\n1,2,low\n",
        [],
        "more than one column named 'a'; rename",
    ),
    "rows that are too long": (
        "rows.csv",
        b"a,kind\n" + b"1,low\n" * 20 + b"1,2,low\n",
        [],
        "rows.csv is not a valid CSV file: Expected 2 fields in line 22, saw 3 (cells separated by ','; --separator",
    ),
    "rows with more cells than names": (
        "rows.csv",
        b"a,kind\n" + b"1,low,7\n" * 20,
        [],
        "rows.csv is not a valid CSV file: rows have more cells than the header has names (cells separated by ','",
    ),
    "a quote that does not end": ("rows.csv", UTF8 + b'"open,1,low\n', [], "rows.csv is not a valid CSV file"),
    "one column": ("rows.csv", b"kind\n" + b"low\nhigh\n" * 10, [], "no column is left to explain 'kind' by"),
}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def frame_of(file: TableFile) -> pd.DataFrame:
    return pd.read_parquet(file.path) if file.is_parquet else read_frame(read_header(file))[0]


def reading_of(options: list[str]) -> Reading:
    return Reading(**{name.removeprefix("--"): value for name, value in zip(options[::2], options[1::2], strict=True)})


@pytest.mark.slow
@pytest.mark.parametrize("odd", READ)
def test_an_odd_file_is_read_as_the_plain_one(odd: str, folder: Path) -> None:
    name, content, options, note = READ[odd]
    (folder / name).write_bytes(content)
    file = TableFile(Path(name), reading_of(options))

    frame = frame_of(file)

    expected = pd.read_csv(io.StringIO(csv()))
    if odd == "a separator in a name":
        expected = expected.rename(columns={TOWN: "Ort, Land"})
    pd.testing.assert_frame_equal(frame, expected, check_dtype=False)
    assert note in " ".join(file.found.notes) if note else not file.found.notes


@pytest.mark.slow
@pytest.mark.parametrize("odd", READ)
def test_an_odd_file_gives_the_same_predictions_as_the_plain_one(odd: str, folder: Path, model: bytes) -> None:
    name, content, options, note = READ[odd]
    (folder / "model.json").write_bytes(model)
    (folder / "plain.csv").write_bytes(UTF8)
    (folder / name).write_bytes(content)

    plain = run("predict", "model.json", "plain.csv", "--keep", "kind")
    done = run("predict", "model.json", name, "--keep", "kind", *options)

    assert done.exit_code == 0, done.output
    assert without_blanks(done.stdout) == without_blanks(plain.stdout) and len(table(done.stdout)) == N + 1
    assert note in done.stderr
    if not name.endswith(".parquet"):
        piped = run("predict", "model.json", "-", "--keep", "kind", *options, stdin=content)
        assert (piped.exit_code, piped.stdout) == (0, done.stdout), piped.output


def without_blanks(text: str) -> list[list[str]]:
    return [[cell.strip() for cell in row] for row in table(text)]


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    made = tmp_path_factory.mktemp("model")
    (made / "rows.csv").write_bytes(UTF8)
    done = run("fit", made / "rows.csv", "-t", "kind", "--drop", TOWN, "--trees", 5, "-o", made / "model.json")
    assert done.exit_code == 0, done.output
    return (made / "model.json").read_bytes()


@pytest.mark.slow
@pytest.mark.parametrize("odd", REFUSED)
def test_an_odd_file_is_refused_in_one_line_with_the_way_out(odd: str, folder: Path) -> None:
    name, content, options, said = REFUSED[odd]
    if content is not None:
        (folder / name).write_bytes(content)

    done = run("fit", name, "-t", "kind", "--trees", 3, *options)

    assert (done.exit_code, done.stdout) == (1, ""), done.output
    told = [line for line in done.stderr.splitlines() if not line.startswith("note: ")]
    assert len(told) == 1 and told[0].startswith("error: ") and said in told[0], done.stderr


def test_a_folder_is_named_as_one_with_a_file_in_it(folder: Path) -> None:
    (folder / "empty").mkdir()
    (folder / "data").mkdir()
    (folder / "data" / "rows.csv").write_text(csv(), encoding="utf-8")

    assert "'data' is a folder; name a file in it, such as 'data/rows.csv'." in run("fit", "data", "-t", "kind").stderr
    assert "'empty' is a folder; name a file." in run("explain", "empty", "-t", "kind").stderr


@pytest.mark.slow
def test_cells_behind_the_last_column_are_refused_by_predict(folder: Path, model: bytes) -> None:
    (folder / "model.json").write_bytes(model)
    (folder / "rows.csv").write_text(csv(given=[*MORE_SEPARATORS, ["1", "2", "3", "4"]]), encoding="utf-8")

    done = run("predict", "model.json", "rows.csv")

    assert done.exit_code == 1 and "rows have more cells than the header has names" in done.stderr


@st.composite
def damaged(draw: st.DrawFn) -> tuple[str, bytes]:
    """One of the files that can be read, with some bytes changed, left out or added."""
    name, content, *_ = READ[draw(st.sampled_from(sorted(READ)))]
    place = draw(st.integers(0, len(content)))
    gone, more = draw(st.integers(0, 30)), draw(st.binary(max_size=5) | st.sampled_from([b'"', b"\0", b"\n", b",,,"]))
    end = draw(st.sampled_from([None, place + gone + 50]))
    return name, content[:place] + more + content[place + gone : end]


@pytest.mark.slow
@given(damaged())
def test_a_damaged_file_is_read_or_refused_but_never_a_surprise(file: tuple[str, bytes]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / file[0]
        path.write_bytes(file[1])
        with contextlib.suppress(RulecoverError):
            labelled_table(path, "kind", drop=[], columns=for_forests(50), reading=Reading())


# Excel ----------------------------------------------------------------------------------------------------------------

#: Cells of Excel, and how they are written in CSV.
CELLS = {
    datetime.datetime(2020, 1, 31): "2020-01-31",
    datetime.datetime(2020, 1, 31, 8, 30): "2020-01-31 08:30:00",
    True: "TRUE",
    False: "FALSE",
    0.1: "0.1",
    7: "7",
    1e300: "1e+300",
    "#DIV/0!": "",
    "#N/A": "#N/A",
    "007": "007",
    'a "quoted", cell\nof two lines': 'a "quoted", cell\nof two lines',
}


def test_cells_of_excel_are_read_as_people_see_them(folder: Path) -> None:
    (folder / "rows.xlsx").write_bytes(excel(("Rows", [["first", "cell"], *([1, cell] for cell in CELLS)])))

    with TableFile(Path("rows.xlsx")).open() as content:
        read = table(content.read().decode())

    assert read == [["first", "cell"], *(["1", text] for text in CELLS.values())]


#: As Excel keeps them: with 15 digits.
EXCEL_NUMBERS = st.floats(allow_nan=False, allow_infinity=False).map(lambda x: float(f"{x:.15g}")).filter(np.isfinite)


@pytest.mark.slow
@given(st.lists(EXCEL_NUMBERS | st.integers(-(10**15), 10**15), min_size=1, max_size=5))
def test_numbers_of_excel_are_read_back_exactly(numbers: list[float]) -> None:
    text = text_of(excel(("Rows", [["a", "b"], *([1, number] for number in numbers)])))

    assert [float(row[1]) for row in table(text)[1:]] == [float(number) for number in numbers]


def test_without_openpyxl_the_extra_is_named(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / "rows.xlsx").write_bytes(TWO_SHEETS)
    monkeypatch.setitem(sys.modules, "openpyxl", None)

    said = run("fit", "rows.xlsx", "-t", "kind").stderr

    assert said.startswith(
        "error: Excel files need the package openpyxl; install it with: pip install 'rulecover[excel]'"
    )


@pytest.mark.slow
@pytest.mark.parametrize("odd", ["gz", "Excel", "zip", "UTF-16 with a mark", "Windows-1252"])
def test_standard_input_may_be_an_odd_file_too(odd: str, folder: Path) -> None:
    done = run("fit", "-", "-t", "kind", "--trees", 3, stdin=READ[odd][1])

    assert done.exit_code == 0, done.output
    assert HEIGHT in done.stdout


@pytest.mark.slow
@pytest.mark.parametrize("odd", ["plain", "gz", "Excel"])
def test_a_pipe_with_a_name_may_be_read(odd: str, folder: Path, model: bytes) -> None:
    (folder / "model.json").write_bytes(model)
    os.mkfifo("pipe")
    for words in (("fit", "pipe", "-t", "kind", "--trees", 3, "-o", "new.json"), ("predict", "model.json", "pipe")):
        writer = threading.Thread(target=Path("pipe").write_bytes, args=(READ[odd][1],))
        writer.start()
        done = run(*words)
        writer.join()
        assert done.exit_code == 0, done.output


# Without a header -----------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_file_without_a_header_has_numbered_columns(folder: Path) -> None:
    (folder / "rows.csv").write_text(csv(given=ROWS[1:]), encoding="utf-8")

    fitted = run("fit", "rows.csv", "-t", "column_3", "--no-header", "--trees", 5)
    done = run("predict", "model.json", "rows.csv", "--no-header", "--keep", "column_2")
    piped = run("predict", "model.json", "-", "--no-header", "--keep", "column_2", stdin=csv(given=ROWS[1:]).encode())
    forgotten = run("predict", "model.json", "rows.csv")

    assert fitted.exit_code == 0, fitted.output
    assert "column_1 <= " in fitted.stdout
    assert [row[0] for row in table(done.stdout)] == ["column_2", *(row[1] for row in ROWS[1:])]
    assert piped.stdout == done.stdout
    assert forgotten.exit_code == 1 and "If its first line is a row already, add --no-header." in forgotten.stderr


@pytest.mark.slow
def test_a_header_of_numbers_is_kept_with_a_note(folder: Path) -> None:
    (folder / "rows.csv").write_text("5.1,7,kind\n" + "".join(f"{k},{k % 7},{'ab'[k % 2]}\n" for k in range(30)))

    done = run("fit", "rows.csv", "-t", "kind", "--trees", 3)

    assert done.exit_code == 0
    assert "note: The first line of rows.csv looks like data, not like names of columns; --no-header" in done.stderr


# Properties -----------------------------------------------------------------------------------------------------------

CELL = st.text(st.characters(blacklist_categories=("Cs", "Cc"), blacklist_characters='",\ufeff'), max_size=6)


def text_of(content: bytes, reading: Reading | None = None) -> str:
    with utf8(io.BytesIO(content), "rows.csv", reading or Reading(), Found()) as text:
        return text.read().decode()


@given(st.lists(st.lists(CELL, min_size=2, max_size=3), min_size=1, max_size=5))
def test_a_text_in_any_unicode_encoding_is_read_as_it_is(cells: list[list[str]]) -> None:
    text = "name,kind\n" + "\n".join(",".join(row) for row in cells)

    for encoding in ("utf-8", "utf-8-sig", "utf-16", "utf-32"):
        assert text_of(text.encode(encoding)) == text
        assert text_of(gzip.compress(text.encode(encoding))) == text
    for encoding in ("utf-16-le", "utf-16-be", "utf-8"):
        assert text_of(text.encode(encoding), Reading(encoding=encoding)) == text


WORDS = st.lists(st.sampled_from(["a", "bä", "cö,", "éd", "ße", "f€ "]), min_size=1, max_size=20)


@given(st.integers(0, 20), WORDS)
def test_where_letters_lie_does_not_change_how_they_are_read(before: int, words: list[str]) -> None:
    content = "x" * before + "".join(words) + "\n"
    for encoding in ("utf-8", "cp1252"):
        written, found = content.encode(encoding), Found()
        blocks = (written[k : k + 7] for k in range(0, len(written), 7))
        assert b"".join(_guessed(blocks, "rows.csv", found)).decode() == content
        assert bool(found.notes) == (encoding == "cp1252" and not content.isascii())


def test_a_first_column_whose_name_begins_as_an_archive_does_is_a_name(tmp_path: Path) -> None:
    (tmp_path / "rows.csv").write_text("PK,size\n" + "".join(f"{k % 7},{k % 5}\n" for k in range(40)))
    with (tmp_path / "rows.csv").open("rb") as file, utf8(file, "rows.csv", Reading(), Found()) as text:
        assert text.read().startswith(b"PK,size\n0,0\n")


def test_a_workbook_of_charts_alone_has_no_table(tmp_path: Path) -> None:
    book = openpyxl.Workbook()
    book.create_chartsheet("sales").add_chart(openpyxl.chart.BarChart())
    book.remove(book.worksheets[0])
    book.save(tmp_path / "charts.xlsx")
    done = run("fit", tmp_path / "charts.xlsx", "-t", "kind")
    assert done.exit_code == 1 and "charts.xlsx has no sheet with cells; save the table as CSV" in done.stderr


def test_a_sheet_of_many_rows_is_read_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rulecover.cli.tables.excel.BLOCK", 50)  # characters at a time
    book = openpyxl.Workbook()
    for row in [("size", "kind"), *((k, f"kind {k}") for k in range(100))]:
        book.active.append(row)
    book.save(tmp_path / "rows.xlsx")
    with (tmp_path / "rows.xlsx").open("rb") as file, utf8(file, "rows.xlsx", Reading(), Found()) as text:
        lines = text.read().decode().split()
    assert lines == " ".join(["size,kind", *(f"{k},kind {k}" for k in range(100))]).split()


@pytest.mark.slow
@pytest.mark.parametrize("above", ["a,b,kind\n", "\n\na,b,kind\n"])
@pytest.mark.parametrize("bad", ["1,2,3,4,5\n", '1,"2,3\n'])
def test_predict_counts_the_lines_of_a_file_as_fit_does(above: str, bad: str, folder: Path) -> None:
    rows = "".join(f"{k},{k % 7},{'low' if k < 30 else 'high'}\n" for k in range(60))
    Path("rows.csv").write_text(above + rows)
    fitted = run("fit", "rows.csv", "-t", "kind", "--trees", 5, "-o", "model.json")
    assert fitted.exit_code == 0, fitted.output
    Path("rows.csv").write_text(above + rows + bad)

    said = [run("fit", "rows.csv", "-t", "kind").stderr]
    said += [run("predict", "model.json", "rows.csv", *words).stderr for words in ((), ("--keep", "kind"))]

    line = len((above + rows).splitlines()) + (1 if bad[-2] == "5" else 0)
    assert len(set(said)) == 1 and f" {line}" in said[0]
