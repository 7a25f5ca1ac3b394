"""``rulecover why``: which rules decided for one row of a table."""

from __future__ import annotations

from typing import Annotated

import typer

from rulecover.cli.errors import CommandError, one_line_errors
from rulecover.cli.options.parsers import whole_from
from rulecover.cli.options.shared import (
    DATA,
    MAX_MODEL_SIZE,
    DataFile,
    Debug,
    Edited,
    MaxModelSize,
    ModelFile,
    Separator,
    check_inputs,
)


@one_line_errors
def why(
    model: ModelFile,
    data: DataFile,
    *,
    row: Annotated[
        int,
        typer.Option(
            parser=whole_from(1), metavar="N", help="The row, counted from 1 below the header.", rich_help_panel=DATA
        ),
    ] = 1,
    separator: Separator = None,
    edited: Edited = False,
    max_model_size: MaxModelSize = MAX_MODEL_SIZE,
    debug: Debug = False,
) -> None:
    """Tell why a row gets its answer: the rules it meets and their votes, or how the fallback decided.

    \b
    Example:
      rulecover why model.json new.csv --row 17
    """  # noqa: D301 - the backspace keeps the lines of the examples apart
    check_inputs(model, data)

    from rulecover.cli.commands.reasons import reasons_in_words
    from rulecover.cli.printing import Printer
    from rulecover.cli.tables.chunks import chunks
    from rulecover.cli.tables.model_file import load

    loaded, before = load(model, edited=edited, max_megabytes=max_model_size), 0
    for part in chunks(data, loaded, separator=separator):
        if row <= before + len(part):
            mine = part.iloc[[row - 1 - before]]
            Printer().say(reasons_in_words(loaded, mine, row))
            return
        before += len(part)
    raise CommandError(f"there is no row {row}: {data} has {before} rows below the header, counted from 1.")
