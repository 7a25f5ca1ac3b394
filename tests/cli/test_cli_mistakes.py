"""What goes wrong on the command line: one line with a way out, an exit code, and no half of a file."""

from __future__ import annotations

import contextlib
import io
import json
import os
import resource
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import IO

import pandas as pd
import pytest
from commands import fruit_folder, process, run
from study_data import write_data

from rulecover.cli.errors import CommandError
from rulecover.cli.main import main
from rulecover.cli.tables import chunks
from rulecover.export import from_json, to_json

#: How each command is called on a model and a table.
COMMANDS = {
    "explain": ["explain", "{data}", "-t", "kind", "--trees", "3"],
    "fit": ["fit", "{data}", "-t", "kind", "--trees", "3"],
    "predict": ["predict", "{model}", "{data}"],
    "why": ["why", "{model}", "{data}"],
    "report": ["report", "{model}", "{data}", "-t", "kind"],
    "export": ["export", "{model}", "--to", "python"],
}
READ_DATA = [name for name, words in COMMANDS.items() if "{data}" in words]
READ_MODEL = [name for name, words in COMMANDS.items() if "{model}" in words]

#: How each command writes a file.
WRITERS = {
    "demo": ["demo", "--out", "out"],
    "explain": ["explain", "fruit.csv", "-t", "kind", "--trees", "3", "--report", "out"],
    "fit": ["fit", "fruit.csv", "-t", "kind", "--trees", "3", "-o", "out"],
    "predict": ["predict", "model.json", "fruit.csv", "-o", "out"],
    "predict to Parquet": ["predict", "model.json", "fruit.csv", "-o", "out.parquet"],
    "report": ["report", "model.json", "fruit.csv", "-t", "kind", "-o", "out"],
    "export": ["export", "model.json", "--to", "python", "-o", "out"],
    "export to ONNX": ["export", "model.json", "--to", "onnx", "-o", "out"],
}

