"""``rulecover predict``: answers for the rows of a table of any size."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from rulecover.cli.errors import one_line_errors
from rulecover.cli.options.parsers import number_from
from rulecover.cli.options.shared import (
    MAX_MODEL_SIZE,
    OUTPUT,
    DataFile,
    Debug,
    Edited,
    MaxModelSize,
    ModelFile,
    Quiet,
    Separator,
    check_inputs,
    check_out,
    out_file,
)


@one_line_errors
def predict(
    model: ModelFile,
    data: DataFile,
    *,
    out: Annotated[
        Path, out_file("Where to write the answers: a CSV file, a Parquet file by its name, or - for standard output.")
    ] = Path("-"),
    keep: Annotated[
        list[str] | None,
        typer.Option(
            metavar="COLUMN",
            help="A column of the data to write beside the answers; may be repeated.",
            rich_help_panel=OUTPUT,
            show_default=False,
        ),
    ] = None,
    interval: Annotated[
        float | None,
        typer.Option(
            parser=number_from(0.0),
            metavar="SHARE",
            help="Of numbers, also write lower and upper: between them the right answer should be with this "
            "probability, such as 0.9.",
            rich_help_panel=OUTPUT,
            show_default=False,
        ),
    ] = None,
    exact: Annotated[
        bool,
        typer.Option(
            "--exact",
            help="Write texts into CSV as they are. Without it those that a spreadsheet would run as formulas, such as "
            "=1+1, get an apostrophe before them.",
            rich_help_panel=OUTPUT,
        ),
    ] = False,
    separator: Separator = None,
    quiet: Quiet = False,
    edited: Edited = False,
    max_model_size: MaxModelSize = MAX_MODEL_SIZE,
    debug: Debug = False,
) -> None:
    """Answer for every row of a table, a part at a time: it may be larger than the memory.

    The columns of the answers are prediction, a probability for each class, the numbers of the rules that fired, and
    who decided: the rules or the fallback. Only columns that rules speak of are asked for.

    \b
    Examples:
      rulecover predict model.json new.csv --keep id --out answers.csv
      rulecover predict model.json new.parquet --out answers.parquet
      zcat new.csv.gz | rulecover predict model.json - | head
    """  # noqa: D301 - the backspace keeps the lines of the examples apart
    check_inputs(model, data)
    check_out(out, model, data)

    from rulecover.cli.printing import Printer
    from rulecover.cli.tables.answers import answers, written_to
    from rulecover.cli.tables.chunks import parts
    from rulecover.cli.tables.model_file import load

    loaded, printer, rows = load(model, edited=edited, max_megabytes=max_model_size), Printer(quiet=quiet), 0
    if interval is not None:
        loaded.check_interval(interval)
    kept = list(dict.fromkeys(keep or []))
    with printer.bars() as bars, bars.spinning("Predicting"), written_to(out, exact=exact) as write:
        for part in parts(data, loaded, keep=kept, separator=separator):
            write(answers(loaded, part, first=rows, interval=interval))
            rows += len(part.table)
    if str(out) != "-":
        printer.notes([f"{rows:,} rows answered in {out}."])
