"""``rulecover report``: what a saved model is worth on labelled rows, as one HTML file."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from rulecover.cli.errors import one_line_errors
from rulecover.cli.options.shared import (
    MAX_MODEL_SIZE,
    DataFile,
    Debug,
    Edited,
    MaxModelSize,
    ModelFile,
    Quiet,
    Separator,
    Target,
    check_inputs,
    check_out,
    is_stdout,
    out_file,
)


@one_line_errors
def report(
    model: ModelFile,
    data: DataFile,
    *,
    target: Target = None,
    separator: Separator = None,
    out: Annotated[Path, out_file("Where to write the report, as HTML; - for standard output.")] = Path("report.html"),
    quiet: Quiet = False,
    edited: Edited = False,
    max_model_size: MaxModelSize = MAX_MODEL_SIZE,
    debug: Debug = False,
) -> None:
    """Report on a model: its rules, and its figures on labelled rows that it was not trained on.

    The report is one file that works offline.

    \b
    Example:
      rulecover report model.json held-out.csv --target survived --out report.html
    """  # noqa: D301 - the backspace keeps the lines of the examples apart
    check_inputs(model, data)
    check_out(out, model, data)

    from rulecover.cli.commands.reporting import summary_of
    from rulecover.cli.printing import Printer
    from rulecover.cli.tables.model_file import load

    summary = summary_of(load(model, edited=edited, max_megabytes=max_model_size), data, target, separator)
    printer = Printer(quiet=quiet or is_stdout(out))
    printer.notes(summary.notes)
    printer.figures(summary)
    printer.report(summary, out)