#: How each command writes to standard output.
PRINTERS = {
    "demo": ["demo", "--out", "demo.html"],
    "explain": [*COMMANDS["explain"], "--quiet"],
    "fit": [*COMMANDS["fit"], "-o", "-"],
    "predict": COMMANDS["predict"],
    "why": COMMANDS["why"],
    "report": [*COMMANDS["report"], "-o", "-"],
    "export": COMMANDS["export"],
    "help": ["--help"],
    "help of a command": ["fit", "--help"],
    "version": ["--version"],
}


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model, a table, and what is wrong with other files."""
    folder = fruit_folder(tmp_path_factory.mktemp("mistakes"))
    (folder / "half.json").write_text((folder / "model.json").read_text()[:200])
    (folder / "other.csv").write_text("a,b\n" + "1,2\n" * 20)
    (folder / "text.csv").write_text("id,colour,weight,ripe,kind\n1,red,2,true,plum\n2,red,heavy,true,plum\n")
    (folder / "cyrillic.csv").write_bytes("colour,weight,ripe,kind\nкрасный,1,true,plum\n".encode("cp1251"))
    (folder / "latin.csv").write_bytes("colour,weight,ripe,kind\ngrün,1,true,plum\n".encode("latin-1"))
    (folder / "long.csv").write_text("colour,weight,ripe,kind\nred,1,true,plum\nred,1,true,plum,5\n")
    (folder / "no.parquet").write_text("no")
    (folder / "empty.csv").write_text("")
    (folder / "folder").mkdir()
    write_data(folder / "study")
    return folder


@pytest.fixture
def folder(made: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(made)
    return made


def words(command: list[str], *, model: str = "model.json", data: str = "fruit.csv") -> list[str]:
    return [word.format(model=model, data=data) for word in command]


def refused(arguments: list[str], folder: Path, *, code: int = 1) -> str:
    """What is said of a command that fails as it should."""
    before = {path: path.stat().st_mtime_ns for path in folder.rglob("*")}
    done = run(*arguments)

    assert done.exit_code == code, done.output
    assert done.stdout == ""
    assert done.stderr.startswith("error: ") and done.stderr.count("\n") == 1
    assert {path: path.stat().st_mtime_ns for path in folder.rglob("*")} == before
    return done.stderr


# Every command --------------------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize(
    ("data", "said"),
    [
        ("none.csv", "there is no file 'none.csv' here"),
        ("none.parquet", "there is no file 'none.parquet' here"),
        ("folder", "'folder' is a folder; name a file."),
        ("cyrillic.csv", "cyrillic.csv is neither UTF-8 nor Windows-1252"),
        ("long.csv", "long.csv is not a valid CSV file"),
        ("empty.csv", "empty.csv is empty"),
        ("no.parquet", "no.parquet is not a valid Parquet file"),
        ("other.csv", "other.csv has no column '"),
    ],
)
@pytest.mark.parametrize("command", READ_DATA)
def test_a_table_that_is_none_is_refused_by_every_command(command: str, data: str, said: str, folder: Path) -> None:
    assert said in refused(words(COMMANDS[command], data=data), folder)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("model", "said"),
    [
        ("none.json", "there is no file 'none.json' here"),
        ("folder", "'folder' is a folder; name a model file"),
        ("half.json", "half.json: this is not JSON, or only a part of it"),
        ("fruit.csv", "fruit.csv: this is not JSON"),
        ("latin.csv", "latin.csv: this is not JSON"),
    ],
)
@pytest.mark.parametrize("command", READ_MODEL)
def test_a_model_that_is_none_is_refused_by_every_command(command: str, model: str, said: str, folder: Path) -> None:
    assert said in refused(words(COMMANDS[command], model=model), folder)


@pytest.mark.parametrize("command", ["predict", "why", "report"])
def test_a_table_that_does_not_fit_the_model_is_refused_with_the_place(command: str, folder: Path) -> None:
    row = ["--row", "2"] if command == "why" else []
    said = refused([*words(COMMANDS[command], data="text.csv"), *row], folder)

    assert "column 'weight' has 'heavy' in data row 2, but the model takes numbers" in said


@pytest.mark.parametrize("writer", WRITERS)
def test_a_folder_that_is_not_there_is_told_before_any_work(writer: str, folder: Path) -> None:
    elsewhere = [word if word.startswith("-") else word.replace("out", "none/out") for word in WRITERS[writer]]

    assert "there is no folder 'none'" in refused(elsewhere, folder)


@pytest.fixture
def little_room() -> Iterator[None]:
    """A disk on which no file can grow beyond 512 bytes."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (512, hard))
    yield
    resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


@pytest.mark.slow
@pytest.mark.parametrize("writer", WRITERS)
def test_a_full_disk_is_told_and_leaves_the_old_file(writer: str, folder: Path, little_room: None) -> None:
    out = folder / WRITERS[writer][-1]
    out.write_text("old")
    before = set(folder.iterdir())

    done = run(*WRITERS[writer])

    assert done.exit_code == 1
    errors = [line for line in done.stderr.splitlines() if not line.startswith(("note: ", "warning: "))]
    assert len(errors) == 1 and errors[0].startswith("error: ") and "too large" in errors[0]
    assert out.read_text() == "old"
    assert set(folder.iterdir()) == before


@pytest.mark.slow
def test_a_disk_that_is_full_during_a_study_is_told_and_resumed(
    folder: Path, tmp_path: Path, little_room: None
) -> None:
    words = ["study", "mirco", "--data", "study", "--datasets", "wine", "--methods", "DT", "--out", str(tmp_path)]
    done = run(*words)
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (hard, hard))
    resumed = run(*words, "--resume")
    resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))

    told = [line for line in done.stderr.splitlines() if line.startswith("error: ")]
    assert done.exit_code == 1 and len(told) == 1 and "too large" in told[0]
    assert resumed.exit_code == 0, resumed.output


