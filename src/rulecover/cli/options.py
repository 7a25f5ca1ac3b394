"""Options that several commands have."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

DATA, OUTPUT = "The data", "The output"

ModelFile = Annotated[
    Path, typer.Argument(metavar="MODEL", help="A model that rulecover fit wrote; - for standard input.")
]
DataFile = Annotated[
    Path, typer.Argument(metavar="DATA", help="A CSV or Parquet file; - for CSV on standard input.", show_default=False)
]
Separator = Annotated[
    str | None,
    typer.Option(
        metavar="CHAR", help="What stands between cells.", show_default="guessed from the header", rich_help_panel=DATA
    ),
]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Say nothing but the result.", rich_help_panel=OUTPUT)]
Debug = Annotated[bool, typer.Option("--debug", help="On an error, show where it came from.", rich_help_panel=OUTPUT)]


def check_out(out: Path) -> None:
    """Raises before any work is done if the file could not be written for want of a folder."""
    from rulecover.cli.errors import require_folder

    if str(out) != "-":
        require_folder(out)
