"""``rulecover certify``: what the rules of a saved model cover in a table, or the query that counts it there."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import numpy as np
import typer

from rulecover.cli.commands.report import as_trained, true_labels
from rulecover.cli.errors import CommandError
from rulecover.cli.options.choices import SqlDialect
from rulecover.cli.tables.chunks import chunks
from rulecover.cli.tables.databases import connected
from rulecover.cli.tables.header import TableFile
from rulecover.cli.tables.model_file import Model, load
from rulecover.cli.tables.reading import Reading
from rulecover.counting.certificate import TableCertificate
from rulecover.show.text import printable
from rulecover.voting.answers import Classes


def certify(
    model: Path,
    *,
    table: str,
    target: str | None,
    database: str | None,
    dialect: SqlDialect | None,
    reading: Reading,
    edited: bool,
    max_model_size: float,
) -> None:
    """Prints what each rule covers and whether every row is covered, or the query that counts it."""
    if database is not None and dialect is not None:
        raise CommandError("--dialect prints a query and --database runs it; give one of them.")
    saved = load(model, edited=edited, max_megabytes=max_model_size)
    if dialect is not None:
        from rulecover.counting.query import counting_query

        typer.echo(counting_query(saved.rules, tuple(table.split(".")), dialect=str(dialect), target=target) + ";")
        return
    if database is not None:
        certificate = _counted_in_database(saved, database, table, target)
    else:
        certificate = _counted(saved, TableFile(Path(table), reading), target)
    counted = certificate.to_frame().rename(columns=printable)
    counted["rule"] = counted["rule"].map(printable)
    typer.echo(counted.to_string(index=False, float_format="{:.3f}".format))
    typer.echo(f"\n{certificate}")


def _counted(model: Model, file: TableFile, target: str | None) -> TableCertificate:
    certificate, first = TableCertificate.from_rows(model.rules.rules, []), 0
    for part in chunks(file, model, also=[] if target is None else [target]):
        covered = model.rules.rules.apply(model.rows(part, first))
        known = np.ones(len(part), dtype=bool) if target is None else part[target].notna().to_numpy()
        truth = None if target is None else true_labels(model, as_trained(model, part[target], file.reading), first)
        by_number = truth is not None and not isinstance(model.rules.answer, Classes)
        certificate += TableCertificate.from_coverage(model.rules.rules, covered, truth, known, numbers=by_number)
        first += len(part)
    return certificate


def _counted_in_database(model: Model, database: str, table: str, target: str | None) -> TableCertificate:
    from rulecover.counting.certify import certify

    with closing(connected(database)) as connection:
        return certify(model.rules, tuple(table.split(".")), target=target, connection=connection)
