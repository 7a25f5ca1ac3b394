"""Options that several commands have."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated, Any

import typer

from rulecover.cli.options.choices import Task
from rulecover.cli.options.parsers import class_weight, number_from, whole_from

DATA, MODEL, FOREST, RULES, OUTPUT = "The data", "The model", "The forest", "The rules", "The output"


def option(panel: str, default: str | bool, text: str, *names: str, **settings: Any) -> Any:
    """An option of a group, with its default in words."""
    return typer.Option(*names, help=text, show_default=default, rich_help_panel=panel, **settings)


def whole(panel: str, default: str | bool, text: str, *names: str, least: int = 1) -> Any:
    """An option that is a whole number."""
    return option(panel, default, text, *names, parser=whole_from(least), metavar="N")


def number(panel: str, default: str | bool, text: str, *, least: float = 0.0, most: float | None = None) -> Any:
    """An option that is a number."""
    return option(panel, default, text, parser=number_from(least, most), metavar="X")


def parsed(panel: str, default: str | bool, text: str, parser: Any, metavar: str, **settings: Any) -> Any:
    """An option whose words a function reads."""
    return option(panel, default, text, parser=parser, metavar=metavar, **settings)


def out_file(text: str) -> Any:
    """The option that says where to write."""
    return typer.Option("--out", "-o", metavar="FILE", help=text, rich_help_panel=OUTPUT)


ModelFile = Annotated[
    Path, typer.Argument(metavar="MODEL", help="A model that rulecover fit wrote; - for standard input.")
]
Edited = Annotated[
    bool,
    typer.Option(
        "--edited", help="Take a model file that was edited by hand after it was written.", rich_help_panel=MODEL
    ),
]
MaxModelSize = Annotated[
    float,
    typer.Option(
        parser=number_from(0.0),
        metavar="MB",
        help="The largest model file to read, in megabytes.",
        rich_help_panel=MODEL,
    ),
]
#: What `rulecover.export.from_json` reads unless asked for more, in megabytes.
MAX_MODEL_SIZE = 100.0
DataFile = Annotated[
    Path, typer.Argument(metavar="DATA", help="A CSV or Parquet file; - for CSV on standard input.", show_default=False)
]
Target = Annotated[
    str | None,
    typer.Option(
        "--target", "-t", metavar="COLUMN", help="The column to predict: a class or a number.", show_default=False
    ),
]
TaskOption = Annotated[
    Task | None,
    option(
        DATA,
        "classes unless it has many different numbers",
        "Whether the target is taken as classes or as numbers.",
    ),
]
Drop = Annotated[
    list[str] | None,
    typer.Option(
        metavar="COLUMN", help="A column to leave out; may be repeated.", rich_help_panel=DATA, show_default=False
    ),
]
MaxLevels = Annotated[
    int,
    typer.Option(
        parser=whole_from(1),
        metavar="N",
        help="Text columns with more different values are left out: they are names, dates or free text.",
        rich_help_panel=DATA,
    ),
]
Separator = Annotated[
    str | None,
    typer.Option(
        metavar="CHAR", help="What stands between cells.", show_default="guessed from the header", rich_help_panel=DATA
    ),
]


def _some_threads(jobs: int | None) -> int | None:
    if jobs == 0:
        raise typer.BadParameter("0 threads do no work; give 1 or more, or -1 for every core.")
    return jobs


Jobs = Annotated[
    int,
    typer.Option(
        parser=whole_from(-1),
        callback=_some_threads,
        metavar="N",
        help="Threads; -1 takes every core. The rules stay the same.",
        rich_help_panel=FOREST,
    ),
]
ClassWeights = Annotated[
    list[Any] | None,
    parsed(
        RULES,
        "every row counts the same",
        "balanced: every class counts the same, however few rows it has. CLASS=X: what a row of that class counts; "
        "may be repeated.",
        class_weight,
        "balanced|CLASS=X",
    ),
]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Say nothing but the result.", rich_help_panel=OUTPUT)]
Debug = Annotated[bool, typer.Option("--debug", help="On an error, show where it came from.", rich_help_panel=OUTPUT)]


def check_inputs(model: Path, data: Path) -> None:
    """Raises if both are to be read from standard input, or a model stands where a table should."""
    from rulecover.cli.errors import CommandError
    from rulecover.cli.tables.header import is_model

    if str(model) == str(data) == "-":
        raise CommandError("standard input can be the model or the data, not both; name a file for one of them.")
    if is_model(data):
        way = "give a table" if str(model) == "-" or is_model(model) else f"swap them: {data} {model}"
        raise CommandError(f"{data} is a model and no table; the model comes first, then the data, so {way}.")


def check_out(out: Path, *inputs: Path | None, option: str = "--out") -> None:
    """Raises before any work is done if the file could not be written, or is one of those that are read."""
    from rulecover.cli.errors import CommandError, require_folder

    if str(out) == "-":
        return
    require_folder(out)
    if any(_is_same_file(out, each) for each in inputs if each is not None):
        raise CommandError(
            f"{option} {str(out)!r} is read by this command, and would be overwritten; name another file."
        )


def _is_same_file(out: Path, read: Path) -> bool:
    """Whether both are one file, by whatever names; pipes and devices are not files, and - is standard input."""
    try:
        there = os.fstat(0) if str(read) == "-" else read.stat()
        return out.is_file() and os.path.samestat(out.stat(), there)
    except OSError:
        return False


def is_stdout(out: Path) -> bool:
    """Whether the result goes to standard output, where nothing else may be said then."""
    from rulecover.files import is_standard_output

    return str(out) == "-" or is_standard_output(out)
