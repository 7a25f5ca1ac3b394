"""``rulecover export``: a saved model as code or as a file for other programs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from rulecover.cli.choices import Format, SqlDialect
from rulecover.cli.errors import CommandError, one_line_errors
from rulecover.cli.options import Debug, ModelFile, check_out, out_file


@one_line_errors
def export(
    model: ModelFile,
    *,
    to: Annotated[Format, typer.Option(help="What to write.", show_default=False)],
    out: Annotated[Path, out_file("Where to; - for standard output.")] = Path("-"),
    dialect: Annotated[
        SqlDialect | None, typer.Option(help="For sql: the database.", rich_help_panel="SQL", show_default=False)
    ] = None,
    table: Annotated[
        str,
        typer.Option(metavar="NAME", help="For sql: the table; a dot parts it from its schema.", rich_help_panel="SQL"),
    ] = "data",
    keep: Annotated[
        list[str] | None,
        typer.Option(
            metavar="COLUMN",
            help="For sql: a column of the table to return beside the answers; may be repeated.",
            rich_help_panel="SQL",
            show_default=False,
        ),
    ] = None,
    debug: Debug = False,
) -> None:
    """Write a model as SQL, Python, JavaScript, pandas, PMML or ONNX; every one answers as the model does.

    \b
    Examples:
      rulecover export model.json --to sql --dialect postgres --table public.customers --keep id
      rulecover export model.json --to javascript --out rules.js
      rulecover export model.json --to onnx --out rules.onnx
    """  # noqa: D301 - the backspace keeps the lines of the examples apart
    check_out(out)
    if to is Format.SQL and dialect is None:
        raise CommandError(f"name the database by --dialect: {', '.join(SqlDialect)}.")
    if to is Format.ONNX and str(out) == "-":
        raise CommandError("an ONNX model is no text; name a file by --out.")

    import sys

    from rulecover import export as exporters
    from rulecover.cli.model_file import load
    from rulecover.files import whole_file

    rules = load(model).rules
    if to is Format.ONNX:
        with whole_file(out, binary=True) as file:
            file.write(exporters.to_onnx(rules).SerializeToString())
        return
    if to is Format.SQL:
        parts = tuple(table.split("."))
        text = exporters.to_sql(rules, parts, dialect=str(dialect), keep=keep or ()) + ";\n"
    else:
        text = getattr(exporters, f"to_{to}")(rules)
    if str(out) == "-":
        sys.stdout.write(text)
        return
    with whole_file(out) as file:
        file.write(text)