@pytest.mark.slow
@pytest.mark.parametrize(("stream", "said"), [("full", "error: the output: No space left on device"), ("closed", "")])
def test_a_study_tells_of_standard_output_in_one_line(
    stream: str, said: str, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if stream == "full":
        output = os.fdopen(os.open("/dev/full", os.O_WRONLY), "w")
    else:
        read, write = os.pipe()
        os.close(read)
        output = os.fdopen(write, "w")
    words = ["study", "mirco", "--data", "study", "--datasets", "wine", "--methods", "DT", "--out", str(tmp_path)]

    code, told = printed_to(output, words, monkeypatch)

    assert code == 1
    assert [line for line in told.splitlines() if line.startswith("error: ")] == ([said] if said else [])
    assert (tmp_path / "results.jsonl").exists()


def printed_to(stdout: IO[str], arguments: list[str], monkeypatch: pytest.MonkeyPatch) -> tuple[int, str]:
    """The exit code, and what was said on standard error, of a command that prints there."""
    errors = io.StringIO()
    monkeypatch.setattr(sys, "argv", ["rulecover", *arguments])
    with monkeypatch.context() as patched:
        patched.setattr(sys, "stdout", stdout)
        patched.setattr(sys, "stderr", errors)
        with pytest.raises(SystemExit) as ended:
            main()
    with contextlib.suppress(OSError):
        stdout.close()
    return int(str(ended.value)), errors.getvalue()


@pytest.mark.slow
@pytest.mark.parametrize("printer", PRINTERS)
def test_a_full_device_as_standard_output_is_told_in_one_line(
    printer: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    full = os.fdopen(os.open("/dev/full", os.O_WRONLY), "w")
    code, said = printed_to(full, words(PRINTERS[printer]), monkeypatch)

    assert code == 1
    assert said == "error: the output: No space left on device\n"


@pytest.mark.slow
@pytest.mark.parametrize("printer", PRINTERS)
def test_a_reader_that_goes_away_is_no_fault_of_ours(
    printer: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    read, write = os.pipe()
    os.close(read)

    assert printed_to(os.fdopen(write, "w"), words(PRINTERS[printer]), monkeypatch) == (1, "")


@pytest.mark.slow
def test_a_process_of_its_own_says_no_more_when_it_ends(folder: Path) -> None:
    with Path("/dev/full").open("w") as full:
        done = process("predict", "model.json", "fruit.csv", stdout=full, stderr=subprocess.PIPE, capture_output=False)
    assert (done.returncode, done.stderr) == (1, "error: the output: No space left on device\n")

    command = [sys.executable, "-m", "rulecover", "predict", "model.json", "fruit.csv"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as running:
        assert running.stdout is not None and running.stderr is not None
        running.stdout.close()
        assert running.stderr.read() == b""
    assert running.returncode == 1


@pytest.mark.parametrize("command", COMMANDS)
def test_debug_shows_where_an_error_came_from(command: str, folder: Path) -> None:
    done = run(*words(COMMANDS[command], model="half.json", data="none.csv"), "--debug")

    assert done.exit_code == 1
    assert isinstance(done.exception, CommandError)


# Single ones ----------------------------------------------------------------------------------------------------------

MISTAKES = {
    "no target to fit": (["fit", "fruit.csv"], "name the column to predict with --target"),
    "no target to report on": (["report", "model.json", "fruit.csv"], "true values with --target"),
    "a column to keep that is not there": (
        ["predict", "model.json", "fruit.csv", "--keep", "price"],
        "no column 'price', which was asked for; it has 'id', 'colour'",
    ),
    "a target to report on that is not there": (
        ["report", "model.json", "fruit.csv", "-t", "price"],
        "no column 'price', which was asked for; it has 'id', 'colour'",
    ),
    "another target": (
        ["report", "model.json", "fruit.csv", "-t", "colour"],
        "in data row 2, which is not a class of the model; its classes are '=apple()', 'plum'",
    ),
    "a table without labels": (["report", "model.json", "-", "-t", "kind"], "has no row with a value of 'kind'"),
    "twice standard input": (["predict", "-", "-"], "the model or the data, not both"),
    "model and data the wrong way round": (
        ["predict", "fruit.csv", "model.json"],
        "model.json is a model, not a table; the model comes first, then the data, so swap them: model.json fruit.csv",
    ),
    "to tell why the wrong way round": (["why", "fruit.csv", "model.json"], "so swap them: model.json fruit.csv"),
    "to report the wrong way round": (["report", "fruit.csv", "model.json", "-t", "kind"], "so swap them: model.json"),
    "two files to write of one name": (
        ["explain", "fruit.csv", "-t", "kind", "--save", "new.json", "--report", "./new.json"],
        "--report and --save both write 'new.json'; name another file for one of them.",
    ),
    "predictions as a spreadsheet": (
        ["predict", "model.json", "fruit.csv", "-o", "out.xlsx"],
        "written as CSV or Parquet, not as .xlsx; let the name in --out end in .csv",
    ),
    "a model twice": (["predict", "model.json", "model.json"], "model.json is a model, not a table"),
    "a model to train on": (["fit", "model.json", "-t", "kind"], "model.json is a model, not a table"),
    "a model to explain": (["explain", "model.json", "-t", "kind"], "model.json is a model, not a table"),
    "a folder for the demo's report": (["demo", "--out", "folder"], "'folder' is a folder; name a file in it"),
    "a folder that takes no file": (["demo", "--out", "/proc/x.html"], "nothing can be written to the folder '/proc'"),
    "no data for a study": (["study", "mirco", "--data", "none"], "there is no folder 'none'; --data must name"),
    "a file as data of a study": (["study", "mirco", "--data", "fruit.csv"], "there is no folder 'fruit.csv'"),
    "no such data set": (
        ["study", "mirco", "--data", "folder", "--datasets", "wein"],
        "there is no data set 'wein'; there are banknote, ildp",
    ),
    "a data set that is not in the folder": (
        ["study", "mirco", "--data", "folder", "--datasets", "wine"],
        "there is no file 'folder/wine.csv'; put it there, or leave 'wine' out",
    ),
    "no such method": (
        ["study", "mirco", "--data", "folder", "--methods", "SVM"],
        "there is no method 'SVM'; there are Path, Cover",
    ),
    "no data set at all": (
        ["study", "mirco", "--datasets", ","],
        "--datasets ',' has no names; separate names by commas",
    ),
    "no method at all": (
        ["study", "mirco", "--methods", " , "],
        "--methods ' , ' has no names; separate names by commas",
    ),
    "seeds that are no numbers": (["study", "mirco", "--seeds", "x"], "--seeds takes whole numbers below 2^32"),
    "no methods of one's own": (["study", "mirco", "--with", "none.py"], "there is no file 'none.py' with methods"),
    "a file as results": (
        ["study", "mirco", "--data", "study", "--datasets", "wine", "--methods", "DT", "--out", "fruit.csv"],
        "the folder 'fruit.csv' cannot be made (File exists); name another --out folder",
    ),
    "results below a file": (
        ["study", "mirco", "--data", "study", "--datasets", "wine", "--methods", "DT", "--out", "fruit.csv/out"],
        "the folder 'fruit.csv/out' cannot be made (Not a directory)",
    ),
    "tables without results": (["study", "tables", "--out", "folder"], "there is no file 'folder/results.jsonl'"),
    "no such row": (["why", "model.json", "fruit.csv", "--row", "301"], "there is no row 301: fruit.csv has 300 rows"),
    "a dialect of Python": (
        ["export", "model.json", "--to", "python", "--keep", "id"],
        "--dialect, --table and --keep are for --to sql, not for python; leave them out",
    ),
    "no dialect": (["export", "model.json", "--to", "sql"], "name the database with --dialect: postgres, sqlite"),
    "ONNX to a terminal": (["export", "model.json", "--to", "onnx"], "name a file with --out"),
    "an option of another method": (
        ["fit", "fruit.csv", "-t", "kind", "--calls", "0"],
        "--calls belongs to --method boost, but the method is path",
    ),
    "trees for a trained model": (
        ["fit", "fruit.csv", "-t", "kind", "--model", "x.json", "--trees", "5"],
        "--trees is for training, but --model is trained",
    ),
    "no such trained model": (
        ["fit", "fruit.csv", "-t", "kind", "--model", "none.json"],
        "there is no file 'none.json' here; --model takes",
    ),
    "a trained model that is none": (
        ["fit", "fruit.csv", "-t", "kind", "--model", "fruit.csv"],
        "fruit.csv is not a model file that can be read; files that can be read: XGBoost",
    ),
    "intervals of classes": (
        ["predict", "model.json", "fruit.csv", "--interval", "0.9"],
        "this model gives no intervals; they come with numbers",
    ),
    "an interval that is no probability": (
        ["predict", "model.json", "fruit.csv", "--interval", "90"],
        "--interval is 90; it is a probability",
    ),
    "an option of classes for numbers": (
        ["fit", "fruit.csv", "-t", "weight", "--trees", "3", "--class-weight", "balanced"],
        "--class-weight is for classes, but the target is predicted as a number",
    ),
    "a column with a slip of the pen": (
        ["fit", "fruit.csv", "-t", "kid"],
        "fruit.csv has no column 'kid' (did you mean 'kind'?); it has 'id', 'colour'",
    ),
    "a dropped column with a slip": (["fit", "fruit.csv", "-t", "kind", "--drop", "Colour"], "did you mean 'colour'?"),
    "a kept column with a slip": (
        ["predict", "model.json", "fruit.csv", "--keep", "colr"],
        "no column 'colr' (did you mean 'colour'?), which was asked for",
    ),
    "nothing but forbidden columns": (
        ["fit", "fruit.csv", "-t", "kind", *("--forbid", "colour", "--forbid", "weight", "--forbid", "ripe")],
        "--forbid names every column, so that there is nothing to make rules of; allow one.",
    ),
    "a forbidden column with a slip": (
        ["fit", "fruit.csv", "-t", "kind", "--trees", "3", "--method", "path", "--forbid", "color"],
        "--forbid names 'color' (did you mean 'colour'?), but there is no such column to use; there are 'colour'",
    ),
    "monotone text": (
        ["fit", "fruit.csv", "-t", "kind", "--trees", "3", "--method", "path", "--rising", "colour"],
        "column 'colour' holds neither numbers nor dates",
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake_is_one_line_with_a_way_out_and_leaves_no_file(mistake: str, folder: Path) -> None:
    arguments, said = MISTAKES[mistake]
    nothing = b"colour,weight,ripe,kind\nred,1,true,\n" if "-" in arguments else None
    before = set(folder.iterdir())

    done = run(*arguments, stdin=nothing)

    assert done.exit_code == 1
    told = [line for line in done.stderr.splitlines() if not line.startswith("note: ")]
    assert len(told) == 1 and told[0].startswith("error: ") and said in told[0]
    assert set(folder.iterdir()) == before


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arguments", "listed"),
    [
        (["export", "model.json", "--to", "cobol"], "'cobol' is not one of 'sql', 'python', 'javascript'"),
        (["export", "model.json", "--to", "sql", "--dialect", "dbase"], "not one of 'postgres', 'sqlite'"),
        (["fit", "fruit.csv", "-t", "kind", "--method", "mirco"], "'--method': 'mirco' is called 'cover' now; see"),
        (["explain", "fruit.csv", "-t", "kind", "--method", "rcboost"], "'rcboost' is called 'boost' now; see"),
        (["fit", "fruit.csv", "-t", "kind", "--method", "magic"], "'magic' is not one of 'path', 'cover', 'boost'"),
        (["fit", "fruit.csv", "-t", "kind", "--fallback", "model"], "not one of 'closest', 'all'"),
        (["fit", "fruit.csv", "-t", "kind", "--jobs", "0"], "0 threads do no work"),
        (["why", "model.json", "fruit.csv", "--row", "0"], "'--row': '0' is not a whole number of at least 1"),
        (["why", "model.json", "fruit.csv", "--row", "x"], "'--row': 'x' is not a whole number of at least 1"),
        (["predict", "model.json", "fruit.csv", "--interval", "x"], "'--interval': 'x' is not a number of at least 0"),
        (["explain", "fruit.csv", "-t", "kind", "--test-size", "-1"], "'--test-size': '-1' is not a number of"),
        (
            ["fit", "fruit.csv", "-t", "kind", "--trees", "many"],
            "'--trees': 'many' is not a whole number of at least 1",
        ),
        (
            ["fit", "fruit.csv", "--tree", "3"],
            "there is no option --tree; did you mean --trees or --tries? See rulecover",
        ),
        (
            ["fit", "fruit.csv", "-t", "kind", "--max-levels", "1"],
            "'--max-levels': '1' is not a whole number of at least 2",
        ),
        (["divide"], "No such command 'divide'"),
        (["explian", "fruit.csv"], "No such command 'explian'. Did you mean 'explain'? See"),
        (["demo", "--fast"], "--fast"),
        (["demo", "data.csv"], "data.csv"),
        (["study"], "Missing argument 'STUDY'. Choose from: mirco, rcboost, peers, all, tables"),
        (["study", "magic"], "'magic' is not one of 'mirco', 'rcboost', 'peers', 'all', 'tables'"),
        (["study", "mirco", "--jobs", "0"], "0 processes do no work"),
        (["study", "mirco", "--jobs", "x"], "'--jobs': 'x' is not a whole number"),
        (["predict", "model.json"], "Missing argument 'DATA'"),
        (["divine", "model.json"], "No such command 'divine'"),
        (["predict", "model.json", "fruit.csv", "--fast"], "--fast"),
    ],
)
def test_mistyped_words_are_one_line_that_lists_what_there_is(arguments: list[str], listed: str, folder: Path) -> None:
    said = refused(arguments, folder, code=2)

    assert listed in said and "--help" in said


def test_an_option_without_its_value_is_one_line(folder: Path) -> None:
    said = refused(["explain", "fruit.csv", "--target"], folder, code=2)

    assert said == "error: Option '--target' requires an argument.\n"


@pytest.mark.parametrize(
    ("words", "kept"), [((), "prediction"), ((), "probability_plum"), ((), "rules"), (("-o", "out.parquet"), "rules")]
)
def test_a_column_that_is_predicted_cannot_be_kept_too(words: tuple[str, ...], kept: str, folder: Path) -> None:
    table = folder / "with_predictions.csv"
    table.write_text(f"colour,weight,ripe,{kept}\nred,2,true,7\n")

    said = refused(["predict", "model.json", str(table), "--keep", kept, *words], folder)

    assert f"--keep {kept} is refused: the predictions have a column '{kept}' of their own; rename it in the" in said
    table.unlink()


def test_lists_are_kept_in_parquet_but_not_in_csv(folder: Path) -> None:
    frame = pd.read_parquet(folder / "fruit.parquet").assign(parts=[[1, 2]] * 300)
    frame.to_parquet(folder / "parts.parquet")

    said = refused(["predict", "model.json", "parts.parquet", "--keep", "parts", "-o", "new.csv"], folder)
    done = run("predict", "model.json", "parts.parquet", "--keep", "parts", "-o", "new.parquet")

    assert "--keep parts is refused: column 'parts' holds lists or records, which are not cells of a CSV file" in said
    assert done.exit_code == 0, done.output
    assert pd.read_parquet(folder / "new.parquet")["parts"].iloc[0].tolist() == [1, 2]
    for name in ("parts.parquet", "new.parquet"):
        (folder / name).unlink()


def test_a_failure_late_in_the_file_leaves_the_old_answers(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(chunks, "CELLS", 8)
    broken = folder / "late.csv"
    broken.write_text("colour,weight,ripe\n" + "red,2,true\n" * 20 + "red,heavy,true\n")
    out = folder / "late.out"
    out.write_text("old")
    before = set(folder.iterdir())

    done = run("predict", folder / "model.json", broken, "-o", out)

    assert done.exit_code == 1 and "data row 21" in done.stderr
    assert out.read_text() == "old"
    assert set(folder.iterdir()) == before


def test_half_a_character_in_a_label_ends_in_one_line_and_leaves_no_file(tmp_path: Path) -> None:
    """JSON writes it in ASCII, so that a file of rules may have it."""
    folder = fruit_folder(tmp_path)
    written = (folder / "model.json").read_text()
    vote = from_json(written.replace('"plum"', json.dumps("plum\ud800")), edited=True)
    (folder / "model.json").write_text(to_json(vote))
    done = run("predict", folder / "model.json", folder / "fruit.csv", "-o", folder / "out.csv")

    assert done.exit_code == 1 and not (folder / "out.csv").exists()
    assert done.stderr == "error: a name or a label has '\\ud800', which no text in UTF-8 can hold; rename it.\n"
