"""``rulecover export``: a saved model as code, as a file for other programs, or for people to read."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from rulecover.cli.errors import CommandError, one_line_errors
from rulecover.cli.options.choices import Format, SqlDialect
from rulecover.cli.options.shared import MAX_MODEL_SIZE, Debug, Edited, MaxModelSize, ModelFile, check_out, out_file

if TYPE_CHECKING:
    from rulecover.voting.vote import Vote

_TABLE = "data"


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
    ] = _TABLE,
    keep: Annotated[
        list[str] | None,
        typer.Option(
            metavar="COLUMN",
            help="For sql: a column of the table to return beside the answers; may be repeated.",
            rich_help_panel="SQL",
            show_default=False,
        ),
    ] = None,
    edited: Edited = False,
    max_model_size: MaxModelSize = MAX_MODEL_SIZE,
    debug: Debug = False,
) -> None:
    """Write a model as SQL, Python, JavaScript, pandas, PMML or ONNX; every one answers as the model does.

    Or for people: its rules as a table in text, Markdown or LaTeX, or as English sentences.

    \b
    Examples:
      rulecover export model.json --to sql --dialect postgres --table public.customers --keep id
      rulecover export model.json --to javascript --out rules.js
      rulecover export model.json --to onnx --out rules.onnx
      rulecover export model.json --to sentences
    """  # noqa: D301 - the backspace keeps the lines of the examples apart
    check_out(out, model)
    if to is Format.SQL and dialect is None:
        raise CommandError(f"name the database by --dialect: {', '.join(SqlDialect)}.")
    if to is not Format.SQL and (dialect or keep or table != _TABLE):
        raise CommandError(f"--dialect, --table and --keep are for --to sql, not for {to}; leave them out.")
    if to is Format.ONNX and str(out) == "-":
        raise CommandError("an ONNX model is no text; name a file by --out.")

    from rulecover.cli.tables.model_file import load
    from rulecover.files import whole_file

    rules = load(model, edited=edited, max_megabytes=max_model_size).rules
    if to is Format.ONNX:
        from rulecover.export import to_onnx

        with whole_file(out, binary=True) as file:
            file.write(to_onnx(rules).SerializeToString())
        return
    text = _text(rules, to, table=table, dialect=dialect, keep=keep or ())
    if str(out) == "-":
        sys.stdout.write(text)
        return
    with whole_file(out) as file:
        file.write(text)


def _text(rules: Vote, to: Format, *, table: str, dialect: SqlDialect | None, keep: Sequence[str]) -> str:
    from rulecover import export as exporters
    from rulecover.cli.commands.for_people import WRITTEN, for_people

    if to in WRITTEN:
        return for_people(rules, to)
    if to is Format.SQL:
        return exporters.to_sql(rules, tuple(table.split(".")), dialect=str(dialect), keep=keep) + ";\n"
    code: str = getattr(exporters, f"to_{to}")(rules)
    return code
