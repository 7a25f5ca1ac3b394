"""``rulecover export``: a saved model as code, as a file for other programs, or for people to read."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from rulecover import export as exporters
from rulecover.cli.errors import CommandError
from rulecover.cli.options.choices import Format, SqlDialect
from rulecover.cli.tables.model_file import load
from rulecover.files import whole_file
from rulecover.rules.levels import readable
from rulecover.show.printed import Printed
from rulecover.voting.vote import Vote

#: How rules are written for people.
WRITTEN: dict[Format, Callable[[Printed], str]] = {
    Format.TEXT: lambda rules: f"{rules}\n",
    Format.MARKDOWN: Printed.to_markdown,
    Format.LATEX: Printed.to_latex,
    Format.SENTENCES: lambda rules: "".join(f"{sentence}\n" for sentence in rules.sentences()),
}


def export(
    model: Path,
    *,
    to: Format,
    out: Path,
    dialect: SqlDialect | None,
    table: str,
    keep: Sequence[str] | None,
    edited: bool,
    max_model_size: float,
) -> None:
    """Writes a model in another format."""
    _check(to, out, dialect, for_sql=dialect or keep or table != "data")
    rules = load(model, edited=edited, max_megabytes=max_model_size).rules
    if to is Format.ONNX:
        with whole_file(out, binary=True) as file:
            file.write(exporters.to_onnx(rules).SerializeToString())
        return
    text = _text(rules, to, table=table, dialect=dialect, keep=keep or ())
    if str(out) == "-":
        sys.stdout.write(text)
        return
    with whole_file(out) as file:
        file.write(text)


def _check(to: Format, out: Path, dialect: SqlDialect | None, *, for_sql: object) -> None:
    if to is Format.SQL and dialect is None:
        raise CommandError(f"name the database with --dialect: {', '.join(SqlDialect)}.")
    if to is not Format.SQL and for_sql:
        raise CommandError(f"--dialect, --table and --keep are for --to sql, not for {to}; leave them out.")
    if to is Format.ONNX and str(out) == "-":
        raise CommandError("an ONNX model is binary; name a file with --out.")


def _text(rules: Vote, to: Format, *, table: str, dialect: SqlDialect | None, keep: Sequence[str]) -> str:
    if to in WRITTEN:
        return WRITTEN[to](_in_words_of_table(rules))
    if to is Format.SQL:
        return exporters.to_sql(rules, tuple(table.split(".")), dialect=str(dialect), keep=keep) + ";\n"
    code: str = getattr(exporters, f"to_{to}")(rules)
    return code


def _in_words_of_table(model: Vote) -> Vote:
    """The rules in the words of the table that they were trained on; with their votes where these were fitted."""
    return replace(model, rules=readable(model.rules, dict(model.rules.columns.levels)))
